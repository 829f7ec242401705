//! The function as the legalizer sees it: per block a list of uses of PSUM in program order.
//!
//! Positions count the entries of a block from 1; [`BEGIN`] is before the first and [`END`] after
//! the last. An operation with regions stands for everything inside it: it reads what is read
//! there, and it *may* write what is written there. [`super::blocks`] builds the lists.

use pto_ir::{AccFlags, AllocId, BlockId, InstId, Origin, Program, Site, Space};

use super::geometry::Strips;

/// The position before the first entry of a block.
pub(super) const BEGIN: u32 = 0;
/// The position after the last entry of a block.
pub(super) const END: u32 = u32::MAX;

/// What a use does to its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Reads them.
    Read,
    /// Overwrites them with data.
    Write,
    /// Overwrites them with +0.0.
    WriteZero,
    /// Overwrites them, or does not: a write inside a region, or by a callee. `is_certain`: all of them
    /// are written.
    MayWrite {
        /// All are written for certain.
        is_certain: bool,
    },
    /// As before, and only the PE writes.
    MaySum {
        /// All are written for certain.
        is_certain: bool,
    },
    /// The PE may add to values from before, inside a region.
    MayAdd,
    /// What one run of a region leaves the next one wants.
    Carry {
        /// It adds to it.
        adds: bool,
    },
    /// The PE overwrites them (`tmatmul`).
    Overwrite,
    /// The PE adds to them (`tmatmul_acc`).
    Accumulate,
    /// The life of the buffer ends; the event has no shape.
    Free,
}

/// One use of PSUM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// Position of its instruction.
    pub pos: u32,
    /// The cells.
    pub shape: u32,
    /// The buffer.
    pub alloc: u32,
    /// For PE writes: the index of the matmul in [`BlockProblem::members`].
    pub member: u32,
    /// What happens.
    pub action: Action,
    /// For PE writes: the strips of the column group.
    pub group: Strips,
    /// For PE writes: whether explicit flags open a zero region of an explicit code.
    pub names_region: bool,
}

/// One matmul.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// The instruction.
    pub inst: InstId,
    /// Its position.
    pub pos: u32,
    /// Its destination.
    pub shape: u32,
    /// The buffer of its destination.
    pub alloc: u32,
    /// The strips of its column group.
    pub group: Strips,
    /// The flags that somebody wrote; `None` is auto. Provisional flags are auto.
    pub flags: Option<AccFlags>,
    /// The zero-region code that somebody wrote, likewise.
    pub region: Option<u8>,
    /// The attributes as they are, provisional or not.
    pub attributes: (Option<AccFlags>, Option<u8>),
}

/// A position where cells may change in ways that are no use of a known buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    /// The position.
    pub pos: u32,
    /// The slots (bank times strip count plus strip), one bit each.
    pub slots: u64,
    /// Whether contents change; otherwise only pending bits do.
    pub contents: bool,
}

/// A call, at its own position or at that of the operation that holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// The position.
    pub pos: u32,
    /// The call.
    pub inst: InstId,
    /// The banks it touches; `None` where the callee does not say.
    pub banks: Option<u32>,
}

/// One block.
#[derive(Debug)]
pub(super) struct BlockProblem {
    /// The block.
    pub block: BlockId,
    /// Uses in program order; at one position reads come before writes.
    pub events: Vec<Event>,
    /// The matmuls of the block itself, in program order.
    pub members: Vec<Member>,
    /// By position.
    pub barriers: Vec<Barrier>,
    /// By position.
    pub calls: Vec<Call>,
    /// Positions of operations with regions that use PSUM.
    pub holders: Vec<u32>,
}

impl BlockProblem {
    /// The instruction at `pos`, or the function where there is none.
    pub(super) fn site(&self, program: &Program, pos: u32) -> Site {
        match pos {
            BEGIN | END => Site::Function,
            pos => Site::Inst(self.inst_at(program, pos)),
        }
    }

    /// The instruction at `pos`.
    pub(super) fn inst_at(&self, program: &Program, pos: u32) -> InstId {
        program.block(self.block).insts[pos as usize - 1]
    }
}

/// Whether a buffer holds plain data when the function begins.
pub(super) fn holds_data_on_entry(program: &Program, alloc: AllocId) -> bool {
    let facts = program.alloc(alloc);
    facts.space == Space::Psum && matches!(facts.origin, Origin::Argument { fresh: false, .. })
}
