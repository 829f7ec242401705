//! Index arithmetic that is several instructions: `affine` indices in a mixed basis, and what of the
//! `index` dialect is not named like `arith`.

use pto_machine::code::{Affine, AffineApply, AffineOp, Compare, Index, Inst, ScalarSlot, Slot};
use pto_machine::scalar::IntCompare;

use super::attributes::{Attr, attribute};
use super::memrefs::statics;
use super::{Decode, Decoding, FunctionDecoder, unsupported};
use crate::handle::Op;

/// How operations called `name` are decoded.
pub(super) fn handler(name: &str) -> Option<Decode> {
    Some(match name {
        "affine.delinearize_index" => delinearize,
        "affine.linearize_index" => linearize,
        "index.constant" | "index.bool.constant" => constant,
        "index.cmp" => compare,
        _ => return None,
    })
}

impl FunctionDecoder<'_> {
    fn emit_expression(
        &mut self,
        dst: ScalarSlot,
        steps: Vec<AffineOp>,
        inputs: &[Index],
        op: Op,
    ) -> Decoding<()> {
        let apply = AffineApply {
            dst,
            expr: Affine::new(steps).ok_or_else(|| unsupported(op))?,
            inputs: inputs.into(),
        };
        self.emit(Inst::Affine(Box::new(apply)), op);
        Ok(())
    }
}

/// The sizes of the `count` inner dimensions of a basis; that of the outermost, if it is given, only
/// promises.
fn inner_basis(basis: &[Index], count: usize, op: Op) -> Decoding<&[Index]> {
    let outer = basis
        .len()
        .checked_sub(count)
        .ok_or_else(|| unsupported(op))?;
    Ok(&basis[outer..])
}

/// From the innermost on: the remainder by the size, and the quotient for the dimensions around.
fn delinearize(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    use AffineOp::{FloorDiv, Input, Mod};
    let basis = decoder.mixed(
        &statics(op, "static_basis")?,
        &mut op.operands().skip(1),
        op,
    )?;
    let inner = inner_basis(&basis, op.result_count() - 1, op)?;
    let mut rest = decoder.scalar(op.operand(0), op)?;
    for (number, &size) in inner.iter().enumerate().rev() {
        let inputs = [Index::Slot(rest), size];
        let part = decoder.scalar_result(op, number + 1)?;
        decoder.emit_expression(part, vec![Input(0), Input(1), Mod], &inputs, op)?;
        rest = decoder.builder.scalar();
        decoder.emit_expression(rest, vec![Input(0), Input(1), FloorDiv], &inputs, op)?;
    }
    let dst = decoder.scalar_result(op, 0)?;
    decoder.emit(Inst::Move { dst, src: rest }, op);
    Ok(())
}

fn linearize(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    use AffineOp::{Add, Input, Mul};
    let sizes = statics(op, "static_basis")?;
    let dynamic = op.operand_count() - dynamic_count(&sizes).min(op.operand_count());
    let basis = decoder.mixed(&sizes, &mut op.operands().skip(dynamic), op)?;
    let parts = (0..dynamic).map(|number| decoder.scalar(op.operand(number), op));
    let parts = parts.collect::<Decoding<Vec<ScalarSlot>>>()?;
    let Some((&outermost, inner_parts)) = parts.split_first() else {
        let dst = decoder.scalar_result(op, 0)?;
        let src = decoder.builder.constant(0);
        decoder.emit(Inst::Move { dst, src }, op);
        return Ok(());
    };
    let inner = inner_basis(&basis, inner_parts.len(), op)?;
    let mut sum = outermost;
    for (&part, &size) in inner_parts.iter().zip(inner) {
        let inputs = [Index::Slot(sum), size, Index::Slot(part)];
        sum = decoder.builder.scalar();
        let steps = vec![Input(0), Input(1), Mul, Input(2), Add];
        decoder.emit_expression(sum, steps, &inputs, op)?;
    }
    let dst = decoder.scalar_result(op, 0)?;
    decoder.emit(Inst::Move { dst, src: sum }, op);
    Ok(())
}

/// How many of these numbers are given by operands.
fn dynamic_count(numbers: &[i64]) -> usize {
    let dynamic = numbers
        .iter()
        .filter(|&&number| number == crate::handle::DYNAMIC);
    dynamic.count()
}

fn constant(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let value = attribute(op, "value").and_then(Attr::integer);
    let slot = decoder
        .builder
        .constant(value.ok_or_else(|| unsupported(op))? as u64);
    decoder.bind(op.result(0), Slot::Scalar(slot));
    Ok(())
}

fn compare(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    // `#index<cmp_predicate slt>`: the dialect has no C function for it.
    let text = attribute(op, "pred").map(Attr::print).unwrap_or_default();
    let words = text.trim_end_matches('>').rsplit(' ').next();
    let predicate = words.and_then(|name| match name {
        "eq" => Some(IntCompare::Eq),
        "ne" => Some(IntCompare::Ne),
        "slt" => Some(IntCompare::Slt),
        "sle" => Some(IntCompare::Sle),
        "sgt" => Some(IntCompare::Sgt),
        "sge" => Some(IntCompare::Sge),
        "ult" => Some(IntCompare::Ult),
        "ule" => Some(IntCompare::Ule),
        "ugt" => Some(IntCompare::Ugt),
        "uge" => Some(IntCompare::Uge),
        _ => None,
    });
    let inst = Inst::Compare {
        op: Compare::Int(predicate.ok_or_else(|| unsupported(op))?, 64),
        dst: decoder.scalar_result(op, 0)?,
        lhs: decoder.scalar(op.operand(0), op)?,
        rhs: decoder.scalar(op.operand(1), op)?,
    };
    decoder.emit(inst, op);
    Ok(())
}
