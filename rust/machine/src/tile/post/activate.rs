//! Activation: the accumulator, times the scale or the factor for negative values.

use super::Column;
use crate::tile::types::DataType;

/// An activated accumulator, as the exact real it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activated {
    /// A finite value. A zero has a sign only where the accumulator was -0 and was not multiplied
    /// by zero.
    Finite(f64),
    /// An infinity.
    Infinite {
        /// Of which sign.
        negative: bool,
    },
    /// Not a number.
    Nan {
        /// Whether it was a signalling one.
        signalling: bool,
    },
}

/// `P * multiplier` exactly: the product of at most 32 by 11 significant bits fits f64.
///
/// A value is negative where its sign is set: so are -0 and -Inf, but no NaN and no U32. An
/// infinity multiplied by an activation factor of zero counts as zero.
pub fn activate(word: u64, accumulator: DataType, column: &Column) -> Activated {
    let bits = word as u32;
    let value = match accumulator {
        DataType::Fp32 => f64::from(f32::from_bits(bits)),
        DataType::S32 => f64::from(bits as i32),
        _ => f64::from(bits),
    };
    if value.is_nan() {
        return Activated::Nan {
            signalling: is_signalling(bits),
        };
    }
    let scale = column.quantisation.scale;
    let negative = value.is_sign_negative();
    let multiplier = match column.negative_factor {
        Some(factor) if negative => factor,
        _ => scale,
    };
    if multiplier == 0.0 {
        return Activated::Finite(0.0);
    }
    if value.is_infinite() {
        return Activated::Infinite { negative };
    }
    Activated::Finite(value * multiplier)
}

/// Whether an FP32 word is a NaN with its quiet bit clear.
pub fn is_signalling(bits: u32) -> bool {
    f32::from_bits(bits).is_nan() && bits & 0x0040_0000 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::post::modes::Quantisation;

    fn column(scale: f64, negative_factor: Option<f64>) -> Column {
        Column {
            quantisation: Quantisation {
                scale,
                ..Quantisation::IDENTITY
            },
            negative_factor,
        }
    }

    #[test]
    fn the_factor_replaces_the_scale_of_negative_values() {
        let minus_four = u64::from((-4f32).to_bits());
        let act = |word, c: &Column| activate(word, DataType::Fp32, c);
        assert_eq!(act(minus_four, &column(2.0, None)), Activated::Finite(-8.0));
        assert_eq!(
            act(minus_four, &column(2.0, Some(0.5))),
            Activated::Finite(-2.0)
        );
        assert_eq!(
            act(minus_four, &column(2.0, Some(0.0))),
            Activated::Finite(0.0)
        );
        let minus_infinity = 0xff80_0000;
        assert_eq!(
            act(minus_infinity, &column(2.0, Some(0.0))),
            Activated::Finite(0.0)
        );
        assert_eq!(
            act(minus_infinity, &column(2.0, Some(0.5))),
            Activated::Infinite { negative: true }
        );
        assert_eq!(
            act(0xff80_0001, &column(2.0, Some(0.0))),
            Activated::Nan { signalling: true }
        );
    }

    #[test]
    fn zero_keeps_its_sign_unless_multiplied_by_zero() {
        let sign = |a| matches!(a, Activated::Finite(x) if x.is_sign_negative());
        let minus_zero = 0x8000_0000;
        assert!(sign(activate(
            minus_zero,
            DataType::Fp32,
            &column(2.0, None)
        )));
        assert!(!sign(activate(
            minus_zero,
            DataType::Fp32,
            &column(2.0, Some(0.0))
        )));
        assert!(!sign(activate(0, DataType::S32, &column(2.0, None))));
    }

    #[test]
    fn unsigned_words_are_never_negative() {
        let word = 0xffff_ffff;
        let c = column(1.0, Some(0.0));
        assert_eq!(
            activate(word, DataType::U32, &c),
            Activated::Finite(4294967295.0)
        );
        assert_eq!(activate(word, DataType::S32, &c), Activated::Finite(0.0));
    }
}
