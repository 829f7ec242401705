//! Where a run was when it ended early: iterations of loops, and calls.

use super::Machine;
use super::control::Frame;
use crate::code::{Inst, ScalarSlot, sign_extend};
use crate::report::{Report, SiteId};
use crate::scalar::IntCompare;

/// Notes about where a run was, at most: the innermost.
const MAX_NOTES: usize = 8;

impl Machine<'_> {
    /// `report`, of instruction `pc` of the function on top, with the loops and calls around it.
    #[cold]
    pub(super) fn with_whereabouts(&self, mut report: Box<Report>, pc: usize) -> Box<Report> {
        let mut notes: Vec<(SiteId, String)> = Vec::new();
        for (depth, frame) in self.frames.iter().rev().enumerate() {
            // Those below were left at a call, and go on after it.
            let at = match depth {
                0 => pc,
                _ => (frame.pc as usize).saturating_sub(1),
            };
            self.loops_around(frame, at, &mut notes);
            if let Some(site) = frame.call_site() {
                notes.push((site, "called here".into()));
            }
        }
        report.notes.extend(notes.into_iter().take(MAX_NOTES));
        report
    }

    /// The loops of the function of `frame` around instruction `pc`, from the inside out.
    fn loops_around(&self, frame: &Frame<'_>, pc: usize, notes: &mut Vec<(SiteId, String)>) {
        let func = self.code.func(frame.func);
        // A loop lies between its body's first instruction and the one that goes on to the next iteration.
        for (inst, &site) in func.insts.iter().zip(&func.sites).skip(pc) {
            let value = |slot: ScalarSlot| self.scalars[frame.scalar_base + slot.index()];
            match inst {
                Inst::LoopNext {
                    body,
                    iv,
                    width,
                    compare,
                    ..
                } if body.0 as usize <= pc => {
                    let bits = value(*iv);
                    let is_unsigned = matches!(compare, IntCompare::Ult | IntCompare::Ule);
                    let number = match is_unsigned {
                        true => bits.to_string(),
                        false => sign_extend(bits, *width).to_string(),
                    };
                    notes.push((
                        site,
                        format!("the induction variable of this loop is {number}"),
                    ));
                }
                Inst::ParallelNext { body } if body.0 as usize <= pc => {
                    let enter = (body.0 as usize)
                        .checked_sub(1)
                        .and_then(|at| func.insts.get(at));
                    let Some(Inst::ParallelEnter(parallel)) = enter else {
                        continue;
                    };
                    let numbers = parallel.dims.iter().map(|dim| value(dim.iv) as i64);
                    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
                    let numbers = numbers.join(", ");
                    notes.push((
                        site,
                        format!("the induction variables of this loop are {numbers}"),
                    ));
                }
                _ => {}
            }
        }
    }
}
