//! Small kernels, built by hand: matmuls whose sums are one number, over rectangles of PSUM.

#![allow(dead_code, reason = "every test file uses its own part")]

use pto_ir::{AccFlags, Engine, Placement, Severity, Target, Tile};
use pto_machine::code::{
    Allocate, Code, ElementType, EngineOp, Func, FuncBuilder, Index, Inst, MatmulOp, Slot, Space,
    Subview, Transfer, ValueType, ViewSlot, ViewType,
};
use pto_machine::exec::{
    Config, DEFAULT_MAX_STEPS, Extent, Input, RunResult, TileConfig, Value, run,
};
use pto_machine::hazards::HazardPolicy;
use pto_machine::parallel::Order;
use pto_machine::psum::{Meanings, StartModel};
use pto_machine::report::{Report, SiteId};

/// The site of the `number`th matmul, copy, memset or read, counted from 0.
pub(crate) fn site(number: usize) -> SiteId {
    SiteId::new(number)
}

/// How a matmul differs from a plain one over the whole array.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mm {
    pub(crate) flags: Option<u8>,
    pub(crate) accumulates: bool,
    pub(crate) tile: Option<(u32, u32, u32, u32)>,
    pub(crate) zero_region: Option<u8>,
}

/// `tmatmul` with the control byte `flags`.
pub(crate) fn mm(flags: u8) -> Mm {
    Mm {
        flags: Some(flags),
        ..Mm::default()
    }
}

/// `tmatmul_acc` with the control byte `flags`.
pub(crate) fn acc(flags: u8) -> Mm {
    Mm {
        accumulates: true,
        ..mm(flags)
    }
}

impl Mm {
    pub(crate) fn tile(mut self, rows: u32, cols: u32, row: u32, col: u32) -> Self {
        self.tile = Some((rows, cols, row, col));
        self
    }

    pub(crate) fn region(mut self, code: u8) -> Self {
        self.zero_region = Some(code);
        self
    }
}

/// A function under construction.
pub(crate) struct Kernel {
    pub(crate) builder: FuncBuilder,
    results: Vec<Slot>,
    events: usize,
}

impl Default for Kernel {
    fn default() -> Self {
        Self::new()
    }
}

impl Kernel {
    pub(crate) fn new() -> Self {
        Self {
            builder: FuncBuilder::new("main", SiteId::NONE),
            results: Vec::new(),
            events: 0,
        }
    }

    /// The site of the next event.
    pub(crate) fn next_site(&mut self) -> SiteId {
        self.events += 1;
        site(self.events - 1)
    }

    fn allocate(&mut self, space: Space, sizes: &[u64], placement: Option<Placement>) -> ViewSlot {
        let dst = self.builder.view();
        let allocate = Allocate {
            dst,
            element: ElementType::F32,
            space,
            sizes: sizes
                .iter()
                .map(|&size| Index::Constant(size as i64))
                .collect(),
            layout: None,
            placement,
            capacity: None,
        };
        self.builder
            .push(Inst::Allocate(Box::new(allocate)), SiteId::NONE);
        dst
    }

    /// `rows` partitions of `columns` cells in `bank`, from cell `column` and partition `partition`.
    pub(crate) fn psum(
        &mut self,
        bank: u32,
        (partition, column): (u32, u32),
        rows: u64,
        columns: u64,
    ) -> ViewSlot {
        let placement = Placement {
            bank,
            offset: column * 4,
            partition,
        };
        self.allocate(Space::Psum, &[rows, columns], Some(placement))
    }

    pub(crate) fn unplaced(&mut self, rows: u64, columns: u64) -> ViewSlot {
        self.allocate(Space::Psum, &[rows, columns], None)
    }

    pub(crate) fn sbuf(&mut self, rows: u64, columns: u64) -> ViewSlot {
        self.allocate(Space::Sbuf, &[rows, columns], None)
    }

    /// `rows` from `row`, `columns` from `column` of a buffer.
    pub(crate) fn part(
        &mut self,
        src: ViewSlot,
        (row, column): (i64, i64),
        rows: i64,
        columns: i64,
    ) -> ViewSlot {
        let dst = self.builder.view();
        let constants = |values: [i64; 2]| values.map(Index::Constant).into();
        let subview = Subview {
            dst,
            src,
            offsets: constants([row, column]),
            sizes: constants([rows, columns]),
            strides: constants([1, 1]),
            kept: [true; 2].into(),
        };
        self.builder
            .push(Inst::Subview(Box::new(subview)), SiteId::NONE);
        dst
    }

    fn fill_by(&mut self, engine: Engine, dst: ViewSlot, value: f32, at: SiteId) {
        let source = self.builder.constant(u64::from(value.to_bits()));
        let fill = Transfer {
            op: EngineOp::plain(engine),
            source,
            source_type: None,
            dst,
        };
        self.builder.push(Inst::Fill(Box::new(fill)), at);
    }

    /// `pto.memset`: event.
    pub(crate) fn memset(&mut self, dst: ViewSlot, value: f32) {
        let at = self.next_site();
        self.fill_by(Engine::Vector, dst, value, at);
    }

    /// A matmul whose sums are all `value`: event.
    pub(crate) fn matmul(
        &mut self,
        dst: ViewSlot,
        (rows, columns): (u64, u64),
        value: f32,
        mm: Mm,
    ) {
        let weight = self.sbuf(1, rows);
        let moving = self.sbuf(1, columns);
        self.fill_by(Engine::Other, weight, 1.0, SiteId::NONE);
        self.fill_by(Engine::Other, moving, value, SiteId::NONE);
        let op = MatmulOp {
            op: EngineOp::plain(Engine::Pe),
            accumulator: mm.accumulates.then_some(dst),
            stationary: weight,
            moving,
            dst,
            tile: mm.tile.map(|(rows, cols, row, col)| Tile {
                rows,
                cols,
                row,
                col,
            }),
            flags: mm.flags.and_then(AccFlags::from_byte),
            zero_region: mm.zero_region,
            start_if: None,
            stop_if: None,
        };
        let at = self.next_site();
        self.builder.push(Inst::Matmul(Box::new(op)), at);
    }

    fn copy(&mut self, source: ViewSlot, dst: ViewSlot, at: SiteId) {
        let copy = Transfer {
            op: EngineOp::plain(Engine::Vector),
            source,
            source_type: None,
            dst,
        };
        self.builder.push(Inst::Copy(Box::new(copy)), at);
    }

    /// Data from elsewhere: event.
    pub(crate) fn seed(&mut self, dst: ViewSlot, (rows, columns): (u64, u64), value: f32) {
        let source = self.sbuf(rows, columns);
        self.fill_by(Engine::Other, source, value, SiteId::NONE);
        let at = self.next_site();
        self.copy(source, dst, at);
    }

    /// Reads a buffer, which becomes a result: event.
    pub(crate) fn read(&mut self, source: ViewSlot, (rows, columns): (u64, u64)) {
        let dst = self.sbuf(rows, columns);
        let at = self.next_site();
        self.copy(source, dst, at);
        self.results.push(Slot::View(dst));
        let ty = ViewType::dense(ElementType::F32, Space::Sbuf, &[rows, columns]);
        self.builder.push_result(ValueType::View(ty));
    }

    pub(crate) fn finish(self) -> Code {
        let Self {
            mut builder,
            results,
            ..
        } = self;
        builder.push(Inst::Return(results.into()), SiteId::NONE);
        program(builder.finish().expect("labels are bound"))
    }
}

pub(crate) fn program(func: Func) -> Code {
    Code {
        funcs: vec![func],
        globals: Vec::new(),
        platform: None,
    }
}

/// The three meanings side by side.
pub(crate) fn all() -> Meanings {
    Meanings {
        reference: true,
        models: vec![StartModel::WrittenBit, StartModel::EagerZero],
    }
}

pub(crate) fn only(model: StartModel) -> Meanings {
    Meanings {
        reference: false,
        models: vec![model],
    }
}

pub(crate) fn config(target: &str, meanings: Meanings) -> Config {
    Config {
        target: Target::from_name(target).expect("a target"),
        meanings,
        extent: Extent::Group,
        hazards: HazardPolicy::Error,
        tiles: TileConfig::default(),
        order: Order::Forward,
        max_steps: DEFAULT_MAX_STEPS,
        times: false,
    }
}

pub(crate) fn run_with(code: &Code, config: Config) -> RunResult {
    run(code, Code::func_id(0), Vec::<Input>::new(), config)
}

/// Every distinct value of each result, in order of first appearance.
pub(crate) fn results(result: &RunResult) -> Vec<Vec<f32>> {
    result
        .results
        .iter()
        .map(|value| match value {
            Value::Elements {
                array,
                undefined: 0,
            } => {
                let mut distinct: Vec<f32> = Vec::new();
                for chunk in array.bytes.chunks_exact(4) {
                    let value = f32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
                    if !distinct.contains(&value) {
                        distinct.push(value);
                    }
                }
                distinct
            }
            other => panic!("a defined memref, found {other:?}"),
        })
        .collect()
}

/// Runs under all meanings and both extents; none may report anything.
pub(crate) fn expect_clean(target: &str, code: &Code) -> Vec<Vec<f32>> {
    let mut found = Vec::new();
    for extent in [Extent::Group, Extent::Destination] {
        let result = run_with(
            code,
            Config {
                extent,
                ..config(target, all())
            },
        );
        assert!(
            result.reports.is_empty(),
            "{extent:?}: {:?}",
            result.reports
        );
        found = results(&result);
    }
    found
}

/// Runs under all meanings; the one error.
pub(crate) fn expect_error(target: &str, code: &Code) -> Report {
    let result = run_with(code, config(target, all()));
    let mut errors = result
        .reports
        .into_iter()
        .filter(|r| r.severity == Severity::Error);
    errors.next().expect("an error")
}
