use pto_ir::{InstId, Op, Plan, Program, Target};
use pto_testkit::generate::{Profile, kernel, kernel_text, recipe};
use pto_testkit::properties::{Outcome, is_accepted, values_are_right};
use pto_testkit::text;

use super::{Makespan, Options, plan, plan_with_makespans};

fn target(name: &str) -> &'static Target {
    Target::from_name(name).expect("a target")
}

fn parse(source: &str) -> Program {
    text::parse(source).expect("valid text")
}

fn scheduled(program: &Program, target_name: &str) -> (Plan, Vec<Makespan>) {
    plan_with_makespans(program, target(target_name), &Options::default()).expect("legal input")
}

/// Cycles before and after.
fn times(source: &str, target: &str) -> (u64, u64) {
    let (_, makespans) = scheduled(&parse(source), target);
    (makespans[0].before, makespans[0].after)
}

/// The instructions of the entry block after scheduling, by their numbers in `source`, from 0.
fn order(source: &str, target: &str) -> Vec<usize> {
    let program = parse(source);
    let is_instruction = |&inst: &InstId| program.inst(inst).is_instruction();
    let numbers = |program: &Program| -> Vec<InstId> {
        let insts = program.blocks()[0].insts.iter().copied();
        insts.filter(is_instruction).collect()
    };
    let before = numbers(&program);
    let after = numbers(&scheduled(&program, target).0.applied_to(&program));
    let place = |inst: &InstId| before.iter().position(|other| other == inst);
    after
        .iter()
        .map(|inst| place(inst).expect("kept"))
        .collect()
}

const BUFFERS: &str = "alloc a bank 0; alloc b bank 1; alloc c bank 2
    alloc w sbuf unplaced b0..512; alloc v sbuf unplaced b0..512
    alloc x sbuf unplaced; alloc y sbuf unplaced; alloc z sbuf unplaced
    arg h hbm unplaced escapes; arg g hbm unplaced escapes\n";

fn with_buffers(source: &str) -> String {
    format!("{BUFFERS}{source}")
}

#[test]
fn times_are_those_of_the_engines() {
    // 512 columns behind 128 rows of weights, then 512 elements of a partition.
    let one = with_buffers("mm a weights w moving x; do read a, data y");
    assert_eq!(times(&one, "trn2").0, 128 + 512 + 512);
    // The same weights are not loaded again; others while the first matmul streams.
    let same = with_buffers("mm a weights w moving x; mm b weights w moving x");
    assert_eq!(times(&same, "trn2").0, 128 + 512 + 512);
    let others = with_buffers("mm a weights w moving x; mm b weights v moving x");
    assert_eq!(times(&others, "trn2").0, 128 + 512 + 512);
    assert_eq!(times(&others, "trn1").0, 128 + 512 + 128 + 512);
    // Weights that were written in between are others.
    let written =
        with_buffers("mm a weights w moving x; data w engine(dma); mm b weights w moving x");
    assert_eq!(times(&written, "trn2").0, 640 + 128 + 128 + 512);
    // A tile of 32 rows.
    let tile = with_buffers("mm a q0..1 weights w moving x tile(32,32)@(0,0)");
    assert_eq!(times(&tile, "trn2").0, 32 + 512);
    // Engines side by side, and a barrier.
    let side_by_side = with_buffers("data x engine(dma); data y; data z engine(scalar)");
    assert_eq!(times(&side_by_side, "trn2").0, 512);
    let barrier = with_buffers("data x engine(dma); effects read g; data y");
    assert_eq!(times(&barrier, "trn2").0, 1024);
}

#[test]
fn a_bank_that_one_engine_reads_is_not_written_by_the_pe() {
    // Disjoint bytes of one bank collide; of two banks they do not.
    let one_bank = "alloc a bank 0 u0..4; alloc b bank 0 u4..8; alloc w sbuf unplaced b0..512
        alloc x sbuf unplaced u0..4; alloc y sbuf unplaced u0..4
        mm a weights w moving x acc<none>; do read a, data y; mm b weights w moving x acc<none>";
    assert_eq!(times(one_bank, "trn2").0, 128 + 256 + 256 + 256);
    let two_banks = one_bank.replace("bank 0 u4..8", "bank 1 u4..8");
    assert_eq!(times(&two_banks, "trn2").0, 128 + 256 + 256);
}

#[test]
fn a_load_moves_before_the_drain_of_another_tile() {
    let source = with_buffers(
        "data x engine(dma); mm a weights w moving x; do read a, data h engine(dma)
        data y engine(dma); mm b weights w moving y; do read b, data g engine(dma)",
    );
    assert_eq!(order(&source, "trn2"), [0, 1, 3, 4, 2, 5]);
    let (before, after) = times(&source, "trn2");
    assert!(after < before, "{after} of {before}");
}

#[test]
fn the_bound_knows_that_weights_are_loaded() {
    let source = with_buffers("mm a u0..1 weights w moving x; mm b u0..1 weights v moving y");
    for (target, cycles) in [("trn2", 128 + 128 + 64), ("trn1", 128 + 64 + 128 + 64)] {
        let (_, makespans) = scheduled(&parse(&source), target);
        assert_eq!((makespans[0].after, makespans[0].bound), (cycles, cycles));
    }
}

#[test]
fn what_may_be_one_buffer_keeps_its_order() {
    let source = "alloc a bank 0; alloc b bank 1; alloc w sbuf unplaced b0..512
        alloc x sbuf unplaced; alloc y sbuf unplaced; arg i hbm unplaced; arg o hbm unplaced; arg s sbuf unplaced
        do read i, data x engine(dma); mm a weights w moving x; do read a, data o engine(dma)
        do read i, data y engine(dma); mm b weights w moving y; do read b, data o engine(dma)";
    assert_eq!(order(source, "trn2"), [0, 1, 3, 4, 2, 5]);
    let shared = |names: &[&str]| {
        names.iter().fold(source.to_owned(), |text, name| {
            let argument = format!("arg {name} ");
            let at = text.find(&argument).expect("an argument") + argument.len();
            format!("{}aliases {}", &text[..at], &text[at..])
        })
    };
    // The second load may read what the first store wrote.
    assert_eq!(order(&shared(&["i", "o"]), "trn2"), [0, 1, 2, 3, 4, 5]);
    // The weights are there before the first load is.
    let both = 6 * 512;
    assert_eq!(times(&shared(&["i", "o"]), "trn2"), (both, both));
    // One alone is no other; and no buffer of another space is.
    assert_eq!(order(&shared(&["o"]), "trn2"), [0, 1, 3, 4, 2, 5]);
    assert_eq!(order(&shared(&["o", "s"]), "trn2"), [0, 1, 3, 4, 2, 5]);
}

/// The order for buffers that may be one is right where they are one. That of buffers that are apart is
/// not always, and the checker says so.
#[test]
fn a_caller_may_pass_one_buffer_twice() {
    let (mut reordered, mut wrong) = (0, 0);
    for seed in 0..300 {
        let target = target(["trn1", "trn2", "trn3"][seed as usize % 3]);
        let mut apart = kernel_text(seed, 30);
        for (load, source) in [("data x0 ", "h1"), ("data x2 ", "h3")] {
            apart = apart.replace(load, &format!("do read {source}, {load}"));
        }
        let shared = apart.replace(" hbm ", " hbm aliases ");
        let one = ["h1", "h2", "h3"].iter().fold(apart.clone(), |text, name| {
            let text = text.replace(&format!("data {name} "), "data h0 ");
            text.replace(&format!("read {name},"), "read h0,")
        });
        let [apart, shared, one] = [apart, shared, one].map(|text| parse(&text));
        let options = Options::default();
        let for_shared = plan(&shared, target, &options).expect("legal input");
        reordered += u32::from(!for_shared.orders.is_empty());
        super::check::check(&one, target, &for_shared).expect("legal where they are one");
        let for_apart = plan(&apart, target, &options).expect("legal input");
        super::check::check(&apart, target, &for_apart).expect("legal where they are apart");
        wrong += u32::from(super::check::check(&shared, target, &for_apart).is_err());
        if super::check::check(&one, target, &for_apart).is_err() {
            super::check::check(&shared, target, &for_apart).expect_err("they may be one");
        }
    }
    assert!(reordered > 100 && wrong > 50, "{reordered} {wrong}");
}

#[test]
fn groups_are_contiguous() {
    let source = with_buffers(
        "data x engine(dma); data y engine(dma)
        mm a weights w moving x; mm b weights v moving x; mma a weights w moving y; mma b weights v moving y
        do read a, data h engine(dma); do read b, data g engine(dma)",
    );
    let order = order(&source, "trn2");
    let (before, after) = times(&source, "trn2");
    let place = |number: usize| order.iter().position(|&other| other == number);
    if after < before {
        assert!(place(4) < place(3) || place(5) < place(2), "{order:?}");
    }
}

#[test]
fn nothing_passes_what_it_depends_on() {
    for source in [
        // A START and the last read of other data in its bank.
        "alloc a bank 0 u0..4; alloc b bank 0 u4..8; alloc o sbuf unplaced u0..4
            mm a; do read a, data o engine(scalar); mm b",
        // Tokens.
        "alloc x sbuf unplaced; alloc y sbuf unplaced; t = data x; data y engine(dma) after(t)",
        // A barrier.
        "alloc x sbuf unplaced; alloc y sbuf unplaced; data x; call(?); data y engine(dma)",
        // Two placed buffers in one place.
        "alloc a bank 0; alloc b bank 0; data a; read a engine(scalar); data b engine(dma); read b",
    ] {
        let program = parse(source);
        for seed in 0..50 {
            let options = Options {
                shuffle_seed: Some(seed),
                ..Options::default()
            };
            let plan = plan(&program, target("trn2"), &options).expect("legal input");
            let after = plan.applied_to(&program);
            let instructions = |program: &Program| {
                let insts = program.blocks()[0].insts.iter().copied();
                insts
                    .filter(|&inst| program.inst(inst).is_instruction())
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                instructions(&program),
                instructions(&after),
                "seed {seed}: {source}"
            );
        }
    }
}

#[test]
fn a_second_run_changes_nothing() {
    for seed in 0..2_000 {
        let (program, target) = drawn(seed);
        let (first, makespans) = scheduled(&program, target.name);
        assert!(makespans.iter().all(|times| times.after <= times.before));
        assert!(
            makespans.iter().all(|times| times.bound <= times.after),
            "{makespans:?}"
        );
        let after = first.applied_to(&program);
        let (second, _) = scheduled(&after, target.name);
        assert!(
            second.is_empty(),
            "seed {seed}\n{}=>\n{}",
            text::print(&program),
            text::print(&after)
        );
    }
}

#[test]
fn every_legal_order_legalizes_and_validates() {
    let (mut orders, mut right, mut moved) = (0, 0, 0);
    let profiles = [
        Profile::AUTO,
        Profile {
            reads_back: true,
            ..Profile::AUTO
        },
        Profile {
            regions: true,
            ..Profile::AUTO
        },
    ];
    for seed in 0..2_500 {
        let target = target(["trn1", "trn2", "trn3"][seed as usize % 3]);
        let profile = profiles[seed as usize / 3 % profiles.len()];
        let program = recipe(&mut fastrand::Rng::with_seed(seed), target, profile).build(target);
        let before = values_are_right(&program, target, seed).expect("the input is right");
        for shuffle in 0..4 {
            let options = Options {
                shuffle_seed: Some(seed * 4 + shuffle),
                ..Options::default()
            };
            let plan = plan(&program, target, &options).expect("legal input");
            let after = plan.applied_to(&program);
            orders += 1;
            moved += u64::from(!plan.is_empty());
            if before != Outcome::Right {
                continue;
            }
            let both = || {
                format!(
                    "seed {seed}\n{}=>\n{}",
                    text::print(&program),
                    text::print(&after)
                )
            };
            match values_are_right(&after, target, seed) {
                Ok(Outcome::Right) => right += 1,
                other => panic!("{other:?} {}", both()),
            }
            if let Err(what) = is_accepted(&after, target) {
                panic!("{what} {}", both());
            }
        }
    }
    assert!(
        orders == 10_000 && right > 3_000 && moved > 1_000,
        "{orders} {right} {moved}"
    );
}

/// A small kernel on one of the targets.
fn drawn(seed: u64) -> (Program, &'static Target) {
    let target = target(["trn1", "trn2", "trn3"][seed as usize % 3]);
    (kernel(seed, 3 + (seed / 3 % 8) as u32), target)
}

/// The shortest time of all legal orders of the entry block.
fn optimum(program: &Program, target: &'static Target) -> u64 {
    let areas = super::Areas::new(program, target);
    let block = pto_ir::BlockId::new(0);
    let graph = super::GraphBuilder::new(program, target, &areas).build(block);
    let scheduler = super::Scheduler::new(graph, target);
    let mut waits = super::list::waits(&scheduler.graph);
    let mut order = Vec::new();
    let mut best = u64::MAX;
    search(&scheduler, &mut waits, &mut order, &mut best);
    best
}

fn search(scheduler: &super::Scheduler, waits: &mut [u32], order: &mut Vec<u32>, best: &mut u64) {
    let count = scheduler.graph.nodes.len();
    if order.len() == count {
        *best = scheduler.time(order).min(*best);
        return;
    }
    if !order.is_empty() && scheduler.time(order) >= *best {
        return;
    }
    for node in 0..count as u32 {
        if waits[node as usize] != 0 || order.contains(&node) {
            continue;
        }
        order.push(node);
        for &next in scheduler.graph.successors(node) {
            waits[next as usize] -= 1;
        }
        search(scheduler, waits, order, best);
        for &next in scheduler.graph.successors(node) {
            waits[next as usize] += 1;
        }
        order.pop();
    }
}

#[test]
fn small_blocks_are_near_their_optimum() {
    let (mut blocks, mut excess, mut worst) = (0, 0.0, 1.0f64);
    for seed in 0..1_500 {
        let (program, target) = drawn(seed);
        let count = program
            .insts()
            .iter()
            .filter(|inst| inst.is_instruction())
            .count();
        if count > 8 {
            continue;
        }
        let (_, makespans) = scheduled(&program, target.name);
        let best = optimum(&program, target);
        let [times] = makespans[..] else {
            panic!("one block")
        };
        assert!(times.bound <= best && best <= times.after && times.after <= times.before);
        blocks += 1;
        let ratio = times.after as f64 / best as f64;
        excess += ratio - 1.0;
        worst = worst.max(ratio);
    }
    let mean = excess / f64::from(blocks);
    assert!(blocks > 500, "{blocks}");
    assert!(mean <= 0.05, "mean {mean}, worst {worst}");
    println!("{blocks} blocks: mean {mean:.4} over the optimum, worst {worst:.3}");
}

#[test]
fn the_checker_refuses_orders_that_are_not_legal() {
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..600 {
        let (program, target) = drawn(seed);
        let areas = super::Areas::new(&program, target);
        let block = pto_ir::BlockId::new(0);
        let graph = super::GraphBuilder::new(&program, target, &areas).build(block);
        let insts = &program.blocks()[0].insts;
        let node_of = |inst: InstId| {
            let nodes = graph.nodes.iter();
            nodes
                .enumerate()
                .position(|(_, node)| node.inst == Some(inst))
        };
        for at in 1..insts.len() {
            let (left, right) = (insts[at - 1], insts[at]);
            let is_marker = |inst: InstId| matches!(program.inst(inst).op, Op::Alloc(_));
            if is_marker(left) || is_marker(right) {
                continue;
            }
            let mut order = insts.clone();
            order.swap(at - 1, at);
            let swapped = Plan {
                orders: vec![(block, order)],
                ..Plan::default()
            };
            let (left, right) = (
                node_of(left).expect("a node"),
                node_of(right).expect("a node"),
            );
            // Neighbours meet if one waits for the other, directly or by a join between them.
            let mut reached = vec![left as u32];
            let mut meets = false;
            while let Some(node) = reached.pop() {
                meets |= node == right as u32;
                reached.extend(graph.successors(node));
            }
            let verdict = super::check::check(&program, target, &swapped);
            assert_eq!(
                verdict.is_err(),
                meets,
                "{verdict:?} seed {seed} at {at}\n{}",
                text::print(&program)
            );
            if meets {
                refused += 1;
            } else {
                accepted += 1;
            }
        }
    }
    assert!(refused > 400 && accepted > 1_000, "{refused} {accepted}");
    let (program, target) = drawn(0);
    let mut missing = program.blocks()[0].insts.clone();
    missing.pop();
    let lost = Plan {
        orders: vec![(pto_ir::BlockId::new(0), missing)],
        ..Plan::default()
    };
    assert!(super::check::check(&program, target, &lost).is_err());
}

#[test]
fn many_overlaps_count_as_one_area() {
    // 400 nested views of one buffer, and as many instructions.
    let mut source = String::from("alloc a sbuf unplaced b0..4096\n");
    for view in 1..400 {
        source.push_str(&format!("data a b{}..{}\n", view, 4096 - view));
    }
    let (plan, makespans) = scheduled(&parse(&source), "trn2");
    assert!(plan.is_empty() && makespans[0].after == makespans[0].before);
}
