//! The reference interpreter of the matrix engine: two semantics in one crate that knows no pass.
//!
//! | module | holds |
//! |---|---|
//! | [`code`] | executable programs: functions of flat instructions over slots |
//! | [`exec`] | the interpreter |
//! | [`scalar`] | arithmetic on one value |
//! | [`hazards`] | accesses whose result the machine does not promise |
//! | [`stats`], `timing` | counts, and how long a run takes on the machine |
//! | [`trace`] | what happened in a run, for looking at it |
//! | [`random`] | random arguments |
//! | [`report`] | diagnostics as data |
//! | [`formats`], [`pe`] | number formats and the arithmetic of one matmul |
//! | [`npy`] | reading and writing `.npy` files |
//! | [`tile`] | the TMATMUL family of the tile ISA |

pub mod code;
mod concurrency;
pub mod exec;
pub mod formats;
pub mod hazards;
mod memory;
pub mod npy;
pub mod pe;
pub mod psum;
pub mod random;
pub mod report;
pub mod scalar;
pub mod stats;
pub mod tile;
mod timing;
pub mod trace;
