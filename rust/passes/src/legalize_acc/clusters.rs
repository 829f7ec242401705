//! Clusters: what shares a zero window, partitions and time.
//!
//! Every object covers a set of *slots* (a bank and a strip of partitions each) for one interval of
//! time: the banks of its zero window times its strips. Two objects are joined where these boxes
//! meet, and what is joined becomes one box again: the smallest window over both, the union of the
//! strips, the hull of the times. That box may meet others, so the rule is applied until nothing
//! meets any more.
//!
//! Comparing all pairs until nothing changes is cubic. Instead boxes are added by the beginning of
//! their time, and every slot keeps a stack of the boxes in it. Boxes of one slot never meet, so a
//! stack is sorted by time and only its top can reach the new box, which begins last of all:
//!
//! 1. pop, from every slot of the new box, the boxes that end at or after its beginning, and join
//!    them to it. It may now begin earlier and cover more slots;
//! 2. repeat until nothing was popped;
//! 3. push it onto all its slots.
//!
//! Invariant: after step 3 no two boxes meet, so the result is the fixpoint. Whenever a box is
//! joined, all its slots are slots of the new box, and there it is popped too, because it ends at or
//! after the beginning of the new box. Every box is pushed once per slot and popped at most once, so
//! the time is linear after sorting.

use pto_ir::{Interval, Target, ZeroWindow};

use super::geometry::Strips;

/// What an object covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First and last position, both included.
    pub first: u32,
    /// See [`Self::first`].
    pub last: u32,
    /// Banks (half open, not empty).
    pub banks: Interval,
    /// Strips of partitions, one bit each (not 0).
    pub strips: u8,
}

/// The components of "meets" and their extents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Components {
    /// By object: its component. Components are numbered by their first object.
    pub of: Vec<u32>,
    /// By component: the hull of its objects, with the banks of its zero window.
    pub extents: Vec<Extent>,
}

/// The banks of the smallest zero window over `banks`; all banks where no window is large enough.
pub fn window_banks(banks: Interval, target: &Target) -> Interval {
    if banks.len() == 1 {
        return banks;
    }
    let last = banks.end - 1;
    ZeroWindow::covering(banks.start, last, target.banks, target.max_zero_region_code)
        .map_or(Interval::new(0, target.banks), ZeroWindow::banks)
}

/// The components of `objects` in time `O(n log n)`.
pub fn components(objects: Vec<Extent>, target: &Target) -> Components {
    let mut order: Vec<u32> = (0..objects.len() as u32).collect();
    order.sort_by_key(|&object| objects[object as usize].first);
    let strips = objects.iter().fold(1, |all, object| all | object.strips);
    let mut sweep = Sweep {
        target,
        strip_count: 8 - strips.leading_zeros(),
        parent: (0..objects.len() as u32).collect(),
        boxes: objects,
        stacks: Vec::new(),
    };
    sweep.stacks = vec![Vec::new(); (sweep.strip_count * target.banks) as usize];
    for object in order {
        sweep.add(object);
    }
    sweep.finish()
}

struct Sweep<'t> {
    target: &'t Target,
    strip_count: u32,
    parent: Vec<u32>,
    /// By root: its box.
    boxes: Vec<Extent>,
    /// By slot: roots, by time.
    stacks: Vec<Vec<u32>>,
}

impl Sweep<'_> {
    fn add(&mut self, object: u32) {
        let mut current = object;
        let banks = window_banks(self.boxes[object as usize].banks, self.target);
        self.boxes[object as usize].banks = banks;
        loop {
            let before = self.boxes[current as usize];
            for slot in self.slots(&before) {
                current = self.pop(slot, current);
            }
            if self.boxes[current as usize] == before {
                break;
            }
        }
        let slots = self.slots(&self.boxes[current as usize]);
        for slot in slots {
            self.stacks[slot as usize].push(current);
        }
    }

    const fn slots(&self, extent: &Extent) -> Slots {
        Slots::new(extent.banks, extent.strips, self.strip_count)
    }

    /// Joins what is on top of `slot` and reaches `current`; returns the root.
    fn pop(&mut self, slot: u32, mut current: u32) -> u32 {
        while let Some(&top) = self.stacks[slot as usize].last() {
            let other = self.find(top);
            if other != current
                && self.boxes[other as usize].last < self.boxes[current as usize].first
            {
                break;
            }
            self.stacks[slot as usize].pop();
            if other != current {
                current = self.join(current, other);
            }
        }
        current
    }

    fn join(&mut self, left: u32, right: u32) -> u32 {
        let (root, other) = (left.min(right), left.max(right));
        let (a, b) = (self.boxes[root as usize], self.boxes[other as usize]);
        self.boxes[root as usize] = Extent {
            first: a.first.min(b.first),
            last: a.last.max(b.last),
            banks: window_banks(a.banks.hull(b.banks), self.target),
            strips: a.strips | b.strips,
        };
        self.parent[other as usize] = root;
        root
    }

    fn find(&mut self, mut object: u32) -> u32 {
        while self.parent[object as usize] != object {
            let above = self.parent[object as usize];
            self.parent[object as usize] = self.parent[above as usize];
            object = above;
        }
        object
    }

    fn finish(mut self) -> Components {
        let mut result = Components {
            of: Vec::with_capacity(self.boxes.len()),
            extents: Vec::new(),
        };
        for object in 0..self.boxes.len() as u32 {
            let root = self.find(object);
            // The root is the smallest object of its component, so it has its number already.
            let component = if root == object {
                result.extents.push(self.boxes[root as usize]);
                result.extents.len() as u32 - 1
            } else {
                result.of[root as usize]
            };
            result.of.push(component);
        }
        result
    }
}

/// The slots of a box, bank by bank.
pub(super) struct Slots {
    banks: Interval,
    strips: u8,
    left: u8,
    strip_count: u32,
}

impl Slots {
    pub(super) const fn new(banks: Interval, strips: Strips, strip_count: u32) -> Self {
        Self {
            banks,
            strips,
            left: strips,
            strip_count,
        }
    }
}

impl Iterator for Slots {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.left == 0 {
            self.banks.start += 1;
            self.left = self.strips;
        }
        if self.banks.is_empty() || self.left == 0 {
            return None;
        }
        let strip = self.left.trailing_zeros();
        self.left &= self.left - 1;
        Some(self.banks.start * self.strip_count + strip)
    }
}
