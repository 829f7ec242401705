//! The cells of PSUM during a replay, and what instructions do to them.

use pto_ir::{
    AccFlags, AccessId, AllocId, InstId, Interval, Matmul, MemsetTarget, Plan, Program, Space,
    Target, Use, UseKind, ZeroWindow,
};

use super::grid::{Grid, Run};

/// What the reference says of a cell, and what PSUM holds unless a START intervened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Nobody wrote it through its buffer; PSUM holds anything.
    Fresh,
    /// As before, and PSUM holds +0.0.
    FreshZero,
    /// It has the value +0.0, and PSUM holds it.
    Zero,
    /// It has a value, and PSUM holds it.
    Valued,
    /// It is fresh and PSUM holds anything, or it has a value and PSUM holds that.
    Perhaps,
    /// It has a value, and PSUM does not hold it on some machine.
    Lost,
}

/// What STARTs did since the last write. Where one did something, the next PE write overwrites or
/// adds to +0.0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pending {
    /// Nothing on any machine.
    No,
    /// Something on some machine.
    Perhaps,
    /// Something on every machine.
    Certain,
}

#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) owner: u32,
    pub(super) content: Content,
    pub(super) pending: Pending,
    /// The first START since the last write.
    pub(super) start: u32,
}

pub(super) const NOBODY: u32 = u32::MAX;

impl Cell {
    /// Whether nothing that follows can tell the two apart.
    fn is_like(&self, other: &Self) -> bool {
        let start = |cell: &Self| (cell.pending != Pending::No).then_some(cell.start);
        (self.owner, self.content, self.pending) == (other.owner, other.content, other.pending)
            && start(self) == start(other)
    }

    /// Whether a buffer has a value here.
    pub(super) fn has_value(&self) -> bool {
        let is_value = !matches!(self.content, Content::Fresh | Content::FreshZero);
        is_value && self.owner != NOBODY
    }

    /// From here on the cell belongs to `owner`, which has written nothing.
    pub(super) fn pass_to(&mut self, owner: u32) {
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
        if matches!(self.content, Content::Valued | Content::Perhaps) {
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
            (Content::Valued | Content::Perhaps | Content::Lost, pending) => {
                overwrites && pending == Pending::Certain
            }
        };
        self.content = Content::Valued;
        self.pending = Pending::No;
        is_right
    }
}

/// What changed, as it was before.
#[derive(Default)]
pub(super) struct Log {
    pub(super) cells: Vec<(u32, Cell)>,
    /// Buffers, and whether they were displaced.
    pub(super) displaced: Vec<(u32, bool)>,
}

/// How much was logged at some time.
#[derive(Clone, Copy)]
pub(super) struct Logged {
    pub(super) cells: usize,
    pub(super) displaced: usize,
}

pub(super) struct Replay<'p> {
    program: &'p Program,
    target: &'static Target,
    grid: Grid<'p>,
    pub(super) cells: Vec<Cell>,
    /// By buffer: whether another one took a cell in which it had a value.
    pub(super) displaced: Vec<bool>,
    /// Where something is repeated, or may not run: what changed.
    pub(super) log: Option<Log>,
    /// Whether a buffer may take a cell in which another one has a value.
    pub(super) may_displace: bool,
}

impl<'p> Replay<'p> {
    pub(super) fn new(program: &'p Program, target: &'static Target, plan: &Plan) -> Self {
        let unknown = Cell {
            owner: NOBODY,
            content: Content::Fresh,
            pending: Pending::Perhaps,
            start: NOBODY,
        };
        let grid = Grid::new(program, target, plan);
        Self {
            program,
            target,
            cells: vec![unknown; grid.cell_count()],
            grid,
            displaced: vec![false; program.allocs().len()],
            log: None,
            may_displace: true,
        }
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
            let Some((base, row)) = self.grid.base(access.alloc) else {
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
            let (first, columns) = &self.grid.banks[bank as usize];
            let width = columns.len() - 1;
            for (row, pair) in self.grid.rows.windows(2).enumerate() {
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
        let Some((partitions, bytes)) = self.grid.extent(alloc) else {
            return false;
        };
        let owner = alloc.index() as u32;
        for run in self.grid.rectangle(partitions, bytes) {
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
        self.grid
            .place(access)
            .all(|run| self.change_run(self.grid.runs[run], owner, &act))
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

    /// Whether `owner` finds its value, where it has one. Nobody can tell what is right where it has none.
    fn read(&mut self, access: AccessId, owner: u32) -> bool {
        let is_undefined = |cell: &Cell| match cell.content {
            // It has no value in a cell that others have, if it lost none to them.
            _ if cell.owner != owner => !self.displaced[owner as usize],
            content => matches!(content, Content::Fresh | Content::FreshZero),
        };
        let is_held = |cell: &Cell| {
            matches!(
                cell.content,
                Content::Valued | Content::Zero | Content::Perhaps
            ) && cell.pending == Pending::No
        };
        let runs = self.grid.place(access);
        self.grid.runs[runs].iter().all(|&(from, to)| {
            let mut cells = self.cells[from as usize..to as usize].iter();
            cells.all(|cell| is_undefined(cell) || is_held(cell))
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
        // A `tmatmul` overwrites what is cleared if all of that is its destination.
        let overwrites = self.program.inst(before).matmul().is_some_and(|matmul| {
            matmul.accumulator.is_none()
                && match memset {
                    MemsetTarget::Access(access) => access == matmul.dst,
                    MemsetTarget::Rectangle { .. } | MemsetTarget::Relay => true,
                }
        });
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
                let Some((base, row)) = self.grid.base(alloc) else {
                    return false;
                };
                let owner = alloc.index() as u32;
                let runs = self
                    .grid
                    .rectangle(partitions.shifted(row), bytes.shifted(base));
                runs.into_iter().all(|run| self.change_run(run, owner, act))
            }
            MemsetTarget::Relay => true,
        }
    }
}

/// Logs a run of cells that are about to change.
pub(super) fn note(log: &mut Option<Log>, cells: &[Cell], (from, to): Run) {
    if let Some(log) = log {
        log.cells
            .extend((from..to).map(|cell| (cell, cells[cell as usize])));
    }
}

/// Marks a buffer as displaced, or not any more.
pub(super) fn displace(
    displaced: &mut [bool],
    log: &mut Option<Log>,
    alloc: u32,
    is_displaced: bool,
) {
    let before = std::mem::replace(&mut displaced[alloc as usize], is_displaced);
    if let Some(log) = log.as_mut().filter(|_| before != is_displaced) {
        log.displaced.push((alloc, before));
    }
}

/// The first entry of each key: how it was before.
pub(super) fn first_entries<T: Copy>(entries: &[(u32, T)]) -> Vec<(u32, T)> {
    let mut entries = entries.to_vec();
    // Sorting keeps the order of one key's entries.
    entries.sort_by_key(|&(key, _)| key);
    entries.dedup_by_key(|&mut (key, _)| key);
    entries
}
