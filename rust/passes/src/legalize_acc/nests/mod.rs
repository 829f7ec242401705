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
//! Several sums that begin in one body of a nest share one START, as in straight lines: that of the
//! first matmul, if it reaches the cells of the others for certain. In the first iteration none of them
//! has a value yet; the first matmul of each other one finds its cells cleared and needs no flag.
//!
//! Everything else is cleared before the nest.

mod times;
mod together;

use pto_ir::{
    AccFlags, InstId, Interval, Matmul, NewPredicate, Op, Program, RegionKind, Target, Turn,
};

use super::blocks::Blocks;
use super::chains::{Chains, Demand};
use super::clusters::{Slots, window_banks};
use super::geometry::{Geometry, Strips};
use super::problem::{BlockProblem, END};
use times::Times;

/// What one nest adds to the plan.
#[derive(Debug, Default)]
pub(super) struct Nest {
    /// New predicates.
    pub predicates: Vec<NewPredicate>,
    /// Flags that hold every time, because all loops of the nest run once.
    pub flags: Vec<(InstId, AccFlags)>,
}

/// A matmul, and its place among all instructions in program order.
#[derive(Clone, Copy, Debug)]
struct Member {
    at: usize,
    id: InstId,
}

/// Finds nests.
pub(super) struct Nests<'p> {
    program: &'p Program,
    target: &'static Target,
    geometry: &'p Geometry,
    members: Members,
}

/// The matmuls that are not in the block of their buffer's allocation.
struct Members {
    /// By buffer, then in program order.
    list: Vec<(u32, Member)>,
}

impl Members {
    fn of(program: &Program) -> Self {
        let mut list = Vec::new();
        if program.blocks().len() > 1 {
            for (at, id) in program.walk().enumerate() {
                let inst = program.inst(id);
                if let Some(matmul) = inst.matmul() {
                    let alloc = program.access(matmul.dst).alloc;
                    if program.alloc(alloc).block != inst.block {
                        list.push((alloc.index() as u32, Member { at, id }));
                    }
                }
            }
        }
        // Buffers are mostly numbered as they are used.
        list.sort_by_key(|&(alloc, _)| alloc);
        Self { list }
    }

    /// Those into `alloc`.
    fn to(&self, alloc: u32) -> impl Iterator<Item = Member> + '_ {
        let first = self.list.partition_point(|&(other, _)| other < alloc);
        let all = self.list[first..].iter();
        all.take_while(move |&&(other, _)| other == alloc)
            .map(|&(_, member)| member)
    }
}

impl<'p> Nests<'p> {
    pub(super) fn new(
        program: &'p Program,
        target: &'static Target,
        geometry: &'p Geometry,
    ) -> Self {
        Self {
            program,
            target,
            geometry,
            members: Members::of(program),
        }
    }

    /// Whether somebody else wrote flags for all matmuls into `alloc`: then nothing is cleared for them.
    pub(super) fn is_explicit(&self, alloc: u32) -> bool {
        let has_flags = |member: Member| {
            let matmul = self.program.inst(member.id).matmul();
            matmul.is_some_and(|m| m.flags.is_some() || m.is_predicated())
        };
        let mut members = self.members.to(alloc).peekable();
        !self.program.provisional && members.peek().is_some() && members.all(has_flags)
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
        let mut demands = std::mem::take(&mut chains.demands);
        demands.sort_unstable_by_key(|demand| (demand.pos, demand.alloc, *demand));
        demands.dedup();
        let mut times = Times::new(self.geometry, self.target, chains);
        let (mut kept, mut found) = (Vec::new(), Vec::new());
        for at_once in demands.chunk_by(|a, b| a.pos == b.pos) {
            let pos = at_once[0].pos;
            times.advance(chains, pos);
            let mut begun: Vec<u32> = Vec::new();
            let mut candidates: Vec<Candidate> = Vec::new();
            for chunk in at_once.chunk_by(|a, b| a.alloc == b.alloc) {
                let alloc = chunk[0].alloc;
                if self.is_explicit(alloc) {
                    begun.push(alloc);
                } else if is_wanted && pos != END && !self.is_seeded(&times, alloc, pos) {
                    let is_continued = times.is_continued(pos, alloc, chains);
                    candidates.extend(self.candidate(problem, is_continued, chunk));
                }
            }
            candidates.sort_by_key(|candidate| candidate.at);
            for group in self.groups(problem, blocks, &times, &candidates) {
                begun.extend(group.iter().map(|member| member.alloc));
                found.push(self.flags(&group));
            }
            let is_open = |demand: &&Demand| !begun.contains(&demand.alloc);
            kept.extend(at_once.iter().filter(is_open).copied());
            for alloc in begun {
                times.mark_sums(pos, alloc, chains);
            }
        }
        times.make_sums(chains);
        chains.demands = kept;
        found
    }

    /// Whether matmuls into `alloc` have to ACCUMULATE onto older cells, which no START goes with.
    fn is_seeded(&self, times: &Times<'_>, alloc: u32, pos: u32) -> bool {
        let last = times.last_of_alloc.get(&alloc);
        self.target.has_accumulate && last.is_some_and(|&last| last >= pos)
    }

    /// The sum that the cells of `chunk` begin, where one body holds all its matmuls. `is_continued`:
    /// somebody adds to it after the nest.
    fn candidate(
        &self,
        problem: &BlockProblem,
        is_continued: bool,
        chunk: &[Demand],
    ) -> Option<Candidate> {
        let program = self.program;
        let Demand { pos, alloc, .. } = chunk[0];
        let outermost = problem.inst_at(program, pos);
        let members = self.members_inside(outermost, alloc);
        let (Member { at, id: head }, Member { id: last, .. }) =
            (*members.first()?, *members.last()?);
        let block = program.inst(head).block;
        let is_plain = |&Member { id, .. }: &Member| {
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
        let mut classes: Vec<u32> = chunk.iter().map(|demand| demand.class).collect();
        classes.sort_unstable();
        classes.dedup();
        if classes != self.geometry.classes(shape) {
            return None;
        }
        // If the nest does not run, who adds to the sum afterwards would have to begin it.
        if is_continued && !loops.iter().all(|&holder| program.runs(holder)) {
            return None;
        }
        Some(Candidate {
            alloc,
            pos,
            at,
            head,
            last,
            is_continued,
            loops,
            shape,
            window: self.window(matmul),
        })
    }

    /// What START or ACCUMULATE of a matmul on PSUM may reach.
    fn window(&self, matmul: &Matmul) -> Window {
        let own = self.geometry.shape(self.geometry.shape_of(matmul.dst));
        let quadrants = super::survey::group_quadrants(matmul, self.target);
        Window {
            banks: window_banks(own.banks, self.target),
            strips: self.geometry.strips_of(quadrants | own.quadrants),
        }
    }

    /// The matmuls into `alloc` inside `holder`.
    fn members_inside(&self, holder: InstId, alloc: u32) -> Vec<Member> {
        let members = self.members.to(alloc);
        members
            .filter(|member| self.is_inside(member.id, holder))
            .collect()
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

    /// START in the first iteration, once for all; STOP of each in the last, if nobody adds to it
    /// afterwards.
    fn flags(&self, group: &[&Candidate]) -> Nest {
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
        let mut nest = Nest::default();
        let Some(first) = group.first() else {
            return nest;
        };
        let loops: Vec<InstId> = first.loops.iter().copied().filter(is_repeated).collect();
        let mut add = |inst: InstId, turn: Turn, flag: AccFlags| match loops.is_empty() {
            true => nest.flags.push((inst, flag)),
            false => nest.predicates.push(NewPredicate {
                inst,
                turn,
                loops: loops.clone(),
            }),
        };
        add(first.head, Turn::First, AccFlags::START);
        let tells_last = |&holder: &InstId| program.bounds(holder).is_some_and(|b| b.tells_last);
        let same = |id: InstId| program.inst(id).matmul().map(|matmul| matmul.dst);
        for member in group {
            let closes_all = same(member.head) == same(member.last);
            if !member.is_continued && loops.iter().all(tells_last) && closes_all {
                add(member.last, Turn::Last, AccFlags::STOP);
            }
        }
        nest
    }
}

/// A sum whose matmuls all stand in one body of a nest.
struct Candidate {
    alloc: u32,
    /// Position of the nest.
    pos: u32,
    /// Its first matmul, and the place of that among all instructions.
    at: usize,
    head: InstId,
    last: InstId,
    /// Somebody adds to it after the nest.
    is_continued: bool,
    /// The loops of the nest, from the outside in.
    loops: Vec<InstId>,
    /// The cells of its first matmul.
    shape: u32,
    /// What a START of its first matmul may reach.
    window: Window,
}

/// The zero region of a head.
#[derive(Clone, Copy)]
struct Window {
    banks: Interval,
    strips: Strips,
}

impl Window {
    fn slots(self, geometry: &Geometry, target: &Target) -> Slots {
        let banks = Interval::new(self.banks.start, self.banks.end.min(target.banks));
        Slots::new(banks, self.strips, geometry.strip_count())
    }
}
