//! Which decisions of a run are tied to each other: see [`Ties`].
//!
//! A decision is made by values: the bounds of a loop, the condition of a branch. What they are computed from
//! (its *roots*) are arguments, loads, induction variables. Decisions by one question are one decision. One is free
//! if no other has a root of it, and if its roots are new each time it is made. That is a guess on the safe side:
//! decisions with one root may well be free.

use std::collections::BTreeSet;

use pto_ir::{BlockId, Condition, InstId, Op as IrOp, QuestionId, RegionKind, Turn};
use pto_passes::verify_acc::Ties;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Reading;
use crate::handle::{Key, Op, Value};

/// The most operations that are looked at for one decision.
const MAX_OPS: usize = 256;

/// What makes a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    /// How often a loop runs.
    Loop,
    /// How often an `scf.while` runs.
    While,
    /// Which way is taken.
    Branch,
}

/// A decision.
struct Decision {
    place: Place,
    maker: Maker,
    /// What is asked, where that is known.
    question: Option<QuestionId>,
    roots: Vec<Value>,
    /// Whether the search for roots was given up.
    is_unknown: bool,
}

/// Who decides: a question, or a decision of which nobody knows what it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Asks(QuestionId),
    Alone(usize),
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
        let mut deciding: FxHashMap<RootKey, BTreeSet<Who>> = FxHashMap::default();
        for (index, decision) in decisions.iter().enumerate() {
            let who = decision.question.map_or(Who::Alone(index), Who::Asks);
            for root in &decision.roots {
                deciding.entry(root_key(*root)).or_default().insert(who);
            }
        }
        let is_shared = |root: &Value| {
            deciding
                .get(&root_key(*root))
                .is_some_and(|who| who.len() > 1)
        };
        let (mut ties, mut others) = (Ties::default(), BTreeSet::new());
        for decision in &decisions {
            let is_tied = decision.is_unknown
                || decision.roots.iter().any(is_shared)
                || self.is_repeated(decision);
            match decision.place {
                _ if !is_tied => {}
                Place::Holder(holder) => {
                    ties.holders.insert(holder);
                    if let (Maker::Loop, Some(question)) = (decision.maker, decision.question) {
                        match self.grows(holder) {
                            true => ties.growing.insert(question),
                            false => others.insert(question),
                        };
                    }
                }
                Place::Block(block) => _ = ties.blocks.insert(block),
            }
        }
        // Loops with the same bounds have steps of their own.
        ties.growing.retain(|question| !others.contains(question));
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
                RegionKind::For { trips: None } => {
                    let bounds = op.loop_facts().map(|facts| facts.bound_operands as usize);
                    op.operands().take(bounds.unwrap_or(usize::MAX)).collect()
                }
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
                RegionKind::For { .. } => Maker::Loop,
                RegionKind::While => Maker::While,
                _ => Maker::Branch,
            };
            let question = self.program.asks(holder).map(|asked| asked.question);
            let place = Place::Holder(holder);
            decisions.push(Decision::new(place, maker, question, by));
        }
        for (index, block) in self.program.blocks().iter().enumerate() {
            let id = BlockId::new(index);
            if let (2.., Some(jump)) = (block.successors.len(), self.block(id).terminator()) {
                let by = jump.operands().take(1).collect();
                let question = block.asks.map(|asked| asked.question);
                let place = Place::Block(id);
                decisions.push(Decision::new(place, Maker::Branch, question, by));
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

    /// Whether the loop `holder` runs many times where all values that the function begins with are large:
    /// from a constant to something that grows with them.
    fn grows(&self, holder: InstId) -> bool {
        let Some(facts) = self.op(holder).loop_facts() else {
            return false;
        };
        let is_upper = |value: &Value| value.raw().ptr == facts.upper.value.ptr;
        let upper = self.op(holder).operands().find(is_upper);
        let mut ops_left = MAX_OPS;
        let from_outside = self
            .program
            .bounds(holder)
            .is_some_and(|b| b.vary_in.is_none());
        from_outside
            && facts.lower.is_constant
            && facts.step.is_constant
            && upper.is_some_and(|upper| self.is_growing(upper, &mut ops_left))
    }

    fn is_growing(&self, value: Value, ops_left: &mut usize) -> bool {
        let Some(maker) = value.owner() else {
            return self.is_argument(value);
        };
        let Some(rest) = ops_left.checked_sub(1) else {
            return false;
        };
        *ops_left = rest;
        if is_size(maker) {
            return true;
        }
        let by_number = |least: i64| maker.operand(1).constant().is_some_and(|n| n >= least);
        match maker.name().as_str() {
            "arith.index_cast" => self.is_growing(maker.operand(0), ops_left),
            "arith.addi" | "arith.subi" if by_number(i64::MIN) => {
                self.is_growing(maker.operand(0), ops_left)
            }
            "arith.muli" | "arith.ceildivsi" | "arith.ceildivui" | "arith.divsi"
            | "arith.divui" | "arith.floordivsi"
                if by_number(1) =>
            {
                self.is_growing(maker.operand(0), ops_left)
            }
            _ => false,
        }
    }

    /// Whether `decision` depends on the number of an iteration, or is made in each iteration by what is
    /// the same in all and the graph does not know of that.
    fn is_repeated(&self, decision: &Decision) -> bool {
        let at = match decision.place {
            Place::Holder(holder) => Some(self.op(holder)),
            Place::Block(block) => self.block(block).terminator(),
        };
        // What a loop hands from iteration to iteration is its own affair.
        let own = at.filter(|_| decision.maker == Maker::While).map(Op::key);
        let is_own = |root: &Value| root.argument_holder().map(Op::key) == own && own.is_some();
        let varies =
            |root: &Value| root.owner().is_none() && !self.is_argument(*root) && !is_own(root);
        if decision.roots.iter().any(varies) {
            return true;
        }
        if decision.question.is_some() || decision.maker != Maker::Branch {
            return false;
        }
        let mut around = at.into_iter().flat_map(|op| self.ops_around(op));
        let repeats = around.find(|op| !is_branch(*op)).map(Op::key);
        let is_new = |maker: Op| self.ops_around(maker).any(|op| Some(op.key()) == repeats);
        let is_old = |root: &Value| root.owner().is_none_or(|maker| !is_new(maker));
        repeats.is_some() && decision.roots.iter().any(is_old)
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

/// What tells roots apart: the value, or a buffer and the number of one of its sizes.
type RootKey = (Key, Option<i64>);

fn root_key(root: Value) -> RootKey {
    let size = root.owner().filter(|op| is_size(*op));
    let known = size.and_then(|op| Some((op.operand(0).key(), Some(op.operand(1).constant()?))));
    known.unwrap_or((root.key(), None))
}

/// Whether `op` asks for a size of a buffer. Its sizes are free of each other.
fn is_size(op: Op) -> bool {
    matches!(op.name().as_str(), "memref.dim" | "tensor.dim")
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
    fn new(place: Place, maker: Maker, question: Option<QuestionId>, by: Vec<Value>) -> Self {
        let (mut roots, mut pending) = (Vec::new(), by);
        let mut seen: FxHashSet<Key> = FxHashSet::default();
        while let Some(value) = pending.pop() {
            if !seen.insert(value.key()) || seen.len() > MAX_OPS {
                continue;
            }
            let maker = value.owner();
            match maker.filter(|op| op.is_pure() && !is_size(*op)) {
                Some(op) => pending.extend(op.operands()),
                None => roots.push(value),
            }
        }
        Self {
            place,
            maker,
            question,
            roots,
            is_unknown: seen.len() > MAX_OPS,
        }
    }
}
