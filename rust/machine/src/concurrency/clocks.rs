//! Vector clocks, by number.
//!
//! A clock has one entry a queue: how many of its instructions are known to have finished. Missing
//! entries are zero.

/// The number of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClockId(u32);

impl ClockId {
    /// The clock that waits for nothing.
    pub(super) const EMPTY: Self = Self(0);
}

/// Every clock that is referred to, and some that are not any more.
#[derive(Debug)]
pub(super) struct Clocks {
    all: Vec<Box<[u32]>>,
    /// How many there may be before unused ones are dropped.
    limit: usize,
}

/// Clocks kept before unused ones are looked for.
const FEW: usize = 1 << 14;
/// Not kept yet.
const UNKNOWN: u32 = u32::MAX;

/// The new numbers of clocks that are kept, and the clocks in that order.
pub(super) struct Renaming {
    names: Vec<u32>,
    kept: Vec<Box<[u32]>>,
}

impl Default for Clocks {
    fn default() -> Self {
        Self {
            all: vec![Box::default()],
            limit: FEW,
        }
    }
}

impl Clocks {
    pub(super) fn get(&self, id: ClockId) -> &[u32] {
        &self.all[id.0 as usize]
    }

    pub(super) fn add(&mut self, clock: Vec<u32>) -> ClockId {
        self.all.push(clock.into_boxed_slice());
        ClockId(self.all.len() as u32 - 1)
    }

    /// Raises `clock` to what `id` waits for.
    pub(super) fn join_into(&self, id: ClockId, clock: &mut Vec<u32>) {
        let other = self.get(id);
        if clock.len() < other.len() {
            clock.resize(other.len(), 0);
        }
        for (own, &its) in clock.iter_mut().zip(other) {
            *own = (*own).max(its);
        }
    }

    /// The clock that waits for what both wait for.
    pub(super) fn joined(&mut self, a: ClockId, b: ClockId) -> ClockId {
        let mut clock = self.get(a).to_vec();
        self.join_into(b, &mut clock);
        for id in [a, b] {
            if self.get(id) == clock {
                return id;
            }
        }
        self.add(clock)
    }

    /// Whether it is time to drop clocks.
    pub(super) fn is_full(&self) -> bool {
        self.all.len() > self.limit
    }

    pub(super) fn begin_collection(&self) -> Renaming {
        let mut renaming = Renaming {
            names: vec![UNKNOWN; self.all.len()],
            kept: Vec::new(),
        };
        self.keep(ClockId::EMPTY, &mut renaming);
        renaming
    }

    /// The number of clock `id` after the collection.
    pub(super) fn keep(&self, id: ClockId, renaming: &mut Renaming) -> ClockId {
        let name = &mut renaming.names[id.0 as usize];
        if *name == UNKNOWN {
            *name = renaming.kept.len() as u32;
            renaming.kept.push(self.all[id.0 as usize].clone());
        }
        ClockId(*name)
    }

    pub(super) fn end_collection(&mut self, renaming: Renaming) {
        self.all = renaming.kept;
        self.limit = FEW.max(2 * self.all.len());
    }
}

/// One more instruction of `queue` is done; its number.
pub(super) fn advance(clock: &mut Vec<u32>, queue: usize) -> u32 {
    if clock.len() <= queue {
        clock.resize(queue + 1, 0);
    }
    clock[queue] += 1;
    clock[queue]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_take_the_later_of_both() {
        let mut clocks = Clocks::default();
        let a = clocks.add(vec![3, 1]);
        let b = clocks.add(vec![2, 1, 7]);
        let both = clocks.joined(a, b);
        assert_eq!(clocks.get(both), [3, 1, 7]);
        assert_eq!(clocks.joined(both, a), both, "nothing new needs no clock");
        assert_eq!(clocks.joined(ClockId::EMPTY, b), b);
    }

    #[test]
    fn collection_keeps_what_is_named() {
        let mut clocks = Clocks::default();
        let ids: Vec<ClockId> = (0..20_000).map(|n| clocks.add(vec![n])).collect();
        assert!(clocks.is_full());
        let mut renaming = clocks.begin_collection();
        let kept = [ids[5], ids[19_999], ids[5]].map(|id| clocks.keep(id, &mut renaming));
        clocks.end_collection(renaming);
        assert_eq!(kept[0], kept[2]);
        assert_eq!(
            (clocks.get(kept[0]), clocks.get(kept[1])),
            (&[5][..], &[19_999][..])
        );
        assert!(clocks.get(ClockId::EMPTY).is_empty());
        assert!(!clocks.is_full());
    }
}
