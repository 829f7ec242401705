//! Matmul tile ordering and accumulation-group legalization.

pub mod alloc_psum;
pub mod dump_deps;
pub mod explain;
pub mod legalize_acc;
pub mod legalize_tile;
pub mod mark_first;
pub mod order_column_tiles;
pub mod print_psum;
pub mod reset_acc;
pub mod schedule;
pub mod validate;
pub mod verify_acc;
