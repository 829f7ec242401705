//! What the machine demands of an access: facts that an operation alone does not tell.

use pto_ir::{Engine, Interval, Target, Tile};

use super::Machine;
use crate::code::MatmulOp;
use crate::memory::{Storage, View};
use crate::psum::{PsumBuffer, Region};
use crate::report::{Outcome, Report, SiteId};

impl Machine<'_> {
    /// An error if an engine cannot access the PSUM cells of `view` in one go.
    pub(super) fn check_engine_access(
        &self,
        engine: Engine,
        view: &View,
        site: SiteId,
    ) -> Outcome<()> {
        if engine == Engine::Other {
            return Ok(());
        }
        let buffer = self.memory.buffer(view, site)?;
        if let Storage::Psum(psum) = &buffer.storage {
            self.engine_region(psum, view, (site, buffer.site))?;
        }
        Ok(())
    }

    /// The cells of a view of `psum`, which an engine accesses in one go.
    pub(super) fn engine_region(
        &self,
        psum: &PsumBuffer,
        view: &View,
        sites: (SiteId, SiteId),
    ) -> Outcome<Region> {
        let region = view.region(psum.columns).ok_or_else(|| {
            let message = format!(
                "expected a view of psum whose dimension 0 steps through partitions one by one, \
                 found {:?}",
                view.dims
            );
            Box::new(Report::unusable("pto:view", sites.0, message))
        })?;
        self.check_start_partition(psum, &region, sites)?;
        Ok(region)
    }

    /// An error if the partitions of an access of a placed buffer start where none may.
    fn check_start_partition(
        &self,
        psum: &PsumBuffer,
        region: &Region,
        (site, allocated): (SiteId, SiteId),
    ) -> Outcome<()> {
        let Some(place) = psum.placement else {
            return Ok(());
        };
        let count = region.partitions.len();
        let start = place.partition + region.partitions.start;
        if count == 0 || self.config.target.is_legal_start_partition(start, count) {
            return Ok(());
        }
        let legal = self.config.target.legal_start_partitions(count);
        let message = format!(
            "expected an access of {count} partitions to start at one of {legal:?}, found {start}"
        );
        let report = Report::unusable("pto:start-partition", site, message);
        Err(Box::new(report.with_note(allocated, "allocated here")))
    }

    /// An error if the machine has no such matmul, whatever its operands hold.
    pub(super) fn check_matmul(
        &self,
        op: &MatmulOp,
        (depth, rows, columns): (u64, u64, u64),
        site: SiteId,
    ) -> Outcome<()> {
        let target = self.config.target;
        let tile = op.tile.unwrap_or(whole_array(target));
        let limit = |what: &str, limit: u32, found: u64| {
            let message = format!(
                "{what} of at most {limit} on {}, found {found}",
                target.name
            );
            Err(Box::new(Report::unusable(
                "pto:target-limit",
                site,
                message,
            )))
        };
        if depth > u64::from(tile.rows) {
            return limit("expected a contraction", tile.rows, depth);
        }
        if rows > u64::from(tile.cols) {
            return limit("expected an m", tile.cols, rows);
        }
        if columns > u64::from(target.max_moving_cells) {
            return limit("expected an n", target.max_moving_cells, columns);
        }
        let refuse = |message: String| {
            Err(Box::new(Report::unusable(
                "pto:target-limit",
                site,
                message,
            )))
        };
        if op.tile.is_some() && !target.row_tiles.contains(&tile.rows) {
            let legal = target.row_tiles;
            return refuse(format!(
                "expected a tile of {legal:?} rows on {}, found {}",
                target.name, tile.rows
            ));
        }
        let group = column_group(op.tile, target);
        let last = Interval::new(
            target.partitions - target.quadrant_partitions,
            target.partitions,
        );
        if group == last && !target.has_last_quadrant_group {
            return refuse(format!(
                "{} has no column group of the last quadrant alone",
                target.name
            ));
        }
        let flags = op.flags.unwrap_or_default();
        if !flags.is_legal(target.has_accumulate) {
            return refuse(format!("{} has no flags {flags}", target.name));
        }
        match op.zero_region {
            Some(code) if code > target.max_zero_region_code => limit(
                "expected a zero-region code",
                target.max_zero_region_code.into(),
                code.into(),
            ),
            _ => Ok(()),
        }
    }

    /// An error if the tile of a matmul is not where its operands and its destination are.
    pub(super) fn check_tile_position(
        &self,
        op: &MatmulOp,
        psum: &PsumBuffer,
        region: &Region,
        site: SiteId,
    ) -> Outcome<()> {
        let tile = op.tile.unwrap_or(whole_array(self.config.target));
        let name = if op.tile.is_some() {
            "the tile"
        } else {
            "the whole array"
        };
        if let Some(place) = psum.placement {
            let base = place.partition + region.partitions.start;
            if base != tile.col {
                let message = format!(
                    "expected the destination to start at partition {}, the first column of {name}, \
                     found partition {base}",
                    tile.col
                );
                return Err(Box::new(Report::unusable(
                    "pto:tile-position",
                    site,
                    message,
                )));
            }
        }
        for slot in [op.stationary, op.moving] {
            let view = self.view(slot);
            let Some(rows) = self.memory.buffer(view, site)?.rows else {
                continue;
            };
            let base = u64::from(rows.first) + view.offset as u64 / rows.elements.max(1);
            if base != u64::from(tile.row) {
                let message = format!(
                    "expected the operands to start at partition {}, the first row of {name}, found \
                     partition {base}",
                    tile.row
                );
                return Err(Box::new(Report::unusable(
                    "pto:tile-position",
                    site,
                    message,
                )));
            }
        }
        Ok(())
    }
}

/// The tile of a matmul that names none.
fn whole_array(target: &Target) -> Tile {
    Tile {
        rows: target.pe_rows,
        cols: target.pe_columns,
        row: 0,
        col: 0,
    }
}

/// The PSUM partitions of the quadrants that the columns of a tile meet.
pub(super) fn column_group(tile: Option<Tile>, target: &Target) -> Interval {
    let tile = tile.unwrap_or(whole_array(target));
    let quadrants = target.quadrants(Interval::new(tile.col, tile.col + tile.cols));
    Interval::new(
        quadrants.start * target.quadrant_partitions,
        (quadrants.end * target.quadrant_partitions).min(target.partitions),
    )
}
