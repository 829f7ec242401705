//! Which instructions may run at the same time, and which of those collide in PSUM.
//!
//! A run executes one instruction after the other. The machine does not: each engine has a queue
//! of its own, and so has each tile of the PE array; between queues only *dependences* order. One
//! instruction depends on an earlier one
//!
//! * of its own queue,
//! * whose token it waits for,
//! * that touches a common cell of PSUM or a common range of another buffer, one of the two writing.
//!   A START or ACCUMULATE writes its whole zero region.
//!
//! Code that no engine executes depends on everything before it, and everything after it on it.
//!
//! Two instructions that no chain of dependences orders may run at once. If both touch one quadrant
//! of one bank and at least one is a write of the PE array, they collide: the array has a
//! read-modify-write of the bank under way. Values need not be wrong; runtimes stop all the same.
//!
//! # How it is found
//!
//! Each instruction gets a [vector clock](clocks): for every queue, the number of its last
//! instruction that must have finished. Every cell remembers the clock of its last write, and the
//! join of that with the clocks of the reads since. An earlier instruction is ordered before a
//! later one exactly if the later one's clock has reached its number. Queues are in order, so per
//! quadrant and queue it is enough to know the last instruction: the work is per access, not per
//! pair.
//!
//! # What is left out
//!
//! Ranges of buffers outside PSUM are hulls: two views whose elements interleave count as touching.
//! All DMA is one queue.

mod clocks;

use pto_ir::{Engine, Interval, Target, Tile, ZeroWindow};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::hazards::{Hazard, HazardKind, HazardLog};
use crate::psum::{Grid, Region};
use crate::report::{Outcome, SiteId};
use clocks::{ClockId, Clocks};

/// Instructions that are executed in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Of an engine other than the PE array; [`Engine::Other`] is code that no engine executes.
    Engine(Engine),
    /// Of a tile of the PE array; without one it is the whole array.
    Tile(Option<Tile>),
}

/// What an instruction does to some cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// What is known of a cell: the clocks that an access has to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    /// Of the last write: what a read waits for.
    write: ClockId,
    /// Of that and the reads since: what a write waits for.
    all: ClockId,
}

const NOTHING: Known = Known {
    write: ClockId::EMPTY,
    all: ClockId::EMPTY,
};

/// The last instruction of one queue that touched a quadrant of a bank.
#[derive(Clone, Copy, Debug)]
struct Last {
    number: u32,
    site: SiteId,
}

/// The cells of an access.
#[derive(Clone, Debug)]
enum Cells {
    /// Of a bank: partitions and columns.
    Bank(u32, Interval, Interval),
    /// Of the buffer with this serial number: elements.
    Buffer(u64, Interval),
}

/// The instruction at hand.
#[derive(Debug)]
struct Current {
    queue: usize,
    site: SiteId,
    waits: SmallVec<[ClockId; 4]>,
    accesses: Vec<(Cells, Access)>,
}

/// The orders of a run so far.
#[derive(Debug)]
pub(crate) struct Concurrency {
    target: &'static Target,
    clocks: Clocks,
    queues: Vec<(Queue, ClockId)>,
    banks: Vec<Grid<Known>>,
    /// Buffers outside PSUM, by serial number: one row of elements each.
    buffers: FxHashMap<u64, Grid<Known>>,
    /// By bank and quadrant, then by queue.
    slots: Vec<Vec<Option<Last>>>,
    /// The clock of each token.
    tokens: Vec<ClockId>,
    /// The clock of the last code that no engine executes.
    barrier: ClockId,
    current: Option<Current>,
}

impl Concurrency {
    pub(crate) fn new(target: &'static Target) -> Self {
        let columns = target.bank_bytes / target.cell_bytes;
        let bank = Grid::new(target.partitions, columns, NOTHING);
        let quadrants = target.partitions.div_ceil(target.quadrant_partitions);
        Self {
            target,
            clocks: Clocks::default(),
            queues: Vec::new(),
            banks: vec![bank; target.banks as usize],
            buffers: FxHashMap::default(),
            slots: vec![Vec::new(); (target.banks * quadrants) as usize],
            tokens: Vec::new(),
            barrier: ClockId::EMPTY,
            current: None,
        }
    }

    /// An instruction of `queue` begins, which waits for `tokens`.
    pub(crate) fn begin(&mut self, queue: Queue, tokens: impl Iterator<Item = u64>, site: SiteId) {
        let queue = match self.queues.iter().position(|(known, _)| *known == queue) {
            Some(index) => index,
            None => {
                self.queues.push((queue, ClockId::EMPTY));
                self.queues.len() - 1
            }
        };
        let known = tokens.filter_map(|token| self.tokens.get(token as usize));
        self.current = Some(Current {
            queue,
            site,
            waits: known.copied().collect(),
            accesses: Vec::new(),
        });
    }

    /// The instruction touches `region` of PSUM, in columns from the start of a partition.
    pub(crate) fn psum(&mut self, region: &Region, access: Access) {
        let per_bank = self.target.bank_bytes / self.target.cell_bytes;
        for &span in &region.columns {
            for bank in span.start / per_bank..span.end.div_ceil(per_bank) {
                let first = bank * per_bank;
                let part = span.intersection(Interval::new(first, first + per_bank));
                let columns = Interval::new(part.start - first, part.end - first);
                self.note(Cells::Bank(bank, region.partitions, columns), access);
            }
        }
    }

    /// The instruction has START or ACCUMULATE: it writes all of its zero region.
    pub(crate) fn zero_region(&mut self, window: ZeroWindow, partitions: Interval) {
        let columns = Interval::new(0, self.target.bank_bytes / self.target.cell_bytes);
        for bank in window.first..=window.last() {
            self.note(Cells::Bank(bank, partitions, columns), Access::Write);
        }
    }

    /// The instruction touches `elements` of a buffer outside PSUM.
    pub(crate) fn buffer(&mut self, serial: u64, elements: Interval, access: Access) {
        self.note(Cells::Buffer(serial, elements), access);
    }

    fn note(&mut self, cells: Cells, access: Access) {
        if let Some(current) = &mut self.current {
            current.accesses.push((cells, access));
        }
    }

    /// The buffer's life is over.
    pub(crate) fn forget(&mut self, serial: u64) {
        self.buffers.remove(&serial);
    }

    /// The instruction is done: reports what it may collide with. Returns its token, if it has one.
    pub(crate) fn end(&mut self, has_token: bool, hazards: &mut HazardLog) -> Outcome<u64> {
        let Some(current) = self.current.take() else {
            return Ok(0);
        };
        if current.accesses.is_empty() && current.waits.is_empty() && !has_token {
            return Ok(0);
        }
        let mut clock = self.clocks.get(self.queues[current.queue].1).to_vec();
        for &wait in &current.waits {
            self.clocks.join_into(wait, &mut clock);
        }
        for (cells, access) in &current.accesses {
            self.wait_for(cells, *access, &mut clock);
        }
        self.clocks.join_into(self.barrier, &mut clock);
        let is_barrier = self.queues[current.queue].0 == Queue::Engine(Engine::Other);
        if is_barrier {
            for &(_, last) in &self.queues {
                self.clocks.join_into(last, &mut clock);
            }
        }
        let collision = self.collision(&current, &clock);
        let number = clocks::advance(&mut clock, current.queue);
        let id = self.clocks.add(clock);
        for (cells, access) in &current.accesses {
            self.update(cells, *access, id);
            self.occupy(cells, current.queue, number, current.site);
        }
        self.queues[current.queue].1 = id;
        if is_barrier {
            self.barrier = id;
        }
        if has_token {
            self.tokens.push(id);
        }
        self.collect_garbage();
        if let Some(hazard) = collision {
            hazards.note(hazard)?;
        }
        Ok((self.tokens.len() as u64).saturating_sub(1))
    }

    /// Joins into `clock` what an access must wait for.
    fn wait_for(&self, cells: &Cells, access: Access, clock: &mut Vec<u32>) {
        let Some((grid, rows, columns)) = self.grid(cells) else {
            return;
        };
        grid.visit(rows, columns, |_, _, known| {
            let wait = match access {
                Access::Read => known.write,
                Access::Write => known.all,
            };
            self.clocks.join_into(wait, clock);
        });
    }

    fn grid(&self, cells: &Cells) -> Option<(&Grid<Known>, Interval, Interval)> {
        match *cells {
            Cells::Bank(bank, rows, columns) => Some((&self.banks[bank as usize], rows, columns)),
            Cells::Buffer(serial, elements) => {
                let grid = self.buffers.get(&serial)?;
                Some((grid, Interval::new(0, 1), elements))
            }
        }
    }

    /// Remembers the access of the instruction whose clock is `id`.
    fn update(&mut self, cells: &Cells, access: Access, id: ClockId) {
        let (grid, rows, columns) = match *cells {
            Cells::Bank(bank, rows, columns) => (&mut self.banks[bank as usize], rows, columns),
            Cells::Buffer(serial, elements) => {
                let new = || Grid::new(1, u32::MAX, NOTHING);
                let grid = self.buffers.entry(serial).or_insert_with(new);
                (grid, Interval::new(0, 1), elements)
            }
        };
        let clocks = &mut self.clocks;
        // Neighbours often waited for the same.
        let mut last = (ClockId::EMPTY, id);
        grid.update(rows, columns, |_, _, known| match access {
            Access::Write => Known { write: id, all: id },
            Access::Read => {
                if known.all != last.0 {
                    last = (known.all, clocks.joined(known.all, id));
                }
                Known {
                    write: known.write,
                    all: last.1,
                }
            }
        });
    }

    fn slots_of(&self, cells: &Cells) -> SmallVec<[usize; 4]> {
        let Cells::Bank(bank, partitions, _) = *cells else {
            return SmallVec::new();
        };
        let per_bank = self.slots.len() / self.target.banks as usize;
        let quadrants = self.target.quadrants(partitions);
        let first = bank as usize * per_bank;
        (quadrants.start..quadrants.end)
            .map(|quadrant| first + quadrant as usize)
            .collect()
    }

    fn is_pe(&self, queue: usize) -> bool {
        matches!(self.queues[queue].0, Queue::Tile(_))
    }

    /// The first earlier instruction that may run at the same time in a quadrant of the same bank.
    fn collision(&self, current: &Current, clock: &[u32]) -> Option<Hazard> {
        let per_bank = (self.slots.len() / self.target.banks as usize) as u32;
        for (cells, _) in &current.accesses {
            for slot in self.slots_of(cells) {
                let others = self.slots[slot].iter().enumerate();
                let mut known = others.filter_map(|(queue, last)| Some((queue, (*last)?)));
                let found = known.find(|&(queue, last)| {
                    queue != current.queue
                        && (self.is_pe(queue) || self.is_pe(current.queue))
                        && clock.get(queue).copied().unwrap_or(0) < last.number
                });
                if let (Some((_, last)), Cells::Bank(bank, _, columns)) = (found, cells) {
                    let first = slot as u32 % per_bank * self.target.quadrant_partitions;
                    let bytes = |column: u32| column * self.target.cell_bytes;
                    return Some(Hazard {
                        kind: HazardKind::PsumCollision,
                        site: current.site,
                        earlier: last.site,
                        bank: *bank,
                        partitions: Interval::new(first, first + self.target.quadrant_partitions),
                        bytes: Interval::new(bytes(columns.start), bytes(columns.end)),
                    });
                }
            }
        }
        None
    }

    /// Remembers the instruction as the last of its queue in every quadrant it touches.
    fn occupy(&mut self, cells: &Cells, queue: usize, number: u32, site: SiteId) {
        for slot in self.slots_of(cells) {
            let slot = &mut self.slots[slot];
            if slot.len() <= queue {
                slot.resize(queue + 1, None);
            }
            slot[queue] = Some(Last { number, site });
        }
    }

    /// Drops the clocks that nobody refers to, once there are many.
    fn collect_garbage(&mut self) {
        if !self.clocks.is_full() {
            return;
        }
        let Self {
            clocks,
            queues,
            banks,
            buffers,
            tokens,
            barrier,
            ..
        } = self;
        let mut renaming = clocks.begin_collection();
        let mut rename = |id: ClockId| clocks.keep(id, &mut renaming);
        for (_, clock) in queues {
            *clock = rename(*clock);
        }
        for token in tokens {
            *token = rename(*token);
        }
        *barrier = rename(*barrier);
        let all = Interval::new(0, u32::MAX);
        let rows = Interval::new(0, self.target.partitions);
        let columns = Interval::new(0, self.target.bank_bytes / self.target.cell_bytes);
        for grid in banks {
            grid.update(rows, columns, |_, _, known| Known {
                write: rename(known.write),
                all: rename(known.all),
            });
        }
        for grid in buffers.values_mut() {
            grid.update(Interval::new(0, 1), all, |_, _, known| Known {
                write: rename(known.write),
                all: rename(known.all),
            });
        }
        clocks.end_collection(renaming);
    }
}

#[cfg(test)]
mod tests;
