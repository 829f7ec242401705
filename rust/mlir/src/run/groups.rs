//! Groups that are found open: whether one operation could have closed them.
//!
//! A run sees one path. Where it depends on the run which write of a group is the last, no STOP can say it, and a
//! group that is read, or overwritten, is nobody's omission.

use pto_machine::hazards::HazardKind;
use pto_machine::report::Report;

use super::Session;
use crate::handle::{Key, Op, Value};
use crate::read::Classes;

impl Session<'_> {
    /// Whether `report` is to be said. That a group is open is not, unless its last writer could have closed it:
    /// it has a `stop_if`, which was meant to say so, or it stands in the block of who found it, and no
    /// operation between the two may write the buffer in some other run.
    pub(super) fn matters(&self, report: &Report) -> bool {
        let is_open_group = [HazardKind::ReadOpenGroup, HazardKind::LostPartial]
            .iter()
            .any(|kind| kind.tag() == report.tag);
        let writer = report.notes.first().and_then(|(site, _)| self.op(*site));
        let Some((writer, user)) = writer.zip(self.op(report.site)).filter(|_| is_open_group)
        else {
            return true;
        };
        let Some(facts) = writer.matmul() else {
            return writer.block().key() == user.block().key();
        };
        // SAFETY: the destination of a live matmul.
        let written = unsafe { Value::from_option_raw(facts.dst) };
        !facts.stop_if.ptr.is_null()
            || writer.block().key() == user.block().key()
                && written.is_none_or(|buffer| !may_be_written_between(buffer, writer, user))
    }
}

/// Whether an operation that `writer` comes before and `user` after, in their block, may write the allocation of
/// `buffer` without always doing so: one with regions, or a call.
fn may_be_written_between(buffer: Value, writer: Op, user: Op) -> bool {
    let mut classes = Classes::default();
    let sought = allocation(buffer, &mut classes);
    let mut waiting = between(writer, user);
    // What stands in the block itself is always executed.
    waiting.retain(|op| op.matmul().is_none());
    while let Some(op) = waiting.pop() {
        // SAFETY: the destination of a live matmul.
        let written = op
            .matmul()
            .and_then(|facts| unsafe { Value::from_option_raw(facts.dst) });
        let passed = op.operands().filter(|_| op.is_call());
        let mut buffers = written.into_iter().chain(passed);
        if buffers.any(|value| allocation(value, &mut classes) == sought) {
            return true;
        }
        for region in 0..op.region_count() {
            let blocks = std::iter::successors(op.first_block(region), |block| block.next());
            waiting.extend(blocks.flat_map(|block| operations(block.first_op())));
        }
    }
    false
}

/// The operations of one block that are executed after `writer` and before `user`. Where `user` does not come after
/// `writer`, the block is left and entered anew between them.
fn between(writer: Op, user: Op) -> Vec<Op> {
    let is_user = |op: &Op| op.key() == user.key();
    let mut after: Vec<Op> = operations(writer.next()).collect();
    match after.iter().position(is_user) {
        Some(end) => after.truncate(end),
        None => after.extend(operations(writer.block().first_op()).take_while(|op| !is_user(op))),
    }
    after
}

/// `first` and what follows it in its block.
fn operations(first: Option<Op>) -> impl Iterator<Item = Op> {
    std::iter::successors(first, |op| op.next())
}

/// What `value` is a view of.
fn allocation(mut value: Value, classes: &mut Classes) -> Key {
    while let Some(view) = value.owner().filter(|&op| classes.is_view(op)) {
        value = view.operand(0);
    }
    value.key()
}
