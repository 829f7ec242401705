//! `validate` against cases worked by hand and against the oracle.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use pto_ir::{Diag, InstId, Program, Site, Target};
use pto_passes::validate::{self, Options, Place, validate};
use pto_testkit::generate::{Profile, Recipe, recipe, smallest_fault};
use pto_testkit::properties::validation_agrees;
use pto_testkit::text::parse;

const TARGETS: [&str; 3] = ["trn1", "trn2", "trn3"];
const BANK: &str = "alloc a bank 0 u0..4; alloc b bank 0 u4..8\n";

fn target(name: &str) -> &'static Target {
    Target::from_name(name).expect("a target")
}

fn program(text: &str) -> Program {
    parse(&format!("{BANK}{text}")).expect("valid text")
}

fn compare(before: &str, after: &str) -> Result<(), Vec<Diag>> {
    validate(
        &program(before),
        &program(after),
        target("trn2"),
        Options::default(),
    )
}

#[test]
fn what_legalization_does_is_accepted() {
    for (before, after) in [
        (
            "mm a; mma a; read a",
            "mm a acc<start>; mma a acc<stop>; read a",
        ),
        (
            "mm a; mm b; mma a; read a; read b",
            "mm a acc<start>; memset b; mm b acc<stop>; mma a acc<stop>; read a; read b",
        ),
        ("data a; mma a; read a", "data a; mma a acc<stop>; read a"),
        (
            "for { mm a; mma a; read a }",
            "for { mm a acc<start>; mma a acc<stop>; read a }",
        ),
        (
            "mm a; for { mma a }; read a",
            "mm a acc<start>; for { mma a acc<none> }; read a",
        ),
        (
            "for { mma a }; mma a; read a",
            "memset a; for { mma a acc<none> }; mma a acc<stop>; read a",
        ),
        (
            "if { mm a } else { data a }; mma a; read a",
            "if { mm a acc<start|stop> } else { data a }; mma a acc<none>; read a",
        ),
    ] {
        assert_eq!(compare(before, after), Ok(()), "{before}");
    }
}

#[test]
fn what_breaks_a_value_is_found() {
    for (before, after, message) in [
        (
            "mm a; mma a; read a",
            "mm a acc<start>; mma a acc<start|stop>; read a",
            "expected 2 sums, found one sum: partitions 0..128, bytes 0..1024 of the buffer \
             (under written-bit, regions of the column group) [pto:not-equivalent]",
        ),
        (
            "mm a; mm b; read a; read b",
            "mm a acc<start|stop>; mm b acc<start|stop>; read a; read b",
            "expected one sum, found zero: partitions 0..128, bytes 0..1024 of the buffer \
             (under eager-zero, regions of the column group) [pto:not-equivalent]",
        ),
        (
            "mm a; read a",
            "mm a acc<none>; read a",
            "expected one sum, found one sum on undefined data: partitions 0..128, bytes 0..1024 \
             of the buffer (under written-bit, regions of the column group) [pto:not-equivalent]",
        ),
        (
            "mm a; for { mma a }; read a",
            "mm a acc<start>; for { mma a acc<start> }; read a",
            "expected a value that depends on the path, found a value that depends on the path: \
             partitions 0..128, bytes 0..1024 of the buffer (under written-bit, regions of the \
             column group) [pto:not-equivalent]",
        ),
        (
            "data a; mma a; read a",
            "data a; memset a; mma a acc<stop>; read a",
            "expected one sum on data of another engine, found one sum: partitions 0..128, bytes \
             0..1024 of the buffer (under written-bit, regions of the column group) \
             [pto:not-equivalent]",
        ),
    ] {
        let diags = compare(before, after).expect_err(before);
        assert_eq!(diags.len(), 1);
        assert_eq!(diags[0].text(), message, "{before}");
        assert!(!diags[0].notes.is_empty(), "{before}");
    }
}

#[test]
fn other_programs_are_refused() {
    for (before, after, tag) in [
        (
            "mm a; read a",
            "mm a acc<start>; read b",
            "pto:not-comparable",
        ),
        ("mm a; read a", "mm a acc<start>", "pto:not-comparable"),
        ("mm a", "mma a acc<start>", "pto:not-comparable"),
        ("mm a", "mm a q0..1 acc<start>", "pto:not-comparable"),
        (
            "for 2 { mm a }",
            "for 3 { mm a acc<start> }",
            "pto:not-comparable",
        ),
        ("mm a", "mm a", "pto:auto-flags"),
        (
            "mma a from b",
            "mma a from b acc<start>",
            "pto:accumulator-elsewhere",
        ),
        ("mm a", "mm a acc<accumulate>", "pto:target-limit"),
    ] {
        let diags = compare(before, after).expect_err(before);
        assert_eq!(diags[0].tag, tag, "{before}");
    }
}

#[test]
fn a_difference_names_the_program_of_each_place() {
    let before = program("mm a; mma a; mma a; read a");
    let after =
        program("memset b; mm a acc<start>; mma a acc<none>; mma a acc<start|stop>; read a");
    let differences = validate::compare(&before, &after, target("trn2"), Options::default());
    let difference = &differences.expect_err("the last start wipes the sums")[0];
    let (old, new) = (
        |index| Place::Before(Site::Inst(InstId::new(index))),
        |index| Place::After(Site::Inst(InstId::new(index))),
    );
    // Entries 0 and 1 are the allocations.
    assert_eq!(difference.place, new(6));
    let notes: Vec<(Place, &str)> = difference
        .notes
        .iter()
        .map(|(place, text)| (*place, text.as_str()))
        .collect();
    assert_eq!(
        notes,
        [
            (old(5), "the original reads it here"),
            (old(2), "expected: sum 1 of 3"),
            (old(3), "expected: sum 2 of 3"),
            (old(4), "expected: sum 3 of 3"),
            (new(5), "found: sum 1 of 1"),
        ]
    );
}

#[test]
fn programs_that_cannot_be_compared_say_why() {
    for (before, after, message) in [
        (
            "mm a; read a; read a",
            "mm a acc<start|stop>; read a",
            "expected the 2 reads of psum of the original, found 1",
        ),
        (
            "mm a; read a",
            "mm a acc<start|stop>; data b; read a",
            "expected the instructions of the original, but for flags, ordering edges and memsets of \
             zero, found another",
        ),
        (
            "alloc c bank 1 u0..4; mm a",
            "alloc c bank 1 u0..2; mm a acc<start|stop>",
            "expected buffer 2 to be one of 128 partitions and 1024 bytes a partition, as in the \
             original, found one of 128 partitions and 512 bytes a partition",
        ),
        (
            "mm a",
            "alloc c bank 1 u0..2; mm a acc<start|stop>",
            "expected buffer 2 to be none, as in the original, found one of 128 partitions and 512 \
             bytes a partition",
        ),
        (
            "if { mm a } else { }",
            "mm a acc<start|stop>",
            "expected the blocks and regions of the original, found others",
        ),
    ] {
        let diags = compare(before, after).expect_err(before);
        assert_eq!(diags[0].message, message);
        assert_eq!(diags[0].tag, "pto:not-comparable");
    }
}

#[test]
fn the_original_needs_no_places() {
    let before =
        parse("alloc a unplaced p0..128 b0..1024; mm a; mma a; read a").expect("valid text");
    let after = program("mm a acc<start>; mma a acc<stop>; read a");
    let two_buffers = validate::compare(&before, &after, target("trn2"), Options::default());
    assert!(two_buffers.is_err(), "the result has a second buffer");
    let after = parse("alloc a bank 3 u0..4; mm a acc<start>; mma a acc<stop>; read a");
    let after = after.expect("valid text");
    assert_eq!(
        validate::compare(&before, &after, target("trn2"), Options::default()),
        Ok(())
    );
}

#[test]
fn data_of_another_engine_is_lost_where_pending_bits_outlive_it() {
    let seeded = program("mm b acc<start|stop>; read b; data a; mma a acc<stop>; read a");
    let run = |sticky| validate(&seeded, &seeded, target("trn2"), Options { sticky });
    assert_eq!(run(false), Ok(()));
    let diags = run(true).expect_err("the bit is set");
    assert!(diags[0].message.contains("sticky-pending"), "{diags:?}");
    let zero = program("mm b acc<start|stop>; read b; memset a; mma a acc<stop>; read a");
    assert_eq!(
        validate(&zero, &zero, target("trn2"), Options { sticky: true }),
        Ok(())
    );
}

#[test]
fn deep_nests_and_endless_loops_end() {
    let nest = |body: &str| format!("{}{body}{}", "for {".repeat(3000), "}".repeat(3000));
    let before = nest("mm a; read a");
    assert_eq!(
        compare(&before, &nest("mm a acc<start|stop>; read a")),
        Ok(())
    );
    let endless = "region { ^h: mm a acc<start|stop>; read a; goto h }";
    assert_eq!(compare(endless, endless), Ok(()));
}

/// Whether the oracle agrees, or where not.
fn agrees(target: &'static Target, recipe: &Recipe, paths: u64) -> Result<(), String> {
    let program = recipe.build(target);
    validation_agrees(&program, target, paths)
}

/// Searches programs of `profile` for a disagreement, and shrinks it.
fn search(profile: Profile, seeds: std::ops::Range<u64>, paths: u64) {
    let (mut right, mut wrong) = (0, 0);
    for seed in seeds {
        let target = target(TARGETS[seed as usize % 3]);
        let drawn = recipe(&mut fastrand::Rng::with_seed(seed), target, profile);
        if let Some(fault) = smallest_fault(&drawn, |recipe| agrees(target, recipe, paths)) {
            panic!("{} (seed {seed})\n{fault}", target.name);
        }
        let program = drawn.build(target);
        let result = validate(&program, &program, target, Options::default());
        *(if result.is_ok() {
            &mut right
        } else {
            &mut wrong
        }) += 1;
    }
    assert!(
        right > 100 && wrong > 100,
        "{right} right, {wrong} wrong: says little"
    );
}

#[test]
fn agrees_with_the_oracle_on_random_flags() {
    search(
        Profile {
            reads_back: true,
            ..Profile::FLAGGED
        },
        0..2_000,
        1,
    );
    search(Profile::FLAGGED, 2_000..4_000, 1);
}

#[test]
fn agrees_with_the_oracle_on_loops_and_branches() {
    search(
        Profile {
            regions: true,
            steps: 10,
            ..Profile::FLAGGED
        },
        0..1_500,
        6,
    );
}
