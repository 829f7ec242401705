//! What the interpreter adds to a small matmul: a loop of 16x16x16 instructions whose operands are
//! views that move, against the arithmetic of the same instructions alone.
//!
//!     cargo bench -p pto-machine --bench interpreter

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use pto_ir::{AccFlags, Engine, Placement, Target, Tile};
use pto_machine::code::{
    Allocate, Code, ElementType, EngineOp, FuncBuilder, Index, Inst, MatmulOp, ScalarSlot, Space,
    Subview, Transfer, ViewSlot,
};
use pto_machine::exec::{Config, DEFAULT_MAX_STEPS, Extent, TileConfig, run};
use pto_machine::hazards::HazardPolicy;
use pto_machine::parallel::Order;
use pto_machine::pe::{self, CellType, PeArray, Update};
use pto_machine::psum::{Meanings, StartModel};
use pto_machine::report::SiteId;
use pto_machine::scalar::IntCompare;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SIZE: usize = 16;
/// Tiles side by side in each operand buffer.
const TILES: usize = 64;
const ROUNDS: usize = 2000;
const SAMPLES: usize = 9;

fn main() -> Result<()> {
    let code = kernel()?;
    let target = Target::from_name("trn2").ok_or("no target")?;
    let meanings = [
        ("reference", true, vec![]),
        ("written-bit", false, vec![StartModel::WrittenBit]),
        (
            "all",
            true,
            vec![StartModel::WrittenBit, StartModel::EagerZero],
        ),
    ];
    let alone = median(arithmetic)?;
    println!("{:24}{alone:8.0} ns an instruction", "arithmetic alone");
    for (name, reference, models) in meanings {
        let time = median(|| {
            let config = Config {
                target,
                meanings: Meanings {
                    reference,
                    models: models.clone(),
                },
                extent: Extent::Group,
                hazards: HazardPolicy::Error,
                tiles: TileConfig::default(),
                order: Order::Forward,
                max_steps: DEFAULT_MAX_STEPS,
                times: false,
            };
            let result = run(&code, Code::func_id(0), Vec::new(), config);
            if let Some(report) = result.reports.first() {
                return Err(report.text().into());
            }
            black_box(result.steps);
            Ok(TILES * ROUNDS)
        })?;
        println!(
            "{name:24}{time:8.0} ns an instruction, {:.2} times",
            time / alone
        );
    }
    Ok(())
}

/// Median nanoseconds of one of the things that `body` does and counts.
fn median(mut body: impl FnMut() -> Result<usize>) -> Result<f64> {
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            let count = body()?;
            Ok(start.elapsed().as_secs_f64() * 1e9 / count as f64)
        })
        .collect::<Result<_>>()?;
    samples.sort_by(f64::total_cmp);
    Ok(samples[SAMPLES / 2])
}

/// The same matmuls without an interpreter: operands loaded, multiplied, added to one plane.
fn arithmetic() -> Result<usize> {
    let bytes: Vec<u8> = (0..SIZE * SIZE * TILES)
        .flat_map(|_| 0x3f80u16.to_le_bytes())
        .collect();
    let mut array = PeArray::new();
    let mut cells = vec![0u32; SIZE * SIZE];
    let row = (SIZE * TILES * 2) as isize;
    for _ in 0..ROUNDS {
        for tile in 0..TILES {
            let dims = [(SIZE, 2)];
            let operand = pe::View::new(
                &bytes,
                pe::ElementType::Bf16,
                tile * SIZE * 2,
                (SIZE, row),
                &dims,
            )
            .map_err(|error| error.to_string())?;
            array.load_stationary(&operand);
            array.load_moving(&operand);
            let sums = array
                .multiply(CellType::F32)
                .map_err(|error| error.to_string())?;
            for (number, row) in cells.chunks_exact_mut(SIZE).enumerate() {
                sums.update_from(number, 0, row, Update::Add);
            }
        }
    }
    black_box(&cells);
    Ok(TILES * ROUNDS)
}

fn kernel() -> Result<Code> {
    let mut builder = FuncBuilder::new("main", SiteId::NONE);
    let operand = [SIZE as i64, (SIZE * TILES) as i64];
    let weights = allocate(&mut builder, Space::Sbuf, operand, ElementType::BF16);
    let moving = allocate(&mut builder, Space::Sbuf, operand, ElementType::BF16);
    let square = [SIZE as i64, SIZE as i64];
    let dst = allocate(&mut builder, Space::Psum, square, ElementType::F32);
    let zero = builder.constant(0);
    for buffer in [weights, moving, dst] {
        fill(&mut builder, buffer, zero);
    }
    let rounds = builder.constant(ROUNDS as u64);
    let width = builder.constant((SIZE * TILES) as u64);
    let one = builder.constant(1);
    let step = builder.constant(SIZE as u64);
    nest(&mut builder, (zero, rounds, one), |builder, _| {
        nest(builder, (zero, width, step), |builder, column| {
            let left = part(builder, weights, column);
            let right = part(builder, moving, column);
            let op = MatmulOp {
                op: EngineOp::plain(Engine::Pe),
                accumulator: Some(dst),
                stationary: left,
                moving: right,
                dst,
                tile: Some(Tile {
                    rows: 32,
                    cols: 32,
                    row: 0,
                    col: 0,
                }),
                flags: Some(AccFlags::NONE),
                zero_region: None,
                start_if: None,
                stop_if: None,
            };
            builder.push(Inst::Matmul(Box::new(op)), SiteId::new(1));
        });
    });
    builder.push(Inst::Return(Box::default()), SiteId::NONE);
    Ok(Code {
        funcs: vec![builder.finish().ok_or("a label is not bound")?],
        globals: Vec::new(),
        platform: None,
    })
}

/// A loop over `lower..upper` in steps of `step`.
fn nest(
    builder: &mut FuncBuilder,
    (lower, upper, step): (ScalarSlot, ScalarSlot, ScalarSlot),
    body: impl FnOnce(&mut FuncBuilder, ScalarSlot),
) {
    let iv = builder.scalar();
    let (start, exit) = (builder.label(), builder.label());
    let compare = IntCompare::Slt;
    let enter = Inst::LoopEnter {
        compare,
        width: 64,
        iv,
        lower,
        upper,
        step,
        exit,
    };
    builder.push(enter, SiteId::NONE);
    builder.bind(start);
    body(builder, iv);
    let next = Inst::LoopNext {
        compare,
        width: 64,
        iv,
        upper,
        step,
        body: start,
    };
    builder.push(next, SiteId::NONE);
    builder.bind(exit);
}

fn allocate(
    builder: &mut FuncBuilder,
    space: Space,
    sizes: [i64; 2],
    element: ElementType,
) -> ViewSlot {
    let dst = builder.view();
    let placement = Placement {
        bank: 0,
        offset: 0,
        partition: 0,
    };
    let allocate = Allocate {
        dst,
        element,
        space,
        sizes: sizes.map(Index::Constant).into(),
        layout: None,
        placement: Some(placement),
        capacity: None,
    };
    builder.push(Inst::Allocate(Box::new(allocate)), SiteId::NONE);
    dst
}

fn fill(builder: &mut FuncBuilder, dst: ViewSlot, source: ScalarSlot) {
    let op = EngineOp::plain(Engine::Vector);
    let fill = Transfer {
        op,
        source,
        source_type: None,
        dst,
    };
    builder.push(Inst::Fill(Box::new(fill)), SiteId::NONE);
}

fn part(builder: &mut FuncBuilder, src: ViewSlot, column: ScalarSlot) -> ViewSlot {
    let dst = builder.view();
    let size = Index::Constant(SIZE as i64);
    let subview = Subview {
        dst,
        src,
        offsets: [Index::Constant(0), Index::Slot(column)].into(),
        sizes: [size, size].into(),
        strides: [Index::Constant(1); 2].into(),
        kept: [true; 2].into(),
    };
    builder.push(Inst::Subview(Box::new(subview)), SiteId::NONE);
    dst
}
