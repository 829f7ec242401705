//! Where the refined graph tells apart whether loops run: those that others have the bounds of, and those
//! that are reached again and again with the same ones.

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

/// The first loops of which one is repeated by an operation that does not make its bounds anew.
fn repeated(program: &Program) -> BTreeSet<InstId> {
    let is_repeated = |&(id, bounds): &(InstId, Bounds)| {
        let mut around = program.holder(program.inst(id).block);
        while let Some(holder) = around.filter(|&holder| Some(holder) != bounds.vary_in) {
            if let Op::Region { kind, .. } = &program.inst(holder).op
                && !matches!(kind, RegionKind::If | RegionKind::IndexSwitch)
            {
                return true;
            }
            around = program.holder(program.inst(holder).block);
        }
        false
    };
    let found = open_loops(program).filter(is_repeated);
    found.map(|(_, bounds)| bounds.like).collect()
}

/// The forks for bounds that several loops have, or one that is repeated, at most `at_most` in a region.
/// None where there are jumps.
pub(super) fn forks(program: &Program, at_most: usize) -> Forks {
    let mut forks = Forks::new();
    if program
        .blocks()
        .iter()
        .any(|block| !block.successors.is_empty())
    {
        return forks;
    }
    let mut all = shared_bounds(program);
    all.append(&mut repeated(program));
    for like in all {
        let vary_in = program.bounds(like).and_then(|bounds| bounds.vary_in);
        let known = forks.entry(vary_in).or_default();
        if known.len() < at_most {
            known.push(like);
        }
    }
    forks
}
