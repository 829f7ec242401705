//! The order of instructions within each block, for the engines to run side by side.
//!
//! # Purpose
//!
//! A kernel as a front end writes it says tile after tile: load, multiply, drain. The engines of the
//! machine run side by side, each in the order in which it is given instructions, so the order in the
//! block decides how long an engine waits for another. This pass chooses the order.
//!
//! ```text
//! dma   a0; dma b0; pe c0; vector drain c0        dma a0; dma b0; dma a1; pe c0; dma b1;
//! dma   a1; dma b1; pe c1; vector drain c1   ->   vector drain c0; pe c1; vector drain c1
//! ```
//!
//! # Terms
//!
//! * *Barrier*: code that no engine executes (calls, operations with regions, other dialects' effects).
//!   It waits for everything before it, and everything after it waits for it. Barriers cut a block into
//!   *segments*.
//! * *Area*: the cells of an access, or the zero region of a matmul.
//! * *Lane*: one quadrant of partitions of one PSUM bank.
//! * *Group*: an accumulation group, the matmuls into one area one after the other.
//! * *Tail*: the cycles from the begin of an instruction to the end of the longest chain behind it.
//!
//! # The problem
//!
//! Find for each block an order of its entries such that these pairs keep theirs:
//!
//! * two instructions that access common cells, of PSUM, SBUF or HBM, one of them writing;
//! * a matmul that begins a group, and all that accesses its zero region: with flags, the matmuls with
//!   START or ACCUMULATE; without, every matmul that may become a head: all but those that go on with the
//!   group that was written last into exactly their destination;
//! * two that use one lane, one of them a matmul and the other an instruction of another engine, or a
//!   matmul in another tile: the memory serves one of them only;
//! * the maker of a token, and who waits for it;
//! * a barrier and anything else;
//!
//! so that the last instruction ends early, by the model of [`cost`]. A group is contiguous among the
//! matmuls once it is begun. The order that was there is kept unless the new one is shorter.
//!
//! Allocations are different from each other and from all else. Arguments and globals may be one memory, unless
//! an argument is said to be apart: two instructions on such buffers of one space, one of them writing,
//! keep their order whatever cells they name. What is reached in another way may be any buffer at
//! all, and its instructions are barriers.
//!
//! # The algorithm
//!
//! 1. [`areas`]: the places of all accesses, and who overlaps whom, by sweeping over partitions.
//! 2. [`graph`]: one walk over the block with, for each area, its last writer and the readers since.
//! 3. [`list`]: a list scheduler. At each time the engine that can begin first takes the best of the
//!    instructions that are ready, by tail, by the present order, or by weights. The best of these is the
//!    present order of the next round, until a round gains nothing: so a second run of the pass finds
//!    nothing to do.
//! 4. [`check`]: the proof, by following both orders cell by cell.
//!
//! # Invariants
//!
//! 1. The pairs above keep their order (checked).
//! 2. The model's time is at most that of the input order (structural: only shorter orders are taken).
//! 3. The model's time is that of the interpreter for the same order (property test).
//! 4. Nothing depends on the order of a hash map (structural: maps are only looked up).
//!
//! # Cost
//!
//! O(n log n) in the instructions of a block. Areas that overlap more than some 64 others each, on
//! average, count as one.
//!
//! # What is diagnosed
//!
//! Nothing: every function is legal input. Remarks: `pto.schedule-makespan`, for each block.
//!
//! # Left out
//!
//! * Moves across blocks, and software pipelining of loops: unroll first.
//! * A search for the best order: the remark has a lower bound to compare with.

mod areas;
mod check;
mod cost;
mod graph;
mod list;
#[cfg(test)]
mod tests;

use pto_ir::{BlockId, Diag, InstId, Op, Plan, Program, Site, Target};

use areas::Areas;
use cost::{Clock, Ready};
use graph::{Graph, GraphBuilder, NodeId, Role};
use list::{Lister, SplitMix, shuffled};

/// Rounds of improvement: in practice the second or third gains nothing.
const MAX_ROUNDS: usize = 16;

/// The options of the pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Take a random legal order, drawn with this seed, instead of a short one.
    pub shuffle_seed: Option<u64>,
    /// Whether to say by remarks how long blocks take.
    pub remarks: bool,
}

/// How long a block takes, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Makespan {
    /// The block.
    pub block: BlockId,
    /// In the order that was there.
    pub before: u64,
    /// In the order of the plan.
    pub after: u64,
    /// What no order takes less than.
    pub bound: u64,
}

/// The new orders of the blocks of `program`, which the reader must have given all accesses.
///
/// # Errors
///
/// `pto:internal-schedule` if the checker does not agree with the plan.
pub fn plan(
    program: &Program,
    target: &'static Target,
    options: &Options,
) -> Result<Plan, Vec<Diag>> {
    plan_with_makespans(program, target, options).map(|(plan, _)| plan)
}

/// As [`plan`], with how long each block takes that has instructions.
///
/// # Errors
///
/// As [`plan`].
pub fn plan_with_makespans(
    program: &Program,
    target: &'static Target,
    options: &Options,
) -> Result<(Plan, Vec<Makespan>), Vec<Diag>> {
    let areas = Areas::new(program, target);
    let mut builder = GraphBuilder::new(program, target, &areas);
    let mut random = options.shuffle_seed.map(SplitMix);
    let mut plan = Plan::default();
    let mut makespans = Vec::new();
    for index in 0..program.blocks().len() {
        let block = BlockId::new(index);
        let has_engine = |&inst: &InstId| !matches!(program.inst(inst).op, Op::Alloc(_));
        let Some(first) = program.block(block).insts.iter().copied().find(has_engine) else {
            continue;
        };
        let scheduler = Scheduler::new(builder.build(block), target);
        let order = match &mut random {
            Some(random) => scheduler.shuffled(random),
            None => scheduler.shortest(),
        };
        let makespan = Makespan {
            block,
            before: scheduler.time(&scheduler.input()),
            after: scheduler.time(&order),
            bound: scheduler.bound,
        };
        if order != scheduler.input() {
            let entries = entries(program, block, &scheduler.graph, &order);
            plan.orders.push((block, entries));
        }
        if options.remarks {
            plan.diags.push(remark(first, &makespan));
        }
        makespans.push(makespan);
    }
    match check::check(program, target, &plan) {
        Ok(()) => Ok((plan, makespans)),
        Err(reason) => Err(vec![Diag::error(
            "pto:internal-schedule",
            Site::Function,
            reason,
        )]),
    }
}

fn remark(first: InstId, makespan: &Makespan) -> Diag {
    let message = format!(
        "the block takes {} cycles, {} in the order it had; no order takes less than {}",
        makespan.after, makespan.before, makespan.bound
    );
    Diag::remark("pto.schedule-makespan", Site::Inst(first), message)
}

/// One block.
struct Scheduler {
    graph: Graph,
    target: &'static Target,
    /// By node.
    tails: Vec<u64>,
    bound: u64,
}

impl Scheduler {
    fn new(graph: Graph, target: &'static Target) -> Self {
        let tails = cost::tails(&graph);
        Self {
            bound: cost::lower_bound(&graph, &tails, target.fast_weight_load),
            graph,
            target,
            tails,
        }
    }

    fn input(&self) -> Vec<NodeId> {
        (0..self.graph.nodes.len() as NodeId).collect()
    }

    /// Cycles of `order`.
    fn time(&self, order: &[NodeId]) -> u64 {
        let mut clock = Clock::default();
        let mut ready = vec![Ready::default(); self.graph.nodes.len()];
        cost::run(
            &self.graph,
            order.iter().copied(),
            &mut clock,
            &mut ready,
            self.target.fast_weight_load,
        );
        clock.end()
    }

    fn shuffled(&self, random: &mut SplitMix) -> Vec<NodeId> {
        let mut waits = list::waits(&self.graph);
        self.by_segment(|segment| shuffled(&self.graph, segment, &mut waits, random))
    }

    /// The segments' orders with the barriers between them.
    fn by_segment(&self, mut order: impl FnMut(usize) -> Vec<NodeId>) -> Vec<NodeId> {
        let mut result = Vec::with_capacity(self.graph.nodes.len());
        for (index, segment) in self.graph.segments.iter().enumerate() {
            result.extend(order(index));
            let barrier = self.graph.nodes.get(segment.end as usize);
            result.extend(barrier.map(|_| segment.end));
        }
        result
    }

    /// The shortest order found.
    fn shortest(&self) -> Vec<NodeId> {
        let mut best = self.input();
        let mut time = self.time(&best);
        for _ in 0..MAX_ROUNDS {
            if time <= self.bound {
                break;
            }
            let shorter = self.round(&best).into_iter().filter(|(new, _)| *new < time);
            match shorter.min_by_key(|(new, _)| *new) {
                Some((new, order)) => (time, best) = (new, order),
                None => break,
            }
        }
        best
    }

    /// The orders that list scheduling finds, ties being broken by `present`, with their times.
    fn round(&self, present: &[NodeId]) -> Vec<(u64, Vec<NodeId>)> {
        let count = present.len() as u64;
        let mut early = vec![0u64; present.len()];
        for (position, &node) in present.iter().enumerate() {
            early[node as usize] = count - position as u64;
        }
        let by_tail = |node: NodeId| (self.tails[node as usize], early[node as usize]);
        let by_order = |node: NodeId| (early[node as usize], 0);
        let mut orders = vec![self.listed(&by_tail), self.listed(&by_order)];
        if !self.target.fast_weight_load {
            let groups = self.weights(&early);
            let by_weights = |node: NodeId| (groups[node as usize], early[node as usize]);
            orders.push(self.listed(&by_weights));
        }
        orders
    }

    /// For each node a number that is equal for equal weights: the first place where they are used.
    fn weights(&self, early: &[u64]) -> Vec<u64> {
        let mut first = std::collections::HashMap::new();
        let is_matmul = |node: &graph::Node| node.role == Role::Engine(pto_ir::Engine::Pe);
        for (node, &place) in self.graph.nodes.iter().zip(early) {
            if is_matmul(node) {
                let known = first.entry(node.weights).or_insert(place);
                *known = place.max(*known);
            }
        }
        let group = |(node, &place): (&graph::Node, &u64)| match first.get(&node.weights) {
            Some(&first) if is_matmul(node) => first,
            _ => place,
        };
        self.graph.nodes.iter().zip(early).map(group).collect()
    }

    fn listed(&self, priority: list::Priority<'_>) -> (u64, Vec<NodeId>) {
        let fast = self.target.fast_weight_load;
        let mut clock = Clock::default();
        let mut waits = list::waits(&self.graph);
        let mut ready = vec![Ready::default(); self.graph.nodes.len()];
        let order = self.by_segment(|segment| {
            let lister = Lister::new(&self.graph, priority, fast);
            let order = lister.order(segment, &mut clock, &mut waits, &mut ready);
            let end = self.graph.segments[segment].end;
            if let Some(barrier) = self.graph.nodes.get(end as usize) {
                clock.issue(barrier, Ready::default(), fast);
            }
            order
        });
        (clock.end(), order)
    }
}

/// The entries of `block` in the order of the nodes: each allocation right before its first use, those
/// without a use before the barrier that came after them.
fn entries(program: &Program, block: BlockId, graph: &Graph, order: &[NodeId]) -> Vec<InstId> {
    let old = &program.block(block).insts;
    let mut markers = std::collections::HashMap::new();
    for &inst in old {
        if let Op::Alloc(alloc) = program.inst(inst).op {
            markers.insert(alloc, inst);
        }
    }
    let mut rest = old.iter().copied().peekable();
    let mut is_there = std::collections::HashSet::new();
    let mut result = Vec::with_capacity(old.len());
    for inst in order
        .iter()
        .filter_map(|&node| graph.nodes[node as usize].inst)
    {
        if graph::is_barrier(program, inst) {
            while let Some(marker) = rest.next_if(|&next| next != inst) {
                if matches!(program.inst(marker).op, Op::Alloc(_)) && is_there.insert(marker) {
                    result.push(marker);
                }
            }
        }
        let uses = program.uses(inst).iter();
        for alloc in uses.map(|used| program.access(used.access).alloc) {
            if let Some(&marker) = markers.get(&alloc)
                && is_there.insert(marker)
            {
                result.push(marker);
            }
        }
        if let Op::Dealloc(alloc) = program.inst(inst).op
            && let Some(&marker) = markers.get(&alloc)
            && is_there.insert(marker)
        {
            result.push(marker);
        }
        result.push(inst);
    }
    let is_left =
        |&inst: &InstId| matches!(program.inst(inst).op, Op::Alloc(_)) && !is_there.contains(&inst);
    result.extend(old.iter().copied().filter(is_left));
    result
}
