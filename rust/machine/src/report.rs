//! What a run says: diagnostics as data, with sites that whoever made the code can resolve.

use pto_ir::Severity;

/// A place in the source, as numbered by whoever built the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(u32);

impl SiteId {
    /// No place: the report is about the whole run.
    pub const NONE: Self = Self(u32::MAX);

    /// The site numbered `index`.
    pub const fn new(index: usize) -> Self {
        Self(index as u32)
    }

    /// The number of the site; `None` for [`Self::NONE`].
    pub fn index(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }
}

/// What a report means for the exit status of the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing: a warning or a remark. Status 0.
    Fine,
    /// The program failed: an expectation, a comparison, a hazard, an undefined read. Status 1.
    Failed,
    /// The program cannot be run: something unsupported, malformed, or over a limit. Status 2.
    Unusable,
}

impl Verdict {
    /// The exit status.
    pub const fn status(self) -> u8 {
        self as u8
    }
}

/// One message with its place, and the places that explain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Error, warning or remark.
    pub severity: Severity,
    /// Whether the run failed, and how.
    pub verdict: Verdict,
    /// The stable tag, without brackets; empty where there is none.
    pub tag: &'static str,
    /// Where.
    pub site: SiteId,
    /// The sentence, lower case, without the tag.
    pub message: String,
    /// Further places.
    pub notes: Vec<(SiteId, String)>,
}

impl Report {
    /// The program failed at `site`.
    pub fn failed(tag: &'static str, site: SiteId, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            verdict: Verdict::Failed,
            tag,
            site,
            message: message.into(),
            notes: Vec::new(),
        }
    }

    /// The program cannot be run.
    pub fn unusable(tag: &'static str, site: SiteId, message: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Unusable,
            ..Self::failed(tag, site, message)
        }
    }

    /// Something the reader should know.
    pub fn warning(tag: &'static str, site: SiteId, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            verdict: Verdict::Fine,
            ..Self::failed(tag, site, message)
        }
    }

    /// This report with one more note.
    #[must_use]
    pub fn with_note(mut self, site: SiteId, message: impl Into<String>) -> Self {
        self.notes.push((site, message.into()));
        self
    }

    /// The sentence as printed, with the tag in brackets at its end.
    pub fn text(&self) -> String {
        if self.tag.is_empty() {
            return self.message.clone();
        }
        format!("{} [{}]", self.message, self.tag)
    }
}

/// The result of a step; an error is boxed because it is rare and large.
pub type Outcome<T> = Result<T, Box<Report>>;
