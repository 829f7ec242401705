//! Every small program: legalizes it and compares every read with the reference.
//!
//! `cargo run --release -p pto-testkit --example exhaustive -- --instructions 4`

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use pto_ir::{Program, Target};
use pto_testkit::generate::exhaustive::{Scene, scenes};
use pto_testkit::properties::{Outcome, values_are_right, without_panic};

/// Legalizes every program of up to a number of instructions over two buffers in several places.
#[derive(Debug, Parser)]
struct Arguments {
    /// The most instructions, not counting the reads of everything at the end.
    #[arg(long, default_value_t = 3)]
    instructions: usize,
    /// Only this target.
    #[arg(long)]
    target: Option<String>,
    /// Only places whose name contains this.
    #[arg(long, default_value = "")]
    scene: String,
    /// Threads; each takes every so many-th program.
    #[arg(long, default_value_t = 1)]
    threads: u64,
}

/// What one thread counted.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    programs: u64,
    right: u64,
    refused: u64,
    meaningless: u64,
    wrong: u64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.programs += other.programs;
        self.right += other.right;
        self.refused += other.refused;
        self.meaningless += other.meaningless;
        self.wrong += other.wrong;
    }

    fn judge(&mut self, program: &Program, target: &'static Target) {
        self.programs += 1;
        match without_panic(program, || values_are_right(program, target, 0)) {
            Ok(Outcome::Right) => self.right += 1,
            Ok(Outcome::Refused(_)) => self.refused += 1,
            Ok(Outcome::Meaningless) => self.meaningless += 1,
            Err(what) => {
                if self.wrong == 0 {
                    println!("{}: {what}", target.name);
                }
                self.wrong += 1;
            }
        }
    }
}

fn run(scene: &Scene, target: &'static Target, length: usize, threads: u64) -> Count {
    let part = |share: u64| {
        let mut count = Count::default();
        scene.programs(target, length, share..u64::MAX, threads, |program| {
            count.judge(program, target);
        });
        count
    };
    let mut total = Count::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|share| scope.spawn(move || part(share)))
            .collect();
        for worker in workers {
            total.add(worker.join().unwrap_or_default());
        }
    });
    total
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let names = match arguments.target.as_deref() {
        Some(name) => vec![name],
        None => vec!["trn1", "trn2", "trn3"],
    };
    let mut total = Count::default();
    for target in names.into_iter().filter_map(Target::from_name) {
        for scene in scenes(target)
            .iter()
            .filter(|scene| scene.name.contains(&arguments.scene))
        {
            let start = Instant::now();
            let mut count = Count::default();
            for length in 1..=arguments.instructions {
                count.add(run(scene, target, length, arguments.threads.max(1)));
            }
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{} {}: {count:?} in {seconds:.1} s",
                target.name, scene.name
            );
            total.add(count);
        }
    }
    println!("all: {total:?}");
    let is_fine = total.wrong == 0 && total.right > 0;
    if is_fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
