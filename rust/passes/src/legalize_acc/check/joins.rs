//! Where paths meet: PSUM as any of them leaves it.

use super::cells::{Cell, Content, Logged, NOBODY, Pending, Replay, displace, first_entries, note};

/// How a path leaves PSUM: what it changed, ascending.
#[derive(Default)]
pub(super) struct End {
    cells: Vec<(u32, Cell)>,
    displaced: Vec<(u32, bool)>,
}

impl End {
    fn cell(&self, cell: u32) -> Option<Cell> {
        let found = self.cells.binary_search_by_key(&cell, |&(key, _)| key);
        found.ok().map(|index| self.cells[index].1)
    }

    fn displaced(&self, alloc: u32) -> Option<bool> {
        let found = self.displaced.binary_search_by_key(&alloc, |&(key, _)| key);
        found.ok().map(|index| self.displaced[index].1)
    }
}

impl Replay<'_> {
    /// What changed since so much was `logged`.
    pub(super) fn end(&self, logged: Logged) -> End {
        let Some(log) = &self.log else {
            return End::default();
        };
        let cells = first_entries(&log.cells[logged.cells..]).into_iter();
        let displaced = first_entries(&log.displaced[logged.displaced..]).into_iter();
        End {
            cells: cells
                .map(|(cell, _)| (cell, self.cells[cell as usize]))
                .collect(),
            displaced: displaced
                .map(|(alloc, _)| (alloc, self.displaced[alloc as usize]))
                .collect(),
        }
    }

    /// Everything is again as it was when so much was `logged`.
    pub(super) fn take_back(&mut self, logged: Logged) {
        let Some(log) = &mut self.log else { return };
        for (cell, before) in log.cells.drain(logged.cells..).rev() {
            self.cells[cell as usize] = before;
        }
        for (alloc, before) in log.displaced.drain(logged.displaced..).rev() {
            self.displaced[alloc as usize] = before;
        }
    }

    /// PSUM as any of `ends` leaves it.
    pub(super) fn join(&mut self, ends: &[End]) {
        // First the buffers: who lost a value on some path is nobody's choice as owner.
        for alloc in keys(ends.iter().flat_map(|end| &end.displaced)) {
            let before = self.displaced[alloc as usize];
            let mut displaced = ends.iter().map(|end| end.displaced(alloc));
            let is_displaced = displaced.any(|end| end.unwrap_or(before));
            displace(&mut self.displaced, &mut self.log, alloc, is_displaced);
        }
        for cell in keys(ends.iter().flat_map(|end| &end.cells)) {
            let before = self.cells[cell as usize];
            let of = |end: &End| end.cell(cell).unwrap_or(before);
            let owner = self.owner(ends.iter().map(of));
            let passed = ends.iter().map(|end| of(end).owned_by(owner));
            let joined = passed.reduce(Cell::join).unwrap_or(before);
            note(&mut self.log, &self.cells, (cell, cell + 1));
            self.cells[cell as usize] = joined;
        }
    }

    /// The buffer that a cell belongs to from here on: the only one that has a value there which it has lost
    /// on no path. It wrote nothing there on the paths that leave the cell to others. If several have a value,
    /// all lose it.
    fn owner(&mut self, cells: impl Iterator<Item = Cell> + Clone) -> u32 {
        let mut owners = cells.clone().map(|cell| cell.owner);
        let first = owners.next().unwrap_or(NOBODY);
        if owners.all(|owner| owner == first) {
            return first;
        }
        let displaced = &self.displaced;
        let keeps = |cell: &Cell| cell.has_value() && !displaced[cell.owner as usize];
        let mut keepers = cells.clone().filter(keeps).map(|cell| cell.owner);
        let Some(keeper) = keepers.next() else {
            return NOBODY;
        };
        if keepers.all(|owner| owner == keeper) {
            return keeper;
        }
        for cell in cells.filter(Cell::has_value) {
            displace(&mut self.displaced, &mut self.log, cell.owner, true);
        }
        NOBODY
    }
}

/// The keys of `entries`, each once, ascending.
fn keys<'a, T: 'a>(entries: impl Iterator<Item = &'a (u32, T)>) -> Vec<u32> {
    let mut keys: Vec<u32> = entries.map(|&(key, _)| key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

impl Cell {
    fn owned_by(mut self, owner: u32) -> Self {
        if self.owner != owner {
            self.pass_to(owner);
        }
        self
    }

    /// One of two cells of one owner.
    fn join(self, other: Self) -> Self {
        let is_same = self.start == other.start;
        let (pending, start) = match (self.pending, other.pending) {
            (Pending::No, Pending::No) => (Pending::No, NOBODY),
            (mine, theirs) if mine == theirs => (mine, if is_same { self.start } else { NOBODY }),
            _ => (Pending::Perhaps, NOBODY),
        };
        Self {
            owner: self.owner,
            content: self.content.join(other.content),
            pending,
            start,
        }
    }
}

impl Content {
    /// One of two. What is undefined on one path may be read there: nobody can tell what it should be.
    fn join(self, other: Self) -> Self {
        use Content::{Fresh, FreshZero, Lost, Perhaps, Valued, Zero};
        match (self, other) {
            (mine, theirs) if mine == theirs => mine,
            (Lost, _) | (_, Lost) => Lost,
            (Fresh, FreshZero) | (FreshZero, Fresh) => Fresh,
            (Fresh | Perhaps, _) | (_, Fresh | Perhaps) => Perhaps,
            (Zero, FreshZero) | (FreshZero, Zero) => Zero,
            (Valued, _) | (_, Valued) | (FreshZero | Zero, FreshZero | Zero) => Valued,
        }
    }
}
