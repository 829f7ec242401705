//! Whether engines may meet in a bank: vector clocks, by the definition of a collision.
//!
//! A queue is an engine, or a tile of the PE array; it executes in order. The clock of an instruction
//! says of each queue how many of its instructions must have finished before. Two instructions of
//! different queues in one lane (one quadrant of one bank), one of them of the PE, collide unless the
//! clock of the later one counts the earlier one in. This is what the interpreter reports with
//! `--hazards=async`; dependences outside PSUM are not looked at, but for the relay of the plan, so it may
//! only ask for more. Blocks are gone through one by one; [`passages`](super::passages) puts them together.

use pto_ir::{
    AccFlags, AccessId, Anchor, BlockId, Edge, EdgeNode, Engine, InstId, Matmul, MemsetTarget,
    NewMemset, Op, Plan, Program, Target, UseKind, ZeroWindow,
};
use rustc_hash::FxHashMap;

use super::clocks::{Block, NONE, Queue, Rows, Step, each, join};
use super::grid::Grid;
use super::passages::{self, Current, Passage};

/// Two instructions that may meet, the earlier one first.
pub(super) type Pair = (EdgeNode, EdgeNode);

/// The first two instructions that may meet in one of `blocks` with the plan, if any.
pub(super) fn first_collision(
    program: &Program,
    target: &'static Target,
    plan: &Plan,
    blocks: impl Iterator<Item = BlockId>,
) -> Option<Pair> {
    let mut lanes = Lanes::new(program, target, plan);
    if lanes.shared == 0 {
        return None;
    }
    let inside = blocks.into_iter().find_map(|block| lanes.block(block));
    inside.or_else(|| passages::first_meeting(program, plan, lanes.passages))
}

pub(super) struct Lanes<'p> {
    pub(super) program: &'p Program,
    pub(super) target: &'static Target,
    plan: &'p Plan,
    pub(super) grid: Grid<'p>,
    /// Lanes in which accesses differ; of quadrants that are always touched together, the first.
    shared: u64,
    /// By instruction: its entry in the plan, one more than its index.
    edit_of: Vec<u32>,
    /// By instruction, then by memset: the first of the plan's edges that ends there.
    edges_to: Vec<u32>,
    next_edge: Vec<u32>,
    /// By instruction, then by memset: whether something waits for its token, and its clock.
    gives: Vec<bool>,
    clock_of: Vec<u32>,
    memsets_before: FxHashMap<InstId, Vec<u32>>,
    /// Memory of [`Block::row_of`], all [`NONE`].
    row_of: Vec<u32>,
    /// By instruction: whether it holds uses of PSUM.
    holds: Vec<bool>,
    /// By block: the memsets at its end.
    memsets_at_end: FxHashMap<BlockId, Vec<u32>>,
    passages: Vec<Passage>,
}

impl<'p> Lanes<'p> {
    fn new(program: &'p Program, target: &'static Target, plan: &'p Plan) -> Self {
        let insts = program.insts().len();
        let nodes = insts + plan.memsets.len();
        let mut lanes = Self {
            program,
            target,
            plan,
            grid: Grid::new(program, target, plan),
            shared: 0,
            edit_of: Vec::new(),
            edges_to: Vec::new(),
            next_edge: Vec::new(),
            gives: Vec::new(),
            clock_of: Vec::new(),
            memsets_before: FxHashMap::default(),
            row_of: Vec::new(),
            holds: Vec::new(),
            memsets_at_end: FxHashMap::default(),
            passages: Vec::new(),
        };
        lanes.shared = lanes.shared_lanes();
        if lanes.shared == 0 {
            return lanes;
        }
        lanes.holds = passages::holders(program, |inst| {
            let mut uses = program.uses(inst).iter();
            uses.any(|used| lanes.grid.base(program.access(used.access).alloc).is_some())
        });
        lanes.row_of = vec![NONE; lanes.grid.cell_count()];
        lanes.edit_of = vec![0; insts];
        for (index, edit) in plan.acc.iter().enumerate() {
            lanes.edit_of[edit.inst.index()] = index as u32 + 1;
        }
        lanes.clock_of = vec![NONE; nodes];
        lanes.gives = vec![false; nodes];
        lanes.edges_to = vec![NONE; nodes];
        for (index, edge) in plan.edges.iter().enumerate() {
            let (from, to) = (lanes.number(edge.from), lanes.number(edge.to));
            lanes.gives[from] = true;
            let next = std::mem::replace(&mut lanes.edges_to[to], index as u32);
            lanes.next_edge.push(next);
        }
        for edge in program.insts().iter().flat_map(|inst| &inst.after) {
            lanes.gives[edge.from.index()] = true;
        }
        for (index, memset) in plan.memsets.iter().enumerate() {
            let there = match memset.at {
                Anchor::Before(inst) => lanes.memsets_before.entry(inst).or_default(),
                Anchor::End(block) => lanes.memsets_at_end.entry(block).or_default(),
            };
            there.push(index as u32);
        }
        lanes
    }

    fn number(&self, node: EdgeNode) -> usize {
        match node {
            EdgeNode::Inst(inst) => inst.index(),
            EdgeNode::Memset(index) => self.program.insts().len() + index as usize,
        }
    }

    fn block(&mut self, block: BlockId) -> Option<Pair> {
        let insts = &self.program.block(block).insts;
        let mut state = self.start(block);
        let mut cells = Vec::new();
        for &inst in insts {
            let before = self.memsets_before.remove(&inst);
            for index in before.into_iter().flatten() {
                let pair = self.memset(&mut state, index, &mut cells);
                if pair.is_some() {
                    return pair;
                }
            }
            let pair = self.instruction(&mut state, inst, &mut cells);
            if pair.is_some() {
                return pair;
            }
        }
        for index in self.memsets_at_end.remove(&block).into_iter().flatten() {
            let pair = self.memset(&mut state, index, &mut cells);
            if pair.is_some() {
                return pair;
            }
        }
        self.passages.push(state.end_passage());
        for &cell in &state.cells {
            state.row_of[cell as usize] = NONE;
        }
        self.row_of = state.row_of;
        None
    }

    fn start(&mut self, block: BlockId) -> Block {
        let new = self.plan.memsets.iter().map(NewMemset::engine);
        let mut queues: Vec<Queue> = new.map(|engine| (engine, None)).collect();
        queues.sort_unstable_by_key(|&(engine, _)| engine);
        queues.dedup();
        for &id in &self.program.block(block).insts {
            let queue = queue(self.program, id);
            if queues.last() != Some(&queue) && !queues.contains(&queue) {
                queues.push(queue);
            }
        }
        let (width, lanes) = (queues.len(), u64::BITS as usize);
        Block {
            last: Rows::new(width, width),
            row_of: std::mem::take(&mut self.row_of),
            cells: Vec::new(),
            writes: Rows::new(0, width),
            all: Rows::new(0, width),
            touched: Rows::new(lanes, width),
            opened: Rows::new(lanes, width),
            present: Rows::new(lanes, width),
            who: vec![EdgeNode::Memset(NONE); lanes * width],
            counts: vec![0; width],
            floor: vec![0; width],
            tokens: Rows::new(0, width),
            clock: Vec::new(),
            passage: Current::new(block, vec![0; width]),
            queues,
        }
    }

    fn memset(
        &mut self,
        state: &mut Block,
        index: u32,
        cells: &mut Vec<((u32, u32), bool)>,
    ) -> Option<Pair> {
        cells.clear();
        let memset = self.plan.memsets[index as usize];
        let lanes = match memset.target {
            MemsetTarget::Access(access) => self.access(access, false, cells),
            MemsetTarget::Rectangle {
                alloc,
                partitions,
                bytes,
            } => {
                let (base, row) = self.grid.base(alloc)?;
                let (partitions, bytes) = (partitions.shifted(row), bytes.shifted(base));
                let runs = self.grid.rectangle(partitions, bytes);
                cells.extend(runs.into_iter().map(|run| (run, false)));
                self.lanes(partitions, bytes)
            }
            MemsetTarget::Relay => 0,
        };
        let own = (memset.engine(), None);
        let queue = state.queues.iter().position(|queue| *queue == own)?;
        let step = Step {
            node: EdgeNode::Memset(index),
            queue,
            cells,
            lanes: lanes & self.shared,
            opens: 0,
            is_relay: memset.target == MemsetTarget::Relay,
        };
        self.step(state, &step, &[])
    }

    fn instruction(
        &mut self,
        state: &mut Block,
        id: InstId,
        cells: &mut Vec<((u32, u32), bool)>,
    ) -> Option<Pair> {
        let program = self.program;
        let inst = program.inst(id);
        cells.clear();
        let mut lanes = 0;
        for used in program.uses(id) {
            lanes |= self.access(used.access, used.kind == UseKind::Read, cells);
        }
        let opens = match &inst.op {
            Op::Matmul(matmul) => self.opened(id, matmul),
            Op::Engine if inst.engine != Engine::Other => 0,
            Op::Engine | Op::Effects => {
                if lanes != 0 {
                    state.floor.clone_from(&state.counts);
                    state.passage.barrier();
                }
                return None;
            }
            Op::Region { .. } if self.holds[id.index()] => {
                self.passages.push(state.end_passage());
                return None;
            }
            _ => return None,
        };
        let own = queue(program, id);
        let queue = state.queues.iter().position(|queue| *queue == own)?;
        let step = Step {
            node: EdgeNode::Inst(id),
            queue,
            cells,
            lanes: (lanes | opens) & self.shared,
            opens: opens & self.shared,
            is_relay: false,
        };
        self.step(state, &step, &inst.after)
    }

    /// Adds the cells of an access in PSUM; returns its lanes.
    fn access(
        &mut self,
        access: AccessId,
        is_read: bool,
        cells: &mut Vec<((u32, u32), bool)>,
    ) -> u64 {
        if self.grid.base(self.program.access(access).alloc).is_none() {
            return 0;
        }
        let runs = self.grid.runs_of(access).iter();
        cells.extend(runs.map(|&run| (run, is_read)));
        self.lanes_of(access)
    }

    /// The lanes of the region that a matmul opens for certain.
    fn opened(&self, id: InstId, matmul: &Matmul) -> u64 {
        let (flags, code) = match self.edit_of[id.index()] {
            0 => (matmul.flags, matmul.zero_region),
            entry => {
                let edit = &self.plan.acc[entry as usize - 1];
                (edit.flags, edit.zero_region)
            }
        };
        let flags = flags.unwrap_or(AccFlags::NONE);
        let Some((base, _)) = self.grid.base(self.program.access(matmul.dst).alloc) else {
            return 0;
        };
        if !flags.starts() && !flags.accumulates() {
            return 0;
        }
        let first = self.program.bytes(matmul.dst).first();
        let bank = (base + first.map_or(0, |span| span.start)) / self.target.bank_bytes;
        let banks = ZeroWindow::of_bank(bank, code.unwrap_or(0)).banks();
        self.lanes_of_banks(matmul.column_group(self.target), banks)
    }

    /// The clock of one instruction; whom it may meet.
    fn step(&mut self, state: &mut Block, step: &Step<'_>, after: &[Edge]) -> Option<Pair> {
        let number = self.number(step.node);
        if step.lanes == 0 && !self.gives[number] && self.edges_to[number] == NONE {
            return None;
        }
        let mut clock = std::mem::take(&mut state.clock);
        clock.clone_from(&state.floor);
        join(&mut clock, state.last.row(step.queue));
        let mut edge = self.edges_to[number];
        while edge != NONE {
            let from = self.clock_of[self.number(self.plan.edges[edge as usize].from)];
            self.token(state, from, &mut clock);
            edge = self.next_edge[edge as usize];
        }
        for edge in after {
            self.token(state, self.clock_of[edge.from.index()], &mut clock);
        }
        for &((from, to), is_read) in step.cells {
            for cell in from as usize..to as usize {
                let known = if is_read { &state.writes } else { &state.all };
                match state.row_of[cell] {
                    NONE => {}
                    row => join(&mut clock, known.row(row as usize)),
                }
            }
        }
        for lane in each(step.lanes) {
            let known = match step.opens >> lane & 1 {
                1 => &state.touched,
                _ => &state.opened,
            };
            join(&mut clock, known.row(lane));
        }
        let met = state.whom_it_meets(step, &clock);
        state.counts[step.queue] += 1;
        clock[step.queue] = state.counts[step.queue];
        state.pass(step, &clock);
        state.record(step, &clock);
        if self.gives[number] {
            self.clock_of[number] = state.tokens.push(&clock);
        }
        state.clock = clock;
        met.map(|earlier| (earlier, step.node))
    }

    fn token(&self, state: &Block, from: u32, clock: &mut [u32]) {
        if from != NONE {
            join(clock, state.tokens.row(from as usize));
        }
    }
}

fn queue(program: &Program, inst: InstId) -> Queue {
    let inst = program.inst(inst);
    (inst.engine, inst.matmul().and_then(|matmul| matmul.tile))
}
