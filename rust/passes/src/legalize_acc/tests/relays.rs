//! Order between blocks: where it takes relays, where it takes none, and that the checker misses none.

use pto_ir::{Anchor, EdgeNode, MemsetTarget, Plan, Program, Target};
use pto_testkit::generate::{self, Profile};
use pto_testkit::oracle::collide::{Queues, collisions};
use pto_testkit::oracle::order::dependences;
use pto_testkit::oracle::{Chooser, Grid, trace};
use pto_testkit::text;

use super::random::{first_seed, rounds};
use super::worked::target;
use crate::legalize_acc::check::check;
use crate::legalize_acc::{Collisions, Options, plan};

/// Paths through each program: loops run up to three times.
const PATHS: u64 = 8;

/// Whether two instructions of `program` collide on some path, whatever order of their queues is kept.
fn collides(program: &Program, target: &'static Target, kept: Queues) -> bool {
    (0..PATHS).any(|path| {
        let Some(steps) = trace(program, &mut Chooser::new(path, 3), 1000) else {
            return false;
        };
        let dependences = dependences(program, &Grid::new(&[program], target), &steps);
        !collisions(program, target, &steps, &dependences, kept).is_empty()
    })
}

fn is_relay(plan: &Plan, node: EdgeNode) -> bool {
    let EdgeNode::Memset(index) = node else {
        return false;
    };
    plan.memsets[index as usize].target == MemsetTarget::Relay
}

/// The relays of a plan: their blocks, `<` for an entry, `>` for an exit.
fn relays(program: &Program, plan: &Plan) -> String {
    let relays = (0..).zip(&plan.memsets);
    let mut relays: Vec<_> = relays
        .filter(|(_, memset)| memset.target == MemsetTarget::Relay)
        .map(|(index, memset)| {
            let node = EdgeNode::Memset(index);
            let is_entry = plan.edges.iter().any(|edge| edge.from == node);
            let block = memset.at.block(program);
            let at = match memset.at {
                Anchor::Before(inst) => program.block(block).insts.iter().position(|&i| i == inst),
                Anchor::End(_) => None,
            };
            (
                block,
                at.unwrap_or(usize::MAX),
                if is_entry { '<' } else { '>' },
            )
        })
        .collect();
    relays.sort_unstable();
    let text = relays
        .iter()
        .map(|(block, _, sort)| format!("{}{sort}", block.index()));
    text.collect::<Vec<_>>().join(" ")
}

const HALVES: &str = "alloc a bank 0 q0..4 u0..4\nalloc b bank 0 q0..4 u4..8\n";
const APART: &str = "alloc a bank 0 q0..4 u0..8\nalloc b bank 1 q0..4 u0..8\n";

/// Buffers, program, and its relays by block. Blocks count from the outside in, in program order.
const CASES: [(&str, &str, &str); 14] = [
    // The end of one iteration and the beginning of the next.
    (
        HALVES,
        "memset a; for { mma a; mm b; read b }; read a",
        "0> 1< 1> 0<",
    ),
    // A START at the head of a body orders all by its region.
    (HALVES, "for { mm a; mm b; read a; read b }", ""),
    (HALVES, "for { mm a; read a; mm b; read b }", ""),
    // The body adds to what is older, or reads first: it waits for the iteration before.
    (
        HALVES,
        "mm a; for { mm b; read b; mma a }; read a",
        "0> 1< 1> 0<",
    ),
    (
        HALVES,
        "memset a; memset b; for { read a; mma b }; read b",
        "0> 1< 1> 0<",
    ),
    // One buffer a bank.
    (APART, "memset a; for { mma a; mm b; read b }; read a", ""),
    // One engine, or one tile of the PE array, has the bank.
    (
        HALVES,
        "memset a; memset b; for { read a; read b }; read a",
        "",
    ),
    // Branches: what stands in an arm, and what stands around it. Arms are taken to follow each other.
    (
        HALVES,
        "memset a; memset b; if { mma a }; read b",
        "0> 1< 1> 0<",
    ),
    (
        HALVES,
        "memset a; memset b; if { mma a } else { read b }",
        "0> 1< 1> 2<",
    ),
    // What a block executes itself needs none, whatever other banks a loop in between uses.
    (
        "alloc a bank 0 q0..4 u0..4\nalloc b bank 0 q0..4 u4..8\nalloc c bank 1 q0..4 u0..8\n",
        "mm a; mm b; for { mm c; read c }; read a; mma b; read b",
        "",
    ),
    // Code that no engine executes orders by itself.
    (
        HALVES,
        "memset a; effects memset b; for { effects read a; mma b; effects read b }",
        "",
    ),
    // A loop that runs once is no loop; one that never runs is nothing.
    (
        HALVES,
        "for 1 { memset a; mma a; mm b; read b; read a }",
        "",
    ),
    (HALVES, "memset a; memset b; for 0 { mma a }; read b", ""),
    // Between two loops, and between two inner ones of an outer one.
    (
        HALVES,
        "for { memset a; for { mma a }; for { mm b; read b }; read a }",
        "1< 1> 2< 2> 3< 3> 1< 1>",
    ),
];

#[test]
fn relays_stand_where_a_bank_changes_hands_between_blocks() {
    let target = target("trn2");
    for (buffers, body, expected) in CASES {
        let source = format!("func f\n{buffers}{}\n", body.replace("; ", "\n"));
        let program = text::parse(&source).expect(body);
        let plan = plan(&program, target, &Options::default()).expect(body);
        let after = plan.applied_to(&program);
        assert!(
            !collides(&after, target, Queues::Unordered),
            "{body}\n{}",
            text::print(&after)
        );
        let mut found: Vec<_> = relays(&program, &plan)
            .split(' ')
            .map(str::to_owned)
            .collect();
        let mut expected: Vec<_> = expected.split(' ').map(str::to_owned).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{body}\n{}", text::print(&after));
    }
}

#[test]
fn collisions_may_be_left_between_blocks_too() {
    let source = format!("func f\n{HALVES}memset a\nfor {{\nmma a\nmm b\nread b\n}}\nread a\n");
    let program = text::parse(&source).expect("valid text");
    let options = Options {
        collisions: Collisions::Leave,
        ..Options::default()
    };
    let plan = plan(&program, target("trn2"), &options).expect("legal");
    assert_eq!(relays(&program, &plan), "");
    assert!(collides(
        &plan.applied_to(&program),
        target("trn2"),
        Queues::InOrder
    ));
}

#[test]
fn a_plan_without_a_relay_that_is_needed_is_refused() {
    let profile = Profile {
        regions: true,
        ..Profile::AUTO
    };
    let (mut with_relays, mut needed) = (0u64, 0u64);
    for seed in first_seed()..first_seed() + 4 * rounds() {
        let target = target(["trn1", "trn2", "trn3"][seed as usize % 3]);
        let mut rng = fastrand::Rng::with_seed(seed);
        let program = generate::recipe(&mut rng, target, profile).build(target);
        let Ok(mut plan) = plan(&program, target, &Options::default()) else {
            continue;
        };
        let of_relays = |plan: &Plan| -> Vec<usize> {
            let edges = plan.edges.iter().enumerate();
            let own = edges.filter(|(_, e)| is_relay(plan, e.from) || is_relay(plan, e.to));
            own.map(|(index, _)| index).collect()
        };
        let edges = of_relays(&plan);
        if edges.is_empty() {
            continue;
        }
        with_relays += 1;
        plan.edges.remove(edges[rng.usize(0..edges.len())]);
        let after = plan.applied_to(&program);
        let is_refused = check(&program, target, &plan, Collisions::Order).is_err();
        if collides(&after, target, Queues::InOrder) {
            needed += 1;
            assert!(is_refused, "seed {seed}\n{}", text::print(&after));
        }
        assert!(check(&program, target, &plan, Collisions::Leave).is_ok());
    }
    println!("{with_relays} plans with relays; {needed} edges are needed on the paths looked at");
    assert!(needed > rounds() / 40, "{needed} of {with_relays}");
}
