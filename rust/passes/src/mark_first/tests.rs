use pto_ir::{AccFlags, FunctionMark, Plan, Program, Target};
use pto_testkit::text;

use super::{Options, plan};

fn target() -> &'static Target {
    Target::from_name("trn2").expect("a target")
}

fn marked(source: &str) -> (Program, Plan) {
    let program = text::parse(source).expect("valid text");
    let plan =
        plan(&program, target(), &Options::default()).expect("every function is legal input");
    let after = plan.applied_to(&program);
    let again = super::plan(&after, target(), &Options::default()).expect("legal input");
    assert!(again.is_empty(), "idempotent");
    (after, plan)
}

fn bytes(program: &Program) -> Vec<Option<u8>> {
    let matmuls = program
        .walk()
        .filter_map(|id| program.inst(id).matmul().copied());
    matmuls.map(|m| m.flags.map(AccFlags::byte)).collect()
}

#[test]
fn the_first_of_every_buffer_starts() {
    let (after, plan) = marked(
        "alloc a bank 0 q0..4 u0..4\nalloc b bank 0 q0..4 u4..8
         mm a; mma b; mma a; for { mm b; mma a }; mm a",
    );
    assert_eq!(bytes(&after), [1, 1, 0, 0, 0, 0].map(Some));
    assert!(after.provisional);
    assert_eq!(plan.marks, [(FunctionMark::Provisional, true)]);
}

#[test]
fn old_flags_go_and_regions_stay() {
    let (after, plan) = marked(
        "func f; legalized
         alloc a bank 0 q0..4 u0..4
         mm a acc<start|stop> region 0; mma a acc<start>; mma a acc<none>",
    );
    assert_eq!(bytes(&after), [1, 0, 0].map(Some));
    assert_eq!(plan.acc.len(), 2, "only real changes");
    assert_eq!(plan.acc[0].zero_region, Some(0));
    assert!(!after.legalized);
}

#[test]
fn a_function_without_matmuls_is_left_alone() {
    for source in ["alloc a bank 0 q0..4 u0..4\nmemset a\nread a", "func f"] {
        assert!(marked(source).1.is_empty());
    }
    let declaration = pto_ir::ProgramBuilder::declaration("f");
    let plan = plan(&declaration, target(), &Options::default()).expect("legal input");
    assert!(plan.is_empty());
}

#[test]
fn the_checker_refuses_other_plans() {
    let program =
        text::parse("alloc a bank 0 q0..4 u0..4\nmm a; mma a; memset a").expect("valid text");
    let right = plan(&program, target(), &Options::default()).expect("legal input");
    let check = |plan: &Plan| super::check::check(&program, plan);
    assert!(check(&right).is_ok());
    let mut wrongs = vec![right.clone(); 5];
    wrongs[0].acc.pop();
    wrongs[1].acc[1].flags = Some(AccFlags::START);
    wrongs[2].acc[0].zero_region = Some(0);
    wrongs[3].marks.clear();
    wrongs[4].erase = program.walk().last().into_iter().collect();
    for wrong in wrongs {
        assert!(check(&wrong).is_err(), "{wrong:?}");
    }
}
