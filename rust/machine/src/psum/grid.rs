//! A piecewise constant map over the cells of one bank or one buffer.
//!
//! The rows (partitions) are cut into *bands*, and each band into *runs* of columns with one state.
//! An instruction writes rectangles, and instructions repeat the same few rectangles, so a bank has
//! a handful of runs and an update touches one of them; a state per cell would cost a pass over
//! 64 Ki cells for every START. The worst case, every cell its own run, is bounded by the number of
//! cells, and finding a run stays logarithmic.
//!
//! Neighbours in one state are not merged at once: a program that writes a rectangle writes it
//! again, and would cut what was just merged. They are merged when their number has grown.

use pto_ir::Interval;
use smallvec::SmallVec;

/// A map from (row, column) to `S` with few distinct rectangles.
#[derive(Clone, Debug)]
pub(crate) struct Grid<S> {
    columns: u32,
    bands: Vec<Band<S>>,
    /// Bands are merged when there are more than this.
    merge_bands_above: usize,
}

/// Rows up to `end` (from the end of the band before), all alike.
#[derive(Clone, Debug)]
struct Band<S> {
    end: u32,
    runs: SmallVec<[Run<S>; 6]>,
    /// Runs are merged when there are more than this.
    merge_runs_above: usize,
}

/// Columns up to `end` (from the end of the run before) in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run<S> {
    end: u32,
    state: S,
}

/// How many bands or runs there may be before neighbours are merged.
const FEW: usize = 16;

impl<S: Copy + PartialEq> Grid<S> {
    /// `rows` times `columns` cells in the state `state`.
    pub(crate) fn new(rows: u32, columns: u32, state: S) -> Self {
        let run = Run {
            end: columns,
            state,
        };
        Self {
            columns,
            bands: vec![Band {
                end: rows,
                runs: SmallVec::from_elem(run, 1),
                merge_runs_above: FEW,
            }],
            merge_bands_above: FEW,
        }
    }

    /// Puts every cell into `state`.
    pub(crate) fn reset(&mut self, state: S) {
        let columns = self.columns;
        self.bands.drain(..self.bands.len() - 1);
        if let Some(band) = self.bands.last_mut() {
            band.runs.clear();
            band.runs.push(Run {
                end: columns,
                state,
            });
        }
    }

    /// Calls `visit` for each rectangle of one state within `rows` times `columns`, in order.
    pub(crate) fn visit(
        &self,
        rows: Interval,
        columns: Interval,
        mut visit: impl FnMut(Interval, Interval, S),
    ) {
        let first = self.bands.partition_point(|band| band.end <= rows.start);
        let mut start = rows.start;
        for band in &self.bands[first..] {
            if start >= rows.end {
                break;
            }
            let band_rows = Interval::new(start, band.end.min(rows.end));
            band.visit(columns, |columns, state| visit(band_rows, columns, state));
            start = band.end;
        }
    }

    /// Replaces the state of each rectangle within `rows` times `columns` by what `change` makes
    /// of it.
    pub(crate) fn update(
        &mut self,
        rows: Interval,
        columns: Interval,
        mut change: impl FnMut(Interval, Interval, S) -> S,
    ) {
        if rows.is_empty() || columns.is_empty() {
            return;
        }
        let first = self.cut_row(rows.start);
        let last = self.cut_row(rows.end);
        let mut start = rows.start;
        for band in &mut self.bands[first..last] {
            let band_rows = Interval::new(start, band.end);
            band.update(columns, |columns, state| change(band_rows, columns, state));
            start = band.end;
        }
        if self.bands.len() > self.merge_bands_above {
            self.merge_bands();
        }
    }

    /// Makes a band begin at `row`; returns its index (or the number of bands, at the end).
    fn cut_row(&mut self, row: u32) -> usize {
        let index = self.bands.partition_point(|band| band.end <= row);
        let start = match index.checked_sub(1) {
            Some(before) => self.bands[before].end,
            None => 0,
        };
        if start == row || index == self.bands.len() {
            return index;
        }
        let mut upper = self.bands[index].clone();
        upper.end = row;
        self.bands.insert(index, upper);
        index + 1
    }

    fn merge_bands(&mut self) {
        self.bands.dedup_by(|band, before| {
            let same = band.runs == before.runs;
            if same {
                before.end = band.end;
            }
            same
        });
        self.merge_bands_above = FEW.max(2 * self.bands.len());
    }
}

impl<S: Copy + PartialEq> Band<S> {
    fn visit(&self, columns: Interval, mut visit: impl FnMut(Interval, S)) {
        let mut start = columns.start;
        for run in &self.runs[self.run_at(columns.start)..] {
            if start >= columns.end {
                break;
            }
            visit(Interval::new(start, run.end.min(columns.end)), run.state);
            start = run.end;
        }
    }

    fn update(&mut self, columns: Interval, mut change: impl FnMut(Interval, S) -> S) {
        let first = self.cut_column(columns.start);
        let last = self.cut_column(columns.end);
        let mut start = columns.start;
        for run in &mut self.runs[first..last] {
            run.state = change(Interval::new(start, run.end), run.state);
            start = run.end;
        }
        if self.runs.len() > self.merge_runs_above {
            self.merge_runs();
        }
    }

    /// The index of the run that holds `column`.
    fn run_at(&self, column: u32) -> usize {
        if self.runs.len() <= FEW {
            let is_after = |run: &Run<S>| run.end > column;
            return self
                .runs
                .iter()
                .position(is_after)
                .unwrap_or(self.runs.len());
        }
        self.runs.partition_point(|run| run.end <= column)
    }

    /// Makes a run begin at `column`; returns its index (or the number of runs, at the end).
    fn cut_column(&mut self, column: u32) -> usize {
        let index = self.run_at(column);
        let start = match index.checked_sub(1) {
            Some(before) => self.runs[before].end,
            None => 0,
        };
        if start == column || index == self.runs.len() {
            return index;
        }
        let state = self.runs[index].state;
        self.runs.insert(index, Run { end: column, state });
        index + 1
    }

    fn merge_runs(&mut self) {
        self.runs.dedup_by(|run, before| {
            let same = run.state == before.state;
            if same {
                before.end = run.end;
            }
            same
        });
        self.merge_runs_above = FEW.max(2 * self.runs.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROWS: u32 = 9;
    const COLUMNS: u32 = 40;

    fn rectangle() -> impl Strategy<Value = (Interval, Interval)> {
        let within = |limit: u32| {
            (0..limit, 1..=limit)
                .prop_map(move |(start, len)| Interval::new(start, (start + len).min(limit)))
        };
        (within(ROWS), within(COLUMNS))
    }

    proptest! {
        /// Against one state per cell: every update and every visit, in any order.
        #[test]
        fn agrees_with_a_state_per_cell(steps in prop::collection::vec((rectangle(), 0u8..4), 1..120)) {
            let mut grid = Grid::new(ROWS, COLUMNS, 0u8);
            let mut cells = vec![0u8; (ROWS * COLUMNS) as usize];
            for ((rows, columns), value) in steps {
                let mut changed = 0;
                grid.update(rows, columns, |rows, columns, state| {
                    for row in rows.start..rows.end {
                        for column in columns.start..columns.end {
                            assert_eq!(cells[(row * COLUMNS + column) as usize], state);
                            changed += 1;
                        }
                    }
                    state.wrapping_add(value) % 5
                });
                prop_assert_eq!(changed, rows.len() * columns.len());
                for row in rows.start..rows.end {
                    for column in columns.start..columns.end {
                        let cell = &mut cells[(row * COLUMNS + column) as usize];
                        *cell = cell.wrapping_add(value) % 5;
                    }
                }
                let mut seen = 0;
                grid.visit(Interval::new(0, ROWS), Interval::new(0, COLUMNS), |rows, columns, state| {
                    for row in rows.start..rows.end {
                        for column in columns.start..columns.end {
                            assert_eq!(cells[(row * COLUMNS + column) as usize], state);
                            seen += 1;
                        }
                    }
                });
                prop_assert_eq!(seen, ROWS * COLUMNS);
            }
        }
    }

    #[test]
    fn repeated_rectangles_do_not_grow_the_grid() {
        let mut grid = Grid::new(128, 512, 0u32);
        for step in 0..10_000u32 {
            let column = step % 8 * 64;
            grid.update(
                Interval::new(step % 4 * 32, step % 4 * 32 + 32),
                Interval::new(column, column + 64),
                |_, _, _| step,
            );
        }
        assert!(grid.bands.len() <= 4);
        assert!(grid.bands.iter().all(|band| band.runs.len() <= 8));
        grid.reset(7);
        grid.visit(
            Interval::new(0, 128),
            Interval::new(0, 512),
            |rows, columns, state| {
                assert_eq!((rows.len(), columns.len(), state), (128, 512, 7));
            },
        );
    }
}
