//! The walk over a block that finds chains and the lives of values.
//!
//! Per cell class it keeps the buffer and the object whose value lies there. The live interval of
//! an object grows with every read and every add, so at the end of the block it runs from the first
//! write to the last use before the value is overwritten. Values that come into the block are data
//! written at [`BEGIN`]; those that leave it are used at [`END`].
//!
//! A write through one buffer over a value of another that somebody still wants is reported when
//! that somebody comes: buffers may share bytes one after the other.

mod regions;
mod writes;

use pto_ir::{Diag, Interval, Program, Site};
use rustc_hash::FxHashMap;

use super::chains::{Chains, Content, Held, Object};
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
    /// The value's entry in [`Chains::last_uses`], or [`NONE`].
    uses: u32,
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
    uses: NONE,
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
    /// As in [`Cell`].
    uses: u32,
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

    /// The values at hand of buffers that are used at or after `pos` and exist around the block.
    fn held(
        &mut self,
        pos: u32,
        is_visible: &dyn Fn(u32) -> bool,
        chains: &mut Chains,
    ) -> Vec<Held> {
        let is_wanted = |cell: &Cell| {
            let (epoch, last) = self.last_use[cell.owner as usize];
            epoch == self.epoch && last >= pos && is_visible(cell.owner)
        };
        let mut result = Vec::new();
        for &class in &self.touched {
            let cell = self.cells[class as usize];
            if !self.holds(&cell, cell.owner) || !is_wanted(&cell) {
                continue;
            }
            let mut uses = cell.uses;
            if uses == NONE {
                uses = chains.last_uses.len() as u32;
                chains.last_uses.push(cell.written);
                self.cells[class as usize].uses = uses;
            }
            result.push(Held {
                class,
                alloc: cell.owner,
                object: cell.value,
                uses,
                content: self.content(&cell, chains),
                is_carried: cell.carried == pos,
                is_added: cell.carried_add == pos,
            });
        }
        result
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
                chains.note_use(cell.uses, END);
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
        "expected cells of its own for a buffer that holds a value where a block begins, found those of another one",
    )
    .with_note(site(right), "the other buffer")
}
