//! Legalized programs are right: values, hazards, stability, other orders.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use std::collections::BTreeSet;

use pto_ir::{AccFlags, Program, Target};
use pto_testkit::generate::exhaustive::{Reduction, Scene, Shard, scenes};
use pto_testkit::generate::{Profile, Recipe, recipe, smallest_fault};
use pto_testkit::properties::{
    Outcome, all_hold, any_order_is_right, is_accepted, is_stable, legalize, nothing_collides,
    values_are_right, without_panic,
};
use pto_testkit::text::print;

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
        if let Some(fault) = smallest_fault(&drawn, run) {
            panic!("{} (seed {seed}): {fault}", target.name);
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
fn nothing_collides_in_any_order() {
    let colliding = std::cell::Cell::new(0);
    search(Profile::AUTO, 2_000, |program, target, seed| {
        let before = nothing_collides(program, target, seed)?;
        colliding.set(colliding.get() + u64::from(before > 0));
        Ok(())
    });
    println!("{} of 2000 programs might collide before", colliding.get());
    assert!(colliding.get() > 50, "nothing to order: says little");
}

#[test]
fn nothing_collides_across_blocks() {
    // Loops run up to three times, or not at all.
    const PATHS: u64 = 6;
    let profile = Profile {
        regions: true,
        ..Profile::AUTO
    };
    let colliding = std::cell::Cell::new(0);
    search(profile, 3_000, |program, target, seed| {
        let mut before = 0;
        for path in seed..seed + PATHS {
            before += nothing_collides(program, target, path)?;
        }
        let blocks = program.blocks().len();
        colliding.set(colliding.get() + u64::from(before > 0 && blocks > 1));
        Ok(())
    });
    println!("{} of 3000 programs might collide before", colliding.get());
    assert!(colliding.get() > 50, "nothing to order: says little");
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

/// Calls `visit` with every program of `length` instructions, for each target and place.
fn small_programs(
    length: usize,
    reduction: Reduction,
    shard: Shard,
    mut visit: impl FnMut(&Program, &'static Target, &'static str),
) {
    for target in TARGETS.map(target) {
        for scene in scenes(target) {
            scene.programs(target, length, reduction, shard, |program| {
                visit(program, target, scene.name);
            });
        }
    }
}

#[test]
fn every_small_program() {
    // All of two instructions, and a part of those of three: `./x fuzz --exhaustive` does all of five.
    const PART: Shard = Shard { index: 3, count: 8 };
    let (mut programs, mut right) = (0, 0);
    for (length, shard) in [(1, Shard::ALL), (2, Shard::ALL), (3, PART)] {
        small_programs(length, Reduction::Full, shard, |program, target, scene| {
            programs += 1;
            match without_panic(program, || values_are_right(program, target, 0)) {
                Ok(Outcome::Right) => right += 1,
                Ok(_) => {}
                Err(what) => panic!("{}, {scene}: {what}", target.name),
            }
        });
    }
    println!("{programs} programs, {right} legalized and right");
    assert!(
        right > 10_000 && right > programs / 2,
        "{right} of {programs}"
    );
}

/// What legalization does with a program, without its reads: the flags in program order, and how many
/// memsets it adds.
fn decisions(program: &Program, target: &'static Target) -> String {
    let plan = match legalize(program, target) {
        Ok((plan, _)) => plan,
        Err(diags) => return diags[0].tag.to_owned(),
    };
    let bytes = plan
        .acc
        .iter()
        .map(|edit| (edit.flags.map(AccFlags::byte), edit.zero_region));
    format!(
        "{:?}, {} memsets",
        bytes.collect::<Vec<_>>(),
        plan.memsets.len()
    )
}

#[test]
fn reductions_of_small_programs_lose_no_decision() {
    // Programs that are left out are like another of as many instructions or fewer.
    let mut seen = [Reduction::None, Reduction::Full].map(|reduction| {
        let mut seen = BTreeSet::new();
        let mut count = 0;
        for length in 1..=2 {
            small_programs(length, reduction, Shard::ALL, |program, target, scene| {
                count += 1;
                seen.insert(format!(
                    "{}, {scene}: {}",
                    target.name,
                    decisions(program, target)
                ));
            });
        }
        (seen, count)
    });
    let [(all, programs), (some, representatives)] = &mut seen;
    assert!(
        *representatives * 3 < *programs,
        "{representatives} of {programs}"
    );
    let lost: Vec<_> = all.difference(some).collect();
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(all.len() > 100, "only {} different decisions", all.len());
}

#[test]
fn small_programs_are_the_same_to_trn1_and_trn2() {
    // What tells the two apart, tiles of 32 rows and the last quadrant alone, no small program has.
    let [older, newer] = ["trn1", "trn2"].map(target);
    for (old, new) in scenes(older).iter().zip(&scenes(newer)) {
        for length in 1..=2 {
            let results = |scene: &Scene, target: &'static Target| {
                let mut all = Vec::new();
                scene.programs(target, length, Reduction::Full, Shard::ALL, |program| {
                    let result = legalize(program, target)
                        .map(|(_, after)| print(&after))
                        .map_err(|diags| diags[0].tag);
                    all.push((print(program), result));
                });
                all
            };
            let (before, after) = (results(old, older), results(new, newer));
            assert_eq!(before.len(), after.len());
            let first = before.iter().zip(&after).find(|(old, new)| old != new);
            assert_eq!(first, None, "{}", old.name);
        }
    }
}

/// Programs that random search found, for three mistakes about what an operation with regions does.
const NESTED: [&str; 4] = [
    // Written for certain in the first iteration is not written for certain.
    "func f
for {
  alloc a bank 0 p64..128 b0..1024
  if(first 0) {
    memset a
  }
  mma a tile(128,64)@(0,64)
  read a
}
",
    // Zeros that a loop may have overwritten by sums are no zeros to start over.
    "func f
alloc a bank 0 p64..128 b0..1024
memset a
for {
  mm a tile(128,64)@(0,64)
}
mma a tile(128,64)@(0,64)
read a
",
    // Two buffers in one place, both written inside: the one that is used afterwards keeps it.
    "func f
arg a bank 0 p64..96 b1280..2048 fresh escapes
alloc b bank 0 p64..96 b1024..1792
if {
  for {
    mma b b0..256 tile(128,64)@(0,64)
  }
  mma b tile(128,64)@(0,64)
  effects memset a
} else {
  memset a
}
",
    // A while without a body repeats its condition.
    "func f
alloc a bank 2 p0..64 b0..1792
while {
  mma a tile(128,64)@(0,0)
  read a
}
",
];

#[test]
fn what_regions_do_is_seen_right() {
    for source in NESTED {
        let program = pto_testkit::text::parse(source).expect("valid text");
        for name in TARGETS {
            let outcome = is_stable(&program, target(name))
                .and_then(|()| all_hold(&program, target(name), 1));
            assert_eq!(outcome, Ok(Outcome::Right), "{name}\n{source}");
        }
    }
}

/// Programs in which random search found that the checker, or the oracle, saw other collisions than there are.
const BETWEEN_BLOCKS: [(&str, &str); 2] = [
    // Two regions that meet where no buffer lies order their matmuls.
    (
        "trn3",
        "func f
alloc a bank 1 p0..96 b768..1536
alloc b bank 3 p96..128 b0..6144
mm b tile(128,32)@(0,96)
if {
  mm a b512..768
}
read b
",
    ),
    // Memsets that were taken away again leave their accesses behind.
    (
        "trn2",
        "func f
arg a bank 0 p96..128 b768..2048 fresh escapes
for {
  for varying {
    mma a b256..320+384..448 tile(128,32)@(0,96)
  }
}
",
    ),
];

#[test]
fn collisions_between_blocks_are_seen_right() {
    for (name, source) in BETWEEN_BLOCKS {
        let program = pto_testkit::text::parse(source).expect("valid text");
        let outcome = is_stable(&program, target(name))
            .and_then(|()| all_hold(&program, target(name), 1).map(drop))
            .and_then(|()| nothing_collides(&program, target(name), 1).map(drop));
        assert_eq!(outcome, Ok(()), "{name}\n{source}");
    }
}
