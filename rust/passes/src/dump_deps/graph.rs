//! Who waits for whom.

use std::collections::BTreeMap;

use pto_ir::{
    AccFlags, AccessId, Engine, InstId, Interval, Matmul, Program, Space, Target, UseKind,
    ZeroWindow,
};

use crate::validate::rects::Rects;

/// Why an instruction waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// It uses what the other wrote.
    Data,
    /// It overwrites what the other wrote or read.
    Overwrite,
    /// It names the other's token.
    Token,
    /// The same, by legalization.
    InsertedToken,
}

/// `to` waits for `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) to: InstId,
    pub(super) from: InstId,
    pub(super) reason: Reason,
}

/// No instruction.
const NONE: u32 = u32::MAX;

/// The last accesses of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touch {
    writer: u32,
    readers: [u32; Engine::ALL.len()],
}

const UNTOUCHED: Touch = Touch {
    writer: NONE,
    readers: [NONE; Engine::ALL.len()],
};

/// A memory of its own: a bank of PSUM, or all of a buffer that is in none. The number is that of
/// the bank, or of the buffer after all banks.
type Memory = usize;

/// Cells of one memory.
type Cells = (Memory, Interval, Interval);

struct Walk<'a> {
    program: &'a Program,
    target: &'static Target,
    touches: BTreeMap<Memory, Rects<Touch>>,
    /// What the instruction at hand waits for.
    waits: BTreeMap<u32, Reason>,
}

/// The arrows of `program`, by the instruction that waits, then by the one it waits for.
pub(super) fn arrows(program: &Program, target: &'static Target) -> Vec<Arrow> {
    let mut walk = Walk {
        program,
        target,
        touches: BTreeMap::new(),
        waits: BTreeMap::new(),
    };
    let mut arrows = Vec::new();
    for id in program.walk() {
        walk.instruction(id);
        let found = std::mem::take(&mut walk.waits);
        arrows.extend(found.into_iter().map(|(from, reason)| Arrow {
            to: id,
            from: InstId::new(from as usize),
            reason,
        }));
        arrows.extend(program.inst(id).after.iter().map(|edge| Arrow {
            to: id,
            from: edge.from,
            reason: match edge.inserted {
                true => Reason::InsertedToken,
                false => Reason::Token,
            },
        }));
    }
    arrows
}

impl Walk<'_> {
    fn instruction(&mut self, id: InstId) {
        let program = self.program;
        let inst = program.inst(id);
        if let Some(matmul) = inst.matmul() {
            for cells in self.region(matmul) {
                self.touch(cells, (id, inst.engine), true);
            }
        }
        let uses = program.uses(id);
        // An instruction reads before it writes.
        for one in uses {
            if matches!(one.kind, UseKind::Read | UseKind::PeAccumulate) {
                self.access(one.access, (id, inst.engine), false);
            }
        }
        for one in uses.iter().filter(|one| one.kind.writes()) {
            self.access(one.access, (id, inst.engine), true);
        }
    }

    fn access(&mut self, access: AccessId, by: (InstId, Engine), is_write: bool) {
        for &span in self.program.bytes(access) {
            for cells in self.placed(access, span) {
                self.touch(cells, by, is_write);
            }
        }
    }

    /// The bytes `span` of `access`, bank by bank where it is placed in PSUM.
    fn placed(&self, access: AccessId, span: Interval) -> Vec<Cells> {
        let access = self.program.access(access);
        let alloc = self.program.alloc(access.alloc);
        let Some(place) = alloc.placement.filter(|_| alloc.space == Space::Psum) else {
            let memory = self.target.banks as usize + access.alloc.index();
            return vec![(memory, access.partitions, span)];
        };
        let bank_bytes = self.target.bank_bytes;
        let first = place
            .bank
            .saturating_mul(bank_bytes)
            .saturating_add(place.offset);
        let end = first
            .saturating_add(span.end)
            .min(self.target.partition_bytes());
        let mut at = first.saturating_add(span.start);
        let mut cells = Vec::new();
        while at < end {
            let bank = at / bank_bytes;
            let stop = end.min((bank + 1) * bank_bytes);
            let bytes = Interval::new(at - bank * bank_bytes, stop - bank * bank_bytes);
            let partitions = Interval::new(
                access.partitions.start.saturating_add(place.partition),
                access.partitions.end.saturating_add(place.partition),
            );
            cells.push((bank as usize, partitions, bytes));
            at = stop;
        }
        cells
    }

    /// The zero region of a START or ACCUMULATE.
    fn region(&self, matmul: &Matmul) -> Vec<Cells> {
        let flags = matmul.flags.unwrap_or(AccFlags::NONE);
        let opens = flags.starts() || flags.accumulates();
        let spans = self.program.bytes(matmul.dst);
        let (Some(&first), Some(&last), true) = (spans.first(), spans.last(), opens) else {
            return Vec::new();
        };
        let bank_of = |cells: Vec<Cells>, last: bool| {
            let cells = if last {
                cells.last().copied()
            } else {
                cells.first().copied()
            };
            cells
                .map(|(memory, ..)| memory as u32)
                .filter(|&bank| bank < self.target.banks)
        };
        let first = bank_of(self.placed(matmul.dst, first), false);
        let last = bank_of(self.placed(matmul.dst, last), true);
        let (Some(first), Some(last)) = (first, last) else {
            return Vec::new();
        };
        let (banks, max_code) = (self.target.banks, self.target.max_zero_region_code);
        let window = match matmul.zero_region {
            Some(code) if code <= max_code => Some(ZeroWindow::of_bank(first, code)),
            _ => ZeroWindow::covering(first, last, banks, max_code),
        };
        let Some(window) = window else {
            return Vec::new();
        };
        let partitions = matmul.column_group(self.target);
        let bytes = Interval::new(0, self.target.bank_bytes);
        let banks = window.first..=window.last().min(banks - 1);
        banks
            .map(|bank| (bank as usize, partitions, bytes))
            .collect()
    }

    fn touch(&mut self, cells: Cells, (id, engine): (InstId, Engine), is_write: bool) {
        let (memory, partitions, bytes) = cells;
        let everything = Interval::new(0, u32::MAX);
        let rects = self
            .touches
            .entry(memory)
            .or_insert_with(|| Rects::new(everything, everything, UNTOUCHED));
        let (own, waits) = (id.index() as u32, &mut self.waits);
        let mut wait = |on: u32, reason: Reason| {
            if on != NONE && on != own {
                let known = waits.entry(on).or_insert(reason);
                *known = reason.min(*known);
            }
        };
        rects.change(partitions, bytes, |touch| {
            if !is_write {
                wait(touch.writer, Reason::Data);
                touch.readers[engine as usize] = own;
                return;
            }
            wait(touch.writer, Reason::Overwrite);
            for reader in touch.readers {
                wait(reader, Reason::Overwrite);
            }
            *touch = Touch {
                writer: own,
                ..UNTOUCHED
            };
        });
    }
}
