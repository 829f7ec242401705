//! Loop bounds, and what `start_if`, `stop_if` and branches say of iterations ([`super::conditions`]).

use pto_ir::{Bounds, Condition, InstId, Predicate};
use rustc_hash::FxHashMap;

use super::Reader;
use crate::accessors::{PtoBound, PtoLoop};
use crate::handle::{Key, Op, Value};

/// The unit attribute of operations that compute a predicate for legalization.
pub(crate) const INSERTED_MARK: &str = "pto.inserted";

/// A condition of more operations than this is not looked at.
pub(super) const MAX_OPS: usize = 64;

/// What is remembered of the operations around the one that is read.
#[derive(Default)]
pub(super) struct Loops {
    /// The entries of these operations.
    holders: FxHashMap<Key, InstId>,
    /// By induction variable: the loop.
    pub(super) by_variable: FxHashMap<Key, Loop>,
}

/// A loop with one induction variable.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    pub(super) holder: InstId,
    pub(super) facts: PtoLoop,
    pub(super) trips: Option<u64>,
}

impl Loop {
    /// The first and the last value of the induction variable, where all bounds are constants with a sign.
    pub(super) fn range(&self) -> Option<(i128, i128)> {
        let facts = &self.facts;
        let is_known = facts.lower.is_constant && facts.step.is_constant && !facts.is_unsigned;
        let trips = self.trips.filter(|&trips| is_known && trips > 0)?;
        let first = i128::from(facts.lower.constant);
        let last = first + i128::from(facts.step.constant) * i128::from(trips - 1);
        Some((first, last))
    }

    /// Whether no value of the induction variable is negative, taken as a number with a sign.
    pub(super) fn is_small(&self) -> bool {
        let facts = &self.facts;
        !facts.is_unsigned && facts.lower.is_constant && facts.lower.constant >= 0
    }
}

impl Reader {
    /// Remembers an operation with regions that was pushed as `holder`.
    pub(super) fn enter_holder(&mut self, op: Op, holder: InstId) {
        self.loops.holders.insert(op.key(), holder);
    }

    /// Forgets it: what is defined inside is not used outside.
    pub(super) fn leave_holder(&mut self, op: Op) {
        self.loops.holders.remove(&op.key());
        let body = (op.region_count() > 0).then(|| op.first_block(0)).flatten();
        if let Some(variable) = body.and_then(|body| body.arguments().next()) {
            self.loops.by_variable.remove(&variable.key());
        }
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
        let runs = trips.is_none() && self.runs_for_certain(op, &facts);
        // Else it is known already whether it runs.
        if trips.is_none() && !runs {
            self.ask_of_loop(op, holder, &facts, vary_in);
        }
        self.builder.set_bounds(
            holder,
            Bounds {
                vary_in,
                runs,
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

    /// The innermost operation of this function whose region makes `value` anew. What is computed
    /// from values alone is made where they are. Holders are numbered from the outside in, so of several
    /// around one place the largest is the innermost.
    pub(super) fn made_in(&self, value: Value) -> Option<InstId> {
        let mut ops_left = MAX_OPS;
        self.made_in_at_most(value, &mut ops_left)
    }

    fn made_in_at_most(&self, value: Value, ops_left: &mut usize) -> Option<InstId> {
        let Some(maker) = value.owner() else {
            let around = value.argument_holder();
            return around.and_then(|op| self.loops.holders.get(&op.key()).copied());
        };
        if *ops_left > 0 && maker.is_pure() {
            *ops_left -= 1;
            let operands = maker.operands();
            return operands
                .filter_map(|operand| self.made_in_at_most(operand, ops_left))
                .max();
        }
        let around = maker.parent();
        around.and_then(|op| self.loops.holders.get(&op.key()).copied())
    }

    /// When the branch `op` takes its first region, as far as that is known, and what it asks.
    pub(super) fn read_branch(&mut self, op: Op, holder: InstId) {
        let condition = match op.name().as_str() {
            "scf.if" => self.condition(op.operand(0)),
            _ => Condition::Unknown,
        };
        self.ask_of_branch(op, holder, &condition);
        if condition != Condition::Unknown {
            self.builder.set_branch(holder, condition);
        }
    }

    /// Which region the switch `op` takes, where that is a constant. The first one is the default.
    pub(super) fn read_switch(&mut self, op: Op, holder: InstId) {
        let Some(number) = op.operand(0).constant() else {
            return;
        };
        let cases = op.attribute("cases").and_then(|cases| cases.i64_array());
        let case = cases.and_then(|cases| cases.iter().position(|&case| case == number));
        self.builder
            .set_choice(holder, case.map_or(0, |case| case + 1));
    }

    /// Whether the `scf.while` `op` goes on, where that is a constant.
    pub(super) fn read_while(&mut self, op: Op, holder: InstId) {
        let last = op.first_block(0).and_then(|first| first.terminator());
        let decides = last.filter(|last| last.operand_count() > 0);
        if let Some(goes_on) = decides.and_then(|last| last.operand(0).constant()) {
            let condition = Condition::Constant(goes_on != 0);
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
}

/// A value as a number plus, perhaps, another value.
pub(super) struct Sum {
    pub(super) base: Option<Value>,
    pub(super) offset: i64,
}

impl Sum {
    pub(super) fn of(value: Value) -> Self {
        let (mut base, mut offset) = (value, 0_i64);
        for _ in 0..MAX_OPS {
            if let Some(number) = base.constant()
                && let Some(sum) = offset.checked_add(number)
            {
                return Self {
                    base: None,
                    offset: sum,
                };
            }
            // Smaller numbers wrap earlier.
            let Some((next, sum)) = base
                .sum()
                .filter(|_| value.r#type().is_index())
                .and_then(|(next, number)| Some((next, offset.checked_add(number)?)))
            else {
                break;
            };
            (base, offset) = (next, sum);
        }
        Self {
            base: Some(base),
            offset,
        }
    }

    pub(super) fn number(&self) -> Option<i64> {
        self.base.is_none().then_some(self.offset)
    }
}

pub(super) fn is_bound(value: Value, bound: &PtoBound) -> bool {
    value.raw().ptr == bound.value.ptr
        || (bound.is_constant && value.constant() == Some(bound.constant))
}
