//! Buffers, and the accesses that touch them.

use crate::ids::{AccessId, AllocId, BlockId};
use crate::interval::Interval;

/// A memory of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Off-chip memory; also memrefs without a memory space.
    Hbm,
    /// The on-chip operand memory.
    Sbuf,
    /// The accumulator memory.
    Psum,
}

/// Where a placed buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// First bank (PSUM; 0 in SBUF).
    pub bank: u32,
    /// Bytes from the start of the bank (PSUM) or of the partition (SBUF).
    pub offset: u32,
    /// First partition.
    pub partition: u32,
}

/// Where a buffer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// An allocation in the function. Each time it runs, every cell is fresh.
    Allocation,
    /// A function argument; `fresh` says it holds nothing, otherwise it holds plain data.
    Argument {
        /// Position among the function's arguments.
        index: u32,
        /// Whether its cells are fresh on entry.
        fresh: bool,
    },
}

/// A buffer: `partitions` rows of `bytes` bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alloc {
    /// The memory it lies in.
    pub space: Space,
    /// Allocation or argument.
    pub origin: Origin,
    /// The block it is allocated in (arguments: the entry block).
    pub block: BlockId,
    /// Number of partitions.
    pub partitions: u32,
    /// Bytes per partition; in PSUM every element takes one cell.
    pub bytes: u32,
    /// Where it lies; `None` until placed.
    pub placement: Option<Placement>,
    /// Whether its contents are read after the function: it came in as an argument or is returned.
    pub escapes: bool,
    /// Whether it may be the same memory as others of its space of which this is said too: an argument that
    /// nothing sets apart, a global.
    pub may_alias: bool,
}

impl Alloc {
    /// First byte of the buffer counted from the start of a partition of its memory. Places may be
    /// anything before they are checked: saturates.
    pub fn first_byte(&self, bank_bytes: u32) -> Option<u32> {
        let byte = |p: Placement| p.bank.saturating_mul(bank_bytes).saturating_add(p.offset);
        self.placement.map(byte)
    }
}

/// A set of cells of one buffer: a partition interval times a set of byte intervals, both
/// relative to the buffer. Interned: equal accesses of one program have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The buffer.
    pub alloc: AllocId,
    /// Partitions, relative to the buffer's first.
    pub partitions: Interval,
    /// Where its byte intervals lie in the program's span arena: see [`Program::bytes`].
    pub(crate) first_span: u32,
    /// Number of byte intervals.
    pub(crate) span_count: u32,
}

/// What an instruction does with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UseKind {
    /// Reads every cell.
    Read,
    /// Overwrites every cell with data, from any engine but the PE's accumulation path.
    Write,
    /// Overwrites every cell with +0.0 (or integer zero).
    WriteZero,
    /// The PE overwrites every cell (`tmatmul`).
    PeOverwrite,
    /// The PE adds to every cell, a fresh one being overwritten (`tmatmul_acc`).
    PeAccumulate,
}

impl UseKind {
    /// Whether the use changes cells.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// Whether the PE's accumulation path does the write.
    pub const fn is_pe_write(self) -> bool {
        matches!(self, Self::PeOverwrite | Self::PeAccumulate)
    }
}

/// One access of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Use {
    /// The cells.
    pub access: AccessId,
    /// What happens to them.
    pub kind: UseKind,
}
