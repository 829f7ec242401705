//! The `affine` dialect: maps become instructions that compute one index each.

use pto_machine::code::{Affine, AffineApply, Index, Inst, ScalarSlot, Slot, Store};
use pto_machine::scalar::{IntBinaryOp, IntCompare};

use super::attributes::{Attr, Map, attribute};
use super::control::LoopBounds;
use super::{Decode, Decoding, FunctionDecoder, unsupported};
use crate::handle::{Op, Value};

/// How operations called `name` are decoded.
pub(super) fn handler(name: &str) -> Option<Decode> {
    Some(match name {
        "affine.apply" => apply,
        "affine.min" => minimum,
        "affine.max" => maximum,
        "affine.load" => load,
        "affine.store" => store,
        "affine.for" => loop_op,
        "affine.if" => if_op,
        "affine.yield" => affine_yield,
        _ => return None,
    })
}

impl FunctionDecoder<'_> {
    /// The slot of `expr` of `operands`: a new one, unless there is nothing to compute.
    fn emit_affine(&mut self, expr: &Affine, operands: &[Value], op: Op) -> Decoding<ScalarSlot> {
        let as_operand = expr
            .as_input()
            .and_then(|input| operands.get(input as usize));
        if let Some(&operand) = as_operand {
            return self.scalar(operand, op);
        }
        if let Some(value) = expr.as_constant() {
            return Ok(self.builder.constant(value as u64));
        }
        let inputs = operands
            .iter()
            .map(|&operand| self.scalar(operand, op).map(Index::Slot))
            .collect::<Decoding<_>>()?;
        let dst = self.builder.scalar();
        let apply = AffineApply {
            dst,
            expr: expr.clone(),
            inputs,
        };
        self.emit(Inst::Affine(Box::new(apply)), op);
        Ok(dst)
    }

    /// The smallest or largest of `results`, as `select` says.
    pub(super) fn emit_extremum(
        &mut self,
        results: &[Affine],
        operands: &[Value],
        select: IntBinaryOp,
        op: Op,
    ) -> Decoding<ScalarSlot> {
        let mut found = None;
        for expr in results {
            let value = self.emit_affine(expr, operands, op)?;
            found = Some(match found {
                None => value,
                Some(lhs) => {
                    let dst = self.builder.scalar();
                    self.emit(
                        Inst::IntBinary {
                            op: select,
                            width: 64,
                            dst,
                            lhs,
                            rhs: value,
                        },
                        op,
                    );
                    dst
                }
            });
        }
        found.ok_or_else(|| unsupported(op))
    }

    fn emit_indices(&mut self, map: &Map, operands: &[Value], op: Op) -> Decoding<Box<[Index]>> {
        map.results
            .iter()
            .map(|expr| self.emit_affine(expr, operands, op).map(Index::Slot))
            .collect()
    }
}

/// The map of `op` in the attribute `name`.
pub(super) fn map_of(op: Op, name: &str) -> Decoding<Map> {
    attribute(op, name)
        .and_then(Attr::map)
        .ok_or_else(|| unsupported(op))
}

fn operands(op: Op) -> Vec<Value> {
    op.operands().collect()
}

fn apply(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let map = map_of(op, "map")?;
    let expr = map.results.first().ok_or_else(|| unsupported(op))?;
    let slot = decoder.emit_affine(expr, &operands(op), op)?;
    define(decoder, op, slot)
}

/// The result of `op` is what `slot` holds.
fn define(decoder: &mut FunctionDecoder<'_>, op: Op, slot: ScalarSlot) -> Decoding<()> {
    let dst = decoder.scalar_result(op, 0)?;
    decoder.emit(Inst::Move { dst, src: slot }, op);
    Ok(())
}

fn minimum(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let map = map_of(op, "map")?;
    let slot = decoder.emit_extremum(&map.results, &operands(op), IntBinaryOp::MinSI, op)?;
    define(decoder, op, slot)
}

fn maximum(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let map = map_of(op, "map")?;
    let slot = decoder.emit_extremum(&map.results, &operands(op), IntBinaryOp::MaxSI, op)?;
    define(decoder, op, slot)
}

fn load(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let map = map_of(op, "map")?;
    let indices = decoder.emit_indices(&map, &operands(op)[1..], op)?;
    let inst = Inst::Load {
        dst: decoder.scalar_result(op, 0)?,
        view: decoder.view(op.operand(0), op)?,
        indices,
    };
    decoder.emit(inst, op);
    Ok(())
}

fn store(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let map = map_of(op, "map")?;
    let indices = decoder.emit_indices(&map, &operands(op)[2..], op)?;
    let store = Store {
        value: decoder.scalar(op.operand(0), op)?,
        view: decoder.view(op.operand(1), op)?,
        indices,
    };
    decoder.emit(Inst::Store(Box::new(store)), op);
    Ok(())
}

fn loop_op(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let (lower, upper) = (map_of(op, "lowerBoundMap")?, map_of(op, "upperBoundMap")?);
    let step = attribute(op, "step")
        .and_then(Attr::integer)
        .ok_or_else(|| unsupported(op))?;
    let all = operands(op);
    if all.len() < lower.inputs + upper.inputs {
        return Err(unsupported(op));
    }
    let (lower_operands, rest) = all.split_at(lower.inputs);
    let (upper_operands, inits) = rest.split_at(upper.inputs);
    let bounds = LoopBounds {
        compare: IntCompare::Slt,
        width: 64,
        lower: decoder.emit_extremum(&lower.results, lower_operands, IntBinaryOp::MaxSI, op)?,
        upper: decoder.emit_extremum(&upper.results, upper_operands, IntBinaryOp::MinSI, op)?,
        step: decoder.builder.constant(step as u64),
    };
    decoder.counted_loop(op, bounds, inits)
}

fn if_op(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let set = attribute(op, "condition").and_then(Attr::integer_set);
    let (_, constraints) = set.ok_or_else(|| unsupported(op))?;
    let zero = decoder.builder.constant(0);
    let mut condition = decoder.builder.constant(1);
    for (expr, is_equality) in constraints {
        let value = decoder.emit_affine(&expr, &operands(op), op)?;
        let predicate = if is_equality {
            IntCompare::Eq
        } else {
            IntCompare::Sge
        };
        let site = decoder.module.site(op);
        let holds = decoder.emit_index_compare(predicate, value, zero, site);
        let both = decoder.builder.scalar();
        let and = Inst::IntBinary {
            op: IntBinaryOp::AndI,
            width: 1,
            dst: both,
            lhs: condition,
            rhs: holds,
        };
        decoder.emit(and, op);
        condition = both;
    }
    let (then, otherwise) = (op.first_block(0), op.first_block(1));
    decoder.conditional(op, condition, then, otherwise)
}

fn affine_yield(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let parent = op.parent().ok_or_else(|| unsupported(op))?;
    let values: Vec<Slot> = decoder.slots(&operands(op), op)?;
    let targets = decoder.results(parent)?;
    decoder.assign(&targets, &values, op);
    Ok(())
}
