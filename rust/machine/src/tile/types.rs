//! Data types of the tile ISA, their classes, and which pairs of them may be multiplied.
//!
//! A type is a 5-bit code. Names with `X2` are 4-bit formats of which two share a byte in memory;
//! shapes and layouts count individual elements, so K = 8 of an `X2` type is 4 bytes.

use crate::formats::Format;

/// A data type that the 5-bit type field can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataType {
    /// IEEE binary64.
    Fp64,
    /// IEEE binary32.
    Fp32,
    /// 19-bit float: sign, 8 exponent bits, 10 fraction bits, in the high bits of a 32-bit word.
    Tf32,
    /// 20-bit float: sign, 8 exponent bits, 11 fraction bits, in the high bits of a 32-bit word.
    Hf32,
    /// IEEE binary16.
    Fp16,
    /// The high half of binary32.
    Bf16,
    /// Tapered 8-bit float: the wider the exponent, the shorter the fraction.
    HiF8,
    /// 8-bit float 1-4-3 without infinities.
    E4M3,
    /// 8-bit float 1-5-2, IEEE-like.
    E5M2,
    /// 6-bit float 1-3-2, finite only.
    E3M2,
    /// 6-bit float 1-2-3, finite only.
    E2M3,
    /// 4-bit float 1-2-1, finite only.
    E2M1X2,
    /// 4-bit float 1-1-2, finite only.
    E1M2X2,
    /// A power of two, as a biased exponent: an MX scale.
    E8M0,
    /// 4-bit float 1-1-2 whose group of 64 shares a 32-bit scale of three levels.
    HiF4X2,
    /// Signed 64-bit integer.
    S64,
    /// Signed 32-bit integer.
    S32,
    /// Signed 16-bit integer.
    S16,
    /// Signed 8-bit integer.
    S8,
    /// Signed 4-bit integer.
    S4X2,
    /// Unsigned 64-bit integer.
    U64,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned 8-bit integer.
    U8,
    /// Unsigned 4-bit integer.
    U4X2,
}

use DataType::*;

/// One row of the type table: the type, its code, its published name, its width in bits.
type Row = (DataType, u8, &'static str, u32);

/// Every type, in the order of [`DataType`]. The single place that knows codes, names and widths.
/// A 6-bit format occupies a byte of which the two high bits are zero.
const TABLE: [Row; 25] = [
    (Fp64, 0, "FP64", 64),
    (Fp32, 1, "FP32", 32),
    (Tf32, 2, "TF32", 32),
    (Hf32, 3, "HF32", 32),
    (Fp16, 4, "FP16", 16),
    (Bf16, 5, "BF16", 16),
    (HiF8, 6, "HiF8", 8),
    (E4M3, 7, "E4M3", 8),
    (E5M2, 8, "E5M2", 8),
    (E3M2, 9, "E3M2", 8),
    (E2M3, 10, "E2M3", 8),
    (E2M1X2, 11, "E2M1X2", 4),
    (E1M2X2, 12, "E1M2X2", 4),
    (E8M0, 13, "E8M0", 8),
    (HiF4X2, 14, "HiF4X2", 4),
    (S64, 16, "S64", 64),
    (S32, 17, "S32", 32),
    (S16, 18, "S16", 16),
    (S8, 19, "S8", 8),
    (S4X2, 20, "S4X2", 4),
    (U64, 24, "U64", 64),
    (U32, 25, "U32", 32),
    (U16, 26, "U16", 16),
    (U8, 27, "U8", 8),
    (U4X2, 28, "U4X2", 4),
];

/// The code that means "no type: inherit the left operand's". Legal in B.DATR only.
pub const INHERIT_CODE: u8 = 31;

/// What decides the accumulator: operands of two classes cannot be multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Any float; accumulates in FP32.
    Floating,
    /// Signed integers; accumulate in S32.
    Signed,
    /// Unsigned integers; accumulate in U32.
    Unsigned,
}

impl Class {
    /// The type of C, of Bias and of an unconverted D.
    pub fn accumulator(self) -> DataType {
        match self {
            Class::Floating => Fp32,
            Class::Signed => S32,
            Class::Unsigned => U32,
        }
    }
}

impl DataType {
    /// Every type, by ascending code.
    pub fn all() -> impl Iterator<Item = DataType> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The 5-bit code.
    pub fn code(self) -> u8 {
        self.row().1
    }

    /// The type of a 5-bit code; `None` for reserved codes and for [`INHERIT_CODE`].
    pub fn from_code(code: u8) -> Option<DataType> {
        TABLE.iter().find(|row| row.1 == code).map(|row| row.0)
    }

    /// The published name, such as `E2M1X2`.
    pub fn name(self) -> &'static str {
        self.row().2
    }

    /// The type of a published name.
    pub fn from_name(name: &str) -> Option<DataType> {
        TABLE.iter().find(|row| row.2 == name).map(|row| row.0)
    }

    /// Width of one element in a tile, in bits: 4, 8, 16, 32 or 64.
    pub fn bits(self) -> u32 {
        self.row().3
    }

    /// Whether a carrier word of this type is a two's complement number.
    pub fn is_signed_integer(self) -> bool {
        matches!(self, S64 | S32 | S16 | S8 | S4X2)
    }

    /// The storage format of a float type; `None` for integers, and for FP64, which no matmul has.
    pub fn float_format(self) -> Option<Format> {
        Some(match self {
            Fp32 => Format::F32,
            Tf32 => Format::Tf32,
            Hf32 => Format::Hf32,
            Fp16 => Format::F16,
            Bf16 => Format::Bf16,
            HiF8 => Format::HiF8,
            E4M3 => Format::F8E4M3FN,
            E5M2 => Format::F8E5M2,
            E3M2 => Format::F6E3M2FN,
            E2M3 => Format::F6E2M3FN,
            E2M1X2 => Format::F4E2M1FN,
            E1M2X2 | HiF4X2 => Format::F4E1M2,
            E8M0 => Format::F8E8M0FNU,
            Fp64 | S64 | S32 | S16 | S8 | S4X2 | U64 | U32 | U16 | U8 | U4X2 => return None,
        })
    }

    /// The carrier word of an element's bits: right-aligned, signed integers sign-extended, bits
    /// above the element's width dropped.
    pub fn carrier(self, bits: u64) -> u64 {
        let unused = 64 - self.bits();
        if self.is_signed_integer() {
            ((bits << unused) as i64 >> unused) as u64
        } else {
            bits << unused >> unused
        }
    }

    /// Whether the CUBE layouts can hold this type: any but the 64-bit ones. HiF4X2 waits for the
    /// revisions that have it as an input; see [`super::Revision`].
    pub fn has_cube_layout(self) -> bool {
        self.bits() < 64
    }

    /// The class of an ordinary (non-MX) matrix input; `None` where the type cannot be one.
    pub fn ordinary_class(self) -> Option<Class> {
        match self {
            Fp32 | Tf32 | Hf32 | Fp16 | Bf16 | HiF8 | E4M3 | E5M2 | E3M2 | E2M3 | E2M1X2
            | E1M2X2 => Some(Class::Floating),
            S16 | S8 | S4X2 => Some(Class::Signed),
            U16 | U8 | U4X2 => Some(Class::Unsigned),
            Fp64 | E8M0 | HiF4X2 | S64 | S32 | U64 | U32 => None,
        }
    }

    /// How an MX side of this type is scaled; `None` where the type cannot be an MX input.
    /// HiF4X2 is listed here; the revisions before it refuse it in [`mx_pair_legal`].
    pub fn mx_scaling(self) -> Option<Scaling> {
        match self {
            Fp16 | Bf16 => Some(Scaling::Unscaled),
            E4M3 | E5M2 | E2M1X2 | E1M2X2 => Some(Scaling::Group {
                size: 32,
                scale: E8M0,
            }),
            HiF4X2 => Some(Scaling::Group {
                size: 64,
                scale: U32,
            }),
            _ => None,
        }
    }
}

impl std::fmt::Display for DataType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How one side of an MX product is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// The side has no scale operand.
    Unscaled,
    /// `size` consecutive k of one row (A) or column (B) share one scale of type `scale`.
    Group {
        /// Elements a scale covers.
        size: u32,
        /// The type of the scale tile.
        scale: DataType,
    },
}

/// The class of an ordinary pair: both inputs of one class, widths mixed at will.
/// 12 x 12 floating, 3 x 3 signed and 3 x 3 unsigned pairs are legal.
pub fn ordinary_pair_class(left: DataType, right: DataType) -> Option<Class> {
    let class = left.ordinary_class()?;
    (right.ordinary_class()? == class).then_some(class)
}

/// Whether two types may be the sides of an MX product; they always accumulate in FP32.
pub fn mx_pair_legal(left: DataType, right: DataType, has_hif4: bool) -> bool {
    let legal = |t: DataType| t.mx_scaling().is_some() && (has_hif4 || t != HiF4X2);
    legal(left) && legal(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_enum_order_and_codes_round_trip() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, i);
            assert_eq!(DataType::from_code(row.1), Some(row.0));
            assert_eq!(DataType::from_name(row.2), Some(row.0));
        }
        let reserved: Vec<u8> = (0..32)
            .filter(|&c| DataType::from_code(c).is_none())
            .collect();
        assert_eq!(reserved, [15, 21, 22, 23, 29, 30, INHERIT_CODE]);
    }

    #[test]
    fn ordinary_pairs_count_162() {
        let legal = DataType::all()
            .flat_map(|a| DataType::all().map(move |b| (a, b)))
            .filter(|&(a, b)| ordinary_pair_class(a, b).is_some())
            .count();
        assert_eq!(legal, 12 * 12 + 3 * 3 + 3 * 3);
    }

    #[test]
    fn mx_pairs_count_36_and_49_with_hif4() {
        let count = |hif4| {
            DataType::all()
                .flat_map(|a| DataType::all().map(move |b| (a, b)))
                .filter(|&(a, b)| mx_pair_legal(a, b, hif4))
                .count()
        };
        assert_eq!((count(false), count(true)), (36, 49));
    }
}
