//! The machine against an oracle that shares no code with it: random programs with random flags,
//! every cell of every read, and every hazard.
//!
//! The oracle is symbolic: a cell holds the list of what went into it. Here every contribution is a
//! small integer of its own, so that sums are exact and the list gives the number that must be read.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken expectation is a failed test"
)]

#[path = "common/translate.rs"]
mod translate;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use pto_ir::{InstId, Interval, Program, Target};
use pto_machine::code::Code;
use pto_machine::exec::{Config, DEFAULT_MAX_STEPS, Extent, RunResult, TileConfig, Value, run};
use pto_machine::hazards::HazardPolicy;
use pto_machine::parallel::Order;
use pto_machine::psum::{Meanings, StartModel};
use pto_machine::report::{SiteId, Verdict};
use pto_testkit::generate::random::{Profile, strategy};
use pto_testkit::oracle::grid::{Cell, Grid};
use pto_testkit::oracle::machine::{self, Model, PendingRule};
use pto_testkit::oracle::path::{Chooser, trace};
use pto_testkit::oracle::reference;
use pto_testkit::oracle::values::Values;
use pto_testkit::text;
use translate::{Translation, inputs, number};

fn config(
    target: &'static Target,
    meanings: Meanings,
    extent: Extent,
    hazards: HazardPolicy,
) -> Config {
    Config {
        target,
        meanings,
        extent,
        hazards,
        tiles: TileConfig::default(),
        order: Order::Forward,
        max_steps: DEFAULT_MAX_STEPS,
        times: false,
    }
}

/// The models of both sides, one for one.
fn models() -> Vec<(Model, StartModel, Extent)> {
    let rules = [
        (PendingRule::WrittenBit, StartModel::WrittenBit),
        (PendingRule::EagerZero, StartModel::EagerZero),
        (PendingRule::Sticky, StartModel::StickyPending),
    ];
    let extents = [
        (machine::Extent::Group, Extent::Group),
        (machine::Extent::Dst, Extent::Destination),
    ];
    rules
        .into_iter()
        .flat_map(|(rule, start)| {
            extents.map(|(oracle, own)| (Model::new(rule, oracle), start, own))
        })
        .collect()
}

type Hazards = BTreeSet<(&'static str, InstId, Option<InstId>)>;

/// The hazards of a run, without those of the comparison at its end.
fn hazards_of(program: &Program, result: &RunResult) -> Hazards {
    let instruction = |site: SiteId| site.index().map(InstId::new);
    // For the oracle an allocation is the cause of nothing.
    let is_cause = |inst: &InstId| program.inst(*inst).is_instruction();
    result
        .reports
        .iter()
        .filter_map(|report| {
            let at = instruction(report.site)?;
            let cause = report.notes.first().and_then(|note| instruction(note.0));
            let cause = cause.filter(is_cause);
            Some((report.tag, at, cause))
        })
        .collect()
}

/// What a cell must hold; `None` is nothing.
fn expected(values: &Values, value: pto_testkit::oracle::values::Value) -> Option<f32> {
    let (is_poison, list) = values.list(value);
    (!is_poison).then(|| list.into_iter().map(number).sum())
}

/// The word that a result has for a cell.
fn word(result: &Value, partitions: Interval, bytes: Interval, cell: &Cell) -> Option<f32> {
    if !partitions.contains(cell.partition) || !bytes.contains(cell.byte) {
        return None;
    }
    let Value::Elements { array, .. } = result else {
        return None;
    };
    let columns = bytes.len() / 4;
    let at =
        ((cell.partition - partitions.start) * columns + (cell.byte - bytes.start) / 4) as usize;
    let word = &array.bytes[4 * at..4 * at + 4];
    Some(f32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

/// Compares one program under every model. `None`: it is not one that can be compared.
fn compare(program: &Program, target: &'static Target) -> Option<Result<(), TestCaseError>> {
    let steps = trace(program, &mut Chooser::new(0, 0), 1000)?;
    let (code, translation) = Translation::of(program, &steps, target)?;
    let grid = Grid::new(&[program], target);
    let mut values = Values::default();
    let meaning = reference::run(program, &grid, &steps, &mut values);
    if !meaning.faults.is_empty() {
        return None;
    }
    let cells = grid.cells_of_accesses(program);
    for (model, start, extent) in models() {
        let alone = Meanings {
            reference: false,
            models: vec![start],
        };
        let config = config(target, alone, extent, HazardPolicy::Warn);
        let result = run(&code, Code::func_id(0), inputs(program), config);
        if result
            .reports
            .iter()
            .any(|report| report.verdict == Verdict::Unusable)
        {
            return None;
        }
        let outcome = machine::run(program, &grid, &steps, model, &meaning, &mut values);
        if let Err(error) = check_hazards(program, &result, &outcome.hazards, model) {
            return Some(Err(error));
        }
        for read in &outcome.observations.reads {
            let access = program.uses(read.event.inst)[read.operand].access;
            for (&cell, &value) in cells[access.index()].iter().zip(&read.values) {
                let expected = expected(&values, value);
                let at = &grid.cells()[cell];
                let found = translation
                    .reads
                    .iter()
                    .zip(&result.results)
                    .filter(|((event, ..), _)| *event == read.event)
                    .find_map(|((_, partitions, bytes), value)| {
                        word(value, *partitions, *bytes, at)
                    });
                let is_right = match (expected, found) {
                    (Some(expected), Some(found)) => expected == found,
                    (None, Some(found)) => found.is_nan(),
                    (_, None) => false,
                };
                if !is_right {
                    let message =
                        format!("{model:?} {read:?} {at:?}: {expected:?}, found {found:?}");
                    return Some(Err(TestCaseError::fail(message)));
                }
            }
        }
    }
    Some(Ok(()))
}

/// Both sides must report the same hazards. Where ACCUMULATE brings clobbered cells back, the
/// machine remembers which START hit them first and the oracle does not: there the machine may
/// report more, and name an earlier START.
fn check_hazards(
    program: &Program,
    result: &RunResult,
    expected: &[machine::Hazard],
    model: Model,
) -> Result<(), TestCaseError> {
    let accumulates = program
        .insts()
        .iter()
        .filter_map(|inst| inst.matmul())
        .any(|matmul| matmul.flags.is_some_and(|flags| flags.accumulates()));
    let is_remembered =
        |hazard: &(&str, InstId, Option<InstId>)| accumulates && hazard.0 == "pto:start-clobbers";
    let comparable = |(tag, at, cause)| match is_remembered(&(tag, at, cause)) {
        true => (tag, at, None),
        false => (tag, at, cause),
    };
    let expected = expected
        .iter()
        .map(|hazard| (hazard.tag, hazard.at, hazard.cause));
    let expected: Hazards = expected.map(comparable).collect();
    let found: Hazards = hazards_of(program, result)
        .into_iter()
        .map(comparable)
        .collect();
    let surplus: Vec<_> = found.difference(&expected).collect();
    let missing: Vec<_> = expected.difference(&found).collect();
    prop_assert!(
        surplus.iter().all(|hazard| is_remembered(hazard)) && missing.is_empty(),
        "{model:?}: reported too much: {surplus:?}, missing: {missing:?}"
    );
    Ok(())
}

fn check(name: &'static str, profile: Profile) {
    let target = Target::from_name(name).expect("a target");
    let config = ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let compared = std::cell::Cell::new(0);
    let outcome = TestRunner::new_with_rng(config, rng).run(&strategy(target, profile), |recipe| {
        let program = recipe.build(target);
        let Some(result) = compare(&program, target) else {
            return Ok(());
        };
        compared.set(compared.get() + 1);
        result.map_err(|error| TestCaseError::fail(format!("{error}\n{}", text::print(&program))))
    });
    if let Err(error) = outcome {
        panic!("{name}: {error}");
    }
    let compared = compared.get();
    assert!(
        compared > 100,
        "{name}: only {compared} programs could be compared"
    );
}

#[test]
fn trn2_with_random_flags() {
    check("trn2", Profile::FLAGGED);
}

#[test]
fn trn3_with_random_flags() {
    check("trn3", Profile::FLAGGED);
}

#[test]
fn every_write_read_back() {
    check(
        "trn1",
        Profile {
            reads_back: true,
            ..Profile::FLAGGED
        },
    );
}
