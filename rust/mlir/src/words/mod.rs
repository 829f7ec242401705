//! Command words of the tile ISA for the matmuls of a module, and back.
//!
//! An instruction of the tile ISA is a block of commands. [`export`] writes the block of every
//! matmul of a legalized function as JSON ([`schema`] is the format, docs/tile-words.md its
//! description), [`import`] makes the operations of such a text again. Register numbers are those
//! of `pto_passes::legalize_tile::assign`.

pub(crate) mod export;
pub(crate) mod import;
mod schema;
