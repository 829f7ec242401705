//! Legalized programs are right: values, hazards, stability, other orders.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use pto_ir::{Program, Target};
use pto_testkit::generate::exhaustive::scenes;
use pto_testkit::generate::{Profile, Recipe, recipe, shrink};
use pto_testkit::properties::{
    Outcome, all_hold, any_order_is_right, collisions_of, is_accepted, is_stable, values_are_right,
    without_panic,
};

const TARGETS: [&str; 3] = ["trn1", "trn2", "trn3"];

fn target(name: &str) -> &'static Target {
    Target::from_name(name).expect("a target")
}

/// Draws `count` programs of `profile` and shrinks the first for which `holds` does not.
fn search(
    profile: Profile,
    count: u64,
    holds: impl Fn(&Program, &'static Target, u64) -> Result<(), String>,
) {
    for seed in 0..count {
        let target = target(TARGETS[seed as usize % 3]);
        let drawn = recipe(&mut fastrand::Rng::with_seed(seed), target, profile);
        let run = |recipe: &Recipe| {
            let program = recipe.build(target);
            without_panic(&program, || holds(&program, target, seed))
        };
        if run(&drawn).is_err() {
            let small = shrink(&drawn, |recipe| run(recipe).is_err());
            let what = run(&small).expect_err("it still fails");
            panic!("{} (seed {seed}): {what}", target.name);
        }
    }
}

#[test]
fn values_are_right_on_every_machine() {
    let right = std::cell::Cell::new(0);
    search(Profile::AUTO, 4_000, |program, target, seed| {
        let outcome = values_are_right(program, target, seed)?;
        right.set(right.get() + u64::from(outcome == Outcome::Right));
        Ok(())
    });
    assert!(
        right.get() > 2_000,
        "only {} of 4000 programs say something",
        right.get()
    );
}

#[test]
fn both_checkers_accept() {
    search(
        Profile::AUTO,
        4_000,
        |program, target, seed| match values_are_right(program, target, seed)? {
            Outcome::Right => is_accepted(program, target),
            _ => Ok(()),
        },
    );
}

#[test]
fn plans_are_stable() {
    search(Profile::AUTO, 4_000, |program, target, _| {
        is_stable(program, target)
    });
}

#[test]
fn any_order_that_respects_dependences_is_right() {
    search(Profile::AUTO, 1_000, |program, target, seed| {
        any_order_is_right(program, target, seed, 4)
    });
}

#[test]
fn what_legalization_adds_collides_with_nothing() {
    let (mut colliding, mut derived, mut all) = (0, 0, 0);
    for seed in 0..2_000 {
        let target = target(TARGETS[seed as usize % 3]);
        let program =
            recipe(&mut fastrand::Rng::with_seed(seed), target, Profile::AUTO).build(target);
        let (pairs, of_derived) = collisions_of(&program, target, seed);
        all += 1;
        colliding += usize::from(pairs > 0);
        derived += of_derived;
    }
    println!("{colliding} of {all} programs collide, {derived} pairs of starts and memsets");
    assert_eq!(derived, 0);
    assert!(colliding > 0, "nothing collides: says little");
}

#[test]
fn loops_and_branches() {
    let profile = Profile {
        regions: true,
        ..Profile::AUTO
    };
    search(profile, 3_000, |program, target, seed| {
        all_hold(program, target, seed).map(|_| ())
    });
}

#[test]
fn every_small_program() {
    // All of two instructions, and a part of those of three: `--example exhaustive` has no limit.
    const STRIDE: u64 = 40;
    let (mut programs, mut right) = (0, 0);
    for name in TARGETS {
        let target = target(name);
        for scene in scenes(target) {
            for (length, stride) in [(1, 1), (2, 1), (3, STRIDE)] {
                programs += scene.programs(target, length, 0..u64::MAX, stride, |program| {
                    match without_panic(program, || values_are_right(program, target, 0)) {
                        Ok(Outcome::Right) => right += 1,
                        Ok(_) => {}
                        Err(what) => panic!("{name}, {}: {what}", scene.name),
                    }
                });
            }
        }
    }
    println!("{programs} programs, {right} legalized and right");
    assert!(
        right > 10_000 && right > programs / 2,
        "{right} of {programs}"
    );
}
