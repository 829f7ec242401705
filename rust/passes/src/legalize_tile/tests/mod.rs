//! Tests of the pass as a whole.

mod assign;
pub(crate) mod build;
mod cases;
mod random;
