//! What stands in blocks, and what holds the blocks.

use crate::condition::{Asked, Predicate};
use crate::flags::AccFlags;
use crate::ids::{AccessId, AllocId, BlockId, InstId, RegionId};
use crate::interval::Interval;

/// The part of the PE array that a matmul uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Rows of the tile.
    pub rows: u32,
    /// Columns of the tile.
    pub cols: u32,
    /// First row.
    pub row: u32,
    /// First column: the base partition of the destination.
    pub col: u32,
}

/// The matmul-only facts of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matmul {
    /// The destination: also the one PE use of the instruction.
    pub dst: AccessId,
    /// The accumulator operand of a `tmatmul_acc`; sound programs have it equal to `dst`.
    pub accumulator: Option<AccessId>,
    /// The stationary operand, where the reader was asked: the weights that the array holds.
    pub stationary: Option<AccessId>,
    /// The tile; `None` is the whole array.
    pub tile: Option<Tile>,
    /// The accumulate flags; `None` is auto.
    pub flags: Option<AccFlags>,
    /// The zero-region code, where written.
    pub zero_region: Option<u8>,
    /// The predicate that START depends on.
    pub start_if: Option<Predicate>,
    /// The predicate that STOP depends on.
    pub stop_if: Option<Predicate>,
}

impl Matmul {
    /// The PSUM partitions of the instruction's column group: those of the quadrants its columns meet.
    pub fn column_group(&self, target: &crate::Target) -> Interval {
        let columns = match self.tile {
            // Whatever a tile says, the array ends somewhere.
            Some(tile) => Interval::new(
                tile.col.min(target.pe_columns),
                tile.col.saturating_add(tile.cols).min(target.pe_columns),
            ),
            None => Interval::new(0, target.pe_columns),
        };
        let quadrants = target.quadrants(columns);
        Interval::new(
            quadrants.start * target.quadrant_partitions,
            quadrants.end * target.quadrant_partitions,
        )
    }

    /// Whether START or STOP or both depend on the run.
    pub const fn is_predicated(&self) -> bool {
        self.start_if.is_some() || self.stop_if.is_some()
    }
}

/// The engine an instruction runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// The matrix engine.
    Pe,
    /// The vector engine.
    Vector,
    /// The scalar engine.
    Scalar,
    /// The general-purpose SIMD engine.
    Gpsimd,
    /// A DMA queue.
    Dma,
    /// Not an engine operation of the dialect: host-like code with effects.
    Other,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Pe,
        Self::Vector,
        Self::Scalar,
        Self::Gpsimd,
        Self::Dma,
        Self::Other,
    ];

    /// The name, as the dialect spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pe => "pe",
            Self::Vector => "vector",
            Self::Scalar => "scalar",
            Self::Gpsimd => "gpsimd",
            Self::Dma => "dma",
            Self::Other => "other",
        }
    }
}

/// The sort of an operation that holds regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// `scf.for`, `affine.for`: runs its block `trips` times, unknown where `None`.
    For {
        /// The number of iterations, where all bounds are constants.
        trips: Option<u64>,
    },
    /// `scf.if`: one of its regions runs, or none.
    If,
    /// `scf.while`.
    While,
    /// `scf.index_switch`: one of its regions runs.
    IndexSwitch,
    /// Any other operation with regions: nothing is known of how often they run.
    Other,
}

/// What an entry of a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A PE matmul.
    Matmul(Matmul),
    /// `pto.memset` and `pto.copy`.
    Engine,
    /// Any other operation with effects on SBUF or PSUM (`memref.store`, `linalg.fill`, ...).
    Effects,
    /// A call. `banks` is the set of PSUM banks the callee says it touches, as a bit mask.
    Call {
        /// `None`: the callee does not say.
        banks: Option<u32>,
    },
    /// An operation that holds regions; its own effects are those inside.
    Region {
        /// Its sort.
        kind: RegionKind,
        /// Its regions, in order.
        regions: Vec<RegionId>,
    },
    /// Marker, not an instruction: here the buffer is allocated.
    Alloc(AllocId),
    /// Marker, not an instruction: here the buffer's life ends.
    Dealloc(AllocId),
}

/// An ordering edge: the holder is issued after `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The instruction to wait for.
    pub from: InstId,
    /// Whether legalization added the edge.
    pub inserted: bool,
}

/// An entry of a block: an instruction, or an allocation marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// The block that holds it.
    pub block: BlockId,
    /// What it is.
    pub op: Op,
    /// The engine it runs on.
    pub engine: Engine,
    /// Where its accesses lie in the program's arena: see [`Program::uses`].
    pub(crate) first_use: u32,
    /// Number of accesses.
    pub(crate) use_count: u32,
    /// The instructions it waits for.
    pub after: Vec<Edge>,
    /// Whether legalization added the operation.
    pub inserted: bool,
    /// Elements of each partition that it writes, where the reader was asked: what its time depends on.
    pub elements: u32,
    /// Whether it accesses memory besides its accesses, where the reader was asked for all of them.
    pub is_opaque: bool,
}

impl Inst {
    /// The matmul, if it is one.
    pub const fn matmul(&self) -> Option<&Matmul> {
        match &self.op {
            Op::Matmul(matmul) => Some(matmul),
            _ => None,
        }
    }

    /// Whether an engine executes it (markers are transparent to every rule).
    pub const fn is_instruction(&self) -> bool {
        !matches!(self.op, Op::Alloc(_) | Op::Dealloc(_))
    }
}

/// A straight line of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The region that holds it.
    pub region: RegionId,
    /// Its entries, in program order.
    pub insts: Vec<InstId>,
    /// The blocks control may go to from its end, within the same region.
    pub successors: Vec<BlockId>,
    /// The question whose answer is the number of the successor, where one is known.
    pub asks: Option<Asked>,
}

/// A region: blocks, the first of which is the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The instruction that holds it; `None` for the function's body.
    pub holder: Option<InstId>,
    /// Its blocks.
    pub blocks: Vec<BlockId>,
}
