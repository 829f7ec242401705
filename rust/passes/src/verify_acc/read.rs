//! Reads, and what is said of values that are not there.

use pto_ir::{AllocId, Condition, InstId, Matmul, Predicate, Program};

use super::check::Check;
use super::findings::{Blame, Judgement, Kind, Where};
use super::flow::Graph;
use super::fresh::Spot;
use super::layout::{Piece, Place};
use super::lost::Lost;
use super::memory::{Cell, MAYBE_OPEN, NONE, OPEN, SEVERAL_WRITERS, Segment, State};
use super::ties::Doubt;
use super::worlds::{Event, VALUED};

impl Check<'_> {
    /// Reads, or the end of the function for a buffer that escapes.
    pub(super) fn read(
        &mut self,
        inst: Option<InstId>,
        alloc: AllocId,
        place: Place,
        event: Event,
        state: &mut State,
    ) {
        for index in 0..self.layout.pieces(place).len() {
            let piece = self.layout.pieces(place)[index];
            for strip in piece.strips.start..piece.strips.end {
                let meeting = state.bank(piece.bank)[strip as usize].meeting(piece.bytes);
                let is_fine = meeting.iter().all(|segment| {
                    let cell = segment.cell;
                    cell.owner == alloc.index() as u32
                        && cell.open == 0
                        && self.transitions.apply(cell.worlds, event).1 == 0
                });
                let is_valued = |segment: &Segment| {
                    segment.cell.owner == alloc.index() as u32 && segment.cell.worlds & VALUED != 0
                };
                if self.nodes.len() > 1
                    && let Some(spot) = spot(inst, alloc, piece, strip)
                    && meeting.iter().all(is_valued)
                {
                    self.findings.add_valued_read(spot);
                }
                if !is_fine || !state.lost.is_empty() {
                    self.faulty_read(inst, alloc, piece, strip, event, state);
                }
            }
        }
    }

    /// The parts of a read that are not plainly right.
    #[cold]
    fn faulty_read(
        &mut self,
        inst: Option<InstId>,
        alloc: AllocId,
        piece: Piece,
        strip: u32,
        event: Event,
        state: &mut State,
    ) {
        let partitions = self.layout.partitions(piece.bank, strip as usize);
        if let Some(lost) = state.lost.recover(alloc, piece.bank, strip, piece.bytes) {
            return self.report_lost(inst, lost, piece, state);
        }
        let place = |bytes| Where {
            alloc,
            bank: piece.bank,
            partitions,
            bytes,
        };
        let spot = spot(inst, alloc, piece, strip);
        let (doubt, is_chosen) = (self.doubt(), self.is_chosen());
        let Self {
            program,
            transitions,
            findings,
            graph,
            ..
        } = self;
        state.bank_mut(piece.bank)[strip as usize].change(piece.bytes, |cell, bytes| {
            let is_own = cell.owner == alloc.index() as u32;
            let worlds = if is_own {
                cell.worlds
            } else {
                transitions.apply(cell.worlds, Event::Renew).0
            };
            let (next, faults) = transitions.apply(worlds, event);
            let seen = Cell { worlds, ..*cell };
            let blame = blame(program, graph, *cell);
            let judgement = Judgement {
                blame,
                certainty: doubt.certainty(transitions, worlds, event),
                is_chosen,
            };
            findings.add_read_faults(spot, place(bytes), seen, faults, judgement);
            if is_own {
                cell.worlds = next;
            }
            let is_open = cell.open & OPEN != 0 && is_to_be_closed(program, *cell, inst);
            if is_own && is_open && event == Event::Read {
                findings.add(inst, place(bytes), *cell, Kind::ReadOpen, 0);
            } else if is_own && cell.open & MAYBE_OPEN != 0 && event == Event::Read {
                // Who reads before the last iteration is over reads an open group in all others.
                let kind = match closes_at_the_end(program, *cell) {
                    true => Kind::ReadOpen,
                    false => Kind::NotProvable,
                };
                findings.add(inst, place(bytes), *cell, kind, 0);
            }
        });
    }

    /// A value is needed that another buffer took the place of.
    pub(super) fn report_lost(
        &mut self,
        inst: Option<InstId>,
        lost: Lost,
        piece: Piece,
        state: &State,
    ) {
        let place = Where {
            alloc: AllocId::new(lost.alloc as usize),
            bank: piece.bank,
            partitions: self.layout.partitions(piece.bank, lost.strip as usize),
            bytes: lost.bytes.intersection(piece.bytes),
        };
        let by = (lost.by != NONE).then(|| InstId::new(lost.by as usize));
        let cells = state.bank(piece.bank)[lost.strip as usize].meeting(place.bytes);
        // Where only paths disagree it may be that the buffer is fresh on the other: that is no fault at the end.
        let is_certain = self.doubt() == Doubt::Never && (by.is_some() || inst.is_some());
        let kind = match is_certain {
            true => Kind::Overlap(by),
            false => Kind::OnSomePath,
        };
        if let Some(segment) = cells.first() {
            self.findings.add(inst, place, segment.cell, kind, 0);
        }
    }
}

fn spot(inst: Option<InstId>, alloc: AllocId, piece: Piece, strip: u32) -> Option<Spot> {
    inst.map(|inst| Spot {
        inst,
        alloc,
        bank: piece.bank,
        strip,
        byte: piece.bytes.start,
    })
}

/// Whether the last writer of an open cell could have had STOP, as far as `inst` is concerned. Where
/// several may be the last, or it stands in another block, that depends on the run; then STOP is only
/// missed where a `stop_if` was meant to say so.
pub(super) fn is_to_be_closed(program: &Program, cell: Cell, inst: Option<InstId>) -> bool {
    let Some((writer, reader)) = cell.writer().zip(inst) else {
        return true;
    };
    let writer = program.inst(writer);
    let has_predicate = writer
        .matmul()
        .is_some_and(|matmul| matmul.stop_if.is_some());
    let is_one = cell.open & SEVERAL_WRITERS == 0;
    is_one && (has_predicate || writer.block == program.inst(reader).block)
}

/// Whether the last writer of `cell` closes the group in the last iteration of known loops.
fn closes_at_the_end(program: &Program, cell: Cell) -> bool {
    let writer = cell.writer().and_then(|inst| program.inst(inst).matmul());
    let stop_if = writer.and_then(|matmul| matmul.stop_if);
    stop_if.is_some_and(|stop| *program.condition(stop.condition) != Condition::Unknown)
}

/// What a destroyed value of `cell` is put down to.
pub(super) fn blame(program: &Program, graph: &Graph, cell: Cell) -> Blame {
    let start = cell.start().and_then(|inst| program.inst(inst).matmul());
    let is_maybe = |m: &Matmul| {
        let is_open = |start_if: Predicate| !graph.settles(program.condition(start_if.condition));
        m.start_if.is_some_and(is_open) && !m.flags.unwrap_or_default().starts()
    };
    match (start, cell.writer()) {
        (Some(matmul), _) if is_maybe(matmul) => Blame::Predicate,
        (None, Some(writer)) if program.inst(writer).inserted => Blame::Memset,
        _ => Blame::Flags,
    }
}
