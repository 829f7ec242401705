//! Random and exhaustive programs against the oracle.

use pto_ir::{Diag, Program, Target};
use pto_testkit::generate::exhaustive::{Reduction, Shard, scenes};
use pto_testkit::generate::{self, Profile};
use pto_testkit::oracle::reference::Fault;
use pto_testkit::oracle::{Model, judge};
use pto_testkit::text;

use super::worked::target;
use crate::legalize_acc::{Options, plan};

/// What became of one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
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
pub(super) fn examine(program: &Program, target: &'static Target, paths: u64) -> (Outcome, String) {
    if program.insts().iter().all(|inst| inst.matmul().is_none()) {
        return (Outcome::Meaningless, String::new());
    }
    let plan = match plan(program, target, &Options::default()) {
        Ok(plan) => plan,
        Err(diags) => return refused(program, target, diags),
    };
    let after = plan.applied_to(program);
    let is_seeded = plan.diags.iter().any(|d| d.tag == "pto:seeded-accumulate");
    for path in 0..paths {
        let Some(verdict) = judge(program, &after, target, &Model::REQUIRED, path) else {
            continue;
        };
        if !verdict.is_meaningful() {
            let overlaps = |fault: &Fault| matches!(fault, Fault::Overlap(_));
            if verdict.faults.iter().any(overlaps) {
                return (Outcome::Wrong, "overlap not seen".to_owned());
            }
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

/// A refusal because of overlapping buffers has to be true.
fn refused(program: &Program, target: &'static Target, diags: Vec<Diag>) -> (Outcome, String) {
    let tag = diags[0].tag;
    let is_straight = program.blocks().len() == 1;
    if tag.starts_with("pto:internal") {
        return (Outcome::Wrong, format!("{diags:#?}"));
    }
    if tag == "pto:overlapping-allocs" && is_straight {
        let verdict = judge(program, program, target, &Model::REQUIRED, 0).expect("short");
        let overlaps = |fault: &Fault| matches!(fault, Fault::Overlap(_));
        let is_true = verdict.faults.iter().any(overlaps)
            || program.allocs().iter().any(|alloc| alloc.escapes);
        if !is_true {
            return (Outcome::Wrong, format!("refused for nothing: {diags:#?}"));
        }
    }
    (Outcome::Refused(tag), format!("{diags:?}"))
}

pub(super) fn report(program: &Program, target: &'static Target, reason: &str) -> String {
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

pub(super) fn rounds() -> u64 {
    std::env::var("PTO_ROUNDS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(2_000)
}

pub(super) fn first_seed() -> u64 {
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

#[test]
fn loops_and_branches() {
    let profile = Profile {
        regions: true,
        steps: 20,
        ..Profile::AUTO
    };
    for name in ["trn1", "trn2", "trn3"] {
        let counts = campaign(name, profile, rounds(), first_seed());
        println!("{name} {counts:?}");
        assert!(counts[3] > rounds() / 20, "{counts:?}");
    }
}

/// All programs of two instructions over two buffers, and a share of those of three; also those that
/// are like another up to symmetry. More with `PTO_LENGTH` and `PTO_SHARES` (of the longer ones one share
/// in so many).
#[test]
fn all_small_programs() {
    let setting = |name: &str, default| {
        let text = std::env::var(name).ok();
        text.and_then(|n| n.parse().ok()).unwrap_or(default)
    };
    let (longest, shares) = (setting("PTO_LENGTH", 3), setting("PTO_SHARES", 40));
    for name in ["trn2", "trn3"] {
        let target = target(name);
        for scene in scenes(target) {
            for length in 1..=longest {
                let shard = Shard {
                    index: 0,
                    count: if length < 3 { 1 } else { shares },
                };
                let mut count = 0;
                let length = length as usize;
                scene.programs(target, length, Reduction::None, shard, |program| {
                    count += 1;
                    let (outcome, reason) = examine(program, target, 1);
                    assert!(
                        outcome != Outcome::Wrong,
                        "{}",
                        report(program, target, &reason)
                    );
                });
                assert!(count > 0, "{name} {} {length}", scene.name);
                println!("{name} {} {length}: {count}", scene.name);
            }
        }
    }
}
