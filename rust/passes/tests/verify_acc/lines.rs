//! Straight lines, and functions that are hard for other reasons.

use pto_ir::Program;
use pto_passes::verify_acc::{Extent, Model, Options, verify};
use pto_testkit::text::parse;

use crate::{BANK, check, errors, tags, target};

#[test]
fn right_flags_are_proved() {
    for (name, text) in [
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
            "mm a acc<start>; mma a acc<stop>; read a; mm b acc<start|stop>; read b",
        ),
        (
            "trn2",
            "memset a; mma a acc<start>; mma a acc<stop>; read a",
        ),
        (
            "trn3",
            "data a; mma a acc<accumulate>; mma a acc<stop|accumulate>; read a",
        ),
        ("trn2", "data a; mma a acc<none>; mma a acc<stop>; read a"),
        (
            "trn2",
            "memset a inserted; mma a acc<none>; mma a acc<stop>; read a",
        ),
        ("trn2", "memset a; mma a acc<none>; mma a acc<stop>; read a"),
        (
            "trn2",
            "mm a acc<start|stop>; mma a u0..2 acc<stop>; read a",
        ),
    ] {
        assert_eq!(
            tags(&check(name, &format!("{BANK}{text}"))),
            [""; 0],
            "{text}"
        );
    }
}

/// Programs with one mistake each, and what is said of them.
const WRONG: &[(&str, &str, &[&str])] = &[
    (
        "trn2",
        "mm a acc<stop>; read a",
        &["pto:accumulate-undefined"],
    ),
    (
        "trn2",
        "mm a acc<start>; mma a acc<start|stop>; read a",
        &["pto:wrong-mode"],
    ),
    (
        "trn2",
        "mm a acc<start|stop>; mm b acc<start|stop>; read a; read b",
        &["pto:start-clobbers"],
    ),
    (
        "trn2",
        "mm a acc<start>; mm b acc<start|stop>; mma a acc<stop>; read a; read b",
        &["pto:start-clobbers"],
    ),
    (
        "trn2",
        "mm a acc<start|stop>; read a; mm a acc<stop>; read a",
        &["pto:wrong-mode"],
    ),
    ("trn2", "mm a acc<start>; read a", &["pto:read-open-group"]),
    (
        "trn2",
        "mm a acc<start>; data a; read a",
        &["pto:lost-partial"],
    ),
    ("trn2", "read a", &["pto:read-undefined"]),
    (
        "trn2",
        "mm b acc<start|stop>; read a; read b",
        &["pto:read-pending"],
    ),
    ("trn2", "mm a", &["pto:auto-flags"]),
    (
        "trn2",
        "alloc c unplaced p0..128 b0..64; read c",
        &["pto:unplaced"],
    ),
    ("trn2", "mm a acc<accumulate>", &["pto:target-limit"]),
    (
        "trn2",
        "mm a acc<start|stop> region 2",
        &["pto:target-limit"],
    ),
    ("trn3", "mm a acc<start|accumulate>", &["pto:target-limit"]),
    ("nogroup", "mm a acc<start>", &["pto:target-limit"]),
    (
        "trn2",
        "mm a acc<start|stop>; mma a from b acc<stop>",
        &["pto:accumulator-elsewhere"],
    ),
    (
        "trn2",
        "mm a q1..2 cg2..3 acc<start|stop>",
        &["pto:accumulate-undefined", "pto:tile-position"],
    ),
    (
        "trn2",
        "mm a acc<start|stop>; call(0); read a",
        &["pto:call"],
    ),
    (
        "trn2",
        "mm a acc<start|stop>; call(?); read a",
        &["pto:call"],
    ),
    (
        "trn2",
        "for { mm a acc<start|stop> }; read a",
        &["pto:maybe-undefined"],
    ),
    (
        "trn2",
        "if { mm a acc<start|stop> }; read a",
        &["pto:read-undefined"],
    ),
    (
        "trn2",
        "mm a acc<start>; for { mma a acc<start> }; mma a acc<stop>; read a",
        &["pto:wrong-mode"],
    ),
    (
        "trn2",
        "for 4 { mma a start_if stop_if }; read a",
        &["pto:not-provable", "pto:not-provable"],
    ),
    (
        "trn2",
        "mm a start_if acc<stop>; read a",
        &["pto:not-provable"],
    ),
];

#[test]
fn every_mistake_is_named_with_two_sites() {
    for (name, text, expected) in WRONG {
        let diags = check(name, &format!("{BANK}{text}"));
        let mut found = tags(&diags);
        found.sort_unstable();
        assert_eq!(found, *expected, "{text}\n{diags:#?}");
        for diag in diags.iter().filter(|diag| diag.tag != "pto:target-limit") {
            assert!(
                diag.notes.iter().any(|(site, _)| *site != diag.site),
                "{text}: {diag:?}"
            );
        }
    }
}

#[test]
fn sites_are_those_of_the_mistake() {
    let text = "alloc a bank 0 u0..4; alloc b bank 0 u4..8
        mm a q0..2 cg0..2 acc<start|stop>; data b q0..1; mm b acc<start|stop>; read a q0..2";
    let diags = check("trn2", text);
    let message = diags[0].text();
    assert_eq!(
        message,
        "expected a value that is still needed here, found that a later start clears it: \
         partitions 0..64, bytes 0..1024 of the buffer [pto:start-clobbers]"
    );
}

#[test]
fn buffers_in_one_place() {
    let place = "alloc a bank 0 u0..4; alloc b bank 0 u0..4\n";
    for (text, expected) in [
        (
            "mm a acc<start|stop>; read a; mm b acc<start|stop>; read b",
            &[][..],
        ),
        (
            "mm a acc<start|stop>; data b; read a; read b",
            &["pto:overlapping-allocs"],
        ),
        (
            "data a; data b; mma a acc<stop>",
            &["pto:overlapping-allocs"],
        ),
        (
            "for { mm a acc<start|stop>; read a; mm b acc<start|stop>; read b }",
            &[],
        ),
        ("if { data a } else { data b }; data a; read a", &[]),
        (
            "if { data a } else { data b }; read b",
            &["pto:read-undefined"],
        ),
        // A dead value is in nobody's way, though a loop may leave it there.
        ("data a; read a; for { data b }; read b", &[]),
        (
            "data a; for { data b }; read b; read a",
            &["pto:overlapping-allocs", "pto:overlapping-allocs"],
        ),
        (
            "data a; for 2 { read a; data b; read b }",
            &["pto:overlapping-allocs"],
        ),
        (
            "mm a acc<start|stop>; read a; mma b acc<stop>; read b",
            &["pto:wrong-mode"],
        ),
        // Nobody asks for what the iteration before left, nor for what stood there before the loop.
        (
            "data a; read a; for 4 { alloc c bank 0 u0..4; for { mm c acc<start|stop> }; read c }",
            &[],
        ),
        // The branch is there for the first iteration alone, and so is the use in it.
        (
            "for 3 { if(first 0) { mm a acc<start|stop> } }; for { mm b acc<start|stop> }; read b",
            &[],
        ),
        (
            "data a; for 3 { data b; if(first 0) { mma a acc<start|stop> } }; read b",
            &["pto:overlapping-allocs"],
        ),
    ] {
        let diags = check("trn2", &format!("{place}{text}"));
        assert_eq!(errors(&diags), expected, "{text}\n{diags:#?}");
    }
}

#[test]
fn zero_regions_of_several_banks() {
    let wide = "alloc a bank 1 q0..4 u0..16; alloc b bank 3 u0..8\n";
    for (text, expected) in [
        ("mm a acc<start|stop> region 2; read a", &[][..]),
        ("mm a acc<start|stop>; read a", &[]),
        (
            "mm a acc<start|stop> region 0; read a",
            &["pto:accumulate-undefined"],
        ),
        (
            "mm a acc<start|stop> region 1; read a",
            &["pto:accumulate-undefined"],
        ),
        (
            "mm b acc<start|stop>; mm a acc<start|stop>; read a; read b",
            &["pto:start-clobbers"],
        ),
        (
            "mm a acc<start|stop>; mm b acc<start|stop>; read a; read b",
            &[],
        ),
    ] {
        let diags = check("trn3", &format!("{wide}{text}"));
        assert_eq!(errors(&diags), expected, "{text}\n{diags:#?}");
    }
}

#[test]
fn one_machine_at_a_time() {
    let program = |text: &str| parse(text).expect("valid text");
    let neighbour = program(&format!(
        "{BANK}mm a acc<start|stop>; mm b q0..1 cg0..1 acc<start|stop>; read a q1..4"
    ));
    let tall = program(
        "alloc a bank 0 q0..1 u0..4; alloc b bank 0 q1..4 u0..4
        data b; mm a acc<start|stop>; read b",
    );
    let seeded = program(&format!("{BANK}data a; mma a acc<stop>; read a"));
    let run = |program: &Program, model, extent, sticky| {
        let options = Options {
            model,
            extent,
            sticky,
            ..Options::default()
        };
        tags(&verify(program, target("trn2"), &options))
    };
    assert_eq!(run(&neighbour, Model::Both, Extent::Both, false), [""; 0]);
    assert_eq!(run(&tall, Model::Both, Extent::Dst, false), [""; 0]);
    assert_eq!(
        run(&tall, Model::Both, Extent::Group, false),
        ["pto:start-clobbers"]
    );
    assert_eq!(
        run(&tall, Model::EagerZero, Extent::Both, false),
        ["pto:start-clobbers"]
    );
    assert_eq!(run(&seeded, Model::Both, Extent::Both, false), [""; 0]);
    assert_eq!(
        run(&seeded, Model::Both, Extent::Both, true),
        ["pto:seeded-accumulate"]
    );
}

#[test]
fn nothing_is_too_deep_or_too_strange() {
    let nest = format!(
        "{BANK}{}mma a acc<stop>{}",
        "for {".repeat(10_000),
        "}".repeat(10_000)
    );
    assert_eq!(tags(&check("trn2", &nest)), ["pto:accumulate-undefined"]);
    assert_eq!(tags(&check("trn2", "declare f")), [""; 0]);
    assert_eq!(
        tags(&check(
            "trn2",
            "func f; if - -; for -; region { ^a: goto a }"
        )),
        [""; 0]
    );
    assert_eq!(
        tags(&check("trn2", "alloc a unplaced p0..128 b0..64; read a")),
        ["pto:unplaced"]
    );
    for text in [
        "alloc a bank 7 p0..128 b0..4096; read a",
        "alloc a bank 4000000000 p0..128 b0..64; read a",
        "alloc a bank 0 p0..128 b0..64; read a p0..4000000000",
    ] {
        assert_eq!(tags(&check("trn2", text)), ["pto:target-limit"], "{text}");
    }
}
