//! Decisions: per cluster who gets START or ACCUMULATE, per member STOP, its region and memsets.
//!
//! In the words of [`super`]: the *head* of a cluster is its first matmul, *harm* is what its START
//! may reach (the merged window times its column group), *cover* what it reaches for certain (the
//! merged window times its own destination's partitions).

use pto_ir::{AccFlags, Interval, Target};

use super::chains::Chains;
use super::clusters::Components;
use super::geometry::{Geometry, NONE};
use super::problem::{BlockProblem, Member};
use super::{Options, Stop};

/// How the cells of a cluster's members begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Decision {
    /// The flags that are there were written by somebody else and stay.
    Keep,
    /// The head STARTs; cells that its START does not clear are cleared by memsets.
    Start,
    /// The head STARTs over zeros that another engine wrote and that nothing else needs.
    StartOverZeros,
    /// Every member carries ACCUMULATE: all chains add onto what is there.
    Accumulate,
    /// No flag: all chains add onto what is there.
    AddOntoData,
    /// No START is possible: memsets clear what has to be overwritten.
    Clear,
}

/// One cluster.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    /// Its component.
    pub component: u32,
    /// Its first matmul.
    pub head: u32,
    /// Its last matmul.
    pub tail: u32,
    /// Banks of the merged window.
    pub banks: Interval,
    /// Number of chains.
    pub chains: u32,
    /// The first member without explicit flags, or [`NONE`].
    pub first_auto: u32,
    /// Data that began before the head and is live in harm, or [`NONE`].
    pub blocker: u32,
    /// What to do.
    pub decision: Decision,
    /// All chains add onto seeds alone.
    all_seeded: bool,
    /// Some chain has a seed.
    any_seed: bool,
    /// Some chain adds onto data that is not zero, or onto a sum from another block.
    any_data: bool,
    /// Every write of zeros that seeds a chain lies within the head's destination.
    head_takes_seeds: bool,
}

impl Cluster {
    /// A cluster that begins with the matmul `head`.
    pub(super) fn new(component: u32, head: u32, banks: Interval) -> Self {
        Self {
            component,
            head,
            tail: head,
            banks,
            chains: 0,
            first_auto: NONE,
            blocker: NONE,
            decision: Decision::Keep,
            all_seeded: true,
            any_seed: false,
            any_data: false,
            head_takes_seeds: true,
        }
    }

    /// Adds the next matmul.
    pub(super) fn add(&mut self, index: u32, member: &Member) {
        self.tail = index;
        if self.first_auto == NONE && member.flags.is_none() {
            self.first_auto = index;
        }
    }
}

/// Cells of a member to clear before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Clear {
    /// All of them.
    Whole,
    /// Those of these classes, ascending.
    Classes(Vec<u32>),
}

/// What the members of one block get.
#[derive(Debug, Default)]
pub(super) struct Decisions {
    /// The clusters, by head.
    pub clusters: Vec<Cluster>,
    /// By member: its cluster.
    pub cluster_of: Vec<u32>,
    /// By member: its flags; `None` leaves the member alone.
    pub flags: Vec<Option<(AccFlags, u8)>>,
    /// Members with cells to clear before them, ascending.
    pub clears: Vec<(u32, Clear)>,
}

/// Everything the decisions of a block rest on.
pub(super) struct Facts<'a> {
    pub problem: &'a BlockProblem,
    pub geometry: &'a Geometry,
    pub chains: &'a Chains,
    pub components: &'a Components,
    /// By object: its index among the components' objects, or [`NONE`].
    pub extent_of: &'a [u32],
    pub target: &'static Target,
}

impl Facts<'_> {
    /// The component of a chain or of data.
    fn component_of(&self, object: u32) -> u32 {
        self.components.of[self.extent_of[object as usize] as usize]
    }
}

/// Decides everything about one block.
pub(super) fn decide(facts: &Facts<'_>, options: &Options) -> Decisions {
    let mut decisions = gather(facts);
    inspect_chains(facts, &mut decisions.clusters);
    inspect_data(facts, &mut decisions.clusters);
    for cluster in &mut decisions.clusters {
        cluster.decision = choose(facts, cluster);
    }
    let stops = stops(facts, &decisions, options.stop);
    let codes = region_codes(facts);
    for member in 0..facts.problem.members.len() as u32 {
        let cluster = &decisions.clusters[decisions.cluster_of[member as usize] as usize];
        let chain = facts.chains.chain_of[member as usize] as usize;
        let code = codes.get(chain).copied().unwrap_or(0);
        let flags = decide_member(facts, cluster, member, code, stops[member as usize]);
        if let Some(clear) = clears(facts, cluster, member) {
            decisions.clears.push((member, clear));
        }
        decisions.flags.push(flags);
    }
    decisions
}

/// By chain: the code of its own window. Empty where there is only one code.
fn region_codes(facts: &Facts<'_>) -> Vec<u8> {
    if facts.target.max_zero_region_code == 0 {
        return Vec::new();
    }
    let objects = facts.chains.objects.iter();
    objects
        .map(|object| facts.geometry.window(object.banks).code)
        .collect()
}

/// The clusters with their members, in order of their heads.
fn gather(facts: &Facts<'_>) -> Decisions {
    let mut decisions = Decisions {
        cluster_of: Vec::with_capacity(facts.problem.members.len()),
        flags: Vec::with_capacity(facts.problem.members.len()),
        ..Decisions::default()
    };
    let mut cluster_of_component = vec![NONE; facts.components.extents.len()];
    let mut cluster_of_chain = vec![NONE; facts.chains.objects.len()];
    for (index, member) in facts.problem.members.iter().enumerate() {
        let chain = facts.chains.chain_of[index];
        let mut cluster = cluster_of_chain[chain as usize];
        if cluster == NONE {
            let component = facts.component_of(chain);
            let slot = &mut cluster_of_component[component as usize];
            if *slot == NONE {
                *slot = decisions.clusters.len() as u32;
                let banks = facts.components.extents[component as usize].banks;
                let new = Cluster::new(component, index as u32, banks);
                decisions.clusters.push(new);
            }
            cluster = *slot;
            cluster_of_chain[chain as usize] = cluster;
        }
        decisions.clusters[cluster as usize].add(index as u32, member);
        decisions.cluster_of.push(cluster);
    }
    decisions
}

/// The position of a cluster in the list of clusters, by component. Components without a chain have
/// none.
fn cluster_of_component(facts: &Facts<'_>, clusters: &[Cluster]) -> Vec<u32> {
    let mut result = vec![NONE; facts.components.extents.len()];
    for (index, cluster) in clusters.iter().enumerate() {
        result[cluster.component as usize] = index as u32;
    }
    result
}

fn inspect_chains(facts: &Facts<'_>, clusters: &mut [Cluster]) {
    let cluster_of = cluster_of_component(facts, clusters);
    for (index, object) in facts.chains.objects.iter().enumerate() {
        let extent = facts.extent_of[index];
        if !object.is_chain() || extent == NONE {
            continue;
        }
        let component = facts.components.of[extent as usize];
        let cluster = &mut clusters[cluster_of[component as usize] as usize];
        cluster.chains += 1;
        cluster.all_seeded &= object.is_seeded();
        cluster.any_seed |= object.has_seed();
        cluster.any_data |= object.data_seeded || object.sum_seeded;
    }
}

/// Finds the data that stands in the way of each head.
fn inspect_data(facts: &Facts<'_>, clusters: &mut [Cluster]) {
    let cluster_of = cluster_of_component(facts, clusters);
    for (index, object) in facts.chains.objects.iter().enumerate() {
        if object.is_chain() {
            continue;
        }
        let component = facts.components.of[facts.extent_of[index] as usize];
        let Some(cluster) = clusters.get_mut(cluster_of[component as usize] as usize) else {
            continue;
        };
        let head = &facts.problem.members[cluster.head as usize];
        if object.seeds {
            cluster.head_takes_seeds &= takes(facts, head.shape, object.shape, object.banks);
        }
        let is_live = object.first < head.pos && head.pos <= object.last;
        let is_seed_of_lone_chain = object.seeds && cluster.chains == 1;
        let is_in_reach = object.strips & head.group != 0;
        if is_live && is_in_reach && cluster.blocker == NONE {
            cluster.blocker = index as u32;
        }
        // The zeros a lone chain adds onto are no other data: its START replaces them.
        if is_live && is_in_reach && !is_seed_of_lone_chain {
            cluster.head_takes_seeds = false;
        }
    }
}

/// Whether the cells of a write in the banks `banks` are cells of the head.
fn takes(facts: &Facts<'_>, head: u32, data: u32, banks: Interval) -> bool {
    if data == NONE {
        return false;
    }
    let geometry = facts.geometry;
    let mut own = geometry.classes(head).iter();
    head == data
        || geometry
            .classes(data)
            .iter()
            .filter(|&&class| banks.contains(geometry.class(class).bank))
            .all(|class| own.any(|candidate| candidate == class))
}

fn choose(facts: &Facts<'_>, cluster: &Cluster) -> Decision {
    if cluster.first_auto == NONE {
        return Decision::Keep;
    }
    let has_accumulate = facts.target.has_accumulate;
    if cluster.all_seeded {
        if has_accumulate {
            return Decision::Accumulate;
        }
        if cluster.chains == 1 && !cluster.any_data && cluster.head_takes_seeds {
            return Decision::StartOverZeros;
        }
    }
    let head = &facts.problem.members[cluster.head as usize];
    let head_begins =
        facts.chains.begins_of(cluster.head).len() == facts.geometry.classes(head.shape).len();
    if head_begins && cluster.blocker == NONE && !(has_accumulate && cluster.any_seed) {
        return Decision::Start;
    }
    if cluster.all_seeded {
        Decision::AddOntoData
    } else {
        Decision::Clear
    }
}

/// By member: whether some of its cells are written by no later member of its chain. With
/// [`Stop::Cluster`]: whether it is the last of its cluster.
fn stops(facts: &Facts<'_>, decisions: &Decisions, stop: Stop) -> Vec<bool> {
    let members = &facts.problem.members;
    let mut result = vec![false; members.len()];
    if stop == Stop::Cluster {
        for cluster in &decisions.clusters {
            result[cluster.tail as usize] = true;
        }
        return result;
    }
    // By class: the chain whose members write it later, as far as seen from the end.
    let mut later = vec![NONE; facts.geometry.class_count()];
    let mut next_of_chain = vec![NONE; facts.chains.objects.len()];
    let mut next = vec![NONE; members.len()];
    let mut last_of_chain = vec![NONE; facts.chains.objects.len()];
    for index in (0..members.len()).rev() {
        let chain = facts.chains.chain_of[index];
        // Where a region adds to the value later, no member is the last.
        let is_open = members[index].pos <= facts.chains.objects[chain as usize].added_at;
        let follower = std::mem::replace(&mut next_of_chain[chain as usize], index as u32);
        next[index] = follower;
        if follower == NONE {
            last_of_chain[chain as usize] = index as u32;
        }
        let shape = members[index].shape;
        if follower != NONE && members[follower as usize].shape == shape {
            continue;
        }
        for &class in facts.geometry.classes(shape) {
            let seen = std::mem::replace(&mut later[class as usize], chain);
            // Chains of two buffers may take turns on one cell: the one seen last is not all.
            let may_hide = seen != chain
                && seen != NONE
                && last_of_chain[chain as usize] > facts.chains.objects[seen as usize].member;
            let is_written_later =
                seen == chain || (may_hide && writes_later(facts, &next, index, class));
            result[index] |= !is_written_later && !is_open;
        }
    }
    result
}

/// Whether a later member of the chain of `member` writes `class`.
fn writes_later(facts: &Facts<'_>, next: &[u32], member: usize, class: u32) -> bool {
    let mut follower = next[member];
    while follower != NONE {
        let shape = facts.problem.members[follower as usize].shape;
        if facts.geometry.classes(shape).binary_search(&class).is_ok() {
            return true;
        }
        follower = next[follower as usize];
    }
    false
}

/// The flags and the region of one member; `None` leaves it alone. `own_region` is the code of its
/// chain's window.
fn decide_member(
    facts: &Facts<'_>,
    cluster: &Cluster,
    member: u32,
    own_region: u8,
    stops: bool,
) -> Option<(AccFlags, u8)> {
    let (opening, region) = match cluster.decision {
        Decision::Keep => return keep(facts, cluster, member, own_region),
        Decision::Start | Decision::StartOverZeros if member == cluster.head => {
            (AccFlags::START, facts.geometry.window(cluster.banks).code)
        }
        // A sum that goes on may have a predicate for its first matmul to START.
        Decision::Accumulate | Decision::Clear if continues(facts, member) => {
            (AccFlags::NONE, own_region)
        }
        Decision::Accumulate => (AccFlags::ACCUMULATE, own_region),
        Decision::Clear if facts.target.has_accumulate => (AccFlags::ACCUMULATE, own_region),
        _ => (AccFlags::NONE, own_region),
    };
    let closing = if stops {
        AccFlags::STOP
    } else {
        AccFlags::NONE
    };
    Some((opening.with(closing), region))
}

/// Whether the chain of `member` only goes on with a sum that other blocks began.
fn continues(facts: &Facts<'_>, member: u32) -> bool {
    let chain = facts.chains.chain_of[member as usize];
    let object = &facts.chains.objects[chain as usize];
    object.sum_seeded && !object.has_seed()
}

/// Explicit flags stay; a region that was left out and is not 0 is filled in.
fn keep(
    facts: &Facts<'_>,
    cluster: &Cluster,
    member: u32,
    own_region: u8,
) -> Option<(AccFlags, u8)> {
    let facts_of_member = &facts.problem.members[member as usize];
    let flags = facts_of_member.flags?;
    let region = if flags.starts() {
        facts.geometry.window(cluster.banks).code
    } else {
        own_region
    };
    (facts_of_member.region.is_none() && region != 0).then_some((flags, region))
}

/// The cells that have to be cleared right before `member`.
fn clears(facts: &Facts<'_>, cluster: &Cluster, member: u32) -> Option<Clear> {
    let begins = facts.chains.begins_of(member);
    if begins.is_empty() {
        return None;
    }
    let head = &facts.problem.members[cluster.head as usize];
    let has_start = match cluster.decision {
        Decision::Start if member == cluster.head => return None,
        Decision::Start => true,
        Decision::Clear => false,
        _ => return None,
    };
    let covered = facts.geometry.shape(head.shape).partitions;
    let is_cleared_by_start = |class: u32, written: u32| {
        has_start && written < head.pos && covered.covers(facts.geometry.class(class).slab)
    };
    let mut classes: Vec<u32> = Vec::new();
    for begin in begins {
        if !begin.is_zero && !is_cleared_by_start(begin.class, begin.written) {
            classes.push(begin.class);
        }
    }
    let shape = facts.problem.members[member as usize].shape;
    let begins_all = begins.len() == facts.geometry.classes(shape).len();
    match (classes.is_empty(), begins_all) {
        (true, _) => None,
        (false, true) => Some(Clear::Whole),
        (false, false) => Some(Clear::Classes(classes)),
    }
}
