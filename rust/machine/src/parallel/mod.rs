//! Loops whose iterations run in any order: which order a run takes, and what depends on it.
//!
//! `scf.parallel`, `scf.forall` and `affine.parallel` promise that their iterations mean the same in
//! every order. A run takes one [`Order`] and holds the program to its promise: two accesses to one
//! element from different iterations, one of them a write, are a *conflict*, which is reported with
//! both accesses and the loop.
//!
//! # How it is found
//!
//! Iterations are numbered as they begin, those of inner loops among those of outer ones. Every
//! element remembers in which iteration it was [last written and read](marks). An earlier access
//! may run after the present one exactly if some loop around the present access had begun by then,
//! and its present iteration had not: what came before the loop, and what came earlier in the same
//! iteration, is in order. As iterations of one loop are run one after the other, one write and one
//! read are enough to remember (Feng and Leiserson's SP-bags, of which this is the case of loops).
//!
//! # What is left out
//!
//! Iterations are taken to run one after the other, in whatever order: what two of them do to PSUM by
//! a START, or by buffers of their own in one place, is no conflict. Values tell, in other orders.

mod marks;

use smallvec::SmallVec;

use crate::concurrency::Access;
use crate::memory::Runs;
use crate::random::Random;
use crate::report::SiteId;
pub(crate) use marks::Marks;
use marks::{Mark, Touch};

/// The order in which the iterations of parallel loops run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As those of a sequential loop.
    #[default]
    Forward,
    /// The last one first.
    Reverse,
    /// Shuffled, the same for one seed.
    Shuffled(u64),
}

impl Order {
    /// The number, of `count` iterations, of the one that runs at `position`: a permutation.
    pub(crate) fn iteration(self, position: u64, count: u64) -> u64 {
        match self {
            Self::Forward => position,
            Self::Reverse => count - 1 - position,
            Self::Shuffled(seed) => shuffled(seed, position, count),
        }
    }
}

/// A permutation of the numbers below a power of two, followed until it is back below `count`.
fn shuffled(seed: u64, position: u64, count: u64) -> u64 {
    let bits = u64::BITS - (count - 1).leading_zeros();
    if bits == 0 {
        return 0;
    }
    let mask = u64::MAX >> (u64::BITS - bits);
    let mut keys = Random::new(seed);
    let keys = [(); 4].map(|()| keys.bits());
    let mut at = position;
    loop {
        for key in keys {
            // An odd factor, a sum and a shift to the right can each be undone.
            at = at.wrapping_mul(key | 1).wrapping_add(key >> 32) & mask;
            at ^= at >> bits.div_ceil(2);
        }
        if at < count {
            return at;
        }
    }
}

/// Pages of marks that a run may have: 64 Mi elements, in 1 GiB.
const MAX_PAGES: usize = (64 << 20) / marks::PAGE;

/// Two accesses that different iterations make in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The element, counted in its buffer.
    pub(crate) element: usize,
    /// The earlier access.
    pub(crate) earlier: SiteId,
    /// What the earlier access was.
    pub(crate) earlier_access: Access,
    /// The loop whose iterations they are in.
    pub(crate) in_loop: SiteId,
}

/// There are too many elements to remember.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyMarks;

/// The parallel loops around the instruction at hand.
#[derive(Debug)]
pub(crate) struct ParallelLoops {
    is_watched: bool,
    loops: SmallVec<[Level; 4]>,
    /// The number of the iteration that began last. Past the largest number all count as one: then
    /// conflicts are overlooked, and none is invented.
    last: u32,
    pages_left: usize,
}

/// A loop that is being run.
#[derive(Clone, Copy, Debug)]
struct Level {
    site: SiteId,
    /// The number of its first iteration.
    first: u32,
    /// The number of the present one.
    present: u32,
    /// Buffers with a larger serial number are the present iteration's own.
    last_serial: u64,
}

impl ParallelLoops {
    /// No loops; conflicts are looked for if `is_watched`.
    pub(crate) fn new(is_watched: bool) -> Self {
        Self {
            is_watched,
            loops: SmallVec::new(),
            last: 0,
            pages_left: MAX_PAGES,
        }
    }

    /// The first iteration of the loop at `site` begins; `last_serial` is the number of the last
    /// buffer that was allocated.
    pub(crate) fn enter(&mut self, site: SiteId, last_serial: u64) {
        self.last = self.last.saturating_add(1);
        self.loops.push(Level {
            site,
            first: self.last,
            present: self.last,
            last_serial,
        });
    }

    /// The next iteration of the innermost loop begins.
    pub(crate) fn advance(&mut self, last_serial: u64) {
        self.last = self.last.saturating_add(1);
        if let Some(level) = self.loops.last_mut() {
            level.present = self.last;
            level.last_serial = last_serial;
        }
    }

    /// The innermost loop has ended.
    pub(crate) fn leave(&mut self) {
        self.loops.pop();
    }

    /// The life of a buffer is over, whose marks these are.
    pub(crate) fn forget(&mut self, marks: &Marks) {
        self.pages_left += marks.page_count();
    }

    /// Whether there is a loop whose iterations are watched.
    pub(crate) fn is_watching(&self) -> bool {
        self.is_watched && !self.loops.is_empty()
    }

    /// Whether accesses to the buffer number `serial` may be in conflict.
    pub(crate) fn watches(&self, serial: u64) -> bool {
        let innermost = self.loops.last().filter(|_| self.is_watched);
        innermost.is_some_and(|level| serial <= level.last_serial)
    }

    /// The access `access`, at `site`, to the elements `runs` of the buffer of `marks`: the first
    /// conflict with an earlier one.
    pub(crate) fn touch(
        &mut self,
        marks: &mut Marks,
        runs: &Runs,
        access: Access,
        site: SiteId,
    ) -> Result<Option<Conflict>, TooManyMarks> {
        let now = Touch {
            iteration: self.last,
            site,
        };
        let loops = &self.loops;
        let mut found = None;
        let mut has_room = true;
        runs.for_each_segment(|start, len| {
            has_room &= marks.update(start, len, &mut self.pages_left, |element, mark| {
                if let Some((earlier, earlier_access)) = update(mark, access, now, loops)
                    && found.is_none()
                {
                    found = Some((element, earlier, earlier_access));
                }
            });
        });
        if !has_room {
            return Err(TooManyMarks);
        }
        Ok(found.map(|(element, earlier, earlier_access)| Conflict {
            element,
            earlier: earlier.site,
            earlier_access,
            in_loop: loop_between(loops, earlier).unwrap_or(SiteId::NONE),
        }))
    }
}

/// Remembers the access `now` in `mark`; the earlier access with which it is in conflict.
fn update(mark: &mut Mark, access: Access, now: Touch, loops: &[Level]) -> Option<(Touch, Access)> {
    let is_unordered = |earlier: Touch| loop_between(loops, earlier).is_some();
    let after_write = is_unordered(mark.write).then_some((mark.write, Access::Write));
    match access {
        Access::Read => {
            // A read that may run at any time stays: a later write meets it in whatever loop.
            if !is_unordered(mark.read) {
                mark.read = now;
            }
            after_write
        }
        Access::Write => {
            let after_read = is_unordered(mark.read).then_some((mark.read, Access::Read));
            mark.write = now;
            after_write.or(after_read)
        }
    }
}

/// The loop, of those around the present access, that has `earlier` in another iteration.
fn loop_between(loops: &[Level], earlier: Touch) -> Option<SiteId> {
    let is_between = |level: &&Level| (level.first..level.present).contains(&earlier.iteration);
    loops.iter().find(is_between).map(|level| level.site)
}

#[cfg(test)]
mod tests;
