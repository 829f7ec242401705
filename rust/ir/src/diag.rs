//! Diagnostics as data: passes return them, the host compiler prints them.

use crate::ids::{AllocId, InstId};

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Explains a decision. Printed only when asked for.
    Remark,
    /// The result is right, but the reader should know.
    Warning,
    /// Nothing was changed.
    Error,
}

/// The place a diagnostic points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Site {
    /// The function as a whole.
    Function,
    /// An instruction.
    Inst(InstId),
    /// The operation that made an allocation (or the function, for an argument).
    Alloc(AllocId),
}

/// One message: lower case, what was expected and what was found, with notes at other sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    /// Error, warning or remark.
    pub severity: Severity,
    /// A stable name. Errors and warnings: the tag without brackets, such as `pto:unplaced`, which
    /// is appended to the printed message. Remarks: the remark's name, such as `pto.acc-start`.
    pub tag: &'static str,
    /// Where.
    pub site: Site,
    /// The sentence, without the tag.
    pub message: String,
    /// Further places that explain it.
    pub notes: Vec<(Site, String)>,
}

impl Diag {
    /// An error with the tag `tag` at `site`.
    pub fn error(tag: &'static str, site: Site, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            tag,
            site,
            message: message.into(),
            notes: Vec::new(),
        }
    }

    /// A warning with the tag `tag` at `site`.
    pub fn warning(tag: &'static str, site: Site, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(tag, site, message)
        }
    }

    /// A remark called `name` at `site`.
    pub fn remark(name: &'static str, site: Site, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Remark,
            ..Self::error(name, site, message)
        }
    }

    /// Makes an error of a warning; leaves the others alone.
    pub fn promote_warning(&mut self) {
        if self.severity == Severity::Warning {
            self.severity = Severity::Error;
        }
    }

    /// This diagnostic with one more note.
    #[must_use]
    pub fn with_note(mut self, site: Site, message: impl Into<String>) -> Self {
        self.notes.push((site, message.into()));
        self
    }

    /// This diagnostic, of which each site is what `locate` makes of it.
    #[must_use]
    pub fn located(mut self, locate: impl Fn(Site) -> Site) -> Self {
        self.site = locate(self.site);
        for (site, _) in &mut self.notes {
            *site = locate(*site);
        }
        self
    }

    /// The sentence as printed: with the tag in brackets at its end, remarks without.
    pub fn text(&self) -> String {
        self.clone().into_text()
    }

    /// As before, of a diagnostic that is not needed any more.
    pub fn into_text(self) -> String {
        match self.severity {
            Severity::Remark => self.message,
            _ => format!("{} [{}]", self.message, self.tag),
        }
    }
}
