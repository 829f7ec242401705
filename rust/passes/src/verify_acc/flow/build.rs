//! Making the graph: nodes for the blocks in every copy. The edges between them are added in
//! [`connect`](super::connect).

use std::collections::BTreeSet;
use std::ops::Range;

use pto_ir::{BlockId, InstId, Op, Program, QuestionId, RegionId, RegionKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::forks::{Forks, asked_by_several};
use super::order::{program_order, renumbered, reverse_postorder};
use super::{Copy, Fact, Graph, Node, RUNS};

/// By tracked loop: the tracked loops inside it. Holders are numbered before what they hold.
fn inner_loops(program: &Program, tracked: &BTreeSet<InstId>) -> FxHashMap<InstId, Vec<InstId>> {
    let mut inside: FxHashMap<InstId, Vec<InstId>> = FxHashMap::default();
    for &inner in tracked {
        let mut around = program.holder(program.inst(inner).block);
        while let Some(holder) = around {
            if tracked.contains(&holder) {
                inside.entry(holder).or_default().push(inner);
            }
            around = program.holder(program.inst(holder).block);
        }
    }
    inside
}

pub(super) struct Builder<'a> {
    pub(super) program: &'a Program,
    pub(super) tracked: BTreeSet<InstId>,
    /// By tracked loop: the tracked loops inside it, from the outside in.
    pub(super) inside: FxHashMap<InstId, Vec<InstId>>,
    pub(super) graph: Graph,
    pub(super) limit: usize,
    /// The questions that several ask.
    pub(super) shared: BTreeSet<QuestionId>,
    pub(super) forks: Forks,
    /// The copies that forks made.
    pub(super) interned: FxHashMap<(u32, Fact), u32>,
    /// The nodes that begin after an operation with regions.
    pub(super) rests: FxHashMap<Rest, usize>,
    /// Those of them that are numbered or will be, where several nodes may lead to one.
    pub(super) awaited: FxHashSet<Rest>,
    /// By region and copy where it stands in several variants: the copies of those.
    pub(super) variants: FxHashMap<(RegionId, u32), Vec<u32>>,
    /// The nodes from which control goes to one of them.
    pub(super) branches: Vec<(usize, RegionId, Vec<u32>)>,
    /// By block and copy: its first and its last node.
    pub(super) ends: FxHashMap<(BlockId, u32), (usize, usize)>,
    /// The last node of each block, with the block.
    pub(super) jumps: Vec<(usize, BlockId)>,
    pub(super) links: Vec<Link>,
}

/// An operation with regions.
pub(super) struct Link {
    pub(super) holder: InstId,
    /// The nodes before and after it.
    pub(super) before: usize,
    pub(super) after: Rest,
    /// Its own copy, and those of its body: in the first iteration and in all others, for every choice
    /// of inner loops that run.
    pub(super) copy: u32,
    pub(super) bodies: Vec<[u32; 2]>,
}

/// The rest of a block after an operation with regions, the one before this stretch, in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Rest {
    block: BlockId,
    stretch: usize,
    copy: u32,
}

/// What is left to number, last first.
enum Work {
    Block(BlockId, u32),
    /// The node from which control goes to one of the variants of a region.
    Fork(RegionId, u32),
    /// The rest of a block: where it begins, and the copy in which the block does.
    Rest {
        rest: Rest,
        first: usize,
        base: u32,
    },
}

impl Builder<'_> {
    /// The graph in which the loops `tracked` have two bodies, what `forks` tells apart is there once for each
    /// answer, and loops that ask `large` run many times; `None` where it has more than `limit` nodes.
    pub(super) fn build(
        program: &Program,
        tracked: BTreeSet<InstId>,
        forks: Forks,
        large: BTreeSet<QuestionId>,
        limit: usize,
    ) -> Option<Graph> {
        let nothing = Copy {
            outer: 0,
            fact: Fact::IsFirst(InstId::new(0), true),
        };
        let mut builder = Builder {
            program,
            graph: Graph {
                nodes: Vec::new(),
                copies: vec![nothing],
                tracks: !tracked.is_empty(),
                is_refined: !forks.is_empty(),
                settled: forks.settled.clone(),
                large,
            },
            inside: inner_loops(program, &tracked),
            tracked,
            limit,
            shared: asked_by_several(program),
            forks,
            interned: FxHashMap::default(),
            rests: FxHashMap::default(),
            awaited: FxHashSet::default(),
            variants: FxHashMap::default(),
            branches: Vec::new(),
            ends: FxHashMap::default(),
            jumps: Vec::new(),
            links: Vec::new(),
        };
        builder.number_nodes()?;
        builder.connect();
        let mut graph = builder.graph;
        let order = match builder.forks.is_empty() {
            true => reverse_postorder(&graph.nodes),
            false => program_order(program, &graph.nodes),
        };
        graph.nodes = renumbered(graph.nodes, &order);
        Some(graph)
    }

    fn number_nodes(&mut self) -> Option<()> {
        let mut work = Vec::new();
        if self.program.body().is_some() {
            let mut granted = 0;
            for question in self.graph.large.clone() {
                granted = self.graph.copy(granted, Fact::Answer(question, RUNS));
            }
            self.push_region(RegionId::new(0), granted, &mut work);
        }
        while let Some(item) = work.pop() {
            if self.graph.nodes.len() >= self.limit {
                return None;
            }
            match item {
                Work::Block(block, copy) => {
                    let stretch = 0;
                    let start = Rest {
                        block,
                        stretch,
                        copy,
                    };
                    let node = self.stretch(start, 0, copy, &mut work);
                    let end = self.ends.entry((block, copy)).or_insert((node, node));
                    end.0 = node;
                }
                Work::Fork(region, copy) => self.fork(region, copy),
                Work::Rest { rest, first, base } => {
                    let node = self.stretch(rest, first, base, &mut work);
                    self.rests.insert(rest, node);
                }
            }
        }
        Some(())
    }

    /// Adds the node of `rest`, which begins at `first`, and pushes what follows it. The block begins in the copy
    /// `base`.
    fn stretch(&mut self, rest: Rest, first: usize, base: u32, work: &mut Vec<Work>) -> usize {
        let program = self.program;
        let Rest {
            block,
            stretch,
            copy,
        } = rest;
        let insts = &program.block(block).insts;
        let holds_regions =
            |&position: &usize| matches!(program.inst(insts[position]).op, Op::Region { .. });
        let end = (first..insts.len())
            .find(holds_regions)
            .unwrap_or(insts.len());
        let node = self.add_node(block, first..end, stretch, copy);
        let Some(&holder) = insts.get(end) else {
            self.jumps.push((node, block));
            let ends = self.ends.entry((block, copy)).or_insert((node, node));
            ends.1 = node;
            return node;
        };
        let mut inside = Vec::new();
        for variant in self.forked_at(block, end, copy) {
            let after = Rest {
                block,
                stretch: stretch + 1,
                copy: self.joined_at(block, end, variant, base),
            };
            let bodies = self.bodies(holder, variant);
            inside.push((variant, bodies.clone()));
            self.links.push(Link {
                holder,
                before: node,
                after,
                copy: variant,
                bodies,
            });
            if self.forks.within.is_empty() || self.awaited.insert(after) {
                let first = end + 1;
                work.push(Work::Rest {
                    rest: after,
                    first,
                    base,
                });
            }
        }
        for (variant, bodies) in inside.into_iter().rev() {
            self.push_bodies(holder, variant, bodies, work);
        }
        node
    }

    /// Leaves the regions of `holder` to be numbered, as far as they may run in `copy`.
    fn push_bodies(
        &mut self,
        holder: InstId,
        copy: u32,
        bodies: Vec<[u32; 2]>,
        work: &mut Vec<Work>,
    ) {
        let program = self.program;
        let Op::Region { kind, regions } = &program.inst(holder).op else {
            return;
        };
        let taken = match kind {
            RegionKind::If | RegionKind::IndexSwitch => self.graph.way(copy, program.asks(holder)),
            _ => None,
        };
        let mut copies: Vec<u32> = bodies.into_iter().flatten().collect();
        copies.dedup();
        for &copy in copies.iter().rev() {
            for (way, &region) in regions.iter().enumerate().rev() {
                if taken.is_none_or(|taken| taken as usize == way) {
                    self.push_region(region, copy, work);
                }
            }
        }
    }

    fn add_node(
        &mut self,
        block: BlockId,
        range: Range<usize>,
        stretch: usize,
        copy: u32,
    ) -> usize {
        self.graph.nodes.push(Node {
            block,
            first: range.start,
            end: range.end,
            stretch,
            edges: Vec::new(),
            is_exit: false,
            is_fork: false,
            copy,
        });
        self.graph.nodes.len() - 1
    }

    /// Leaves the blocks of `region` to be numbered, in every variant.
    fn push_region(&mut self, region: RegionId, copy: u32, work: &mut Vec<Work>) {
        let blocks = &self.program.region(region).blocks;
        let variants = self.forked(region, copy);
        for &variant in variants.iter().rev() {
            work.extend(
                blocks
                    .iter()
                    .rev()
                    .map(|&block| Work::Block(block, variant)),
            );
        }
        if variants.len() > 1 {
            work.push(Work::Fork(region, copy));
            self.variants.insert((region, copy), variants);
        }
    }

    /// The node that comes before the variants of `region`. It is empty.
    fn fork(&mut self, region: RegionId, copy: u32) {
        if let (Some(variants), Some(&entry)) = (
            self.variants.get(&(region, copy)).cloned(),
            self.program.region(region).blocks.first(),
        ) {
            let node = self.add_node(entry, 0..0, 0, copy);
            self.graph.nodes[node].is_fork = true;
            self.ends.insert((entry, copy), (node, node));
            self.branches.push((node, region, variants));
        }
    }
}
