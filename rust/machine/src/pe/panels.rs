//! Operands: where they lie in memory, and their copy in the order of the kernel.

use super::exact::{Range, Scan};
use super::kernel::{PANEL, Path};
use super::widen::{ElementType, PanelRow};

/// A K x C matrix in memory, C for M or N: rows a stride apart, and in each row the elements of
/// nested column dimensions, the last running fastest.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    bytes: &'a [u8],
    element: ElementType,
    offset: isize,
    rows: usize,
    row_stride: isize,
    columns: usize,
    column_dims: &'a [(usize, isize)],
}

/// Why there is no such view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewError {
    /// An element lies outside the bytes given.
    OutOfBounds,
    /// More elements than 2^26, the limit of one operand, its columns rounded up to whole panels.
    TooLarge,
}

impl std::fmt::Display for ViewError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OutOfBounds => "an element of the operand lies outside its buffer",
            Self::TooLarge => {
                "the operand has more than 67108864 elements, columns counted in sixteens"
            }
        })
    }
}

impl std::error::Error for ViewError {}

/// The most elements of one operand: far above any machine's, far below any memory's.
pub(super) const MOST_ELEMENTS: usize = 1 << 26;

impl<'a> View<'a> {
    /// A view into `bytes`. The first element lies at byte `offset`, rows are `row_stride` bytes
    /// apart; `column_dims` lists (size, stride in bytes) from the outermost to the innermost
    /// column dimension, and the empty list is one column. Strides may be zero or negative.
    ///
    /// # Errors
    ///
    /// [`ViewError`]; a view without elements is never out of bounds.
    pub fn new(
        bytes: &'a [u8],
        element: ElementType,
        offset: usize,
        (rows, row_stride): (usize, isize),
        column_dims: &'a [(usize, isize)],
    ) -> Result<Self, ViewError> {
        let sizes = column_dims.iter().map(|&(size, _)| size);
        let has_elements = rows > 0 && sizes.clone().all(|size| size > 0);
        let mut columns = usize::from(sizes.clone().all(|size| size > 0));
        for size in sizes.filter(|&size| size > 0) {
            columns = columns.checked_mul(size).ok_or(ViewError::TooLarge)?;
        }
        if columns > MOST_ELEMENTS {
            return Err(ViewError::TooLarge);
        }
        let padded = columns.next_multiple_of(PANEL).checked_mul(rows.max(1));
        if padded.is_none_or(|elements| elements > MOST_ELEMENTS) || rows > MOST_ELEMENTS {
            return Err(ViewError::TooLarge);
        }
        let view = Self {
            bytes,
            element,
            offset: isize::try_from(offset).map_err(|_| ViewError::OutOfBounds)?,
            rows,
            row_stride,
            columns,
            column_dims,
        };
        if has_elements && !view.is_in_bounds() {
            return Err(ViewError::OutOfBounds);
        }
        Ok(view)
    }

    /// Whether the lowest and the highest byte of a view with elements lie within the buffer.
    fn is_in_bounds(&self) -> bool {
        let dims = self.column_dims.iter().copied();
        let (mut low, mut high) = (self.offset as i128, self.offset as i128);
        for (size, stride) in dims.chain([(self.rows, self.row_stride)]) {
            let reach = (size as i128 - 1) * stride as i128;
            low += reach.min(0);
            high += reach.max(0);
        }
        low >= 0 && high + self.element.bytes() as i128 <= self.bytes.len() as i128
    }

    /// Whether a row is one run of adjacent elements.
    fn is_row_contiguous(&self) -> bool {
        let mut expected = self.element.bytes() as isize;
        for &(size, stride) in self.column_dims.iter().rev().filter(|dim| dim.0 != 1) {
            if stride != expected {
                return false;
            }
            expected = expected.saturating_mul(size as isize);
        }
        true
    }

    /// Appends the bytes of row `row` to `gathered`, element by element.
    fn gather_row(&self, row: usize, gathered: &mut Vec<u8>) {
        let start = self.offset + row as isize * self.row_stride;
        match self.element.bytes() {
            1 => self.gather::<1>(start, gathered),
            2 => self.gather::<2>(start, gathered),
            _ => self.gather::<4>(start, gathered),
        }
    }

    /// As `gather_row`, for the row that starts at byte `start` and elements of `BYTES` bytes.
    fn gather<const BYTES: usize>(&self, start: isize, gathered: &mut Vec<u8>) {
        let Some((&(size, stride), outer_dims)) = self.column_dims.split_last() else {
            return gathered.extend_from_slice(&self.element_at::<BYTES>(start));
        };
        for outer in 0..self.columns / size {
            let (mut rest, mut at) = (outer, start);
            for &(size, stride) in outer_dims.iter().rev() {
                at += (rest % size) as isize * stride;
                rest /= size;
            }
            for inner in 0..size as isize {
                gathered.extend_from_slice(&self.element_at::<BYTES>(at + inner * stride));
            }
        }
    }

    fn element_at<const BYTES: usize>(&self, at: isize) -> [u8; BYTES] {
        let mut element = [0; BYTES];
        element.copy_from_slice(&self.bytes[at as usize..at as usize + BYTES]);
        element
    }
}

/// An operand widened to `f32` and cut into panels of [`PANEL`] columns. A panel holds its columns
/// row after row, so that the kernel reads it from front to back; missing columns are zero.
#[derive(Debug)]
pub(super) struct Panels {
    /// Panel p, row k is chunk `p * pitch + k`. Keeps the length of the largest operand seen.
    values: Vec<[f32; PANEL]>,
    gathered: Vec<u8>,
    rows: usize,
    columns: usize,
    is_integer: bool,
    range: Option<Range>,
}

impl Panels {
    pub(super) const fn new() -> Self {
        Self {
            values: Vec::new(),
            gathered: Vec::new(),
            rows: 0,
            columns: 0,
            is_integer: false,
            range: None,
        }
    }

    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    pub(super) const fn columns(&self) -> usize {
        self.columns
    }

    pub(super) const fn padded_columns(&self) -> usize {
        self.columns.next_multiple_of(PANEL)
    }

    pub(super) const fn is_integer(&self) -> bool {
        self.is_integer
    }

    pub(super) const fn range(&self) -> Option<Range> {
        self.range
    }

    /// Chunks from one panel to the next: odd, so that the panels of one row, which are written
    /// together, do not fall into the same set of a cache.
    pub(super) const fn pitch(&self) -> usize {
        self.rows | 1
    }

    /// The panels, [`Panels::pitch`] chunks apart; the first `rows` of each are in use.
    pub(super) fn panels(&self) -> &[[f32; PANEL]] {
        &self.values[..self.columns.div_ceil(PANEL) * self.pitch()]
    }

    pub(super) fn load(&mut self, path: Path, view: &View<'_>) {
        self.rows = view.rows;
        self.columns = view.columns;
        self.is_integer = view.element.is_integer();
        let needed = self.columns.div_ceil(PANEL) * self.pitch();
        if self.values.len() < needed {
            self.values.resize(needed, [0.0; PANEL]);
        }
        let mut scan = Scan::new();
        path.vectorize(
            #[inline(always)]
            || self.copy(view, &mut scan),
        );
        self.range = view.element.range(&scan);
    }

    #[inline(always)]
    fn copy(&mut self, view: &View<'_>, scan: &mut Scan<PANEL>) {
        let is_contiguous = view.is_row_contiguous();
        let row_bytes = view.columns * view.element.bytes();
        let pitch = self.pitch();
        let needed = self.columns.div_ceil(PANEL) * pitch;
        for row in 0..if row_bytes == 0 { 0 } else { view.rows } {
            let bytes = if is_contiguous {
                let start = (view.offset + row as isize * view.row_stride) as usize;
                &view.bytes[start..start + row_bytes]
            } else {
                self.gathered.clear();
                view.gather_row(row, &mut self.gathered);
                &self.gathered
            };
            let panels = PanelRow {
                values: &mut self.values[row..needed],
                pitch,
            };
            view.element.widen_row(bytes, scan, panels);
        }
    }
}
