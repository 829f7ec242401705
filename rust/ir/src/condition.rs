//! What is known of run-time conditions and of the bounds of loops.
//!
//! Accumulation groups care about one sort of condition: "these loops are in their first (last)
//! iteration". Everything else is a constant or unknown.

use crate::ids::{InstId, QuestionId};

/// An end of a loop's iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Turn {
    /// The first iteration.
    First,
    /// The last iteration.
    Last,
}

/// What is known of a value of type `i1`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// Nothing.
    #[default]
    Unknown,
    /// It is a constant.
    Constant(bool),
    /// It holds exactly when all of some loops around it are at a turn, or exactly when not.
    Loops {
        /// Which turn.
        turn: Turn,
        /// The loops, ascending, at least one.
        loops: Vec<InstId>,
        /// Whether it holds exactly when *not* all of them are.
        negated: bool,
    },
}

impl Condition {
    /// All of `loops` are at `turn`: a constant where there is none.
    pub fn all(turn: Turn, mut loops: Vec<InstId>) -> Self {
        loops.sort_unstable();
        loops.dedup();
        match loops.is_empty() {
            true => Self::Constant(true),
            false => Self::Loops {
                turn,
                loops,
                negated: false,
            },
        }
    }

    /// The opposite.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Constant(value) => Self::Constant(!value),
            Self::Loops {
                turn,
                loops,
                negated,
            } => Self::Loops {
                turn,
                loops,
                negated: !negated,
            },
        }
    }

    /// Both hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant(false), _) | (_, Self::Constant(false)) => Self::Constant(false),
            (Self::Constant(true), other) | (other, Self::Constant(true)) => other,
            (
                Self::Loops {
                    turn,
                    mut loops,
                    negated: false,
                },
                Self::Loops {
                    turn: same,
                    loops: more,
                    negated: false,
                },
            ) if turn == same => {
                loops.extend(more);
                Self::all(turn, loops)
            }
            (left, right) if left == right => left,
            _ => Self::Unknown,
        }
    }

    /// One of them holds.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.opposite().and(other.opposite()).opposite()
    }

    /// Whether it holds, where `is_at` tells of a loop and a turn whether the loop is there.
    pub fn holds(&self, is_at: impl Fn(InstId, Turn) -> Option<bool>) -> Option<bool> {
        match self {
            Self::Unknown => None,
            Self::Constant(value) => Some(*value),
            Self::Loops {
                turn,
                loops,
                negated,
            } => {
                let known: Vec<Option<bool>> = loops.iter().map(|&l| is_at(l, *turn)).collect();
                let all = if known.contains(&Some(false)) {
                    Some(false)
                } else if known.contains(&None) {
                    None
                } else {
                    Some(true)
                };
                all.map(|all| all != *negated)
            }
        }
    }
}

/// A condition of a program, by its place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConditionId(pub(crate) u32);

/// A predicate of a matmul.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// What it says.
    pub condition: ConditionId,
    /// Whether legalization added it.
    pub inserted: bool,
}

/// What is known of the bounds of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The innermost operation around the loop that makes one of its bounds anew each time it, or a
    /// region of it, runs; `None` where all bounds are there when the function begins.
    pub vary_in: Option<InstId>,
    /// Whether it runs at least once whenever it is reached, though its trips may not be known.
    pub runs: bool,
    /// Whether code in the body can tell the first iteration.
    pub tells_first: bool,
    /// Whether code in the body can tell the last iteration.
    pub tells_last: bool,
}

/// What decides where control goes: whether a bit is set, whether a lower bound is below an upper one, which number
/// a value is. Whoever asks gets the same answer, as long as it is not made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The innermost operation that makes the answer anew each time it, or a region of it, runs; all who ask are
    /// inside. `None` where the answer is there when the function begins.
    pub made_in: Option<InstId>,
}

/// A question as a loop, a branch or the end of a block asks it.
///
/// For each answer there is a *way*. A loop with answer 0 runs, with answer 1 it does not. The way of a branch is
/// the number of its region, that of a block the number of its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// The question.
    pub question: QuestionId,
    /// Whether it is the opposite that is asked: of two answers the other one.
    pub negated: bool,
}

impl Asked {
    /// The way for `answer`, or the answer for a way.
    pub const fn way(self, answer: u32) -> u32 {
        match self.negated {
            true => 1 - (answer & 1),
            false => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(loops: &[usize]) -> Condition {
        Condition::all(Turn::First, loops.iter().map(|&l| InstId::new(l)).collect())
    }

    #[test]
    fn conjunctions_collect_loops_and_constants_fold() {
        assert_eq!(first(&[2]).and(first(&[1])), first(&[1, 2]));
        assert_eq!(first(&[]), Condition::Constant(true));
        assert_eq!(first(&[1]).and(Condition::Constant(true)), first(&[1]));
        assert_eq!(
            first(&[1]).and(Condition::Constant(false)),
            Condition::Constant(false)
        );
        assert_eq!(first(&[1]).and(first(&[2]).opposite()), Condition::Unknown);
        assert_eq!(
            first(&[1]).opposite().or(first(&[2]).opposite()),
            first(&[1, 2]).opposite()
        );
        let last = Condition::all(Turn::Last, vec![InstId::new(1)]);
        assert_eq!(first(&[1]).and(last), Condition::Unknown);
    }

    #[test]
    fn a_condition_holds_as_far_as_its_loops_are_known() {
        let at = |inst: InstId, turn| match (inst.index(), turn) {
            (1, Turn::First) => Some(true),
            (2, Turn::First) => Some(false),
            _ => None,
        };
        assert_eq!(first(&[1]).holds(at), Some(true));
        assert_eq!(first(&[1, 2]).holds(at), Some(false));
        assert_eq!(first(&[1, 3]).holds(at), None);
        assert_eq!(first(&[2, 3]).opposite().holds(at), Some(true));
        assert_eq!(Condition::Unknown.holds(at), None);
    }
}
