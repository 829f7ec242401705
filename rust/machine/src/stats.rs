//! What a run did, counted.
//!
//! Cycles are those of `timing`, for each engine the ones in which it is busy, so that busy and idle cycles
//! of an engine add up to those of the run. They are 0 where times were not asked for, for code that no
//! engine executes, and for matmuls of the tile ISA, whose times are not published.

use pto_ir::{Engine, Target};

use crate::memory::View;

/// Number of engines that are counted, `Other` included.
const ENGINES: usize = Engine::ALL.len();

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Instructions of each engine: see [`Self::engine`].
    instructions: [u64; ENGINES],
    /// Cycles of each engine.
    cycles: [u64; ENGINES],
    /// The cycle at which all engines were done; 0 where times were not asked for.
    pub cycles_in_all: u64,
    /// Multiply-adds of matmuls.
    pub macs: u64,
    /// Bytes read and written by copies and fills.
    pub bytes_moved: u64,
    /// Fills of a buffer by an engine.
    pub memsets: u64,
    /// Multiply-adds that the array could have done in the cycles of the PE.
    pub peak_macs: u64,
    /// The flags that operations on tiles raised, OR-ed: NV 1, OF 4, UF 8, NX 16.
    pub tile_flags: u8,
}

/// The size of a matmul.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatmulShape {
    pub(crate) depth: u64,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
}

impl Stats {
    /// Instructions and busy cycles of `engine`.
    pub fn engine(&self, engine: Engine) -> (u64, u64) {
        let at = engine as usize;
        (self.instructions[at], self.cycles[at])
    }

    /// The part of the array's multiply-adds that the PE did while it was busy, 0 to 1.
    pub fn pe_utilisation(&self) -> f64 {
        if self.peak_macs == 0 {
            return 0.0;
        }
        self.macs as f64 / self.peak_macs as f64
    }

    /// Counts a matmul.
    pub(crate) fn matmul(&mut self, shape: MatmulShape) {
        self.instructions[Engine::Pe as usize] += 1;
        self.macs += shape.depth * shape.rows * shape.columns;
    }

    /// A matmul on tiles.
    pub(crate) fn tile_matmul(&mut self, engine: Engine, multiply_adds: u64) {
        self.instructions[engine as usize] += 1;
        self.macs += multiply_adds;
    }

    /// Counts a copy.
    pub(crate) fn transfer(&mut self, engine: Engine, bytes: u64) {
        self.instructions[engine as usize] += 1;
        self.bytes_moved += bytes;
    }

    /// Counts a fill.
    pub(crate) fn fill(&mut self, engine: Engine, bytes: u64) {
        self.memsets += u64::from(engine != Engine::Other);
        self.transfer(engine, bytes);
    }

    /// An instruction that was counted keeps `engine` busy for `cycles`.
    pub(crate) fn busy(&mut self, engine: Engine, cycles: u64, target: &Target) {
        self.cycles[engine as usize] += cycles;
        if engine == Engine::Pe {
            self.peak_macs += cycles * u64::from(target.pe_rows) * u64::from(target.pe_columns);
        }
    }
}

/// Elements of each partition: all dimensions but the first.
pub(crate) fn elements_per_partition(view: &View) -> u64 {
    match view.dims.first() {
        Some(dim) if dim.size > 0 => view.len() / dim.size,
        _ => view.len(),
    }
}
