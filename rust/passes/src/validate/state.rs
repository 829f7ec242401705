//! Both sides of the comparison: buffers under the reference meaning, banks under the machines.

use std::collections::BTreeMap;
use std::rc::Rc;

use pto_ir::{AllocId, Interval, Origin as Source, Program, Space, Target};

use super::place::Places;
use super::rects::Rects;
use super::value::{Origin, Value, Values};

/// The most machines that are run at once.
pub(super) const MAX_MACHINES: usize = 6;
/// No instruction.
pub(super) const NONE: u32 = u32::MAX;

/// A cell of a buffer under the reference meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BufferCell {
    /// What it holds. A fresh cell counts as zero: the first sum added to it is its value.
    pub(super) value: Value,
    /// Some path leaves it fresh.
    pub(super) may_be_fresh: bool,
    /// Some path writes it.
    pub(super) may_be_written: bool,
    /// For a cell that only some paths write: what each machine holds where the paths met, if that
    /// was right on the paths that write it. On the others it holds whatever it likes.
    pub(super) seen: [Value; MAX_MACHINES],
    /// The last instruction that wrote it.
    pub(super) writer: u32,
}

impl BufferCell {
    const FRESH: Self = Self {
        value: Value::ZERO,
        may_be_fresh: true,
        may_be_written: false,
        seen: [Value::POISON; MAX_MACHINES],
        writer: NONE,
    };

    /// Whether some paths write it and some do not.
    pub(super) const fn is_mixed(&self) -> bool {
        self.may_be_fresh && self.may_be_written
    }

    /// What machine number `machine` must hold when the cell is read; nothing for a fresh cell.
    pub(super) fn expected(&self, machine: usize) -> Option<Value> {
        match (self.may_be_fresh, self.may_be_written) {
            (_, false) => None,
            (false, true) => Some(self.value),
            (true, true) => Some(self.seen[machine]),
        }
    }

    /// A cell that `writer` wrote.
    pub(super) const fn written(value: Value, writer: u32) -> Self {
        Self {
            value,
            may_be_fresh: false,
            may_be_written: true,
            seen: [Value::POISON; MAX_MACHINES],
            writer,
        }
    }
}

/// A cell of PSUM on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BankCell {
    /// What a read gives.
    pub(super) values: [Value; MAX_MACHINES],
    /// What the next sum is added to: zero where the pending bit is set.
    pub(super) bases: [Value; MAX_MACHINES],
    /// The machines whose pending bit is set, and those on which that depends on the path. Kept only
    /// for machines on which the bit outlives writes of other engines.
    pub(super) pending: u8,
    pub(super) unsure: u8,
    /// The last instruction that wrote it.
    pub(super) writer: u32,
}

impl BankCell {
    /// Another engine writes `value`. Where the pending bit stays, the next sum overwrites all the
    /// same; where it may stay, the next sum is added to something `unsure`.
    pub(super) fn write(&mut self, value: Value, unsure: Value, writer: u32) {
        self.values = [value; MAX_MACHINES];
        self.writer = writer;
        for (index, base) in self.bases.iter_mut().enumerate() {
            *base = match (self.pending >> index & 1, self.unsure >> index & 1) {
                _ if value == Value::ZERO => value,
                (1, _) => Value::ZERO,
                (_, 1) => unsure,
                _ => value,
            };
        }
    }
}

/// The state between two instructions.
#[derive(Clone)]
pub(super) struct State {
    /// The buffers in PSUM of which something was written; all others are fresh.
    pub(super) buffers: BTreeMap<AllocId, Rc<Rects<BufferCell>>>,
    pub(super) banks: Vec<Rc<Rects<BankCell>>>,
}

/// All of a buffer in its own coordinates.
fn extent(program: &Program, alloc: AllocId) -> (Interval, Interval) {
    let buffer = program.alloc(alloc);
    (
        Interval::new(0, buffer.partitions),
        Interval::new(0, buffer.bytes),
    )
}

/// A buffer that nobody wrote.
fn fresh(program: &Program, alloc: AllocId) -> Rects<BufferCell> {
    let (partitions, bytes) = extent(program, alloc);
    Rects::new(partitions, bytes, BufferCell::FRESH)
}

impl State {
    /// The state at the start: fresh buffers and poisoned banks, but for what arguments hold. Where
    /// the bit outlives writes it may be set from before.
    pub(super) fn new(
        program: &Program,
        places: &Places,
        target: &Target,
        sticky: u8,
        values: &mut Values,
    ) -> Self {
        let undefined = BankCell {
            values: [Value::POISON; MAX_MACHINES],
            bases: [Value::POISON; MAX_MACHINES],
            pending: 0,
            unsure: sticky,
            writer: NONE,
        };
        let partitions = Interval::new(0, target.partitions);
        let bytes = Interval::new(0, target.bank_bytes);
        let bank = Rc::new(Rects::new(partitions, bytes, undefined));
        let mut state = Self {
            buffers: BTreeMap::new(),
            banks: vec![bank; target.banks as usize],
        };
        for (index, alloc) in program.allocs().iter().enumerate() {
            let id = AllocId::new(index);
            let is_argument = matches!(alloc.origin, Source::Argument { fresh: false, .. });
            if is_argument && alloc.space == Space::Psum {
                let held = values.fresh(Origin::Argument(id));
                let (partitions, bytes) = extent(program, id);
                let cell = BufferCell::written(held, NONE);
                let cells = Rects::new(partitions, bytes, cell);
                state.buffers.insert(id, Rc::new(cells));
                let unsure = values.fresh(Origin::Meeting);
                for piece in places.of_alloc(id) {
                    state
                        .bank_mut(piece.bank)
                        .change(piece.partitions, piece.bytes, |cell| {
                            cell.write(held, unsure, NONE);
                        });
                }
            }
        }
        state
    }

    /// Makes every cell of `alloc` fresh.
    pub(super) fn renew(&mut self, alloc: AllocId) {
        self.buffers.remove(&alloc);
    }

    /// The cells of a buffer of which something was written.
    pub(super) fn buffer(&self, alloc: AllocId) -> Option<&Rects<BufferCell>> {
        self.buffers.get(&alloc).map(|cells| &**cells)
    }

    /// The cells of a buffer, be they fresh.
    pub(super) fn all_of(&self, program: &Program, alloc: AllocId) -> Rc<Rects<BufferCell>> {
        let known = self.buffers.get(&alloc).cloned();
        known.unwrap_or_else(|| Rc::new(fresh(program, alloc)))
    }

    /// The cells of a buffer in PSUM, to be changed.
    pub(super) fn buffer_mut(
        &mut self,
        program: &Program,
        alloc: AllocId,
    ) -> Option<&mut Rects<BufferCell>> {
        if program.alloc(alloc).space != Space::Psum {
            return None;
        }
        let cells = self.buffers.entry(alloc);
        Some(Rc::make_mut(
            cells.or_insert_with(|| Rc::new(fresh(program, alloc))),
        ))
    }

    /// The cells of a bank.
    pub(super) fn bank(&self, bank: u32) -> &Rects<BankCell> {
        &self.banks[bank as usize]
    }

    /// The cells of a bank, to be changed.
    pub(super) fn bank_mut(&mut self, bank: u32) -> &mut Rects<BankCell> {
        Rc::make_mut(&mut self.banks[bank as usize])
    }
}
