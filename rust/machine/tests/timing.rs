//! The times of a run: those that the scheduler foresees, for orders before and after it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken expectation is a failed test"
)]

mod common;

use common::config;
use pto_ir::{AccessId, AllocId, Engine, InstId, Op, Program, Space, Target, UseKind};
use pto_machine::code::{
    self, Allocate, Code, ElementType, EngineOp, FuncBuilder, Index, Inst, MatmulOp, ScalarSlot,
    Subview, Transfer, ViewSlot,
};
use pto_machine::exec::{Config, Input, record, run};
use pto_machine::psum::Meanings;
use pto_machine::report::SiteId;
use pto_testkit::generate::kernel;
use pto_testkit::properties::scheduled;
use pto_testkit::text;

/// A straight line as code. Buffers of SBUF and HBM are filled by what is no engine, at time 0.
struct Translation<'p> {
    program: &'p Program,
    builder: FuncBuilder,
    views: Vec<ViewSlot>,
    tokens: Vec<Option<ScalarSlot>>,
}

impl Translation<'_> {
    fn of(program: &Program) -> Code {
        let mut translation = Translation {
            program,
            builder: FuncBuilder::new("main", SiteId::NONE),
            views: Vec::new(),
            tokens: vec![None; program.insts().len()],
        };
        for index in 0..program.allocs().len() {
            translation.allocate(AllocId::new(index));
        }
        for inst in program.walk() {
            translation.inst(inst);
        }
        translation
            .builder
            .push(Inst::Return(Box::default()), SiteId::NONE);
        common::program(translation.builder.finish().expect("no labels"))
    }

    fn allocate(&mut self, id: AllocId) {
        let alloc = self.program.alloc(id);
        let dst = self.builder.view();
        let sizes = [alloc.partitions, alloc.bytes / 4].map(|size| Index::Constant(size.into()));
        let allocate = Allocate {
            dst,
            element: ElementType::F32,
            space: match alloc.space {
                Space::Hbm => code::Space::Hbm,
                Space::Sbuf => code::Space::Sbuf,
                Space::Psum => code::Space::Psum,
            },
            sizes: sizes.into(),
            layout: None,
            placement: alloc.placement,
            capacity: None,
        };
        self.builder
            .push(Inst::Allocate(Box::new(allocate)), SiteId::NONE);
        self.views.push(dst);
        if alloc.space != Space::Psum {
            self.fill(EngineOp::plain(Engine::Other), dst);
        }
    }

    fn part(&mut self, id: AccessId) -> ViewSlot {
        let access = *self.program.access(id);
        let bytes = self.program.bytes(id)[0];
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

    fn fill(&mut self, op: EngineOp, dst: ViewSlot) {
        let source = self.builder.constant(0);
        let fill = Transfer {
            op,
            source,
            source_type: None,
            dst,
        };
        self.builder.push(Inst::Fill(Box::new(fill)), SiteId::NONE);
    }

    fn op(&mut self, id: InstId) -> EngineOp {
        let inst = self.program.inst(id);
        let token = self.builder.scalar();
        self.tokens[id.index()] = Some(token);
        let after = inst
            .after
            .iter()
            .filter_map(|edge| self.tokens[edge.from.index()]);
        EngineOp {
            engine: inst.engine,
            token: Some(token),
            after: after.collect(),
            is_inserted: inst.inserted,
        }
    }

    fn inst(&mut self, id: InstId) {
        let inst = self.program.inst(id);
        let uses: Vec<(ViewSlot, UseKind)> = self
            .program
            .uses(id)
            .iter()
            .map(|used| (self.part(used.access), used.kind))
            .collect();
        let op = self.op(id);
        match (&inst.op, uses.as_slice()) {
            (Op::Alloc(_), _) => {}
            (Op::Matmul(matmul), &[(dst, _), (stationary, _), (moving, _)]) => {
                let matmul = MatmulOp {
                    op,
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
                self.builder
                    .push(Inst::Matmul(Box::new(matmul)), SiteId::NONE);
            }
            (Op::Engine, &[(dst, kind)]) if kind.writes() => self.fill(op, dst),
            (Op::Engine, &[(source, UseKind::Read), (dst, UseKind::Write)]) => {
                let copy = Transfer {
                    op,
                    source,
                    source_type: None,
                    dst,
                };
                self.builder.push(Inst::Copy(Box::new(copy)), SiteId::NONE);
            }
            other => panic!("an entry that kernels do not have: {other:?}"),
        }
    }
}

/// Cycles of a run under the reference meaning.
fn cycles(program: &Program, target: &'static Target) -> u64 {
    let meanings = Meanings {
        reference: true,
        models: Vec::new(),
    };
    let config = Config {
        times: true,
        ..config(target.name, meanings)
    };
    let code = Translation::of(program);
    let result = run(&code, Code::func_id(0), Vec::<Input>::new(), config);
    assert!(
        result.reports.is_empty(),
        "{:?}\n{}",
        result.reports,
        text::print(program)
    );
    result.stats.cycles_in_all
}

#[test]
fn the_run_takes_as_long_as_foreseen() {
    let mut shorter = 0;
    for seed in 0..600 {
        let target = ["trn1", "trn2", "trn3"][seed as usize % 3];
        let target = Target::from_name(target).expect("a target");
        let program = kernel(seed, 4 + (seed / 3 % 20) as u32);
        let (after, makespans) = scheduled(&program, target).expect("legal input");
        let [times] = makespans[..] else {
            panic!("one block, found {makespans:?}");
        };
        let both = || {
            format!(
                "seed {seed} {}\n{}=>\n{}",
                target.name,
                text::print(&program),
                text::print(&after)
            )
        };
        assert_eq!(cycles(&program, target), times.before, "before {}", both());
        assert_eq!(cycles(&after, target), times.after, "after {}", both());
        shorter += u32::from(times.after < times.before);
    }
    assert!(shorter > 100, "{shorter} orders became shorter");
}

/// The trace, the rows of engines and the total are one time: that of the scheduler.
#[test]
fn what_is_seen_takes_as_long_as_foreseen() {
    for seed in 0..60 {
        let target = ["trn1", "trn2", "trn3"][seed as usize % 3];
        let program = kernel(seed, 24);
        let target = Target::from_name(target).expect("a target");
        let (_, makespans) = scheduled(&program, target).expect("legal input");
        let meanings = Meanings {
            reference: true,
            models: Vec::new(),
        };
        let (result, trace) = record(
            &Translation::of(&program),
            Code::func_id(0),
            Vec::<Input>::new(),
            config(target.name, meanings),
        );
        let end = makespans[0].before;
        assert_eq!((result.stats.cycles_in_all, trace.cycles()), (end, end));
        for engine in Engine::ALL {
            let events = trace.events.iter().filter(|event| event.engine == engine);
            let busy: u64 = events.map(|event| event.end - event.start).sum();
            assert_eq!(result.stats.engine(engine).1, busy, "{}", engine.name());
            assert!(busy <= end, "{} has {busy} of {end}", engine.name());
        }
    }
}

#[test]
fn without_times_nothing_is_timed() {
    let program = kernel(1, 10);
    let meanings = Meanings {
        reference: true,
        models: Vec::new(),
    };
    let result = run(
        &Translation::of(&program),
        Code::func_id(0),
        Vec::<Input>::new(),
        config("trn2", meanings),
    );
    assert_eq!(result.stats.cycles_in_all, 0);
}
