//! Decisions of a run that are tied to each other, and what of a finding they leave certain.
//!
//! The walk takes every way through the graph. Where two branches ask for one value, or a branch for the
//! number of an iteration, some of these ways are never taken. A fault on one of them is no error: what
//! goes wrong behind a tied decision is certain only where it does whatever way led there.

use std::collections::BTreeSet;

use pto_ir::{Asked, BlockId, InstId, Program, QuestionId};

use super::flow::Graph;
use super::transitions::{Certainty, Transitions};
use super::worlds::{Event, Worlds};

/// Whether what goes wrong somewhere is sure to happen in some run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It is.
    Never,
    /// Where it goes wrong in every world that a cell may be in.
    InSomeWorlds,
    /// Perhaps no run comes here.
    Always,
}

impl Doubt {
    /// What is certain of an event that goes wrong in some of `worlds`.
    pub(super) fn certainty(
        self,
        transitions: &Transitions,
        worlds: Worlds,
        event: Event,
    ) -> Certainty {
        match self {
            Self::Never => Certainty::ALL,
            Self::InSomeWorlds => transitions.certainty(worlds, event),
            Self::Always => Certainty::NONE,
        }
    }
}

/// The decisions that a run cannot make freely: it made others that depend on the same values. That of a
/// loop is how often it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ties {
    /// Operations with regions.
    pub holders: BTreeSet<InstId>,
    /// Blocks with several successors.
    pub blocks: BTreeSet<BlockId>,
    /// What loops among `holders` ask that can all run many times in one run, which is for answer 0.
    pub growing: BTreeSet<QuestionId>,
}

impl Ties {
    /// Those that are left in a run in which the growing loops run many times.
    pub(super) fn in_large_runs(&self, program: &Program) -> Self {
        let is_large = |asked: Asked| self.growing.contains(&asked.question);
        let is_left = |holder: &&InstId| !program.asks(**holder).is_some_and(is_large);
        Self {
            holders: self.holders.iter().filter(is_left).copied().collect(),
            blocks: self.blocks.clone(),
            growing: BTreeSet::new(),
        }
    }

    /// By node of `graph`: whether a tied decision may come before it.
    pub(super) fn nodes_behind(&self, program: &Program, graph: &Graph) -> Vec<bool> {
        let mut is_behind = vec![false; graph.nodes.len()];
        let mut open = graph.open_questions(program);
        open.extend(graph.counted_together(program));
        let is_open = |asked: Option<Asked>| asked.is_some_and(|a| open.contains(&a.question));
        let is_tied = |index: &usize| {
            let node = &graph.nodes[*index];
            match program.block(node.block).insts.get(node.end) {
                // Nor is one free that asks for an iteration which the graph does not tell apart.
                Some(holder) => {
                    let condition = program.branch(*holder);
                    self.holders.contains(holder)
                        || condition.is_some_and(|c| !graph.settles(c))
                        || is_open(program.asks(*holder))
                }
                None => {
                    let asks = program.block(node.block).asks;
                    self.blocks.contains(&node.block) || is_open(asks)
                }
            }
        };
        let mut pending: Vec<usize> = (0..graph.nodes.len()).filter(is_tied).collect();
        while let Some(index) = pending.pop() {
            for edge in &graph.nodes[index].edges {
                if !std::mem::replace(&mut is_behind[edge.to], true) {
                    pending.push(edge.to);
                }
            }
        }
        is_behind
    }
}
