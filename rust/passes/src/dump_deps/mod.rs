//! The dependences of a function as a graph in the DOT language.
//!
//! # Purpose
//!
//! Which instruction waits for which is the question behind every wrong order and every lost
//! overlap. This analysis writes it down for `dot` and its like: a node for each instruction, an
//! arrow from what must come first.
//!
//! ```text
//! #0 pto.tmatmul acc<start> ---> #1 pto.tmatmul_acc        it adds to what #0 wrote: solid
//!                           - -> #2 pto.tmatmul            it overwrites what #0 used: grey
//!                           ...> #3 pto.copy               it names #0's token: blue, dashed
//! ```
//!
//! # What a dependence is
//!
//! Two instructions that access a common cell of PSUM (or of SBUF, where the reader tells), at least
//! one of them by a write. The access of a START or ACCUMULATE is its whole zero region, as a write.
//! A matmul that adds uses what is there. Two buffers that are placed at one place have common cells;
//! a buffer without a place has cells of its own. And tokens: the holder waits for the maker.
//!
//! Of the earlier accesses to a cell the last write counts, and the reads since, of every engine the
//! last: the others are implied. An arrow that has a token as well is drawn once for each.
//!
//! # Cost
//!
//! Linear in the accesses times the rectangles that a bank is cut into.
//!
//! # Left out
//!
//! Regions are gone through once, as written: what a loop carries around is not drawn. Operations
//! with regions are boxes around what they hold. Nothing is diagnosed, and nothing is changed.

mod graph;
mod print;
#[cfg(test)]
mod tests;

use pto_ir::{Diag, Plan, Program, Target};

/// The graph of `program` on `target`, as text to print: one `subgraph`.
///
/// # Errors
///
/// None: what is not known is not drawn.
pub fn plan(program: &Program, target: &'static Target) -> Result<Plan, Vec<Diag>> {
    if program.body().is_none() {
        return Ok(Plan::default());
    }
    let arrows = graph::arrows(program, target);
    Ok(Plan {
        text: print::subgraph(program, &arrows),
        ..Plan::default()
    })
}
