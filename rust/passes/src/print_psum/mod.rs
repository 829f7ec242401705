//! A map of PSUM for the terminal: which group is in which part of which bank, and when.
//!
//! # Purpose
//!
//! Flags are about banks and time, and a listing of a function shows neither. This analysis prints,
//! for each range of instructions in which nothing moves, the banks that hold something:
//!
//! ```text
//! #2-#3  at kernel.mlir:18:3 to kernel.mlir:19:3: B group 1, A group 0
//!   bank 0  aaaaBBBB aaaaBBBB aaaaBBBB aaaaBBBB
//! ```
//!
//! A column is a quadrant (32 partitions), a character an eighth of the bank in it. A capital is a
//! group that still gets members, a small letter a sum that is still read, `#` live data of another
//! engine, `~` cells that a START has made pending, `.` what holds nothing that anyone needs, and `+`
//! several of these in one character.
//!
//! # The algorithm
//!
//! 1. [`lives`]: one walk in program order over exact rectangles finds *objects* (accumulation
//!    groups as in the legalizer's essay, data of other engines, pending cells) and, for each, the
//!    *stays* of its value: cells, from when, until when.
//! 2. [`map`]: the begins and ends of stays, in order of time, change a grid of characters. Two
//!    neighbouring times with equal grids are one range.
//!
//! Flags are only looked at for what is pending: the rest is the meaning of the program, so the map
//! is the same before and after legalization, but for memsets.
//!
//! # Invariants
//!
//! 1. Nothing is changed (structural: the plan has text only).
//! 2. Ranges follow each other and cover all instructions (checked by a property test).
//! 3. A value is shown from its write to the last use of its object: a group whose cells are read at
//!    different times is live until the last of them (as the legalizer has it).
//!
//! # Cost
//!
//! Linear in the instructions times the rectangles that a bank is cut into, and the text.
//!
//! # Left out
//!
//! Regions are gone through once, in the order in which they are written: what a loop carries from
//! one iteration to the next is not shown, and the arms of a branch follow each other.
//!
//! What is not placed is an error, `pto:unplaced`.

mod lives;
mod map;
#[cfg(test)]
mod tests;

use pto_ir::{Diag, Plan, Program, Site, Target};

/// The map of `program` on `target`, as text to print.
///
/// # Errors
///
/// `pto:unplaced`: a buffer that an instruction accesses has no place, or none in the memory of
/// `target`.
pub fn plan(program: &Program, target: &'static Target) -> Result<Plan, Vec<Diag>> {
    if program.body().is_none() {
        return Ok(Plan::default());
    }
    let lives = lives::find(program, target).map_err(|alloc| {
        let message = "expected a buffer with a place in psum, found one without";
        vec![Diag::error("pto:unplaced", Site::Alloc(alloc), message)]
    })?;
    Ok(Plan {
        text: map::print(program, target, &lives),
        ..Plan::default()
    })
}
