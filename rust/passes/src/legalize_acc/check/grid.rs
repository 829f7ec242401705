//! The cells of PSUM: it is cut wherever an access, a column group or a memset begins or ends, so that a
//! cell is hit as a whole or not at all.

use pto_ir::{AccessId, AllocId, Interval, MemsetTarget, Op, Plan, Program, Space, Target};

/// A run of neighbouring cells: first, and one past the last.
pub(super) type Run = (u32, u32);

pub(super) struct Grid<'p> {
    program: &'p Program,
    target: &'static Target,
    /// Partition boundaries.
    pub(super) rows: Vec<u32>,
    /// By bank: its first cell, and its byte boundaries from the start of PSUM.
    pub(super) banks: Vec<(u32, Vec<u32>)>,
    cell_count: usize,
    /// By access: its part of [`Self::runs`]; empty until first asked for.
    places: Vec<(u32, u32)>,
    pub(super) runs: Vec<Run>,
}

impl<'p> Grid<'p> {
    pub(super) fn new(program: &'p Program, target: &'static Target, plan: &Plan) -> Self {
        let mut grid = Self {
            program,
            target,
            rows: Vec::new(),
            banks: Vec::new(),
            cell_count: 0,
            places: vec![(0, 0); program.accesses().len()],
            runs: Vec::new(),
        };
        grid.cell_count = grid.cut(plan);
        grid
    }

    /// Cuts PSUM wherever an access, a column group or a memset begins or ends.
    fn cut(&mut self, plan: &Plan) -> usize {
        let Target {
            banks,
            bank_bytes,
            partitions,
            ..
        } = *self.target;
        let mut rows = vec![false; partitions as usize + 1];
        let mut columns: Vec<Vec<u32>> = (0..banks)
            .map(|bank| vec![bank * bank_bytes, (bank + 1) * bank_bytes])
            .collect();
        let mut add = |rectangle: Interval, spans: &mut dyn Iterator<Item = Interval>| {
            rows[rectangle.start as usize] = true;
            rows[rectangle.end as usize] = true;
            for span in spans {
                columns[(span.start / bank_bytes) as usize].push(span.start);
                columns[((span.end - 1) / bank_bytes) as usize].push(span.end);
            }
        };
        for index in 0..self.program.accesses().len() {
            let access = AccessId::new(index);
            let cells = self.program.access(access);
            let facts = self.program.alloc(cells.alloc);
            let spans = self.program.bytes(access);
            let is_inside = cells.partitions.end <= facts.partitions
                && spans.last().is_none_or(|span| span.end <= facts.bytes);
            if let Some((base, row)) = self.base(cells.alloc).filter(|_| is_inside) {
                let mut spans = spans.iter().map(|span| span.shifted(base));
                add(cells.partitions.shifted(row), &mut spans);
            }
        }
        for memset in &plan.memsets {
            if let MemsetTarget::Rectangle {
                alloc,
                partitions,
                bytes,
            } = memset.target
                && let Some((base, row)) = self.base(alloc)
            {
                add(
                    partitions.shifted(row),
                    &mut std::iter::once(bytes.shifted(base)),
                );
            }
        }
        for inst in self.program.insts() {
            match &inst.op {
                Op::Matmul(matmul) if matmul.tile.is_some() => {
                    let group = matmul.column_group(self.target);
                    add(group, &mut std::iter::empty());
                }
                Op::Alloc(alloc) if self.program.holder(inst.block).is_some() => {
                    if let Some((partitions, bytes)) = self.extent(*alloc) {
                        add(partitions, &mut std::iter::once(bytes));
                    }
                }
                _ => {}
            }
        }
        (rows[0], rows[partitions as usize]) = (true, true);
        self.rows = (0..=partitions).filter(|&row| rows[row as usize]).collect();
        let mut next = 0;
        for mut columns in columns {
            columns.sort_unstable();
            columns.dedup();
            let cells = (columns.len() - 1) * (self.rows.len() - 1);
            self.banks.push((next, columns));
            next += cells as u32;
        }
        next as usize
    }

    /// First byte and first partition of a buffer that lies in PSUM.
    pub(super) fn base(&self, alloc: AllocId) -> Option<(u32, u32)> {
        let facts = self.program.alloc(alloc);
        let place = facts.placement.filter(|_| facts.space == Space::Psum)?;
        let base = place
            .bank
            .checked_mul(self.target.bank_bytes)?
            .checked_add(place.offset)?;
        let end = base.checked_add(facts.bytes)?;
        let last = place.partition.checked_add(facts.partitions)?;
        let fits = end <= self.target.partition_bytes() && last <= self.target.partitions;
        fits.then_some((base, place.partition))
    }

    /// The partitions and bytes of PSUM that a buffer takes.
    pub(super) fn extent(&self, alloc: AllocId) -> Option<(Interval, Interval)> {
        let (base, row) = self.base(alloc)?;
        let facts = self.program.alloc(alloc);
        let extent = |start, length| Interval::new(start, start + length);
        Some((extent(row, facts.partitions), extent(base, facts.bytes)))
    }

    /// Whether an access, a column group or a memset may begin or end at a partition.
    pub(super) fn is_boundary(&self, partition: u32) -> bool {
        self.rows.binary_search(&partition).is_ok()
    }

    pub(super) fn cell_count(&self) -> usize {
        self.cell_count
    }

    /// The cells of `access`.
    pub(super) fn runs_of(&mut self, access: AccessId) -> &[Run] {
        let runs = self.place(access);
        &self.runs[runs]
    }

    /// The cells of a rectangle of PSUM.
    pub(super) fn rectangle(&mut self, partitions: Interval, bytes: Interval) -> Vec<Run> {
        let start = self.runs.len();
        self.add_runs(start, partitions, bytes);
        self.runs.drain(start..).collect()
    }

    /// The runs of `access`, as a part of [`Self::runs`].
    pub(super) fn place(&mut self, access: AccessId) -> std::ops::Range<usize> {
        let (start, end) = self.places[access.index()];
        if start < end {
            return start as usize..end as usize;
        }
        let start = self.runs.len();
        let cells = self.program.access(access);
        if let Some((base, row)) = self.base(cells.alloc) {
            for span in self.program.bytes(access) {
                self.add_runs(start, cells.partitions.shifted(row), span.shifted(base));
            }
        }
        self.places[access.index()] = (start as u32, self.runs.len() as u32);
        start..self.runs.len()
    }

    /// Adds runs to the list that begins at `list`.
    fn add_runs(&mut self, list: usize, partitions: Interval, bytes: Interval) {
        let index = |list: &[u32], value: u32| list.partition_point(|&b| b < value) as u32;
        let rows = index(&self.rows, partitions.start)..index(&self.rows, partitions.end);
        for (first, columns) in &self.banks {
            let (Some(&low), Some(&high)) = (columns.first(), columns.last()) else {
                continue;
            };
            let piece = bytes.intersection(Interval::new(low, high));
            if piece.is_empty() {
                continue;
            }
            let width = columns.len() as u32 - 1;
            let (from, to) = (index(columns, piece.start), index(columns, piece.end));
            for row in rows.clone() {
                let start = first + row * width;
                match self.runs[list..].last_mut() {
                    Some(last) if last.1 == start + from => last.1 = start + to,
                    _ => self.runs.push((start + from, start + to)),
                }
            }
        }
    }
}
