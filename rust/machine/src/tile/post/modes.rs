//! The pre-quantisation modes: which accumulator each takes, what it makes of it, and how its
//! parameter word is read.

use crate::formats::{Format, Rounding};
use crate::tile::fault::{Fault, require};
use crate::tile::types::DataType;

/// Where a mode's parameter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// The mode has none.
    None,
    /// One word from B.IOR for all columns.
    Scalar,
    /// One word a column from a 1xN tile.
    Vector,
}

/// How a mode turns the activated value into the output type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// The accumulator's own type.
    Identity,
    /// An arithmetic right shift of the S32 accumulator, then saturation.
    Shift,
    /// A rounding to an integer, clamped to `offset_bits` signed bits, plus an offset.
    Affine {
        /// Width of the signed offset field and of the clamp.
        offset_bits: u32,
    },
    /// One rounding to a float format.
    Float,
}

/// Who decides the rounding mode and the saturation of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Control {
    /// Neither RMode nor Sat may be given.
    Fixed,
    /// The mode rounds in one way; Sat is free.
    FixedRounding(Rounding),
    /// RMode and Sat are free.
    Programmable,
}

/// A 6-bit PreQuantMode with an assigned meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PreQuantMode {
    code: u8,
    accumulator: Option<DataType>,
    output: Option<DataType>,
    /// Where the parameter word comes from.
    pub parameter: Parameter,
    /// What is done.
    pub conversion: Conversion,
    /// Who decides rounding and saturation.
    pub control: Control,
}

use Control::{FixedRounding, Programmable};
use DataType::*;
use Parameter::{Scalar, Vector};

/// A mode that reads an accumulator of one type and writes another.
const fn mode(
    code: u8,
    (accumulator, output): (DataType, DataType),
    parameter: Parameter,
    conversion: Conversion,
    control: Control,
) -> PreQuantMode {
    PreQuantMode {
        code,
        accumulator: Some(accumulator),
        output: Some(output),
        parameter,
        conversion,
        control,
    }
}

const fn affine(offset_bits: u32) -> Conversion {
    Conversion::Affine { offset_bits }
}

const RNE: Control = FixedRounding(Rounding::NearestEven);
const RHB: Control = FixedRounding(Rounding::NearestUp);

/// The assigned modes by ascending code. The single place that knows them.
const MODES: [PreQuantMode; 27] = [
    PreQuantMode::NONE,
    mode(1, (Fp32, Fp16), Parameter::None, Conversion::Float, RNE),
    mode(2, (S32, S8), Vector, affine(9), Programmable),
    mode(3, (S32, S8), Scalar, affine(9), Programmable),
    mode(4, (S32, Fp16), Vector, Conversion::Float, Programmable),
    mode(5, (S32, Fp16), Scalar, Conversion::Float, Programmable),
    mode(12, (S32, S16), Vector, Conversion::Shift, Control::Fixed),
    mode(13, (S32, S16), Scalar, Conversion::Shift, Control::Fixed),
    mode(16, (Fp32, Bf16), Parameter::None, Conversion::Float, RNE),
    mode(17, (S32, S4X2), Scalar, affine(5), Programmable),
    mode(18, (S32, S4X2), Vector, affine(5), Programmable),
    mode(19, (S32, S16), Scalar, affine(17), Programmable),
    mode(20, (S32, S16), Vector, affine(17), Programmable),
    mode(23, (Fp32, S8), Vector, affine(9), Programmable),
    mode(24, (Fp32, S8), Scalar, affine(9), Programmable),
    mode(25, (Fp32, HiF8), Scalar, Conversion::Float, RHB),
    mode(26, (Fp32, E4M3), Scalar, Conversion::Float, RNE),
    mode(27, (Fp32, Fp32), Scalar, Conversion::Float, Programmable),
    mode(28, (Fp32, HiF8), Vector, Conversion::Float, RHB),
    mode(32, (Fp32, Fp16), Scalar, Conversion::Float, RNE),
    mode(33, (Fp32, Fp16), Vector, Conversion::Float, RNE),
    mode(34, (Fp32, Bf16), Scalar, Conversion::Float, RNE),
    mode(35, (S32, Bf16), Scalar, Conversion::Float, Programmable),
    mode(36, (Fp32, Bf16), Vector, Conversion::Float, RNE),
    mode(37, (Fp32, E4M3), Vector, Conversion::Float, RNE),
    mode(38, (Fp32, Fp32), Vector, Conversion::Float, Programmable),
    mode(39, (S32, Bf16), Vector, Conversion::Float, Programmable),
];

impl PreQuantMode {
    /// Mode 0: the accumulator as it is.
    pub const NONE: PreQuantMode = PreQuantMode {
        code: 0,
        accumulator: Option::None,
        output: Option::None,
        parameter: Parameter::None,
        conversion: Conversion::Identity,
        control: Control::Fixed,
    };

    /// Every assigned mode, by ascending code.
    pub fn all() -> impl Iterator<Item = PreQuantMode> {
        MODES.iter().copied()
    }

    /// The mode of a 6-bit code; `None` for reserved codes.
    pub fn from_code(code: u8) -> Option<PreQuantMode> {
        MODES.iter().copied().find(|m| m.code == code)
    }

    /// The 6-bit code.
    pub fn code(self) -> u8 {
        self.code
    }

    /// Whether the mode takes this accumulator type. Mode 0 takes all three.
    pub fn accepts(self, accumulator: DataType) -> bool {
        match self.accumulator {
            Some(expected) => accumulator == expected,
            Option::None => matches!(accumulator, Fp32 | S32 | U32),
        }
    }

    /// The type of D for an accumulator of type `accumulator`.
    pub fn output(self, accumulator: DataType) -> DataType {
        self.output.unwrap_or(accumulator)
    }

    /// Whether RMode and Sat may have these values.
    pub fn allows_control(self, rounding_is_default: bool, saturate: bool) -> bool {
        match self.control {
            Control::Fixed => rounding_is_default && !saturate,
            FixedRounding(_) => rounding_is_default,
            Programmable => true,
        }
    }
}

/// Lowest bit of the scale field of a quantisation parameter word.
const SCALE_SHIFT: u32 = 13;
/// Lowest bit of its offset field.
const OFFSET_SHIFT: u32 = 37;
/// Lowest bit of its shift-amount field.
const AMOUNT_SHIFT: u32 = 32;

/// A decoded quantisation parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantisation {
    /// What the accumulator is multiplied with: a positive FP19 value.
    pub scale: f64,
    /// What is added after rounding, in an affine mode.
    pub offset: i64,
    /// Bits shifted out, in a shift mode: 1 to 16.
    pub amount: u32,
}

impl Quantisation {
    /// The parameter of modes that have none.
    pub const IDENTITY: Quantisation = Quantisation {
        scale: 1.0,
        offset: 0,
        amount: 1,
    };

    /// Splits a parameter word into its fields without judging them.
    pub fn decode(word: u64, conversion: Conversion) -> Quantisation {
        let offset = match conversion {
            Conversion::Affine { offset_bits } => {
                let unused = 64 - offset_bits;
                ((word >> OFFSET_SHIFT << unused) as i64) >> unused
            }
            _ => 0,
        };
        Quantisation {
            scale: fp19((word >> SCALE_SHIFT) as u32),
            offset,
            amount: (word >> AMOUNT_SHIFT & 0xf) as u32 + 1,
        }
    }

    /// Reads and judges a parameter word.
    ///
    /// # Errors
    /// `pto:tile-parameter-bits` for stray bits and for a scale that is not positive and normal.
    pub fn parse(word: u64, conversion: Conversion) -> Result<Quantisation, Fault> {
        let fields = match conversion {
            Conversion::Shift => 0xf << AMOUNT_SHIFT,
            Conversion::Affine { offset_bits } => {
                FP19_MASK << SCALE_SHIFT | ((1 << offset_bits) - 1) << OFFSET_SHIFT
            }
            Conversion::Float | Conversion::Identity => FP19_MASK << SCALE_SHIFT,
        };
        require!(
            word & !fields == 0,
            ScaleParameterBits,
            "expected a quantisation parameter with bits in {fields:#x} only, found {word:#x}"
        );
        let parameter = Quantisation::decode(word, conversion);
        require!(
            conversion == Conversion::Shift || is_positive_normal(parameter.scale),
            ScaleParameterBits,
            "expected a quantisation scale that is positive and normal, found {word:#x}"
        );
        Ok(parameter)
    }
}

const FP19_MASK: u64 = (1 << 19) - 1;

/// The value of an FP19 field: 1 sign, 8 exponent (bias 127), 10 fraction bits, right-aligned.
/// Bits above are ignored. It is TF32 without the padding.
fn fp19(field: u32) -> f64 {
    Format::Tf32.decode(field << SCALE_SHIFT)
}

fn is_positive_normal(value: f64) -> bool {
    value.is_finite() && value >= f64::from(f32::MIN_POSITIVE)
}

/// The factor of an activation parameter word, not judged.
pub fn relu_factor(word: u64) -> f64 {
    fp19((word & FP19_MASK) as u32)
}

/// Reads and judges an activation parameter: FP19 in bits 18:0, +0 or positive and normal.
///
/// # Errors
/// `pto:tile-parameter-bits`.
pub fn parse_relu_factor(word: u64) -> Result<f64, Fault> {
    let value = relu_factor(word);
    require!(
        word == 0 || (word & !FP19_MASK == 0 && is_positive_normal(value)),
        ScaleParameterBits,
        "expected an activation parameter that is +0 or a positive normal FP19, found {word:#x}"
    );
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_find_their_mode() {
        let codes: Vec<u8> = PreQuantMode::all().map(|m| m.code).collect();
        assert!(codes.is_sorted_by(|a, b| a < b));
        for code in 0..=u8::MAX {
            let found = PreQuantMode::from_code(code).map(|m| m.code);
            assert_eq!(found, codes.contains(&code).then_some(code));
        }
    }

    #[test]
    fn unsigned_accumulators_take_mode_0_only() {
        for m in PreQuantMode::all() {
            assert_eq!(m.accepts(U32), m.code == 0, "mode {}", m.code);
            assert!(m.code == 0 || m.accepts(Fp32) != m.accepts(S32));
            assert!(!m.accepts(Fp16));
        }
    }

    #[test]
    fn parameter_fields() {
        let one = 127u64 << 23;
        let affine = Conversion::Affine { offset_bits: 9 };
        let p = Quantisation::parse(one | 0x1ff << 37, affine).unwrap();
        assert_eq!((p.scale, p.offset), (1.0, -1));
        let p = Quantisation::parse(one | 0x0ff << 37, affine).unwrap();
        assert_eq!(p.offset, 255);
        assert!(Quantisation::parse(one | 1 << 46, affine).is_err());
        assert!(Quantisation::parse(one | 1 << 12, affine).is_err());
        assert!(Quantisation::parse(one | 1 << 37, Conversion::Float).is_err());
        assert!(Quantisation::parse(1 << 31 | one, Conversion::Float).is_err());
        assert!(Quantisation::parse(0, Conversion::Float).is_err());
        assert!(Quantisation::parse(1 << 13, Conversion::Float).is_err());
        assert!(Quantisation::parse(255 << 23, Conversion::Float).is_err());
        let shift = Quantisation::parse(0xf << 32, Conversion::Shift).unwrap();
        assert_eq!(shift.amount, 16);
        assert!(Quantisation::parse(1 << 36, Conversion::Shift).is_err());
        assert!(Quantisation::parse(1, Conversion::Shift).is_err());
    }

    #[test]
    fn activation_parameters() {
        assert_eq!(parse_relu_factor(0), Ok(0.0));
        assert_eq!(parse_relu_factor(127 << 10), Ok(1.0));
        assert!(parse_relu_factor(1 << 18).is_err());
        assert!(parse_relu_factor(1).is_err());
        assert!(parse_relu_factor(1 << 19).is_err());
        assert!(parse_relu_factor(255 << 10).is_err());
    }
}
