//! Regions of several blocks: where lives begin, and in which blocks a buffer is live.
//!
//! ```text
//!   %a, %b = psum_alloc bank 0         allocated together, where a front end puts them
//!   br ^sum_a
//! ^sum_a: tmatmul_acc %a; cond_br ^sum_a, ^between
//! ^between: copy %a; br ^sum_b         the life of %b begins here
//! ^sum_b: tmatmul_acc %b; cond_br ^sum_b, ^end
//! ```
//!
//! The *birth* of a buffer is the last block that control passes on every way from its allocation to its
//! uses, at most once in a life of the allocation. Nobody touches the buffer before, so it may as well have been
//! allocated there. From its birth on it is live in the blocks from which a read or an add of a value can be
//! reached without passing a block that overwrites all of it.
//!
//! Sums that other blocks than that of the birth begin by adding are cleared at its end.

use pto_ir::{AccessId, AllocId, BlockId, InstId, Program, Region, UseKind};

use rustc_hash::FxHashSet;

use super::blocks::{Blocks, Flow};
use super::chains::Content;
use super::geometry::{Geometry, NONE};
use super::lives::Context;
use super::problem::holds_data_on_entry;

/// Completes `contexts` by what crosses from block to block of one region.
pub(super) fn spread(
    program: &Program,
    geometry: &Geometry,
    blocks: &Blocks<'_>,
    contexts: &mut [Context],
) {
    let graph = Graph::new(program);
    let crossing = Crossing {
        program,
        geometry,
        classes: classes_of_buffers(program, geometry),
        contents: contents(program),
        flows: (0..program.blocks().len())
            .map(BlockId::new)
            .map(|block| graph.is_reached(block).then(|| blocks.flow(block)))
            .collect(),
        graph,
    };
    for (index, touched) in touching_blocks(program, geometry).iter().enumerate() {
        crossing.buffer(AllocId::new(index), touched, contexts);
    }
}

/// What is known of all buffers.
struct Crossing<'p> {
    program: &'p Program,
    geometry: &'p Geometry,
    graph: Graph<'p>,
    /// By buffer: the classes of all its accesses.
    classes: Vec<Vec<u32>>,
    /// By buffer: what its values are to a block that did not write them.
    contents: Vec<Content>,
    /// By block of a region with several of them.
    flows: Vec<Option<Flow>>,
}

impl Crossing<'_> {
    /// Adds where `id`, which `touched` blocks use, is live.
    fn buffer(&self, id: AllocId, touched: &[BlockId], contexts: &mut [Context]) {
        let (program, alloc) = (self.program, id.index() as u32);
        let reached = touched.iter().copied();
        let touched: Vec<BlockId> = reached.filter(|&b| self.graph.is_reached(b)).collect();
        let home = program.alloc(id).block;
        if touched.iter().all(|&block| block == home) && !program.alloc(id).escapes {
            return;
        }
        let birth = match holds_data_on_entry(program, id) {
            true => home,
            false => self.graph.birth(home, &touched),
        };
        let overwrites = |block: BlockId| self.overwrites(block, alloc);
        let keeps = |block: BlockId| {
            let is_end = program.block(block).successors.is_empty();
            is_end && program.alloc(id).escapes
        };
        let wants = |block: &BlockId| {
            let flow = self.flows[block.index()].as_ref();
            flow.is_some_and(|flow| flow.wants.binary_search(&alloc).is_ok())
                || keeps(*block) && !overwrites(*block)
        };
        let wanting = touched.iter().copied().filter(wants);
        let life = self.graph.life(birth, wanting, overwrites);
        for &block in &life.inside {
            let classes = self.classes[id.index()].iter();
            let live_in = classes.map(|&class| (class, alloc, self.contents[id.index()]));
            contexts[block.index()].live_in.extend(live_in);
        }
        let ends = touched.iter().filter(|&&block| keeps(block));
        for &block in life.before.iter().chain(ends) {
            contexts[block.index()].live_out.push((alloc, true));
        }
        self.clear_later(alloc, birth, &touched, contexts);
    }

    /// What other blocks than `birth` add to before anybody wrote it is cleared at its end.
    fn clear_later(
        &self,
        alloc: u32,
        birth: BlockId,
        touched: &[BlockId],
        contexts: &mut [Context],
    ) {
        let others = touched.iter().copied().filter(|&block| block != birth);
        let adding: Vec<BlockId> = others
            .filter(|&block| !self.adds(block, alloc).is_empty())
            .collect();
        let overwrites = |block: BlockId| self.overwrites(block, alloc);
        let life = self.graph.life(birth, adding.iter().copied(), overwrites);
        if life.before.contains(&birth) {
            let adds = adding.iter().flat_map(|&block| self.adds(block, alloc));
            let shapes = adds.map(|&(_, access)| {
                let access = AccessId::new(access as usize);
                (self.geometry.shape_of(access), alloc)
            });
            contexts[birth.index()].added_later.extend(shapes);
        }
    }

    /// Whether `block` writes every cell of `alloc` for certain.
    fn overwrites(&self, block: BlockId, alloc: u32) -> bool {
        let mut classes = self.classes[alloc as usize].iter();
        let flow = self.flows[block.index()].as_ref();
        flow.is_some_and(|flow| classes.all(|&class| flow.overwrites.contains(&(class, alloc))))
    }

    /// The accesses of `alloc` that `block` may add to, each with the buffer.
    fn adds(&self, block: BlockId, alloc: u32) -> &[(u32, u32)] {
        let all = self.flows[block.index()].as_ref();
        let all = all.map_or(&[][..], |flow| &flow.adds);
        let (first, end) = (
            all.partition_point(|&(other, _)| other < alloc),
            all.partition_point(|&(other, _)| other <= alloc),
        );
        &all[first..end]
    }
}

/// The blocks in which a buffer is live.
#[derive(Default)]
struct Life {
    /// Those that it is live at the beginning of.
    inside: Vec<BlockId>,
    /// Those that it is live at the end of.
    before: Vec<BlockId>,
}

/// How blocks of regions with several of them follow each other.
struct Graph<'p> {
    program: &'p Program,
    predecessors: Vec<Vec<BlockId>>,
    /// By block that can be reached in such a region: its place in the region's reverse postorder.
    places: Vec<Option<usize>>,
    /// By block: the block that control passes last on every way to it.
    dominators: Vec<Option<BlockId>>,
}

impl<'p> Graph<'p> {
    fn new(program: &'p Program) -> Self {
        let count = program.blocks().len();
        let mut graph = Self {
            program,
            predecessors: vec![Vec::new(); count],
            places: vec![None; count],
            dominators: vec![None; count],
        };
        for region in program.regions().iter().filter(|r| r.blocks.len() > 1) {
            graph.add_region(region);
        }
        graph
    }

    fn add_region(&mut self, region: &Region) {
        let program = self.program;
        let order = reverse_postorder(program, region.blocks[0]);
        for (place, &block) in order.iter().enumerate() {
            self.places[block.index()] = Some(place);
            for &next in &program.block(block).successors {
                self.predecessors[next.index()].push(block);
            }
        }
        self.dominators[order[0].index()] = Some(order[0]);
        let mut is_changed = true;
        while std::mem::take(&mut is_changed) {
            for &block in &order[1..] {
                let known = self.predecessors[block.index()].iter().copied();
                let known = known.filter(|before| self.dominators[before.index()].is_some());
                let dominator = known.reduce(|left, right| self.common(left, right));
                let slot = &mut self.dominators[block.index()];
                is_changed |= *slot != dominator;
                *slot = dominator;
            }
        }
    }

    fn is_reached(&self, block: BlockId) -> bool {
        self.places[block.index()].is_some()
    }

    /// The last block that control passes on every way to `left` and on every way to `right`.
    fn common(&self, mut left: BlockId, mut right: BlockId) -> BlockId {
        let place = |block: BlockId| self.places[block.index()];
        let above = |block: BlockId| self.dominators[block.index()].unwrap_or(block);
        while left != right {
            match place(left) > place(right) {
                true => left = above(left),
                false => right = above(right),
            }
        }
        left
    }

    /// The birth of a buffer that is allocated in `home`.
    fn birth(&self, home: BlockId, touched: &[BlockId]) -> BlockId {
        let all = touched.iter().copied();
        let mut birth = all.reduce(|a, b| self.common(a, b)).unwrap_or(home);
        while birth != home && self.comes_back(birth, home) {
            match self.dominators[birth.index()] {
                Some(above) if above != birth => birth = above,
                _ => return home,
            }
        }
        birth
    }

    /// Whether control may come back to `block` without passing `home`.
    fn comes_back(&self, block: BlockId, home: BlockId) -> bool {
        let mut is_seen = FxHashSet::from_iter([home]);
        let mut pending = vec![block];
        while let Some(at) = pending.pop() {
            for &next in &self.program.block(at).successors {
                if next == block {
                    return true;
                }
                if is_seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        false
    }

    /// Where a buffer with that birth is live whose values `wanting` blocks want.
    fn life(
        &self,
        birth: BlockId,
        wanting: impl Iterator<Item = BlockId>,
        overwrites: impl Fn(BlockId) -> bool,
    ) -> Life {
        let mut life = Life::default();
        let (mut is_inside, mut is_before) = (FxHashSet::default(), FxHashSet::default());
        let mut pending: Vec<BlockId> = wanting.filter(|&block| block != birth).collect();
        while let Some(block) = pending.pop() {
            if !is_inside.insert(block) {
                continue;
            }
            life.inside.push(block);
            for &before in &self.predecessors[block.index()] {
                if is_before.insert(before) {
                    life.before.push(before);
                    if before != birth && !overwrites(before) {
                        pending.push(before);
                    }
                }
            }
        }
        life
    }
}

/// The blocks that control can reach from `entry`, each after all that lead to it but for cycles.
fn reverse_postorder(program: &Program, entry: BlockId) -> Vec<BlockId> {
    let mut is_seen = vec![false; program.blocks().len()];
    is_seen[entry.index()] = true;
    let mut order = Vec::new();
    let mut pending = vec![(entry, 0)];
    while let Some((block, child)) = pending.pop() {
        match program.block(block).successors.get(child) {
            Some(&next) => {
                pending.push((block, child + 1));
                if !std::mem::replace(&mut is_seen[next.index()], true) {
                    pending.push((next, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

/// By buffer: the blocks of its own region that touch it, themselves or inside.
fn touching_blocks(program: &Program, geometry: &Geometry) -> Vec<Vec<BlockId>> {
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

/// By buffer: what its values are to a block that did not write them.
fn contents(program: &Program) -> Vec<Content> {
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
fn classes_of_buffers(program: &Program, geometry: &Geometry) -> Vec<Vec<u32>> {
    let mut result: Vec<Vec<u32>> = vec![Vec::new(); program.allocs().len()];
    let accesses = program.accesses().iter().enumerate();
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
