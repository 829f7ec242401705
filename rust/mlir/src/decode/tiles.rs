//! The operations of the tile ISA.

use pto_machine::code::{Allocate, Index, Inst, ScalarSlot, TileMatmul, ViewSlot};
use pto_machine::tile::fields::{RMode, ReluMode};
use pto_machine::tile::post::modes::PreQuantMode;
use pto_machine::tile::{Post, Role};

use super::attributes::is_memref;
use super::{Decoding, FunctionDecoder, types, unsupported};
use crate::accessors::PtoTileOp;
use crate::handle::{Op, Value};

pub(super) fn allocate(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let facts = op.tile_alloc().ok_or_else(|| unsupported(op))?;
    let ty = types::view_type(op.result(0).r#type(), op)?;
    let size = |size: &Option<u64>| size.map(|size| Index::Constant(size as i64));
    let sizes: Option<Box<[Index]>> = ty.sizes.iter().map(size).collect();
    let allocate = Allocate {
        dst: decoder.view_result(op, 0)?,
        element: ty.element,
        space: ty.space,
        sizes: sizes.ok_or_else(|| unsupported(op))?,
        layout: None,
        placement: None,
        capacity: Some(facts.bytes),
    };
    decoder.emit(Inst::Allocate(Box::new(allocate)), op);
    Ok(())
}

/// A matmul of the tile ISA, of which `facts` are the operands and fields.
pub(super) fn matmul(decoder: &mut FunctionDecoder<'_>, op: Op, facts: &PtoTileOp) -> Decoding<()> {
    let mut sources: Vec<(Role, ViewSlot)> = Vec::new();
    let mut scalars: Vec<ScalarSlot> = Vec::new();
    for (role, raw) in sources_of(facts) {
        // SAFETY: an operand of a live operation, or null.
        let Some(value) = (unsafe { Value::from_option_raw(raw) }) else {
            continue;
        };
        if is_memref(value.r#type()) {
            sources.push((role, decoder.view(value, op)?));
        } else {
            scalars.push(decoder.scalar(value, op)?);
        }
    }
    let mut destinations: Vec<ViewSlot> = Vec::new();
    for raw in [facts.dst, facts.row_max, facts.group_max] {
        // SAFETY: an operand of a live operation, or null.
        if let Some(value) = unsafe { Value::from_option_raw(raw) } {
            destinations.push(decoder.view(value, op)?);
        }
    }
    let code = |code: u32| u8::try_from(code).ok();
    let matmul = TileMatmul {
        op: decoder.engine_op(op)?,
        function: code(facts.function).ok_or_else(|| unsupported(op))?,
        post: post_of(facts).ok_or_else(|| unsupported(op))?,
        rmode: code(facts.rmode)
            .and_then(RMode::from_code)
            .ok_or_else(|| unsupported(op))?,
        saturate: facts.sat,
        mask: code(facts.mask).ok_or_else(|| unsupported(op))?,
        sources: sources.into(),
        scalars: scalars.into(),
        destinations: destinations.into(),
    };
    decoder.emit(Inst::TileMatmul(Box::new(matmul)), op);
    Ok(())
}

/// The sources in the order of the ISA's stream. A parameter may be a scalar instead.
fn sources_of(facts: &PtoTileOp) -> [(Role, mlir_sys::MlirValue); Role::COUNT] {
    [
        (Role::C, facts.accumulator),
        (Role::A, facts.lhs),
        (Role::ScaleA, facts.lhs_scale),
        (Role::B, facts.rhs),
        (Role::ScaleB, facts.rhs_scale),
        (Role::Bias, facts.bias),
        (Role::CScale, facts.c_scale),
        (Role::RowMaxIn, facts.row_max_in),
        (Role::Quant, facts.quant),
        (Role::Prelu, facts.prelu),
    ]
}

/// B.FPATR. The verifier refuses codes without a meaning.
fn post_of(facts: &PtoTileOp) -> Option<Post> {
    Some(Post {
        pre_quant: PreQuantMode::from_code(u8::try_from(facts.pre_quant).ok()?)?,
        relu: ReluMode::from_code(u8::try_from(facts.relu).ok()?)?,
        group_code: u8::try_from(facts.group).ok()?,
        row_max: facts.row_max_enable,
        group_max: facts.group_max_enable,
        row_max_init: facts.row_max_init,
        max_abs: facts.max_abs,
        trans_a: facts.trans_a,
        trans_b: facts.trans_b,
        c_scale: !facts.c_scale.ptr.is_null(),
    })
}
