//! Whether two functions are the same but for what the passes change.
//!
//! `pto_passes::validate` compares what two programs do in PSUM and knows nothing else of them: not
//! which operands a matmul multiplies, not what is done to other memory. Here everything else is
//! compared, operation by operation. Values get numbers, the same in both functions if they are the
//! same: arguments by their place, what an operation without effects makes by its name, attributes
//! and operands, and results of other operations by that operation. So operations without effects
//! may be moved, repeated or left out.
//!
//! Free to differ are the flags, zero regions and predicates of matmuls, tokens, places of buffers,
//! memsets of PSUM that only the later function has, and the relay that legalization orders blocks by.

use rustc_hash::FxHashMap;

use crate::accessors::{kind, space};
use crate::diag::Message;
use crate::handle::{Block, Key, Op, Value};
use crate::read::INSERTED_MARK;

/// The number of a value; equal numbers are equal values.
type Number = u32;
/// A value of a block that nothing leads to: no one knows it.
const UNKNOWN: Number = u32::MAX;

/// What makes the results of two operations without effects equal.
#[derive(PartialEq, Eq, Hash)]
struct Pure {
    name: Key,
    attributes: Vec<(Key, Key)>,
    operands: Vec<Number>,
    types: Vec<Key>,
}

/// The attributes of operations of the dialect that passes change.
const CHANGED_BY_PASSES: [&str; 9] = [
    "acc",
    "zero_region",
    "inserted",
    "inserted_after",
    "inserted_token",
    "operandSegmentSizes",
    "bank",
    "offset",
    "partition",
];

/// Says where `after` differs from `before` in more than what passes change.
///
/// # Errors
///
/// The first difference, at the operation of `after`.
pub(crate) fn same_operations(before: Op, after: Op) -> Result<(), Box<Message>> {
    let mut walk = Walk::default();
    if let (Some(before), Some(after)) = (body(before), body(after)) {
        walk.enter(before, after);
    }
    while let Some((before, after)) = walk.pending.pop() {
        walk.block(before, after)?;
    }
    Ok(())
}

fn body(function: Op) -> Option<Block> {
    (function.region_count() > 0)
        .then(|| function.first_block(0))
        .flatten()
}

#[derive(Default)]
struct Walk {
    numbers: FxHashMap<Key, Number>,
    pure: FxHashMap<Pure, Number>,
    next: Number,
    /// Pairs of blocks to be walked; each is put here when a walked block leads to it, so what
    /// dominates a block is walked before it.
    pending: Vec<(Block, Block)>,
    /// The counterpart of every block of the original that was met.
    blocks: FxHashMap<Key, Key>,
}

impl Walk {
    /// Pairs two blocks, unless they are paired already. Whether that is so now.
    fn enter(&mut self, before: Block, after: Block) -> bool {
        if let Some(&known) = self.blocks.get(&before.key()) {
            return known == after.key();
        }
        self.blocks.insert(before.key(), after.key());
        self.pending.push((before, after));
        true
    }

    fn block(&mut self, before: Block, after: Block) -> Result<(), Box<Message>> {
        let (old, new): (Vec<_>, Vec<_>) =
            (before.arguments().collect(), after.arguments().collect());
        self.pair_values(&old, &new);
        let mut old = self.next_anchor(before.first_op());
        let mut new = self.next_anchor(after.first_op());
        loop {
            match (old, new) {
                (None, None) => return Ok(()),
                (Some(b), Some(a)) => match self.difference(b, a) {
                    None => {
                        self.pair(b, a)?;
                        old = self.next_anchor(b.next());
                        new = self.next_anchor(a.next());
                    }
                    Some(_) if is_psum_memset(a) => new = self.next_anchor(a.next()),
                    Some(what) => return Err(tell(&what, b, a)),
                },
                (None, Some(a)) if is_psum_memset(a) => new = self.next_anchor(a.next()),
                // Of blocks that need no operation at their end, one may go on.
                (Some(rest), None) | (None, Some(rest)) => {
                    return Err(tell("the end of the block", rest, rest));
                }
            }
        }
    }

    /// The first operation from `op` on that must have a counterpart; numbers those before it.
    fn next_anchor(&mut self, mut op: Option<Op>) -> Option<Op> {
        while let Some(current) = op {
            let inserted = is_inserted_memset(current) || is_relay(current);
            if current.is_pure() {
                self.number_pure(current);
            } else if !inserted {
                return Some(current);
            }
            op = current.next();
        }
        None
    }

    fn number_pure(&mut self, op: Op) {
        let key = Pure {
            name: op.name_key(),
            attributes: op.attribute_keys(&[]),
            operands: op.operands().map(|value| self.number(value)).collect(),
            types: results(op).map(|value| value.r#type().key()).collect(),
        };
        let count = op.result_count() as Number;
        let is_known = !key.operands.contains(&UNKNOWN);
        let first = match self.pure.get(&key) {
            Some(&first) if is_known => first,
            _ => {
                let first = self.fresh(count);
                self.pure.insert(key, first);
                first
            }
        };
        for (value, number) in results(op).zip(first..) {
            self.numbers.insert(value.key(), number);
        }
    }

    fn fresh(&mut self, count: Number) -> Number {
        let first = self.next;
        self.next = self.next.saturating_add(count);
        first
    }

    fn number(&self, value: Value) -> Number {
        self.numbers.get(&value.key()).copied().unwrap_or(UNKNOWN)
    }

    fn pair_values(&mut self, before: &[Value], after: &[Value]) {
        for (old, new) in before.iter().zip(after) {
            let number = self.fresh(1);
            self.numbers.insert(old.key(), number);
            self.numbers.insert(new.key(), number);
        }
    }

    /// What differs between two operations that are not pure.
    fn difference(&self, before: Op, after: Op) -> Option<String> {
        if before.name_key() != after.name_key() {
            return Some(format!("`{}`", before.name()));
        }
        let changed: &[&str] = match before.kind() {
            kind::OTHER => &[],
            _ => &CHANGED_BY_PASSES,
        };
        if before.attribute_keys(changed) != after.attribute_keys(changed) {
            return Some("the same attributes".to_owned());
        }
        let (old, new) = (operands(before), operands(after));
        let same_types = |a: Vec<Value>, b: Vec<Value>| {
            a.len() == b.len()
                && a.iter()
                    .zip(&b)
                    .all(|(a, b)| a.r#type().key() == b.r#type().key())
        };
        let made = |op: Op| match op.engine() {
            Some(_) => Vec::new(),
            None => results(op).collect(),
        };
        let same_shape = same_types(made(before), made(after))
            && old.len() == new.len()
            && before.region_count() == after.region_count()
            && before.successor_count() == after.successor_count();
        if !same_shape {
            return Some("the same operands, results and regions".to_owned());
        }
        let numbers = old
            .iter()
            .zip(&new)
            .map(|(&a, &b)| (self.number(a), self.number(b)));
        let other = numbers
            .enumerate()
            .find(|(_, (a, b))| a != b || *a == UNKNOWN);
        other.map(|(index, _)| format!("the same value as operand {index}"))
    }

    /// Two operations are the same: so are their results, and their blocks are walked next.
    fn pair(&mut self, before: Op, after: Op) -> Result<(), Box<Message>> {
        let (old, new): (Vec<_>, Vec<_>) = (results(before).collect(), results(after).collect());
        self.pair_values(&old, &new);
        let mut blocks: Vec<(Option<Block>, Option<Block>)> = Vec::new();
        blocks.extend((0..before.region_count()).map(|index| {
            let entry = |op: Op| op.first_block(index);
            (entry(before), entry(after))
        }));
        blocks.extend((0..before.successor_count()).map(|index| {
            let target = |op: Op| Some(op.successor(index));
            (target(before), target(after))
        }));
        for pair in blocks {
            let is_same = match pair {
                (None, None) => true,
                (Some(b), Some(a)) => same_arguments(b, a) && self.enter(b, a),
                _ => false,
            };
            if !is_same {
                return Err(tell("the same blocks", before, after));
            }
        }
        Ok(())
    }
}

fn results(op: Op) -> impl Iterator<Item = Value> {
    (0..op.result_count()).map(move |index| op.result(index))
}

/// The operands that must be the same: those of an engine operation without its tokens, those of a
/// matmul without its predicates too.
fn operands(op: Op) -> Vec<Value> {
    if let Some(matmul) = op.matmul() {
        let raw = [matmul.dst, matmul.accumulator, matmul.lhs, matmul.rhs];
        // SAFETY: they are operands of a live operation, or null.
        return raw
            .into_iter()
            .filter_map(|raw| unsafe { Value::from_option_raw(raw) })
            .collect();
    }
    let waits = op.engine().map_or(0, |engine| engine.after_count);
    let tokens: Vec<Key> = (0..waits).map(|index| op.after(index).key()).collect();
    op.operands()
        .filter(|value| !tokens.contains(&value.key()))
        .collect()
}

fn same_arguments(before: Block, after: Block) -> bool {
    let types = |block: Block| -> Vec<Key> {
        block
            .arguments()
            .map(|value| value.r#type().key())
            .collect()
    };
    types(before) == types(after)
}

/// Whether legalization inserted `op` to clear cells of PSUM or to order blocks. A mark on anything else
/// excuses nothing.
fn is_inserted_memset(op: Op) -> bool {
    let is_marked = op.engine().is_some_and(|engine| engine.inserted);
    let is_harmless = || is_psum_memset(op) || op.operand(1).owner().is_some_and(is_relay);
    is_marked && op.kind() == kind::MEMSET && is_harmless()
}

/// Whether `op` allocates the cell that orders blocks. Whoever else uses that uses an unknown value.
fn is_relay(op: Op) -> bool {
    op.kind() == kind::SBUF_ALLOC && op.has_mark(INSERTED_MARK)
}

fn is_psum_memset(op: Op) -> bool {
    op.kind() == kind::MEMSET && op.operand(1).r#type().space() == space::PSUM
}

fn tell(expected: &str, before: Op, after: Op) -> Box<Message> {
    let sentence = format!(
        "expected {expected}, as in the original, found another `{}`",
        after.name()
    );
    let mut message = Message::error("pto:not-comparable", after.location(), &sentence);
    message
        .notes
        .push((before.location(), "the original is here".to_owned()));
    Box::new(message)
}
