//! Copies, fills, and single elements.

use smallvec::SmallVec;

use super::Machine;
use super::convert::{convert, convert_bits};
use crate::code::{Index, ScalarSlot, Store, Transfer, ViewSlot};
use crate::concurrency::Access;
use crate::memory::View;
use crate::report::{Outcome, Report, SiteId};
use crate::trace::AccessKind;

impl Machine<'_> {
    pub(super) fn copy(&mut self, op: &Transfer<ViewSlot>, site: SiteId) -> Outcome<()> {
        self.begin(&op.op, site);
        let (source, dst) = (self.view(op.source).clone(), self.view(op.dst).clone());
        if source.sizes() != dst.sizes() {
            let (found, expected) = (source.sizes(), dst.sizes());
            let message = format!("copies {found:?} elements to {expected:?}");
            return Err(Box::new(Report::failed("pto:shape", site, message)));
        }
        self.charge_elements(source.len(), site)?;
        self.memory.check_size(&dst, site)?;
        self.check_engine_access(op.op.engine, &source, site)?;
        self.check_engine_access(op.op.engine, &dst, site)?;
        let from = self.memory.buffer(&source, site)?.element;
        let to = self.memory.buffer(&dst, site)?.element;
        self.accesses(op.source, AccessKind::Read);
        self.accesses(op.dst, AccessKind::Write);
        if self.memory.copy_tile(&source, &dst, site)? {
            self.memory.note_access(&source, Access::Read, site)?;
            self.memory.note_access(&dst, Access::Write, site)?;
            let moved = 2 * source.len() * from.bytes() as u64;
            self.stats.transfer(op.op.engine, moved);
            self.time_transfer(&op.op, Some(&source), &dst);
            return Ok(());
        }
        self.memory.read(&source, site, &mut self.packed)?;
        let bytes = if from == to {
            &self.packed
        } else {
            convert(from, to, &self.packed, &mut self.converted);
            &self.converted
        };
        self.memory.write(&dst, bytes, site)?;
        let moved = (self.packed.len() + bytes.len()) as u64;
        self.stats.transfer(op.op.engine, moved);
        self.time_transfer(&op.op, Some(&source), &dst);
        Ok(())
    }

    pub(super) fn fill(&mut self, op: &Transfer<ScalarSlot>, site: SiteId) -> Outcome<()> {
        self.begin(&op.op, site);
        let dst = self.view(op.dst).clone();
        self.charge_elements(dst.len(), site)?;
        self.memory.check_size(&dst, site)?;
        self.accesses(op.dst, AccessKind::Write);
        self.check_engine_access(op.op.engine, &dst, site)?;
        let element = self.memory.buffer(&dst, site)?.element;
        let value = self.get(op.source);
        let bits = match op.source_type {
            Some(from) if from != element => convert_bits(from, element, value),
            _ => value,
        };
        let width = element.bytes();
        let pattern = bits.to_le_bytes();
        self.packed.clear();
        for _ in 0..dst.len() {
            self.packed.extend_from_slice(&pattern[..width]);
        }
        match op.op.is_inserted {
            true => self.memory.write_inserted(&dst, &self.packed, site)?,
            false => self.memory.write(&dst, &self.packed, site)?,
        }
        let moved = self.packed.len() as u64;
        self.stats.fill(op.op.engine, moved);
        self.time_transfer(&op.op, None, &dst);
        Ok(())
    }

    pub(super) fn load(
        &mut self,
        dst: ScalarSlot,
        slot: ViewSlot,
        indices: &[Index],
        site: SiteId,
    ) -> Outcome<()> {
        let at = self.element(slot, indices, site)?;
        let view = &self.views[self.view_base + slot.index()];
        let bits = self.memory.load(view, at, site)?;
        self.set(dst, bits);
        self.time_host();
        Ok(())
    }

    pub(super) fn store(&mut self, store: &Store, site: SiteId) -> Outcome<()> {
        let at = self.element(store.view, &store.indices, site)?;
        let bits = self.get(store.value);
        let view = &self.views[self.view_base + store.view.index()];
        self.memory.store(view, at, bits, site)?;
        self.time_host();
        Ok(())
    }

    /// The number, in its buffer, of the element of the memref in `slot` at `indices`.
    fn element(&self, slot: ViewSlot, indices: &[Index], site: SiteId) -> Outcome<usize> {
        let view = self.view(slot);
        let found = view.element(indices.iter().map(|&index| self.number(index)));
        found.map_err(|dim| outside(view, dim, self.number(indices[dim]), site))
    }
}

#[cold]
fn outside(view: &View, dim: usize, index: i64, site: SiteId) -> Box<Report> {
    let sizes: SmallVec<[u64; 4]> = view.sizes();
    let message = format!("index {index} of dimension {dim} is outside a memref of {sizes:?}");
    Box::new(Report::failed("pto:out-of-bounds", site, message))
}
