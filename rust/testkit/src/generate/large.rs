//! Very large programs, for measuring.
//!
//! Chains of 1 to 64 matmuls, five on average, each read once when it is done. They are drawn with a
//! fixed seed, so a size names one program.

use std::fmt::Write as _;

use pto_ir::build::MatmulSpec;
use pto_ir::{
    AccessId, Alloc, BlockId, Engine, Interval, IntervalSet, Op, Origin, Placement, Program,
    ProgramBuilder, Space, Target, Use, UseKind,
};

/// How chains lie in PSUM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One chain at a time in each bank; eight chains are open at once and interleave.
    ChainPerBank,
    /// Four buffers of a quarter bank each in every bank, all open at once.
    Packed,
}

impl Layout {
    const fn buffers_per_bank(self) -> u32 {
        match self {
            Self::ChainPerBank => 1,
            Self::Packed => 4,
        }
    }
}

/// One instruction of a large program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// A matmul into buffer `.0`; `.1` is whether it is the first of its chain.
    Matmul(u32, bool),
    Read(u32),
}

/// Chain lengths: geometric with mean five, cut at 64.
fn chain_length(rng: &mut fastrand::Rng) -> u32 {
    let mut length = 1;
    while length < 64 && rng.u32(0..5) > 0 {
        length += 1;
    }
    length
}

fn entries(matmuls: usize, layout: Layout, target: &Target) -> Vec<Entry> {
    let buffers = target.banks * layout.buffers_per_bank();
    let mut rng = fastrand::Rng::with_seed(1);
    let mut left = vec![0; buffers as usize];
    let mut is_open = vec![false; buffers as usize];
    let mut result = Vec::with_capacity(matmuls + matmuls / 4);
    for _ in 0..matmuls {
        let buffer = rng.u32(0..buffers);
        let index = buffer as usize;
        let opens = !is_open[index];
        if opens {
            left[index] = chain_length(&mut rng);
            is_open[index] = true;
        }
        result.push(Entry::Matmul(buffer, opens));
        left[index] -= 1;
        if left[index] == 0 {
            result.push(Entry::Read(buffer));
            is_open[index] = false;
        }
    }
    let open = (0..buffers).filter(|&buffer| is_open[buffer as usize]);
    result.extend(open.map(Entry::Read));
    result
}

/// A program of `matmuls` matmuls with auto flags.
pub fn program(matmuls: usize, layout: Layout, target: &'static Target) -> Program {
    let mut builder = ProgramBuilder::new("large");
    let bytes = target.bank_bytes / layout.buffers_per_bank();
    let mut accesses: Vec<AccessId> = Vec::new();
    for bank in 0..target.banks {
        for slot in 0..layout.buffers_per_bank() {
            let alloc = builder.add_alloc(Alloc {
                space: Space::Psum,
                origin: Origin::Allocation,
                block: BlockId::new(0),
                partitions: target.partitions,
                bytes,
                placement: Some(Placement {
                    bank,
                    offset: slot * bytes,
                    partition: 0,
                }),
                escapes: false,
                may_alias: false,
            });
            builder.push_alloc(alloc);
            let all = IntervalSet::from_spans(vec![Interval::new(0, bytes)]);
            accesses.push(builder.access(alloc, Interval::new(0, target.partitions), all));
        }
    }
    for entry in entries(matmuls, layout, target) {
        match entry {
            Entry::Matmul(buffer, opens) => {
                let access = accesses[buffer as usize];
                let accumulator = (!opens).then_some(access);
                let spec = MatmulSpec {
                    accumulator,
                    ..MatmulSpec::default()
                };
                builder.push_matmul(access, spec);
            }
            Entry::Read(buffer) => {
                let access = accesses[buffer as usize];
                let read = Use {
                    access,
                    kind: UseKind::Read,
                };
                builder.push(Op::Engine, Engine::Vector, &[read]);
            }
        }
    }
    builder.finish()
}

/// The same program as a function of the dialect, one operation a line.
pub fn mlir(matmuls: usize, layout: Layout, target: &'static Target) -> String {
    let bytes = target.bank_bytes / layout.buffers_per_bank();
    let cells = bytes / target.cell_bytes;
    let (rows, columns) = (target.pe_rows, target.partitions);
    let stationary = format!("memref<{rows}x{columns}xbf16, #pto.mem<sbuf>>");
    let moving = format!("memref<{rows}x{cells}xbf16, #pto.mem<sbuf>>");
    let psum = format!("memref<{columns}x{cells}xf32, #pto.mem<psum>>");
    let sbuf = format!("memref<{columns}x{cells}xf32, #pto.mem<sbuf>>");
    let mut text = String::with_capacity(matmuls * 200);
    _ = writeln!(
        text,
        "module attributes {{pto.target = #pto.target<{}>}} {{",
        target.name
    );
    _ = writeln!(
        text,
        "func.func @large(%w: {stationary}, %x: {moving}, %out: {sbuf}) {{"
    );
    for bank in 0..target.banks {
        for slot in 0..layout.buffers_per_bank() {
            let name = bank * layout.buffers_per_bank() + slot;
            let offset = slot * bytes;
            _ = writeln!(
                text,
                "  %c{name} = pto.psum_alloc bank({bank}) offset({offset}) partition(0) : {psum}"
            );
        }
    }
    for entry in entries(matmuls, layout, target) {
        _ = match entry {
            Entry::Matmul(c, true) => writeln!(
                text,
                "  pto.tmatmul ins(%w, %x : {stationary}, {moving}) outs(%c{c} : {psum})"
            ),
            Entry::Matmul(c, false) => writeln!(
                text,
                "  pto.tmatmul_acc ins(%c{c}, %w, %x : {psum}, {stationary}, {moving}) \
                 outs(%c{c} : {psum})"
            ),
            Entry::Read(c) => writeln!(text, "  pto.copy %c{c}, %out : {psum}, {sbuf}"),
        };
    }
    text.push_str("  return\n}\n}\n");
    text
}
