//! The checker: applies the plan and compares the two programs operation by operation.

use pto_ir::{Op, Plan, Program};

/// Whether applying the plan leaves nothing of legalization and everything else.
pub(super) fn check(program: &Program, plan: &Plan) -> Result<(), String> {
    if !plan.memsets.is_empty() || !plan.edges.is_empty() || !plan.predicates.is_empty() {
        return Err("expected a plan that adds nothing".to_owned());
    }
    let after = plan.applied_to(program);
    if after.provisional || after.legalized {
        return Err("expected no mark on the function".to_owned());
    }
    for (old, new) in program.blocks().iter().zip(after.blocks()) {
        let kept = old.insts.iter().filter(|&&id| !program.inst(id).inserted);
        if !kept.eq(&new.insts) {
            return Err("expected all operations but inserted ones to stay".to_owned());
        }
    }
    for id in after.walk() {
        let (old, new) = (program.inst(id), after.inst(id));
        let is_reset = match (&old.op, &new.op) {
            (Op::Matmul(old), Op::Matmul(new)) => {
                let mut expected = *old;
                expected.flags = None;
                expected.zero_region = None;
                expected.start_if = expected.start_if.filter(|predicate| !predicate.inserted);
                expected.stop_if = expected.stop_if.filter(|predicate| !predicate.inserted);
                *new == expected
            }
            (old, new) => old == new,
        };
        if !is_reset {
            return Err("expected every matmul to be auto and all else to stay".to_owned());
        }
        let kept = old
            .after
            .iter()
            .filter(|edge| !edge.inserted && !program.inst(edge.from).inserted);
        if !kept.eq(&new.after) {
            return Err("expected all ordering edges but inserted ones to stay".to_owned());
        }
    }
    Ok(())
}
