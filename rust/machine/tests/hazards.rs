//! Every hazard, with both sites, and what the options make of it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken expectation is a failed test"
)]

mod common;

use common::*;
use pto_ir::Severity;
use pto_machine::code::Code;
use pto_machine::exec::Config;
use pto_machine::hazards::HazardPolicy;
use pto_machine::psum::StartModel;

const BANK: (u64, u64) = (128, 512);
const HALF: (u64, u64) = (128, 256);

fn one_location(build: impl FnOnce(&mut Kernel, pto_machine::code::ViewSlot)) -> Code {
    let mut kernel = Kernel::new();
    let a = kernel.psum(0, (0, 0), 128, 512);
    build(&mut kernel, a);
    kernel.finish()
}

/// Tag, severity, and the numbers of the two events of the first report on the machine alone.
fn first_hazard(code: &Code) -> (&'static str, Severity, usize, Option<usize>) {
    let result = run_with(code, config("trn3", only(StartModel::WrittenBit)));
    let report = result.reports.first().expect("a report");
    let earlier = report.notes.first().and_then(|note| note.0.index());
    (
        report.tag,
        report.severity,
        report.site.index().expect("a site"),
        earlier,
    )
}

#[test]
fn accumulate_undefined() {
    for byte in [0, 2, 4, 6] {
        let code = one_location(|kernel, a| kernel.matmul(a, BANK, 1.0, acc(byte)));
        assert_eq!(
            first_hazard(&code),
            ("pto:accumulate-undefined", Severity::Error, 0, None)
        );
    }
}

#[test]
fn lost_partial() {
    let code = one_location(|kernel, a| {
        kernel.matmul(a, BANK, 1.0, mm(1));
        kernel.memset(a, 0.0);
    });
    assert_eq!(
        first_hazard(&code),
        ("pto:lost-partial", Severity::Warning, 1, Some(0))
    );
}

#[test]
fn read_open_group() {
    let code = one_location(|kernel, a| {
        kernel.matmul(a, BANK, 1.0, mm(1));
        kernel.matmul(a, BANK, 1.0, acc(0));
        kernel.read(a, BANK);
    });
    assert_eq!(
        first_hazard(&code),
        ("pto:read-open-group", Severity::Warning, 2, Some(1))
    );
}

#[test]
fn read_pending() {
    let code = one_location(|kernel, a| {
        let left = kernel.part(a, (0, 0), 128, 256);
        kernel.matmul(left, HALF, 1.0, mm(3));
        kernel.read(a, BANK);
    });
    assert_eq!(
        first_hazard(&code),
        ("pto:read-pending", Severity::Error, 1, Some(0))
    );
}

#[test]
fn read_undefined() {
    let code = one_location(|kernel, a| kernel.read(a, BANK));
    assert_eq!(
        first_hazard(&code),
        ("pto:read-undefined", Severity::Error, 0, None)
    );
}

#[test]
fn start_clobbers_at_a_read_and_at_an_add() {
    for reads in [true, false] {
        let code = one_location(|kernel, a| {
            let left = kernel.part(a, (0, 0), 128, 256);
            let right = kernel.part(a, (0, 256), 128, 256);
            kernel.matmul(left, HALF, 1.0, mm(3));
            kernel.matmul(right, HALF, 2.0, mm(3));
            match reads {
                true => kernel.read(left, HALF),
                false => kernel.matmul(left, HALF, 1.0, acc(0)),
            }
        });
        assert_eq!(
            first_hazard(&code),
            ("pto:start-clobbers", Severity::Error, 2, Some(1))
        );
    }
}

#[test]
fn what_a_start_hit_may_be_overwritten() {
    for by_pe in [true, false] {
        let code = one_location(|kernel, a| {
            let left = kernel.part(a, (0, 0), 128, 256);
            let right = kernel.part(a, (0, 256), 128, 256);
            kernel.matmul(left, HALF, 1.0, mm(3));
            kernel.read(left, HALF);
            kernel.matmul(right, HALF, 2.0, mm(3));
            match by_pe {
                true => kernel.matmul(left, HALF, 4.0, mm(2)),
                false => kernel.seed(left, HALF, 4.0),
            }
            kernel.read(a, BANK);
        });
        assert_eq!(expect_clean("trn2", &code), [vec![1.0], vec![4.0, 2.0]]);
    }
}

#[test]
fn a_seed_under_the_sticky_model() {
    let build = |byte: u8| {
        one_location(|kernel, a| {
            let left = kernel.part(a, (0, 0), 128, 256);
            let right = kernel.part(a, (0, 256), 128, 256);
            kernel.matmul(left, HALF, 1.0, mm(3));
            kernel.seed(right, HALF, 8.0);
            kernel.matmul(right, HALF, 2.0, acc(byte));
            kernel.read(right, HALF);
        })
    };
    let sticky = |code: &Code| {
        let result = run_with(code, config("trn3", only(StartModel::StickyPending)));
        results(&result)
    };
    assert_eq!(sticky(&build(2)), [[2.0]], "the seed is lost");
    let seeded = one_location(|kernel, a| {
        kernel.seed(a, BANK, 8.0);
        kernel.matmul(a, BANK, 2.0, acc(6));
        kernel.read(a, BANK);
    });
    assert_eq!(sticky(&seeded), [[10.0]], "accumulate clears the bit");
    assert_eq!(expect_clean("trn3", &build(2)), [[10.0]]);
}

#[test]
fn policies() {
    let code = one_location(|kernel, a| {
        kernel.matmul(a, BANK, 1.0, mm(1));
        kernel.read(a, BANK);
        kernel.matmul(a, BANK, 1.0, mm(1));
        let lower = kernel.part(a, (0, 0), 32, 512);
        kernel.matmul(lower, (32, 512), 1.0, mm(3));
        kernel.read(a, BANK);
    });
    let run = |hazards| {
        let only = only(StartModel::WrittenBit);
        let result = run_with(
            &code,
            Config {
                hazards,
                ..config("trn2", only)
            },
        );
        let tags: Vec<&str> = result.reports.iter().map(|report| report.tag).collect();
        (tags, result.results.len())
    };
    let (tags, results) = run(HazardPolicy::Error);
    assert_eq!(
        (tags, results),
        (vec!["pto:read-open-group", "pto:start-clobbers"], 0)
    );
    let (tags, results) = run(HazardPolicy::Warn);
    assert_eq!(
        (tags, results),
        (vec!["pto:read-open-group", "pto:start-clobbers"], 2)
    );
    assert_eq!(run(HazardPolicy::Off), (vec![], 2));
}

#[test]
fn nothing_in_psum_looks_like_nothing() {
    // With hazards off, what was never written reads as NaN on the machine.
    let code = one_location(|kernel, a| kernel.read(a, BANK));
    let off = Config {
        hazards: HazardPolicy::Off,
        ..config("trn2", only(StartModel::EagerZero))
    };
    assert!(results(&run_with(&code, off))[0][0].is_nan());
}

#[test]
fn the_reference_alone_rejects_fresh_reads() {
    let mut kernel = Kernel::new();
    let a = kernel.unplaced(128, 512);
    kernel.matmul(a, BANK, 1.0, common::Mm::default());
    let left = kernel.part(a, (0, 0), 64, 512);
    kernel.read(left, (64, 512));
    let b = kernel.unplaced(128, 512);
    kernel.read(b, BANK);
    let code = kernel.finish();
    let obstacle = code.machine_obstacle(Code::func_id(0)).expect("auto flags");
    assert_eq!(obstacle.tag, "pto:unplaced");
    let reference = pto_machine::psum::Meanings {
        reference: true,
        models: Vec::new(),
    };
    let result = run_with(&code, config("trn2", reference));
    assert_eq!(result.reports[0].tag, "pto:read-undefined");
    assert_eq!(result.reports[0].site, site(2));
}
