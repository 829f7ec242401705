//! Both sides of the comparison: buffers under the reference meaning, banks under the machines.

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
    /// By buffer; nothing for those that are not in PSUM.
    pub(super) buffers: Vec<Option<Rc<Rects<BufferCell>>>>,
    pub(super) banks: Vec<Rc<Rects<BankCell>>>,
}

/// All of a buffer in its own coordinates.
pub(super) fn extent(program: &Program, alloc: AllocId) -> (Interval, Interval) {
    let buffer = program.alloc(alloc);
    (
        Interval::new(0, buffer.partitions),
        Interval::new(0, buffer.bytes),
    )
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
            buffers: vec![None; program.allocs().len()],
            banks: vec![bank; target.banks as usize],
        };
        for (index, alloc) in program.allocs().iter().enumerate() {
            let id = AllocId::new(index);
            if alloc.space != Space::Psum {
                continue;
            }
            state.renew(program, id);
            if let Source::Argument { fresh: false, .. } = alloc.origin {
                let held = values.fresh(Origin::Argument(id));
                let (partitions, bytes) = extent(program, id);
                let cell = BufferCell::written(held, NONE);
                state.buffers[index] = Some(Rc::new(Rects::new(partitions, bytes, cell)));
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
    pub(super) fn renew(&mut self, program: &Program, alloc: AllocId) {
        let (partitions, bytes) = extent(program, alloc);
        let rects = Rects::new(partitions, bytes, BufferCell::FRESH);
        self.buffers[alloc.index()] = Some(Rc::new(rects));
    }

    /// The cells of a buffer in PSUM.
    pub(super) fn buffer(&self, alloc: AllocId) -> Option<&Rects<BufferCell>> {
        self.buffers[alloc.index()].as_deref()
    }

    /// The cells of a buffer in PSUM, to be changed.
    pub(super) fn buffer_mut(&mut self, alloc: AllocId) -> Option<&mut Rects<BufferCell>> {
        self.buffers[alloc.index()].as_mut().map(Rc::make_mut)
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
