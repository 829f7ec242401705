//! The edges of the graph: where control goes from the end of each node.

use pto_ir::{Block, BlockId, Condition, Op, RegionId, RegionKind};

use super::Edge;
use super::build::{Builder, Link};

impl Builder<'_> {
    fn edge(&mut self, from: usize, to: usize, skips_loop: bool) {
        self.add_edge(
            from,
            Edge {
                to,
                skips_loop,
                leaves: None,
            },
        );
    }

    fn add_edge(&mut self, from: usize, edge: Edge) {
        let edges = &mut self.graph.nodes[from].edges;
        if !edges.contains(&edge) {
            edges.push(edge);
        }
    }

    /// Adds the edges.
    pub(super) fn connect(&mut self) {
        for (node, block) in std::mem::take(&mut self.jumps) {
            let Block {
                successors, asks, ..
            } = self.program.block(block);
            let copy = self.graph.nodes[node].copy;
            let taken = self.graph.way(copy, *asks);
            let is_taken = |way: &(u32, &BlockId)| taken.is_none_or(|taken| taken == way.0);
            for (_, &to) in (0..).zip(successors).filter(is_taken) {
                if let Some(&(to, _)) = self.ends.get(&(to, copy)) {
                    self.edge(node, to, false);
                }
            }
            self.graph.nodes[node].is_exit =
                successors.is_empty() && self.program.holder(block).is_none();
        }
        for (fork, region, variants) in std::mem::take(&mut self.branches) {
            for variant in variants {
                if let Some(to) = self.entry(region, variant) {
                    self.edge(fork, to, false);
                }
            }
        }
        for link in std::mem::take(&mut self.links) {
            self.connect_regions(&link);
        }
    }

    fn entry(&self, region: RegionId, copy: u32) -> Option<usize> {
        let first = self.program.region(region).blocks.first()?;
        self.ends.get(&(*first, copy)).map(|&(entry, _)| entry)
    }

    /// The nodes that end `region`: those of blocks that jump nowhere.
    fn exits(&self, region: RegionId, copy: u32) -> Vec<usize> {
        let blocks = self.program.region(region).blocks.iter();
        let is_last = |block: &&BlockId| self.program.block(**block).successors.is_empty();
        let copies = self.variants.get(&(region, copy));
        let copies = copies.map_or(std::slice::from_ref(&copy), Vec::as_slice);
        let ends = copies.iter().flat_map(|&copy| {
            let blocks = blocks.clone().filter(is_last);
            blocks.filter_map(move |&block| self.ends.get(&(block, copy)))
        });
        ends.map(|&(_, end)| end).collect()
    }

    /// Entries and exits of those of `regions` that have any, in one copy.
    fn ways(&self, regions: &[RegionId], copy: u32) -> Vec<Way> {
        let ways = (0..).zip(regions);
        ways.filter_map(|(number, &region)| {
            Some(Way {
                number,
                entry: self.entry(region, copy)?,
                exits: self.exits(region, copy),
            })
        })
        .collect()
    }

    fn all(&mut self, from: &[usize], to: usize, skips_loop: bool) {
        from.iter()
            .for_each(|&from| self.edge(from, to, skips_loop));
    }

    fn connect_regions(&mut self, link: &Link) {
        let Some(&after) = self.rests.get(&link.after) else {
            return;
        };
        let before = link.before;
        let Op::Region { kind, regions } = &self.program.inst(link.holder).op else {
            return;
        };
        if let RegionKind::For { trips } = *kind {
            return self.connect_loop(link, after, trips, regions);
        }
        let ways = self.ways(regions, link.copy);
        match (*kind, ways.as_slice()) {
            (RegionKind::For { .. }, _) => {}
            (RegionKind::If | RegionKind::IndexSwitch, ways) => {
                // A region without blocks is none.
                let has_rest = *kind == RegionKind::If && ways.len() < 2;
                self.connect_branch(link, after, ways, has_rest);
            }
            (_, []) => self.edge(before, after, false),
            (RegionKind::While, [condition, rest @ ..]) => {
                let goes_on = match self.program.branch(link.holder) {
                    Some(Condition::Constant(goes_on)) => Some(*goes_on),
                    _ => None,
                };
                self.edge(before, condition.entry, false);
                if goes_on != Some(true) {
                    self.all(&condition.exits, after, true);
                }
                if goes_on == Some(false) {
                    return;
                }
                // Without a body the condition alone is repeated.
                if rest.is_empty() {
                    self.all(&condition.exits, condition.entry, false);
                }
                for body in rest {
                    self.all(&condition.exits, body.entry, false);
                    self.all(&body.exits, condition.entry, false);
                }
            }
            (RegionKind::Other, ways) => {
                self.edge(before, after, true);
                for way in ways {
                    self.edge(before, way.entry, false);
                    self.all(&way.exits, after, false);
                    for other in ways {
                        self.all(&way.exits, other.entry, false);
                    }
                }
            }
        }
    }

    /// The ways through the branch of `link`: those that may be taken. With `has_rest` one leads past it.
    fn connect_branch(&mut self, link: &Link, after: usize, ways: &[Way], has_rest: bool) {
        let program = self.program;
        let by_condition = program.branch(link.holder).and_then(|condition| {
            let taken = condition.holds(|holder, turn| self.graph.is_at(link.copy, holder, turn));
            taken.map(|is_first| u32::from(!is_first))
        });
        let choice = program.choice(link.holder).map(|chosen| chosen as u32);
        let taken = by_condition
            .or(choice)
            .or_else(|| self.graph.way(link.copy, program.asks(link.holder)));
        for way in ways {
            if taken.is_none_or(|taken| taken == way.number) {
                self.edge(link.before, way.entry, false);
                self.all(&way.exits, after, false);
            }
        }
        let is_past = match taken {
            Some(taken) => ways.iter().all(|way| way.number != taken),
            None => has_rest || ways.is_empty(),
        };
        if is_past {
            self.edge(link.before, after, false);
        }
    }

    /// The ways out of a loop.
    fn leave(&mut self, exits: &[usize], after: usize, link: &Link) {
        for &from in exits {
            self.add_edge(
                from,
                Edge {
                    to: after,
                    skips_loop: false,
                    leaves: Some(link.holder),
                },
            );
        }
    }

    /// The ways into, around and out of a loop, for every choice of inner loops.
    fn connect_loop(
        &mut self,
        link: &Link,
        after: usize,
        trips: Option<u64>,
        regions: &[RegionId],
    ) {
        let asked = self.program.asks(link.holder);
        let runs = match trips {
            Some(trips) => Some(trips > 0),
            None if self.program.runs(link.holder) => Some(true),
            None => self.graph.runs(self.program, link.copy, link.holder),
        };
        let is_large = asked.is_some_and(|asked| self.graph.large.contains(&asked.question));
        let mut is_empty = true;
        for &[first, others] in link.bodies.iter().filter(|_| runs != Some(false)) {
            let (bodies, rest) = (self.ways(regions, first), self.ways(regions, others));
            let (Some(body), Some(again)) = (bodies.first(), rest.first()) else {
                continue;
            };
            is_empty = false;
            self.edge(link.before, body.entry, false);
            if first == others || trips.is_none() && !is_large || trips == Some(1) {
                self.leave(&body.exits, after, link);
            }
            if trips != Some(1) {
                self.all(&body.exits, again.entry, false);
                if first != others {
                    if trips != Some(2) {
                        self.all(&again.exits, again.entry, false);
                    }
                    self.leave(&again.exits, after, link);
                }
            }
        }
        if is_empty || runs.is_none() {
            let skips = runs != Some(false) || trips.is_none();
            self.edge(link.before, after, skips);
        }
    }
}

/// A region as a way through an operation.
struct Way {
    number: u32,
    entry: usize,
    exits: Vec<usize>,
}
