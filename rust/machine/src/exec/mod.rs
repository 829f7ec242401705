//! The interpreter: one loop over the flat instructions of a [`Code`].

mod buffers;
mod checks;
mod contract;
mod control;
mod convert;
mod entry;
mod expect;
mod generic;
mod matmul;
mod observe;
mod parallel;
mod scalars;
mod tiles;
mod timing;
mod views;
mod whereabouts;

use pto_ir::{Engine, Target};
use smallvec::SmallVec;

use entry::run_machine;
pub use entry::{Array, Input, RunResult, TILE_WORD, Value, run};
pub use observe::record;
pub use tiles::TileConfig;

use crate::code::{Code, EngineOp, FuncId, Inst, ScalarSlot, Slot, ViewSlot};
use crate::concurrency::Queue;
use crate::hazards::HazardPolicy;
pub use crate::memory::MEMORY_LIMIT;
use crate::memory::{BufferId, Memory, View};
use crate::parallel::Order;
use crate::pe::PeArray;
use crate::psum::{Meanings, Psum};
use crate::report::{Outcome, Report, SiteId};
use crate::stats::Stats;
use crate::timing::Timeline;
use control::Frame;
use generic::Iteration;
use matmul::LoadedOperands;
use parallel::Space;

/// The partitions that a START reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// Those of the instruction's column group.
    #[default]
    Group,
    /// Those of its destination.
    Destination,
}

/// How a program is run.
#[derive(Clone, Debug)]
pub struct Config {
    /// The machine.
    pub target: &'static Target,
    /// Under which meanings.
    pub meanings: Meanings,
    /// The partitions that a START reaches.
    pub extent: Extent,
    /// What to do about hazards.
    pub hazards: HazardPolicy,
    /// In which order the iterations of parallel loops run.
    pub order: Order,
    /// How operations on tiles are executed.
    pub tiles: TileConfig,
    /// The most steps: a step is an instruction, or a like amount of work within one.
    pub max_steps: u64,
    /// Whether to find out how long the run takes on the machine.
    pub times: bool,
}

/// Steps of a run unless the caller says otherwise.
pub const DEFAULT_MAX_STEPS: u64 = 1_000_000_000;

/// Elements that a bulk instruction moves in the time of one step.
const ELEMENTS_PER_STEP: u64 = 256;

/// A run in progress.
struct Machine<'c> {
    code: &'c Code,
    config: Config,
    memory: Memory,
    scalars: Vec<u64>,
    views: Vec<View>,
    frames: Vec<Frame<'c>>,
    /// Where the slots of the function on top begin.
    scalar_base: usize,
    view_base: usize,
    /// The slots that the entry function has returned.
    returned: &'c [Slot],
    /// Whether a function is being run: calls must not come back to it.
    is_active: Vec<bool>,
    globals: Vec<BufferId>,
    iterations: Vec<Iteration<'c>>,
    /// The parallel loops around the instruction at hand.
    spaces: Vec<Space<'c>>,
    pe: PeArray,
    loaded: LoadedOperands,
    /// Packed elements on their way from one buffer to another.
    packed: Vec<u8>,
    converted: Vec<u8>,
    steps: u64,
    stats: Stats,
    /// Where times were asked for.
    timeline: Option<Timeline>,
    /// Whether an operation on tiles ended the run with a fault.
    is_faulted: bool,
}

/// Where the next instruction is.
enum Flow {
    /// Right after this one.
    Next,
    /// Elsewhere in the same function.
    Jump(u32),
    /// In another function: the top frame says where.
    Frame,
    /// Nowhere: the entry function has returned.
    End,
}

impl<'c> Machine<'c> {
    fn new(code: &'c Code, config: Config) -> Self {
        let psum = Psum::new(config.target, &config.meanings, config.hazards);
        Self {
            code,
            memory: Memory::new(psum),
            scalars: Vec::new(),
            views: Vec::new(),
            frames: Vec::new(),
            scalar_base: 0,
            view_base: 0,
            returned: &[],
            is_active: vec![false; code.funcs.len()],
            globals: Vec::new(),
            iterations: Vec::new(),
            spaces: Vec::new(),
            pe: PeArray::new(),
            loaded: LoadedOperands::default(),
            packed: Vec::new(),
            converted: Vec::new(),
            steps: 0,
            stats: Stats::default(),
            timeline: config.times.then(|| Timeline::new(config.target)),
            is_faulted: false,
            config,
        }
    }

    /// Runs until the entry function returns.
    fn run(&mut self) -> Outcome<()> {
        while let Some(frame) = self.frames.last() {
            let func = self.code.func(frame.func);
            let mut pc = frame.pc as usize;
            loop {
                let (Some(inst), Some(&site)) = (func.insts.get(pc), func.sites.get(pc)) else {
                    let message = format!("control reaches the end of @{}", func.name);
                    return Err(Box::new(Report::unusable(
                        "pto:malformed",
                        func.site,
                        message,
                    )));
                };
                match self.execute(inst, pc as u32, site) {
                    Ok(Flow::Next) => pc += 1,
                    Ok(Flow::Jump(target)) => pc = target as usize,
                    Ok(Flow::Frame) => break,
                    Ok(Flow::End) => return Ok(()),
                    Err(report) => return Err(self.with_whereabouts(report, pc)),
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn execute(&mut self, inst: &'c Inst, pc: u32, site: SiteId) -> Outcome<Flow> {
        self.charge(1, site)?;
        self.begin_instruction(inst, site);
        let flow = self.step(inst, pc, site)?;
        self.end_instruction(inst)?;
        Ok(flow)
    }

    /// Tells who looks for collisions in which queue an instruction is, and what it waits for.
    fn begin_instruction(&mut self, inst: &Inst, site: SiteId) {
        let base = self.scalar_base;
        if let Some(concurrency) = &mut self.memory.psum.concurrency {
            let (queue, after) = queue_of(inst);
            let tokens = after.iter().map(|slot| self.scalars[base + slot.index()]);
            concurrency.begin(queue, tokens, site);
        }
    }

    fn end_instruction(&mut self, inst: &Inst) -> Outcome<()> {
        if self.memory.psum.concurrency.is_none() {
            return Ok(());
        }
        let slot = engine_op(inst).and_then(|op| op.token);
        let token = self.memory.psum.end_instruction(slot.is_some())?;
        if let Some(slot) = slot {
            self.set(slot, token);
        }
        Ok(())
    }

    fn step(&mut self, inst: &'c Inst, pc: u32, site: SiteId) -> Outcome<Flow> {
        match inst {
            Inst::Jump(_)
            | Inst::JumpIf { .. }
            | Inst::JumpUnless { .. }
            | Inst::Switch(_)
            | Inst::LoopEnter { .. }
            | Inst::LoopNext { .. }
            | Inst::Call(_)
            | Inst::Return(_)
            | Inst::Assert { .. } => return self.control(inst, pc, site),
            Inst::ParallelEnter(parallel) => return self.enter_parallel(parallel, site),
            Inst::ParallelNext { body } => return Ok(self.next_of_parallel(body.0)),
            Inst::GenericEnter(generic) => {
                self.time_host();
                return self.enter_generic(generic, site);
            }
            Inst::GenericNext { enter } => return self.next_of_generic(enter.0, site),
            Inst::GenericIndex { dst, dim } => {
                let index = self.generic_index(*dim);
                self.set(*dst, index);
            }
            Inst::Matmul(op) => self.matmul(op, site)?,
            Inst::TileMatmul(op) => self.tile_matmul(op, site)?,
            Inst::Copy(op) => self.copy(op, site)?,
            Inst::Fill(op) => self.fill(op, site)?,
            Inst::ExpectEq(expect) => {
                self.expect_eq(expect, site)?;
                self.time_host();
            }
            Inst::ExpectClose(expect) => {
                self.expect_close(expect, site)?;
                self.time_host();
            }
            Inst::Load { dst, view, indices } => self.load(*dst, *view, indices, site)?,
            Inst::Store(store) => self.store(store, site)?,
            Inst::Allocate(_)
            | Inst::Deallocate(_)
            | Inst::Global { .. }
            | Inst::Subview(_)
            | Inst::Collapse(_)
            | Inst::Expand(_)
            | Inst::Reinterpret(_)
            | Inst::Transpose { .. }
            | Inst::ViewCast(_)
            | Inst::Metadata(_)
            | Inst::Dim { .. }
            | Inst::MoveView { .. }
            | Inst::SelectView { .. } => self.view_step(inst, site)?,
            _ => self.scalar_step(inst, site)?,
        }
        Ok(Flow::Next)
    }

    /// Takes `steps` from what the run may use.
    #[inline]
    fn charge(&mut self, steps: u64, site: SiteId) -> Outcome<()> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps <= self.config.max_steps {
            return Ok(());
        }
        Err(self.too_many_steps(site))
    }

    #[cold]
    fn too_many_steps(&self, site: SiteId) -> Box<Report> {
        let message = format!("the run takes more than {} steps", self.config.max_steps);
        Box::new(Report::unusable("pto:max-steps", site, message))
    }

    /// Takes the steps of moving `elements` elements.
    fn charge_elements(&mut self, elements: u64, site: SiteId) -> Outcome<()> {
        self.charge(elements / ELEMENTS_PER_STEP, site)
    }

    fn get(&self, slot: ScalarSlot) -> u64 {
        self.scalars[self.scalar_base + slot.index()]
    }

    fn set(&mut self, slot: ScalarSlot, bits: u64) {
        let at = self.scalar_base + slot.index();
        self.scalars[at] = bits;
    }

    fn view(&self, slot: ViewSlot) -> &View {
        &self.views[self.view_base + slot.index()]
    }

    fn set_view(&mut self, slot: ViewSlot, view: View) {
        let at = self.view_base + slot.index();
        self.views[at] = view;
    }

    /// Makes the slots those of the function that is on top.
    fn use_top_frame(&mut self) {
        let frame = self.frames.last();
        let bases = frame.map_or((0, 0), |frame| (frame.scalar_base, frame.view_base));
        (self.scalar_base, self.view_base) = bases;
    }

    /// Frees the buffers that no slot refers to, once enough has been allocated.
    fn collect_garbage(&mut self) {
        if self.memory.wants_collection() {
            self.collect();
        }
    }

    /// Frees the buffers that no slot refers to.
    fn collect(&mut self) {
        let in_slots = self.views.iter().map(|view| view.buffer);
        self.memory
            .collect(in_slots.chain(self.globals.iter().copied()));
    }
}

/// A short list of numbers.
type Numbers = SmallVec<[i64; 4]>;

impl Machine<'_> {
    fn numbers(&self, indices: &[crate::code::Index]) -> Numbers {
        indices.iter().map(|&index| self.number(index)).collect()
    }

    fn number(&self, index: crate::code::Index) -> i64 {
        match index {
            crate::code::Index::Constant(value) => value,
            crate::code::Index::Slot(slot) => self.get(slot) as i64,
        }
    }
}

/// What an instruction has as an engine operation of the dialect.
fn engine_op(inst: &Inst) -> Option<&EngineOp> {
    match inst {
        Inst::Matmul(matmul) => Some(&matmul.op),
        Inst::Copy(transfer) => Some(&transfer.op),
        Inst::Fill(transfer) => Some(&transfer.op),
        _ => None,
    }
}

/// The queue of an instruction, and the tokens it waits for.
fn queue_of(inst: &Inst) -> (Queue, &[ScalarSlot]) {
    let queue = match (inst, engine_op(inst)) {
        (Inst::Matmul(matmul), _) => Queue::Tile(matmul.tile),
        (_, Some(op)) => Queue::Engine(op.engine),
        (_, None) => Queue::Engine(Engine::Other),
    };
    (queue, engine_op(inst).map_or(&[], |op| &op.after))
}

/// Calls the function `id`, for the frame stack.
fn site_of(code: &Code, id: FuncId) -> SiteId {
    code.func(id).site
}

/// A slot's value on its way from one frame to another.
enum Moved {
    Scalar(u64),
    View(View),
}

impl Machine<'_> {
    fn take(&self, slot: Slot) -> Moved {
        match slot {
            Slot::Scalar(slot) => Moved::Scalar(self.get(slot)),
            Slot::View(slot) => Moved::View(self.view(slot).clone()),
        }
    }

    fn put(&mut self, slot: Slot, value: Moved) {
        match (slot, value) {
            (Slot::Scalar(slot), Moved::Scalar(bits)) => self.set(slot, bits),
            (Slot::View(slot), Moved::View(view)) => self.set_view(slot, view),
            // The builder gives callers and callees the same types.
            (Slot::Scalar(_), Moved::View(_)) | (Slot::View(_), Moved::Scalar(_)) => {}
        }
    }
}
