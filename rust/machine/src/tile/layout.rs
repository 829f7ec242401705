//! Where an element of a tile is: the CUBE cell layouts and the row-major one.
//!
//! A CUBE tile is a sequence of 128-byte cells. The M layouts (accumulators and left operands)
//! stack cells along the columns; each holds 16 or 32 whole rows. The N layout (right operands)
//! tiles the matrix with cells of 8 columns, running down K first. With `w` the element width:
//!
//! | layout   | cell rows                | cell columns for w = 32, 16, 8, 4 |
//! |----------|--------------------------|-----------------------------------|
//! | CUBE_M16 | 16                       | 2, 4, 8, 16                       |
//! | CUBE_M32 | 32                       | 1, 2, 4, 8                        |
//! | CUBE_N8  | 4, 8, 16, 32 for that w  | 8                                 |
//!
//! Padding inside a cell never takes part in an operation and needs no defined contents.

use super::types::DataType;

/// Bytes of one CUBE cell.
pub const CELL_BYTES: u32 = 128;

/// The largest number of stored elements (padding included) of one CUBE tile.
pub const MAX_CUBE_ELEMENTS: u32 = 16384;

/// The largest number of columns a descriptor can store.
const MAX_STORAGE_COLUMNS: u32 = 65535;

/// The layouts a tile descriptor can name. A matmul accepts the CUBE ones and, in places, the
/// row-major one; the others exist so that a program naming them gets a fault and not a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Rows of elements, one after the other.
    RowMajor,
    /// Columns of elements, one after the other.
    ColumnMajor,
    /// Accumulators and left operands of at most 16 rows.
    CubeM16,
    /// Accumulators and left operands of at most 32 rows.
    CubeM32,
    /// Right operands.
    CubeN8,
    /// A layout private to an implementation.
    ImplementationDefined,
}

impl Layout {
    /// The published name.
    pub fn name(self) -> &'static str {
        match self {
            Layout::RowMajor => "RowMajor",
            Layout::ColumnMajor => "ColumnMajor",
            Layout::CubeM16 => "CUBE_M16",
            Layout::CubeM32 => "CUBE_M32",
            Layout::CubeN8 => "CUBE_N8",
            Layout::ImplementationDefined => "ImplementationDefined",
        }
    }

    /// Whether this is one of the three cell layouts.
    pub fn is_cube(self) -> bool {
        matches!(self, Layout::CubeM16 | Layout::CubeM32 | Layout::CubeN8)
    }

    /// The row limit of an M layout: M rows are legal iff `1 <= M <= limit`. `None` for layouts
    /// that cannot hold a left operand or an accumulator.
    pub fn max_m(self) -> Option<u32> {
        match self {
            Layout::CubeM16 => Some(16),
            Layout::CubeM32 => Some(32),
            _ => None,
        }
    }

    /// The narrowest M layout for `m` rows; `None` above 32 rows, which have no Local form.
    pub fn narrowest_for_m(m: u32) -> Option<Layout> {
        [Layout::CubeM16, Layout::CubeM32]
            .into_iter()
            .find(|l| l.max_m().is_some_and(|limit| m <= limit))
    }

    /// Rows and columns of one cell; `None` outside the CUBE layouts and for 64-bit types.
    pub fn cell_shape(self, data_type: DataType) -> Option<(u32, u32)> {
        if !data_type.has_cube_layout() {
            return None;
        }
        let elements = CELL_BYTES * 8 / data_type.bits();
        match self {
            Layout::CubeM16 => Some((16, elements / 16)),
            Layout::CubeM32 => Some((32, elements / 32)),
            Layout::CubeN8 => Some((elements / 8, 8)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The cells of one CUBE tile: how many, and where each element is in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubeGeometry {
    layout: Layout,
    bits: u32,
    cell_rows: u32,
    cell_columns: u32,
    storage_rows: u32,
    storage_columns: u32,
}

impl CubeGeometry {
    /// The geometry of `valid_rows` x `valid_columns` elements. `None` where the layout is not a
    /// CUBE one, the type has no CUBE form, a side is zero, an M layout is given more rows than a
    /// cell has, or the storage would pass the limits of a descriptor.
    pub fn new(
        layout: Layout,
        data_type: DataType,
        valid_rows: u32,
        valid_columns: u32,
    ) -> Option<CubeGeometry> {
        let (cell_rows, cell_columns) = layout.cell_shape(data_type)?;
        if valid_rows == 0 || valid_columns == 0 {
            return None;
        }
        let storage_rows = match layout.max_m() {
            Some(limit) if valid_rows > limit => return None,
            Some(limit) => limit,
            None => valid_rows.checked_next_multiple_of(cell_rows)?,
        };
        let storage_columns = valid_columns
            .checked_next_multiple_of(cell_columns)
            .filter(|&columns| columns <= MAX_STORAGE_COLUMNS)?;
        storage_rows
            .checked_mul(storage_columns)
            .filter(|&elements| elements <= MAX_CUBE_ELEMENTS)?;
        Some(CubeGeometry {
            layout,
            bits: data_type.bits(),
            cell_rows,
            cell_columns,
            storage_rows,
            storage_columns,
        })
    }

    /// Stored rows, padding included.
    pub fn storage_rows(&self) -> u32 {
        self.storage_rows
    }

    /// Stored columns, padding included.
    pub fn storage_columns(&self) -> u32 {
        self.storage_columns
    }

    /// Cells along K: along the columns of an M layout, along the rows of the N layout.
    pub fn k_repeat(&self) -> u32 {
        match self.layout {
            Layout::CubeN8 => self.storage_rows / self.cell_rows,
            _ => self.storage_columns / self.cell_columns,
        }
    }

    /// Cells along N: one for an M layout.
    pub fn n_repeat(&self) -> u32 {
        match self.layout {
            Layout::CubeN8 => self.storage_columns / self.cell_columns,
            _ => 1,
        }
    }

    /// Cells in all.
    pub fn cells(&self) -> u32 {
        self.k_repeat() * self.n_repeat()
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u32 {
        CELL_BYTES * self.cells()
    }

    /// The linear element index of element (`row`, `column`) in the tile's storage.
    pub fn element_index(&self, row: u32, column: u32) -> u32 {
        let (cell, inner) = match self.layout {
            Layout::CubeN8 => (
                (column / 8) * self.k_repeat() + row / self.cell_rows,
                (column % 8) * self.cell_rows + row % self.cell_rows,
            ),
            _ => (
                column / self.cell_columns,
                row * self.cell_columns + self.swap_nibble_groups(column % self.cell_columns),
            ),
        };
        cell * (self.cell_rows * self.cell_columns) + inner
    }

    /// CUBE_M16 of a 4-bit type stores in-cell columns 4..8 and 8..12 in swapped places.
    fn swap_nibble_groups(&self, column: u32) -> u32 {
        if self.layout != Layout::CubeM16 || self.bits != 4 {
            return column;
        }
        match column / 4 {
            1 => column + 4,
            2 => column - 4,
            _ => column,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube_layouts() -> [Layout; 3] {
        [Layout::CubeM16, Layout::CubeM32, Layout::CubeN8]
    }

    #[test]
    fn every_cell_is_128_bytes() {
        for layout in cube_layouts() {
            for t in DataType::all().filter(|t| t.has_cube_layout()) {
                let (rows, columns) = layout.cell_shape(t).unwrap();
                assert_eq!(rows * columns * t.bits(), CELL_BYTES * 8, "{layout} {t}");
            }
        }
    }

    #[test]
    fn indices_are_a_bijection_onto_the_storage() {
        for layout in cube_layouts() {
            for t in [
                DataType::Fp32,
                DataType::Bf16,
                DataType::E4M3,
                DataType::U4X2,
            ] {
                for (rows, columns) in [(1, 1), (13, 19), (16, 33), (7, 128)] {
                    let g = CubeGeometry::new(layout, t, rows, columns).unwrap();
                    let mut seen = vec![false; (g.storage_rows() * g.storage_columns()) as usize];
                    for r in 0..g.storage_rows() {
                        for c in 0..g.storage_columns() {
                            let i = g.element_index(r, c) as usize;
                            assert!(!seen[i], "{layout} {t} ({r},{c}) repeats index {i}");
                            seen[i] = true;
                        }
                    }
                    assert!(seen.iter().all(|&s| s));
                    assert_eq!(seen.len() as u32 * t.bits() / 8, g.bytes());
                }
            }
        }
    }

    #[test]
    fn a_cell_of_an_n_layout_runs_down_k_first() {
        let g = CubeGeometry::new(Layout::CubeN8, DataType::Fp16, 13, 19).unwrap();
        assert_eq!((g.storage_rows(), g.storage_columns()), (16, 24));
        assert_eq!((g.k_repeat(), g.n_repeat(), g.cells()), (2, 3, 6));
        let at = |r, c| g.element_index(r, c);
        assert_eq!(
            (at(0, 0), at(8, 0), at(0, 8), at(12, 18)),
            (0, 64, 128, 340)
        );
    }

    #[test]
    fn limits() {
        let new = CubeGeometry::new;
        assert!(new(Layout::CubeM16, DataType::Fp32, 17, 1).is_none());
        assert!(new(Layout::CubeM32, DataType::Fp32, 33, 1).is_none());
        assert!(new(Layout::CubeN8, DataType::Fp16, 0, 8).is_none());
        assert!(new(Layout::CubeM16, DataType::Fp64, 1, 1).is_none());
        assert!(new(Layout::CubeM16, DataType::Fp32, 16, 1024).is_some());
        assert!(new(Layout::CubeM16, DataType::Fp32, 16, 1025).is_none());
        assert!(new(Layout::CubeN8, DataType::U8, u32::MAX, u32::MAX).is_none());
        assert!(new(Layout::RowMajor, DataType::Fp32, 1, 1).is_none());
        assert_eq!(Layout::narrowest_for_m(17), Some(Layout::CubeM32));
        assert_eq!(Layout::narrowest_for_m(33), None);
    }
}
