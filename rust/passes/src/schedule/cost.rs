//! What instructions cost, and when they run if they are issued in a given order.
//!
//! Engines run side by side, each in its own order. An instruction begins when its engine is free
//! and everything it waits for is done.

use std::ops::Range;

use pto_ir::{Engine, InstId, Matmul, Program, Target};

use super::graph::{Graph, Node, NodeId, Role};

/// Engines of the machine, in the order in which ties are broken.
pub(super) const ENGINES: [Engine; 5] = [
    Engine::Pe,
    Engine::Vector,
    Engine::Scalar,
    Engine::Gpsimd,
    Engine::Dma,
];

/// Cycles that `inst` keeps its engine busy, without loading weights.
pub(super) fn cycles(program: &Program, target: &Target, inst: InstId) -> u32 {
    let entry = program.inst(inst);
    let elements = match entry.matmul() {
        Some(matmul) => {
            let spans = program.bytes(matmul.dst).iter();
            spans.map(|span| span.len()).sum::<u32>() / target.cell_bytes
        }
        None => entry.elements,
    };
    elements.saturating_mul(match entry.engine {
        Engine::Pe => target.pe_column_cycles,
        Engine::Vector => target.vector_element_cycles,
        Engine::Scalar => target.scalar_element_cycles,
        Engine::Gpsimd => target.gpsimd_element_cycles,
        Engine::Dma => target.dma_element_cycles,
        Engine::Other => 0,
    })
}

/// Cycles of loading the weights of `matmul`.
pub(super) fn load_cycles(target: &Target, matmul: &Matmul) -> u32 {
    matmul.tile.map_or(target.pe_rows, |tile| tile.rows) * target.weight_row_cycles
}

/// When all that a node waits for is done, and all that its weights wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ready {
    pub(super) all: u64,
    pub(super) weights: u64,
}

/// Notes in `ready` that `node` is done at `done`.
pub(super) fn settle(graph: &Graph, node: NodeId, done: u64, ready: &mut [Ready]) {
    for &next in graph.successors(node) {
        let all = &mut ready[next as usize].all;
        *all = done.max(*all);
    }
    for &next in graph.load_successors(node) {
        let weights = &mut ready[next as usize].weights;
        *weights = done.max(*weights);
    }
}

/// The state of the engines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    /// When each engine is done with what it was given.
    free: [u64; ENGINES.len()],
    /// When the moving operand of the last matmul began to stream, and its weights.
    stream: u64,
    weights: Option<u32>,
    /// The end of the last barrier.
    barrier: u64,
    /// The end of what ends last.
    end: u64,
}

impl Clock {
    /// When `engine` could begin something that is ready at `ready`.
    pub(super) fn start(&self, engine: Engine, ready: u64) -> u64 {
        self.free[engine as usize].max(ready).max(self.barrier)
    }

    /// Issues `node`, which is `ready` then; when it is done.
    pub(super) fn issue(&mut self, node: &Node, ready: Ready, fast_weight_load: bool) -> u64 {
        let weights = ready.weights.max(self.barrier);
        let ready = ready.all.max(self.barrier);
        let done = match node.role {
            Role::Free => ready,
            Role::Barrier => {
                self.barrier = self.end;
                self.weights = None;
                self.end
            }
            Role::Engine(Engine::Pe) => {
                let ready = Ready {
                    all: ready,
                    weights,
                };
                self.matmul(node, ready, fast_weight_load)
            }
            Role::Engine(Engine::Other) => ready,
            Role::Engine(engine) => {
                let done = self.start(engine, ready) + u64::from(node.cycles);
                self.free[engine as usize] = done;
                done
            }
        };
        self.end = self.end.max(done);
        done
    }

    /// Weights that are not there are loaded first: behind the streaming of the matmul before, where the
    /// machine has a second set of weight registers, else after it. They do not wait for the moving operand.
    fn matmul(&mut self, node: &Node, ready: Ready, fast_weight_load: bool) -> u64 {
        let free = self.free[Engine::Pe as usize];
        let mut stream = free.max(ready.all);
        if self.weights != Some(node.weights) {
            let begin = match (fast_weight_load, self.weights) {
                (true, Some(_)) => self.stream.max(ready.weights),
                _ => free.max(ready.weights),
            };
            stream = stream.max(begin + u64::from(node.load));
        }
        self.stream = stream;
        self.weights = Some(node.weights);
        self.free[Engine::Pe as usize] = stream + u64::from(node.cycles);
        self.free[Engine::Pe as usize]
    }

    /// The end of what ends last.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }
}

/// Runs the nodes of `order` from `clock` on. `ready` holds for each node when it is ready, as far as what it
/// waits for was run.
pub(super) fn run(
    graph: &Graph,
    order: impl IntoIterator<Item = NodeId>,
    clock: &mut Clock,
    ready: &mut [Ready],
    fast_weight_load: bool,
) {
    for node in order {
        let done = clock.issue(
            &graph.nodes[node as usize],
            ready[node as usize],
            fast_weight_load,
        );
        settle(graph, node, done, ready);
    }
}

/// For each node of a segment the cycles from its begin to the end of the longest chain behind it,
/// without loads of weights that may be hidden.
pub(super) fn tails(graph: &Graph) -> Vec<u64> {
    let mut tails = vec![0u64; graph.nodes.len()];
    for index in (0..graph.nodes.len()).rev() {
        let longest = graph
            .successors(index as NodeId)
            .iter()
            .map(|&next| tails[next as usize])
            .max();
        tails[index] = longest.unwrap_or(0) + u64::from(graph.nodes[index].cycles);
    }
    tails
}

/// What one engine has to do in a segment.
#[derive(Clone, Copy)]
struct Work {
    /// The shortest way to an instruction, the first matmul's load of weights included.
    head: u64,
    cycles: u64,
    /// The least cycles of one instruction, and the shortest way behind one.
    shortest: u64,
    tail: u64,
}

impl Work {
    const NONE: Self = Self {
        head: u64::MAX,
        cycles: 0,
        shortest: u64::MAX,
        tail: u64::MAX,
    };

    /// Cycles that the segment takes at least. `loads` are those of other weights than the first.
    fn bound(&self, loads: u64, fast_weight_load: bool) -> u64 {
        if self.head == u64::MAX {
            return 0;
        }
        let busy = match fast_weight_load {
            // From one matmul with new weights to the next is at least a load.
            true => self.cycles.max(loads + self.shortest),
            false => self.cycles + loads,
        };
        self.head + busy + self.tail
    }
}

/// Cycles that no order of the block takes less than: for each segment the longest chain, and for each
/// engine its work with the shortest way to it and from it, where each weights are loaded once.
pub(super) fn lower_bound(graph: &Graph, tails: &[u64], fast_weight_load: bool) -> u64 {
    let mut heads = vec![Ready::default(); graph.nodes.len()];
    let mut bound = 0;
    for segment in &graph.segments {
        let mut chain = 0;
        let mut engines = [Work::NONE; ENGINES.len()];
        for node in segment.clone() {
            let index = node as usize;
            let Ready { all: head, weights } = heads[index];
            let entry = &graph.nodes[index];
            let cycles = u64::from(entry.cycles);
            settle(graph, node, head + cycles, &mut heads);
            chain = chain.max(head + tails[index]);
            if let Role::Engine(engine) = entry.role
                && let Some(work) = engines.get_mut(engine as usize)
            {
                // Other engines than the PE load nothing.
                work.head = work.head.min(head.max(weights + u64::from(entry.load)));
                work.cycles += cycles;
                work.shortest = work.shortest.min(cycles);
                work.tail = work.tail.min(tails[index] - cycles);
            }
        }
        let loads = later_loads(graph, segment.clone());
        for (engine, work) in ENGINES.iter().zip(engines) {
            let loads = if *engine == Engine::Pe { loads } else { 0 };
            chain = chain.max(work.bound(loads, fast_weight_load));
        }
        bound += chain;
    }
    bound
}

/// Cycles of loading each weights of `segment` once, but the ones that take longest, which may be the first.
fn later_loads(graph: &Graph, segment: Range<NodeId>) -> u64 {
    let nodes = &graph.nodes[segment.start as usize..segment.end as usize];
    let is_matmul = |node: &&Node| node.role == Role::Engine(Engine::Pe);
    let mut loads: Vec<(u32, u32)> = nodes
        .iter()
        .filter(is_matmul)
        .map(|node| (node.weights, node.load))
        .collect();
    loads.sort_unstable();
    // Weights that tiles of several heights use count as the lowest.
    loads.dedup_by_key(|&mut (weights, _)| weights);
    let cycles = || loads.iter().map(|&(_, load)| u64::from(load));
    cycles().sum::<u64>() - cycles().max().unwrap_or(0)
}
