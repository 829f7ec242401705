//! Random flags, against the oracle.

use pto_ir::Target;
use pto_passes::verify_acc::{Options, is_proved, verify};
use pto_testkit::generate::{Profile, Recipe, recipe, smallest_fault, strategy};
use pto_testkit::properties::verifier_agrees;

use crate::{TARGETS, errors, target};

/// Whether the oracle agrees, or where not.
fn agrees(target: &'static Target, recipe: &Recipe, paths: u64) -> Result<(), String> {
    let program = recipe.build(target);
    verifier_agrees(&program, target, paths, recipe.reads_back)
}

/// Searches programs of `profile` for a disagreement, and shrinks it.
fn search(profile: Profile, seeds: std::ops::Range<u64>, paths: u64) {
    let (mut proved, mut refused) = (0, 0);
    for seed in seeds {
        let target = target(TARGETS[seed as usize % 3]);
        let drawn = recipe(&mut fastrand::Rng::with_seed(seed), target, profile);
        if let Some(fault) = smallest_fault(&drawn, |recipe| agrees(target, recipe, paths)) {
            panic!("{} (seed {seed})\n{fault}", target.name);
        }
        let program = drawn.build(target);
        let diags = verify(&program, target, &Options::default());
        let matmuls = program
            .insts()
            .iter()
            .filter(|inst| inst.matmul().is_some())
            .count();
        proved += usize::from(matmuls > 1 && is_proved(&diags));
        refused += usize::from(!errors(&diags).is_empty());
    }
    assert!(
        proved > 100 && refused > 100,
        "{proved} proved, {refused} refused: says little"
    );
}

#[test]
fn agrees_with_the_oracle_on_random_flags() {
    search(
        Profile {
            reads_back: true,
            ..Profile::FLAGGED
        },
        0..10_000,
        1,
    );
    search(Profile::FLAGGED, 0..5_000, 1);
}

#[test]
fn agrees_with_the_oracle_on_loops_and_branches() {
    let profile = Profile {
        regions: true,
        steps: 10,
        ..Profile::FLAGGED
    };
    search(profile, 0..3_000, 8);
}

proptest::proptest! {
    #[test]
    fn agrees_with_the_oracle(recipe in strategy(target("trn3"), Profile { reads_back: true, ..Profile::FLAGGED })) {
        proptest::prop_assert_eq!(agrees(target("trn3"), &recipe, 1), Ok(()));
    }
}
