//! The tile ISA in a program: where tiles lie, what they hold, and the instruction on them.

use super::{ElementType, EngineOp, ScalarSlot, ViewSlot};
use crate::tile::descriptor::{CAPACITY_STEP, MAX_LOCAL_CAPACITY, MAX_SHARED_CAPACITY};
use crate::tile::fields::RMode;
use crate::tile::{DataType, Descriptor, Layout, Post, Role};

/// Where a tile lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileSpace {
    /// Local, cells of 16 rows.
    CubeM16,
    /// Local, cells of 32 rows.
    CubeM32,
    /// Local, cells of 8 columns.
    CubeN8,
    /// Row-major, read by every processing element of the core.
    Shared,
}

/// What a memref in a tile space is, its shape aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileKind {
    /// Where it lies.
    pub space: TileSpace,
    /// What its elements are.
    pub data_type: DataType,
}

impl TileSpace {
    /// The most bytes of one tile.
    pub const fn max_capacity(self) -> u32 {
        match self {
            Self::Shared => MAX_SHARED_CAPACITY,
            Self::CubeM16 | Self::CubeM32 | Self::CubeN8 => MAX_LOCAL_CAPACITY,
        }
    }
}

impl TileKind {
    /// The descriptor of a tile of `rows` x `columns` elements and `capacity` bytes. What is Shared
    /// is row-major, and so are 64-bit elements, for which there is no cell layout.
    pub fn descriptor(self, rows: u32, columns: u32, capacity: u32) -> Descriptor {
        let layout = match self.space {
            TileSpace::CubeM16 => Layout::CubeM16,
            TileSpace::CubeM32 => Layout::CubeM32,
            TileSpace::CubeN8 => Layout::CubeN8,
            TileSpace::Shared => Layout::RowMajor,
        };
        if layout.is_cube() && self.data_type.has_cube_layout() {
            Descriptor::cube(layout, self.data_type, rows, columns, capacity)
        } else {
            Descriptor::row_major(self.data_type, rows, columns, capacity)
        }
    }

    /// The capacity of the smallest size code that holds `rows` x `columns` elements; `None` where
    /// no tile does.
    pub fn smallest_capacity(self, rows: u32, columns: u32) -> Option<u32> {
        let bytes = self.descriptor(rows, columns, 0).required_bytes()?;
        let bytes = bytes
            .max(CAPACITY_STEP.into())
            .checked_next_power_of_two()?;
        let capacity = u32::try_from(bytes).ok()?;
        (capacity <= self.space.max_capacity()).then_some(capacity)
    }
}

impl ElementType {
    /// The type of the elements of a tile as scalars and in memory: 4-bit and 6-bit ones are bytes.
    pub fn of_tile(data_type: DataType) -> Self {
        let width = data_type.bits() as u8;
        match (data_type, data_type.float_format()) {
            (_, Some(format)) => Self::Float(format),
            (DataType::Fp64, _) => Self::F64,
            // A parameter word, an i64.
            (DataType::U64, _) => Self::Int(width),
            _ if data_type.is_signed_integer() => Self::Int(width),
            _ => Self::Uint(width),
        }
    }

    /// The bits of an element that mean something: those above are zero in a word of the type.
    pub const fn code_bits(self) -> u64 {
        match self {
            Self::Int(width) | Self::Uint(width) => super::truncate(u64::MAX, width),
            Self::Float(format) => format.code_mask() as u64,
            Self::Index | Self::F64 => u64::MAX,
        }
    }
}

/// A matmul of the tile ISA: its fields, and its operands by role.
#[derive(Clone, Debug)]
pub struct TileMatmul {
    /// Engine and tokens.
    pub op: EngineOp,
    /// The 5-bit CUBE function code.
    pub function: u8,
    /// Post-processing, transposes and the presence of CScale: B.FPATR.
    pub post: Post,
    /// Rounding control.
    pub rmode: RMode,
    /// Overflow gives the largest finite value.
    pub saturate: bool,
    /// The processing elements that take part; bit 3 - i is element i.
    pub mask: u8,
    /// The sources in the order of the ISA's stream.
    pub sources: Box<[(Role, ViewSlot)]>,
    /// The scalar parameters, quantisation first: words of 64 bits.
    pub scalars: Box<[ScalarSlot]>,
    /// D, then RowMaxOut, then GroupMaxOut.
    pub destinations: Box<[ViewSlot]>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;

    #[test]
    fn capacities_are_those_of_size_codes() {
        let kind = |space, data_type| TileKind { space, data_type };
        let d = kind(TileSpace::CubeM16, DataType::Fp32);
        assert_eq!(d.smallest_capacity(1, 1), Some(128));
        assert_eq!(d.smallest_capacity(16, 32), Some(2048));
        assert_eq!(d.smallest_capacity(16, 33), Some(4096));
        assert_eq!(d.smallest_capacity(17, 1), None, "more rows than a cell");
        assert_eq!(d.smallest_capacity(16, 1025), None, "more than 64 KiB");
        let shared = kind(TileSpace::Shared, DataType::Fp32);
        assert_eq!(shared.smallest_capacity(256, 256), Some(256 << 10));
        let parameter = kind(TileSpace::CubeM16, DataType::U64);
        assert_eq!(parameter.smallest_capacity(1, 33), Some(512));
        assert_eq!(parameter.descriptor(1, 33, 512).layout, Layout::RowMajor);
    }

    #[test]
    fn elements_are_the_types_of_memory() {
        let element = ElementType::of_tile;
        assert_eq!(element(DataType::Fp16), ElementType::F16);
        assert_eq!(element(DataType::S4X2), ElementType::Int(4));
        assert_eq!(element(DataType::U64), ElementType::I64);
        assert_eq!(element(DataType::U16), ElementType::Uint(16));
        assert_eq!(
            element(DataType::E3M2),
            ElementType::Float(Format::F6E3M2FN)
        );
        assert_eq!(element(DataType::E3M2).code_bits(), 0x3f);
        assert_eq!(element(DataType::Tf32).code_bits(), 0xffff_e000);
        for data_type in DataType::all() {
            let bytes = u64::from(data_type.bits().div_ceil(8));
            assert_eq!(element(data_type).bytes() as u64, bytes, "{data_type}");
        }
    }
}
