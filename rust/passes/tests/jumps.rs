//! `verify_acc` and `validate` on functions of very many blocks: work that grew with the square of
//! the blocks would make these tests run for minutes.

#![allow(clippy::expect_used, reason = "a test stops at the first surprise")]

use std::fmt::Write as _;

use pto_ir::{Program, Target};
use pto_passes::{validate, verify_acc};
use pto_testkit::text::parse;

const BLOCKS: usize = 4_000;

/// Blocks that jump to each of the next two; each has a buffer of its own, all in the same few
/// places. They are listed in the order of `listed`.
fn ladder(listed: impl Iterator<Item = usize>, body: &str) -> String {
    let mut text = String::new();
    for block in listed {
        let (bank, unit) = (block % 8, block / 8 % 4 * 2);
        let place = format!("bank {bank} u{unit}..{}", unit + 2);
        let body = body.replace("NAME", &format!("c{block}"));
        let (next, after) = (block + 1, (block + 2).min(BLOCKS));
        _ = writeln!(
            text,
            "^b{block}: alloc c{block} {place}; {body}; goto b{next}, b{after}"
        );
    }
    text
}

const SUM: &str = "mm NAME acc<start>; mma NAME acc<stop>; read NAME";

fn programs() -> Vec<(&'static str, Program)> {
    let straight = format!("goto b0\n{}^b{BLOCKS}:", ladder(0..BLOCKS, SUM));
    let reversed = format!("goto b0\n{}^b{BLOCKS}:", ladder((0..BLOCKS).rev(), SUM));
    let inside = ladder(0..BLOCKS, SUM);
    let in_loop = format!("for {{ goto b0\n{inside}^b{BLOCKS}: }}");
    let back = inside.replace("goto b4000, b4000", "goto b0, b4000");
    let back = format!("goto b0\n{back}^b{BLOCKS}:");
    let texts = [
        ("straight", straight),
        ("reversed", reversed),
        ("in a loop", in_loop),
        ("with a jump back", back),
    ];
    let parsed = |(name, text): (_, String)| (name, parse(&text).expect("valid text"));
    texts.map(parsed).into()
}

#[test]
fn ladders_are_proved_and_validated() {
    let target = Target::from_name("trn2").expect("a target");
    for (name, program) in programs() {
        let options = verify_acc::Options::default();
        let diags = verify_acc::verify(&program, target, &options);
        assert!(diags.is_empty(), "{name}: {}", diags[0].text());
        let same = validate::validate(&program, &program, target, validate::Options::default());
        assert!(same.is_ok(), "{name}: {}", same.expect_err("")[0].text());
    }
}

#[test]
fn a_value_is_needed_however_far_away_it_is_read() {
    let target = Target::from_name("trn2").expect("a target");
    let far = "alloc far bank 0 u0..8\nmm far acc<start|stop>; goto b0\n";
    let text = format!(
        "{far}{}^b{BLOCKS}: read far",
        ladder(0..BLOCKS, "data NAME")
    );
    let program = parse(&text).expect("valid text");
    let diags = verify_acc::verify(&program, target, &verify_acc::Options::default());
    let tags: Vec<_> = diags.iter().map(|diag| diag.tag).collect();
    assert_eq!(tags, ["pto:overlapping-allocs"]);
}
