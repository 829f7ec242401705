//! Programs to test with: random ones, all small ones, and very large ones.
//!
//! A [`Recipe`] is a list of buffers and steps in units that make legal accesses (quadrants and
//! quarters of a kilobyte), so that it can be enumerated, drawn and shrunk; [`Recipe::build`] makes
//! the program.

pub mod exhaustive;
pub mod kernel;
pub mod large;
pub mod random;
pub mod recipe;
pub mod shrink;

pub use kernel::{kernel, kernel_text};
pub use random::{Profile, Source, recipe, strategy};
pub use recipe::{Buffer, Dst, Kind, Piece, Recipe, Step};
pub use shrink::{shrink, smallest_fault};
