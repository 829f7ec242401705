//! Accumulation groups and other values of one block, as the walk of [`super::walk`] finds them.
//!
//! An *object* is a chain (accumulation group) or the data of one write by another engine in one
//! bank. A PE write *begins* a cell where it has to overwrite: the cell is fresh, or the writer is
//! a `tmatmul`. All other cells it adds onto: those of a chain make it a member, those of plain
//! data *seed* it.

use pto_ir::{Diag, Interval};
use rustc_hash::FxHashSet;

use super::geometry::{NONE, Strips};
use super::survey::MAX_ERRORS;

/// A chain, or the data that one write left in one bank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// Position of its first write; a chain's seed counts.
    pub first: u32,
    /// Position of the last read or add of its value.
    pub last: u32,
    /// The banks of its cells, and of the zero regions its members name explicitly.
    pub banks: Interval,
    /// Chains: the column groups of the members. Data: where the cells are.
    pub strips: Strips,
    /// Chains: the first member. Data: [`NONE`].
    pub member: u32,
    /// Data: the cells of the write (all banks). Chains: those of the first member.
    pub shape: u32,
    /// The buffer.
    pub alloc: u32,
    /// Some member has to overwrite some cell.
    pub begins: bool,
    /// Some member adds onto +0.0 that another engine wrote.
    pub zero_seeded: bool,
    /// Some member adds onto data that another engine wrote.
    pub data_seeded: bool,
    /// Data: some chain adds onto it.
    pub seeds: bool,
    /// Some member adds onto a sum from another block.
    pub sum_seeded: bool,
    /// Data: what it is. Chains: data if a region may have overwritten cells of it with data, else a sum.
    pub content: Content,
    /// The last position where a region adds to it, [`END`](super::problem::END) if that may be after
    /// the block.
    pub added_at: u32,
}

/// What a value that is no chain of this block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Content {
    /// A sum that the PE built in another block.
    Sum,
    /// Zeros, or what was added to them.
    Zero,
    /// Data of another engine.
    Data,
}

impl Object {
    /// Whether it is a chain.
    pub(super) fn is_chain(&self) -> bool {
        self.member != NONE
    }

    /// A region at `pos` may overwrite cells of the value with `content`; `was_zero`: those are +0.0.
    pub(super) fn rewritten(&mut self, content: Content, was_zero: bool, pos: u32) {
        self.last = pos;
        match content {
            Content::Data => self.content = Content::Data,
            // Zeros that a region may have overwritten by a sum are zeros no more.
            Content::Sum if was_zero => self.added_at = pos,
            Content::Sum | Content::Zero => {}
        }
    }

    /// Whether every cell of a chain is seeded.
    pub(super) fn is_seeded(&self) -> bool {
        !self.begins
    }

    /// Whether some cell of a chain is seeded.
    pub(super) fn has_seed(&self) -> bool {
        self.zero_seeded || self.data_seeded
    }
}

/// A cell class that a member has to overwrite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begin {
    /// The class.
    pub class: u32,
    /// The last position before the member where it was written, or may have been, or where its
    /// pending bit may have changed; [`BEGIN`] if there is none.
    pub written: u32,
    /// Whether it holds +0.0 for certain.
    pub is_zero: bool,
}

/// Cells that may be fresh or written after the operation at `pos`, and that are added onto.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Demand {
    /// Position of the operation that may write them; clearing them before it settles the question.
    pub pos: u32,
    /// The shape of the write.
    pub shape: u32,
    /// The buffer.
    pub alloc: u32,
    /// The class.
    pub class: u32,
}

/// The value in one cell class at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// The class.
    pub class: u32,
    /// The buffer.
    pub alloc: u32,
    /// The object.
    pub object: u32,
    /// The entry of [`Chains::last_uses`].
    pub uses: u32,
    /// What it is.
    pub content: Content,
    /// The next run of the region wants it.
    pub is_carried: bool,
    /// The next run of the region adds to it.
    pub is_added: bool,
}

/// Values around the regions of one operation.
#[derive(Debug)]
pub(super) struct Around {
    /// Position of the operation.
    pub pos: u32,
    /// Whether its regions run at most once.
    pub runs_once: bool,
    /// The values before it.
    pub before: Vec<Held>,
    /// The values after it.
    pub after: Vec<Held>,
}

/// Everything the walk found out about a block.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// Chains and data, in order of creation.
    pub objects: Vec<Object>,
    /// By object: the object it was joined into, or itself.
    pub parent: Vec<u32>,
    /// By member: its chain (once [`Self::resolve`] was called; before, one that was joined into it).
    pub chain_of: Vec<u32>,
    /// By member: the end of its part of [`Self::begins`].
    pub begins_end: Vec<u32>,
    /// The cells members have to overwrite, member by member.
    pub begins: Vec<Begin>,
    /// By chain that has one: the first member that adds onto data, and the position where that was written.
    pub data_seeds: Vec<(u32, u32)>,
    /// By value in a cell that is held around regions: position of its last use, or else its write. What
    /// objects know is the last use of any of their cells.
    pub last_uses: Vec<u32>,
    /// Cells to clear before operations that may write them.
    pub demands: Vec<Demand>,
    /// By operation of the block that holds regions: the values around them.
    pub around: Vec<Around>,
    /// What is wrong.
    pub errors: Vec<Diag>,
}

impl Chains {
    /// The chain that `object` was joined into; data is its own.
    pub(super) fn root(&self, mut object: u32) -> u32 {
        while self.parent[object as usize] != object {
            object = self.parent[object as usize];
        }
        object
    }

    /// The cells that `member` has to overwrite.
    pub(super) fn begins_of(&self, member: u32) -> &[Begin] {
        let start = match member {
            0 => 0,
            _ => self.begins_end[member as usize - 1],
        };
        &self.begins[start as usize..self.begins_end[member as usize] as usize]
    }

    /// What is cleared before an operation whose regions run once at most holds zeros in them. Demands are
    /// by position, as the operations are.
    pub(super) fn clear_before_branches(&mut self) {
        for wanted in self.demands.chunk_by(|a, b| a.pos == b.pos) {
            let found = self.around.binary_search_by_key(&wanted[0].pos, |a| a.pos);
            let Some(around) = found.ok().map(|index| &mut self.around[index]) else {
                continue;
            };
            if !around.runs_once {
                continue;
            }
            let cleared: FxHashSet<(u32, u32)> =
                wanted.iter().map(|d| (d.class, d.alloc)).collect();
            let is_cleared = |held: &&Held| cleared.contains(&(held.class, held.alloc));
            let zeros = around.after.iter().filter(is_cleared).map(|&held| Held {
                content: Content::Zero,
                ..held
            });
            around.before.extend(zeros);
        }
    }

    /// The value with the entry `uses`, if it has one, is used at `pos`.
    pub(super) fn note_use(&mut self, uses: u32, pos: u32) {
        if let Some(last) = self.last_uses.get_mut(uses as usize) {
            *last = pos;
        }
    }

    /// Names every member's chain by its root.
    pub(super) fn resolve(&mut self) {
        for member in 0..self.chain_of.len() {
            let chain = self.chain_of[member];
            if self.parent[chain as usize] != chain {
                self.chain_of[member] = self.root(chain);
            }
        }
    }

    /// As [`Self::root`], shortening the way for next time.
    pub(super) fn find(&mut self, mut object: u32) -> u32 {
        while self.parent[object as usize] != object {
            let above = self.parent[object as usize];
            self.parent[object as usize] = self.parent[above as usize];
            object = above;
        }
        object
    }

    /// Adds an error, unless it is there or there are many.
    pub(super) fn report(&mut self, error: Diag) {
        if self.errors.len() < MAX_ERRORS && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Adds an object.
    pub(super) fn add(&mut self, object: Object) -> u32 {
        let id = self.objects.len() as u32;
        self.objects.push(object);
        self.parent.push(id);
        id
    }

    /// Joins two chains, or none and one; the one created first stays.
    pub(super) fn join(&mut self, left: u32, right: u32) -> u32 {
        if left == right || left == NONE {
            return right;
        }
        let (root, other) = (left.min(right), left.max(right));
        let b = self.objects[other as usize];
        let a = &mut self.objects[root as usize];
        a.first = a.first.min(b.first);
        a.last = a.last.max(b.last);
        a.banks = a.banks.hull(b.banks);
        a.strips |= b.strips;
        a.begins |= b.begins;
        a.zero_seeded |= b.zero_seeded;
        a.data_seeded |= b.data_seeded;
        a.sum_seeded |= b.sum_seeded;
        a.content = a.content.max(b.content);
        a.added_at = a.added_at.max(b.added_at);
        self.parent[other as usize] = root;
        root
    }
}
