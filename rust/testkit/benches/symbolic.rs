//! Symbolic validation against numeric runs of the same legalized programs, both timed in one run.
//!
//!     cargo bench -p pto-testkit --bench symbolic -- [--json]
//!
//! The programs are those of the fuzzer. Symbolic: one call of `validate`, for both meanings of START and
//! both extents of a region. Numeric: the interpreter under the reference and the same four machines, on
//! operands of depth 1, its program and inputs made beforehand. Numbers prove less (one input, not all).

#[path = "../../machine/tests/common/translate.rs"]
mod translate;

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use pto_ir::{Program, Target};
use pto_machine::code::Code;
use pto_machine::exec::{Config, DEFAULT_MAX_STEPS, Extent, TileConfig, run};
use pto_machine::hazards::HazardPolicy;
use pto_machine::parallel::Order;
use pto_machine::psum::{Meanings, StartModel};
use pto_passes::validate;
use pto_testkit::generate::{Profile, recipe};
use pto_testkit::oracle::path::{Chooser, trace};
use pto_testkit::properties::legalize;
use serde_json::json;

/// Symbolic validation is at least this many times as fast.
const BAR: f64 = 100.0;
const PROGRAMS: usize = 150;

/// A program, its legalized form, and that as code.
struct Case {
    target: &'static Target,
    before: Program,
    after: Program,
    code: Code,
}

fn cases() -> Vec<Case> {
    let targets = ["trn1", "trn2", "trn3"].map(Target::from_name);
    let draw = |seed: u64| {
        let target = targets[seed as usize % targets.len()]?;
        let before =
            recipe(&mut fastrand::Rng::with_seed(seed), target, Profile::AUTO).build(target);
        let (_, after) = legalize(&before, target).ok()?;
        validate::validate(&before, &after, target, validate::Options::default()).ok()?;
        let steps = trace(&after, &mut Chooser::new(0, 0), 1000)?;
        let (code, _) = translate::Translation::of(&after, &steps, target)?;
        Some(Case {
            target,
            before,
            after,
            code,
        })
    };
    (0..).filter_map(draw).take(PROGRAMS).collect()
}

/// How long `work` takes on all cases, the best of three.
fn best(cases: &[Case], mut work: impl FnMut(&Case)) -> Duration {
    let times = (0..3).map(|_| {
        let start = Instant::now();
        cases.iter().for_each(&mut work);
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn numeric(case: &Case) {
    for extent in [Extent::Group, Extent::Destination] {
        let config = Config {
            target: case.target,
            meanings: Meanings {
                reference: true,
                models: vec![StartModel::WrittenBit, StartModel::EagerZero],
            },
            extent,
            hazards: HazardPolicy::Off,
            tiles: TileConfig::default(),
            order: Order::Forward,
            max_steps: DEFAULT_MAX_STEPS,
            times: false,
        };
        let inputs = translate::inputs(&case.after);
        black_box(run(&case.code, Code::func_id(0), inputs, config));
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let cases = cases();
    let symbolic = best(&cases, |case| {
        let options = validate::Options::default();
        black_box(validate::validate(&case.before, &case.after, case.target, options).is_ok());
    });
    let numeric = best(&cases, numeric);
    let ratio = numeric.as_secs_f64() / symbolic.as_secs_f64();
    if std::env::args().any(|argument| argument == "--json") {
        let detail = format!(
            "{:.1} us / {:.1} us a program",
            numeric.as_secs_f64() * 1e6 / PROGRAMS as f64,
            symbolic.as_secs_f64() * 1e6 / PROGRAMS as f64,
        );
        let name = "numeric run / symbolic validation, time";
        let figure = (ratio * 10.0).round() / 10.0;
        println!(
            "{}",
            json!({"name": name, "figure": figure, "bar": BAR, "at_least": true, "detail": detail})
        );
    } else {
        println!(
            "symbolic {symbolic:.2?}, numeric {numeric:.2?}: {ratio:.0} times, at least {BAR} wanted"
        );
    }
    Ok(())
}
