//! What the pass refuses, warns of, honours and explains.

use pto_ir::{Diag, Program, Severity, Site};
use pto_testkit::text;

use super::worked::{HALVES, outcome, target};
use crate::legalize_acc::{Collisions, Loops, Options, Profile, Stop, plan};

fn parse(source: &str) -> Program {
    text::parse(source).expect("valid text")
}

fn diags(source: &str, name: &str, options: &Options) -> Vec<Diag> {
    match plan(&parse(source), target(name), options) {
        Ok(plan) => plan.diags,
        Err(errors) => errors,
    }
}

const STRICT: Options = Options {
    profile: Profile::Sound,
    strict: true,
    stop: Stop::Chain,
    remarks: false,
    report: false,
    loops: Loops::Predicate,
    collisions: Collisions::Order,
};

/// Target, program, and the tag of the one error.
const REFUSED: &[(&str, &str, &str)] = &[
    ("trn2", "alloc a unplaced q0..4 u0..4\nmm a", "pto:unplaced"),
    (
        "trn2",
        "arg b unplaced q0..4 u0..4\nalloc a bank 0 q0..4 u0..4\nmm a",
        "pto:unplaced",
    ),
    (
        "trn2",
        "alloc a bank 9 q0..4 u0..4\nmm a",
        "pto:target-limit",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..16\nmm a",
        "pto:multi-bank",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..16\nmm a u7..9",
        "pto:multi-bank",
    ),
    (
        "trn2",
        "alloc a bank 0 q1..2 u0..4\nmm a",
        "pto:tile-position",
    ),
    (
        "trn2",
        "alloc a bank 0 q1..2 u0..4\nmm a tile(128,32)@(0,64)",
        "pto:tile-position",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..2 u0..4\nmm a tile(128,32)@(0,0)",
        "pto:tile-position",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4\nmm a; read a p16..48",
        "pto:start-partition",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4\nmm a; memset a p8..9",
        "pto:start-partition",
    ),
    // A matmul over 48 partitions begins 16 that no memset reaches: 16 may start at a quadrant only.
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4; alloc b bank 0 q0..4 u4..8
         data b; mma a p0..16; mma a p0..48; read a p0..32; read b",
        "pto:start-partition",
    ),
    (
        "trn1",
        "alloc a bank 0 q3..4 u0..4\nmm a cg3..4",
        "pto:target-limit",
    ),
    (
        "trn1",
        "alloc a bank 0 q0..1 u0..4\nmm a tile(32,32)@(0,0)",
        "pto:target-limit",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4\nmm a acc<accumulate>",
        "pto:target-limit",
    ),
    (
        "trn3",
        "alloc a bank 0 q0..4 u0..4\nmm a acc<start|accumulate>",
        "pto:target-limit",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4\nmm a acc<start> region 1",
        "pto:target-limit",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4; alloc b bank 1 q0..4 u0..4\nmm b; mma a from b",
        "pto:accumulator-elsewhere",
    ),
    (
        "trn2",
        "alloc s sbuf unplaced p0..128 b0..64\nmm s",
        "pto:accumulator-elsewhere",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4\nmm a start_if; mma a",
        "pto:control-flow",
    ),
    // Two buffers in one place, both wanted.
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4; alloc b bank 0 q0..4 u2..6\nmm a; mm b; read a; read b",
        "pto:overlapping-allocs",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4; alloc b bank 0 q0..4 u2..6\ndata a; data b; mma a; read a",
        "pto:overlapping-allocs",
    ),
    (
        "trn2",
        "arg a bank 0 q0..4 u0..4 escapes; alloc b bank 0 q0..4 u0..4\nmm b; read b",
        "pto:overlapping-allocs",
    ),
    (
        "trn2",
        "arg a bank 0 q0..4 u0..4; arg b bank 0 q0..4 u0..4; alloc c bank 1 q0..4 u0..4\nmm c",
        "pto:overlapping-allocs",
    ),
    // A call across live data.
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4\nmm a; call(?); read a",
        "pto:call",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4\nmm a; call(0,1); read a",
        "pto:call",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4\nmm a; if { call(?) }; read a",
        "pto:call",
    ),
    (
        "trn2",
        "alloc b bank 0 q0..4 u0..4\ndata b; for 2 { alloc a bank 1 q0..4 u0..4; mm a; read a; call(0) }; read b",
        "pto:call",
    ),
    // Fresh or written, and another buffer's data is in the way.
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4; alloc b bank 0 q0..4 u0..4
         if { data a; read a } else { data b }; mma b; read b",
        "pto:control-flow",
    ),
    // Explicit flags that are wrong.
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4\nmm a acc<none>; read a",
        "pto:unsound-flags",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4; alloc b bank 0 q0..4 u4..8
         mm a acc<start>; mm b acc<start>; read a; read b",
        "pto:unsound-flags",
    ),
    (
        "trn2",
        "alloc a bank 0 q0..4 u0..4\nmm a acc<start>; mma a acc<start|stop>; read a",
        "pto:unsound-flags",
    ),
    (
        "trn3",
        "alloc a bank 0 q0..4 u0..8; alloc b bank 1 q0..4 u0..8
         data b; mm a acc<start|stop> region 1; read a; read b",
        "pto:unsound-flags",
    ),
    (
        "trn3",
        "alloc a bank 0 q0..4 u0..16\nmm a acc<start|stop> region 0; read a",
        "pto:unsound-flags",
    ),
];

#[test]
fn refused_with_a_note_at_the_other_site() {
    for (name, source, tag) in REFUSED {
        let errors = diags(source, name, &Options::default());
        let first = errors
            .first()
            .unwrap_or_else(|| panic!("accepted: {source}"));
        assert_eq!(
            (first.tag, first.severity),
            (*tag, Severity::Error),
            "{source}: {errors:#?}"
        );
        let says_what = first.message.starts_with("expected") && first.message.contains("found");
        assert!(says_what, "{}", first.message);
        let has_note = first.notes.iter().any(|(site, _)| *site != first.site);
        let is_local = ["pto:target-limit", "pto:unplaced"].contains(tag);
        assert!(has_note || is_local, "{source}: {first:#?}");
    }
}

#[test]
fn all_faults_of_a_function_at_once() {
    let source = "alloc a bank 0 q0..4 u0..16; alloc b unplaced q0..4 u0..4
                  mm a; mm a start_if; mm b";
    let tags: Vec<_> = diags(source, "trn2", &Options::default())
        .iter()
        .map(|diag| diag.tag)
        .collect();
    assert_eq!(tags, ["pto:multi-bank", "pto:unplaced"]);
}

#[test]
fn buffers_may_share_bytes_one_after_the_other() {
    let two = "alloc a bank 0 q0..4 u0..4; alloc b bank 0 q0..4 u2..6\n";
    for (rest, expected) in [
        ("mm a; read a; mm b; read b", "3 3"),
        ("mm a; mm b; read b", "3 3"),
        (
            "mm a; read a u0..2; mm b; read b; data a; read a",
            "3 3 1>2",
        ),
        // The half of a that b left alone is still wanted, so b may not start.
        ("mm a; mm b; read a u0..2; read b", "3 z2 1>2"),
        ("data a; read a; mma b; read b", "3"),
    ] {
        assert_eq!(outcome(&format!("{two}{rest}"), "trn2"), expected, "{rest}");
    }
}

#[test]
fn explicit_flags_are_honoured() {
    for (source, expected) in [
        // Not what the pass would choose, but right.
        (
            "mm a acc<start>; mma a acc<none>; mma a acc<stop>; read a",
            "1/? 0/? 2/?",
        ),
        (
            "mm a acc<none> region 0; memset b; read b",
            "error pto:unsound-flags",
        ),
        ("memset a; mm a acc<none> region 0; read a", "0"),
        (
            "mm a acc<start|stop> region 0; read a; mm b; read b",
            "3 3 1>2",
        ),
    ] {
        assert_eq!(
            outcome(&format!("{HALVES}{source}"), "trn2"),
            expected,
            "{source}"
        );
    }
    // Where only the region of an explicit START was left out, it is filled in.
    let wide = "alloc a bank 1 q0..4 u0..16\nmm a acc<start|stop>; read a";
    assert_eq!(outcome(wide, "trn3"), "3/2");
}

#[test]
fn a_mix_is_derived_anew() {
    let harmless = format!("{HALVES}mm a acc<start>; mma a; mma a acc<stop> region 0; read a");
    assert_eq!(outcome(&harmless, "trn2"), "1 0 2");
    let source = format!("{HALVES}mm a acc<start|stop>; mma a; mma a acc<start>; read a");
    assert_eq!(
        outcome(&source, "trn2"),
        "1 0 2 pto:mixed-flags pto:mixed-flags"
    );
    let warnings = diags(&source, "trn2", &Options::default());
    assert!(
        warnings
            .iter()
            .all(|diag| diag.severity == Severity::Warning)
    );
    assert_eq!(warnings[0].notes[0].1, "this one has none");
    let errors = diags(&source, "trn2", &STRICT);
    assert!(
        errors
            .iter()
            .all(|diag| diag.severity == Severity::Error && diag.tag == "pto:mixed-flags")
    );
}

#[test]
fn provisional_flags_are_auto() {
    let source =
        format!("func f; provisional\n{HALVES}mm a acc<start>; mm b acc<start>; read a; read b");
    let program = parse(&source);
    let plan = plan(&program, target("trn2"), &Options::default()).expect("auto");
    assert!(plan.diags.is_empty());
    let after = plan.applied_to(&program);
    assert!(!after.provisional && after.legalized);
    let bytes: Vec<u8> = after
        .walk()
        .filter_map(|id| after.inst(id).matmul()?.flags)
        .map(pto_ir::AccFlags::byte)
        .collect();
    assert_eq!(bytes, [3, 2]);
}

#[test]
fn data_seeds_warn_where_pending_bits_may_stay() {
    let source = format!("{HALVES}data a; mma a; mma a; data b; mma b; read a; read b");
    let warnings = diags(&source, "trn2", &Options::default());
    assert_eq!(warnings.len(), 2, "one a chain");
    let program = parse(&source);
    for warning in &warnings {
        assert_eq!(warning.tag, "pto:seeded-accumulate");
        let Site::Inst(data) = warning.notes[0].0 else {
            panic!("a note at the data");
        };
        assert_eq!(program.uses(data)[0].kind, pto_ir::UseKind::Write);
    }
    assert!(diags(&source, "trn3", &Options::default()).is_empty());
    let errors = diags(&source, "trn1", &STRICT);
    assert!(errors.iter().all(|diag| diag.severity == Severity::Error));
    let zeros = format!("{HALVES}memset a; mma a; memset b; mma b; read a; read b");
    assert!(diags(&zeros, "trn2", &STRICT).is_empty());
}

#[test]
fn nothing_to_do() {
    for source in [
        "func f",
        "alloc a bank 0 q0..4 u0..4\ndata a; read a",
        "alloc a unplaced q0..4 u0..4\ndata a",
    ] {
        let plan = plan(&parse(source), target("trn2"), &Options::default()).expect("no matmul");
        assert!(plan.is_empty() && plan.diags.is_empty(), "{source}");
    }
    let declaration = pto_ir::ProgramBuilder::declaration("f");
    let plan = plan(&declaration, target("trn2"), &Options::default()).expect("no body");
    assert!(plan.is_empty());
}

#[test]
fn a_target_without_groups_is_reset() {
    let source = format!("func f; legalized\n{HALVES}mm a acc<start|stop> region 0; mm b");
    let program = parse(&source);
    let plan = plan(&program, target("nogroup"), &Options::default()).expect("always possible");
    let after = plan.applied_to(&program);
    assert!(
        after
            .walk()
            .filter_map(|id| after.inst(id).matmul())
            .all(|m| m.flags.is_none())
    );
    assert!(!after.legalized && plan.diags.is_empty());
}

#[test]
fn stop_of_a_cluster() {
    let source = format!("{HALVES}mm a; mm b; mma a; mma b; read a; read b");
    let options = Options {
        stop: Stop::Cluster,
        ..Options::default()
    };
    let program = parse(&source);
    let plan = plan(&program, target("trn2"), &options).expect("a worked case");
    let bytes: Vec<u8> = plan
        .acc
        .iter()
        .filter_map(|e| e.flags)
        .map(pto_ir::AccFlags::byte)
        .collect();
    assert_eq!(bytes, [1, 0, 0, 2]);
}

#[test]
fn the_naive_rule() {
    let options = Options {
        profile: Profile::Naive,
        ..Options::default()
    };
    let run = |source: &str, name: &str| {
        let program = parse(source);
        let plan = plan(&program, target(name), &options).expect("legal input");
        assert!(plan.memsets.is_empty() && plan.edges.is_empty());
        let bytes = plan
            .acc
            .iter()
            .filter_map(|e| e.flags)
            .map(|f| f.byte().to_string());
        let tags = plan.diags.iter().map(|diag| diag.tag.to_owned());
        bytes.chain(tags).collect::<Vec<_>>().join(" ")
    };
    let lone = format!("{HALVES}mm a; mma a; mma a; read a");
    assert_eq!(run(&lone, "trn2"), "1 0 2");
    let reuse = format!("{HALVES}mm a; mma a; read a; mm a; mma a; read a");
    assert_eq!(run(&reuse, "trn2"), "1 0 0 2 pto:unsound-flags");
    let tiles = "alloc a bank 0 q0..1 u0..8; alloc b bank 0 q1..2 u0..8
                 mm a cg0..1; mm b cg1..2; mma a cg0..1; mma b cg1..2; read a; read b";
    assert_eq!(run(tiles, "trn2"), "1 1 2 2");
    let seeded = format!("{HALVES}memset a; mma a; mma a; read a");
    assert_eq!(run(&seeded, "trn3"), "4 6");
    assert_eq!(run(&seeded, "trn2"), "1 2");
}

#[test]
fn remarks_tell_every_decision() {
    let options = Options {
        remarks: true,
        ..Options::default()
    };
    let source = format!("{HALVES}mm a; mm b; read a; mm a; mma b; mma a; read a; read b");
    let remarks = diags(&source, "trn2", &options);
    let names: Vec<_> = remarks.iter().map(|remark| remark.tag).collect();
    assert_eq!(
        names,
        [
            "pto.acc-cluster",
            "pto.acc-start",
            "pto.acc-stop",
            "pto.acc-memset",
            "pto.acc-stop",
            "pto.acc-stop"
        ]
    );
    assert!(
        remarks
            .iter()
            .all(|remark| remark.severity == Severity::Remark)
    );
    assert_eq!(remarks[0].notes.len(), 2, "both other groups");
    let of = |source: &str, name: &str| -> Vec<&str> {
        diags(source, name, &options)
            .iter()
            .map(|remark| remark.tag)
            .collect()
    };
    let blocked = format!("{HALVES}data b; mm a; read a; read b");
    assert_eq!(
        of(&blocked, "trn2"),
        ["pto.acc-no-start", "pto.acc-memset", "pto.acc-stop"]
    );
    let seeded = format!("{HALVES}data a; mma a; read a");
    assert_eq!(of(&seeded, "trn3"), ["pto.acc-seeded", "pto.acc-stop"]);
    let wide = "alloc a bank 1 q0..4 u0..16\nmm a; read a";
    assert_eq!(
        of(wide, "trn3"),
        ["pto.acc-start", "pto.acc-region", "pto.acc-stop"]
    );
}

#[test]
fn the_report_is_json() {
    let options = Options {
        report: true,
        ..Options::default()
    };
    let source =
        format!("func kernel\n{HALVES}mm a; mm b; read a; mm a; mma b; mma a; read a; read b");
    let program = parse(&source);
    let first = plan(&program, target("trn2"), &options).expect("a worked case");
    let report: serde_json::Value =
        serde_json::from_str(&first.report.clone().expect("something was derived")).expect("json");
    assert_eq!(report["function"], "kernel");
    assert_eq!(report["counts"]["matmuls"], 5);
    assert_eq!(report["counts"]["chains"], 3);
    assert_eq!(report["counts"]["clusters"], 1);
    assert_eq!(report["counts"]["memsets"], 1);
    assert_eq!(report["counts"]["edges"], first.edges.len());
    assert_eq!(report["clusters"][0]["decision"], "start");
    assert_eq!(report["clusters"][0]["chains"][1]["begins_on"], "nothing");
    let after = first.applied_to(&program);
    let again = plan(&after, target("trn2"), &options).expect("legal");
    assert!(again.report.is_none(), "nothing was derived");
}
