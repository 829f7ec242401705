//! Integer operations on raw bits of a given width.

use super::ScalarFault;
use crate::code::types::{sign_extend, truncate};

/// A binary integer operation, named as in `arith` and `math`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IntBinaryOp {
    AddI,
    SubI,
    MulI,
    DivSI,
    DivUI,
    CeilDivSI,
    CeilDivUI,
    FloorDivSI,
    RemSI,
    RemUI,
    AndI,
    OrI,
    XOrI,
    ShLI,
    ShRSI,
    ShRUI,
    MaxSI,
    MaxUI,
    MinSI,
    MinUI,
    /// `math.ipowi`.
    PowI,
    /// The second result of `arith.addui_extended`: whether the addition carries.
    AddCarry,
    /// The upper half of a signed product, as in `arith.mulsi_extended`.
    MulHighSI,
    /// The upper half of an unsigned product, as in `arith.mului_extended`.
    MulHighUI,
}

/// A unary integer operation, named as in `math`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IntUnaryOp {
    AbsI,
    CtLz,
    CtTz,
    CtPop,
}

/// A predicate of `arith.cmpi`; the order is that of the attribute's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IntCompare {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

impl IntCompare {
    const ALL: [Self; 10] = [
        Self::Eq,
        Self::Ne,
        Self::Slt,
        Self::Sle,
        Self::Sgt,
        Self::Sge,
        Self::Ult,
        Self::Ule,
        Self::Ugt,
        Self::Uge,
    ];

    /// The predicate whose attribute has the value `code`.
    pub fn from_code(code: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?).copied()
    }

    /// Whether the predicate holds for two integers of `width` bits.
    pub fn holds(self, width: u8, left: u64, right: u64) -> bool {
        let signed = (sign_extend(left, width), sign_extend(right, width));
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Slt => signed.0 < signed.1,
            Self::Sle => signed.0 <= signed.1,
            Self::Sgt => signed.0 > signed.1,
            Self::Sge => signed.0 >= signed.1,
            Self::Ult => left < right,
            Self::Ule => left <= right,
            Self::Ugt => left > right,
            Self::Uge => left >= right,
        }
    }
}

impl IntBinaryOp {
    /// The result for two integers of `width` bits, zero-extended.
    ///
    /// # Errors
    /// [`ScalarFault::DivisionByZero`].
    pub fn apply(self, width: u8, left: u64, right: u64) -> Result<u64, ScalarFault> {
        let signed = (sign_extend(left, width), sign_extend(right, width));
        let result = match self {
            Self::AddI => left.wrapping_add(right),
            Self::SubI => left.wrapping_sub(right),
            Self::MulI => left.wrapping_mul(right),
            Self::AndI => left & right,
            Self::OrI => left | right,
            Self::XOrI => left ^ right,
            Self::ShLI | Self::ShRSI | Self::ShRUI => self.shift(width, left, right),
            Self::MaxSI => signed.0.max(signed.1) as u64,
            Self::MinSI => signed.0.min(signed.1) as u64,
            Self::MaxUI => left.max(right),
            Self::MinUI => left.min(right),
            Self::PowI => int_power(width, left, right)?,
            Self::AddCarry => {
                let sum = u128::from(left) + u128::from(right);
                u64::from(sum >> width != 0)
            }
            Self::MulHighSI => ((i128::from(signed.0) * i128::from(signed.1)) >> width) as u64,
            Self::MulHighUI => ((u128::from(left) * u128::from(right)) >> width) as u64,
            Self::DivSI
            | Self::DivUI
            | Self::CeilDivSI
            | Self::CeilDivUI
            | Self::FloorDivSI
            | Self::RemSI
            | Self::RemUI => self.divide(left, right, signed)?,
        };
        Ok(truncate(result, width))
    }

    fn shift(self, width: u8, value: u64, amount: u64) -> u64 {
        let within = amount < u64::from(width);
        match self {
            Self::ShLI if within => value << amount,
            Self::ShRUI if within => value >> amount,
            Self::ShRSI => (sign_extend(value, width) >> amount.min(63)) as u64,
            _ => 0,
        }
    }

    fn divide(self, left: u64, right: u64, signed: (i64, i64)) -> Result<u64, ScalarFault> {
        if right == 0 {
            return Err(ScalarFault::DivisionByZero);
        }
        let quotient = signed.0.wrapping_div(signed.1);
        let remainder = signed.0.wrapping_rem(signed.1);
        let same_sign = (signed.0 < 0) == (signed.1 < 0);
        let result = match self {
            Self::DivUI => return Ok(left / right),
            Self::RemUI => return Ok(left % right),
            Self::CeilDivUI => return Ok(left.div_ceil(right)),
            Self::RemSI => remainder,
            Self::CeilDivSI if remainder != 0 && same_sign => quotient.wrapping_add(1),
            Self::FloorDivSI if remainder != 0 && !same_sign => quotient.wrapping_sub(1),
            _ => quotient,
        };
        Ok(result as u64)
    }
}

/// `base` to the signed power `exponent`, wrapping. A negative power is the reciprocal rounded
/// towards zero: an error for 0, itself for 1 and -1, zero for the rest.
fn int_power(width: u8, base: u64, exponent: u64) -> Result<u64, ScalarFault> {
    let (base, exponent) = (sign_extend(base, width), sign_extend(exponent, width));
    if exponent < 0 {
        return match base {
            0 => Err(ScalarFault::DivisionByZero),
            1 => Ok(1),
            -1 if exponent % 2 == 0 => Ok(1),
            -1 => Ok(u64::MAX),
            _ => Ok(0),
        };
    }
    let (mut result, mut square, mut left) = (1u64, base as u64, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    Ok(result)
}

impl IntUnaryOp {
    /// The result for an integer of `width` bits, zero-extended.
    pub fn apply(self, width: u8, value: u64) -> u64 {
        let width_bits = u32::from(width);
        let result = match self {
            Self::AbsI => sign_extend(value, width).wrapping_abs() as u64,
            Self::CtLz => u64::from(value.leading_zeros() - (64 - width_bits)),
            Self::CtTz => u64::from(value.trailing_zeros().min(width_bits)),
            Self::CtPop => u64::from(value.count_ones()),
        };
        truncate(result, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use IntBinaryOp::*;

    fn on_i8(op: IntBinaryOp, left: i8, right: i8) -> Option<i8> {
        op.apply(8, u64::from(left as u8), u64::from(right as u8))
            .ok()
            .map(|bits| {
                assert!(bits < 256, "zero-extended");
                bits as u8 as i8
            })
    }

    /// Every pair of 8-bit integers against Rust's own arithmetic in a wider type.
    #[test]
    fn eight_bits_exhaustively() {
        for left in i8::MIN..=i8::MAX {
            for right in i8::MIN..=i8::MAX {
                let (l, r) = (i32::from(left), i32::from(right));
                let (ul, ur) = (u32::from(left as u8), u32::from(right as u8));
                assert_eq!(on_i8(AddI, left, right), Some((l + r) as i8));
                assert_eq!(on_i8(SubI, left, right), Some((l - r) as i8));
                assert_eq!(on_i8(MulI, left, right), Some((l * r) as i8));
                assert_eq!(on_i8(MulHighSI, left, right), Some(((l * r) >> 8) as i8));
                assert_eq!(on_i8(MulHighUI, left, right), Some(((ul * ur) >> 8) as i8));
                assert_eq!(on_i8(AddCarry, left, right), Some(((ul + ur) >> 8) as i8));
                assert_eq!(on_i8(MaxSI, left, right), Some(l.max(r) as i8));
                assert_eq!(on_i8(MinUI, left, right), Some(ul.min(ur) as i8));
                let floor = (f64::from(l) / f64::from(r)).floor();
                let ceil = (f64::from(l) / f64::from(r)).ceil();
                let nonzero = |value: i32| (right != 0).then_some(value as i8);
                assert_eq!(on_i8(FloorDivSI, left, right), nonzero(floor as i32));
                assert_eq!(on_i8(CeilDivSI, left, right), nonzero(ceil as i32));
                if right != 0 {
                    assert_eq!(on_i8(DivSI, left, right), Some((l / r) as i8));
                    assert_eq!(on_i8(RemSI, left, right), Some((l % r) as i8));
                    assert_eq!(on_i8(DivUI, left, right), Some((ul / ur) as i8));
                    assert_eq!(on_i8(CeilDivUI, left, right), Some(ul.div_ceil(ur) as i8));
                }
                for predicate in IntCompare::ALL {
                    let (lb, rb) = (u64::from(left as u8), u64::from(right as u8));
                    let expected = match predicate {
                        IntCompare::Eq => l == r,
                        IntCompare::Ne => l != r,
                        IntCompare::Slt => l < r,
                        IntCompare::Sle => l <= r,
                        IntCompare::Sgt => l > r,
                        IntCompare::Sge => l >= r,
                        IntCompare::Ult => ul < ur,
                        IntCompare::Ule => ul <= ur,
                        IntCompare::Ugt => ul > ur,
                        IntCompare::Uge => ul >= ur,
                    };
                    assert_eq!(predicate.holds(8, lb, rb), expected);
                }
            }
        }
    }

    #[test]
    fn edges() {
        assert_eq!(
            DivSI.apply(64, i64::MIN as u64, u64::MAX),
            Ok(i64::MIN as u64)
        );
        assert_eq!(RemSI.apply(64, i64::MIN as u64, u64::MAX), Ok(0));
        assert_eq!(DivUI.apply(32, 1, 0), Err(ScalarFault::DivisionByZero));
        assert_eq!(ShLI.apply(32, 1, 32), Ok(0));
        assert_eq!(ShRSI.apply(32, 0x8000_0000, 99), Ok(0xffff_ffff));
        assert_eq!(ShRUI.apply(64, u64::MAX, 64), Ok(0));
        assert_eq!(AddCarry.apply(64, u64::MAX, 1), Ok(1));
        assert_eq!(MulHighUI.apply(64, u64::MAX, u64::MAX), Ok(u64::MAX - 1));
        assert_eq!(PowI.apply(32, 3, 4), Ok(81));
        assert_eq!(PowI.apply(8, 0xff, 0xff), Ok(0xff));
        assert_eq!(PowI.apply(8, 0, 0xff), Err(ScalarFault::DivisionByZero));
        assert_eq!(IntUnaryOp::CtLz.apply(8, 1), 7);
        assert_eq!(IntUnaryOp::CtTz.apply(8, 0), 8);
        assert_eq!(IntUnaryOp::AbsI.apply(8, 0x80), 0x80);
        assert_eq!(IntUnaryOp::CtPop.apply(64, u64::MAX), 64);
        assert_eq!(IntCompare::from_code(10), None);
    }
}
