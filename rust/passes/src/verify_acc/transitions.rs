//! The steps of a set of machines on sets of worlds, remembered.

use super::worlds::{Event, Faults, MAX_MACHINES, Machine, WORLDS, World, Worlds};

/// The result of one event on one set of worlds.
#[derive(Clone, Copy)]
struct Known {
    worlds: Worlds,
    event: u8,
    next: Worlds,
    faults: Faults,
}

/// The machines on which an event goes wrong in every world that a cell may be in, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Certainty(u8);

impl Certainty {
    /// On all that it goes wrong on at all.
    pub(super) const ALL: Self = Self(u8::MAX);
    /// On none.
    pub(super) const NONE: Self = Self(0);

    /// Whether it is certain on one of `machines`, one bit each.
    pub(super) const fn holds_on(self, machines: u8) -> bool {
        self.0 & machines != 0
    }
}

/// The steps of the chosen machines, remembered: a program meets few different ones.
pub(super) struct Transitions {
    machines: Vec<Machine>,
    cache: Box<[Known]>,
}

impl Transitions {
    const CACHE_BITS: u32 = 9;

    /// Of the first [`MAX_MACHINES`] of `machines`.
    pub(super) fn new(mut machines: Vec<Machine>) -> Self {
        machines.truncate(MAX_MACHINES);
        let unknown = Known {
            worlds: 0,
            event: u8::MAX,
            next: 0,
            faults: 0,
        };
        let cache = vec![unknown; 1 << Self::CACHE_BITS].into_boxed_slice();
        Self { machines, cache }
    }

    pub(super) fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// The worlds of a cell when the function begins.
    pub(super) fn initial(&self, holds_data: bool) -> Worlds {
        let fields = self.machines.iter().enumerate();
        fields.fold(0, |all, (m, machine)| {
            all | u64::from(machine.initial(holds_data)) << (16 * m)
        })
    }

    /// The worlds after `event`, and what is wrong.
    pub(super) fn apply(&mut self, worlds: Worlds, event: Event) -> (Worlds, Faults) {
        let code = event.code();
        let mixed = (worlds ^ u64::from(code) << 57).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = (mixed >> (64 - Self::CACHE_BITS)) as usize;
        let known = self.cache[slot];
        if known.worlds == worlds && known.event == code {
            return (known.next, known.faults);
        }
        let (next, faults) = self.compute(worlds, event);
        self.cache[slot] = Known {
            worlds,
            event: code,
            next,
            faults,
        };
        (next, faults)
    }

    /// Where `event` goes wrong whatever `worlds` a cell is in.
    pub(super) fn certainty(&self, worlds: Worlds, event: Event) -> Certainty {
        let is_certain = |m: usize| {
            let machine = self.machines[m];
            let mut bits = (0..WORLDS).filter(|bit| worlds >> (16 * m + bit) & 1 == 1);
            bits.all(|bit| machine.step(World::from_bit(bit), event).1.is_some())
        };
        let machines = (0..self.machines.len()).filter(|&m| is_certain(m));
        Certainty(machines.fold(0, |all, m| all | 1 << m))
    }

    fn compute(&self, worlds: Worlds, event: Event) -> (Worlds, Faults) {
        let (mut next, mut faults) = (0, 0);
        for (m, machine) in self.machines.iter().enumerate() {
            for bit in (0..WORLDS).filter(|bit| worlds >> (16 * m + bit) & 1 == 1) {
                let (world, fault) = machine.step(World::from_bit(bit), event);
                next |= 1 << (16 * m + world.bit());
                if let Some(other) = machine.alternative(World::from_bit(bit), world, event) {
                    next |= 1 << (16 * m + other.bit());
                }
                if let Some(fault) = fault {
                    faults |= 1 << (fault as usize * MAX_MACHINES + m);
                }
            }
        }
        (next, faults)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify_acc::worlds::{Rule, Scope};

    const MACHINES: [Machine; 4] = [
        Machine {
            rule: Rule::WrittenBit,
            group_extent: true,
        },
        Machine {
            rule: Rule::EagerZero,
            group_extent: false,
        },
        Machine {
            rule: Rule::Sticky,
            group_extent: true,
        },
        Machine {
            rule: Rule::WrittenBit,
            group_extent: false,
        },
    ];

    fn events() -> Vec<Event> {
        let scoped = [Scope::Both, Scope::Group, Scope::Dst]
            .into_iter()
            .flat_map(|scope| {
                [
                    Event::Start(scope),
                    Event::MaybeStart(scope),
                    Event::Accumulate(scope),
                ]
            });
        let pe = [false, true].into_iter().flat_map(|own_start| {
            [
                Event::PeOverwrite { own_start },
                Event::PeAccumulate { own_start },
            ]
        });
        let others = [
            Event::Write,
            Event::WriteZero,
            Event::Clear,
            Event::Read,
            Event::Exit,
            Event::Renew,
            Event::Call,
        ];
        scoped.chain(pe).chain(others).collect()
    }

    #[test]
    fn worlds_are_numbered_one_to_one_and_events_have_codes_of_their_own() {
        for bit in 0..WORLDS {
            assert_eq!(World::from_bit(bit).bit(), bit);
        }
        let mut codes: Vec<u8> = events().into_iter().map(Event::code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), events().len());
    }

    #[test]
    fn sets_are_stepped_world_by_world() {
        let mut all = Transitions::new(Vec::from(MACHINES));
        let mut rng = fastrand::Rng::with_seed(3);
        for event in events() {
            for _ in 0..200 {
                let (a, b) = (rng.u64(..), rng.u64(..));
                let (next_a, faults_a) = all.apply(a, event);
                let (next_b, faults_b) = all.apply(b, event);
                assert_eq!(
                    all.apply(a | b, event),
                    (next_a | next_b, faults_a | faults_b)
                );
                assert_eq!(
                    all.compute(a, event),
                    (next_a, faults_a),
                    "the memory agrees"
                );
            }
        }
    }

    #[test]
    fn a_fault_is_reported_once() {
        let mut all = Transitions::new(Vec::from(MACHINES));
        let mends = |event: &Event| !matches!(event, Event::MaybeStart(_) | Event::Call);
        for event in events().into_iter().filter(mends) {
            for bit in 0..64 {
                let (next, faults) = all.apply(1 << bit, event);
                let reads_fresh = next == 1 << bit && matches!(event, Event::Read);
                let again = all.apply(next, Event::Exit).1;
                assert!(
                    faults == 0 || reads_fresh || again == 0,
                    "{event:?} in world {bit}"
                );
            }
        }
    }
}
