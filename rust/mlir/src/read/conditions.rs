//! Conditions: in which iterations of the loops around they hold.
//!
//! A condition is read from the operations that compute it: comparisons of an induction variable with a
//! bound of its loop ([`super::comparisons`]), flags that a loop carries, and the logic over them
//! ([`super::trips`]). Everything else is unknown, which is never wrong.

use pto_ir::Condition;

use super::Reader;
use super::comparisons::Comparison;
use super::loops::{Loop, MAX_OPS, Sum, is_bound};
use super::trips::{Guard, Trips};
use crate::handle::{Op, Value};

impl Reader {
    /// What is known of `value`, of type `i1`.
    pub(super) fn condition(&self, value: Value) -> Condition {
        let mut ops_left = MAX_OPS;
        self.guard(value, &mut ops_left).condition()
    }

    fn guard(&self, value: Value, ops_left: &mut usize) -> Guard {
        let Some(op) = value.owner() else {
            return self.carried_flag(value).unwrap_or(Guard::UNKNOWN);
        };
        let Some(rest) = ops_left.checked_sub(1) else {
            return Guard::UNKNOWN;
        };
        *ops_left = rest;
        if let Some(bit) = bit_as_number(op).filter(|_| op.name() == "arith.trunci") {
            let guard = self.guard(bit.of, ops_left);
            return guard.chosen(bit.if_set & 1 != 0, bit.if_clear & 1 != 0);
        }
        let mut operand = |index| self.guard(op.operand(index), ops_left);
        match op.name().as_str() {
            "arith.constant" => value
                .constant()
                .map_or(Guard::UNKNOWN, |bit| Guard::constant(bit != 0)),
            "arith.andi" | "arith.muli" => operand(0).and(operand(1)),
            "arith.ori" => operand(0).or(operand(1)),
            "arith.xori" => operand(0).xor(operand(1)),
            "arith.select" => operand(0).select(operand(1), operand(2)),
            "arith.cmpi" => {
                let code = op.attribute("predicate").and_then(|code| code.integer());
                match code.and_then(Comparison::from_code) {
                    None => Guard::UNKNOWN,
                    Some(comparison) if op.operand(0).r#type().is_bit() => {
                        let differ = operand(0).xor(operand(1));
                        comparison.of_bits(differ)
                    }
                    Some(comparison) => {
                        let sides = [op.operand(0), op.operand(1)];
                        match bit_with_number(comparison, sides) {
                            Some((bit, set, clear)) => self.guard(bit, ops_left).chosen(set, clear),
                            None => self.comparison(comparison, sides[0], sides[1]),
                        }
                    }
                }
            }
            _ => Guard::UNKNOWN,
        }
    }

    /// What `left` compared with `right` says of iterations.
    fn comparison(&self, comparison: Comparison, left: Value, right: Value) -> Guard {
        let (left, right) = (self.uncast(left), self.uncast(right));
        let sides = [
            (left, right, comparison),
            (right, left, comparison.swapped()),
        ];
        let known = sides.map(|(variable, bound, comparison)| {
            if let Some(known) = self.next_iteration(variable, bound) {
                return comparison.next_with_upper(known);
            }
            let (left, right) = (Sum::of(variable), Sum::of(bound));
            let Some(base) = left.base else {
                return right.number().map_or(Guard::UNKNOWN, |number| {
                    Guard::constant(comparison.of_numbers(left.offset, number))
                });
            };
            if let Some(number) = right.number() {
                if let Some(known) = self.distance(base) {
                    return comparison.trip_with_number(known, left.offset, number);
                }
                if let Some(known) = self.opposite_distance(base) {
                    return comparison.opposite_trip_with_number(known, left.offset, number);
                }
                if let Some(known) = self.iteration(base).filter(|_| left.offset == 0) {
                    return comparison.iteration_with_number(known, number);
                }
            }
            let Some(known) = self.loops.by_variable.get(&base.key()) else {
                return Guard::UNKNOWN;
            };
            match (right.base, right.number()) {
                (Some(value), _) if is_bound(value, &known.facts.lower) => {
                    comparison.with_lower(known, left.offset, right.offset)
                }
                (_, Some(number)) => comparison.with_number(known, left.offset, number),
                _ if left.offset == 0 && is_second(bound, known) => comparison.with_second(known),
                _ => Guard::UNKNOWN,
            }
        });
        let [first, second] = known;
        match first {
            Guard::Is(Condition::Unknown) => second,
            known => known,
        }
    }

    /// The number of which `value` is the same in another type; itself where that is not known.
    fn uncast(&self, value: Value) -> Value {
        let mut number = value;
        for _ in 0..MAX_OPS {
            let Some(cast) = number.owner().filter(|op| op.operand_count() == 1) else {
                break;
            };
            let of = cast.operand(0);
            let bits = [of, number].map(|value| value.r#type().integer_bits());
            let [Some(from @ 2..), Some(to)] = bits else {
                break;
            };
            let known = self.loops.by_variable.get(&of.key());
            let fits = known.and_then(Loop::range).is_some_and(|(first, last)| {
                let limit = 1_i128 << (to - 1);
                -limit <= first && last < limit
            });
            let is_same = match cast.name().as_str() {
                "arith.extsi" | "arith.index_cast" | "arith.trunci" => {
                    fits || from <= to && !known.is_some_and(|known| known.facts.is_unsigned)
                }
                "arith.extui" | "arith.index_castui" => {
                    known.is_some_and(Loop::is_small) && (fits || from <= to)
                }
                _ => false,
            };
            if !is_same {
                break;
            }
            number = of;
        }
        number
    }

    /// The loop of which `value` is induction variable minus lower bound.
    fn distance(&self, value: Value) -> Option<&Loop> {
        let difference = value.owner().filter(|op| op.name() == "arith.subi")?;
        let known = self.loops.by_variable.get(&difference.operand(0).key())?;
        is_bound(difference.operand(1), &known.facts.lower).then_some(known)
    }

    /// The loop of which `value` is lower bound minus induction variable.
    fn opposite_distance(&self, value: Value) -> Option<&Loop> {
        let difference = value.owner().filter(|op| op.name() == "arith.subi")?;
        let known = self.loops.by_variable.get(&difference.operand(1).key())?;
        is_bound(difference.operand(0), &known.facts.lower).then_some(known)
    }

    /// The loop of which `value` is the number of the iteration: the distance from the lower bound, divided by
    /// the step.
    fn iteration(&self, value: Value) -> Option<&Loop> {
        let quotient = value.owner()?;
        let name = quotient.name();
        let is_unsigned = name == "arith.divui";
        if !is_unsigned && name != "arith.divsi" {
            return None;
        }
        let distance = quotient.operand(0);
        let from_zero = || {
            let known = self.loops.by_variable.get(&distance.key())?;
            let lower = &known.facts.lower;
            (lower.is_constant && lower.constant == 0).then_some(known)
        };
        let known = self.distance(distance).or_else(from_zero)?;
        let is_number = is_bound(quotient.operand(1), &known.facts.step);
        (is_number && (is_unsigned || known.is_small())).then_some(known)
    }

    /// A flag that a loop carries: a constant at first, and the opposite from the second iteration on.
    fn carried_flag(&self, value: Value) -> Option<Guard> {
        let holder = value.argument_holder()?;
        let body = holder.first_block(0)?;
        let mut arguments = body.arguments();
        let known = self.loops.by_variable.get(&arguments.next()?.key())?;
        let place = arguments.position(|argument| argument.key() == value.key())?;
        let first = holder
            .operands()
            .nth(known.facts.bound_operands as usize + place)?;
        let others = body.terminator()?.operands().nth(place)?;
        let is_first = Guard::In(Trips::new(known, 0, 1));
        Some(is_first.chosen(first.constant()? != 0, others.constant()? != 0))
    }

    /// The loop of which `sum` is induction variable plus step, and `bound` the upper bound.
    fn next_iteration(&self, sum: Value, bound: Value) -> Option<&Loop> {
        let add = sum.owner().filter(|op| op.name() == "arith.addi")?;
        let known = self.loops.by_variable.get(&add.operand(0).key())?;
        let is_next = is_bound(add.operand(1), &known.facts.step);
        (is_next && is_bound(bound, &known.facts.upper)).then_some(known)
    }
}

/// A number that depends on a value of type `i1`.
struct BitAsNumber {
    of: Value,
    if_set: i64,
    if_clear: i64,
}

/// That of `op`, or of the operand that it cuts off.
fn bit_as_number(op: Op) -> Option<BitAsNumber> {
    let number = |of: Value, if_set, if_clear| BitAsNumber {
        of,
        if_set,
        if_clear,
    };
    match op.name().as_str() {
        "arith.trunci" => bit_as_number(op.operand(0).owner()?),
        "arith.extui" if op.operand(0).r#type().is_bit() => Some(number(op.operand(0), 1, 0)),
        "arith.extsi" if op.operand(0).r#type().is_bit() => Some(number(op.operand(0), -1, 0)),
        "arith.select" if op.operand(0).r#type().is_bit() => {
            let (set, clear) = (op.operand(1).constant()?, op.operand(2).constant()?);
            Some(number(op.operand(0), set, clear))
        }
        _ => None,
    }
}

/// Where one of `sides` is a number that depends on a bit and the other a constant: the bit, and what their
/// comparison says where it is set and where it is not.
fn bit_with_number(comparison: Comparison, sides: [Value; 2]) -> Option<(Value, bool, bool)> {
    let [left, right] = sides;
    let orders = [
        (left, right, comparison),
        (right, left, comparison.swapped()),
    ];
    orders.into_iter().find_map(|(bit, number, comparison)| {
        let number = number.constant()?;
        let maker = bit.owner().filter(|op| op.name() != "arith.trunci")?;
        let bit = bit_as_number(maker)?;
        let holds = |value| comparison.of_numbers(value, number);
        Some((bit.of, holds(bit.if_set), holds(bit.if_clear)))
    })
}

/// Whether `value` is the lower bound of `known` plus its step.
fn is_second(value: Value, known: &Loop) -> bool {
    let facts = &known.facts;
    if facts.lower.is_constant && facts.lower.constant == 0 {
        return is_bound(value, &facts.step);
    }
    let sum = value.owner().filter(|op| op.name() == "arith.addi");
    sum.is_some_and(|sum| {
        let (left, right) = (sum.operand(0), sum.operand(1));
        let is_sum = |a, b| is_bound(a, &facts.lower) && is_bound(b, &facts.step);
        is_sum(left, right) || is_sum(right, left)
    })
}
