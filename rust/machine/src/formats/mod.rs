//! Number formats of the engines, decoded and encoded exactly.
//!
//! Every format is a set of codes, each standing for a real number, an infinity or a NaN. All
//! finite values of all formats here are also `f32` values (and so `f64` values), hence decoding
//! is exact. Encoding takes an `f64` and rounds it once, in a rounding mode of choice.
//!
//! | format | sign, exponent, fraction | bias | largest | specials |
//! |---|---|---|---|---|
//! | `F32` | 1, 8, 23 | 127 | 3.4e38 | Inf, NaN |
//! | `Tf32` | 1, 8, 10 in bits 31:13 of a word | 127 | 3.4e38 | Inf, NaN |
//! | `Hf32` | 1, 8, 11 in bits 31:12 of a word | 127 | 3.4e38 | Inf, NaN |
//! | `Bf16` | 1, 8, 7 | 127 | 3.4e38 | Inf, NaN |
//! | `F16` | 1, 5, 10 | 15 | 65504 | Inf, NaN |
//! | `F8E5M2` | 1, 5, 2 | 15 | 57344 | Inf, NaN |
//! | `F8E4M3FN` | 1, 4, 3 | 7 | 448 | NaN 0x7f, 0xff |
//! | `F8E3M4` | 1, 3, 4 | 3 | 15.5 | Inf, NaN |
//! | `F8E8M0FNU` | 0, 8, 0 | 127 | 2^127 | NaN 0xff; no zero |
//! | `F6E3M2FN` | 1, 3, 2 | 3 | 28 | none |
//! | `F6E2M3FN` | 1, 2, 3 | 1 | 7.5 | none |
//! | `F4E2M1FN` | 1, 2, 1 | 1 | 6 | none |
//! | `F4E1M2` | 1, 1, 2 | 1 | 1.75 | none |
//! | `HiF8` | tapered, see [`hif8`] | | 32768 | Inf 0x6f, 0xef, NaN 0x80; no -0 |
//!
//! A code is the *storage word* of an element, right-aligned in a `u32`: 6-bit and 4-bit formats
//! one element a byte, tf32 and hf32 the upper bits of an `f32` word. Bits outside a format are
//! ignored by [`Format::decode`] and told by [`Format::is_valid`].

mod binary;
pub mod hif8;
mod round;
#[cfg(test)]
mod tests;

use binary::{Binary, Specials};
pub use round::{Rounding, add_to_odd};

/// A number format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// IEEE binary32.
    F32,
    /// The 19-bit format of NVIDIA's tensor cores, in bits 31:13 of a word.
    Tf32,
    /// 20 bits, 11 of fraction, in bits 31:12 of a word.
    Hf32,
    /// The upper half of binary32.
    Bf16,
    /// IEEE binary16.
    F16,
    /// 8 bits, IEEE-like, 5 of exponent.
    F8E5M2,
    /// 8 bits, 4 of exponent, finite and NaN.
    F8E4M3FN,
    /// 8 bits, IEEE-like, 3 of exponent.
    F8E3M4,
    /// Powers of two, the scale of the OCP microscaling formats.
    F8E8M0FNU,
    /// 6 bits, 3 of exponent, finite.
    F6E3M2FN,
    /// 6 bits, 2 of exponent, finite.
    F6E2M3FN,
    /// 4 bits, 2 of exponent, finite.
    F4E2M1FN,
    /// 4 bits, 1 of exponent, finite: the multiples of 1/4 up to 1.75.
    F4E1M2,
    /// 8 bits, tapered exponent.
    HiF8,
}

/// What an encoding yields where the rounded magnitude exceeds the largest finite value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Infinity of the sign; NaN of the sign where the format has no infinity, and the largest
    /// finite value where it has no NaN either.
    ToInfinity,
    /// The largest finite value of the sign; for an infinite input as well.
    Saturate,
}

/// A code, and what rounding did to reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The storage word.
    pub code: u32,
    /// Whether the code's value differs from the value encoded. False for NaN and for an infinity
    /// that stays one.
    pub inexact: bool,
    /// Whether the rounded magnitude exceeded the largest finite value (an infinite input does
    /// only where the code is not an infinity).
    pub overflow: bool,
}

impl Format {
    /// Every format, widest first.
    pub const ALL: [Self; 14] = [
        Self::F32,
        Self::Tf32,
        Self::Hf32,
        Self::Bf16,
        Self::F16,
        Self::F8E5M2,
        Self::F8E4M3FN,
        Self::F8E3M4,
        Self::F8E8M0FNU,
        Self::F6E3M2FN,
        Self::F6E2M3FN,
        Self::F4E2M1FN,
        Self::F4E1M2,
        Self::HiF8,
    ];

    /// The name, as MLIR spells the element type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Tf32 => "tf32",
            Self::Hf32 => "!pto.hf32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::F8E5M2 => "f8E5M2",
            Self::F8E4M3FN => "f8E4M3FN",
            Self::F8E3M4 => "f8E3M4",
            Self::F8E8M0FNU => "f8E8M0FNU",
            Self::F6E3M2FN => "f6E3M2FN",
            Self::F6E2M3FN => "f6E2M3FN",
            Self::F4E2M1FN => "f4E2M1FN",
            Self::F4E1M2 => "!pto.e1m2",
            Self::HiF8 => "!pto.hif8",
        }
    }

    /// Bytes of one storage word: 1, 2 or 4.
    pub const fn storage_bytes(self) -> usize {
        match self {
            Self::F32 | Self::Tf32 | Self::Hf32 => 4,
            Self::Bf16 | Self::F16 => 2,
            _ => 1,
        }
    }

    /// Whether `code` has only bits of the format set.
    pub const fn is_valid(self, code: u32) -> bool {
        code & !self.code_mask() == 0
    }

    /// The bits of a storage word that belong to the format.
    pub const fn code_mask(self) -> u32 {
        match self.binary() {
            Some(binary) => binary.code_mask(),
            None => 0xff,
        }
    }

    /// The value of a code, exactly. NaN codes give the canonical quiet NaN.
    pub const fn decode(self, code: u32) -> f64 {
        match self.binary() {
            Some(binary) => binary.decode(code),
            None => hif8::decode(code as u8),
        }
    }

    /// The value of a code as `f32`, exactly.
    pub const fn decode_f32(self, code: u32) -> f32 {
        self.decode(code) as f32
    }

    /// The code whose value is nearest to `value` in the sense of `rounding`.
    ///
    /// One rounding, with gradual underflow. A NaN gives [`Format::nan`], or -0 in a format
    /// without NaN (as LLVM and ml_dtypes do). E8M0 has neither zero nor sign: a zero or negative
    /// value gives NaN, a positive one below 2^-127 gives 2^-127.
    pub const fn encode(self, value: f64, rounding: Rounding, overflow: Overflow) -> Encoded {
        match self.binary() {
            Some(binary) => binary.encode(value, rounding, overflow),
            None => hif8::encode(value, rounding, overflow),
        }
    }

    /// The code nearest to `value`, ties to even, overflowing to infinity: IEEE's default.
    pub const fn encode_rne(self, value: f64) -> u32 {
        self.encode(value, Rounding::NearestEven, Overflow::ToInfinity)
            .code
    }

    /// The canonical quiet NaN, if the format has one.
    pub const fn nan(self) -> Option<u32> {
        match self.binary() {
            Some(binary) => binary.nan(),
            None => Some(hif8::NAN as u32),
        }
    }

    /// The positive infinity, if the format has one.
    pub const fn infinity(self) -> Option<u32> {
        match self.binary() {
            Some(binary) => binary.infinity(),
            None => Some(hif8::INFINITY as u32),
        }
    }

    /// The code of the largest finite value.
    pub const fn largest(self) -> u32 {
        match self.binary() {
            Some(binary) => binary.largest(),
            None => hif8::LARGEST as u32,
        }
    }

    /// Bits of significand of a normal value, the implicit one included; the most of any exponent.
    pub const fn precision(self) -> u32 {
        match self.binary() {
            Some(binary) => binary.fraction_bits + 1,
            None => hif8::PRECISION,
        }
    }

    /// The layout of a format that has fixed fields; `None` for HiF8.
    const fn binary(self) -> Option<Binary> {
        use Specials::{Finite, Ieee, NanOnly};
        Some(match self {
            Self::F32 => Binary::new(8, 23, 127, Ieee),
            Self::Tf32 => Binary::new(8, 10, 127, Ieee).shifted(13),
            Self::Hf32 => Binary::new(8, 11, 127, Ieee).shifted(12),
            Self::Bf16 => Binary::new(8, 7, 127, Ieee),
            Self::F16 => Binary::new(5, 10, 15, Ieee),
            Self::F8E5M2 => Binary::new(5, 2, 15, Ieee),
            Self::F8E4M3FN => Binary::new(4, 3, 7, NanOnly),
            Self::F8E3M4 => Binary::new(3, 4, 3, Ieee),
            Self::F8E8M0FNU => Binary::new(8, 0, 127, NanOnly).unsigned(),
            Self::F6E3M2FN => Binary::new(3, 2, 3, Finite),
            Self::F6E2M3FN => Binary::new(2, 3, 1, Finite),
            Self::F4E2M1FN => Binary::new(2, 1, 1, Finite),
            Self::F4E1M2 => Binary::new(1, 2, 1, Finite),
            Self::HiF8 => return None,
        })
    }
}
