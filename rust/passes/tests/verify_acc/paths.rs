//! Loops, branches, jumps, predicates, and questions that are asked more than once.

use pto_ir::Diag;
use pto_passes::verify_acc::{Options, Ties, verify_with};
use pto_testkit::text::parse;

use crate::{BANK, check, errors, tags, target};

#[test]
fn loops_branches_and_jumps() {
    for (text, expected) in [
        (
            "mm a acc<start>; for { mma a acc<none> }; mma a acc<stop>; read a",
            &[][..],
        ),
        ("for 3 { mm a acc<start>; mma a acc<stop>; read a }", &[]),
        (
            "for 3 { mma a acc<start|stop> }; read a",
            &["pto:wrong-mode"],
        ),
        // The second iteration of two is the only other one.
        (
            "for 2 { if(not first 0) { mma a acc<start|stop> } }; read a",
            &[],
        ),
        (
            "for 3 { if(not first 0) { mma a acc<start|stop> } }; read a",
            &["pto:wrong-mode"],
        ),
        // Which iteration is the last no flag can say; a stop that was left out on the straight line is
        // missed.
        ("memset a; for { mma a acc<none> }; read a", &[]),
        (
            "mm a acc<start>; for { mma a acc<none> }; mma a acc<none>; read a",
            &["pto:read-open-group"],
        ),
        ("memset a; for { mma a acc<stop> }; read a", &[]),
        // The running sum: open in all iterations but the last.
        (
            "for 3 { mma a acc<none> start_if(first 0) stop_if(last 0); read a }",
            &["pto:read-open-group"],
        ),
        (
            "for { mma a acc<stop> }; memset b",
            &["pto:accumulate-undefined"],
        ),
        (
            "if { mm a acc<start|stop> } else { data a }; mma a acc<stop>; read a",
            &[],
        ),
        (
            "if { mm a acc<start|stop> } else { }; mma a acc<start|stop>; read a",
            &["pto:wrong-mode"],
        ),
        ("while { read b } do { data b }", &["pto:read-undefined"]),
        (
            "mm a acc<start|stop>; region { ^h: mma a acc<stop>; goto h, x; ^x: read a }; read a",
            &[],
        ),
        (
            "region { mm a acc<start|stop>; goto h; ^h: mma a acc<start|stop>; goto h, x; ^x: read a }",
            &["pto:wrong-mode"],
        ),
        (
            "for 2 { for 2 { mm b acc<start|stop>; read b }; mm a acc<start|stop>; read a }",
            &[],
        ),
        (
            "mm a acc<start|stop>; for 1 { mm b acc<start|stop>; read b }; read a",
            &["pto:start-clobbers"],
        ),
        (
            "mm a acc<start|stop>; for 0 { mm b acc<start|stop>; read b }; read a",
            &[],
        ),
    ] {
        let diags = check("trn2", &format!("{BANK}{text}"));
        assert_eq!(tags(&diags), expected, "{text}\n{diags:#?}");
    }
}

#[test]
fn loops_with_equal_bounds_run_together() {
    for (text, expected) in [
        // The second loop is never the first that runs.
        (
            "for like 0 { mma a acc<none> start_if(first 0) }; for like 0 { mma a acc<none> }; read a",
            &["pto:maybe-undefined"][..],
        ),
        (
            "for { mma a acc<none> start_if(first 0) }; for { mma a acc<none> }; read a",
            &["pto:accumulate-undefined", "pto:maybe-undefined"],
        ),
        // Unrolled around a nest.
        (
            "for 2 { for like 0 { for 2 { mma a acc<none> start_if(first 0,1,2) } } }
             for 2 { for like 0 { mma a acc<none> } }; read a",
            &["pto:maybe-undefined"],
        ),
        // It is known inside a loop that others with its bounds run.
        (
            "for like 0 { alloc c bank 1 u0..4; for like 0 { mma c acc<none> start_if(first 0) }; read c }",
            &[],
        ),
        // Other bounds.
        (
            "for like 0 { mma a acc<none> start_if(first 0) }; for like 1 { mma a acc<none> }
             for like 0 { read a }; for like 1 { read a }",
            &["pto:accumulate-undefined"],
        ),
        // Bounds that are made anew in each iteration: known in one, not from one to the next.
        (
            "for { alloc c bank 1 u0..4; for varying like 0 { mma c acc<none> start_if(first 0) }
                   for varying like 0 { mma c acc<stop>; read c } }",
            &[],
        ),
        (
            "for { alloc c bank 1 u0..4; for varying like 0 { mma c acc<stop> start_if(first 0) }; read c }",
            &["pto:maybe-undefined"],
        ),
        (
            "memset a; for { for varying like 0 { mm b acc<start|stop> }
                   for varying like 0 { mma a acc<none> } }; read a",
            &["pto:start-clobbers"],
        ),
    ] {
        let diags = check("trn2", &format!("{BANK}{text}"));
        let (mut found, expected) = (tags(&diags), expected);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, expected, "{text}\n{diags:#?}");
    }
}

#[test]
fn who_asks_the_same_goes_the_same_way() {
    for (text, expected) in [
        (
            "if like 0 { mm a acc<start|stop> }; if like 0 { read a }",
            &[][..],
        ),
        (
            "if like 0 { mm a acc<start|stop> }; if like 1 { read a }",
            &["pto:read-undefined"],
        ),
        (
            "if like 0 { mm a acc<start|stop> }; if unlike 0 { read a }",
            &["pto:read-undefined"],
        ),
        (
            "if like 0 { mm a acc<start|stop> } else { mm a acc<start|stop>; read a; memset a }
             if unlike 0 { mma a acc<none> } else { mma a acc<stop> }; read a",
            &[],
        ),
        // A region without blocks.
        (
            "if like 0 { mm a acc<start|stop> } -; if like 0 - else { read a }",
            &["pto:read-undefined"],
        ),
        (
            "if { mm a acc<start|stop> } -; read a",
            &["pto:read-undefined"],
        ),
        // In every iteration.
        (
            "for { if like 0 { mm a acc<start|stop> } }; for { if like 0 { memset a }; if like 0 { read a } }",
            &[],
        ),
        // A loop that runs where a branch is taken.
        (
            "for like 0 { mm a acc<start|stop> }; if like 0 { read a }",
            &[],
        ),
        (
            "for like 0 { mm a acc<start|stop> }; if unlike 0 { read a }",
            &["pto:maybe-undefined"],
        ),
        // An answer that each iteration makes anew.
        (
            "for { if varying like 0 { mm a acc<start|stop> }; for { if like 0 { read a } } }",
            &[],
        ),
        (
            "for { if varying like 0 { mm a acc<start|stop> } else { read a } }",
            &["pto:read-undefined"],
        ),
        (
            "for { if like 0 { mm a acc<start|stop> } else { read a } }",
            &["pto:read-undefined"],
        ),
        (
            "switch like 0 { memset b } { mm a acc<start|stop> } { read b }
             switch like 0 { read b } { read a } { memset b }",
            &["pto:read-undefined"],
        ),
        (
            "switch like 0 { memset b } { mm a acc<start|stop> } {}; switch like 0 { read b } { read a } {}",
            &[],
        ),
        // Jumps.
        (
            "goto like 0 b, m; ^b: mm a acc<start|stop>; goto m; ^m: goto like 0 r, e; ^r: read a; goto e; ^e:",
            &[],
        ),
        (
            "goto like 0 b, m; ^b: mm a acc<start|stop>; goto m; ^m: goto unlike 0 r, e; ^r: read a; goto e; ^e:",
            &["pto:read-undefined"],
        ),
        // A condition that is no question.
        ("while(false) { memset a } do { read b }; read a", &[]),
        ("while(true) { memset a } do { read a }; read b", &[]),
        (
            "while { memset a } do { read b }; read a",
            &["pto:read-undefined"],
        ),
    ] {
        let diags = check("trn2", &format!("{BANK}{text}"));
        assert_eq!(tags(&diags), expected, "{text}\n{diags:#?}");
    }
}

/// `count` sums in branches of their own, all begun before the first is read.
fn interleaved(count: usize) -> String {
    let begin = |i| format!("if like {i} {{ mm c{i} acc<start|stop> }}\n");
    let read = |i| format!("if like {i} {{ read c{i} }}\n");
    let alloc = |i| format!("alloc c{i} bank {i} u0..1\n");
    let all: [&dyn Fn(usize) -> String; 3] = [&alloc, &begin, &read];
    all.iter().flat_map(|piece| (0..count).map(piece)).collect()
}

#[test]
fn more_answers_than_are_told_apart_are_not_guessed() {
    for count in [1, 4] {
        assert_eq!(tags(&check("trn2", &interleaved(count))), [""; 0]);
    }
    let text = interleaved(6);
    let without_ties = tags(&check("trn2", &text));
    assert_eq!(without_ties, ["pto:read-undefined"; 2]);
    let program = parse(&text).expect("valid text");
    let (target, options) = (target("trn2"), Options::default());
    let found = verify_with(&program, target, &options, Ties::default);
    assert_eq!(tags(&found), ["pto:not-provable"; 2], "no run goes wrong");
}

#[test]
fn predicates_of_first_and_last_iterations_are_proved() {
    let nested = |depth: usize, body: &str| {
        format!(
            "{}{body}{}; read a",
            "for 3 { ".repeat(depth),
            " }".repeat(depth)
        )
    };
    let first = |levels: &str, stop: &str| {
        format!("mma a acc<none> start_if(first {levels}) stop_if(last {stop})")
    };
    for text in [
        nested(1, &first("0", "0")),
        nested(2, &first("0,1", "0,1")),
        nested(4, &first("0,1,2,3", "0,1,2,3")),
        // Two members: the first starts, the second closes.
        "for 3 { mma a acc<none> start_if(first 0); mma a acc<none> stop_if(last 0) }; read a"
            .into(),
        // The overwriting arm of a branch on the first iteration.
        "for 3 { if(first 0) { mm a acc<start> } else { mma a acc<none> } }; read a".into(),
        "for 3 { if(not first 0) { mma a acc<none> } else { mm a acc<start> } }; read a".into(),
        // The allocation is outside the inner loop only.
        "for 3 { for 3 { mma a acc<none> start_if(first 0) stop_if(last 0) }; read a; dealloc a }"
            .into(),
        "for 1 { mma a acc<start|stop> }; read a".into(),
    ] {
        let diags = check("trn2", &format!("{BANK}{text}"));
        let open: Vec<&Diag> = diags
            .iter()
            .filter(|diag| diag.tag != "pto:read-open-group")
            .collect();
        assert!(open.is_empty(), "{text}: {open:?}");
    }
}

#[test]
fn wrong_predicates_are_errors() {
    for (text, tag) in [
        (
            "for 3 { for 3 { mma a acc<none> start_if(first 0) } }; read a",
            "pto:wrong-mode",
        ),
        ("for 3 { mma a acc<start> }; read a", "pto:wrong-mode"),
        (
            "for 3 { mma a acc<none> start_if(not first 0) }; read a",
            "pto:accumulate-undefined",
        ),
        (
            "mm a acc<start>; for 3 { mma a acc<none> start_if(first 0) }; read a",
            "pto:wrong-mode",
        ),
        (
            "mm b acc<start|stop>; for 3 { mma a acc<none> start_if(first 0) }; read a; read b",
            "pto:start-clobbers",
        ),
        (
            "for 3 { if(first 0) { mma a acc<none> } else { mma a acc<none> } }; read a",
            "pto:accumulate-undefined",
        ),
    ] {
        let diags = check("trn2", &format!("{BANK}{text}"));
        assert!(errors(&diags).contains(&tag), "{text}: {diags:?}");
    }
}
