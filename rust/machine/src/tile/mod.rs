//! The TMATMUL family of the tile ISA.
