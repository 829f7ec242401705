//! The edges of the graph: where control goes from the end of each node.

use pto_ir::{BlockId, Op, RegionId, RegionKind};

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
            let successors = &self.program.block(block).successors;
            let copy = self.graph.nodes[node].copy;
            for &to in successors {
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

    /// Entries and exits of the regions of `link` in one copy.
    fn ways(&self, regions: &[RegionId], copy: u32) -> Vec<(usize, Vec<usize>)> {
        let ways = regions.iter();
        ways.filter_map(|&region| Some((self.entry(region, copy)?, self.exits(region, copy))))
            .collect()
    }

    fn all(&mut self, from: &[usize], to: usize, skips_loop: bool) {
        from.iter()
            .for_each(|&from| self.edge(from, to, skips_loop));
    }

    fn connect_regions(&mut self, link: &Link) {
        let &Link { before, after, .. } = link;
        let program = self.program;
        let Op::Region { kind, regions } = &program.inst(link.holder).op else {
            return;
        };
        if let RegionKind::For { trips } = *kind {
            return self.connect_loop(link, trips, regions);
        }
        let ways = self.ways(regions, link.copy);
        match (*kind, ways.as_slice()) {
            (_, []) => self.edge(before, after, false),
            (RegionKind::For { .. }, _) => {}
            (RegionKind::While, [(condition, decides), rest @ ..]) => {
                self.edge(before, *condition, false);
                self.all(decides, after, true);
                // Without a body the condition alone is repeated.
                if rest.is_empty() {
                    self.all(decides, *condition, false);
                }
                for (body, exits) in rest {
                    self.all(decides, *body, false);
                    self.all(exits, *condition, false);
                }
            }
            (RegionKind::If | RegionKind::IndexSwitch, ways) => {
                let taken = program.branch(link.holder).and_then(|condition| {
                    condition.holds(|holder, turn| self.graph.is_at(link.copy, holder, turn))
                });
                let choice = program.choice(link.holder);
                let is_taken = |index: usize| {
                    taken.is_none_or(|first| first == (index == 0))
                        && choice.is_none_or(|chosen| chosen == index)
                };
                for (entry, exits) in (0..).zip(ways).filter(|(i, _)| is_taken(*i)).map(|w| w.1) {
                    self.edge(before, *entry, false);
                    self.all(exits, after, false);
                }
                if *kind == RegionKind::If && ways.len() < 2 && is_taken(1) {
                    self.edge(before, after, false);
                }
            }
            (RegionKind::Other, ways) => {
                self.edge(before, after, true);
                for (entry, exits) in ways {
                    self.edge(before, *entry, false);
                    self.all(exits, after, false);
                    for (other, _) in ways {
                        self.all(exits, *other, false);
                    }
                }
            }
        }
    }

    /// The ways out of a loop.
    fn leave(&mut self, exits: &[usize], link: &Link) {
        for &from in exits {
            self.add_edge(
                from,
                Edge {
                    to: link.after,
                    skips_loop: false,
                    leaves: Some(link.holder),
                },
            );
        }
    }

    /// The ways into, around and out of a loop, for every choice of inner loops.
    fn connect_loop(&mut self, link: &Link, trips: Option<u64>, regions: &[RegionId]) {
        let runs = match trips {
            Some(trips) => Some(trips > 0),
            None => self.graph.runs(link.copy, self.program.like(link.holder)),
        };
        let mut is_empty = true;
        for &[first, others] in link.bodies.iter().filter(|_| runs != Some(false)) {
            let (bodies, rest) = (self.ways(regions, first), self.ways(regions, others));
            let (Some((entry, exits)), Some((again, last))) = (bodies.first(), rest.first()) else {
                continue;
            };
            is_empty = false;
            self.edge(link.before, *entry, false);
            let is_large = self.graph.large.contains(&self.program.like(link.holder));
            if first == others || trips.is_none() && !is_large || trips == Some(1) {
                self.leave(exits, link);
            }
            if trips != Some(1) {
                self.all(exits, *again, false);
                if first != others {
                    self.all(last, *again, false);
                    self.leave(last, link);
                }
            }
        }
        if is_empty || runs.is_none() {
            self.edge(
                link.before,
                link.after,
                runs != Some(false) || trips.is_none(),
            );
        }
    }
}
