//! What lives where in a block, as far as it was looked through.

use pto_ir::Target;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Window;
use crate::legalize_acc::chains::{Chains, Content};
use crate::legalize_acc::geometry::Geometry;

/// What lives where, as far as a block was looked through.
pub(super) struct Times<'g> {
    geometry: &'g Geometry,
    target: &'static Target,
    /// Objects by their first position.
    order: Vec<u32>,
    /// How many of them began before the current position.
    begun: usize,
    /// By slot: the last position at which one of those is used.
    last: Vec<u32>,
    /// As before, by buffer.
    pub last_of_alloc: FxHashMap<u32, u32>,
    /// Objects that a nest begins without zeros.
    sums: FxHashSet<u32>,
}

impl<'g> Times<'g> {
    pub(super) fn new(geometry: &'g Geometry, target: &'static Target, chains: &Chains) -> Self {
        let is_root = |&object: &u32| chains.root(object) == object;
        let mut order: Vec<u32> = (0..chains.objects.len() as u32).filter(is_root).collect();
        order.sort_by_key(|&object| chains.objects[object as usize].first);
        let slots = target.banks * geometry.strip_count();
        Self {
            geometry,
            target,
            order,
            begun: 0,
            last: vec![0; slots as usize],
            last_of_alloc: FxHashMap::default(),
            sums: FxHashSet::default(),
        }
    }

    /// Looks at all objects that begin before `pos`, which only grows.
    pub(super) fn advance(&mut self, chains: &Chains, pos: u32) {
        while let Some(&object) = self.order.get(self.begun) {
            let object = &chains.objects[object as usize];
            if object.first >= pos {
                break;
            }
            self.begun += 1;
            let window = Window {
                banks: object.banks,
                strips: object.strips,
            };
            for slot in window.slots(self.geometry, self.target) {
                let last = &mut self.last[slot as usize];
                *last = object.last.max(*last);
            }
            let last = self.last_of_alloc.entry(object.alloc).or_default();
            *last = object.last.max(*last);
        }
    }

    /// Whether something older lives in `window` at `pos`.
    pub(super) fn is_live(&self, window: Window, pos: u32) -> bool {
        let mut slots = window.slots(self.geometry, self.target);
        slots.any(|slot| self.last[slot as usize] >= pos)
    }

    /// The objects of `alloc` that begin at `pos`.
    fn beginning<'a>(
        &'a self,
        pos: u32,
        alloc: u32,
        chains: &'a Chains,
    ) -> impl Iterator<Item = u32> + 'a {
        let objects = self.order[self.begun..].iter().copied();
        objects
            .take_while(move |&object| chains.objects[object as usize].first == pos)
            .filter(move |&object| chains.objects[object as usize].alloc == alloc)
    }

    /// Whether somebody adds after `pos` to what begins there.
    pub(super) fn is_continued(&self, pos: u32, alloc: u32, chains: &Chains) -> bool {
        self.beginning(pos, alloc, chains)
            .any(|object| chains.objects[object as usize].added_at > pos)
    }

    /// What begins at `pos` is no zeros.
    pub(super) fn mark_sums(&mut self, pos: u32, alloc: u32, chains: &mut Chains) {
        let objects: Vec<u32> = self.beginning(pos, alloc, chains).collect();
        for object in objects {
            let facts = &mut chains.objects[object as usize];
            if facts.content == Content::Zero {
                facts.content = Content::Sum;
            }
            self.sums.insert(object);
        }
    }

    /// Nor is it to the regions that come later, as long as nobody wrote data over it.
    pub(super) fn make_sums(&self, chains: &mut Chains) {
        if self.sums.is_empty() {
            return;
        }
        let mut around = std::mem::take(&mut chains.around);
        let held = around
            .iter_mut()
            .flat_map(|around| around.before.iter_mut().chain(&mut around.after));
        for held in held {
            let is_sum = self.sums.contains(&chains.root(held.object));
            if is_sum && held.content == Content::Zero {
                held.content = Content::Sum;
            }
        }
        chains.around = around;
    }
}
