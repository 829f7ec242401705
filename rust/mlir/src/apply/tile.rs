//! From a [`TilePlan`] to edits of the operation that was read.
//!
//! New tiles, zeros and copies are added, operands name other tiles, accumulators are dropped.
//! Nothing of it can fail once every operation that loses its accumulator is known to have one.

use anyhow::Result;
use melior::ir::operation::OperationBuilder;
use melior::ir::{BlockLike, BlockRef, Location, OperationRef};
use mlir_sys::{
    mlirIntegerTypeGet, mlirIntegerTypeGetWidth, mlirOperationSetOperand, mlirTypeIsAInteger,
};
use pto_ir::Engine;
use pto_ir::tile::{TileCopy, TilePlace, TilePlan};
use rustc_hash::FxHashMap;

use super::{INTERNAL, zero};
use crate::accessors::{self, tile_use};
use crate::diag::Message;
use crate::handle::{Key, Op, Type, Value};
use crate::read::tile::TileReading;

/// Copies a tile to another one.
const COPY: &str = "memref.copy";

/// Carries out `plan` on the operation that `reading` was read from. On `Err` nothing was changed.
pub(crate) fn apply(plan: &TilePlan, reading: &TileReading) -> Result<(), Message> {
    for &head in &plan.heads {
        let op = reading.op(head);
        let accumulates = |index| op.tile_use(index) == tile_use::ACCUMULATOR;
        if op.tile_matmul().is_none() || !(0..op.operand_count()).any(accumulates) {
            let sentence = "an accumulator is dropped that is not there";
            return Err(Message::error(INTERNAL, op.location(), sentence));
        }
    }
    let new_tiles: Vec<Value> = plan
        .new_tiles
        .iter()
        .filter_map(|&kind| {
            // SAFETY: the tile is live; its new like is, too, from here on.
            unsafe {
                let new = accessors::ptoTileAllocCreateLike(reading.value(kind).raw());
                Value::from_option_raw(new)
            }
        })
        .collect();
    let value = |place: TilePlace| match place {
        TilePlace::Tile(tile) => reading.value(tile),
        TilePlace::New(index) => new_tiles[index as usize],
    };
    insert_zeros(plan, reading).map_err(|error| {
        Message::error(INTERNAL, reading.function.location(), &error.to_string())
    })?;
    for copy in &plan.copies {
        insert_copy(reading.op(copy.before), copy, value)?;
    }
    for rewire in &plan.rewires {
        let op = reading.op(rewire.inst);
        // SAFETY: the operand is there, it was read; the new value is live and of its type.
        unsafe {
            mlirOperationSetOperand(op.raw(), rewire.operand as isize, value(rewire.to).raw());
        }
    }
    for &head in &plan.heads {
        // SAFETY: it is live and accumulates, as was checked above. The old handle is not used
        // again: nothing follows, and each head is there once.
        unsafe { accessors::ptoTileOpDropAccumulator(reading.op(head).raw()) };
    }
    Ok(())
}

/// Fills tiles with zeros: of f32, or of the signless integer as wide as the element.
fn insert_zeros(plan: &TilePlan, reading: &TileReading) -> Result<()> {
    let function = reading.function;
    let mut known: FxHashMap<Key, Value> = FxHashMap::default();
    for planned in &plan.zeros {
        let tile = reading.value(planned.tile);
        let element = tile.r#type().element();
        let value = match known.get(&element.key()) {
            Some(&value) => value,
            None => {
                // SAFETY: the element type is live, and so is its context.
                let constant_type = unsafe {
                    match mlirTypeIsAInteger(element.raw()) {
                        true => {
                            let width = mlirIntegerTypeGetWidth(element.raw());
                            Type::from_raw(mlirIntegerTypeGet(function.context(), width))
                        }
                        false => element,
                    }
                };
                let value = zero(function, constant_type)?;
                known.insert(element.key(), value);
                value
            }
        };
        // SAFETY: all three are live, and the zero stands at the start of the function.
        unsafe {
            let before = reading.op(planned.before).raw();
            let engine = Engine::Vector as u32;
            accessors::ptoMemsetCreateBefore(before, value.raw(), tile.raw(), engine, false);
        }
    }
    Ok(())
}

fn insert_copy(
    before: Op,
    copy: &TileCopy,
    value: impl Fn(TilePlace) -> Value,
) -> Result<(), Message> {
    // SAFETY: `before`, its block and both tiles outlive this call.
    let (block, anchor, location, from, to) = unsafe {
        (
            BlockRef::from_raw(before.block().raw()),
            OperationRef::from_raw(before.raw()),
            Location::from_raw(before.location().raw()),
            melior::ir::Value::from_raw(value(copy.from).raw()),
            melior::ir::Value::from_raw(value(copy.to).raw()),
        )
    };
    let built = OperationBuilder::new(COPY, location)
        .add_operands(&[from, to])
        .build()
        .map_err(|error| Message::error(INTERNAL, before.location(), &error.to_string()))?;
    block.insert_operation_before(anchor, built);
    Ok(())
}
