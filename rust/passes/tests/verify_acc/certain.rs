//! Errors of `verify_acc` on loops and branches are certain, and what it accepts is right.

use pto_ir::{Program, Target};
use pto_testkit::generate::{Profile, Recipe, recipe, shrink};
use pto_testkit::mutants::MUTANTS;
use pto_testkit::properties::{errors_are_certain, legalize};

use crate::{TARGETS, target};

/// Most errors show on the first few; one that no run knows of is worth many.
const PATHS: u64 = 3_000;

/// Every value is read at once; many loops and branches ask the same.
const FLAGGED: Profile = Profile {
    regions: true,
    reads_back: true,
    steps: 12,
    ..Profile::FLAGGED
};

/// Draws programs of `profile`, makes of each what `made` says, and shrinks the first that has an error of which no
/// run knows, or is proved and wrong. Returns the number of errors.
fn search(
    profile: Profile,
    seeds: std::ops::Range<u64>,
    made: impl Fn(&Program, &'static Target, u64) -> Option<Program>,
) -> usize {
    let mut errors = 0;
    for seed in seeds {
        let target = target(TARGETS[seed as usize % 3]);
        let holds = |recipe: &Recipe, paths| {
            let before = recipe.build(target);
            match made(&before, target, seed) {
                Some(after) => errors_are_certain(&before, &after, target, paths),
                None => Ok(0),
            }
        };
        let drawn = recipe(&mut fastrand::Rng::with_seed(seed), target, profile);
        errors += holds(&drawn, PATHS).unwrap_or_else(|_| {
            let small = shrink(&drawn, |recipe| holds(recipe, PATHS / 4).is_err());
            let what = holds(&small, PATHS).err().unwrap_or_default();
            panic!("{} (seed {seed}): {what}", target.name)
        });
    }
    errors
}

#[test]
fn errors_about_random_flags_are_certain() {
    let errors = search(FLAGGED, 0..12_000, |program, _, _| Some(program.clone()));
    println!("{errors} errors");
    assert!(errors > 2_000, "{errors} errors say little");
}

#[test]
fn errors_about_mutants_are_certain() {
    let profile = Profile {
        flags: false,
        ..FLAGGED
    };
    let errors = search(profile, 0..15_000, |program, target, seed| {
        let (_, mutate) = MUTANTS[seed as usize / 3 % MUTANTS.len()];
        let mut rng = fastrand::Rng::with_seed(seed);
        let (plan, _) = legalize(program, target).ok()?;
        Some(mutate(program, &plan, target, &mut rng)?.applied_to(program))
    });
    println!("{errors} errors");
    assert!(errors > 500, "{errors} errors say little");
}
