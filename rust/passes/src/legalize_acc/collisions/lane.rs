//! One lane: who has it, who stands for the run, who for the one before.

use pto_ir::{EdgeNode, Engine, Tile};
use smallvec::SmallVec;

use crate::legalize_acc::geometry::{Lanes, NONE, Rectangle};

/// Who has a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::legalize_acc) enum Hands {
    /// A tile of the PE array.
    Tile(Option<Tile>),
    /// Other engines.
    Others,
}

/// An instruction that touches lanes with several kinds of cells, or a new memset.
pub(super) struct Node {
    pub at: EdgeNode,
    /// Its first event, or [`NONE`] for a memset.
    pub event: u32,
    /// The cells of a memset of a part of a destination.
    pub rectangle: Option<Rectangle>,
    pub lanes: Lanes,
    /// The lanes in which a later instruction of its run waits for it.
    pub followed: Lanes,
    /// The last node that waits for it.
    pub waited_by: u32,
}

/// One lane.
#[derive(Clone, Default)]
pub(super) struct Lane {
    pub hands: Option<Hands>,
    /// The first node of the run.
    pub since: u32,
    /// Nodes of the run; some are followed.
    pub run: Vec<u32>,
    /// Those of the run before that nobody in it follows.
    pub before: Vec<u32>,
    /// The first node on each engine.
    pub gates: SmallVec<[(Engine, u32); 2]>,
    /// The last START or ACCUMULATE: all later nodes wait for it.
    pub opening: Option<u32>,
}

/// The numbers of the lanes of a set.
pub(in crate::legalize_acc) fn each(mut lanes: Lanes) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes.wrapping_sub(1);
        (lane < Lanes::BITS as usize).then_some(lane)
    })
}

impl Node {
    pub(super) fn new(at: EdgeNode, event: u32, lanes: Lanes) -> Self {
        Self {
            at,
            event,
            rectangle: None,
            lanes,
            followed: 0,
            waited_by: NONE,
        }
    }

    pub(super) fn is_followed(&self, lane: usize) -> bool {
        self.followed >> lane & 1 == 1
    }
}

impl Lane {
    /// A run begins with the node `index`, which everything before has come before.
    pub(super) fn reopen(&mut self, hands: Hands, index: u32) {
        self.before.clear();
        self.gates.clear();
        self.run.clear();
        self.run.push(index);
        (self.hands, self.since, self.opening) = (Some(hands), index, Some(index));
    }

    /// A new run begins with the node `index`, unless it belongs to the run.
    pub(super) fn pass_to(&mut self, hands: Hands, index: u32, lane: usize, nodes: &[Node]) {
        if self.hands == Some(hands) {
            return;
        }
        let is_last = |node: &u32| !nodes[*node as usize].is_followed(lane);
        std::mem::swap(&mut self.before, &mut self.run);
        self.before.retain(is_last);
        self.run.clear();
        self.gates.clear();
        self.hands = Some(hands);
        self.since = index;
    }

    /// Whom the next node of the run, on `engine`, waits for, if it waits for nobody of the run.
    pub(super) fn waits(&self, engine: Engine) -> SmallVec<[u32; 4]> {
        let mut gates = self.gates.iter();
        match gates.find(|(other, _)| *other == engine) {
            Some(&(_, gate)) if self.before.len() > 1 => SmallVec::from_slice(&[gate]),
            _ => SmallVec::from_slice(&self.before),
        }
    }

    pub(super) fn join(&mut self, index: u32, lane: usize, engine: Engine, nodes: &[Node]) {
        if self.gates.iter().all(|(other, _)| *other != engine) {
            self.gates.push((engine, index));
        }
        while let Some(&last) = self.run.last()
            && nodes[last as usize].is_followed(lane)
        {
            self.run.pop();
        }
        self.run.push(index);
    }
}
