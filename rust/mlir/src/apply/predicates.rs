//! Predicates: comparisons of induction variables with bounds.
//!
//! A comparison stands at the beginning of its loop's body, as far outside as it can, and is made once
//! a loop and turn; conjunctions are made once for the same loops. All of them carry
//! [`INSERTED_MARK`], by which resetting finds them again.

use anyhow::{Context as _, Result, bail};
use melior::ContextRef;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationBuilder;
use melior::ir::r#type::IntegerType;
use melior::ir::{
    Attribute, BlockLike, BlockRef, Identifier, Location, OperationRef, Type, TypeLike,
    Value as MeliorValue,
};
use mlir_sys::mlirUnitAttrGet;
use pto_ir::{InstId, NewPredicate, Plan, Turn};
use rustc_hash::FxHashMap;

use super::{Editor, erase};
use crate::accessors::{self, PtoBound};
use crate::handle::{Key, Op, Value};
use crate::read::INSERTED_MARK;

/// What was made so far.
#[derive(Default)]
pub(super) struct Made {
    /// By conjunction: its value.
    conjunctions: FxHashMap<(Turn, Vec<InstId>), Value>,
    /// By loop: the operation that was first in its body.
    first_ops: FxHashMap<InstId, Op>,
    /// By type and value: constants at the start of the function.
    constants: FxHashMap<(Key, i64), Value>,
}

/// `arith.cmpi` predicates.
const EQ: i64 = 0;
const SGE: i64 = 5;

impl Editor {
    /// Gives the matmuls of the plan their predicates.
    pub(super) fn add_predicates(&mut self, plan: &Plan) -> Result<()> {
        for new in &plan.predicates {
            let condition = self.conjunction(new.turn, &new.loops)?;
            self.set_predicate(new, condition);
        }
        Ok(())
    }

    fn set_predicate(&self, new: &NewPredicate, condition: Value) {
        let matmul = self.reading.op(new.inst);
        // SAFETY: `check` found a live matmul, and the condition dominates it: it stands in the body
        // of the innermost loop that it asks for, before everything that was there.
        unsafe {
            accessors::ptoMatmulSetPredicate(matmul.raw(), new.turn == Turn::Last, condition.raw());
        }
    }

    /// Whether all of `loops`, from the outside in, are at `turn`.
    fn conjunction(&mut self, turn: Turn, loops: &[InstId]) -> Result<Value> {
        let key = (turn, loops.to_vec());
        if let Some(&known) = self.made.conjunctions.get(&key) {
            return Ok(known);
        }
        let (&innermost, outer) = loops.split_last().context("a predicate without loops")?;
        let value = if outer.is_empty() {
            self.comparison(turn, innermost)?
        } else {
            let outer = self.conjunction(turn, outer)?;
            let own = self.conjunction(turn, &[innermost])?;
            let bit = own.r#type().raw();
            // SAFETY: the type lives as long as its context.
            let bit = unsafe { Type::from_raw(bit) };
            self.in_body(innermost, "arith.andi", &[outer, own], &[], bit)?
        };
        self.made.conjunctions.insert(key, value);
        Ok(value)
    }

    fn comparison(&mut self, turn: Turn, holder: InstId) -> Result<Value> {
        let facts = self
            .reading
            .op(holder)
            .loop_facts()
            .context("a predicate on what is no loop")?;
        // SAFETY: the induction variable and the context of a live loop.
        let (variable, context) = unsafe {
            (
                Value::from_option_raw(facts.variable).context("a loop without a variable")?,
                ContextRef::from_raw(self.reading.function.context()),
            )
        };
        // SAFETY: the context outlives this call.
        let context = unsafe { context.to_ref() };
        // SAFETY: the type lives as long as its context.
        let r#type = unsafe { Type::from_raw(variable.r#type().raw()) };
        let (left, right, code) = match turn {
            Turn::First => (variable, self.bound(&facts.lower, r#type)?, EQ),
            Turn::Last => {
                let step = self.bound(&facts.step, r#type)?;
                let next = self.in_body(holder, "arith.addi", &[variable, step], &[], r#type)?;
                (next, self.bound(&facts.upper, r#type)?, SGE)
            }
        };
        let code = IntegerAttribute::new(IntegerType::new(context, 64).into(), code);
        let bit = IntegerType::new(context, 1).into();
        let attributes = [("predicate", code.into())];
        self.in_body(holder, "arith.cmpi", &[left, right], &attributes, bit)
    }

    /// A bound as a value.
    fn bound(&mut self, bound: &PtoBound, r#type: Type<'_>) -> Result<Value> {
        // SAFETY: an operand of a live loop.
        if let Some(value) = unsafe { Value::from_option_raw(bound.value) } {
            return Ok(value);
        }
        if !bound.is_constant {
            bail!("a predicate on a bound that is not known");
        }
        let key = (r#type.to_raw().ptr as Key, bound.constant);
        if let Some(&known) = self.made.constants.get(&key) {
            return Ok(known);
        }
        let value = IntegerAttribute::new(r#type, bound.constant);
        let constant = self.constant(r#type, value.into())?;
        self.made.constants.insert(key, constant);
        Ok(constant)
    }

    /// Adds an operation with one result before what was first in the body of a loop.
    fn in_body(
        &mut self,
        holder: InstId,
        name: &str,
        operands: &[Value],
        attributes: &[(&str, Attribute<'_>)],
        result: Type<'_>,
    ) -> Result<Value> {
        let op = self.reading.op(holder);
        let first = match self.made.first_ops.get(&holder) {
            Some(&first) => first,
            None => {
                let body = op.first_block(0).context("a loop without a body")?;
                let first = body.first_op().context("a body without an end")?;
                self.made.first_ops.insert(holder, first);
                first
            }
        };
        // SAFETY: all of them are live, and outlive this call.
        let (context, block, anchor, location, mark) = unsafe {
            (
                ContextRef::from_raw(self.reading.function.context()),
                BlockRef::from_raw(first.block().raw()),
                OperationRef::from_raw(first.raw()),
                Location::from_raw(op.location().raw()),
                Attribute::from_raw(mlirUnitAttrGet(op.context())),
            )
        };
        // SAFETY: as above.
        let context = unsafe { context.to_ref() };
        let operands: Vec<MeliorValue<'_, '_>> = operands
            .iter()
            // SAFETY: as above.
            .map(|value| unsafe { MeliorValue::from_raw(value.raw()) })
            .collect();
        let attributes: Vec<(Identifier<'_>, Attribute<'_>)> = attributes
            .iter()
            .copied()
            .chain([(INSERTED_MARK, mark)])
            .map(|(name, value)| (Identifier::new(context, name), value))
            .collect();
        let made = OperationBuilder::new(name, location)
            .add_operands(&operands)
            .add_attributes(&attributes)
            .add_results(&[result])
            .build()?;
        let made = block.insert_operation_before(anchor, made);
        // SAFETY: the operation was just put into the body.
        Ok(unsafe { Op::from_raw(made.to_raw()) }.result(0))
    }

    /// Takes away predicates that an earlier legalization made, and what computes them alone.
    pub(super) fn drop_predicates(&self, plan: &Plan) {
        let none = mlir_sys::MlirValue {
            ptr: std::ptr::null(),
        };
        for &inst in &plan.drop_inserted_predicates {
            let Some(matmul) = self.reading.program.inst(inst).matmul() else {
                continue;
            };
            let op = self.reading.op(inst);
            let facts = op.matmul();
            let predicates = [
                (matmul.start_if, facts.map(|facts| facts.start_if), false),
                (matmul.stop_if, facts.map(|facts| facts.stop_if), true),
            ];
            for (predicate, value, is_stop) in predicates {
                if !predicate.is_some_and(|predicate| predicate.inserted) {
                    continue;
                }
                // SAFETY: a live matmul and an operand of it.
                let maker = unsafe {
                    accessors::ptoMatmulSetPredicate(op.raw(), is_stop, none);
                    value.and_then(|value| Value::from_option_raw(value))
                };
                if let Some(maker) = maker
                    .and_then(Value::owner)
                    .filter(|maker| maker.result(0).is_unused())
                {
                    erase(maker);
                }
            }
        }
    }
}
