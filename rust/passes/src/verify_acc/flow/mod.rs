//! Where control goes: the region tree and the blocks as one graph.
//!
//! A node is a stretch of one block between operations that hold regions. Loops, branches and jumps
//! are all edges, so the analysis is one worklist, whatever the nesting, and needs no stack.
//!
//! Where a predicate asks whether a loop is in its first iteration, the body of that loop is there
//! twice, once for the first iteration and once for all others. In each *copy* the predicate is a
//! constant; branches on it have one way. Loops of which nobody asks are there once.
//!
//! An inner loop whose bounds do not vary with an outer one runs in every iteration of the outer loop
//! or in none. So an outer loop of which somebody asks is there once for each choice of inner loops
//! that run.
//!
//! Loops with equal bounds run or do not run together, wherever they stand, and so does a loop every time
//! it is reached with the same ones. Where an analysis fails for want of that, it asks for the *refined*
//! graph: the region in which their bounds are made is there once for each answer.

mod build;
mod connect;
mod forks;
mod order;

use std::collections::BTreeSet;

use pto_ir::{BlockId, Condition, InstId, Predicate, Program, Turn};

use build::Builder;
use forks::Forks;

/// A stretch of a block: the positions `first..end` of its list of entries.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) block: BlockId,
    pub(crate) first: usize,
    pub(crate) end: usize,
    /// How many operations with regions stand before it in its block.
    pub(crate) stretch: usize,
    pub(crate) edges: Vec<Edge>,
    /// Whether the function may end here.
    pub(crate) is_exit: bool,
    /// Whether it only leads to the variants of a region, and is no part of the block.
    pub(crate) is_fork: bool,
    /// Which loops are in their first iteration: see [`Graph::holds`].
    copy: u32,
}

/// The way from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) to: usize,
    /// It goes around a loop that does not run.
    pub(crate) skips_loop: bool,
    /// It leaves this loop after its last iteration.
    pub(crate) leaves: Option<InstId>,
}

/// One more thing known of a loop.
#[derive(Clone, Copy, Debug)]
struct Copy {
    outer: u32,
    /// The loop; where it is said whether it runs, the first with these bounds.
    of: InstId,
    fact: Fact,
}

/// What is known of a loop in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    /// Whether it is in its first iteration.
    IsFirst(bool),
    /// Whether those with these bounds run at all.
    Runs(bool),
}

/// The graph of a program; node 0 is the entry. However the blocks are listed, going through the
/// nodes in order meets every node after all those that lead to it, but for loops, and the nodes of
/// one block in their order. What nothing leads to is not there.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// Number 0 stands for knowing nothing.
    copies: Vec<Copy>,
    /// Whether loops were told apart by their first iteration.
    tracks: bool,
    /// Whether it is known which of the loops with equal bounds run.
    pub(crate) is_refined: bool,
    /// The first loops of which it is taken for granted that those with their bounds run many times. This
    /// many copies say so.
    large: BTreeSet<InstId>,
}

/// More nodes than this many times the entries of the program are too many: then nothing is known
/// of iterations.
const MAX_GROWTH: usize = 16;

fn limit(program: &Program) -> usize {
    MAX_GROWTH * (program.insts().len() + program.blocks().len() + 16)
}

impl Graph {
    /// The graph of `program`. Without `has_flow` the function is known to be one straight line.
    pub(crate) fn new(program: &Program, has_flow: bool) -> Self {
        if let (false, Some(block)) = (has_flow, program.blocks().first()) {
            let line = Node {
                block: BlockId::new(0),
                first: 0,
                end: block.insts.len(),
                stretch: 0,
                edges: Vec::new(),
                is_exit: true,
                is_fork: false,
                copy: 0,
            };
            return Self {
                nodes: vec![line],
                ..Self::default()
            };
        }
        let tracked = tracked_loops(program);
        let no_forks = || Forks::default();
        if !tracked.is_empty()
            && let Some(graph) = Builder::build(
                program,
                tracked,
                no_forks(),
                BTreeSet::new(),
                limit(program),
            )
        {
            return graph;
        }
        Builder::build(
            program,
            BTreeSet::new(),
            no_forks(),
            BTreeSet::new(),
            usize::MAX,
        )
        .unwrap_or_default()
    }

    /// A larger graph of `program`, in which loops with equal bounds run or do not run together wherever
    /// they stand and whenever they are reached; `None` where there are none.
    pub(crate) fn refined(program: &Program) -> Option<Self> {
        let choices = (1..=forks::MAX_FORKS).rev();
        let mut forks = choices.map(|at_most| forks::forks(program, at_most));
        forks.find_map(|forks| {
            let tracked = tracked_loops(program);
            (!forks.is_empty())
                .then(|| Builder::build(program, tracked, forks, BTreeSet::new(), limit(program)))
                .flatten()
        })
    }

    /// The graph of the runs in which loops with the bounds of `large` run many times; `None` where it has
    /// no use or is too large.
    pub(crate) fn of_large_runs(program: &Program, large: &BTreeSet<InstId>) -> Option<Self> {
        let is_large = |id: &InstId| large.contains(&program.like(*id));
        let mut tracked = tracked_loops(program);
        tracked.extend(program.walk().filter(is_large));
        let granted = large.clone();
        (!large.is_empty())
            .then(|| Builder::build(program, tracked, Forks::default(), granted, limit(program)))
            .flatten()
    }

    /// Whether `predicate` holds in `node`; `None` where that depends on the run.
    pub(crate) fn holds(
        &self,
        program: &Program,
        node: &Node,
        predicate: Option<Predicate>,
    ) -> Option<bool> {
        let condition = program.condition(predicate?.condition);
        condition.holds(|holder, turn| self.is_at(node.copy, holder, turn))
    }

    /// Whether `node` is there only where some loops run or do not.
    pub(crate) fn is_chosen(&self, node: &Node) -> bool {
        let (mut copy, granted) = (node.copy, self.large.len() as u32);
        while copy > granted {
            let known = self.copies[copy as usize];
            if matches!(known.fact, Fact::Runs(_)) {
                return true;
            }
            copy = known.outer;
        }
        false
    }

    /// Whether it is settled in every node whether `condition` holds.
    pub(crate) fn settles(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Unknown => false,
            Condition::Constant(_) => true,
            Condition::Loops { turn, .. } => self.tracks && *turn == Turn::First,
        }
    }

    fn is_at(&self, mut copy: u32, holder: InstId, turn: Turn) -> Option<bool> {
        while copy != 0 && turn == Turn::First {
            let known = self.copies[copy as usize];
            match known.fact {
                Fact::IsFirst(is_first) if known.of == holder => return Some(is_first),
                _ => copy = known.outer,
            }
        }
        None
    }

    /// Whether loops with the bounds of `like`, the first of them, run at all; `None` where that is open.
    fn runs(&self, mut copy: u32, like: InstId) -> Option<bool> {
        while copy != 0 {
            let known = self.copies[copy as usize];
            match known.fact {
                Fact::Runs(runs) if known.of == like => return Some(runs),
                _ => copy = known.outer,
            }
        }
        None
    }

    fn copy(&mut self, outer: u32, of: InstId, fact: Fact) -> u32 {
        self.copies.push(Copy { outer, of, fact });
        self.copies.len() as u32 - 1
    }
}

/// The loops whose first iteration some predicate or branch asks for.
pub(crate) fn tracked_loops(program: &Program) -> BTreeSet<InstId> {
    let conditions = program.conditions().iter();
    let loops = conditions.filter_map(|condition| match condition {
        Condition::Loops {
            turn: Turn::First,
            loops,
            ..
        } => Some(loops),
        _ => None,
    });
    loops.flatten().copied().collect()
}
