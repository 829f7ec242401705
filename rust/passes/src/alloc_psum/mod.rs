//! Places for PSUM buffers: a bank, an offset in it, a first partition.
//!
//! # Purpose
//!
//! A front end makes one PSUM buffer a tile and leaves its place open. This pass gives every buffer
//! a place such that no two that hold values at once share a cell.
//!
//! ```text
//! %a = pto.psum_alloc : T                     %a = pto.psum_alloc bank(0) offset(0) partition(0) : T
//! tmatmul outs(%a); copy %a                   tmatmul outs(%a); copy %a
//! %b = memref.alloc() : T            ->       %b = pto.psum_alloc bank(0) offset(0) partition(0) : T
//! %c = memref.alloc() : T                     %c = pto.psum_alloc bank(1) offset(0) partition(0) : T
//! tmatmul outs(%b), outs(%c); ...             tmatmul outs(%b), outs(%c); ...
//! ```
//!
//! # Terms
//!
//! * *Life* of a buffer: from its first access to its last, in program order. What is accessed
//!   inside an operation with regions, but allocated around it, lives over the whole operation.
//! * *Window*: the smallest aligned power of two of banks around the buffer's, as far as the target
//!   has a zero-region code for it: what a START of a matmul into the buffer clears.
//! * *Obstacle*: a buffer that was placed before, with its life; the banks of a callee, during the
//!   call, for every buffer that the call is not given.
//! * *Lane*: one quadrant of partitions of one bank.
//!
//! # The problem
//!
//! Give each unplaced allocation a place such that
//!
//! * it lies in PSUM, in the banks that the options allow;
//! * a buffer of one bank does not cross a bank, a larger one begins with a bank;
//! * every access may begin at its partition (more than 64 partitions only at 0, more than 32 at 0
//!   or 64, others at a quadrant), and the destination of a matmul begins at the first column of
//!   its tile;
//! * by default it has its window for itself, all partitions of it, during its life, so that no
//!   START ever reaches other live data; with `pack` it has just its own cells.
//!
//! # The algorithm
//!
//! 1. [`problem`]: positions in program order, lives, first partitions, obstacles.
//! 2. [`solve`]: one scan over the lives by their begin. Each takes the first place that is free for
//!    all of it: lowest bank, lowest first partition, lowest offset. With `rotate` the search begins
//!    behind the bank that was given out last, so that neighbours do not wait for each other.
//!    For buffers of one bank a scan by begin is optimal. Wider ones may find PSUM in pieces: then
//!    the scan is repeated without `rotate`, and then with the widest windows first.
//! 3. [`check`]: the proof, from the accesses alone.
//!
//! # Invariants
//!
//! 1. Between two accesses of a buffer no other buffer with a common cell (default: window) is
//!    accessed, in any iteration and on any path (checked).
//! 2. Places are legal for the buffer, its accesses and its matmuls (checked).
//! 3. Buffers that have a place keep it, so a second run changes nothing (structural).
//! 4. Nothing depends on the order of a hash map (structural: there is none).
//!
//! # Cost
//!
//! O(n log n) in accesses and buffers, times the depth of nesting, times the buffers that are alive
//! at once: at most one a bank, with `pack` at most one a cell of a partition.
//!
//! # What is diagnosed
//!
//! Errors: `pto:psum-overflow`, `pto:tile-position`, `pto:start-partition`, `pto:unplaced` (an argument: its
//! place is the caller's choice). Remarks: `pto.psum-place`.
//!
//! # Left out
//!
//! * Spilling: a value in PSUM is at most a copy away from SBUF, but where is the kernel's choice.
//! * Blocks with branches: a buffer that several blocks of a region use lives over the whole region.
//! * Other banks in other iterations of one loop: a place is a constant. Unroll first.

mod check;
mod problem;
mod solve;
#[cfg(test)]
mod tests;

use pto_ir::{Diag, Interval, Plan, Program, Site, Target};

use problem::Problem;

/// The options of the pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Begin each search behind the bank given out last.
    pub rotate: bool,
    /// Give a buffer its own cells alone, not whole banks.
    pub pack: bool,
    /// The banks that may be used, half open; `None` is all of them.
    pub banks: Option<Interval>,
    /// Whether to say by remarks where buffers are put.
    pub remarks: bool,
}

/// Places for the unplaced PSUM allocations of `program`.
///
/// # Errors
///
/// Buffers that have no place, with those that are in the way; the tags are listed in the module's
/// documentation.
pub fn plan(
    program: &Program,
    target: &'static Target,
    options: &Options,
) -> Result<Plan, Vec<Diag>> {
    let problem = Problem::new(program, target, options)?;
    let placements = solve::solve(&problem).map_err(|overflow| vec![overflow])?;
    let mut plan = Plan {
        placements,
        ..Plan::default()
    };
    check::check(program, target, options, &plan).map_err(|reason| {
        vec![Diag::error(
            "pto:internal-alloc-psum",
            Site::Function,
            reason,
        )]
    })?;
    if options.remarks {
        plan.diags = remarks(&problem, &plan);
    }
    Ok(plan)
}

/// Where each buffer was put.
fn remarks(problem: &Problem<'_>, plan: &Plan) -> Vec<Diag> {
    let remark = |&(alloc, place): &(pto_ir::AllocId, pto_ir::Placement)| {
        let size = problem.program.alloc(alloc);
        let message = format!(
            "placed in bank {} at byte {}, partition {}: {} partitions of {} bytes",
            place.bank, place.offset, place.partition, size.partitions, size.bytes
        );
        Diag::remark("pto.psum-place", Site::Alloc(alloc), message)
    };
    plan.placements.iter().map(remark).collect()
}
