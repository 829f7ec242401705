//! Hazards: accesses whose result nobody promises.

use pto_ir::{Interval, Severity};
use rustc_hash::FxHashSet;

use crate::report::{Outcome, Report, SiteId, Verdict};

/// A kind of hazard. Each names two sites: the access, and the instruction that put the cell into
/// the state that makes the access hazardous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HazardKind {
    /// The PE adds to a cell that holds nothing.
    AccumulateUndefined,
    /// A cell of an open accumulation group is overwritten by another engine.
    LostPartial,
    /// Two iterations of a parallel loop touch one element, of any memory, and one of them writes.
    ParallelConflict,
    /// A cell of an open accumulation group is read.
    ReadOpenGroup,
    /// Two instructions that nothing orders touch one quadrant of one bank, and one of them is a
    /// write of another engine's PE array or of another of its tiles. Looked for only on request.
    PsumCollision,
    /// A cell is read that a START made pending and no write has filled since.
    ReadPending,
    /// A cell is read that nothing was ever written to.
    ReadUndefined,
    /// A cell is read or added to although a START elsewhere in its zero region hit its contents.
    StartClobbers,
}

impl HazardKind {
    /// The stable tag.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::AccumulateUndefined => "pto:accumulate-undefined",
            Self::LostPartial => "pto:lost-partial",
            Self::ParallelConflict => "pto:parallel-conflict",
            Self::PsumCollision => "pto:psum-collision",
            Self::ReadOpenGroup => "pto:read-open-group",
            Self::ReadPending => "pto:read-pending",
            Self::ReadUndefined => "pto:read-undefined",
            Self::StartClobbers => "pto:start-clobbers",
        }
    }

    /// Whether it is an error by default; the others are warnings.
    pub const fn is_error(self) -> bool {
        !matches!(self, Self::LostPartial | Self::ReadOpenGroup)
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::AccumulateUndefined => "adds to psum cells that hold nothing",
            Self::LostPartial => {
                "overwrites psum cells of an accumulation group that is still open"
            }
            Self::ParallelConflict => "depends on the order of two iterations of a parallel loop",
            Self::ReadOpenGroup => "reads psum cells of an accumulation group that is still open",
            Self::PsumCollision => {
                "touches a bank that another instruction may be using at the same time"
            }
            Self::ReadPending => "reads psum cells that are pending: cleared and not yet written",
            Self::ReadUndefined => "reads psum cells that hold nothing",
            Self::StartClobbers => "uses psum cells whose contents a start has clobbered",
        }
    }

    const fn note(self) -> &'static str {
        match self {
            Self::LostPartial | Self::ReadOpenGroup => "last written here, without a stop",
            Self::ParallelConflict => "the other iteration's access is here",
            Self::PsumCollision => "the other instruction is here, and nothing orders the two",
            Self::ReadPending => "made pending by the start here",
            Self::StartClobbers => "clobbered by the start here",
            Self::AccumulateUndefined | Self::ReadUndefined => "allocated here",
        }
    }
}

/// What to do about hazards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HazardPolicy {
    /// Those that are errors end the run, the others are warnings.
    #[default]
    Error,
    /// The same, and collisions are looked for: instructions that may run at the same time.
    Async,
    /// All of them are warnings.
    Warn,
    /// They are not reported.
    Off,
}

/// One hazard as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// Its kind.
    pub kind: HazardKind,
    /// The access.
    pub site: SiteId,
    /// The instruction before it; [`SiteId::NONE`] where there was none.
    pub earlier: SiteId,
    /// The bank.
    pub bank: u32,
    /// The partitions of the first cells that are hit.
    pub partitions: Interval,
    /// Their bytes, from the start of the bank.
    pub bytes: Interval,
}

/// Reports kept at most; a run that has more says how many it left out.
const MAX_REPORTS: usize = 100;

/// The hazards of a run, each pair of sites once.
#[derive(Debug, Default)]
pub struct HazardLog {
    policy: HazardPolicy,
    seen: FxHashSet<(HazardKind, SiteId, SiteId)>,
    reports: Vec<Report>,
    left_out: usize,
}

impl HazardLog {
    /// An empty log under `policy`.
    pub fn new(policy: HazardPolicy) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }

    /// Notes a hazard.
    ///
    /// # Errors
    /// The report, where the hazard ends the run.
    pub fn note(&mut self, hazard: Hazard) -> Outcome<()> {
        let Hazard {
            kind,
            site,
            earlier,
            bank,
            partitions,
            bytes,
        } = hazard;
        if !self.is_new(kind, site, earlier) {
            return Ok(());
        }
        let place = format!("bank {bank}, partitions {partitions}, bytes {bytes}");
        self.add(self.report(kind, (site, earlier), &place))
    }

    /// Notes that an access and an earlier one, of another iteration of a loop, are in conflict at
    /// `place`. The sites are theirs and that of the loop.
    ///
    /// # Errors
    /// The report, where the hazard ends the run.
    pub(crate) fn note_conflict(
        &mut self,
        (site, earlier, in_loop): (SiteId, SiteId, SiteId),
        place: &str,
    ) -> Outcome<()> {
        let kind = HazardKind::ParallelConflict;
        if !self.is_new(kind, site, earlier) {
            return Ok(());
        }
        let report = self.report(kind, (site, earlier), place);
        self.add(report.with_note(in_loop, "iterations of this loop run in any order"))
    }

    /// Whether hazards are reported at all.
    pub(crate) fn is_on(&self) -> bool {
        self.policy != HazardPolicy::Off
    }

    /// Whether hazards are reported, and this one was not yet.
    fn is_new(&mut self, kind: HazardKind, site: SiteId, earlier: SiteId) -> bool {
        self.is_on() && self.seen.insert((kind, site, earlier))
    }

    fn add(&mut self, report: Report) -> Outcome<()> {
        if report.verdict == Verdict::Failed {
            return Err(Box::new(report));
        }
        if self.reports.len() < MAX_REPORTS {
            self.reports.push(report);
        } else {
            self.left_out += 1;
        }
        Ok(())
    }

    /// The warnings so far.
    pub(crate) fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// The warnings so far, and a closing line if some were left out.
    pub fn into_reports(self) -> Vec<Report> {
        let mut reports = self.reports;
        if self.left_out > 0 {
            let message = format!("{} further hazards were not reported", self.left_out);
            reports.push(Report::warning("pto:hazards", SiteId::NONE, message));
        }
        reports
    }

    fn report(&self, kind: HazardKind, (site, earlier): (SiteId, SiteId), place: &str) -> Report {
        let message = format!("{}: {place}", kind.sentence());
        let ends_runs = matches!(self.policy, HazardPolicy::Error | HazardPolicy::Async);
        let is_error = kind.is_error() && ends_runs;
        let report = Report {
            severity: if is_error {
                Severity::Error
            } else {
                Severity::Warning
            },
            verdict: if is_error {
                Verdict::Failed
            } else {
                Verdict::Fine
            },
            tag: kind.tag(),
            site,
            message,
            notes: Vec::new(),
        };
        if earlier == SiteId::NONE {
            return report;
        }
        report.with_note(earlier, kind.note())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hazard(kind: HazardKind, site: usize) -> Hazard {
        Hazard {
            kind,
            site: SiteId::new(site),
            earlier: SiteId::new(7),
            bank: 2,
            partitions: Interval::new(0, 128),
            bytes: Interval::new(0, 64),
        }
    }

    #[test]
    fn errors_end_the_run_and_name_both_sites() {
        let mut log = HazardLog::new(HazardPolicy::Error);
        assert!(log.note(hazard(HazardKind::ReadOpenGroup, 1)).is_ok());
        let report = log
            .note(hazard(HazardKind::ReadPending, 1))
            .expect_err("an error");
        assert_eq!(
            report.text(),
            "reads psum cells that are pending: cleared and not yet written: bank 2, \
             partitions 0..128, bytes 0..64 [pto:read-pending]"
        );
        assert_eq!(report.notes[0].0, SiteId::new(7));
        assert_eq!(log.into_reports().len(), 1);
    }

    #[test]
    fn a_pair_of_sites_is_reported_once_and_the_list_is_bounded() {
        let mut log = HazardLog::new(HazardPolicy::Warn);
        for site in (0..1000).chain(0..1000) {
            assert!(log.note(hazard(HazardKind::ReadPending, site)).is_ok());
        }
        let reports = log.into_reports();
        assert_eq!(reports.len(), MAX_REPORTS + 1);
        assert!(reports[MAX_REPORTS].text().starts_with("900 further"));
        let mut off = HazardLog::new(HazardPolicy::Off);
        assert!(off.note(hazard(HazardKind::ReadPending, 1)).is_ok());
        assert!(off.into_reports().is_empty());
    }
}
