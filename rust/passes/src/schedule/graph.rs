//! The dependences of one block, as a graph.
//!
//! Nodes are in input order, so every edge goes to a higher number. Besides the instructions there
//! are *joins*: nodes without an engine that wait for several others, so that whoever waits for all
//! of them needs one edge only.

use std::collections::HashMap;

use pto_ir::{AccessId, BlockId, Engine, InstId, Matmul, Op, Program, Target, Tile};

use super::areas::{AreaId, Areas};

/// Readers of one area before they are joined.
const MAX_READERS: usize = 8;

/// A node of the graph.
pub(super) type NodeId = u32;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// An instruction of an engine: its cycles, and for the PE the cycles of loading its weights.
    Engine(Engine),
    /// Nothing passes it in either direction: calls, regions, code that no engine executes.
    Barrier,
    /// A join, or the end of a life: takes no time and no engine.
    Free,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The entry of the block; `None` for a join.
    pub(super) inst: Option<InstId>,
    pub(super) role: Role,
    pub(super) cycles: u32,
    /// Cycles of loading the weights, where they are not loaded.
    pub(super) load: u32,
    /// Equal numbers: the same weights.
    pub(super) weights: u32,
    /// The next matmul of the same accumulation group.
    pub(super) next_in_group: Option<NodeId>,
}

/// The dependences of one block.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// The nodes that wait for each node, in compressed rows.
    successors: Rows,
    /// Of these the ones whose weights wait for it.
    load_successors: Rows,
    /// Barriers split the nodes into segments: ranges of numbers without barriers.
    pub(super) segments: Vec<std::ops::Range<NodeId>>,
}

impl Graph {
    pub(super) fn successors(&self, node: NodeId) -> &[NodeId] {
        self.successors.row(node)
    }

    /// The nodes that wait for `node` before their weights can be loaded: some of the successors.
    pub(super) fn load_successors(&self, node: NodeId) -> &[NodeId] {
        self.load_successors.row(node)
    }
}

/// Edges by the node that they leave, in compressed rows.
struct Rows {
    first: Vec<u32>,
    ends: Vec<NodeId>,
}

impl Rows {
    fn new(nodes: usize, edges: &[(NodeId, NodeId)]) -> Self {
        let mut first = vec![0u32; nodes + 1];
        for &(from, _) in edges {
            first[from as usize + 1] += 1;
        }
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut next = first.clone();
        let mut ends = vec![0; edges.len()];
        for &(from, to) in edges {
            ends[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
        Self { first, ends }
    }

    fn row(&self, node: NodeId) -> &[NodeId] {
        let (from, to) = (self.first[node as usize], self.first[node as usize + 1]);
        &self.ends[from as usize..to as usize]
    }
}

/// Makes graphs, block after block, with the same tables.
pub(super) struct GraphBuilder<'p> {
    program: &'p Program,
    target: &'static Target,
    areas: &'p Areas,
    /// By area, for the block in work; entries of other blocks have another epoch.
    state: Vec<AreaState>,
    epoch: u32,
    /// By number of a buffer that may be the same memory as others.
    shared: Vec<SharedState>,
    lanes: Vec<LaneState>,
    node_of: HashMap<InstId, NodeId>,
    nodes: Vec<Node>,
    edges: Vec<(NodeId, NodeId)>,
    /// Those of the edges that weights wait for.
    load_edges: Vec<(NodeId, NodeId)>,
    waits: Vec<NodeId>,
    /// By operand and its last write: the number of these weights.
    weights: HashMap<(AccessId, Option<NodeId>), u32>,
    weights_count: u32,
}

/// What a node does to an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    Read,
    Write,
    /// The zero region of a START: a write for the sake of order only.
    Region,
}

#[derive(Clone, Default)]
struct AreaState {
    epoch: u32,
    last_write: Option<NodeId>,
    readers: Vec<NodeId>,
    /// The last matmul into exactly this area, unless another write touched it since.
    open_group: Option<NodeId>,
}

/// All accesses of a buffer, for those that may be the same memory.
#[derive(Clone, Default)]
struct SharedState {
    writers: Vec<NodeId>,
    readers: Vec<NodeId>,
}

/// Who uses a (bank, quadrant): the PE within one tile, or the other engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneUser {
    Pe(Option<Tile>),
    Others,
}

#[derive(Clone, Default)]
struct LaneState {
    user: Option<LaneUser>,
    /// Those of the present user.
    members: Vec<NodeId>,
    /// All of the user before.
    before: Option<NodeId>,
}

impl<'p> GraphBuilder<'p> {
    pub(super) fn new(program: &'p Program, target: &'static Target, areas: &'p Areas) -> Self {
        let lanes = target.banks * target.partitions / target.quadrant_partitions;
        Self {
            program,
            target,
            areas,
            state: vec![AreaState::default(); areas.len()],
            epoch: 0,
            shared: vec![SharedState::default(); areas.shared_count()],
            lanes: vec![LaneState::default(); lanes as usize],
            node_of: HashMap::new(),
            nodes: Vec::new(),
            edges: Vec::new(),
            load_edges: Vec::new(),
            waits: Vec::new(),
            weights: HashMap::new(),
            weights_count: 0,
        }
    }

    /// The graph of `block`. Allocation markers are not part of it.
    pub(super) fn build(&mut self, block: BlockId) -> Graph {
        self.forget();
        self.nodes.clear();
        self.edges.clear();
        self.load_edges.clear();
        let mut segments = Vec::new();
        let mut start = 0;
        for &inst in &self.program.block(block).insts {
            if matches!(self.program.inst(inst).op, Op::Alloc(_)) {
                continue;
            }
            if is_barrier(self.program, inst) {
                segments.push(start..self.nodes.len() as NodeId);
                self.push(Some(inst), Role::Barrier);
                start = self.nodes.len() as NodeId;
                // What came before is over.
                self.forget();
                continue;
            }
            self.add(inst);
        }
        segments.push(start..self.nodes.len() as NodeId);
        self.finish(segments)
    }

    /// Nothing that was done so far has to be waited for.
    fn forget(&mut self) {
        self.epoch += 1;
        self.shared.fill(SharedState::default());
        self.lanes.fill(LaneState::default());
        self.node_of.clear();
        self.weights.clear();
    }

    fn finish(&mut self, segments: Vec<std::ops::Range<NodeId>>) -> Graph {
        let nodes = std::mem::take(&mut self.nodes);
        Graph {
            successors: Rows::new(nodes.len(), &self.edges),
            load_successors: Rows::new(nodes.len(), &self.load_edges),
            nodes,
            segments,
        }
    }

    fn push(&mut self, inst: Option<InstId>, role: Role) -> NodeId {
        let id = self.nodes.len() as NodeId;
        self.nodes.push(Node {
            inst,
            role,
            cycles: 0,
            load: 0,
            weights: 0,
            next_in_group: None,
        });
        id
    }

    /// Adds the node of `inst` with its edges.
    fn add(&mut self, inst: InstId) {
        let entry = self.program.inst(inst);
        // Joins come before the node that waits for them.
        self.waits.clear();
        let mut touches: Vec<(AreaId, Touch)> = Vec::with_capacity(4);
        for used in self.program.uses(inst) {
            let touch = if used.kind.writes() {
                Touch::Write
            } else {
                Touch::Read
            };
            touches.push((used.access.index() as AreaId, touch));
        }
        if let Op::Dealloc(alloc) = entry.op
            && let Some(area) = self.areas.whole(alloc)
        {
            touches.push((area, Touch::Write));
        }
        let matmul = entry.matmul();
        let group = matmul.and_then(|matmul| self.open_group(matmul));
        if let Some(matmul) = matmul
            && self.reaches_region(matmul, group.is_some())
            && let Some(area) = self.areas.zero_region(self.program, self.target, matmul)
        {
            touches.push((area, Touch::Region));
        }
        // The weights wait for their own cells and for tokens, as the matmul does.
        let stationary = matmul.and_then(|matmul| matmul.stationary);
        let is_weights = |area: AreaId| stationary.is_some_and(|own| own.index() as AreaId == area);
        for &(area, touch) in touches.iter().filter(|&&(area, _)| is_weights(area)) {
            self.wait_for_area(area, touch);
        }
        for edge in &entry.after {
            if let Some(&from) = self.node_of.get(&edge.from) {
                self.waits.push(from);
            }
        }
        let mut load_waits = match stationary {
            Some(_) => self.waits.clone(),
            None => Vec::new(),
        };
        for &(area, touch) in touches.iter().filter(|&&(area, _)| !is_weights(area)) {
            self.wait_for_area(area, touch);
        }
        self.wait_for_lanes(inst);
        let role = match entry.op {
            Op::Dealloc(_) => Role::Free,
            _ => Role::Engine(entry.engine),
        };
        let weights = matmul.map(|matmul| self.weights_of(matmul));
        let node = self.push(Some(inst), role);
        self.node_of.insert(inst, node);
        self.waits.sort_unstable();
        self.waits.dedup();
        for index in 0..self.waits.len() {
            self.edges.push((self.waits[index], node));
        }
        load_waits.sort_unstable();
        load_waits.dedup();
        self.load_edges
            .extend(load_waits.into_iter().map(|from| (from, node)));
        self.set_costs(node, inst, weights);
        for &(area, touch) in &touches {
            self.enter_area(area, touch, node);
        }
        self.enter_lanes(inst, node);
        if let Some(matmul) = matmul {
            self.state[matmul.dst.index()].open_group = Some(node);
            if let Some(before) = group.filter(|_| matmul.accumulator.is_some()) {
                self.nodes[before as usize].next_in_group = Some(node);
            }
        }
    }

    fn set_costs(&mut self, node: NodeId, inst: InstId, weights: Option<u32>) {
        let cycles = super::cost::cycles(self.program, self.target, inst);
        let entry = &mut self.nodes[node as usize];
        entry.cycles = cycles;
        if let (Some(matmul), Some(weights)) = (self.program.inst(inst).matmul(), weights) {
            entry.load = super::cost::load_cycles(self.target, matmul);
            entry.weights = weights;
        }
    }

    /// The last matmul into the destination of `matmul`, if no other write touched it since.
    fn open_group(&mut self, matmul: &Matmul) -> Option<NodeId> {
        self.area(matmul.dst.index() as AreaId).open_group
    }

    /// Whether `matmul` counts as a write of its whole zero region: one with START or ACCUMULATE, or one
    /// without flags that may yet become the head of a group.
    fn reaches_region(&self, matmul: &Matmul, continues_group: bool) -> bool {
        match matmul.flags {
            Some(flags) => flags.starts() || flags.accumulates() || matmul.start_if.is_some(),
            None => matmul.start_if.is_some() || matmul.accumulator.is_none() || !continues_group,
        }
    }

    fn area(&mut self, area: AreaId) -> &mut AreaState {
        let state = &mut self.state[area as usize];
        if state.epoch != self.epoch {
            state.epoch = self.epoch;
            state.last_write = None;
            state.readers.clear();
            state.open_group = None;
        }
        state
    }

    fn wait_for_area(&mut self, area: AreaId, touch: Touch) {
        let areas = self.areas;
        for overlap in areas.overlaps(area) {
            self.area(overlap.area);
            let state = &self.state[overlap.area as usize];
            self.waits.extend(state.last_write);
            if touch != Touch::Read {
                self.waits.extend_from_slice(&state.readers);
            }
        }
        let Some(own) = areas.shared(area) else {
            return;
        };
        for &rival in areas.rivals(own) {
            let state = &self.shared[rival as usize];
            self.waits.extend_from_slice(&state.writers);
            if touch != Touch::Read {
                self.waits.extend_from_slice(&state.readers);
            }
        }
    }

    fn enter_area(&mut self, area: AreaId, touch: Touch, node: NodeId) {
        let areas = self.areas;
        self.enter_shared(area, touch, node);
        // Where areas were merged, the one that stands for all of them is not the area itself.
        let Some(own) = areas.overlaps(area).first() else {
            return;
        };
        if touch == Touch::Read {
            self.area(own.area).readers.push(node);
            self.join_readers(own.area);
            return;
        }
        for overlap in areas.overlaps(area) {
            let state = self.area(overlap.area);
            if touch == Touch::Write {
                state.open_group = None;
            }
            if overlap.is_covered || overlap.area == own.area {
                state.last_write = Some(node);
                state.readers.clear();
            }
        }
    }

    fn enter_shared(&mut self, area: AreaId, touch: Touch, node: NodeId) {
        let Some(own) = self.areas.shared(area) else {
            return;
        };
        let state = &mut self.shared[own as usize];
        let members = match touch {
            Touch::Read => &mut state.readers,
            Touch::Write | Touch::Region => &mut state.writers,
        };
        let mut members = std::mem::take(members);
        members.push(node);
        let members = self.joined(members);
        let state = &mut self.shared[own as usize];
        match touch {
            Touch::Read => state.readers = members,
            Touch::Write | Touch::Region => state.writers = members,
        }
    }

    fn join_readers(&mut self, area: AreaId) {
        let readers = std::mem::take(&mut self.state[area as usize].readers);
        self.state[area as usize].readers = self.joined(readers);
    }

    /// `members`, or a join of them where they are many.
    fn joined(&mut self, members: Vec<NodeId>) -> Vec<NodeId> {
        if members.len() < MAX_READERS {
            return members;
        }
        vec![self.join(&members)]
    }

    fn join(&mut self, members: &[NodeId]) -> NodeId {
        let join = self.push(None, Role::Free);
        self.edges
            .extend(members.iter().map(|&member| (member, join)));
        join
    }

    fn lane_uses(&self, inst: InstId) -> impl Iterator<Item = (u32, LaneUser)> + use<'p> {
        let (program, areas) = (self.program, self.areas);
        let tile = program.inst(inst).matmul().map(|matmul| matmul.tile);
        program.uses(inst).iter().flat_map(move |used| {
            let user = match tile {
                Some(tile) if used.kind.is_pe_write() => LaneUser::Pe(tile),
                _ => LaneUser::Others,
            };
            areas
                .lanes(used.access)
                .iter()
                .map(move |&lane| (lane, user))
        })
    }

    /// Waits for those that a (bank, quadrant) may not serve at the same time.
    fn wait_for_lanes(&mut self, inst: InstId) {
        for (lane, user) in self.lane_uses(inst) {
            if self.lanes[lane as usize]
                .user
                .is_some_and(|known| known != user)
            {
                let members = std::mem::take(&mut self.lanes[lane as usize].members);
                let before = match members.as_slice() {
                    [only] => Some(*only),
                    [] => self.lanes[lane as usize].before,
                    several => Some(self.join(several)),
                };
                self.lanes[lane as usize].before = before;
            }
            let state = &mut self.lanes[lane as usize];
            state.user = Some(user);
            self.waits.extend(state.before);
        }
    }

    fn enter_lanes(&mut self, inst: InstId, node: NodeId) {
        for (lane, _) in self.lane_uses(inst) {
            let mut members = std::mem::take(&mut self.lanes[lane as usize].members);
            if members.last() != Some(&node) {
                members.push(node);
            }
            self.lanes[lane as usize].members = self.joined(members);
        }
    }

    /// A number for the weights of `matmul`: its operand, as the last write left it. After a barrier all
    /// weights count as new.
    fn weights_of(&mut self, matmul: &Matmul) -> u32 {
        self.weights_count += 1;
        let fresh = self.weights_count;
        let Some(stationary) = matmul.stationary else {
            return fresh;
        };
        let areas = self.areas;
        let mut version = None;
        for overlap in areas.overlaps(stationary.index() as AreaId) {
            version = version.max(self.area(overlap.area).last_write);
        }
        *self.weights.entry((stationary, version)).or_insert(fresh)
    }
}

/// Whether nothing may pass `inst`.
pub(super) fn is_barrier(program: &Program, inst: InstId) -> bool {
    let entry = program.inst(inst);
    let is_unknown = match entry.op {
        Op::Region { .. } | Op::Call { .. } | Op::Effects => true,
        Op::Matmul(_) | Op::Engine => entry.is_opaque,
        Op::Alloc(_) | Op::Dealloc(_) => false,
    };
    is_unknown || (entry.engine == Engine::Other && matches!(entry.op, Op::Engine))
}
