//! Where everything lies: the strips of each bank, and the pieces of each access.
//!
//! A *strip* is a partition interval of one bank that no access and no zero region cuts; a *piece* is
//! a byte interval in some consecutive strips of one bank. Both are computed once, so that a step of
//! the analysis meets nothing but small integers.

use pto_ir::{Access, AccessId, Alloc, AllocId, Interval, Program, Space, Target, ZeroWindow};

use super::survey::Cuts;

/// A byte interval in consecutive strips of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) bank: u32,
    /// Strips of that bank.
    pub(super) strips: Interval,
    /// Bytes within the bank.
    pub(super) bytes: Interval,
}

/// The place of an access or of a whole buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    first_piece: u32,
    piece_count: u32,
}

/// A zero region: banks, and partitions under both readings of its extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ZeroRegion {
    pub(super) banks: Interval,
    pub(super) group: Interval,
    pub(super) dst: Interval,
}

/// Why a buffer has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misplaced {
    /// It has no address yet.
    Unplaced,
    /// It, or an access of it, does not fit the memory of the target.
    Outside,
}

/// The layout of one program on one target.
pub(super) struct Layout {
    /// By bank: the bounds of its strips, ascending; one more than strips.
    bounds: Vec<Vec<u32>>,
    pieces: Vec<Piece>,
    accesses: Vec<Place>,
    allocs: Vec<Place>,
    /// Buffers that cannot be placed, by first use.
    pub(super) misplaced: Vec<(AllocId, Misplaced)>,
}

/// A physical rectangle: partitions, and bytes from the start of a partition.
pub(super) type Rectangle = (Interval, Interval);

impl Layout {
    pub(super) fn new(program: &Program, target: &Target, cuts: &[Cuts]) -> Self {
        let mut layout = Self {
            bounds: cuts
                .iter()
                .map(|cuts| cuts.bounds(target.partitions))
                .collect(),
            pieces: Vec::new(),
            accesses: Vec::with_capacity(program.accesses().len()),
            allocs: Vec::with_capacity(program.allocs().len()),
            misplaced: Vec::new(),
        };
        layout.find_misplaced(program, target);
        for index in 0..program.accesses().len() {
            let rectangles = access_rectangles(program, AccessId::new(index), target);
            let place = layout.place(rectangles.unwrap_or_default(), target);
            layout.accesses.push(place);
        }
        for alloc in program.allocs() {
            let whole = alloc_rectangle(alloc, target);
            let place = layout.place(whole.into_iter().collect(), target);
            layout.allocs.push(place);
        }
        layout
    }

    pub(super) fn place_of_access(&self, access: AccessId) -> Place {
        self.accesses[access.index()]
    }

    pub(super) fn place_of_alloc(&self, alloc: AllocId) -> Place {
        self.allocs[alloc.index()]
    }

    pub(super) fn pieces(&self, place: Place) -> &[Piece] {
        let first = place.first_piece as usize;
        &self.pieces[first..first + place.piece_count as usize]
    }

    /// The number of strips of `bank`.
    pub(super) fn strip_count(&self, bank: u32) -> usize {
        self.bounds[bank as usize].len() - 1
    }

    /// The partitions of a strip.
    pub(super) fn partitions(&self, bank: u32, strip: usize) -> Interval {
        let bounds = &self.bounds[bank as usize];
        Interval::new(bounds[strip], bounds[strip + 1])
    }

    /// The strips of `bank` that lie in `partitions`, which begins and ends with a strip.
    pub(super) fn strips(&self, bank: u32, partitions: Interval) -> Interval {
        let bounds = &self.bounds[bank as usize];
        let index = |partition| bounds.partition_point(|&bound| bound < partition) as u32;
        Interval::new(index(partitions.start), index(partitions.end))
    }

    fn find_misplaced(&mut self, program: &Program, target: &Target) {
        let mut is_known = vec![false; program.allocs().len()];
        for (index, access) in program.accesses().iter().enumerate() {
            let alloc = program.alloc(access.alloc);
            if alloc.space != Space::Psum || is_known[access.alloc.index()] {
                continue;
            }
            let inside = access_rectangles(program, AccessId::new(index), target).is_some()
                && alloc_rectangle(alloc, target).is_some();
            let reason = match alloc.placement {
                None => Misplaced::Unplaced,
                Some(_) if !inside => Misplaced::Outside,
                Some(_) => continue,
            };
            is_known[access.alloc.index()] = true;
            self.misplaced.push((access.alloc, reason));
        }
    }

    fn place(&mut self, rectangles: Vec<Rectangle>, target: &Target) -> Place {
        let first_piece = self.pieces.len() as u32;
        for (partitions, bytes) in rectangles {
            for bank in banks(bytes, target) {
                let start = bank * target.bank_bytes;
                let whole = Interval::new(start, start + target.bank_bytes);
                let part = bytes.intersection(whole);
                self.pieces.push(Piece {
                    bank,
                    strips: self.strips(bank, partitions),
                    bytes: Interval::new(part.start - start, part.end - start),
                });
            }
        }
        Place {
            first_piece,
            piece_count: self.pieces.len() as u32 - first_piece,
        }
    }
}

/// The zero region of a matmul whose flags have START or ACCUMULATE; where none is written, the
/// smallest around the destination. `None` where the destination has no place.
pub(super) fn zero_region(
    program: &Program,
    matmul: &pto_ir::Matmul,
    target: &Target,
) -> Option<ZeroRegion> {
    let Access {
        alloc, partitions, ..
    } = *program.access(matmul.dst);
    let buffer = program.alloc(alloc);
    let place = buffer.placement?;
    let base = alloc_rectangle(buffer, target)?.1.start;
    let (spans, widest) = (program.bytes(matmul.dst), target.max_zero_region_code);
    let first = (base + spans.first()?.start) / target.bank_bytes;
    let last = (base + spans.last()?.end - 1) / target.bank_bytes;
    let window = match matmul.zero_region {
        Some(code) => ZeroWindow::of_bank(first, code.min(widest)),
        None => ZeroWindow::covering(first, last, target.banks, widest)
            .unwrap_or(ZeroWindow::of_bank(first, widest)),
    };
    let clamp = |interval: Interval| interval.intersection(Interval::new(0, target.partitions));
    let dst = Interval::new(
        partitions.start.saturating_add(place.partition),
        partitions.end.saturating_add(place.partition),
    );
    Some(ZeroRegion {
        banks: window.banks().intersection(Interval::new(0, target.banks)),
        group: clamp(matmul.column_group(target)),
        dst: clamp(dst),
    })
}

/// The rectangles of every access and of every buffer.
pub(super) fn rectangles(program: &Program, target: &Target) -> Vec<Rectangle> {
    let ids = (0..program.accesses().len()).map(AccessId::new);
    let accesses = ids
        .filter_map(|access| access_rectangles(program, access, target))
        .flatten();
    let allocs = program
        .allocs()
        .iter()
        .filter_map(|alloc| alloc_rectangle(alloc, target));
    accesses.chain(allocs).collect()
}

/// Where `access` lies in PSUM, a rectangle a byte interval. `None` where it has no place there.
pub(super) fn access_rectangles(
    program: &Program,
    access: AccessId,
    target: &Target,
) -> Option<Vec<Rectangle>> {
    let relative = program.access(access);
    let alloc = program.alloc(relative.alloc);
    let spans = program.bytes(access).iter();
    spans
        .map(|&span| rectangle(alloc, relative.partitions, span, target))
        .collect()
}

fn alloc_rectangle(alloc: &Alloc, target: &Target) -> Option<Rectangle> {
    let (rows, bytes) = (
        Interval::new(0, alloc.partitions),
        Interval::new(0, alloc.bytes),
    );
    rectangle(alloc, rows, bytes, target)
}

fn rectangle(alloc: &Alloc, rows: Interval, span: Interval, target: &Target) -> Option<Rectangle> {
    if alloc.space != Space::Psum {
        return None;
    }
    let place = alloc.placement?;
    let base = place
        .bank
        .checked_mul(target.bank_bytes)?
        .checked_add(place.offset)?;
    let shift = |interval: Interval, by: u32, limit: u32| {
        let (start, end) = (
            interval.start.checked_add(by)?,
            interval.end.checked_add(by)?,
        );
        (start <= end && end <= limit).then_some(Interval::new(start, end))
    };
    let partitions = shift(rows, place.partition, target.partitions)?;
    let bytes = shift(span, base, target.partition_bytes())?;
    Some((partitions, bytes))
}

/// The banks that a byte interval meets.
pub(super) fn banks(bytes: Interval, target: &Target) -> std::ops::Range<u32> {
    if bytes.is_empty() {
        return 0..0;
    }
    bytes.start / target.bank_bytes..(bytes.end - 1) / target.bank_bytes + 1
}
