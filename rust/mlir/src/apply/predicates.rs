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
    Attribute, Identifier, Location, Type, TypeLike, Value as MeliorValue, ValueLike,
};
use mlir_sys::{
    MlirOperation, mlirBlockInsertOwnedOperationBefore, mlirOperationClone,
    mlirOperationSetLocation, mlirOperationSetOperand, mlirUnitAttrGet,
};
use pto_ir::{InstId, NewPredicate, Op as IrOp, Plan, RegionKind, Turn};
use rustc_hash::FxHashMap;

use super::{Editor, constant, erase};
use crate::accessors::{self, PtoBound, PtoLoop};
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
    /// By the type of their operands: one operation of each kind.
    parts: FxHashMap<(Part, Key), Op>,
}

/// The operations that predicates consist of, on two operands of one type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    /// Conjunction.
    And,
    /// The induction variable of the next iteration.
    Sum,
    IsEqual,
    IsAtLeast,
    /// As before, both unsigned.
    IsAtLeastUnsigned,
}

impl Part {
    const fn name(self) -> &'static str {
        match self {
            Self::And => "arith.andi",
            Self::Sum => "arith.addi",
            Self::IsEqual | Self::IsAtLeast | Self::IsAtLeastUnsigned => "arith.cmpi",
        }
    }

    /// The `predicate` of a comparison, as `arith.cmpi` numbers them.
    const fn comparison(self) -> Option<i64> {
        match self {
            Self::And | Self::Sum => None,
            Self::IsEqual => Some(0),
            Self::IsAtLeast => Some(5),
            Self::IsAtLeastUnsigned => Some(9),
        }
    }
}

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
            self.in_body(innermost, Part::And, [outer, own])?
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
        // SAFETY: the induction variable of a live loop.
        let variable = unsafe { Value::from_option_raw(facts.variable) };
        let variable = variable.context("a loop without a variable")?;
        // SAFETY: the type lives as long as its context.
        let r#type = unsafe { Type::from_raw(variable.r#type().raw()) };
        match turn {
            Turn::First => {
                let lower = self.bound(&facts.lower, r#type)?;
                self.in_body(holder, Part::IsEqual, [variable, lower])
            }
            Turn::Last => {
                if let Some(last) = self.last_value(holder, &facts) {
                    let last = self.number(last, r#type)?;
                    return self.in_body(holder, Part::IsEqual, [variable, last]);
                }
                let step = self.bound(&facts.step, r#type)?;
                let next = self.in_body(holder, Part::Sum, [variable, step])?;
                let upper = self.bound(&facts.upper, r#type)?;
                let is_over = match facts.is_unsigned {
                    true => Part::IsAtLeastUnsigned,
                    false => Part::IsAtLeast,
                };
                self.in_body(holder, is_over, [next, upper])
            }
        }
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
        self.number(bound.constant, r#type)
    }

    /// The value of the induction variable in the last iteration, where the bounds are constants. That of an
    /// unsigned loop may be no number that its type has with a sign.
    fn last_value(&self, holder: InstId, facts: &PtoLoop) -> Option<i64> {
        let IrOp::Region {
            kind: RegionKind::For { trips },
            ..
        } = self.reading.program.inst(holder).op
        else {
            return None;
        };
        if facts.is_unsigned || !facts.lower.is_constant || !facts.step.is_constant {
            return None;
        }
        let steps = i64::try_from(trips?.checked_sub(1)?).ok()?;
        let distance = steps.checked_mul(facts.step.constant)?;
        facts.lower.constant.checked_add(distance)
    }

    /// A constant at the start of the function.
    fn number(&mut self, number: i64, r#type: Type<'_>) -> Result<Value> {
        let key = (r#type.to_raw().ptr as Key, number);
        if let Some(&known) = self.made.constants.get(&key) {
            return Ok(known);
        }
        let value = IntegerAttribute::new(r#type, number);
        let made = constant(self.reading.function, r#type, value.into())?;
        self.made.constants.insert(key, made);
        Ok(made)
    }

    /// Adds an operation before what was first in the body of a loop.
    fn in_body(&mut self, holder: InstId, part: Part, operands: [Value; 2]) -> Result<Value> {
        let first = self.first_in_body(holder)?;
        let location = self.reading.op(holder).location();
        let key = (part, operands[0].r#type().key());
        let made = match self.made.parts.get(&key) {
            // Names and attributes need not be looked up again.
            Some(known) => {
                // SAFETY: the operation that is known is live, and so are the operands.
                unsafe {
                    let copy = mlirOperationClone(known.raw());
                    for (index, operand) in (0..).zip(operands) {
                        mlirOperationSetOperand(copy, index, operand.raw());
                    }
                    mlirOperationSetLocation(copy, location.raw());
                    copy
                }
            }
            None => self.build(part, operands, location)?,
        };
        // SAFETY: the new operation is owned by nobody; `first` is live, in a block of a live loop.
        let made = unsafe {
            mlirBlockInsertOwnedOperationBefore(first.block().raw(), first.raw(), made);
            Op::from_raw(made)
        };
        self.made.parts.entry(key).or_insert(made);
        Ok(made.result(0))
    }

    /// The operation that was first in the body of a loop.
    fn first_in_body(&mut self, holder: InstId) -> Result<Op> {
        if let Some(&first) = self.made.first_ops.get(&holder) {
            return Ok(first);
        }
        let body = self.reading.op(holder).first_block(0);
        let body = body.context("a loop without a body")?;
        let first = body.first_op().context("a body without an end")?;
        self.made.first_ops.insert(holder, first);
        Ok(first)
    }

    /// An operation that stands nowhere yet.
    fn build(
        &self,
        part: Part,
        operands: [Value; 2],
        location: crate::handle::Location,
    ) -> Result<MlirOperation> {
        // SAFETY: all of them are live, and outlive this call.
        let (context, location, mark) = unsafe {
            let raw = self.reading.function.context();
            (
                ContextRef::from_raw(raw),
                Location::from_raw(location.raw()),
                Attribute::from_raw(mlirUnitAttrGet(raw)),
            )
        };
        // SAFETY: as above.
        let context = unsafe { context.to_ref() };
        // SAFETY: as above.
        let operands = operands.map(|value| unsafe { MeliorValue::from_raw(value.raw()) });
        let mut attributes = vec![(Identifier::new(context, INSERTED_MARK), mark)];
        let mut result = operands[0].r#type();
        if let Some(code) = part.comparison() {
            let code = IntegerAttribute::new(IntegerType::new(context, 64).into(), code);
            attributes.push((Identifier::new(context, "predicate"), code.into()));
            result = IntegerType::new(context, 1).into();
        }
        let built = OperationBuilder::new(part.name(), location)
            .add_operands(&operands)
            .add_attributes(&attributes)
            .add_results(&[result])
            .build()?;
        Ok(built.into_raw())
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
