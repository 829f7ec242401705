//! Random and exhaustive programs against the oracle.

use pto_ir::{Program, Target};
use pto_testkit::generate::{self, Profile};
use pto_testkit::oracle::{Model, judge};
use pto_testkit::text;

use super::worked::target;
use crate::legalize_acc::{Options, plan};

/// What became of one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It has no meaning, so nothing can be wrong.
    Meaningless,
    /// The pass refused it, with this tag.
    Refused(&'static str),
    /// It is right on every machine.
    Right,
    /// It is not.
    Wrong,
}

/// Legalizes `program` and asks the oracle. `Wrong` comes with a reason.
fn examine(program: &Program, target: &'static Target, paths: u64) -> (Outcome, String) {
    if program.insts().iter().all(|inst| inst.matmul().is_none()) {
        return (Outcome::Meaningless, String::new());
    }
    let plan = match plan(program, target, &Options::default()) {
        Ok(plan) => plan,
        Err(diags) => return (Outcome::Refused(diags[0].tag), format!("{diags:?}")),
    };
    let after = plan.applied_to(program);
    let is_seeded = plan.diags.iter().any(|d| d.tag == "pto:seeded-accumulate");
    for path in 0..paths {
        let Some(verdict) = judge(program, &after, target, &Model::REQUIRED, path) else {
            continue;
        };
        if !verdict.is_meaningful() {
            return (Outcome::Meaningless, String::new());
        }
        if !verdict.is_right() {
            return (Outcome::Wrong, format!("{verdict:#?}"));
        }
        if !is_seeded {
            let sticky = judge(program, &after, target, &Model::STICKY, path);
            let sticky = sticky.expect("the path is short enough");
            if !sticky.has_right_values() {
                return (Outcome::Wrong, format!("sticky {sticky:#?}"));
            }
        }
    }
    let again = crate::legalize_acc::plan(&after, target, &Options::default());
    match again {
        Ok(again) if again.is_empty() && again.diags.is_empty() => {}
        again => return (Outcome::Wrong, format!("not idempotent: {again:?}")),
    }
    let reset = crate::reset_acc::plan(&after, target, &crate::reset_acc::Options::default());
    let reset = reset.expect("always possible").applied_to(&after);
    match crate::legalize_acc::plan(&reset, target, &Options::default()) {
        Ok(repeated) if repeated.acc == plan.acc && repeated.memsets == plan.memsets => {}
        repeated => {
            return (
                Outcome::Wrong,
                format!("not repeatable: {repeated:?} {plan:?}"),
            );
        }
    }
    (Outcome::Right, String::new())
}

fn report(program: &Program, target: &'static Target, reason: &str) -> String {
    let plan = plan(program, target, &Options::default());
    let after = plan
        .as_ref()
        .map(|plan| text::print(&plan.applied_to(program)));
    format!(
        "{}\n{}\n{after:?}\n{reason}",
        target.name,
        text::print(program)
    )
}

/// Draws programs until `count` of them were examined; panics with the smallest wrong one.
fn campaign(target_name: &str, profile: Profile, count: u64, first: u64) -> [u64; 4] {
    let target = target(target_name);
    let mut counts = [0; 4];
    let paths = if profile.regions { 6 } else { 1 };
    for seed in first..first + count {
        let mut rng = fastrand::Rng::with_seed(seed);
        let recipe = generate::recipe(&mut rng, target, profile);
        let is_wrong = |recipe: &generate::Recipe| {
            examine(&recipe.build(target), target, paths).0 == Outcome::Wrong
        };
        let (outcome, reason) = examine(&recipe.build(target), target, paths);
        match outcome {
            Outcome::Meaningless => counts[0] += 1,
            Outcome::Refused(tag) => {
                counts[if tag == "pto:overlapping-allocs" {
                    1
                } else {
                    2
                }] += 1
            }
            Outcome::Right => counts[3] += 1,
            Outcome::Wrong => {
                let small = generate::shrink(&recipe, is_wrong).build(target);
                let (_, small_reason) = examine(&small, target, paths);
                panic!(
                    "seed {seed} {reason:.0}\n{}",
                    report(&small, target, &small_reason)
                );
            }
        }
    }
    counts
}

fn rounds() -> u64 {
    std::env::var("PTO_ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(2_000)
}

fn first_seed() -> u64 {
    std::env::var("PTO_SEED")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1)
}

#[test]
fn straight_lines() {
    for name in ["trn1", "trn2", "trn3"] {
        let counts = campaign(name, Profile::AUTO, rounds(), first_seed());
        println!("{name} {counts:?}");
        assert!(counts[3] > rounds() / 4, "{counts:?}");
    }
}
