//! A quick proof for straight lines and plain loop nests: replay the function cell by cell on all
//! machines at once.
//!
//! Every cell is in one state that holds on every machine the flags have to be right on (START sets
//! a pending bit or clears, in the partitions of the column group or of the destination). An
//! instruction either plainly does what the reference meaning asks for, or the replay gives up and
//! leaves the judgement to [`crate::verify_acc`], which knows more states. So the replay may refuse
//! what is right; it must not accept what is wrong.
//!
//! A loop that certainly runs is replayed in its first iteration, and then in another one until that
//! leaves every cell as it found it. From there on all iterations are alike: each begins in the same
//! state, and the predicates that the replay knows ask for nothing but first iterations. Inner loops
//! are replayed anew in each. So every combination of "first" and "not first" that can occur has been
//! seen, from the state in which it occurs.
//!
//! In a loop a buffer takes the cells of another one in the first iteration only, and only if some
//! predicate tells that iteration from the others: the proof over all paths looks no closer, and what is
//! accepted here should be accepted there.

use std::borrow::Cow;

use pto_ir::{
    AccEdit, Anchor, BlockId, InstId, Matmul, MemsetTarget, NewMemset, NewPredicate, Op, Origin,
    Plan, Program, RegionId, RegionKind, Space, Target, Turn,
};

use super::cells::{Logged, Replay};
use crate::verify_acc::flow::tracked_loops;

/// Deeper nests are left to the proof over all paths: replaying doubles with each level.
const MAX_DEPTH: usize = 4;
/// After so many iterations that are not the first one, the cells should have settled.
const MAX_ITERATIONS: usize = 3;

/// Whether the plan makes a function of straight lines and plain loops right. `false` proves nothing.
pub(in crate::legalize_acc) fn is_plainly_right(
    program: &Program,
    target: &'static Target,
    plan: &Plan,
) -> bool {
    let Some([entry]) = program.body().map(|body| body.blocks.as_slice()) else {
        return false;
    };
    let is_plain = |alloc: &pto_ir::Alloc| {
        alloc.space != Space::Psum || (alloc.origin == Origin::Allocation && !alloc.escapes)
    };
    if !program.allocs().iter().all(is_plain) || !plan.drop_inserted_predicates.is_empty() {
        return false;
    }
    let Some(changes) = Changes::of(plan) else {
        return false;
    };
    let mut walk = Walk {
        program,
        replay: Replay::new(program, target, plan),
        changes,
        told_apart: told_apart(program, plan),
        loops: Vec::new(),
    };
    walk.block(*entry) && walk.changes.are_seen()
}

/// By instruction: whether it is a loop of which a predicate asks if it is in its first iteration.
fn told_apart(program: &Program, plan: &Plan) -> Vec<bool> {
    let mut is_asked = vec![false; program.insts().len()];
    let new = plan.predicates.iter();
    let new = new.filter(|new| new.turn == Turn::First);
    let loops = new.flat_map(|new| new.loops.iter().copied());
    for holder in tracked_loops(program).into_iter().chain(loops) {
        is_asked[holder.index()] = true;
    }
    is_asked
}

/// What the plan says of each instruction, in the order of their numbers.
struct Changes<'p> {
    acc: Cow<'p, [AccEdit]>,
    memsets: Cow<'p, [NewMemset]>,
    predicates: Cow<'p, [NewPredicate]>,
    passed: Passed,
    /// How much of all lists was looked at in first iterations, in which everything is passed once.
    seen: usize,
    is_first: bool,
}

/// How much of each list lies behind.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    acc: usize,
    memsets: usize,
    predicates: usize,
}

impl<'p> Changes<'p> {
    /// `None` where a memset stands before no instruction.
    fn of(plan: &'p Plan) -> Option<Self> {
        let is_before = |memset: &NewMemset| matches!(memset.at, Anchor::Before(_));
        let memsets = of_psum(&plan.memsets);
        memsets.iter().all(is_before).then(|| Self {
            acc: sorted(&plan.acc, |edit| edit.inst),
            memsets: match memsets {
                Cow::Borrowed(memsets) => sorted(memsets, place),
                Cow::Owned(memsets) => Cow::Owned(sorted(&memsets, place).into_owned()),
            },
            predicates: sorted(&plan.predicates, |new| new.inst),
            passed: Passed::default(),
            seen: 0,
            is_first: true,
        })
    }

    /// Goes to the first of the instructions that come next, where the lists are not there yet.
    fn seek(&mut self, insts: &[InstId]) {
        let Some(&next) = insts.first() else { return };
        let Passed {
            acc,
            memsets,
            predicates,
        } = &mut self.passed;
        advance(acc, &self.acc, |edit| edit.inst < next);
        advance(memsets, &self.memsets, |memset| place(memset) < next);
        advance(predicates, &self.predicates, |new| new.inst < next);
    }

    /// Whether the replay has looked at everything.
    fn are_seen(&self) -> bool {
        self.seen == self.acc.len() + self.memsets.len() + self.predicates.len()
    }

    /// The memset before `inst` that comes next.
    fn memset(&mut self, inst: InstId) -> Option<NewMemset> {
        let memset = self.memsets.get(self.passed.memsets);
        let memset = memset.filter(|memset| place(memset) == inst)?;
        self.passed.memsets += 1;
        self.seen += usize::from(self.is_first);
        Some(*memset)
    }

    fn acc(&mut self, inst: InstId) -> Option<AccEdit> {
        let edit = self.acc.get(self.passed.acc);
        let edit = edit.filter(|edit| edit.inst == inst)?;
        self.passed.acc += 1;
        self.seen += usize::from(self.is_first);
        Some(*edit)
    }

    /// The loops that must be in their first iteration for `inst` to START.
    fn start_if(&mut self, inst: InstId) -> Option<&[InstId]> {
        let mut start = None;
        while let Some(new) = self.predicates.get(self.passed.predicates)
            && new.inst == inst
        {
            if new.turn == Turn::First {
                start = Some(new.loops.as_slice());
            }
            self.passed.predicates += 1;
            self.seen += usize::from(self.is_first);
        }
        start
    }
}

/// Moves `passed` to the first entry of `list`, which is sorted, of which `is_before` does not hold. Entries
/// are asked for in their order, but for blocks that are numbered otherwise.
fn advance<T>(passed: &mut usize, list: &[T], is_before: impl Fn(&T) -> bool) {
    let is_there = |at: usize| {
        list[..at].last().is_none_or(&is_before) && list.get(at).is_none_or(|next| !is_before(next))
    };
    if !is_there(*passed) {
        *passed = list.partition_point(is_before);
    }
}

/// The memsets that clear cells of PSUM.
fn of_psum(memsets: &[NewMemset]) -> Cow<'_, [NewMemset]> {
    let is_relay = |memset: &&NewMemset| memset.target == MemsetTarget::Relay;
    if !memsets.iter().any(|memset| is_relay(&memset)) {
        return Cow::Borrowed(memsets);
    }
    let others = memsets.iter().filter(|memset| !is_relay(memset));
    Cow::Owned(others.copied().collect())
}

/// The instruction that a memset stands before.
fn place(memset: &NewMemset) -> InstId {
    match memset.at {
        Anchor::Before(inst) => inst,
        Anchor::End(_) => InstId::new(0),
    }
}

/// `list` in the order of `key`, in which most lists are already.
fn sorted<T: Clone>(list: &[T], key: impl Fn(&T) -> InstId) -> Cow<'_, [T]> {
    if list.is_sorted_by_key(&key) {
        return Cow::Borrowed(list);
    }
    let mut list = list.to_vec();
    list.sort_by_key(key);
    Cow::Owned(list)
}

struct Walk<'p> {
    program: &'p Program,
    replay: Replay<'p>,
    changes: Changes<'p>,
    told_apart: Vec<bool>,
    /// The loops around the instruction, and whether each is in its first iteration.
    loops: Vec<(InstId, bool)>,
}

impl Walk<'_> {
    fn block(&mut self, id: BlockId) -> bool {
        let program = self.program;
        let block = program.block(id);
        self.changes.seek(&block.insts);
        block.successors.is_empty()
            && (0..block.insts.len()).all(|position| {
                let (inst, rest) = (block.insts[position], &block.insts[position + 1..]);
                self.memsets(inst) && self.inst(inst, rest)
            })
    }

    /// The memsets of the plan before `inst`.
    fn memsets(&mut self, inst: InstId) -> bool {
        while let Some(memset) = self.changes.memset(inst) {
            if !self.replay.clear(inst, memset.target) {
                return false;
            }
        }
        true
    }

    /// One instruction of a block, before `rest`.
    fn inst(&mut self, inst: InstId, rest: &[InstId]) -> bool {
        let program = self.program;
        match &program.inst(inst).op {
            Op::Matmul(matmul) => self.matmul(inst, matmul),
            Op::Engine if program.is_relay(inst) => true,
            Op::Engine if program.inst(inst).inserted => {
                self.replay.inserted(program.uses(inst), rest)
            }
            Op::Engine | Op::Effects => self.replay.plain(program.uses(inst)),
            // Every iteration has a buffer of its own in the place of the one before. Outside of loops a
            // buffer takes its cells as it writes them, since others may be done with them by then.
            Op::Alloc(id) => {
                self.loops.is_empty()
                    || program.alloc(*id).space != Space::Psum
                    || self.replay.renew(*id)
            }
            Op::Region {
                kind: RegionKind::For { trips: Some(trips) },
                regions,
            } => {
                let is_right = self.nest(inst, *trips, regions);
                self.changes.seek(rest);
                is_right
            }
            Op::Dealloc(_) | Op::Call { .. } | Op::Region { .. } => false,
        }
    }

    fn matmul(&mut self, inst: InstId, matmul: &Matmul) -> bool {
        let (mut flags, mut region) = (matmul.flags, matmul.zero_region);
        if let Some(edit) = self.changes.acc(inst) {
            (flags, region) = (edit.flags, edit.zero_region);
        }
        let Some(flags) = flags.filter(|flags| flags.is_legal(true)) else {
            return false;
        };
        let loops = &self.loops;
        let is_first = |holder: InstId| loops.iter().find(|l| l.0 == holder).map(|l| l.1);
        let starts = match (self.changes.start_if(inst), matmul.start_if) {
            (Some(asked), None) => {
                let asked = asked.iter().map(|&holder| is_first(holder));
                asked
                    .into_iter()
                    .try_fold(true, |all, one| Some(all && one?))
            }
            (None, Some(known)) => {
                let condition = self.program.condition(known.condition);
                condition.holds(|holder, turn| is_first(holder).filter(|_| turn == Turn::First))
            }
            (None, None) => Some(false),
            (Some(_), Some(_)) => None,
        };
        match starts {
            Some(starts) if !(starts && flags.accumulates()) => {
                let starts = flags.starts() || starts;
                self.replay
                    .matmul(inst, matmul, flags, starts, region.unwrap_or(0))
            }
            _ => false,
        }
    }

    /// A loop that runs `trips` times.
    fn nest(&mut self, holder: InstId, trips: u64, regions: &[RegionId]) -> bool {
        let [region] = regions else { return false };
        let [body] = self.program.region(*region).blocks.as_slice() else {
            return false;
        };
        if trips == 0 || self.loops.len() == MAX_DEPTH {
            return false;
        }
        let is_outermost = self.loops.is_empty();
        if is_outermost {
            self.replay.start_log();
        }
        let (before, passed) = (self.replay.logged(), self.changes.passed);
        let is_right = self.iteration(holder, true, *body)
            && (trips == 1
                || self.is_settled(holder, before)
                || self.others(holder, *body, passed));
        if is_outermost {
            self.replay.end_log();
        }
        is_right
    }

    fn iteration(&mut self, holder: InstId, is_first: bool, body: BlockId) -> bool {
        let outside = self.replay.may_displace;
        let is_told_apart = self.told_apart[holder.index()];
        self.replay.may_displace = outside && is_first && is_told_apart;
        self.loops.push((holder, is_first));
        let was_first = self.changes.is_first;
        self.changes.is_first &= is_first;
        let is_right = self.block(body);
        self.changes.is_first = was_first;
        self.loops.pop();
        self.replay.may_displace = outside;
        is_right
    }

    /// Whether the first iteration is like all others, and found everything as it leaves it.
    fn is_settled(&self, holder: InstId, before: Logged) -> bool {
        !self.told_apart[holder.index()] && self.replay.is_as_at(before)
    }

    /// All iterations but the first. `passed`: how much of the plan lay behind when the loop began.
    fn others(&mut self, holder: InstId, body: BlockId, passed: Passed) -> bool {
        for _ in 0..MAX_ITERATIONS {
            let before = self.replay.logged();
            self.changes.passed = passed;
            if !self.iteration(holder, false, body) {
                return false;
            }
            if self.replay.is_as_at(before) {
                return true;
            }
        }
        false
    }
}
