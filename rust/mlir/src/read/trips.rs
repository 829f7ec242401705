//! Iterations of a loop that a guard selects, and the logic over guards.
//!
//! `k < 3`, `k != 1`, `k >= 2` are sets of iterations; `and`, `or` and `not` of guards on one loop are
//! those of sets. What is left in the end is asked: all of them, none, the first, the last, or all others?

use pto_ir::{Condition, InstId, Turn};

use super::loops::Loop;

/// Stands for an unknown number of iterations.
pub(super) const ENDLESS: i128 = 1 << 64;

/// A set of iterations of one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trips {
    holder: InstId,
    /// The number of iterations, [`ENDLESS`] where it is not known.
    count: i128,
    /// Ascending intervals of iterations, from 0, that neither meet nor touch.
    ranges: Vec<(i128, i128)>,
}

impl Trips {
    /// The iterations `from..to` of `known`.
    pub(super) fn new(known: &Loop, from: i128, to: i128) -> Self {
        let count = known.trips.map_or(ENDLESS, i128::from);
        let range = (from, to.min(count));
        Self {
            holder: known.holder,
            count,
            ranges: (range.0 < range.1).then_some(range).into_iter().collect(),
        }
    }

    /// All other iterations.
    pub(super) fn others(self) -> Self {
        let begins = std::iter::once(0).chain(self.ranges.iter().map(|range| range.1));
        let ends = self.ranges.iter().map(|range| range.0);
        let gaps = begins.zip(ends.chain([self.count]));
        let ranges = gaps.filter(|(from, to)| from < to).collect();
        Self { ranges, ..self }
    }

    /// The iterations in both sets, which are of one loop.
    fn common(self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        for &(from, to) in &self.ranges {
            let parts = other.ranges.iter();
            let parts = parts.map(|part| (from.max(part.0), to.min(part.1)));
            ranges.extend(parts.filter(|(from, to)| from < to));
        }
        Self { ranges, ..self }
    }

    /// What it is to say "the loop is in one of these iterations".
    fn condition(&self) -> Condition {
        let at = |turn| Condition::all(turn, vec![self.holder]);
        let last = self.count - 1;
        match *self.ranges.as_slice() {
            [] => Condition::Constant(false),
            [(0, to)] if to == self.count => Condition::Constant(true),
            [(0, 1)] => at(Turn::First),
            [(1, to)] if to == self.count => at(Turn::First).opposite(),
            [(from, to)] if from == last && to == self.count => at(Turn::Last),
            [(0, to)] if to == last => at(Turn::Last).opposite(),
            _ => Condition::Unknown,
        }
    }
}

/// What is known of a value of type `i1` while it is taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// It holds in these iterations of one loop.
    In(Trips),
    /// Something about several loops, a constant, or nothing.
    Is(Condition),
}

impl Guard {
    /// Nothing is known.
    pub(super) const UNKNOWN: Self = Self::Is(Condition::Unknown);

    pub(super) const fn constant(value: bool) -> Self {
        Self::Is(Condition::Constant(value))
    }

    /// What is left of it in the end.
    pub(super) fn condition(self) -> Condition {
        match self {
            Self::In(trips) => trips.condition(),
            Self::Is(condition) => condition,
        }
    }

    pub(super) fn opposite(self) -> Self {
        match self {
            Self::In(trips) => Self::In(trips.others()),
            Self::Is(condition) => Self::Is(condition.opposite()),
        }
    }

    /// `if_holds` where it holds, else `otherwise`.
    pub(super) fn chosen(self, if_holds: bool, otherwise: bool) -> Self {
        match (if_holds, otherwise) {
            (true, false) => self,
            (false, true) => self.opposite(),
            (same, _) => Self::constant(same),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::In(left), Self::In(right)) if left.holder == right.holder => {
                Self::In(left.common(&right))
            }
            // A constant leaves the set what it is.
            (Self::Is(Condition::Constant(true)), other)
            | (other, Self::Is(Condition::Constant(true))) => other,
            (left, right) => {
                let at_once = left.at_once_with(&right);
                Self::Is(match left.condition().and(right.condition()) {
                    Condition::Unknown => at_once,
                    known => known,
                })
            }
        }
    }

    /// "All of these loops are in their first iteration", or in their last, where both sides say a part of it.
    /// Of two iterations the last is also "not the first", which only says something on its own.
    fn at_once_with(&self, other: &Self) -> Condition {
        let both = [Turn::First, Turn::Last].into_iter();
        both.filter_map(|turn| Some(self.at(turn)?.and(other.at(turn)?)))
            .next()
            .unwrap_or(Condition::Unknown)
    }

    /// What it says, if that is that loops are at `turn`.
    fn at(&self, turn: Turn) -> Option<Condition> {
        match self {
            Self::In(trips) => {
                let only = match turn {
                    Turn::First => 0,
                    Turn::Last => trips.count - 1,
                };
                (trips.ranges == [(only, only + 1)])
                    .then(|| Condition::all(turn, vec![trips.holder]))
            }
            Self::Is(condition) => {
                let is_at = |at: &Condition| matches!(at, Condition::Loops { turn: own, negated: false, .. } if *own == turn);
                Some(condition.clone()).filter(is_at)
            }
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.opposite().and(other.opposite()).opposite()
    }

    /// Exactly one of them holds.
    pub(super) fn xor(self, other: Self) -> Self {
        let either = self.clone().or(other.clone());
        either.and(self.and(other).opposite())
    }

    /// `then` where it holds, else `otherwise`.
    pub(super) fn select(self, then: Self, otherwise: Self) -> Self {
        let chosen = self.clone().and(then);
        chosen.or(self.opposite().and(otherwise))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accessors::{PtoBound, PtoLoop};

    fn a_loop(trips: Option<u64>) -> Loop {
        let value = mlir_sys::MlirValue {
            ptr: std::ptr::null(),
        };
        let unknown = PtoBound {
            value,
            constant: 0,
            is_constant: false,
        };
        let facts = PtoLoop {
            variable: value,
            lower: unknown,
            upper: unknown,
            step: unknown,
            bound_operands: 3,
            is_unsigned: false,
        };
        Loop {
            holder: InstId::new(7),
            facts,
            trips,
        }
    }

    /// The iterations of a loop of `count` ones that `guard` selects, one after the other.
    fn listed(guard: &Guard, count: i128) -> Vec<bool> {
        let Guard::In(trips) = guard else {
            panic!("expected a set, found {guard:?}");
        };
        let holds = |trip| trips.ranges.iter().any(|r| r.0 <= trip && trip < r.1);
        (0..count).map(holds).collect()
    }

    #[test]
    fn logic_is_that_of_sets() {
        let known = a_loop(Some(5));
        let all: Vec<Guard> = (0..6)
            .flat_map(|from| (from..6).map(move |to| (from, to)))
            .map(|(from, to)| Guard::In(Trips::new(&known, from, to)))
            .collect();
        for a in &all {
            let not = listed(&a.clone().opposite(), 5);
            assert!(listed(a, 5).iter().zip(&not).all(|(a, b)| a != b));
            for b in &all {
                let (left, right) = (listed(a, 5), listed(b, 5));
                let (a, b) = (a.clone(), b.clone());
                let results = [
                    (a.clone().and(b.clone()), [false, false, true]),
                    (a.clone().or(b.clone()), [false, true, true]),
                    (a.xor(b), [false, true, false]),
                ];
                for (result, by_count) in results {
                    let pairs = left.iter().zip(&right);
                    let expected: Vec<bool> = pairs
                        .map(|(&a, &b)| by_count[usize::from(a) + usize::from(b)])
                        .collect();
                    assert_eq!(listed(&result, 5), expected);
                }
            }
        }
    }

    #[test]
    fn ends_are_recognised() {
        let condition = |count, from, to| Trips::new(&a_loop(count), from, to).condition();
        let at = |turn| Condition::all(turn, vec![InstId::new(7)]);
        assert_eq!(condition(None, 0, 1), at(Turn::First));
        assert_eq!(condition(None, 1, ENDLESS), at(Turn::First).opposite());
        assert_eq!(condition(None, 0, ENDLESS), Condition::Constant(true));
        assert_eq!(condition(None, 2, 2), Condition::Constant(false));
        assert_eq!(condition(None, 0, 2), Condition::Unknown);
        assert_eq!(condition(Some(4), 3, 4), at(Turn::Last));
        assert_eq!(condition(Some(4), 0, 3), at(Turn::Last).opposite());
        assert_eq!(condition(Some(1), 0, 1), Condition::Constant(true));
        assert_eq!(condition(Some(2), 1, 2), at(Turn::First).opposite());
    }

    #[test]
    fn last_iterations_of_two_are_last_ones_among_others() {
        let last_of = |holder: usize, count: u64| {
            let trips = Trips::new(
                &a_loop(Some(count)),
                i128::from(count) - 1,
                i128::from(count),
            );
            Guard::In(Trips {
                holder: InstId::new(holder),
                ..trips
            })
        };
        let all = |holders: &[usize]| {
            let loops = holders.iter().map(|&holder| InstId::new(holder));
            Guard::Is(Condition::all(Turn::Last, loops.collect()))
        };
        assert_eq!(last_of(1, 2).and(last_of(2, 4)), all(&[1, 2]));
        assert_eq!(last_of(1, 2).and(last_of(2, 2)), all(&[1, 2]));
        assert_eq!(all(&[1, 3]).and(last_of(2, 2)), all(&[1, 2, 3]));
        assert_eq!(
            last_of(1, 2).and(last_of(2, 1)),
            Guard::Is(last_of(1, 2).condition())
        );
        let first = Guard::In(Trips::new(&a_loop(Some(4)), 0, 1));
        assert_eq!(first.and(last_of(2, 4)), Guard::UNKNOWN);
    }
}
