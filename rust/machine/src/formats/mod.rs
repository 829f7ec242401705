//! Number formats of the engine, decoded and encoded exactly.
