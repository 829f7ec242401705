//! Reference and machine side by side.

use pto_ir::{Program, Target};

use super::grid::Grid;
use super::machine::{self, Hazard, Model};
use super::path::{Chooser, Event, Step, trace};
use super::reference::{self, Fault, Observations};
use super::values::{Value, Values};

/// A read at which the machine differs from the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The machine.
    pub model: Model,
    /// The reading instruction; `None` for the contents of an escaping buffer at the end.
    pub read: Option<Event>,
    /// What the cell should hold and what it holds, as printed lists of contributions.
    pub expected_and_found: (String, String),
}

/// What the oracle says of one path or of several.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Why the program has no meaning: nothing else counts then.
    pub faults: Vec<Fault>,
    /// Reads that differ.
    pub mismatches: Vec<Mismatch>,
    /// What the machines report.
    pub hazards: Vec<(Model, Hazard)>,
}

impl Verdict {
    /// Whether the program has a meaning at all.
    pub fn is_meaningful(&self) -> bool {
        self.faults.is_empty()
    }

    /// Whether every read is as it should be.
    pub fn has_right_values(&self) -> bool {
        self.mismatches.is_empty()
    }

    /// Whether every read is right and no machine reports an error.
    pub fn is_right(&self) -> bool {
        self.has_right_values() && !self.hazards.iter().any(|(_, hazard)| hazard.is_error())
    }
}

/// Runs one path of `before` as the reference and of `after` on `models`. The instructions of
/// `before` have the same ids in `after`; what else `after` holds writes no data but zero.
pub fn judge_path(
    (before, before_steps): (&Program, &[Step]),
    (after, after_steps): (&Program, &[Step]),
    grid: &Grid,
    models: &[Model],
) -> Verdict {
    let mut values = Values::default();
    let reference = reference::run(before, grid, before_steps, &mut values);
    let mut verdict = Verdict {
        faults: reference.faults.clone(),
        ..Verdict::default()
    };
    for &model in models {
        let outcome = machine::run(after, grid, after_steps, model, &reference, &mut values);
        let hazards = outcome.hazards.iter().map(|&hazard| (model, hazard));
        verdict.hazards.extend(hazards);
        let sides = (&reference.observations, &outcome.observations);
        verdict.mismatches.extend(compare(sides, model, &values));
    }
    verdict
}

/// Judges the run number `seed` of `before` and `after`; `None` where it takes too many steps.
pub fn judge(
    before: &Program,
    after: &Program,
    target: &'static Target,
    models: &[Model],
    seed: u64,
) -> Option<Verdict> {
    const FUEL: usize = 10_000;
    const MAX_TRIPS: u64 = 3;
    let path = |program| trace(program, &mut Chooser::new(seed, MAX_TRIPS), FUEL);
    let (before_steps, after_steps) = (path(before)?, path(after)?);
    let grid = Grid::new(&[before, after], target);
    Some(judge_path(
        (before, &before_steps),
        (after, &after_steps),
        &grid,
        models,
    ))
}

fn compare(
    (expected, found): (&Observations, &Observations),
    model: Model,
    values: &Values,
) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    let mut differ = |read, want: Value, have: Value| {
        let print = |value| {
            let (on_poison, list) = values.list(value);
            format!("{}{list:?}", if on_poison { "poison + " } else { "" })
        };
        mismatches.push(Mismatch {
            model,
            read,
            expected_and_found: (print(want), print(have)),
        });
    };
    for want in &expected.reads {
        let same =
            |read: &&reference::Read| (read.event, read.operand) == (want.event, want.operand);
        let Some(have) = found.reads.iter().find(same) else {
            differ(Some(want.event), Value::POISON, Value::POISON);
            continue;
        };
        let pair = want
            .values
            .iter()
            .zip(&have.values)
            .find(|(want, have)| want != have);
        if let Some((&want_value, &have_value)) = pair {
            differ(Some(want.event), want_value, have_value);
        }
    }
    for ((alloc, want), (other, have)) in expected.live_out.iter().zip(&found.live_out) {
        debug_assert_eq!(alloc, other);
        let written = want
            .iter()
            .zip(have)
            .filter_map(|(want, have)| Some((*want)?).zip(*have));
        if let Some((want, have)) = written.into_iter().find(|(want, have)| want != have) {
            differ(None, want, have);
        }
    }
    mismatches
}
