//! Provisional START by location.
//!
//! # Purpose
//!
//! Before the final order of instructions is known, a front end can only say "the first matmul into
//! a location overwrites". This pass writes that down: per PSUM allocation, in function order, the
//! first matmul gets `acc<start>`, every later one `acc<none>`; STOP is never set. The function is
//! marked `pto.acc_provisional`, which tells the legalizer to treat the flags as auto.
//!
//! ```text
//! pto.tmatmul     ... outs(%a)             pto.tmatmul     ... outs(%a) acc<start>
//! pto.tmatmul     ... outs(%b)      ->     pto.tmatmul     ... outs(%b) acc<start>
//! pto.tmatmul_acc ... outs(%a)             pto.tmatmul_acc ... outs(%a) acc<none>
//! ```
//!
//! # Invariants
//!
//! 1. Exactly one matmul of every allocation that has some carries START alone, the first in
//!    function order; all others carry nothing (checked by [`check`]).
//! 2. Zero regions stay as they are, and only real changes are listed, so a second run changes
//!    nothing (checked).
//!
//! Linear time. Nothing is diagnosed; the flags are not claimed to be right for any machine, for
//! that is what legalization decides.

mod check;
#[cfg(test)]
mod tests;

use pto_ir::{AccEdit, AccFlags, Diag, FunctionMark, Plan, Program, Site, Target};

/// The pass has no options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {}

/// The provisional flags of `program`.
///
/// # Errors
///
/// `pto:internal-mark-first` if the checker does not agree with the plan.
pub fn plan(
    program: &Program,
    _target: &'static Target,
    _options: &Options,
) -> Result<Plan, Vec<Diag>> {
    let mut plan = Plan::default();
    let mut has_matmul = vec![false; program.allocs().len()];
    for id in program.walk() {
        let Some(matmul) = program.inst(id).matmul() else {
            continue;
        };
        let alloc = program.access(matmul.dst).alloc;
        let is_later = std::mem::replace(&mut has_matmul[alloc.index()], true);
        let flags = Some(if is_later {
            AccFlags::NONE
        } else {
            AccFlags::START
        });
        if matmul.flags != flags {
            plan.acc.push(AccEdit {
                inst: id,
                flags,
                zero_region: matmul.zero_region,
            });
        }
    }
    if has_matmul.contains(&true) {
        if !program.provisional {
            plan.marks.push((FunctionMark::Provisional, true));
        }
        if program.legalized {
            plan.marks.push((FunctionMark::Legalized, false));
        }
    }
    match check::check(program, &plan) {
        Ok(()) => Ok(plan),
        Err(reason) => Err(vec![Diag::error(
            "pto:internal-mark-first",
            Site::Function,
            reason,
        )]),
    }
}
