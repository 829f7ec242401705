//! Ordering edges that keep engines out of each other's banks.
//!
//! Two instructions *collide* if nothing orders them, both touch one *lane* (one quadrant of one
//! bank), and one of them is a PE write that comes from another engine or tile than the other. No
//! value is wrong then, since cells that both touch order the two, but machines report the event.
//!
//! ```text
//! %a, %b: halves of bank 0        who has the bank
//! tmatmul     outs(%a)            PE
//! tmatmul     outs(%b)            PE
//! copy        %a -> %x            scalar: %x waits for %a alone, so a token from the line above
//! tmatmul_acc outs(%b)            PE: a token from the copy
//! ```
//!
//! # The algorithm
//!
//! What touches a lane falls into *runs*: of one tile of the PE array, or of the other engines, which
//! do not collide with each other. Every instruction of a run has to come after all of the run
//! before. One walk keeps for each lane
//!
//! * the instructions of the run that no later one of the run waits for: they stand for the run;
//! * those of the run before;
//! * the *gates*: the first instruction of the run on each engine.
//!
//! A gate waits for all who stand for the run before. Another instruction of the run needs nothing if
//! it waits for one of the run; else it waits for the gate of its engine, or, where only one stands
//! for the run before, for that one. So an instruction is at the ends of few edges for each lane,
//! whatever the length of the runs. A queue executes in order, so waiting for the gate of its own
//! engine costs nothing.
//!
//! "Waits" means by bytes, by tokens of the program or of [`super::edges`], or by the region of a
//! START or ACCUMULATE, which is all of its lanes. The order of a queue does not count: so no order
//! of the program that respects the dependences collides either.
//!
//! Lanes in which all accesses treat all cells alike are left out, for there bytes order everything.
//! A function with one buffer a bank has no other lanes.
//!
//! Code that no engine executes waits for everything before it, and everything after it waits for it.
//! Across blocks [`super::relays`] orders; this walk tells it what each stretch of the block begins and
//! ends with.

mod lane;

use pto_ir::{AccFlags, Anchor, EdgeNode, Engine, InstId, NewEdge, Op, Program, ZeroWindow};

use super::edges::{Cells, Memset};
use super::flags::{Decision, Decisions, Facts};
use super::geometry::{Lanes, NONE};
use super::problem::{Action, END, Event};
use super::relays::Relays;
use lane::{Lane, Node};

pub(super) use lane::{Hands, each};

/// What touched a cell class last.
#[derive(Clone, Copy)]
struct Last {
    write: u32,
    /// The reads since: head of a list in [`Walk::reads`], or [`NONE`].
    reads: u32,
}

/// The instruction of an event, if collisions are a matter of it.
enum Kind {
    Engine(Hands, Engine),
    /// Code that no engine executes.
    Barrier,
    /// An operation with regions.
    Holder,
    /// A call: it hands out no token and waits for none.
    Unordered,
}

struct Walk<'a> {
    program: &'a Program,
    facts: &'a Facts<'a>,
    decisions: &'a Decisions,
    /// The edges of the plan that are left: they are in the order of their ends.
    planned: &'a [NewEdge],
    shared: Lanes,
    nodes: Vec<Node>,
    /// By instruction, from [`Self::first_inst`] on: its node, or [`NONE`].
    node_of: Vec<u32>,
    first_inst: u32,
    /// By memset of the block: its node, or [`NONE`].
    node_of_memset: Vec<u32>,
    first_memset: u32,
    lanes: Vec<Lane>,
    last: Vec<Last>,
    reads: Vec<(u32, u32)>,
    /// Nodes before this one are ordered by a barrier.
    barrier: u32,
    /// What the node at hand waits for.
    waits: Vec<u32>,
    new: Vec<NewEdge>,
    /// Of a function of several blocks: what orders them.
    relays: Option<&'a mut Relays>,
    /// The first node of the stretch of the block.
    stretch: u32,
    /// Whether a barrier is behind the stretch so far: whoever comes now waits for all other blocks.
    is_behind_barrier: bool,
    /// The lanes in which the node at hand waits for another one of its stretch.
    joined: Lanes,
}

/// The edges that are missing after `edges`, for the block of `facts`. `memsets` are sorted by
/// position. Where all flags are kept, nothing is added; what would be is left with `relays`.
pub(super) fn edges(
    program: &Program,
    facts: &Facts<'_>,
    decisions: &Decisions,
    memsets: &[Memset],
    edges: &[NewEdge],
    mut relays: Option<&mut Relays>,
) -> Vec<NewEdge> {
    let shared = facts.geometry.shared_lanes();
    let mut clusters = decisions.clusters.iter();
    let is_kept = clusters.all(|cluster| cluster.decision == Decision::Keep);
    if shared == 0 || (is_kept && relays.is_none()) {
        return Vec::new();
    }
    let insts = &program.block(facts.problem.block).insts;
    let numbers = || insts.iter().map(|inst| inst.index() as u32);
    let first_inst = numbers().min().unwrap_or(0);
    let inst_count = numbers().max().map_or(0, |last| last - first_inst + 1);
    let mut walk = Walk {
        program,
        facts,
        decisions,
        planned: edges,
        shared,
        nodes: Vec::new(),
        node_of: vec![NONE; inst_count as usize],
        first_inst,
        node_of_memset: vec![NONE; memsets.len()],
        first_memset: memsets.first().map_or(0, |memset| memset.index),
        lanes: vec![Lane::default(); Lanes::BITS as usize],
        last: vec![
            Last {
                write: NONE,
                reads: NONE,
            };
            facts.geometry.class_count()
        ],
        reads: Vec::new(),
        barrier: 0,
        waits: Vec::new(),
        new: Vec::new(),
        relays: relays.as_deref_mut(),
        stretch: 0,
        is_behind_barrier: false,
        joined: 0,
    };
    walk.run(memsets);
    let new = walk.new;
    match relays {
        Some(relays) if is_kept => {
            relays.spare_edges.extend(new);
            Vec::new()
        }
        _ => new,
    }
}

impl Walk<'_> {
    fn run(&mut self, mut memsets: &[Memset]) {
        let mut events = self.facts.problem.events.as_slice();
        let mut first = 0;
        while let Some(event) = events.first() {
            while let Some((memset, rest)) = memsets.split_first()
                && memset.before <= event.pos
            {
                self.memset(memset);
                memsets = rest;
            }
            let count = events.iter().take_while(|e| e.pos == event.pos).count();
            let (own, rest) = events.split_at(count);
            self.instruction(own, first);
            first += count as u32;
            events = rest;
        }
        memsets.iter().for_each(|memset| self.memset(memset));
        self.close(Anchor::End(self.facts.problem.block));
    }

    /// The stretch of the block ends.
    fn close(&mut self, end: Anchor) {
        let Some(relays) = &mut self.relays else {
            return;
        };
        let first = self.stretch.max(self.barrier);
        let mut lasts: Vec<(u32, Lanes)> = Vec::new();
        for (lane, state) in self.lanes.iter().enumerate() {
            let nodes = state.run.iter().rev().take_while(|&&node| node >= first);
            let last = nodes.filter(|&&node| !self.nodes[node as usize].is_followed(lane));
            lasts.extend(last.map(|&node| (node, 1 << lane)));
        }
        lasts.sort_unstable();
        let each = lasts.chunk_by(|(a, _), (b, _)| a == b).map(|same| {
            let lanes = same.iter().fold(0, |lanes, (_, lane)| lanes | lane);
            (self.nodes[same[0].0 as usize].at, lanes)
        });
        relays.close(end, each.collect());
        self.stretch = self.nodes.len() as u32;
        self.is_behind_barrier = false;
    }

    /// The instruction with the events `events`, of which `first` is the first.
    fn instruction(&mut self, events: &[Event], first: u32) {
        let geometry = self.facts.geometry;
        let inst = self.facts.problem.inst_at(self.program, events[0].pos);
        let uses = || events.iter().filter(|event| event.action != Action::Free);
        let own = uses().fold(0, |lanes, event| lanes | geometry.lanes_of(event.shape));
        self.waits.clear();
        self.wait_as_planned(EdgeNode::Inst(inst));
        let (hands, engine) = match self.kind(inst) {
            Kind::Engine(hands, engine) => (hands, engine),
            Kind::Barrier if own != 0 => return self.barrier(),
            Kind::Holder => return self.close(Anchor::Before(inst)),
            Kind::Barrier | Kind::Unordered => return,
        };
        let (region, opened) = match events[0].member {
            NONE => (0, 0),
            _ => self.region(&events[0]),
        };
        let lanes = (own | region) & self.shared;
        if lanes == 0 {
            return;
        }
        for event in uses() {
            self.wait_for_cells(event.shape, event.action == Action::Read);
        }
        for edge in &self.program.inst(inst).after {
            self.wait_for(EdgeNode::Inst(edge.from));
        }
        let opened = opened & self.shared;
        let node = Node::new(EdgeNode::Inst(inst), first, lanes);
        let index = self.enter(node, Anchor::Before(inst), (hands, engine), opened);
        self.open(index, hands, opened);
        self.node_of[(inst.index() as u32 - self.first_inst) as usize] = index;
        for event in uses() {
            self.record(index, event.shape, event.action == Action::Read);
        }
    }

    fn kind(&self, inst: InstId) -> Kind {
        let inst = self.program.inst(inst);
        match &inst.op {
            Op::Matmul(matmul) => Kind::Engine(Hands::Tile(matmul.tile), Engine::Pe),
            Op::Engine if inst.engine != Engine::Other => Kind::Engine(Hands::Others, inst.engine),
            Op::Engine | Op::Effects => Kind::Barrier,
            Op::Region { .. } => Kind::Holder,
            _ => Kind::Unordered,
        }
    }

    /// The lanes of the region of a member that may open one, and those it opens for certain.
    fn region(&self, event: &Event) -> (Lanes, Lanes) {
        let member = &self.facts.problem.members[event.member as usize];
        let (flags, code) = match self.decisions.flags[event.member as usize] {
            Some((flags, code)) => (Some(flags), code),
            None => (member.attributes.0, member.attributes.1.unwrap_or(0)),
        };
        let flags = flags.unwrap_or(AccFlags::NONE);
        let is_certain = flags.starts() || flags.accumulates();
        let matmul = self.program.inst(member.inst).matmul();
        if !is_certain && matmul.is_none_or(|matmul| matmul.start_if.is_none()) {
            return (0, 0);
        }
        let geometry = self.facts.geometry;
        let first = geometry.shape(event.shape).banks.start;
        let banks = ZeroWindow::of_bank(first, code).banks();
        let lanes = geometry.lanes(geometry.quadrants_of(event.group), banks);
        (lanes, if is_certain { lanes } else { 0 })
    }

    fn memset(&mut self, memset: &Memset) {
        self.waits.clear();
        let at = EdgeNode::Memset(memset.index);
        self.wait_as_planned(at);
        let geometry = self.facts.geometry;
        let (lanes, rectangle) = match memset.cells {
            Cells::Shape(shape) => (geometry.lanes_of(shape), None),
            Cells::Rectangle(cells) => (geometry.lanes_of_rectangle(cells), Some(cells)),
        };
        if lanes & self.shared == 0 {
            return;
        }
        if let Cells::Shape(shape) = memset.cells {
            self.wait_for_cells(shape, false);
        }
        let node = Node {
            rectangle,
            ..Node::new(at, NONE, lanes & self.shared)
        };
        let anchor = self.program_anchor(memset);
        let index = self.enter(node, anchor, (Hands::Others, Memset::ENGINE), 0);
        self.node_of_memset[(memset.index - self.first_memset) as usize] = index;
        if let Cells::Shape(shape) = memset.cells {
            self.record(index, shape, false);
        }
    }

    fn program_anchor(&self, memset: &Memset) -> Anchor {
        match memset.before {
            END => Anchor::End(self.facts.problem.block),
            pos => Anchor::Before(self.facts.problem.inst_at(self.program, pos)),
        }
    }

    /// Nothing passes here in either direction.
    fn barrier(&mut self) {
        self.is_behind_barrier = true;
        self.barrier = self.nodes.len() as u32;
        self.lanes.fill(Lane::default());
    }

    /// The node at hand waits for an instruction or a memset, by a token.
    fn wait_for(&mut self, from: EdgeNode) {
        let node = match from {
            EdgeNode::Inst(inst) => {
                let index = (inst.index() as u32).checked_sub(self.first_inst);
                index.and_then(|index| self.node_of.get(index as usize))
            }
            EdgeNode::Memset(index) => self
                .node_of_memset
                .get((index - self.first_memset) as usize),
        };
        self.waits.extend(node.filter(|&&node| node != NONE));
    }

    fn wait_as_planned(&mut self, to: EdgeNode) {
        while let Some((edge, rest)) = self.planned.split_first()
            && edge.to == to
        {
            self.planned = rest;
            self.wait_for(edge.from);
        }
    }

    /// The node at hand waits for those who touched the same cells.
    fn wait_for_cells(&mut self, shape: u32, is_read: bool) {
        for &class in self.facts.geometry.classes(shape) {
            let Last { write, reads } = self.last[class as usize];
            if write != NONE {
                self.waits.push(write);
            }
            let mut read = if is_read { NONE } else { reads };
            while read != NONE {
                let (node, next) = self.reads[read as usize];
                self.waits.push(node);
                read = next;
            }
        }
    }

    fn record(&mut self, index: u32, shape: u32, is_read: bool) {
        for &class in self.facts.geometry.classes(shape) {
            let last = &mut self.last[class as usize];
            if is_read {
                self.reads.push((index, last.reads));
                last.reads = self.reads.len() as u32 - 1;
            } else {
                *last = Last {
                    write: index,
                    reads: NONE,
                };
            }
        }
    }

    /// Adds the node at hand, which stands right after `anchor`, and the edges it needs. It waits for
    /// everything in the lanes `opened`.
    fn enter(
        &mut self,
        node: Node,
        anchor: Anchor,
        (hands, engine): (Hands, Engine),
        opened: Lanes,
    ) -> u32 {
        let index = self.nodes.len() as u32;
        let (at, lanes) = (node.at, node.lanes);
        self.joined = opened;
        self.nodes.push(node);
        for lane in each(lanes) {
            self.lanes[lane].pass_to(hands, index, lane, &self.nodes);
            self.waits.extend(self.lanes[lane].opening);
        }
        let mut after = opened;
        let mut waits = std::mem::take(&mut self.waits);
        for wait in waits.drain(..) {
            after |= self.follow(wait, index);
        }
        self.waits = waits;
        for lane in each(lanes) {
            if after >> lane & 1 == 0 {
                for wait in self.lanes[lane].waits(engine) {
                    after |= self.order(wait, index);
                }
            }
            let Self { lanes, nodes, .. } = self;
            lanes[lane].join(index, lane, engine, nodes);
        }
        let alone = match self.is_behind_barrier {
            true => 0,
            false => lanes & !self.joined,
        };
        if let Some(relays) = &mut self.relays {
            let place = (self.facts.problem.block, anchor);
            relays.uses(place, at, hands, (lanes, alone));
        }
        index
    }

    /// The node `index` waits for `wait`. Returns the lanes in which both are of the same run.
    fn follow(&mut self, wait: u32, index: u32) -> Lanes {
        if wait < self.barrier {
            return 0;
        }
        let common = self.nodes[wait as usize].lanes & self.nodes[index as usize].lanes;
        if wait >= self.stretch {
            self.joined |= common;
        }
        let is_same_run = |lane: &usize| self.lanes[*lane].since <= wait;
        let same = each(common).filter(is_same_run);
        let same = same.fold(0, |lanes, lane| lanes | 1 << lane);
        let waited_for = &mut self.nodes[wait as usize];
        waited_for.followed |= same;
        waited_for.waited_by = index;
        same
    }

    /// An edge from `wait` to `index`, unless the second waits for the first anyway. Returns the lanes
    /// in which both are of the same run.
    fn order(&mut self, wait: u32, index: u32) -> Lanes {
        let (from, to) = (&self.nodes[wait as usize], &self.nodes[index as usize]);
        if from.waited_by == index {
            return 0;
        }
        if !self.meets(from, to) && !self.meets(to, from) {
            let (from, to) = (from.at, to.at);
            self.new.push(NewEdge { from, to });
        }
        self.follow(wait, index)
    }

    /// Whether `memset` clears cells, given as a rectangle, of the instruction `other`.
    fn meets(&self, memset: &Node, other: &Node) -> bool {
        let (Some(cells), true) = (memset.rectangle, other.event != NONE) else {
            return false;
        };
        let events = &self.facts.problem.events[other.event as usize..];
        let own = events.iter().take_while(|event| event.pos == events[0].pos);
        own.filter(|event| event.action != Action::Free)
            .any(|event| self.facts.geometry.meets(event.shape, cells))
    }

    /// All earlier nodes of these lanes come before `index`, and all later ones after it.
    fn open(&mut self, index: u32, hands: Hands, opened: Lanes) {
        for lane in each(opened) {
            self.lanes[lane].reopen(hands, index);
        }
    }
}
