//! The generators make what they promise.

#![allow(clippy::expect_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;

use pto_ir::{Op, Program, Target};
use pto_testkit::generate::exhaustive::{Reduction, Shard};
use pto_testkit::generate::large::{Layout, mlir, program};
use pto_testkit::generate::{Profile, exhaustive, recipe, shrink};
use pto_testkit::oracle::{Model, judge};
use pto_testkit::text::{parse, print};

const TARGETS: [&str; 3] = ["trn1", "trn2", "trn3"];

fn target(name: &str) -> &'static Target {
    Target::from_name(name).expect("a target")
}

fn matmul_count(program: &Program) -> usize {
    program
        .insts()
        .iter()
        .filter(|inst| inst.matmul().is_some())
        .count()
}

#[test]
fn random_programs_have_a_meaning_and_reach_every_corner() {
    let (mut meaningful, mut right, mut wrong, mut wide, mut tiled) = (0, 0, 0, 0, 0);
    for seed in 0..3000 {
        let target = target(TARGETS[seed as usize % 3]);
        let drawn = recipe(
            &mut fastrand::Rng::with_seed(seed),
            target,
            Profile::FLAGGED,
        );
        let program = drawn.build(target);
        let verdict = judge(&program, &program, target, &Model::REQUIRED, seed).expect("short");
        if !verdict.is_meaningful() || matmul_count(&program) == 0 {
            continue;
        }
        meaningful += 1;
        *(if verdict.is_right() {
            &mut right
        } else {
            &mut wrong
        }) += 1;
        wide += usize::from(program.allocs().iter().any(|alloc| alloc.bytes > 2048));
        let has_tile = program
            .insts()
            .iter()
            .filter_map(|i| i.matmul())
            .any(|m| m.tile.is_some());
        tiled += usize::from(has_tile);
    }
    assert!(meaningful > 1500, "{meaningful} of 3000 have a meaning");
    assert!(right > 200 && wrong > 500, "{right} right, {wrong} wrong");
    assert!(
        wide > 50 && tiled > 500,
        "{wide} over several banks, {tiled} with tiles"
    );
}

#[test]
fn random_programs_print_and_parse() {
    for seed in 0..500 {
        let target = target(TARGETS[seed as usize % 3]);
        let profile = Profile {
            regions: true,
            ..Profile::FLAGGED
        };
        let drawn = recipe(&mut fastrand::Rng::with_seed(seed), target, profile);
        let program = drawn.build(target);
        let again = parse(&print(&program)).expect("printed text is valid");
        let text = print(&again);
        assert_eq!(print(&parse(&text).expect("printed text is valid")), text);
        let counts = |program| {
            let run = judge(program, program, target, &Model::REQUIRED, seed).expect("short");
            (run.faults.len(), run.mismatches.len(), run.hazards.len())
        };
        assert_eq!(counts(&program), counts(&again), "{text}");
    }
}

#[test]
fn small_programs_are_counted_and_differ() {
    let target = target("trn2");
    for scene in exhaustive::scenes(target) {
        for reduction in [Reduction::None, Reduction::Full] {
            let mut texts = BTreeSet::new();
            scene.programs(target, 2, reduction, Shard::ALL, |program| {
                texts.insert(print(program));
            });
            let count = scene.count(2, reduction, Shard::ALL);
            assert_eq!(texts.len() as u64, count, "{}", scene.name);
            assert!(count >= 50, "{}", scene.name);
        }
    }
}

#[test]
fn shards_of_small_programs_are_disjoint_and_everything() {
    let target = target("trn3");
    for scene in exhaustive::scenes(target) {
        let texts = |shard| {
            let mut texts = Vec::new();
            scene.programs(target, 2, Reduction::Full, shard, |program| {
                texts.push(print(program));
            });
            texts
        };
        let shards = (0..5).map(|index| texts(Shard { index, count: 5 }));
        let mut together: Vec<_> = shards.flatten().collect();
        let mut all = texts(Shard::ALL);
        together.sort_unstable();
        all.sort_unstable();
        assert_eq!(together, all, "{}", scene.name);
    }
}

#[test]
fn large_programs_have_the_size_and_the_chains_that_were_asked_for() {
    let target = target("trn2");
    for layout in [Layout::ChainPerBank, Layout::Packed] {
        let large = program(10_000, layout, target);
        assert_eq!(matmul_count(&large), 10_000);
        let opens = |op: &Op| matches!(op, Op::Matmul(m) if m.accumulator.is_none());
        let chains = large.insts().iter().filter(|inst| opens(&inst.op)).count();
        assert!((1700..2400).contains(&chains), "{chains} chains");
        let text = mlir(10_000, layout, target);
        assert_eq!(text.matches("pto.tmatmul").count(), 10_000);
        assert_eq!(text.matches("pto.tmatmul ").count(), chains);
    }
}

#[test]
fn shrinking_leaves_what_matters() {
    let target = target("trn2");
    let has_read = |program: &Program| print(program).contains("read");
    let fails = |r: &pto_testkit::generate::Recipe| {
        let program = r.build(target);
        matmul_count(&program) > 0 && has_read(&program)
    };
    let drawn = (0..)
        .map(|seed| recipe(&mut fastrand::Rng::with_seed(seed), target, Profile::AUTO))
        .find(|drawn| drawn.steps.len() > 10 && fails(drawn))
        .expect("soon");
    let small = shrink(&drawn, fails);
    assert!(fails(&small));
    assert!(
        small.steps.len() <= 2 && small.buffers.len() == 1,
        "{small:?}"
    );
}
