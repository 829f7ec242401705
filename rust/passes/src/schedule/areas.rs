//! Which accesses meet: the places of all accesses of a program, and who overlaps whom.

use std::collections::{BTreeMap, HashMap};

use pto_ir::{
    AccessId, Alloc, AllocId, Interval, Matmul, Program, Space, Target, ZeroWindow,
    interval::spans_overlap,
};

/// An access, or the zero region of a matmul, as an index.
pub(super) type AreaId = u32;

/// Overlaps that one memory may have, for each of its areas, before it counts as a single area.
const MAX_OVERLAPS: usize = 64;

/// Buffers of one space that may be the same memory, before they count as one.
const MAX_RIVALS: usize = 32;

/// A rectangle set of one memory.
struct Area {
    memory: u32,
    partitions: Interval,
    /// Ascending and disjoint.
    spans: Vec<Interval>,
}

impl Area {
    fn hull(&self) -> Interval {
        match (self.spans.first(), self.spans.last()) {
            (Some(first), Some(last)) => Interval::new(first.start, last.end),
            _ => Interval::new(0, 0),
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.partitions.overlaps(other.partitions) && spans_overlap(&self.spans, &other.spans)
    }

    fn covers(&self, other: &Self) -> bool {
        let holds = |span: &Interval| self.spans.iter().any(|own| own.covers(*span));
        self.partitions.covers(other.partitions) && other.spans.iter().all(holds)
    }
}

/// A neighbour of an area.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlap {
    pub(super) area: AreaId,
    /// Whether the neighbour lies inside.
    pub(super) is_covered: bool,
}

/// The areas of a program. The first ones are its accesses, by their ids.
pub(super) struct Areas {
    /// By area: those it meets, itself included; none if it is empty.
    overlaps: Vec<Vec<Overlap>>,
    /// By area: (bank, quadrant) lanes of PSUM, where it is placed.
    lanes: Vec<Vec<u32>>,
    regions: HashMap<(ZeroWindow, Interval), AreaId>,
    wholes: HashMap<AllocId, AreaId>,
    /// Buffers that may be the same memory, by their numbers: those that each may be.
    rivals: Vec<Vec<u32>>,
    /// By area: the number of its buffer there, if it has one.
    shared: Vec<Option<u32>>,
}

impl Areas {
    pub(super) fn new(program: &Program, target: &Target) -> Self {
        let mut areas: Vec<Area> = (0..program.accesses().len())
            .map(|index| access_area(program, target, AccessId::new(index)))
            .collect();
        let lanes = areas.iter().map(|area| lanes(area, target)).collect();
        let (mut regions, mut wholes) = (HashMap::new(), HashMap::new());
        for inst in program.insts() {
            match &inst.op {
                pto_ir::Op::Matmul(matmul) => {
                    let Some(key) = zero_region(program, target, matmul) else {
                        continue;
                    };
                    regions.entry(key).or_insert_with(|| {
                        areas.push(region_area(target, key));
                        areas.len() as AreaId - 1
                    });
                }
                pto_ir::Op::Dealloc(alloc) => {
                    wholes.entry(*alloc).or_insert_with(|| {
                        areas.push(whole_area(program, target, *alloc));
                        areas.len() as AreaId - 1
                    });
                }
                _ => {}
            }
        }
        let (numbers, rivals) = rivals(program);
        let number_of = |area: &Area| numbers.get(&area.memory).copied();
        let shared = areas.iter().map(number_of).collect();
        Self {
            overlaps: overlaps(&areas),
            lanes,
            regions,
            wholes,
            rivals,
            shared,
        }
    }

    /// How many numbers there are of buffers that may be the same memory.
    pub(super) fn shared_count(&self) -> usize {
        self.rivals.len()
    }

    /// The number among these of the buffer of `area`.
    pub(super) fn shared(&self, area: AreaId) -> Option<u32> {
        self.shared[area as usize]
    }

    /// Those that the buffer with this number may be.
    pub(super) fn rivals(&self, number: u32) -> &[u32] {
        &self.rivals[number as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.overlaps.len()
    }

    pub(super) fn overlaps(&self, area: AreaId) -> &[Overlap] {
        &self.overlaps[area as usize]
    }

    /// The (bank, quadrant) lanes of an access.
    pub(super) fn lanes(&self, access: AccessId) -> &[u32] {
        &self.lanes[access.index()]
    }

    /// The zero region of a matmul, if it has a place and the target has regions.
    pub(super) fn zero_region(
        &self,
        program: &Program,
        target: &Target,
        matmul: &Matmul,
    ) -> Option<AreaId> {
        let key = zero_region(program, target, matmul)?;
        self.regions.get(&key).copied()
    }

    /// All of a buffer whose life is ended.
    pub(super) fn whole(&self, alloc: AllocId) -> Option<AreaId> {
        self.wholes.get(&alloc).copied()
    }
}

/// The memory that a buffer lies in, and its first partition and byte there. What has no place is a
/// memory of its own.
fn memory_of(alloc: &Alloc, id: AllocId, target: &Target) -> (u32, u32, u32) {
    match (
        alloc.space,
        alloc.placement,
        alloc.first_byte(target.bank_bytes),
    ) {
        (Space::Psum, Some(place), Some(first)) => (0, place.partition, first),
        (Space::Sbuf, Some(place), _) => (1, place.partition, place.offset),
        _ => (own_memory(id), 0, 0),
    }
}

/// The memory of a buffer without a place.
fn own_memory(id: AllocId) -> u32 {
    id.index() as u32 + 2
}

/// Numbers for the buffers that may be the same memory, by that memory, and for each number those that it
/// may be: all others of its space. Where these are many all of a space have one number, and are one.
fn rivals(program: &Program) -> (HashMap<u32, u32>, Vec<Vec<u32>>) {
    let (mut numbers, mut rivals) = (HashMap::new(), Vec::new());
    for space in [Space::Hbm, Space::Sbuf, Space::Psum] {
        let ids = (0..program.allocs().len()).map(AllocId::new);
        let shared: Vec<u32> = ids
            .filter(|&id| program.alloc(id).may_alias && program.alloc(id).space == space)
            .map(own_memory)
            .collect();
        let first = rivals.len() as u32;
        if shared.len() > MAX_RIVALS {
            numbers.extend(shared.iter().map(|&memory| (memory, first)));
            rivals.push(vec![first]);
            continue;
        }
        let all = first..first + shared.len() as u32;
        numbers.extend(shared.iter().copied().zip(all.clone()));
        rivals.extend(
            all.clone()
                .map(|own| all.clone().filter(|&other| other != own).collect()),
        );
    }
    (numbers, rivals)
}

fn access_area(program: &Program, target: &Target, access: AccessId) -> Area {
    let cells = program.access(access);
    let (memory, partition, byte) = memory_of(program.alloc(cells.alloc), cells.alloc, target);
    let spans = program.bytes(access).iter();
    Area {
        memory,
        partitions: shifted(cells.partitions, partition),
        spans: spans.map(|span| shifted(*span, byte)).collect(),
    }
}

fn whole_area(program: &Program, target: &Target, id: AllocId) -> Area {
    let alloc = program.alloc(id);
    let (memory, partition, byte) = memory_of(alloc, id, target);
    Area {
        memory,
        partitions: shifted(Interval::new(0, alloc.partitions), partition),
        spans: vec![shifted(Interval::new(0, alloc.bytes), byte)],
    }
}

/// Places may be anything before they are checked: saturate.
fn shifted(interval: Interval, by: u32) -> Interval {
    Interval::new(
        interval.start.saturating_add(by),
        interval.end.saturating_add(by),
    )
}

fn region_area(target: &Target, (window, partitions): (ZeroWindow, Interval)) -> Area {
    let banks = window.banks();
    Area {
        memory: 0,
        partitions,
        spans: vec![Interval::new(
            banks.start * target.bank_bytes,
            banks.end * target.bank_bytes,
        )],
    }
}

/// The banks and partitions that a START of `matmul` would reach.
fn zero_region(
    program: &Program,
    target: &Target,
    matmul: &Matmul,
) -> Option<(ZeroWindow, Interval)> {
    if !target.has_group_flags {
        return None;
    }
    let alloc = program.alloc(program.access(matmul.dst).alloc);
    let byte = alloc.first_byte(target.bank_bytes)?;
    let spans = program.bytes(matmul.dst);
    let first = spans.first()?.start.checked_add(byte)? / target.bank_bytes;
    let last = (spans.last()?.end.checked_add(byte)? - 1) / target.bank_bytes;
    let code = target.max_zero_region_code;
    let smallest = ZeroWindow::covering(first, last, target.banks, code)?;
    let window = match matmul.zero_region {
        Some(code) if code <= target.max_zero_region_code => ZeroWindow::of_bank(first, code),
        _ => smallest,
    };
    Some((window, matmul.column_group(target)))
}

/// The (bank, quadrant) pairs of an area of placed PSUM.
fn lanes(area: &Area, target: &Target) -> Vec<u32> {
    if area.memory != 0 {
        return Vec::new();
    }
    let per_bank = target.partitions / target.quadrant_partitions;
    let quadrants = target.quadrants(area.partitions);
    let quadrants = quadrants.start.min(per_bank)..quadrants.end.min(per_bank);
    let mut lanes: Vec<u32> = area
        .spans
        .iter()
        .flat_map(|span| span.start / target.bank_bytes..span.end.div_ceil(target.bank_bytes))
        .filter(|&bank| bank < target.banks)
        .flat_map(|bank| {
            quadrants
                .clone()
                .map(move |quadrant| bank * per_bank + quadrant)
        })
        .collect();
    lanes.dedup();
    lanes
}

/// For every area those it meets, by a sweep over the partitions of each memory.
fn overlaps(areas: &[Area]) -> Vec<Vec<Overlap>> {
    let mut by_memory: Vec<AreaId> = (0..areas.len() as AreaId)
        .filter(|&id| {
            let area = &areas[id as usize];
            !area.partitions.is_empty() && !area.hull().is_empty()
        })
        .collect();
    by_memory.sort_unstable_by_key(|&id| {
        let area = &areas[id as usize];
        (area.memory, area.partitions.start, id)
    });
    let mut result: Vec<Vec<Overlap>> = vec![Vec::new(); areas.len()];
    for members in by_memory.chunk_by(|&a, &b| areas[a as usize].memory == areas[b as usize].memory)
    {
        match pairs(areas, members) {
            Some(pairs) => {
                for &id in members {
                    result[id as usize].push(Overlap {
                        area: id,
                        is_covered: true,
                    });
                }
                for (left, right) in pairs {
                    for (area, other) in [(left, right), (right, left)] {
                        result[area as usize].push(Overlap {
                            area: other,
                            is_covered: areas[area as usize].covers(&areas[other as usize]),
                        });
                    }
                }
            }
            // Too many to tell apart: all of them are as one.
            None => {
                for &id in members {
                    result[id as usize].push(Overlap {
                        area: members[0],
                        is_covered: false,
                    });
                }
            }
        }
    }
    result
}

/// The pairs of different areas of one memory that overlap; `None` if they are too many.
fn pairs(areas: &[Area], members: &[AreaId]) -> Option<Vec<(AreaId, AreaId)>> {
    let limit = MAX_OVERLAPS * (members.len() + MAX_OVERLAPS);
    let widest = members
        .iter()
        .map(|&id| areas[id as usize].hull().len())
        .max()
        .unwrap_or(0);
    // Those whose partitions are not over yet, by the first byte; and by their last partition.
    let mut open: BTreeMap<(u32, AreaId), ()> = BTreeMap::new();
    let mut ends: BTreeMap<(u32, AreaId), ()> = BTreeMap::new();
    let mut found = Vec::new();
    let mut looked_at = 0;
    for &id in members {
        let area = &areas[id as usize];
        while let Some((&(end, over), ())) = ends.first_key_value()
            && end <= area.partitions.start
        {
            ends.pop_first();
            open.remove(&(areas[over as usize].hull().start, over));
        }
        let hull = area.hull();
        let from = hull.start.saturating_sub(widest);
        for (&(_, other), ()) in open.range((from, 0)..(hull.end, 0)) {
            looked_at += 1;
            if looked_at > limit {
                return None;
            }
            if area.overlaps(&areas[other as usize]) {
                found.push((other, id));
            }
        }
        open.insert((hull.start, id), ());
        ends.insert((area.partitions.end, id), ());
    }
    Some(found)
}
