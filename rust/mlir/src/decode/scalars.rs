//! `arith` and `math`, and constants.

use pto_machine::code::{Compare, ElementType, Inst, Slot, truncate};
use pto_machine::scalar::float::from_f64;
use pto_machine::scalar::{FloatCompare, IntCompare};

use super::attributes::{Attr, attribute};
use super::names::Simple;
use super::{Decode, Decoding, FunctionDecoder, types, unsupported};
use crate::handle::{Op, Value};

/// How operations called `name` are decoded.
pub(super) fn handler(name: &str) -> Option<Decode> {
    Some(match name {
        "arith.constant" => constant,
        "arith.cmpi" => compare_ints,
        "arith.cmpf" => compare_floats,
        "arith.select" => select,
        "math.fma" => fused_multiply_add,
        "math.fpowi" => float_power,
        "math.sincos" => sine_and_cosine,
        "math.clampf" => clamp,
        _ => return None,
    })
}

impl FunctionDecoder<'_> {
    /// Decodes an operation that is one instruction.
    pub(super) fn simple(&mut self, op: Op, simple: Simple) -> Decoding<()> {
        let ty = types::scalar_type(op.operand(0).r#type(), op)?;
        let operand = self.scalar(op.operand(0), op)?;
        let dst = self.scalar_result(op, 0)?;
        let width = ty.int_width();
        let inst = match simple {
            Simple::IntBinary(int_op) => Inst::IntBinary {
                op: int_op,
                width: width.ok_or_else(|| unsupported(op))?,
                dst,
                lhs: operand,
                rhs: self.scalar(op.operand(1), op)?,
            },
            Simple::IntUnary(int_op) => Inst::IntUnary {
                op: int_op,
                width: width.ok_or_else(|| unsupported(op))?,
                dst,
                src: operand,
            },
            Simple::FloatBinary(float_op) => Inst::FloatBinary {
                op: float_op,
                ty,
                dst,
                lhs: operand,
                rhs: self.scalar(op.operand(1), op)?,
            },
            Simple::FloatUnary(float_op) => Inst::FloatUnary {
                op: float_op,
                ty,
                dst,
                src: operand,
            },
            Simple::FloatTest(float_op) => Inst::FloatTest {
                op: float_op,
                ty,
                dst,
                src: operand,
            },
            Simple::Cast(cast) => Inst::Cast {
                op: cast,
                from: ty,
                to: types::scalar_type(op.result(0).r#type(), op)?,
                dst,
                src: operand,
            },
            Simple::Wide(low, high) => {
                let width = width.ok_or_else(|| unsupported(op))?;
                let rhs = self.scalar(op.operand(1), op)?;
                let lhs = operand;
                self.emit(
                    Inst::IntBinary {
                        op: low,
                        width,
                        dst,
                        lhs,
                        rhs,
                    },
                    op,
                );
                let dst = self.scalar_result(op, 1)?;
                Inst::IntBinary {
                    op: high,
                    width,
                    dst,
                    lhs,
                    rhs,
                }
            }
        };
        self.emit(inst, op);
        Ok(())
    }
}

fn constant(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let ty = types::scalar_type(op.result(0).r#type(), op)?;
    let value = attribute(op, "value").ok_or_else(|| unsupported(op))?;
    let bits = scalar_bits(value, ty).ok_or_else(|| unsupported(op))?;
    let slot = decoder.builder.constant(bits);
    decoder.bind(op.result(0), Slot::Scalar(slot));
    Ok(())
}

/// The bits of a constant of type `ty`.
fn scalar_bits(value: Attr, ty: ElementType) -> Option<u64> {
    match ty.int_width() {
        Some(width) => Some(truncate(value.integer()? as u64, width)),
        None => Some(from_f64(ty, value.float()?)),
    }
}

fn predicate(op: Op) -> Option<u64> {
    attribute(op, "predicate")?
        .integer()
        .map(|code| code as u64)
}

fn compare_ints(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let ty = types::scalar_type(op.operand(0).r#type(), op)?;
    let width = ty.int_width().ok_or_else(|| unsupported(op))?;
    let code = predicate(op).and_then(IntCompare::from_code);
    let compare = Compare::Int(code.ok_or_else(|| unsupported(op))?, width);
    emit_compare(decoder, op, compare)
}

fn compare_floats(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let ty = types::scalar_type(op.operand(0).r#type(), op)?;
    let code = predicate(op).and_then(FloatCompare::from_code);
    let compare = Compare::Float(code.ok_or_else(|| unsupported(op))?, ty);
    emit_compare(decoder, op, compare)
}

fn emit_compare(decoder: &mut FunctionDecoder<'_>, op: Op, compare: Compare) -> Decoding<()> {
    let inst = Inst::Compare {
        op: compare,
        dst: decoder.scalar_result(op, 0)?,
        lhs: decoder.scalar(op.operand(0), op)?,
        rhs: decoder.scalar(op.operand(1), op)?,
    };
    decoder.emit(inst, op);
    Ok(())
}

fn select(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let condition = decoder.scalar(op.operand(0), op)?;
    let inst = match decoder.result(op, 0)? {
        Slot::Scalar(dst) => Inst::Select {
            dst,
            condition,
            yes: decoder.scalar(op.operand(1), op)?,
            no: decoder.scalar(op.operand(2), op)?,
        },
        Slot::View(dst) => Inst::SelectView {
            dst,
            condition,
            yes: decoder.view(op.operand(1), op)?,
            no: decoder.view(op.operand(2), op)?,
        },
    };
    decoder.emit(inst, op);
    Ok(())
}

fn fused_multiply_add(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let [a, b, c] = [0, 1, 2].map(|index| decoder.scalar(op.operand(index), op));
    let inst = Inst::FusedMultiplyAdd {
        ty: types::scalar_type(op.result(0).r#type(), op)?,
        operands: [a?, b?, c?],
        dst: decoder.scalar_result(op, 0)?,
    };
    decoder.emit(inst, op);
    Ok(())
}

fn float_power(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let exponent = types::scalar_type(op.operand(1).r#type(), op)?;
    let inst = Inst::FloatPower {
        ty: types::scalar_type(op.operand(0).r#type(), op)?,
        width: exponent.int_width().ok_or_else(|| unsupported(op))?,
        dst: decoder.scalar_result(op, 0)?,
        base: decoder.scalar(op.operand(0), op)?,
        exponent: decoder.scalar(op.operand(1), op)?,
    };
    decoder.emit(inst, op);
    Ok(())
}

fn sine_and_cosine(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    use pto_machine::scalar::FloatUnaryOp::{Cos, Sin};
    let ty = types::scalar_type(op.operand(0).r#type(), op)?;
    let src = decoder.scalar(op.operand(0), op)?;
    for (index, float_op) in [Sin, Cos].into_iter().enumerate() {
        let dst = decoder.scalar_result(op, index)?;
        decoder.emit(
            Inst::FloatUnary {
                op: float_op,
                ty,
                dst,
                src,
            },
            op,
        );
    }
    Ok(())
}

/// `math.clampf %value to [%low, %high]`: the smaller of `high` and the larger of `low` and the value.
fn clamp(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    use pto_machine::scalar::FloatBinaryOp::{MaximumF, MinimumF};
    let ty = types::scalar_type(op.result(0).r#type(), op)?;
    let operand = |decoder: &mut FunctionDecoder<'_>, index: usize| {
        let value: Value = op.operand(index);
        decoder.scalar(value, op)
    };
    let (lhs, low, high) = (
        operand(decoder, 0)?,
        operand(decoder, 1)?,
        operand(decoder, 2)?,
    );
    let raised = decoder.builder.scalar();
    decoder.emit(
        Inst::FloatBinary {
            op: MaximumF,
            ty,
            dst: raised,
            lhs,
            rhs: low,
        },
        op,
    );
    let dst = decoder.scalar_result(op, 0)?;
    decoder.emit(
        Inst::FloatBinary {
            op: MinimumF,
            ty,
            dst,
            lhs: raised,
            rhs: high,
        },
        op,
    );
    Ok(())
}
