//! The instructions of the dialect, and calls.

use pto_ir::build::MatmulSpec;
use pto_ir::{AccFlags, AccessId, Engine, InstId, Op as IrOp, Tile, UseKind};

use super::{Detail, Reader, elements_per_partition};
use crate::accessors::{PtoMatmul, space};
use crate::handle::{Op, Value};

impl Reader {
    pub(super) fn read_matmul(&mut self, op: Op) {
        let Some(facts) = op.matmul() else { return };
        // SAFETY: the values of `facts` are operands of `op`.
        let (dst, accumulator) = unsafe {
            (
                Value::from_option_raw(facts.dst),
                Value::from_option_raw(facts.accumulator),
            )
        };
        let Some(dst) = dst else { return };
        if dst.r#type().space() != space::PSUM {
            // The tile machine accumulates elsewhere; to PSUM it is an instruction without effects.
            let inst = self.read_engine_op(op, &[]);
            if let Some(inst) = inst.filter(|_| self.detail == Detail::Memory) {
                self.builder.set_opaque(inst);
            }
            return;
        }
        let Some(dst_access) = self.access_or_report(op, dst) else {
            return;
        };
        let accumulator = match accumulator {
            Some(value) if value.key() == dst.key() => Some(dst_access),
            Some(value) => match self.access_or_report(op, value) {
                Some(access) => Some(access),
                None => return,
            },
            None => None,
        };
        // SAFETY: the values of `facts` are operands of `op`.
        let (start_if, stop_if) = unsafe {
            (
                Value::from_option_raw(facts.start_if),
                Value::from_option_raw(facts.stop_if),
            )
        };
        // SAFETY: as above.
        let operands = unsafe {
            [
                Value::from_option_raw(facts.lhs),
                Value::from_option_raw(facts.rhs),
            ]
        };
        let [stationary, moving] = operands.map(|value| self.operand_access(value));
        let spec = MatmulSpec {
            stationary,
            moving,
            start_if: self.predicate(start_if),
            stop_if: self.predicate(stop_if),
            ..spec_of(&facts, accumulator)
        };
        let inst = self.builder.push_matmul(dst_access, spec);
        self.ops.push(op);
        self.read_work(inst, operands.into_iter().flatten(), None);
        self.read_order(op, inst, facts.after_count, facts.has_token);
    }

    /// The cells of an operand in SBUF, where they are asked for.
    fn operand_access(&mut self, value: Option<Value>) -> Option<AccessId> {
        if self.detail != Detail::Memory {
            return None;
        }
        self.outside_access(value?)
    }

    /// What the time of `inst` depends on, and whether all that it accesses is known.
    fn read_work(
        &mut self,
        inst: InstId,
        mut operands: impl Iterator<Item = Value>,
        target: Option<Value>,
    ) {
        if self.detail != Detail::Memory {
            return;
        }
        if let Some(target) = target {
            self.builder
                .set_elements(inst, elements_per_partition(target));
        }
        if operands.any(|value| self.is_unknown(value)) {
            self.builder.set_opaque(inst);
        }
    }

    /// An engine operation of the dialect with the given accesses.
    pub(super) fn read_engine_op(
        &mut self,
        op: Op,
        operands: &[(Value, UseKind)],
    ) -> Option<InstId> {
        let facts = op.engine();
        let engine = facts.map_or(Engine::Other, |facts| engine_of(facts.engine));
        let uses = self.uses(op, operands)?;
        let inst = self.push(op, IrOp::Engine, engine, &uses);
        let values = operands.iter().map(|&(value, _)| value);
        let last = values.clone().next_back();
        self.read_work(inst, values, last);
        if let Some(facts) = facts {
            self.read_order(op, inst, facts.after_count, facts.has_token);
            if facts.inserted {
                self.builder.set_inserted(inst);
            }
        }
        Some(inst)
    }

    /// The token of an engine operation and those it waits for.
    fn read_order(&mut self, op: Op, inst: InstId, after_count: u32, has_token: bool) {
        if has_token {
            self.token_makers.insert(op.key(), inst);
        }
        for index in 0..after_count {
            if let Some(maker) = op.after(index).owner() {
                self.edges
                    .push((inst, maker.key(), op.is_after_inserted(index)));
            }
        }
    }

    pub(super) fn read_call(&mut self, op: Op) {
        let banks = op.callee_banks();
        let mut operands = Vec::new();
        for kind in [UseKind::Read, UseKind::Write] {
            operands.extend(op.operands().map(|value| (value, kind)));
        }
        if let Some(uses) = self.uses(op, &operands) {
            self.push(op, IrOp::Call { banks }, Engine::Other, &uses);
        }
    }
}

/// The matmul facts that the program keeps. The verifier of the dialect has checked the ranges.
fn spec_of(facts: &PtoMatmul, accumulator: Option<AccessId>) -> MatmulSpec {
    MatmulSpec {
        tile: facts.has_tile.then_some(Tile {
            rows: facts.tile_rows as u32,
            cols: facts.tile_cols as u32,
            row: facts.tile_row as u32,
            col: facts.tile_col as u32,
        }),
        accumulator,
        flags: u8::try_from(facts.acc).ok().and_then(AccFlags::from_byte),
        zero_region: u8::try_from(facts.zero_region).ok(),
        ..MatmulSpec::default()
    }
}

/// The engine the dialect numbers `number`.
const fn engine_of(number: u32) -> Engine {
    match number {
        0 => Engine::Pe,
        1 => Engine::Vector,
        2 => Engine::Scalar,
        3 => Engine::Gpsimd,
        4 => Engine::Dma,
        _ => Engine::Other,
    }
}
