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
//! Loops with equal bounds run or do not run together, and so does a loop every time it is reached with the same
//! ones; branches on one value go the same way, wherever they stand: they ask one *question*. Where an analysis
//! fails for want of that, it asks for the *refined* graph: from where a question is first asked to where it is last
//! asked everything is there once for each answer.

mod build;
mod connect;
mod copies;
mod forks;
mod order;

use std::collections::BTreeSet;

use pto_ir::{
    Asked, BlockId, Condition, InstId, Op, Predicate, Program, QuestionId, RegionKind, Turn,
};

use build::Builder;
pub(crate) use forks::Repeats;
use forks::{AskedOften, Forks, MAX_BITS};

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

/// One more thing known.
#[derive(Clone, Copy, Debug)]
struct Copy {
    outer: u32,
    fact: Fact,
}

/// What is known in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fact {
    /// Whether a loop is in its first iteration.
    IsFirst(InstId, bool),
    /// The answer to a question.
    Answer(QuestionId, u32),
}

/// The way of a loop that runs.
const RUNS: u32 = 0;

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
    /// Whether questions that are asked more than once are told apart, all or some.
    pub(crate) is_refined: bool,
    /// Those questions.
    settled: BTreeSet<QuestionId>,
    /// The questions of loops of which it is taken for granted that they run many times. This many copies say so.
    large: BTreeSet<QuestionId>,
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
        let build = |tracked, limit| {
            Builder::build(program, tracked, Forks::default(), BTreeSet::new(), limit)
        };
        if !tracked.is_empty()
            && let Some(graph) = build(tracked, limit(program))
        {
            return graph;
        }
        build(BTreeSet::new(), usize::MAX).unwrap_or_default()
    }

    /// A larger graph of `program`, in which questions that are asked more than once get one answer; `None` where
    /// there are none.
    pub(crate) fn refined(program: &Program, repeats: Repeats) -> Option<Self> {
        let often = AskedOften::of(program, repeats);
        let choices = (1..=MAX_BITS).rev();
        let mut forks = choices.map(|bits| Forks::new(program, &often, bits));
        forks.find_map(|forks| {
            let tracked = tracked_loops(program);
            (!forks.is_empty())
                .then(|| Builder::build(program, tracked, forks, BTreeSet::new(), limit(program)))
                .flatten()
        })
    }

    /// The graph of the runs in which the loops that ask `large` run many times; `None` where it has no use or is
    /// too large.
    pub(crate) fn of_large_runs(program: &Program, large: &BTreeSet<QuestionId>) -> Option<Self> {
        if large.is_empty() {
            return None;
        }
        let is_large = |(_, asked): &&(InstId, Asked)| large.contains(&asked.question);
        let granted = program.all_asks().iter().filter(is_large);
        let granted = granted.map(|&(holder, _)| holder);
        let mut tracked = tracked_loops(program);
        tracked.extend(granted.filter(|&holder| is_counted(program, holder)));
        let often = AskedOften::of(program, Repeats::Any).without(large);
        (0..=MAX_BITS).rev().find_map(|bits| {
            let forks = Forks::new(program, &often, bits);
            let limit = limit(program);
            Builder::build(program, tracked.clone(), forks, large.clone(), limit)
        })
    }

    /// Of the questions that are asked more than once those that this graph does not tell apart.
    pub(crate) fn open_questions(&self, program: &Program) -> BTreeSet<QuestionId> {
        let often = AskedOften::of(program, Repeats::Any).questions();
        let is_known = |question: &QuestionId| {
            self.settled.contains(question) || self.large.contains(question)
        };
        often
            .into_iter()
            .filter(|question| !is_known(question))
            .collect()
    }

    /// The questions of several loops whose first iterations are told apart: not only do they run together, they
    /// may do so equally often, of which this graph knows nothing.
    pub(crate) fn counted_together(&self, program: &Program) -> BTreeSet<QuestionId> {
        let (mut once, mut again) = (BTreeSet::new(), BTreeSet::new());
        let tracked = tracked_loops(program).into_iter().filter(|_| self.tracks);
        for asked in tracked.filter_map(|holder| program.asks(holder)) {
            if !once.insert(asked.question) && !self.large.contains(&asked.question) {
                again.insert(asked.question);
            }
        }
        again
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

    /// Whether `node` is there only for some answer to some question.
    pub(crate) fn is_chosen(&self, node: &Node) -> bool {
        let (mut copy, granted) = (node.copy, self.large.len() as u32);
        while copy > granted {
            let known = self.copies[copy as usize];
            if matches!(known.fact, Fact::Answer(..)) {
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

    fn is_at(&self, copy: u32, holder: InstId, turn: Turn) -> Option<bool> {
        let first = self.facts(copy).find_map(|fact| match fact {
            Fact::IsFirst(of, is_first) if of == holder => Some(is_first),
            _ => None,
        });
        first.filter(|_| turn == Turn::First)
    }

    /// Which way is taken by who asks `asked` in `copy`; `None` where that is open.
    fn way(&self, copy: u32, asked: Option<Asked>) -> Option<u32> {
        let asked = asked?;
        self.facts(copy).find_map(|fact| match fact {
            Fact::Answer(question, answer) if question == asked.question => Some(asked.way(answer)),
            _ => None,
        })
    }

    /// Whether the loop `holder` runs at all; `None` where that is open.
    fn runs(&self, program: &Program, copy: u32, holder: InstId) -> Option<bool> {
        self.way(copy, program.asks(holder)).map(|way| way == RUNS)
    }

    /// What is known in `copy`, the last first.
    fn facts(&self, copy: u32) -> impl Iterator<Item = Fact> {
        let copies =
            std::iter::successors(Some(copy), |&copy| Some(self.copies[copy as usize].outer));
        let known = copies.take_while(|&copy| copy != 0);
        known.map(|copy| self.copies[copy as usize].fact)
    }

    fn copy(&mut self, outer: u32, fact: Fact) -> u32 {
        self.copies.push(Copy { outer, fact });
        self.copies.len() as u32 - 1
    }
}

/// Whether `holder` is a loop that a number of times is known of.
fn is_counted(program: &Program, holder: InstId) -> bool {
    matches!(
        program.inst(holder).op,
        Op::Region {
            kind: RegionKind::For { .. },
            ..
        }
    )
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
