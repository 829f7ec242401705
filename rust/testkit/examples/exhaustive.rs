//! Every small program: legalizes it and compares every read with the reference.
//!
//! `cargo run --release -p pto-testkit --example exhaustive -- --instructions 4`

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use pto_ir::{Program, Target};
use pto_testkit::generate::exhaustive::{Reduction, Scene, Shard, scenes};
use pto_testkit::properties::{Outcome, values_are_right, without_panic};

/// Legalizes every program of up to a number of instructions over two buffers in several places, and
/// compares every read with the reference on every machine.
#[derive(Debug, Parser)]
struct Arguments {
    /// The most instructions, not counting the reads of everything at the end.
    #[arg(long, default_value_t = 3)]
    instructions: usize,
    /// The fewest.
    #[arg(long, default_value_t = 1)]
    from: usize,
    /// Only this target.
    #[arg(long)]
    target: Option<String>,
    /// Only places whose name contains this.
    #[arg(long, default_value = "")]
    scene: String,
    /// Also the programs that say the same as another.
    #[arg(long)]
    unreduced: bool,
    /// Only part K of N of every length: K is below N. The parts together are everything.
    #[arg(long, value_name = "K/N", value_parser = parse_shard, default_value = "0/1")]
    shard: (u64, u64),
    /// Threads.
    #[arg(long, default_value_t = 1)]
    threads: u64,
    /// Only count the programs.
    #[arg(long)]
    count: bool,
}

fn parse_shard(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/');
    let numbers = parts.and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
    match numbers {
        Some((k, n)) if k < n => Ok((k, n)),
        _ => Err("expected K/N with K below N, such as 0/8".into()),
    }
}

/// What was found of some programs.
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

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            programs,
            right,
            refused,
            meaningless,
            wrong,
        } = self;
        write!(
            f,
            "{programs} programs, {right} right, {refused} refused, {meaningless} without a meaning, \
             {wrong} wrong"
        )
    }
}

/// How far a run is, told on standard error every few seconds.
struct Progress {
    start: Instant,
    done: AtomicU64,
    told: Mutex<Instant>,
}

impl Progress {
    const EVERY: Duration = Duration::from_secs(10);
    /// Programs between two looks at the clock.
    const STRIDE: u64 = 1 << 12;

    fn new() -> Self {
        let start = Instant::now();
        Self {
            start,
            done: AtomicU64::new(0),
            told: Mutex::new(start),
        }
    }

    fn advance(&self, what: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if !done.is_multiple_of(Self::STRIDE) {
            return;
        }
        let Ok(mut told) = self.told.lock() else {
            return;
        };
        if told.elapsed() >= Self::EVERY {
            *told = Instant::now();
            let rate = done as f64 / self.start.elapsed().as_secs_f64();
            eprintln!("-- {what}: {done} programs in all, {rate:.0} a second");
        }
    }
}

struct Run<'a> {
    arguments: &'a Arguments,
    reduction: Reduction,
    progress: Progress,
}

impl Run<'_> {
    /// All programs of `scene` with `length` instructions; each thread takes a part of the shard.
    fn length(&self, scene: &Scene, target: &'static Target, length: usize) -> Count {
        let (index, count) = self.arguments.shard;
        let threads = self.arguments.threads.max(1);
        let part = |thread: u64| {
            let shard = Shard {
                index: index + count * thread,
                count: count * threads,
            };
            let mut found = Count::default();
            if self.arguments.count {
                found.programs = scene.count(length, self.reduction, shard);
                return found;
            }
            let what = format!("{}, {}, {length} instructions", target.name, scene.name);
            scene.programs(target, length, self.reduction, shard, |program| {
                found.judge(program, target);
                self.progress.advance(&what);
            });
            found
        };
        let mut total = Count::default();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|n| scope.spawn(move || part(n))).collect();
            for worker in workers {
                total.add(worker.join().unwrap_or_default());
            }
        });
        total
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let names = match arguments.target.as_deref() {
        Some(name) => vec![name],
        None => vec!["trn1", "trn2", "trn3"],
    };
    let targets: Vec<_> = names.into_iter().filter_map(Target::from_name).collect();
    if targets.is_empty() {
        eprintln!("there is no such target");
        return ExitCode::FAILURE;
    }
    let reduction = if arguments.unreduced {
        Reduction::None
    } else {
        Reduction::Full
    };
    let run = Run {
        arguments: &arguments,
        reduction,
        progress: Progress::new(),
    };
    let mut total = Count::default();
    for length in arguments.from..=arguments.instructions {
        for &target in &targets {
            for scene in scenes(target) {
                if !scene.name.contains(&arguments.scene) {
                    continue;
                }
                let start = Instant::now();
                let count = run.length(&scene, target, length);
                let seconds = start.elapsed().as_secs_f64();
                println!(
                    "{length} instructions, {}, {}: {count}, {seconds:.1} s",
                    target.name, scene.name
                );
                total.add(count);
            }
        }
    }
    println!("all: {total}");
    let is_fine = total.wrong == 0 && (arguments.count || total.right > 0);
    if is_fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
