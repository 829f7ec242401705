use proptest::prelude::*;
use pto_ir::{Diag, Plan, Target, TextPart};
use pto_testkit::generate::{Profile, strategy};
use pto_testkit::text;

use super::plan;

fn target() -> &'static Target {
    Target::from_name("trn2").expect("a target")
}

fn map(source: &str) -> Result<String, Vec<Diag>> {
    let program = text::parse(source).expect("valid text");
    plan(&program, target()).map(|plan| written(&plan))
}

/// The text with `@N` for the location of instruction N.
fn written(plan: &Plan) -> String {
    let part = |part: &TextPart| match part {
        TextPart::Text(text) => text.clone(),
        TextPart::Name(inst) | TextPart::Location(inst) => format!("@{}", inst.index()),
    };
    plan.text.iter().map(part).collect()
}

#[test]
fn two_groups_in_one_bank() {
    let map = map("func f
        alloc a bank 0 u0..4
        alloc b bank 0 u4..8
        mm a acc<start>
        mma b
        mma a acc<stop>
        read a
        mma b acc<stop>
        read b")
    .expect("placed");
    let row = |text: &str| format!("  bank 0  {0} {0} {0} {0}\n", text);
    let expected = [
        "@f on trn2: 6 instructions, 2 groups\n".to_owned(),
        "#0 at @2: A group 0\n".to_owned(),
        row("AAAA~~~~"),
        "#1-#2 at @3 to @4: A group 0, B group 1\n".to_owned(),
        row("AAAABBBB"),
        "#3 at @5: A group 0, B group 1\n".to_owned(),
        row("aaaaBBBB"),
        "#4 at @6: B group 1\n".to_owned(),
        row("....BBBB"),
        "#5 at @7: B group 1\n".to_owned(),
        row("....bbbb"),
    ];
    assert_eq!(map, expected.concat());
}

#[test]
fn quadrants_data_and_what_is_several() {
    let map = map("func f
        arg   d bank 1 q0..4 u0..1 escapes
        alloc a bank 0 q1..2 u0..8
        alloc s bank 2 q0..4 b0..64
        alloc t bank 2 q0..4 b64..128
        mm a cg1..2
        memset s
        memset t
        do read a, read s, read t")
    .expect("placed");
    assert!(
        map.contains("  bank 0  ........ AAAAAAAA ........ ........\n"),
        "{map}"
    );
    assert!(
        map.contains("  bank 1  #....... #....... #....... #.......\n"),
        "{map}"
    );
    assert!(map.contains("#2-#3 at"), "{map}");
    assert!(
        map.contains("  bank 2  +....... +....... +....... +.......\n"),
        "{map}"
    );
    assert_eq!(
        map.matches("bank 1").count(),
        map.matches(" at ").count(),
        "it escapes"
    );
}

#[test]
fn what_is_dead_is_nothing() {
    let map = map("func f
        alloc a bank 0 u0..8
        memset a
        memset a
        call(?)")
    .expect("placed");
    assert!(map.ends_with("#2 at @3\n  nothing\n"), "{map}");
}

#[test]
fn a_buffer_needs_a_place() {
    let errors = map("func f; alloc a unplaced q0..4 u0..8; mm a").expect_err("no place");
    assert_eq!(errors[0].tag, "pto:unplaced");
}

proptest! {
    #[test]
    fn ranges_follow_each_other(recipe in strategy(target(), Profile::AUTO)) {
        let program = recipe.build(target());
        let plan = plan(&program, target()).expect("recipes are placed");
        prop_assert!(plan.is_empty(), "nothing is changed");
        let text = written(&plan);
        let count = text.split(' ').nth(3).and_then(|count| count.parse::<usize>().ok());
        let mut next = 0;
        for line in text.lines().filter(|line| line.starts_with('#')) {
            let range = line.split(' ').next().unwrap_or_default();
            let numbers: Vec<usize> = range
                .split('-')
                .filter_map(|number| number.trim_start_matches('#').parse().ok())
                .collect();
            prop_assert_eq!(numbers[0], next, "{}", text);
            next = numbers[numbers.len() - 1] + 1;
        }
        prop_assert_eq!(Some(next), count, "{}", text);
    }
}
