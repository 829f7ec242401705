//! What a program needs of the machine, found before it runs.

use super::{Code, Func, FuncId, Inst, Platform, Space, ValueType};
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

    /// The machine that the part of the program that `entry` reaches is for, as its own operations
    /// say: `None` where they do not, which is so where it has both matmuls of the PE and tiles.
    pub fn implied_platform(&self, entry: FuncId) -> Option<Platform> {
        let functions = self.reachable(entry);
        let any = |has: &dyn Fn(&Func) -> bool| functions.iter().any(|&id| has(self.func(id)));
        let has_pe = any(&|func| func.insts.iter().any(is_pe));
        let is_tile = any(&|func| has_tiles(func).is_some()) && !has_pe;
        is_tile.then_some(Platform::Tile)
    }

    /// Why the part of the program that `entry` reaches cannot run on `platform` under any meaning:
    /// it has what only the other kind of machine has.
    pub fn foreign_part(&self, entry: FuncId, platform: Platform) -> Option<Report> {
        let name = platform.name();
        let expected = |what: &str| format!("expected {what}, found {name}");
        self.reachable(entry).into_iter().find_map(|id| {
            let func = self.func(id);
            let (site, message) = match platform {
                Platform::Pe(_) => {
                    let site = has_tiles(func)?;
                    (site, expected("target tile for a program with tiles"))
                }
                Platform::Tile => {
                    let mut insts = func.insts.iter().zip(&func.sites);
                    let (_, &site) = insts.find(|(inst, _)| is_pe(inst))?;
                    (site, expected("a target with a pe array for this matmul"))
                }
            };
            Some(Report::unusable("pto:target-limit", site, message))
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

fn is_pe(inst: &Inst) -> bool {
    matches!(inst, Inst::Matmul(_))
}

/// Where a function first has tiles, if it has any.
fn has_tiles(func: &Func) -> Option<SiteId> {
    let is_tile = |space: Space| matches!(space, Space::Tile(_));
    let types = func
        .params
        .iter()
        .map(|param| &param.ty)
        .chain(&func.results);
    let mut views = types.filter_map(|ty| match ty {
        ValueType::View(view) => Some(view.space),
        ValueType::Scalar(_) | ValueType::Token => None,
    });
    if views.any(is_tile) {
        return Some(func.site);
    }
    let mut insts = func.insts.iter().zip(&func.sites);
    let found = insts.find(|(inst, _)| match inst {
        Inst::TileMatmul(_) => true,
        Inst::Allocate(allocate) => is_tile(allocate.space),
        _ => false,
    });
    found.map(|(_, &site)| site)
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
