//! Random programs without a limit: legalizes them and checks every property.
//!
//! `cargo run --release -p pto-testkit --example fuzz -- --seconds 600 --regions`

use std::time::{Duration, Instant};

use clap::Parser;
use pto_ir::{Program, Target};
use pto_testkit::generate::{Profile, Recipe, recipe, shrink};
use pto_testkit::properties::{
    Outcome, all_hold, validation_agrees, verifier_agrees, without_panic,
};

/// Legalizes random programs and checks every property of the results.
#[derive(Debug, Parser)]
struct Arguments {
    /// How long to look.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1_000_000)]
    seed: u64,
    /// The most instructions of a program.
    #[arg(long, default_value_t = 14)]
    steps: u32,
    /// With loops and branches.
    #[arg(long)]
    regions: bool,
    /// Random flags instead of derived ones: compares the checkers with the oracle.
    #[arg(long)]
    flags: bool,
    /// Only this target.
    #[arg(long)]
    target: Option<String>,
    /// Go on after a failure, up to this many.
    #[arg(long, default_value_t = 1)]
    failures: usize,
}

fn checkers_agree(
    program: &Program,
    target: &'static Target,
    profile: Profile,
) -> Result<Outcome, String> {
    let paths = if profile.regions { 10 } else { 1 };
    verifier_agrees(program, target, paths, profile.reads_back)?;
    validation_agrees(program, target, paths)?;
    Ok(Outcome::Right)
}

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let names = match &arguments.target {
        Some(name) => vec![name.as_str()],
        None => vec!["trn1", "trn2", "trn3"],
    };
    let targets: Vec<&'static Target> = names
        .iter()
        .filter_map(|name| Target::from_name(name))
        .collect();
    if targets.is_empty() {
        eprintln!("no such target");
        return std::process::ExitCode::FAILURE;
    }
    let profile = Profile {
        steps: arguments.steps,
        regions: arguments.regions,
        flags: arguments.flags,
        reads_back: arguments.flags && !arguments.regions,
        ..Profile::AUTO
    };
    std::panic::set_hook(Box::new(|_| {}));
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    let (mut programs, mut right, mut failures) = (0u64, 0u64, 0usize);
    let mut seed = arguments.seed;
    while Instant::now() < end && failures < arguments.failures {
        let target = targets[seed as usize % targets.len()];
        let drawn = recipe(&mut fastrand::Rng::with_seed(seed), target, profile);
        let run = |recipe: &Recipe| {
            let program = recipe.build(target);
            without_panic(&program, || match arguments.flags {
                true => checkers_agree(&program, target, profile),
                false => all_hold(&program, target, seed),
            })
        };
        match run(&drawn) {
            Ok(outcome) => right += u64::from(outcome == Outcome::Right),
            Err(_) => {
                failures += 1;
                let small = shrink(&drawn, |recipe| run(recipe).is_err());
                let what = run(&small).err().unwrap_or_default();
                println!("{} (seed {seed}): {what}", target.name);
            }
        }
        programs += 1;
        seed += 1;
    }
    println!("{programs} programs, {right} right, {failures} failures");
    if failures == 0 {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}
