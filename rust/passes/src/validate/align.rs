//! Which instruction of one program is which of the other.

use pto_ir::{AccessId, Alloc, BlockId, InstId, Op, Program, Use, UseKind};

/// One step of both programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// The same instruction in both.
    Both(InstId, InstId),
    /// A memset that only the original has.
    Before(InstId),
    /// A memset that only the result has.
    After(InstId),
}

/// Why two programs cannot be compared: they differ in more than memsets of zero, flags and edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Different {
    /// The entry of the original without a counterpart, if there is one.
    pub(super) before: Option<InstId>,
    /// The entry of the result at that place, if there is one.
    pub(super) after: Option<InstId>,
}

/// Pairs the entries of every block, in order. Blocks and regions must be the same.
pub(super) fn pair_blocks(before: &Program, after: &Program) -> Result<Vec<Vec<Pair>>, Different> {
    let none = Different {
        before: None,
        after: None,
    };
    let same_place = |a: &Alloc, b: &Alloc| {
        (a.space, a.partitions, a.bytes, a.placement, a.escapes)
            == (b.space, b.partitions, b.bytes, b.placement, b.escapes)
    };
    let (buffers, others) = (before.allocs(), after.allocs());
    let same_buffers =
        buffers.len() == others.len() && buffers.iter().zip(others).all(|(a, b)| same_place(a, b));
    let same_flow = before.blocks().len() == after.blocks().len()
        && before.regions().len() == after.regions().len()
        && before
            .blocks()
            .iter()
            .zip(after.blocks())
            .all(|(a, b)| a.successors == b.successors);
    if !same_buffers || !same_flow {
        return Err(none);
    }
    let blocks = (0..before.blocks().len()).map(BlockId::new);
    blocks
        .map(|block| pair_block(before, after, block))
        .collect()
}

fn pair_block(before: &Program, after: &Program, block: BlockId) -> Result<Vec<Pair>, Different> {
    let mut pairs = Vec::new();
    let mut old = before.block(block).insts.iter().copied().peekable();
    let mut new = after.block(block).insts.iter().copied().peekable();
    loop {
        match (old.peek().copied(), new.peek().copied()) {
            (None, None) => return Ok(pairs),
            (Some(b), Some(a)) if is_same(before, b, after, a) => {
                pairs.push(Pair::Both(b, a));
                old.next();
                new.next();
            }
            (_, Some(a)) if is_memset(after, a) => {
                pairs.push(Pair::After(a));
                new.next();
            }
            (Some(b), _) if is_memset(before, b) && before.inst(b).inserted => {
                pairs.push(Pair::Before(b));
                old.next();
            }
            (before, after) => return Err(Different { before, after }),
        }
    }
}

/// Whether an entry does nothing but clear cells.
fn is_memset(program: &Program, inst: InstId) -> bool {
    let uses = program.uses(inst);
    matches!(program.inst(inst).op, Op::Engine)
        && !uses.is_empty()
        && uses.iter().all(|used| used.kind == UseKind::WriteZero)
}

/// Whether two entries do the same, but for flags, zero regions and edges.
fn is_same(before: &Program, old: InstId, after: &Program, new: InstId) -> bool {
    let (a, b) = (before.inst(old), after.inst(new));
    let same_op = match (&a.op, &b.op) {
        (Op::Matmul(a), Op::Matmul(b)) => {
            a.tile == b.tile && a.accumulator.is_some() == b.accumulator.is_some()
        }
        (
            Op::Region {
                kind: a,
                regions: r,
            },
            Op::Region {
                kind: b,
                regions: s,
            },
        ) => a == b && r == s,
        (a, b) => a == b,
    };
    let (uses, others) = (before.uses(old), after.uses(new));
    let same_use = |(a, b): (&Use, &Use)| {
        a.kind == b.kind && is_same_access(before, a.access, after, b.access)
    };
    same_op
        && a.engine == b.engine
        && uses.len() == others.len()
        && uses.iter().zip(others).all(same_use)
}

fn is_same_access(before: &Program, old: AccessId, after: &Program, new: AccessId) -> bool {
    let (a, b) = (before.access(old), after.access(new));
    (a.alloc, a.partitions) == (b.alloc, b.partitions) && before.bytes(old) == after.bytes(new)
}
