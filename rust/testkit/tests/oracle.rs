//! The oracle against cases worked by hand.

#![allow(clippy::expect_used, reason = "a test stops at the first surprise")]

use pto_ir::{Program, Target};
use pto_testkit::oracle::{Extent, Model, PendingRule, Verdict, judge};
use pto_testkit::text::parse;

fn verdict(target: &str, text: &str, models: &[Model]) -> Verdict {
    let program: Program = parse(text).expect("valid text");
    let target = Target::from_name(target).expect("a target");
    judge(&program, &program, target, models, 0).expect("a short run")
}

fn tags(verdict: &Verdict) -> Vec<&'static str> {
    let mut tags: Vec<_> = verdict
        .hazards
        .iter()
        .map(|(_, hazard)| hazard.tag)
        .collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

const BANK: &str = "alloc a bank 0 u0..4; alloc b bank 0 u4..8\n";

/// Programs whose flags are right on every machine.
const RIGHT: &[(&str, &str)] = &[
    (
        "trn2",
        "mm a acc<start>; mma a acc<none>; mma a acc<stop>; read a",
    ),
    (
        "trn2",
        "mm a acc<start>; mm b acc<none>; mma a acc<stop>; mma b acc<stop>; read a; read b",
    ),
    (
        "trn2",
        "mm a acc<start>; mma a acc<stop>; mm b acc<none>; mma b acc<stop>; read a; read b",
    ),
    (
        "trn2",
        "mm a acc<start>; mma a acc<stop>; read a; mm b acc<start>; mma b acc<stop>; read b",
    ),
    (
        "trn2",
        "memset a; mma a acc<start>; mma a acc<stop>; read a",
    ),
    (
        "trn3",
        "memset a; mma a acc<accumulate>; mma a acc<stop|accumulate>; read a",
    ),
    (
        "trn3",
        "data a; mma a acc<accumulate>; mma a acc<stop|accumulate>; read a",
    ),
    ("trn2", "data a; mma a acc<none>; mma a acc<stop>; read a"),
    (
        "trn2",
        "mm b q2..3 cg2..3 acc<start>; memset a; mma a acc<none>
         mma b q2..3 cg2..3 acc<stop>; mma a acc<stop>; read a; read b q2..3",
    ),
    (
        "trn2",
        "mm a acc<start|stop>; mma a u0..2 acc<stop>; read a",
    ),
    (
        "trn2",
        "mm a q0..1 cg0..1 acc<start>; mm b q1..2 cg1..2 acc<start>
         mma a q0..1 cg0..1 acc<stop>; mma b q1..2 cg1..2 acc<stop>; read a q0..1; read b q1..2",
    ),
];

/// Programs whose flags are wrong, with the machine that shows it and the errors reported.
const WRONG: &[(&str, &str, &[&str])] = &[
    (
        "trn2",
        "mm a acc<none>; read a",
        &["pto:accumulate-undefined", "pto:read-open-group"],
    ),
    (
        "trn2",
        "mm a acc<start>; mma a acc<start|stop>; read a",
        &[],
    ),
    (
        "trn2",
        "mm a acc<start|stop>; mm b acc<start|stop>; read a; read b",
        &["pto:start-clobbers"],
    ),
    (
        "trn2",
        "mm a acc<start>; mm b acc<start>; mma a acc<stop>; read a; read b",
        &["pto:read-open-group", "pto:start-clobbers"],
    ),
    (
        "trn2",
        "mm a acc<start|stop>; read a; mm a acc<none>; read a",
        &["pto:read-open-group"],
    ),
];

#[test]
fn right_flags_are_right_on_every_machine() {
    for (target, text) in RIGHT {
        let verdict = verdict(target, &format!("{BANK}{text}"), &Model::REQUIRED);
        assert!(verdict.is_meaningful(), "{text}: {:?}", verdict.faults);
        assert!(verdict.is_right(), "{text}: {verdict:?}");
        assert_eq!(tags(&verdict), [""; 0], "{text}");
    }
}

#[test]
fn wrong_flags_give_wrong_values() {
    for (target, text, hazards) in WRONG {
        let verdict = verdict(target, &format!("{BANK}{text}"), &Model::REQUIRED);
        assert!(verdict.is_meaningful(), "{text}: {:?}", verdict.faults);
        assert!(!verdict.has_right_values(), "{text}");
        assert_eq!(tags(&verdict), *hazards, "{text}");
    }
}

#[test]
fn the_models_differ_where_public_sources_do() {
    let live_neighbour = format!("{BANK}mm a acc<start|stop>; mm b acc<start|stop>; read a");
    let right = |text: &str, model| verdict("trn2", text, &[model]).has_right_values();
    let group = |rule| Model::new(rule, Extent::Group);
    assert!(right(&live_neighbour, group(PendingRule::WrittenBit)));
    assert!(!right(&live_neighbour, group(PendingRule::EagerZero)));

    let rows = "alloc a bank 0 q0..1 u0..4; alloc b bank 0 q1..4 u0..4
        mm b acc<start|stop>; mm a acc<start|stop>; read b";
    assert!(right(rows, Model::new(PendingRule::EagerZero, Extent::Dst)));
    assert!(!right(rows, group(PendingRule::EagerZero)));

    let seeded = format!("{BANK}mm a acc<start|stop>; read a; data b; mma b acc<stop>; read b");
    assert!(right(&seeded, group(PendingRule::WrittenBit)));
    assert!(!right(&seeded, group(PendingRule::Sticky)));
    let first = format!("{BANK}data b; mma b acc<stop>; read b");
    let late = Model {
        initially_pending: true,
        ..group(PendingRule::Sticky)
    };
    assert!(right(&first, group(PendingRule::Sticky)));
    assert!(!right(&first, late));
}

#[test]
fn programs_without_a_meaning_are_told_apart() {
    for text in ["read a", "mm a acc<start|stop>; dealloc a; read a"] {
        let verdict = verdict("trn2", &format!("{BANK}{text}"), &Model::REQUIRED);
        assert!(!verdict.is_meaningful(), "{text}");
    }
    let overlap = "alloc a bank 0 u0..4; alloc b bank 0 u0..4
        mm a acc<start|stop>; data b; read a; read b";
    assert!(!verdict("trn2", overlap, &Model::REQUIRED).is_meaningful());
    let reuse = "alloc a bank 0 u0..4; alloc b bank 0 u0..4
        mm a acc<start|stop>; read a; data b; read b";
    assert!(verdict("trn2", reuse, &Model::REQUIRED).is_right());
}

#[test]
fn loops_and_branches_run_as_chosen() {
    let text = "alloc a bank 0 u0..4\nmm a acc<start|stop>; for { mma a acc<stop> }; read a";
    let wiping =
        "alloc a bank 0 u0..4\nmm a acc<start|stop>; for { mma a acc<start|stop> }; read a";
    let program = |text| parse(text).expect("valid text");
    let target = Target::from_name("trn2").expect("a target");
    let right = |program: &Program, seed| {
        judge(program, program, target, &Model::REQUIRED, seed)
            .expect("short")
            .is_right()
    };
    let (good, bad) = (program(text), program(wiping));
    assert!((0..20).all(|seed| right(&good, seed)));
    let wrong_runs = (0..20).filter(|&seed| !right(&bad, seed)).count();
    assert!(
        (1..20).contains(&wrong_runs),
        "only runs without a trip are right: {wrong_runs}"
    );
}

#[test]
fn escaping_buffers_are_compared_at_the_end() {
    let kept = "alloc a bank 0 u0..4 escapes; alloc b bank 0 u4..8\nmm a acc<start|stop>";
    assert!(verdict("trn2", kept, &Model::REQUIRED).is_right());
    let clobbered = format!("{kept}; mm b acc<start|stop>");
    assert!(!verdict("trn2", &clobbered, &Model::REQUIRED).has_right_values());
    let plain = "arg a bank 0 u0..4 escapes; alloc b bank 0 u4..8; mm b acc<start|stop>; read b";
    assert!(!verdict("trn2", plain, &Model::REQUIRED).has_right_values());
}
