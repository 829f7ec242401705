//! Loops and branches: where flags are static, where predicated, where zeros are needed. `f` and `l`
//! behind a control byte are START in the first and STOP in the last iteration.

use pto_testkit::text;

use super::worked::{describe, target};
use crate::legalize_acc::{Loops, Options, plan};
use pto_testkit::oracle::{Model, judge};

const A: &str = "alloc a bank 0 q0..4 u0..8\n";
const HALVES: &str = "alloc a bank 0 q0..4 u0..4\nalloc b bank 0 q0..4 u4..8\n";

/// Legalizes, runs some paths on all machines, and describes the plan.
fn outcome(source: &str, name: &str, loops: Loops) -> String {
    let program = text::parse(source).expect("valid text");
    let target = target(name);
    let options = Options {
        loops,
        ..Options::default()
    };
    let plan = match plan(&program, target, &options) {
        Ok(plan) => plan,
        Err(diags) => return format!("{} {}", diags[0].tag, diags[0].message),
    };
    let after = plan.applied_to(&program);
    for seed in 0..24 {
        let verdict = judge(&program, &after, target, &Model::REQUIRED, seed).expect("short");
        if verdict.is_meaningful() {
            let both = format!("{}\n{}", text::print(&program), text::print(&after));
            assert!(verdict.is_right(), "{both}: {verdict:?}");
        }
    }
    let again = crate::legalize_acc::plan(&after, target, &options);
    assert!(
        again.as_ref().is_ok_and(|plan| plan.is_empty()),
        "{}: {again:?}",
        text::print(&after)
    );
    describe(&program, &after, &plan)
}

/// Program, then what comes out on trn2 and on trn3.
const CASES: [(&str, &str, &str); 21] = [
    // All members in one body.
    ("for { mma a }; read a", "0fl", "0fl"),
    ("for 4 { for { mma a } }; read a", "0fl", "0fl"),
    (
        "for { for { for { for { mma a } } } }; read a",
        "0fl",
        "0fl",
    ),
    ("for { mma a; mma a; mma a }; read a", "0f 0 0l", "0f 0 0l"),
    // Loops that run once are no loops.
    ("for 1 { mma a }; read a", "3", "3"),
    ("for 1 { for { mma a } }; read a", "0fl", "0fl"),
    // Each run of the body begins anew.
    ("for { mm a; mma a; read a }", "1 2", "1 2"),
    ("for { mm a; for { mma a }; read a }", "1 0", "1 0"),
    (
        "for { alloc c bank 1 q0..4 u0..8; for { mma c }; read c }",
        "0fl",
        "0fl",
    ),
    // A peeled head or tail.
    ("mm a; for { mma a }; read a", "1 0", "1 0"),
    ("mm a; for { mma a }; mma a; read a", "1 0 2", "1 0 2"),
    ("for { mma a }; mma a; read a", "r 0 2", "r 4 2"),
    ("for 3 { mma a }; mma a; read a", "0f 2", "0f 2"),
    // The overwriting arm of a branch on the first iteration.
    (
        "for 3 { if(first 0) { mm a } else { mma a } }; read a",
        "1 0",
        "1 0",
    ),
    (
        "for 3 { if(not first 0) { mma a } else { mm a } }; read a",
        "0 1",
        "0 1",
    ),
    // Nothing says when the first one runs.
    ("for { if { mma a } }; read a", "r 0", "r 4"),
    ("for { for varying { mma a } }; read a", "r 0", "r 4"),
    ("for { mma a }; for { mma a }; read a", "r 0 0", "r 4 4"),
    ("while { mma a } do { mma a }; read a", "r 0 0", "r 4 4"),
    ("switch { mma a } { mma a }; read a", "3 3", "3 3"),
    (
        "for { mma a }; read a; mm a; for { mma a }; read a",
        "0fl 1 0",
        "0fl 1 0",
    ),
];

#[test]
fn flags_are_right_every_time_an_operation_runs() {
    for (source, trn2, trn3) in CASES {
        for (name, expected) in [("trn1", trn2), ("trn2", trn2), ("trn3", trn3)] {
            let found = outcome(&format!("{A}{source}"), name, Loops::Predicate);
            let found: Vec<&str> = found.split(" | ").collect();
            assert_eq!(found[0], expected, "{name}: {source}");
        }
    }
}

#[test]
fn zeros_instead_of_predicates() {
    for (source, trn2, trn3) in [
        ("for { mma a }; read a", "r 0", "r 4"),
        ("for { for { mma a } }; read a", "r 0", "r 4"),
        ("for { mm a; mma a; read a }", "1 2", "1 2"),
        ("mm a; for { mma a }; read a", "1 0", "1 0"),
    ] {
        for (name, expected) in [("trn2", trn2), ("trn3", trn3)] {
            let found = outcome(&format!("{A}{source}"), name, Loops::Memset);
            let found: Vec<&str> = found.split(" | ").collect();
            assert_eq!(found[0], expected, "{name}: {source}");
        }
    }
}

#[test]
fn a_start_in_a_loop_hits_nothing_that_lives_around_it() {
    for source in [
        "mm b; for { mma a }; read a; read b",
        "for { mma a; mma b }; read a; read b",
        "for { mm a; read a; mma b }; read b",
        "for { mm a; mma a; read a; mm b; mma b; read b }",
        "mm b; for { if { mm a; read a } }; read b",
        "for { mma b; for { mm a; mma a }; read a }; read b",
        "for 2 { memset a; for { mma a }; read a; mma b }; read b",
    ] {
        for name in ["trn1", "trn2", "trn3"] {
            let found = outcome(&format!("{HALVES}{source}"), name, Loops::Predicate);
            assert!(!found.starts_with("pto:"), "{name}: {source}: {found}");
        }
    }
}

#[test]
fn blocks_that_jump() {
    for source in [
        "goto l; ^l: mma a; goto l, e; ^e: read a",
        "mm a; goto l; ^l: mma a; goto l, e; ^e: read a",
        "goto x, y; ^x: mma a; goto e; ^y: mma a; goto e; ^e: read a",
        "goto l; ^l: mm a; mma a; read a; goto l, e; ^e: memset a",
        // Two entries into one cycle.
        "goto x, y; ^x: mma a; goto y, e; ^y: mma a; goto x, e; ^e: memset a",
    ] {
        for name in ["trn1", "trn2", "trn3"] {
            let found = outcome(&format!("{A}{source}"), name, Loops::Predicate);
            assert!(!found.starts_with("pto:"), "{name}: {source}: {found}");
        }
    }
}
