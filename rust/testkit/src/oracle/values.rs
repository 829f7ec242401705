//! Symbolic contents of a cell.

use rustc_hash::FxHashMap;

use super::path::Event;

/// The contents of a cell: equal values mean equal bits, whatever the operands hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(u32);

impl Value {
    /// What nobody wrote.
    pub const POISON: Self = Self(0);
    /// Plus zero. The first contribution to it is the same as overwriting with it.
    pub const ZERO: Self = Self(1);
}

/// One thing that goes into a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contribution {
    /// What the buffer `alloc` held when the function began.
    Argument {
        /// Index of the buffer.
        alloc: usize,
    },
    /// What another engine (or a callee) wrote with its use number `operand`.
    Data {
        /// The writing instruction.
        event: Event,
        /// Index of the use.
        operand: usize,
    },
    /// The sum that one matmul adds.
    Product {
        /// The matmul.
        event: Event,
    },
}

/// Ordered lists of contributions, each stored once.
#[derive(Debug)]
pub struct Values {
    nodes: Vec<Option<(Value, Contribution)>>,
    known: FxHashMap<(Value, Contribution), Value>,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            nodes: vec![None, None],
            known: FxHashMap::default(),
        }
    }
}

impl Values {
    /// `base` with `contribution` added last.
    pub fn add(&mut self, base: Value, contribution: Contribution) -> Value {
        let next = Value(self.nodes.len() as u32);
        let value = *self.known.entry((base, contribution)).or_insert(next);
        if value == next {
            self.nodes.push(Some((base, contribution)));
        }
        value
    }

    /// A value that is `contribution` alone.
    pub fn only(&mut self, contribution: Contribution) -> Value {
        self.add(Value::ZERO, contribution)
    }

    /// The contributions of `value` in order, and whether they were added to poison.
    pub fn list(&self, value: Value) -> (bool, Vec<Contribution>) {
        let mut list = Vec::new();
        let mut current = value;
        while let Some((base, contribution)) = self.nodes[current.0 as usize] {
            list.push(contribution);
            current = base;
        }
        list.reverse();
        (current == Value::POISON, list)
    }
}
