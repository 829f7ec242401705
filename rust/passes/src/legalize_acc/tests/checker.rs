//! The checker: what it may not accept.

use pto_ir::{AccFlags, Diag, Inst, NewMemset, Op, Plan, Program, Severity, Target};
use pto_testkit::generate::{self, Profile};
use pto_testkit::oracle::collide::{Queues, collisions};
use pto_testkit::oracle::order::dependences;
use pto_testkit::oracle::{Chooser, Grid, Model, judge, trace};
use pto_testkit::text;

use super::random::{first_seed, rounds};
use super::worked::target;
use crate::legalize_acc::check::{check, replay::is_plainly_right};
use crate::legalize_acc::{Collisions, Options, plan};
use crate::verify_acc;

/// A plan that differs from `plan` in one random place.
fn mutated(plan: &Plan, rng: &mut fastrand::Rng, target: &Target) -> Plan {
    let mut plan = plan.clone();
    let drops_memset = !plan.memsets.is_empty() && rng.u32(0..3) == 0;
    if drops_memset {
        plan.memsets.remove(rng.usize(0..plan.memsets.len()));
        plan.edges.clear();
        return plan;
    }
    let most = if target.has_accumulate { 8 } else { 4 };
    let count = plan.acc.len();
    let edit = &mut plan.acc[rng.usize(0..count)];
    match rng.u32(0..6) {
        0 => edit.zero_region = Some(rng.u8(0..=target.max_zero_region_code)),
        1 => edit.flags = AccFlags::from_byte(rng.u8(0..most)),
        2 => edit.flags = edit.flags.map(|flags| flags.with(AccFlags::START)),
        _ => {
            edit.flags = edit
                .flags
                .and_then(|flags| AccFlags::from_byte(flags.byte() & 6))
        }
    }
    plan
}

/// A plan whose predicates differ in one place, or else [`mutated`].
fn mutated_predicates(plan: &Plan, rng: &mut fastrand::Rng, target: &Target) -> Plan {
    if plan.predicates.is_empty() || rng.bool() {
        return mutated(plan, rng, target);
    }
    let mut plan = plan.clone();
    let index = rng.usize(0..plan.predicates.len());
    let loops = &mut plan.predicates[index].loops;
    if loops.len() > 1 && rng.bool() {
        loops.remove(rng.usize(0..loops.len()));
    } else {
        plan.predicates.remove(index);
    }
    plan
}

fn is_right(program: &Program, plan: &Plan, target: &'static Target) -> bool {
    is_right_on_path(program, plan, target, 0)
}

/// On one path through loops and branches; one that is too long proves nothing.
fn is_right_on_path(program: &Program, plan: &Plan, target: &'static Target, path: u64) -> bool {
    let after = plan.applied_to(program);
    let verdict = judge(program, &after, target, &Model::REQUIRED, path);
    verdict.is_none_or(|verdict| !verdict.is_meaningful() || verdict.is_right())
}

/// Loops that certainly run are replayed. What the replay accepts is right on every path, and the proof
/// over all paths accepts it too, whether the plan is the solver's or a wrong one.
#[test]
fn a_replayed_nest_is_right() {
    let (mut replayed, mut renewed, mut refused) = (0u64, 0u64, 0u64);
    for name in ["trn1", "trn2", "trn3"] {
        let target = target(name);
        for seed in first_seed()..first_seed() + rounds() {
            let mut rng = fastrand::Rng::with_seed(seed);
            let profile = Profile {
                regions: true,
                lives: seed % 2 == 0,
                ..Profile::AUTO
            };
            let program = generate::recipe(&mut rng, target, profile).build(target);
            let Ok(plan) = plan(&program, target, &Options::default()) else {
                continue;
            };
            let has_loop = program.blocks().len() > 1;
            if plan.acc.is_empty() || !has_loop {
                continue;
            }
            let is_in_loop = |inst: &Inst| {
                matches!(inst.op, Op::Alloc(_)) && program.holder(inst.block).is_some()
            };
            let has_alloc = program.insts().iter().any(is_in_loop);
            let mutant = mutated_predicates(&plan, &mut rng, target);
            for plan in [&plan, &mutant] {
                if !is_plainly_right(&program, target, plan) {
                    refused += u64::from(!is_right_on_path(&program, plan, target, seed));
                    continue;
                }
                replayed += 1;
                renewed += u64::from(has_alloc);
                let after = plan.applied_to(&program);
                let text = || format!("{name}, seed {seed}\n{}", text::print(&after));
                let paths = seed..seed + 4;
                assert!(
                    paths
                        .into_iter()
                        .all(|path| is_right_on_path(&program, plan, target, path)),
                    "{}",
                    text()
                );
                let findings = verify_acc::verify(&after, target, &verify_acc::Options::default());
                let is_error = |finding: &&Diag| finding.severity == Severity::Error;
                assert_eq!(findings.iter().find(is_error), None, "{}", text());
            }
        }
    }
    println!(
        "{replayed} replayed, {renewed} with an allocation inside, {refused} wrong ones refused"
    );
    assert!(replayed > rounds() / 20, "loops are replayed: {replayed}");
    assert!(renewed > rounds() / 200, "allocations: {renewed}");
    assert!(refused > rounds() / 20, "mutants are wrong: {refused}");
}

#[test]
fn a_wrong_plan_is_refused() {
    let mut counts = [0u64; 4];
    for name in ["trn2", "trn3"] {
        let target = target(name);
        for seed in first_seed()..first_seed() + rounds() {
            let mut rng = fastrand::Rng::with_seed(seed);
            let program = generate::recipe(&mut rng, target, Profile::AUTO).build(target);
            let Ok(plan) = plan(&program, target, &Options::default()) else {
                continue;
            };
            counts[0] += u64::from(is_plainly_right(&program, target, &plan));
            counts[1] += 1;
            if plan.acc.is_empty() {
                continue;
            }
            let mutant = mutated(&plan, &mut rng, target);
            if is_right(&program, &mutant, target) {
                continue;
            }
            counts[2] += 1;
            let message = || {
                let after = mutant.applied_to(&program);
                let verdict = judge(&program, &after, target, &Model::REQUIRED, 0);
                format!("seed {seed}\n{}\n{verdict:#?}", text::print(&after))
            };
            assert!(
                !is_plainly_right(&program, target, &mutant),
                "{}",
                message()
            );
            assert!(
                check(&program, target, &mutant, Collisions::Leave).is_err(),
                "{}",
                message()
            );
        }
    }
    println!("{counts:?}");
    assert!(
        counts[2] > rounds() / 4,
        "many mutants are wrong: {counts:?}"
    );
}

#[test]
fn the_form_of_a_plan_is_checked() {
    let target = target("trn2");
    let program = text::parse(
        "alloc a bank 0 q0..4 u0..4; alloc b bank 0 q0..4 u4..8
         mm a; mm b; read a; mm a; mma b; mma a; read a; read b",
    )
    .expect("valid text");
    let right = plan(&program, target, &Options::default()).expect("a worked case");
    assert!(check(&program, target, &right, Collisions::Order).is_ok());
    let mut wrongs = vec![right.clone(); 8];
    wrongs[0].erase.push(right.acc[0].inst);
    wrongs[1].acc.insert(0, right.acc[0]);
    wrongs[2].acc[0].flags = AccFlags::from_byte(4);
    wrongs[3].acc[0].zero_region = Some(1);
    wrongs[4].acc[0].flags = None;
    wrongs[5].acc[0].inst = program.blocks()[0].insts[0];
    let reader = *program.blocks()[0].insts.last().expect("not empty");
    wrongs[6].memsets.push(NewMemset {
        at: pto_ir::Anchor::Before(reader),
        target: right.memsets[0].target,
    });
    wrongs[7].edges.push(pto_ir::NewEdge {
        from: pto_ir::EdgeNode::Memset(7),
        to: pto_ir::EdgeNode::Inst(reader),
    });
    for (index, wrong) in wrongs.iter().enumerate() {
        let errors =
            check(&program, target, wrong, Collisions::Order).expect_err("a plan of another form");
        assert_eq!(errors[0].tag, "pto:internal-legalize-acc", "{index}");
    }
}

/// Whether the interpreter's rule finds a collision in the program with `plan`.
fn collides(program: &Program, plan: &Plan, target: &'static Target) -> bool {
    let after = plan.applied_to(program);
    let steps = trace(&after, &mut Chooser::new(0, 3), 1000).expect("short");
    let dependences = dependences(&after, &Grid::new(&[&after], target), &steps);
    !collisions(&after, target, &steps, &dependences, Queues::InOrder).is_empty()
}

#[test]
fn a_plan_without_an_edge_that_is_needed_is_refused() {
    let (mut needed, mut spare) = (0u64, 0u64);
    for seed in first_seed()..first_seed() + rounds() {
        let target = target(["trn1", "trn2", "trn3"][seed as usize % 3]);
        let mut rng = fastrand::Rng::with_seed(seed);
        let program = generate::recipe(&mut rng, target, Profile::AUTO).build(target);
        let Ok(mut plan) = plan(&program, target, &Options::default()) else {
            continue;
        };
        if plan.edges.is_empty() {
            continue;
        }
        plan.edges.remove(rng.usize(0..plan.edges.len()));
        let is_refused = check(&program, target, &plan, Collisions::Order).is_err();
        if collides(&program, &plan, target) {
            needed += 1;
            assert!(
                is_refused,
                "seed {seed}\n{}",
                text::print(&plan.applied_to(&program))
            );
        } else {
            spare += 1;
        }
        assert!(check(&program, target, &plan, Collisions::Leave).is_ok());
    }
    println!("{needed} edges are needed, {spare} are not while queues keep their order");
    assert!(needed > rounds() / 40, "{needed} of {} rounds", rounds());
}
