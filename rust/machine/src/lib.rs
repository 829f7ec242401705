//! The reference interpreter of the matrix engine: two semantics in one crate that knows no pass.

pub mod formats;
pub mod npy;
pub mod pe;
pub mod tile;
