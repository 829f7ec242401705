//! The tests, by what they look at.

mod checker;
mod diagnostics;
mod extremes;
mod loops;
mod nested;
mod random;
mod relays;
mod worked;
