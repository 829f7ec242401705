//! MLIR types as the machine knows them.

use pto_machine::code::{ElementType, Layout, Space, TileKind, TileSpace, ValueType, ViewType};
use pto_machine::tile::DataType;

use super::attributes::{element_type, is_memref};
use super::{Decoding, Refusal, refuse};
use crate::accessors::space;
use crate::handle::{DYNAMIC, Op, Type};

/// The spaces but those of tiles, as the dialect numbers them.
const SPACES: [Space; 3] = [Space::Hbm, Space::Sbuf, Space::Psum];

/// The spaces of tiles, as the dialect numbers them from 1.
const TILE_SPACES: [TileSpace; 4] = [
    TileSpace::CubeM16,
    TileSpace::CubeM32,
    TileSpace::CubeN8,
    TileSpace::Shared,
];

/// The type of a value; `at` is blamed if the machine has no such type.
pub(super) fn value_type(ty: Type, at: Op) -> Decoding<ValueType> {
    if is_memref(ty) {
        return view_type(ty, at).map(ValueType::View);
    }
    if ty.text() == "!pto.token" {
        return Ok(ValueType::Token);
    }
    scalar_type(ty, at).map(ValueType::Scalar)
}

/// The type of a scalar.
pub(super) fn scalar_type(ty: Type, at: Op) -> Decoding<ElementType> {
    let element = element_type(ty).or_else(|| data_type(ty).map(ElementType::of_tile));
    element.ok_or_else(|| unknown_type(ty, at))
}

/// What elements of type `ty` are in a tile.
fn data_type(ty: Type) -> Option<DataType> {
    ty.tile_data_type().and_then(DataType::from_code)
}

/// The memory that a memref lies in, and the type of its elements.
fn space_and_element(ty: Type, at: Op) -> Decoding<(Space, ElementType)> {
    let number = ty.space();
    if number != space::TILE {
        let space = SPACES.get(number as usize).copied();
        let space = space.ok_or_else(|| unknown_type(ty, at))?;
        return Ok((space, scalar_type(ty.element(), at)?));
    }
    let place = (ty.tile_space() as usize).checked_sub(1);
    let space = place.and_then(|place| TILE_SPACES.get(place)).copied();
    let kind = TileKind {
        space: space.ok_or_else(|| unknown_type(ty, at))?,
        data_type: data_type(ty.element()).ok_or_else(|| unknown_type(ty, at))?,
    };
    Ok((Space::Tile(kind), ElementType::of_tile(kind.data_type)))
}

/// The type of a memref.
pub(super) fn view_type(ty: Type, at: Op) -> Decoding<ViewType> {
    let sizes = ty
        .sizes()
        .filter(|_| is_memref(ty))
        .ok_or_else(|| unknown_type(ty, at))?;
    let (space, element) = space_and_element(ty, at)?;
    let (offset, strides) = ty
        .strides(sizes.len())
        .ok_or_else(|| unknown_type(ty, at))?;
    let layout = (!is_row_major(&sizes, offset, &strides)).then(|| Layout {
        offset: known(offset),
        strides: strides.iter().map(|&stride| known(stride)).collect(),
    });
    Ok(ViewType {
        element,
        space,
        sizes: sizes
            .into_iter()
            .map(|size| known(size).map(|size| size as u64))
            .collect(),
        layout,
    })
}

/// A number that may be dynamic.
pub(super) fn known(number: i64) -> Option<i64> {
    (number != DYNAMIC).then_some(number)
}

/// Whether the layout says no more than the sizes do.
fn is_row_major(sizes: &[i64], offset: i64, strides: &[i64]) -> bool {
    let mut expected = Some(1i64);
    for (&size, &stride) in sizes.iter().zip(strides).rev() {
        let matches = match expected {
            Some(expected) => stride == expected,
            // Past a dynamic size the strides are dynamic.
            None => stride == DYNAMIC,
        };
        if !matches {
            return false;
        }
        expected = match (expected, known(size)) {
            (Some(expected), Some(size)) => expected.checked_mul(size),
            _ => None,
        };
    }
    offset == 0
}

fn unknown_type(ty: Type, at: Op) -> Box<Refusal> {
    let message = format!(
        "the interpreter has no values of type {} ({})",
        ty.text(),
        at.name()
    );
    refuse(at, "pto:unsupported-type", &message)
}
