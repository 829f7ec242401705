//! The border between MLIR and the Rust core.
