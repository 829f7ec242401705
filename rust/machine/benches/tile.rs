//! Speed of a tile operation against the PE kernel on the same matmul, both measured in one run.
//!
//!     cargo bench -p pto-machine --bench tile -- [--json]
//!
//! A 16x16x64 `TMATMUL_ACC` of FP16 from carrier words to carrier words, preflight included,
//! against the PE's load, multiply and add of the same operands from bytes to cells. Both sides
//! are measured in turn, sample by sample, and the median of the ratios counts.

use pto_machine::pe::{CellType, ElementType, PeArray, Update, View};
use pto_machine::tile::operation::{Destination, Source};
use pto_machine::tile::{
    Arithmetic, DataType, Descriptor, Function, Layout, Operation, Revision, Tile, execute,
    legality,
};
use serde_json::json;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const M: u32 = 16;
const N: u32 = 16;
const K: u32 = 64;
/// The tile operation may take this many times as long as the PE.
const BAR: f64 = 3.0;
const SAMPLES: usize = 31;
const CALLS: usize = 2000;

fn main() -> Result<()> {
    let tiles = Tiles::new()?;
    let operation = tiles.operation()?;
    let mut pe = Pe::new();
    let (mut ratios, mut best) = (Vec::new(), [f64::INFINITY; 3]);
    for _ in 0..SAMPLES {
        let nanoseconds = [
            time(|| {
                let outcome = execute(&operation, Revision::Seed, Arithmetic::Ieee, None)?;
                black_box(outcome);
                Ok(())
            })?,
            time(|| pe.run())?,
            time(|| Ok(legality::check(&operation, Revision::Seed)?))?,
        ];
        ratios.push(nanoseconds[0] / nanoseconds[1]);
        for (best, time) in best.iter_mut().zip(nanoseconds) {
            *best = best.min(time);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios[SAMPLES / 2];
    if std::env::args().any(|a| a == "--json") {
        let figure = (ratio * 1e3).round() / 1e3;
        let name = "tile f16 16x16x64 / PE, time";
        println!(
            "{}",
            json!({"name": name, "figure": figure, "bar": BAR, "at_least": false})
        );
    } else {
        let [tile, pe, check] = best;
        println!("tile {tile:.0} ns (of it preflight {check:.0} ns), PE {pe:.0} ns");
        println!("tile / PE {ratio:.2}, bar {BAR}");
    }
    Ok(())
}

/// Nanoseconds of one call.
fn time(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..CALLS {
        work()?;
    }
    Ok(start.elapsed().as_secs_f64() / CALLS as f64 * 1e9)
}

/// The FP16 codes of both sides: whole numbers and halves near one.
fn code(i: u32) -> u16 {
    0x3c00 + (i % 97) as u16
}

struct Tiles {
    c: Tile,
    a: Tile,
    b: Tile,
}

impl Tiles {
    fn new() -> Result<Tiles> {
        let tile = |d: Descriptor, word: fn(u32) -> u64| {
            Tile::new(d.fitted(), (0..d.len() as u32).map(word).collect()).ok_or("no such tile")
        };
        let half = |i| u64::from(code(i));
        let cube = |layout, t, rows, columns| Descriptor::cube(layout, t, rows, columns, 0);
        Ok(Tiles {
            c: tile(cube(Layout::CubeM16, DataType::Fp32, M, N), |_| 0)?,
            a: tile(cube(Layout::CubeM16, DataType::Fp16, M, K), half)?,
            b: tile(cube(Layout::CubeN8, DataType::Fp16, K, N), half)?,
        })
    }

    fn operation(&self) -> Result<Operation<'_>> {
        let function = Function::from_name("TMATMUL_ACC").ok_or("no such function")?;
        let mut operation = Operation::new(function, DataType::Fp16);
        operation.dimensions = [Some(M), Some(N), Some(K)];
        operation.sources = [&self.c, &self.a, &self.b].map(Source::filled).to_vec();
        operation.destinations = vec![Destination {
            capacity: self.c.descriptor().capacity,
            name: None,
            descriptor: None,
        }];
        Ok(operation)
    }
}

struct Pe {
    array: PeArray,
    stationary: Vec<u8>,
    moving: Vec<u8>,
    cells: Vec<u32>,
}

impl Pe {
    fn new() -> Pe {
        let bytes = |count| (0..count).flat_map(|i| code(i).to_le_bytes()).collect();
        Pe {
            array: PeArray::new(),
            stationary: bytes(K * M),
            moving: bytes(K * N),
            cells: vec![0; (M * N) as usize],
        }
    }

    fn run(&mut self) -> Result<()> {
        let (m_dims, n_dims) = ([(M as usize, 2)], [(N as usize, 2)]);
        let view = |bytes, columns: u32, dims| {
            let rows = (K as usize, columns as isize * 2);
            View::new(bytes, ElementType::F16, 0, rows, dims)
        };
        self.array
            .load_stationary(&view(&self.stationary, M, &m_dims)?);
        self.array.load_moving(&view(&self.moving, N, &n_dims)?);
        let sums = self.array.multiply(CellType::F32)?;
        for (row, cells) in self.cells.chunks_exact_mut(N as usize).enumerate() {
            sums.update_from(row, 0, cells, Update::Add);
        }
        black_box(&mut self.cells);
        Ok(())
    }
}
