//! What must hold for every program, as functions: property tests call them for a second, the
//! examples `fuzz` and `exhaustive` for as long as one likes.

mod certain;

pub use certain::errors_are_certain;

use pto_ir::{Diag, Plan, Program, Severity, Target};
use pto_passes::{legalize_acc, reset_acc, schedule, validate, verify_acc};

use crate::oracle::collide::{Queues, collisions};
use crate::oracle::order::{dependences, shuffle};
use crate::oracle::{Chooser, Grid, Model, Verdict, judge, judge_path, trace};
use crate::text::print;

/// What became of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// On the path that was taken it reads what nobody wrote, or two lives share a cell.
    Meaningless,
    /// Legalization refused it, with this tag.
    Refused(&'static str),
    /// It was legalized, and everything holds.
    Right,
}

/// Reasons for which legalization may refuse a program of the generators that has a meaning. The last
/// one is about cells to clear that begin where no memset may.
const REFUSALS: [&str; 4] = [
    "pto:multi-bank",
    "pto:control-flow",
    "pto:tile-position",
    "pto:start-partition",
];

/// Legalizes `program` and returns the plan and the result, or the first refusal.
///
/// # Errors
///
/// The diagnostics of the pass.
pub fn legalize(program: &Program, target: &'static Target) -> Result<(Plan, Program), Vec<Diag>> {
    let plan = legalize_acc::plan(program, target, &legalize_acc::Options::default())?;
    let after = plan.applied_to(program);
    Ok((plan, after))
}

/// `program` in its new order, and how long its blocks take before and after.
///
/// # Errors
///
/// What the checker of the pass says.
pub fn scheduled(
    program: &Program,
    target: &'static Target,
) -> Result<(Program, Vec<schedule::Makespan>), String> {
    let options = schedule::Options::default();
    let (plan, makespans) = schedule::plan_with_makespans(program, target, &options)
        .map_err(|diags| format!("{}\n{}", diags[0].text(), print(program)))?;
    Ok((plan.applied_to(program), makespans))
}

/// Checks that the legalized `program` reads the right values on run number `seed`, on every machine
/// it must be right on.
///
/// # Errors
///
/// What is wrong, with both programs in text form.
pub fn values_are_right(
    program: &Program,
    target: &'static Target,
    seed: u64,
) -> Result<Outcome, String> {
    let (plan, after) = match legalize(program, target) {
        Ok(legal) => legal,
        Err(diags) => return refusal(program, target, &diags, seed),
    };
    let models = models(&plan, target);
    let Some(verdict) = judge(program, &after, target, &models, seed) else {
        return Ok(Outcome::Meaningless);
    };
    if !verdict.is_meaningful() {
        return Ok(Outcome::Meaningless);
    }
    let report = |what: String| Err(format!("{what}\n{}=>\n{}", print(program), print(&after)));
    if let Some(wrong) = verdict.mismatches.first() {
        return report(format!("a wrong value: {wrong:?}"));
    }
    let error = verdict.hazards.iter().find(|(model, hazard)| {
        hazard.is_error() && !matches!(model.rule, crate::oracle::PendingRule::Sticky)
    });
    match error {
        Some(hazard) => report(format!("a hazard: {hazard:?}")),
        None => Ok(Outcome::Right),
    }
}

/// The machines the result of `plan` must be right on: where data of another engine is added to, the
/// sticky machine is excused, unless the target has ACCUMULATE.
fn models(plan: &Plan, target: &Target) -> Vec<Model> {
    let mut models = Vec::from(Model::REQUIRED);
    let is_seeded = plan
        .diags
        .iter()
        .any(|diag| diag.tag == "pto:seeded-accumulate");
    if target.has_accumulate || !is_seeded {
        models.extend(Model::STICKY);
    }
    models
}

fn refusal(
    program: &Program,
    target: &'static Target,
    diags: &[Diag],
    seed: u64,
) -> Result<Outcome, String> {
    let Some(first) = diags.iter().find(|diag| diag.severity == Severity::Error) else {
        return Err(format!("refused without an error\n{}", print(program)));
    };
    let is_internal = first.tag.starts_with("pto:internal");
    let is_line = program.regions().len() == 1;
    let verdict = judge(program, program, target, &[], seed);
    let is_meaningful = verdict.is_some_and(|verdict| verdict.is_meaningful());
    // Around and in regions lives are longer than on any one path.
    let is_allowed =
        REFUSALS.contains(&first.tag) || (!is_line && first.tag == "pto:overlapping-allocs");
    if is_internal || (is_meaningful && !is_allowed) {
        return Err(format!("refused: {}\n{}", first.text(), print(program)));
    }
    Ok(Outcome::Refused(first.tag))
}

/// Checks that `verify_acc` and `validate` accept the legalized `program`, but for faults of its own
/// on paths that were not looked at.
///
/// # Errors
///
/// What they say, with both programs in text form.
pub fn is_accepted(program: &Program, target: &'static Target) -> Result<(), String> {
    let Ok((plan, after)) = legalize(program, target) else {
        return Ok(());
    };
    let both = || format!("{}=>\n{}", print(program), print(&after));
    let own_faults = [
        "pto:read-undefined",
        "pto:read-pending",
        "pto:overlapping-allocs",
    ];
    let findings = verify_acc::verify(&after, target, &verify_acc::Options::default());
    let fault = |diag: &&Diag| diag.severity == Severity::Error && !own_faults.contains(&diag.tag);
    if let Some(fault) = findings.iter().find(fault) {
        return Err(format!("verify_acc: {}\n{}", fault.text(), both()));
    }
    let sticky = models(&plan, target).len() > Model::REQUIRED.len();
    validate::validate(program, &after, target, validate::Options { sticky })
        .map_err(|diags| format!("validate: {}\n{}", diags[0].text(), both()))
}

/// Checks that legalization gives the same plan twice, finds nothing to do on its own result, and
/// comes to the same result after `reset_acc`.
///
/// # Errors
///
/// Which of these fails, with the programs in text form.
pub fn is_stable(program: &Program, target: &'static Target) -> Result<(), String> {
    let Ok((plan, after)) = legalize(program, target) else {
        return Ok(());
    };
    let text = print(&after);
    if legalize(program, target)
        .ok()
        .as_ref()
        .map(|(again, _)| again)
        != Some(&plan)
    {
        return Err(format!("two plans for\n{}", print(program)));
    }
    match legalize(&after, target) {
        Ok((again, _)) if again.is_empty() && again.diags.is_empty() => {}
        Ok((again, twice)) => {
            let twice = print(&twice);
            return Err(format!(
                "not idempotent: {:?}\n{text}=>\n{twice}",
                again.diags
            ));
        }
        Err(diags) => return Err(format!("own result refused: {}\n{text}", diags[0].text())),
    }
    let reset = reset_acc::plan(&after, target, &reset_acc::Options::default())
        .map_err(|diags| format!("reset: {}\n{text}", diags[0].text()))?
        .applied_to(&after);
    match legalize(&reset, target) {
        Ok((_, again)) if print(&again) == text => Ok(()),
        Ok((_, again)) => Err(format!("after reset:\n{}instead of\n{text}", print(&again))),
        Err(diags) => Err(format!(
            "after reset: {}\n{}",
            diags[0].text(),
            print(&reset)
        )),
    }
}

/// Checks that the legalized `program` gives the same values in `orders` random orders of run number `seed`
/// that respect its dependences.
///
/// # Errors
///
/// A wrong value, with the order.
pub fn any_order_is_right(
    program: &Program,
    target: &'static Target,
    seed: u64,
    orders: usize,
) -> Result<(), String> {
    let Ok((_, after)) = legalize(program, target) else {
        return Ok(());
    };
    let path = |program| trace(program, &mut Chooser::new(seed, 3), 1000).unwrap_or_default();
    let (before_steps, steps) = (path(program), path(&after));
    let grid = Grid::new(&[program, &after], target);
    let dependences = dependences(&after, &grid, &steps);
    let mut rng = fastrand::Rng::with_seed(seed);
    for _ in 0..orders {
        let shuffled = shuffle(&steps, &dependences, &mut rng);
        let sides = (
            (program, before_steps.as_slice()),
            (&after, shuffled.as_slice()),
        );
        let verdict = judge_path(sides.0, sides.1, &grid, &Model::REQUIRED);
        if verdict.is_meaningful() && !verdict.has_right_values() {
            let order: Vec<_> = shuffled.iter().map(|step| step.event.inst).collect();
            let wrong = &verdict.mismatches[0];
            return Err(format!("order {order:?}: {wrong:?}\n{}", print(&after)));
        }
    }
    Ok(())
}

/// Checks that no two instructions of the legalized `program` may collide in a bank, in any order of run
/// number `seed` that respects its dependences. Returns how many might collide as the program is.
///
/// # Errors
///
/// A pair that may collide, with both programs in text form.
pub fn nothing_collides(
    program: &Program,
    target: &'static Target,
    seed: u64,
) -> Result<usize, String> {
    let Ok((_, after)) = legalize(program, target) else {
        return Ok(0);
    };
    let pairs = |program: &Program, queues| {
        let steps = trace(program, &mut Chooser::new(seed, 3), 1000).unwrap_or_default();
        let dependences = dependences(program, &Grid::new(&[program], target), &steps);
        let pairs = collisions(program, target, &steps, &dependences, queues);
        let inst = |step: usize| steps[step].event.inst;
        let named = pairs.iter().map(|&(early, late)| (inst(early), inst(late)));
        named.collect::<Vec<_>>()
    };
    match pairs(&after, Queues::Unordered).first() {
        Some(pair) => Err(format!(
            "{pair:?} collide\n{}=>\n{}",
            print(program),
            print(&after)
        )),
        None => Ok(pairs(program, Queues::InOrder).len()),
    }
}

/// `holds`, with a panic as one more way not to hold.
///
/// # Errors
///
/// Those of `holds`, and the program that made it panic.
pub fn without_panic<T>(
    program: &Program,
    holds: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(holds));
    caught.unwrap_or_else(|_| Err(format!("a panic\n{}", print(program))))
}

/// Every property of one program.
///
/// # Errors
///
/// The first that does not hold.
pub fn all_hold(program: &Program, target: &'static Target, seed: u64) -> Result<Outcome, String> {
    const PATHS: u64 = 8;
    let is_line = program.regions().len() == 1;
    let others = if is_line {
        seed..seed + 1
    } else {
        seed..seed + PATHS
    };
    let mut outcome = Outcome::Right;
    for path in others {
        match values_are_right(program, target, path)? {
            Outcome::Right => {
                any_order_is_right(program, target, path, 4)?;
                nothing_collides(program, target, path)?;
            }
            worse => outcome = worse,
        }
    }
    if outcome == Outcome::Right {
        is_accepted(program, target)?;
        is_stable(program, target)?;
    }
    Ok(outcome)
}

/// Checks that `verify_acc` and the oracle agree on a program with flags of any origin: it proves
/// nothing that goes wrong on one of `paths` paths, and finds no error in a straight line that is
/// right, if all its writes are read.
///
/// # Errors
///
/// How they disagree, with the program in text form.
pub fn verifier_agrees(
    program: &Program,
    target: &'static Target,
    paths: u64,
    reads_all: bool,
) -> Result<(), String> {
    let diags = verify_acc::verify(program, target, &verify_acc::Options::default());
    let judged = verdicts(program, target, &Model::REQUIRED, paths);
    let wrong = judged.iter().find(|verdict| !verdict.is_right());
    if let Some(wrong) = wrong.filter(|_| verify_acc::is_proved(&diags)) {
        return Err(format!("proved: {wrong:?}\n{}", print(program)));
    }
    let error = diags.iter().find(|diag| diag.severity == Severity::Error);
    let is_right_line = wrong.is_none() && !judged.is_empty() && program.regions().len() == 1;
    match error {
        Some(error) if reads_all && is_right_line => {
            Err(format!("refused: {}\n{}", error.text(), print(program)))
        }
        _ => Ok(()),
    }
}

/// Checks that `validate` and the oracle agree about the values of a program with flags of any
/// origin, as the result of itself: exactly on straight lines; otherwise it accepts nothing wrong.
///
/// # Errors
///
/// How they disagree, with the program in text form.
pub fn validation_agrees(
    program: &Program,
    target: &'static Target,
    paths: u64,
) -> Result<(), String> {
    let all = [Model::REQUIRED, Model::STICKY].concat();
    for (sticky, models) in [(false, &all[..4]), (true, &all[..])] {
        let said = validate::validate(program, program, target, validate::Options { sticky });
        let judged = verdicts(program, target, models, paths);
        let wrong = judged.iter().find(|verdict| !verdict.has_right_values());
        let is_line = program.regions().len() == 1 && !judged.is_empty();
        match (wrong, said) {
            (Some(wrong), Ok(())) => {
                return Err(format!("accepted: {wrong:?}\n{}", print(program)));
            }
            (None, Err(diags)) if is_line => {
                return Err(format!("refused: {}\n{}", diags[0].text(), print(program)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What the oracle says on the first `paths` paths, as far as the program has a meaning on them.
fn verdicts(
    program: &Program,
    target: &'static Target,
    models: &[Model],
    paths: u64,
) -> Vec<Verdict> {
    let all = (0..paths).filter_map(|seed| judge(program, program, target, models, seed));
    all.filter(Verdict::is_meaningful).collect()
}
