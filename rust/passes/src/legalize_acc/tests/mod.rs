//! The tests, by what they look at.

mod checker;
mod nested;
mod random;
mod worked;
