//! Descriptors: everything about a tile but its contents, and the rules of a tile on its own.

use super::fault::{Fault, require};
use super::layout::{CubeGeometry, Layout};
use super::revision::Revision;
use super::types::DataType;

/// Capacities are multiples of this many bytes.
pub const CAPACITY_STEP: u32 = 128;
/// The largest capacity of a Local tile, in bytes for each processing element.
pub const MAX_LOCAL_CAPACITY: u32 = 64 << 10;
/// The largest capacity of a Shared tile, in bytes.
pub const MAX_SHARED_CAPACITY: u32 = 256 << 10;
/// The largest code of [`capacity_of_code`] for a Local destination.
pub const MAX_LOCAL_SIZE_CODE: u8 = 10;

/// The capacity in bytes of a size code: `128 << (code - 1)` for the codes 1 to 10.
pub fn capacity_of_code(code: u8) -> Option<u32> {
    (1..=MAX_LOCAL_SIZE_CODE)
        .contains(&code)
        .then(|| CAPACITY_STEP << (code - 1))
}

/// The smallest size code whose capacity is at least `bytes`.
pub fn smallest_code_for(bytes: u32) -> Option<u8> {
    (1..=MAX_LOCAL_SIZE_CODE).find(|&code| capacity_of_code(code).is_some_and(|c| c >= bytes))
}

/// The unit a tile was placed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// The matrix unit: tiles in a CUBE layout.
    Matrix,
    /// Any unit: row-major auxiliaries.
    Any,
}

/// Everything about a tile but its contents. `rows` x `columns` elements are stored, padding
/// included; the valid region is the `valid_rows` x `valid_columns` ones at the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Descriptor {
    /// Element type.
    pub data_type: DataType,
    /// Where each element is.
    pub layout: Layout,
    /// The unit the tile was placed for.
    pub location: Location,
    /// Rows that take part in operations.
    pub valid_rows: u32,
    /// Columns that take part in operations; 4-bit types count single elements.
    pub valid_columns: u32,
    /// Stored columns of a row-major tile. A CUBE layout derives its own.
    pub columns: u32,
    /// Bytes the tile occupies (on each processing element, if Local).
    pub capacity: u32,
}

impl Descriptor {
    /// A tile of a CUBE layout with `capacity` bytes.
    pub fn cube(
        layout: Layout,
        data_type: DataType,
        valid_rows: u32,
        valid_columns: u32,
        capacity: u32,
    ) -> Descriptor {
        Descriptor {
            data_type,
            layout,
            location: Location::Matrix,
            valid_rows,
            valid_columns,
            columns: CubeGeometry::new(layout, data_type, valid_rows, valid_columns)
                .map_or(0, |g| g.storage_columns()),
            capacity,
        }
    }

    /// A row-major tile: columns padded to a power of two, `capacity` bytes.
    pub fn row_major(
        data_type: DataType,
        valid_rows: u32,
        valid_columns: u32,
        capacity: u32,
    ) -> Descriptor {
        Descriptor {
            data_type,
            layout: Layout::RowMajor,
            location: Location::Any,
            valid_rows,
            valid_columns,
            columns: valid_columns.checked_next_power_of_two().unwrap_or(0),
            capacity,
        }
    }

    /// This descriptor with the smallest capacity that holds it, a multiple of 128 bytes.
    /// Unchanged where no capacity does.
    #[must_use]
    pub fn fitted(self) -> Descriptor {
        match self.required_bytes() {
            Some(bytes) => Descriptor {
                capacity: u32::try_from(bytes.next_multiple_of(u64::from(CAPACITY_STEP)))
                    .unwrap_or(self.capacity),
                ..self
            },
            None => self,
        }
    }

    /// The cells of a CUBE tile; `None` where the layout cannot hold type and shape.
    pub fn geometry(&self) -> Option<CubeGeometry> {
        CubeGeometry::new(
            self.layout,
            self.data_type,
            self.valid_rows,
            self.valid_columns,
        )
    }

    /// Number of valid elements.
    pub fn len(&self) -> usize {
        (self.valid_rows as usize).saturating_mul(self.valid_columns as usize)
    }

    /// Whether the valid region is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes the valid region needs in storage; `None` where the layout cannot hold it.
    pub fn required_bytes(&self) -> Option<u64> {
        match self.layout {
            Layout::RowMajor if self.valid_columns <= self.columns && !self.is_empty() => {
                let elements = u64::from(self.valid_rows) * u64::from(self.columns);
                Some((elements * u64::from(self.data_type.bits())).div_ceil(8))
            }
            _ => self.geometry().map(|g| u64::from(g.bytes())),
        }
    }

    /// The linear index of an element in the tile's storage; `None` outside the valid region and
    /// for layouts that have no index.
    pub fn element_index(&self, row: u32, column: u32) -> Option<u32> {
        if row >= self.valid_rows || column >= self.valid_columns {
            return None;
        }
        match self.layout {
            Layout::RowMajor => row.checked_mul(self.columns)?.checked_add(column),
            _ => Some(self.geometry()?.element_index(row, column)),
        }
    }

    /// Checks layout, type, shape, location and capacity as one tile on its own.
    /// `what` names the operand in messages; `limit` is its largest capacity in bytes.
    ///
    /// # Errors
    /// `pto:tile-operand-layout`, `pto:tile-operand-shape` or `pto:tile-capacity`.
    pub fn check(&self, what: &str, limit: u32, revision: Revision) -> Result<(), Fault> {
        require!(
            !self.is_empty(),
            OperandShape,
            "expected {what} to have a row and a column, found {self}"
        );
        require!(
            !self.layout.is_cube() || revision.cube_supports(self.data_type),
            OperandLayout,
            "expected {what} to have a type of at most 32 bits for {}, found {}",
            self.layout,
            self.data_type
        );
        let Some(required) = self.required_bytes() else {
            return Err(Fault::new(
                super::fault::Rule::OperandLayout,
                format!("expected {what} to have a layout that holds its shape, found {self}"),
            ));
        };
        require!(
            self.capacity >= CAPACITY_STEP
                && self.capacity.is_multiple_of(CAPACITY_STEP)
                && self.capacity <= limit,
            Capacity,
            "expected {what} to have a capacity that is a multiple of {CAPACITY_STEP} bytes up to \
             {limit}, found {} bytes",
            self.capacity
        );
        require!(
            required <= u64::from(self.capacity),
            Capacity,
            "expected {what} to hold {self} in its {} bytes, found that it needs {required}",
            self.capacity
        );
        Ok(())
    }
}

impl std::fmt::Display for Descriptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}x{}x{} in {}",
            self.valid_rows, self.valid_columns, self.data_type, self.layout
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_codes() {
        assert_eq!(capacity_of_code(0), None);
        assert_eq!(capacity_of_code(1), Some(128));
        assert_eq!(capacity_of_code(10), Some(MAX_LOCAL_CAPACITY));
        assert_eq!(capacity_of_code(11), None);
        assert_eq!(smallest_code_for(0), Some(1));
        assert_eq!(smallest_code_for(129), Some(2));
        assert_eq!(smallest_code_for(65537), None);
    }

    #[test]
    fn a_descriptor_is_judged_on_its_own() {
        let check = |d: Descriptor| d.check("A", MAX_LOCAL_CAPACITY, Revision::Seed);
        let good = Descriptor::cube(Layout::CubeN8, DataType::Fp16, 13, 19, 768);
        assert_eq!(check(good), Ok(()));
        let tag = |d: Descriptor| check(d).map_err(|f| f.tag());
        assert_eq!(
            tag(Descriptor {
                capacity: 640,
                ..good
            }),
            Err("pto:tile-capacity")
        );
        assert_eq!(
            tag(Descriptor {
                capacity: 769,
                ..good
            }),
            Err("pto:tile-capacity")
        );
        assert_eq!(
            tag(Descriptor {
                valid_rows: 0,
                ..good
            }),
            Err("pto:tile-operand-shape")
        );
        assert_eq!(
            tag(Descriptor {
                layout: Layout::CubeM16,
                valid_rows: 17,
                ..good
            }),
            Err("pto:tile-operand-layout")
        );
        let huge = Descriptor::row_major(DataType::U8, u32::MAX, u32::MAX, 128);
        assert_eq!(tag(huge), Err("pto:tile-operand-layout"));
        let vector = Descriptor::row_major(DataType::U64, 1, 3, 128);
        assert_eq!((vector.columns, check(vector)), (4, Ok(())));
        assert_eq!(good.fitted().capacity, 768);
    }
}
