//! Messages with MLIR locations, ready to be printed.

use pto_ir::{Anchor, Diag, Plan, Severity, Site};

use crate::handle::Location;
use crate::read::Reading;

/// One message at a location.
pub(crate) struct Message {
    pub(crate) severity: Severity,
    /// The name of a remark; the tag of an error or a warning.
    pub(crate) name: &'static str,
    pub(crate) location: Location,
    /// The sentence as printed, with its tag in brackets unless it is a remark.
    pub(crate) text: String,
    pub(crate) notes: Vec<(Location, String)>,
}

impl Message {
    /// An error with the tag `tag`, which is appended to `sentence`.
    pub(crate) fn error(tag: &'static str, location: Location, sentence: &str) -> Self {
        Self {
            severity: Severity::Error,
            name: tag,
            location,
            text: format!("{sentence} [{tag}]"),
            notes: Vec::new(),
        }
    }

    /// A diagnostic of a pass on the function that `reading` holds, or on what `plan` makes of it:
    /// there the ids after those of the function are the new memsets, in order.
    pub(crate) fn located(diag: Diag, reading: &Reading, plan: &Plan) -> Self {
        let existing = reading.program.insts().len();
        let locate = |site| match site {
            Site::Inst(inst) if inst.index() >= existing => {
                let memset = &plan.memsets[inst.index() - existing];
                match memset.at {
                    Anchor::Before(inst) => reading.op(inst).location(),
                    Anchor::End(_) => reading.function.location(),
                }
            }
            known => site_location(known, reading),
        };
        Self::of(diag, locate)
    }

    /// A diagnostic, `locate` telling where its sites are.
    pub(crate) fn of(mut diag: Diag, locate: impl Fn(Site) -> Location) -> Self {
        let notes = std::mem::take(&mut diag.notes).into_iter();
        Self {
            severity: diag.severity,
            name: diag.tag,
            location: locate(diag.site),
            notes: notes.map(|(site, text)| (locate(site), text)).collect(),
            text: diag.into_text(),
        }
    }
}

/// The location of `site` in the function that `reading` holds.
pub(crate) fn site_location(site: Site, reading: &Reading) -> Location {
    match site {
        Site::Function => reading.function.location(),
        Site::Inst(inst) => reading.op(inst).location(),
        Site::Alloc(alloc) => reading.alloc_location(alloc),
    }
}
