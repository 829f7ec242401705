//! Time a matmul of planning, checking and ordering: `cargo bench -p pto-passes --bench legalize_acc`.
//!
//! Each size is one program (see `pto_testkit::generate::large`); the best of several runs counts.

use std::time::{Duration, Instant};

use pto_ir::{Program, Target};
use pto_passes::{legalize_acc, order_column_tiles, validate, verify_acc};
use pto_testkit::generate::large::{Layout, program};

fn best<T>(runs: usize, mut run: impl FnMut() -> T) -> Duration {
    let time = |_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed()
    };
    (0..runs).map(time).min().unwrap_or_default()
}

fn row(name: &str, matmuls: usize, runs: usize, program: &Program, target: &'static Target) {
    let per_matmul = |time: Duration| time.as_nanos() as f64 / matmuls as f64;
    let options = legalize_acc::Options::default();
    let legalize = best(runs, || legalize_acc::plan(program, target, &options));
    let order = best(runs, || {
        order_column_tiles::plan(program, target, &order_column_tiles::Options::default())
    });
    let Ok(plan) = legalize_acc::plan(program, target, &options) else {
        println!("{name}: refused");
        return;
    };
    let apply = best(runs, || plan.applied_to(program));
    let after = plan.applied_to(program);
    let verify = best(runs, || {
        verify_acc::verify(&after, target, &verify_acc::Options::default())
    });
    let validate = best(runs, || {
        validate::validate(program, &after, target, validate::Options::default())
    });
    println!(
        "{name:<16} {matmuls:>8}: legalize {:>6.1} ns, order {:>5.1} ns, apply {:>6.1} ns, verify {:>6.1} ns, validate {:>6.1} ns a matmul; {} edges, {} memsets",
        per_matmul(legalize),
        per_matmul(order),
        per_matmul(apply),
        per_matmul(verify),
        per_matmul(validate),
        plan.edges.len(),
        plan.memsets.len()
    );
}

fn main() {
    for target in ["trn2", "trn3"] {
        let Some(target) = Target::from_name(target) else {
            continue;
        };
        for layout in [Layout::ChainPerBank, Layout::Packed] {
            for (matmuls, runs) in [(100_000, 10), (1_000_000, 3)] {
                let program = program(matmuls, layout, target);
                let name = format!("{} {layout:?}", target.name);
                row(&name, matmuls, runs, &program, target);
            }
        }
    }
}
