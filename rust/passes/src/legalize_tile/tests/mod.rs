//! Tests of the pass as a whole.

pub(crate) mod build;
mod cases;
mod random;
