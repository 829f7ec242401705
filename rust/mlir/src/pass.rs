//! Running one pass on one function: options, reading, planning, applying, messages.

use anyhow::{Result, bail};
use pto_ir::{Diag, Interval, Plan, Severity, Target, TextPart};
use pto_passes::validate::{Difference, Place};
use pto_passes::{
    alloc_psum, dump_deps, explain, legalize_acc, mark_first, order_column_tiles, print_psum,
    reset_acc, schedule, validate, verify_acc,
};

use crate::apply::apply;
use crate::bridge::ffi;
use crate::compare::same_operations;
use crate::diag::{Message, site_location};
use crate::handle::{Attribute, Op};
use crate::read::{Detail, Reading, read};
use crate::report;
use crate::tile_pass;

/// A pass with its options as the passes know them.
pub(crate) enum Choice {
    OrderColumnTiles(order_column_tiles::Options),
    MarkFirst,
    ResetAcc,
    LegalizeAcc(legalize_acc::Options),
    /// With whether warnings are errors.
    VerifyAcc(verify_acc::Options, bool),
    AllocPsum(alloc_psum::Options),
    Schedule(schedule::Options),
    PrintPsum,
    DumpDeps,
    Explain,
}

impl Choice {
    /// The pass and the options that apply to it. An error names the legal values.
    pub(crate) fn of(pass: ffi::Pass, options: &ffi::Options) -> Result<Self> {
        let choice = match pass {
            ffi::Pass::OrderColumnTiles => Self::OrderColumnTiles(order_column_tiles::Options {
                restart_at_origin: options.restart_at_origin,
                ignore_other_engines: options.ignore_other_engines,
            }),
            ffi::Pass::MarkFirst => Self::MarkFirst,
            ffi::Pass::ResetAcc => Self::ResetAcc,
            ffi::Pass::LegalizeAcc => Self::LegalizeAcc(legalize_options(options)?),
            ffi::Pass::VerifyAcc => Self::VerifyAcc(verify_options(options)?, options.werror),
            ffi::Pass::AllocPsum => Self::AllocPsum(alloc_options(options)?),
            ffi::Pass::Schedule => Self::Schedule(schedule::Options {
                shuffle_seed: u64::try_from(options.shuffle_seed).ok(),
                remarks: options.remarks,
            }),
            ffi::Pass::PrintPsum => Self::PrintPsum,
            ffi::Pass::DumpDeps => Self::DumpDeps,
            ffi::Pass::Explain => Self::Explain,
            unknown => bail!("unknown pass {}", unknown.repr),
        };
        let is_tile = options.target == tile_pass::TARGET && choice.runs_on_tiles();
        if !options.target.is_empty() && !is_tile {
            target_named(&options.target)?;
        }
        Ok(choice)
    }

    /// Whether the pass has a meaning for the tile ISA.
    const fn runs_on_tiles(&self) -> bool {
        matches!(self, Self::LegalizeAcc(_) | Self::ResetAcc)
    }

    /// How much the pass needs to know of the accesses.
    const fn detail(&self) -> Detail {
        match self {
            Self::OrderColumnTiles(_) | Self::ResetAcc => Detail::Instructions,
            Self::MarkFirst
            | Self::LegalizeAcc(_)
            | Self::VerifyAcc(..)
            | Self::AllocPsum(_)
            | Self::PrintPsum
            | Self::DumpDeps
            | Self::Explain => Detail::Exact,
            Self::Schedule(_) => Detail::Memory,
        }
    }

    /// What the pass wants done to the program of `reading`. Verification wants nothing done.
    fn plan(&self, reading: &Reading, target: &'static Target) -> Result<Plan, Vec<Diag>> {
        let program = &reading.program;
        match self {
            Self::OrderColumnTiles(options) => order_column_tiles::plan(program, target, options),
            Self::MarkFirst => mark_first::plan(program, target, &mark_first::Options::default()),
            Self::ResetAcc => reset_acc::plan(program, target, &reset_acc::Options::default()),
            Self::LegalizeAcc(options) => legalize_acc::plan(program, target, options),
            Self::AllocPsum(options) => alloc_psum::plan(program, target, options),
            Self::Schedule(options) => schedule::plan(program, target, options),
            Self::PrintPsum => print_psum::plan(program, target),
            Self::DumpDeps => dump_deps::plan(program, target),
            Self::Explain => explain::plan(program, target),
            Self::VerifyAcc(options, warnings_are_errors) => {
                let mut diags =
                    verify_acc::verify_with(program, target, options, || reading.ties());
                if *warnings_are_errors {
                    diags.iter_mut().for_each(Diag::promote_warning);
                }
                match diags.iter().any(|diag| diag.severity == Severity::Error) {
                    true => Err(diags),
                    false => Ok(Plan {
                        diags,
                        ..Plan::default()
                    }),
                }
            }
        }
    }
}

fn legalize_options(options: &ffi::Options) -> Result<legalize_acc::Options> {
    Ok(legalize_acc::Options {
        profile: match options.profile.as_str() {
            "" | "sound" => legalize_acc::Profile::Sound,
            "naive" => legalize_acc::Profile::Naive,
            other => bail!(unknown_value("profile", other, &["sound", "naive"])),
        },
        stop: match options.stop.as_str() {
            "" | "chain" => legalize_acc::Stop::Chain,
            "cluster" => legalize_acc::Stop::Cluster,
            other => bail!(unknown_value("stop", other, &["chain", "cluster"])),
        },
        loops: match options.loops.as_str() {
            "" | "predicate" => legalize_acc::Loops::Predicate,
            "memset" => legalize_acc::Loops::Memset,
            // The loops were peeled before the function came here.
            "peel" => legalize_acc::Loops::Predicate,
            other => bail!(unknown_value(
                "loops",
                other,
                &["predicate", "memset", "peel"]
            )),
        },
        collisions: match options.collisions.as_str() {
            "" | "order" => legalize_acc::Collisions::Order,
            "leave" => legalize_acc::Collisions::Leave,
            other => bail!(unknown_value("collisions", other, &["order", "leave"])),
        },
        strict: options.strict,
        remarks: options.remarks,
        report: !options.report_dir.is_empty(),
    })
}

fn alloc_options(options: &ffi::Options) -> Result<alloc_psum::Options> {
    Ok(alloc_psum::Options {
        rotate: options.rotate,
        pack: options.pack,
        banks: match options.banks.as_str() {
            "" => None,
            range => Some(banks_named(range)?),
        },
        remarks: options.remarks,
    })
}

/// The banks `a-b` (both included) or `a`.
fn banks_named(range: &str) -> Result<Interval> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let banks = pto_ir::target::TARGETS
        .iter()
        .map(|target| target.banks)
        .max()
        .unwrap_or(0);
    match (first.parse::<u32>(), last.parse::<u32>()) {
        (Ok(first), Ok(last)) if first <= last && last < banks => {
            Ok(Interval::new(first, last + 1))
        }
        _ => bail!(
            "option `banks`: expected `a-b` with a at most b and b below {banks}, found `{range}` \
             [pto:option]"
        ),
    }
}

fn verify_options(options: &ffi::Options) -> Result<verify_acc::Options> {
    Ok(verify_acc::Options {
        model: match options.model.as_str() {
            "" | "both" => verify_acc::Model::Both,
            "written-bit" => verify_acc::Model::WrittenBit,
            "eager-zero" => verify_acc::Model::EagerZero,
            other => {
                let legal = ["both", "written-bit", "eager-zero"];
                bail!(unknown_value("model", other, &legal))
            }
        },
        extent: match options.extent.as_str() {
            "" | "both" => verify_acc::Extent::Both,
            "group" => verify_acc::Extent::Group,
            "dst" => verify_acc::Extent::Dst,
            other => bail!(unknown_value("extent", other, &["both", "group", "dst"])),
        },
        sticky: options.sticky,
        ..verify_acc::Options::default()
    })
}

/// The sentence that refuses `found` as the value of `option`.
fn unknown_value(option: &str, found: &str, legal: &[&str]) -> String {
    format!(
        "option `{option}`: expected one of {}, found `{found}` [pto:option]",
        quoted(legal)
    )
}

fn target_named(name: &str) -> Result<&'static Target> {
    let Some(target) = Target::from_name(name) else {
        let known: Vec<&str> = pto_ir::target::TARGETS
            .iter()
            .map(|target| target.name)
            .collect();
        bail!(
            "expected a target with a matrix engine, one of {}, found `{name}` [pto:target]",
            quoted(&known)
        );
    };
    Ok(target)
}

fn quoted(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Runs a pass on the function-like operation `function`, for the target called `target`.
pub(crate) fn run(
    choice: &Choice,
    function: Op,
    target: &str,
    options: &ffi::Options,
) -> ffi::Outcome {
    try_run(choice, function, target, options).unwrap_or_else(failed)
}

/// Compares the values of `function` with those of `original`, for the target called `target`.
pub(crate) fn compare(original: Op, function: Op, target: &str, sticky: bool) -> ffi::Outcome {
    let result = try_compare(original, function, target, sticky);
    result.map_or_else(failed, |()| ffi::Outcome::default())
}

fn failed(messages: Vec<Message>) -> ffi::Outcome {
    ffi::Outcome {
        failed: true,
        messages: messages.into_iter().map(Into::into).collect(),
        ..ffi::Outcome::default()
    }
}

/// An error at `function` as a whole.
fn at_function(function: Op, sentence: String) -> Vec<Message> {
    vec![Message {
        severity: Severity::Error,
        name: "",
        location: function.location(),
        text: sentence,
        notes: Vec::new(),
    }]
}

/// The target called `target`, the default one where it is empty.
fn target_of(function: Op, target: &str) -> Result<&'static Target, Vec<Message>> {
    let name = match target {
        "" => Target::DEFAULT,
        named => named,
    };
    target_named(name).map_err(|error| at_function(function, error.to_string()))
}

fn try_compare(original: Op, function: Op, target: &str, sticky: bool) -> Result<(), Vec<Message>> {
    let target = target_of(function, target)?;
    same_signature(original, function)?;
    let (before, after) = (
        read(original, Detail::Exact)?,
        read(function, Detail::Exact)?,
    );
    let options = validate::Options { sticky };
    validate::compare(&before.program, &after.program, target, options).map_err(|all| {
        let messages = all
            .iter()
            .map(|difference| two_sided(difference, &before, &after));
        messages.collect::<Vec<_>>()
    })?;
    same_operations(original, function).map_err(|message| vec![*message])
}

/// Functions of one type, both with a body or both without.
fn same_signature(original: Op, function: Op) -> Result<(), Vec<Message>> {
    let of = |op: Op| op.attribute("function_type").map(Attribute::key);
    let has_body = |op: Op| op.region_count() > 0 && op.first_block(0).is_some();
    let expected = if of(original) != of(function) {
        "the type"
    } else if has_body(original) != has_body(function) {
        "a body or none"
    } else {
        return Ok(());
    };
    let sentence = format!("expected {expected} as in the original, found another");
    let mut message = Message::error("pto:not-comparable", function.location(), &sentence);
    let note = "the original is here".to_owned();
    message.notes.push((original.location(), note));
    Err(vec![message])
}

/// A difference between two functions as a message.
fn two_sided(difference: &Difference, before: &Reading, after: &Reading) -> Message {
    let locate = |place| match place {
        Place::Before(site) => site_location(site, before),
        Place::After(site) => site_location(site, after),
    };
    let mut message = Message::error(
        difference.tag,
        locate(difference.place),
        &difference.message,
    );
    let notes = difference.notes.iter();
    message
        .notes
        .extend(notes.map(|(place, text)| (locate(*place), text.clone())));
    message
}

fn try_run(
    choice: &Choice,
    function: Op,
    target: &str,
    options: &ffi::Options,
) -> Result<ffi::Outcome, Vec<Message>> {
    if target == tile_pass::TARGET && choice.runs_on_tiles() {
        return tile_pass::run(choice, function, options);
    }
    let target = target_of(function, target)?;
    if matches!(choice, Choice::OrderColumnTiles(_)) && !function.holds_tiled_matmul() {
        return Ok(ffi::Outcome::default());
    }
    let reading = read(function, choice.detail())?;
    let mut plan = choice
        .plan(&reading, target)
        .map_err(|diags| located(diags, &reading))?;
    if options.validate && !plan.is_empty() {
        let after = plan.applied_to(&reading.program);
        validate::validate(
            &reading.program,
            &after,
            target,
            validate::Options::default(),
        )
        .map_err(|diags| located_after(diags, &reading, &plan))?;
    }
    if let Some(text) = &plan.report {
        report::write(&options.report_dir, function, text)
            .map_err(|error| at_function(function, format!("{error:#} [pto:report-dir]")))?;
    }
    let messages = located(std::mem::take(&mut plan.diags), &reading);
    let outcome = ffi::Outcome {
        changed: !plan.is_empty(),
        messages: messages.into_iter().map(Into::into).collect(),
        flags: plan.acc.len() as u64,
        memsets: plan.memsets.len() as u64,
        edges: plan.edges.len() as u64,
        erased: plan.erase.len() as u64,
        placed: plan.placements.len() as u64,
        reordered: plan.orders.len() as u64,
        text: written(&plan.text, &reading),
        ..ffi::Outcome::default()
    };
    apply(&plan, reading).map_err(|message| vec![message])?;
    Ok(outcome)
}

/// A text with what the operations of `reading` are called, and where they are.
fn written(text: &[TextPart], reading: &Reading) -> String {
    let part = |part: &TextPart| match part {
        TextPart::Text(text) => text.clone(),
        TextPart::Name(inst) => reading.op(*inst).name(),
        TextPart::Location(inst) => reading.op(*inst).location().text(),
    };
    text.iter().map(part).collect()
}

fn located(diags: Vec<Diag>, reading: &Reading) -> Vec<Message> {
    located_after(diags, reading, &Plan::default())
}

/// The messages of diagnostics about the program that `plan` makes.
fn located_after(diags: Vec<Diag>, reading: &Reading, plan: &Plan) -> Vec<Message> {
    let diags = diags.into_iter();
    diags
        .map(|diag| Message::located(diag, reading, plan))
        .collect()
}
