//! The instructions of the dialect, and calls.

use pto_ir::build::MatmulSpec;
use pto_ir::{AccFlags, AccessId, Engine, InstId, Op as IrOp, Tile, UseKind};

use super::Reader;
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
            return self.read_engine_op(op, &[]);
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
        let spec = MatmulSpec {
            start_if: self.predicate(start_if),
            stop_if: self.predicate(stop_if),
            ..spec_of(&facts, accumulator)
        };
        let inst = self.builder.push_matmul(dst_access, spec);
        self.ops.push(op);
        self.read_order(op, inst);
    }

    /// An engine operation of the dialect with the given accesses.
    pub(super) fn read_engine_op(&mut self, op: Op, operands: &[(Value, UseKind)]) {
        let engine = op
            .engine()
            .map_or(Engine::Other, |facts| engine_of(facts.engine));
        if let Some(uses) = self.uses(op, operands) {
            let inst = self.push(op, IrOp::Engine, engine, &uses);
            self.read_order(op, inst);
        }
    }

    /// Tokens and the mark of an engine operation.
    fn read_order(&mut self, op: Op, inst: InstId) {
        let Some(facts) = op.engine() else { return };
        if facts.has_token {
            self.token_makers.insert(op.key(), inst);
        }
        for index in 0..facts.after_count {
            if let Some(maker) = op.after(index).owner() {
                self.edges
                    .push((inst, maker.key(), op.is_after_inserted(index)));
            }
        }
        if facts.inserted {
            self.builder.set_inserted(inst);
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
