//! The meaning of a program before legalization: per allocation, without banks and flags.
//!
//! A cell of an allocation is fresh until it is written. A `tmatmul` overwrites; a `tmatmul_acc`
//! overwrites a fresh cell and adds to any other; every other write makes plain data; reading a
//! fresh cell is an error.

use pto_ir::Interval;

use super::grid::Grid;
use super::physical::{PeWrite, Region};
use super::plane::{self, Contents, Plane};
use crate::report::{Outcome, Report, SiteId};

/// The cells of one allocation.
#[derive(Debug)]
pub(crate) struct ReferenceCells {
    states: Grid<RefCell>,
    plane: Plane,
    allocated: SiteId,
}

/// The state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RefCell {
    fresh: bool,
    site: SiteId,
}

impl ReferenceCells {
    /// `rows` partitions of `columns` fresh cells, allocated at `site`.
    pub(crate) fn new(rows: u32, columns: u32, site: SiteId) -> Self {
        let state = RefCell { fresh: true, site };
        Self {
            states: Grid::new(rows, columns, state),
            plane: Plane::new(rows, columns),
            allocated: site,
        }
    }

    /// A matmul writes its sums to `region`.
    pub(crate) fn pe_write(&mut self, region: &Region, write: &PeWrite<'_>) {
        let Self { states, plane, .. } = self;
        let after = RefCell {
            fresh: false,
            site: write.site,
        };
        region.for_each_span(|columns, skipped| {
            states.update(region.partitions, columns, |rows, part, before| {
                let adds = write.accumulates && !before.fresh;
                let base = if adds { Contents::Word } else { Contents::Zero };
                let first = skipped + (part.start - columns.start) as usize;
                for row in rows.start..rows.end {
                    let own_row = (row - region.partitions.start) as usize;
                    let cells = plane.row_mut(row, part);
                    plane::accumulate(cells, &write.sums, (own_row, first), base);
                }
                after
            });
        });
    }

    /// Another engine writes `words`, row by row, to `region`.
    pub(crate) fn write(&mut self, region: &Region, words: &[u32], site: SiteId) {
        let width = region.width();
        let Self { states, plane, .. } = self;
        region.for_each_span(|columns, skipped| {
            states.update(region.partitions, columns, |rows, part, _| {
                for row in rows.start..rows.end {
                    let first = (row - region.partitions.start) as usize * width
                        + skipped
                        + (part.start - columns.start) as usize;
                    let source = &words[first..first + part.len() as usize];
                    plane.row_mut(row, part).copy_from_slice(source);
                }
                RefCell { fresh: false, site }
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
                    if cell.fresh && fresh.is_none() {
                        fresh = Some((rows, part));
                    }
                });
        });
        if let Some((rows, part)) = fresh {
            return Err(self.undefined_read(site, rows, part));
        }
        for row in region.partitions.start..region.partitions.end {
            for &columns in &region.columns {
                out.extend_from_slice(self.plane.row(row, columns));
            }
        }
        Ok(())
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
