//! Instructions on scalars.

use super::Machine;
use crate::code::{AffineApply, Compare, Inst};
use crate::report::{Outcome, Report, SiteId};
use crate::scalar::ScalarFault;
use crate::scalar::float::{fused_multiply_add, int_power};

impl Machine<'_> {
    pub(super) fn scalar_step(&mut self, inst: &Inst, site: SiteId) -> Outcome<()> {
        let (dst, bits) = match *inst {
            Inst::IntBinary {
                op,
                width,
                dst,
                lhs,
                rhs,
            } => {
                let result = op.apply(width, self.get(lhs), self.get(rhs));
                (dst, result.map_err(|fault| scalar_fault(fault, site))?)
            }
            Inst::IntUnary {
                op,
                width,
                dst,
                src,
            } => (dst, op.apply(width, self.get(src))),
            Inst::FloatBinary {
                op,
                ty,
                dst,
                lhs,
                rhs,
            } => (dst, op.apply(ty, self.get(lhs), self.get(rhs))),
            Inst::FloatUnary { op, ty, dst, src } => (dst, op.apply(ty, self.get(src))),
            Inst::FloatTest { op, ty, dst, src } => (dst, u64::from(op.holds(ty, self.get(src)))),
            Inst::FusedMultiplyAdd { ty, dst, operands } => {
                let [a, b, c] = operands.map(|slot| self.get(slot));
                (dst, fused_multiply_add(ty, a, b, c))
            }
            Inst::FloatPower {
                ty,
                width,
                dst,
                base,
                exponent,
            } => {
                let exponent = crate::code::types::sign_extend(self.get(exponent), width);
                (dst, int_power(ty, self.get(base), exponent))
            }
            Inst::Compare { op, dst, lhs, rhs } => (dst, self.compare(op, lhs, rhs)),
            Inst::Cast {
                op,
                from,
                to,
                dst,
                src,
            } => (dst, op.apply(from, to, self.get(src))),
            Inst::Select {
                dst,
                condition,
                yes,
                no,
            } => {
                let chosen = if self.get(condition) != 0 { yes } else { no };
                (dst, self.get(chosen))
            }
            Inst::Move { dst, src } => (dst, self.get(src)),
            Inst::Affine(ref apply) => (apply.dst, self.affine(apply, site)?),
            _ => return Ok(()),
        };
        self.set(dst, bits);
        Ok(())
    }

    fn compare(
        &self,
        op: Compare,
        lhs: crate::code::ScalarSlot,
        rhs: crate::code::ScalarSlot,
    ) -> u64 {
        let (left, right) = (self.get(lhs), self.get(rhs));
        u64::from(match op {
            Compare::Int(predicate, width) => predicate.holds(width, left, right),
            Compare::Float(predicate, ty) => predicate.holds(ty, left, right),
        })
    }

    fn affine(&self, apply: &AffineApply, site: SiteId) -> Outcome<u64> {
        let inputs = self.numbers(&apply.inputs);
        match apply.expr.eval(&inputs) {
            Some(value) => Ok(value as u64),
            None => {
                let message = "divides by a number that is not positive";
                let report = Report::failed("pto:division-by-zero", site, message);
                Err(Box::new(report))
            }
        }
    }
}

fn scalar_fault(fault: ScalarFault, site: SiteId) -> Box<Report> {
    let (tag, message) = match fault {
        ScalarFault::DivisionByZero => ("pto:division-by-zero", "divides an integer by zero"),
    };
    Box::new(Report::failed(tag, site, message))
}
