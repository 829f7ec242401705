//! Floating-point operations on raw bits.

use crate::code::ElementType;
use crate::formats::Format;

/// A binary operation, named as in `arith` and `math`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FloatBinaryOp {
    AddF,
    SubF,
    MulF,
    DivF,
    RemF,
    /// NaN if an operand is; -0 is less than +0.
    MaximumF,
    MinimumF,
    /// The other operand if one is NaN.
    MaxNumF,
    MinNumF,
    Atan2,
    CopySign,
    PowF,
}

/// A unary operation, named as in `arith` and `math`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FloatUnaryOp {
    NegF,
    AbsF,
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Cbrt,
    Ceil,
    Cos,
    Cosh,
    Erf,
    Erfc,
    Exp,
    Exp2,
    ExpM1,
    Floor,
    Log,
    Log10,
    Log1p,
    Log2,
    Round,
    RoundEven,
    Rsqrt,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
    Trunc,
}

/// A test of one float, named as in `math`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FloatClass {
    IsFinite,
    IsInf,
    IsNan,
    IsNormal,
}

/// A predicate of `arith.cmpf`; the attribute's value says which of "less", "equal", "greater" and
/// "unordered" satisfy it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatCompare {
    less: bool,
    equal: bool,
    greater: bool,
    unordered: bool,
}

impl FloatCompare {
    /// The predicate whose attribute has the value `code`: false, oeq, ogt, oge, olt, ole, one, ord,
    /// ueq, ugt, uge, ult, ule, une, uno, true.
    pub fn from_code(code: u64) -> Option<Self> {
        // Among the ordered outcomes the codes count in binary: bit 0 equal, bit 1 greater, bit 2
        // less. The unordered half starts with ueq instead of uno, which comes last but one.
        let bits = match code {
            0..=7 => code,
            8..=13 => code - 7,
            14 => 0,
            15 => 7,
            _ => return None,
        };
        Some(Self {
            less: bits & 4 != 0,
            equal: bits & 1 != 0,
            greater: bits & 2 != 0,
            unordered: code >= 8,
        })
    }

    /// Whether the predicate holds for two values of type `ty`.
    pub fn holds(self, ty: ElementType, left: u64, right: u64) -> bool {
        match to_f64(ty, left).partial_cmp(&to_f64(ty, right)) {
            Some(std::cmp::Ordering::Less) => self.less,
            Some(std::cmp::Ordering::Equal) => self.equal,
            Some(std::cmp::Ordering::Greater) => self.greater,
            None => self.unordered,
        }
    }
}

/// The value of a float of type `ty`: exact, whatever the type. Integers have none: they give 0.
pub fn to_f64(ty: ElementType, bits: u64) -> f64 {
    match ty {
        ElementType::F64 => f64::from_bits(bits),
        ElementType::Float(Format::F32) => f64::from(f32::from_bits(bits as u32)),
        ElementType::Float(format) => format.decode(bits as u32),
        _ => 0.0,
    }
}

/// The bits of `value` rounded to the float type `ty`, to nearest even.
pub fn from_f64(ty: ElementType, value: f64) -> u64 {
    match ty {
        ElementType::Float(Format::F32) => u64::from((value as f32).to_bits()),
        ElementType::Float(format) => u64::from(format.encode_rne(value)),
        _ => value.to_bits(),
    }
}

/// The value as `f32`; exact for every type but `f64`.
fn to_f32(format: Format, bits: u64) -> f32 {
    match format {
        Format::F32 => f32::from_bits(bits as u32),
        Format::Bf16 => f32::from_bits((bits as u32) << 16),
        format => format.decode_f32(bits as u32),
    }
}

/// The bits of `value` rounded to `format`.
fn from_f32(format: Format, value: f32) -> u64 {
    match format {
        Format::F32 => u64::from(value.to_bits()),
        format => u64::from(format.encode_rne(f64::from(value))),
    }
}

macro_rules! float_functions {
    ($module:ident, $float:ident, $($libm:ident => $double:ident / $single:ident),* $(,)?) => {
        mod $module {
            use super::{FloatBinaryOp, FloatUnaryOp};

            $(fn $libm(x: $float) -> $float { float_functions!(@pick $float, $double, $single)(x) })*

            pub(super) fn unary(op: FloatUnaryOp, x: $float) -> $float {
                match op {
                    FloatUnaryOp::NegF => -x,
                    FloatUnaryOp::AbsF => x.abs(),
                    FloatUnaryOp::Acos => acos(x),
                    FloatUnaryOp::Acosh => acosh(x),
                    FloatUnaryOp::Asin => asin(x),
                    FloatUnaryOp::Asinh => asinh(x),
                    FloatUnaryOp::Atan => atan(x),
                    FloatUnaryOp::Atanh => atanh(x),
                    FloatUnaryOp::Cbrt => cbrt(x),
                    FloatUnaryOp::Ceil => x.ceil(),
                    FloatUnaryOp::Cos => cos(x),
                    FloatUnaryOp::Cosh => cosh(x),
                    FloatUnaryOp::Erf => erf(x),
                    FloatUnaryOp::Erfc => erfc(x),
                    FloatUnaryOp::Exp => exp(x),
                    FloatUnaryOp::Exp2 => exp2(x),
                    FloatUnaryOp::ExpM1 => expm1(x),
                    FloatUnaryOp::Floor => x.floor(),
                    FloatUnaryOp::Log => log(x),
                    FloatUnaryOp::Log10 => log10(x),
                    FloatUnaryOp::Log1p => log1p(x),
                    FloatUnaryOp::Log2 => log2(x),
                    FloatUnaryOp::Round => x.round(),
                    FloatUnaryOp::RoundEven => x.round_ties_even(),
                    FloatUnaryOp::Rsqrt => 1.0 / x.sqrt(),
                    FloatUnaryOp::Sin => sin(x),
                    FloatUnaryOp::Sinh => sinh(x),
                    FloatUnaryOp::Sqrt => x.sqrt(),
                    FloatUnaryOp::Tan => tan(x),
                    FloatUnaryOp::Tanh => tanh(x),
                    FloatUnaryOp::Trunc => x.trunc(),
                }
            }

            pub(super) fn binary(op: FloatBinaryOp, x: $float, y: $float) -> $float {
                let greater = x > y || (x == y && y.is_sign_negative());
                let nan = x.is_nan() || y.is_nan();
                match op {
                    FloatBinaryOp::AddF => x + y,
                    FloatBinaryOp::SubF => x - y,
                    FloatBinaryOp::MulF => x * y,
                    FloatBinaryOp::DivF => x / y,
                    FloatBinaryOp::RemF => x % y,
                    FloatBinaryOp::MaximumF | FloatBinaryOp::MinimumF if nan => $float::NAN,
                    FloatBinaryOp::MaxNumF | FloatBinaryOp::MinNumF if nan => {
                        if x.is_nan() { y } else { x }
                    }
                    FloatBinaryOp::MaximumF | FloatBinaryOp::MaxNumF => if greater { x } else { y },
                    FloatBinaryOp::MinimumF | FloatBinaryOp::MinNumF => if greater { y } else { x },
                    FloatBinaryOp::Atan2 => float_functions!(@pick $float, atan2, atan2f)(x, y),
                    FloatBinaryOp::CopySign => x.copysign(y),
                    FloatBinaryOp::PowF => float_functions!(@pick $float, pow, powf)(x, y),
                }
            }
        }
    };
    (@pick f64, $double:ident, $single:ident) => { libm::$double };
    (@pick f32, $double:ident, $single:ident) => { libm::$single };
}

macro_rules! both_widths {
    ($($function:tt)*) => {
        float_functions!(double, f64, $($function)*);
        float_functions!(single, f32, $($function)*);
    };
}

both_widths! {
    acos => acos / acosf,
    acosh => acosh / acoshf,
    asin => asin / asinf,
    asinh => asinh / asinhf,
    atan => atan / atanf,
    atanh => atanh / atanhf,
    cbrt => cbrt / cbrtf,
    cos => cos / cosf,
    cosh => cosh / coshf,
    erf => erf / erff,
    erfc => erfc / erfcf,
    exp => exp / expf,
    exp2 => exp2 / exp2f,
    expm1 => expm1 / expm1f,
    log => log / logf,
    log10 => log10 / log10f,
    log1p => log1p / log1pf,
    log2 => log2 / log2f,
    sin => sin / sinf,
    sinh => sinh / sinhf,
    tan => tan / tanf,
    tanh => tanh / tanhf,
}

impl FloatUnaryOp {
    /// The result for a float of type `ty`.
    pub fn apply(self, ty: ElementType, bits: u64) -> u64 {
        match ty {
            ElementType::Float(format) => {
                from_f32(format, single::unary(self, to_f32(format, bits)))
            }
            _ => double::unary(self, f64::from_bits(bits)).to_bits(),
        }
    }
}

impl FloatBinaryOp {
    /// The result for two floats of type `ty`.
    pub fn apply(self, ty: ElementType, left: u64, right: u64) -> u64 {
        match ty {
            ElementType::Float(format) => {
                let (x, y) = (to_f32(format, left), to_f32(format, right));
                from_f32(format, single::binary(self, x, y))
            }
            _ => double::binary(self, f64::from_bits(left), f64::from_bits(right)).to_bits(),
        }
    }
}

impl FloatClass {
    /// Whether a float of type `ty` is of this class.
    pub fn holds(self, ty: ElementType, bits: u64) -> bool {
        let value = to_f64(ty, bits);
        match self {
            Self::IsFinite => value.is_finite(),
            Self::IsInf => value.is_infinite(),
            Self::IsNan => value.is_nan(),
            Self::IsNormal => match ty {
                // Every subnormal of a narrower format is a normal f64: ask in the own format.
                ElementType::Float(format) => {
                    value.is_finite() && value.abs() >= smallest_normal(format)
                }
                _ => value.is_normal(),
            },
        }
    }
}

/// The smallest positive normal value of `format`.
fn smallest_normal(format: Format) -> f64 {
    // The spacing of a binade tells: a format of p bits of significand spaces its smallest normal
    // values 2^(1-p) apart, relatively, and its subnormals keep that distance.
    let smallest_subnormal = format.decode(match format {
        Format::Tf32 => 1 << 13,
        Format::Hf32 => 1 << 12,
        _ => 1,
    });
    smallest_subnormal * f64::from(1u32 << (format.precision() - 1))
}

/// `a * b + c` with one rounding.
pub fn fused_multiply_add(ty: ElementType, a: u64, b: u64, c: u64) -> u64 {
    match ty {
        ElementType::Float(Format::F32) => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            u64::from(a.mul_add(b, c).to_bits())
        }
        ElementType::Float(format) => {
            // The product of two narrow floats is exact in f64. The sum rounds to odd first, so
            // that rounding it again to the narrow format is as good as rounding once.
            let [a, b, c] = [a, b, c].map(|bits| format.decode(bits as u32));
            u64::from(format.encode_rne(crate::formats::add_to_odd(a * b, c)))
        }
        _ => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            a.mul_add(b, c).to_bits()
        }
    }
}

/// `base` to an integer power, as `math.fpowi`.
pub fn int_power(ty: ElementType, base: u64, exponent: i64) -> u64 {
    let exponent = exponent.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    let value = libm::pow(to_f64(ty, base), f64::from(exponent));
    from_f64(ty, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: ElementType = ElementType::F32;

    fn bits(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    #[test]
    fn predicates_by_truth_table() {
        let names = [
            "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
            "ule", "une", "uno", "true",
        ];
        let pairs = [(1.0, 2.0), (2.0, 2.0), (3.0, 2.0), (f32::NAN, 2.0)];
        for (code, name) in names.iter().enumerate() {
            let predicate = FloatCompare::from_code(code as u64).expect("16 predicates");
            for (left, right) in pairs {
                let unordered = left.is_nan();
                let expected = match *name {
                    "false" => false,
                    "true" => true,
                    "ord" => !unordered,
                    "uno" => unordered,
                    _ if unordered => name.starts_with('u'),
                    _ => match &name[1..] {
                        "eq" => left == right,
                        "gt" => left > right,
                        "ge" => left >= right,
                        "lt" => left < right,
                        "le" => left <= right,
                        _ => left != right,
                    },
                };
                let found = predicate.holds(F32, bits(left), bits(right));
                assert_eq!(found, expected, "{name} {left} {right}");
            }
        }
        assert_eq!(FloatCompare::from_code(16), None);
    }

    #[test]
    fn extrema_treat_nan_and_zero_as_named() {
        use FloatBinaryOp::*;
        let apply = |op: FloatBinaryOp, x: f32, y: f32| {
            f32::from_bits(op.apply(F32, bits(x), bits(y)) as u32)
        };
        assert!(apply(MaximumF, f32::NAN, 1.0).is_nan());
        assert_eq!(apply(MaxNumF, f32::NAN, 1.0), 1.0);
        assert_eq!(apply(MinNumF, 1.0, f32::NAN), 1.0);
        for (x, y) in [(0.0, -0.0), (-0.0, 0.0)] {
            assert!(apply(MaximumF, x, y).is_sign_positive());
            assert!(apply(MinimumF, x, y).is_sign_negative());
        }
        assert_eq!(apply(RemF, -5.5, 2.0), -1.5);
    }

    #[test]
    fn narrow_floats_round_once() {
        let bf16 = ElementType::BF16;
        // 256 + 1 is a tie in bf16: it stays at 256.
        let sum = FloatBinaryOp::AddF.apply(bf16, 0x4380, 0x3f80);
        assert_eq!(sum, 0x4380);
        let f16 = ElementType::F16;
        assert_eq!(FloatBinaryOp::MulF.apply(f16, 0x7bff, 0x4000), 0x7c00);
        assert_eq!(FloatUnaryOp::NegF.apply(f16, 0), 0x8000);
        assert_eq!(fused_multiply_add(f16, 0x3c03, 0x3c03, 0xbc00), 0x1e02);
        assert_eq!(FloatUnaryOp::Rsqrt.apply(F32, bits(4.0)), bits(0.5));
        assert_eq!(int_power(F32, bits(2.0), -2), bits(0.25));
    }

    #[test]
    fn classes() {
        let f16 = ElementType::F16;
        assert!(FloatClass::IsNormal.holds(f16, 0x0400));
        assert!(!FloatClass::IsNormal.holds(f16, 0x03ff));
        assert!(!FloatClass::IsNormal.holds(F32, 1));
        assert!(FloatClass::IsNormal.holds(F32, 0x0080_0000));
        assert!(FloatClass::IsInf.holds(f16, 0xfc00));
        assert!(FloatClass::IsNan.holds(f16, 0x7e00));
        assert!(FloatClass::IsFinite.holds(f16, 0x7bff));
    }
}
