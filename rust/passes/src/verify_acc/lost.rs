//! Values that were taken from their buffers: by another buffer, or because paths disagree.

use std::collections::BTreeSet;
use std::rc::Rc;

use pto_ir::{AllocId, Interval};

/// Cells of a buffer whose value another buffer or path took away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lost {
    pub(super) alloc: u32,
    pub(super) bank: u32,
    pub(super) strip: u32,
    pub(super) bytes: Interval,
    /// The instruction that wrote over it, or [`NONE`](super::memory::NONE) where only paths disagree.
    pub(super) by: u32,
}

impl Lost {
    /// Cells of `alloc` that begin at byte 0 of a strip: before all others of that strip.
    const fn first(alloc: u32, bank: u32, strip: u32) -> Self {
        let bytes = Interval { start: 0, end: 0 };
        let by = 0;
        Self {
            alloc,
            bank,
            strip,
            bytes,
            by,
        }
    }
}

/// All lost cells of a state. Copies share what neither changes.
#[derive(Clone, Debug, Default)]
pub(super) struct LostCells {
    all: Rc<BTreeSet<Lost>>,
}

impl LostCells {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds what is not there yet. Whether anything was not.
    pub(super) fn extend(&mut self, lost: impl IntoIterator<Item = Lost>) -> bool {
        let mut changed = false;
        for lost in lost {
            if !self.all.contains(&lost) {
                changed |= Rc::make_mut(&mut self.all).insert(lost);
            }
        }
        changed
    }

    /// Adds those of another path. Whether anything changed.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        !Rc::ptr_eq(&self.all, &other.all) && self.extend(other.all.iter().copied())
    }

    /// Forgets the cells of buffers that are not needed.
    pub(super) fn retain(&mut self, mut is_needed: impl FnMut(AllocId) -> bool) {
        let mut is_needed = |lost: &Lost| is_needed(AllocId::new(lost.alloc as usize));
        if !self.all.iter().all(&mut is_needed) {
            Rc::make_mut(&mut self.all).retain(is_needed);
        }
    }

    /// Takes the cells of `alloc` in a rectangle out, and returns the first of them.
    pub(super) fn recover(
        &mut self,
        alloc: AllocId,
        bank: u32,
        strip: u32,
        bytes: Interval,
    ) -> Option<Lost> {
        let alloc = alloc.index() as u32;
        let of_strip = Lost::first(alloc, bank, strip)..Lost::first(alloc, bank, strip + 1);
        let meeting = self.all.range(of_strip);
        let hits: Vec<Lost> = meeting
            .filter(|lost| lost.bytes.overlaps(bytes))
            .copied()
            .collect();
        let all = match hits.as_slice() {
            [] => return None,
            _ => Rc::make_mut(&mut self.all),
        };
        for hit in &hits {
            all.remove(hit);
            let before = Interval::new(hit.bytes.start, bytes.start);
            let after = Interval::new(bytes.end, hit.bytes.end);
            let parts = [before, after].into_iter().filter(|part| !part.is_empty());
            all.extend(parts.map(|bytes| Lost { bytes, ..*hit }));
        }
        hits.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify_acc::memory::NONE;

    fn lost(alloc: u32, strip: u32, start: u32, end: u32) -> Lost {
        Lost {
            alloc,
            bank: 1,
            strip,
            bytes: Interval::new(start, end),
            by: NONE,
        }
    }

    #[test]
    fn what_is_recovered_is_cut_out() {
        let mut cells = LostCells::default();
        assert!(cells.extend([lost(3, 0, 0, 64), lost(3, 0, 64, 96), lost(3, 1, 0, 64)]));
        assert!(!cells.extend([lost(3, 0, 0, 64)]), "known already");
        let at = |cells: &mut LostCells, strip, start, end| {
            cells.recover(AllocId::new(3), 1, strip, Interval::new(start, end))
        };
        assert_eq!(at(&mut cells, 0, 16, 80), Some(lost(3, 0, 0, 64)));
        assert_eq!(at(&mut cells, 0, 16, 80), None, "gone");
        assert_eq!(at(&mut cells, 0, 0, 16), Some(lost(3, 0, 0, 16)));
        assert_eq!(at(&mut cells, 0, 0, 128), Some(lost(3, 0, 80, 96)));
        assert_eq!(at(&mut cells, 1, 0, 128), Some(lost(3, 1, 0, 64)));
        assert!(cells.is_empty());
    }

    #[test]
    fn copies_share_until_one_changes() {
        let mut first = LostCells::default();
        first.extend([lost(0, 0, 0, 4), lost(1, 0, 0, 4)]);
        let mut second = first.clone();
        assert!(!first.join(&second));
        second.retain(|alloc| alloc.index() == 1);
        assert!(!first.join(&second), "nothing new");
        assert!(second.join(&first), "the other way round there is");
    }
}
