//! The `linalg` dialect on buffers: fill and copy as bulk moves, every other structured operation
//! as a loop over its body.

use pto_ir::Engine;
use pto_machine::code::{
    Affine, Contraction, ElementType, EngineOp, Generic, GenericInput, GenericOutput, Inst, Slot,
    Transfer, ViewSlot,
};

use super::attributes::{Attr, attribute, element_type, indexing_maps, is_memref, is_shaped};
use super::{Decode, Decoding, FunctionDecoder, Work, ops, types, unsupported};
use crate::handle::{Block, Op, Value};

/// How operations called `name` are decoded, where not as a loop.
pub(super) fn handler(name: &str) -> Option<Decode> {
    Some(match name {
        "linalg.fill" => fill,
        "linalg.copy" => copy,
        "linalg.transpose" => transpose,
        "linalg.index" => index,
        // The values are where the loop looks for them.
        "linalg.yield" => |_, _| Ok(()),
        _ => return None,
    })
}

fn fill(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let value = op.operand(0);
    // Filling with an element of a rank-0 memref, or filling a tensor, is a loop or nothing.
    if is_shaped(value.r#type()) || op.result_count() > 0 {
        return structured(decoder, op);
    }
    let fill = Transfer {
        op: EngineOp::plain(Engine::Other),
        source: decoder.scalar(value, op)?,
        source_type: Some(types::scalar_type(value.r#type(), op)?),
        dst: decoder.view(op.operand(1), op)?,
    };
    decoder.emit(Inst::Fill(Box::new(fill)), op);
    Ok(())
}

fn copy(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    if op.result_count() > 0 || !op.operands().all(|operand| is_memref(operand.r#type())) {
        return structured(decoder, op);
    }
    let source = decoder.view(op.operand(0), op)?;
    let dst = decoder.view(op.operand(1), op)?;
    emit_copy(decoder, source, dst, op);
    Ok(())
}

/// `outs` in the order of `ins`: a copy to a permuted view.
fn transpose(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let permutation = attribute(op, "permutation").and_then(Attr::i64_array);
    let permutation = permutation.ok_or_else(|| unsupported(op))?;
    if op.result_count() > 0 {
        return Err(unsupported(op));
    }
    // Dimension d of the output is dimension permutation[d] of the input.
    let permuted = decoder.builder.view();
    let inst = Inst::Transpose {
        dst: permuted,
        src: decoder.view(op.operand(0), op)?,
        permutation: permutation.iter().map(|&dim| dim as u32).collect(),
    };
    decoder.emit(inst, op);
    let dst = decoder.view(op.operand(1), op)?;
    emit_copy(decoder, permuted, dst, op);
    Ok(())
}

fn emit_copy(decoder: &mut FunctionDecoder<'_>, source: ViewSlot, dst: ViewSlot, op: Op) {
    let transfer = Transfer {
        op: EngineOp::plain(Engine::Other),
        source,
        source_type: None,
        dst,
    };
    decoder.emit(Inst::Copy(Box::new(transfer)), op);
}

fn index(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let dim = attribute(op, "dim")
        .and_then(Attr::integer)
        .ok_or_else(|| unsupported(op))?;
    let dst = decoder.scalar_result(op, 0)?;
    decoder.emit(
        Inst::GenericIndex {
            dst,
            dim: dim as u32,
        },
        op,
    );
    Ok(())
}

/// A structured operation on buffers: its body for each point of its iteration space.
pub(super) fn structured(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    if op.result_count() > 0 {
        return Err(unsupported(op));
    }
    let maps = indexing_maps(op).ok_or_else(|| unsupported(op))?;
    let body = op.first_block(0).ok_or_else(|| unsupported(op))?;
    let terminator = ops(body).last().ok_or_else(|| unsupported(op))?;
    let output_count = terminator.operand_count();
    let operands: Vec<Value> = op.operands().collect();
    if operands.len() != maps.len() || output_count > operands.len() {
        return Err(unsupported(op));
    }
    let dims = maps.first().map_or(0, |map| map.dims);
    let first_output = operands.len() - output_count;
    let arguments = BodyArguments::of(body, operands.len(), first_output);
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (number, (&operand, map)) in operands.iter().zip(maps).enumerate() {
        let argument = arguments.of_operand(number);
        if !is_memref(operand.r#type()) {
            alias_scalar(decoder, operand, argument, op)?;
            continue;
        }
        let input = generic_input(decoder, operand, map.results.into(), argument, op)?;
        match number.checked_sub(first_output) {
            None => inputs.push(input),
            Some(output) => {
                let value = decoder.scalar(terminator.operand(output), op)?;
                outputs.push(GenericOutput { input, value });
            }
        }
    }
    if outputs.len() != output_count {
        return Err(unsupported(op));
    }
    emit_loop(
        decoder,
        op,
        body,
        (dims as u32, inputs.into(), outputs.into()),
    );
    Ok(())
}

/// The arguments of a body: one for each operand, or, where the operation keeps the outputs to
/// itself, one for each input.
struct BodyArguments {
    values: Vec<Value>,
}

impl BodyArguments {
    fn of(body: Block, operands: usize, first_output: usize) -> Self {
        let mut values: Vec<Value> = body.arguments().collect();
        if values.len() != operands {
            values.truncate(first_output);
        }
        Self { values }
    }

    fn of_operand(&self, number: usize) -> Option<Value> {
        self.values.get(number).copied()
    }
}

/// A scalar operand is the body's argument itself.
fn alias_scalar(
    decoder: &mut FunctionDecoder<'_>,
    operand: Value,
    argument: Option<Value>,
    op: Op,
) -> Decoding<()> {
    if is_shaped(operand.r#type()) {
        return Err(unsupported(op));
    }
    let slot = decoder.scalar(operand, op)?;
    if let Some(argument) = argument {
        decoder.bind(argument, Slot::Scalar(slot));
    }
    Ok(())
}

fn generic_input(
    decoder: &mut FunctionDecoder<'_>,
    operand: Value,
    map: Box<[Affine]>,
    argument: Option<Value>,
    op: Op,
) -> Decoding<GenericInput> {
    let slot = match argument.filter(|argument| !argument.is_unused()) {
        Some(argument) => Some(decoder.scalar(argument, op)?),
        None => None,
    };
    Ok(GenericInput {
        view: decoder.view(operand, op)?,
        map,
        slot,
    })
}

type LoopParts = (u32, Box<[GenericInput]>, Box<[GenericOutput]>);

fn emit_loop(
    decoder: &mut FunctionDecoder<'_>,
    op: Op,
    body: Block,
    (dims, inputs, outputs): LoopParts,
) {
    let (enter, exit) = (decoder.builder.label(), decoder.builder.label());
    decoder.builder.bind(enter);
    // Where elements of the output are met in several ways their order is not the reductions'.
    let is_plain = outputs
        .iter()
        .all(|output| is_projected_permutation(&output.input.map));
    let contraction = contraction(body).filter(|_| is_plain);
    let generic = Generic {
        dims,
        inputs,
        outputs,
        contraction,
        exit,
    };
    decoder.emit(Inst::GenericEnter(Box::new(generic)), op);
    let site = decoder.module.site(op);
    let mut works: Vec<Work> = Vec::new();
    works.extend(body.first_op().map(Work::Ops));
    works.push(Work::Emit(Inst::GenericNext { enter }, site));
    works.push(Work::Bind(exit));
    decoder.push_works(works);
}

/// Whether each result of a map is another dimension.
fn is_projected_permutation(map: &[Affine]) -> bool {
    let dims: Option<Vec<u32>> = map.iter().map(Affine::as_input).collect();
    dims.is_some_and(|mut dims| {
        dims.sort_unstable();
        dims.windows(2).all(|pair| pair[0] != pair[1])
    })
}

/// What a body computes, where it yields the sum of its third argument and the product of its first
/// two, widened to the type of the third.
fn contraction(body: Block) -> Option<Contraction> {
    let arguments: Vec<Value> = body.arguments().collect();
    let &[left, right, output] = &arguments[..] else {
        return None;
    };
    let ty = element_type(output.r#type())?;
    let (add, multiply, widen) = match ty.is_float() {
        true => ("arith.addf", "arith.mulf", "arith.extf"),
        false => ("arith.addi", "arith.muli", "arith.extsi"),
    };
    let is_op = |op: &Op, name: &str| op.name() == name;
    let yielded = body
        .terminator()
        .filter(|op| op.operand_count() == 1)?
        .operand(0);
    let sum = yielded.owner().filter(|op| is_op(op, add))?;
    let (first, second) = (sum.operand(0), sum.operand(1));
    let product = match (first.key() == output.key(), second.key() == output.key()) {
        (true, false) => second,
        (false, true) => first,
        _ => return None,
    };
    let product = product.owner().filter(|op| is_op(op, multiply))?;
    let source = |value: Value| match value.owner().filter(|op| is_op(op, widen)) {
        Some(widening) => widening.operand(0).key(),
        None => value.key(),
    };
    let factors = [source(product.operand(0)), source(product.operand(1))];
    if factors != [left.key(), right.key()] && factors != [right.key(), left.key()] {
        return None;
    }
    match ty {
        ElementType::F32 => Some(Contraction::F32),
        ElementType::F64 => Some(Contraction::F64),
        ElementType::Int(_) => Some(Contraction::Int),
        _ => None,
    }
}
