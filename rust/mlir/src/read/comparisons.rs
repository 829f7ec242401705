//! What a comparison says of the iterations of a loop.
//!
//! Where the loop and the number it is compared with are constants, the iterations in which the
//! comparison holds are counted out. Else it has to name the bounds of the loop as values.

use pto_ir::{Condition, Turn};

use super::loops::Loop;

/// A comparison of `arith.cmpi`, as the dialect numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    relation: Relation,
    /// Whether it is one of unsigned numbers; equality is neither.
    is_unsigned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The comparison with the number `code` in `arith`.
    pub(super) const fn from_code(code: i64) -> Option<Self> {
        use Relation::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};
        let (relation, is_unsigned) = match code {
            0 => (Equal, false),
            1 => (Unequal, false),
            2 => (Less, false),
            3 => (LessOrEqual, false),
            4 => (Greater, false),
            5 => (GreaterOrEqual, false),
            6 => (Less, true),
            7 => (LessOrEqual, true),
            8 => (Greater, true),
            9 => (GreaterOrEqual, true),
            _ => return None,
        };
        Some(Self {
            relation,
            is_unsigned,
        })
    }

    /// The same with its sides exchanged.
    pub(super) const fn swapped(self) -> Self {
        use Relation::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};
        let relation = match self.relation {
            Equal => Equal,
            Unequal => Unequal,
            Less => Greater,
            LessOrEqual => GreaterOrEqual,
            Greater => Less,
            GreaterOrEqual => LessOrEqual,
        };
        Self { relation, ..self }
    }

    /// Whether `left`, compared with `right`, holds.
    pub(super) fn of_numbers(self, left: i64, right: i64) -> bool {
        let order = match self.is_unsigned {
            true => left.cast_unsigned().cmp(&right.cast_unsigned()),
            false => left.cmp(&right),
        };
        match self.relation {
            Relation::Equal => order.is_eq(),
            Relation::Unequal => order.is_ne(),
            Relation::Less => order.is_lt(),
            Relation::LessOrEqual => order.is_le(),
            Relation::Greater => order.is_gt(),
            Relation::GreaterOrEqual => order.is_ge(),
        }
    }

    /// Whether it orders numbers as the loop does.
    fn suits(self, known: &Loop) -> bool {
        matches!(self.relation, Relation::Equal | Relation::Unequal)
            || self.is_unsigned == known.facts.is_unsigned
    }

    /// What "induction variable, compared with the lower bound" says.
    pub(super) fn with_lower(self, known: &Loop) -> Condition {
        let first = match known.trips {
            Some(1) => Condition::Constant(true),
            _ => Condition::all(Turn::First, vec![known.holder]),
        };
        match self.relation {
            Relation::Equal => first,
            Relation::Unequal => first.opposite(),
            Relation::LessOrEqual if self.suits(known) => first,
            Relation::Greater if self.suits(known) => first.opposite(),
            Relation::GreaterOrEqual if self.suits(known) => Condition::Constant(true),
            Relation::Less if self.suits(known) => Condition::Constant(false),
            _ => Condition::Unknown,
        }
    }

    /// What "induction variable plus step, compared with the upper bound" says.
    pub(super) fn next_with_upper(self, known: &Loop) -> Condition {
        let last = Condition::all(Turn::Last, vec![known.holder]);
        match self.relation {
            Relation::GreaterOrEqual if self.suits(known) => last,
            Relation::Less if self.suits(known) => last.opposite(),
            _ => Condition::Unknown,
        }
    }

    /// What "induction variable plus `offset`, compared with `number`" says, where the lower bound and
    /// the step are constants.
    pub(super) fn with_number(self, known: &Loop, offset: i64, number: i64) -> Condition {
        let Some((from, to)) = self.trips_that_hold(known, offset, number) else {
            return Condition::Unknown;
        };
        let trips = known.trips.map(i128::from);
        let at = |turn| Condition::all(turn, vec![known.holder]);
        let (is_begin, is_end) = (from == 0, Some(to) == trips || to == ENDLESS);
        let holds = match (is_begin, is_end) {
            _ if from >= to => Condition::Constant(false),
            (true, true) => Condition::Constant(true),
            (true, false) if to == 1 => at(Turn::First),
            (false, true) if from == 1 => at(Turn::First).opposite(),
            (false, true) if trips == Some(from + 1) => at(Turn::Last),
            (true, false) if trips == Some(to + 1) => at(Turn::Last).opposite(),
            _ => Condition::Unknown,
        };
        match self.relation {
            Relation::Unequal => holds.opposite(),
            _ => holds,
        }
    }

    /// The iterations `from..to` in which the comparison holds; for [`Relation::Unequal`] those in which
    /// it does not.
    fn trips_that_hold(self, known: &Loop, offset: i64, number: i64) -> Option<(i128, i128)> {
        let facts = &known.facts;
        let (lower, step) = (
            i128::from(facts.lower.constant),
            i128::from(facts.step.constant),
        );
        let trips = known.trips.map_or(ENDLESS, i128::from);
        let number = i128::from(number) - i128::from(offset);
        let is_equality = matches!(self.relation, Relation::Equal | Relation::Unequal);
        // A sum may wrap: an equality is then one of smaller numbers all the same.
        let may_wrap = offset != 0
            && (i64::try_from(number).is_err()
                || !is_equality
                    && i64::try_from(lower + step * trips + i128::from(offset)).is_err());
        // Where both orders agree.
        let is_small = lower >= 0 && number >= 0 && (offset >= 0 || is_equality);
        let is_unsigned = facts.is_unsigned || self.is_unsigned;
        let is_known = facts.lower.is_constant && facts.step.is_constant && step > 0 && trips > 0;
        if !is_known || may_wrap || (is_unsigned && !is_small) {
            return None;
        }
        // Iterations before the first that is not less, and before the first that is greater.
        let distance = number - lower;
        let less = (distance + step - 1).div_euclid(step).clamp(0, trips);
        let not_greater = (distance.div_euclid(step) + 1).clamp(0, trips);
        Some(match self.relation {
            Relation::Equal | Relation::Unequal => (less, not_greater),
            Relation::Less => (0, less),
            Relation::LessOrEqual => (0, not_greater),
            Relation::Greater => (not_greater, trips),
            Relation::GreaterOrEqual => (less, trips),
        })
    }
}

/// Stands for an unknown number of iterations.
const ENDLESS: i128 = 1 << 64;
