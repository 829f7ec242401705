//! Ordering edges: what the bytes of the program do not say.
//!
//! A later pass that moves instructions by the bytes they touch does not see that a START reaches
//! its whole region. These orders are pinned by tokens, unless bytes or a token pin them already:
//!
//! 1. the members of a cluster, each after the one before;
//! 2. everything older in the region of a START or ACCUMULATE, before that instruction;
//! 3. what came last in the (bank, quadrant) of a new memset, before that memset. The instruction
//!    the memset was made for follows by bytes, and so does what precedes the memset.
//!
//! For rule 2 every cell class keeps its last write and the reads since, and every slot the last
//! region that swept it: whatever is older than that is ordered before the sweeping instruction
//! already. Each access is taken off these lists once, so the work is linear in the accesses.
//!
//! Only matmuls and the engine operations of the dialect can hand out a token; nothing is added
//! after other operations, and nothing crosses the boundary of a block.

use pto_ir::{AccFlags, EdgeNode, Engine, InstId, Interval, NewEdge, Op, Program};

use super::flags::{Decision, Decisions, Facts};
use super::geometry::{NONE, Rectangle, Strips};
use super::problem::{Action, BEGIN, Event};

/// The cells of a new memset.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cells {
    /// A whole access.
    Shape(u32),
    /// A rectangle.
    Rectangle(Rectangle),
}

/// A new memset of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memset {
    /// The position it stands before.
    pub before: u32,
    /// Its index in the plan.
    pub index: u32,
    /// Its cells.
    pub cells: Cells,
}

impl Memset {
    /// The engine that executes it.
    pub(super) const ENGINE: Engine = Engine::Vector;
}

/// More candidates than this are not compared with each other.
const MAX_COMPARED: usize = 8;

/// What happened last in one cell class.
#[derive(Clone, Copy)]
struct Last {
    /// The last write (an event), or [`NONE`].
    write: u32,
    /// The reads since: head of a list in [`Planner::reads`], or [`NONE`].
    reads: u32,
    is_listed: bool,
}

/// What happened last in one (bank, quadrant).
#[derive(Clone, Copy)]
struct Neighbours {
    pe: u32,
    other: u32,
}

struct Planner<'a> {
    program: &'a Program,
    facts: &'a Facts<'a>,
    decisions: &'a Decisions,
    memsets: &'a [Memset],
    last: Vec<Last>,
    /// Read events, each with the next of its list.
    reads: Vec<(u32, u32)>,
    /// By slot: classes with something in [`Self::last`].
    listed: Vec<Vec<u32>>,
    /// By slot: the last instruction whose region swept it.
    swept: Vec<u32>,
    neighbours: Vec<Neighbours>,
    /// By cluster: its last member so far.
    previous: Vec<u32>,
    edges: Vec<NewEdge>,
    strip_count: u32,
    /// Memory of [`Self::sweep`].
    older: Vec<u32>,
    candidates: Vec<(u32, bool)>,
}

/// The edges of one block. `memsets` are sorted by position.
pub(super) fn edges(
    program: &Program,
    facts: &Facts<'_>,
    decisions: &Decisions,
    memsets: &[Memset],
) -> Vec<NewEdge> {
    let target = facts.target;
    let slots = (target.banks * facts.geometry.strip_count()) as usize;
    let quadrants = (target.banks * target.partitions / target.quadrant_partitions) as usize;
    let untouched = Last {
        write: NONE,
        reads: NONE,
        is_listed: false,
    };
    let nobody = Neighbours {
        pe: NONE,
        other: NONE,
    };
    let mut planner = Planner {
        program,
        facts,
        decisions,
        memsets,
        last: vec![untouched; facts.geometry.class_count()],
        reads: Vec::new(),
        listed: vec![Vec::new(); slots],
        swept: vec![NONE; slots],
        neighbours: vec![nobody; if memsets.is_empty() { 0 } else { quadrants }],
        previous: vec![NONE; decisions.clusters.len()],
        edges: Vec::new(),
        strip_count: facts.geometry.strip_count(),
        older: Vec::new(),
        candidates: Vec::new(),
    };
    planner.run();
    planner.edges
}

impl Planner<'_> {
    fn run(&mut self) {
        let facts = self.facts;
        let mut memsets = self.memsets;
        let mut first = 0;
        let mut pos = BEGIN;
        for (index, event) in facts.problem.events.iter().enumerate() {
            if event.pos != pos {
                (first, pos) = (index as u32, event.pos);
            }
            let first_own = self.edges.len();
            while let Some((memset, rest)) = memsets.split_first()
                && memset.before <= event.pos
            {
                self.memset(memset);
                memsets = rest;
            }
            if event.action == Action::Free {
                continue;
            }
            if event.member != NONE {
                self.member(index as u32, event, first_own);
            }
            self.record(first, event);
        }
    }

    fn inst(&self, event: u32) -> InstId {
        let pos = self.facts.problem.events[event as usize].pos;
        self.facts.problem.inst_at(self.program, pos)
    }

    /// Rules 1 and 2.
    ///
    /// The edges from `first_own` on lead to memsets of the member.
    fn member(&mut self, index: u32, event: &Event, first_own: usize) {
        let cluster = self.decisions.cluster_of[event.member as usize];
        let previous = std::mem::replace(&mut self.previous[cluster as usize], index);
        let Some((flags, _)) = self.decisions.flags[event.member as usize] else {
            return;
        };
        if self.decisions.clusters[cluster as usize].decision == Decision::Keep {
            return;
        }
        if previous != NONE {
            let before = self.facts.problem.events[previous as usize].shape;
            if !self.facts.geometry.overlap(before, event.shape) {
                // Where it comes before a memset of this member, it comes before the member.
                let from = EdgeNode::Inst(self.inst(previous));
                let mut own = self.edges[first_own..].iter();
                if !own.any(|edge| edge.from == from) {
                    self.add(previous, EdgeNode::Inst(self.inst(index)));
                }
            }
        }
        if flags.starts() || flags.accumulates() {
            let (banks, strips) = self.region(event.member, cluster, flags);
            self.sweep(index, cluster, banks, strips);
        }
    }

    /// The region of a START or ACCUMULATE that the plan sets.
    fn region(&self, member: u32, cluster: u32, flags: AccFlags) -> (Interval, Strips) {
        let group = self.facts.problem.members[member as usize].group;
        if flags.starts() {
            return (self.decisions.clusters[cluster as usize].banks, group);
        }
        let chain = self.facts.chains.chain_of[member as usize];
        let banks = self.facts.chains.objects[chain as usize].banks;
        (self.facts.geometry.window(banks).banks(), group)
    }

    /// Puts everything older in the region before the sweeping instruction.
    fn sweep(&mut self, index: u32, cluster: u32, banks: Interval, strips: Strips) {
        let mut older = std::mem::take(&mut self.older);
        older.clear();
        let strip_count = self.strip_count;
        for bank in banks.start..banks.end {
            for strip in (0..strip_count).filter(|strip| strips >> strip & 1 == 1) {
                let slot = (bank * strip_count + strip) as usize;
                older.push(std::mem::replace(&mut self.swept[slot], index));
                for class in self.listed[slot].drain(..) {
                    let last = &mut self.last[class as usize];
                    let mut read = last.reads;
                    if read == NONE {
                        older.push(last.write);
                    }
                    while read != NONE {
                        let (event, next) = self.reads[read as usize];
                        older.push(event);
                        read = next;
                    }
                    *last = Last {
                        write: NONE,
                        reads: NONE,
                        is_listed: false,
                    };
                }
            }
        }
        older.sort_unstable();
        older.dedup();
        older.retain(|&event| event != NONE);
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        candidates.extend(
            older
                .iter()
                .map(|&event| (event, self.is_before(event, index, cluster)))
                .filter(|&(event, is_ordered)| is_ordered || self.hands_out_token(event)),
        );
        let to = EdgeNode::Inst(self.inst(index));
        for (position, &(event, is_ordered)) in candidates.iter().enumerate() {
            let later = &candidates[position + 1..];
            let is_implied = candidates.len() <= MAX_COMPARED
                && later
                    .iter()
                    .any(|&(other, _)| self.are_ordered(event, other));
            if !is_ordered && !is_implied {
                self.add(event, to);
            }
        }
        (self.older, self.candidates) = (older, candidates);
    }

    /// Whether bytes, or the order of the cluster, put an older event before the member at `index`.
    fn is_before(&self, event: u32, index: u32, cluster: u32) -> bool {
        let member = self.facts.problem.events[event as usize].member;
        (member != NONE && self.decisions.cluster_of[member as usize] == cluster)
            || self.are_ordered(event, index)
    }

    /// Whether the instructions of two events, the first being older, are ordered by bytes.
    fn are_ordered(&self, older: u32, newer: u32) -> bool {
        self.same_instruction(older).any(|a| {
            self.same_instruction(newer).any(|b| {
                let writes = a.action != Action::Read || b.action != Action::Read;
                writes && self.facts.geometry.overlap(a.shape, b.shape)
            })
        })
    }

    /// All events of the instruction whose first event is `event`.
    fn same_instruction(&self, event: u32) -> impl Iterator<Item = &Event> {
        let events = &self.facts.problem.events[event as usize..];
        let pos = events[0].pos;
        events
            .iter()
            .take_while(move |other| other.pos == pos)
            .filter(|other| other.action != Action::Free)
    }

    fn hands_out_token(&self, event: u32) -> bool {
        let op = &self.program.inst(self.inst(event)).op;
        matches!(op, Op::Matmul(_) | Op::Engine)
    }

    /// Rule 3.
    fn memset(&mut self, memset: &Memset) {
        let (quadrants, banks) = match memset.cells {
            Cells::Shape(shape) => {
                let shape = self.facts.geometry.shape(shape);
                (shape.quadrants, shape.banks)
            }
            Cells::Rectangle(rectangle) => {
                let target = self.facts.target;
                let quadrants = target.quadrants(rectangle.partitions);
                let mask = (1u32 << quadrants.end) - (1u32 << quadrants.start);
                let first = rectangle.bytes.start / target.bank_bytes;
                let end = rectangle.bytes.end.div_ceil(target.bank_bytes);
                (mask as u8, Interval::new(first, end))
            }
        };
        let mut older: Vec<u32> = Vec::new();
        for slot in self.quadrant_slots(quadrants, banks) {
            let Neighbours { pe, other } = self.neighbours[slot];
            older.push(pe);
            if other != NONE && (pe == NONE || other > pe) {
                older.push(other);
            }
        }
        older.sort_unstable();
        older.dedup();
        for event in older.into_iter().filter(|&event| event != NONE) {
            if !self.touches(event, memset.cells) && self.hands_out_token(event) {
                self.add(event, EdgeNode::Memset(memset.index));
            }
        }
    }

    /// Whether bytes order the instruction of `event` and a memset.
    fn touches(&self, event: u32, cells: Cells) -> bool {
        let geometry = self.facts.geometry;
        self.same_instruction(event).any(|event| match cells {
            Cells::Shape(shape) => geometry.overlap(event.shape, shape),
            Cells::Rectangle(rectangle) => geometry.meets(event.shape, rectangle),
        })
    }

    fn quadrant_slots(
        &self,
        quadrants: u8,
        banks: Interval,
    ) -> impl Iterator<Item = usize> + use<> {
        let target = self.facts.target;
        let count = target.partitions / target.quadrant_partitions;
        (banks.start..banks.end).flat_map(move |bank| {
            (0..count)
                .filter(move |quadrant| quadrants >> quadrant & 1 == 1)
                .map(move |quadrant| (bank * count + quadrant) as usize)
        })
    }

    /// Remembers an access of the instruction whose first event is `first`.
    fn record(&mut self, first: u32, event: &Event) {
        let geometry = self.facts.geometry;
        let is_read = event.action == Action::Read;
        for &class in geometry.classes(event.shape) {
            let last = &mut self.last[class as usize];
            if !std::mem::replace(&mut last.is_listed, true) {
                let facts = geometry.class(class);
                let slot = facts.bank * self.strip_count + u32::from(facts.strip);
                self.listed[slot as usize].push(class);
            }
            if is_read {
                self.reads.push((first, last.reads));
                last.reads = self.reads.len() as u32 - 1;
            } else {
                last.write = first;
                last.reads = NONE;
            }
        }
        if !self.neighbours.is_empty() {
            self.record_neighbour(first, event);
        }
    }

    /// Remembers an access by (bank, quadrant); that of a START or ACCUMULATE is its region.
    fn record_neighbour(&mut self, first: u32, event: &Event) {
        let geometry = self.facts.geometry;
        let shape = geometry.shape(event.shape);
        let (mut quadrants, mut banks) = (shape.quadrants, shape.banks);
        if event.member != NONE {
            let cluster = self.decisions.cluster_of[event.member as usize];
            let opening = self.decisions.flags[event.member as usize]
                .map(|(flags, _)| flags)
                .filter(|flags| flags.starts() || flags.accumulates());
            if let Some(flags) = opening {
                let (region, strips) = self.region(event.member, cluster, flags);
                quadrants |= geometry.quadrants_of(strips);
                banks = banks.hull(region);
            }
        }
        for slot in self.quadrant_slots(quadrants, banks) {
            let neighbours = &mut self.neighbours[slot];
            if event.member == NONE {
                neighbours.other = first;
            } else {
                neighbours.pe = first;
            }
        }
    }

    /// Adds an edge from the instruction of `event`, unless a token is there already.
    fn add(&mut self, event: u32, to: EdgeNode) {
        let from = self.inst(event);
        if let EdgeNode::Inst(to) = to
            && self
                .program
                .inst(to)
                .after
                .iter()
                .any(|edge| edge.from == from)
        {
            return;
        }
        self.edges.push(NewEdge {
            from: EdgeNode::Inst(from),
            to,
        });
    }
}
