//! Where control goes: the region tree and the blocks as one graph.
//!
//! A node is a stretch of one block between operations that hold regions. Loops, branches and jumps
//! are all edges, so the analysis is one worklist, whatever the nesting, and needs no stack.

use pto_ir::{BlockId, Op, Program, RegionId, RegionKind};

/// A stretch of a block: the positions `first..end` of its list of entries.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) block: BlockId,
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) edges: Vec<Edge>,
    /// Whether the function may end here.
    pub(crate) is_exit: bool,
}

/// The way from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) to: usize,
    /// It goes around a loop that does not run.
    pub(crate) skips_loop: bool,
}

/// The graph of `program`; node 0 is the entry. However the blocks are listed, going through the
/// nodes in order meets every node after all those that lead to it, but for loops, and the nodes of
/// one block in their order; those that nothing leads to come last. Without `has_flow` the function
/// is known to be one straight line.
pub(crate) fn graph(program: &Program, has_flow: bool) -> Vec<Node> {
    if let (false, Some(block)) = (has_flow, program.blocks().first()) {
        let end = block.insts.len();
        let line = Node {
            block: BlockId::new(0),
            first: 0,
            end,
            edges: Vec::new(),
            is_exit: true,
        };
        return vec![line];
    }
    let mut builder = Builder {
        program,
        nodes: Vec::new(),
        entries: vec![None; program.blocks().len()],
        jumps: Vec::new(),
        links: Vec::new(),
        ends: vec![0; program.blocks().len()],
    };
    builder.number_nodes();
    builder.connect();
    in_reverse_postorder(builder.nodes)
}

/// The nodes in an order in which only edges of loops lead back. Among nodes that neither comes
/// first of, the order of the program stays: loop bodies before what follows the loop.
fn in_reverse_postorder(nodes: Vec<Node>) -> Vec<Node> {
    let mut finished: Vec<usize> = Vec::with_capacity(nodes.len());
    let mut is_seen = vec![false; nodes.len()];
    // Each node with the targets left to follow, the last in program order first.
    let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
    let targets = |node: usize| {
        let mut targets: Vec<usize> = nodes[node].edges.iter().map(|edge| edge.to).collect();
        targets.sort_unstable();
        targets
    };
    if !nodes.is_empty() {
        is_seen[0] = true;
        path.push((0, targets(0)));
    }
    while let Some((node, left)) = path.last_mut() {
        match left.pop() {
            Some(next) if is_seen[next] => {}
            Some(next) => {
                is_seen[next] = true;
                path.push((next, targets(next)));
            }
            None => {
                finished.push(*node);
                path.pop();
            }
        }
    }
    finished.reverse();
    finished.extend((0..nodes.len()).filter(|&node| !is_seen[node]));
    renumbered(nodes, &finished)
}

/// `nodes` in the order that `order` lists them in.
fn renumbered(nodes: Vec<Node>, order: &[usize]) -> Vec<Node> {
    let mut rank = vec![0; nodes.len()];
    for (new, &old) in order.iter().enumerate() {
        rank[old] = new;
    }
    let mut ranked: Vec<(usize, Node)> = nodes.into_iter().enumerate().collect();
    ranked.sort_unstable_by_key(|&(old, _)| rank[old]);
    let renamed = |(_, mut node): (usize, Node)| {
        for edge in &mut node.edges {
            edge.to = rank[edge.to];
        }
        node
    };
    ranked.into_iter().map(renamed).collect()
}

struct Builder<'a> {
    program: &'a Program,
    nodes: Vec<Node>,
    /// By block: its first node.
    entries: Vec<Option<usize>>,
    /// The last node of each block, with the block.
    jumps: Vec<(usize, BlockId)>,
    /// For each operation with regions: the nodes before and after it.
    links: Vec<(usize, usize, RegionKind, Vec<RegionId>)>,
    /// By block: its last node.
    ends: Vec<usize>,
}

/// What is left to number, last first.
enum Work {
    Block(BlockId),
    /// The rest of a block after an operation with regions: where it begins, and the node before
    /// the operation.
    Rest {
        block: BlockId,
        first: usize,
        before: usize,
    },
}

impl Builder<'_> {
    fn number_nodes(&mut self) {
        let mut work = Vec::new();
        if let Some(body) = self.program.body() {
            work.extend(body.blocks.iter().rev().map(|&block| Work::Block(block)));
        }
        while let Some(item) = work.pop() {
            let (block, first, before) = match item {
                Work::Block(block) => (block, 0, None),
                Work::Rest {
                    block,
                    first,
                    before,
                } => (block, first, Some(before)),
            };
            let node = self.stretch(block, first, &mut work);
            match before {
                None => self.entries[block.index()] = Some(node),
                Some(before) => self.link(before, node, block, first - 1),
            }
        }
    }

    /// Adds the node that begins at `first` and pushes what follows it.
    fn stretch(&mut self, block: BlockId, first: usize, work: &mut Vec<Work>) -> usize {
        let program = self.program;
        let insts = &program.block(block).insts;
        let holds_regions =
            |&position: &usize| matches!(program.inst(insts[position]).op, Op::Region { .. });
        let end = (first..insts.len())
            .find(holds_regions)
            .unwrap_or(insts.len());
        let node = self.nodes.len();
        self.nodes.push(Node {
            block,
            first,
            end,
            edges: Vec::new(),
            is_exit: false,
        });
        if let Some(&holder) = insts.get(end)
            && let Op::Region { regions, .. } = &program.inst(holder).op
        {
            work.push(Work::Rest {
                block,
                first: end + 1,
                before: node,
            });
            let blocks = regions
                .iter()
                .flat_map(|&region| &program.region(region).blocks);
            let inner: Vec<Work> = blocks.map(|&block| Work::Block(block)).collect();
            work.extend(inner.into_iter().rev());
        } else {
            self.jumps.push((node, block));
            self.ends[block.index()] = node;
        }
        node
    }

    fn link(&mut self, before: usize, after: usize, block: BlockId, position: usize) {
        let holder = self.program.block(block).insts[position];
        if let Op::Region { kind, regions } = &self.program.inst(holder).op {
            self.links.push((before, after, *kind, regions.clone()));
        }
    }

    fn edge(&mut self, from: usize, to: usize, skips_loop: bool) {
        let edge = Edge { to, skips_loop };
        if !self.nodes[from].edges.contains(&edge) {
            self.nodes[from].edges.push(edge);
        }
    }

    fn connect(&mut self) {
        for (node, block) in std::mem::take(&mut self.jumps) {
            let successors = &self.program.block(block).successors;
            for &to in successors {
                if let Some(to) = self.entries[to.index()] {
                    self.edge(node, to, false);
                }
            }
            self.nodes[node].is_exit =
                successors.is_empty() && self.program.holder(block).is_none();
        }
        for (before, after, kind, regions) in std::mem::take(&mut self.links) {
            self.connect_regions(before, after, kind, &regions);
        }
    }

    fn entry(&self, region: RegionId) -> Option<usize> {
        let first = self.program.region(region).blocks.first()?;
        self.entries[first.index()]
    }

    /// The nodes that end `region`: those of blocks that jump nowhere.
    fn exits(&self, region: RegionId) -> Vec<usize> {
        let blocks = self.program.region(region).blocks.iter();
        let ends = blocks.filter(|&&block| self.program.block(block).successors.is_empty());
        ends.map(|block| self.ends[block.index()]).collect()
    }

    fn connect_regions(
        &mut self,
        before: usize,
        after: usize,
        kind: RegionKind,
        regions: &[RegionId],
    ) {
        let bodies: Vec<(usize, Vec<usize>)> = regions
            .iter()
            .filter_map(|&region| Some((self.entry(region)?, self.exits(region))))
            .collect();
        let all = |from: &[usize], to: usize, graph: &mut Self, skips_loop: bool| {
            from.iter()
                .for_each(|&from| graph.edge(from, to, skips_loop));
        };
        match (kind, bodies.as_slice()) {
            (RegionKind::For { trips: Some(0) }, _) | (_, []) => self.edge(before, after, false),
            (RegionKind::For { trips }, [(entry, exits), ..]) => {
                self.edge(before, *entry, false);
                all(exits, after, self, false);
                if trips != Some(1) {
                    all(exits, *entry, self, false);
                }
                if trips.is_none() {
                    self.edge(before, after, true);
                }
            }
            (RegionKind::While, [(condition, decides), rest @ ..]) => {
                self.edge(before, *condition, false);
                all(decides, after, self, true);
                for (body, exits) in rest {
                    all(decides, *body, self, false);
                    all(exits, *condition, self, false);
                }
            }
            (RegionKind::If | RegionKind::IndexSwitch, bodies) => {
                for (entry, exits) in bodies {
                    self.edge(before, *entry, false);
                    all(exits, after, self, false);
                }
                if kind == RegionKind::If && bodies.len() < 2 {
                    self.edge(before, after, false);
                }
            }
            (RegionKind::Other, bodies) => {
                self.edge(before, after, true);
                for (entry, exits) in bodies {
                    self.edge(before, *entry, false);
                    all(exits, after, self, false);
                    for (other, _) in bodies {
                        all(exits, *other, self, false);
                    }
                }
            }
        }
    }
}
