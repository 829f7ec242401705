//! The cells of a program, as few as tell its accesses apart.

use pto_ir::{AccessId, Alloc, AllocId, Interval, Matmul, Program, Space, Target, ZeroWindow};

/// One rectangle of PSUM that every access and every column group covers wholly or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its first partition.
    pub partition: u32,
    /// Its bank.
    pub bank: u32,
    /// Its first byte within a partition of PSUM.
    pub byte: u32,
}

/// The cells that some access of some of the programs covers, and those of escaping buffers.
#[derive(Debug)]
pub struct Grid {
    cells: Vec<Cell>,
    target: &'static Target,
}

/// A physical footprint: partitions, and bytes counted from the start of a partition of PSUM.
pub type Footprint = (Interval, Vec<Interval>);

/// Where `access` lies; `None` where it is not in PSUM, not placed or not inside the memory.
pub fn footprint(program: &Program, access: AccessId, target: &Target) -> Option<Footprint> {
    let relative = program.access(access);
    let alloc = program.alloc(relative.alloc);
    place(alloc, relative.partitions, program.bytes(access), target)
}

/// The banks of the zero region of `matmul`: those of the code written, or else the smallest window
/// around its destination. `None` where the destination has no place.
pub fn zero_window(program: &Program, matmul: &Matmul, target: &Target) -> Option<Interval> {
    let (_, spans) = footprint(program, matmul.dst, target)?;
    let first = spans.first()?.start / target.bank_bytes;
    let last = (spans.last()?.end - 1) / target.bank_bytes;
    let widest = target.max_zero_region_code;
    let window = match matmul.zero_region {
        Some(code) => ZeroWindow::of_bank(first, code.min(widest)),
        None => ZeroWindow::covering(first, last, target.banks, widest)
            .unwrap_or(ZeroWindow::of_bank(first, widest)),
    };
    Some(window.banks())
}

fn place(alloc: &Alloc, rows: Interval, spans: &[Interval], target: &Target) -> Option<Footprint> {
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
        (end <= limit).then_some(Interval::new(start, end))
    };
    let partitions = shift(rows, place.partition, target.partitions)?;
    let bytes: Option<Vec<Interval>> = spans
        .iter()
        .map(|&span| shift(span, base, target.partition_bytes()))
        .collect();
    Some((partitions, bytes?))
}

impl Grid {
    /// The grid of `programs`. Accesses without a place have no cells.
    pub fn new(programs: &[&Program], target: &'static Target) -> Self {
        let mut footprints: Vec<Footprint> = Vec::new();
        let mut partitions = vec![0, target.partitions];
        let mut bytes: Vec<u32> = (0..=target.banks)
            .map(|bank| bank * target.bank_bytes)
            .collect();
        for program in programs {
            let ids = (0..program.accesses().len()).map(AccessId::new);
            footprints.extend(ids.filter_map(|access| footprint(program, access, target)));
            let escaping = program.allocs().iter().filter(|alloc| alloc.escapes);
            footprints.extend(escaping.filter_map(|alloc| {
                let rows = Interval::new(0, alloc.partitions);
                place(alloc, rows, &[Interval::new(0, alloc.bytes)], target)
            }));
            for matmul in program.insts().iter().filter_map(|inst| inst.matmul()) {
                let group = matmul.column_group(target);
                partitions.extend([group.start, group.end.min(target.partitions)]);
            }
        }
        for (rows, spans) in &footprints {
            partitions.extend([rows.start, rows.end]);
            bytes.extend(spans.iter().flat_map(|span| [span.start, span.end]));
        }
        for points in [&mut partitions, &mut bytes] {
            points.sort_unstable();
            points.dedup();
        }
        let is_used = |partition: u32, byte: u32| {
            footprints.iter().any(|(rows, spans)| {
                rows.contains(partition) && spans.iter().any(|span| span.contains(byte))
            })
        };
        let mut cells = Vec::new();
        for &partition in &partitions {
            for &byte in &bytes {
                if is_used(partition, byte) {
                    cells.push(Cell {
                        partition,
                        bank: byte / target.bank_bytes,
                        byte,
                    });
                }
            }
        }
        Self { cells, target }
    }

    /// Every cell.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The machine.
    pub fn target(&self) -> &'static Target {
        self.target
    }

    /// The cells of every access of `program`, as indices into [`Self::cells`].
    pub fn cells_of_accesses(&self, program: &Program) -> Vec<Vec<usize>> {
        let ids = (0..program.accesses().len()).map(AccessId::new);
        ids.map(|access| match footprint(program, access, self.target) {
            Some((rows, spans)) => self.cells_where(|cell| {
                rows.contains(cell.partition) && spans.iter().any(|span| span.contains(cell.byte))
            }),
            None => Vec::new(),
        })
        .collect()
    }

    /// The cells of the whole of `alloc`.
    pub fn cells_of_alloc(&self, program: &Program, alloc: AllocId) -> Vec<usize> {
        let buffer = program.alloc(alloc);
        let (Space::Psum, Some(place)) = (buffer.space, buffer.placement) else {
            return Vec::new();
        };
        let first =
            u64::from(place.bank) * u64::from(self.target.bank_bytes) + u64::from(place.offset);
        let rows = u64::from(place.partition);
        self.cells_where(|cell| {
            let (partition, byte) = (u64::from(cell.partition), u64::from(cell.byte));
            (rows..rows + u64::from(buffer.partitions)).contains(&partition)
                && (first..first + u64::from(buffer.bytes)).contains(&byte)
        })
    }

    /// The cells that satisfy `holds`.
    pub fn cells_where(&self, holds: impl Fn(&Cell) -> bool) -> Vec<usize> {
        let indexed = self.cells.iter().enumerate();
        indexed
            .filter(|(_, cell)| holds(cell))
            .map(|(index, _)| index)
            .collect()
    }
}
