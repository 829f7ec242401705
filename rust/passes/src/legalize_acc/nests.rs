//! Loop nests whose first iteration starts an accumulation: flags that hold in one iteration.
//!
//! ```text
//! %a = psum_alloc                         predicates, made once:
//! for i {                                   %i0 = i == lower bound of i
//!   for k {                                 %first = %i0 and k == lower bound of k
//!     tmatmul_acc %a               ->     acc<none> start_if(%first) stop_if(%last)
//! ```
//!
//! The matmul of the innermost body overwrites in the very first iteration of all loops up to the
//! allocation, and adds in all others. That can be said by a predicate if
//!
//! * there is exactly one block in the nest with matmuls into the buffer, only loops lie between it
//!   and the operation that the allocation's block sees, and no bound of an inner loop depends on an
//!   outer one: else there may be no iteration in which all of them are at their first;
//! * the first of these matmuls overwrites all its cells then, and all cells that are to be
//!   overwritten in the nest are its own;
//! * nobody adds to the sum after a nest that may not run at all;
//! * no other value lives in its zero region while the nest runs, for the START would hit it.
//!
//! Everything else is cleared before the nest.

use pto_ir::{AccFlags, AllocId, InstId, NewPredicate, Op, Program, RegionKind, Target, Turn};
use rustc_hash::FxHashMap;

use super::chains::{Chains, Content, Object};
use super::clusters::window_banks;
use super::geometry::{Geometry, NONE, Strips};
use super::problem::{BlockProblem, Blocks, END};

/// What one nest adds to the plan.
#[derive(Debug, Default)]
pub(super) struct Nest {
    /// New predicates.
    pub predicates: Vec<NewPredicate>,
    /// Flags that hold every time, because all loops of the nest run once.
    pub flags: Vec<(InstId, AccFlags)>,
}

/// Finds nests.
pub(super) struct Nests<'p> {
    program: &'p Program,
    target: &'static Target,
    geometry: &'p Geometry,
    /// By buffer: the matmuls into it that are not in the block of its allocation, in program order.
    members: FxHashMap<u32, Vec<InstId>>,
}

impl<'p> Nests<'p> {
    pub(super) fn new(
        program: &'p Program,
        target: &'static Target,
        geometry: &'p Geometry,
    ) -> Self {
        let mut members: FxHashMap<u32, Vec<InstId>> = FxHashMap::default();
        if program.blocks().len() > 1 {
            for id in program.walk() {
                if let Some(matmul) = program.inst(id).matmul() {
                    let alloc = program.access(matmul.dst).alloc;
                    if program.alloc(alloc).block != program.inst(id).block {
                        members.entry(alloc.index() as u32).or_default().push(id);
                    }
                }
            }
        }
        Self {
            program,
            target,
            geometry,
            members,
        }
    }

    /// Whether somebody else wrote flags for all matmuls into `alloc`: then nothing is cleared for them.
    pub(super) fn is_explicit(&self, alloc: u32) -> bool {
        let has_flags = |&id: &InstId| {
            let matmul = self.program.inst(id).matmul();
            matmul.is_some_and(|m| m.flags.is_some() || m.is_predicated())
        };
        !self.program.provisional
            && self
                .members
                .get(&alloc)
                .is_some_and(|members| members.iter().all(has_flags))
    }

    /// Takes the cells that a predicated START overwrites out of the demands of a block. With
    /// `is_wanted` false only those go that explicit flags settle.
    pub(super) fn settle(
        &self,
        problem: &BlockProblem,
        blocks: &Blocks<'_>,
        chains: &mut Chains,
        is_wanted: bool,
    ) -> Vec<Nest> {
        let mut found = Vec::new();
        let mut demands = std::mem::take(&mut chains.demands);
        demands.sort_unstable();
        demands.dedup();
        let mut keys: Vec<(u32, u32)> = demands.iter().map(|d| (d.pos, d.alloc)).collect();
        keys.dedup();
        keys.sort_unstable();
        keys.dedup();
        for (pos, alloc) in keys {
            let classes: Vec<u32> = demands
                .iter()
                .filter(|demand| (demand.pos, demand.alloc) == (pos, alloc))
                .map(|demand| demand.class)
                .collect();
            let nest = match self.is_explicit(alloc) {
                true => Some(Nest::default()),
                false if is_wanted && pos != END => {
                    self.nest(problem, blocks, chains, (pos, alloc), classes)
                }
                false => None,
            };
            if let Some(nest) = nest {
                demands.retain(|demand| (demand.pos, demand.alloc) != (pos, alloc));
                let is_its = |object: &&mut Object| {
                    (object.first, object.alloc) == (pos, alloc) && !object.is_chain()
                };
                for object in chains.objects.iter_mut().filter(is_its) {
                    if object.content == Content::Zero {
                        object.content = Content::Sum;
                    }
                }
                for held in chains.around.iter_mut().filter(|around| around.pos == pos) {
                    let its = held.after.iter_mut().filter(|held| held.alloc == alloc);
                    its.for_each(|held| held.content = Content::Sum);
                }
                found.push(nest);
            }
        }
        chains.demands = demands;
        found
    }

    fn nest(
        &self,
        problem: &BlockProblem,
        blocks: &Blocks<'_>,
        chains: &Chains,
        (pos, alloc): (u32, u32),
        mut classes: Vec<u32>,
    ) -> Option<Nest> {
        let program = self.program;
        let outermost = problem.inst_at(program, pos);
        let members = self.members_inside(outermost, alloc)?;
        let (&head, &last) = (members.first()?, members.last()?);
        let block = program.inst(head).block;
        let is_plain = |&id: &InstId| {
            program.inst(id).block == block
                && program.inst(id).matmul().is_some_and(|m| {
                    let is_auto = program.provisional || m.flags.is_none();
                    m.accumulator.is_some() && !m.is_predicated() && is_auto
                })
        };
        if !members.iter().all(is_plain) {
            return None;
        }
        let loops = self.loops_between(outermost, head)?;
        let matmul = program.inst(head).matmul()?;
        let shape = self.geometry.shape_of(matmul.dst);
        classes.sort_unstable();
        classes.dedup();
        if classes != self.geometry.classes(shape) {
            return None;
        }
        let group = self
            .geometry
            .strips_of(super::survey::group_quadrants(matmul, self.target));
        // If the nest does not run, who adds to the sum afterwards would have to begin it.
        let runs = |&holder: &InstId| {
            let op = &program.inst(holder).op;
            matches!(
                op,
                Op::Region {
                    kind: RegionKind::For { trips: Some(1..) },
                    ..
                }
            )
        };
        if self.is_continued(chains, (pos, alloc)) && !loops.iter().all(runs) {
            return None;
        }
        self.is_alone(problem, blocks, chains, (pos, alloc), (shape, group))
            .then(|| self.flags(chains, (pos, alloc), head, last, &loops))
    }

    /// The matmuls into `alloc` inside `holder`.
    fn members_inside(&self, holder: InstId, alloc: u32) -> Option<Vec<InstId>> {
        let members = self.members.get(&alloc)?.iter().copied();
        Some(members.filter(|&id| self.is_inside(id, holder)).collect())
    }

    fn is_inside(&self, id: InstId, holder: InstId) -> bool {
        let home = self.program.inst(holder).block;
        let mut block = self.program.inst(id).block;
        while block != home {
            match self.program.holder(block) {
                Some(around) if around == holder => return true,
                Some(around) => block = self.program.inst(around).block,
                None => return false,
            }
        }
        false
    }

    /// The loops from `outermost` to the body of `inner`, if they have a first iteration of all and
    /// code can tell.
    fn loops_between(&self, outermost: InstId, inner: InstId) -> Option<Vec<InstId>> {
        let program = self.program;
        let mut loops = Vec::new();
        let mut block = program.inst(inner).block;
        loop {
            let holder = program.holder(block)?;
            let Op::Region { kind, regions } = &program.inst(holder).op else {
                return None;
            };
            let RegionKind::For { trips } = *kind else {
                return None;
            };
            let bounds = program.bounds(holder)?;
            let is_single = regions
                .iter()
                .all(|&region| program.region(region).blocks.len() == 1);
            let is_fixed = trips.is_some()
                || bounds
                    .vary_in
                    .is_none_or(|around| !self.is_at_or_inside(around, outermost));
            if !bounds.tells_first || !is_single || trips == Some(0) || !is_fixed {
                return None;
            }
            loops.push(holder);
            if holder == outermost {
                break;
            }
            block = program.inst(holder).block;
        }
        loops.reverse();
        Some(loops)
    }

    fn is_at_or_inside(&self, holder: InstId, outermost: InstId) -> bool {
        holder == outermost || self.is_inside(holder, outermost)
    }

    /// Whether nothing else lives in the zero region of the head while the nest runs.
    fn is_alone(
        &self,
        problem: &BlockProblem,
        blocks: &Blocks<'_>,
        chains: &Chains,
        (pos, alloc): (u32, u32),
        (shape, group): (u32, Strips),
    ) -> bool {
        let geometry = self.geometry;
        let banks = window_banks(geometry.shape(shape).banks, self.target);
        let strips = group | geometry.strips_of(geometry.shape(shape).quadrants);
        let Some(summary) = blocks.summary(problem.inst_at(self.program, pos)) else {
            return false;
        };
        let meets = |shape: u32| {
            shape != NONE && {
                let shape = geometry.shape(shape);
                shape.banks.overlaps(banks) && geometry.strips_of(shape.quadrants) & strips != 0
            }
        };
        let is_disturbed = summary.uses.iter().any(|used| {
            let access = pto_ir::AccessId::new(used.access as usize);
            let is_own = self.program.access(access).alloc == AllocId::new(alloc as usize);
            // The buffer itself may be read between sums, but not be written by others.
            (!is_own && meets(geometry.shape_of(access))) || (is_own && used.writes)
        });
        let lives_across = |(index, object): (usize, &Object)| {
            chains.root(index as u32) == index as u32
                && object.first < pos
                && object.last > pos
                && object.banks.overlaps(banks)
                && object.strips & strips != 0
        };
        summary.calls.is_empty()
            && !is_disturbed
            && !chains.objects.iter().enumerate().any(lives_across)
    }

    /// Whether somebody adds to the sum after the nest.
    fn is_continued(&self, chains: &Chains, (pos, alloc): (u32, u32)) -> bool {
        chains
            .objects
            .iter()
            .any(|object| (object.first, object.alloc) == (pos, alloc) && object.added_at > pos)
    }

    /// START in the first iteration; STOP in the last, if nobody adds to the sum afterwards.
    fn flags(
        &self,
        chains: &Chains,
        (pos, alloc): (u32, u32),
        head: InstId,
        last: InstId,
        loops: &[InstId],
    ) -> Nest {
        let program = self.program;
        let is_repeated = |&holder: &InstId| {
            let op = &program.inst(holder).op;
            !matches!(
                op,
                Op::Region {
                    kind: RegionKind::For { trips: Some(1) },
                    ..
                }
            )
        };
        let loops: Vec<InstId> = loops.iter().copied().filter(is_repeated).collect();
        let mut nest = Nest::default();
        let mut add = |inst: InstId, turn: Turn, flag: AccFlags| match loops.is_empty() {
            true => nest.flags.push((inst, flag)),
            false => nest.predicates.push(NewPredicate {
                inst,
                turn,
                loops: loops.clone(),
            }),
        };
        add(head, Turn::First, AccFlags::START);
        let tells_last = |&holder: &InstId| program.bounds(holder).is_some_and(|b| b.tells_last);
        let same = |id: InstId| program.inst(id).matmul().map(|matmul| matmul.dst);
        if !self.is_continued(chains, (pos, alloc))
            && loops.iter().all(tells_last)
            && same(head) == same(last)
        {
            add(last, Turn::Last, AccFlags::STOP);
        }
        nest
    }
}
