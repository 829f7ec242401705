//! The border between MLIR and the Rust core.
//!
//! The host compiler hands over an operation and options; [`bridge`] runs a pass and hands back
//! what to print. In between, [`read`] turns the operation into a [`pto_ir::Program`], a pass of
//! `pto-passes` makes a [`pto_ir::Plan`] of it, and [`apply`] edits the operation as the plan says.
//! Neither knows a pass, and no pass knows MLIR.
//!
//! | module | does |
//! |---|---|
//! | [`accessors`] | declares the C functions of the dialect and of the C++ side |
//! | [`handle`] | MLIR's C handles with safe methods: where nearly all `unsafe` of the project is |
//! | [`read`] | operation to `Program`, one walk |
//! | [`apply`] | `Plan` to edits |
//! | [`diag`] | messages with MLIR locations |
//! | [`pass`] | one pass on one function, from options to messages |
//! | [`tile_pass`] | the same for the tile ISA, with [`read::tile`] and [`apply::tile`] |
//! | [`compare`] | whether two functions are the same but for what passes change |
//! | [`report`] | the report files |
//! | [`decode`] | module to the code of the interpreter |
//! | [`run`] | what `pto-run` does with it |
//! | [`bridge`] | the functions that C++ calls, and those of C++ that Rust calls |
//! | [`text`] | passes and interpreter on text: the interface for other Rust crates |
//! | [`words`] | command words of the tile ISA, and back |
//!
//! This crate is the one place of the project with `unsafe` code: MLIR is C++.

mod accessors;
mod apply;
mod bridge;
mod compare;
mod decode;
mod diag;
mod handle;
mod pass;
mod read;
mod report;
mod run;
pub mod text;
mod tile_pass;
mod words;
