//! Symbolic contents of cells: ordered lists of contributions, each stored once.

use pto_ir::{AllocId, InstId};
use rustc_hash::FxHashMap;

/// The contents of a cell. Equal values mean equal bits, whatever the operands hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Value(u32);

impl Value {
    /// What nobody wrote.
    pub(super) const POISON: Self = Self(0);
    /// +0.0: overwriting with a sum and adding the sum to this are the same.
    pub(super) const ZERO: Self = Self(1);
}

/// How a value came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Poison,
    Zero,
    /// What an argument held at the start.
    Argument(AllocId),
    /// What another engine or a callee wrote, with its use of this number.
    Data(InstId, usize),
    /// The sum that a matmul adds to a value.
    Sum(Value, InstId),
    /// What paths meet with in a node.
    Meeting,
}

/// All values of one validation.
pub(super) struct Values {
    origins: Vec<Origin>,
    /// The sums of the current instruction, by what they are added to.
    sums: FxHashMap<Value, Value>,
    /// The values that meet in the current node: the value it had there before, and one a path.
    meetings: FxHashMap<(Option<Value>, Vec<Value>), Value>,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            origins: vec![Origin::Poison, Origin::Zero],
            sums: FxHashMap::default(),
            meetings: FxHashMap::default(),
        }
    }
}

impl Values {
    /// A value like no other.
    pub(super) fn fresh(&mut self, origin: Origin) -> Value {
        self.origins.push(origin);
        Value(self.origins.len() as u32 - 1)
    }

    /// Begins an instruction: each runs once in a straight line, so its sums need no older ones.
    pub(super) fn begin_instruction(&mut self) {
        self.sums.clear();
    }

    /// `base` plus the sum that the current instruction, the matmul `inst`, forms.
    pub(super) fn add(&mut self, base: Value, inst: InstId) -> Value {
        if let Some(&known) = self.sums.get(&base) {
            return known;
        }
        let value = self.fresh(Origin::Sum(base, inst));
        self.sums.insert(base, value);
        value
    }

    /// Begins a node in which paths meet.
    pub(super) fn begin_meeting(&mut self) {
        self.meetings.clear();
    }

    /// The value of a cell in which `incoming` meet, one a path, and which was `before` when this
    /// was last asked. Cells with the same history get the same value.
    pub(super) fn meet(&mut self, before: Option<Value>, incoming: &[Value]) -> Value {
        match incoming {
            [] => return Value::POISON,
            [first, rest @ ..] if rest.iter().all(|value| value == first) => return *first,
            _ => {}
        }
        let key = (before, incoming.to_vec());
        if let Some(&known) = self.meetings.get(&key) {
            return known;
        }
        let value = self.fresh(Origin::Meeting);
        self.meetings.insert(key, value);
        value
    }

    /// What a value begins with, and the matmuls added to it, in order.
    pub(super) fn list(&self, value: Value) -> (Origin, Vec<InstId>) {
        let mut sums = Vec::new();
        let mut current = value;
        loop {
            match self.origins[current.0 as usize] {
                Origin::Sum(base, inst) => {
                    sums.push(inst);
                    current = base;
                }
                origin => {
                    sums.reverse();
                    return (origin, sums);
                }
            }
        }
    }
}
