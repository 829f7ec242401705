//! What may be true of a cell, and how every event changes it.
//!
//! On one machine a cell is in one of sixteen *worlds*: what the reference says of it, what PSUM
//! holds in relation to that, and whether its pending bit is set. What is known of a cell is the set
//! of worlds it may be in, one bit a world and sixteen bits a machine, so that joining paths is a
//! bit-wise or and every event acts on each world alone. Nothing is lost by taking sets.
//!
//! [`Machine::step`] is the whole theory; [`transitions`](super::transitions) only remembers it.

/// The most machines checked at once.
pub(super) const MAX_MACHINES: usize = 4;
/// The number of worlds.
pub(super) const WORLDS: usize = 16;

/// Sets of worlds, one 16-bit field a machine.
pub(super) type Worlds = u64;

/// What the reference meaning says of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reference {
    /// Nobody wrote it since its buffer was allocated.
    Fresh,
    /// It has a value.
    Value,
    /// Its value is known to be +0.0, so that adding to it and overwriting it are the same.
    Zero,
}

/// What PSUM holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Nothing was ever written.
    Undefined,
    /// Something else than the reference value.
    Stale,
    /// +0.0.
    Zero,
    /// The reference value.
    Equal,
}

/// One thing that may be true of a cell on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct World {
    reference: Reference,
    content: Content,
    pending: bool,
}

/// The combinations that occur, in the order of their bits; those with the pending bit follow.
const STATES: [(Reference, Content); WORLDS / 2] = [
    (Reference::Fresh, Content::Undefined),
    (Reference::Fresh, Content::Stale),
    (Reference::Fresh, Content::Zero),
    (Reference::Value, Content::Stale),
    (Reference::Value, Content::Zero),
    (Reference::Value, Content::Equal),
    (Reference::Zero, Content::Stale),
    (Reference::Zero, Content::Zero),
];

const fn on_every_machine(field: u64) -> Worlds {
    field | field << 16 | field << 32 | field << 48
}

/// The worlds in which the cell is fresh.
pub(super) const FRESH: Worlds = on_every_machine(0b0000_0111_0000_0111);
/// The worlds in which it has a value.
pub(super) const VALUED: Worlds = on_every_machine(0b1111_1000_1111_1000);

impl World {
    const fn new(reference: Reference, content: Content, pending: bool) -> Self {
        Self {
            reference,
            content,
            pending,
        }
    }

    pub(super) fn from_bit(bit: usize) -> Self {
        let (reference, content) = STATES[bit % STATES.len()];
        Self::new(reference, content, bit >= STATES.len())
    }

    pub(super) fn bit(self) -> usize {
        let same = |state: &(Reference, Content)| *state == (self.reference, self.content);
        let position = STATES.iter().position(same);
        debug_assert!(position.is_some(), "not a world: {self:?}");
        position.unwrap_or(0) + if self.pending { STATES.len() } else { 0 }
    }
}

/// What happens to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A START whose region holds the cell, on the machines of `scope`.
    Start(Scope),
    /// A START that depends on a predicate.
    MaybeStart(Scope),
    /// An ACCUMULATE whose region holds the cell.
    Accumulate(Scope),
    /// A `tmatmul` writes it; `own_start` says the same instruction has START.
    PeOverwrite { own_start: bool },
    /// A `tmatmul_acc` writes it.
    PeAccumulate { own_start: bool },
    /// Another engine writes data.
    Write,
    /// Another engine writes +0.0.
    WriteZero,
    /// A memset that legalization inserted: it is no part of the reference meaning.
    Clear,
    /// It is read.
    Read,
    /// The function ends and its buffer escapes.
    Exit,
    /// Its buffer is allocated, or it passes to another buffer.
    Renew,
    /// A callee that may do anything with its bank.
    Call,
}

/// The machines on which a zero region holds a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All.
    Both,
    /// Those whose regions have the partitions of the column group.
    Group,
    /// Those whose regions have the partitions of the destination.
    Dst,
}

impl Event {
    /// A number of its own.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Start(scope) => scope as u8,
            Self::MaybeStart(scope) => 4 + scope as u8,
            Self::Accumulate(scope) => 8 + scope as u8,
            Self::PeOverwrite { own_start } => 12 + own_start as u8,
            Self::PeAccumulate { own_start } => 14 + own_start as u8,
            Self::Write => 16,
            Self::WriteZero => 17,
            Self::Read => 18,
            Self::Exit => 19,
            Self::Renew => 20,
            Self::Call => 21,
            Self::Clear => 22,
        }
    }
}

/// What is wrong with an event in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It must overwrite and adds to something.
    AddsToOther,
    /// It must overwrite and adds to what nobody wrote.
    AddsToUndefined,
    /// It must add and its own START makes it overwrite.
    OverwritesValue,
    /// The value is needed and an earlier START (or inserted memset) destroyed it.
    Clobbered,
    /// The value is needed and another buffer or a callee wrote over it.
    Lost,
    /// It reads a fresh, pending cell.
    ReadsPending,
    /// It reads a fresh cell.
    ReadsUndefined,
    /// It must add to data of another engine whose pending bit may have survived.
    SeedPending,
}

impl Fault {
    /// Every fault, in the order of their bits.
    pub(super) const ALL: [Self; 8] = [
        Self::AddsToOther,
        Self::AddsToUndefined,
        Self::OverwritesValue,
        Self::Clobbered,
        Self::Lost,
        Self::ReadsPending,
        Self::ReadsUndefined,
        Self::SeedPending,
    ];
}

/// Sets of faults: the fault numbered `f` on machine `m` is bit `f * MAX_MACHINES + m`.
pub(super) type Faults = u32;

/// The machines on which `faults` holds `fault`, one bit a machine.
pub(super) const fn machines_with(faults: Faults, fault: Fault) -> u8 {
    (faults >> (fault as u32 * MAX_MACHINES as u32)) as u8 & ((1 << MAX_MACHINES) - 1)
}

/// What START does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// It sets a pending bit, which writes of other engines clear.
    WrittenBit,
    /// It sets the region to +0.0.
    EagerZero,
    /// It sets a pending bit, which writes of other engines leave alone.
    Sticky,
}

/// One of the machines a program is checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// What START does.
    pub(super) rule: Rule,
    /// Whether regions have the partitions of the column group, or of the destination alone.
    pub(super) group_extent: bool,
}

impl Machine {
    /// The name printed in diagnostics.
    pub(super) const fn name(self) -> &'static str {
        match self.rule {
            Rule::WrittenBit => "written-bit",
            Rule::EagerZero => "eager-zero",
            Rule::Sticky => "sticky-pending",
        }
    }

    /// The worlds a cell may be in when the function begins.
    pub(super) fn initial(self, holds_data: bool) -> u16 {
        let (reference, content) = if holds_data {
            (Reference::Value, Content::Equal)
        } else {
            (Reference::Fresh, Content::Undefined)
        };
        let clear = 1 << World::new(reference, content, false).bit();
        let pending = 1 << World::new(reference, content, true).bit();
        if self.rule == Rule::Sticky {
            clear | pending
        } else {
            clear
        }
    }

    const fn is_in(self, scope: Scope) -> bool {
        match scope {
            Scope::Both => true,
            Scope::Group => self.group_extent,
            Scope::Dst => !self.group_extent,
        }
    }

    /// The world after `event`, and what is wrong with the event. A fault is reported once: the
    /// world after it is the one that should have been.
    pub(super) fn step(self, world: World, event: Event) -> (World, Option<Fault>) {
        let World {
            reference,
            content,
            pending,
        } = world;
        let right = World::new(Reference::Value, Content::Equal, false);
        match event {
            Event::Start(scope) | Event::MaybeStart(scope) => (
                if self.is_in(scope) {
                    self.started(world)
                } else {
                    world
                },
                None,
            ),
            Event::Accumulate(scope) => (
                World {
                    pending: pending && !self.is_in(scope),
                    ..world
                },
                None,
            ),
            Event::PeOverwrite { .. } => (right, self.overwrite_fault(world)),
            Event::PeAccumulate { .. } if reference == Reference::Fresh => {
                (right, self.overwrite_fault(world))
            }
            Event::PeAccumulate { own_start } => (right, self.add_fault(world, own_start)),
            Event::Write => (
                World {
                    pending: pending && self.keeps_bit(),
                    ..right
                },
                None,
            ),
            Event::WriteZero => {
                let pending = pending && self.keeps_bit();
                (World::new(Reference::Zero, Content::Zero, pending), None)
            }
            Event::Clear => {
                let pending = pending && self.keeps_bit();
                (World::new(reference, Content::Zero, pending), None)
            }
            Event::Read => self.read(world),
            Event::Exit if reference == Reference::Fresh => (world, None),
            Event::Exit => self.read(world),
            Event::Renew => {
                let content = match content {
                    Content::Equal => Content::Stale,
                    other => other,
                };
                (World::new(Reference::Fresh, content, pending), None)
            }
            Event::Call => (
                World {
                    content: Content::Stale,
                    ..world
                },
                None,
            ),
        }
    }

    /// The other world that `event` may lead to from `before`, where it is not certain.
    pub(super) fn alternative(self, before: World, after: World, event: Event) -> Option<World> {
        match event {
            Event::MaybeStart(_) => Some(before),
            Event::Call if self.rule != Rule::EagerZero => Some(World {
                pending: !after.pending,
                ..after
            }),
            _ => None,
        }
    }

    fn keeps_bit(self) -> bool {
        self.rule == Rule::Sticky
    }

    fn started(self, world: World) -> World {
        match self.rule {
            Rule::EagerZero => World {
                content: Content::Zero,
                ..world
            },
            Rule::WrittenBit | Rule::Sticky => World {
                pending: true,
                ..world
            },
        }
    }

    /// A PE write that must overwrite: it does if the bit is pending, and it may add to zero.
    fn overwrite_fault(self, world: World) -> Option<Fault> {
        match world.content {
            _ if world.pending => None,
            Content::Zero => None,
            Content::Undefined => Some(Fault::AddsToUndefined),
            Content::Stale | Content::Equal => Some(Fault::AddsToOther),
        }
    }

    /// A PE write that must add: it may overwrite only a zero, and only by its own START.
    fn add_fault(self, world: World, own_start: bool) -> Option<Fault> {
        let clobbered = if own_start {
            Fault::OverwritesValue
        } else {
            Fault::Clobbered
        };
        match (world.reference, world.content) {
            (_, Content::Stale | Content::Undefined) => Some(Fault::Lost),
            (Reference::Zero, _) if own_start || self.keeps_bit() => None,
            (Reference::Value, Content::Equal)
                if world.pending && self.keeps_bit() && !own_start =>
            {
                Some(Fault::SeedPending)
            }
            _ if world.pending => Some(clobbered),
            (Reference::Value, Content::Zero) => Some(clobbered),
            _ => None,
        }
    }

    fn read(self, world: World) -> (World, Option<Fault>) {
        let healed = World {
            pending: world.pending && self.keeps_bit(),
            ..world
        };
        let unreadable = world.pending && !self.keeps_bit();
        match (world.reference, world.content) {
            (Reference::Fresh, _) if unreadable => (world, Some(Fault::ReadsPending)),
            (Reference::Fresh, _) => (world, Some(Fault::ReadsUndefined)),
            (Reference::Value, Content::Equal) | (Reference::Zero, Content::Zero) => {
                (healed, unreadable.then_some(Fault::Clobbered))
            }
            (Reference::Value, Content::Zero) => (
                World {
                    content: Content::Equal,
                    ..healed
                },
                Some(Fault::Clobbered),
            ),
            (Reference::Value, _) => (
                World {
                    content: Content::Equal,
                    ..healed
                },
                Some(Fault::Lost),
            ),
            (Reference::Zero, _) => (
                World {
                    content: Content::Zero,
                    ..healed
                },
                Some(Fault::Lost),
            ),
        }
    }
}
