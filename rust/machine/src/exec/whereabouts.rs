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
        let value = |slot: ScalarSlot| self.scalars[frame.scalar_base + slot.index()];
        // A loop lies between the first instruction of its body and the one that goes on to the next iteration.
        for (inst, &site) in func.insts.iter().zip(&func.sites).skip(pc) {
            let variables = match inst {
                Inst::LoopNext {
                    body,
                    iv,
                    width,
                    compare,
                    ..
                } if body.0 as usize <= pc => match compare {
                    IntCompare::Ult | IntCompare::Ule => value(*iv).to_string(),
                    _ => sign_extend(value(*iv), *width).to_string(),
                },
                Inst::ParallelNext { body } if body.0 as usize <= pc => {
                    let enter = (body.0 as usize).checked_sub(1);
                    let Some(Inst::ParallelEnter(parallel)) =
                        enter.and_then(|at| func.insts.get(at))
                    else {
                        continue;
                    };
                    let numbers = parallel.dims.iter();
                    let numbers: Vec<String> = numbers
                        .map(|dim| (value(dim.iv) as i64).to_string())
                        .collect();
                    numbers.join(", ")
                }
                _ => continue,
            };
            notes.push((site, format!("in this loop, at {variables}")));
        }
    }
}
