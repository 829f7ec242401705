//! The list scheduler, and random legal orders.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cost::{self, Clock, ENGINES, Ready};
use super::graph::{Graph, NodeId, Role};

/// What goes first where an engine has the choice: the node of the larger key.
pub(super) type Priority<'a> = &'a dyn Fn(NodeId) -> (u64, u64);

/// Nodes that wait for nothing any more, by engine.
#[derive(Default)]
struct Queue {
    /// Ready later than the engine: by time.
    coming: BinaryHeap<Reverse<(u64, NodeId)>>,
    /// Ready when the engine is: by priority.
    waiting: BinaryHeap<((u64, u64), NodeId)>,
}

impl Queue {
    /// The earliest begin on an engine that is free at `free`.
    fn start(&self, free: u64) -> Option<u64> {
        if !self.waiting.is_empty() {
            return Some(free);
        }
        self.coming
            .peek()
            .map(|&Reverse((ready, _))| ready.max(free))
    }

    /// Takes the best of what can begin at `start`.
    fn take(&mut self, start: u64, priority: Priority<'_>) -> Option<NodeId> {
        while let Some(&Reverse((ready, node))) = self.coming.peek()
            && ready <= start
        {
            self.coming.pop();
            self.waiting.push((priority(node), node));
        }
        self.waiting.pop().map(|(_, node)| node)
    }
}

/// Orders the nodes of one segment: at each time the engine that can begin first takes the ready node of
/// the highest priority. Once the PE has begun a group it goes on with it, as long as that is possible.
pub(super) struct Lister<'g> {
    graph: &'g Graph,
    priority: Priority<'g>,
    fast_weight_load: bool,
    queues: [Queue; ENGINES.len()],
    /// The matmul that the PE has to take next, and whether it waits for nothing any more.
    group: Option<(NodeId, bool)>,
    free_nodes: Vec<NodeId>,
    order: Vec<NodeId>,
}

impl<'g> Lister<'g> {
    pub(super) fn new(graph: &'g Graph, priority: Priority<'g>, fast_weight_load: bool) -> Self {
        Self {
            graph,
            priority,
            fast_weight_load,
            queues: Default::default(),
            group: None,
            free_nodes: Vec::new(),
            order: Vec::new(),
        }
    }

    /// The order of segment number `segment`. `waits` counts for each node what it waits for, and
    /// `ready` says when that is done; both are used up.
    pub(super) fn order(
        mut self,
        segment: usize,
        clock: &mut Clock,
        waits: &mut [u32],
        ready: &mut [Ready],
    ) -> Vec<NodeId> {
        let nodes = self.graph.segments[segment].clone();
        self.order.reserve(nodes.len());
        for node in nodes {
            if waits[node as usize] == 0 {
                self.is_ready(node, ready);
            }
        }
        loop {
            let node = match self.free_nodes.pop() {
                Some(node) => node,
                None => match self.next(clock, ready) {
                    Some(node) => node,
                    // The rest of the group waits for another one.
                    None if self.group.take().is_some() => continue,
                    None => break,
                },
            };
            self.issue(node, clock, waits, ready);
        }
        self.order
    }

    /// The node that can begin first, and is best among those of its engine.
    fn next(&mut self, clock: &Clock, ready: &[Ready]) -> Option<NodeId> {
        let mut first: Option<(u64, usize)> = None;
        for (index, &engine) in ENGINES.iter().enumerate() {
            let free = clock.start(engine, 0);
            let start = match self.group {
                Some((node, is_ready)) if index == 0 => {
                    is_ready.then(|| free.max(ready[node as usize].all))
                }
                _ => self.queues[index].start(free),
            };
            if let Some(start) = start
                && first.is_none_or(|(earliest, _)| start < earliest)
            {
                first = Some((start, index));
            }
        }
        let (start, index) = first?;
        match self.group {
            Some((node, true)) if index == 0 => {
                self.group = None;
                Some(node)
            }
            _ => self.queues[index].take(start, self.priority),
        }
    }

    fn issue(&mut self, node: NodeId, clock: &mut Clock, waits: &mut [u32], ready: &mut [Ready]) {
        let entry = &self.graph.nodes[node as usize];
        let done = clock.issue(entry, ready[node as usize], self.fast_weight_load);
        self.order.push(node);
        if let Some(next) = entry.next_in_group {
            self.group = Some((next, false));
        }
        cost::settle(self.graph, node, done, ready);
        for &next in self.graph.successors(node) {
            waits[next as usize] -= 1;
            if waits[next as usize] == 0 {
                self.is_ready(next, ready);
            }
        }
    }

    fn is_ready(&mut self, node: NodeId, ready: &[Ready]) {
        if let Some((next, is_ready)) = &mut self.group
            && *next == node
        {
            *is_ready = true;
            return;
        }
        let queue = match self.graph.nodes[node as usize].role {
            Role::Engine(engine) => self.queues.get_mut(engine as usize),
            Role::Free | Role::Barrier => None,
        };
        match queue {
            Some(queue) => queue.coming.push(Reverse((ready[node as usize].all, node))),
            None => self.free_nodes.push(node),
        }
    }
}

/// For each node how many others it waits for.
pub(super) fn waits(graph: &Graph) -> Vec<u32> {
    let mut waits = vec![0; graph.nodes.len()];
    for node in 0..graph.nodes.len() as NodeId {
        for &next in graph.successors(node) {
            waits[next as usize] += 1;
        }
    }
    waits
}

/// A random order of the nodes of segment number `segment` that respects the graph.
pub(super) fn shuffled(
    graph: &Graph,
    segment: usize,
    waits: &mut [u32],
    random: &mut SplitMix,
) -> Vec<NodeId> {
    let nodes = graph.segments[segment].clone();
    let mut order = Vec::with_capacity(nodes.len());
    let mut ready: Vec<NodeId> = nodes.filter(|&node| waits[node as usize] == 0).collect();
    while !ready.is_empty() {
        let node = ready.swap_remove(random.below(ready.len()));
        order.push(node);
        for &next in graph.successors(node) {
            waits[next as usize] -= 1;
            if waits[next as usize] == 0 {
                ready.push(next);
            }
        }
    }
    order
}

/// The SplitMix64 generator: the same numbers for a seed on every machine and in every version.
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`, which is at least 1.
    fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }
}
