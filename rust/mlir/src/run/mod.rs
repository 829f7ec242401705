//! The body of `pto-run`: a module and options in, messages, text and an exit status out.
//!
//! Exit status: 0 fine, warnings included; 1 an expectation, a comparison or an error hazard failed,
//! or something undefined was read; 2 the input cannot be run.

mod files;
mod groups;
mod looking;
mod memory;
mod options;
mod statistics;
mod timeline;
mod trace;

use std::fs;
use std::path::Path;

use pto_ir::{Severity, Target};
use pto_machine::code::{Code, FuncId, Platform};
use pto_machine::exec::{Config, RunResult, record, run};
use pto_machine::psum::{Meanings, StartModel};
use pto_machine::report::{Report, SiteId, Verdict};
use pto_machine::trace::Trace;

use crate::bridge::ffi::Buffer;
use crate::decode::{Decoded, Refusal, decode};
use crate::diag::Message;
use crate::handle::{Location, Op};
pub(crate) use options::{Model, Options, Parsed};

/// What a run says.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The exit status.
    pub(crate) status: u8,
    /// Diagnostics, in order.
    pub(crate) messages: Vec<Message>,
    /// What goes to standard output.
    pub(crate) output: String,
    /// What the arguments and results hold, if it was asked for and the run came to its end.
    pub(crate) values: Vec<Buffer>,
}

/// Where arguments come from and values go to, besides the files that the options name.
#[derive(Clone, Copy)]
pub(crate) enum Memory<'a> {
    /// Neither: a run from the command line.
    Unused,
    /// These are arguments, and the values after the run are wanted.
    Used(&'a [Buffer]),
}

/// Runs the operation `module`.
pub(crate) fn execute(module: Op, options: &Options, memory: Memory<'_>) -> Outcome {
    let decoded = match decode(module, options.entry.as_deref()) {
        Ok(decoded) => decoded,
        Err(refusal) => return refused(&refusal),
    };
    let session = Session {
        module,
        options,
        memory,
        decoded: &decoded,
    };
    let mut outcome = Outcome::default();
    if let Err(report) = session.run(&mut outcome) {
        outcome.add(&session, &report);
    }
    outcome
}

/// One run of a decoded module.
struct Session<'a> {
    module: Op,
    options: &'a Options,
    memory: Memory<'a>,
    decoded: &'a Decoded,
}

impl Session<'_> {
    fn run(&self, outcome: &mut Outcome) -> Result<(), Box<Report>> {
        let Decoded { code, entry, .. } = self.decoded;
        let platform = self.platform()?;
        if let Some(report) = code.foreign_part(*entry, platform) {
            return Err(Box::new(report));
        }
        let target = match platform {
            Platform::Pe(target) => target,
            Platform::Tile => default_target()?,
        };
        let meanings = self.meanings(platform, outcome)?;
        let mut inputs = files::inputs(code, *entry, self.options)?;
        if let Memory::Used(buffers) = self.memory {
            memory::fill(&mut inputs, buffers, code, *entry)?;
        }
        let config = Config {
            target,
            meanings,
            extent: self.options.extent.into(),
            hazards: self.options.hazards.into(),
            tiles: self.options.tiles(),
            order: self.options.order(),
            max_steps: self.options.max_steps,
            times: self.options.stats.is_some(),
        };
        let (result, trace) = if self.options.is_looked_at() {
            let (result, trace) = record(code, *entry, inputs, config);
            (result, Some(trace))
        } else {
            (run(code, *entry, inputs, config), None)
        };
        for report in result.reports.iter().filter(|report| self.matters(report)) {
            outcome.add(self, report);
        }
        if let Some(mut trace) = trace {
            let axis = looking::Axis::of(platform);
            if !axis.is_timed {
                trace.number_events();
            }
            self.show(&trace, &axis, outcome)?;
        }
        self.finish(*entry, &result, outcome)
    }

    /// Writes pictures of the run.
    fn show(
        &self,
        trace: &Trace,
        axis: &looking::Axis,
        outcome: &mut Outcome,
    ) -> Result<(), Box<Report>> {
        let texts = looking::Texts::new(self.module, &self.decoded.sites, trace);
        let write = |file: &Path, text: String| {
            fs::write(file, text).map_err(|error| {
                let message = format!("{}: {error}", file.display());
                Box::new(Report::unusable("pto:output", SiteId::NONE, message))
            })
        };
        if let Some(file) = &self.options.trace {
            write(file, trace::chrome(trace, &texts, axis))?;
        }
        if let Some(file) = &self.options.timeline {
            write(
                file,
                timeline::page(trace, &texts, axis, &self.options.file),
            )?;
        }
        if trace.left_out > 0 {
            let message = format!(
                "the picture shows the first {} instructions, {} more were executed",
                trace.events.len(),
                trace.left_out
            );
            let warning = Report::warning("pto:trace-limit", SiteId::NONE, message);
            outcome.add(self, &warning);
        }
        Ok(())
    }

    /// Writes what the options ask for.
    fn finish(
        &self,
        entry: FuncId,
        result: &RunResult,
        outcome: &mut Outcome,
    ) -> Result<(), Box<Report>> {
        if let Some(format) = self.options.stats {
            outcome.output.push_str(&statistics::text(result, format));
        }
        if let Some(folder) = &self.options.output_dir {
            for warning in files::write(&self.decoded.code, entry, result, folder)? {
                outcome.add(self, &warning);
            }
        }
        if let Memory::Used(_) = self.memory {
            outcome.values = memory::values(result);
        }
        Ok(())
    }

    /// The machine: the option's, the module's, what the program is made of, or the default.
    fn platform(&self) -> Result<Platform, Box<Report>> {
        let Decoded { code, entry, .. } = self.decoded;
        if let Some(name) = &self.options.target {
            let message = format!("there is no target called {name}");
            return Platform::from_name(name).ok_or_else(|| no_target(message));
        }
        match code.platform.or_else(|| code.implied_platform(*entry)) {
            Some(platform) => Ok(platform),
            None => default_target().map(Platform::Pe),
        }
    }

    /// The meanings to run. Where the machine cannot run the program, `all` runs the reference alone
    /// and says so.
    fn meanings(&self, platform: Platform, outcome: &mut Outcome) -> Result<Meanings, Box<Report>> {
        let model = self.options.model;
        if model == Model::Reference {
            return Ok(reference_and(Vec::new()));
        }
        let obstacle = self.obstacle(platform);
        let models = match (model.start_model(), obstacle) {
            (Some(_), Some(obstacle)) => return Err(Box::new(obstacle)),
            (Some(model), None) => {
                return Ok(Meanings {
                    reference: false,
                    models: vec![model],
                });
            }
            (None, Some(obstacle)) => {
                let message = format!("ran the reference alone: {}", obstacle.message);
                let remark = Report {
                    severity: Severity::Remark,
                    verdict: Verdict::Fine,
                    message,
                    ..obstacle
                };
                outcome.add(self, &remark);
                Vec::new()
            }
            (None, None) => vec![StartModel::WrittenBit, StartModel::EagerZero],
        };
        Ok(reference_and(models))
    }

    /// Why the machine cannot run the program, if it cannot.
    fn obstacle(&self, platform: Platform) -> Option<Report> {
        let Decoded { code, entry, .. } = self.decoded;
        let has_group_flags = match platform {
            Platform::Pe(target) => target.has_group_flags,
            Platform::Tile => false,
        };
        if !has_group_flags {
            let message = format!("{} has no accumulation-group flags", platform.name());
            let site = site_of(code, *entry);
            return Some(Report::unusable("pto:auto-flags", site, message));
        }
        code.machine_obstacle(*entry)
    }

    fn location(&self, site: SiteId) -> Location {
        let known = self.op(site);
        known.map_or_else(|| self.module.location(), |op| op.location())
    }

    fn op(&self, site: SiteId) -> Option<Op> {
        site.index()
            .and_then(|index| self.decoded.sites.get(index).copied())
    }
}

impl Outcome {
    fn add(&mut self, session: &Session<'_>, report: &Report) {
        self.status = self.status.max(report.verdict.status());
        self.messages.push(Message {
            severity: report.severity,
            name: report.tag,
            location: session.location(report.site),
            text: report.text(),
            notes: report
                .notes
                .iter()
                .map(|(site, text)| (session.location(*site), text.clone()))
                .collect(),
        });
    }
}

/// The PE target where nothing names one. A run on tiles has one too, of which nothing is used.
fn default_target() -> Result<&'static Target, Box<Report>> {
    Target::from_name(Target::DEFAULT).ok_or_else(|| no_target("there is no default target".into()))
}

fn no_target(message: String) -> Box<Report> {
    Box::new(Report::unusable("pto:target", SiteId::NONE, message))
}

fn reference_and(models: Vec<StartModel>) -> Meanings {
    Meanings {
        reference: true,
        models,
    }
}

fn site_of(code: &Code, function: FuncId) -> SiteId {
    code.func(function).site
}

fn refused(refusal: &Refusal) -> Outcome {
    Outcome {
        status: Verdict::Unusable.status(),
        messages: vec![Message::error(
            refusal.tag,
            refusal.location,
            &refusal.message,
        )],
        ..Outcome::default()
    }
}
