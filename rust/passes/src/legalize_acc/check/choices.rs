//! Loops of which it is not known whether they run, and where that is decided.

use pto_ir::{Asked, InstId, Op, Program, RegionKind};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The most loops that are decided at one place: each doubles what is replayed.
const MAX_CHOICES: usize = 2;

/// Whether a loop runs is the same in all iterations of the loops around it that leave its bounds alone: it is
/// decided where the outermost of these is entered.
pub(super) struct Choices {
    /// By loop: what those inside it ask.
    at: FxHashMap<InstId, SmallVec<[Asked; MAX_CHOICES]>>,
}

impl Choices {
    /// `None` where too much hangs on one loop.
    pub(super) fn of(program: &Program) -> Option<Self> {
        let mut at: FxHashMap<InstId, SmallVec<[Asked; MAX_CHOICES]>> = FxHashMap::default();
        let open = (0..program.insts().len()).map(InstId::new);
        for holder in open.filter(|&inst| is_open(program, inst)) {
            let outermost = outermost(program, holder);
            let Some(asked) = program.asks(holder).filter(|_| outermost != holder) else {
                continue;
            };
            let known = at.entry(outermost).or_default();
            if !known.iter().any(|known| known.question == asked.question) {
                known.push(asked);
            }
            if known.len() > MAX_CHOICES {
                return None;
            }
        }
        Some(Self { at })
    }

    /// What is decided where `holder` is entered.
    pub(super) fn at(&self, holder: InstId) -> SmallVec<[Asked; MAX_CHOICES]> {
        self.at.get(&holder).cloned().unwrap_or_default()
    }
}

/// Whether `inst` is a loop that may not run.
fn is_open(program: &Program, inst: InstId) -> bool {
    let kind = RegionKind::For { trips: None };
    matches!(&program.inst(inst).op, Op::Region { kind: found, .. } if *found == kind)
}

/// The outermost operation around the loop `holder`, or itself, that leaves its bounds alone.
fn outermost(program: &Program, holder: InstId) -> InstId {
    let Some(bounds) = program.bounds(holder) else {
        return holder;
    };
    let mut outermost = holder;
    while let Some(around) = program.holder(program.inst(outermost).block)
        && bounds.vary_in != Some(around)
    {
        outermost = around;
    }
    outermost
}
