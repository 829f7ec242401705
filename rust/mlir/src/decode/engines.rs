//! The operations of the `pto` dialect.

use pto_ir::{AccFlags, Engine, Placement, Tile};
use pto_machine::code::{
    Allocate, EngineOp, ExpectClose, ExpectEq, Index, Inst, MatmulOp, Slot, Tolerance, Transfer,
};

use super::attributes::{Attr, attribute};
use super::{Decode, Decoding, FunctionDecoder, tiles, types, unsupported};
use crate::accessors::kind;
use crate::handle::{Op, Value};

/// The engines, as the dialect numbers them.
const ENGINES: [Engine; 5] = [
    Engine::Pe,
    Engine::Vector,
    Engine::Scalar,
    Engine::Gpsimd,
    Engine::Dma,
];

/// How an operation of the dialect is decoded.
pub(super) fn handler(op: Op) -> Option<Decode> {
    Some(match op.kind() {
        kind::MATMUL | kind::MATMUL_ACC | kind::TILE_MATMUL => matmul,
        kind::PSUM_ALLOC | kind::SBUF_ALLOC => allocate,
        kind::TILE_ALLOC => tiles::allocate,
        kind::MEMSET => memset,
        kind::COPY => copy,
        kind::EXPECT_EQ => expect_eq,
        kind::EXPECT_CLOSE => expect_close,
        _ => return None,
    })
}

/// A place as the dialect's accessors give it: never negative, which the verifier sees to.
pub(super) fn placement(bank: i32, offset: i32, partition: i32) -> Placement {
    Placement {
        bank: bank.max(0) as u32,
        offset: offset.max(0) as u32,
        partition: partition.max(0) as u32,
    }
}

impl FunctionDecoder<'_> {
    pub(super) fn engine_op(&mut self, op: Op) -> Decoding<EngineOp> {
        let facts = op.engine().ok_or_else(|| unsupported(op))?;
        let engine = ENGINES.get(facts.engine as usize).copied();
        let after = (0..facts.after_count)
            .map(|index| self.scalar(op.after(index), op))
            .collect::<Decoding<_>>()?;
        let token = match facts.has_token {
            true => Some(self.scalar_result(op, op.result_count() - 1)?),
            false => None,
        };
        Ok(EngineOp {
            engine: engine.ok_or_else(|| unsupported(op))?,
            token,
            after,
            is_inserted: facts.inserted,
        })
    }
}

fn allocate(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let facts = op.alloc().ok_or_else(|| unsupported(op))?;
    let ty = types::view_type(op.result(0).r#type(), op)?;
    let size = |size: &Option<u64>| size.map(|size| Index::Constant(size as i64));
    let sizes: Option<Box<[Index]>> = ty.sizes.iter().map(size).collect();
    let allocate = Allocate {
        dst: decoder.view_result(op, 0)?,
        element: ty.element,
        space: ty.space,
        sizes: sizes.ok_or_else(|| unsupported(op))?,
        layout: ty.layout,
        placement: facts
            .placed
            .then(|| placement(facts.bank, facts.offset, facts.partition)),
        capacity: None,
    };
    decoder.emit(Inst::Allocate(Box::new(allocate)), op);
    Ok(())
}

/// A matmul of either machine: two of the operations serve both.
fn matmul(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    match op.tile_matmul() {
        Some(facts) => tiles::matmul(decoder, op, &facts),
        None => pe_matmul(decoder, op),
    }
}

fn pe_matmul(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let facts = op.matmul().ok_or_else(|| unsupported(op))?;
    // SAFETY: the operands of a live operation.
    let value = |raw| unsafe { Value::from_option_raw(raw) };
    let required = |raw| value(raw).ok_or_else(|| unsupported(op));
    let mut predicate = |raw| match value(raw) {
        Some(value) => decoder.scalar(value, op).map(Some),
        None => Ok(None),
    };
    let (start_if, stop_if) = (predicate(facts.start_if)?, predicate(facts.stop_if)?);
    let accumulator = match value(facts.accumulator) {
        Some(value) => Some(decoder.view(value, op)?),
        None => None,
    };
    let tile = Tile {
        rows: facts.tile_rows as u32,
        cols: facts.tile_cols as u32,
        row: facts.tile_row as u32,
        col: facts.tile_col as u32,
    };
    let matmul = MatmulOp {
        op: decoder.engine_op(op)?,
        accumulator,
        stationary: decoder.view(required(facts.lhs)?, op)?,
        moving: decoder.view(required(facts.rhs)?, op)?,
        dst: decoder.view(required(facts.dst)?, op)?,
        tile: facts.has_tile.then_some(tile),
        flags: u8::try_from(facts.acc).ok().and_then(AccFlags::from_byte),
        zero_region: u8::try_from(facts.zero_region).ok(),
        start_if,
        stop_if,
    };
    decoder.emit(Inst::Matmul(Box::new(matmul)), op);
    Ok(())
}

fn memset(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let value = op.operand(0);
    let fill = Transfer {
        op: decoder.engine_op(op)?,
        source: decoder.scalar(value, op)?,
        source_type: memset_type(op)?,
        dst: decoder.view(op.operand(1), op)?,
    };
    decoder.emit(Inst::Fill(Box::new(fill)), op);
    Ok(())
}

/// The type a memset's value converts from: only floats round, integers have the element's width.
fn memset_type(op: Op) -> Decoding<Option<pto_machine::code::ElementType>> {
    let ty = types::scalar_type(op.operand(0).r#type(), op)?;
    Ok(ty.is_float().then_some(ty))
}

fn copy(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let transfer = Transfer {
        op: decoder.engine_op(op)?,
        source: decoder.view(op.operand(0), op)?,
        source_type: None,
        dst: decoder.view(op.operand(1), op)?,
    };
    decoder.emit(Inst::Copy(Box::new(transfer)), op);
    Ok(())
}

fn expectation(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<ExpectEq> {
    let buffer = op.operand(0);
    let ty = types::view_type(buffer.r#type(), op)?;
    let expected = attribute(op, "expected").and_then(|values| values.dense(ty.element));
    let view = match decoder.slot(buffer, op)? {
        Slot::View(view) => view,
        Slot::Scalar(_) => return Err(unsupported(op)),
    };
    let sizes = ty.sizes.iter().map(|size| size.unwrap_or(0)).collect();
    Ok(ExpectEq {
        view,
        element: ty.element,
        expected: expected.ok_or_else(|| unsupported(op))?.into(),
        sizes,
    })
}

fn expect_eq(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let expect = expectation(decoder, op)?;
    decoder.emit(Inst::ExpectEq(Box::new(expect)), op);
    Ok(())
}

fn expect_close(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let ulp = attribute(op, "ulp")
        .and_then(Attr::integer)
        .ok_or_else(|| unsupported(op))?;
    let close = ExpectClose {
        expect: expectation(decoder, op)?,
        tolerance: Tolerance::Ulp(ulp.max(0) as u64),
    };
    decoder.emit(Inst::ExpectClose(Box::new(close)), op);
    Ok(())
}
