//! The clocks of one block: what each instruction waits for, and who was in a lane last.

use pto_ir::{EdgeNode, Engine, Tile};

use super::passages::{Current, Hand, Passage};

pub(super) const NONE: u32 = u32::MAX;

/// Instructions that are executed in order.
pub(super) type Queue = (Engine, Option<Tile>);

/// Rows of clocks, each with one entry a queue.
#[derive(Default)]
pub(super) struct Rows {
    pub entries: Vec<u32>,
    pub width: usize,
}

impl Rows {
    pub(super) fn new(rows: usize, width: usize) -> Self {
        Self {
            entries: vec![0; rows * width],
            width,
        }
    }

    pub(super) fn row(&self, row: usize) -> &[u32] {
        &self.entries[row * self.width..(row + 1) * self.width]
    }

    pub(super) fn row_mut(&mut self, row: usize) -> &mut [u32] {
        &mut self.entries[row * self.width..(row + 1) * self.width]
    }

    /// Adds a row of zeros.
    pub(super) fn add(&mut self) -> u32 {
        self.entries.resize(self.entries.len() + self.width, 0);
        (self.entries.len() / self.width) as u32 - 1
    }

    pub(super) fn push(&mut self, clock: &[u32]) -> u32 {
        self.entries.extend_from_slice(clock);
        (self.entries.len() / self.width) as u32 - 1
    }
}

/// Raises `clock` to what `other` waits for.
pub(super) fn join(clock: &mut [u32], other: &[u32]) {
    for (own, &its) in clock.iter_mut().zip(other) {
        *own = (*own).max(its);
    }
}

/// The state of one block.
pub(super) struct Block {
    pub queues: Vec<Queue>,
    /// By queue: who executed last, and its clock.
    pub last: Rows,
    /// By cell: its row in the next two, or [`NONE`] if the block has not touched it.
    pub row_of: Vec<u32>,
    pub cells: Vec<u32>,
    /// The clock of the last write, and its join with those of the reads since.
    pub writes: Rows,
    pub all: Rows,
    /// By lane: the join of all clocks, the clock of the last START or ACCUMULATE, and the number of
    /// the last instruction of each queue.
    pub touched: Rows,
    pub opened: Rows,
    pub present: Rows,
    /// By lane and queue: that instruction.
    pub who: Vec<EdgeNode>,
    /// By queue: how many it executed.
    pub counts: Vec<u32>,
    /// Those that every later instruction waits for.
    pub floor: Vec<u32>,
    /// The clocks of instructions that hand out tokens.
    pub tokens: Rows,
    /// Memory of the clock at hand.
    pub clock: Vec<u32>,
    pub passage: Current,
}

/// What an instruction does, for the sake of order.
pub(super) struct Step<'s> {
    pub node: EdgeNode,
    pub queue: usize,
    /// Runs of cells, and whether they are only read.
    pub cells: &'s [((u32, u32), bool)],
    pub lanes: u64,
    /// The lanes that it opens for certain.
    pub opens: u64,
    /// Whether it is a memset of the relay.
    pub is_relay: bool,
}

impl Block {
    /// The first earlier instruction in a lane that `clock` does not count in.
    pub(super) fn whom_it_meets(&self, step: &Step<'_>, clock: &[u32]) -> Option<EdgeNode> {
        let is_pe = |queue: usize| self.queues[queue].0 == Engine::Pe;
        let width = clock.len();
        for lane in each(step.lanes) {
            let numbers = self.present.row(lane).iter().zip(clock).enumerate();
            for (queue, (&number, &known)) in numbers {
                if number > known && queue != step.queue && (is_pe(queue) || is_pe(step.queue)) {
                    return Some(self.who[lane * width + queue]);
                }
            }
        }
        None
    }

    /// What the step says of the passage.
    pub(super) fn pass(&mut self, step: &Step<'_>, clock: &[u32]) {
        if step.is_relay {
            return self.passage.relay(step.queue, clock);
        }
        let (engine, tile) = self.queues[step.queue];
        let hand: Hand = (engine == Engine::Pe).then_some(tile);
        self.passage
            .step(step.node, hand, (step.lanes, step.opens), clock);
    }

    /// Ends the passage.
    pub(super) fn end_passage(&mut self) -> Passage {
        let next = Current::new(self.passage.block(), self.counts.clone());
        let ended = std::mem::replace(&mut self.passage, next);
        let present = |lane| self.present.row(lane);
        ended.end(&self.floor, present)
    }

    /// The row of a cell that is touched.
    pub(super) fn row(&mut self, cell: usize) -> usize {
        if self.row_of[cell] == NONE {
            self.row_of[cell] = self.writes.add();
            self.all.add();
            self.cells.push(cell as u32);
        }
        self.row_of[cell] as usize
    }

    pub(super) fn record(&mut self, step: &Step<'_>, clock: &[u32]) {
        self.last.row_mut(step.queue).copy_from_slice(clock);
        for &((from, to), is_read) in step.cells {
            for cell in from as usize..to as usize {
                let row = self.row(cell);
                join(self.all.row_mut(row), clock);
                if !is_read {
                    self.writes.row_mut(row).copy_from_slice(clock);
                }
            }
        }
        for lane in each(step.lanes) {
            join(self.touched.row_mut(lane), clock);
            self.present.row_mut(lane)[step.queue] = clock[step.queue];
            self.who[lane * clock.len() + step.queue] = step.node;
            if step.opens >> lane & 1 == 1 {
                self.opened.row_mut(lane).copy_from_slice(clock);
            }
        }
    }
}

/// The numbers of the lanes of a set.
pub(super) fn each(mut lanes: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes.wrapping_sub(1);
        (lane < u64::BITS as usize).then_some(lane)
    })
}
