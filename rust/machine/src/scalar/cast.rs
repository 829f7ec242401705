//! Conversions between scalar types.

use super::float::{from_f64, to_f64};
use crate::code::ElementType;
use crate::code::types::{sign_extend, truncate};

/// A conversion, named as in `arith`. The types on both sides belong to the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CastOp {
    /// Also the unsigned `index_castui`.
    ExtUI,
    /// Also `index_cast`, which sign-extends or truncates.
    ExtSI,
    TruncI,
    /// `extf` and `truncf`: to nearest even.
    Float,
    SIToFP,
    UIToFP,
    FPToSI,
    FPToUI,
    Bitcast,
}

impl CastOp {
    /// `bits` of type `from` as a value of type `to`.
    pub fn apply(self, from: ElementType, to: ElementType, bits: u64) -> u64 {
        let from_width = from.int_width().unwrap_or(64);
        let to_width = to.int_width().unwrap_or(64);
        match self {
            Self::ExtUI | Self::TruncI => truncate(bits, to_width),
            Self::ExtSI => truncate(sign_extend(bits, from_width) as u64, to_width),
            Self::Float => convert_float(from, to, bits),
            Self::SIToFP => int_to_float(to, i128::from(sign_extend(bits, from_width))),
            Self::UIToFP => int_to_float(to, i128::from(bits)),
            Self::FPToSI => {
                let limit = 1i128 << (to_width - 1);
                // `as` saturates and takes NaN to zero; f64 -> i128 is exact below 2^127.
                let value = (to_f64(from, bits) as i128).clamp(-limit, limit - 1);
                truncate(value as u64, to_width)
            }
            Self::FPToUI => {
                let value = (to_f64(from, bits) as i128).clamp(0, (1i128 << to_width) - 1);
                value as u64
            }
            Self::Bitcast => bits,
        }
    }
}

/// The value of a float in another float type, rounded to nearest even.
pub fn convert_float(from: ElementType, to: ElementType, bits: u64) -> u64 {
    if from == to {
        return bits;
    }
    from_f64(to, to_f64(from, bits))
}

/// An integer rounded once, to nearest even, to the float type `to`.
fn int_to_float(to: ElementType, value: i128) -> u64 {
    let ElementType::Float(_) = to else {
        return (value as f64).to_bits();
    };
    // 64 bits do not fit f64: round to odd there, so that the second rounding is the only one.
    let magnitude = value.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let kept = magnitude >> excess;
    let sticky = u128::from(kept << excess != magnitude);
    let rounded = ((kept | sticky) << excess) as f64;
    from_f64(to, if value < 0 { -rounded } else { rounded })
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: ElementType = ElementType::F32;

    fn bits(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    #[test]
    fn integers() {
        let (i8_type, i32_type) = (ElementType::Int(8), ElementType::I32);
        assert_eq!(CastOp::ExtSI.apply(i8_type, i32_type, 0xff), 0xffff_ffff);
        assert_eq!(CastOp::ExtUI.apply(i8_type, i32_type, 0xff), 0xff);
        assert_eq!(CastOp::TruncI.apply(i32_type, i8_type, 0x1ff), 0xff);
        let index = ElementType::Index;
        assert_eq!(CastOp::ExtSI.apply(index, i32_type, u64::MAX), 0xffff_ffff);
        assert_eq!(CastOp::ExtSI.apply(ElementType::I1, index, 1), u64::MAX);
    }

    #[test]
    fn floats_to_integers_saturate() {
        let i8_type = ElementType::Int(8);
        let to_i8 = |value: f32| CastOp::FPToSI.apply(F32, i8_type, bits(value));
        assert_eq!(to_i8(-1.9), 0xff);
        assert_eq!(to_i8(1e9), 127);
        assert_eq!(to_i8(f32::NEG_INFINITY), 0x80);
        assert_eq!(to_i8(f32::NAN), 0);
        let to_u64 = |value: f32| CastOp::FPToUI.apply(F32, ElementType::I64, bits(value));
        assert_eq!(to_u64(f32::INFINITY), u64::MAX);
        assert_eq!(to_u64(-5.0), 0);
    }

    #[test]
    fn integers_to_floats_round_once() {
        let from = ElementType::I64;
        // 2^53 + 1 over 2^30: through f64 it would tie and go down; the exact value is above the tie.
        let value = (1u64 << 62) + (1 << 38) + 1;
        let found = CastOp::SIToFP.apply(from, F32, value);
        assert_eq!(found, u64::from((value as f32).to_bits()));
        for value in [
            0,
            1,
            16_777_217,
            i64::MAX,
            i64::MIN,
            -16_777_219,
            (1 << 54) + 3,
        ] {
            let found = CastOp::SIToFP.apply(from, F32, value as u64);
            assert_eq!(found, u64::from((value as f32).to_bits()), "{value}");
            let found = CastOp::UIToFP.apply(from, F32, value as u64);
            assert_eq!(found, u64::from((value as u64 as f32).to_bits()), "{value}");
        }
        assert_eq!(CastOp::SIToFP.apply(ElementType::I1, F32, 1), bits(-1.0));
    }

    #[test]
    fn floats() {
        let found = CastOp::Float.apply(F32, ElementType::BF16, bits(1.003_906_3));
        assert_eq!(found, 0x3f80);
        assert_eq!(
            CastOp::Float.apply(ElementType::F16, F32, 0x3c00),
            bits(1.0)
        );
        assert_eq!(
            CastOp::Bitcast.apply(F32, ElementType::I32, bits(-0.0)),
            0x8000_0000
        );
    }
}
