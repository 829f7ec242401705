//! Errors of `verify_acc` are certain: each is about an instruction that goes wrong in some run.

use std::collections::BTreeSet;

use pto_ir::{Diag, InstId, Program, Severity, Site, Target};
use pto_passes::verify_acc::{self, Options, Ties};

use crate::oracle::reference::Fault;
use crate::oracle::{Model, Verdict, judge};
use crate::text::print;

/// Checks `verify_acc` on `after`, which does what `before` says where it is right, and whose decisions are free but
/// for the questions it knows of. What is proved is right on the first few paths. Where there are errors, one of at
/// most `paths` paths goes wrong at one of the instructions they are about; of a write also where its result is read
/// wrongly right after it. Once there was an error others may follow from it alone.
/// Returns the number of errors.
///
/// # Errors
///
/// How they disagree, with the program in text form.
pub fn errors_are_certain(
    before: &Program,
    after: &Program,
    target: &'static Target,
    paths: u64,
) -> Result<usize, String> {
    const FEW: u64 = 8;
    let found = verify_acc::verify_with(after, target, &Options::default(), Ties::default);
    // Whoever comes after the function needs what a START only marked as well, though its bits are there.
    let is_of_the_end = |diag: &Diag| {
        matches!(
            (diag.tag, diag.site),
            ("pto:start-clobbers", Site::Alloc(_))
        )
    };
    let is_error = |diag: &&Diag| diag.severity == Severity::Error && !is_of_the_end(diag);
    let errors: Vec<&Diag> = found.iter().filter(is_error).collect();
    let is_proved = verify_acc::is_proved(&found);
    let look = if errors.is_empty() { FEW } else { paths };
    let report = |what: String| Err(format!("{what}\n{}", print(after)));
    for seed in 0..look {
        let Some(verdict) = judge(before, after, target, &Model::REQUIRED, seed) else {
            continue;
        };
        if is_proved && verdict.is_meaningful() && !verdict.is_right() {
            return report(format!("proved: {verdict:?}"));
        }
        let wrong: BTreeSet<Option<InstId>> = sites(&verdict).collect();
        if errors
            .iter()
            .any(|error| is_confirmed(after, error.site, &wrong))
        {
            return Ok(errors.len());
        }
    }
    match errors.first() {
        Some(error) => report(format!("no run knows of {:?} {}", error.site, error.text())),
        None => Ok(0),
    }
}

/// Where `verdict` says that something is wrong; `None` is the end of the function.
fn sites(verdict: &Verdict) -> impl Iterator<Item = Option<InstId>> {
    let faults = verdict.faults.iter().map(|fault| match fault {
        Fault::FreshRead(event) => Some(event.inst),
        Fault::Overlap(event) => event.map(|event| event.inst),
    });
    let mismatches = verdict.mismatches.iter();
    let mismatches = mismatches.map(|mismatch| mismatch.read.map(|event| event.inst));
    let hazards = verdict
        .hazards
        .iter()
        .filter(|(_, hazard)| hazard.is_error());
    let hazards = hazards.map(|(_, hazard)| Some(hazard.at));
    faults.chain(mismatches).chain(hazards)
}

fn is_confirmed(program: &Program, site: Site, wrong: &BTreeSet<Option<InstId>>) -> bool {
    let Site::Inst(inst) = site else {
        return wrong.contains(&None);
    };
    let block = &program.block(program.inst(inst).block).insts;
    let at = block.iter().position(|&other| other == inst);
    let next = at.and_then(|at| block.get(at + 1));
    wrong.contains(&Some(inst)) || next.is_some_and(|&next| wrong.contains(&Some(next)))
}
