//! Matmul tile ordering and accumulation-group legalization.
