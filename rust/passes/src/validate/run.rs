//! One instruction on both sides.

use pto_ir::{
    AccessId, AllocId, InstId, Interval, Matmul, Op, Program, Target, UseKind, ZeroWindow,
};

use crate::verify_acc::flow::{Graph, Node};

use super::align::Pair;
use super::place::{Piece, Places};
use super::state::{BankCell, BufferCell, MAX_MACHINES, NONE, State};
use super::value::{Origin, Value, Values};

/// What START does, and on which partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// The name printed in diagnostics.
    pub(super) name: &'static str,
    /// START sets the region to zero at once.
    pub(super) is_eager: bool,
    /// The pending bit outlives writes of other engines.
    pub(super) is_sticky: bool,
    /// Regions have the partitions of the column group.
    pub(super) group_extent: bool,
}

/// A read that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// The reading instruction of the original and of the result; nothing for the end of the
    /// function.
    pub(super) read: Option<(InstId, InstId)>,
    pub(super) alloc: AllocId,
    pub(super) partitions: Interval,
    pub(super) bytes: Interval,
    pub(super) machine: usize,
    pub(super) expected: Value,
    pub(super) found: Value,
    /// The last writers on both sides, or [`NONE`].
    pub(super) expected_writer: u32,
    pub(super) found_writer: u32,
}

/// The two programs and the machines.
pub(super) struct Sides<'a> {
    pub(super) before: &'a Program,
    pub(super) after: &'a Program,
    pub(super) target: &'a Target,
    pub(super) machines: &'a [Machine],
    pub(super) new_places: Places,
}

impl Sides<'_> {
    /// The machines on which pending bits outlive writes, one bit each.
    pub(super) fn sticky(&self) -> u8 {
        self.mask(|machine| machine.is_sticky)
    }

    fn mask(&self, holds: impl Fn(&Machine) -> bool) -> u8 {
        let indexed = self.machines.iter().enumerate();
        indexed
            .filter(|(_, machine)| holds(machine))
            .fold(0, |mask, (index, _)| mask | 1 << index)
    }

    /// Runs one step, and says where a read differs. `at` is the node of the step in the graph of the
    /// result, where there are several.
    pub(super) fn step(
        &self,
        pair: Pair,
        at: Option<(&Graph, &Node)>,
        state: &mut State,
        values: &mut Values,
    ) -> Option<Mismatch> {
        values.begin_instruction();
        match pair {
            Pair::Before(old) => {
                self.clear_buffers(old, state);
                None
            }
            Pair::After(new) => {
                self.clear_banks(new, state);
                None
            }
            Pair::Both(old, new) => {
                let mismatch = self.reads(old, new, state);
                self.effects(old, new, at, state, values);
                mismatch
            }
        }
    }

    fn clear_buffers(&self, old: InstId, state: &mut State) {
        for used in self.before.uses(old) {
            self.write_buffer(old, used.access, state, |_| Value::ZERO);
        }
    }

    fn clear_banks(&self, new: InstId, state: &mut State) {
        for used in self.after.uses(new) {
            self.write_banks(new, used.access, Value::ZERO, Value::ZERO, state);
        }
    }

    fn effects(
        &self,
        old: InstId,
        new: InstId,
        at: Option<(&Graph, &Node)>,
        state: &mut State,
        values: &mut Values,
    ) {
        match &self.after.inst(new).op {
            Op::Alloc(alloc) | Op::Dealloc(alloc) => {
                state.renew(*alloc);
            }
            Op::Matmul(matmul) => {
                let start_if = match (matmul.start_if, at) {
                    (None, _) => Some(false),
                    (_, Some((graph, node))) => graph.holds(self.after, node, matmul.start_if),
                    (Some(_), None) => None,
                };
                return self.matmul([old, new], matmul, start_if, state, values);
            }
            Op::Call { banks } => self.call(new, banks.unwrap_or(u32::MAX), state, values),
            Op::Region { .. } | Op::Engine | Op::Effects => {}
        }
        let uses = self.before.uses(old).iter().zip(self.after.uses(new));
        for (operand, (was, is)) in uses.enumerate() {
            let (value, unsure) = match was.kind {
                UseKind::Read => continue,
                UseKind::WriteZero => (Value::ZERO, Value::ZERO),
                _ => {
                    let origin = Origin::Data(old, operand);
                    (values.fresh(origin), values.fresh(Origin::Meeting))
                }
            };
            self.write_buffer(old, was.access, state, |_| value);
            self.write_banks(new, is.access, value, unsure, state);
        }
    }

    // The reference meaning.

    fn write_buffer(
        &self,
        old: InstId,
        access: AccessId,
        state: &mut State,
        mut value: impl FnMut(&BufferCell) -> Value,
    ) {
        let of = self.before.access(access);
        let Some(buffer) = state.buffer_mut(self.before, of.alloc) else {
            return;
        };
        for &bytes in self.before.bytes(access) {
            buffer.change(of.partitions, bytes, |cell| {
                *cell = BufferCell::written(value(cell), old.index() as u32);
            });
        }
    }

    // The machines.

    fn write_banks(
        &self,
        new: InstId,
        access: AccessId,
        value: Value,
        unsure: Value,
        state: &mut State,
    ) {
        for piece in self.new_places.of_access(access) {
            state
                .bank_mut(piece.bank)
                .change(piece.partitions, piece.bytes, |cell| {
                    cell.write(value, unsure, new.index() as u32);
                });
        }
    }

    fn call(&self, new: InstId, banks: u32, state: &mut State, values: &mut Values) {
        let (partitions, bytes) = self.whole_bank();
        let unknown = values.fresh(Origin::Data(new, usize::MAX));
        let unsure = values.fresh(Origin::Meeting);
        for bank in (0..self.target.banks).filter(|bank| banks >> bank.min(&31) & 1 == 1) {
            state.bank_mut(bank).change(partitions, bytes, |cell| {
                cell.pending = 0;
                cell.unsure = self.sticky();
                cell.write(unknown, unsure, new.index() as u32);
            });
        }
    }

    fn whole_bank(&self) -> (Interval, Interval) {
        let Target {
            partitions,
            bank_bytes,
            ..
        } = *self.target;
        (Interval::new(0, partitions), Interval::new(0, bank_bytes))
    }

    fn matmul(
        &self,
        [old, new]: [InstId; 2],
        matmul: &Matmul,
        start_if: Option<bool>,
        state: &mut State,
        values: &mut Values,
    ) {
        let flags = matmul.flags.unwrap_or_default();
        if flags.starts() || start_if == Some(true) {
            self.region(matmul, state, |cell, mask| self.start(cell, mask));
        } else if start_if.is_none() {
            values.begin_meeting();
            self.region(matmul, state, |cell, mask| {
                self.maybe_start(cell, mask, values)
            });
        }
        if flags.accumulates() {
            self.region(matmul, state, accumulate);
        }
        for piece in self.new_places.of_access(matmul.dst) {
            state
                .bank_mut(piece.bank)
                .change(piece.partitions, piece.bytes, |cell| {
                    for index in 0..self.machines.len() {
                        cell.values[index] = values.add(cell.bases[index], old);
                    }
                    cell.bases = cell.values;
                    (cell.pending, cell.unsure, cell.writer) = (0, 0, new.index() as u32);
                });
        }
        let overwrites = matmul.accumulator.is_none();
        if let Some(used) = self.before.uses(old).first() {
            self.write_buffer(old, used.access, state, |cell| {
                values.add(if overwrites { Value::ZERO } else { cell.value }, old)
            });
        }
    }

    /// Calls `act` with every cell of the zero region of `matmul` and the machines on which it is
    /// one. Where no region is written it is the smallest around the destination.
    fn region(&self, matmul: &Matmul, state: &mut State, mut act: impl FnMut(&mut BankCell, u8)) {
        let pieces = self.new_places.of_access(matmul.dst);
        let (
            Some(&Piece {
                bank,
                partitions: dst,
                ..
            }),
            Some(last),
        ) = (pieces.first(), pieces.last())
        else {
            return;
        };
        let (banks, widest) = (self.target.banks, self.target.max_zero_region_code);
        let window = match matmul.zero_region {
            Some(code) => ZeroWindow::of_bank(bank, code.min(widest)),
            None => ZeroWindow::covering(bank, last.bank, banks, widest)
                .unwrap_or(ZeroWindow::of_bank(bank, widest)),
        };
        let window = window.banks();
        let (partitions, bytes) = self.whole_bank();
        let group = matmul.column_group(self.target).intersection(partitions);
        let by_group = self.mask(|machine| machine.group_extent);
        let by_dst = self.mask(|machine| !machine.group_extent);
        for bank in window.start..window.end.min(self.target.banks) {
            let cells = state.bank_mut(bank);
            if group == dst {
                cells.change(dst, bytes, |cell| act(cell, by_group | by_dst));
            } else {
                cells.change(group, bytes, |cell| act(cell, by_group));
                cells.change(dst, bytes, |cell| act(cell, by_dst));
            }
        }
    }

    fn start(&self, cell: &mut BankCell, mask: u8) {
        for (index, machine) in self.machines.iter().enumerate() {
            if mask >> index & 1 == 1 {
                cell.bases[index] = Value::ZERO;
                if machine.is_eager {
                    cell.values[index] = Value::ZERO;
                }
            }
        }
        cell.pending |= mask & self.sticky();
        cell.unsure &= !mask;
    }

    fn maybe_start(&self, cell: &mut BankCell, mask: u8, values: &mut Values) {
        for (index, machine) in self.machines.iter().enumerate() {
            if mask >> index & 1 == 1 {
                cell.bases[index] = values.meet(None, &[cell.bases[index], Value::ZERO]);
                if machine.is_eager {
                    cell.values[index] = cell.bases[index];
                }
            }
        }
        cell.unsure |= mask & self.sticky() & !cell.pending;
    }

    // Comparison.

    fn reads(&self, old: InstId, new: InstId, state: &State) -> Option<Mismatch> {
        let reads = self
            .after
            .uses(new)
            .iter()
            .filter(|used| used.kind == UseKind::Read);
        reads
            .filter_map(|used| {
                let alloc = self.after.access(used.access).alloc;
                let place = self.new_places.of_access(used.access);
                self.compare(Some((old, new)), alloc, place, state)
            })
            .next()
    }

    /// The first escaping buffer that differs at the end of the function.
    pub(super) fn end(&self, state: &State) -> Option<Mismatch> {
        let allocs = self
            .before
            .allocs()
            .iter()
            .enumerate()
            .filter(|(_, alloc)| alloc.escapes);
        allocs
            .filter_map(|(index, _)| {
                let id = AllocId::new(index);
                self.compare(None, id, self.new_places.of_alloc(id), state)
            })
            .next()
    }

    /// The first cells in which banks and buffer differ. Fresh cells have no value to differ from.
    fn compare(
        &self,
        read: Option<(InstId, InstId)>,
        alloc: AllocId,
        pieces: &[Piece],
        state: &State,
    ) -> Option<Mismatch> {
        let buffer = state.buffer(alloc)?;
        let mut first: Option<Mismatch> = None;
        for piece in pieces {
            for found in state
                .bank(piece.bank)
                .meeting(piece.partitions, piece.bytes)
            {
                let (partitions, bytes) = piece.in_buffer(found.partitions, found.bytes);
                for wanted in buffer.meeting(partitions, bytes) {
                    let differs = |&machine: &usize| {
                        let expected = wanted.state.expected(machine);
                        expected.is_some_and(|value| value != found.state.values[machine])
                    };
                    let Some(machine) = (0..self.machines.len()).find(differs) else {
                        continue;
                    };
                    let place = (wanted.partitions, wanted.bytes);
                    if first.is_none_or(|first| place < (first.partitions, first.bytes)) {
                        first = Some(Mismatch {
                            read,
                            alloc,
                            partitions: wanted.partitions,
                            bytes: wanted.bytes,
                            machine,
                            expected: wanted.state.value,
                            found: found.state.values[machine],
                            expected_writer: wanted.state.writer,
                            found_writer: found.state.writer,
                        });
                    }
                }
            }
        }
        first
    }
}

fn accumulate(cell: &mut BankCell, mask: u8) {
    for index in (0..MAX_MACHINES).filter(|index| mask >> index & 1 == 1) {
        cell.bases[index] = cell.values[index];
    }
    cell.pending &= !mask;
    cell.unsure &= !mask;
}

/// A site as an instruction.
pub(super) fn site(writer: u32) -> Option<InstId> {
    (writer != NONE).then(|| InstId::new(writer as usize))
}
