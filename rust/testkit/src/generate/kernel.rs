//! Small straight-line kernels with all their operands: loads, matmuls in groups, drains and stores, in an
//! order that is not made for speed. For what depends on time.

use std::fmt::Write as _;

use pto_ir::Program;

use crate::text;

/// Tiles of the output: each has a PSUM bank, weights, a moving operand, an output in SBUF and one in HBM.
const TILES: u32 = 4;

const ENGINES: [&str; 4] = ["vector", "scalar", "gpsimd", "dma"];

/// A kernel of `instructions` instructions, drawn with `seed`. Every buffer has 128 partitions.
pub fn kernel(seed: u64, instructions: u32) -> Program {
    text::parse(&kernel_text(seed, instructions)).unwrap_or_default()
}

/// The text of [`kernel`]: tile T has the output `hT` in hbm, the only buffers there.
pub fn kernel_text(seed: u64, instructions: u32) -> String {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut text = String::new();
    for tile in 0..TILES {
        // Tiles 2 and 3 share a bank.
        let place = match tile {
            0 | 1 => format!("bank {tile} u0..4"),
            2 => "bank 2 u0..4".to_owned(),
            _ => "bank 2 u4..8".to_owned(),
        };
        _ = writeln!(text, "alloc p{tile} {place}");
        _ = writeln!(
            text,
            "alloc o{tile} sbuf unplaced u0..4; arg h{tile} hbm unplaced u0..4"
        );
        _ = writeln!(
            text,
            "alloc w{tile} sbuf unplaced b0..512; alloc x{tile} sbuf unplaced u0..4"
        );
    }
    let mut is_open = [false; TILES as usize];
    for _ in 0..instructions {
        let (tile, other) = (rng.u32(0..TILES), rng.u32(0..TILES));
        let columns = ["u0..4", "u0..2", "u1..3", "u3..4"][rng.usize(0..4)];
        let engine = ENGINES[rng.usize(0..ENGINES.len())];
        let open = &mut is_open[tile as usize];
        _ = match rng.u32(0..6) {
            0 => writeln!(text, "data x{tile} {columns} engine(dma)"),
            1 => writeln!(text, "data w{tile} engine({engine})"),
            2 if *open => {
                *open = false;
                writeln!(text, "do read p{tile}, data o{other} engine({engine})")
            }
            3 => writeln!(
                text,
                "do read o{tile} {columns}, data h{other} {columns} engine(dma)"
            ),
            _ => {
                let word = if *open { "mma" } else { "mm" };
                *open = true;
                writeln!(text, "{word} p{tile} weights w{other} moving x{tile}")
            }
        };
    }
    text
}
