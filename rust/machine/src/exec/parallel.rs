//! Loops whose iterations run in any order.

use smallvec::SmallVec;

use super::control::bad_step;
use super::{Flow, Machine};
use crate::code::{Parallel, ParallelDim};
use crate::report::{Outcome, SiteId};

/// A parallel loop being run.
pub(super) struct Space<'c> {
    parallel: &'c Parallel,
    dims: SmallVec<[Range; 4]>,
    /// Iterations that have begun, but for the first.
    position: u64,
    /// Iterations in all.
    count: u64,
}

/// The values of an induction variable.
#[derive(Clone, Copy)]
struct Range {
    lower: i64,
    step: i64,
    count: u64,
}

impl<'c> Machine<'c> {
    pub(super) fn enter_parallel(&mut self, parallel: &'c Parallel, site: SiteId) -> Outcome<Flow> {
        let ranges = parallel.dims.iter().map(|dim| self.range(dim, site));
        let dims: SmallVec<[Range; 4]> = ranges.collect::<Outcome<_>>()?;
        // Nobody counts to the largest number: the steps of the run end before.
        let count = match dims.iter().any(|range| range.count == 0) {
            true => 0,
            false => dims
                .iter()
                .fold(1u64, |count, range| count.saturating_mul(range.count)),
        };
        if count == 0 {
            return Ok(Flow::Jump(parallel.exit.0));
        }
        let space = Space {
            parallel,
            dims,
            position: 0,
            count,
        };
        self.set_point(&space);
        self.spaces.push(space);
        let last_serial = self.memory.last_serial();
        self.memory.parallel.enter(site, last_serial);
        Ok(Flow::Next)
    }

    pub(super) fn next_of_parallel(&mut self, body: u32) -> Flow {
        let Some(mut space) = self.spaces.pop() else {
            return Flow::Next;
        };
        space.position += 1;
        if space.position == space.count {
            self.memory.parallel.leave();
            return Flow::Next;
        }
        self.set_point(&space);
        self.spaces.push(space);
        let last_serial = self.memory.last_serial();
        self.memory.parallel.advance(last_serial);
        Flow::Jump(body)
    }

    /// The values that an induction variable takes.
    fn range(&self, dim: &ParallelDim, site: SiteId) -> Outcome<Range> {
        let [lower, upper, step] = [dim.lower, dim.upper, dim.step].map(|index| self.number(index));
        if step <= 0 {
            return Err(bad_step(step, site));
        }
        let distance = (i128::from(upper) - i128::from(lower)).max(0) as u64;
        Ok(Range {
            lower,
            step,
            count: distance.div_ceil(step as u64),
        })
    }

    /// Gives the induction variables the values of the iteration at the position of `space`.
    fn set_point(&mut self, space: &Space<'_>) {
        let mut rest = self.config.order.iteration(space.position, space.count);
        for (range, dim) in space.dims.iter().zip(&space.parallel.dims).rev() {
            let number = rest % range.count;
            rest /= range.count;
            // Within the bounds, which are numbers of 64 bits.
            let value = range
                .lower
                .wrapping_add((number as i64).wrapping_mul(range.step));
            self.set(dim.iv, value as u64);
        }
    }
}
