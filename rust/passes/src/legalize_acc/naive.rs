//! `profile=naive`: the bare rule, for comparison and teaching.
//!
//! Groups are identical accesses, whatever lies between them. Clusters are what shares a zero window
//! and partitions, whenever that is. The head of a cluster STARTs, its tail STOPs; with the
//! ACCUMULATE bit, every member carries it instead where a single write of another engine covers
//! every group before it begins. No memsets, no ordering edges.
//!
//! Partitions are compared as quadrants of the destinations where no matmul of the block has a tile,
//! and as column groups otherwise.
//!
//! The rule is unsound: it is wrong on every plain reuse of a bank, because time plays no part in
//! it.

use pto_ir::{AccFlags, Interval, Program, Target};
use rustc_hash::FxHashMap;

use super::clusters::{self, Extent};
use super::flags::{Cluster, Decision, Decisions};
use super::geometry::{Geometry, NONE};
use super::problem::{Action, BlockProblem};

/// Matmuls with one destination.
struct Group {
    banks: Interval,
    strips: u8,
    is_seeded: bool,
}

/// The flags of one block by the bare rule.
pub(super) fn decide(
    program: &Program,
    target: &'static Target,
    geometry: &Geometry,
    problem: &BlockProblem,
) -> Decisions {
    let (groups, group_of) = groups(program, geometry, problem);
    let extents: Vec<Extent> = groups
        .iter()
        .map(|group| Extent {
            first: 0,
            last: 0,
            banks: group.banks,
            strips: group.strips,
        })
        .collect();
    let components = clusters::components(extents, target);
    let mut decisions = Decisions::default();
    let mut is_seeded = vec![true; components.extents.len()];
    for (group, &component) in groups.iter().zip(&components.of) {
        is_seeded[component as usize] &= group.is_seeded;
    }
    let mut cluster_of = vec![NONE; components.extents.len()];
    for (index, member) in problem.members.iter().enumerate() {
        let component = components.of[group_of[index] as usize];
        let slot = &mut cluster_of[component as usize];
        if *slot == NONE {
            *slot = decisions.clusters.len() as u32;
            let banks = components.extents[component as usize].banks;
            let mut cluster = Cluster::new(component, index as u32, banks);
            cluster.decision = if target.has_accumulate && is_seeded[component as usize] {
                Decision::Accumulate
            } else {
                Decision::Start
            };
            decisions.clusters.push(cluster);
        }
        decisions.clusters[*slot as usize].add(index as u32, member);
        decisions.cluster_of.push(*slot);
    }
    for cluster in &mut decisions.clusters {
        if cluster.first_auto == NONE {
            cluster.decision = Decision::Keep;
        }
    }
    for (index, &cluster) in decisions.cluster_of.iter().enumerate() {
        let cluster = &decisions.clusters[cluster as usize];
        let own = geometry.window(groups[group_of[index] as usize].banks).code;
        let flags = flags(cluster, index as u32, own, geometry);
        decisions.flags.push(flags);
    }
    decisions
}

fn flags(
    cluster: &Cluster,
    member: u32,
    own_region: u8,
    geometry: &Geometry,
) -> Option<(AccFlags, u8)> {
    let (opening, region) = match cluster.decision {
        Decision::Keep => return None,
        Decision::Accumulate => (AccFlags::ACCUMULATE, own_region),
        _ if member == cluster.head => (AccFlags::START, geometry.window(cluster.banks).code),
        _ => (AccFlags::NONE, own_region),
    };
    let closing = if member == cluster.tail {
        AccFlags::STOP
    } else {
        AccFlags::NONE
    };
    Some((opening.with(closing), region))
}

/// The groups by first member, and the group of every member.
fn groups(
    program: &Program,
    geometry: &Geometry,
    problem: &BlockProblem,
) -> (Vec<Group>, Vec<u32>) {
    let has_tile = problem.members.iter().any(|member| {
        program
            .inst(member.inst)
            .matmul()
            .is_some_and(|m| m.tile.is_some())
    });
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of = Vec::with_capacity(problem.members.len());
    let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    // By class: the last write by another engine, and its buffer.
    let mut written = vec![(NONE, NONE); geometry.class_count()];
    for (index, event) in problem.events.iter().enumerate() {
        match event.action {
            Action::Write | Action::WriteZero | Action::MayWrite { .. } | Action::MaySum { .. } => {
                for &class in geometry.classes(event.shape) {
                    written[class as usize] = (index as u32, event.alloc);
                }
            }
            Action::Overwrite | Action::Accumulate => {
                let next = groups.len() as u32;
                let group = *known.entry((event.alloc, event.shape)).or_insert(next);
                if group == next {
                    let mut writers = geometry.classes(event.shape).iter();
                    let first = writers.next().map(|&class| written[class as usize]);
                    let shape = geometry.shape(event.shape);
                    groups.push(Group {
                        banks: shape.banks,
                        strips: geometry.strips_of(shape.quadrants),
                        is_seeded: first
                            .is_some_and(|(writer, alloc)| writer != NONE && alloc == event.alloc)
                            && writers.all(|&class| Some(written[class as usize]) == first),
                    });
                }
                if has_tile {
                    groups[group as usize].strips |= problem.members[event.member as usize].group;
                }
                group_of.push(group);
            }
            Action::Read | Action::Free | Action::MayAdd | Action::Carry { .. } => {}
        }
    }
    (groups, group_of)
}
