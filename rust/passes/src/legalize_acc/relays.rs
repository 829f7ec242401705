//! Order between blocks, where a bank changes hands from one block to another.
//!
//! A token orders two instructions of one block. Nothing but memory orders an iteration of a loop behind
//! the one before, or what follows a loop behind its body. So what tokens cannot say is said through one
//! cell of SBUF, the *relay*: a memset of it waits for every one before.
//!
//! ```text
//! %a, %b: halves of bank 0
//! scf.for {
//!   memset relay                 entry: waits for the exit of the iteration before, by the cell
//!   tmatmul_acc outs(%a)         after the entry, by a token
//!   tmatmul     outs(%b)
//!   copy        %b -> %x
//!   memset relay                 exit: after the copy, by a token
//! }
//! ```
//!
//! # Terms
//!
//! * *Stretch*: what a block executes between two operations with regions that use PSUM. Within it,
//!   [`super::collisions`] orders what has to be.
//! * *Entry*, *exit*: a memset of the relay before and after everything in a stretch.
//! * *Unit*: the stretches of one operation that repeats what it holds, and lies in no other that
//!   does; or one stretch that lies in none. One unit is executed before the next, or not at all; inside
//!   a unit any stretch may come before any other, and before itself.
//!
//! # The rule
//!
//! Two stretches touch one lane, the first may come before the second, and not all of it is one tile of
//! the PE array or other engines alone. Then the second needs an entry in that lane, and the first an
//! exit; except that in the second, whoever comes after a START or ACCUMULATE that opens the lane needs
//! no entry, for the region waits for all that is older. A kernel whose bodies begin so, or that gives each
//! buffer a bank, gets no relay.
//!
//! Linear in the stretches times the lanes.

use pto_ir::{
    Anchor, BlockId, Diag, EdgeNode, InstId, MemsetTarget, NewEdge, NewMemset, Op, Plan, Program,
    RegionKind, Site,
};

use super::collisions::{Hands, each};
use super::geometry::Lanes;

/// The number of lanes.
const LANES: usize = Lanes::BITS as usize;

/// Who touches a lane, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Users {
    /// Nobody (0), one pair of [`Hands`] by number, or [`SEVERAL`].
    hands: u16,
    /// The number of the block, or [`ELSEWHERE`].
    block: u32,
}

/// Different [`Hands`].
const SEVERAL: u16 = u16::MAX;
/// Not one block alone.
const ELSEWHERE: u32 = u32::MAX;

impl Users {
    const NOBODY: Self = Self {
        hands: 0,
        block: ELSEWHERE,
    };

    fn with(self, other: Self) -> Self {
        if self.hands == 0 || other.hands == 0 {
            return if self.hands == 0 { other } else { self };
        }
        Self {
            hands: if self.hands == other.hands {
                self.hands
            } else {
                SEVERAL
            },
            block: if self.block == other.block {
                self.block
            } else {
                ELSEWHERE
            },
        }
    }

    /// Whether they may meet `others`: not those of the same hands, nor of the block `own`, which orders
    /// what it executes.
    fn meet(self, others: Self, own: Option<u32>) -> bool {
        let is_somebody = self.hands != 0 && others.hands != 0 && own != Some(self.block);
        is_somebody && self.with(others).hands == SEVERAL
    }
}

/// [`Users`] of all lanes.
#[derive(Clone, Debug)]
struct Table([Users; LANES]);

impl Table {
    const EMPTY: Self = Self([Users::NOBODY; LANES]);

    fn add(&mut self, other: &Self, lanes: Lanes) {
        for (lane, (own, its)) in self.0.iter_mut().zip(&other.0).enumerate() {
            if lanes >> lane & 1 == 1 {
                *own = own.with(*its);
            }
        }
    }

    fn with(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.add(other, Lanes::MAX);
        both
    }

    /// The lanes in which those of `self` may meet `others`; see [`Users::meet`].
    fn meeting(&self, others: &Self, own: Option<u32>) -> Lanes {
        let pairs = self.0.iter().zip(&others.0).enumerate();
        let meeting = pairs.filter(|(_, (own_users, its))| own_users.meet(**its, own));
        meeting.fold(0, |lanes, (lane, _)| lanes | 1 << lane)
    }
}

/// An instruction, and the lanes for whose sake it waits for an entry, or an exit for it.
type Wait = (EdgeNode, Lanes);

/// What a block executes between two operations with regions.
#[derive(Debug)]
struct Stretch {
    block: BlockId,
    /// Where the entry stands.
    start: Anchor,
    /// Where the exit stands.
    end: Anchor,
    users: Table,
    /// Who has to wait for the entry.
    firsts: Vec<Wait>,
    /// For whom the exit has to wait.
    lasts: Vec<Wait>,
    /// The lanes in which it needs an entry.
    enters: Lanes,
    /// The lanes in which it needs an exit.
    leaves: Lanes,
}

/// The stretches of a function.
#[derive(Debug, Default)]
pub(super) struct Relays {
    stretches: Vec<Stretch>,
    /// Whether the last stretch goes on.
    is_open: bool,
    hands: Vec<Hands>,
    /// Edges inside blocks all of whose flags were there: for the case that others are derived.
    pub spare_edges: Vec<NewEdge>,
}

impl Relays {
    /// An instruction of `block` uses `lanes`; before it or a memset in front of it, at `anchor`, an entry
    /// may stand. It waits for no other of its stretch in the lanes `alone`.
    pub(super) fn uses(
        &mut self,
        (block, anchor): (BlockId, Anchor),
        node: EdgeNode,
        hands: Hands,
        (lanes, alone): (Lanes, Lanes),
    ) {
        let known = self.hands.iter().position(|known| *known == hands);
        let number = known.unwrap_or_else(|| {
            self.hands.push(hands);
            self.hands.len() - 1
        });
        let users = Users {
            hands: u16::try_from(number + 1).unwrap_or(SEVERAL),
            block: block.index() as u32,
        };
        if !std::mem::replace(&mut self.is_open, true) {
            self.stretches.push(Stretch {
                block,
                start: anchor,
                end: anchor,
                users: Table::EMPTY,
                firsts: Vec::new(),
                lasts: Vec::new(),
                enters: 0,
                leaves: 0,
            });
        }
        let Some(stretch) = self.stretches.last_mut() else {
            return;
        };
        for lane in each(lanes) {
            let known = &mut stretch.users.0[lane];
            *known = known.with(users);
        }
        if alone != 0 {
            stretch.firsts.push((node, alone));
        }
    }

    /// The stretch ends at `end`; in each lane, everything in it comes before one of `lasts`.
    pub(super) fn close(&mut self, end: Anchor, lasts: Vec<Wait>) {
        if let Some(stretch) = self.stretches.last_mut()
            && std::mem::replace(&mut self.is_open, false)
        {
            (stretch.end, stretch.lasts) = (end, lasts);
        }
    }

    /// Adds the entries and exits that are needed to `plan`.
    pub(super) fn add_to(mut self, program: &Program, plan: &mut Plan, remarks: bool) {
        plan.edges.append(&mut self.spare_edges);
        self.decide(program);
        let wanted = |waits: &[Wait], lanes: Lanes| -> Vec<EdgeNode> {
            let needed = waits.iter().filter(|(_, own)| own & lanes != 0);
            needed.map(|&(node, _)| node).collect()
        };
        let mut entries: Vec<(Anchor, Vec<EdgeNode>)> = Vec::new();
        let mut exits = Vec::new();
        for stretch in &self.stretches {
            entries.push((stretch.start, wanted(&stretch.firsts, stretch.enters)));
            exits.push((stretch.end, wanted(&stretch.lasts, stretch.leaves)));
        }
        entries.retain(|(_, nodes)| !nodes.is_empty());
        exits.retain(|(_, nodes)| !nodes.is_empty());
        // Entries stand before other memsets in the same place, exits behind them.
        let shift = entries.len() as u32;
        let moved = |node: EdgeNode| match node {
            EdgeNode::Memset(index) => EdgeNode::Memset(index + shift),
            inst => inst,
        };
        for edge in &mut plan.edges {
            (edge.from, edge.to) = (moved(edge.from), moved(edge.to));
        }
        let relay = |&(at, _): &(Anchor, _)| NewMemset {
            at,
            target: MemsetTarget::Relay,
        };
        let first_exit = shift + plan.memsets.len() as u32;
        plan.memsets.splice(0..0, entries.iter().map(relay));
        plan.memsets.extend(exits.iter().map(relay));
        for (index, (_, nodes)) in (0..).zip(&entries) {
            let from = EdgeNode::Memset(index);
            let edges = nodes.iter().map(|&to| NewEdge {
                from,
                to: moved(to),
            });
            plan.edges.extend(edges);
        }
        for (index, (_, nodes)) in (first_exit..).zip(&exits) {
            let to = EdgeNode::Memset(index);
            let edges = nodes.iter().map(|&from| NewEdge {
                from: moved(from),
                to,
            });
            plan.edges.extend(edges);
        }
        if remarks {
            plan.diags.extend(entries.iter().map(|(at, _)| remark(*at)));
        }
    }

    /// Finds the lanes in which each stretch needs an entry and an exit.
    fn decide(&mut self, program: &Program) {
        let order = Order::new(program);
        let place = |stretch: &Stretch| (order.place(program, stretch.start), stretch.block);
        self.stretches.sort_by_key(place);
        let is_same_unit = |a: &Stretch, b: &Stretch| {
            let unit = order.repeated[a.block.index()];
            unit.is_some() && unit == order.repeated[b.block.index()]
        };
        let mut before = Table::EMPTY;
        for unit in self.stretches.chunk_by_mut(is_same_unit) {
            let mut own = Table::EMPTY;
            unit.iter()
                .for_each(|stretch| own.add(&stretch.users, Lanes::MAX));
            let (earlier, home) = order.others(unit, &before, &own);
            for stretch in unit {
                let unordered = stretch.firsts.iter().fold(0, |lanes, (_, own)| lanes | own);
                stretch.enters = unordered & earlier.meeting(&stretch.users, home);
            }
            before = before.with(&own);
        }
        let mut after = Table::EMPTY;
        let mut units: Vec<_> = self.stretches.chunk_by_mut(is_same_unit).collect();
        for unit in units.iter_mut().rev() {
            let mut own = Table::EMPTY;
            unit.iter()
                .for_each(|stretch| own.add(&stretch.users, stretch.enters));
            let (later, home) = order.others(unit, &after, &own);
            for stretch in unit.iter_mut() {
                stretch.leaves = later.meeting(&stretch.users, home);
            }
            after = after.with(&own);
        }
    }
}

fn remark(at: Anchor) -> Diag {
    let site = match at {
        Anchor::Before(inst) => Site::Inst(inst),
        Anchor::End(_) => Site::Function,
    };
    Diag::remark(
        "pto.acc-relay",
        site,
        "waits, by one cell of SBUF, for other blocks whose engines use its banks: a token cannot leave a block",
    )
}

/// Where everything stands in a function, and what is repeated.
struct Order {
    /// By instruction: how many come before it.
    places: Vec<u32>,
    /// By block: the outermost operation around it that may run it more than once, by its number, or
    /// the function itself.
    repeated: Vec<Option<u32>>,
}

/// The function, as what is repeated: one of several blocks may jump back.
const FUNCTION: u32 = u32::MAX;

impl Order {
    fn new(program: &Program) -> Self {
        let mut order = Self {
            places: vec![0; program.insts().len()],
            repeated: vec![None; program.blocks().len()],
        };
        let has_jumps = |blocks: &[BlockId]| {
            let mut blocks = blocks.iter();
            blocks.any(|&block| !program.block(block).successors.is_empty())
        };
        if let Some(body) = program.body()
            && has_jumps(&body.blocks)
        {
            for &block in &body.blocks {
                order.repeated[block.index()] = Some(FUNCTION);
            }
        }
        for (place, holder) in program.walk().enumerate() {
            order.places[holder.index()] = place as u32;
            let Op::Region { kind, regions } = &program.inst(holder).op else {
                continue;
            };
            let around = order.repeated[program.inst(holder).block.index()];
            for &region in regions {
                let blocks = &program.region(region).blocks;
                let own = repeats(*kind) || has_jumps(blocks);
                let own = own.then_some(holder.index() as u32);
                for &block in blocks {
                    order.repeated[block.index()] = around.or(own);
                }
            }
        }
        order
    }

    /// Who may come before, or after, the stretches of a unit, and the block that orders what it executes
    /// itself: `outside`, and `own` where it is repeated.
    fn others(&self, unit: &[Stretch], outside: &Table, own: &Table) -> (Table, Option<u32>) {
        let block = unit[0].block.index();
        match self.repeated[block] {
            Some(_) => (outside.with(own), None),
            None => (outside.clone(), Some(block as u32)),
        }
    }

    /// The place of an anchor: of the last instruction of the block, if it is its end.
    fn place(&self, program: &Program, at: Anchor) -> u32 {
        let of = |inst: InstId| self.places[inst.index()];
        match at {
            Anchor::Before(inst) => of(inst),
            Anchor::End(block) => {
                let last = program.block(block).insts.last().copied();
                last.or_else(|| program.holder(block)).map_or(0, of)
            }
        }
    }
}

/// Whether an operation may run a region more than once.
const fn repeats(kind: RegionKind) -> bool {
    match kind {
        RegionKind::For { trips } => !matches!(trips, Some(0 | 1)),
        RegionKind::If | RegionKind::IndexSwitch => false,
        RegionKind::While | RegionKind::Other => true,
    }
}
