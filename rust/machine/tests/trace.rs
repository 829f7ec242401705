//! What a recorded run tells: groups, states, dependences, hazards.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken expectation is a failed test"
)]

mod common;

use common::*;
use pto_ir::{Engine, Interval};
use pto_machine::code::Code;
use pto_machine::exec::{Config, Input, RunResult, record};
use pto_machine::hazards::HazardPolicy;
use pto_machine::trace::{CellState, DependenceKind, Event, Span, Trace};

const HALF: (u64, u64) = (128, 256);

fn recorded(code: &Code, config: Config) -> (RunResult, Trace) {
    record(code, Code::func_id(0), Vec::<Input>::new(), config)
}

/// The events of sites, in order: those of the kernels' own instructions.
fn events(trace: &Trace) -> Vec<(usize, &Event)> {
    let events = trace.events.iter().enumerate();
    events
        .filter(|(_, event)| event.site.index().is_some())
        .collect()
}

/// `state`, `group`, bytes and the sites of `from`, `last_use` and `to`, in order of their beginning.
type Told = (
    CellState,
    Option<u32>,
    (u32, u32),
    usize,
    Option<usize>,
    Option<usize>,
);

fn spans(trace: &Trace) -> Vec<Told> {
    let site = |event: u32| trace.events[event as usize].site.index().expect("a site");
    let mut told: Vec<Told> = trace
        .spans
        .iter()
        .map(|span| {
            let Interval { start, end } = span.rect.bytes;
            let (last_use, to) = (span.last_use.map(site), span.to.map(site));
            (
                span.state,
                span.group,
                (start, end),
                site(span.from),
                last_use,
                to,
            )
        })
        .collect();
    told.sort_by_key(|told| (told.3, told.2));
    told
}

/// Two groups in the halves of a bank, the first one drained before the second goes on.
fn two_groups() -> Code {
    let mut kernel = Kernel::new();
    let a = kernel.psum(0, (0, 0), 128, 256);
    let b = kernel.psum(0, (0, 256), 128, 256);
    kernel.matmul(a, HALF, 1.0, mm(1)); // 0
    kernel.matmul(b, HALF, 2.0, acc(0)); // 1
    kernel.matmul(a, HALF, 3.0, acc(2)); // 2
    kernel.read(a, HALF); // 3
    kernel.matmul(b, HALF, 4.0, acc(2)); // 4
    kernel.read(b, HALF); // 5
    kernel.finish()
}

#[test]
fn groups_and_states_over_time() {
    let (result, trace) = recorded(&two_groups(), config("trn2", all()));
    assert!(result.reports.is_empty());
    assert_eq!(trace.groups, 2);
    let groups: Vec<Option<u32>> = events(&trace).iter().map(|(_, e)| e.group).collect();
    assert_eq!(groups, [Some(0), Some(1), Some(0), None, Some(1), None]);
    let (a, b) = ((0, 1024), (1024, 2048));
    use CellState::*;
    assert_eq!(
        spans(&trace),
        [
            (Open, Some(0), a, 0, Some(2), Some(2)),
            (Pending, None, b, 0, None, Some(1)),
            (Open, Some(1), b, 1, Some(4), Some(4)),
            (Data, Some(0), a, 2, Some(3), None),
            (Data, Some(1), b, 4, Some(5), None),
        ]
    );
    let region = events(&trace)[0].1.region.expect("a START has a region");
    assert_eq!(region.banks, Interval::new(0, 1));
    assert_eq!(region.partitions, Interval::new(0, 128));
}

#[test]
fn a_start_waits_for_its_whole_region() {
    let mut kernel = Kernel::new();
    let a = kernel.psum(0, (0, 0), 128, 256);
    let b = kernel.psum(0, (0, 256), 128, 256);
    kernel.matmul(a, HALF, 1.0, mm(3)); // 0
    kernel.read(a, HALF); // 1
    kernel.matmul(b, HALF, 2.0, mm(3)); // 2
    let (_, trace) = recorded(&kernel.finish(), config("trn2", all()));
    let events = events(&trace);
    let read = events[1].0 as u32;
    let waits = events[2].1.after.iter().find(|wait| wait.on == read);
    assert_eq!(waits.map(|wait| wait.kind), Some(DependenceKind::Overwrite));
    assert!(
        events[2].1.start >= events[1].1.end,
        "it starts after the read"
    );
    assert_eq!(
        events[1].1.end - events[1].1.start,
        256,
        "a cycle an element of a partition"
    );
}

#[test]
fn a_hazard_has_the_events_of_both_sites() {
    let mut kernel = Kernel::new();
    let a = kernel.psum(0, (0, 0), 128, 256);
    let b = kernel.psum(0, (0, 256), 128, 256);
    kernel.matmul(a, HALF, 1.0, mm(3)); // 0
    kernel.matmul(b, HALF, 2.0, mm(3)); // 1: its region is all of the bank
    kernel.read(a, HALF); // 2
    let code = kernel.finish();
    for policy in [HazardPolicy::Error, HazardPolicy::Warn] {
        let machine = Config {
            hazards: policy,
            ..config("trn2", only(pto_machine::psum::StartModel::WrittenBit))
        };
        let (result, trace) = recorded(&code, machine);
        assert_eq!(result.reports.len(), 1, "{policy:?}");
        let [problem] = &trace.problems[..] else {
            panic!("one problem, found {:?}", trace.problems);
        };
        let site = |event: u32| trace.events[event as usize].site.index();
        assert_eq!(problem.tag, "pto:start-clobbers");
        assert_eq!(problem.event.and_then(site), Some(2));
        assert_eq!(problem.earlier.len(), 1);
        assert_eq!(site(problem.earlier[0].0), Some(1));
        let hit = trace.spans.iter().find(|span| span.clobbered);
        assert_eq!(hit.map(|span| span.state), Some(CellState::Pending));
    }
}

#[test]
fn what_is_not_placed_has_dependences_but_no_cells() {
    let mut kernel = Kernel::new();
    let a = kernel.unplaced(128, 256);
    kernel.matmul(a, HALF, 1.0, mm(0));
    kernel.read(a, HALF);
    let reference = pto_machine::psum::Meanings {
        reference: true,
        models: Vec::new(),
    };
    let (result, trace) = recorded(&kernel.finish(), config("trn2", reference));
    assert!(result.reports.is_empty());
    assert!(trace.spans.is_empty());
    let events = events(&trace);
    let matmul = events[0].0 as u32;
    assert!(events[1].1.after.iter().any(|wait| wait.on == matmul));
}

/// A program of 40 random instructions over four places of two banks, right or wrong.
fn random_code(seed: u64) -> Code {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % bound
    };
    let mut kernel = Kernel::new();
    let places: Vec<_> = [(0, 0), (0, 128), (0, 256), (1, 0)]
        .iter()
        .map(|&(bank, column)| kernel.psum(bank, (0, column), 128, 256))
        .collect();
    for _ in 0..40 {
        let place = places[below(4) as usize];
        let flags = below(4) as u8;
        match below(5) {
            0 => kernel.memset(place, 0.0),
            1 => kernel.read(place, HALF),
            2 => kernel.matmul(place, HALF, 1.0, mm(flags)),
            _ => kernel.matmul(place, HALF, 1.0, acc(flags)),
        }
    }
    kernel.finish()
}

/// Whether two spans share a cell and a time.
fn collide(trace: &Trace, left: &Span, right: &Span) -> bool {
    let until = |span: &Span| span.to.unwrap_or(trace.events.len() as u32);
    left.rect.bank == right.rect.bank
        && left.rect.partitions.overlaps(right.rect.partitions)
        && left.rect.bytes.overlaps(right.rect.bytes)
        && left.from < until(right)
        && right.from < until(left)
}

#[test]
fn recording_changes_nothing_and_adds_up() {
    for seed in 0..60 {
        let code = random_code(seed);
        let machine = || Config {
            hazards: HazardPolicy::Warn,
            ..config("trn2", only(pto_machine::psum::StartModel::WrittenBit))
        };
        let timed = Config {
            times: true,
            ..machine()
        };
        let plain = run_with(&code, timed);
        let (result, trace) = recorded(&code, machine());
        assert_eq!(plain.reports, result.reports);
        assert_eq!(plain.results, result.results);
        assert_eq!(plain.stats, result.stats);
        assert_eq!(trace.problems.len(), result.reports.len());
        assert_eq!(trace.cycles(), result.stats.cycles_in_all);
        let (mut free, mut busy) = ([0; Engine::ALL.len()], [0; Engine::ALL.len()]);
        for (number, event) in trace.events.iter().enumerate() {
            let engine = event.engine as usize;
            assert!(event.start >= free[engine], "one at a time");
            free[engine] = event.end;
            busy[engine] += event.end - event.start;
            for wait in &event.after {
                assert!((wait.on as usize) < number);
                assert!(trace.events[wait.on as usize].end <= event.start);
            }
        }
        assert_eq!(
            busy,
            Engine::ALL.map(|engine| result.stats.engine(engine).1)
        );
        for (number, span) in trace.spans.iter().enumerate() {
            let others = &trace.spans[..number];
            assert!(!others.iter().any(|other| collide(&trace, span, other)));
        }
        for span in &trace.spans {
            let (from, used, to) = trace.times(span);
            assert!(from <= to && used.is_none_or(|used| used <= to));
        }
    }
}
