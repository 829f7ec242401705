//! New orders of blocks.
//!
//! A plan orders the entries of a block. The other operations of the block are constants, views,
//! arithmetic: each goes right before the first entry that needs it, and what only regions may need
//! stays before them.

use pto_ir::{InstId, Plan};
use rustc_hash::{FxHashMap, FxHashSet};

use super::INTERNAL;
use crate::diag::Message;
use crate::handle::{Key, Op};
use crate::read::Reading;

/// The operations of every block that `plan` orders anew, in their new order.
pub(super) fn orders(plan: &Plan, reading: &Reading) -> Result<Vec<Vec<Op>>, Message> {
    let orders = plan.orders.iter();
    orders
        .map(|(_, entries)| Block::new(entries, reading).ordered(entries, reading))
        .collect()
}

/// Moves operations of one block into the order `ops`, which has all of them.
pub(super) fn apply(ops: &[Op]) {
    let first = ops.first().and_then(|op| op.block().first_op());
    if let (Some(first), Some(&begin)) = (first, ops.first())
        && first.key() != begin.key()
    {
        begin.move_before(first);
    }
    for pair in ops.windows(2) {
        if pair[0]
            .next()
            .is_none_or(|next| next.key() != pair[1].key())
        {
            pair[1].move_after(pair[0]);
        }
    }
}

struct Block {
    /// All operations, in the present order.
    ops: Vec<Op>,
    /// Those that are entries, and those that are not, by position.
    positions: FxHashMap<Key, usize>,
    entries: FxHashSet<Key>,
    is_placed: Vec<bool>,
    result: Vec<Op>,
}

impl Block {
    fn new(entries: &[InstId], reading: &Reading) -> Self {
        let first = entries
            .first()
            .and_then(|&inst| reading.op(inst).block().first_op());
        let ops: Vec<Op> = std::iter::successors(first, |op| op.next()).collect();
        Self {
            positions: ops.iter().map(|op| op.key()).zip(0..).collect(),
            entries: entries.iter().map(|&inst| reading.op(inst).key()).collect(),
            is_placed: vec![false; ops.len()],
            result: Vec::with_capacity(ops.len()),
            ops,
        }
    }

    fn ordered(mut self, entries: &[InstId], reading: &Reading) -> Result<Vec<Op>, Message> {
        let mut passed = 0;
        for &inst in entries {
            let op = reading.op(inst);
            let Some(&position) = self.positions.get(&op.key()) else {
                return Err(wrong(op, "an operation of another block is in a new order"));
            };
            if op.region_count() > 0 {
                while passed < position {
                    if !self.entries.contains(&self.ops[passed].key()) {
                        self.place(passed)?;
                    }
                    passed += 1;
                }
            }
            self.place(position)?;
        }
        for position in 0..self.ops.len() {
            self.place(position)?;
        }
        Ok(self.result)
    }

    /// Places the operation at `position` after all that it needs.
    fn place(&mut self, position: usize) -> Result<(), Message> {
        let mut pending = vec![(position, 0)];
        while let Some((position, looked_at)) = pending.pop() {
            if self.is_placed[position] {
                continue;
            }
            let op = self.ops[position];
            if looked_at == op.operand_count() {
                self.is_placed[position] = true;
                self.result.push(op);
                continue;
            }
            pending.push((position, looked_at + 1));
            let maker = op.operand(looked_at).owner();
            let maker = maker.and_then(|maker| self.positions.get(&maker.key()).copied());
            let Some(maker) = maker.filter(|&maker| !self.is_placed[maker]) else {
                continue;
            };
            if self.entries.contains(&self.ops[maker].key()) {
                return Err(wrong(
                    op,
                    "an operation is ordered before one whose result it uses",
                ));
            }
            pending.push((maker, 0));
        }
        Ok(())
    }
}

fn wrong(op: Op, sentence: &str) -> Message {
    Message::error(INTERNAL, op.location(), sentence)
}
