//! The tile ISA's matrix machine: the TMATMUL family, bit for bit.
//!
//! An operation multiplies a left tile by a right tile, starting from an accumulator or from
//! zero, and writes its result to a *fresh* tile: C and D are never one register, and C keeps its
//! value. On the way out the result may be activated, converted and reduced. The pieces, in the
//! order an operation meets them:
//!
//! | module | what it knows |
//! |---|---|
//! | [`types`], [`layout`], [`descriptor`], [`contents`] | elements, cells, tiles, definedness |
//! | [`encode`], [`header`] | command words, and their order in a block |
//! | [`fields`], [`operation`] | one operation as encoded: function, fields, operand streams |
//! | [`schema`], [`legality`], [`operands`], [`preflight`] | every rule, in the order the first failure wins |
//! | [`cooperative`], [`mx`] | row shares of a group; block scales |
//! | [`arith`] | the k loop, numeric (`ieee`) or on payload words (`raw`) |
//! | [`post`] | activation, conversion, reductions, flags |
//! | [`mod@execute`], [`mod@core`] | results, and the register file that publishes them |
//!
//! [`legality::check`] is for a verifier: it judges what one operation can know and takes operands
//! by descriptor. [`execute()`] is for an interpreter. Both go through one list of checks.
//! A [`fault::Fault`] changes nothing anywhere.

pub mod arith;
pub mod contents;
pub mod cooperative;
pub mod core;
pub mod descriptor;
pub mod encode;
pub mod execute;
pub mod fault;
pub mod fields;
pub mod header;
pub mod layout;
pub mod legality;
pub mod mx;
pub mod operands;
pub mod operation;
pub mod post;
pub mod preflight;
pub mod revision;
pub mod schema;
pub mod types;

pub use contents::{SharedState, SharedTile, Tile};
pub use descriptor::Descriptor;
pub use execute::{Outcome, Results, execute};
pub use fault::{Fault, FaultKind, Rule};
pub use fields::{Function, Post};
pub use layout::Layout;
pub use operation::{Operation, Role};
pub use revision::{Arithmetic, Revision};
pub use types::DataType;
