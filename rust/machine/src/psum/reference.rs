//! The meaning of a program before legalization: per allocation, without banks and flags.
//!
//! A cell of an allocation is fresh until it is written; a cell of an argument without contents is
//! undefined, which is an error to add to as well. A `tmatmul` overwrites; a `tmatmul_acc`
//! overwrites a fresh cell and adds to any other; every other write makes plain data; reading a
//! fresh cell is an error.

use pto_ir::Interval;

use super::grid::Grid;
use super::physical::{PeWrite, Region};
use super::plane::{Contents, Plane};
use crate::report::{Outcome, Report, SiteId};

/// The cells of one allocation. Their states are kept whatever the meanings of a run, because the
/// hazards of the machine depend on what a cell is for; their words only where asked for.
#[derive(Debug)]
pub(crate) struct ReferenceCells {
    states: Grid<RefCell>,
    plane: Option<Plane>,
    allocated: SiteId,
}

/// The state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RefCell {
    holds: Holds,
    site: SiteId,
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// Nothing yet: a `tmatmul_acc` overwrites it.
    Fresh,
    /// Nothing that is known: a `tmatmul_acc` would add to it.
    Unknown,
    /// A value.
    Value,
}

impl ReferenceCells {
    /// `rows` partitions of `columns` fresh cells, allocated at `site`; with words or without.
    pub(crate) fn new(rows: u32, columns: u32, has_words: bool, site: SiteId) -> Self {
        let state = RefCell {
            holds: Holds::Fresh,
            site,
        };
        Self {
            states: Grid::new(rows, columns, state),
            plane: has_words.then(|| Plane::new(rows, columns)),
            allocated: site,
        }
    }

    /// Where the buffer was allocated.
    pub(crate) fn site(&self) -> SiteId {
        self.allocated
    }

    /// Whether the words are kept: the reference is one of the meanings of the run.
    pub(crate) fn has_words(&self) -> bool {
        self.plane.is_some()
    }

    /// Whether a cell of `region` holds a value: a `tmatmul_acc` adds to it.
    pub(crate) fn has_values(&self, region: &Region) -> bool {
        let mut found = false;
        region.for_each_span(|columns, _| {
            self.states.visit(region.partitions, columns, |_, _, cell| {
                found |= cell.holds == Holds::Value;
            });
        });
        found
    }

    /// Its cells hold nothing that is known.
    pub(crate) fn undefine(&mut self, site: SiteId) {
        self.states.reset(RefCell {
            holds: Holds::Unknown,
            site,
        });
    }

    /// A matmul writes its sums to `region`.
    ///
    /// # Errors
    /// It adds to a cell that holds nothing known.
    pub(crate) fn pe_write(&mut self, region: &Region, write: &PeWrite<'_>) -> Outcome<()> {
        let Self { states, plane, .. } = self;
        let after = RefCell {
            holds: Holds::Value,
            site: write.site,
        };
        let mut unknown = None;
        region.for_each_span(|columns, skipped| {
            states.update(region.partitions, columns, |rows, part, before| {
                let adds = write.accumulates && before.holds != Holds::Fresh;
                if adds && before.holds == Holds::Unknown {
                    unknown = Some(before.site);
                }
                let base = if adds { Contents::Word } else { Contents::Zero };
                let first = skipped + (part.start - columns.start) as usize;
                if let Some(plane) = plane {
                    let first_row = (rows.start - region.partitions.start) as usize;
                    plane.accumulate(rows, part, &write.sums, (first_row, first), base);
                }
                after
            });
        });
        match unknown {
            Some(from) => Err(unknown_add(write.site, from)),
            None => Ok(()),
        }
    }

    /// Another engine writes `words`, row by row, to `region`.
    pub(crate) fn write(&mut self, region: &Region, words: &[u32], site: SiteId) {
        let width = region.width();
        let Self { states, plane, .. } = self;
        region.for_each_span(|columns, skipped| {
            states.update(region.partitions, columns, |rows, part, _| {
                let first = skipped + (part.start - columns.start) as usize;
                for row in rows.start..rows.end {
                    let Some(plane) = &mut *plane else { break };
                    let start = (row - region.partitions.start) as usize * width + first;
                    let source = &words[start..start + part.len() as usize];
                    plane.row_mut(row, part).copy_from_slice(source);
                }
                RefCell {
                    holds: Holds::Value,
                    site,
                }
            });
        });
    }

    /// Copies the words of `region` to `out`, row by row.
    ///
    /// # Errors
    /// A cell is fresh.
    pub(crate) fn read(&self, region: &Region, site: SiteId, out: &mut Vec<u32>) -> Outcome<()> {
        out.clear();
        let mut fresh = None;
        region.for_each_span(|columns, _| {
            self.states
                .visit(region.partitions, columns, |rows, part, cell| {
                    if cell.holds != Holds::Value && fresh.is_none() {
                        fresh = Some((rows, part));
                    }
                });
        });
        if let Some((rows, part)) = fresh {
            return Err(self.undefined_read(site, rows, part));
        }
        let Some(plane) = &self.plane else {
            return Ok(());
        };
        for row in region.partitions.start..region.partitions.end {
            for &columns in &region.columns {
                out.extend_from_slice(plane.row(row, columns));
            }
        }
        Ok(())
    }

    /// The parts of `region` that hold values.
    pub(crate) fn values(&self, region: &Region) -> Vec<Region> {
        let mut parts = Vec::new();
        region.for_each_span(|columns, _| {
            self.states
                .visit(region.partitions, columns, |rows, part, cell| {
                    if cell.holds == Holds::Value {
                        parts.push(Region::new(rows, part));
                    }
                });
        });
        parts
    }

    /// The last instruction that wrote the cell.
    pub(crate) fn last_event(&self, row: u32, column: u32) -> SiteId {
        let mut site = SiteId::NONE;
        self.states.visit(
            Interval::new(row, row + 1),
            Interval::new(column, column + 1),
            |_, _, cell| site = cell.site,
        );
        site
    }

    fn undefined_read(&self, site: SiteId, rows: Interval, columns: Interval) -> Box<Report> {
        let message = format!(
            "reads psum cells that hold nothing: rows {rows}, columns {columns} of the allocation"
        );
        let report = Report::failed("pto:read-undefined", site, message);
        Box::new(match self.allocated {
            SiteId::NONE => report,
            allocated => report.with_note(allocated, "allocated here"),
        })
    }
}

fn unknown_add(site: SiteId, from: SiteId) -> Box<Report> {
    let message = "adds to psum cells that hold nothing";
    let report = Report::failed("pto:accumulate-undefined", site, message);
    Box::new(report.with_note(from, "this argument has no contents"))
}
