//! What names a tile in a document, and what it must be.

use pto_machine::tile::core::HAND;
use pto_machine::tile::{DataType, Rule};

use super::super::export::LAYOUTS;
use super::{Reason, fault, malformed};
use crate::handle::tile_type_spelling;
use pto_passes::legalize_tile::assign::LOAD_HANDS;

/// What names a tile: a Local register, by hand and number, or a Shared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// The hand in the order in which arguments take hands, then the register.
    Local(usize, u8),
    Shared(u32),
}

impl Place {
    pub(super) fn local(register: u8) -> Result<Self, Reason> {
        let hand = register / HAND as u8;
        match LOAD_HANDS.iter().position(|&other| other == hand) {
            Some(order) => Ok(Self::Local(order, register)),
            None => {
                let last = LOAD_HANDS.len() * HAND - 1;
                let message = format!("expected a register from 0 to {last}, found {register}");
                Err(fault(Rule::ReservedField, message))
            }
        }
    }

    /// The name of what is in it at first.
    pub(super) fn first_value(self) -> String {
        match self {
            Self::Local(_, register) => format!("%r{register}"),
            Self::Shared(name) => format!("%s{name}"),
        }
    }
}

/// A tile that an instruction names: what it must be.
pub(super) struct Operand {
    pub(super) place: Place,
    pub(super) data_type: DataType,
    pub(super) shape: (u32, u32),
    pub(super) layout: String,
    /// The size code that the document says; without one any will do.
    pub(super) size_code: Option<u8>,
}

impl Operand {
    pub(super) fn memref(&self) -> String {
        let (rows, columns) = self.shape;
        let element = tile_type_spelling(self.data_type.code());
        format!(
            "memref<{rows}x{columns}x{element}, #pto.mem<{}>>",
            self.layout
        )
    }
}

/// What is in a place.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) value: Value,
    /// The size code that it was given; absent, the smallest that fits.
    pub(super) size_code: Option<u8>,
}

/// The name and the type of a value.
pub(super) type Value = (String, String);

/// The layout of a Local tile.
pub(super) fn layout_named(name: &str) -> Result<String, Reason> {
    // All but the first, which is none, and the last, which no Local tile has.
    let local = &LAYOUTS[1..LAYOUTS.len() - 1];
    match local.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(malformed(
            "cube_m16, cube_m32 or cube_n8",
            &format!("`{name}`"),
        )),
    }
}
