//! The checker: looks at the program as the plan leaves it.

use std::collections::BTreeMap;

use pto_ir::{AccFlags, FunctionMark, InstId, Plan, Program};

/// Whether the plan marks the first matmul of every buffer and nothing else.
pub(super) fn check(program: &Program, plan: &Plan) -> Result<(), String> {
    let edits: BTreeMap<InstId, _> = plan.acc.iter().map(|edit| (edit.inst, edit)).collect();
    if edits.len() != plan.acc.len() {
        return Err("expected at most one change a matmul".to_owned());
    }
    let mut by_buffer: Vec<(usize, usize, AccFlags)> = Vec::new();
    for (order, id) in program.walk().enumerate() {
        let Some(matmul) = program.inst(id).matmul() else {
            continue;
        };
        let (flags, region) = match edits.get(&id) {
            Some(edit) => (edit.flags, edit.zero_region),
            None => (matmul.flags, matmul.zero_region),
        };
        if region != matmul.zero_region {
            return Err("expected zero regions to stay".to_owned());
        }
        let flags = flags.ok_or("expected flags on every matmul")?;
        by_buffer.push((program.access(matmul.dst).alloc.index(), order, flags));
    }
    by_buffer.sort_unstable();
    for group in by_buffer.chunk_by(|left, right| left.0 == right.0) {
        let starts = group.iter().map(|&(_, _, flags)| flags);
        let is_right = starts.enumerate().all(|(index, flags)| {
            flags.byte()
                == if index == 0 {
                    AccFlags::START.byte()
                } else {
                    0
                }
        });
        if !is_right {
            return Err(format!(
                "expected one START for buffer {}, on its first matmul",
                group[0].0
            ));
        }
    }
    let is_provisional = plan
        .marks
        .iter()
        .rev()
        .find(|(mark, _)| *mark == FunctionMark::Provisional)
        .map_or(program.provisional, |&(_, set)| set);
    if !by_buffer.is_empty() && !is_provisional {
        return Err("expected the function to be marked provisional".to_owned());
    }
    let rest_is_untouched = plan.memsets.is_empty()
        && plan.edges.is_empty()
        && plan.erase.is_empty()
        && plan.drop_inserted_edges.is_empty();
    if rest_is_untouched {
        Ok(())
    } else {
        Err("expected a plan of flags and marks alone".to_owned())
    }
}
