//! The walk over a block that finds chains and the lives of values.
//!
//! Per cell class it keeps the buffer and the object whose value lies there. The live interval of
//! an object grows with every read and every add, so at the end of the block it runs from the first
//! write to the last use before the value is overwritten. Values that come into the block are data
//! written at [`BEGIN`]; those that leave it are used at [`END`].
//!
//! A write through one buffer over a value of another that somebody still wants is reported when
//! that somebody comes: buffers may share bytes one after the other.

use pto_ir::{Diag, Interval, Program, Site};
use rustc_hash::FxHashMap;

use super::chains::{Around, Begin, Chains, Content, Demand, Held, Object};
use super::geometry::{Geometry, NONE};
use super::lives::Context;
use super::problem::{Action, BEGIN, BlockProblem, END, Event};

/// State of one cell class.
#[derive(Clone, Copy)]
struct Cell {
    /// The block this state belongs to; anything else means untouched.
    epoch: u32,
    /// The buffer whose value lies here.
    owner: u32,
    /// The object whose value lies here, or [`NONE`].
    value: u32,
    /// Position of the last write.
    written: u32,
    /// Position of the last read.
    read: u32,
    /// Position of an operation that wrote the cell, or left it fresh; [`BEGIN`] if settled.
    maybe: u32,
    /// Shape of that write.
    maybe_shape: u32,
    /// Position of an operation that may have written it through several buffers.
    contested: u32,
    /// Whether it holds +0.0.
    is_zero: bool,
    /// Position of an operation one run of whose regions wants what the run before left.
    carried: u32,
    /// As before, and it adds to it.
    carried_add: u32,
}

const UNTOUCHED: Cell = Cell {
    epoch: 0,
    owner: NONE,
    value: NONE,
    written: BEGIN,
    read: BEGIN,
    maybe: BEGIN,
    maybe_shape: NONE,
    contested: BEGIN,
    is_zero: false,
    carried: BEGIN,
    carried_add: BEGIN,
};

/// A value that another buffer's write destroyed.
#[derive(Clone, Copy)]
struct Lost {
    /// Position of that write.
    pos: u32,
    /// The object.
    object: u32,
    /// As in [`Cell`].
    maybe: u32,
    /// As in [`Cell`].
    maybe_shape: u32,
}

/// Memory of the walk that blocks share.
pub(super) struct Walker<'p> {
    program: &'p Program,
    geometry: &'p Geometry,
    cells: Vec<Cell>,
    epoch: u32,
    touched: Vec<u32>,
    /// By buffer: last position with a use in the current block ([`END`] where it outlives it).
    last_use: Vec<(u32, u32)>,
    /// By buffer: the last block after which it may be added to.
    open_ended: Vec<u32>,
    /// By buffer: position of its deallocation in the current block.
    freed: Vec<(u32, u32)>,
    has_freed: bool,
    /// Values that another buffer's write destroyed and that may still be wanted, by buffer and class.
    lost: FxHashMap<(u32, u32), Lost>,
    /// By slot: last barrier for pending bits, and for contents.
    barriers: Vec<(u32, u32)>,
    has_barrier: bool,
}

impl<'p> Walker<'p> {
    /// A walker for the blocks of `program`.
    pub(super) fn new(program: &'p Program, geometry: &'p Geometry, slots: usize) -> Self {
        Self {
            program,
            geometry,
            cells: vec![UNTOUCHED; geometry.class_count()],
            epoch: 0,
            touched: Vec::new(),
            last_use: vec![(0, BEGIN); program.allocs().len()],
            open_ended: vec![0; program.allocs().len()],
            freed: vec![(0, BEGIN); program.allocs().len()],
            has_freed: false,
            lost: FxHashMap::default(),
            barriers: vec![(BEGIN, BEGIN); slots],
            has_barrier: false,
        }
    }

    /// Walks one block. `visible` says of a buffer whether it exists around the block.
    pub(super) fn walk(
        &mut self,
        problem: &BlockProblem,
        context: &Context,
        is_visible: &dyn Fn(u32) -> bool,
    ) -> Chains {
        self.begin(problem, context);
        let mut chains = Chains {
            chain_of: Vec::with_capacity(problem.members.len()),
            begins_end: Vec::with_capacity(problem.members.len()),
            ..Chains::default()
        };
        self.enter(context, &mut chains);
        if problem.holders.is_empty() && problem.barriers.is_empty() {
            for event in &problem.events {
                self.event(event, problem, &mut chains);
            }
        } else {
            self.walk_around_regions(problem, is_visible, &mut chains);
        }
        self.finish(problem, context, &mut chains);
        chains.resolve();
        chains
    }

    /// The walk over a block with calls or operations with regions.
    fn walk_around_regions(
        &mut self,
        problem: &BlockProblem,
        is_visible: &dyn Fn(u32) -> bool,
        chains: &mut Chains,
    ) {
        let (mut barrier, mut holder) = (0, 0);
        let mut events = problem.events.as_slice();
        while let Some(&Event { pos, .. }) = events.first() {
            let count = events.iter().take_while(|event| event.pos == pos).count();
            let (now, later) = events.split_at(count);
            events = later;
            let is_holder = problem.holders.get(holder) == Some(&pos);
            let mut before = Vec::new();
            if is_holder {
                before = self.held(pos, is_visible, chains);
            }
            for event in now {
                self.event(event, problem, chains);
            }
            if is_holder {
                holder += 1;
                let runs_once = self.runs_once(problem, pos);
                let mut after = self.held(pos, is_visible, chains);
                if !runs_once {
                    let count = after.len();
                    // What a run reads and then gives up to another buffer the next run still wants.
                    after.extend(before.iter().filter(|held| {
                        let cell = &self.cells[held.class as usize];
                        cell.read == pos && cell.owner != held.alloc
                    }));
                    let displaced = &mut after[count..];
                    displaced.iter_mut().for_each(|held| held.is_carried = true);
                }
                chains.around.push(Around {
                    pos,
                    runs_once,
                    before,
                    after,
                });
            }
            while let Some(next) = problem.barriers.get(barrier).filter(|b| b.pos <= pos) {
                self.barrier(next.slots, next.contents, next.pos);
                barrier += 1;
            }
        }
    }

    fn begin(&mut self, problem: &BlockProblem, context: &Context) {
        self.epoch += 1;
        self.touched.clear();
        self.lost.clear();
        self.barriers.fill((BEGIN, BEGIN));
        self.has_barrier = false;
        self.has_freed = false;
        for event in &problem.events {
            self.last_use[event.alloc as usize] = (self.epoch, event.pos);
        }
        for &(alloc, is_added) in &context.live_out {
            self.last_use[alloc as usize] = (self.epoch, END);
            if is_added {
                self.open_ended[alloc as usize] = self.epoch;
            }
        }
    }

    /// Values that come in are data from the very beginning.
    fn enter(&mut self, context: &Context, chains: &mut Chains) {
        let mut known: FxHashMap<(u32, u32, Content), u32> = FxHashMap::default();
        for &(class, alloc, content) in &context.live_in {
            let facts = self.geometry.class(class);
            let key = (alloc, facts.bank, content);
            let object = *known.entry(key).or_insert_with(|| {
                chains.add(Object {
                    first: BEGIN,
                    last: BEGIN,
                    banks: Interval::new(facts.bank, facts.bank + 1),
                    strips: 0,
                    member: NONE,
                    shape: NONE,
                    alloc,
                    begins: false,
                    zero_seeded: false,
                    data_seeded: false,
                    seeds: false,
                    sum_seeded: false,
                    content,
                    added_at: BEGIN,
                })
            });
            chains.objects[object as usize].strips |= 1 << facts.strip;
            let cell = self.cell(class);
            let before = std::mem::replace(&mut cell.owner, alloc);
            cell.value = object;
            if before != NONE && before != alloc {
                chains.report(shared_on_entry(before, alloc));
            }
        }
    }

    fn runs_once(&self, problem: &BlockProblem, pos: u32) -> bool {
        pos != END && super::lives::runs_once(self.program, problem.inst_at(self.program, pos))
    }

    /// The state of a class in the current block.
    fn cell(&mut self, class: u32) -> &mut Cell {
        let cell = &mut self.cells[class as usize];
        if cell.epoch != self.epoch {
            *cell = Cell {
                epoch: self.epoch,
                ..UNTOUCHED
            };
            self.touched.push(class);
        }
        cell
    }

    /// Whether `alloc` has a value in the cell.
    fn holds(&self, cell: &Cell, alloc: u32) -> bool {
        cell.owner == alloc
            && cell.value != NONE
            && (!self.has_freed || {
                let (epoch, freed) = self.freed[alloc as usize];
                epoch != self.epoch || cell.written > freed
            })
    }

    fn event(&mut self, event: &Event, problem: &BlockProblem, chains: &mut Chains) {
        match event.action {
            Action::Read => self.read(event, problem, chains),
            Action::Write => self.write(event, false, chains),
            Action::WriteZero => self.write(event, true, chains),
            Action::MayWrite { is_certain } => {
                self.may_write(event, Content::Data, is_certain, chains);
            }
            Action::MaySum { is_certain } => {
                self.may_write(event, Content::Sum, is_certain, chains);
            }
            Action::MayAdd => self.may_add(event, problem, chains),
            Action::Carry { adds } => self.carry(event, adds, problem, chains),
            Action::Overwrite => self.pe_write(event, false, problem, chains),
            Action::Accumulate => self.pe_write(event, true, problem, chains),
            Action::Free => {
                self.has_freed = true;
                self.freed[event.alloc as usize] = (self.epoch, event.pos);
            }
        }
    }

    fn read(&mut self, event: &Event, problem: &BlockProblem, chains: &mut Chains) {
        let geometry = self.geometry;
        for &class in geometry.classes(event.shape) {
            let cell = *self.cell(class);
            if self.holds(&cell, event.alloc) {
                let object = chains.find(cell.value);
                chains.objects[object as usize].last = event.pos;
                self.cells[class as usize].read = event.pos;
                if cell.maybe != BEGIN {
                    self.wanted(event, class, problem, chains);
                }
            } else {
                self.wanted(event, class, problem, chains);
            }
        }
    }

    /// A region adds to the cells. Those that are fresh have to be cleared before it, unless the region
    /// runs once at most: then its own block settles that.
    fn may_add(&mut self, event: &Event, problem: &BlockProblem, chains: &mut Chains) {
        let geometry = self.geometry;
        let runs_once = self.runs_once(problem, event.pos);
        let mut object = NONE;
        let mut bank = NONE;
        for &class in geometry.classes(event.shape) {
            let cell = *self.cell(class);
            if self.holds(&cell, event.alloc) {
                let value = chains.find(cell.value) as usize;
                chains.objects[value].last = event.pos;
                chains.objects[value].added_at = event.pos;
                if cell.maybe != BEGIN {
                    self.unsettled(event, class, problem, chains);
                    chains.demands.push(Demand {
                        pos: cell.maybe,
                        shape: cell.maybe_shape,
                        alloc: event.alloc,
                        class,
                    });
                    self.cells[class as usize].maybe = BEGIN;
                }
                self.cells[class as usize].read = event.pos;
                continue;
            }
            self.wanted(event, class, problem, chains);
            if runs_once {
                continue;
            }
            let facts = geometry.class(class);
            if facts.bank != bank {
                bank = facts.bank;
                let zeros = Object {
                    content: Content::Zero,
                    added_at: event.pos,
                    ..self.data(event, bank)
                };
                object = chains.add(zeros);
            }
            chains.objects[object as usize].strips |= 1 << facts.strip;
            self.displace(event, class);
            let cell = self.cell(class);
            (cell.owner, cell.value) = (event.alloc, object);
            (cell.written, cell.read) = (event.pos, event.pos);
            (cell.maybe, cell.is_zero) = (BEGIN, false);
            chains.demands.push(Demand {
                pos: event.pos,
                shape: event.shape,
                alloc: event.alloc,
                class,
            });
        }
    }

    /// What one run of a region leaves the next one wants.
    fn carry(&mut self, event: &Event, adds: bool, problem: &BlockProblem, chains: &mut Chains) {
        for &class in self.geometry.classes(event.shape) {
            let cell = self.cell(class);
            if cell.owner == event.alloc {
                cell.carried = event.pos;
                if adds {
                    cell.carried_add = event.pos;
                }
            } else if cell.written == event.pos {
                let message = "expected cells of its own for a value that one run of these regions leaves to the next, found that another buffer writes them too";
                let site = problem.site(self.program, event.pos);
                let buffer = Site::Alloc(pto_ir::AllocId::new(event.alloc as usize));
                let error = Diag::error("pto:overlapping-allocs", site, message);
                chains.report(error.with_note(buffer, "the buffer with the value"));
            }
        }
    }

    /// Data of one engine write: one object a bank.
    fn write(&mut self, event: &Event, is_zero: bool, chains: &mut Chains) {
        let geometry = self.geometry;
        let mut object = NONE;
        let mut bank = NONE;
        for &class in geometry.classes(event.shape) {
            let facts = geometry.class(class);
            if facts.bank != bank {
                bank = facts.bank;
                let content = match is_zero {
                    true => Content::Zero,
                    false => Content::Data,
                };
                let data = self.data(event, bank);
                object = chains.add(Object { content, ..data });
            }
            chains.objects[object as usize].strips |= 1 << facts.strip;
            self.displace(event, class);
            let cell = self.cell(class);
            cell.owner = event.alloc;
            cell.value = object;
            cell.written = event.pos;
            cell.maybe = BEGIN;
            cell.is_zero = is_zero;
        }
    }

    fn data(&self, event: &Event, bank: u32) -> Object {
        Object {
            first: event.pos,
            last: event.pos,
            banks: Interval::new(bank, bank + 1),
            strips: 0,
            member: NONE,
            shape: event.shape,
            alloc: event.alloc,
            begins: false,
            zero_seeded: false,
            data_seeded: false,
            seeds: false,
            sum_seeded: false,
            content: Content::Data,
            added_at: BEGIN,
        }
    }

    /// A value that is there stays one object, whether it is overwritten or not; a fresh cell
    /// becomes data that may not exist.
    fn may_write(
        &mut self,
        event: &Event,
        content: Content,
        is_certain: bool,
        chains: &mut Chains,
    ) {
        let geometry = self.geometry;
        let mut object = NONE;
        let mut bank = NONE;
        for &class in geometry.classes(event.shape) {
            let facts = geometry.class(class);
            let cell = *self.cell(class);
            if self.holds(&cell, event.alloc) {
                let value = chains.find(cell.value);
                let object = &mut chains.objects[value as usize];
                object.last = event.pos;
                match content {
                    Content::Data => object.content = Content::Data,
                    // Zeros that a region may have overwritten by a sum are zeros no more.
                    Content::Sum if cell.is_zero => object.added_at = event.pos,
                    Content::Sum | Content::Zero => {}
                }
                let cell = self.cell(class);
                cell.written = event.pos;
                cell.is_zero = false;
                if is_certain {
                    cell.maybe = BEGIN;
                }
                continue;
            }
            // A value that a buffer of the regions displaced is written anew, or never was displaced.
            let lost = self.lost.get(&(event.alloc, class)).copied();
            if let Some(lost) = lost.filter(|lost| lost.pos == event.pos) {
                self.lost.remove(&(event.alloc, class));
                self.displace(event, class);
                let value = chains.find(lost.object);
                chains.objects[value as usize].last = event.pos;
                let cell = self.cell(class);
                (cell.owner, cell.value, cell.written) = (event.alloc, value, event.pos);
                (cell.maybe, cell.maybe_shape) = (lost.maybe, lost.maybe_shape);
                cell.is_zero = false;
                continue;
            }
            if facts.bank != bank {
                bank = facts.bank;
                let data = self.data(event, bank);
                object = chains.add(Object { content, ..data });
            }
            chains.objects[object as usize].strips |= 1 << facts.strip;
            if self.yields(event, &cell) {
                self.cell(class).contested = event.pos;
                continue;
            }
            self.displace(event, class);
            let cell = self.cell(class);
            if cell.written == event.pos {
                cell.contested = event.pos;
            }
            cell.owner = event.alloc;
            cell.value = object;
            cell.written = event.pos;
            cell.maybe = if is_certain { BEGIN } else { event.pos };
            cell.maybe_shape = event.shape;
            cell.is_zero = false;
        }
    }

    /// Whether `event` leaves a cell to its owner, whom the same operation writes too: in which order
    /// is a question of the blocks inside. Here it matters whose value is used afterwards.
    fn yields(&self, event: &Event, cell: &Cell) -> bool {
        let is_used_later = |alloc: u32| {
            let (epoch, last) = self.last_use[alloc as usize];
            epoch == self.epoch && last > event.pos
        };
        cell.written == event.pos
            && self.holds(cell, cell.owner)
            && is_used_later(cell.owner)
            && !is_used_later(event.alloc)
    }

    fn pe_write(
        &mut self,
        event: &Event,
        accumulates: bool,
        problem: &BlockProblem,
        chains: &mut Chains,
    ) {
        let geometry = self.geometry;
        let classes = geometry.classes(event.shape);
        let first_begin = chains.begins.len();
        let mut chain = NONE;
        let mut seeds = Seeds::NO_SEEDS;
        for &class in classes {
            let cell = *self.cell(class);
            if accumulates && self.holds(&cell, event.alloc) {
                let object = chains.find(cell.value);
                if chains.objects[object as usize].is_chain() {
                    chain = chains.join(chain, object);
                } else {
                    self.seed(event, class, object, &mut seeds, problem, chains);
                }
                continue;
            }
            if accumulates {
                self.wanted(event, class, problem, chains);
            }
            self.displace(event, class);
            let (pending, contents) = self.barriers_of(class);
            chains.begins.push(Begin {
                class,
                written: cell.written.max(pending),
                is_zero: cell.is_zero && cell.written > contents,
            });
        }
        let begins = chains.begins.len() > first_begin;
        let chain = self.member(event, problem, chain, &seeds, begins, chains);
        chains.chain_of.push(chain);
        chains.begins_end.push(chains.begins.len() as u32);
        for &class in classes {
            let cell = &mut self.cells[class as usize];
            cell.owner = event.alloc;
            cell.value = chain;
            cell.written = event.pos;
            cell.maybe = BEGIN;
            cell.is_zero = false;
        }
    }

    /// Makes the writer a member of `chain`, or of a new one.
    fn member(
        &self,
        event: &Event,
        problem: &BlockProblem,
        chain: u32,
        seeds: &Seeds,
        begins: bool,
        chains: &mut Chains,
    ) -> u32 {
        let chain = if chain == NONE {
            chains.add(Object {
                member: event.member,
                banks: self.geometry.shape(event.shape).banks,
                content: Content::Sum,
                ..self.data(event, 0)
            })
        } else {
            chain
        };
        let object = &mut chains.objects[chain as usize];
        object.strips |= event.group;
        object.last = event.pos;
        object.begins |= begins;
        if event.shape != object.shape {
            object.banks = object.banks.hull(self.geometry.shape(event.shape).banks);
        }
        if event.names_region {
            let member = &problem.members[event.member as usize];
            let first = self.geometry.shape(event.shape).banks.start;
            let named = pto_ir::ZeroWindow::of_bank(first, member.region.unwrap_or(0));
            object.banks = object.banks.hull(named.banks());
        }
        if seeds.first != NONE {
            object.zero_seeded |= seeds.zero;
            object.sum_seeded |= seeds.sum;
            object.first = object.first.min(seeds.first);
            if seeds.data != NONE && !std::mem::replace(&mut object.data_seeded, true) {
                chains.data_seeds.push((event.member, seeds.data));
            }
        }
        chain
    }

    fn seed(
        &mut self,
        event: &Event,
        class: u32,
        object: u32,
        seeds: &mut Seeds,
        problem: &BlockProblem,
        chains: &mut Chains,
    ) {
        let (_, contents) = self.barriers_of(class);
        let cell = *self.cell(class);
        let data = &mut chains.objects[object as usize];
        data.last = event.pos;
        data.seeds = true;
        let was_added = std::mem::replace(&mut data.added_at, event.pos) != BEGIN;
        seeds.first = seeds.first.min(data.first);
        if cell.is_zero && cell.written > contents {
            seeds.zero = true;
        } else {
            match data.content {
                Content::Sum => seeds.sum = true,
                // A region added to the zeros.
                Content::Zero if was_added => seeds.sum = true,
                Content::Zero => seeds.zero = true,
                Content::Data => seeds.data = seeds.data.min(object),
            }
        }
        if cell.maybe != BEGIN {
            self.unsettled(event, class, problem, chains);
            chains.demands.push(Demand {
                pos: cell.maybe,
                shape: cell.maybe_shape,
                alloc: event.alloc,
                class,
            });
        }
    }

    /// Cells that may be fresh or written are cleared before the operation that may write them. That
    /// has to be possible: nobody else may use them there.
    fn unsettled(
        &mut self,
        event: &Event,
        class: u32,
        problem: &BlockProblem,
        chains: &mut Chains,
    ) {
        self.wanted(event, class, problem, chains);
        let cell = *self.cell(class);
        if cell.contested == cell.maybe || cell.read == cell.maybe {
            let holder = problem.site(self.program, cell.maybe);
            let message = "expected an accumulation onto cells that are fresh or written on every path, found some that an operation may write and that another buffer uses there";
            let site = problem.site(self.program, event.pos);
            let error = Diag::error("pto:control-flow", site, message);
            chains.report(error.with_note(holder, "the cells may be written here"));
        }
    }

    /// Gives up the value of another buffer that `event` overwrites.
    fn displace(&mut self, event: &Event, class: u32) {
        let may = matches!(
            event.action,
            Action::MayWrite { .. } | Action::MaySum { .. }
        );
        if !self.lost.is_empty() && !may {
            self.lost.remove(&(event.alloc, class));
        }
        let cell = *self.cell(class);
        if cell.owner != event.alloc && self.holds(&cell, cell.owner) {
            let (epoch, last) = self.last_use[cell.owner as usize];
            if epoch == self.epoch && last > event.pos {
                let lost = Lost {
                    pos: event.pos,
                    object: cell.value,
                    maybe: cell.maybe,
                    maybe_shape: cell.maybe_shape,
                };
                self.lost.insert((cell.owner, class), lost);
            }
        }
    }

    /// Reports a value that `event` needs and another buffer's write destroyed.
    fn wanted(&mut self, event: &Event, class: u32, problem: &BlockProblem, chains: &mut Chains) {
        if let Some(Lost { pos, object, .. }) = self.lost.remove(&(event.alloc, class)) {
            let needed = problem.site(self.program, event.pos);
            self.overlap(event.alloc, pos, object, Some(needed), problem, chains);
        }
    }

    fn overlap(
        &self,
        alloc: u32,
        pos: u32,
        object: u32,
        needed: Option<Site>,
        problem: &BlockProblem,
        chains: &mut Chains,
    ) {
        let writer = problem.site(self.program, pos);
        let buffer = Site::Alloc(pto_ir::AllocId::new(alloc as usize));
        let mut error = Diag::error(
            "pto:overlapping-allocs",
            writer,
            "expected cells without a live value, found those of another buffer that is still needed",
        )
        .with_note(buffer, "the other buffer");
        let first = chains.objects[chains.root(object) as usize].first;
        if first != BEGIN {
            let site = problem.site(self.program, first);
            error = error.with_note(site, "its value is written here");
        }
        error = match needed {
            Some(site) => error.with_note(site, "and needed here"),
            None => error.with_note(buffer, "and needed after the block"),
        };
        chains.report(error);
    }

    /// Last barriers for the pending bits and the contents of a class.
    fn barriers_of(&self, class: u32) -> (u32, u32) {
        if !self.has_barrier {
            return (BEGIN, BEGIN);
        }
        let facts = self.geometry.class(class);
        let slot = facts.bank * self.geometry.strip_count() + u32::from(facts.strip);
        self.barriers[slot as usize]
    }

    fn barrier(&mut self, slots: u64, contents: bool, pos: u32) {
        self.has_barrier = true;
        for (slot, barrier) in self.barriers.iter_mut().enumerate() {
            if slots >> slot & 1 == 1 {
                barrier.0 = pos;
                if contents {
                    barrier.1 = pos;
                }
            }
        }
    }

    /// The values at hand that are used at or after `pos`, of buffers that exist around the block.
    fn held(&self, pos: u32, is_visible: &dyn Fn(u32) -> bool, chains: &Chains) -> Vec<Held> {
        let is_wanted = |cell: &Cell| {
            let (epoch, last) = self.last_use[cell.owner as usize];
            epoch == self.epoch && last >= pos && is_visible(cell.owner)
        };
        let touched = self.touched.iter();
        touched
            .map(|&class| (class, self.cells[class as usize]))
            .filter(|(_, cell)| self.holds(cell, cell.owner) && is_wanted(cell))
            .map(|(class, cell)| Held {
                class,
                alloc: cell.owner,
                object: cell.value,
                content: self.content(&cell, chains),
                is_carried: cell.carried == pos,
                is_added: cell.carried_add == pos,
            })
            .collect()
    }

    /// What the value of a cell is to somebody in another block.
    fn content(&self, cell: &Cell, chains: &Chains) -> Content {
        let object = &chains.objects[chains.root(cell.value) as usize];
        if object.is_chain() {
            let seeds = match (object.data_seeded, object.zero_seeded) {
                (true, _) => Content::Data,
                (false, true) => Content::Zero,
                (false, false) => Content::Sum,
            };
            object.content.max(seeds)
        } else if cell.is_zero {
            Content::Zero
        } else {
            object.content
        }
    }

    /// Values that outlive the block are used at its end. Other blocks may add to cells that are
    /// fresh there, which are cleared.
    fn finish(&mut self, problem: &BlockProblem, context: &Context, chains: &mut Chains) {
        for &(shape, alloc) in &context.added_later {
            let event = Event {
                pos: END,
                shape,
                alloc,
                member: NONE,
                action: Action::MayAdd,
                group: 0,
                names_region: false,
            };
            self.may_add(&event, problem, chains);
        }
        if context.live_out.is_empty() {
            return;
        }
        let outlives =
            |walker: &Self, alloc: u32| walker.last_use[alloc as usize] == (walker.epoch, END);
        for index in 0..self.touched.len() {
            let cell = self.cells[self.touched[index] as usize];
            if self.holds(&cell, cell.owner) && outlives(self, cell.owner) {
                let object = chains.find(cell.value);
                let object = &mut chains.objects[object as usize];
                object.last = END;
                if self.open_ended[cell.owner as usize] == self.epoch {
                    object.added_at = END;
                }
            }
        }
        let mut lost: Vec<_> = self
            .lost
            .iter()
            .map(|(&key, &value)| (key, value))
            .collect();
        lost.sort_unstable_by_key(|&(key, _)| key);
        for ((alloc, _), Lost { pos, object, .. }) in lost {
            if outlives(self, alloc) {
                self.overlap(alloc, pos, object, None, problem, chains);
            }
        }
    }
}

/// Two buffers that hold values in one place when the block begins.
fn shared_on_entry(left: u32, right: u32) -> Diag {
    let site = |alloc: u32| Site::Alloc(pto_ir::AllocId::new(alloc as usize));
    Diag::error(
        "pto:overlapping-allocs",
        site(left),
        "expected cells of its own for a buffer that holds data from the beginning, found those of another one",
    )
    .with_note(site(right), "the other buffer")
}

/// What a PE write adds onto, apart from chains.
struct Seeds {
    /// Position of the earliest seed, or [`NONE`].
    first: u32,
    /// Whether some cell holds +0.0.
    zero: bool,
    /// The first object of data, or [`NONE`].
    data: u32,
    /// Whether some cell holds a sum from another block.
    sum: bool,
}

impl Seeds {
    const NO_SEEDS: Self = Self {
        first: NONE,
        zero: false,
        data: NONE,
        sum: false,
    };
}
