//! Where everything lies: the strips of each bank, and the pieces of each access.
//!
//! A *strip* is a partition interval of one bank that no access and no zero region cuts; a *piece* is
//! a byte interval in some consecutive strips of one bank. Both are computed once, so that a step of
//! the analysis meets nothing but small integers.

use pto_ir::{
    Access, AccessId, Alloc, AllocId, InstId, Interval, Op, Program, Space, Target, ZeroWindow,
};

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
struct Place {
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
    /// By instruction: its position in the walk of the program.
    order: Vec<u32>,
    /// By buffer: the position after which nothing needs its old contents.
    last_need: Vec<u32>,
    /// Buffers that cannot be placed, by first use.
    pub(super) misplaced: Vec<(AllocId, Misplaced)>,
}

/// A physical rectangle: partitions, and bytes from the start of a partition.
type Rectangle = (Interval, Interval);

impl Layout {
    pub(super) fn new(program: &Program, target: &Target) -> Self {
        let mut layout = Self {
            bounds: Vec::new(),
            pieces: Vec::new(),
            accesses: Vec::with_capacity(program.accesses().len()),
            allocs: Vec::with_capacity(program.allocs().len()),
            order: Vec::new(),
            last_need: Vec::new(),
            misplaced: Vec::new(),
        };
        layout.find_misplaced(program, target);
        layout.cut_strips(program, target);
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
        layout.find_needs(program);
        layout
    }

    pub(super) fn pieces_of_access(&self, access: AccessId) -> &[Piece] {
        self.pieces_of(self.accesses[access.index()])
    }

    pub(super) fn pieces_of_alloc(&self, alloc: AllocId) -> &[Piece] {
        self.pieces_of(self.allocs[alloc.index()])
    }

    fn pieces_of(&self, place: Place) -> &[Piece] {
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

    /// The position of `inst` in program order.
    pub(super) fn order(&self, inst: InstId) -> u32 {
        self.order[inst.index()]
    }

    /// Whether something at or after `inst` may need what `alloc` held before it.
    pub(super) fn is_needed_after(&self, alloc: AllocId, inst: InstId) -> bool {
        self.last_need[alloc.index()] > self.order(inst)
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

    /// Collects the partition bounds of everything, as a bit set a bank.
    fn cut_strips(&mut self, program: &Program, target: &Target) {
        let mut cuts = vec![Cuts::default(); target.banks as usize];
        for index in 0..program.accesses().len() {
            for rectangle in
                access_rectangles(program, AccessId::new(index), target).unwrap_or_default()
            {
                cut(&mut cuts, rectangle, target);
            }
        }
        for rectangle in program
            .allocs()
            .iter()
            .filter_map(|alloc| alloc_rectangle(alloc, target))
        {
            cut(&mut cuts, rectangle, target);
        }
        for inst in program.insts() {
            let region = match &inst.op {
                Op::Matmul(matmul) if matmul.tile.is_some() || matmul.zero_region > Some(0) => {
                    zero_region(program, matmul, target)
                }
                _ => None,
            };
            let Some(region) = region else {
                continue;
            };
            for bank in region.banks.start..region.banks.end {
                for partitions in [region.group, region.dst] {
                    cuts[bank as usize].add(partitions);
                }
            }
        }
        self.bounds = cuts
            .iter()
            .map(|cuts| cuts.bounds(target.partitions))
            .collect();
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

    /// Fills in the order and the last needs. In a loop that the buffer outlives, an access may be
    /// followed by any other of the same loop, so it counts as one at the loop's end.
    fn find_needs(&mut self, program: &Program) {
        const ALWAYS: u32 = u32::MAX;
        self.order = vec![0; program.insts().len()];
        for (position, inst) in program.walk().enumerate() {
            self.order[inst.index()] = position as u32 + 1;
        }
        let has_jumps = program
            .blocks()
            .iter()
            .any(|block| !block.successors.is_empty());
        let loop_ends = loop_ends(program);
        self.last_need = program
            .allocs()
            .iter()
            .map(|alloc| {
                if alloc.escapes || has_jumps {
                    ALWAYS
                } else {
                    0
                }
            })
            .collect();
        for (position, inst) in program.walk().enumerate() {
            for used in program.uses(inst) {
                let alloc = program.access(used.access).alloc;
                let block = program.inst(inst).block;
                let inside = program.alloc(alloc).block == block || loop_ends.is_empty();
                let end = if inside { 0 } else { loop_ends[block.index()] };
                let last = &mut self.last_need[alloc.index()];
                *last = (*last).max(position as u32 + 1).max(end);
            }
        }
    }
}

/// For each block, the position of the last instruction of the outermost operation with regions
/// around it, or nothing where there are no such operations.
fn loop_ends(program: &Program) -> Vec<u32> {
    let is_region = |op: &Op| matches!(op, Op::Region { .. });
    if !program.insts().iter().any(|inst| is_region(&inst.op)) {
        return Vec::new();
    }
    let mut ends = vec![0; program.blocks().len()];
    let mut outermost: Vec<Option<InstId>> = vec![None; program.blocks().len()];
    let mut end_of: Vec<u32> = vec![0; program.insts().len()];
    for (position, inst) in program.walk().enumerate() {
        let block = program.inst(inst).block;
        let root = outermost[block.index()];
        if let Op::Region { regions, .. } = &program.inst(inst).op {
            for &region in regions {
                for inner in &program.region(region).blocks {
                    outermost[inner.index()] = Some(root.unwrap_or(inst));
                }
            }
        }
        if let Some(root) = root {
            end_of[root.index()] = position as u32 + 1;
        }
    }
    for (block, root) in outermost.iter().enumerate() {
        ends[block] = root.map_or(0, |root| end_of[root.index()]);
    }
    ends
}

/// The zero region of a matmul whose flags have START or ACCUMULATE; a region that is not written
/// is region 0. `None` where the destination has no place.
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
    let first = alloc_rectangle(buffer, target)?.1.start;
    let first = first
        + program
            .bytes(matmul.dst)
            .first()
            .map_or(0, |span| span.start);
    let code = matmul
        .zero_region
        .unwrap_or(0)
        .min(target.max_zero_region_code);
    let bank = first / target.bank_bytes;
    let clamp = |interval: Interval| interval.intersection(Interval::new(0, target.partitions));
    let dst = Interval::new(
        partitions.start.saturating_add(place.partition),
        partitions.end.saturating_add(place.partition),
    );
    Some(ZeroRegion {
        banks: ZeroWindow::of_bank(bank, code)
            .banks()
            .intersection(Interval::new(0, target.banks)),
        group: clamp(matmul.column_group(target)),
        dst: clamp(dst),
    })
}

/// Where `access` lies in PSUM, a rectangle a byte interval. `None` where it has no place there.
fn access_rectangles(
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
fn banks(bytes: Interval, target: &Target) -> std::ops::Range<u32> {
    if bytes.is_empty() {
        return 0..0;
    }
    bytes.start / target.bank_bytes..(bytes.end - 1) / target.bank_bytes + 1
}

/// Partition bounds, one bit each.
#[derive(Clone, Default)]
struct Cuts {
    words: Vec<u64>,
}

impl Cuts {
    fn add(&mut self, partitions: Interval) {
        for bound in [partitions.start, partitions.end] {
            let word = bound as usize / 64;
            if self.words.len() <= word {
                self.words.resize(word + 1, 0);
            }
            self.words[word] |= 1 << (bound % 64);
        }
    }

    /// The bounds in ascending order, with both ends of the bank.
    fn bounds(&self, partitions: u32) -> Vec<u32> {
        let is_cut = |bound: u32| {
            let word = self.words.get(bound as usize / 64).copied().unwrap_or(0);
            word >> (bound % 64) & 1 == 1
        };
        let inner = (1..partitions).filter(|&bound| is_cut(bound));
        std::iter::once(0)
            .chain(inner)
            .chain([partitions])
            .collect()
    }
}

fn cut(cuts: &mut [Cuts], (partitions, bytes): Rectangle, target: &Target) {
    for bank in banks(bytes, target) {
        cuts[bank as usize].add(partitions);
    }
}
