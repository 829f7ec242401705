//! Element types and how their values travel: as raw bits in the low end of a `u64`.

use crate::formats::Format;

/// The type of a scalar or of a memref's element.
///
/// A value of type `Int(w)` is held zero-extended; `Index` is 64 bits wide; a float is held as the
/// code of its [`Format`], `f64` as its IEEE bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// A signless or signed integer of 1 to 64 bits. On the PE it is signed; scalar operations say
    /// themselves what they take it for.
    Int(u8),
    /// An unsigned integer of 1 to 64 bits.
    Uint(u8),
    /// A 64-bit index.
    Index,
    /// A floating-point format of at most 32 bits.
    Float(Format),
    /// IEEE binary64.
    F64,
}

impl ElementType {
    /// IEEE binary32.
    pub const F32: Self = Self::Float(Format::F32);
    /// The upper half of binary32.
    pub const BF16: Self = Self::Float(Format::Bf16);
    /// IEEE binary16.
    pub const F16: Self = Self::Float(Format::F16);
    /// A truth value.
    pub const I1: Self = Self::Int(1);
    /// A 32-bit integer.
    pub const I32: Self = Self::Int(32);
    /// A 64-bit integer.
    pub const I64: Self = Self::Int(64);

    /// Bytes of one element in memory and in .npy files: 1, 2, 4 or 8.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Int(width) | Self::Uint(width) => {
                (width as usize).div_ceil(8).next_power_of_two()
            }
            Self::Index | Self::F64 => 8,
            Self::Float(format) => format.storage_bytes(),
        }
    }

    /// Bits of an integer; `None` for floats.
    pub const fn int_width(self) -> Option<u8> {
        match self {
            Self::Int(width) | Self::Uint(width) => Some(width),
            Self::Index => Some(64),
            Self::Float(_) | Self::F64 => None,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        self.int_width().is_none()
    }

    /// Whether the bits of `left` and `right` stand for the same value as the project compares
    /// values: bit for bit, NaN by class.
    pub fn same_value(self, left: u64, right: u64) -> bool {
        left == right || (self.is_nan(left) && self.is_nan(right))
    }

    /// Whether `bits` are a NaN of this type.
    pub fn is_nan(self, bits: u64) -> bool {
        match self {
            Self::Int(_) | Self::Uint(_) | Self::Index => false,
            Self::F64 => f64::from_bits(bits).is_nan(),
            Self::Float(format) => format.decode(bits as u32).is_nan(),
        }
    }

    /// The value of `bits` as text, with the bits themselves where they say more.
    pub fn show(self, bits: u64) -> String {
        match self {
            Self::Int(1) => (bits != 0).to_string(),
            Self::Int(width) => sign_extend(bits, width).to_string(),
            Self::Uint(_) => bits.to_string(),
            Self::Index => (bits as i64).to_string(),
            Self::F64 => format!("{:?} (0x{bits:016x})", f64::from_bits(bits)),
            Self::Float(format) => {
                let digits = format.storage_bytes() * 2;
                let value = format.decode_f32(bits as u32);
                format!("{value:?} (0x{bits:0digits$x})")
            }
        }
    }
}

impl std::fmt::Display for ElementType {
    /// As MLIR spells it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(width) => write!(f, "i{width}"),
            Self::Uint(width) => write!(f, "ui{width}"),
            Self::Index => f.write_str("index"),
            Self::F64 => f.write_str("f64"),
            Self::Float(format) => f.write_str(format.name()),
        }
    }
}

/// The low `width` bits of `bits`.
pub const fn truncate(bits: u64, width: u8) -> u64 {
    if width >= 64 {
        bits
    } else {
        bits & ((1 << width) - 1)
    }
}

/// The signed value of the low `width` bits of `bits`.
pub const fn sign_extend(bits: u64, width: u8) -> i64 {
    if width == 0 || width >= 64 {
        return bits as i64;
    }
    let shift = 64 - width as u32;
    ((bits << shift) as i64) >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths() {
        assert_eq!(ElementType::Int(1).bytes(), 1);
        assert_eq!(ElementType::Int(9).bytes(), 2);
        assert_eq!(ElementType::Int(24).bytes(), 4);
        assert_eq!(ElementType::Int(64).bytes(), 8);
        assert_eq!(ElementType::BF16.bytes(), 2);
        assert_eq!(truncate(u64::MAX, 3), 7);
        assert_eq!(sign_extend(0b100, 3), -4);
        assert_eq!(sign_extend(0b011, 3), 3);
        assert_eq!(sign_extend(u64::MAX, 64), -1);
    }

    #[test]
    fn values_compare_by_bits_and_nan_by_class() {
        let f32_type = ElementType::F32;
        assert!(!f32_type.same_value(0, 0x8000_0000), "signed zeros differ");
        assert!(f32_type.same_value(0x7fc0_0000, 0xffc0_0001));
        assert!(!f32_type.same_value(0x7fc0_0000, 0x7f80_0000));
    }

    #[test]
    fn values_show_their_bits() {
        assert_eq!(ElementType::F32.show(0x3f80_0000), "1.0 (0x3f800000)");
        assert_eq!(ElementType::BF16.show(0x3f80), "1.0 (0x3f80)");
        assert_eq!(ElementType::Int(8).show(0xff), "-1");
        assert_eq!(ElementType::Int(1).show(1), "true");
    }
}
