//! The data of PSUM: one word a cell, with the three ways a matmul's sums meet it.

use pto_ir::Interval;

use crate::code::ElementType;
use crate::pe::{CellType, Sums, Update};

/// The bits of a cell that holds nothing: a NaN as f32 and as bf16, so that nothing computed from it
/// looks right.
pub(crate) const POISON: u32 = 0x7fba_7fba;

/// How PSUM holds elements of `element`, if it can. A cell has the bits of one element in its low
/// end, so that element bits and cells are the same number.
pub(crate) fn cell_type(element: ElementType) -> Option<CellType> {
    match element {
        ElementType::F32 => Some(CellType::F32),
        ElementType::BF16 => Some(CellType::Bf16),
        ElementType::Int(32) | ElementType::Uint(32) => Some(CellType::I32),
        _ => None,
    }
}

/// What a cell is taken to hold, by an add or a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// The word stored.
    Word,
    /// Zero: an add overwrites.
    Zero,
    /// Nothing.
    Poison,
}

/// Copies `cells`, taken to hold `contents`, to `out`.
pub(crate) fn fetch(cells: &[u32], contents: Contents, out: &mut [u32]) {
    match contents {
        Contents::Word => out.copy_from_slice(cells),
        Contents::Zero => out.fill(0),
        Contents::Poison => out.fill(POISON),
    }
}

/// A rectangle of words: `rows` rows of `columns`.
#[derive(Debug)]
pub(crate) struct Plane {
    words: Vec<u32>,
    columns: usize,
}

impl Plane {
    /// A plane of zero words. The host gives the pages when they are first touched.
    pub(crate) fn new(rows: u32, columns: u32) -> Self {
        let columns = columns as usize;
        Self {
            words: vec![0; rows as usize * columns],
            columns,
        }
    }

    /// `columns` of row `row`.
    pub(crate) fn row(&self, row: u32, columns: Interval) -> &[u32] {
        let start = row as usize * self.columns;
        &self.words[start + columns.start as usize..start + columns.end as usize]
    }

    /// Adds sums, from row `first.0` and column `first.1` on, into `rows` times `columns`, taken to
    /// hold `base`.
    pub(crate) fn accumulate(
        &mut self,
        rows: Interval,
        columns: Interval,
        sums: &Sums<'_>,
        first: (usize, usize),
        base: Contents,
    ) {
        let update = match base {
            Contents::Word => Update::Add,
            Contents::Zero => Update::Overwrite,
            Contents::Poison => {
                for row in rows.start..rows.end {
                    self.row_mut(row, columns).fill(POISON);
                }
                return;
            }
        };
        let start = rows.start as usize * self.columns + columns.start as usize;
        let shape = (rows.len() as usize, columns.len() as usize, self.columns);
        sums.update_block(first, &mut self.words[start..], shape, update);
    }

    /// `columns` of row `row`, to change.
    pub(crate) fn row_mut(&mut self, row: u32, columns: Interval) -> &mut [u32] {
        let start = row as usize * self.columns;
        &mut self.words[start + columns.start as usize..start + columns.end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poison_is_nan_in_both_float_types() {
        assert!(ElementType::F32.is_nan(u64::from(POISON)));
        assert!(ElementType::BF16.is_nan(u64::from(POISON & 0xffff)));
    }

    #[test]
    fn rows_are_rectangles_of_words() {
        let mut plane = Plane::new(3, 8);
        plane.row_mut(2, Interval::new(1, 4)).fill(7);
        assert_eq!(plane.row(2, Interval::new(0, 5)), [0, 7, 7, 7, 0]);
        let mut out = [1; 2];
        fetch(plane.row(2, Interval::new(1, 3)), Contents::Zero, &mut out);
        assert_eq!(out, [0, 0]);
        fetch(
            plane.row(2, Interval::new(1, 3)),
            Contents::Poison,
            &mut out,
        );
        assert_eq!(out, [POISON; 2]);
    }
}
