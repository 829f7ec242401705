//! PSUM cut into cells along the boundaries of all shapes, and partitions of those cells.

use pto_ir::{Interval, Target};

use super::{Rectangle, Shape};

/// The boundaries of all shapes: rows shared by all banks, columns per bank.
#[derive(Debug, Default)]
pub(super) struct Grid {
    /// Partition boundaries, from 0 to the last partition.
    pub(super) rows: Vec<u32>,
    /// By bank: byte boundaries, from the bank's first byte to its end.
    pub(super) columns: Vec<Vec<u32>>,
    /// By bank: its first cell; one more entry for the end.
    pub(super) first_cell: Vec<usize>,
    pub(super) bank_bytes: u32,
}

impl Grid {
    pub(super) fn new(target: &Target, shapes: &[Shape], spans: &[Vec<Interval>]) -> Self {
        let mut rows = vec![0, target.partitions];
        let mut columns: Vec<Vec<u32>> = (0..target.banks)
            .map(|bank| vec![bank * target.bank_bytes, (bank + 1) * target.bank_bytes])
            .collect();
        for (shape, spans) in shapes.iter().zip(spans) {
            rows.extend([shape.partitions.start, shape.partitions.end]);
            for span in spans {
                columns[(span.start / target.bank_bytes) as usize].push(span.start);
                columns[((span.end - 1) / target.bank_bytes) as usize].push(span.end);
            }
            compact(&mut rows);
        }
        let quadrants = target.partitions / target.quadrant_partitions;
        rows.extend((1..quadrants).map(|quadrant| quadrant * target.quadrant_partitions));
        sort_unique(&mut rows);
        columns.iter_mut().for_each(sort_unique);
        let mut first_cell = vec![0];
        for bank in &columns {
            let end = first_cell[first_cell.len() - 1] + (bank.len() - 1) * (rows.len() - 1);
            first_cell.push(end);
        }
        Self {
            rows,
            columns,
            first_cell,
            bank_bytes: target.bank_bytes,
        }
    }

    /// Calls `visit` for the cells of `partitions` times `spans`, bank by bank.
    pub(super) fn for_each_cell(
        &self,
        partitions: Interval,
        spans: &[Interval],
        mut visit: impl FnMut(usize),
    ) {
        let rows = position(&self.rows, partitions.start)..position(&self.rows, partitions.end);
        for span in spans {
            let mut start = span.start;
            while start < span.end {
                let bank = (start / self.bank_bytes) as usize;
                let end = span.end.min((bank as u32 + 1) * self.bank_bytes);
                let columns = &self.columns[bank];
                let (from, to) = (position(columns, start), position(columns, end));
                for row in rows.clone() {
                    let first = self.first_cell[bank] + row * (columns.len() - 1);
                    (first + from..first + to).for_each(&mut visit);
                }
                start = end;
            }
        }
    }

    /// Bank, row and column of a cell.
    pub(super) fn coordinates(&self, cell: usize) -> (u32, usize, usize) {
        let bank = self.first_cell.partition_point(|&first| first <= cell) - 1;
        let width = self.columns[bank].len() - 1;
        let offset = cell - self.first_cell[bank];
        (bank as u32, offset / width, offset % width)
    }

    pub(super) fn rectangle(&self, cell: usize) -> Rectangle {
        let (bank, row, column) = self.coordinates(cell);
        let columns = &self.columns[bank as usize];
        Rectangle {
            partitions: Interval::new(self.rows[row], self.rows[row + 1]),
            bytes: Interval::new(columns[column], columns[column + 1]),
        }
    }
}

/// A partition of the grid's cells into classes that only gets finer.
pub(super) struct Partition {
    pub(super) class_of_cell: Vec<u32>,
    /// By class: its number of cells.
    pub(super) size: Vec<u32>,
    /// By class: how many of its cells the current shape holds; all zero between shapes.
    pub(super) hits: Vec<u32>,
    /// By class: the class that its hit cells move to.
    pub(super) target: Vec<u32>,
}

impl Partition {
    /// The classes that `initial` (of a bank and a row) tells apart.
    pub(super) fn new(grid: &Grid, initial: impl Fn(u32, usize) -> u32) -> Self {
        let mut class_of_cell = Vec::with_capacity(grid.first_cell[grid.first_cell.len() - 1]);
        let mut size: Vec<u32> = Vec::new();
        for (bank, columns) in grid.columns.iter().enumerate() {
            for row in 0..grid.rows.len() - 1 {
                let class = initial(bank as u32, row) as usize;
                size.resize(size.len().max(class + 1), 0);
                size[class] += columns.len() as u32 - 1;
                class_of_cell.resize(class_of_cell.len() + columns.len() - 1, class as u32);
            }
        }
        let hits = vec![0; size.len()];
        let target = (0..size.len() as u32).collect();
        Self {
            class_of_cell,
            size,
            hits,
            target,
        }
    }

    /// Splits every class that holds both cells that `each` visits and others.
    pub(super) fn split(&mut self, each: impl Fn(&mut dyn FnMut(usize))) {
        let mut touched: Vec<u32> = Vec::new();
        each(&mut |cell| {
            let class = self.class_of_cell[cell];
            if self.hits[class as usize] == 0 {
                touched.push(class);
            }
            self.hits[class as usize] += 1;
        });
        let mut splits = false;
        for &class in &touched {
            let hits = std::mem::take(&mut self.hits[class as usize]);
            if hits < self.size[class as usize] {
                splits = true;
                let new = self.size.len() as u32;
                self.size[class as usize] -= hits;
                self.size.push(hits);
                self.hits.push(0);
                self.target.push(new);
                self.target[class as usize] = new;
            }
        }
        if splits {
            each(&mut |cell| {
                let class = &mut self.class_of_cell[cell];
                *class = self.target[*class as usize];
            });
            for &class in &touched {
                self.target[class as usize] = class;
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Bytes,
    Partitions,
}

/// Joins rectangles that touch along `axis` and agree on the other one.
pub(super) fn merged(mut rectangles: Vec<Rectangle>, axis: Axis) -> Vec<Rectangle> {
    rectangles.sort_unstable_by_key(|r| match axis {
        Axis::Bytes => (r.partitions, r.bytes),
        Axis::Partitions => (r.bytes, r.partitions),
    });
    let mut result: Vec<Rectangle> = Vec::with_capacity(rectangles.len());
    for next in rectangles {
        if let Some(last) = result.last_mut() {
            let joins_bytes =
                last.partitions == next.partitions && last.bytes.end == next.bytes.start;
            let joins_rows =
                last.bytes == next.bytes && last.partitions.end == next.partitions.start;
            match axis {
                Axis::Bytes if joins_bytes => {
                    last.bytes.end = next.bytes.end;
                    continue;
                }
                Axis::Partitions if joins_rows => {
                    last.partitions.end = next.partitions.end;
                    continue;
                }
                _ => {}
            }
        }
        result.push(next);
    }
    result
}

pub(super) fn sort_unique(list: &mut Vec<u32>) {
    list.sort_unstable();
    list.dedup();
}

/// Keeps a list of few distinct values from growing with the number of shapes.
pub(super) fn compact(list: &mut Vec<u32>) {
    if list.len() > 4096 {
        sort_unique(list);
    }
}

/// Index of a boundary that is in the list.
pub(super) fn position(boundaries: &[u32], boundary: u32) -> usize {
    boundaries.partition_point(|&b| b < boundary)
}
