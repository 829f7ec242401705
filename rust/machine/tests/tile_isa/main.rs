//! Tests of the tile ISA's machine through its public interface.

#[cfg(test)]
mod arithmetic;
#[cfg(test)]
mod builders;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod conversions;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod predicates;
#[cfg(test)]
mod robustness;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod scales;
#[cfg(test)]
mod spec;
#[cfg(test)]
mod support;
