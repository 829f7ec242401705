//! What operations with regions may do: adds and writes that happen on some paths, perhaps often.

use pto_ir::{Diag, Site};

use super::{Cell, Walker};
use crate::legalize_acc::chains::{Around, Chains, Content, Demand, Object};
use crate::legalize_acc::geometry::NONE;
use crate::legalize_acc::problem::{BEGIN, BlockProblem, Event};

impl Walker<'_> {
    /// The walk over a block with calls or operations with regions.
    pub(super) fn walk_around_regions(
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
            let demanded = chains.demands.len();
            for event in now {
                self.event(event, problem, chains);
            }
            if is_holder {
                self.withdraw(demanded, pos, chains);
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

    /// Takes back the demands from `first` on for cells that another buffer has by the end of the
    /// operation at `pos`. No later run wants the sum, so the block that adds to it begins it.
    fn withdraw(&mut self, first: usize, pos: u32, chains: &mut Chains) {
        let new = chains.demands.split_off(first);
        let is_open = |demand: &Demand| {
            demand.pos != pos || self.cells[demand.class as usize].owner == demand.alloc
        };
        chains.demands.extend(new.into_iter().filter(is_open));
    }

    /// A region adds to the cells. Those that are fresh have to be cleared before it, unless the region
    /// runs once at most: then its own block settles that.
    pub(super) fn may_add(&mut self, event: &Event, problem: &BlockProblem, chains: &mut Chains) {
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
                chains.note_use(cell.uses, event.pos);
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
            cell.uses = NONE;
            chains.demands.push(Demand {
                pos: event.pos,
                shape: event.shape,
                alloc: event.alloc,
                class,
            });
        }
    }

    /// What one run of a region leaves the next one wants.
    pub(super) fn carry(
        &mut self,
        event: &Event,
        adds: bool,
        problem: &BlockProblem,
        chains: &mut Chains,
    ) {
        for &class in self.geometry.classes(event.shape) {
            let cell = self.cell(class);
            if cell.owner == event.alloc {
                chains.note_use(cell.uses, event.pos);
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

    /// A value that is there stays one object, whether it is overwritten or not; a fresh cell
    /// becomes data that may not exist.
    pub(super) fn may_write(
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
                chains.objects[value as usize].rewritten(content, cell.is_zero, event.pos);
                chains.note_use(cell.uses, event.pos);
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
                let object = &mut chains.objects[value as usize];
                let was_zero = object.content == Content::Zero;
                object.rewritten(content, was_zero, event.pos);
                chains.note_use(lost.uses, event.pos);
                let cell = self.cell(class);
                (cell.owner, cell.value, cell.written) = (event.alloc, value, event.pos);
                (cell.maybe, cell.maybe_shape) = (lost.maybe, lost.maybe_shape);
                (cell.is_zero, cell.uses) = (false, lost.uses);
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
            (cell.is_zero, cell.uses) = (false, NONE);
        }
    }

    /// Whether `event` leaves a cell to its owner, whom the same operation writes too: in which order
    /// is a question of the blocks inside. Here it matters whose value is used afterwards.
    pub(super) fn yields(&self, event: &Event, cell: &Cell) -> bool {
        let is_used_later = |alloc: u32| {
            let (epoch, last) = self.last_use[alloc as usize];
            epoch == self.epoch && last > event.pos
        };
        cell.written == event.pos
            && self.holds(cell, cell.owner)
            && is_used_later(cell.owner)
            && !is_used_later(event.alloc)
    }
}
