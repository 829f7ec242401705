//! What the pictures of a run have in common: instructions as text, flags in words.

use pto_ir::{AccFlags, Interval};
use pto_machine::code::Platform;
use pto_machine::report::SiteId;
use pto_machine::trace::{Event, Trace, ZeroRegion};
use rustc_hash::FxHashMap;

use crate::handle::{Op, Printer};

/// The machine of a run, and what its time counts.
pub(super) struct Axis {
    /// The name of the target.
    pub(super) target: &'static str,
    /// Whether time is cycles. The tile ISA has none: there it is the number of the instruction.
    pub(super) is_timed: bool,
}

impl Axis {
    pub(super) const fn of(platform: Platform) -> Self {
        match platform {
            Platform::Pe(target) => Self {
                target: target.name,
                is_timed: true,
            },
            Platform::Tile => Self {
                target: "tile",
                is_timed: false,
            },
        }
    }
}

/// An instruction of the program, as its source has it.
pub(super) struct Text {
    /// Its first line.
    pub(super) line: String,
    /// The name of the operation.
    pub(super) name: String,
    /// Where it is.
    pub(super) location: String,
}

/// The instructions that were executed, each once.
pub(super) struct Texts {
    texts: Vec<Text>,
    numbers: FxHashMap<SiteId, usize>,
}

impl Texts {
    /// Those of `trace`, whose sites are operations inside `module`.
    pub(super) fn new(module: Op, sites: &[Op], trace: &Trace) -> Self {
        let printer = Printer::new(module);
        let mut all = Self {
            texts: Vec::new(),
            numbers: FxHashMap::default(),
        };
        for event in &trace.events {
            let next = all.texts.len();
            if *all.numbers.entry(event.site).or_insert(next) < next {
                continue;
            }
            let op = event.site.index().and_then(|index| sites.get(index));
            all.texts.push(match op {
                Some(&op) => Text {
                    line: printer.line(op),
                    name: op.name(),
                    location: op.location().text(),
                },
                None => Text {
                    line: "the run itself".to_owned(),
                    name: "run".to_owned(),
                    location: String::new(),
                },
            });
        }
        all
    }

    /// All of them, in order of their first execution.
    pub(super) fn all(&self) -> &[Text] {
        &self.texts
    }

    /// The number of the instruction that `event` executes.
    pub(super) fn number(&self, event: &Event) -> usize {
        self.numbers.get(&event.site).copied().unwrap_or(0)
    }

    /// The instruction that `event` executes.
    pub(super) fn of(&self, event: &Event) -> &Text {
        &self.texts[self.number(event)]
    }
}

/// What the control byte says, in words.
pub(super) fn decoded(flags: AccFlags, region: Option<&ZeroRegion>) -> String {
    let region = region.map_or_else(String::new, |region| {
        let verb = if flags.starts() {
            "makes pending"
        } else {
            "resumes"
        };
        format!(
            "; {verb} banks {}, partitions {}",
            closed(region.banks),
            closed(region.partitions)
        )
    });
    format!("{flags} (byte {}): {}{region}", flags.byte(), flags.role())
}

/// An interval by its first and last member.
pub(super) fn closed(interval: Interval) -> String {
    format!("{}-{}", interval.start, interval.end.saturating_sub(1))
}
