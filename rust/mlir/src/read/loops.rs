//! Loop bounds and conditions: what `start_if`, `stop_if` and branches say about iterations.
//!
//! A condition is read from the operations that compute it: comparisons of an induction variable with
//! a bound of its loop, and the logic over them. Everything else is unknown, which is never wrong.

use pto_ir::{Bounds, Condition, InstId, Predicate, Turn};
use rustc_hash::FxHashMap;

use super::Reader;
use crate::accessors::{PtoBound, PtoLoop};
use crate::handle::{Key, Op, Value};

/// The unit attribute of operations that compute a predicate for legalization.
pub(crate) const INSERTED_MARK: &str = "pto.inserted";

/// A condition of more operations than this is not looked at.
const MAX_OPS: usize = 64;

/// What is remembered of loops while their bodies are read.
#[derive(Default)]
pub(super) struct Loops {
    /// The entry of every operation with regions.
    holders: FxHashMap<Key, InstId>,
    /// By induction variable: the loop.
    by_variable: FxHashMap<Key, Loop>,
}

#[derive(Clone, Copy)]
struct Loop {
    holder: InstId,
    facts: PtoLoop,
    trips: Option<u64>,
}

/// The comparisons of `arith.cmpi`, as the dialect numbers them.
mod comparison {
    pub(super) const EQ: i64 = 0;
    pub(super) const NE: i64 = 1;
    pub(super) const SLT: i64 = 2;
    pub(super) const SLE: i64 = 3;
    pub(super) const SGT: i64 = 4;
    pub(super) const SGE: i64 = 5;
}

impl Reader {
    /// Remembers an operation with regions that was pushed as `holder`.
    pub(super) fn enter_holder(&mut self, op: Op, holder: InstId) {
        self.loops.holders.insert(op.key(), holder);
    }

    /// What is known of the bounds of the loop `op`.
    pub(super) fn read_bounds(&mut self, op: Op, holder: InstId, trips: Option<u64>) {
        let Some(facts) = op.loop_facts() else {
            return;
        };
        let bound_operands = op.operands().take(facts.bound_operands as usize);
        let vary_in = bound_operands
            .filter(|bound| bound.constant().is_none())
            .filter_map(|bound| self.made_in(bound))
            .max();
        let is_known = |bound: &PtoBound| bound.is_constant || !bound.value.ptr.is_null();
        let is_index_known = is_known(&facts.upper) && is_known(&facts.step);
        self.builder.set_bounds(
            holder,
            Bounds {
                vary_in,
                tells_first: is_known(&facts.lower),
                tells_last: is_index_known,
            },
        );
        let variable = facts.variable.ptr as Key;
        self.loops.by_variable.insert(
            variable,
            Loop {
                holder,
                facts,
                trips,
            },
        );
    }

    /// The innermost operation of this function whose region makes `value`. Holders are numbered from
    /// the outside in, so of several around one place the largest is the innermost.
    fn made_in(&self, value: Value) -> Option<InstId> {
        let around = match value.owner() {
            Some(maker) => maker.parent(),
            None => value.argument_holder(),
        };
        around.and_then(|op| self.loops.holders.get(&op.key()).copied())
    }

    /// When the branch `op` takes its first region.
    pub(super) fn read_branch(&mut self, op: Op, holder: InstId) {
        if op.name() != "scf.if" {
            return;
        }
        let condition = self.condition(op.operand(0));
        if condition != Condition::Unknown {
            self.builder.set_branch(holder, condition);
        }
    }

    /// The predicate with the value `value`.
    pub(super) fn predicate(&mut self, value: Option<Value>) -> Option<Predicate> {
        let value = value?;
        let condition = self.condition(value);
        Some(Predicate {
            condition: self.builder.condition(condition),
            inserted: value.owner().is_some_and(|op| op.has_mark(INSERTED_MARK)),
        })
    }

    fn condition(&self, value: Value) -> Condition {
        let mut ops_left = MAX_OPS;
        self.condition_of(value, &mut ops_left)
    }

    fn condition_of(&self, value: Value, ops_left: &mut usize) -> Condition {
        let Some(op) = value.owner() else {
            return Condition::Unknown;
        };
        let Some(rest) = ops_left.checked_sub(1) else {
            return Condition::Unknown;
        };
        *ops_left = rest;
        let mut operand = |index| self.condition_of(op.operand(index), ops_left);
        match op.name().as_str() {
            "arith.constant" => value
                .constant()
                .map_or(Condition::Unknown, |bit| Condition::Constant(bit != 0)),
            "arith.andi" => operand(0).and(operand(1)),
            "arith.ori" => operand(0).or(operand(1)),
            "arith.xori" => match (operand(0), operand(1)) {
                (Condition::Constant(flips), other) | (other, Condition::Constant(flips)) => {
                    match flips {
                        true => other.opposite(),
                        false => other,
                    }
                }
                _ => Condition::Unknown,
            },
            "arith.cmpi" => {
                let comparison = op.attribute("predicate").and_then(|code| code.integer());
                comparison.map_or(Condition::Unknown, |code| {
                    self.comparison(code, op.operand(0), op.operand(1))
                })
            }
            _ => Condition::Unknown,
        }
    }

    /// What `left` compared with `right` says of iterations.
    fn comparison(&self, code: i64, left: Value, right: Value) -> Condition {
        use comparison::{EQ, NE, SGE, SGT, SLE, SLT};
        let swapped = match code {
            SLT => SGT,
            SLE => SGE,
            SGT => SLT,
            SGE => SLE,
            other => other,
        };
        let sides = [(left, right, code), (right, left, swapped)];
        for (variable, bound, code) in sides {
            let variable_key = variable.key();
            if let Some(known) = self.loops.by_variable.get(&variable_key) {
                let first = Condition::all(Turn::First, vec![known.holder]);
                let last = Condition::all(Turn::Last, vec![known.holder]);
                let is_first = is_bound(bound, &known.facts.lower);
                let is_last = bound.constant().is_some() && bound.constant() == known.last();
                return match code {
                    EQ if is_first => first,
                    NE if is_first => first.opposite(),
                    SLE if is_first => first,
                    SGT if is_first => first.opposite(),
                    EQ | SGE if is_last => last,
                    NE | SLT if is_last => last.opposite(),
                    _ => Condition::Unknown,
                };
            }
            if let Some(holder) = self.next_iteration(variable, bound) {
                let last = Condition::all(Turn::Last, vec![holder]);
                match code {
                    SGE => return last,
                    SLT => return last.opposite(),
                    _ => {}
                }
            }
        }
        Condition::Unknown
    }

    /// The loop of which `sum` is induction variable plus step, and `bound` the upper bound.
    fn next_iteration(&self, sum: Value, bound: Value) -> Option<InstId> {
        let add = sum.owner().filter(|op| op.name() == "arith.addi")?;
        let known = self.loops.by_variable.get(&add.operand(0).key())?;
        let is_next = is_bound(add.operand(1), &known.facts.step);
        (is_next && is_bound(bound, &known.facts.upper)).then_some(known.holder)
    }
}

impl Loop {
    /// The induction variable in the last iteration, where that is a constant.
    fn last(&self) -> Option<i64> {
        let steps = i64::try_from(self.trips?.checked_sub(1)?).ok()?;
        let PtoLoop { lower, step, .. } = self.facts;
        let both = lower.is_constant && step.is_constant;
        let offset = steps.checked_mul(step.constant).filter(|_| both)?;
        lower.constant.checked_add(offset)
    }
}

fn is_bound(value: Value, bound: &PtoBound) -> bool {
    value.raw().ptr == bound.value.ptr
        || (bound.is_constant && value.constant() == Some(bound.constant))
}
