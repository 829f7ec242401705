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

use pto_ir::{
    AccFlags, AccessId, InstId, Interval, NewPredicate, Op, Program, RegionKind, Target, Turn,
};
use rustc_hash::FxHashMap;

use super::chains::{Chains, Content, Demand};
use super::clusters::window_banks;
use super::geometry::{Geometry, NONE, Strips};
use super::problem::{BlockProblem, Blocks, END};
use super::summary::Summarized;

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
        let mut demands = std::mem::take(&mut chains.demands);
        demands.sort_unstable_by_key(|demand| (demand.pos, demand.alloc, *demand));
        demands.dedup();
        let mut times = Times::new(self.geometry, self.target, chains);
        let (mut kept, mut found) = (Vec::new(), Vec::new());
        for chunk in demands.chunk_by(|a, b| (a.pos, a.alloc) == (b.pos, b.alloc)) {
            let Demand { pos, alloc, .. } = chunk[0];
            times.advance(chains, pos);
            let nest = match self.is_explicit(alloc) {
                true => Some(Nest::default()),
                false if is_wanted && pos != END => {
                    let is_continued = times.is_continued(pos, alloc, chains);
                    self.nest(problem, blocks, &times, is_continued, chunk)
                }
                false => None,
            };
            match nest {
                Some(nest) => {
                    found.push(nest);
                    times.make_sums(pos, alloc, chains);
                }
                None => kept.extend_from_slice(chunk),
            }
        }
        chains.demands = kept;
        found
    }

    /// The flags of a nest that begins the cells of `chunk`, where it can. `is_continued`: somebody adds
    /// to the sum after the nest.
    fn nest(
        &self,
        problem: &BlockProblem,
        blocks: &Blocks<'_>,
        times: &Times<'_>,
        is_continued: bool,
        chunk: &[Demand],
    ) -> Option<Nest> {
        let program = self.program;
        let Demand { pos, alloc, .. } = chunk[0];
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
        let mut classes: Vec<u32> = chunk.iter().map(|demand| demand.class).collect();
        classes.sort_unstable();
        classes.dedup();
        if classes != self.geometry.classes(shape) {
            return None;
        }
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
        if is_continued && !loops.iter().all(runs) {
            return None;
        }
        let quadrants = super::survey::group_quadrants(matmul, self.target);
        let own = self.geometry.shape(shape);
        let window = Window {
            banks: window_banks(own.banks, self.target),
            strips: self.geometry.strips_of(quadrants | own.quadrants),
        };
        let is_alone =
            !times.is_live(window, pos) && !self.is_disturbed(blocks, outermost, alloc, window);
        is_alone.then(|| self.flags(is_continued, head, last, &loops))
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

    /// Whether anything inside `holder` but reads and matmuls of `alloc` touches the window.
    fn is_disturbed(
        &self,
        blocks: &Blocks<'_>,
        holder: InstId,
        alloc: u32,
        window: Window,
    ) -> bool {
        let geometry = self.geometry;
        let Some(summary) = blocks.summary(holder) else {
            return true;
        };
        let disturbs = |used: &Summarized| {
            let access = AccessId::new(used.access as usize);
            let shape = geometry.shape_of(access);
            match self.program.access(access).alloc.index() as u32 == alloc {
                true => used.writes,
                false => {
                    shape != NONE && {
                        let shape = geometry.shape(shape);
                        let strips = geometry.strips_of(shape.quadrants);
                        shape.banks.overlaps(window.banks) && strips & window.strips != 0
                    }
                }
            }
        };
        !summary.calls.is_empty() || summary.uses.iter().any(disturbs)
    }

    /// START in the first iteration; STOP in the last, if nobody adds to the sum afterwards.
    fn flags(&self, is_continued: bool, head: InstId, last: InstId, loops: &[InstId]) -> Nest {
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
        if !is_continued && loops.iter().all(tells_last) && same(head) == same(last) {
            add(last, Turn::Last, AccFlags::STOP);
        }
        nest
    }
}

/// The zero region of a head.
#[derive(Clone, Copy)]
struct Window {
    banks: Interval,
    strips: Strips,
}

/// What lives where, as far as a block was looked through.
struct Times<'g> {
    geometry: &'g Geometry,
    target: &'static Target,
    /// Objects by their first position.
    order: Vec<u32>,
    /// How many of them began before the current position.
    begun: usize,
    /// By slot: the last position at which one of those is used.
    last: Vec<u32>,
}

impl<'g> Times<'g> {
    fn new(geometry: &'g Geometry, target: &'static Target, chains: &Chains) -> Self {
        let is_root = |&object: &u32| chains.root(object) == object;
        let mut order: Vec<u32> = (0..chains.objects.len() as u32).filter(is_root).collect();
        order.sort_by_key(|&object| chains.objects[object as usize].first);
        let slots = target.banks * geometry.strip_count();
        Self {
            geometry,
            target,
            order,
            begun: 0,
            last: vec![0; slots as usize],
        }
    }

    /// Looks at all objects that begin before `pos`, which only grows.
    fn advance(&mut self, chains: &Chains, pos: u32) {
        while let Some(&object) = self.order.get(self.begun) {
            let object = &chains.objects[object as usize];
            if object.first >= pos {
                break;
            }
            self.begun += 1;
            let window = Window {
                banks: object.banks,
                strips: object.strips,
            };
            for slot in self.slots(window) {
                self.last[slot] = self.last[slot].max(object.last);
            }
        }
    }

    /// Whether something older lives in `window` across `pos`.
    fn is_live(&self, window: Window, pos: u32) -> bool {
        self.slots(window).any(|slot| self.last[slot] > pos)
    }

    fn slots(&self, window: Window) -> impl Iterator<Item = usize> + use<> {
        let count = self.geometry.strip_count();
        let banks = window.banks.start..window.banks.end.min(self.target.banks);
        banks.flat_map(move |bank| {
            let strips = (0..count).filter(move |strip| window.strips >> strip & 1 == 1);
            strips.map(move |strip| (bank * count + strip) as usize)
        })
    }

    /// The objects of `alloc` that begin at `pos`.
    fn beginning<'a>(
        &'a self,
        pos: u32,
        alloc: u32,
        chains: &'a Chains,
    ) -> impl Iterator<Item = u32> + 'a {
        let objects = self.order[self.begun..].iter().copied();
        objects
            .take_while(move |&object| chains.objects[object as usize].first == pos)
            .filter(move |&object| chains.objects[object as usize].alloc == alloc)
    }

    /// Whether somebody adds after `pos` to what begins there.
    fn is_continued(&self, pos: u32, alloc: u32, chains: &Chains) -> bool {
        self.beginning(pos, alloc, chains)
            .any(|object| chains.objects[object as usize].added_at > pos)
    }

    /// What begins at `pos` is no zeros.
    fn make_sums(&self, pos: u32, alloc: u32, chains: &mut Chains) {
        let objects: Vec<u32> = self.beginning(pos, alloc, chains).collect();
        for object in objects {
            let object = &mut chains.objects[object as usize];
            if object.content == Content::Zero {
                object.content = Content::Sum;
            }
        }
        if let Ok(index) = chains
            .around
            .binary_search_by_key(&pos, |around| around.pos)
        {
            let its = chains.around[index].after.iter_mut();
            its.filter(|held| held.alloc == alloc)
                .for_each(|held| held.content = Content::Sum);
        }
    }
}
