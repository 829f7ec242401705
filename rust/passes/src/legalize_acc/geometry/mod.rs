//! Where accesses lie in PSUM, in as few pieces as tell them apart.
//!
//! Two cells that every access of the function treats alike need no telling apart, so all state is
//! kept per *cell class*: a maximal set of cells of one bank with that property. Classes come from
//! partition refinement over the grid of all access boundaries:
//!
//! ```text
//!            bytes ->                      accesses   classes
//! rows   +----------+----------+           A = 1|2    1 = A alone
//!   |    |  1   1   |  2   2   |           B = 2|3    2 = A and B
//!   v    |  1   1   |  2   2   |                      3 = B alone
//!        +----------+----------+
//!                   |  3   3   |
//! ```
//!
//! A function whose accesses are whole banks has one class a bank, however large it is. Besides
//! the bank, two things that are not accesses split classes: the partition ranges of PE
//! destinations (they decide what a START covers for sure) and the column groups (they decide what
//! it may harm).
//!
//! *Strips* are the same idea for the partition axis of column groups: quadrants that every column
//! group of the function holds or lacks together are one strip. A slot is a (bank, strip) pair.

mod grid;
mod lanes;

use pto_ir::{AccessId, AllocId, Interval, Program, Space, Target, ZeroWindow};
use rustc_hash::FxHashMap;

use super::survey::Survey;
use grid::{Axis, Grid, Partition, merged};

/// Index of no shape, class or object.
pub(super) const NONE: u32 = u32::MAX;

/// A set of strips, one bit each; strips of a function are numbered from 0.
pub(super) type Strips = u8;

/// A set of lanes, one bit each. A lane is one quadrant of one bank; its number is the bank times the
/// quadrants of a bank, plus the quadrant.
pub(super) type Lanes = u64;

/// One distinct set of cells.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Partitions of PSUM.
    pub partitions: Interval,
    /// Hull of the banks it touches.
    pub banks: Interval,
    /// The quadrants its cells lie in, one bit each.
    pub quadrants: u8,
    first_class: u32,
    class_count: u32,
}

/// What all cells of a class have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    /// Their bank.
    pub bank: u32,
    /// Their strip.
    pub strip: u8,
    /// Partitions they lie within: no PE destination and no column group ends inside.
    pub slab: Interval,
}

/// A rectangle of PSUM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rectangle {
    /// Partitions of PSUM.
    pub partitions: Interval,
    /// Bytes from the start of a partition of PSUM.
    pub bytes: Interval,
}

/// All accesses of a function as sets of cell classes.
#[derive(Debug)]
pub(super) struct Geometry {
    /// By [`AccessId`]: its shape, or [`NONE`] where it is not in placed PSUM.
    shape_of: Vec<u32>,
    /// Shapes of whole buffers.
    wholes: Vec<(AllocId, u32)>,
    shapes: Vec<Shape>,
    spans: Vec<Vec<Interval>>,
    lists: Vec<u32>,
    classes: Vec<Class>,
    strip_of_quadrant: Vec<u8>,
    grid: Grid,
    class_of_cell: Vec<u32>,
    shared_lanes: Lanes,
    /// By lane: the quadrants of its bank that are touched whenever it is, and only then.
    alike: Vec<u8>,
    target: &'static Target,
}

impl Geometry {
    /// The geometry of every used access of `program`, and of the whole of the buffers `wholes`.
    ///
    /// All of them must lie inside PSUM, and the bytes of an access must not be empty.
    pub(super) fn new(
        program: &Program,
        target: &'static Target,
        survey: &Survey,
        wholes: &[AllocId],
    ) -> Self {
        let strip_of_quadrant = strips(target, &survey.groups);
        let mut geometry = Self {
            shape_of: vec![NONE; program.accesses().len()],
            wholes: Vec::new(),
            shapes: Vec::new(),
            spans: Vec::new(),
            lists: Vec::new(),
            classes: Vec::new(),
            grid: Grid::default(),
            class_of_cell: Vec::new(),
            shared_lanes: 0,
            alike: Vec::new(),
            strip_of_quadrant,
            target,
        };
        let mut cuts = vec![false; target.partitions as usize + 1];
        for (quadrant, pair) in geometry.strip_of_quadrant.windows(2).enumerate() {
            let boundary = (quadrant as u32 + 1) * target.quadrant_partitions;
            cuts[boundary as usize] = pair[0] != pair[1];
        }
        geometry.intern_shapes(program, survey, wholes, &mut cuts);
        geometry.grid = Grid::new(target, &geometry.shapes, &geometry.spans);
        geometry.refine(&cuts);
        geometry
    }

    /// The shape of `access`, or [`NONE`].
    pub(super) fn shape_of(&self, access: AccessId) -> u32 {
        self.shape_of[access.index()]
    }

    /// The whole buffers that were asked for, with their shapes.
    pub(super) fn wholes(&self) -> &[(AllocId, u32)] {
        &self.wholes
    }

    /// The shape with index `shape`.
    pub(super) fn shape(&self, shape: u32) -> &Shape {
        &self.shapes[shape as usize]
    }

    /// The classes of a shape, ascending; classes of one bank are neighbours.
    pub(super) fn classes(&self, shape: u32) -> &[u32] {
        let Shape {
            first_class,
            class_count,
            ..
        } = self.shapes[shape as usize];
        &self.lists[first_class as usize..(first_class + class_count) as usize]
    }

    /// Facts of class `class`.
    pub(super) fn class(&self, class: u32) -> Class {
        self.classes[class as usize]
    }

    /// Number of classes.
    pub(super) fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// Number of strips.
    pub(super) fn strip_count(&self) -> u32 {
        self.strip_of_quadrant
            .iter()
            .max()
            .map_or(0, |&s| u32::from(s) + 1)
    }

    /// The slots (one bit a bank and strip) of `strips` in `bank`.
    pub(super) fn slots(&self, bank: u32, strips: Strips) -> u64 {
        let count = self.strip_count();
        let strips = u64::from(strips) & ((1 << count) - 1);
        strips << (bank * count)
    }

    /// The strips of a quadrant mask.
    pub(super) fn strips_of(&self, quadrants: u8) -> Strips {
        let pairs = self.strip_of_quadrant.iter().enumerate();
        pairs
            .filter(|(quadrant, _)| quadrants >> quadrant & 1 == 1)
            .fold(0, |mask, (_, &strip)| mask | 1 << strip)
    }

    /// The quadrants of strips, one bit each.
    pub(super) fn quadrants_of(&self, strips: Strips) -> u8 {
        let pairs = self.strip_of_quadrant.iter().enumerate();
        pairs
            .filter(|&(_, strip)| strips >> strip & 1 == 1)
            .fold(0, |mask, (quadrant, _)| mask | 1 << quadrant)
    }

    /// Whether two shapes share a cell.
    pub(super) fn overlap(&self, left: u32, right: u32) -> bool {
        if left == right {
            return true;
        }
        let (mut a, mut b) = (self.classes(left), self.classes(right));
        if let ([x], [y]) = (a, b) {
            return x == y;
        }
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            match x.cmp(y) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => a = &a[1..],
                std::cmp::Ordering::Greater => b = &b[1..],
            }
        }
        false
    }

    /// Whether a shape has a cell in a rectangle.
    pub(super) fn meets(&self, shape: u32, rectangle: Rectangle) -> bool {
        let mut spans = self.spans[shape as usize].iter();
        self.shape(shape).partitions.overlaps(rectangle.partitions)
            && spans.any(|span| span.overlaps(rectangle.bytes))
    }

    /// The zero window of a bank interval. Callers pass windows that exist: banks of one
    /// destination are checked on input, and on a target with one-bank regions all else is one bank.
    pub(super) fn window(&self, banks: Interval) -> ZeroWindow {
        let Target {
            banks: count,
            max_zero_region_code,
            ..
        } = *self.target;
        let last = banks.end.saturating_sub(1).max(banks.start);
        if last == banks.start {
            return ZeroWindow::of_bank(last, 0);
        }
        ZeroWindow::covering(banks.start, last, count, max_zero_region_code)
            .unwrap_or(ZeroWindow::of_bank(banks.start, max_zero_region_code))
    }

    /// The cells of `shape` whose class `is_wanted`, as disjoint rectangles: the fewer of "merge
    /// along bytes first" and "merge along partitions first".
    pub(super) fn rectangles(&self, shape: u32, is_wanted: impl Fn(u32) -> bool) -> Vec<Rectangle> {
        let mut cells: Vec<Rectangle> = Vec::new();
        let Shape { partitions, .. } = self.shapes[shape as usize];
        self.grid
            .for_each_cell(partitions, &self.spans[shape as usize], |cell| {
                if is_wanted(self.class_of_cell[cell]) {
                    cells.push(self.grid.rectangle(cell));
                }
            });
        let bytes_first = merged(merged(cells.clone(), Axis::Bytes), Axis::Partitions);
        let partitions_first = merged(merged(cells, Axis::Partitions), Axis::Bytes);
        if partitions_first.len() < bytes_first.len() {
            partitions_first
        } else {
            bytes_first
        }
    }

    fn intern_shapes(
        &mut self,
        program: &Program,
        survey: &Survey,
        wholes: &[AllocId],
        cuts: &mut [bool],
    ) {
        let mut simple: FxHashMap<(Interval, Interval), u32> = FxHashMap::default();
        let mut strided: FxHashMap<(Interval, Vec<Interval>), u32> = FxHashMap::default();
        for index in 0..program.accesses().len() {
            let id = AccessId::new(index);
            if !survey.is_used[index] {
                continue;
            }
            let access = program.access(id);
            let alloc = program.alloc(access.alloc);
            let (Space::Psum, Some(place)) = (alloc.space, alloc.placement) else {
                continue;
            };
            let base = place.bank * self.target.bank_bytes + place.offset;
            let partitions = access.partitions.shifted(place.partition);
            let next = self.shapes.len() as u32;
            let shape = match program.bytes(id) {
                [span] => *simple
                    .entry((partitions, span.shifted(base)))
                    .or_insert(next),
                spans => {
                    let spans = spans.iter().map(|span| span.shifted(base)).collect();
                    *strided.entry((partitions, spans)).or_insert(next)
                }
            };
            if shape == next {
                let spans = program.bytes(id).iter().map(|span| span.shifted(base));
                self.add_shape(partitions, spans.collect());
            }
            self.shape_of[index] = shape;
            if survey.is_destination[index] {
                cuts[partitions.start as usize] = true;
                cuts[partitions.end as usize] = true;
            }
        }
        for &alloc in wholes {
            let facts = program.alloc(alloc);
            let Some(place) = facts.placement else {
                continue;
            };
            if facts.partitions > 0 && facts.bytes > 0 {
                let base = place.bank * self.target.bank_bytes + place.offset;
                let partitions = Interval::new(0, facts.partitions).shifted(place.partition);
                let bytes = Interval::new(0, facts.bytes).shifted(base);
                self.wholes.push((alloc, self.shapes.len() as u32));
                self.add_shape(partitions, vec![bytes]);
            }
        }
    }

    fn add_shape(&mut self, partitions: Interval, spans: Vec<Interval>) {
        let bank_bytes = self.target.bank_bytes;
        let first = spans.first().map_or(0, |span| span.start / bank_bytes);
        let last = spans.last().map_or(0, |span| (span.end - 1) / bank_bytes);
        let quadrants = self.target.quadrants(partitions);
        let quadrants = (quadrants.start..quadrants.end).fold(0, |mask, q| mask | 1 << q);
        self.shapes.push(Shape {
            partitions,
            banks: Interval::new(first, last + 1),
            quadrants,
            first_class: 0,
            class_count: 0,
        });
        self.spans.push(spans);
    }

    /// Splits the cells of each (bank, slab) until every shape is a union of classes.
    fn refine(&mut self, cuts: &[bool]) {
        let mut slabs = vec![Interval::new(0, 0)];
        let mut slab_of_row = Vec::with_capacity(self.grid.rows.len());
        for pair in self.grid.rows.windows(2) {
            if cuts[pair[0] as usize] && pair[0] > 0 {
                slabs.push(Interval::new(pair[0], pair[0]));
            }
            let current = slabs.len() - 1;
            slabs[current].end = pair[1];
            slab_of_row.push(current as u32);
        }
        let slab_count = slabs.len() as u32;
        let mut partition =
            Partition::new(&self.grid, |bank, row| bank * slab_count + slab_of_row[row]);
        for (shape, spans) in self.shapes.iter().zip(&self.spans) {
            partition.split(|visit| self.grid.for_each_cell(shape.partitions, spans, visit));
        }
        self.class_of_cell = partition.class_of_cell;
        self.number_classes(&slabs, &slab_of_row);
    }

    /// Numbers the classes that some shape holds in grid order, and lists those of each shape.
    fn number_classes(&mut self, slabs: &[Interval], slab_of_row: &[u32]) {
        let mut is_covered = vec![false; self.class_of_cell.len()];
        for (shape, spans) in self.shapes.iter().zip(&self.spans) {
            self.grid
                .for_each_cell(shape.partitions, spans, |cell| is_covered[cell] = true);
        }
        let mut number_of = vec![NONE; self.class_of_cell.len()];
        for (cell, class) in self.class_of_cell.iter_mut().enumerate() {
            if !is_covered[cell] {
                *class = NONE;
                continue;
            }
            let number = &mut number_of[*class as usize];
            if *number == NONE {
                *number = self.classes.len() as u32;
                let (bank, row, _) = self.grid.coordinates(cell);
                let slab = slabs[slab_of_row[row] as usize];
                let quadrant = slab.start / self.target.quadrant_partitions;
                self.classes.push(Class {
                    bank,
                    strip: self.strip_of_quadrant[quadrant as usize],
                    slab,
                });
            }
            *class = *number;
        }
        self.find_shared_lanes();
        for (shape, spans) in self.shapes.iter_mut().zip(&self.spans) {
            let start = self.lists.len();
            let lists = &mut self.lists;
            self.grid.for_each_cell(shape.partitions, spans, |cell| {
                lists.push(self.class_of_cell[cell])
            });
            lists[start..].sort_unstable();
            let mut kept = start;
            for index in start..lists.len() {
                if kept == start || lists[index] != lists[kept - 1] {
                    lists[kept] = lists[index];
                    kept += 1;
                }
            }
            lists.truncate(kept);
            shape.first_class = start as u32;
            shape.class_count = (kept - start) as u32;
        }
    }
}

/// The strip of every quadrant: quadrants with the same column groups share one.
fn strips(target: &Target, groups: &[u8]) -> Vec<u8> {
    let quadrants = target.partitions / target.quadrant_partitions;
    let mut signatures: Vec<Vec<bool>> = Vec::new();
    (0..quadrants)
        .map(|quadrant| {
            let signature: Vec<bool> = groups.iter().map(|g| g >> quadrant & 1 == 1).collect();
            let known = signatures.iter().position(|s| *s == signature);
            known.unwrap_or_else(|| {
                signatures.push(signature);
                signatures.len() - 1
            }) as u8
        })
        .collect()
}
