//! The tests, by what they look at.

mod random;
mod worked;
