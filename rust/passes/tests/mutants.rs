//! Whoever claims to check must notice deliberate mistakes.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use pto_ir::{Diag, Program, Target};
use pto_passes::{validate, verify_acc};
use pto_testkit::generate::{Profile, recipe};
use pto_testkit::mutants::{MUTANTS, Mutate};
use pto_testkit::oracle::{Model, Verdict, judge};
use pto_testkit::properties::legalize;
use pto_testkit::text::print;

const TARGETS: [&str; 3] = ["trn1", "trn2", "trn3"];
/// Mistakes about STOP change no value: they show as groups that are read open.
const VALUES_STAY_RIGHT: [&str; 2] = ["stop dropped", "stop on the member before"];

/// The legalized program number `seed` and its mutant.
fn mutant(
    mutate: Mutate,
    seed: u64,
    target: &'static Target,
) -> Option<(Program, Program, Program)> {
    let profile = Profile {
        reads_back: seed.is_multiple_of(2),
        ..Profile::AUTO
    };
    let mut rng = fastrand::Rng::with_seed(seed);
    let program = recipe(&mut rng, target, profile).build(target);
    let (plan, after) = legalize(&program, target).ok()?;
    let wrong = mutate(&program, &plan, target, &mut rng)?.applied_to(&program);
    Some((program, after, wrong))
}

fn verify(program: &Program, target: &'static Target) -> Vec<Diag> {
    verify_acc::verify(program, target, &verify_acc::Options::default())
}

fn hazards(verdict: &Verdict) -> usize {
    verdict.hazards.len()
}

#[test]
fn every_mistake_is_noticed_within_a_thousand_programs() {
    for &(name, mutate) in MUTANTS {
        let (mut by_oracle, mut by_verifier, mut by_validation) = (0, 0, 0);
        for seed in 0..1000 {
            let target = Target::from_name(TARGETS[seed as usize % 3]).expect("a target");
            let Some((program, after, wrong)) = mutant(mutate, seed, target) else {
                continue;
            };
            let run = |after| judge(&program, after, target, &Model::REQUIRED, seed);
            let (Some(right), Some(verdict)) = (run(&after), run(&wrong)) else {
                continue;
            };
            if !right.is_meaningful() {
                continue;
            }
            let findings = verify(&wrong, target);
            let is_wrong = !verdict.is_right();
            by_oracle += u32::from(is_wrong || hazards(&verdict) > hazards(&right));
            by_verifier += u32::from(findings.len() > verify(&after, target).len());
            let same = validate::validate(&program, &wrong, target, validate::Options::default());
            by_validation += u32::from(same.is_err());
            assert!(
                !is_wrong || !verify_acc::is_proved(&findings),
                "{name}: wrong and accepted\n{}",
                print(&wrong)
            );
            assert_eq!(
                verdict.has_right_values(),
                same.is_ok(),
                "{name}\n{}",
                print(&wrong)
            );
        }
        assert!(by_oracle > 0, "{name}: not noticed by the oracle");
        assert!(by_verifier > 0, "{name}: not noticed by verify_acc");
        let is_silent = VALUES_STAY_RIGHT.contains(&name);
        assert_eq!(by_validation > 0, !is_silent, "{name}: validation");
    }
}
