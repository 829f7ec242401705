//! What branches ask of the loops around them: which of those are in their first iteration.
//!
//! ```text
//! for j {
//!   for k {
//!     if j and k are at their first { tmatmul a } else { tmatmul_acc a }     asks for bits 0 and 1
//!     if k is at its first { ... }                                           asks for bit 0
//! ```

use pto_ir::{Condition, InstId, Op, Program, RegionKind, Turn};

/// Which of the loops around are in their first iteration: the nearest one is bit 0, the loop around
/// that bit 1. Loops beyond the last bit that matters may be in any.
pub(super) type Turns = usize;

/// More loops around a branch than these are not told apart.
const MAX_LEVELS: usize = 4;

/// What a branch asks of the loops around it.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    /// The loops that have to be in their first iteration.
    pub loops: Turns,
    /// Whether it takes its first region then, or else.
    takes_first: bool,
}

impl Asked {
    /// How many loops around the branch matter to it.
    pub(super) fn levels(self) -> usize {
        self.loops.ilog2() as usize + 1
    }

    /// The region that it takes.
    pub(super) fn taken(self, turns: Turns) -> usize {
        let is_first = turns & self.loops == self.loops;
        usize::from(is_first != self.takes_first)
    }
}

/// What `holder` asks of the loops around it, between which and itself only branches and loops lie.
pub(super) fn asks(program: &Program, holder: InstId) -> Option<Asked> {
    let Some(Condition::Loops {
        turn: Turn::First,
        loops,
        negated,
    }) = program.branch(holder)
    else {
        return None;
    };
    let mut found: Turns = 0;
    let mut level = 0;
    let mut inner = holder;
    while level < MAX_LEVELS && found.count_ones() as usize != loops.len() {
        inner = program.holder(program.inst(inner).block)?;
        match &program.inst(inner).op {
            Op::Region { kind, .. } => match kind {
                RegionKind::For { .. } => {
                    found |= usize::from(loops.contains(&inner)) << level;
                    level += 1;
                }
                RegionKind::If | RegionKind::IndexSwitch => {}
                RegionKind::While | RegionKind::Other => return None,
            },
            _ => return None,
        }
    }
    let is_whole = found.count_ones() as usize == loops.len();
    is_whole.then_some(Asked {
        loops: found,
        takes_first: !negated,
    })
}

/// The region that the branch or switch `holder` takes whenever it is reached, by its place among them: what it
/// asks is a constant, or branches around it and loops that run once leave but one answer.
pub(super) fn choice(program: &Program, holder: InstId) -> Option<usize> {
    if let Some(choice) = program.choice(holder) {
        return Some(choice);
    }
    let Op::Region {
        kind: RegionKind::If,
        ..
    } = program.inst(holder).op
    else {
        return None;
    };
    let asked = program.branch(holder)?;
    let Around { first, not_all } = Around::of(program, holder);
    let is_first = |of: &InstId| first.contains(of);
    let is_only_other = |of: InstId, loops: &[InstId]| {
        loops.contains(&of) && loops.iter().all(|other| *other == of || is_first(other))
    };
    let taken = asked.holds(|of, turn| match turn {
        Turn::First if is_first(&of) => Some(true),
        Turn::First if not_all.iter().any(|loops| is_only_other(of, loops)) => Some(false),
        _ => None,
    });
    taken.map(|takes_first| usize::from(!takes_first))
}

/// What holds wherever an operation runs.
#[derive(Default)]
struct Around<'p> {
    /// Loops that are in their first iteration.
    first: Vec<InstId>,
    /// Loops of which one is not.
    not_all: Vec<&'p [InstId]>,
}

impl<'p> Around<'p> {
    fn of(program: &'p Program, inner: InstId) -> Self {
        let mut known = Self::default();
        let mut block = program.inst(inner).block;
        while let Some(around) = program.holder(block) {
            let region = program.block(block).region;
            block = program.inst(around).block;
            let Op::Region { kind, regions } = &program.inst(around).op else {
                continue;
            };
            match (kind, program.branch(around)) {
                (RegionKind::For { trips: Some(1) }, _) => known.first.push(around),
                (
                    RegionKind::If,
                    Some(Condition::Loops {
                        turn: Turn::First,
                        loops,
                        negated,
                    }),
                ) if (regions.first() == Some(&region)) != *negated => {
                    known.first.extend_from_slice(loops);
                }
                (
                    RegionKind::If,
                    Some(Condition::Loops {
                        turn: Turn::First,
                        loops,
                        ..
                    }),
                ) => known.not_all.push(loops),
                _ => {}
            }
        }
        known
    }
}

/// The loops around `branch` of which it is known whether they are in their first iteration when it
/// runs, and those that are: a branch around it says so, or there is but one iteration.
pub(super) fn known_turns(program: &Program, branch: InstId) -> (Turns, Turns) {
    let (mut known, mut first, mut level) = (0, 0, 0);
    let mut block = program.inst(branch).block;
    while level < MAX_LEVELS
        && let Some(around) = program.holder(block)
        && let Op::Region { kind, regions } = &program.inst(around).op
    {
        match kind {
            RegionKind::For { trips } => {
                let is_once = usize::from(*trips == Some(1)) << level;
                (known, first) = (known | is_once, first | is_once);
                level += 1;
            }
            RegionKind::If | RegionKind::IndexSwitch => {
                let is_then = regions.first() == Some(&program.block(block).region);
                if let Some(Asked { loops, takes_first }) = asks(program, around) {
                    let loops = loops << level;
                    if is_then == takes_first {
                        (known, first) = (known | loops, first | loops);
                    } else if (loops & !first).is_power_of_two() {
                        // All others are: so this one is not.
                        known |= loops;
                    }
                }
            }
            RegionKind::While | RegionKind::Other => break,
        }
        block = program.inst(around).block;
    }
    (known, first)
}
