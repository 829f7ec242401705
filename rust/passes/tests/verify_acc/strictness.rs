//! What is right and rejected all the same, and why.

use pto_ir::{Program, Target};
use pto_passes::verify_acc::{Options, verify};
use pto_testkit::generate::{Profile, recipe};
use pto_testkit::oracle::{Model as Machine, judge};
use pto_testkit::text::{parse, print};

use crate::{BANK, TARGETS, errors, tags, target};

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
