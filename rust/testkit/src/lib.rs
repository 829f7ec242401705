//! Program generators and oracles for the tests of the project. Never part of what is shipped.
//!
//! | module | holds |
//! |---|---|
//! | [`generate`] | random programs, all small ones, and very large ones |
//! | [`hostile`] | what must hold for arbitrary bytes |
//! | [`mutants`] | deliberate mistakes in plans |
//! | [`oracle`] | what programs mean and what the machine does with them, cell by cell |
//! | [`properties`] | what must hold for every legalized program |
//! | [`text`] | a short text form of programs |

pub mod generate;
pub mod hostile;
pub mod mutants;
pub mod oracle;
pub mod properties;
pub mod text;
