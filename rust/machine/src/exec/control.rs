//! Jumps, loops and calls.

use smallvec::SmallVec;

use super::{Flow, Machine, Moved, site_of};
use crate::code::types::sign_extend;
use crate::code::{Call, Func, FuncId, Inst, ScalarSlot, Slot, Switch};
use crate::memory::View;
use crate::report::{Outcome, Report, SiteId};
use crate::scalar::{IntBinaryOp, IntCompare};

/// A function being run.
pub(super) struct Frame<'c> {
    pub(super) func: FuncId,
    /// The next instruction, while another function runs.
    pub(super) pc: u32,
    pub(super) scalar_base: usize,
    pub(super) view_base: usize,
    /// Where the caller wants the results; `None` for the entry function.
    call: Option<&'c Call>,
    /// The call.
    site: SiteId,
}

impl Frame<'_> {
    /// The call that entered the function; `None` for the entry function.
    pub(super) fn call_site(&self) -> Option<SiteId> {
        self.call.map(|_| self.site)
    }
}

impl<'c> Machine<'c> {
    pub(super) fn control(&mut self, inst: &'c Inst, pc: u32, site: SiteId) -> Outcome<Flow> {
        Ok(match inst {
            Inst::Jump(target) => Flow::Jump(target.0),
            Inst::JumpIf { condition, target } => match self.get(*condition) {
                0 => Flow::Next,
                _ => Flow::Jump(target.0),
            },
            Inst::JumpUnless { condition, target } => match self.get(*condition) {
                0 => Flow::Jump(target.0),
                _ => Flow::Next,
            },
            Inst::Switch(switch) => Flow::Jump(self.switch(switch)),
            Inst::LoopEnter {
                compare,
                width,
                iv,
                lower,
                upper,
                step,
                exit,
            } => {
                self.check_step(*compare, *width, *step, site)?;
                let (lower, upper) = (self.get(*lower), self.get(*upper));
                self.set(*iv, lower);
                if compare.holds(*width, lower, upper) {
                    Flow::Next
                } else {
                    Flow::Jump(exit.0)
                }
            }
            Inst::LoopNext {
                compare,
                width,
                iv,
                upper,
                step,
                body,
            } => match self.next_iteration(*compare, *width, (*iv, *upper, *step)) {
                true => Flow::Jump(body.0),
                false => Flow::Next,
            },
            Inst::Call(call) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.pc = pc + 1;
                }
                self.call(call, site)?;
                Flow::Frame
            }
            Inst::Return(values) => self.return_from(values),
            Inst::Assert { condition, message } => {
                if self.get(*condition) == 0 {
                    let message = format!("assertion failed: {message}");
                    return Err(Box::new(Report::failed("pto:assert", site, message)));
                }
                Flow::Next
            }
            _ => Flow::Next,
        })
    }

    fn switch(&self, switch: &Switch) -> u32 {
        let value = sign_extend(self.get(switch.value), switch.width);
        let case = switch.cases.iter().find(|(case, _)| *case == value);
        case.map_or(switch.default.0, |(_, target)| target.0)
    }

    /// A step that is not positive would loop for ever, or run no loop in a way the next reader of
    /// the program does not expect.
    fn check_step(
        &self,
        compare: IntCompare,
        width: u8,
        step: ScalarSlot,
        site: SiteId,
    ) -> Outcome<()> {
        let step = self.get(step);
        let is_unsigned = matches!(compare, IntCompare::Ult | IntCompare::Ule);
        if step != 0 && (is_unsigned || sign_extend(step, width) > 0) {
            return Ok(());
        }
        Err(bad_step(sign_extend(step, width), site))
    }

    /// Advances a loop; whether it goes on. A sum past the end of its type ends the loop.
    fn next_iteration(
        &mut self,
        compare: IntCompare,
        width: u8,
        (iv, upper, step): (ScalarSlot, ScalarSlot, ScalarSlot),
    ) -> bool {
        let old = self.get(iv);
        let next = IntBinaryOp::AddI
            .apply(width, old, self.get(step))
            .unwrap_or(old);
        self.set(iv, next);
        compare.holds(width, old, next) && compare.holds(width, next, self.get(upper))
    }

    fn call(&mut self, call: &'c Call, site: SiteId) -> Outcome<()> {
        let callee = self.code.func(call.callee);
        if !callee.has_body {
            let message = format!("calls @{}, which has no body", callee.name);
            let report = Report::unusable("pto:unsupported-op", site, message);
            return Err(Box::new(report.with_note(callee.site, "declared here")));
        }
        if self.is_active[call.callee.index()] {
            return Err(self.recursion(callee, site));
        }
        let arguments: SmallVec<[Moved; 8]> =
            call.arguments.iter().map(|&slot| self.take(slot)).collect();
        self.push_frame(call.callee, Some(call), site);
        for (param, value) in callee.params.iter().zip(arguments) {
            self.put(param.slot, value);
        }
        Ok(())
    }

    /// Makes room for the slots of `func` and enters it.
    pub(super) fn push_frame(&mut self, func: FuncId, call: Option<&'c Call>, site: SiteId) {
        let callee = self.code.func(func);
        let frame = Frame {
            func,
            pc: 0,
            scalar_base: self.scalars.len(),
            view_base: self.views.len(),
            call,
            site,
        };
        self.scalars
            .resize(frame.scalar_base + callee.scalars as usize, 0);
        self.views
            .resize_with(frame.view_base + callee.views as usize, View::unset);
        for &(slot, bits) in &callee.constants {
            self.scalars[frame.scalar_base + slot.index()] = bits;
        }
        self.is_active[func.index()] = true;
        self.frames.push(frame);
        self.use_top_frame();
    }

    fn return_from(&mut self, values: &'c [Slot]) -> Flow {
        let returned: SmallVec<[Moved; 8]> = values.iter().map(|&slot| self.take(slot)).collect();
        let Some(frame) = self.frames.last() else {
            return Flow::End;
        };
        let Some(call) = frame.call else {
            // The entry function's frame stays: its slots hold arguments and results.
            self.returned = values;
            return Flow::End;
        };
        self.is_active[frame.func.index()] = false;
        self.scalars.truncate(frame.scalar_base);
        self.views.truncate(frame.view_base);
        self.frames.pop();
        self.use_top_frame();
        for (&slot, value) in call.results.iter().zip(returned) {
            self.put(slot, value);
        }
        Flow::Frame
    }

    fn recursion(&self, callee: &Func, site: SiteId) -> Box<Report> {
        let message = format!(
            "calls @{}, which is being run: recursion is not supported",
            callee.name
        );
        let mut report = Report::unusable("pto:recursion", site, message);
        let earlier = self
            .frames
            .iter()
            .find(|frame| self.code.func(frame.func).name == callee.name);
        if let Some(frame) = earlier {
            let entered = if frame.site == SiteId::NONE {
                site_of(self.code, frame.func)
            } else {
                frame.site
            };
            report = report.with_note(entered, "entered here");
        }
        Box::new(report)
    }
}

/// The report of a loop whose step is not positive.
pub(super) fn bad_step(step: i64, site: SiteId) -> Box<Report> {
    let message = format!("the step of a loop must be positive, but it is {step}");
    Box::new(Report::failed("pto:loop-step", site, message))
}
