//! The abstract PSUM: for every bank and strip, byte segments with what is known of their cells.

use std::rc::Rc;

use pto_ir::{AllocId, InstId, Interval};

use super::layout::Layout;
use super::lost::{Lost, LostCells};
use super::worlds::{FRESH, VALUED, Worlds};

/// No instruction, no buffer.
pub(super) const NONE: u32 = u32::MAX;
/// Different buffers on different paths: nobody may rely on the cell.
const CONTESTED: u32 = u32::MAX - 1;
/// Different buffers on different paths, whose values nobody asks for: fresh to whoever comes next.
const GIVEN_UP: u32 = u32::MAX - 2;

/// Why a cell may be fresh.
pub(super) const FRESH_ON_A_PATH: u8 = 1;
/// Only because a loop may not run at all.
pub(super) const FRESH_WITHOUT_A_TRIP: u8 = 2;

/// Whether the group that wrote a cell is open.
pub(super) const OPEN: u8 = 1;
/// It is open unless a predicate closed it.
pub(super) const MAYBE_OPEN: u8 = 2;
/// Paths met on which different instructions wrote it last.
pub(super) const SEVERAL_WRITERS: u8 = 4;

/// What is known of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// The worlds it may be in.
    pub(super) worlds: Worlds,
    /// The buffer whose cell it is: the one that wrote it last.
    pub(super) owner: u32,
    /// The last instruction that wrote it.
    pub(super) writer: u32,
    /// The first START since then whose region holds it.
    pub(super) start: u32,
    /// [`OPEN`], [`MAYBE_OPEN`]; with one of them, [`SEVERAL_WRITERS`].
    pub(super) open: u8,
    /// [`FRESH_ON_A_PATH`], [`FRESH_WITHOUT_A_TRIP`].
    pub(super) fresh: u8,
}

impl Cell {
    pub(super) fn writer(self) -> Option<InstId> {
        (self.writer != NONE).then(|| InstId::new(self.writer as usize))
    }

    pub(super) fn start(self) -> Option<InstId> {
        (self.start != NONE).then(|| InstId::new(self.start as usize))
    }

    pub(super) fn owner(self) -> Option<AllocId> {
        (self.owner < GIVEN_UP).then(|| AllocId::new(self.owner as usize))
    }

    /// What is known where both paths meet. Sites are those of the first path.
    fn join(self, other: Self) -> Self {
        let site = |a: u32, b: u32| if a == NONE { b } else { a };
        let open = self.open | other.open;
        let is_one = self.writer == other.writer || self.writer == NONE || other.writer == NONE;
        let several = if is_one || open == 0 {
            0
        } else {
            SEVERAL_WRITERS
        };
        Self {
            worlds: self.worlds | other.worlds,
            owner: self.owner,
            writer: site(self.writer, other.writer),
            start: site(self.start, other.start),
            open: open | several,
            fresh: self.fresh | other.fresh,
        }
    }

    /// Whether the two differ in more than the sites they name.
    fn differs(self, other: Self) -> bool {
        (self.worlds, self.owner, self.open, self.fresh)
            != (other.worlds, other.owner, other.open, other.fresh)
    }
}

/// Bytes of one strip that are in the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) bytes: Interval,
    pub(super) cell: Cell,
}

/// The segments of one strip, ascending, without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Strip {
    segments: Vec<Segment>,
}

impl Strip {
    pub(super) fn segments_mut(&mut self) -> &mut [Segment] {
        &mut self.segments
    }

    /// The segments that meet `bytes`; their ends may lie outside.
    pub(super) fn meeting(&self, bytes: Interval) -> &[Segment] {
        let first = self
            .segments
            .partition_point(|segment| segment.bytes.end <= bytes.start);
        let rest = &self.segments[first..];
        &rest[..rest.partition_point(|segment| segment.bytes.start < bytes.end)]
    }

    /// Calls `change` with every segment of `bytes`, cut to fit. Afterwards neighbours in `bytes`
    /// that have become equal are one.
    pub(super) fn change(&mut self, bytes: Interval, mut change: impl FnMut(&mut Cell, Interval)) {
        let first = self
            .segments
            .partition_point(|segment| segment.bytes.end <= bytes.start);
        if let Some(segment) = self.segments.get_mut(first)
            && segment.bytes == bytes
        {
            return change(&mut segment.cell, bytes);
        }
        let first = self.cut(first, bytes.start);
        let mut end = first;
        while end < self.segments.len() && self.segments[end].bytes.start < bytes.end {
            self.cut(end, bytes.end);
            let segment = &mut self.segments[end];
            change(&mut segment.cell, segment.bytes);
            end += 1;
        }
        self.merge(first, end);
    }

    /// Makes a segment begin at `byte`, which is in segment `index`, and returns its index.
    fn cut(&mut self, index: usize, byte: u32) -> usize {
        let Some(segment) = self.segments.get_mut(index) else {
            return index;
        };
        if byte <= segment.bytes.start || byte >= segment.bytes.end {
            return index;
        }
        let rest = Segment {
            bytes: Interval::new(byte, segment.bytes.end),
            cell: segment.cell,
        };
        segment.bytes.end = byte;
        self.segments.insert(index + 1, rest);
        index + 1
    }

    /// Joins equal neighbours among the segments `first..end`.
    fn merge(&mut self, first: usize, end: usize) {
        let mut kept = first;
        for index in first + 1..end {
            let segment = self.segments[index];
            if self.segments[kept].cell == segment.cell {
                self.segments[kept].bytes.end = segment.bytes.end;
            } else {
                kept += 1;
                self.segments[kept] = segment;
            }
        }
        if kept + 1 < end {
            self.segments.drain(kept + 1..end);
        }
    }

    /// Joins `other` into `self`; `join` says what becomes of two cells. Whether anything changed.
    fn join(&mut self, other: &Self, mut join: impl FnMut(Cell, Cell, Interval) -> Cell) -> bool {
        let mut changed = false;
        let mut result: Vec<Segment> = Vec::with_capacity(self.segments.len());
        let (mut i, mut j, mut at) = (0, 0, 0);
        while let (Some(own), Some(its)) = (self.segments.get(i), other.segments.get(j)) {
            let end = own.bytes.end.min(its.bytes.end);
            let bytes = Interval::new(at, end);
            let cell = join(own.cell, its.cell, bytes);
            changed |= cell.differs(own.cell);
            match result.last_mut() {
                Some(last) if last.cell == cell => last.bytes.end = end,
                _ => result.push(Segment { bytes, cell }),
            }
            i += usize::from(own.bytes.end == end);
            j += usize::from(its.bytes.end == end);
            at = end;
        }
        self.segments = result;
        changed
    }
}

/// The state between two instructions. Copies share what neither changes.
#[derive(Clone, Debug)]
pub(super) struct State {
    banks: Vec<Rc<Vec<Strip>>>,
    pub(super) lost: LostCells,
}

impl State {
    /// Every cell in `worlds` and of no buffer.
    pub(super) fn new(layout: &Layout, bank_count: u32, bank_bytes: u32, worlds: Worlds) -> Self {
        let cell = Cell {
            worlds,
            owner: NONE,
            writer: NONE,
            start: NONE,
            open: 0,
            fresh: FRESH_ON_A_PATH,
        };
        let segments = vec![Segment {
            bytes: Interval::new(0, bank_bytes),
            cell,
        }];
        let strip = Strip { segments };
        let bank = |bank| Rc::new(vec![strip.clone(); layout.strip_count(bank)]);
        Self {
            banks: (0..bank_count).map(bank).collect(),
            lost: LostCells::default(),
        }
    }

    /// The strips of `bank`.
    pub(super) fn bank(&self, bank: u32) -> &[Strip] {
        &self.banks[bank as usize]
    }

    /// The strips of `bank`, to be changed.
    pub(super) fn bank_mut(&mut self, bank: u32) -> &mut Vec<Strip> {
        Rc::make_mut(&mut self.banks[bank as usize])
    }

    /// Adds to what `self` knows what `other` knows, which comes over another path. Whether
    /// anything changed. `renew` makes a cell fresh; `is_needed` tells buffers whose values are
    /// needed from here on.
    pub(super) fn join(
        &mut self,
        other: &Self,
        mut renew: impl FnMut(Worlds) -> Worlds,
        is_needed: impl Fn(AllocId) -> bool,
    ) -> bool {
        let mut changed = false;
        let mut lost: Vec<Lost> = Vec::new();
        for (index, (own, its)) in self.banks.iter_mut().zip(&other.banks).enumerate() {
            if Rc::ptr_eq(own, its) || own == its {
                continue;
            }
            for (strip, (own, its)) in Rc::make_mut(own).iter_mut().zip(its.iter()).enumerate() {
                changed |= own.join(its, |a, b, bytes| {
                    let (cell, losers) = join_owned(a, b, &mut renew, &is_needed);
                    let losers = losers
                        .into_iter()
                        .flatten()
                        .filter(|&loser| is_needed(loser));
                    lost.extend(losers.map(|loser| Lost {
                        alloc: loser.index() as u32,
                        bank: index as u32,
                        strip: strip as u32,
                        bytes,
                        by: NONE,
                    }));
                    cell
                });
            }
        }
        changed |= self.lost.extend(lost);
        changed | self.lost.join(&other.lost)
    }

    /// Closes the groups that a predicate may have left open, where `closes` says so of the last writer.
    pub(super) fn close(&mut self, closes: impl Fn(InstId) -> bool) {
        let is_closed = |cell: &Cell| {
            cell.open & !SEVERAL_WRITERS == MAYBE_OPEN && cell.writer().is_some_and(&closes)
        };
        for bank in &mut self.banks {
            let mut strips = bank.iter().flat_map(|strip| &strip.segments);
            if !strips.any(|segment| is_closed(&segment.cell)) {
                continue;
            }
            for segment in Rc::make_mut(bank).iter_mut().flat_map(Strip::segments_mut) {
                if is_closed(&segment.cell) {
                    segment.cell.open = 0;
                }
            }
        }
    }

    /// The state on a path around a loop that does not run: what is fresh is so because of that.
    pub(super) fn without_a_trip(&self) -> Self {
        let mut result = self.clone();
        for bank in &mut result.banks {
            for strip in Rc::make_mut(bank) {
                for segment in strip.segments_mut() {
                    // So is a cell that another buffer gives up, once it has.
                    let cell = &mut segment.cell;
                    if cell.worlds & FRESH != 0 || cell.fresh == 0 {
                        cell.fresh = FRESH_WITHOUT_A_TRIP;
                    }
                }
            }
        }
        result
    }
}

/// Two cells of different paths. Where they belong to different buffers, the cell goes to the one
/// that holds a value; where both do, to the one whose value is needed, or to nobody if neither is; where
/// both are, neither can rely on it, and both values are lost.
///
/// Of buffers that differ the owner only moves from those that nobody asks for to [`GIVEN_UP`], to one that
/// somebody asks for, to [`CONTESTED`]: so the walk ends.
fn join_owned(
    a: Cell,
    b: Cell,
    renew: &mut impl FnMut(Worlds) -> Worlds,
    is_needed: &impl Fn(AllocId) -> bool,
) -> (Cell, [Option<AllocId>; 2]) {
    let holds_value = |cell: Cell| cell.worlds & VALUED != 0;
    if a.owner == b.owner {
        return (a.join(b), [None; 2]);
    }
    let mut given_up = |cell: Cell, owner: u32| Cell {
        worlds: renew(cell.worlds),
        owner,
        fresh: match cell.fresh {
            0 => FRESH_ON_A_PATH,
            known => known,
        },
        ..cell
    };
    let is_contested = a.owner == CONTESTED || b.owner == CONTESTED;
    let is_settled = |cell: Cell| holds_value(cell) || cell.owner == GIVEN_UP;
    if is_settled(a) && is_settled(b) && !is_contested {
        match [a, b].map(|cell| cell.owner().is_some_and(is_needed)) {
            [true, false] => return (a.join(given_up(b, a.owner)), [None; 2]),
            [false, true] => return (b.join(given_up(a, b.owner)), [None; 2]),
            [false, false] => {
                let joined = given_up(a, GIVEN_UP).join(given_up(b, GIVEN_UP));
                return (joined, [None; 2]);
            }
            [true, true] => {}
        }
    }
    let owner = match (holds_value(a), holds_value(b)) {
        _ if is_contested => CONTESTED,
        (true, true) => CONTESTED,
        (true, false) => a.owner,
        (false, true) => b.owner,
        (false, false) if a.owner == GIVEN_UP || b.owner == GIVEN_UP => GIVEN_UP,
        (false, false) => a.owner.min(b.owner),
    };
    if owner != CONTESTED {
        return (Cell { owner, ..a }.join(Cell { owner, ..b }), [None; 2]);
    }
    let losers = [a, b].map(|cell| {
        if holds_value(cell) {
            cell.owner()
        } else {
            None
        }
    });
    let renewed = |cell: Cell, worlds| Cell {
        worlds,
        owner,
        ..cell
    };
    let (worlds_a, worlds_b) = (renew(a.worlds), renew(b.worlds));
    (renewed(a, worlds_a).join(renewed(b, worlds_b)), losers)
}
