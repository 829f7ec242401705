//! The oracle: what a program means, and what the machine does with it, cell by cell.
//!
//! It is deliberately naive. One *path* through the function (loop trips and branches chosen) is a
//! straight line of steps. The **reference meaning** runs it per allocation: cells begin fresh, a
//! `tmatmul` overwrites, a `tmatmul_acc` overwrites fresh cells and adds to others, other engines
//! overwrite. The **machine** runs it on the physical banks, which begin poisoned, and looks at
//! nothing but flags and zero regions, under one [`Model`]. A cell holds the ordered list of its
//! contributions, so equal lists mean equal bits for every input.
//!
//! ```text
//! Program -> Grid (cells) -> path -> reference -+-> Verdict (reads that differ, hazards)
//!                              `---> machine ---'
//! ```
//!
//! Assumed, as in the description of the machine: STOP has no effect on data, and a call leaves
//! unknown data in the banks it names. START is `acc<start>`, or a true `start_if`; a zero region
//! that is not written is the smallest around the destination.

pub mod collide;
pub mod grid;
pub mod judge;
pub mod machine;
pub mod order;
pub mod path;
pub mod reference;
pub mod values;

pub use grid::Grid;
pub use judge::{Mismatch, Verdict, judge, judge_path};
pub use machine::{Extent, Hazard, Model, PendingRule};
pub use path::{Chooser, Event, Step, trace};
