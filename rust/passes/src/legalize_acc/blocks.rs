//! Builds the list of uses of each block, with those inside its operations summed up.

use pto_ir::{AccFlags, BlockId, InstId, Matmul, Op, Program, Target, UseKind};
use rustc_hash::FxHashSet;

use super::geometry::{Geometry, NONE, Strips};
use super::nesting::Nesting;
use super::problem::{Action, Barrier, BlockProblem, Call, Event, Member};
use super::summary::{Summaries, Summarizer, Summary};
use super::survey::{Survey, group_quadrants};
use super::tied::Tied;

/// What a block does with values from before it.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The buffers with values that it may read or add to, ascending.
    pub wants: Vec<u32>,
    /// The accesses that it may add to, each after its buffer, ascending.
    pub adds: Vec<(u32, u32)>,
    /// Pairs of class and buffer that it writes for certain.
    pub overwrites: FxHashSet<(u32, u32)>,
}

/// Builds the problems of blocks.
pub(super) struct Blocks<'p> {
    program: &'p Program,
    target: &'static Target,
    geometry: &'p Geometry,
    nesting: &'p Nesting<'p>,
    /// Of operations with regions. Empty without control flow.
    summaries: Summaries,
    has_control_flow: bool,
    strips_of_group: [Strips; 256],
    all_strips: Strips,
}

impl<'p> Blocks<'p> {
    /// Summarizes the operations of `program` that hold regions.
    pub(super) fn new(
        program: &'p Program,
        target: &'static Target,
        geometry: &'p Geometry,
        nesting: &'p Nesting<'p>,
        survey: &Survey,
    ) -> Self {
        let mut strips_of_group = [0; 256];
        for &group in &survey.groups {
            strips_of_group[usize::from(group)] = geometry.strips_of(group);
        }
        let mut blocks = Self {
            program,
            target,
            geometry,
            nesting,
            summaries: Summaries::default(),
            has_control_flow: survey.has_control_flow,
            strips_of_group,
            all_strips: geometry.strips_of(u8::MAX),
        };
        if survey.has_control_flow {
            let reach = |matmul: &Matmul| blocks.reach(matmul);
            let summarizer = Summarizer {
                program,
                geometry,
                reach: &reach,
                tied: &Tied::new(program),
            };
            blocks.summaries = summarizer.run();
        }
        blocks
    }

    /// Every block that uses PSUM, itself or inside, outer ones before inner ones.
    pub(super) fn in_order(&self) -> Vec<BlockId> {
        let program = self.program;
        let mut uses = vec![false; program.blocks().len()];
        for (index, block) in program.blocks().iter().enumerate() {
            let has_neighbours = program.region(block.region).blocks.len() > 1;
            uses[index] = has_neighbours || block.insts.iter().any(|&id| self.uses_psum(id));
        }
        let mut order = Vec::new();
        let mut push_region = |region: &pto_ir::Region| {
            order.extend(region.blocks.iter().copied().filter(|b| uses[b.index()]));
        };
        if let Some(body) = program.body() {
            push_region(body);
        }
        if self.has_control_flow {
            for id in program.walk() {
                if let Op::Region { regions, .. } = &program.inst(id).op {
                    regions.iter().for_each(|&r| push_region(program.region(r)));
                }
            }
        }
        order
    }

    fn uses_psum(&self, id: InstId) -> bool {
        match &self.program.inst(id).op {
            Op::Region { .. } => self
                .summaries
                .of(id)
                .is_some_and(|summary| !summary.is_empty()),
            Op::Call { .. } => true,
            _ => self
                .program
                .uses(id)
                .iter()
                .any(|used| self.geometry.shape_of(used.access) != NONE),
        }
    }

    /// The problem of one block.
    pub(super) fn problem(&self, block: BlockId) -> BlockProblem {
        let insts = &self.program.block(block).insts;
        let mut problem = BlockProblem {
            block,
            events: Vec::with_capacity(insts.len()),
            members: Vec::with_capacity(insts.len()),
            barriers: Vec::new(),
            calls: Vec::new(),
            holders: Vec::new(),
        };
        for (index, &id) in insts.iter().enumerate() {
            let pos = index as u32 + 1;
            match &self.program.inst(id).op {
                Op::Matmul(_) => self.matmul(&mut problem, pos, id),
                Op::Engine | Op::Effects => self.plain(&mut problem, pos, id, false),
                Op::Call { banks } => {
                    self.plain(&mut problem, pos, id, true);
                    self.call(&mut problem, pos, id, *banks);
                }
                Op::Region { .. } => self.holder(&mut problem, pos, id),
                Op::Dealloc(alloc) => problem.events.push(Event {
                    pos,
                    shape: NONE,
                    alloc: alloc.index() as u32,
                    member: NONE,
                    action: Action::Free,
                    group: 0,
                    names_region: false,
                }),
                Op::Alloc(_) => {}
            }
        }
        problem
    }

    fn matmul(&self, problem: &mut BlockProblem, pos: u32, id: InstId) {
        let program = self.program;
        let Some(matmul) = program.inst(id).matmul() else {
            return;
        };
        let shape = self.geometry.shape_of(matmul.dst);
        let alloc = program.access(matmul.dst).alloc.index() as u32;
        let is_auto = program.provisional;
        let group = self.group(matmul);
        let predicated = matmul.is_predicated().then_some(AccFlags::NONE);
        let flags = matmul.flags.filter(|_| !is_auto).or(predicated);
        let region = matmul.zero_region.filter(|_| !is_auto);
        let member = problem.members.len() as u32;
        problem.members.push(Member {
            inst: id,
            pos,
            shape,
            alloc,
            group,
            flags,
            region,
            attributes: (matmul.flags, matmul.zero_region),
        });
        let action = if matmul.accumulator.is_none() {
            Action::Overwrite
        } else {
            Action::Accumulate
        };
        problem.events.push(Event {
            pos,
            shape,
            alloc,
            member,
            action,
            group,
            names_region: region.is_some()
                && flags.is_some_and(|flags| flags.starts() || flags.accumulates()),
        });
    }

    /// The strips of the column group of `matmul`.
    fn group(&self, matmul: &Matmul) -> Strips {
        match matmul.tile {
            None => self.all_strips,
            Some(_) => self.strips_of_group[usize::from(group_quadrants(matmul, self.target))],
        }
    }

    /// Reads first: an instruction reads its operands before it writes.
    fn plain(&self, problem: &mut BlockProblem, pos: u32, id: InstId, is_call: bool) {
        let uses = self.program.uses(id);
        for reads in [true, false] {
            for used in uses.iter().filter(|u| (u.kind == UseKind::Read) == reads) {
                let action = match used.kind {
                    UseKind::Read => Action::Read,
                    _ if is_call => Action::MayWrite { is_certain: false },
                    UseKind::WriteZero => Action::WriteZero,
                    _ => Action::Write,
                };
                self.push(problem, pos, used.access.index() as u32, action);
            }
        }
    }

    fn push(&self, problem: &mut BlockProblem, pos: u32, access: u32, action: Action) {
        let access = pto_ir::AccessId::new(access as usize);
        let shape = self.geometry.shape_of(access);
        if shape != NONE {
            problem.events.push(Event {
                pos,
                shape,
                alloc: self.program.access(access).alloc.index() as u32,
                member: NONE,
                action,
                group: 0,
                names_region: false,
            });
        }
    }

    fn call(&self, problem: &mut BlockProblem, pos: u32, inst: InstId, banks: Option<u32>) {
        problem.calls.push(Call { pos, inst, banks });
        let slots = (0..self.target.banks)
            .filter(|bank| banks.is_none_or(|mask| mask >> bank & 1 == 1))
            .fold(0, |slots, bank| {
                slots | self.geometry.slots(bank, Strips::MAX)
            });
        if slots != 0 {
            problem.barriers.push(Barrier {
                pos,
                slots,
                contents: true,
            });
        }
    }

    /// An operation with regions: what it wants from before, then what it may change, then what one run
    /// of a region wants of the run before.
    fn holder(&self, problem: &mut BlockProblem, pos: u32, id: InstId) {
        let Some(summary) = self.summaries.of(id).filter(|summary| !summary.is_empty()) else {
            return;
        };
        problem.holders.push(pos);
        for used in summary.uses.iter().filter(|used| used.reads) {
            self.push(problem, pos, used.access, Action::Read);
        }
        for used in summary.uses.iter().filter(|used| used.adds) {
            self.push(problem, pos, used.access, Action::MayAdd);
        }
        // Buffers of the regions come first: if one shares bytes with a buffer around them, what is
        // written there last is what counts afterwards. The checker knows the true order.
        let block = problem.block;
        for is_visible in [false, true] {
            for used in summary.uses.iter().filter(|used| used.changes()) {
                let alloc = self.alloc_of(used.access);
                if self.nesting.is_visible(alloc, block) == is_visible {
                    let is_certain = used.is_certain;
                    let action = match used.writes {
                        true => Action::MayWrite { is_certain },
                        false => Action::MaySum { is_certain },
                    };
                    self.push(problem, pos, used.access, action);
                }
            }
        }
        for used in summary.uses.iter().filter(|used| used.carries) {
            let adds = used.carries_add;
            self.push(problem, pos, used.access, Action::Carry { adds });
        }
        if summary.slots != 0 {
            problem.barriers.push(Barrier {
                pos,
                slots: summary.slots,
                contents: false,
            });
        }
        for &(inst, banks) in &summary.calls {
            self.call(problem, pos, inst, banks);
        }
    }

    fn alloc_of(&self, access: u32) -> u32 {
        let access = pto_ir::AccessId::new(access as usize);
        self.program.access(access).alloc.index() as u32
    }

    /// What the regions of `holder` do.
    pub(super) fn summary(&self, holder: InstId) -> Option<std::rc::Rc<Summary>> {
        self.summaries.of(holder)
    }

    /// What `block` does with values from before it.
    pub(super) fn flow(&self, block: BlockId) -> Flow {
        let reach = |_: &Matmul| 0;
        let summarizer = Summarizer {
            program: self.program,
            geometry: self.geometry,
            reach: &reach,
            tied: &Tied::default(),
        };
        let mut flow = Flow::default();
        let levels = self.summaries.levels(&self.program.block(block).insts);
        for turns in 0..1 << levels {
            let summary = summarizer.block(block, &self.summaries, turns);
            let adds = summary.uses.iter().filter(|used| used.adds);
            flow.adds
                .extend(adds.map(|used| (self.alloc_of(used.access), used.access)));
            let wanted = summary.uses.iter().filter(|used| used.reads || used.adds);
            flow.wants
                .extend(wanted.map(|used| self.alloc_of(used.access)));
            match turns {
                0 => flow.overwrites = summary.kills,
                _ => flow.overwrites.retain(|kill| summary.kills.contains(kill)),
            }
        }
        flow.adds.sort_unstable();
        flow.adds.dedup();
        flow.wants.sort_unstable();
        flow.wants.dedup();
        flow
    }

    /// The slots whose pending bits a matmul inside a region may change: its region is not known
    /// yet, so all banks where regions may span several.
    fn reach(&self, matmul: &Matmul) -> u64 {
        let shape = self.geometry.shape_of(matmul.dst);
        if shape == NONE {
            return 0;
        }
        let group = self.group(matmul);
        let banks = if self.target.max_zero_region_code > 0 {
            pto_ir::Interval::new(0, self.target.banks)
        } else {
            self.geometry.shape(shape).banks
        };
        (banks.start..banks.end).fold(0, |slots, bank| slots | self.geometry.slots(bank, group))
    }
}
