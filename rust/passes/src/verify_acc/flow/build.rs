//! Making the graph: nodes for the blocks in every copy. The edges between them are added in
//! [`connect`](super::connect).

use std::collections::BTreeSet;
use std::ops::Range;

use pto_ir::{BlockId, InstId, Op, Program, RegionId, RegionKind};
use rustc_hash::FxHashMap;

use super::forks::{Forks, shared_bounds};
use super::order::{program_order, renumbered, reverse_postorder};
use super::{Copy, Fact, Graph, Node};

/// More choices of inner loops than this are not made.
const MAX_CHOICES: usize = 16;

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
    /// The first loops of which others have the bounds.
    pub(super) shared: BTreeSet<InstId>,
    pub(super) forks: Forks,
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
    pub(super) after: usize,
    /// Its own copy, and those of its body: in the first iteration and in all others, for every choice
    /// of inner loops that run.
    pub(super) copy: u32,
    pub(super) bodies: Vec<[u32; 2]>,
}

/// What is left to number, last first.
enum Work {
    Block(BlockId, u32),
    /// The node from which control goes to one of the variants of a region.
    Fork(RegionId, u32),
    /// The rest of a block after an operation with regions: where it begins, and the node before
    /// the operation with the copies of its body.
    Rest {
        first: usize,
        before: usize,
        bodies: Vec<[u32; 2]>,
    },
}

impl Builder<'_> {
    /// The graph in which the loops `tracked` have two bodies, and regions the variants of `forks`; `None`
    /// where it has more than `limit` nodes.
    pub(super) fn build(
        program: &Program,
        tracked: BTreeSet<InstId>,
        forks: Forks,
        large: BTreeSet<InstId>,
        limit: usize,
    ) -> Option<Graph> {
        let nothing = Copy {
            outer: 0,
            of: InstId::new(0),
            fact: Fact::Runs(true),
        };
        let mut builder = Builder {
            program,
            graph: Graph {
                nodes: Vec::new(),
                copies: vec![nothing],
                tracks: !tracked.is_empty(),
                is_refined: !forks.is_empty(),
                large,
            },
            inside: inner_loops(program, &tracked),
            tracked,
            limit,
            shared: shared_bounds(program),
            forks,
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
            false => program_order(&graph.nodes),
        };
        graph.nodes = renumbered(graph.nodes, &order);
        Some(graph)
    }

    fn number_nodes(&mut self) -> Option<()> {
        let mut work = Vec::new();
        if self.program.body().is_some() {
            let mut granted = 0;
            for like in self.graph.large.clone() {
                granted = self.graph.copy(granted, like, Fact::Runs(true));
            }
            self.push_region(RegionId::new(0), granted, &mut work);
        }
        while let Some(item) = work.pop() {
            if self.graph.nodes.len() >= self.limit {
                return None;
            }
            match item {
                Work::Block(block, copy) => {
                    let node = self.stretch(block, copy, 0, 0, &mut work);
                    let end = self.ends.entry((block, copy)).or_insert((node, node));
                    end.0 = node;
                }
                Work::Fork(region, copy) => self.fork(region, copy),
                Work::Rest {
                    first,
                    before,
                    bodies,
                } => {
                    let Node {
                        block,
                        copy,
                        stretch,
                        ..
                    } = self.graph.nodes[before];
                    let after = self.stretch(block, copy, first, stretch + 1, &mut work);
                    self.links.push(Link {
                        holder: self.program.block(block).insts[first - 1],
                        before,
                        after,
                        copy,
                        bodies,
                    });
                }
            }
        }
        Some(())
    }

    /// Adds the node that begins at `first` and pushes what follows it.
    fn stretch(
        &mut self,
        block: BlockId,
        copy: u32,
        first: usize,
        stretch: usize,
        work: &mut Vec<Work>,
    ) -> usize {
        let program = self.program;
        let insts = &program.block(block).insts;
        let holds_regions =
            |&position: &usize| matches!(program.inst(insts[position]).op, Op::Region { .. });
        let end = (first..insts.len())
            .find(holds_regions)
            .unwrap_or(insts.len());
        let node = self.add_node(block, first..end, stretch, copy);
        if let Some(&holder) = insts.get(end)
            && let Op::Region { regions, .. } = &program.inst(holder).op
        {
            let bodies = self.bodies(holder, copy);
            let mut copies: Vec<u32> = bodies.iter().flatten().copied().collect();
            copies.dedup();
            work.push(Work::Rest {
                first: end + 1,
                before: node,
                bodies,
            });
            for &copy in copies.iter().rev() {
                for &region in regions.iter().rev() {
                    self.push_region(region, copy, work);
                }
            }
        } else {
            self.jumps.push((node, block));
            let ends = self.ends.entry((block, copy)).or_insert((node, node));
            ends.1 = node;
        }
        node
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

    /// The copies of `region`: where it makes the bounds of several loops, one for each choice of those
    /// that run.
    fn forked(&mut self, region: RegionId, copy: u32) -> Vec<u32> {
        let holder = self.program.region(region).holder;
        let mut variants = vec![copy];
        for like in self.forks.get(&holder).cloned().unwrap_or_default() {
            if self.graph.runs(copy, like).is_none() {
                let known = variants.into_iter();
                variants = known
                    .flat_map(|known| {
                        [true, false].map(|runs| self.graph.copy(known, like, Fact::Runs(runs)))
                    })
                    .collect();
            }
        }
        variants
    }

    /// The copies of the body of `holder` in its first and its other iterations, for every choice of
    /// inner loops that run. None where it does not run itself.
    fn bodies(&mut self, holder: InstId, outer: u32) -> Vec<[u32; 2]> {
        let like = self.program.like(holder);
        let outer = match self.graph.runs(outer, like) {
            Some(false) => return Vec::new(),
            // It runs, and so do those inside that have its bounds.
            None if self.shared.contains(&like) => self.graph.copy(outer, like, Fact::Runs(true)),
            _ => outer,
        };
        if !self.tracked.contains(&holder) {
            return vec![[outer; 2]];
        }
        let choices = self.choices(holder, outer);
        let graph = &mut self.graph;
        choices
            .into_iter()
            .map(|choice| {
                [true, false].map(|first| graph.copy(choice, holder, Fact::IsFirst(first)))
            })
            .collect()
    }

    /// Copies of `outer` that say of the inner loops that run in every iteration of `holder` or in none
    /// which it is.
    fn choices(&mut self, holder: InstId, outer: u32) -> Vec<u32> {
        let mut choices = vec![outer];
        for inner in self.inner_loops(holder) {
            let known = std::mem::take(&mut choices);
            for choice in known {
                let like = self.program.like(inner);
                let is_decided = self.graph.runs(choice, like).is_some();
                // Where a loop around it does not run the question does not arise.
                if is_decided || self.is_dead(inner, holder, choice) {
                    choices.push(choice);
                } else {
                    for runs in [true, false] {
                        choices.push(self.graph.copy(choice, like, Fact::Runs(runs)));
                    }
                }
            }
            if choices.len() > MAX_CHOICES {
                return vec![outer];
            }
        }
        choices
    }

    /// The loops inside `holder` of which somebody asks and whose bounds do not vary there.
    fn inner_loops(&self, holder: InstId) -> Vec<InstId> {
        let program = self.program;
        let is_open = |&inner: &InstId| {
            let is_unknown = matches!(
                program.inst(inner).op,
                Op::Region {
                    kind: RegionKind::For { trips: None },
                    ..
                }
            );
            let varies = program.bounds(inner).is_none_or(|bounds| {
                let around = bounds.vary_in;
                around.is_some_and(|around| around == holder || self.is_inside(around, holder))
            });
            is_unknown && !varies
        };
        let inside = self.inside.get(&holder).into_iter().flatten();
        inside.copied().filter(is_open).collect()
    }

    fn is_inside(&self, inst: InstId, holder: InstId) -> bool {
        let mut inst = inst;
        while let Some(around) = self.program.holder(self.program.inst(inst).block) {
            if around == holder {
                return true;
            }
            inst = around;
        }
        false
    }

    fn is_dead(&self, inner: InstId, holder: InstId, choice: u32) -> bool {
        let mut inst = inner;
        while let Some(around) = self.program.holder(self.program.inst(inst).block)
            && around != holder
        {
            if self.graph.runs(choice, self.program.like(around)) == Some(false) {
                return true;
            }
            inst = around;
        }
        false
    }
}
