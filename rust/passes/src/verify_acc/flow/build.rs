//! Making the graph: nodes for the blocks in every copy. The edges between them are added in
//! [`connect`](super::connect).

use std::collections::BTreeSet;
use std::ops::Range;

use pto_ir::{Asked, BlockId, InstId, Op, Program, QuestionId, RegionId, RegionKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::forks::{Forks, asked_by_several};
use super::order::{program_order, renumbered, reverse_postorder};
use super::{Copy, Fact, Graph, Node, RUNS, is_counted};

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

    /// The copies in which the entry at `position` of `block` stands, where control comes there in `copy`: one for
    /// each answer to the questions that are told apart from there on.
    fn forked_at(&mut self, block: BlockId, position: usize, copy: u32) -> Vec<u32> {
        let mut variants = vec![copy];
        let Some(forks) = self.forks.within.get(&block) else {
            return variants;
        };
        let from = forks.partition_point(|fork| fork.first < position);
        let starting = forks[from..]
            .iter()
            .take_while(|fork| fork.first == position);
        for fork in starting.copied().collect::<Vec<_>>() {
            if !self.knows(copy, fork.question) {
                variants = self.answered(&variants, fork.question, fork.answers);
            }
        }
        variants
    }

    /// The copy in which control goes on after the entry at `position` of `block`, coming from `copy`: without
    /// the answers to questions that are told apart up to there, the block having begun in `base`.
    fn joined_at(&mut self, block: BlockId, position: usize, copy: u32, base: u32) -> u32 {
        if copy == base {
            return copy;
        }
        let mut kept = Vec::new();
        let mut inner = copy;
        while inner != base && inner != 0 {
            let Copy { outer, fact } = self.graph.copies[inner as usize];
            let last = match fact {
                Fact::Answer(question, _) => self.forks.last.get(&(block, question)),
                Fact::IsFirst(..) => None,
            };
            if last != Some(&position) {
                kept.push(fact);
            }
            inner = outer;
        }
        let facts = kept.into_iter().rev();
        facts.fold(base, |outer, fact| self.interned_copy(outer, fact))
    }

    /// `copies`, each with every answer to `question`.
    fn answered(&mut self, copies: &[u32], question: QuestionId, answers: u32) -> Vec<u32> {
        let mut variants = Vec::new();
        for &known in copies {
            for answer in 0..answers {
                variants.push(self.interned_copy(known, Fact::Answer(question, answer)));
            }
        }
        variants
    }

    fn interned_copy(&mut self, outer: u32, fact: Fact) -> u32 {
        let graph = &mut self.graph;
        let new = || graph.copy(outer, fact);
        *self.interned.entry((outer, fact)).or_insert_with(new)
    }

    fn knows(&self, copy: u32, question: QuestionId) -> bool {
        let negated = false;
        self.graph
            .way(copy, Some(Asked { question, negated }))
            .is_some()
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

    /// The copies of `region`: where questions are told apart all over it, one for each answer.
    fn forked(&mut self, region: RegionId, copy: u32) -> Vec<u32> {
        let mut variants = vec![copy];
        for (question, answers) in self.forks.whole.get(&region).cloned().unwrap_or_default() {
            if !self.knows(copy, question) {
                variants = self.answered(&variants, question, answers);
            }
        }
        variants
    }

    /// The copies of the body of `holder` in its first and its other iterations, for every choice of
    /// inner loops that run. None where it does not run itself.
    fn bodies(&mut self, holder: InstId, outer: u32) -> Vec<[u32; 2]> {
        if !is_counted(self.program, holder) {
            return vec![[outer; 2]];
        }
        let asked = self.program.asks(holder);
        let outer = match (self.graph.way(outer, asked), asked) {
            (Some(RUNS), _) => outer,
            (Some(_), _) => return Vec::new(),
            // It runs, and so do those inside that have its bounds.
            (None, Some(asked)) if self.shared.contains(&asked.question) => {
                let runs = Fact::Answer(asked.question, asked.way(RUNS));
                self.graph.copy(outer, runs)
            }
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
                [true, false].map(|first| graph.copy(choice, Fact::IsFirst(holder, first)))
            })
            .collect()
    }

    /// Copies of `outer` that say of the inner loops that run in every iteration of `holder` or in none
    /// which it is.
    fn choices(&mut self, holder: InstId, outer: u32) -> Vec<u32> {
        let mut choices = vec![outer];
        for inner in self.inner_loops(holder) {
            let Some(asked) = self.program.asks(inner) else {
                continue;
            };
            let known = std::mem::take(&mut choices);
            for choice in known {
                // Where a loop around it does not run the question does not arise.
                if self.knows(choice, asked.question) || self.is_dead(inner, holder, choice) {
                    choices.push(choice);
                } else {
                    for answer in 0..2 {
                        let fact = Fact::Answer(asked.question, asked.way(answer));
                        choices.push(self.graph.copy(choice, fact));
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
            if self.graph.runs(self.program, choice, around) == Some(false) {
                return true;
            }
            inst = around;
        }
        false
    }
}
