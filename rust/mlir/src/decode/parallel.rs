//! Loops whose iterations run in any order: `scf.parallel`, `scf.forall` and `affine.parallel`.
//!
//! A reduction of `scf.parallel` is carried like the value of a sequential loop. Parallel loops on tensors
//! are refused for their tensors.

use pto_machine::code::{Affine, ElementType, Index, Inst, Parallel, ParallelDim, Slot};
use pto_machine::scalar::IntBinaryOp;

use super::affine::map_of;
use super::attributes::{Attr, attribute};
use super::memrefs::statics;
use super::{Decode, Decoding, FunctionDecoder, Work, refuse, unsupported};
use crate::handle::{Op, Value};

/// How operations called `name` are decoded.
pub(super) fn handler(name: &str) -> Option<Decode> {
    Some(match name {
        "scf.parallel" => parallel,
        "scf.reduce" => reduce,
        "scf.reduce.return" => reduce_return,
        "scf.forall" => forall,
        "scf.forall.in_parallel" => |_, _| Ok(()),
        "affine.parallel" => affine_parallel,
        _ => return None,
    })
}

/// Lower bounds, upper bounds and steps, one for each induction variable.
type Bounds = [Box<[Index]>; 3];

impl FunctionDecoder<'_> {
    /// Decodes a loop whose body's first arguments count from bound to bound.
    fn parallel_loop(&mut self, op: Op, [lower, upper, step]: Bounds) -> Decoding<()> {
        let body = op.first_block(0).ok_or_else(|| unsupported(op))?;
        let variables = self.block_slots(body, op)?;
        let bounds = lower.iter().zip(&upper).zip(&step);
        let dims = variables.iter().zip(bounds).filter_map(|(&slot, bounds)| {
            let ((&lower, &upper), &step) = bounds;
            let Slot::Scalar(iv) = slot else { return None };
            Some(ParallelDim {
                iv,
                lower,
                upper,
                step,
            })
        });
        let (start, exit) = (self.builder.label(), self.builder.label());
        let enter = Parallel {
            dims: dims.collect(),
            exit,
        };
        self.emit(Inst::ParallelEnter(Box::new(enter)), op);
        self.builder.bind(start);
        let next = Inst::ParallelNext { body: start };
        let site = self.module.site(op);
        self.push_body(Some(body), vec![Work::Emit(next, site), Work::Bind(exit)]);
        Ok(())
    }
}

fn parallel(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let body = op.first_block(0).ok_or_else(|| unsupported(op))?;
    let count = body.arguments().count();
    let operands: Vec<Value> = op.operands().collect();
    let (bounds, inits) = operands
        .split_at_checked(3 * count)
        .ok_or_else(|| unsupported(op))?;
    let values = decoder.slots(inits, op)?;
    let results = decoder.results(op)?;
    decoder.assign(&results, &values, op);
    let bounds = bounds
        .iter()
        .map(|&bound| decoder.scalar(bound, op).map(Index::Slot))
        .collect::<Decoding<Vec<Index>>>()?;
    let part = |number: usize| bounds[number * count..][..count].into();
    decoder.parallel_loop(op, [part(0), part(1), part(2)])
}

/// The end of an iteration: what it gives is reduced with what the iterations before gave.
fn reduce(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let around = op.parent().ok_or_else(|| unsupported(op))?;
    let mut works = Vec::new();
    for (index, value) in op.operands().enumerate() {
        let body = op.first_block(index).ok_or_else(|| unsupported(op))?;
        let sides = [decoder.result(around, index)?, decoder.slot(value, op)?];
        for (argument, side) in body.arguments().zip(sides) {
            decoder.bind(argument, side);
        }
        works.extend(body.first_op().map(Work::Ops));
    }
    decoder.push_works(works);
    Ok(())
}

fn reduce_return(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let reduce = op.parent().ok_or_else(|| unsupported(op))?;
    let around = reduce.parent().ok_or_else(|| unsupported(op))?;
    let own = op.block().key();
    let is_own = |&index: &usize| {
        let block = reduce.first_block(index);
        block.is_some_and(|block| block.key() == own)
    };
    let index = (0..reduce.region_count()).find(is_own);
    let result = decoder.result(around, index.ok_or_else(|| unsupported(op))?)?;
    let value = decoder.slot(op.operand(0), op)?;
    decoder.assign(&[result], &[value], op);
    Ok(())
}

fn forall(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let mut dynamic = op.operands();
    let mut bounds = |name| decoder.mixed(&statics(op, name)?, &mut dynamic, op);
    let bounds = [
        bounds("staticLowerBound")?,
        bounds("staticUpperBound")?,
        bounds("staticStep")?,
    ];
    decoder.parallel_loop(op, bounds)
}

fn affine_parallel(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    if op.result_count() > 0 {
        let message = "the interpreter does not execute reductions of affine.parallel";
        return Err(refuse(op, "pto:unsupported-op", message));
    }
    let (lower, upper) = (map_of(op, "lowerBoundsMap")?, map_of(op, "upperBoundsMap")?);
    let operands: Vec<Value> = op.operands().collect();
    let (lower_operands, upper_operands) = operands
        .split_at_checked(lower.inputs)
        .ok_or_else(|| unsupported(op))?;
    let steps = attribute(op, "steps").and_then(Attr::elements);
    let steps = steps.ok_or_else(|| unsupported(op))?;
    let step = |step: Attr| step.integer().map(Index::Constant);
    let mut ends = |name, results: &[Affine], operands: &[Value], select| {
        let groups = group_sizes(op, name, steps.len())?;
        let mut rest = results;
        let mut end = |size: usize| {
            let (own, others) = rest.split_at_checked(size).ok_or_else(|| unsupported(op))?;
            rest = others;
            decoder
                .emit_extremum(own, operands, select, op)
                .map(Index::Slot)
        };
        groups.into_iter().map(&mut end).collect::<Decoding<_>>()
    };
    let (largest, smallest) = (IntBinaryOp::MaxSI, IntBinaryOp::MinSI);
    let bounds = [
        ends("lowerBoundsGroups", &lower.results, lower_operands, largest)?,
        ends(
            "upperBoundsGroups",
            &upper.results,
            upper_operands,
            smallest,
        )?,
        steps
            .iter()
            .map(|&size| step(size))
            .collect::<Option<_>>()
            .ok_or_else(|| unsupported(op))?,
    ];
    decoder.parallel_loop(op, bounds)
}

/// How many results of a map bound each of `count` induction variables.
fn group_sizes(op: Op, name: &str, count: usize) -> Decoding<Vec<usize>> {
    let sizes = attribute(op, name).and_then(|sizes| sizes.dense(ElementType::Int(32)));
    let bytes = sizes.ok_or_else(|| unsupported(op))?;
    let (sizes, _) = bytes.as_chunks::<4>();
    let size = |&bytes: &[u8; 4]| u32::from_le_bytes(bytes) as usize;
    Ok(match sizes {
        // One element stands for all in a splat.
        [one] => vec![size(one); count],
        _ => sizes.iter().map(size).collect(),
    })
}
