//! Functions, branches and structured control flow.

use pto_machine::code::{Call, Compare, Inst, Label, ScalarSlot, Slot, Switch};
use pto_machine::report::SiteId;
use pto_machine::scalar::IntCompare;

use super::attributes::{Attr, attribute};
use super::{Decode, Decoding, FunctionDecoder, Work, types, unsupported};
use crate::handle::{Block, Op, Value};

/// How operations called `name` are decoded.
pub(super) fn handler(name: &str) -> Option<Decode> {
    Some(match name {
        "func.call" => call,
        "func.return" => function_return,
        "cf.br" => branch,
        "cf.cond_br" => conditional_branch,
        "cf.switch" => branch_switch,
        "cf.assert" => assertion,
        "scf.for" => loop_op,
        "scf.if" => if_op,
        "scf.while" => while_op,
        "scf.condition" => while_condition,
        "scf.index_switch" => index_switch,
        "scf.execute_region" => execute_region,
        "scf.yield" => scf_yield,
        "memref.alloca_scope" => alloca_scope,
        "memref.alloca_scope.return" => scope_return,
        _ => return None,
    })
}

impl FunctionDecoder<'_> {
    /// The slots of several values.
    pub(super) fn slots(&mut self, values: &[Value], at: Op) -> Decoding<Vec<Slot>> {
        values.iter().map(|&value| self.slot(value, at)).collect()
    }

    /// The slots of the results of `op`.
    pub(super) fn results(&mut self, op: Op) -> Decoding<Vec<Slot>> {
        (0..op.result_count())
            .map(|index| self.result(op, index))
            .collect()
    }

    /// Gives `values` to `targets`, all at once.
    pub(super) fn assign(&mut self, targets: &[Slot], values: &[Slot], at: Op) {
        let moves: Vec<(Slot, Slot)> = targets
            .iter()
            .copied()
            .zip(values.iter().copied())
            .filter(|(target, value)| target != value)
            .collect();
        let reads_target = |(index, (_, value)): (usize, &(Slot, Slot))| {
            moves[..index].iter().any(|(target, _)| target == value)
        };
        if !moves.iter().enumerate().any(reads_target) {
            moves
                .iter()
                .for_each(|&(target, value)| self.emit_move(target, value, at));
            return;
        }
        // A value is a target assigned before it: all values go aside first.
        let aside: Vec<Slot> = moves
            .iter()
            .map(|&(target, _)| self.slot_like(target))
            .collect();
        for (&temporary, &(_, value)) in aside.iter().zip(&moves) {
            self.emit_move(temporary, value, at);
        }
        for (&temporary, &(target, _)) in aside.iter().zip(&moves) {
            self.emit_move(target, temporary, at);
        }
    }

    fn slot_like(&mut self, slot: Slot) -> Slot {
        match slot {
            Slot::Scalar(_) => Slot::Scalar(self.builder.scalar()),
            Slot::View(_) => Slot::View(self.builder.view()),
        }
    }

    fn emit_move(&mut self, target: Slot, value: Slot, at: Op) {
        match (target, value) {
            (Slot::Scalar(dst), Slot::Scalar(src)) => self.emit(Inst::Move { dst, src }, at),
            (Slot::View(dst), Slot::View(src)) => self.emit(Inst::MoveView { dst, src }, at),
            // The verifier gives both sides one type.
            _ => {}
        }
    }

    /// The slots of the arguments of `block`: new ones where it is seen for the first time.
    pub(super) fn block_slots(&mut self, block: Block, at: Op) -> Decoding<Vec<Slot>> {
        let arguments: Vec<Value> = block.arguments().collect();
        self.slots(&arguments, at)
    }

    fn block_label(&mut self, block: Block, at: Op) -> Decoding<Label> {
        self.blocks
            .get(&block.key())
            .copied()
            .ok_or_else(|| unsupported(at))
    }

    /// Leaves `works` to be done in this order.
    pub(super) fn push_works(&mut self, works: Vec<Work>) {
        self.pending.extend(works.into_iter().rev());
    }

    /// Decodes a region of one block in place, then `after`.
    pub(super) fn push_body(&mut self, block: Option<Block>, after: Vec<Work>) {
        self.push_works(after);
        self.pending
            .extend(block.and_then(|block| block.first_op()).map(Work::Ops));
    }
}

fn call(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let callee = decoder.module.callee(op)?;
    let operands: Vec<Value> = op.operands().collect();
    let call = Call {
        callee,
        arguments: decoder.slots(&operands, op)?.into(),
        results: decoder.results(op)?.into(),
    };
    decoder.emit(Inst::Call(Box::new(call)), op);
    Ok(())
}

fn function_return(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let operands: Vec<Value> = op.operands().collect();
    let values = decoder.slots(&operands, op)?;
    decoder.emit(Inst::Return(values.into()), op);
    Ok(())
}

fn branch(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    jump_to(
        decoder,
        op.successor(0),
        &op.operands().collect::<Vec<_>>(),
        op,
    )
}

/// Gives the arguments of `block` their values and goes there.
fn jump_to(
    decoder: &mut FunctionDecoder<'_>,
    block: Block,
    operands: &[Value],
    op: Op,
) -> Decoding<()> {
    let targets = decoder.block_slots(block, op)?;
    let values = decoder.slots(operands, op)?;
    decoder.assign(&targets, &values, op);
    let label = decoder.block_label(block, op)?;
    decoder.emit(Inst::Jump(label), op);
    Ok(())
}

fn conditional_branch(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let condition = decoder.scalar(op.operand(0), op)?;
    let operands: Vec<Value> = op.operands().skip(1).collect();
    let (yes, no) = (op.successor(0), op.successor(1));
    let (yes_operands, no_operands) = operands.split_at(yes.arguments().count());
    let otherwise = decoder.builder.label();
    decoder.emit(
        Inst::JumpUnless {
            condition,
            target: otherwise,
        },
        op,
    );
    jump_to(decoder, yes, yes_operands, op)?;
    decoder.builder.bind(otherwise);
    jump_to(decoder, no, no_operands, op)
}

fn branch_switch(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let ty = types::scalar_type(op.operand(0).r#type(), op)?;
    let value = decoder.scalar(op.operand(0), op)?;
    let mut operands: Vec<Value> = op.operands().skip(1).collect();
    let cases = attribute(op, "case_values");
    let values = cases.and_then(|cases| cases.dense(ty)).unwrap_or_default();
    let count = op.successor_count() - 1;
    let case = |index: usize| {
        // One element stands for all in a splat.
        let start = if values.len() == ty.bytes() {
            0
        } else {
            index * ty.bytes()
        };
        let mut word = [0; 8];
        word[..ty.bytes()].copy_from_slice(&values[start..start + ty.bytes()]);
        pto_machine::code::sign_extend(u64::from_le_bytes(word), ty.int_width().unwrap_or(64))
    };
    let labels: Vec<Label> = (0..=count).map(|_| decoder.builder.label()).collect();
    let switch = Switch {
        value,
        width: ty.int_width().unwrap_or(64),
        cases: (0..count)
            .map(|index| (case(index), labels[index + 1]))
            .collect(),
        default: labels[0],
    };
    decoder.emit(Inst::Switch(Box::new(switch)), op);
    // Operands come successor by successor, the default first.
    for (index, label) in labels.into_iter().enumerate() {
        let block = op.successor(index);
        let rest = operands.split_off(block.arguments().count());
        decoder.builder.bind(label);
        jump_to(decoder, block, &operands, op)?;
        operands = rest;
    }
    Ok(())
}

fn assertion(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let message = attribute(op, "msg")
        .and_then(Attr::text)
        .unwrap_or_default();
    let condition = decoder.scalar(op.operand(0), op)?;
    decoder.emit(
        Inst::Assert {
            condition,
            message: message.into(),
        },
        op,
    );
    Ok(())
}

fn loop_op(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let ty = types::scalar_type(op.operand(0).r#type(), op)?;
    let width = ty.int_width().ok_or_else(|| unsupported(op))?;
    let is_unsigned = attribute(op, "unsignedCmp").is_some();
    let bounds = [0, 1, 2].map(|index| decoder.scalar(op.operand(index), op));
    let [lower, upper, step] = bounds;
    let bounds = LoopBounds {
        compare: if is_unsigned {
            IntCompare::Ult
        } else {
            IntCompare::Slt
        },
        width,
        lower: lower?,
        upper: upper?,
        step: step?,
    };
    let inits: Vec<Value> = op.operands().skip(3).collect();
    decoder.counted_loop(op, bounds, &inits)
}

/// The bounds of a counted loop.
pub(super) struct LoopBounds {
    pub(super) compare: IntCompare,
    pub(super) width: u8,
    pub(super) lower: ScalarSlot,
    pub(super) upper: ScalarSlot,
    pub(super) step: ScalarSlot,
}

impl FunctionDecoder<'_> {
    /// Decodes a loop whose body's first argument counts and whose others are carried. The results
    /// are the carried values: they share their slots.
    pub(super) fn counted_loop(
        &mut self,
        op: Op,
        bounds: LoopBounds,
        inits: &[Value],
    ) -> Decoding<()> {
        let body = op.first_block(0).ok_or_else(|| unsupported(op))?;
        let slots = self.block_slots(body, op)?;
        let Some((&Slot::Scalar(iv), carried)) = slots.split_first() else {
            return Err(unsupported(op));
        };
        let values = self.slots(inits, op)?;
        self.assign(carried, &values, op);
        for (index, &slot) in carried.iter().enumerate() {
            self.bind(op.result(index), slot);
        }
        let LoopBounds {
            compare,
            width,
            lower,
            upper,
            step,
        } = bounds;
        let (start, exit) = (self.builder.label(), self.builder.label());
        self.emit(
            Inst::LoopEnter {
                compare,
                width,
                iv,
                lower,
                upper,
                step,
                exit,
            },
            op,
        );
        self.builder.bind(start);
        let next = Inst::LoopNext {
            compare,
            width,
            iv,
            upper,
            step,
            body: start,
        };
        let site = self.module.site(op);
        self.push_body(Some(body), vec![Work::Emit(next, site), Work::Bind(exit)]);
        Ok(())
    }

    /// Decodes `then` where `condition` holds and `otherwise` where it does not.
    pub(super) fn conditional(
        &mut self,
        op: Op,
        condition: ScalarSlot,
        then: Option<Block>,
        otherwise: Option<Block>,
    ) -> Decoding<()> {
        self.results(op)?;
        let (other, end) = (self.builder.label(), self.builder.label());
        self.emit(
            Inst::JumpUnless {
                condition,
                target: other,
            },
            op,
        );
        let site = self.module.site(op);
        let mut works: Vec<Work> = Vec::new();
        works.extend(then.and_then(|block| block.first_op()).map(Work::Ops));
        works.push(Work::Emit(Inst::Jump(end), site));
        works.push(Work::Bind(other));
        works.extend(otherwise.and_then(|block| block.first_op()).map(Work::Ops));
        works.push(Work::Bind(end));
        self.push_works(works);
        Ok(())
    }
}

fn if_op(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let condition = decoder.scalar(op.operand(0), op)?;
    let (then, otherwise) = (op.first_block(0), op.first_block(1));
    decoder.conditional(op, condition, then, otherwise)
}

fn while_op(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let blocks = (op.first_block(0), op.first_block(1));
    let (Some(before), Some(after)) = blocks else {
        return Err(unsupported(op));
    };
    let inits: Vec<Value> = op.operands().collect();
    let values = decoder.slots(&inits, op)?;
    let targets = decoder.block_slots(before, op)?;
    decoder.assign(&targets, &values, op);
    // The results are what the condition passes on, and so are the arguments of the second region.
    for (index, slot) in decoder.block_slots(after, op)?.into_iter().enumerate() {
        decoder.bind(op.result(index), slot);
    }
    let (start, exit) = (decoder.builder.label(), decoder.builder.label());
    decoder.exits.insert(op.key(), exit);
    decoder.builder.bind(start);
    let site = decoder.module.site(op);
    let mut works: Vec<Work> = Vec::new();
    works.extend(before.first_op().map(Work::Ops));
    works.extend(after.first_op().map(Work::Ops));
    works.push(Work::Emit(Inst::Jump(start), site));
    works.push(Work::Bind(exit));
    decoder.push_works(works);
    Ok(())
}

fn while_condition(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let parent = op.parent().ok_or_else(|| unsupported(op))?;
    let target = decoder
        .exits
        .get(&parent.key())
        .copied()
        .ok_or_else(|| unsupported(op))?;
    let condition = decoder.scalar(op.operand(0), op)?;
    let passed: Vec<Value> = op.operands().skip(1).collect();
    let values = decoder.slots(&passed, op)?;
    let targets = decoder.results(parent)?;
    decoder.assign(&targets, &values, op);
    decoder.emit(Inst::JumpUnless { condition, target }, op);
    Ok(())
}

fn index_switch(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    decoder.results(op)?;
    let values = attribute(op, "cases")
        .and_then(Attr::i64_array)
        .unwrap_or_default();
    let labels: Vec<Label> = (0..op.region_count())
        .map(|_| decoder.builder.label())
        .collect();
    let end = decoder.builder.label();
    // Region 0 is the default.
    let switch = Switch {
        value: decoder.scalar(op.operand(0), op)?,
        width: 64,
        cases: values
            .into_iter()
            .zip(labels.iter().skip(1).copied())
            .collect(),
        default: labels.first().copied().ok_or_else(|| unsupported(op))?,
    };
    decoder.emit(Inst::Switch(Box::new(switch)), op);
    let site = decoder.module.site(op);
    let mut works: Vec<Work> = Vec::new();
    for (region, label) in labels.into_iter().enumerate() {
        works.push(Work::Bind(label));
        works.extend(
            op.first_block(region)
                .and_then(|block| block.first_op())
                .map(Work::Ops),
        );
        works.push(Work::Emit(Inst::Jump(end), site));
    }
    works.push(Work::Bind(end));
    decoder.push_works(works);
    Ok(())
}

fn execute_region(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    decoder.results(op)?;
    let entry = op.first_block(0).ok_or_else(|| unsupported(op))?;
    let end = decoder.builder.label();
    decoder.exits.insert(op.key(), end);
    decoder.push_works(vec![Work::Bind(end)]);
    decoder.push_blocks(entry)
}

/// A block in which allocations live; what nothing refers to is found anyway.
fn alloca_scope(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    decoder.results(op)?;
    decoder.push_body(op.first_block(0), Vec::new());
    Ok(())
}

fn scope_return(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let scope = op.parent().ok_or_else(|| unsupported(op))?;
    let operands: Vec<Value> = op.operands().collect();
    let values = decoder.slots(&operands, op)?;
    let targets = decoder.results(scope)?;
    decoder.assign(&targets, &values, op);
    Ok(())
}

/// Values for the next iteration of a loop, or the results of another operation.
fn scf_yield(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let parent = op.parent().ok_or_else(|| unsupported(op))?;
    let operands: Vec<Value> = op.operands().collect();
    let values = decoder.slots(&operands, op)?;
    let targets = match parent.name().as_str() {
        "scf.while" => {
            let before = parent.first_block(0).ok_or_else(|| unsupported(op))?;
            decoder.block_slots(before, op)?
        }
        _ => decoder.results(parent)?,
    };
    decoder.assign(&targets, &values, op);
    // Only a region of several blocks does not simply end here.
    if parent.name() == "scf.execute_region" {
        let exit = decoder
            .exits
            .get(&parent.key())
            .copied()
            .ok_or_else(|| unsupported(op))?;
        decoder.emit(Inst::Jump(exit), op);
    }
    Ok(())
}

impl FunctionDecoder<'_> {
    /// A comparison into a new slot.
    pub(super) fn emit_index_compare(
        &mut self,
        predicate: IntCompare,
        lhs: ScalarSlot,
        rhs: ScalarSlot,
        site: SiteId,
    ) -> ScalarSlot {
        let dst = self.builder.scalar();
        let op = Compare::Int(predicate, 64);
        self.builder.push(Inst::Compare { op, dst, lhs, rhs }, site);
        dst
    }
}
