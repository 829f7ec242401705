//! Whether a plan can be carried out, before any of it is.

use pto_ir::{Anchor, EdgeNode, InstId, MemsetTarget, Plan};

use super::INTERNAL;
use crate::accessors;
use crate::diag::Message;
use crate::read::Reading;

/// Whether every edit of `plan` can be made.
pub(super) fn check(plan: &Plan, reading: &Reading) -> Result<(), Message> {
    let internal = |inst: InstId, sentence: &str| {
        Err(Message::error(
            INTERNAL,
            reading.op(inst).location(),
            sentence,
        ))
    };
    let internal_here = |sentence: &str| {
        Err(Message::error(
            INTERNAL,
            reading.function.location(),
            sentence,
        ))
    };
    for new in &plan.predicates {
        if reading.program.inst(new.inst).matmul().is_none() || new.loops.is_empty() {
            return internal(new.inst, "a predicate is planned for what takes none");
        }
    }
    for edit in &plan.acc {
        if reading.program.inst(edit.inst).matmul().is_none() {
            return internal(edit.inst, "flags are planned for what is not a matmul");
        }
    }
    for memset in &plan.memsets {
        if let MemsetTarget::Access(access) = memset.target {
            let Anchor::Before(before) = memset.at else {
                return internal_here("a memset of an operand is planned where there is none");
            };
            let matmul = reading.program.inst(before).matmul();
            if matmul.is_none_or(|matmul| matmul.dst != access) {
                return internal(before, "a memset is planned for what is not written here");
            }
        }
    }
    let ends = plan.edges.iter().flat_map(|edge| [edge.from, edge.to]);
    for end in ends {
        match end {
            EdgeNode::Inst(inst) if reading.op(inst).engine().is_none() => {
                return internal(inst, "an ordering edge is planned for what takes no token");
            }
            EdgeNode::Memset(index) if index as usize >= plan.memsets.len() => {
                return internal_here("an ordering edge is planned for a memset that is not");
            }
            _ => {}
        }
    }
    check_places(plan, reading)?;
    check_erasures(plan, reading)
}

/// Whether every buffer to be placed is made by what can become a placed allocation.
fn check_places(plan: &Plan, reading: &Reading) -> Result<(), Message> {
    for &(alloc, _) in &plan.placements {
        let owner = reading.alloc_value(alloc).owner();
        // SAFETY: the operation is live, and this thread is the only one that changes its function.
        let is_placeable =
            owner.is_some_and(|op| unsafe { accessors::ptoAllocIsPlaceable(op.raw()) });
        if !is_placeable {
            return Err(Message::error(
                "pto:placement",
                reading.alloc_location(alloc),
                "expected an allocation that psum can hold",
            ));
        }
    }
    Ok(())
}

/// Whether nothing is left that waits for an operation to be erased.
fn check_erasures(plan: &Plan, reading: &Reading) -> Result<(), Message> {
    if plan.erase.is_empty() {
        return Ok(());
    }
    let program = &reading.program;
    let mut goes = vec![false; program.insts().len()];
    for inst in &plan.erase {
        goes[inst.index()] = true;
    }
    let mut loses_edges = goes.clone();
    for inst in &plan.drop_inserted_edges {
        loses_edges[inst.index()] = true;
    }
    for (index, inst) in program.insts().iter().enumerate() {
        let kept = |edge: &&pto_ir::Edge| {
            let dropped = goes[index] || (edge.inserted && loses_edges[index]);
            goes[edge.from.index()] && !dropped
        };
        if let Some(edge) = inst.after.iter().find(kept) {
            let waiting = reading.op(InstId::new(index)).location();
            let mut message = Message::error(
                "pto:token",
                waiting,
                "expected nothing to wait for a memset that legalization inserted, found a token \
                 operand that was added by hand",
            );
            let memset = reading.op(edge.from).location();
            message
                .notes
                .push((memset, "the token is made here".to_owned()));
            return Err(message);
        }
    }
    Ok(())
}
