//! The banks that a function names in `pto.psum_banks`. Who calls it looks at nothing else of it, so it is held to them:
//! its accesses, the zero regions of its STARTs and ACCUMULATEs, and the banks that its callees name.

use pto_ir::{Diag, Inst, InstId, Matmul, Op, Program, Site, Target};

use super::layout::{access_rectangles, banks, zero_region};

/// The first instruction of `program` that touches a bank that the function does not name, if it names any.
pub(crate) fn check(program: &Program, target: &Target) -> Option<Diag> {
    let named = program.named_banks?;
    program.walk().find_map(|id| {
        let inst = program.inst(id);
        let touched = [
            accessed(program, id, target),
            reached(program, inst, target),
            called(inst),
        ];
        let whats = ["an access of", "a zero region over", "a callee that touches"];
        let found = touched.into_iter().zip(whats);
        let mut outside = found.map(|(banks, what)| (banks & !named, what));
        let (banks, what) = outside.find(|(banks, _)| *banks != 0)?;
        let bank = banks.trailing_zeros();
        let message = format!(
            "expected only the psum banks that the function names (pto.psum_banks), found {what} bank {bank}"
        );
        Some(Diag::error("pto:call", Site::Inst(id), message))
    })
}

fn mask(banks: impl Iterator<Item = u32>) -> u32 {
    banks.fold(0, |mask, bank| mask | 1_u32.checked_shl(bank).unwrap_or(0))
}

/// The banks of the cells that `inst` reads and writes.
fn accessed(program: &Program, inst: InstId, target: &Target) -> u32 {
    let uses = program.uses(inst).iter();
    let rectangles = uses.filter_map(|used| access_rectangles(program, used.access, target));
    mask(
        rectangles
            .flatten()
            .flat_map(|(_, bytes)| banks(bytes, target)),
    )
}

/// The banks that a START or ACCUMULATE reaches.
fn reached(program: &Program, inst: &Inst, target: &Target) -> u32 {
    let begins = |matmul: &&Matmul| {
        let flags = matmul.flags.unwrap_or_default();
        flags.starts() || flags.accumulates() || matmul.start_if.is_some()
    };
    let region = inst.matmul().filter(begins);
    let region = region.and_then(|matmul| zero_region(program, matmul, target));
    region.map_or(0, |region| mask(region.banks.start..region.banks.end))
}

/// The banks that the callee of a call names.
fn called(inst: &Inst) -> u32 {
    match inst.op {
        Op::Call { banks: Some(banks) } => banks,
        _ => 0,
    }
}
