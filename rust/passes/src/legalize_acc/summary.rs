//! What an operation with regions does, seen from outside.
//!
//! Per access: whether a value from before the operation is read or added to, whether a value of one
//! run of a region is wanted by the next run, and who writes. An access that the same run wrote first
//! does not count as reading: `for { tmatmul a; tmatmul_acc a }` wants nothing of `a`.
//!
//! A body that asks whether loops around it are in their first iteration (`if first { tmatmul a } else {
//! tmatmul_acc a }`) has a summary for each answer. What the first iteration writes for certain, the
//! others do not want from before the loop.

use std::rc::Rc;

use pto_ir::{BlockId, InstId, Op, Program, RegionId, RegionKind, UseKind};
use rustc_hash::FxHashSet;

use super::geometry::{Geometry, NONE};
use super::tied::Tied;
use super::turns::{Asked, Turns, asks, choice, known_turns};

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
    /// By instruction: by the turns of as many loops as matter. Empty without regions.
    list: Vec<Vec<Rc<Summary>>>,
}

/// Summarizes.
pub(super) struct Summarizer<'p> {
    pub program: &'p Program,
    pub geometry: &'p Geometry,
    /// The slots whose pending bits a matmul may change.
    pub reach: &'p dyn Fn(&pto_ir::Matmul) -> u64,
    pub tied: &'p Tied,
}

impl Summaries {
    /// Of an operation with regions, in any iteration.
    pub(super) fn of(&self, holder: InstId) -> Option<Rc<Summary>> {
        let all = self.list.get(holder.index())?;
        let (first, others) = all.split_first()?;
        if others.is_empty() {
            return Some(Rc::clone(first));
        }
        let mut any = Summary::clone(first);
        for other in others {
            any.add(other);
            any.kills.retain(|kill| other.kills.contains(kill));
        }
        any.sort();
        for used in &mut any.uses {
            used.is_certain = all.iter().all(|one| one.is_certain(used.access));
        }
        Some(Rc::new(any))
    }

    /// Of an operation with regions, when the loops around it are at `turns`.
    fn at(&self, holder: InstId, turns: Turns) -> Option<&Rc<Summary>> {
        let all = self.list.get(holder.index())?;
        all.get(turns & all.len().wrapping_sub(1))
    }

    /// The number of loops around `insts` whose turns matter to one of them.
    pub(super) fn levels(&self, insts: &[InstId]) -> usize {
        let lists = insts.iter().filter_map(|id| self.list.get(id.index()));
        let levels = lists.map(|all| all.len().max(1).ilog2() as usize);
        levels.max().unwrap_or(0)
    }
}

impl Summarizer<'_> {
    /// The summaries of all operations with regions, inner ones first.
    pub(super) fn run(&self) -> Summaries {
        let program = self.program;
        let mut summaries = Summaries {
            list: vec![Vec::new(); program.insts().len()],
        };
        let holders: Vec<InstId> = program
            .walk()
            .filter(|&id| matches!(program.inst(id).op, Op::Region { .. }))
            .collect();
        for &holder in holders.iter().rev() {
            let all = self.holder(holder, &summaries);
            summaries.list[holder.index()] = all.into_iter().map(Rc::new).collect();
        }
        summaries
    }

    fn holder(&self, holder: InstId, known: &Summaries) -> Vec<Summary> {
        let Op::Region { kind, regions } = &self.program.inst(holder).op else {
            return Vec::new();
        };
        let bodies = |turns: Turns| {
            let all = regions.iter();
            all.map(move |&region| self.region(&self.program.region(region).blocks, known, turns))
        };
        let levels = self.levels_inside(regions, known);
        match *kind {
            RegionKind::For { trips } => {
                let all = 0..1 << levels.saturating_sub(1);
                let summary = |outer: Turns| {
                    let turns = |is_first: bool| outer << 1 | usize::from(is_first);
                    match (bodies(turns(true)).next(), trips) {
                        (None, _) | (_, Some(0)) => Summary::default(),
                        // Nothing is left for a next run.
                        (Some(mut once), Some(1)) => {
                            self.mark_certain(&mut once);
                            once
                        }
                        (Some(first), _) if levels == 0 => self.repeated(holder, &first, &first),
                        (Some(first), _) => {
                            let others = bodies(turns(false)).next().unwrap_or_default();
                            self.repeated(holder, &first, &others)
                        }
                    }
                };
                all.map(summary).collect()
            }
            RegionKind::If | RegionKind::IndexSwitch => {
                let asked = asks(self.program, holder);
                let choice = choice(self.program, holder);
                let levels = levels.max(asked.map_or(0, Asked::levels));
                let (known_turns, first) = match levels {
                    0 => (0, 0),
                    _ => known_turns(self.program, holder),
                };
                let summary = |turns: Turns| {
                    let turns = turns & !known_turns | first;
                    let taken = asked.map(|asked| asked.taken(turns));
                    self.chosen(*kind, bodies(turns), taken.or(choice))
                };
                (0..1 << levels).map(summary).collect()
            }
            RegionKind::While => vec![self.repeated_while(bodies(0))],
            RegionKind::Other => {
                let mut all = Summary::default();
                bodies(0).for_each(|body| all.add(&body));
                all.carry_all();
                all.sort();
                vec![all]
            }
        }
    }

    /// The number of loops around the insides of `regions` whose turns matter there.
    fn levels_inside(&self, regions: &[RegionId], known: &Summaries) -> usize {
        let program = self.program;
        let blocks = regions
            .iter()
            .flat_map(|&region| &program.region(region).blocks);
        let levels = blocks.map(|&block| known.levels(&program.block(block).insts));
        levels.max().unwrap_or(0)
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
        if !self.program.runs(holder) {
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

    /// The blocks of one region, when the loops around are at `turns`.
    fn region(&self, blocks: &[BlockId], known: &Summaries, turns: Turns) -> Summary {
        let mut result = Summary::default();
        for &block in blocks {
            let summary = self.block(block, known, turns);
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

    /// One block, when the loops around are at `turns`: what it reads before it writes.
    pub(super) fn block(&self, block: BlockId, known: &Summaries, turns: Turns) -> Summary {
        let program = self.program;
        let mut result = Summary::default();
        for &id in &program.block(block).insts {
            match &program.inst(id).op {
                Op::Region { .. } => {
                    if let Some(inner) = known.at(id, turns) {
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
