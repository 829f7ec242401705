//! `verify_acc` against cases worked by hand and against the oracle.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use pto_ir::{Diag, Program, Severity, Target};
use pto_passes::verify_acc::{Extent, Model, Options, is_proved, verify};
use pto_testkit::generate::{Profile, Recipe, recipe, shrink, strategy};
use pto_testkit::oracle::{Model as Machine, judge};
use pto_testkit::properties::verifier_agrees;
use pto_testkit::text::{parse, print};

const TARGETS: [&str; 3] = ["trn1", "trn2", "trn3"];

fn target(name: &str) -> &'static Target {
    Target::from_name(name).expect("a target")
}

fn check(name: &str, text: &str) -> Vec<Diag> {
    verify(
        &parse(text).expect("valid text"),
        target(name),
        &Options::default(),
    )
}

fn tags(diags: &[Diag]) -> Vec<&'static str> {
    diags.iter().map(|diag| diag.tag).collect()
}

fn errors(diags: &[Diag]) -> Vec<&'static str> {
    tags(
        &diags
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .cloned()
            .collect::<Vec<_>>(),
    )
}

const BANK: &str = "alloc a bank 0 u0..4; alloc b bank 0 u4..8\n";

#[test]
fn right_flags_are_proved() {
    for (name, text) in [
        (
            "trn2",
            "mm a acc<start>; mma a acc<none>; mma a acc<stop>; read a",
        ),
        (
            "trn2",
            "mm a acc<start>; mm b acc<none>; mma a acc<stop>; mma b acc<stop>; read a; read b",
        ),
        (
            "trn2",
            "mm a acc<start>; mma a acc<stop>; read a; mm b acc<start|stop>; read b",
        ),
        (
            "trn2",
            "memset a; mma a acc<start>; mma a acc<stop>; read a",
        ),
        (
            "trn3",
            "data a; mma a acc<accumulate>; mma a acc<stop|accumulate>; read a",
        ),
        ("trn2", "data a; mma a acc<none>; mma a acc<stop>; read a"),
        (
            "trn2",
            "memset a inserted; mma a acc<none>; mma a acc<stop>; read a",
        ),
        ("trn2", "memset a; mma a acc<none>; mma a acc<stop>; read a"),
        (
            "trn2",
            "mm a acc<start|stop>; mma a u0..2 acc<stop>; read a",
        ),
    ] {
        assert_eq!(
            tags(&check(name, &format!("{BANK}{text}"))),
            [""; 0],
            "{text}"
        );
    }
}

/// Programs with one mistake each, and what is said of them.
const WRONG: &[(&str, &str, &[&str])] = &[
    (
        "trn2",
        "mm a acc<stop>; read a",
        &["pto:accumulate-undefined"],
    ),
    (
        "trn2",
        "mm a acc<start>; mma a acc<start|stop>; read a",
        &["pto:wrong-mode"],
    ),
    (
        "trn2",
        "mm a acc<start|stop>; mm b acc<start|stop>; read a; read b",
        &["pto:start-clobbers"],
    ),
    (
        "trn2",
        "mm a acc<start>; mm b acc<start|stop>; mma a acc<stop>; read a; read b",
        &["pto:start-clobbers"],
    ),
    (
        "trn2",
        "mm a acc<start|stop>; read a; mm a acc<stop>; read a",
        &["pto:wrong-mode"],
    ),
    ("trn2", "mm a acc<start>; read a", &["pto:read-open-group"]),
    (
        "trn2",
        "mm a acc<start>; data a; read a",
        &["pto:lost-partial"],
    ),
    ("trn2", "read a", &["pto:read-undefined"]),
    (
        "trn2",
        "mm b acc<start|stop>; read a; read b",
        &["pto:read-pending"],
    ),
    ("trn2", "mm a", &["pto:auto-flags"]),
    (
        "trn2",
        "alloc c unplaced p0..128 b0..64; read c",
        &["pto:unplaced"],
    ),
    ("trn2", "mm a acc<accumulate>", &["pto:target-limit"]),
    (
        "trn2",
        "mm a acc<start|stop> region 2",
        &["pto:target-limit"],
    ),
    ("trn3", "mm a acc<start|accumulate>", &["pto:target-limit"]),
    ("nogroup", "mm a acc<start>", &["pto:target-limit"]),
    (
        "trn2",
        "mm a acc<start|stop>; mma a from b acc<stop>",
        &["pto:accumulator-elsewhere"],
    ),
    (
        "trn2",
        "mm a q1..2 cg2..3 acc<start|stop>",
        &["pto:accumulate-undefined", "pto:tile-position"],
    ),
    (
        "trn2",
        "mm a acc<start|stop>; call(0); read a",
        &["pto:call"],
    ),
    (
        "trn2",
        "mm a acc<start|stop>; call(?); read a",
        &["pto:call"],
    ),
    (
        "trn2",
        "for { mm a acc<start|stop> }; read a",
        &["pto:maybe-undefined"],
    ),
    (
        "trn2",
        "if { mm a acc<start|stop> }; read a",
        &["pto:read-undefined"],
    ),
    (
        "trn2",
        "mm a acc<start>; for { mma a acc<start> }; mma a acc<stop>; read a",
        &["pto:wrong-mode"],
    ),
    (
        "trn2",
        "for 4 { mma a start_if stop_if }; read a",
        &["pto:not-provable", "pto:not-provable"],
    ),
    (
        "trn2",
        "mm a start_if acc<stop>; read a",
        &["pto:not-provable"],
    ),
];

#[test]
fn every_mistake_is_named_with_two_sites() {
    for (name, text, expected) in WRONG {
        let diags = check(name, &format!("{BANK}{text}"));
        let mut found = tags(&diags);
        found.sort_unstable();
        assert_eq!(found, *expected, "{text}\n{diags:#?}");
        for diag in diags.iter().filter(|diag| diag.tag != "pto:target-limit") {
            assert!(
                diag.notes.iter().any(|(site, _)| *site != diag.site),
                "{text}: {diag:?}"
            );
        }
    }
}

#[test]
fn sites_are_those_of_the_mistake() {
    let text = "alloc a bank 0 u0..4; alloc b bank 0 u4..8
        mm a q0..2 cg0..2 acc<start|stop>; data b q0..1; mm b acc<start|stop>; read a q0..2";
    let diags = check("trn2", text);
    let message = diags[0].text();
    assert_eq!(
        message,
        "expected a value that is still needed here, found that a later start clears it: \
         partitions 0..64, bytes 0..1024 of the buffer [pto:start-clobbers]"
    );
}

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
fn buffers_in_one_place() {
    let place = "alloc a bank 0 u0..4; alloc b bank 0 u0..4\n";
    for (text, expected) in [
        (
            "mm a acc<start|stop>; read a; mm b acc<start|stop>; read b",
            &[][..],
        ),
        (
            "mm a acc<start|stop>; data b; read a; read b",
            &["pto:overlapping-allocs"],
        ),
        (
            "data a; data b; mma a acc<stop>",
            &["pto:overlapping-allocs"],
        ),
        (
            "for { mm a acc<start|stop>; read a; mm b acc<start|stop>; read b }",
            &[],
        ),
        ("if { data a } else { data b }; data a; read a", &[]),
        (
            "if { data a } else { data b }; read b",
            &["pto:read-undefined"],
        ),
        // A dead value is in nobody's way, though a loop may leave it there.
        ("data a; read a; for { data b }; read b", &[]),
        (
            "data a; for { data b }; read b; read a",
            &["pto:overlapping-allocs", "pto:overlapping-allocs"],
        ),
        (
            "data a; for 2 { read a; data b; read b }",
            &["pto:overlapping-allocs"],
        ),
        (
            "mm a acc<start|stop>; read a; mma b acc<stop>; read b",
            &["pto:wrong-mode"],
        ),
        // Nobody asks for what the iteration before left, nor for what stood there before the loop.
        (
            "data a; read a; for 4 { alloc c bank 0 u0..4; for { mm c acc<start|stop> }; read c }",
            &[],
        ),
        // The branch is there for the first iteration alone, and so is the use in it.
        (
            "for 3 { if(first 0) { mm a acc<start|stop> } }; for { mm b acc<start|stop> }; read b",
            &[],
        ),
        (
            "data a; for 3 { data b; if(first 0) { mma a acc<start|stop> } }; read b",
            &["pto:overlapping-allocs"],
        ),
    ] {
        let diags = check("trn2", &format!("{place}{text}"));
        assert_eq!(errors(&diags), expected, "{text}\n{diags:#?}");
    }
}

#[test]
fn zero_regions_of_several_banks() {
    let wide = "alloc a bank 1 q0..4 u0..16; alloc b bank 3 u0..8\n";
    for (text, expected) in [
        ("mm a acc<start|stop> region 2; read a", &[][..]),
        ("mm a acc<start|stop>; read a", &[]),
        (
            "mm a acc<start|stop> region 0; read a",
            &["pto:accumulate-undefined"],
        ),
        (
            "mm a acc<start|stop> region 1; read a",
            &["pto:accumulate-undefined"],
        ),
        (
            "mm b acc<start|stop>; mm a acc<start|stop>; read a; read b",
            &["pto:start-clobbers"],
        ),
        (
            "mm a acc<start|stop>; mm b acc<start|stop>; read a; read b",
            &[],
        ),
    ] {
        let diags = check("trn3", &format!("{wide}{text}"));
        assert_eq!(errors(&diags), expected, "{text}\n{diags:#?}");
    }
}

#[test]
fn one_machine_at_a_time() {
    let program = |text: &str| parse(text).expect("valid text");
    let neighbour = program(&format!(
        "{BANK}mm a acc<start|stop>; mm b q0..1 cg0..1 acc<start|stop>; read a q1..4"
    ));
    let tall = program(
        "alloc a bank 0 q0..1 u0..4; alloc b bank 0 q1..4 u0..4
        data b; mm a acc<start|stop>; read b",
    );
    let seeded = program(&format!("{BANK}data a; mma a acc<stop>; read a"));
    let run = |program: &Program, model, extent, sticky| {
        let options = Options {
            model,
            extent,
            sticky,
            ..Options::default()
        };
        tags(&verify(program, target("trn2"), &options))
    };
    assert_eq!(run(&neighbour, Model::Both, Extent::Both, false), [""; 0]);
    assert_eq!(run(&tall, Model::Both, Extent::Dst, false), [""; 0]);
    assert_eq!(
        run(&tall, Model::Both, Extent::Group, false),
        ["pto:start-clobbers"]
    );
    assert_eq!(
        run(&tall, Model::EagerZero, Extent::Both, false),
        ["pto:start-clobbers"]
    );
    assert_eq!(run(&seeded, Model::Both, Extent::Both, false), [""; 0]);
    assert_eq!(
        run(&seeded, Model::Both, Extent::Both, true),
        ["pto:seeded-accumulate"]
    );
}

#[test]
fn nothing_is_too_deep_or_too_strange() {
    let nest = format!(
        "{BANK}{}mma a acc<stop>{}",
        "for {".repeat(10_000),
        "}".repeat(10_000)
    );
    assert_eq!(tags(&check("trn2", &nest)), ["pto:accumulate-undefined"]);
    assert_eq!(tags(&check("trn2", "declare f")), [""; 0]);
    assert_eq!(
        tags(&check(
            "trn2",
            "func f; if - -; for -; region { ^a: goto a }"
        )),
        [""; 0]
    );
    assert_eq!(
        tags(&check("trn2", "alloc a unplaced p0..128 b0..64; read a")),
        ["pto:unplaced"]
    );
    for text in [
        "alloc a bank 7 p0..128 b0..4096; read a",
        "alloc a bank 4000000000 p0..128 b0..64; read a",
        "alloc a bank 0 p0..128 b0..64; read a p0..4000000000",
    ] {
        assert_eq!(tags(&check("trn2", text)), ["pto:target-limit"], "{text}");
    }
}

/// The disagreement with the oracle, if there is one.
fn disagreement(target: &'static Target, recipe: &Recipe, paths: u64) -> Option<String> {
    let program = recipe.build(target);
    verifier_agrees(&program, target, paths, recipe.reads_back).err()
}

/// Searches programs of `profile` for a disagreement, and shrinks it.
fn search(profile: Profile, seeds: std::ops::Range<u64>, paths: u64) {
    let (mut proved, mut refused) = (0, 0);
    for seed in seeds {
        let target = target(TARGETS[seed as usize % 3]);
        let drawn = recipe(&mut fastrand::Rng::with_seed(seed), target, profile);
        if disagreement(target, &drawn, paths).is_some() {
            let small = shrink(&drawn, |recipe| {
                disagreement(target, recipe, paths).is_some()
            });
            let what = disagreement(target, &small, paths).unwrap_or_default();
            panic!("{} (seed {seed})\n{what}", target.name);
        }
        let program = drawn.build(target);
        let diags = verify(&program, target, &Options::default());
        let matmuls = program
            .insts()
            .iter()
            .filter(|inst| inst.matmul().is_some())
            .count();
        proved += usize::from(matmuls > 1 && is_proved(&diags));
        refused += usize::from(!errors(&diags).is_empty());
    }
    assert!(
        proved > 100 && refused > 100,
        "{proved} proved, {refused} refused: says little"
    );
}

#[test]
fn agrees_with_the_oracle_on_random_flags() {
    search(
        Profile {
            reads_back: true,
            ..Profile::FLAGGED
        },
        0..10_000,
        1,
    );
    search(Profile::FLAGGED, 0..5_000, 1);
}

#[test]
fn agrees_with_the_oracle_on_loops_and_branches() {
    let profile = Profile {
        regions: true,
        steps: 10,
        ..Profile::FLAGGED
    };
    search(profile, 0..3_000, 8);
}

/// Whether every one of `paths` paths through `program` has a meaning, and all machines do it.
fn is_right(program: &Program, target: &'static Target, paths: u64) -> bool {
    (0..paths).all(|seed| {
        let verdict = judge(program, program, target, &Machine::REQUIRED, seed);
        verdict.is_some_and(|verdict| verdict.is_meaningful() && verdict.is_right())
    })
}

/// `program` without what says which paths it takes: any loop may run any number of times, any branch may
/// be taken.
fn freed(program: &Program) -> Program {
    let is_loop_head = |line: &str| line.trim_start().starts_with("for ");
    let is_branch = |line: &str| line.trim_start().starts_with("if(");
    let free = |line: &str| match line.trim_start() {
        _ if is_loop_head(line) => "for {".to_owned(),
        _ if is_branch(line) => "if {".to_owned(),
        other => other.to_owned(),
    };
    let text: Vec<String> = print(program).lines().map(free).collect();
    parse(&text.join("\n")).expect("still a program")
}

/// `program` with a read of every destination after its matmul.
fn read_back(program: &Program) -> Program {
    let mut text = String::new();
    for line in print(program).lines() {
        text.extend([line, "\n"]);
        let matmul = line.split_once("mm ").or_else(|| line.split_once("mma "));
        if let Some((_, operands)) = matmul {
            let mut words = operands.split(' ');
            let name = words.next().unwrap_or_default();
            let is_range = |word: &&str| word.contains("..") && !word.contains('(');
            let ranges: Vec<&str> = words.take_while(is_range).collect();
            text.push_str(&format!("read {name} {}\n", ranges.join(" ")));
        }
    }
    parse(&text).expect("still a program")
}

/// Looks at programs that are right on all paths looked at: each that is rejected must be so for a path that
/// it never takes, or for a value that nobody reads. Returns how many are right and how many of them rejected.
fn rejections_are_explained(profile: Profile, seeds: u64) -> (u32, u32) {
    let (mut right, mut rejected) = (0, 0);
    for seed in 0..seeds {
        let target = target(TARGETS[seed as usize % 3]);
        let program = recipe(&mut fastrand::Rng::with_seed(seed), target, profile).build(target);
        if !is_right(&program, target, 24) {
            continue;
        }
        right += 1;
        let found = verify(&program, target, &Options::default());
        if errors(&found).is_empty() {
            continue;
        }
        rejected += 1;
        let explained = [
            freed(&program),
            read_back(&program),
            read_back(&freed(&program)),
        ];
        let is_explained = explained.iter().any(|other| !is_right(other, target, 400));
        assert!(is_explained, "seed {seed}: {found:#?}\n{}", print(&program));
    }
    (right, rejected)
}

#[test]
fn what_is_right_is_rejected_for_the_reasons_listed_alone() {
    let profile = Profile {
        regions: true,
        lives: false,
        ..Profile::FLAGGED
    };
    let (right, rejected) = rejections_are_explained(profile, 12_000);
    println!("{rejected} of {right} programs that are right are rejected");
    assert!(right > 1_000 && rejected > 20, "{rejected} of {right}");
    let complete = Profile {
        reads_back: true,
        ..profile
    };
    let (right, rejected) = rejections_are_explained(complete, 12_000);
    println!("{rejected} of {right} that read all they write");
    assert!(right > 1_000, "{right}");
}

/// Programs that are right on all their paths, and what is said of them all the same: for each kind that
/// docs/passes/verify-acc.md lists.
const TOO_STRICT: [(&str, &str); 5] = [
    // A wrong mode on a cell that nobody reads afterwards.
    (
        "mm a acc<start|stop>; read a; mma a acc<start|stop>",
        "pto:wrong-mode",
    ),
    // Paths that the function never takes: two branches on one condition.
    (
        "for 3 { if(last 0) { data a }; if(last 0) { read a } }",
        "pto:read-undefined",
    ),
    // Zeros that outlive the function, and whose cells are left pending.
    (
        "arg c bank 1 u0..4 fresh escapes; alloc d bank 1 u4..8; memset c; mm d acc<start|stop>; read d",
        "pto:start-clobbers",
    ),
    // A predicate of which nothing is known.
    (
        "mm a acc<start|stop>; read a; mm a acc<none> start_if; read a",
        "pto:not-provable",
    ),
    // More first iterations than are told apart.
    ("DEEP", "pto:not-provable"),
];

#[test]
fn each_kind_of_needless_rejection_has_an_example() {
    let deep = format!(
        "{}mma a acc<none> start_if(first 0,1,2,3,4,5,6,7) {}; read a",
        "for 3 { ".repeat(8),
        "}".repeat(8)
    );
    for (text, tag) in TOO_STRICT {
        let text = format!("{BANK}{}", if text == "DEEP" { &deep } else { text });
        let program = parse(&text).expect("valid text");
        let found = verify(&program, target("trn2"), &Options::default());
        assert!(tags(&found).contains(&tag), "{text}: {found:#?}");
        // What hangs on a predicate may be right; what no run ends on time nobody looks at.
        if tag != "pto:not-provable" {
            assert!(is_right(&program, target("trn2"), 24), "{text}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn agrees_with_the_oracle(recipe in strategy(target("trn3"), Profile { reads_back: true, ..Profile::FLAGGED })) {
        proptest::prop_assert_eq!(disagreement(target("trn3"), &recipe, 1), None);
    }
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
