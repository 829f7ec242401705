//! From a [`Plan`] to edits of the operation that was read.
//!
//! The edits know no pass: orders, attributes, memsets, ordering tokens, places, marks. [`check()`] looks at
//! everything that could make an edit impossible before the first one is made, so a plan is carried
//! out as a whole or not at all.

mod check;
mod order;
mod predicates;
pub(crate) mod tile;

use anyhow::{Context as _, Result};
use melior::ir::attribute::{
    DenseI32ArrayAttribute, DenseI64ArrayAttribute, FloatAttribute, IntegerAttribute,
    StridedLayoutAttribute,
};
use melior::ir::operation::OperationBuilder;
use melior::ir::r#type::MemRefType;
use melior::ir::{
    Attribute, BlockLike, BlockRef, Identifier, Location, OperationRef, ShapedTypeLike, Type,
    TypeLike, ValueLike,
};
use melior::{Context, ContextRef};
use mlir_sys::{
    MlirAttribute, mlirIntegerAttrGet, mlirIntegerTypeGet, mlirOperationDestroy,
    mlirOperationRemoveDiscardableAttributeByName, mlirOperationSetDiscardableAttributeByName,
    mlirUnitAttrGet,
};
use pto_ir::{
    AllocId, Anchor, EdgeNode, FunctionMark, InstId, Interval, MemsetTarget, NewMemset, Plan,
};
use rustc_hash::FxHashMap;

use crate::accessors;
use crate::diag::Message;
use crate::handle::{self, Key, Op, Value, string_ref};
use crate::read::{CELL_BYTES, INSERTED_MARK, Reading};
use check::check;
use predicates::Made;

/// The tag of a plan that cannot be carried out: a fault of the pass that made it.
const INTERNAL: &str = "pto:internal-apply";

/// Carries out `plan` on the operation that `reading` was read from. On `Err` nothing was changed.
pub(crate) fn apply(plan: &Plan, reading: Reading) -> Result<(), Message> {
    check(plan, &reading)?;
    let orders = order::orders(plan, &reading)?;
    let mut editor = Editor {
        reading,
        zeros: FxHashMap::default(),
        relay: None,
        made: Made::default(),
    };
    orders.iter().for_each(|ops| order::apply(ops));
    editor.set_flags(plan);
    editor.drop_predicates(plan);
    editor.undo(plan);
    let predicates = editor.add_predicates(plan);
    predicates.map_err(|error| editor.internal(&error.to_string()))?;
    let memsets = plan
        .memsets
        .iter()
        .map(|memset| editor.insert_memset(memset))
        .collect::<Result<Vec<Op>>>();
    let memsets = memsets.map_err(|error| editor.internal(&error.to_string()))?;
    editor.add_edges(plan, memsets);
    for &(mark, set) in &plan.marks {
        editor.mark(mark, set);
    }
    editor.place(plan);
    Ok(())
}

/// The zero of `element`, a builtin type without a sign, as a constant of `function`.
fn zero(function: Op, element: handle::Type) -> Result<Value> {
    // SAFETY: the context outlives this call, and the type its context.
    let (context, r#type) = unsafe {
        (
            ContextRef::from_raw(function.context()),
            Type::from_raw(element.raw()),
        )
    };
    // SAFETY: as above.
    let context = unsafe { context.to_ref() };
    let value: Attribute<'_> = match r#type.is_float() {
        true => FloatAttribute::new(context, r#type, 0.0).into(),
        false => IntegerAttribute::new(r#type, 0).into(),
    };
    constant(function, r#type, value)
}

/// A constant at the start of `function`.
fn constant(function: Op, r#type: Type<'_>, value: Attribute<'_>) -> Result<Value> {
    at_start(function, "arith.constant", |context| {
        (Identifier::new(context, "value"), value, r#type)
    })
}

/// An operation at the start of `function`, with one attribute and one result: what `parts` says.
fn at_start<'c>(
    function: Op,
    name: &str,
    parts: impl FnOnce(&'c Context) -> (Identifier<'c>, Attribute<'c>, Type<'c>),
) -> Result<Value> {
    // SAFETY: the function, its context and its first block outlive this call.
    let (context, entry, location) = unsafe {
        (
            ContextRef::from_raw(function.context()),
            function
                .first_block(0)
                .map(|block| BlockRef::from_raw(block.raw())),
            Location::from_raw(function.location().raw()),
        )
    };
    // SAFETY: as above; what `to_ref` borrows is the variable, which outlives its uses.
    let (attribute, value, r#type) = parts(unsafe { context.to_ref() });
    let entry = entry.context("the body is missing")?;
    let made = OperationBuilder::new(name, location)
        .add_attributes(&[(attribute, value)])
        .add_results(&[r#type])
        .build()?;
    let made = entry.insert_operation(0, made);
    // SAFETY: the operation was just put into the function.
    Ok(unsafe { Op::from_raw(made.to_raw()) }.result(0))
}

struct Editor {
    reading: Reading,
    /// The zero of each element type, at the start of the function.
    zeros: FxHashMap<Key, Value>,
    /// The cell that orders blocks, once there is one.
    relay: Option<Value>,
    made: Made,
}

impl Editor {
    fn internal(&self, sentence: &str) -> Message {
        Message::error(INTERNAL, self.reading.function.location(), sentence)
    }

    /// Sets the flags, each attribute being made once.
    fn set_flags(&self, plan: &Plan) {
        let none = MlirAttribute {
            ptr: std::ptr::null_mut(),
        };
        let context = self.reading.function.context();
        let (mut flags, mut codes) = (FxHashMap::default(), FxHashMap::default());
        for edit in &plan.acc {
            let op = self.reading.op(edit.inst).raw();
            // SAFETY: the context lives, and `check` found a live matmul of the dialect.
            unsafe {
                let acc = edit.flags.map_or(none, |edit| {
                    let byte = edit.byte();
                    *flags
                        .entry(byte)
                        .or_insert_with(|| accessors::ptoAccAttrGet(context, i32::from(byte)))
                });
                let zero_region = edit.zero_region.map_or(none, |code| {
                    *codes.entry(code).or_insert_with(|| {
                        mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), i64::from(code))
                    })
                });
                accessors::ptoMatmulSetAccAttr(op, acc, zero_region);
            }
        }
    }

    /// Takes away what an earlier legalization inserted, as far as the plan says.
    fn undo(&mut self, plan: &Plan) {
        if plan.drop_inserted_edges.is_empty() && plan.erase.is_empty() {
            return;
        }
        for &inst in plan.drop_inserted_edges.iter().chain(&plan.erase) {
            // SAFETY: the operation is live; what is no engine operation is left alone.
            unsafe { accessors::ptoEngineOpDropInserted(self.reading.op(inst).raw()) };
        }
        for &inst in &plan.erase {
            erase(self.reading.op(inst));
        }
        let mut erased = vec![false; self.reading.program.insts().len()];
        for inst in &plan.erase {
            erased[inst.index()] = true;
        }
        for inst in (0..erased.len())
            .filter(|&index| !erased[index])
            .map(InstId::new)
        {
            let op = self.reading.op(inst);
            if op.engine().is_some_and(|facts| facts.has_token) {
                // SAFETY: `op` is a live engine operation, not one of the erased. It may be
                // rebuilt, so the table takes the new one.
                let op = unsafe {
                    Op::from_raw(accessors::ptoEngineOpDropTokenIfUnusedInserted(op.raw()))
                };
                self.reading.replace_op(inst, op);
            }
        }
    }

    /// Inserts a memset of zero and what it needs.
    fn insert_memset(&mut self, memset: &NewMemset) -> Result<Op> {
        let (before, is_last) = match memset.at {
            Anchor::Before(inst) => (self.reading.op(inst), false),
            Anchor::End(block) => {
                let block = self.reading.block(block);
                match block.terminator() {
                    Some(terminator) => (terminator, false),
                    None => (block.last_op().context("an empty block")?, true),
                }
            }
        };
        let target = match memset.target {
            MemsetTarget::Access(_) => before.matmul().and_then(|matmul| {
                // SAFETY: the destination is an operand of the live operation `before`.
                unsafe { Value::from_option_raw(matmul.dst) }
            }),
            MemsetTarget::Rectangle {
                alloc,
                partitions,
                bytes,
            } => Some(self.rectangle(before, alloc, partitions, bytes)?),
            MemsetTarget::Relay => Some(self.relay()?),
        };
        let target = target.context("the destination is missing")?;
        let zero = self.zero(target)?;
        // SAFETY: all three are live, and the zero stands at the start of the function.
        let made = unsafe {
            Op::from_raw(accessors::ptoMemsetCreateBefore(
                before.raw(),
                zero.raw(),
                target.raw(),
                memset.engine() as u32,
                true,
            ))
        };
        if is_last {
            made.move_after(before);
        }
        Ok(made)
    }

    /// The cell of SBUF that orders blocks: an allocation at the start of the function, with the mark.
    fn relay(&mut self) -> Result<Value> {
        if let Some(known) = self.relay {
            return Ok(known);
        }
        // SAFETY: the context outlives this call.
        let context = unsafe { ContextRef::from_raw(self.reading.function.context()) };
        // SAFETY: what is borrowed is the variable.
        let context = unsafe { context.to_ref() };
        let space = Attribute::parse(context, "#pto.mem<sbuf>").context("no memory space")?;
        let r#type = MemRefType::new(Type::float32(context), &[1, 1], None, Some(space));
        let buffer = at_start(self.reading.function, "pto.sbuf_alloc", |context| {
            let mark = Identifier::new(context, INSERTED_MARK);
            (mark, Attribute::unit(context), r#type.into())
        })?;
        self.relay = Some(buffer);
        Ok(buffer)
    }

    /// The zero constant of the element type of `target`.
    fn zero(&mut self, target: Value) -> Result<Value> {
        let element = target.r#type().element();
        if let Some(&known) = self.zeros.get(&element.key()) {
            return Ok(known);
        }
        let zero = zero(self.reading.function, element)?;
        self.zeros.insert(element.key(), zero);
        Ok(zero)
    }

    /// A view of `partitions` x `bytes` of `alloc`, right before `before`.
    fn rectangle(
        &self,
        before: Op,
        alloc: AllocId,
        partitions: Interval,
        bytes: Interval,
    ) -> Result<Value> {
        let whole = self.reading.alloc_value(alloc);
        let facts = self.reading.program.alloc(alloc);
        if [partitions.start, partitions.end, bytes.start, bytes.end]
            == [0, facts.partitions, 0, facts.bytes]
        {
            return Ok(whole);
        }
        // SAFETY: the function, its context, the buffer and `before` outlive this call.
        let (context, buffer, block, anchor, location) = unsafe {
            (
                ContextRef::from_raw(self.reading.function.context()),
                melior::ir::Value::from_raw(whole.raw()),
                BlockRef::from_raw(before.block().raw()),
                OperationRef::from_raw(before.raw()),
                Location::from_raw(before.location().raw()),
            )
        };
        // SAFETY: as above.
        let context = unsafe { context.to_ref() };
        let r#type = MemRefType::try_from(buffer.r#type())?;
        let row = i64::from(self.reading.program.alloc(alloc).bytes / CELL_BYTES);
        let cells = Interval::new(bytes.start / CELL_BYTES, bytes.end / CELL_BYTES);
        let first = [i64::from(partitions.start), i64::from(cells.start)];
        let sizes = [i64::from(partitions.len()), i64::from(cells.len())];
        let (strides, offset) = ([row, 1], first[0] * row + first[1]);
        // A subview says best what it is, but it keeps the rank of its source.
        let is_matrix = r#type.rank() == 2;
        let (name, offsets, steps) = match is_matrix {
            true => ("memref.subview", first.to_vec(), [1, 1]),
            false => ("memref.reinterpret_cast", vec![offset], strides),
        };
        let layout = StridedLayoutAttribute::new(context, offset, &strides);
        let view_type = MemRefType::new(
            r#type.element(),
            &sizes,
            Some(layout.into()),
            r#type.memory_space(),
        );
        let i64s = |values: &[i64]| DenseI64ArrayAttribute::new(context, values).into();
        let attributes: [(&str, Attribute<'_>); 4] = [
            (
                "operandSegmentSizes",
                DenseI32ArrayAttribute::new(context, &[1, 0, 0, 0]).into(),
            ),
            ("static_offsets", i64s(&offsets)),
            ("static_sizes", i64s(&sizes)),
            ("static_strides", i64s(&steps)),
        ];
        let view = OperationBuilder::new(name, location)
            .add_operands(&[buffer])
            .add_attributes(
                &attributes.map(|(name, value)| (Identifier::new(context, name), value)),
            )
            .add_results(&[view_type.into()])
            .build()?;
        let view = block.insert_operation_before(anchor, view);
        // SAFETY: the view was just put into the function.
        Ok(unsafe { Op::from_raw(view.to_raw()) }.result(0))
    }

    /// Adds the ordering edges: a token to each first end, an operand to each second.
    fn add_edges(&mut self, plan: &Plan, mut memsets: Vec<Op>) {
        let inserted = plan.edges_are_inserted;
        let mut order: Vec<usize> = (0..plan.edges.len()).collect();
        order.sort_by_key(|&index| plan.edges[index].to);
        let ends = |index: usize| (plan.edges[index].from, plan.edges[index].to);
        // Every token first: making one rebuilds its operation.
        for &index in &order {
            let (from, _) = ends(index);
            let op = self.node(from, &memsets);
            // SAFETY: `check` found a live engine operation; the old handle is replaced.
            let rebuilt =
                unsafe { Op::from_raw(accessors::ptoEngineOpAddToken(op.raw(), inserted)) };
            match from {
                EdgeNode::Inst(inst) => self.reading.replace_op(inst, rebuilt),
                EdgeNode::Memset(memset) => memsets[memset as usize] = rebuilt,
            }
        }
        for group in order.chunk_by(|&left, &right| ends(left).1 == ends(right).1) {
            let (_, to) = ends(group[0]);
            let tokens: Vec<_> = group
                .iter()
                .map(|&index| self.node(ends(index).0, &memsets))
                .map(|maker| maker.result(maker.result_count() - 1).raw())
                .collect();
            let waiting = self.node(to, &memsets);
            // SAFETY: `tokens` has as many live values as is said.
            unsafe {
                accessors::ptoEngineOpAppendAfter(
                    waiting.raw(),
                    tokens.len() as u32,
                    tokens.as_ptr(),
                    inserted,
                );
            }
        }
    }

    /// Places buffers. Last, as it may replace the operations that make them.
    fn place(self, plan: &Plan) {
        for &(alloc, place) in &plan.placements {
            let Some(op) = self.reading.alloc_value(alloc).owner() else {
                continue;
            };
            // SAFETY: `check` found a live allocation that can be placed. Its handles are not used
            // again.
            unsafe {
                accessors::ptoAllocPlace(
                    op.raw(),
                    i64::from(place.bank),
                    i64::from(place.offset),
                    i64::from(place.partition),
                );
            }
        }
    }

    fn node(&self, node: EdgeNode, memsets: &[Op]) -> Op {
        match node {
            EdgeNode::Inst(inst) => self.reading.op(inst),
            EdgeNode::Memset(index) => memsets[index as usize],
        }
    }

    fn mark(&self, mark: FunctionMark, set: bool) {
        let name = string_ref(match mark {
            FunctionMark::Provisional => "pto.acc_provisional",
            FunctionMark::Legalized => "pto.acc_legalized",
        });
        let function = self.reading.function;
        // SAFETY: the function is live, and this thread is the only one that changes it.
        unsafe {
            if set {
                let unit = mlirUnitAttrGet(function.context());
                mlirOperationSetDiscardableAttributeByName(function.raw(), name, unit);
            } else {
                mlirOperationRemoveDiscardableAttributeByName(function.raw(), name);
            }
        }
    }
}

/// Erases `op`, and the constants, views and marked operations that only it used.
fn erase(op: Op) {
    let mut dead = vec![op];
    while let Some(op) = dead.pop() {
        let mut makers: Vec<Op> = op.operands().filter_map(Value::owner).collect();
        // SAFETY: `check` and the dropped edges leave no use of a result of the memset, and only
        // unused makers follow. The handle is not used again.
        unsafe { mlirOperationDestroy(op.raw()) };
        makers.sort_by_key(|maker| maker.key());
        makers.dedup_by_key(|maker| maker.key());
        dead.extend(makers.into_iter().filter(|maker| is_dead(*maker)));
    }
}

/// Whether `op` is a constant, a view, a part of a predicate or a relay that nothing uses.
fn is_dead(op: Op) -> bool {
    let is_pure = matches!(
        op.name().as_str(),
        "arith.constant" | "memref.subview" | "memref.reinterpret_cast"
    );
    (is_pure || op.has_mark(INSERTED_MARK)) && op.result(0).is_unused()
}
