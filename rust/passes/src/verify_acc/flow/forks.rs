//! Where the refined graph tells apart whether loops with equal bounds run.

use std::collections::{BTreeMap, BTreeSet};

use pto_ir::{Bounds, InstId, Op, Program, RegionKind};

/// By the operation whose regions make their bounds anew, or the function: the first loops with these
/// bounds. Whether they run is told apart from there on.
pub(super) type Forks = BTreeMap<Option<InstId>, Vec<InstId>>;

/// The most such bounds of one region: each doubles it.
pub(super) const MAX_FORKS: usize = 4;

/// The loops of which it is not known how often they run, with what is known of their bounds.
fn open_loops(program: &Program) -> impl Iterator<Item = (InstId, Bounds)> {
    let insts = program.insts().iter().enumerate();
    let open = insts.filter(|(_, inst)| {
        matches!(
            inst.op,
            Op::Region {
                kind: RegionKind::For { trips: None },
                ..
            }
        )
    });
    open.filter_map(|(index, _)| {
        let id = InstId::new(index);
        Some((id, program.bounds(id)?))
    })
}

/// The first loops of which others have the bounds.
pub(super) fn shared_bounds(program: &Program) -> BTreeSet<InstId> {
    let others = open_loops(program).filter(|(id, bounds)| *id != bounds.like);
    others.map(|(_, bounds)| bounds.like).collect()
}

/// The forks for bounds of several loops, at most `at_most` in a region. None where there are jumps.
pub(super) fn forks(program: &Program, at_most: usize) -> Forks {
    let mut forks = Forks::new();
    if program
        .blocks()
        .iter()
        .any(|block| !block.successors.is_empty())
    {
        return forks;
    }
    for like in shared_bounds(program) {
        let vary_in = program.bounds(like).and_then(|bounds| bounds.vary_in);
        let known = forks.entry(vary_in).or_default();
        if known.len() < at_most {
            known.push(like);
        }
    }
    forks
}
