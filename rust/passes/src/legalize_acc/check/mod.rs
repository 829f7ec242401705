//! The checker: is the plan one this pass may make, and is the program right with it?
//!
//! It shares nothing with the solver. The form of the plan is checked here; that the flags are right
//! is proved by [`replay`] where that is plain, and else by [`crate::verify_acc`]. Both know flags
//! and zero regions and nothing of clusters. That no two engines meet in a bank is proved by [`lanes`].
//!
//! The proof also judges flags that were there before. Where those are to blame the function is
//! refused with `pto:unsound-flags`; where derived ones are, the pass is wrong, and says so with
//! `pto:internal-legalize-acc`.

mod cells;
mod changes;
mod choices;
mod clocks;
mod grid;
mod joins;
mod lanes;
mod passages;
pub(super) mod replay;
mod shared;

use pto_ir::{
    Anchor, BlockId, Diag, EdgeNode, InstId, Matmul, MemsetTarget, NewMemset, Op, Plan, Program,
    Severity, Site, Target,
};

use super::Collisions;
use crate::verify_acc;

/// What the proof leaves open because of a predicate.
pub(super) const NOT_PROVABLE: &str = "pto:not-provable";
const INTERNAL: &str = "pto:internal-legalize-acc";

/// Checks `plan`. Where right or wrong depends on predicates that somebody else wrote and of which nothing
/// is known, that is what is returned: one warning each.
pub(super) fn check(
    program: &Program,
    target: &'static Target,
    plan: &Plan,
    collisions: Collisions,
) -> Result<Vec<Diag>, Vec<Diag>> {
    let flags = Explicit::new(program, plan);
    form(program, target, plan, &flags)
        .map_err(|reason| vec![Diag::error(INTERNAL, Site::Function, reason)])?;
    if collisions == Collisions::Order {
        keeps_apart(program, target, plan, &flags)?;
    }
    if replay::is_plainly_right(program, target, plan) {
        return Ok(Vec::new());
    }
    let is_open = |finding: &Diag| finding.tag == NOT_PROVABLE;
    let (open, findings): (Vec<Diag>, Vec<Diag>) =
        faults(program, target, plan).into_iter().partition(is_open);
    let open: Vec<Diag> = open
        .into_iter()
        .map(|finding| on_program(program, finding))
        .collect();
    if !plan.predicates.is_empty() && !open.is_empty() {
        return Err(open);
    }
    let errors: Vec<Diag> = findings
        .into_iter()
        .filter(|finding| finding.severity == Severity::Error)
        .filter_map(|finding| judge(finding, &flags))
        .map(|finding| on_program(program, finding))
        .collect();
    if errors.is_empty() {
        Ok(open)
    } else {
        Err(errors)
    }
}

/// Checks that the program with the plan touches no other banks than the function names, which its callers rely on.
pub(super) fn named_banks(
    program: &Program,
    target: &'static Target,
    plan: &Plan,
) -> Result<(), Vec<Diag>> {
    if program.named_banks.is_none() {
        return Ok(());
    }
    let found = verify_acc::named::check(&plan.applied_to(program), target);
    found.map_or(Ok(()), |diag| Err(vec![on_program(program, diag)]))
}

/// Checks that no engines meet in a bank, in a function some of whose flags are derived.
fn keeps_apart(
    program: &Program,
    target: &'static Target,
    plan: &Plan,
    flags: &Explicit<'_>,
) -> Result<(), Vec<Diag>> {
    let is_derived = |&inst: &InstId| {
        let matmul = program.inst(inst).matmul();
        matmul.is_some_and(|matmul| !matmul.is_predicated()) && !flags.is_kept(inst)
    };
    let mut matmuls = (0..program.insts().len()).map(InstId::new);
    if !matmuls.any(|inst| is_derived(&inst)) {
        return Ok(());
    }
    let blocks = (0..program.blocks().len()).map(BlockId::new);
    let Some((earlier, later)) = lanes::first_collision(program, target, plan, blocks) else {
        return Ok(());
    };
    let site = |node| match node {
        EdgeNode::Inst(inst) => Site::Inst(inst),
        EdgeNode::Memset(_) => Site::Function,
    };
    let message = "expected a token between instructions that may meet in a bank";
    let error = Diag::error(INTERNAL, site(later), message);
    Err(vec![
        error.with_note(site(earlier), "this is the earlier one"),
    ])
}

/// Checks the form of a plan of the bare rule, and warns of the first fault of its flags.
pub(super) fn first_fault(
    program: &Program,
    target: &'static Target,
    plan: &Plan,
) -> Result<Option<Diag>, Vec<Diag>> {
    form(program, target, plan, &Explicit::new(program, plan))
        .map_err(|reason| vec![Diag::error(INTERNAL, Site::Function, reason)])?;
    let first = faults(program, target, plan)
        .into_iter()
        .find(|finding| finding.severity == Severity::Error);
    Ok(first.map(|fault| Diag {
        severity: Severity::Warning,
        tag: "pto:unsound-flags",
        message: format!("the naive rule is unsound here: {}", fault.message),
        ..on_program(program, fault)
    }))
}

/// The errors that the proof finds in the program with the plan.
fn faults(program: &Program, target: &'static Target, plan: &Plan) -> Vec<Diag> {
    let options = verify_acc::Options::default();
    let mut findings = if plan.is_empty() {
        verify_acc::verify(program, target, &options)
    } else {
        verify_acc::verify(&plan.applied_to(program), target, &options)
    };
    findings.retain(|finding| finding.severity == Severity::Error || finding.tag == NOT_PROVABLE);
    findings
}

/// A finding without the sites that are no operations yet: the memsets of the plan.
fn on_program(program: &Program, mut finding: Diag) -> Diag {
    let exists = |site: Site| !matches!(site, Site::Inst(i) if i.index() >= program.insts().len());
    finding.notes.retain(|&(site, _)| exists(site));
    if !exists(finding.site) {
        finding.site = Site::Function;
    }
    finding
}

/// Whether the plan keeps to what this pass may change.
fn form(
    program: &Program,
    target: &Target,
    plan: &Plan,
    flags: &Explicit<'_>,
) -> Result<(), String> {
    if !plan.erase.is_empty() || !plan.drop_inserted_edges.is_empty() {
        return Err("expected a plan that takes nothing away".to_owned());
    }
    if plan.acc.windows(2).any(|pair| pair[0].inst == pair[1].inst) {
        return Err("expected one change of flags a matmul".to_owned());
    }
    for edit in &plan.acc {
        let Some(matmul) = program.inst(edit.inst).matmul() else {
            return Err("expected flags on matmuls alone".to_owned());
        };
        let (Some(new), Some(region)) = (edit.flags, edit.zero_region) else {
            return Err("expected flags and a region on every matmul that changes".to_owned());
        };
        let fits = new.is_legal(target.has_accumulate) && region <= target.max_zero_region_code;
        if !fits {
            return Err(format!(
                "expected flags of {}, found {new} in region {region}",
                target.name
            ));
        }
        let only_fills_in = matmul.flags == Some(new) && matmul.zero_region.is_none();
        if flags.is_explicit(matmul) && !only_fills_in && flags.is_kept(edit.inst) {
            return Err("expected explicit flags to stay".to_owned());
        }
    }
    for new in &plan.predicates {
        let matmul = program.inst(new.inst).matmul();
        if matmul.is_none_or(Matmul::is_predicated) || flags.is_kept(new.inst) {
            return Err("expected predicates on matmuls that have no flags".to_owned());
        }
    }
    plan.memsets
        .iter()
        .try_for_each(|memset| memset_form(program, memset))?;
    plan.edges.iter().try_for_each(|edge| {
        let block = |node: EdgeNode| match node {
            EdgeNode::Inst(inst) => Some(program.inst(inst).block),
            EdgeNode::Memset(index) => plan
                .memsets
                .get(index as usize)
                .map(|memset| memset.at.block(program)),
        };
        match (block(edge.from), block(edge.to)) {
            (Some(from), Some(to)) if from == to && edge.from != edge.to => Ok(()),
            _ => Err("expected edges between instructions of one block".to_owned()),
        }
    })
}

/// Memsets stand before PE writes, inside their destination, or before operations with regions and
/// calls, or at the end of a block. Those of the relay may stand anywhere.
fn memset_form(program: &Program, memset: &NewMemset) -> Result<(), String> {
    let Anchor::Before(before) = memset.at else {
        return match memset.target {
            MemsetTarget::Rectangle { .. } | MemsetTarget::Relay => Ok(()),
            MemsetTarget::Access(_) => Err("expected a rectangle to clear here".to_owned()),
        };
    };
    match (&program.inst(before).op, memset.target) {
        (_, MemsetTarget::Relay) => Ok(()),
        (Op::Matmul(matmul), MemsetTarget::Access(access)) if matmul.dst == access => Ok(()),
        (
            Op::Matmul(matmul),
            MemsetTarget::Rectangle {
                alloc,
                partitions,
                bytes,
            },
        ) => {
            let dst = program.access(matmul.dst);
            let mut spans = program.bytes(matmul.dst).iter();
            let is_inside = dst.alloc == alloc
                && dst.partitions.covers(partitions)
                && spans.any(|span| span.covers(bytes));
            if is_inside {
                Ok(())
            } else {
                Err("expected a memset inside the destination it is made for".to_owned())
            }
        }
        (Op::Region { .. } | Op::Call { .. }, MemsetTarget::Rectangle { .. }) => Ok(()),
        _ => Err("expected a memset before a matmul, a region or a call".to_owned()),
    }
}

/// What a finding of the proof means for this pass; `None` where it is no fault of any flags.
fn judge(finding: Diag, flags: &Explicit<'_>) -> Option<Diag> {
    let is_kept = |site: Site| matches!(site, Site::Inst(inst) if flags.is_kept(inst));
    let is_new = |site: Site| matches!(site, Site::Inst(inst) if inst.index() >= flags.program.insts().len());
    let tag = match finding.tag {
        // A cell that nobody wrote is read: flags have no part in it.
        "pto:read-undefined" | "pto:read-pending" => return None,
        "pto:memset-clobbers" if finding.notes.iter().any(|&(site, _)| is_new(site)) => INTERNAL,
        "pto:wrong-mode" | "pto:accumulate-undefined" | "pto:start-clobbers" => {
            let notes = finding.notes.iter().map(|&(site, _)| site);
            if notes.chain([finding.site]).any(is_kept) {
                "pto:unsound-flags"
            } else {
                INTERNAL
            }
        }
        other => other,
    };
    Some(Diag { tag, ..finding })
}

/// Which matmuls keep flags that somebody else wrote: those that have some, unless they are
/// provisional or the plan warns that it changes them.
struct Explicit<'p> {
    program: &'p Program,
    changed: Vec<InstId>,
}

impl<'p> Explicit<'p> {
    fn new(program: &'p Program, plan: &Plan) -> Self {
        let warnings = plan.diags.iter().filter(|d| d.tag == "pto:mixed-flags");
        let mut changed: Vec<InstId> = warnings
            .filter_map(|diag| match diag.site {
                Site::Inst(inst) => Some(inst),
                _ => None,
            })
            .collect();
        changed.sort_unstable();
        Self { program, changed }
    }

    fn is_explicit(&self, matmul: &Matmul) -> bool {
        !self.program.provisional && (matmul.flags.is_some() || matmul.zero_region.is_some())
    }

    fn is_kept(&self, inst: InstId) -> bool {
        let matmul = self
            .program
            .insts()
            .get(inst.index())
            .and_then(|i| i.matmul());
        matmul.is_some_and(|matmul| self.is_explicit(matmul))
            && self.changed.binary_search(&inst).is_err()
    }
}
