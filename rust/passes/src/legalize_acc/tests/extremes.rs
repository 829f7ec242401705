//! Shapes of functions that break tools: deep, wide, odd.

use std::fmt::Write as _;

use pto_ir::{Engine, Op, ProgramBuilder, Use, UseKind};
use pto_testkit::text;

use super::worked::{outcome, target};
use crate::legalize_acc::{Options, plan};

/// The control bytes of all matmuls after legalization, in program order.
fn bytes(source: &str) -> Vec<u8> {
    let program = text::parse(source).expect("valid text");
    let plan = plan(&program, target("trn2"), &Options::default()).expect("legal input");
    let after = plan.applied_to(&program);
    after
        .walk()
        .filter_map(|id| after.inst(id).matmul()?.flags)
        .map(pto_ir::AccFlags::byte)
        .collect()
}

#[test]
fn ten_thousand_levels() {
    let depth = 10_000;
    for holder in ["if {", "for 2 {"] {
        let source = format!(
            "alloc b bank 1 q0..4 u0..4\ndata b\n{} alloc a bank 0 q0..4 u0..4; mm a; mma a; read a; read b {}\nread b",
            holder.repeat(depth),
            "}".repeat(depth)
        );
        assert_eq!(bytes(&source), [1, 2], "{holder}");
    }
}

#[test]
fn accumulations_on_every_level() {
    let depth = 300;
    let level = "alloc a bank 0 q0..4 u0..1; mm a; read a; if {";
    let source = format!("{}{}", level.repeat(depth), "}".repeat(depth));
    assert_eq!(bytes(&source), vec![3; depth]);
}

#[test]
fn thousands_of_blocks() {
    // A ladder of blocks, each with an accumulation of its own and data of the first.
    let count = 600;
    let mut source = String::from("region {\n^b0: alloc x bank 1 q0..4 u0..4; data x; goto b1\n");
    for index in 1..count {
        _ = writeln!(
            source,
            "^b{index}: alloc a{index} bank 0 q0..4 u0..4; mm a{index}; read a{index}; read x; goto b{}",
            index + 1
        );
    }
    _ = writeln!(source, "^b{count}: read x }}");
    assert_eq!(bytes(&source), vec![3; count - 1]);
}

#[test]
fn odd_graphs() {
    for source in [
        "region { ^a: alloc x bank 0 q0..4 u0..4; mm x; read x; goto b; ^b: goto b }",
        "region { ^a: goto a; ^u: alloc x bank 0 q0..4 u0..4; mm x; read x; goto u }",
        "region { ^a: alloc x bank 0 q0..4 u0..4; mm x; read x; ^e: ; ^f: goto e }",
        "if - - ; alloc x bank 0 q0..4 u0..4; mm x; read x",
        "if { } { }; for { }; alloc x bank 0 q0..4 u0..4; mm x; read x",
    ] {
        assert_eq!(bytes(source), [3], "{source}");
    }
}

#[test]
fn an_operation_with_thousands_of_operands() {
    let mut builder = ProgramBuilder::new("wide");
    let declared = text::parse("alloc a bank 0 q0..4 u0..8").expect("valid text");
    let alloc = builder.add_alloc(*declared.alloc(pto_ir::AllocId::new(0)));
    builder.push_alloc(alloc);
    let whole = builder.whole(alloc);
    builder.push_matmul(whole, pto_ir::build::MatmulSpec::default());
    let uses: Vec<Use> = (0..4_000)
        .map(|index| {
            let column = pto_ir::Interval::new(index % 512 * 4, index % 512 * 4 + 4);
            let bytes = pto_ir::IntervalSet::from_spans(vec![column]);
            Use {
                access: builder.access(alloc, pto_ir::Interval::new(0, 128), bytes),
                kind: UseKind::Read,
            }
        })
        .collect();
    builder.push(Op::Effects, Engine::Other, &uses);
    let program = builder.finish();
    let plan = plan(&program, target("trn2"), &Options::default()).expect("legal input");
    assert_eq!(plan.acc[0].flags.map(pto_ir::AccFlags::byte), Some(3));
}

#[test]
fn strides_and_single_cells() {
    // Even and odd columns are two chains of one bank.
    let span = |first: u32| -> String {
        let spans: Vec<String> = (0..256)
            .map(|i| format!("{}..{}", i * 8 + first * 4, i * 8 + first * 4 + 4))
            .collect();
        format!("b{}", spans.join("+"))
    };
    let (even, odd) = (span(0), span(1));
    let source = format!(
        "alloc a bank 0 q0..4 u0..8\nmm a {even}; mm a {odd}; mma a {even}; mma a; read a; read a p0..1 b4..8"
    );
    assert_eq!(outcome(&source, "trn2"), "1 0 0 2 0>1 1>2");
}

#[test]
fn arguments_in_psum() {
    let fresh = "arg a bank 0 q0..4 u0..4 escapes fresh\nmm a; mma a";
    assert_eq!(outcome(fresh, "trn2"), "1 2");
    let plain = "arg a bank 0 q0..4 u0..4 escapes\nmma a; mma a";
    assert_eq!(outcome(plain, "trn2"), "0 2 pto:seeded-accumulate");
    assert_eq!(outcome(plain, "trn3"), "4 6");
    // An argument that nothing touches is data all the same.
    let beside = "arg b bank 0 q0..4 u4..8 escapes; alloc a bank 0 q0..4 u0..4\nmm a; read a";
    assert_eq!(outcome(beside, "trn2"), "z2");
    let elsewhere = "arg b bank 1 q0..4 u4..8 escapes; alloc a bank 0 q0..4 u0..4\nmm a; read a";
    assert_eq!(outcome(elsewhere, "trn2"), "3");
}

#[test]
fn what_lives_around_a_block() {
    let inner = "alloc a bank 0 q0..4 u0..4; mm a; read a";
    for (source, expected) in [
        // Data of the block around: live over a loop, or dead, or read in it.
        (
            format!("alloc b bank 0 q0..4 u4..8\ndata b; for 2 {{ {inner} }}; read b"),
            "z2",
        ),
        (
            format!("alloc b bank 0 q0..4 u4..8\ndata b; read b; for 2 {{ {inner} }}; data b"),
            "3",
        ),
        (
            format!("alloc b bank 0 q0..4 u4..8\ndata b; for 2 {{ read b; {inner} }}"),
            "z2 2>z0",
        ),
        // A branch runs once: what it reads first is dead afterwards.
        (
            format!("alloc b bank 0 q0..4 u4..8\ndata b; if {{ read b; {inner} }}"),
            "3 2>3",
        ),
        (
            format!("alloc b bank 0 q0..4 u4..8\ndata b; if {{ {inner}; read b }}"),
            "z2 2>4",
        ),
        // What the branch overwrites was dead when it began.
        (
            format!("alloc b bank 0 q0..4 u4..8\ndata b; if {{ {inner}; data b }}; read b"),
            "3",
        ),
        // A chain that is open around a loop.
        (
            format!("alloc b bank 0 q0..4 u4..8\nmm b; for 2 {{ {inner} }}; mma b; read b"),
            "1 z2 2",
        ),
    ] {
        assert_eq!(outcome(&source, "trn2"), expected, "{source}");
    }
}

#[test]
fn writes_inside_regions() {
    let a = "alloc a bank 0 q0..4 u0..4\n";
    for (rest, expected) in [
        // Fresh or written: cleared before, then added onto.
        ("if { data a }; mma a; read a", "r 2 pto:seeded-accumulate"),
        (
            "data a; if { data a }; mma a; read a",
            "2 pto:seeded-accumulate",
        ),
        ("mm a; if { data a }; mma a; read a", "1 2"),
        ("if { data a }; mm a; read a", "3"),
        (
            "for 3 { memset a }; mma a; read a",
            "2 pto:seeded-accumulate",
        ),
    ] {
        assert_eq!(outcome(&format!("{a}{rest}"), "trn2"), expected, "{rest}");
    }
}
