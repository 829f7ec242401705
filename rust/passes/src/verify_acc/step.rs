//! What each instruction does to the abstract PSUM.

use pto_ir::{AccessId, AllocId, InstId, Interval, Matmul, Op, Space, UseKind};

use super::check::Check;
use super::findings::{Blame, Judgement, Kind, Where};
use super::flow::Node;
use super::layout::{Piece, zero_region};
use super::lost::Lost;
use super::memory::{Cell, FRESH_ON_A_PATH, MAYBE_OPEN, NONE, OPEN, State};
use super::needs::Needs;
use super::read::{blame, is_to_be_closed};
use super::worlds::{Event, Scope, VALUED};

/// A write of one instruction to one buffer.
#[derive(Clone, Copy)]
struct Write {
    inst: InstId,
    alloc: AllocId,
    event: Event,
    /// Whether the group is open after it.
    open: u8,
    /// The banks of the zero region that its own START, if it has one, covers.
    start_banks: Interval,
    /// Whether its START depends on a predicate.
    is_predicated: bool,
}

impl Write {
    /// `cell` after the write; `worlds` are those it may be in then.
    fn written(&self, cell: Cell, worlds: u64) -> Cell {
        let owner = self.alloc.index() as u32;
        let fresh = match self.event {
            Event::Clear if cell.owner == owner => cell.fresh,
            Event::Clear => FRESH_ON_A_PATH,
            _ => 0,
        };
        let writer = self.inst.index() as u32;
        Cell {
            worlds,
            owner,
            writer,
            start: NONE,
            open: self.open,
            fresh,
        }
    }

    /// The event for cells in `bank`: it starts them only where its region reaches.
    fn event_in(&self, bank: u32) -> Event {
        let own_start = self.start_banks.contains(bank);
        match self.event {
            Event::PeOverwrite { .. } => Event::PeOverwrite { own_start },
            Event::PeAccumulate { .. } => Event::PeAccumulate { own_start },
            other => other,
        }
    }

    fn is_pe(&self) -> bool {
        matches!(
            self.event,
            Event::PeOverwrite { .. } | Event::PeAccumulate { .. }
        )
    }
}

impl Check<'_> {
    /// The effect of one instruction, of an allocation or of the end of a life.
    pub(super) fn inst(&mut self, inst: InstId, node: &Node, state: &mut State) {
        let program = self.program;
        match &program.inst(inst).op {
            Op::Matmul(matmul) => self.matmul(inst, matmul, node, state),
            Op::Alloc(alloc) | Op::Dealloc(alloc) => self.renew(*alloc, state),
            Op::Region { .. } => {}
            Op::Call { banks } => {
                self.reads(inst, state);
                self.call(inst, banks.unwrap_or(u32::MAX), state);
                self.writes(inst, state);
            }
            Op::Engine | Op::Effects => {
                self.reads(inst, state);
                self.writes(inst, state);
            }
        }
    }

    /// An instruction reads all it reads before it writes.
    fn reads(&mut self, inst: InstId, state: &mut State) {
        let program = self.program;
        for used in program
            .uses(inst)
            .iter()
            .filter(|used| used.kind == UseKind::Read)
        {
            if self.is_psum(used.access) {
                let alloc = program.access(used.access).alloc;
                let place = self.layout.place_of_access(used.access);
                self.read(Some(inst), alloc, place, Event::Read, state);
            }
        }
    }

    fn writes(&mut self, inst: InstId, state: &mut State) {
        let program = self.program;
        for used in program.uses(inst) {
            let event = match used.kind {
                UseKind::Read => continue,
                UseKind::WriteZero if program.inst(inst).inserted => Event::Clear,
                UseKind::WriteZero => Event::WriteZero,
                UseKind::Write | UseKind::PeOverwrite | UseKind::PeAccumulate => Event::Write,
            };
            if self.is_psum(used.access) {
                let alloc = program.access(used.access).alloc;
                let write = Write {
                    inst,
                    alloc,
                    event,
                    open: 0,
                    start_banks: Interval::new(0, 0),
                    is_predicated: false,
                };
                self.write(write, used.access, state);
            }
        }
    }

    fn is_psum(&self, access: AccessId) -> bool {
        self.program.alloc(self.program.access(access).alloc).space == Space::Psum
    }

    fn matmul(&mut self, inst: InstId, matmul: &Matmul, node: &Node, state: &mut State) {
        if !self.is_psum(matmul.dst) {
            return;
        }
        let flags = matmul.flags.unwrap_or_default();
        let start_if = self.graph.holds(self.program, node, matmul.start_if);
        let stop_if = self.graph.holds(self.program, node, matmul.stop_if);
        let is_started = flags.starts() || start_if == Some(true);
        let maybe_starts = matmul.start_if.is_some() && !flags.starts() && start_if.is_none();
        if is_started {
            self.region(inst, matmul, Event::Start, state);
        } else if maybe_starts {
            self.region(inst, matmul, Event::MaybeStart, state);
        }
        if flags.accumulates() {
            self.region(inst, matmul, Event::Accumulate, state);
        }
        if matmul.tile.is_some() && !self.is_tile_in_place(matmul) {
            self.misplaced_tiles.push(inst);
        }
        let event = match matmul.accumulator {
            Some(_) => Event::PeAccumulate { own_start: false },
            None => Event::PeOverwrite { own_start: false },
        };
        let starts = is_started || maybe_starts;
        let region = zero_region(self.program, matmul, self.target).filter(|_| starts);
        let start_banks = region.map_or(Interval::new(0, 0), |region| region.banks);
        let open = match (flags.stops() || stop_if == Some(true), stop_if) {
            (true, _) => 0,
            (false, None) if matmul.stop_if.is_some() => MAYBE_OPEN,
            (false, _) => OPEN,
        };
        let alloc = self.program.access(matmul.dst).alloc;
        let write = Write {
            inst,
            alloc,
            event,
            open,
            start_banks,
            is_predicated: maybe_starts,
        };
        self.write(write, matmul.dst, state);
    }

    fn is_tile_in_place(&self, matmul: &Matmul) -> bool {
        let region = zero_region(self.program, matmul, self.target);
        region.is_none_or(|region| {
            region.group.covers(region.dst)
                && matmul.tile.is_none_or(|tile| tile.col == region.dst.start)
        })
    }

    /// START or ACCUMULATE: an event for every cell of the zero region, on the machines whose region
    /// holds the cell.
    fn region(
        &mut self,
        inst: InstId,
        matmul: &Matmul,
        event: impl Fn(Scope) -> Event,
        state: &mut State,
    ) {
        let Some(region) = zero_region(self.program, matmul, self.target) else {
            return;
        };
        let is_start = !matches!(event(Scope::Both), Event::Accumulate(_));
        for bank in region.banks.start..region.banks.end {
            let all = self.layout.strips(bank, region.group.hull(region.dst));
            let strips = state.bank_mut(bank);
            for strip in all.start..all.end {
                let partitions = self.layout.partitions(bank, strip as usize);
                let scope = match (
                    region.group.covers(partitions),
                    region.dst.covers(partitions),
                ) {
                    (true, true) => Scope::Both,
                    (true, false) => Scope::Group,
                    (false, true) => Scope::Dst,
                    (false, false) => continue,
                };
                let event = event(scope);
                for segment in strips[strip as usize].segments_mut() {
                    let cell = &mut segment.cell;
                    cell.worlds = self.transitions.apply(cell.worlds, event).0;
                    if is_start && cell.start == NONE {
                        cell.start = inst.index() as u32;
                    }
                }
            }
        }
    }

    fn write(&mut self, write: Write, access: AccessId, state: &mut State) {
        let place = self.layout.place_of_access(access);
        for index in 0..self.layout.pieces(place).len() {
            let piece = self.layout.pieces(place)[index];
            for strip in piece.strips.start..piece.strips.end {
                self.write_strip(write, piece, strip, state);
            }
        }
    }

    fn write_strip(&mut self, write: Write, piece: Piece, strip: u32, state: &mut State) {
        let is_lost = !state.lost.is_empty() && self.overwrite_lost(write, piece, strip, state);
        let (doubt, is_chosen) = (self.doubt(), self.is_chosen());
        let Self {
            program,
            layout,
            transitions,
            findings,
            nodes,
            needs,
            graph,
            here,
            ..
        } = self;
        let place = |bytes| {
            let partitions = layout.partitions(piece.bank, strip as usize);
            Where {
                alloc: write.alloc,
                bank: piece.bank,
                partitions,
                bytes,
            }
        };
        let mut taken: Vec<Lost> = Vec::new();
        state.bank_mut(piece.bank)[strip as usize].change(piece.bytes, |cell, bytes| {
            if cell.owner != write.alloc.index() as u32 {
                let is_needed = |old: &AllocId| {
                    let needs = needs.get_or_init(|| Needs::new(program, nodes));
                    needs.is_needed_after(*old, *here)
                };
                let loser = cell
                    .owner()
                    .filter(|_| cell.worlds & VALUED != 0)
                    .filter(is_needed);
                if let Some(loser) = loser {
                    let (alloc, by) = (loser.index() as u32, write.inst.index() as u32);
                    taken.push(Lost {
                        alloc,
                        bank: piece.bank,
                        strip,
                        bytes,
                        by,
                    });
                }
                cell.worlds = transitions.apply(cell.worlds, Event::Renew).0;
            }
            let event = write.event_in(piece.bank);
            let (worlds, faults) = transitions.apply(cell.worlds, event);
            if faults != 0 && !is_lost {
                let predicated = write.is_predicated.then_some(Blame::Predicate);
                let blame = predicated.unwrap_or_else(|| blame(program, graph, *cell));
                let judgement = Judgement {
                    blame,
                    certainty: doubt.certainty(transitions, cell.worlds, event),
                    is_chosen,
                };
                findings.add_faults(Some(write.inst), place(bytes), *cell, faults, judgement);
            }
            let is_open =
                cell.open & OPEN != 0 && is_to_be_closed(program, *cell, Some(write.inst));
            if is_open && !write.is_pe() {
                findings.add(Some(write.inst), place(bytes), *cell, Kind::LostPartial, 0);
            }
            *cell = write.written(*cell, worlds);
        });
        state.lost.extend(taken);
    }

    /// A buffer writes cells that another one took from it. Whether it needed what they held.
    #[cold]
    fn overwrite_lost(
        &mut self,
        write: Write,
        piece: Piece,
        strip: u32,
        state: &mut State,
    ) -> bool {
        let lost = state
            .lost
            .recover(write.alloc, piece.bank, strip, piece.bytes);
        let needs_value = matches!(write.event, Event::PeAccumulate { .. });
        match lost.filter(|_| needs_value) {
            Some(lost) => {
                self.report_lost(Some(write.inst), lost, piece, state);
                true
            }
            None => false,
        }
    }

    /// A buffer is allocated or its life ends: its own cells become fresh.
    fn renew(&mut self, alloc: AllocId, state: &mut State) {
        let owner = alloc.index() as u32;
        for &piece in self.layout.pieces(self.layout.place_of_alloc(alloc)) {
            for strip in piece.strips.start..piece.strips.end {
                if !state.lost.is_empty() {
                    state.lost.recover(alloc, piece.bank, strip, piece.bytes);
                }
                let meeting = state.bank(piece.bank)[strip as usize].meeting(piece.bytes);
                if !meeting.iter().any(|segment| segment.cell.owner == owner) {
                    continue;
                }
                let transitions = &mut self.transitions;
                state.bank_mut(piece.bank)[strip as usize].change(piece.bytes, |cell, _| {
                    if cell.owner == owner {
                        cell.worlds = transitions.apply(cell.worlds, Event::Renew).0;
                        cell.fresh = FRESH_ON_A_PATH;
                    }
                });
            }
        }
    }

    fn call(&mut self, inst: InstId, banks: u32, state: &mut State) {
        for bank in
            (0..self.target.banks).filter(|&bank| banks.checked_shr(bank).unwrap_or(0) & 1 == 1)
        {
            for strip in state.bank_mut(bank) {
                for segment in strip.segments_mut() {
                    let cell = &mut segment.cell;
                    cell.worlds = self.transitions.apply(cell.worlds, Event::Call).0;
                    cell.writer = inst.index() as u32;
                    cell.open = 0;
                }
            }
        }
    }
}
