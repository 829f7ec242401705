//! What a comparison says of the iterations of a loop.
//!
//! Where the lower bound and the step are constants, the iterations in which a comparison with a number holds
//! are counted out; so are those of a comparison with the lower bound itself, whatever it is. The last
//! iteration has to be asked for as the loop asks itself: the next value, compared with the upper bound.

use pto_ir::{Condition, Turn};

use super::loops::Loop;
use super::trips::{ENDLESS, Guard, Trips};

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

    /// What it says of two bits of which `differ` tells whether they differ.
    pub(super) fn of_bits(self, differ: Guard) -> Guard {
        match self.relation {
            Relation::Equal => differ.opposite(),
            Relation::Unequal => differ,
            _ => Guard::UNKNOWN,
        }
    }

    /// Whether it orders numbers as the loop does.
    fn suits(self, known: &Loop) -> bool {
        matches!(self.relation, Relation::Equal | Relation::Unequal)
            || self.is_unsigned == known.facts.is_unsigned
    }

    /// What "induction variable plus `left`, compared with the lower bound plus `right`" says.
    pub(super) fn with_lower(self, known: &Loop, left: i64, right: i64) -> Guard {
        // In an iteration both the variable and the lower bound have a successor, and the loop itself adds the
        // step to the lower bound.
        let is_near = |offset: i64| (0..=1).contains(&offset);
        let step = &known.facts.step;
        let is_next = left == 0 && step.is_constant && right == step.constant;
        let is_exact = (is_near(left) && is_near(right) || is_next) && self.suits(known);
        let is_equality = matches!(self.relation, Relation::Equal | Relation::Unequal);
        let distance = i128::from(right) - i128::from(left);
        if !(is_exact || is_equality && distance >= 0) {
            return Guard::UNKNOWN;
        }
        self.at_distance(known, distance)
    }

    /// What "induction variable minus lower bound, plus `offset`, compared with `number`" says.
    pub(super) fn trip_with_number(self, known: &Loop, offset: i64, number: i64) -> Guard {
        let distance = i128::from(number) - i128::from(offset);
        let is_exact = match self.relation {
            Relation::Equal | Relation::Unequal => true,
            // The distance is a number without a sign.
            _ => offset == 0 && (self.is_unsigned || known.is_small()),
        };
        match is_exact && distance >= 0 {
            true => self.at_distance(known, distance),
            false => Guard::UNKNOWN,
        }
    }

    /// What "lower bound minus induction variable, plus `offset`, compared with `number`" says.
    pub(super) fn opposite_trip_with_number(self, known: &Loop, offset: i64, number: i64) -> Guard {
        match self.relation {
            Relation::Equal | Relation::Unequal if offset == number => self.at_distance(known, 0),
            _ => Guard::UNKNOWN,
        }
    }

    /// What "the number of the iteration, from 0, compared with `number`" says.
    pub(super) fn iteration_with_number(self, known: &Loop, number: i64) -> Guard {
        let is_equality = matches!(self.relation, Relation::Equal | Relation::Unequal);
        match number >= 0 && (is_equality || self.is_unsigned || known.is_small()) {
            true => self.among(known, i128::from(number), i128::from(number) + 1),
            false => Guard::UNKNOWN,
        }
    }

    /// What "induction variable, compared with lower bound plus step" says: the loop itself adds these.
    pub(super) fn with_second(self, known: &Loop) -> Guard {
        match self.relation {
            Relation::Less | Relation::GreaterOrEqual if self.suits(known) => {
                self.among(known, 1, 1)
            }
            _ => Guard::UNKNOWN,
        }
    }

    /// What "induction variable plus step, compared with the upper bound" says.
    pub(super) fn next_with_upper(self, known: &Loop) -> Guard {
        let last = Condition::all(Turn::Last, vec![known.holder]);
        match self.relation {
            Relation::GreaterOrEqual if self.suits(known) => Guard::Is(last),
            Relation::Less if self.suits(known) => Guard::Is(last.opposite()),
            _ => Guard::UNKNOWN,
        }
    }

    /// What "induction variable plus `offset`, compared with `number`" says, where the lower bound is a
    /// constant.
    pub(super) fn with_number(self, known: &Loop, offset: i64, number: i64) -> Guard {
        let facts = &known.facts;
        let lower = i128::from(facts.lower.constant);
        let step = facts.step.is_constant.then_some(facts.step.constant);
        let trips = known.trips.map_or(ENDLESS, i128::from);
        let number = i128::from(number) - i128::from(offset);
        let is_equality = matches!(self.relation, Relation::Equal | Relation::Unequal);
        // A sum may wrap: an equality is then one of smaller numbers all the same.
        let end = step.map(|step| lower + i128::from(step) * trips + i128::from(offset));
        let is_end_small = end.is_some_and(|end| i64::try_from(end).is_ok());
        let may_wrap =
            offset != 0 && (i64::try_from(number).is_err() || !is_equality && !is_end_small);
        // Where both orders agree: on numbers that are not negative, and among those that are.
        let is_positive = lower >= 0 && number >= 0 && (offset >= 0 || is_equality);
        let is_alike = is_positive || offset == 0 && (lower < 0) == (number < 0);
        let counts_as_loop = match (facts.is_unsigned, self.is_unsigned) {
            (false, false) => true,
            (false, true) => is_positive,
            (true, true) => is_alike,
            // The variable may become negative for the comparison, not for the loop.
            (true, false) => is_equality && is_alike,
        };
        if !facts.lower.is_constant || may_wrap || !counts_as_loop {
            return Guard::UNKNOWN;
        }
        self.at_distance(known, number - lower)
    }

    /// What "the distance of the induction variable from the lower bound, compared with `distance`" says.
    /// Beyond the first iteration that takes a step that is known.
    fn at_distance(self, known: &Loop, distance: i128) -> Guard {
        let step = &known.facts.step;
        let step = step.is_constant.then_some(i128::from(step.constant));
        // Iterations before the first that is not less, and before the first that is greater.
        let (less, not_greater) = match (distance, step) {
            (_, Some(..=0)) => return Guard::UNKNOWN,
            (..0, _) => (0, 0),
            (0, _) => (0, 1),
            (_, Some(step)) => (
                (distance + step - 1).div_euclid(step),
                distance.div_euclid(step) + 1,
            ),
            // Whatever the step, it is not less than 1.
            (1, None) if matches!(self.relation, Relation::Less | Relation::GreaterOrEqual) => {
                (1, 1)
            }
            (_, None) => return Guard::UNKNOWN,
        };
        self.among(known, less, not_greater)
    }

    /// The iterations in which it holds of two numbers, of which the left one is less in the first `less`
    /// iterations and not greater in the first `not_greater` ones.
    fn among(self, known: &Loop, less: i128, not_greater: i128) -> Guard {
        let among = |from, to| Guard::In(Trips::new(known, from, to));
        match self.relation {
            Relation::Equal => among(less, not_greater),
            Relation::Unequal => among(less, not_greater).opposite(),
            Relation::Less => among(0, less),
            Relation::LessOrEqual => among(0, not_greater),
            Relation::Greater => among(0, not_greater).opposite(),
            Relation::GreaterOrEqual => among(0, less).opposite(),
        }
    }
}
