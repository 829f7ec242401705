//! Which cells a strided view touches: from (offset, sizes, strides) to partitions x bytes.
//!
//! Memref layouts count elements from the start of the allocation, and one element takes one cell
//! of 4 bytes in PSUM whatever its type. With `R` elements in a row (one partition) of the
//! allocation, element `e` lies in partition `e / R`, cell `e % R`. A view keeps dimension 0 as the
//! partitions: its stride there is `R`, and all other dimensions stay within one row.

use pto_ir::{Interval, IntervalSet};

/// Bytes of one cell.
pub(crate) const CELL_BYTES: u32 = 4;

/// The largest number of separate byte intervals of one view: more than a partition of PSUM has
/// cells, so only views of buffers that no machine could hold have more.
const MAX_SPANS: u64 = 1 << 14;

/// Offset, sizes and strides of a view, in elements from the start of its allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The first element.
    pub(crate) offset: i64,
    /// Elements in each dimension.
    pub(crate) sizes: Vec<i64>,
    /// Distance between neighbours of each dimension.
    pub(crate) strides: Vec<i64>,
}

/// The shape of an allocation: `partitions` rows of `row` cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Number of partitions.
    pub(crate) partitions: u32,
    /// Cells in each.
    pub(crate) row: u32,
}

impl Rows {
    /// The rows of an allocation of `sizes`, its first dimension being the partitions (a scalar is
    /// one cell). `Err` says what is wrong.
    pub(crate) fn of(sizes: &[i64]) -> Result<Self, String> {
        let (partitions, row_sizes) = match sizes {
            [] => (1, sizes),
            [first, rest @ ..] => (*first, rest),
        };
        let row = row_sizes
            .iter()
            .try_fold(1i64, |product, &size| product.checked_mul(size));
        let largest = i64::from(u32::MAX / CELL_BYTES);
        match row {
            Some(row) if (0..=largest).contains(&row) && (0..=largest).contains(&partitions) => {
                Ok(Self {
                    partitions: partitions as u32,
                    row: row as u32,
                })
            }
            _ => Err("expected a buffer whose rows have fewer than 2^32 bytes".into()),
        }
    }

    /// Bytes in each partition.
    pub(crate) const fn bytes(self) -> u32 {
        self.row * CELL_BYTES
    }
}

impl Layout {
    /// The row-major layout of `sizes`.
    #[cfg(test)]
    fn row_major(sizes: &[i64]) -> Self {
        let mut strides = vec![1; sizes.len()];
        for dim in (1..sizes.len()).rev() {
            strides[dim - 1] = strides[dim] * sizes[dim];
        }
        Self {
            offset: 0,
            sizes: sizes.to_vec(),
            strides,
        }
    }

    /// Whether it is row-major without gaps from offset 0 (dimensions of one element aside).
    pub(crate) fn is_row_major(&self) -> bool {
        let mut expected = 1i64;
        let dims = self.sizes.iter().zip(&self.strides).rev();
        for (&size, &stride) in dims {
            if size != 1 && stride != expected {
                return false;
            }
            expected = expected.saturating_mul(size);
        }
        self.offset == 0
    }

    /// The cells it touches of an allocation of `rows`: partitions and bytes. `Err` says in what
    /// way it is not a view that the machine can address.
    pub(crate) fn cells(&self, rows: Rows) -> Result<(Interval, IntervalSet), String> {
        if self.sizes.contains(&0) {
            return Ok((Interval::new(0, 0), IntervalSet::new()));
        }
        let row = i64::from(rows.row);
        if row == 0 {
            return Err(
                "expected a view of a buffer with cells, found one of an empty buffer".into(),
            );
        }
        if self.offset < 0 || self.strides.iter().any(|&stride| stride < 0) {
            return Err("expected offsets and strides of at least 0".into());
        }
        let partitions = match (self.sizes.first(), self.strides.first()) {
            (Some(&size), Some(&stride)) if size > 1 && stride != row => {
                return Err(format!(
                    "expected dimension 0 to be the partitions with step 1, which is a stride of \
                     {row} elements here, found a stride of {stride}"
                ));
            }
            (Some(&size), _) => size,
            (None, _) => 1,
        };
        let (first_partition, first_cell) = (self.offset / row, self.offset % row);
        let end_partition = first_partition.saturating_add(partitions);
        if end_partition > i64::from(rows.partitions) {
            return Err(format!(
                "expected partitions within 0..{}, found {first_partition}..{end_partition}",
                rows.partitions
            ));
        }
        let bytes = self.row_bytes(first_cell, row)?;
        let partitions = Interval::new(first_partition as u32, end_partition as u32);
        Ok((partitions, bytes))
    }

    /// The bytes that dimensions 1 and up touch of a row of `row` cells, from `first_cell` on.
    fn row_bytes(&self, first_cell: i64, row: i64) -> Result<IntervalSet, String> {
        let mut dims: Vec<(i64, i64)> = self
            .strides
            .iter()
            .copied()
            .zip(self.sizes.iter().copied())
            .skip(1)
            .filter(|&(_, size)| size > 1)
            .collect();
        dims.sort_unstable();
        let last_cell = dims.iter().try_fold(first_cell, |last, &(stride, size)| {
            (size - 1).checked_mul(stride)?.checked_add(last)
        });
        if last_cell.is_none_or(|last| last >= row) {
            return Err(format!(
                "expected every row of the view to stay within the {row} elements of one \
                 partition of its allocation"
            ));
        }
        // The innermost dimensions without gaps form one run of cells.
        let mut run = 1;
        let mut outer = dims.as_slice();
        while let [(stride, size), rest @ ..] = outer
            && *stride <= run
        {
            run += stride * (size - 1);
            outer = rest;
        }
        // Bounded by the cells of a row; the product is checked as it may count cells repeatedly.
        let spans = outer
            .iter()
            .try_fold(1u64, |product, &(_, size)| product.checked_mul(size as u64));
        if spans.is_none_or(|spans| spans > MAX_SPANS) {
            return Err(format!(
                "expected at most {MAX_SPANS} separate runs of cells"
            ));
        }
        let mut starts = vec![first_cell];
        for &(stride, size) in outer {
            starts = starts
                .iter()
                .flat_map(|&start| (0..size).map(move |index| start + index * stride))
                .collect();
        }
        Ok(starts
            .into_iter()
            .map(|start| {
                let end = start + run;
                Interval::new(start as u32 * CELL_BYTES, end as u32 * CELL_BYTES)
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ROWS: Rows = Rows {
        partitions: 4,
        row: 12,
    };

    /// The cells of a view, one by one.
    fn brute_force(layout: &Layout) -> BTreeSet<i64> {
        let mut cells = BTreeSet::from([layout.offset]);
        for (&size, &stride) in layout.sizes.iter().zip(&layout.strides) {
            cells = (0..size)
                .flat_map(|index| cells.iter().map(move |cell| cell + index * stride))
                .collect();
        }
        cells
    }

    #[test]
    fn cells_agree_with_enumeration() {
        let mut accepted = 0;
        for offset in 0..48 {
            for (outer, stride0) in [(1, 12), (2, 12), (4, 12), (2, 24), (3, 1)] {
                for (middle, stride1) in [(1, 0), (2, 6), (3, 4), (2, 1), (4, 2)] {
                    for (inner, stride2) in [(1, 1), (2, 1), (3, 2), (4, 1), (2, 0)] {
                        let layout = Layout {
                            offset,
                            sizes: vec![outer, middle, inner],
                            strides: vec![stride0, stride1, stride2],
                        };
                        let Ok((partitions, bytes)) = layout.cells(ROWS) else {
                            continue;
                        };
                        accepted += 1;
                        let mut cells = BTreeSet::new();
                        for partition in partitions.start..partitions.end {
                            for span in bytes.spans() {
                                for cell in span.start / 4..span.end / 4 {
                                    cells.insert(i64::from(partition * 12 + cell));
                                }
                            }
                        }
                        assert_eq!(cells, brute_force(&layout), "{layout:?}");
                    }
                }
            }
        }
        assert!(accepted > 1000, "{accepted}");
    }

    #[test]
    fn whole_allocation() {
        let layout = Layout::row_major(&[4, 3, 4]);
        assert!(layout.is_row_major());
        let (partitions, bytes) = layout.cells(ROWS).expect("in bounds");
        assert_eq!(partitions, Interval::new(0, 4));
        assert_eq!(bytes.spans(), [Interval::new(0, 48)]);
    }

    #[test]
    fn refuses_what_the_machine_cannot_address() {
        let view = |offset, sizes: &[i64], strides: &[i64]| {
            Layout {
                offset,
                sizes: sizes.to_vec(),
                strides: strides.to_vec(),
            }
            .cells(ROWS)
        };
        let refused = [
            view(0, &[2, 4], &[24, 1]),
            view(0, &[4, 2], &[1, 12]),
            view(10, &[2, 4], &[12, 1]),
            view(12, &[4, 12], &[12, 1]),
            view(-1, &[1, 1], &[12, 1]),
            view(0, &[1, 2], &[12, -1]),
            view(0, &[1, i64::MAX], &[12, i64::MAX]),
            view(i64::MAX, &[i64::MAX, 1], &[12, 1]),
        ];
        for (index, result) in refused.into_iter().enumerate() {
            assert!(result.is_err(), "view {index}");
        }
        assert_eq!(
            view(0, &[0, 4], &[12, 1]),
            Ok((Interval::new(0, 0), IntervalSet::new()))
        );
    }

    #[test]
    fn rows_of_odd_buffers() {
        let rows = |partitions, row| Ok(Rows { partitions, row });
        assert_eq!(Rows::of(&[]), rows(1, 1));
        assert_eq!(Rows::of(&[128]), rows(128, 1));
        assert_eq!(Rows::of(&[128, 2, 256]), rows(128, 512));
        assert_eq!(Rows::of(&[0, 512]), rows(0, 512));
        assert!(Rows::of(&[1, 1 << 31, 1 << 31]).is_err());
        assert!(Rows::of(&[1 << 40, 1]).is_err());
    }
}
