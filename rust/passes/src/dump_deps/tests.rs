use pto_ir::{Target, TextPart};
use pto_testkit::text;

use super::graph::{Arrow, Reason, arrows};
use super::plan;

fn target() -> &'static Target {
    Target::from_name("trn2").expect("a target")
}

/// `(to, from, reason)` by the numbers of the entries, allocations included.
fn found(source: &str) -> Vec<(usize, usize, Reason)> {
    let program = text::parse(source).expect("valid text");
    let told = |arrow: Arrow| (arrow.to.index(), arrow.from.index(), arrow.reason);
    arrows(&program, target()).into_iter().map(told).collect()
}

use Reason::*;

#[test]
fn reads_adds_and_overwrites() {
    let found = found(
        "func f
        alloc a bank 0 u0..4
        mm a
        mma a
        read a engine(vector)
        read a engine(scalar)
        memset a",
    );
    assert_eq!(
        found,
        [
            (2, 1, Data),
            (3, 2, Data),
            (4, 2, Data),
            (5, 2, Overwrite),
            (5, 3, Overwrite),
            (5, 4, Overwrite)
        ]
    );
}

#[test]
fn a_start_touches_its_region_and_nothing_else_does() {
    let source = |flags: &str| {
        format!(
            "func f
             alloc a bank 0 u0..4
             alloc b bank 0 u4..8
             data a
             mm b {flags}
             read a"
        )
    };
    assert_eq!(found(&source("")), [(4, 2, Data)]);
    assert_eq!(
        found(&source("acc<start>")),
        [(3, 2, Overwrite), (4, 3, Data)]
    );
}

#[test]
fn two_buffers_in_one_place_meet_and_unplaced_ones_do_not() {
    let source = |place: &str| {
        format!("func f; alloc a {place} q0..4 u0..4; alloc b {place} q0..4 u2..6; data a; data b")
    };
    assert_eq!(found(&source("bank 0")), [(3, 2, Overwrite)]);
    assert_eq!(found(&source("unplaced")), []);
}

#[test]
fn tokens_are_arrows_of_their_own() {
    let found = found(
        "func f
        alloc a bank 0 u0..4
        alloc b bank 1 u0..4
        t = mm a
        mm b after(t)
        mma a after(inserted t)",
    );
    assert_eq!(found, [(3, 2, Token), (4, 2, Data), (4, 2, InsertedToken)]);
}

#[test]
fn every_node_of_an_arrow_is_drawn() {
    let program = text::parse(
        "func f
         alloc a bank 0 u0..4
         for 4 { mma a; if { read a } else { memset a } }
         read a",
    )
    .expect("valid text");
    let plan = plan(&program, target()).expect("never fails");
    assert!(plan.is_empty());
    let part = |part: &TextPart| match part {
        TextPart::Text(text) => text.clone(),
        TextPart::Name(_) | TextPart::Location(_) => "x".to_owned(),
    };
    let dot: String = plan.text.iter().map(part).collect();
    assert_eq!(dot.matches('{').count(), dot.matches('}').count(), "{dot}");
    assert_eq!(dot.matches("subgraph").count(), 4, "{dot}");
    assert_eq!(dot.matches(" [label=").count(), 4, "{dot}");
    for number in 0..4 {
        assert!(dot.contains(&format!("f_{number}\" [label=")), "{dot}");
    }
}
