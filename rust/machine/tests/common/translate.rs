//! Programs of the testkit as code for the interpreter. Every contribution to a cell is a small integer
//! of its own, so that sums are exact and tell which list of contributions they are of.

use pto_ir::{
    Access, AccessId, Alloc, AllocId, Engine, Interval, Matmul, Op, Origin, Program, Target,
    UseKind,
};
use pto_machine::code::{
    Allocate, Code, ElementType, EngineOp, FuncBuilder, Index, Inst, MatmulOp, Param, Slot, Space,
    Subview, Transfer, ValueType, ViewSlot, ViewType,
};
use pto_machine::exec::{Array, Input};
use pto_machine::report::SiteId;
use pto_testkit::oracle::grid::footprint;
use pto_testkit::oracle::path::{Event, Step};
use pto_testkit::oracle::values::Contribution;

/// The number that stands for a contribution: below 2^20, and odd multiples of primes, so that
/// different lists have different sums as far as anyone can expect.
pub(crate) fn number(contribution: Contribution) -> f32 {
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
pub(crate) struct Translation<'a> {
    program: &'a Program,
    builder: FuncBuilder,
    views: Vec<ViewSlot>,
    results: Vec<Slot>,
    /// What each result is: the reading event, and the cells it covers.
    pub(crate) reads: Vec<(Event, Interval, Interval)>,
}

impl<'a> Translation<'a> {
    /// `None` where the program has something that straight-line code cannot say.
    pub(crate) fn of(
        program: &'a Program,
        steps: &[Step],
        target: &Target,
    ) -> Option<(Code, Self)> {
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
                    is_apart: !alloc.may_alias,
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
pub(crate) fn inputs(program: &Program) -> Vec<Input> {
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
