//! Clustering against the comparison of all pairs, and its growth:
//! `cargo bench -p pto-passes --bench clusters`. Prints one JSON object a bar, for `bench/run.py`.

#[path = "support/all_pairs.rs"]
mod all_pairs;

use std::time::{Duration, Instant};

use pto_ir::{Interval, Target};
use pto_passes::legalize_acc::clusters::{Extent, components};

/// Groups as a kernel makes them: a few alive at once in every bank, one after the other.
fn groups(count: u32, target: &Target) -> Vec<Extent> {
    let mut rng = fastrand::Rng::with_seed(7);
    let group = |index: u32| {
        let first = index * 5;
        let bank = rng.u32(0..target.banks);
        Extent {
            first,
            last: first + rng.u32(4..40),
            banks: Interval::new(bank, bank + 1),
            strips: [0b0001, 0b0010, 0b0100, 0b1000, 0b1111][rng.usize(0..5)],
        }
    };
    (0..count).map(group).collect()
}

fn best(runs: usize, mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..runs).map(time).min().unwrap_or_default()
}

fn main() {
    let Some(target) = Target::from_name("trn3") else {
        return;
    };
    let time = |count, runs| {
        let groups = groups(count, target);
        best(runs, || {
            std::hint::black_box(components(groups.clone(), target));
        })
    };
    let groups = groups(20_000, target);
    let slow = best(1, || {
        std::hint::black_box(all_pairs::components(&groups, target));
    });
    let fast = time(20_000, 20);
    print_bar(
        "all pairs / clustering, 20,000 groups",
        slow.as_secs_f64() / fast.as_secs_f64(),
        200.0,
        true,
        format!("{slow:.1?} / {fast:.1?}"),
    );
    let (small, large) = (time(100_000, 10), time(1_000_000, 5));
    print_bar(
        "clustering, time(1M groups) / time(100k)",
        large.as_secs_f64() / small.as_secs_f64(),
        15.0,
        false,
        format!("{large:.1?} / {small:.1?}"),
    );
}

fn print_bar(name: &str, figure: f64, bar: f64, at_least: bool, detail: String) {
    let row = serde_json::json!({
        "name": name, "figure": figure, "bar": bar, "at_least": at_least, "detail": detail
    });
    println!("{row}");
}
