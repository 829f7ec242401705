//! The read-add-write of accumulator cells.

use half::bf16;

/// The element type of an accumulator. Every element takes a cell of 32 bits; a bf16 lies in the
/// low half of its cell, and the high half is zero after a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellType {
    /// `f32`.
    F32,
    /// bf16: added in `f32`, rounded to nearest even by each instruction.
    Bf16,
    /// `i32`, wrapping.
    I32,
}

/// What a write does to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// The cell becomes the sum.
    Overwrite,
    /// The sum is added to the cell.
    Add,
}

/// The sums of one matmul, M x N, not yet in any cell.
#[derive(Clone, Copy, Debug)]
pub struct Sums<'a> {
    values: Values<'a>,
    rows: usize,
    columns: usize,
    stride: usize,
}

/// Row-major, rows `stride` apart.
#[derive(Clone, Copy, Debug)]
enum Values<'a> {
    F32(&'a [f32]),
    /// For bf16 cells; the sums themselves are `f32`.
    Bf16(&'a [f32]),
    I32(&'a [i32]),
}

impl<'a> Sums<'a> {
    pub(super) fn floats(
        values: &'a [f32],
        cells: CellType,
        rows: usize,
        columns: usize,
        stride: usize,
    ) -> Self {
        let values = match cells {
            CellType::Bf16 => Values::Bf16(values),
            CellType::F32 | CellType::I32 => Values::F32(values),
        };
        Self {
            values,
            rows,
            columns,
            stride,
        }
    }

    pub(super) fn integers(values: &'a [i32], rows: usize, columns: usize, stride: usize) -> Self {
        Self {
            values: Values::I32(values),
            rows,
            columns,
            stride,
        }
    }

    /// M, the number of partitions written.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// N, the number of cells written in each partition.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Writes the sums of row `row`, from column `first` on, to `cells`.
    ///
    /// # Panics
    ///
    /// If there are no such sums, as slices do.
    pub fn update_from(&self, row: usize, first: usize, cells: &mut [u32], update: Update) {
        let start = row * self.stride + first;
        assert!(
            row < self.rows && first + cells.len() <= self.columns,
            "no such sums"
        );
        let range = start..start + cells.len();
        match self.values {
            Values::F32(sums) => write(cells, &sums[range], update, f32_cell),
            Values::Bf16(sums) => write(cells, &sums[range], update, bf16_cell),
            Values::I32(sums) => write(cells, &sums[range], update, i32_cell),
        }
    }
}

impl Sums<'_> {
    /// Writes a block of sums, from row `first.0` and column `first.1` on, to `rows` rows of `width`
    /// cells that lie `stride` apart in `cells`.
    ///
    /// # Panics
    ///
    /// If there are no such sums or cells, as slices do.
    pub fn update_block(
        &self,
        first: (usize, usize),
        cells: &mut [u32],
        (rows, width, stride): (usize, usize, usize),
        update: Update,
    ) {
        assert!(
            first.0 + rows <= self.rows && first.1 + width <= self.columns,
            "no such sums"
        );
        let start = first.0 * self.stride + first.1;
        let shape = (rows, width, stride, self.stride);
        match self.values {
            Values::F32(sums) => write_block(cells, &sums[start..], shape, update, f32_cell),
            Values::Bf16(sums) => write_block(cells, &sums[start..], shape, update, bf16_cell),
            Values::I32(sums) => write_block(cells, &sums[start..], shape, update, i32_cell),
        }
    }
}

#[inline(always)]
fn write_block<T: Copy>(
    cells: &mut [u32],
    sums: &[T],
    (rows, width, stride, sums_stride): (usize, usize, usize, usize),
    update: Update,
    cell_after: impl Fn(u32, T, Update) -> u32 + Copy,
) {
    let cell_rows = cells.chunks_mut(stride.max(1));
    for (cells, sums) in cell_rows.zip(sums.chunks(sums_stride.max(1))).take(rows) {
        write(&mut cells[..width], &sums[..width], update, cell_after);
    }
}

#[inline(always)]
fn write<T: Copy>(
    cells: &mut [u32],
    sums: &[T],
    update: Update,
    cell_after: impl Fn(u32, T, Update) -> u32,
) {
    let pairs = cells.iter_mut().zip(sums);
    match update {
        Update::Overwrite => {
            pairs.for_each(|(c, &sum)| *c = cell_after(*c, sum, Update::Overwrite))
        }
        Update::Add => pairs.for_each(|(c, &sum)| *c = cell_after(*c, sum, Update::Add)),
    }
}

#[inline(always)]
fn f32_cell(cell: u32, sum: f32, update: Update) -> u32 {
    let base = match update {
        Update::Overwrite => 0.0,
        Update::Add => f32::from_bits(cell),
    };
    (base + sum).to_bits()
}

#[inline(always)]
fn bf16_cell(cell: u32, sum: f32, update: Update) -> u32 {
    let base = match update {
        Update::Overwrite => 0.0,
        Update::Add => f32::from_bits(cell << 16),
    };
    u32::from(bf16::from_f32(base + sum).to_bits())
}

#[inline(always)]
fn i32_cell(cell: u32, sum: i32, update: Update) -> u32 {
    match update {
        Update::Overwrite => sum as u32,
        Update::Add => cell.wrapping_add(sum as u32),
    }
}
