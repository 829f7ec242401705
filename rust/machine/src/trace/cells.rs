//! PSUM over time: which rectangle was in which state, and of which accumulation group.

use pto_ir::{Interval, Target};

use super::{CellState, Rect, Span};
use crate::psum::{Cell, Grid, Phase, Region};
use crate::report::SiteId;

/// No event, no group.
const NONE: u32 = u32::MAX;

/// Spans kept at most. Reached only where a program cuts PSUM into single cells, over and over.
const MAX_SPANS: usize = 4_000_000;

/// What is known of a cell now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    state: Option<CellState>,
    clobbered: bool,
    /// The instruction that put it into the state, as the interpreter has it.
    site: SiteId,
    group: u32,
    /// The serial number of the buffer that the group belongs to.
    buffer: u64,
    from: u32,
    last_use: u32,
}

impl Held {
    const fn nothing() -> Self {
        Self {
            state: None,
            clobbered: false,
            site: SiteId::NONE,
            group: NONE,
            buffer: 0,
            from: NONE,
            last_use: NONE,
        }
    }
}

/// Who changes cells.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// A START or ACCUMULATE reaches them.
    Region,
    /// A matmul into the buffer `buffer` writes them, as a member of `group`; it may mean to add.
    Pe {
        group: u32,
        buffer: u64,
        accumulates: bool,
    },
    /// Another engine writes them, or they become undefined.
    Other,
}

/// The cells of all banks, and what they went through.
#[derive(Debug)]
pub(super) struct Cells {
    target: &'static Target,
    banks: Vec<Grid<Held>>,
    spans: Vec<Span>,
    /// Of each group the one it was united with, itself at first.
    united: Vec<u32>,
}

impl Cells {
    pub(super) fn new(target: &'static Target) -> Self {
        let columns = target.bank_bytes / target.cell_bytes;
        let bank = Grid::new(target.partitions, columns, Held::nothing());
        Self {
            target,
            banks: vec![bank; target.banks as usize],
            spans: Vec::new(),
            united: Vec::new(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.spans.len() >= MAX_SPANS
    }

    /// The rectangles of `region`, whose columns count across banks.
    pub(super) fn rects(&self, region: &Region) -> impl Iterator<Item = Rect> {
        let bytes = self.target.cell_bytes;
        let columns = self.target.bank_bytes / bytes;
        region.pieces(columns).map(move |piece| Rect {
            bank: piece.bank as u32,
            partitions: region.partitions,
            bytes: Interval::new(piece.columns.start * bytes, piece.columns.end * bytes),
        })
    }

    /// The group of a matmul into `rects` of the buffer `buffer`: a new one, or, where it adds, the
    /// union of those whose cells it adds to.
    pub(super) fn group_of(&mut self, rects: &[Rect], buffer: u64, accumulates: bool) -> u32 {
        let mut found: Vec<u32> = Vec::new();
        for rect in rects.iter().filter(|_| accumulates) {
            let columns = self.columns(rect);
            self.banks[rect.bank as usize].visit(rect.partitions, columns, |_, _, held| {
                if held.group != NONE && held.buffer == buffer {
                    found.push(held.group);
                }
            });
        }
        found.sort_unstable();
        found.dedup();
        let Some(&first) = found.first() else {
            let group = self.united.len() as u32;
            self.united.push(group);
            return group;
        };
        let first = self.root(first);
        for group in found {
            let group = self.root(group);
            let (low, high) = (group.min(first), group.max(first));
            self.united[high as usize] = low;
        }
        self.root(first)
    }

    /// The first of the groups that `group` is united with.
    fn root(&mut self, group: u32) -> u32 {
        let mut group = group as usize;
        while self.united[group] as usize != group {
            self.united[group] = self.united[self.united[group] as usize];
            group = self.united[group] as usize;
        }
        group as u32
    }

    /// `event` has changed cells: those of `partitions` times `columns` of `bank` are now `cell`.
    pub(super) fn change(
        &mut self,
        event: u32,
        (bank, partitions, columns): (u32, Interval, Interval),
        cell: Cell,
        change: Change,
    ) {
        let Self {
            banks,
            spans,
            target,
            united,
        } = self;
        let cell_bytes = target.cell_bytes;
        banks[bank as usize].update(partitions, columns, |partitions, columns, before| {
            let after = changed(before, event, cell, change, united);
            if let (true, Some(state)) = (after.from != before.from, before.state) {
                let is_added_to = matches!(
                    change,
                    Change::Pe { buffer, accumulates: true, .. }
                        if state != CellState::Pending || is_lost(before, buffer)
                );
                let last_use = if is_added_to { event } else { before.last_use };
                spans.push(Span {
                    rect: Rect {
                        bank,
                        partitions,
                        bytes: Interval::new(columns.start * cell_bytes, columns.end * cell_bytes),
                    },
                    state,
                    clobbered: before.clobbered,
                    group: known(before.group),
                    from: before.from,
                    last_use: known(last_use),
                    to: Some(event),
                });
            }
            after
        });
    }

    /// `event` reads `rect`.
    pub(super) fn read(&mut self, event: u32, rect: &Rect) {
        let columns = self.columns(rect);
        self.banks[rect.bank as usize].update(rect.partitions, columns, |_, _, before| Held {
            last_use: event,
            ..before
        });
    }

    /// Every span, those that never ended last; groups by their order, without gaps; and for each
    /// group as [`Self::group_of`] gave it, its number.
    pub(super) fn finish(mut self) -> (Vec<Span>, Vec<u32>) {
        let everything = Interval::new(0, self.target.bank_bytes / self.target.cell_bytes);
        for bank in 0..self.target.banks {
            let nothing = Cell::undefined();
            let area = (bank, Interval::new(0, self.target.partitions), everything);
            self.change(NONE, area, nothing, Change::Other);
        }
        let mut numbers = vec![NONE; self.united.len()];
        let mut count = 0;
        for group in 0..self.united.len() as u32 {
            let root = self.root(group) as usize;
            if numbers[root] == NONE {
                numbers[root] = count;
                count += 1;
            }
            numbers[group as usize] = numbers[root];
        }
        for span in &mut self.spans {
            span.group = span.group.map(|group| numbers[group as usize]);
            span.to = span.to.filter(|&event| event != NONE);
        }
        (self.spans, numbers)
    }

    fn columns(&self, rect: &Rect) -> Interval {
        let bytes = self.target.cell_bytes;
        Interval::new(rect.bytes.start / bytes, rect.bytes.end / bytes)
    }
}

/// What is known of a cell that was `before` and that `event` has made `cell`. The state goes on
/// from where it began unless something that can be seen has changed.
fn changed(before: Held, event: u32, cell: Cell, change: Change, united: &[u32]) -> Held {
    let state = match cell.phase {
        Phase::Undefined => None,
        Phase::Pending => Some(CellState::Pending),
        Phase::Partial => Some(CellState::Open),
        Phase::Data => Some(CellState::Data),
    };
    let (group, buffer) = match change {
        Change::Region => (before.group, before.buffer),
        Change::Pe { group, buffer, .. } => (group, buffer),
        Change::Other => (NONE, 0),
    };
    let is_same_group =
        before.group == group || (before.group != NONE && united[before.group as usize] == group);
    let goes_on = match change {
        // A second START is another one to look at; an untouched state is the one it was.
        Change::Region => before.site == cell.site || cell.phase != Phase::Pending,
        Change::Pe { .. } => true,
        Change::Other => false,
    };
    let is_same = goes_on
        && before.state == state
        && before.clobbered == cell.clobbered
        && is_same_group
        && state.is_some();
    let used = matches!(change, Change::Pe { .. }).then_some(event);
    Held {
        state,
        clobbered: cell.clobbered,
        site: cell.site,
        group,
        buffer,
        from: if is_same { before.from } else { event },
        last_use: match (is_same, used) {
            (true, Some(event)) => event,
            (true, None) => before.last_use,
            (false, _) => NONE,
        },
    }
}

/// Whether a START has hit a sum of `buffer`, which is about to be added to.
fn is_lost(before: Held, buffer: u64) -> bool {
    before.clobbered && before.group != NONE && before.buffer == buffer
}

/// The number, unless it stands for none.
fn known(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}
