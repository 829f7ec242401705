use pto_ir::{EdgeNode, Program, Target};
use pto_testkit::text;

use super::{Options, plan};

fn parse(source: &str) -> Program {
    text::parse(&format!(
        "alloc a bank 0 q0..4 u0..4\nalloc s sbuf unplaced p0..128 b0..64\n{source}"
    ))
    .expect("valid text")
}

/// The edges as pairs of positions among the instructions of the function.
fn edges(source: &str, options: &Options) -> Vec<(usize, usize)> {
    let program = parse(source);
    let target = Target::from_name("trn2").expect("a target");
    let plan = plan(&program, target, options).expect("every function is legal input");
    let again = super::plan(&plan.applied_to(&program), target, options).expect("legal input");
    assert!(again.is_empty(), "idempotent");
    let order: Vec<_> = program
        .walk()
        .filter(|&id| program.inst(id).is_instruction())
        .collect();
    let position = |node| match node {
        EdgeNode::Inst(id) => order
            .iter()
            .position(|&other| other == id)
            .expect("in order"),
        EdgeNode::Memset(_) => panic!("no memsets here"),
    };
    plan.edges
        .iter()
        .map(|edge| (position(edge.from), position(edge.to)))
        .collect()
}

const DEFAULT: Options = Options {
    restart_at_origin: false,
    ignore_other_engines: false,
};

const A: &str = "mm a q0..1 tile(128,32)@(0,0)\n";
const B: &str = "mm a q1..2 tile(128,32)@(0,32)\n";
const WIDE: &str = "mm a q0..2 tile(128,64)@(0,0)\n";
const READ: &str = "read s\n";

#[test]
fn a_run_is_linked_in_order() {
    assert_eq!(
        edges(&[A, B, B, B].concat(), &DEFAULT),
        [(0, 1), (1, 2), (2, 3)]
    );
    assert_eq!(edges(&[B, B].concat(), &DEFAULT), [], "no opener");
    assert_eq!(edges(&[B, A, B].concat(), &DEFAULT), [(1, 2)]);
    assert_eq!(edges(A, &DEFAULT), []);
}

#[test]
fn another_origin_joins_or_restarts() {
    let source = [A, B, A, B].concat();
    assert_eq!(edges(&source, &DEFAULT), [(0, 1), (1, 2), (2, 3)]);
    let restart = Options {
        restart_at_origin: true,
        ..DEFAULT
    };
    assert_eq!(edges(&source, &restart), [(0, 1), (2, 3)]);
}

#[test]
fn what_ends_a_run_may_open_the_next() {
    assert_eq!(
        edges(&[A, B, WIDE, WIDE, B].concat(), &DEFAULT),
        [(0, 1), (2, 3)]
    );
    let untiled = "mm a\n";
    assert_eq!(edges(&[A, B, untiled, B].concat(), &DEFAULT), [(0, 1)]);
    let half_rows = "mm a q0..1 tile(64,32)@(0,0)\n";
    assert_eq!(edges(&[A, half_rows, half_rows].concat(), &DEFAULT), []);
}

#[test]
fn other_engines_end_a_run_unless_ignored() {
    let source = [A, READ, B].concat();
    assert_eq!(edges(&source, &DEFAULT), []);
    let ignore = Options {
        ignore_other_engines: true,
        ..DEFAULT
    };
    assert_eq!(edges(&source, &ignore), [(0, 2)]);
    for holder in ["if { }\n", "call(?)\n"] {
        let source = [A, holder, B].concat();
        assert_eq!(
            edges(&source, &ignore),
            [],
            "{holder} may hold PE instructions"
        );
    }
}

#[test]
fn nested_regions_are_blocks_of_their_own() {
    let source = [A, "for {", A, B, "}\n", B].concat();
    assert_eq!(edges(&source, &DEFAULT), [(2, 3)]);
}

#[test]
fn allocations_are_transparent_and_known_edges_are_kept() {
    let source = [A, "alloc b bank 1 q0..4 u0..4\n", B].concat();
    assert_eq!(edges(&source, &DEFAULT), [(0, 1)]);
    let source = "t = mm a q0..1 tile(128,32)@(0,0)\nmm a q1..2 tile(128,32)@(0,32) after(t)";
    assert_eq!(edges(source, &DEFAULT), []);
}

#[test]
fn the_checker_refuses_other_plans() {
    let program = parse(&[A, B, B].concat());
    let target = Target::from_name("trn2").expect("a target");
    let right = plan(&program, target, &DEFAULT).expect("legal input");
    let check = |plan: &pto_ir::Plan| super::check::check(&program, target, &DEFAULT, plan);
    assert!(check(&right).is_ok());
    let mut missing = right.clone();
    missing.edges.pop();
    let mut reversed = right.clone();
    let edge = reversed.edges[0];
    reversed.edges[0] = pto_ir::NewEdge {
        from: edge.to,
        to: edge.from,
    };
    let mut doubled = right.clone();
    doubled.edges.push(right.edges[0]);
    let mut marked = right;
    marked.edges_are_inserted = true;
    for wrong in [missing, reversed, doubled, marked] {
        assert!(check(&wrong).is_err(), "{wrong:?}");
    }
}
