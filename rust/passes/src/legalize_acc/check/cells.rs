//! The cells of PSUM during a replay, and what instructions do to them.
//!
//! PSUM is cut into cells wherever an access, a column group or a memset begins or ends, so that a
//! cell is hit as a whole or not at all.

use pto_ir::{
    AccFlags, AccessId, AllocId, InstId, Interval, Matmul, MemsetTarget, Op, Plan, Program, Space,
    Target, Use, UseKind, ZeroWindow,
};

/// What the reference says of a cell, and what PSUM holds unless a START intervened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Nobody wrote it through its buffer; PSUM holds anything.
    Fresh,
    /// As before, and PSUM holds +0.0.
    FreshZero,
    /// It has the value +0.0, and PSUM holds it.
    Zero,
    /// It has a value, and PSUM holds it.
    Valued,
    /// It has a value, and PSUM does not hold it on some machine.
    Lost,
}

/// What STARTs did since the last write. Where one did something, the next PE write overwrites or
/// adds to +0.0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pending {
    /// Nothing on any machine.
    No,
    /// Something on some machine.
    Perhaps,
    /// Something on every machine.
    Certain,
}

#[derive(Clone, Copy)]
struct Cell {
    owner: u32,
    content: Content,
    pending: Pending,
    /// The first START since the last write.
    start: u32,
}

const NOBODY: u32 = u32::MAX;

impl Cell {
    /// Whether nothing that follows can tell the two apart.
    fn is_like(&self, other: &Self) -> bool {
        let start = |cell: &Self| (cell.pending != Pending::No).then_some(cell.start);
        (self.owner, self.content, self.pending) == (other.owner, other.content, other.pending)
            && start(self) == start(other)
    }

    /// Whether a buffer has a value here.
    fn has_value(&self) -> bool {
        let is_value = matches!(
            self.content,
            Content::Valued | Content::Zero | Content::Lost
        );
        is_value && self.owner != NOBODY
    }

    /// From here on the cell belongs to `owner`, which has written nothing.
    fn pass_to(&mut self, owner: u32) {
        self.content = match self.content {
            Content::Zero | Content::FreshZero => Content::FreshZero,
            _ => Content::Fresh,
        };
        self.owner = owner;
    }

    fn started(&mut self, is_certain: bool, start: u32) {
        if self.pending == Pending::No {
            self.start = start;
        }
        let now = if is_certain {
            Pending::Certain
        } else {
            Pending::Perhaps
        };
        self.pending = self.pending.max(now);
    }

    /// Where a pending bit goes away, the old content is back, or +0.0 is there instead.
    fn accumulated(&mut self, is_certain: bool) {
        if self.pending == Pending::No {
            return;
        }
        if self.content == Content::Valued {
            self.content = Content::Lost;
        }
        self.pending = if is_certain {
            Pending::No
        } else {
            Pending::Perhaps
        };
    }

    /// A PE write of the instruction `inst`; whether it plainly does what it should.
    fn pe_write(&mut self, overwrites: bool, inst: u32) -> bool {
        let is_right = match (self.content, self.pending) {
            // To overwrite with a sum and to add it to +0.0 are the same. But a value that is added
            // to should have been safe from the STARTs of others.
            (Content::FreshZero, _) | (Content::Zero, Pending::No) => true,
            (Content::Zero, _) => overwrites || self.start == inst,
            (Content::Fresh, pending) => pending == Pending::Certain,
            (Content::Valued, Pending::No) => !overwrites,
            (Content::Valued | Content::Lost, pending) => overwrites && pending == Pending::Certain,
        };
        self.content = Content::Valued;
        self.pending = Pending::No;
        is_right
    }
}

/// A run of neighbouring cells: first, and one past the last.
type Run = (u32, u32);

/// What changed, as it was before.
#[derive(Default)]
struct Log {
    cells: Vec<(u32, Cell)>,
    /// Buffers, and whether they were displaced.
    displaced: Vec<(u32, bool)>,
}

/// How much was logged at some time.
#[derive(Clone, Copy)]
pub(super) struct Logged {
    cells: usize,
    displaced: usize,
}

pub(super) struct Replay<'p> {
    program: &'p Program,
    target: &'static Target,
    /// Partition boundaries.
    rows: Vec<u32>,
    /// By bank: its first cell, and its byte boundaries from the start of PSUM.
    banks: Vec<(u32, Vec<u32>)>,
    cells: Vec<Cell>,
    /// By access: its part of [`Self::runs`]; empty until first asked for.
    places: Vec<(u32, u32)>,
    runs: Vec<Run>,
    /// By buffer: whether another one took a cell in which it had a value.
    displaced: Vec<bool>,
    /// Where something is repeated: what changed.
    log: Option<Log>,
    /// Whether a buffer may take a cell in which another one has a value.
    pub(super) may_displace: bool,
}

impl<'p> Replay<'p> {
    pub(super) fn new(program: &'p Program, target: &'static Target, plan: &Plan) -> Self {
        let mut replay = Self {
            program,
            target,
            rows: Vec::new(),
            banks: Vec::new(),
            cells: Vec::new(),
            places: vec![(0, 0); program.accesses().len()],
            runs: Vec::new(),
            displaced: vec![false; program.allocs().len()],
            log: None,
            may_displace: true,
        };
        let cell_count = replay.cut(plan);
        let unknown = Cell {
            owner: NOBODY,
            content: Content::Fresh,
            pending: Pending::Perhaps,
            start: NOBODY,
        };
        replay.cells = vec![unknown; cell_count];
        replay
    }

    /// From here on changes are logged.
    pub(super) fn start_log(&mut self) {
        self.log = Some(Log::default());
    }

    pub(super) fn end_log(&mut self) {
        self.log = None;
    }

    /// How much was logged so far.
    pub(super) fn logged(&self) -> Logged {
        let log = self.log.as_ref();
        Logged {
            cells: log.map_or(0, |log| log.cells.len()),
            displaced: log.map_or(0, |log| log.displaced.len()),
        }
    }

    /// Whether everything is as it was when so much was `logged`.
    pub(super) fn is_as_at(&self, logged: Logged) -> bool {
        let Some(log) = &self.log else { return false };
        let cells = first_entries(&log.cells[logged.cells..]);
        let displaced = first_entries(&log.displaced[logged.displaced..]);
        let is_like = |(cell, before): &(u32, Cell)| self.cells[*cell as usize].is_like(before);
        cells.iter().all(is_like)
            && displaced
                .iter()
                .all(|&(alloc, before)| self.displaced[alloc as usize] == before)
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
    fn extent(&self, alloc: AllocId) -> Option<(Interval, Interval)> {
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
        self.cells.len()
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
    fn place(&mut self, access: AccessId) -> std::ops::Range<usize> {
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

    pub(super) fn matmul(
        &mut self,
        id: InstId,
        matmul: &Matmul,
        flags: AccFlags,
        starts: bool,
        region: u8,
    ) -> bool {
        let inst = id.index() as u32;
        let access = self.program.access(matmul.dst);
        if starts || flags.accumulates() {
            let Some((base, row)) = self.base(access.alloc) else {
                return false;
            };
            let first = self
                .program
                .bytes(matmul.dst)
                .first()
                .map_or(0, |span| span.start);
            let bank = (base + first) / self.target.bank_bytes;
            let group = matmul.column_group(self.target);
            let window = ZeroWindow::of_bank(bank, region);
            let own = access.partitions.shifted(row);
            self.region(inst, starts, [group, own], window);
        }
        let owner = access.alloc.index() as u32;
        let overwrites = matmul.accumulator.is_none();
        self.change(matmul.dst, owner, |cell| cell.pe_write(overwrites, inst))
    }

    /// START or ACCUMULATE, before the write of the instruction itself.
    fn region(&mut self, inst: u32, starts: bool, [group, own]: [Interval; 2], window: ZeroWindow) {
        let reach = group.hull(own);
        let banks = window.banks();
        for bank in banks.start..banks.end.min(self.target.banks) {
            let (first, columns) = &self.banks[bank as usize];
            let width = columns.len() - 1;
            for (row, pair) in self.rows.windows(2).enumerate() {
                let rows = Interval::new(pair[0], pair[1]);
                if !reach.covers(rows) {
                    continue;
                }
                let is_certain = own.covers(rows) && group.covers(rows);
                let start = *first as usize + row * width;
                let run = (start as u32, (start + width) as u32);
                note(&mut self.log, &self.cells, run);
                for cell in &mut self.cells[start..start + width] {
                    if starts {
                        cell.started(is_certain, inst);
                    } else {
                        cell.accumulated(is_certain);
                    }
                }
            }
        }
    }

    /// A buffer begins a life: all its cells are its own, and fresh. A value of another buffer there is lost.
    pub(super) fn renew(&mut self, alloc: AllocId) -> bool {
        let Some((partitions, bytes)) = self.extent(alloc) else {
            return false;
        };
        let owner = alloc.index() as u32;
        for run in self.rectangle(partitions, bytes) {
            note(&mut self.log, &self.cells, run);
            for cell in run.0..run.1 {
                let cell = &mut self.cells[cell as usize];
                if cell.owner != owner && cell.has_value() {
                    displace(&mut self.displaced, &mut self.log, cell.owner, true);
                }
                cell.pass_to(owner);
            }
        }
        displace(&mut self.displaced, &mut self.log, owner, false);
        true
    }

    /// Lets `act` loose on every cell of `access`, now owned by `owner`; whether all went well.
    fn change(&mut self, access: AccessId, owner: u32, act: impl Fn(&mut Cell) -> bool) -> bool {
        self.place(access)
            .all(|run| self.change_run(self.runs[run], owner, &act))
    }

    fn change_run(&mut self, run: Run, owner: u32, act: impl Fn(&mut Cell) -> bool) -> bool {
        note(&mut self.log, &self.cells, run);
        (run.0..run.1).all(|cell| self.pass(cell, owner) && act(&mut self.cells[cell as usize]))
    }

    /// Passes a cell to the buffer that writes it. A buffer that lost a cell with a value to another one
    /// may not come back for more: which of its cells are fresh is not known any more.
    fn pass(&mut self, cell: u32, owner: u32) -> bool {
        let cell = &mut self.cells[cell as usize];
        if cell.owner == owner {
            return true;
        }
        if cell.has_value() {
            if !self.may_displace {
                return false;
            }
            displace(&mut self.displaced, &mut self.log, cell.owner, true);
        }
        cell.pass_to(owner);
        !self.displaced[owner as usize]
    }

    /// Another engine: it reads all it reads before it writes.
    pub(super) fn plain(&mut self, uses: &[Use]) -> bool {
        let program = self.program;
        let owner = |used: &Use| program.access(used.access).alloc;
        let is_psum = |used: &&Use| program.alloc(owner(used)).space == Space::Psum;
        for used in uses.iter().filter(is_psum) {
            if used.kind == UseKind::Read && !self.read(used.access, owner(used).index() as u32) {
                return false;
            }
        }
        for used in uses.iter().filter(is_psum) {
            let content = match used.kind {
                UseKind::Read => continue,
                UseKind::WriteZero => Content::Zero,
                UseKind::Write => Content::Valued,
                UseKind::PeOverwrite | UseKind::PeAccumulate => return false,
            };
            let is_right = self.change(used.access, owner(used).index() as u32, |cell| {
                cell.content = content;
                cell.pending = Pending::No;
                true
            });
            if !is_right {
                return false;
            }
        }
        true
    }

    fn read(&mut self, access: AccessId, owner: u32) -> bool {
        let runs = self.place(access);
        self.runs[runs].iter().all(|&(from, to)| {
            self.cells[from as usize..to as usize].iter().all(|cell| {
                cell.owner == owner
                    && matches!(cell.content, Content::Valued | Content::Zero)
                    && cell.pending == Pending::No
            })
        })
    }

    /// A memset that an earlier legalization inserted: as one of the plan, before what `rest` holds.
    pub(super) fn inserted(&mut self, uses: &[Use], rest: &[InstId]) -> bool {
        let next = rest.iter().find(|&&id| !self.program.inst(id).inserted);
        match (uses, next) {
            ([used], Some(&next)) if used.kind == UseKind::WriteZero => {
                self.clear(next, MemsetTarget::Access(used.access))
            }
            _ => false,
        }
    }

    /// A memset of the plan before `before`. It is no part of the meaning: a value that it destroys
    /// must be one that the instruction overwrites.
    pub(super) fn clear(&mut self, before: InstId, memset: MemsetTarget) -> bool {
        let Some(matmul) = self.program.inst(before).matmul() else {
            return false;
        };
        // A `tmatmul` overwrites what is cleared if all of that is its destination.
        let overwrites = matmul.accumulator.is_none()
            && match memset {
                MemsetTarget::Access(access) => access == matmul.dst,
                MemsetTarget::Rectangle { .. } | MemsetTarget::Relay => true,
            };
        let act = |cell: &mut Cell| {
            let is_fresh = matches!(cell.content, Content::Fresh | Content::FreshZero);
            cell.content = Content::FreshZero;
            cell.pending = Pending::No;
            is_fresh || overwrites
        };
        match memset {
            MemsetTarget::Access(access) => {
                let owner = self.program.access(access).alloc.index() as u32;
                self.change(access, owner, act)
            }
            MemsetTarget::Rectangle {
                alloc,
                partitions,
                bytes,
            } => {
                let Some((base, row)) = self.base(alloc) else {
                    return false;
                };
                let owner = alloc.index() as u32;
                let runs = self.rectangle(partitions.shifted(row), bytes.shifted(base));
                runs.into_iter().all(|run| self.change_run(run, owner, act))
            }
            MemsetTarget::Relay => true,
        }
    }
}

/// Logs a run of cells that are about to change.
fn note(log: &mut Option<Log>, cells: &[Cell], (from, to): Run) {
    if let Some(log) = log {
        log.cells
            .extend((from..to).map(|cell| (cell, cells[cell as usize])));
    }
}

/// Marks a buffer as displaced, or not any more.
fn displace(displaced: &mut [bool], log: &mut Option<Log>, alloc: u32, is_displaced: bool) {
    let before = std::mem::replace(&mut displaced[alloc as usize], is_displaced);
    if let Some(log) = log.as_mut().filter(|_| before != is_displaced) {
        log.displaced.push((alloc, before));
    }
}

/// The first entry of each key: how it was before.
fn first_entries<T: Copy>(entries: &[(u32, T)]) -> Vec<(u32, T)> {
    let mut entries = entries.to_vec();
    // Sorting keeps the order of one key's entries.
    entries.sort_by_key(|&(key, _)| key);
    entries.dedup_by_key(|&mut (key, _)| key);
    entries
}
