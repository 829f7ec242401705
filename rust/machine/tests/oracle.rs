//! The machine against an oracle that shares no code with it: random programs with random flags,
//! every cell of every read, and every hazard.
//!
//! The oracle is symbolic: a cell holds the list of what went into it. Here every contribution is a
//! small integer of its own, so that sums are exact and the list gives the number that must be read.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken expectation is a failed test"
)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use pto_ir::{
    Access, AccessId, Alloc, AllocId, Engine, InstId, Interval, Matmul, Op, Origin, Program,
    Target, UseKind,
};
use pto_machine::code::{
    Allocate, Code, ElementType, EngineOp, FuncBuilder, Index, Inst, MatmulOp, Param, Slot, Space,
    Subview, Transfer, ValueType, ViewSlot, ViewType,
};
use pto_machine::exec::{
    Array, Config, DEFAULT_MAX_STEPS, Extent, Input, RunResult, TileConfig, Value, run,
};
use pto_machine::hazards::HazardPolicy;
use pto_machine::psum::{Meanings, StartModel};
use pto_machine::report::{SiteId, Verdict};
use pto_testkit::generate::random::{Profile, strategy};
use pto_testkit::oracle::grid::{Cell, Grid, footprint};
use pto_testkit::oracle::machine::{self, Model, PendingRule};
use pto_testkit::oracle::path::{Chooser, Event, Step, trace};
use pto_testkit::oracle::reference;
use pto_testkit::oracle::values::{Contribution, Values};
use pto_testkit::text;

/// The number that stands for a contribution: below 2^20, and odd multiples of primes, so that
/// different lists have different sums as far as anyone can expect.
fn number(contribution: Contribution) -> f32 {
    let raw = match contribution {
        Contribution::Argument { alloc } => 700_001 + 977 * alloc as u32,
        Contribution::Data { event, .. } => 7 * mixed(event) + 3,
        Contribution::Product { event } => 5 * mixed(event) + 1,
    };
    (raw % (1 << 20)) as f32
}

fn mixed(event: Event) -> u32 {
    (event.inst.index() as u32 + 1).wrapping_mul(40_503) % 104_729 + 131 * event.occurrence
}

/// A program as code: every step in order, each with the number of its instruction as its site.
struct Translation<'a> {
    program: &'a Program,
    builder: FuncBuilder,
    views: Vec<ViewSlot>,
    results: Vec<Slot>,
    /// What each result is: the reading event, and the cells it covers.
    reads: Vec<(Event, Interval, Interval)>,
}

impl<'a> Translation<'a> {
    /// `None` where the program has something that straight-line code cannot say.
    fn of(program: &'a Program, steps: &[Step], target: &Target) -> Option<(Code, Self)> {
        let mut builder = FuncBuilder::new("main", SiteId::NONE);
        let views: Vec<ViewSlot> = program.allocs().iter().map(|_| builder.view()).collect();
        for (alloc, &slot) in program.allocs().iter().zip(&views) {
            if let Origin::Argument { fresh, .. } = alloc.origin {
                builder.push_param(Param {
                    ty: ValueType::View(view_type(alloc)),
                    slot: Slot::View(slot),
                    is_used: true,
                    placement: alloc.placement,
                    is_fresh: fresh,
                });
            }
        }
        let mut translation = Self {
            program,
            builder,
            views,
            results: Vec::new(),
            reads: Vec::new(),
        };
        for step in steps {
            translation.step(step, target)?;
        }
        let slots = translation.results.clone();
        translation
            .builder
            .push(Inst::Return(slots.into()), SiteId::NONE);
        let empty = FuncBuilder::new("", SiteId::NONE);
        let builder = std::mem::replace(&mut translation.builder, empty);
        let code = Code {
            funcs: vec![builder.finish()?],
            globals: Vec::new(),
            platform: None,
        };
        Some((code, translation))
    }

    fn step(&mut self, step: &Step, target: &Target) -> Option<()> {
        let inst = self.program.inst(step.event.inst);
        let site = SiteId::new(step.event.inst.index());
        if let Op::Alloc(alloc) = inst.op {
            self.allocate(alloc, site);
        }
        for used in self.program.uses(step.event.inst) {
            match used.kind {
                UseKind::Read => self.read(step.event, used.access, inst.engine, target)?,
                UseKind::Write => {
                    let event = step.event;
                    let value = number(Contribution::Data { event, operand: 0 });
                    self.fill(used.access, value, inst.engine, site);
                }
                UseKind::WriteZero => self.fill(used.access, 0.0, inst.engine, site),
                UseKind::PeOverwrite | UseKind::PeAccumulate => {
                    let matmul = inst.matmul()?;
                    self.matmul(step.event, matmul, site)?;
                }
            }
        }
        Some(())
    }

    fn allocate(&mut self, id: AllocId, site: SiteId) {
        let alloc = self.program.alloc(id);
        let sizes = [alloc.partitions, alloc.bytes / 4];
        let allocate = Allocate {
            dst: self.views[id.index()],
            element: ElementType::F32,
            space: Space::Psum,
            sizes: sizes.map(|size| Index::Constant(size.into())).into(),
            layout: None,
            placement: alloc.placement,
            capacity: None,
        };
        self.builder.push(Inst::Allocate(Box::new(allocate)), site);
    }

    /// The part of a buffer with one of the byte intervals of an access.
    fn part(&mut self, access: &Access, bytes: Interval) -> ViewSlot {
        let dst = self.builder.view();
        let constants = |values: [u32; 2]| values.map(|value| Index::Constant(value.into())).into();
        let subview = Subview {
            dst,
            src: self.views[access.alloc.index()],
            offsets: constants([access.partitions.start, bytes.start / 4]),
            sizes: constants([access.partitions.len(), bytes.len() / 4]),
            strides: constants([1, 1]),
            kept: [true; 2].into(),
        };
        self.builder
            .push(Inst::Subview(Box::new(subview)), SiteId::NONE);
        dst
    }

    fn sbuf(&mut self, rows: u32, columns: u32) -> ViewSlot {
        let dst = self.builder.view();
        let allocate = Allocate {
            dst,
            element: ElementType::F32,
            space: Space::Sbuf,
            sizes: [rows, columns]
                .map(|size| Index::Constant(size.into()))
                .into(),
            layout: None,
            placement: None,
            capacity: None,
        };
        self.builder
            .push(Inst::Allocate(Box::new(allocate)), SiteId::NONE);
        dst
    }

    fn fill_view(&mut self, dst: ViewSlot, value: f32, engine: Engine, site: SiteId) {
        let source = self.builder.constant(u64::from(value.to_bits()));
        let fill = Transfer {
            op: EngineOp::plain(engine),
            source,
            source_type: None,
            dst,
        };
        self.builder.push(Inst::Fill(Box::new(fill)), site);
    }

    fn fill(&mut self, access: AccessId, value: f32, engine: Engine, site: SiteId) {
        for span in self.program.bytes(access).to_vec() {
            let part = self.part(&self.program.access(access).clone(), span);
            self.fill_view(part, value, engine, site);
        }
    }

    fn read(
        &mut self,
        event: Event,
        access: AccessId,
        engine: Engine,
        target: &Target,
    ) -> Option<()> {
        let (partitions, placed) = footprint(self.program, access, target)?;
        for (span, placed) in self.program.bytes(access).to_vec().into_iter().zip(placed) {
            let part = self.part(&self.program.access(access).clone(), span);
            let dst = self.sbuf(partitions.len(), span.len() / 4);
            let copy = Transfer {
                op: EngineOp::plain(engine),
                source: part,
                source_type: None,
                dst,
            };
            let site = SiteId::new(event.inst.index());
            self.builder.push(Inst::Copy(Box::new(copy)), site);
            self.results.push(Slot::View(dst));
            let sizes = [partitions.len().into(), (span.len() / 4).into()];
            let ty = ViewType::dense(ElementType::F32, Space::Sbuf, &sizes);
            self.builder.push_result(ValueType::View(ty));
            self.reads.push((event, partitions, placed));
        }
        Some(())
    }

    /// A matmul of depth 1 whose sums are all one number. A destination with gaps is no matrix.
    fn matmul(&mut self, event: Event, matmul: &Matmul, site: SiteId) -> Option<()> {
        let &[span] = self.program.bytes(matmul.dst) else {
            return None;
        };
        let access = *self.program.access(matmul.dst);
        let dst = self.part(&access, span);
        let stationary = self.sbuf(1, access.partitions.len());
        let moving = self.sbuf(1, span.len() / 4);
        self.fill_view(stationary, 1.0, Engine::Other, SiteId::NONE);
        self.fill_view(
            moving,
            number(Contribution::Product { event }),
            Engine::Other,
            SiteId::NONE,
        );
        let op = MatmulOp {
            op: EngineOp::plain(Engine::Pe),
            accumulator: matmul.accumulator.map(|_| dst),
            stationary,
            moving,
            dst,
            tile: matmul.tile,
            flags: matmul.flags,
            zero_region: matmul.zero_region,
            start_if: None,
            stop_if: None,
        };
        self.builder.push(Inst::Matmul(Box::new(op)), site);
        Some(())
    }
}

fn view_type(alloc: &Alloc) -> ViewType {
    let sizes = [alloc.partitions.into(), (alloc.bytes / 4).into()];
    ViewType::dense(ElementType::F32, Space::Psum, &sizes)
}

/// Arguments that hold data hold a number of their own.
fn inputs(program: &Program) -> Vec<Input> {
    let arguments = program.allocs().iter().enumerate();
    arguments
        .filter_map(|(index, alloc)| match alloc.origin {
            Origin::Allocation => None,
            Origin::Argument { fresh: true, .. } => Some(Input::Undefined),
            Origin::Argument { fresh: false, .. } => {
                let value = number(Contribution::Argument { alloc: index });
                let cells = (alloc.partitions * alloc.bytes / 4) as usize;
                Some(Input::Elements(Array {
                    element: ElementType::F32,
                    sizes: vec![alloc.partitions.into(), (alloc.bytes / 4).into()],
                    bytes: value.to_le_bytes().repeat(cells),
                }))
            }
        })
        .collect()
}

fn config(
    target: &'static Target,
    meanings: Meanings,
    extent: Extent,
    hazards: HazardPolicy,
) -> Config {
    Config {
        target,
        meanings,
        extent,
        hazards,
        tiles: TileConfig::default(),
        max_steps: DEFAULT_MAX_STEPS,
        times: false,
    }
}

/// The models of both sides, one for one.
fn models() -> Vec<(Model, StartModel, Extent)> {
    let rules = [
        (PendingRule::WrittenBit, StartModel::WrittenBit),
        (PendingRule::EagerZero, StartModel::EagerZero),
        (PendingRule::Sticky, StartModel::StickyPending),
    ];
    let extents = [
        (machine::Extent::Group, Extent::Group),
        (machine::Extent::Dst, Extent::Destination),
    ];
    rules
        .into_iter()
        .flat_map(|(rule, start)| {
            extents.map(|(oracle, own)| (Model::new(rule, oracle), start, own))
        })
        .collect()
}

type Hazards = BTreeSet<(&'static str, InstId, Option<InstId>)>;

/// The hazards of a run, without those of the comparison at its end.
fn hazards_of(program: &Program, result: &RunResult) -> Hazards {
    let instruction = |site: SiteId| site.index().map(InstId::new);
    // For the oracle an allocation is the cause of nothing.
    let is_cause = |inst: &InstId| program.inst(*inst).is_instruction();
    result
        .reports
        .iter()
        .filter_map(|report| {
            let at = instruction(report.site)?;
            let cause = report.notes.first().and_then(|note| instruction(note.0));
            let cause = cause.filter(is_cause);
            Some((report.tag, at, cause))
        })
        .collect()
}

/// What a cell must hold; `None` is nothing.
fn expected(values: &Values, value: pto_testkit::oracle::values::Value) -> Option<f32> {
    let (is_poison, list) = values.list(value);
    (!is_poison).then(|| list.into_iter().map(number).sum())
}

/// The word that a result has for a cell.
fn word(result: &Value, partitions: Interval, bytes: Interval, cell: &Cell) -> Option<f32> {
    if !partitions.contains(cell.partition) || !bytes.contains(cell.byte) {
        return None;
    }
    let Value::Elements { array, .. } = result else {
        return None;
    };
    let columns = bytes.len() / 4;
    let at =
        ((cell.partition - partitions.start) * columns + (cell.byte - bytes.start) / 4) as usize;
    let word = &array.bytes[4 * at..4 * at + 4];
    Some(f32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

/// Compares one program under every model. `None`: it is not one that can be compared.
fn compare(program: &Program, target: &'static Target) -> Option<Result<(), TestCaseError>> {
    let steps = trace(program, &mut Chooser::new(0, 0), 1000)?;
    let (code, translation) = Translation::of(program, &steps, target)?;
    let grid = Grid::new(&[program], target);
    let mut values = Values::default();
    let meaning = reference::run(program, &grid, &steps, &mut values);
    if !meaning.faults.is_empty() {
        return None;
    }
    let cells = grid.cells_of_accesses(program);
    for (model, start, extent) in models() {
        let alone = Meanings {
            reference: false,
            models: vec![start],
        };
        let config = config(target, alone, extent, HazardPolicy::Warn);
        let result = run(&code, Code::func_id(0), inputs(program), config);
        if result
            .reports
            .iter()
            .any(|report| report.verdict == Verdict::Unusable)
        {
            return None;
        }
        let outcome = machine::run(program, &grid, &steps, model, &meaning, &mut values);
        if let Err(error) = check_hazards(program, &result, &outcome.hazards, model) {
            return Some(Err(error));
        }
        for read in &outcome.observations.reads {
            let access = program.uses(read.event.inst)[read.operand].access;
            for (&cell, &value) in cells[access.index()].iter().zip(&read.values) {
                let expected = expected(&values, value);
                let at = &grid.cells()[cell];
                let found = translation
                    .reads
                    .iter()
                    .zip(&result.results)
                    .filter(|((event, ..), _)| *event == read.event)
                    .find_map(|((_, partitions, bytes), value)| {
                        word(value, *partitions, *bytes, at)
                    });
                let is_right = match (expected, found) {
                    (Some(expected), Some(found)) => expected == found,
                    (None, Some(found)) => found.is_nan(),
                    (_, None) => false,
                };
                if !is_right {
                    let message =
                        format!("{model:?} {read:?} {at:?}: {expected:?}, found {found:?}");
                    return Some(Err(TestCaseError::fail(message)));
                }
            }
        }
    }
    Some(Ok(()))
}

/// Both sides must report the same hazards. Where ACCUMULATE brings clobbered cells back, the
/// machine remembers which START hit them first and the oracle does not: there the machine may
/// report more, and name an earlier START.
fn check_hazards(
    program: &Program,
    result: &RunResult,
    expected: &[machine::Hazard],
    model: Model,
) -> Result<(), TestCaseError> {
    let accumulates = program
        .insts()
        .iter()
        .filter_map(|inst| inst.matmul())
        .any(|matmul| matmul.flags.is_some_and(|flags| flags.accumulates()));
    let is_remembered =
        |hazard: &(&str, InstId, Option<InstId>)| accumulates && hazard.0 == "pto:start-clobbers";
    let comparable = |(tag, at, cause)| match is_remembered(&(tag, at, cause)) {
        true => (tag, at, None),
        false => (tag, at, cause),
    };
    let expected = expected
        .iter()
        .map(|hazard| (hazard.tag, hazard.at, hazard.cause));
    let expected: Hazards = expected.map(comparable).collect();
    let found: Hazards = hazards_of(program, result)
        .into_iter()
        .map(comparable)
        .collect();
    let surplus: Vec<_> = found.difference(&expected).collect();
    let missing: Vec<_> = expected.difference(&found).collect();
    prop_assert!(
        surplus.iter().all(|hazard| is_remembered(hazard)) && missing.is_empty(),
        "{model:?}: reported too much: {surplus:?}, missing: {missing:?}"
    );
    Ok(())
}

fn check(name: &'static str, profile: Profile) {
    let target = Target::from_name(name).expect("a target");
    let config = ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let compared = std::cell::Cell::new(0);
    let outcome = TestRunner::new_with_rng(config, rng).run(&strategy(target, profile), |recipe| {
        let program = recipe.build(target);
        let Some(result) = compare(&program, target) else {
            return Ok(());
        };
        compared.set(compared.get() + 1);
        result.map_err(|error| TestCaseError::fail(format!("{error}\n{}", text::print(&program))))
    });
    if let Err(error) = outcome {
        panic!("{name}: {error}");
    }
    let compared = compared.get();
    assert!(
        compared > 100,
        "{name}: only {compared} programs could be compared"
    );
}

#[test]
fn trn2_with_random_flags() {
    check("trn2", Profile::FLAGGED);
}

#[test]
fn trn3_with_random_flags() {
    check("trn3", Profile::FLAGGED);
}

#[test]
fn every_write_read_back() {
    check(
        "trn1",
        Profile {
            reads_back: true,
            ..Profile::FLAGGED
        },
    );
}
