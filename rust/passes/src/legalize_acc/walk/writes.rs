//! Reads and writes of instructions, which certainly happen.

use pto_ir::{Diag, Interval, Site};

use super::{Lost, Walker};
use crate::legalize_acc::chains::{Begin, Chains, Content, Demand, Object};
use crate::legalize_acc::geometry::NONE;
use crate::legalize_acc::problem::{Action, BEGIN, BlockProblem, Event};

impl Walker<'_> {
    pub(super) fn read(&mut self, event: &Event, problem: &BlockProblem, chains: &mut Chains) {
        let geometry = self.geometry;
        for &class in geometry.classes(event.shape) {
            let cell = *self.cell(class);
            if self.holds(&cell, event.alloc) {
                let object = chains.find(cell.value);
                chains.objects[object as usize].last = event.pos;
                chains.note_use(cell.uses, event.pos);
                self.cells[class as usize].read = event.pos;
                if cell.maybe != BEGIN {
                    self.wanted(event, class, problem, chains);
                }
            } else {
                self.wanted(event, class, problem, chains);
            }
        }
    }

    /// Data of one engine write: one object a bank.
    pub(super) fn write(&mut self, event: &Event, is_zero: bool, chains: &mut Chains) {
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
            cell.uses = NONE;
        }
    }

    pub(super) fn data(&self, event: &Event, bank: u32) -> Object {
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

    pub(super) fn pe_write(
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
                chains.note_use(cell.uses, event.pos);
                let object = chains.find(cell.value);
                let facts = &chains.objects[object as usize];
                if facts.is_chain() {
                    // A region wrote data over it, perhaps after a START inside.
                    let is_data = facts.content == Content::Data
                        && self.barriers_of(class).0 > facts.first
                        && problem.holders.binary_search(&cell.written).is_ok();
                    if is_data {
                        seeds.data = seeds.data.min(cell.written);
                    }
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
            cell.uses = NONE;
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
        object.zero_seeded |= seeds.zero;
        object.sum_seeded |= seeds.sum;
        object.first = object.first.min(seeds.first);
        if seeds.data != NONE && !std::mem::replace(&mut object.data_seeded, true) {
            chains.data_seeds.push((event.member, seeds.data));
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
                Content::Data => seeds.data = seeds.data.min(data.first),
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
    pub(super) fn unsettled(
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
    pub(super) fn displace(&mut self, event: &Event, class: u32) {
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
                    uses: cell.uses,
                };
                self.lost.insert((cell.owner, class), lost);
            }
        }
    }

    /// Reports a value that `event` needs and another buffer's write destroyed.
    pub(super) fn wanted(
        &mut self,
        event: &Event,
        class: u32,
        problem: &BlockProblem,
        chains: &mut Chains,
    ) {
        if let Some(Lost { pos, object, .. }) = self.lost.remove(&(event.alloc, class)) {
            let needed = problem.site(self.program, event.pos);
            self.overlap(event.alloc, pos, object, Some(needed), problem, chains);
        }
    }

    pub(super) fn overlap(
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
}

/// What a PE write adds onto, apart from chains.
struct Seeds {
    /// Position of the earliest seed that is no chain, or [`NONE`].
    first: u32,
    /// Whether some cell holds +0.0.
    zero: bool,
    /// Position of the earliest data, or [`NONE`].
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
