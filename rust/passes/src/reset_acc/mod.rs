//! Back to auto: the inverse of legalization.
//!
//! # Purpose
//!
//! Flags are right for one order of instructions on one target. Before reordering, retargeting or
//! editing a legalized function, this pass takes everything away that legalization derived:
//!
//! * the accumulate flags and zero regions of all matmuls,
//! * the memsets, ordering edges and predicates that carry the mark of legalization,
//! * the function marks `pto.acc_provisional` and `pto.acc_legalized`.
//!
//! ```text
//! pto.memset %zero, %b {pto.inserted}                              -> (erased)
//! pto.tmatmul ... outs(%b) acc<start|stop> zero_region(0)          -> pto.tmatmul ... outs(%b)
//! ```
//!
//! Explicit flags of other origin go too, for nothing tells them from derived ones. Predicates of
//! other origin stay: they are operands, and what computes them belongs to the program.
//!
//! # Invariants
//!
//! 1. Afterwards no matmul has flags or a region, and no operation or edge carries the mark (checked
//!    by [`check`]).
//! 2. Nothing else changes, and a second run changes nothing (checked).
//!
//! Linear time. Nothing is diagnosed.

mod check;
#[cfg(test)]
mod tests;

use pto_ir::{AccEdit, Diag, FunctionMark, InstId, Plan, Program, Site, Target};

/// The pass has no options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {}

/// Everything that legalization derived, taken away.
///
/// # Errors
///
/// `pto:internal-reset-acc` if the checker does not agree with the plan.
pub fn plan(
    program: &Program,
    _target: &'static Target,
    _options: &Options,
) -> Result<Plan, Vec<Diag>> {
    let mut plan = Plan::default();
    for id in program.walk() {
        undo(program, id, &mut plan);
    }
    if program.provisional {
        plan.marks.push((FunctionMark::Provisional, false));
    }
    if program.legalized {
        plan.marks.push((FunctionMark::Legalized, false));
    }
    match check::check(program, &plan) {
        Ok(()) => Ok(plan),
        Err(reason) => Err(vec![Diag::error(
            "pto:internal-reset-acc",
            Site::Function,
            reason,
        )]),
    }
}

fn undo(program: &Program, id: InstId, plan: &mut Plan) {
    let inst = program.inst(id);
    if inst.inserted {
        plan.erase.push(id);
        return;
    }
    if let Some(matmul) = inst.matmul()
        && (matmul.flags.is_some() || matmul.zero_region.is_some())
    {
        plan.acc.push(AccEdit {
            inst: id,
            flags: None,
            zero_region: None,
        });
    }
    if let Some(matmul) = inst.matmul()
        && [matmul.start_if, matmul.stop_if]
            .into_iter()
            .flatten()
            .any(|predicate| predicate.inserted)
    {
        plan.drop_inserted_predicates.push(id);
    }
    if inst.after.iter().any(|edge| edge.inserted) {
        plan.drop_inserted_edges.push(id);
    }
}
