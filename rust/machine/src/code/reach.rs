//! What a program needs of the machine, found before it runs.

use pto_ir::Space;

use super::{Code, Func, FuncId, Inst, ValueType};
use crate::report::{Report, SiteId};

impl Code {
    /// Why the part of the program that `entry` reaches cannot run on the machine, where it cannot:
    /// flags that are left to the compiler, or a PSUM buffer without a place. The reference runs it
    /// all the same.
    pub fn machine_obstacle(&self, entry: FuncId) -> Option<Report> {
        let arguments = self.argument_obstacle(self.func(entry));
        arguments.or_else(|| {
            self.reachable(entry)
                .into_iter()
                .find_map(|id| obstacle(self.func(id)))
        })
    }

    /// The functions that `entry` may call, itself first, each once.
    fn reachable(&self, entry: FuncId) -> Vec<FuncId> {
        let mut seen = vec![false; self.funcs.len()];
        let mut found = vec![entry];
        seen[entry.index()] = true;
        let mut next = 0;
        while let Some(&id) = found.get(next) {
            next += 1;
            for inst in &self.func(id).insts {
                if let Inst::Call(call) = inst
                    && !std::mem::replace(&mut seen[call.callee.index()], true)
                {
                    found.push(call.callee);
                }
            }
        }
        found
    }

    fn argument_obstacle(&self, func: &Func) -> Option<Report> {
        let in_psum =
            |ty: &ValueType| matches!(ty, ValueType::View(view) if view.space == Space::Psum);
        let number = func
            .params
            .iter()
            .position(|param| in_psum(&param.ty) && param.placement.is_none())?;
        Some(unplaced(
            func.site,
            &format!("argument {number} has no bank"),
        ))
    }
}

fn obstacle(func: &Func) -> Option<Report> {
    func.insts
        .iter()
        .zip(&func.sites)
        .find_map(|(inst, &site)| match inst {
            Inst::Matmul(op) if op.flags.is_none() => Some(auto(site, "this matmul has no flags")),
            Inst::Matmul(_) if func.is_provisional => {
                Some(auto(site, "the flags of this function are provisional"))
            }
            Inst::Allocate(allocate)
                if allocate.space == Space::Psum && allocate.placement.is_none() =>
            {
                Some(unplaced(site, "this allocation has no bank"))
            }
            _ => None,
        })
}

fn auto(site: SiteId, message: &str) -> Report {
    Report::unusable("pto:auto-flags", site, message)
}

fn unplaced(site: SiteId, message: &str) -> Report {
    Report::unusable("pto:unplaced", site, message)
}
