//! Ordering edges along runs of column tiles.
//!
//! # Purpose
//!
//! Matmuls in different column tiles of the PE array may run at the same time. A kernel that walks
//! over the column tiles of one stationary shape wants them issued in the order it wrote them, so
//! that the array fills from the first column on. This pass pins that order with tokens; flags are
//! not touched.
//!
//! ```text
//! pto.tmatmul ... tile(128, 32) at(0, 0)                     %t0 = pto.tmatmul ... at(0, 0)
//! pto.tmatmul ... tile(128, 32) at(0, 32)             ->     %t1 = pto.tmatmul ... at(0, 32) after(%t0)
//! pto.tmatmul ... tile(128, 32) at(0, 64)                    %t2 = pto.tmatmul ... at(0, 64) after(%t1)
//! ```
//!
//! # Terms
//!
//! *Member*: a matmul whose tile has 128 rows (all of the array) and less than all columns.
//! *Opener*: a member at position (0, 0). *Key*: rows and columns of the tile.
//!
//! # Problem
//!
//! Per block, in program order: with no open run, an opener opens one and all else is ignored. With
//! an open run, a member of the same key joins, wherever it is; any other instruction ends the run
//! and is then looked at as an opener itself. A run ends with its block, and operations with
//! regions end the run around them. Consecutive members of a run get one edge, unless it is there.
//!
//! * `restart_at_origin`: a member at (0, 0) ends the run and opens a new one.
//! * `ignore_other_engines`: only PE instructions end a run. Operations with regions and calls still
//!   do, because they may hold PE instructions.
//!
//! # Invariants
//!
//! 1. Every edge joins two members of one key in one block, and nothing that ends a run lies between
//!    them (checked by [`check`]).
//! 2. Every stretch of members from its first opener on is fully linked (checked).
//! 3. No edge is added twice, so a second run of the pass changes nothing (checked).
//!
//! One pass over the blocks, linear time, no memory beyond the edges. Nothing is diagnosed: every
//! function is legal input.

mod check;
#[cfg(test)]
mod tests;

use pto_ir::{Diag, EdgeNode, Engine, InstId, NewEdge, Op, Plan, Program, Site, Target, Tile};

/// The options of the pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A member at position (0, 0) ends the open run and opens a new one.
    pub restart_at_origin: bool,
    /// Only PE instructions (and what may hold some) end a run.
    pub ignore_other_engines: bool,
}

/// The edges that `program` needs.
///
/// # Errors
///
/// `pto:internal-order-column-tiles` if the checker does not agree with the plan.
pub fn plan(
    program: &Program,
    target: &'static Target,
    options: &Options,
) -> Result<Plan, Vec<Diag>> {
    let mut plan = Plan::default();
    for block in program.blocks() {
        add_runs(program, &block.insts, target, options, &mut plan.edges);
    }
    match check::check(program, target, options, &plan) {
        Ok(()) => Ok(plan),
        Err(reason) => Err(vec![Diag::error(
            "pto:internal-order-column-tiles",
            Site::Function,
            reason,
        )]),
    }
}

/// The edges of one block.
fn add_runs(
    program: &Program,
    insts: &[InstId],
    target: &Target,
    options: &Options,
    edges: &mut Vec<NewEdge>,
) {
    let mut run: Option<(Tile, InstId)> = None;
    for &id in insts {
        let inst = program.inst(id);
        if !inst.is_instruction() {
            continue;
        }
        let member = inst
            .matmul()
            .and_then(|m| m.tile)
            .filter(|t| is_member(*t, target));
        let is_origin = member.is_some_and(|tile| (tile.row, tile.col) == (0, 0));
        if let (Some(tile), Some((key, last))) = (member, run)
            && (tile.rows, tile.cols) == (key.rows, key.cols)
            && !(options.restart_at_origin && is_origin)
        {
            if !inst.after.iter().any(|edge| edge.from == last) {
                edges.push(NewEdge {
                    from: EdgeNode::Inst(last),
                    to: EdgeNode::Inst(id),
                });
            }
            run = Some((key, id));
            continue;
        }
        let is_ignored = options.ignore_other_engines
            && inst.engine != Engine::Pe
            && !matches!(inst.op, Op::Region { .. } | Op::Call { .. });
        if !is_ignored {
            run = member.filter(|_| is_origin).map(|tile| (tile, id));
        }
    }
}

/// Whether a matmul in `tile` takes all rows and some columns of the array.
fn is_member(tile: Tile, target: &Target) -> bool {
    tile.rows == target.pe_rows && (1..target.pe_columns).contains(&tile.cols)
}
