//! One core: tile registers, Shared tiles and sticky flags, with atomic publication.
//!
//! 64 Local registers in four hands of 16. A destination names a hand and becomes its
//! lowest-numbered free register. A block either publishes all its destinations and flags or,
//! on a fault, changes nothing.

use super::contents::{SharedTile, Tile};
use super::descriptor::capacity_of_code;
use super::execute::{Outcome, execute};
use super::fault::{Fault, Rule, require};
use super::fields::{Addend, DataAttributes, Function, Post, Scalars};
use super::operation::{Destination, Form, Operation, Source, operand_groups};
use super::preflight::Room;
use super::revision::{Arithmetic, Revision};
use super::types::DataType;
use std::collections::BTreeMap;

/// Local registers of a core.
pub const REGISTERS: usize = 64;
/// Registers of one hand: T, U, M, N.
pub const HAND: usize = 16;
/// Bytes of all tiles of a core at reset.
pub const DEFAULT_CAPACITY: u64 = 262_144;

/// A tile in a Local register, held by the processing elements of `mask`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The tile.
    pub tile: Tile,
    /// The elements that hold it.
    pub mask: u8,
}

/// The state operations run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    registers: Vec<Option<Register>>,
    shared: BTreeMap<u32, SharedTile>,
    capacity: u64,
    flags: u8,
}

/// A block of commands with its registers.
#[derive(Clone, Debug)]
pub struct Block {
    /// The 5-bit CUBE function code.
    pub function: u8,
    /// The left type.
    pub a_type: DataType,
    /// B.DATR.
    pub data: Option<DataAttributes>,
    /// LB0, LB1, LB2.
    pub dimensions: [Option<u32>; 3],
    /// B.FPATR.
    pub post: Option<Post>,
    /// B.IOR.
    pub scalars: Option<Scalars>,
    /// The mask of every binding.
    pub masks: Vec<u8>,
    /// The processing element whose view this is.
    pub element: u32,
    /// Whether the source stream ended with its last command.
    pub stream_ended: bool,
    /// Local source registers.
    pub sources: Vec<u8>,
    /// Shared source names.
    pub shared: Vec<u32>,
    /// Hand and size code of each destination.
    pub destinations: Vec<(u8, u8)>,
}

/// How a block or instruction ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// It had no effect: empty masks, or no rows on this element.
    NoEffect,
    /// The registers its destinations became, in order.
    Done(Vec<u8>),
}

impl Default for Core {
    fn default() -> Self {
        Core {
            registers: vec![None; REGISTERS],
            shared: BTreeMap::new(),
            capacity: DEFAULT_CAPACITY,
            flags: 0,
        }
    }
}

impl Core {
    /// A core at reset.
    pub fn new() -> Core {
        Core::default()
    }

    /// Sets the capacity register, in bytes.
    pub fn set_capacity(&mut self, bytes: u64) {
        self.capacity = bytes;
    }

    /// Puts a tile into a register, or empties it. `false` for a number beyond the registers.
    pub fn set_register(&mut self, number: u8, register: Option<Register>) -> bool {
        match self.registers.get_mut(usize::from(number)) {
            Some(slot) => {
                *slot = register;
                true
            }
            None => false,
        }
    }

    /// The contents of a register.
    pub fn register(&self, number: u8) -> Option<&Register> {
        self.registers.get(usize::from(number))?.as_ref()
    }

    /// Names a Shared tile.
    pub fn set_shared(&mut self, name: u32, tile: SharedTile) {
        self.shared.insert(name, tile);
    }

    /// The sticky flags.
    pub fn flags(&self) -> u8 {
        self.flags
    }

    /// Issues a block. On a fault nothing has changed.
    ///
    /// # Errors
    /// The first rule broken.
    pub fn issue(
        &mut self,
        block: &Block,
        revision: Revision,
        arithmetic: Arithmetic,
    ) -> Result<Completion, Fault> {
        let destinations = destinations(block)?;
        let operation = Operation {
            form: Form::Block,
            function: block.function,
            a_type: block.a_type,
            data: block.data,
            dimensions: block.dimensions,
            post: block.post,
            scalars: block.scalars.clone(),
            masks: block.masks.clone(),
            element: block.element,
            stream_ended: block.stream_ended,
            sources: block.sources.iter().map(|&r| self.local(r)).collect(),
            shared: block.shared.iter().map(|&s| self.shared(s)).collect(),
            destinations,
        };
        let outcome = execute(&operation, revision, arithmetic, Some(&*self))?;
        let Outcome::Done(results) = outcome else {
            return Ok(Completion::NoEffect);
        };
        let hands: Vec<u8> = block.destinations.iter().map(|d| d.0).collect();
        let Some(numbers) = self.free_registers(&hands) else {
            return Err(no_register());
        };
        let mask = block.masks.first().copied().unwrap_or(0b1111);
        for (&number, tile) in numbers.iter().zip(results.tiles) {
            self.set_register(number, Some(Register { tile, mask }));
        }
        self.flags |= results.flags;
        Ok(Completion::Done(numbers))
    }

    /// Issues a direct instruction: `registers` are the operands in the catalogue's order after
    /// the destination, a scale slot for each side of an MX function whether used or not.
    ///
    /// # Errors
    /// The first rule broken.
    pub fn issue_direct(
        &mut self,
        function: u8,
        types: (DataType, DataType),
        destination: u8,
        registers: &[u8],
        (revision, arithmetic): (Revision, Arithmetic),
    ) -> Result<(), Fault> {
        let (a_type, b_type) = types;
        let slots = used_slots(function, a_type, b_type);
        let sources: Vec<Source<'_>> = registers
            .iter()
            .zip(&slots)
            .filter(|&(_, &is_used)| is_used)
            .map(|(&r, _)| self.local(r))
            .collect();
        let held = self.register(destination);
        let descriptor = held.map(|r| *r.tile.descriptor());
        let Some(descriptor) = descriptor else {
            return Err(Fault::new(
                Rule::Unallocated,
                format!("expected a tile in register {destination}, found none"),
            ));
        };
        let mask = held.map_or(0b1111, |r| r.mask);
        let has_c = Function::from_code(function).is_some_and(|f| f.addend == Addend::Accumulator);
        let shape = |i: usize| sources.get(i).and_then(|s| s.descriptor);
        let first = usize::from(has_c);
        let operation = Operation {
            form: Form::Direct,
            function,
            a_type,
            data: Some(DataAttributes {
                b_type: Some(b_type),
                ..DataAttributes::default()
            }),
            dimensions: [
                Some(descriptor.valid_rows),
                Some(descriptor.valid_columns),
                shape(first).map(|a| a.valid_columns),
            ],
            post: None,
            scalars: None,
            masks: vec![mask],
            element: 0,
            stream_ended: true,
            sources,
            shared: Vec::new(),
            destinations: vec![Destination {
                capacity: descriptor.capacity,
                name: Some(destination.into()),
                descriptor: Some(descriptor),
            }],
        };
        if let Outcome::Done(mut results) = execute(&operation, revision, arithmetic, None)? {
            if let Some(tile) = results.tiles.pop() {
                self.set_register(destination, Some(Register { tile, mask }));
            }
            self.flags |= results.flags;
        }
        Ok(())
    }

    fn local(&self, number: u8) -> Source<'_> {
        let source = match self.register(number) {
            Some(register) => Source::filled(&register.tile),
            None => Source::default(),
        };
        Source {
            name: Some(number.into()),
            ..source
        }
    }

    fn shared(&self, name: u32) -> Source<'_> {
        match self.shared.get(&name) {
            Some(shared) => Source {
                shared_state: Some(shared.state),
                ..Source::filled(&shared.tile)
            },
            None => Source::default(),
        }
    }

    /// The lowest free register of each hand in turn; `None` where one has none left.
    fn free_registers(&self, hands: &[u8]) -> Option<Vec<u8>> {
        let mut taken = Vec::new();
        for &hand in hands {
            let first = usize::from(hand) * HAND;
            let free = (first..first + HAND)
                .filter_map(|number| u8::try_from(number).ok())
                .find(|&n| {
                    usize::from(n) < REGISTERS && self.register(n).is_none() && !taken.contains(&n)
                })?;
            taken.push(free);
        }
        Some(taken)
    }

    /// Bytes of all tiles over all the elements that hold them.
    pub fn allocated_bytes(&self) -> u64 {
        let local = self.registers.iter().flatten();
        let local = local.map(|r| held_bytes(r.tile.descriptor().capacity, r.mask));
        let shared = self.shared.values();
        let shared = shared.map(|s| held_bytes(s.tile.descriptor().capacity, s.state.allocated));
        local.chain(shared).sum()
    }
}

fn held_bytes(capacity: u32, mask: u8) -> u64 {
    u64::from(capacity) * u64::from(mask.count_ones())
}

fn no_register() -> Fault {
    Fault::new(
        Rule::NoRegister,
        "expected a free register in the destination's hand, found none",
    )
}

impl Room for Core {
    fn tile_limit(&self) -> u64 {
        self.capacity
    }

    fn check(&self, destinations: &[Destination], mask: u8) -> Result<(), Fault> {
        let hands: Vec<u8> = destinations
            .iter()
            .map(|d| {
                d.name
                    .and_then(|hand| u8::try_from(hand).ok())
                    .unwrap_or(u8::MAX)
            })
            .collect();
        if self.free_registers(&hands).is_none() {
            return Err(no_register());
        }
        let new: u64 = destinations
            .iter()
            .map(|d| held_bytes(d.capacity, mask))
            .sum();
        let total = self.allocated_bytes() + new;
        require!(
            total <= self.capacity,
            CoreCapacity,
            "expected all tiles of the core within {} bytes, found {total}",
            self.capacity
        );
        Ok(())
    }
}

/// The destinations of a block. A size code or hand outside its field's values does not decode.
fn destinations(block: &Block) -> Result<Vec<Destination>, Fault> {
    let decode = |&(hand, code): &(u8, u8)| {
        require!(
            usize::from(hand) < REGISTERS / HAND,
            ReservedField,
            "expected a hand of 0 to 3, found {hand}"
        );
        let Some(capacity) = capacity_of_code(code) else {
            return Err(Fault::new(
                Rule::ReservedField,
                format!("expected a size code of 1 to 10, found {code}"),
            ));
        };
        Ok(Destination {
            capacity,
            name: Some(hand.into()),
            descriptor: None,
        })
    };
    block.destinations.iter().map(decode).collect()
}

/// Which operand slots of a direct instruction are read.
fn used_slots(function: u8, a_type: DataType, b_type: DataType) -> Vec<bool> {
    let Some(function) = Function::from_code(function) else {
        return Vec::new();
    };
    let (left, right) = operand_groups(function, a_type, b_type);
    let mut slots = Vec::new();
    if function.addend == Addend::Accumulator {
        slots.push(true);
    }
    for group in [left, right] {
        slots.push(true);
        if function.mx {
            slots.push(group.len() == 2);
        }
    }
    if function.addend == Addend::Bias {
        slots.push(true);
    }
    slots
}
