//! Which instruction of one program is which of the other.

use pto_ir::{AccessId, Alloc, AllocId, BlockId, InstId, Op, Program, Use, UseKind};

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
pub(super) enum Different {
    /// The buffers, from this one on.
    Buffers(AllocId),
    /// Where control goes.
    Flow,
    /// The entries of a block: the first of the original without a counterpart, if there is one, and
    /// what the result has in its place.
    Entries(Option<InstId>, Option<InstId>),
}

/// Pairs the entries of every block, in order. Blocks and regions must be the same, and the buffers,
/// but for where they lie.
pub(super) fn pair_blocks(before: &Program, after: &Program) -> Result<Vec<Vec<Pair>>, Different> {
    let is_same = |a: &Alloc, b: &Alloc| {
        (a.space, a.partitions, a.bytes, a.escapes) == (b.space, b.partitions, b.bytes, b.escapes)
    };
    let (buffers, others) = (before.allocs(), after.allocs());
    let pairs = buffers.iter().zip(others);
    let same = pairs.take_while(|(a, b)| is_same(a, b)).count();
    if same < buffers.len().max(others.len()) {
        return Err(Different::Buffers(AllocId::new(same)));
    }
    let same_flow = before.blocks().len() == after.blocks().len()
        && before.regions().len() == after.regions().len()
        && before
            .blocks()
            .iter()
            .zip(after.blocks())
            .all(|(a, b)| a.successors == b.successors);
    if !same_flow {
        return Err(Different::Flow);
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
            (_, Some(a)) if is_memset(after, a) || after.is_relay(a) => {
                pairs.push(Pair::After(a));
                new.next();
            }
            (Some(b), _)
                if (is_memset(before, b) && before.inst(b).inserted) || before.is_relay(b) =>
            {
                pairs.push(Pair::Before(b));
                old.next();
            }
            (before, after) => return Err(Different::Entries(before, after)),
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
