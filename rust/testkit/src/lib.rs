//! Program generators and oracles for the tests of the project. Never part of what is shipped.
//!
//! | module | holds |
//! |---|---|
//! | [`text`] | a short text form of programs |

pub mod text;
