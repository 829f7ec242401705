//! What is live around each block: values that come in, and buffers that are wanted afterwards.
//!
//! * Arguments that hold data come into the entry block; buffers that escape are wanted at the end.
//! * Where a region has several blocks, a buffer that several of them touch is live on every path
//!   from its own block to a block that touches it, in all its cells.
//! * Around the regions of an operation lives what is live at the operation. Where the regions may
//!   run again, what one run wants of the run before is wanted at the end of each.

use pto_ir::{AccessId, AllocId, BlockId, InstId, Op, Program, RegionKind, UseKind};

use super::chains::{Chains, Content, Held};
use super::geometry::{Geometry, NONE};
use super::problem::{BlockProblem, Blocks, holds_data_on_entry};

/// What is live around one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// Cell classes that hold a value of a buffer at the beginning.
    pub live_in: Vec<(u32, u32, Content)>,
    /// Buffers whose contents are wanted at the end, and whether they may be added to after it.
    pub live_out: Vec<(u32, bool)>,
    /// Shapes and buffers that other blocks of the region add to.
    pub added_later: Vec<(u32, u32)>,
}

/// The contexts of all blocks, completed from the outside in.
#[derive(Debug)]
pub(super) struct Lives<'p> {
    program: &'p Program,
    contexts: Vec<Context>,
}

/// Whether the regions of `holder` run at most once each time it does, each one block long.
pub(super) fn runs_once(program: &Program, holder: InstId) -> bool {
    match &program.inst(holder).op {
        Op::Region {
            kind: RegionKind::If | RegionKind::IndexSwitch | RegionKind::For { trips: Some(0 | 1) },
            regions,
        } => regions
            .iter()
            .all(|&region| program.region(region).blocks.len() <= 1),
        _ => false,
    }
}

impl<'p> Lives<'p> {
    /// The contexts as far as they do not depend on values inside blocks.
    pub(super) fn new(program: &'p Program, geometry: &Geometry, blocks: &Blocks<'_>) -> Self {
        let mut lives = Self {
            program,
            contexts: vec![Context::default(); program.blocks().len()],
        };
        lives.arguments(geometry);
        if program
            .regions()
            .iter()
            .any(|region| region.blocks.len() > 1)
        {
            lives.spread(geometry, blocks);
        }
        lives
    }

    /// The context of `block`; complete once the blocks around it were walked.
    pub(super) fn context(&self, block: BlockId) -> &Context {
        &self.contexts[block.index()]
    }

    /// Adds what the walk over a block found to the blocks inside it.
    pub(super) fn descend(&mut self, problem: &BlockProblem, chains: &Chains) {
        let program = self.program;
        for around in &chains.around {
            let is_used = |held: &&Held, from: u32| chains.last_uses[held.uses as usize] >= from;
            let entering = if around.runs_once {
                &around.before
            } else {
                &around.after
            };
            let live_in: Vec<(u32, u32, Content)> = entering
                .iter()
                .filter(|held| is_used(held, around.pos))
                .map(|held| (held.class, held.alloc, held.content))
                .collect();
            let is_added = |held: &Held| {
                let object = &chains.objects[chains.root(held.object) as usize];
                held.is_added || object.added_at > around.pos
            };
            let mut live_out: Vec<(u32, bool)> = around
                .after
                .iter()
                .filter(|held| held.is_carried || is_used(held, around.pos + 1))
                .map(|held| (held.alloc, is_added(held)))
                .collect();
            live_out.sort_unstable();
            live_out.dedup();
            let holder = problem.inst_at(program, around.pos);
            let Op::Region { regions, .. } = &program.inst(holder).op else {
                continue;
            };
            for &block in regions.iter().flat_map(|&r| &program.region(r).blocks) {
                let context = &mut self.contexts[block.index()];
                context.live_in.extend_from_slice(&live_in);
                context.live_out.extend_from_slice(&live_out);
            }
        }
    }

    fn arguments(&mut self, geometry: &Geometry) {
        let Some(&entry) = self.program.body().and_then(|body| body.blocks.first()) else {
            return;
        };
        for &(alloc, shape) in geometry.wholes() {
            if holds_data_on_entry(self.program, alloc) {
                let alloc = alloc.index() as u32;
                let classes = geometry.classes(shape).iter();
                let live_in = classes.map(|&class| (class, alloc, Content::Data));
                self.contexts[entry.index()].live_in.extend(live_in);
            }
        }
        for (index, alloc) in self.program.allocs().iter().enumerate() {
            if alloc.escapes {
                let context = &mut self.contexts[alloc.block.index()];
                context.live_out.push((index as u32, false));
            }
        }
    }

    /// Lives that cross from block to block of one region.
    fn spread(&mut self, geometry: &Geometry, blocks: &Blocks<'_>) {
        let program = self.program;
        let touched = self.touching_blocks(geometry);
        let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); program.blocks().len()];
        for (index, block) in program.blocks().iter().enumerate() {
            for successor in &block.successors {
                predecessors[successor.index()].push(BlockId::new(index));
            }
        }
        let classes = self.classes_of_buffers(geometry);
        let contents = self.contents();
        self.add_later(geometry, blocks);
        let mut is_live = vec![false; program.blocks().len()];
        for (index, touched) in touched.iter().enumerate() {
            let home = program.allocs()[index].block;
            let mut pending: Vec<BlockId> = touched
                .iter()
                .copied()
                .filter(|&block| block != home)
                .collect();
            let mut live: Vec<BlockId> = Vec::new();
            while let Some(block) = pending.pop() {
                if !std::mem::replace(&mut is_live[block.index()], true) {
                    live.push(block);
                    let before = predecessors[block.index()].iter().copied();
                    pending.extend(before.filter(|&b| b != home));
                }
            }
            let content = contents[index];
            self.cross(
                AllocId::new(index),
                &live,
                &is_live,
                &classes[index],
                content,
            );
            live.iter().for_each(|block| is_live[block.index()] = false);
        }
    }

    /// By buffer: the blocks of its own region that touch it, themselves or inside.
    fn touching_blocks(&self, geometry: &Geometry) -> Vec<Vec<BlockId>> {
        let program = self.program;
        let mut result: Vec<Vec<BlockId>> = vec![Vec::new(); program.allocs().len()];
        for (index, inst) in program.insts().iter().enumerate() {
            for used in program.uses(InstId::new(index)) {
                if geometry.shape_of(used.access) == NONE {
                    continue;
                }
                let alloc = program.access(used.access).alloc;
                let region = program.block(program.alloc(alloc).block).region;
                let mut block = inst.block;
                while program.block(block).region != region {
                    match program.holder(block) {
                        Some(holder) => block = program.inst(holder).block,
                        None => break,
                    }
                }
                let blocks = &mut result[alloc.index()];
                if blocks.last() != Some(&block) {
                    blocks.push(block);
                }
            }
        }
        for (alloc, blocks) in program.allocs().iter().zip(&mut result) {
            if alloc.escapes {
                let region = program.region(program.block(alloc.block).region);
                let ends = region.blocks.iter();
                blocks.extend(ends.filter(|b| program.block(**b).successors.is_empty()));
            }
        }
        result
    }

    /// What other blocks of a region add to is cleared at the end of the block of the allocation.
    fn add_later(&mut self, geometry: &Geometry, blocks: &Blocks<'_>) {
        let program = self.program;
        let several = |region: &&pto_ir::Region| region.blocks.len() > 1;
        for region in program.regions().iter().filter(several) {
            for &block in &region.blocks {
                for access in blocks.adds_of(block) {
                    let access = AccessId::new(access as usize);
                    let alloc = program.access(access).alloc;
                    let home = program.alloc(alloc).block;
                    let is_here = program.block(home).region == program.block(block).region;
                    if home != block && is_here {
                        let later = (geometry.shape_of(access), alloc.index() as u32);
                        self.contexts[home.index()].added_later.push(later);
                    }
                }
            }
        }
    }

    /// By buffer: what its values are to a block that did not write them.
    fn contents(&self) -> Vec<Content> {
        let program = self.program;
        let mut result: Vec<Content> = (0..program.allocs().len())
            .map(
                |index| match holds_data_on_entry(program, AllocId::new(index)) {
                    true => Content::Data,
                    false => Content::Zero,
                },
            )
            .collect();
        for index in 0..program.insts().len() {
            for used in program.uses(InstId::new(index)) {
                if used.kind == UseKind::Write {
                    result[program.access(used.access).alloc.index()] = Content::Data;
                }
            }
        }
        result
    }

    /// By buffer: the classes of all its accesses.
    fn classes_of_buffers(&self, geometry: &Geometry) -> Vec<Vec<u32>> {
        let mut result: Vec<Vec<u32>> = vec![Vec::new(); self.program.allocs().len()];
        let accesses = self.program.accesses().iter().enumerate();
        let shapes = accesses
            .map(|(index, access)| (access.alloc, geometry.shape_of(AccessId::new(index))))
            .chain(geometry.wholes().iter().copied());
        for (alloc, shape) in shapes.filter(|&(_, shape)| shape != NONE) {
            result[alloc.index()].extend_from_slice(geometry.classes(shape));
        }
        for classes in &mut result {
            classes.sort_unstable();
            classes.dedup();
        }
        result
    }

    /// A buffer that is live at the beginning of the blocks `live`.
    fn cross(
        &mut self,
        alloc: AllocId,
        live: &[BlockId],
        is_live: &[bool],
        classes: &[u32],
        content: Content,
    ) {
        if live.is_empty() {
            return;
        }
        let program = self.program;
        let id = alloc.index() as u32;
        for &block in live {
            let live_in = classes.iter().map(|&class| (class, id, content));
            self.contexts[block.index()].live_in.extend(live_in);
        }
        let home = program.alloc(alloc).block;
        for &block in live.iter().chain([&home]) {
            let mut successors = program.block(block).successors.iter();
            if successors.any(|next| is_live[next.index()]) {
                self.contexts[block.index()].live_out.push((id, true));
            }
        }
    }
}
