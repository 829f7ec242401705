//! The checker: who holds each cell, followed along the accesses, without lives.
//!
//! An access by another buffer than the one that holds the cells takes them. A buffer that was
//! accessed before, in the same life, must still hold its cells. What an operation with regions
//! accesses of buffers from around it is claimed before its regions and must be held after them, so
//! that any number of iterations and any path is covered; so is, for a region with branches, what
//! several of its blocks access.

use std::collections::BTreeMap;

use pto_ir::{
    Alloc, AllocId, BlockId, InstId, Interval, Op, Origin, Plan, Program, RegionId, Space, Target,
    ZeroWindow,
};

use super::Options;

/// Whether `plan` gives every open buffer of `program` a place that is right.
pub(super) fn check(
    program: &Program,
    target: &'static Target,
    options: &Options,
    plan: &Plan,
) -> Result<(), String> {
    let is_open = |alloc: &Alloc| alloc.space == Space::Psum && alloc.placement.is_none();
    let open: Vec<bool> = program.allocs().iter().map(is_open).collect();
    let mut is_placed = vec![false; open.len()];
    for &(alloc, _) in &plan.placements {
        if !open[alloc.index()] || is_placed[alloc.index()] {
            return Err(format!("{alloc:?} is placed without need"));
        }
        is_placed[alloc.index()] = true;
    }
    if is_placed != open {
        return Err("a buffer is left without a place".to_owned());
    }
    if plan.placements.is_empty() {
        return Ok(());
    }
    let after = plan.applied_to(program);
    places_are_legal(&after, target, options, &is_placed)?;
    Ownership::new(&after, target, options, &is_placed).follow()
}

fn places_are_legal(
    program: &Program,
    target: &Target,
    options: &Options,
    is_new: &[bool],
) -> Result<(), String> {
    let banks = options.banks.unwrap_or(Interval::new(0, target.banks));
    for (index, alloc) in program.allocs().iter().enumerate() {
        let Some(place) = alloc.placement.filter(|_| is_new[index]) else {
            continue;
        };
        let end = place.bank * target.bank_bytes + place.offset + alloc.bytes;
        let last_bank = end.max(1).div_ceil(target.bank_bytes) - 1;
        let crosses = last_bank.max(place.bank) != place.bank && place.offset != 0;
        if !banks.contains(place.bank) || last_bank >= banks.end || crosses {
            return Err(format!("a{index} does not fit at {place:?}"));
        }
        if !target.is_legal_start_partition(place.partition, alloc.partitions) {
            return Err(format!("a{index} may not begin at {}", place.partition));
        }
    }
    for access in program.accesses() {
        let alloc = program.alloc(access.alloc);
        let Some(place) = alloc.placement.filter(|_| is_new[access.alloc.index()]) else {
            continue;
        };
        let first = place.partition + access.partitions.start;
        if !access.partitions.is_empty()
            && !target.is_legal_start_partition(first, access.partitions.len())
        {
            return Err(format!(
                "an access of {:?} may not begin at {first}",
                access.alloc
            ));
        }
    }
    for inst in program.walk() {
        let Some(matmul) = program.inst(inst).matmul() else {
            continue;
        };
        let access = program.access(matmul.dst);
        let alloc = program.alloc(access.alloc);
        let Some(place) = alloc.placement.filter(|_| is_new[access.alloc.index()]) else {
            continue;
        };
        let column = matmul.tile.map_or(0, |tile| tile.col);
        if place.partition + access.partitions.start != column {
            return Err(format!("{inst:?} does not write where its tile begins"));
        }
    }
    Ok(())
}

/// The number that stands for all callees.
const CALLEE: u32 = u32::MAX;

/// A lane, and bytes of it.
type Piece = (u32, Interval);

struct Ownership<'p> {
    program: &'p Program,
    target: &'static Target,
    is_new: &'p [bool],
    /// By buffer: what it takes of each lane.
    pieces: Vec<Vec<Piece>>,
    /// By lane: first byte to end and holder.
    holders: Vec<BTreeMap<u32, (u32, u32)>>,
    /// By buffer: whether it was accessed in its present life.
    is_accessed: Vec<bool>,
    /// By operation: the buffers from around it that are accessed inside.
    inside: Vec<Vec<AllocId>>,
    /// By region with branches: the buffers that have to keep their cells throughout.
    throughout: Vec<Vec<AllocId>>,
    lives_throughout: Vec<bool>,
}

impl<'p> Ownership<'p> {
    fn new(
        program: &'p Program,
        target: &'static Target,
        options: &Options,
        is_new: &'p [bool],
    ) -> Self {
        let allocs = program.allocs().iter();
        let lanes = target.banks * target.partitions / target.quadrant_partitions;
        let mut ownership = Self {
            program,
            target,
            is_new,
            pieces: allocs
                .map(|alloc| pieces(alloc, target, options.pack))
                .collect(),
            holders: (0..lanes).map(|_| BTreeMap::new()).collect(),
            is_accessed: vec![false; program.allocs().len()],
            inside: vec![Vec::new(); program.insts().len()],
            throughout: vec![Vec::new(); program.regions().len()],
            lives_throughout: vec![false; program.allocs().len()],
        };
        for inst in program.walk() {
            for used in program.uses(inst) {
                ownership.register(inst, program.access(used.access).alloc);
            }
        }
        ownership
    }

    /// Enters an access of `alloc` by `inst` in the tables of what is around it.
    fn register(&mut self, inst: InstId, alloc: AllocId) {
        let home = self.program.alloc(alloc).block;
        let region = self.program.block(home).region;
        let mut block = self.program.inst(inst).block;
        while self.program.block(block).region != region {
            let Some(holder) = self.program.holder(block) else {
                return;
            };
            if self.inside[holder.index()].last() != Some(&alloc) {
                self.inside[holder.index()].push(alloc);
            }
            block = self.program.inst(holder).block;
        }
        if block != home && !self.lives_throughout[alloc.index()] {
            self.lives_throughout[alloc.index()] = true;
            self.throughout[region.index()].push(alloc);
        }
    }

    /// Follows the whole function.
    fn follow(mut self) -> Result<(), String> {
        for tables in self.inside.iter_mut().chain(&mut self.throughout) {
            tables.sort_unstable();
            tables.dedup();
        }
        let arguments = self.program.allocs().iter().enumerate();
        let filled = arguments
            .filter(|(_, alloc)| matches!(alloc.origin, Origin::Argument { fresh: false, .. }))
            .map(|(index, _)| AllocId::new(index));
        for alloc in filled.collect::<Vec<_>>() {
            self.access(alloc)?;
        }
        let mut pending = Vec::new();
        if self.program.body().is_some() {
            self.enter(RegionId::new(0), &mut pending)?;
        }
        while let Some(step) = pending.pop() {
            match step {
                Step::Entries(block, at) => self.entry(block, at, &mut pending)?,
                Step::Region(region) => self.enter(region, &mut pending)?,
                Step::Hold(inst) => self.all_hold(&self.inside[inst.index()])?,
                Step::HoldThroughout(region) => {
                    self.all_hold(&self.throughout[region.index()])?;
                }
            }
        }
        let escaping = (0..self.pieces.len())
            .map(AllocId::new)
            .filter(|&alloc| self.is_accessed[alloc.index()] && self.program.alloc(alloc).escapes);
        self.all_hold(&escaping.collect::<Vec<_>>())
    }

    fn enter(&mut self, region: RegionId, pending: &mut Vec<Step>) -> Result<(), String> {
        for alloc in self.throughout[region.index()].clone() {
            self.access(alloc)?;
        }
        pending.push(Step::HoldThroughout(region));
        let blocks = self.program.region(region).blocks.iter().rev();
        pending.extend(blocks.map(|&block| Step::Entries(block, 0)));
        Ok(())
    }

    fn entry(&mut self, block: BlockId, at: usize, pending: &mut Vec<Step>) -> Result<(), String> {
        let Some(&id) = self.program.block(block).insts.get(at) else {
            return Ok(());
        };
        pending.push(Step::Entries(block, at + 1));
        match &self.program.inst(id).op {
            Op::Alloc(alloc) if !self.lives_throughout[alloc.index()] => {
                self.is_accessed[alloc.index()] = false;
            }
            Op::Region { regions, .. } => {
                for alloc in self.inside[id.index()].clone() {
                    self.access(alloc)?;
                }
                pending.push(Step::Hold(id));
                pending.extend(regions.iter().rev().map(|&region| Step::Region(region)));
            }
            Op::Call { banks: Some(mask) } => self.call(id, *mask),
            _ => {}
        }
        for used in self.program.uses(id) {
            self.access(self.program.access(used.access).alloc)?;
        }
        Ok(())
    }

    /// An access of `alloc`: it must hold its cells if it was accessed before, and takes them.
    fn access(&mut self, alloc: AllocId) -> Result<(), String> {
        if self.is_accessed[alloc.index()] {
            self.holds(alloc)?;
        }
        self.is_accessed[alloc.index()] = true;
        for index in 0..self.pieces[alloc.index()].len() {
            let (lane, bytes) = self.pieces[alloc.index()][index];
            self.claim(lane, bytes, alloc.index() as u32);
        }
        Ok(())
    }

    fn all_hold(&self, allocs: &[AllocId]) -> Result<(), String> {
        allocs.iter().try_for_each(|&alloc| self.holds(alloc))
    }

    /// Whether nothing took cells of `alloc`, apart from what was placed before, like `alloc` itself.
    fn holds(&self, alloc: AllocId) -> Result<(), String> {
        for &(lane, bytes) in &self.pieces[alloc.index()] {
            let inside = self.holders[lane as usize].range(..bytes.end).rev();
            for (_, &(end, holder)) in inside.take_while(|&(_, &(end, _))| end > bytes.start) {
                let is_ours = holder == alloc.index() as u32;
                let is_old = holder != CALLEE && !self.is_new[holder as usize];
                if !is_ours && (self.is_new[alloc.index()] || (holder != CALLEE && !is_old)) {
                    return Err(format!(
                        "{alloc:?} lost bytes up to {end} of lane {lane} to {holder}"
                    ));
                }
            }
        }
        Ok(())
    }

    fn claim(&mut self, lane: u32, bytes: Interval, holder: u32) {
        let held = &mut self.holders[lane as usize];
        let hit: Vec<(u32, (u32, u32))> = held
            .range(..bytes.end)
            .rev()
            .take_while(|&(_, &(end, _))| end > bytes.start)
            .map(|(&start, &rest)| (start, rest))
            .collect();
        for (start, (end, other)) in hit {
            held.remove(&start);
            if start < bytes.start {
                held.insert(start, (bytes.start, other));
            }
            if end > bytes.end {
                held.insert(bytes.end, (end, other));
            }
        }
        held.insert(bytes.start, (bytes.end, holder));
    }

    /// A callee takes what the call is not given of its banks.
    fn call(&mut self, call: InstId, mask: u32) {
        let quadrants = self.target.partitions / self.target.quadrant_partitions;
        let given: Vec<u32> = self
            .program
            .uses(call)
            .iter()
            .map(|used| self.program.access(used.access).alloc.index() as u32)
            .collect();
        for lane in 0..self.holders.len() as u32 {
            if mask >> (lane / quadrants) & 1 == 1 {
                for (_, holder) in self.holders[lane as usize].values_mut() {
                    if !given.contains(holder) {
                        *holder = CALLEE;
                    }
                }
            }
        }
    }
}

/// What is still to be followed.
enum Step {
    /// The entries of a block from a position on.
    Entries(BlockId, usize),
    Region(RegionId),
    /// After an operation with regions.
    Hold(InstId),
    /// After a region.
    HoldThroughout(RegionId),
}

/// What a placed buffer takes of each lane: its cells, or all of its window.
fn pieces(alloc: &Alloc, target: &Target, packed: bool) -> Vec<Piece> {
    let (Some(place), Some(first), Space::Psum) = (
        alloc.placement,
        alloc.first_byte(target.bank_bytes),
        alloc.space,
    ) else {
        return Vec::new();
    };
    let mut bytes = Interval::new(first, first + alloc.bytes);
    let mut partitions = Interval::new(place.partition, place.partition + alloc.partitions);
    if !packed {
        partitions = Interval::new(0, target.partitions);
        let (low, high) = (
            first / target.bank_bytes,
            (bytes.end.max(first + 1) - 1) / target.bank_bytes,
        );
        let code = target.max_zero_region_code;
        let window = ZeroWindow::covering(low, high, target.banks, code);
        let banks = window.map_or(Interval::new(low, high + 1), ZeroWindow::banks);
        bytes = Interval::new(
            banks.start * target.bank_bytes,
            banks.end * target.bank_bytes,
        );
    }
    let per_bank = target.partitions / target.quadrant_partitions;
    let in_bank = |bank: u32| {
        let part = bytes.intersection(Interval::new(
            bank * target.bank_bytes,
            (bank + 1) * target.bank_bytes,
        ));
        let quadrants = target.quadrants(partitions);
        (quadrants.start..quadrants.end).map(move |quadrant| (bank * per_bank + quadrant, part))
    };
    (0..target.banks)
        .flat_map(in_bank)
        .filter(|(_, part)| !part.is_empty())
        .collect()
}
