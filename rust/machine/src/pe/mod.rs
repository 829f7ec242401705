//! The arithmetic of one PE matmul.
