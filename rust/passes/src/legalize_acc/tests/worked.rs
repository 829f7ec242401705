//! Worked cases: programs with everything that has to come out.

use pto_ir::{EdgeNode, InstId, MemsetTarget, Plan, Program, Target};
use pto_testkit::oracle::{Model, judge};
use pto_testkit::text;

use crate::legalize_acc::{Options, plan};

pub(super) fn target(name: &str) -> &'static Target {
    Target::from_name(name).expect("a target")
}

/// The plan in one line: control bytes of all matmuls in program order, with `/code` where the
/// region is not 0 and a `z` before matmuls (and holders) with memsets (one `z` a memset); then
/// the edges as pairs of instruction numbers; then the tags of warnings.
pub(super) fn outcome(source: &str, target_name: &str) -> String {
    let program = text::parse(source).expect("valid text");
    let target = target(target_name);
    let plan = match plan(&program, target, &Options::default()) {
        Ok(plan) => plan,
        Err(diags) => {
            let mut tags: Vec<String> = diags.iter().map(|d| format!("error {}", d.tag)).collect();
            tags.dedup();
            return tags.join(" ");
        }
    };
    let after = plan.applied_to(&program);
    let verdict = judge(&program, &after, target, &Model::REQUIRED, 0).expect("short");
    assert!(verdict.is_meaningful(), "{source}: {verdict:?}");
    assert!(verdict.is_right(), "{source}: {verdict:?}");
    describe(&program, &after, &plan)
}

/// Flags, memsets, edges and diagnostics as one line. Relays are left out: they have tests of their own.
pub(super) fn describe(program: &Program, after: &Program, plan: &Plan) -> String {
    let order: Vec<InstId> = program
        .walk()
        .filter(|&id| program.inst(id).is_instruction())
        .collect();
    let mut words: Vec<String> = Vec::new();
    for &id in &order {
        let memsets = plan
            .memsets
            .iter()
            .filter(|m| m.at == pto_ir::Anchor::Before(id));
        let memsets: String = memsets
            .map(|m| match m.target {
                MemsetTarget::Access(_) => "z",
                MemsetTarget::Rectangle { .. } => "r",
                MemsetTarget::Relay => "",
            })
            .collect();
        let Some(matmul) = after.inst(id).matmul() else {
            if !memsets.is_empty() {
                words.push(memsets);
            }
            continue;
        };
        let flags = matmul
            .flags
            .map_or("auto".to_owned(), |f| f.byte().to_string());
        let first = if matmul.start_if.is_some() { "f" } else { "" };
        let last = if matmul.stop_if.is_some() { "l" } else { "" };
        let flags = format!("{flags}{first}{last}");
        let code = match matmul.zero_region {
            Some(0) => String::new(),
            Some(code) => format!("/{code}"),
            None => "/?".to_owned(),
        };
        words.push(format!("{memsets}{flags}{code}"));
    }
    let is_relay = |index: u32| plan.memsets[index as usize].target == MemsetTarget::Relay;
    let name = |node| match node {
        EdgeNode::Inst(id) => {
            let place = order.iter().position(|&o| o == id);
            Some(place.expect("in order").to_string())
        }
        EdgeNode::Memset(index) if is_relay(index) => None,
        EdgeNode::Memset(index) => {
            let others = (0..index).filter(|&index| !is_relay(index));
            Some(format!("z{}", others.count()))
        }
    };
    for edge in &plan.edges {
        if let (Some(from), Some(to)) = (name(edge.from), name(edge.to)) {
            words.push(format!("{from}>{to}"));
        }
    }
    words.extend(plan.diags.iter().map(|diag| diag.tag.to_owned()));
    words.join(" ")
}

/// Buffers of half a bank each in bank 0.
pub(super) const HALVES: &str = "alloc a bank 0 q0..4 u0..4\nalloc b bank 0 q0..4 u4..8\n";

/// Name, program, and what comes out on trn1, trn2 and trn3.
const CASES: &[(&str, &str, [&str; 3])] = &[
    (
        "1 one chain",
        "alloc a bank 0 q0..4 u0..8\nmm a; mma a; mma a",
        ["1 0 2"; 3],
    ),
    ("2 one matmul", "alloc a bank 0 q0..4 u0..8\nmm a", ["3"; 3]),
    (
        "3 two chains interleaved",
        "mm a; mm b; mma a; mma b; read a; read b",
        ["1 0 2 2 0>1 1>2 2>3 3>4"; 3],
    ),
    (
        "4 one after the other, read at the end",
        "mm a; mma a; mm b; mma b; read a; read b",
        ["1 2 0 2 1>2 3>4"; 3],
    ),
    (
        "5 one after the other, other bytes",
        "mm a; mma a; read a; mm b; mma b; read b",
        ["1 2 1 2 2>3"; 3],
    ),
    (
        "5 one after the other, same bytes",
        "mm a; mma a; read a; mm a; mma a; read a",
        ["1 2 1 2"; 3],
    ),
    (
        "6 reuse under an open chain",
        "mm a; mm b; read a; mm a; mma b; mma a; read a; read b",
        ["3 0 z0 2 2 0>1 1>z0 3>4 4>5 1>2 5>7"; 3],
    ),
    (
        "7 column tiles in two quadrants",
        "alloc a bank 0 q0..1 u0..8; alloc b bank 0 q1..2 u0..8
         mm a cg0..1; mm b cg1..2; mma a cg0..1; mma b cg1..2; read a; read b",
        ["1 1 2 2"; 3],
    ),
    (
        "8 a column tile and all columns",
        "alloc a bank 0 q0..4 u0..4; alloc b bank 0 q2..3 u4..8
         mm b tile(128,32)@(0,64); mm a; mma b tile(128,32)@(0,64); mma a; read a; read b",
        ["1 z0 2 2 0>z0 1>2 2>3 3>5"; 3],
    ),
    (
        "9 a window of four banks",
        "alloc a bank 1 q0..4 u0..16
         mm a; mma a; read a",
        ["error pto:multi-bank", "error pto:multi-bank", "1/2 2/2"],
    ),
    (
        "9 a group in the window joins",
        "alloc a bank 1 q0..4 u0..16; alloc b bank 3 q0..4 u0..8; alloc c bank 4 q0..4 u0..8
         mm a; mm b; mma a; mm c; read a; read b; read c",
        [
            "error pto:multi-bank",
            "error pto:multi-bank",
            "1/2 2 2/2 3 0>1 1>2",
        ],
    ),
    (
        "10 two banks",
        "alloc a bank 1 q0..4 u0..16\nmm a",
        ["error pto:multi-bank", "error pto:multi-bank", "3/2"],
    ),
    (
        "11 seeded by zeros",
        "memset a; mma a; mma a",
        ["1 2", "1 2", "4 6"],
    ),
    (
        "12 seeded by data",
        "data a; mma a; mma a; read a",
        [
            "0 2 pto:seeded-accumulate",
            "0 2 pto:seeded-accumulate",
            "4 6",
        ],
    ),
    (
        "13 a narrower second member",
        "mm a; mma a u0..2; read a",
        ["3 2"; 3],
    ),
    (
        "14 merged windows are folded again",
        "alloc y bank 3 q0..4 u0..8; alloc h bank 0 q0..4 u0..8; alloc x bank 1 q0..4 u0..16
         mm y; mm h; read y; mm x; mma h; read h; read x",
        [
            "error pto:multi-bank",
            "error pto:multi-bank",
            "3/2 0 2/2 2 0>1 1>3 3>4",
        ],
    ),
    (
        "15 zeros that the head does not take",
        "memset a; mma a u0..1; read a",
        ["2", "2", "6"],
    ),
    (
        "16 half the rows without a tile",
        "alloc a bank 0 q0..2 u0..4; alloc b bank 0 q3..4 u4..8
         mm a; mm b tile(128,32)@(0,96); mma a; read a; read b",
        [
            "error pto:target-limit",
            "1 z2 2 0>z0 1>2",
            "1 z2 2 0>z0 1>2",
        ],
    ),
    (
        "tricky: data beside a column group",
        "alloc a bank 0 q2..3 u2..6; alloc b bank 0 q0..1 u0..2
         data a; mma b cg0..4; read a; read b",
        ["z2", "z2", "z6 0>1"],
    ),
    (
        "tricky: data between two writes of a chain",
        "alloc a bank 0 q0..1 u0..8; alloc b bank 0 q0..4 u2..4
         mm a u4..8; data b; mma a; read a",
        ["1 r2 0>z0"; 3],
    ),
    (
        "tricky: one seed of zeros, one of data",
        "alloc a bank 0 q0..4 u0..8
         memset a u0..4; data a u4..8; mma a; read a",
        ["2 pto:seeded-accumulate", "2 pto:seeded-accumulate", "6"],
    ),
    (
        "tricky: data in reach of an untiled matmul",
        "alloc a bank 0 q2..3 u0..2; alloc b bank 0 q0..3 u2..4
         data a; mm b; read a; read b",
        ["z2 0>z0 1>2", "z2 0>z0 1>2", "z6 0>z0 0>1"],
    ),
    (
        "tricky: data under a tile and under all",
        "alloc a bank 0 q0..4 u0..8
         data a; mma a q3..4 cg3..4; mma a; read a",
        ["error pto:target-limit", "0 2 pto:seeded-accumulate", "4 6"],
    ),
];

#[test]
fn worked_cases() {
    let mut wrong = String::new();
    for (name, source, expected) in CASES {
        let source = match source.contains("alloc") {
            true => (*source).to_owned(),
            false => format!("{HALVES}{source}"),
        };
        for (target, expected) in ["trn1", "trn2", "trn3"].iter().zip(expected) {
            let found = outcome(&source, target);
            if found != *expected {
                wrong +=
                    &format!("{name} on {target}:\n  expected {expected}\n  found    {found}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
