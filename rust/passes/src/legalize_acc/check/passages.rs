//! Whether engines may meet in a bank from one block to another.
//!
//! A *passage* is what one block executes between two operations that hold uses of PSUM. In each lane it is
//! known whether everything in it waits for the accesses that were there before it was entered: for all of
//! them (a START or ACCUMULATE opens the lane), for those that a relay has waited for, or not for
//! certain; and whether a relay waits for everything in it. The function is gone through from the first
//! passage to the last, what an operation repeats twice, and everybody who comes is compared with whoever
//! has been in the lane.

use pto_ir::{
    Anchor, BlockId, Condition, EdgeNode, InstId, Op, Plan, Program, RegionKind, Tile, Turn,
};
use smallvec::SmallVec;

use super::clocks::each;
use super::lanes::Pair;

/// Who may be in a lane together without meeting: one tile of the PE array, or other engines (`None`).
pub(super) type Hand = Option<Option<Tile>>;

/// What one block executes without a break.
#[derive(Debug)]
pub(super) struct Passage {
    pub(super) block: BlockId,
    /// Who uses each lane, the first of them first.
    pub(super) users: Vec<(usize, Hand, EdgeNode)>,
    /// Lanes where somebody waits for nothing that was there before.
    pub(super) unordered: u64,
    /// Lanes where somebody waits for what relays waited for, and for no more.
    pub(super) relayed: u64,
    /// Lanes where no relay waits for somebody.
    pub(super) left: u64,
}

/// A passage that goes on.
pub(super) struct Current {
    facts: Passage,
    /// What each queue had executed when it began.
    since: Vec<u32>,
    /// The queue and number of its first memset of the relay.
    relay: Option<(usize, u32)>,
    /// Those that the last one waits for.
    relayed: Vec<u32>,
    /// The lanes that were opened in it.
    opened: u64,
    /// Whether code that no engine executes stands in it.
    has_barrier: bool,
    /// By lane: those among its users.
    hands: Vec<SmallVec<[Hand; 2]>>,
}

impl Current {
    /// A passage through `block` that begins when each queue has executed so much.
    pub(super) fn new(block: BlockId, since: Vec<u32>) -> Self {
        Self {
            facts: Passage {
                block,
                users: Vec::new(),
                unordered: 0,
                relayed: 0,
                left: 0,
            },
            relayed: vec![0; since.len()],
            since,
            relay: None,
            opened: 0,
            has_barrier: false,
            hands: vec![SmallVec::new(); u64::BITS as usize],
        }
    }

    pub(super) fn block(&self) -> BlockId {
        self.facts.block
    }

    /// Everything before comes before everything after.
    pub(super) fn barrier(&mut self) {
        self.has_barrier = true;
    }

    /// A memset of the relay, the last of `queue` that its `clock` counts.
    pub(super) fn relay(&mut self, queue: usize, clock: &[u32]) {
        self.relay.get_or_insert((queue, clock[queue]));
        self.relayed.copy_from_slice(clock);
    }

    /// Another instruction, with its lanes and those of them that it opens.
    pub(super) fn step(
        &mut self,
        node: EdgeNode,
        hand: Hand,
        (lanes, opens): (u64, u64),
        clock: &[u32],
    ) {
        self.opened |= opens;
        let waits = |(queue, number): (usize, u32)| clock[queue] >= number;
        let closed = lanes & !self.opened;
        match self.relay.is_some_and(waits) {
            _ if self.has_barrier => {}
            true => self.facts.relayed |= closed,
            false => self.facts.unordered |= closed,
        }
        for lane in each(lanes) {
            let known = &mut self.hands[lane];
            if !known.contains(&hand) {
                known.push(hand);
                self.facts.users.push((lane, hand, node));
            }
        }
    }

    /// The passage as it was. All instructions wait for those that `floor` counts; `present` are the last
    /// ones in a lane.
    pub(super) fn end<'a>(self, floor: &[u32], present: impl Fn(usize) -> &'a [u32]) -> Passage {
        let Self {
            mut facts,
            since,
            relayed,
            ..
        } = self;
        let is_behind = |queue: usize, number: u32| {
            number <= since[queue].max(relayed[queue]).max(floor[queue])
        };
        for lane in 0..u64::BITS as usize {
            let mut last = present(lane).iter().enumerate();
            if !last.all(|(queue, &number)| is_behind(queue, number)) {
                facts.left |= 1 << lane;
            }
        }
        facts
    }
}

/// Somebody who was in a lane, with the block if it was always the same.
#[derive(Clone, Copy)]
struct Visitor {
    hand: Hand,
    node: EdgeNode,
    block: Option<BlockId>,
}

/// Those who were in one lane: all, and those no relay waits for.
#[derive(Clone, Default)]
struct Lane {
    all: SmallVec<[Visitor; 2]>,
    left: SmallVec<[Visitor; 2]>,
}

/// The first two that may meet, of different passages.
pub(super) fn first_meeting(
    program: &Program,
    plan: &Plan,
    mut passages: Vec<Passage>,
) -> Option<Pair> {
    let around = runs(program);
    let run = |passage: &Passage| around[passage.block.index()];
    passages.retain(|passage| !passage.users.is_empty() && run(passage) != Runs::Never);
    if passages.is_empty() {
        return None;
    }
    let mut number = vec![0; program.insts().len()];
    for (place, inst) in program.walk().enumerate() {
        number[inst.index()] = place;
    }
    let number = |inst: InstId| number[inst.index()];
    passages.sort_by_key(|passage| near(program, plan, passage).map(number));
    let mut lanes = vec![Lane::default(); u64::BITS as usize];
    let is_together = |a: &Passage, b: &Passage| run(a) != Runs::Once && run(a) == run(b);
    for together in passages.chunk_by(is_together) {
        let times = if run(&together[0]) == Runs::Once {
            1
        } else {
            2
        };
        for time in 0..times {
            for passage in together {
                // The block itself orders what it executes in one run.
                let own = (time == 0).then_some(passage.block);
                if let Some(pair) = meeting(passage, own, &lanes) {
                    return Some(pair);
                }
                for &(lane, hand, node) in &passage.users {
                    let block = Some(passage.block);
                    let visitor = Visitor { hand, node, block };
                    note(&mut lanes[lane].all, visitor);
                    if passage.left >> lane & 1 == 1 {
                        note(&mut lanes[lane].left, visitor);
                    }
                }
            }
        }
    }
    None
}

/// An instruction that the first of a passage is, or stands at.
fn near(program: &Program, plan: &Plan, passage: &Passage) -> Option<InstId> {
    let at = match passage.users.first()?.2 {
        EdgeNode::Inst(inst) => return Some(inst),
        EdgeNode::Memset(index) => plan.memsets.get(index as usize)?.at,
    };
    match at {
        Anchor::Before(inst) => Some(inst),
        Anchor::End(block) => program.block(block).insts.last().copied(),
    }
}

fn note(visitors: &mut SmallVec<[Visitor; 2]>, new: Visitor) {
    match visitors.iter_mut().find(|known| known.hand == new.hand) {
        Some(known) => known.block = known.block.filter(|_| known.block == new.block),
        None => visitors.push(new),
    }
}

fn meeting(passage: &Passage, own: Option<BlockId>, lanes: &[Lane]) -> Option<Pair> {
    let is_elsewhere = |visitor: &&Visitor| own.is_none() || visitor.block != own;
    passage.users.iter().find_map(|&(lane, hand, node)| {
        let is = |set: u64| set >> lane & 1 == 1;
        let before: &[Visitor] = match () {
            () if is(passage.unordered) => &lanes[lane].all,
            () if is(passage.relayed) => &lanes[lane].left,
            () => &[],
        };
        let mut others = before.iter().filter(is_elsewhere);
        let other = others.find(|visitor| visitor.hand != hand)?;
        Some((other.node, node))
    })
}

/// How often a block runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Never,
    /// At most once.
    Once,
    /// As often as this, the outermost operation that repeats what is inside, wants.
    Again(InstId),
}

/// By block: how often it runs.
fn runs(program: &Program) -> Vec<Runs> {
    let mut around = vec![Runs::Once; program.blocks().len()];
    let jumps = |block: &BlockId| !program.block(*block).successors.is_empty();
    for inst in program.walk() {
        let Op::Region { kind, regions } = &program.inst(inst).op else {
            continue;
        };
        let own = match kind {
            RegionKind::For { trips: Some(0) } => Runs::Never,
            RegionKind::For { trips: Some(1) } | RegionKind::If | RegionKind::IndexSwitch => {
                Runs::Once
            }
            RegionKind::For { .. } | RegionKind::While | RegionKind::Other => Runs::Again(inst),
        };
        let home = program.inst(inst).block;
        let outer = around[home.index()];
        let takes_first = takes_first(program, inst);
        for (index, &region) in regions.iter().enumerate() {
            let blocks = &program.region(region).blocks;
            let is_left_out = takes_first.is_some_and(|first| first != (index == 0));
            let inner = match own {
                _ if is_left_out || program.is_dead(region) => Runs::Never,
                Runs::Once if blocks.iter().any(jumps) => Runs::Again(inst),
                own => own,
            };
            let runs = match (outer, inner) {
                (Runs::Never, _) | (_, Runs::Never) => Runs::Never,
                (Runs::Once, inner) => inner,
                (outer, _) => outer,
            };
            blocks.iter().for_each(|block| around[block.index()] = runs);
        }
    }
    // Of blocks that jump any may run again: the first instruction stands for the function.
    if let (Some(body), Some(first)) = (program.body(), program.walk().next())
        && body.blocks.iter().any(jumps)
    {
        around.fill(Runs::Again(first));
    }
    around
}

/// Whether `branch` always takes its first region, or never does, for what is known of the loops around it:
/// those that run once, and those that the branches around it ask for.
fn takes_first(program: &Program, branch: InstId) -> Option<bool> {
    let asked = program.branch(branch)?;
    let (mut first, mut not_all) = (Vec::new(), Vec::new());
    let mut block = program.inst(branch).block;
    while let Some(around) = program.holder(block) {
        if let Op::Region { kind, regions } = &program.inst(around).op {
            if *kind == (RegionKind::For { trips: Some(1) }) {
                first.push(around);
            }
            if let Some(Condition::Loops {
                turn: Turn::First,
                loops,
                negated,
            }) = program.branch(around)
            {
                let is_then = regions.first() == Some(&program.block(block).region);
                match is_then != *negated {
                    true => first.extend_from_slice(loops),
                    false => not_all.push(loops),
                }
            }
        }
        block = program.inst(around).block;
    }
    // Of loops that are not all in their first iteration, the only one of which that is not known.
    let later: Vec<InstId> = not_all
        .into_iter()
        .filter_map(|loops| {
            let mut open = loops.iter().filter(|holder| !first.contains(holder));
            open.next().filter(|_| open.next().is_none()).copied()
        })
        .collect();
    asked.holds(|holder, turn| match turn {
        Turn::First if first.contains(&holder) => Some(true),
        Turn::First if later.contains(&holder) => Some(false),
        _ => None,
    })
}

/// By instruction: whether it holds uses of PSUM, or instructions that do, and not for nothing.
pub(super) fn holders(program: &Program, uses: impl Fn(InstId) -> bool) -> Vec<bool> {
    let mut holds = vec![false; program.insts().len()];
    let around = runs(program);
    let is_run = |inst: InstId| around[program.inst(inst).block.index()] != Runs::Never;
    for inst in program.walk().filter(|&inst| is_run(inst) && uses(inst)) {
        let mut holder = program.holder(program.inst(inst).block);
        while let Some(outer) = holder
            && !std::mem::replace(&mut holds[outer.index()], true)
        {
            holder = program.holder(program.inst(outer).block);
        }
    }
    holds
}
