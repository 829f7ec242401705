//! The tests, by what they look at.

mod nested;
mod random;
mod worked;
