//! What an operation with regions does, seen from outside.
//!
//! Per access: whether a value from before the operation is read or added to, whether a value of one
//! run of a region is wanted by the next run, and who writes. An access that the same run wrote first
//! does not count as reading: `for { tmatmul a; tmatmul_acc a }` wants nothing of `a`.
//!
//! A body that asks whether its loop is in the first iteration (`if first { tmatmul a } else {
//! tmatmul_acc a }`) has two summaries, one for that iteration and one for all others. What the
//! first iteration writes for certain, the others do not want from before the loop.

use std::rc::Rc;

use pto_ir::{BlockId, Condition, InstId, Op, Program, RegionId, RegionKind, Turn, UseKind};
use rustc_hash::FxHashSet;

use super::geometry::{Geometry, NONE};
use super::tied::Tied;

/// What the regions of an operation do with one access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Summarized {
    /// The access.
    pub access: u32,
    /// A value from before the operation may be read.
    pub reads: bool,
    /// A value from before the operation may be added to.
    pub adds: bool,
    /// A value of one run of a region may be read by the next.
    pub carries: bool,
    /// A value of one run of a region may be added to by the next.
    pub carries_add: bool,
    /// The PE may write it.
    pub sums: bool,
    /// Others may write it.
    pub writes: bool,
    /// All of it is written for certain.
    pub is_certain: bool,
}

impl Summarized {
    fn join(&mut self, other: &Self) {
        self.reads |= other.reads;
        self.adds |= other.adds;
        self.carries |= other.carries;
        self.carries_add |= other.carries_add;
        self.sums |= other.sums;
        self.writes |= other.writes;
    }

    /// As seen after cells of it were written for certain.
    fn hidden(self) -> Self {
        Self {
            reads: false,
            adds: false,
            ..self
        }
    }

    /// Whether it may be written.
    pub(super) fn changes(&self) -> bool {
        self.sums || self.writes
    }
}

/// What the regions of one operation do, without repetition.
#[derive(Clone, Debug, Default)]
pub(super) struct Summary {
    /// By access, ascending.
    pub uses: Vec<Summarized>,
    /// Slots whose pending bits matmuls inside may clear.
    pub slots: u64,
    pub calls: Vec<(InstId, Option<u32>)>,
    /// Pairs of class and buffer that are written for certain.
    pub kills: FxHashSet<(u32, u32)>,
}

impl Summary {
    pub(super) fn is_empty(&self) -> bool {
        self.uses.is_empty() && self.calls.is_empty()
    }

    /// Whether all of `access`, one of the list, is written for certain.
    fn is_certain(&self, access: u32) -> bool {
        let found = self.uses.binary_search_by_key(&access, |used| used.access);
        found.is_ok_and(|index| self.uses[index].is_certain)
    }

    fn sort(&mut self) {
        self.uses.sort_unstable_by_key(|used| used.access);
        self.uses.dedup_by(|next, kept| {
            let is_same = next.access == kept.access;
            if is_same {
                kept.join(next);
            }
            is_same
        });
        self.calls.sort_unstable();
        self.calls.dedup();
    }

    /// What is wanted from before may be left by the run before.
    fn carry_all(&mut self) {
        for used in &mut self.uses {
            (used.carries, used.carries_add) = (used.reads || used.adds, used.adds);
            used.is_certain = false;
        }
    }

    fn add(&mut self, other: &Self) {
        self.uses.extend_from_slice(&other.uses);
        self.calls.extend_from_slice(&other.calls);
        self.slots |= other.slots;
    }
}

/// The summaries of all operations with regions.
#[derive(Debug, Default)]
pub(super) struct Summaries {
    /// By instruction: in the first iteration of the loop around, and in the others.
    list: Vec<Option<[Rc<Summary>; 2]>>,
}

/// Summarizes.
pub(super) struct Summarizer<'p> {
    pub program: &'p Program,
    pub geometry: &'p Geometry,
    /// The slots whose pending bits a matmul may change.
    pub reach: &'p dyn Fn(&pto_ir::Matmul) -> u64,
    pub tied: &'p Tied,
}

/// One summary for all iterations of the loop around.
fn twice(summary: Summary) -> [Rc<Summary>; 2] {
    let summary = Rc::new(summary);
    [Rc::clone(&summary), summary]
}

impl Summaries {
    /// Of an operation with regions, in any iteration.
    pub(super) fn of(&self, holder: InstId) -> Option<Rc<Summary>> {
        let [first, others] = self.list.get(holder.index())?.as_ref()?;
        if Rc::ptr_eq(first, others) {
            return Some(Rc::clone(first));
        }
        let mut both = Summary::clone(first);
        both.add(others);
        both.sort();
        both.kills.retain(|kill| others.kills.contains(kill));
        for used in &mut both.uses {
            used.is_certain = first.is_certain(used.access) && others.is_certain(used.access);
        }
        Some(Rc::new(both))
    }
}

impl Summarizer<'_> {
    /// The summaries of all operations with regions, inner ones first.
    pub(super) fn run(&self) -> Summaries {
        let program = self.program;
        let mut summaries = Summaries {
            list: vec![None; program.insts().len()],
        };
        let holders: Vec<InstId> = program
            .walk()
            .filter(|&id| matches!(program.inst(id).op, Op::Region { .. }))
            .collect();
        for &holder in holders.iter().rev() {
            let summary = self.holder(holder, &summaries);
            summaries.list[holder.index()] = Some(summary);
        }
        summaries
    }

    fn holder(&self, holder: InstId, known: &Summaries) -> [Rc<Summary>; 2] {
        let Op::Region { kind, regions } = &self.program.inst(holder).op else {
            return [Rc::default(), Rc::default()];
        };
        let bodies = |copy: usize| {
            let all = regions.iter();
            all.map(move |&region| self.region(&self.program.region(region).blocks, known, copy))
        };
        match *kind {
            RegionKind::For { trips } => {
                let summary = match (bodies(0).next(), trips) {
                    (None, _) | (_, Some(0)) => Summary::default(),
                    // Nothing is left for a next run.
                    (Some(mut once), Some(1)) => {
                        self.mark_certain(&mut once);
                        once
                    }
                    (Some(first), _) if self.is_alike(regions, known) => {
                        self.repeated(holder, &first, &first)
                    }
                    (Some(first), _) => {
                        let others = bodies(1).next().unwrap_or_default();
                        self.repeated(holder, &first, &others)
                    }
                };
                twice(summary)
            }
            RegionKind::If | RegionKind::IndexSwitch => {
                let asks = self.asks_for_nearest_loop(holder);
                let choice = self.program.choice(holder);
                if asks.is_none() && self.is_alike(regions, known) {
                    return twice(self.chosen(*kind, bodies(0), choice));
                }
                let summary = |copy: usize| {
                    let taken = asks.map(|when_first| (copy == 0) == when_first);
                    let taken = taken.map(|first| usize::from(!first));
                    self.chosen(*kind, bodies(copy), taken.or(choice))
                };
                match asks.and_then(|_| self.known_copy(holder)) {
                    Some(copy) => twice(summary(copy)),
                    None => [0, 1].map(|copy| Rc::new(summary(copy))),
                }
            }
            RegionKind::While => twice(self.repeated_while(bodies(0))),
            RegionKind::Other => {
                let mut all = Summary::default();
                bodies(0).for_each(|body| all.add(&body));
                all.carry_all();
                all.sort();
                twice(all)
            }
        }
    }

    /// Whether nothing in the regions asks if the loop around is in its first iteration.
    fn is_alike(&self, regions: &[RegionId], known: &Summaries) -> bool {
        let program = self.program;
        let blocks = regions
            .iter()
            .flat_map(|&region| &program.region(region).blocks);
        let insts = blocks.flat_map(|&block| &program.block(block).insts);
        insts
            .filter_map(|id| known.list[id.index()].as_ref())
            .all(|[first, others]| Rc::ptr_eq(first, others))
    }

    /// Where a branch asks whether the innermost loop around it is in its first iteration: whether it
    /// takes its first region then.
    fn asks_for_nearest_loop(&self, holder: InstId) -> Option<bool> {
        let Some(Condition::Loops {
            turn: Turn::First,
            loops,
            negated,
        }) = self.program.branch(holder)
        else {
            return None;
        };
        let mut around = self.program.holder(self.program.inst(holder).block)?;
        loop {
            match self.program.inst(around).op {
                Op::Region {
                    kind: RegionKind::For { .. },
                    ..
                } => break,
                Op::Region {
                    kind: RegionKind::If | RegionKind::IndexSwitch,
                    ..
                } => around = self.program.holder(self.program.inst(around).block)?,
                _ => return None,
            }
        }
        (loops.as_slice() == [around]).then_some(!negated)
    }

    /// Where a branch only runs in the first iteration of the loop around (0), or only in others (1): a
    /// branch around it says so, or there is but one iteration.
    fn known_copy(&self, branch: InstId) -> Option<usize> {
        let program = self.program;
        let mut block = program.inst(branch).block;
        loop {
            let around = program.holder(block)?;
            let Op::Region { kind, regions } = &program.inst(around).op else {
                return None;
            };
            match kind {
                RegionKind::For { trips: Some(1) } => return Some(0),
                RegionKind::If | RegionKind::IndexSwitch => {}
                _ => return None,
            }
            if let Some(when_first) = self.asks_for_nearest_loop(around) {
                let is_then = regions.first() == Some(&program.block(block).region);
                return Some(usize::from(when_first != is_then));
            }
            block = program.inst(around).block;
        }
    }

    /// The loop `holder`: its first iteration, then others.
    fn repeated(&self, holder: InstId, first: &Summary, others: &Summary) -> Summary {
        let mut result = first.clone();
        for &used in &others.uses {
            let carries_add = used.adds;
            let carries = used.reads || used.adds;
            let hides = (used.reads || used.adds) && self.is_killed(&first.kills, used.access);
            let used = if hides { used.hidden() } else { used };
            result.uses.push(Summarized {
                carries,
                carries_add,
                ..used
            });
        }
        result.calls.extend_from_slice(&others.calls);
        result.slots |= others.slots;
        result.sort();
        let kind = RegionKind::For { trips: None };
        if matches!(&self.program.inst(holder).op, Op::Region { kind: own, .. } if *own == kind) {
            let is_tied = |alloc| self.tied.is_tied(self.program, holder, alloc);
            result.kills.retain(|&(_, alloc)| is_tied(alloc));
        }
        self.mark_certain(&mut result);
        result
    }

    /// A loop whose condition, the first of `bodies`, runs before all others, and once for certain.
    fn repeated_while(&self, mut bodies: impl Iterator<Item = Summary>) -> Summary {
        let mut result = bodies.next().unwrap_or_default();
        result.carry_all();
        for mut body in bodies {
            body.carry_all();
            for used in &mut body.uses {
                let wants = used.reads || used.adds;
                if wants && self.is_killed(&result.kills, used.access) {
                    *used = used.hidden();
                }
            }
            result.add(&body);
        }
        result.sort();
        self.mark_certain(&mut result);
        result
    }

    /// A branch: one of `bodies` runs, or none. `taken` says of some which it is.
    fn chosen(
        &self,
        kind: RegionKind,
        bodies: impl ExactSizeIterator<Item = Summary>,
        taken: Option<usize>,
    ) -> Summary {
        let has_way_around = kind == RegionKind::If && bodies.len() < 2;
        let mut result = Summary::default();
        let mut kills: Option<FxHashSet<(u32, u32)>> = None;
        for (index, body) in bodies.enumerate() {
            if taken.is_some_and(|taken| taken != index) {
                continue;
            }
            result.add(&body);
            match &mut kills {
                None => kills = Some(body.kills),
                Some(kills) => kills.retain(|kill| body.kills.contains(kill)),
            }
        }
        if has_way_around && taken != Some(0) {
            kills = None;
        }
        result.kills = kills.unwrap_or_default();
        result.sort();
        self.mark_certain(&mut result);
        result
    }

    /// The blocks of one region, in the first iteration of the loop around (copy 0) or in others.
    fn region(&self, blocks: &[BlockId], known: &Summaries, copy: usize) -> Summary {
        let mut result = Summary::default();
        for &block in blocks {
            let summary = self.block(block, known, copy);
            result.add(&summary);
            result.kills = summary.kills;
        }
        if blocks.len() > 1 {
            result.kills.clear();
            // Control may come back to a block.
            result.carry_all();
        }
        // Nobody outside wants the values of buffers that are allocated here.
        let here = blocks
            .first()
            .map(|&block| self.program.block(block).region);
        for used in &mut result.uses {
            let access = pto_ir::AccessId::new(used.access as usize);
            let home = self.program.alloc(self.program.access(access).alloc).block;
            if Some(self.program.block(home).region) == here {
                *used = Summarized {
                    carries: false,
                    carries_add: false,
                    ..used.hidden()
                };
            }
        }
        result.sort();
        result
    }

    /// One block: what it reads before it writes.
    pub(super) fn block(&self, block: BlockId, known: &Summaries, copy: usize) -> Summary {
        let program = self.program;
        let mut result = Summary::default();
        for &id in &program.block(block).insts {
            match &program.inst(id).op {
                Op::Region { .. } => {
                    if let Some(inner) = known.list[id.index()].as_ref().map(|pair| &pair[copy]) {
                        for &used in &inner.uses {
                            self.use_of(used, &mut result);
                        }
                        result.calls.extend_from_slice(&inner.calls);
                        result.slots |= inner.slots;
                        result.kills.extend(inner.kills.iter().copied());
                    }
                    continue;
                }
                Op::Call { banks } => result.calls.push((id, *banks)),
                Op::Matmul(matmul) => result.slots |= (self.reach)(matmul),
                Op::Alloc(alloc) | Op::Dealloc(alloc) => {
                    let alloc = alloc.index() as u32;
                    result.kills.retain(|&(_, killed)| killed != alloc);
                    continue;
                }
                Op::Engine | Op::Effects => {}
            }
            self.instruction(id, &mut result);
        }
        result.sort();
        result
    }

    /// An instruction reads all it reads before it writes.
    fn instruction(&self, id: InstId, result: &mut Summary) {
        let program = self.program;
        let is_call = matches!(program.inst(id).op, Op::Call { .. });
        let uses = || {
            let all = program.uses(id).iter();
            all.filter(|used| self.geometry.shape_of(used.access) != NONE)
        };
        for reads in [true, false] {
            for used in uses().filter(|used| (used.kind == UseKind::Read) == reads) {
                let summarized = Summarized {
                    access: used.access.index() as u32,
                    reads,
                    adds: used.kind == UseKind::PeAccumulate,
                    sums: used.kind.is_pe_write(),
                    writes: used.kind.writes() && !used.kind.is_pe_write(),
                    ..Summarized::default()
                };
                self.use_of(summarized, result);
                if used.kind.writes() && !is_call {
                    let alloc = program.access(used.access).alloc.index() as u32;
                    let shape = self.geometry.shape_of(used.access);
                    let classes = self.geometry.classes(shape).iter();
                    result.kills.extend(classes.map(|&class| (class, alloc)));
                }
            }
        }
    }

    fn use_of(&self, used: Summarized, result: &mut Summary) {
        let used = Summarized {
            carries: false,
            carries_add: false,
            ..used
        };
        let hides = (used.reads || used.adds) && self.is_killed(&result.kills, used.access);
        result.uses.push(if hides { used.hidden() } else { used });
    }

    fn is_killed(&self, kills: &FxHashSet<(u32, u32)>, access: u32) -> bool {
        let access = pto_ir::AccessId::new(access as usize);
        let alloc = self.program.access(access).alloc.index() as u32;
        let shape = self.geometry.shape_of(access);
        shape != NONE
            && !kills.is_empty()
            && self
                .geometry
                .classes(shape)
                .iter()
                .all(|&class| kills.contains(&(class, alloc)))
    }

    fn mark_certain(&self, summary: &mut Summary) {
        let Summary { uses, kills, .. } = summary;
        for used in uses {
            used.is_certain = self.is_killed(kills, used.access);
        }
    }
}
