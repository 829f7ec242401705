//! What a plan changes, handed out in the order in which a replay comes by.

use std::borrow::Cow;

use pto_ir::{AccEdit, Anchor, InstId, MemsetTarget, NewMemset, NewPredicate, Plan, Turn};

/// What the plan says of each instruction, in the order of their numbers.
pub(super) struct Changes<'p> {
    acc: Cow<'p, [AccEdit]>,
    memsets: Cow<'p, [NewMemset]>,
    predicates: Cow<'p, [NewPredicate]>,
    /// How much of each list lies behind.
    pub(super) passed: Passed,
    /// By entry of all three lists, one after the other: whether the replay has looked at it.
    seen: Vec<bool>,
}

/// How much of each list lies behind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    acc: usize,
    memsets: usize,
    predicates: usize,
}

impl<'p> Changes<'p> {
    /// `None` where a memset stands before no instruction.
    pub(super) fn of(plan: &'p Plan) -> Option<Self> {
        let is_before = |memset: &NewMemset| matches!(memset.at, Anchor::Before(_));
        let memsets = of_psum(&plan.memsets);
        let count = plan.acc.len() + memsets.len() + plan.predicates.len();
        memsets.iter().all(is_before).then(|| Self {
            acc: sorted(&plan.acc, |edit| edit.inst),
            memsets: match memsets {
                Cow::Borrowed(memsets) => sorted(memsets, place),
                Cow::Owned(memsets) => Cow::Owned(sorted(&memsets, place).into_owned()),
            },
            predicates: sorted(&plan.predicates, |new| new.inst),
            passed: Passed::default(),
            seen: vec![false; count],
        })
    }

    /// Goes to the first of the instructions that come next, where the lists are not there yet.
    pub(super) fn seek(&mut self, insts: &[InstId]) {
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
    pub(super) fn are_seen(&self) -> bool {
        self.seen.iter().all(|&seen| seen)
    }

    /// The memset before `inst` that comes next.
    pub(super) fn memset(&mut self, inst: InstId) -> Option<NewMemset> {
        let memset = self.memsets.get(self.passed.memsets);
        let memset = memset.filter(|memset| place(memset) == inst)?;
        self.seen[self.acc.len() + self.passed.memsets] = true;
        self.passed.memsets += 1;
        Some(*memset)
    }

    /// The new flags of `inst`.
    pub(super) fn acc(&mut self, inst: InstId) -> Option<AccEdit> {
        let edit = self.acc.get(self.passed.acc);
        let edit = edit.filter(|edit| edit.inst == inst)?;
        self.seen[self.passed.acc] = true;
        self.passed.acc += 1;
        Some(*edit)
    }

    /// The loops that must be in their first iteration for `inst` to START.
    pub(super) fn start_if(&mut self, inst: InstId) -> Option<&[InstId]> {
        let before = self.acc.len() + self.memsets.len();
        let mut start = None;
        while let Some(new) = self.predicates.get(self.passed.predicates)
            && new.inst == inst
        {
            if new.turn == Turn::First {
                start = Some(new.loops.as_slice());
            }
            self.seen[before + self.passed.predicates] = true;
            self.passed.predicates += 1;
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
