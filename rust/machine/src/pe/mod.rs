//! The arithmetic of one PE matmul, bit for bit.
//!
//! A matmul is `dst[M, N] (+)= stationary[K, M]^T . moving[K, N]`. Every element of both operands
//! widens exactly to `f32`. For each (m, n) on its own, the column of the array forms
//!
//! ```text
//! p = +0.0
//! for k ascending: p = round(p + round(stationary[k, m] * moving[k, n]))
//! ```
//!
//! with both roundings to nearest even in `f32`, and only then touches the accumulator, once:
//!
//! ```text
//! cell = overwrite ? +0.0 + p : cell + p
//! ```
//!
//! 8-bit integers multiply and add exactly and wrap in `i32`. NaN results are NaN; which NaN is not
//! part of the meaning.
//!
//! [`PeArray`] computes all p of one instruction in three steps, so that an interpreter can decide
//! cell by cell whether to overwrite or to add (the pending bits of START):
//!
//! 1. [`PeArray::load_stationary`] and [`PeArray::load_moving`] widen the operands and lay them out
//!    in panels, the order in which the kernel reads them;
//! 2. [`PeArray::multiply`] runs the kernel, and yields [`Sums`];
//! 3. [`Sums::update_from`] merges sums of one row into cells.
//!
//! All buffers belong to the `PeArray` and are reused: after the largest shape has been seen
//! nothing allocates.
//!
//! The kernel keeps k serial, as the definition demands, and gains its speed from N (vector lanes)
//! and M (rows of a register block), which are independent. A fused multiply-add takes the place of
//! the two roundings only where the product is exact, see [`exact`].

mod cells;
pub mod exact;
mod kernel;
mod panels;
#[cfg(test)]
mod tests;
mod widen;

pub use cells::{CellType, Sums, Update};
pub use panels::{View, ViewError};
pub use widen::ElementType;

use exact::Range;
use kernel::{Kernel, Path};
use panels::{MOST_ELEMENTS, Panels};

/// Why a matmul cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeError {
    /// The operands have different numbers of rows.
    Contraction {
        /// Rows of the stationary operand.
        stationary: usize,
        /// Rows of the moving operand.
        moving: usize,
    },
    /// The result has more than 2^26 elements.
    TooLarge,
    /// One operand holds integers, the other floats.
    MixedOperands,
    /// Integer cells for floats, or float cells for integers.
    Cells,
}

impl std::fmt::Display for PeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Contraction { stationary, moving } => write!(
                f,
                "the stationary operand has {stationary} rows, the moving operand {moving}"
            ),
            Self::TooLarge => f.write_str("the result has more than 67108864 elements"),
            Self::MixedOperands => f.write_str("one operand holds integers, the other floats"),
            Self::Cells => f.write_str("float operands need float cells, integer operands i32"),
        }
    }
}

impl std::error::Error for PeError {}

/// Integer products are summed in `f32` this many rows at a time: 256 * 255 * 255 < 2^24, so
/// every partial sum is exact.
const EXACT_INTEGER_ROWS: usize = 256;

/// The PE array: two loaded operands, and room for the sums.
#[derive(Debug)]
pub struct PeArray {
    path: Path,
    stationary: Panels,
    moving: Panels,
    sums: Vec<f32>,
    integer_sums: Vec<i32>,
}

impl Default for PeArray {
    fn default() -> Self {
        Self::new()
    }
}

impl PeArray {
    /// An array that computes with the widest vectors the processor has.
    pub fn new() -> Self {
        Self::with_path(Path::native())
    }

    /// An array that computes with what every processor of the architecture has; the results are
    /// the same.
    pub fn portable() -> Self {
        Self::with_path(Path::Portable)
    }

    fn with_path(path: Path) -> Self {
        Self {
            path,
            stationary: Panels::new(),
            moving: Panels::new(),
            sums: Vec::new(),
            integer_sums: Vec::new(),
        }
    }

    /// Loads the stationary operand: rows are K, columns M.
    pub fn load_stationary(&mut self, view: &View<'_>) {
        self.stationary.load(self.path, view);
    }

    /// Loads the moving operand: rows are K, columns N.
    pub fn load_moving(&mut self, view: &View<'_>) {
        self.moving.load(self.path, view);
    }

    /// The sums of the loaded operands, to be merged into cells of type `cells`.
    ///
    /// # Errors
    ///
    /// Operands or cells that do not go together; see [`PeError`].
    pub fn multiply(&mut self, cells: CellType) -> Result<Sums<'_>, PeError> {
        let (stationary, moving) = (&self.stationary, &self.moving);
        if stationary.rows() != moving.rows() {
            return Err(PeError::Contraction {
                stationary: stationary.rows(),
                moving: moving.rows(),
            });
        }
        let sums = stationary
            .padded_columns()
            .checked_mul(moving.padded_columns());
        if sums.is_none_or(|sums| sums > MOST_ELEMENTS) {
            return Err(PeError::TooLarge);
        }
        let is_integer = stationary.is_integer();
        if is_integer != moving.is_integer() {
            return Err(PeError::MixedOperands);
        }
        if is_integer != (cells == CellType::I32) {
            return Err(PeError::Cells);
        }
        if is_integer {
            self.multiply_integers();
        } else {
            self.multiply_rows(0..self.stationary.rows());
        }
        let stride = self.moving.padded_columns();
        let (rows, columns) = (self.stationary.columns(), self.moving.columns());
        Ok(if is_integer {
            Sums::integers(&self.integer_sums, rows, columns, stride)
        } else {
            Sums::floats(&self.sums, cells, rows, columns, stride)
        })
    }

    /// The sums over the rows `depth` of the operands.
    fn multiply_rows(&mut self, depth: std::ops::Range<usize>) {
        let (stationary, moving) = (&self.stationary, &self.moving);
        let needed = stationary.padded_columns() * moving.padded_columns();
        if self.sums.len() < needed {
            self.sums.resize(needed, 0.0);
        }
        self.path.run(Kernel {
            is_fused: Range::products_are_exact(stationary.range(), moving.range()),
            stationary: stationary.panels(),
            moving: moving.panels(),
            pitch: stationary.pitch(),
            depth,
            height: stationary.columns(),
            sums: &mut self.sums[..needed],
        });
    }

    /// The sums modulo 2^32: exact in `f32` piece by piece, the pieces added with wrap-around.
    fn multiply_integers(&mut self) {
        let needed = self.stationary.padded_columns() * self.moving.padded_columns();
        self.integer_sums.clear();
        self.integer_sums.resize(needed, 0);
        let rows = self.stationary.rows();
        for start in (0..rows).step_by(EXACT_INTEGER_ROWS) {
            self.multiply_rows(start..rows.min(start + EXACT_INTEGER_ROWS));
            for (total, &sum) in self.integer_sums.iter_mut().zip(&self.sums) {
                *total = total.wrapping_add(sum as i32);
            }
        }
    }
}
