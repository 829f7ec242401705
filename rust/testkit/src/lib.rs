//! Program generators and oracles for the tests of the project. Never part of what is shipped.
//!
//! | module | holds |
//! |---|---|
//! | [`oracle`] | what programs mean and what the machine does with them, cell by cell |
//! | [`text`] | a short text form of programs |

pub mod oracle;
pub mod text;
