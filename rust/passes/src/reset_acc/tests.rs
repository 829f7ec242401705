use pto_ir::{Plan, Program, Target};
use pto_testkit::text;

use super::{Options, plan};

fn target() -> &'static Target {
    Target::from_name("trn2").expect("a target")
}

fn reset(source: &str) -> (Program, Program, Plan) {
    let program = text::parse(source).expect("valid text");
    let plan =
        plan(&program, target(), &Options::default()).expect("every function is legal input");
    let after = plan.applied_to(&program);
    let again = super::plan(&after, target(), &Options::default()).expect("legal input");
    assert!(again.is_empty(), "idempotent");
    (program, after, plan)
}

const LEGALIZED: &str = "func f; provisional; legalized
    alloc a bank 0 q0..4 u0..4
    t = mm a acc<start|stop> region 0
    for { z = memset a inserted; mma a acc<none> after(inserted t, z) }
    u = memset a
    mma a region 0 after(u, inserted t)
    read a after(inserted u)";

#[test]
fn everything_derived_goes() {
    let (program, after, plan) = reset(LEGALIZED);
    let expected = text::parse(
        "func f
         alloc a bank 0 q0..4 u0..4
         mm a
         for { mma a }
         u = memset a
         mma a after(u)
         read a",
    )
    .expect("valid text");
    // Instructions keep their numbers, and the printed names of tokens come from them.
    assert_eq!(
        text::print(&after).replace("t5", "t4"),
        text::print(&expected)
    );
    assert_eq!(plan.erase.len(), 1);
    assert_eq!(plan.acc.len(), 3);
    assert!(!after.legalized && !after.provisional);
    assert_eq!(program.insts().len(), after.insts().len());
}

#[test]
fn what_is_auto_stays() {
    let source = "alloc a bank 0 q0..4 u0..4\nt = mm a\nmemset a after(t)";
    assert!(reset(source).2.is_empty());
}

#[test]
fn the_checker_refuses_other_plans() {
    let (program, _, right) = reset(LEGALIZED);
    let check = |plan: &Plan| super::check::check(&program, plan);
    assert!(check(&right).is_ok());
    let mut wrongs = vec![right.clone(); 6];
    wrongs[0].acc.pop();
    wrongs[1].erase.clear();
    wrongs[2].erase.extend(program.walk().last());
    wrongs[3].drop_inserted_edges.pop();
    wrongs[4].marks.pop();
    wrongs[5].acc[0].flags = Some(pto_ir::AccFlags::NONE);
    for wrong in wrongs {
        assert!(check(&wrong).is_err(), "{wrong:?}");
    }
}
