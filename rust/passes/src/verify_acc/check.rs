//! The walk: what each instruction does to the abstract PSUM.

use std::collections::BTreeSet;

use pto_ir::{
    AccessId, AllocId, Diag, InstId, Matmul, Op, Origin, Program, Site, Space, Target, UseKind,
};

use super::findings::{Blame, Findings, Kind, Where};
use super::flow::{self, Node};
use super::layout::{Layout, Misplaced, Piece, Place, zero_region};
use super::memory::{Cell, FRESH_ON_A_PATH, Lost, MAYBE_OPEN, NONE, OPEN, State};
use super::survey::Survey;
use super::worlds::{Event, Machine, Scope, Transitions, VALUED};

pub(super) struct Check<'a> {
    program: &'a Program,
    target: &'a Target,
    has_flow: bool,
    layout: Layout,
    transitions: Transitions,
    findings: Findings,
    misplaced_tiles: Vec<InstId>,
}

/// A write of one instruction to one buffer.
#[derive(Clone, Copy)]
struct Write {
    inst: InstId,
    alloc: AllocId,
    event: Event,
    /// Whether the group is open after it.
    open: u8,
    /// Whether its START depends on a predicate.
    is_predicated: bool,
}

impl<'a> Check<'a> {
    pub(super) fn new(
        program: &'a Program,
        target: &'a Target,
        survey: &Survey,
        machines: Vec<Machine>,
    ) -> Self {
        Self {
            program,
            target,
            has_flow: survey.has_flow,
            layout: Layout::new(program, target, &survey.cuts),
            transitions: Transitions::new(machines),
            findings: Findings::default(),
            misplaced_tiles: Vec::new(),
        }
    }

    /// The diagnostics, at most `limit` of them.
    pub(super) fn run(mut self, limit: usize) -> Vec<Diag> {
        let mut diags = self.misplaced();
        if self.program.body().is_none() || !diags.is_empty() {
            return diags;
        }
        self.walk();
        self.misplaced_tiles.sort_unstable();
        self.misplaced_tiles.dedup();
        diags.extend(
            self.misplaced_tiles
                .iter()
                .map(|&inst| tile_position(self.program, inst)),
        );
        let Self {
            program,
            layout,
            transitions,
            findings,
            ..
        } = self;
        let rest = limit.saturating_sub(diags.len());
        diags.extend(findings.diags(program, &layout, transitions.machines(), rest));
        diags
    }

    /// Buffers that nothing can be said about.
    fn misplaced(&self) -> Vec<Diag> {
        let tell = |&(alloc, reason): &(AllocId, Misplaced)| {
            let site = Site::Alloc(alloc);
            match reason {
                Misplaced::Unplaced => {
                    let message = "expected a placed buffer, found one without a bank";
                    Diag::error("pto:unplaced", site, message)
                }
                Misplaced::Outside => {
                    let name = self.target.name;
                    let message =
                        format!("expected the buffer and its accesses inside the psum of {name}");
                    Diag::error("pto:target-limit", site, message)
                }
            }
        };
        self.layout.misplaced.iter().map(tell).collect()
    }

    // The graph.

    fn walk(&mut self) {
        let nodes = flow::graph(self.program, self.has_flow);
        let mut before: Vec<Option<State>> = vec![None; nodes.len()];
        let mut is_target = vec![false; nodes.len()];
        for edge in nodes.iter().flat_map(|node| &node.edges) {
            is_target[edge.to] = true;
        }
        let Some(first) = before.first_mut() else {
            return;
        };
        *first = Some(self.initial_state());
        let mut waiting = BTreeSet::from([0]);
        while let Some(index) = waiting.pop_first() {
            let state = if is_target[index] {
                before[index].clone()
            } else {
                before[index].take()
            };
            let Some(mut state) = state else {
                continue;
            };
            let node = &nodes[index];
            self.node(node, &mut state);
            for edge in &node.edges {
                let arriving = if edge.skips_loop {
                    state.without_a_trip()
                } else {
                    state.clone()
                };
                let renew = |worlds| self.transitions.apply(worlds, Event::Renew).0;
                let changed = match &mut before[edge.to] {
                    Some(known) => known.join(&arriving, renew),
                    unknown => {
                        *unknown = Some(arriving);
                        true
                    }
                };
                if changed {
                    waiting.insert(edge.to);
                }
            }
        }
    }

    fn node(&mut self, node: &Node, state: &mut State) {
        let program = self.program;
        for &inst in &program.block(node.block).insts[node.first..node.end] {
            self.inst(inst, state);
        }
        if node.is_exit {
            self.exit(state);
        }
    }

    /// Arguments hold plain data unless they are fresh; everything else was never written.
    fn initial_state(&mut self) -> State {
        let undefined = self.transitions.initial(false);
        let (banks, bytes) = (self.target.banks, self.target.bank_bytes);
        let mut state = State::new(&self.layout, banks, bytes, undefined);
        for (index, alloc) in self.program.allocs().iter().enumerate() {
            let Origin::Argument { fresh: false, .. } = alloc.origin else {
                continue;
            };
            let (id, worlds) = (AllocId::new(index), self.transitions.initial(true));
            for &piece in self.layout.pieces(self.layout.place_of_alloc(id)) {
                for strip in piece.strips.start..piece.strips.end {
                    let strips = state.bank_mut(piece.bank);
                    let mut taken: Vec<Lost> = Vec::new();
                    strips[strip as usize].change(piece.bytes, |cell, bytes| {
                        let other = cell.owner().map_or(NONE, |owner| owner.index() as u32);
                        if cell.worlds & VALUED != 0 {
                            taken.push(Lost {
                                alloc: other,
                                bank: piece.bank,
                                strip,
                                bytes,
                                by: NONE,
                            });
                        }
                        *cell = Cell {
                            worlds,
                            owner: index as u32,
                            fresh: 0,
                            ..*cell
                        };
                    });
                    state.add_lost(taken);
                }
            }
        }
        state
    }

    // Instructions.

    fn inst(&mut self, inst: InstId, state: &mut State) {
        let program = self.program;
        match &program.inst(inst).op {
            Op::Matmul(matmul) => self.matmul(inst, matmul, state),
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
                    is_predicated: false,
                };
                self.write(write, used.access, state);
            }
        }
    }

    fn is_psum(&self, access: AccessId) -> bool {
        self.program.alloc(self.program.access(access).alloc).space == Space::Psum
    }

    fn matmul(&mut self, inst: InstId, matmul: &Matmul, state: &mut State) {
        if !self.is_psum(matmul.dst) {
            return;
        }
        let flags = matmul.flags.unwrap_or_default();
        let maybe_starts = matmul.has_start_if && !flags.starts();
        if flags.starts() {
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
        let own_start = flags.starts() || maybe_starts;
        let event = match matmul.accumulator {
            Some(_) => Event::PeAccumulate { own_start },
            None => Event::PeOverwrite { own_start },
        };
        let open = match (flags.stops(), matmul.has_stop_if) {
            (true, _) => 0,
            (false, true) => MAYBE_OPEN,
            (false, false) => OPEN,
        };
        let alloc = self.program.access(matmul.dst).alloc;
        let write = Write {
            inst,
            alloc,
            event,
            open,
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
        let Self {
            program,
            layout,
            transitions,
            findings,
            ..
        } = self;
        let owner = write.alloc.index() as u32;
        let is_pe = matches!(
            write.event,
            Event::PeOverwrite { .. } | Event::PeAccumulate { .. }
        );
        let needs_value = matches!(write.event, Event::PeAccumulate { .. });
        for &piece in layout.pieces(layout.place_of_access(access)) {
            for strip in piece.strips.start..piece.strips.end {
                let partitions = || layout.partitions(piece.bank, strip as usize);
                let place = |bytes| Where {
                    alloc: write.alloc,
                    bank: piece.bank,
                    partitions: partitions(),
                    bytes,
                };
                let mut is_lost = false;
                if !state.lost.is_empty() {
                    let lost = state.recover(write.alloc, piece.bank, strip, piece.bytes);
                    if let Some(lost) = lost.filter(|_| needs_value) {
                        let cell = first_cell(state, piece, strip);
                        let at = place(lost.bytes.intersection(piece.bytes));
                        findings.add(Some(write.inst), at, cell, overlap(lost), 0);
                        is_lost = true;
                    }
                }
                let mut taken: Vec<Lost> = Vec::new();
                state.bank_mut(piece.bank)[strip as usize].change(piece.bytes, |cell, bytes| {
                    if cell.owner != owner {
                        let is_needed = |old| layout.is_needed_after(program, old, write.inst);
                        if cell.worlds & VALUED != 0
                            && let Some(old) = cell.owner().filter(|&old| is_needed(old))
                        {
                            let (alloc, by) = (old.index() as u32, write.inst.index() as u32);
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
                    let (worlds, faults) = transitions.apply(cell.worlds, write.event);
                    if faults != 0 && !is_lost {
                        let inst = Some(write.inst);
                        let blame = if write.is_predicated {
                            Blame::Predicate
                        } else {
                            blame(program, *cell)
                        };
                        findings.add_faults(inst, place(bytes), *cell, faults, blame);
                    }
                    if cell.open & OPEN != 0 && !is_pe {
                        findings.add(Some(write.inst), place(bytes), *cell, Kind::LostPartial, 0);
                    }
                    let fresh = match (write.event, cell.owner == owner) {
                        (Event::Clear, true) => cell.fresh,
                        (Event::Clear, false) => FRESH_ON_A_PATH,
                        _ => 0,
                    };
                    *cell = Cell {
                        worlds,
                        owner,
                        writer: write.inst.index() as u32,
                        start: NONE,
                        open: write.open,
                        fresh,
                    };
                });
                state.add_lost(taken);
            }
        }
    }

    /// Reads, or the end of the function for a buffer that escapes.
    fn read(
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
        let place = |bytes| Where {
            alloc,
            bank: piece.bank,
            partitions,
            bytes,
        };
        if let Some(lost) = state.recover(alloc, piece.bank, strip, piece.bytes) {
            let cell = first_cell(state, piece, strip);
            let at = place(lost.bytes.intersection(piece.bytes));
            return self.findings.add(inst, at, cell, overlap(lost), 0);
        }
        let Self {
            program,
            transitions,
            findings,
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
            let blame = blame(program, *cell);
            findings.add_faults(inst, place(bytes), seen, faults, blame);
            if is_own {
                cell.worlds = next;
            }
            if is_own && cell.open & OPEN != 0 && event == Event::Read {
                findings.add(inst, place(bytes), *cell, Kind::ReadOpen, 0);
            } else if is_own && cell.open & MAYBE_OPEN != 0 && event == Event::Read {
                findings.add(inst, place(bytes), *cell, Kind::NotProvable, 0);
            }
        });
    }

    /// A buffer is allocated or its life ends: its own cells become fresh.
    fn renew(&mut self, alloc: AllocId, state: &mut State) {
        let owner = alloc.index() as u32;
        for &piece in self.layout.pieces(self.layout.place_of_alloc(alloc)) {
            for strip in piece.strips.start..piece.strips.end {
                if !state.lost.is_empty() {
                    state.recover(alloc, piece.bank, strip, piece.bytes);
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

    /// The end of the function: what escapes is read, but for cells that are fresh.
    fn exit(&mut self, state: &mut State) {
        for (index, alloc) in self.program.allocs().iter().enumerate() {
            if alloc.escapes && alloc.space == Space::Psum {
                let id = AllocId::new(index);
                let place = self.layout.place_of_alloc(id);
                self.read(None, id, place, Event::Exit, state);
            }
        }
    }
}

fn overlap(lost: Lost) -> Kind {
    Kind::Overlap((lost.by != NONE).then(|| InstId::new(lost.by as usize)))
}

fn first_cell(state: &State, piece: Piece, strip: u32) -> Cell {
    state.bank(piece.bank)[strip as usize].meeting(piece.bytes)[0].cell
}

/// What a destroyed value of `cell` is put down to.
fn blame(program: &Program, cell: Cell) -> Blame {
    let start = cell.start().and_then(|inst| program.inst(inst).matmul());
    let is_maybe = |m: &Matmul| m.has_start_if && !m.flags.unwrap_or_default().starts();
    match (start, cell.writer()) {
        (Some(matmul), _) if is_maybe(matmul) => Blame::Predicate,
        (None, Some(writer)) if program.inst(writer).inserted => Blame::Memset,
        _ => Blame::Flags,
    }
}

fn tile_position(program: &Program, inst: InstId) -> Diag {
    let message = "expected a tile whose first column is the first partition of the destination, \
                   found another";
    let diag = Diag::error("pto:tile-position", Site::Inst(inst), message);
    match program.inst(inst).matmul() {
        Some(matmul) => {
            let buffer = Site::Alloc(program.access(matmul.dst).alloc);
            diag.with_note(buffer, "the buffer is allocated here")
        }
        None => diag,
    }
}
