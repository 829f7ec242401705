//! Conversion of an activated accumulator to the type of D, with its flags.

use super::activate::{Activated, activate};
use super::modes::{self, PreQuantMode};
use super::{Column, flag};
use crate::formats::{Format, Overflow, Rounding};
use crate::tile::types::DataType;

/// A conversion with everything decided that is the same for all elements.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    kind: modes::Conversion,
    output: DataType,
    rounding: Rounding,
    saturate: bool,
}

impl Conversion {
    /// The conversion of `mode` for an accumulator type, in `rounding` and with `saturate` where
    /// the mode leaves those free.
    pub fn new(
        mode: PreQuantMode,
        accumulator: DataType,
        rounding: Rounding,
        saturate: bool,
    ) -> Conversion {
        let (rounding, saturate) = match mode.control {
            modes::Control::Fixed => (Rounding::NearestEven, false),
            modes::Control::FixedRounding(fixed) => (fixed, saturate),
            modes::Control::Programmable => (rounding, saturate),
        };
        Conversion {
            kind: mode.conversion,
            output: mode.output(accumulator),
            rounding,
            saturate,
        }
    }

    /// The type of D.
    pub fn output(&self) -> DataType {
        self.output
    }

    /// Whether D is P where there is no activation.
    pub fn is_identity(&self) -> bool {
        self.kind == modes::Conversion::Identity
    }

    /// The carrier word of D for one accumulator word, and the flags raised.
    pub fn apply(&self, word: u64, accumulator: DataType, column: &Column) -> (u64, u8) {
        let q = &column.quantisation;
        match self.kind {
            modes::Conversion::Shift => shift(word as u32 as i32, q.amount),
            modes::Conversion::Affine { offset_bits } => {
                let x = activate(word, accumulator, column);
                self.integer(x, Some((offset_bits, q.offset)))
            }
            modes::Conversion::Float => self.float(activate(word, accumulator, column)),
            modes::Conversion::Identity if column.negative_factor.is_none() => (word, 0),
            modes::Conversion::Identity => {
                let x = activate(word, accumulator, column);
                if self.output == DataType::Fp32 {
                    self.float(x)
                } else {
                    self.integer(x, None)
                }
            }
        }
    }

    /// Rounds to a whole number, clamps and offsets it in an affine mode, and fits it into D.
    fn integer(&self, x: Activated, affine: Option<(u32, i64)>) -> (u64, u8) {
        let range = integer_range(self.output);
        let x = match x {
            Activated::Finite(x) => x,
            Activated::Nan { .. } => {
                let value = if self.saturate { 0 } else { range.0 };
                return (self.carrier(value), flag::NV);
            }
            Activated::Infinite { negative } => {
                let (value, flags) = match (self.saturate, negative) {
                    (false, _) => (range.0, flag::NV),
                    (true, true) => (range.0, flag::OF | flag::NX),
                    (true, false) => (range.1, flag::OF | flag::NX),
                };
                return (self.carrier(value), flags);
            }
        };
        let (mut y, mut flags) = round_to_integer(x, self.rounding);
        if let Some((bits, offset)) = affine {
            let half = 1i128 << (bits - 1);
            let clamped = y.clamp(-half, half - 1);
            if clamped != y {
                flags |= flag::OF | flag::NX;
            }
            y = clamped + i128::from(offset);
        }
        if y < range.0 || y > range.1 {
            flags |= flag::OF | flag::NX;
            if self.saturate {
                y = y.clamp(range.0, range.1);
            }
        }
        (self.carrier(y), flags)
    }

    /// The carrier of a whole number, wrapped to the width of D.
    fn carrier(&self, value: i128) -> u64 {
        self.output.carrier(value as u64)
    }

    fn float(&self, x: Activated) -> (u64, u8) {
        let Some(format) = self.output.float_format() else {
            return (0, 0);
        };
        match x {
            Activated::Nan { signalling } => {
                let code = match format.nan() {
                    Some(code) if !self.saturate => code,
                    _ => 0,
                };
                (u64::from(code), if signalling { flag::NV } else { 0 })
            }
            Activated::Infinite { negative } => {
                if self.saturate || format.infinity().is_none() {
                    (self.overflowed(format, negative), flag::OF | flag::NX)
                } else {
                    let infinity = if negative {
                        f64::NEG_INFINITY
                    } else {
                        f64::INFINITY
                    };
                    (u64::from(format.encode_rne(infinity)), 0)
                }
            }
            Activated::Finite(x) => self.finite(format, x),
        }
    }

    fn finite(&self, format: Format, x: f64) -> (u64, u8) {
        let encoded = format.encode(x, self.rounding, Overflow::ToInfinity);
        let is_small = matches!(format, Format::F8E4M3FN | Format::HiF8);
        if encoded.overflow || (is_small && x.abs() > format.decode(format.largest())) {
            let word = self.overflowed(format, x.is_sign_negative());
            return (word, flag::OF | flag::NX);
        }
        let flags = match (encoded.inexact, is_subnormal(format, encoded.code)) {
            (false, _) => 0,
            (true, false) => flag::NX,
            (true, true) => flag::UF | flag::NX,
        };
        // The 8-bit formats take the nearest code, and +0 is the first of the two zeros.
        let loses_sign = is_small && x != 0.0 && format.decode(encoded.code) == 0.0;
        let code = if loses_sign { 0 } else { encoded.code };
        (u64::from(code), flags)
    }

    /// What a value beyond the largest finite one becomes. E4M3 has no infinity and gives its
    /// positive NaN for either sign.
    fn overflowed(&self, format: Format, negative: bool) -> u64 {
        let magnitude = if self.saturate {
            format.largest()
        } else {
            match format.infinity() {
                Some(infinity) => infinity,
                None => return u64::from(format.nan().unwrap_or(0)),
            }
        };
        let sign = if negative {
            1 << (self.output.bits() - 1)
        } else {
            0
        };
        u64::from(magnitude | sign)
    }
}

/// The arithmetic right shift of an S32 value, saturated to S16. Lost bits raise nothing.
fn shift(value: i32, amount: u32) -> (u64, u8) {
    let shifted = value >> amount.min(31);
    let clamped = shifted.clamp(i16::MIN.into(), i16::MAX.into());
    let flags = if clamped == shifted {
        0
    } else {
        flag::OF | flag::NX
    };
    (clamped as i64 as u64, flags)
}

/// The least and the largest value of an integer type of at most 32 bits.
fn integer_range(data_type: DataType) -> (i128, i128) {
    let bits = data_type.bits();
    if data_type.is_signed_integer() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// The largest magnitude [`round_to_integer`] passes on. It is beyond every clamp, and a multiple
/// of 2^32, as every f64 that large is: what is wrapped stays right.
const LARGEST_WHOLE: f64 = (1u128 << 120) as f64;

/// The whole number `x` rounds to, and `NX` where it is another.
fn round_to_integer(x: f64, rounding: Rounding) -> (i128, u8) {
    let magnitude = x.abs().min(LARGEST_WHOLE);
    let whole = magnitude.trunc();
    let fraction = magnitude - whole;
    let negative = x.is_sign_negative();
    let is_odd = whole % 2.0 == 1.0;
    let away = i128::from(rounding.is_away(negative, fraction, is_odd));
    let rounded = whole as i128 + away;
    (
        if negative { -rounded } else { rounded },
        if fraction == 0.0 { 0 } else { flag::NX },
    )
}

/// Whether a code stands for a subnormal value or zero.
fn is_subnormal(format: Format, code: u32) -> bool {
    let smallest_normal = match format {
        Format::F32 | Format::Bf16 => f64::from(f32::MIN_POSITIVE),
        Format::F16 => 2f64.powi(-14),
        Format::F8E4M3FN => 2f64.powi(-6),
        // Below it HiF8 has powers of two only.
        Format::HiF8 => 2f64.powi(-15),
        _ => 0.0,
    };
    format.decode(code).abs() < smallest_normal
}
