//! Which decisions of a run are tied to each other: see [`Ties`].
//!
//! A decision is made by values: the bounds of a loop, the condition of a branch. What they are computed from
//! (its *roots*) are arguments, loads, induction variables. A decision is free if no other one has a root of
//! it, and if its roots are new each time it is made. That is a guess on the safe side: decisions with one
//! root may well be free.

use std::collections::BTreeSet;

use pto_ir::{BlockId, Condition, InstId, Op as IrOp, RegionKind, Turn};
use pto_passes::verify_acc::Ties;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Reading;
use crate::handle::{Key, Op, Value};

/// The most operations that are looked at for one decision.
const MAX_OPS: usize = 256;

/// What makes a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    /// How often a loop runs: the first with these bounds.
    Loop(InstId),
    /// How often an `scf.while` runs.
    While,
    /// Which way is taken.
    Branch,
}

/// A decision.
struct Decision {
    place: Place,
    maker: Maker,
    roots: Vec<Value>,
    /// Whether the search for roots was given up.
    is_unknown: bool,
}

/// Where it is made.
#[derive(Clone, Copy, Debug)]
enum Place {
    Holder(InstId),
    Block(BlockId),
}

impl Reading {
    /// The ties between the decisions of this function.
    pub(crate) fn ties(&self) -> Ties {
        let decisions = self.decisions();
        let mut deciding: FxHashMap<Key, BTreeSet<usize>> = FxHashMap::default();
        for (index, decision) in decisions.iter().enumerate() {
            let who = match decision.maker {
                Maker::Loop(like) => like.index(),
                // No instruction.
                Maker::While | Maker::Branch => self.program.insts().len() + index,
            };
            for root in &decision.roots {
                deciding.entry(root.key()).or_default().insert(who);
            }
        }
        let is_shared = |root: &Value| deciding.get(&root.key()).is_some_and(|who| who.len() > 1);
        let mut ties = Ties::default();
        for decision in &decisions {
            let is_tied = decision.is_unknown
                || decision.roots.iter().any(is_shared)
                || decision.maker == Maker::Branch && self.is_repeated(decision);
            match decision.place {
                _ if !is_tied => {}
                Place::Holder(holder) => _ = ties.holders.insert(holder),
                Place::Block(block) => _ = ties.blocks.insert(block),
            }
        }
        ties
    }

    fn decisions(&self) -> Vec<Decision> {
        let mut decisions = Vec::new();
        for (index, inst) in self.program.insts().iter().enumerate() {
            let IrOp::Region { kind, .. } = inst.op else {
                continue;
            };
            let holder = InstId::new(index);
            let op = self.op(holder);
            let by: Vec<Value> = match kind {
                RegionKind::For { trips: None } => op.operands().collect(),
                RegionKind::While => op
                    .first_block(0)
                    .and_then(|condition| condition.terminator())
                    .map(|condition| condition.operand(0))
                    .into_iter()
                    .collect(),
                // What the walk understands is not guessed.
                RegionKind::If if self.is_understood(holder) => continue,
                RegionKind::If | RegionKind::IndexSwitch => op.operands().collect(),
                RegionKind::For { .. } | RegionKind::Other => continue,
            };
            let maker = match kind {
                RegionKind::For { .. } => Maker::Loop(self.program.like(holder)),
                RegionKind::While => Maker::While,
                _ => Maker::Branch,
            };
            decisions.push(Decision::new(Place::Holder(holder), maker, by));
        }
        for (index, block) in self.program.blocks().iter().enumerate() {
            let id = BlockId::new(index);
            if let (2.., Some(jump)) = (block.successors.len(), self.block(id).terminator()) {
                let by = jump.operands().take(1).collect();
                decisions.push(Decision::new(Place::Block(id), Maker::Branch, by));
            }
        }
        decisions
    }

    /// Whether the branch `holder` asks for first iterations.
    fn is_understood(&self, holder: InstId) -> bool {
        matches!(
            self.program.branch(holder),
            Some(
                Condition::Constant(_)
                    | Condition::Loops {
                        turn: Turn::First,
                        ..
                    }
            )
        )
    }

    /// Whether `decision` depends on the number of an iteration, or is made in each iteration by what is
    /// the same in all.
    fn is_repeated(&self, decision: &Decision) -> bool {
        let at = match decision.place {
            Place::Holder(holder) => Some(self.op(holder)),
            Place::Block(block) => self.block(block).terminator(),
        };
        let mut around = at.into_iter().flat_map(|op| self.ops_around(op));
        let repeats = around.find(|op| !is_branch(*op)).map(Op::key);
        let is_new = |maker: Op| self.ops_around(maker).any(|op| Some(op.key()) == repeats);
        decision.roots.iter().any(|root| match root.owner() {
            // Other arguments of blocks change from iteration to iteration, or from jump to jump.
            None => repeats.is_some() || !self.is_argument(*root),
            Some(maker) => repeats.is_some() && !is_new(maker),
        })
    }

    /// The operations of the function that hold `op`, from the inside out.
    fn ops_around(&self, op: Op) -> impl Iterator<Item = Op> {
        let function = self.function.key();
        let around = std::iter::successors(op.parent(), |op| op.parent());
        around.take_while(move |op| op.key() != function)
    }

    /// Whether `value` is an argument of the function.
    fn is_argument(&self, value: Value) -> bool {
        let mut arguments = self.block(BlockId::new(0)).arguments();
        arguments.any(|argument| argument.key() == value.key())
    }
}

/// Whether the regions of `op` run at most once where it does.
fn is_branch(op: Op) -> bool {
    matches!(
        op.name().as_str(),
        "scf.if" | "affine.if" | "scf.index_switch"
    )
}

impl Decision {
    /// The decision that the values `by` make.
    fn new(place: Place, maker: Maker, by: Vec<Value>) -> Self {
        let (mut roots, mut pending) = (Vec::new(), by);
        let mut seen: FxHashSet<Key> = FxHashSet::default();
        while let Some(value) = pending.pop() {
            if !seen.insert(value.key()) || seen.len() > MAX_OPS {
                continue;
            }
            match value.owner().filter(|op| op.is_pure()) {
                Some(op) => pending.extend(op.operands()),
                None => roots.push(value),
            }
        }
        Self {
            place,
            maker,
            roots,
            is_unknown: seen.len() > MAX_OPS,
        }
    }
}
