//! What is live around each block: values that come in, and buffers that are wanted afterwards.
//!
//! * Arguments that hold data come into the entry block; buffers that escape are wanted at the end.
//! * Where a region has several blocks, [`jumps`] tells in which a buffer is live, in all its cells.
//! * Around the regions of an operation lives what is live at the operation. Where the regions may
//!   run again, what one run wants of the run before is wanted at the end of each.

use pto_ir::{BlockId, InstId, Op, Program, RegionId, RegionKind};

use super::blocks::Blocks;
use super::chains::{Chains, Content, Held};
use super::geometry::Geometry;
use super::jumps;
use super::problem::{BlockProblem, holds_data_on_entry};
use super::turns::choice;

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
            jumps::spread(program, geometry, blocks, &mut lives.contexts);
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
            // What never runs has nothing around it.
            let choice = choice(program, holder);
            let is_alive = |&(at, &region): &(usize, &RegionId)| {
                choice.is_none_or(|chosen| chosen == at) && !program.is_dead(region)
            };
            let alive = (0..).zip(regions).filter(is_alive);
            for &block in alive.flat_map(|(_, &r)| &program.region(r).blocks) {
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
            // Where several blocks may be the last, those are.
            let region = self.program.block(alloc.block).region;
            if alloc.escapes && self.program.region(region).blocks.len() == 1 {
                let context = &mut self.contexts[alloc.block.index()];
                context.live_out.push((index as u32, false));
            }
        }
    }
}
