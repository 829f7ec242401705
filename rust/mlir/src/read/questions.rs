//! Which loops, branches and jumps ask the same question.
//!
//! A loop asks whether its lower bound is below its upper one, a branch whether a bit is set. A bit that a
//! comparison makes is taken apart: who compares the same two values asks the same, whichever of the ways there are
//! to say so. So a branch on `0 < %n` goes the way of a loop from 0 to `%n`.

use pto_ir::{Asked, BlockId, Condition, InstId, Question, QuestionId, Turn};
use rustc_hash::FxHashMap;

use super::Reader;
use super::loops::Sum;
use crate::accessors::{PtoBound, PtoLoop};
use crate::handle::{Key, Op, Value};

/// A condition of more operations than this is not looked at.
const MAX_OPS: usize = 64;

/// What a question is about: of equal ones the answers are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Topic {
    /// Whether the first is less than the second; the last says whether as unsigned numbers.
    Below(End, End, bool),
    Equal(End, End),
    /// Whether a value is set.
    Bit(Key),
    /// Which of the cases in an attribute a number is.
    Case(End, Key),
    /// Whether values are in the integer set of an attribute.
    InSet(Key, Vec<Key>),
}

/// A value as a number plus, perhaps, the value with a key: of equal ones the values are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct End {
    base: Option<Key>,
    offset: i64,
}

/// The questions met so far.
#[derive(Default)]
pub(super) struct Questions {
    by_topic: FxHashMap<Topic, QuestionId>,
}

impl End {
    fn of(value: Value) -> Self {
        let sum = Sum::of(value);
        Self {
            base: sum.base.map(|base| base.key()),
            offset: sum.offset,
        }
    }

    /// That of a bound of `op`; `None` where nothing is known of it.
    fn of_bound(op: Op, bound: &PtoBound) -> Option<Self> {
        if bound.is_constant {
            let offset = bound.constant;
            return Some(Self { base: None, offset });
        }
        let is_it = |value: &Value| value.raw().ptr == bound.value.ptr;
        op.operands().find(is_it).map(Self::of)
    }
}

impl Reader {
    /// What the loop `op` asks, which has the bounds `facts`, made anew in `made_in`.
    pub(super) fn ask_of_loop(
        &mut self,
        op: Op,
        holder: InstId,
        facts: &PtoLoop,
        made_in: Option<InstId>,
    ) {
        let ends = [facts.lower, facts.upper].map(|bound| End::of_bound(op, &bound));
        let operands = op.operands().take(facts.bound_operands as usize);
        let topic = match ends {
            [Some(lower), Some(upper)] if self.is_steady(operands) => {
                Some(Topic::Below(lower, upper, facts.is_unsigned))
            }
            _ => None,
        };
        let question = self.question(topic, made_in);
        let negated = false;
        self.builder.set_asks(holder, Asked { question, negated });
    }

    /// Whether the upper bound of `op` is greater than the lower one, for it is a variable of a loop around, or
    /// what that adds itself, a little further on: a triangle with its diagonal.
    pub(super) fn runs_for_certain(&self, op: Op, facts: &PtoLoop) -> bool {
        let [Some(lower), Some(upper)] =
            [facts.lower, facts.upper].map(|bound| End::of_bound(op, &bound))
        else {
            return false;
        };
        let Some(around) = upper
            .base
            .and_then(|base| self.loops.by_variable.get(&base))
        else {
            return false;
        };
        let outer = &around.facts;
        // In an iteration the variable has a successor, and the loop around adds its own step.
        let step = if outer.step.is_constant {
            outer.step.constant
        } else {
            1
        };
        if facts.is_unsigned || outer.is_unsigned || !(0..=step.max(1)).contains(&upper.offset) {
            return false;
        }
        match lower.base {
            None if outer.lower.is_constant => {
                i128::from(outer.lower.constant) + i128::from(upper.offset)
                    > i128::from(lower.offset)
            }
            base => base == upper.base && lower.offset >= 0 && upper.offset > lower.offset,
        }
    }

    /// What the branch `op` asks, of which `condition` is known.
    pub(super) fn ask_of_branch(&mut self, op: Op, holder: InstId, condition: &Condition) {
        let is_settled = match condition {
            Condition::Unknown => false,
            Condition::Constant(_) => true,
            Condition::Loops { turn, .. } => *turn == Turn::First,
        };
        if is_settled {
            return;
        }
        if let Some(asked) = self.asked(op, op.operands().count()) {
            self.builder.set_asks(holder, asked);
        }
    }

    /// What `last` asks, which ends `block`.
    pub(super) fn ask_of_jump(&mut self, last: Op, block: BlockId) {
        if last.successor_count() < 2 || last.operand_count() == 0 {
            return;
        }
        if let Some(asked) = self.asked(last, 1) {
            self.builder.set_jump_asks(block, asked);
        }
    }

    /// What `op` asks by its first `count` operands; `None` where that may change while the region runs that
    /// makes it, or nothing is known of `op`.
    fn asked(&mut self, op: Op, count: usize) -> Option<Asked> {
        let attribute = |name| op.attribute(name).map(|attribute| attribute.key());
        let (topic, negated) = match op.name().as_str() {
            "scf.if" | "cf.cond_br" => bit(op.operand(0)),
            "scf.index_switch" => (
                Topic::Case(End::of(op.operand(0)), attribute("cases")?),
                false,
            ),
            "cf.switch" => {
                // Without cases there is one way.
                let cases = attribute("case_values")?;
                (Topic::Case(End::of(op.operand(0)), cases), false)
            }
            "affine.if" => {
                let values = op.operands().map(|value| value.key());
                (
                    Topic::InSet(attribute("condition")?, values.collect()),
                    false,
                )
            }
            _ => return None,
        };
        if !self.is_steady(op.operands().take(count)) {
            return None;
        }
        let made_in = op.operands().take(count);
        let made_in = made_in.filter_map(|value| self.made_in(value)).max();
        let question = self.question(Some(topic), made_in);
        Some(Asked { question, negated })
    }

    /// The question about `topic`, a new one where there is none.
    fn question(&mut self, topic: Option<Topic>, made_in: Option<InstId>) -> QuestionId {
        let builder = &mut self.builder;
        let mut new = || builder.add_question(Question { made_in });
        match topic {
            Some(topic) => *self.questions.by_topic.entry(topic).or_insert_with(new),
            None => new(),
        }
    }

    /// Whether `values` stay what they are while the region runs once that makes them. Among jumps a block may
    /// run several times.
    fn is_steady(&self, values: impl Iterator<Item = Value>) -> bool {
        if self.blocks.is_empty() {
            return true;
        }
        let (mut pending, mut seen): (Vec<Value>, usize) = (values.collect(), 0);
        while let Some(value) = pending.pop() {
            seen += 1;
            let (block, maker) = match value.owner() {
                Some(maker) => (maker.block(), Some(maker)),
                None => match value.argument_block() {
                    Some(block) => (block, None),
                    None => return false,
                },
            };
            if !self.blocks.contains_key(&block.key()) || self.is_entry(block) {
                continue;
            }
            match maker.filter(|op| op.is_pure() && seen <= MAX_OPS) {
                Some(op) => pending.extend(op.operands()),
                None => return false,
            }
        }
        true
    }

    /// Whether nothing jumps to `block`: it is the first of its region.
    fn is_entry(&self, block: crate::handle::Block) -> bool {
        let holder = block.holder();
        let mut entries = (0..holder.region_count()).filter_map(|index| holder.first_block(index));
        entries.any(|entry| entry.key() == block.key())
    }
}

/// What the bit `value` asks, and whether it is the opposite.
fn bit(value: Value) -> (Topic, bool) {
    let (mut value, mut negated) = (value, false);
    for _ in 0..MAX_OPS {
        let Some(op) = value.owner() else { break };
        let is_comparison = match op.name().as_str() {
            "arith.xori" => false,
            "arith.cmpi" => true,
            _ => break,
        };
        let (left, right) = (op.operand(0), op.operand(1));
        let code = op.attribute("predicate").and_then(|code| code.integer());
        if is_comparison && !left.r#type().is_bit() {
            let Some((topic, is_opposite)) = comparison(code, End::of(left), End::of(right)) else {
                break;
            };
            return (topic, negated != is_opposite);
        }
        let with_constant = [(left, right), (right, left)];
        let other = with_constant
            .into_iter()
            .find_map(|(value, other)| Some((value, other.constant()? != 0)));
        let Some((other, is_set)) = other else { break };
        let differs_from_set = match (is_comparison, code) {
            (false, _) | (true, Some(1)) => true,
            (true, Some(0)) => false,
            _ => break,
        };
        negated ^= is_set == differs_from_set;
        value = other;
    }
    (Topic::Bit(value.key()), negated)
}

/// What the comparison with number `code` in `arith` asks, and whether it is the opposite.
fn comparison(code: Option<i64>, left: End, right: End) -> Option<(Topic, bool)> {
    let known = match code? {
        code @ (0 | 1) => (Topic::Equal(left.min(right), left.max(right)), code == 1),
        code @ (2 | 6) => (Topic::Below(left, right, code == 6), false),
        code @ (3 | 7) => (Topic::Below(right, left, code == 7), true),
        code @ (4 | 8) => (Topic::Below(right, left, code == 8), false),
        code @ (5 | 9) => (Topic::Below(left, right, code == 9), true),
        _ => return None,
    };
    Some(known)
}
