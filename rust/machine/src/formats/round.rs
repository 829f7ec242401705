//! Rounding: which of two neighbours a value between them becomes.

/// A rounding mode; directions are those of the signed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rounding {
    /// To nearest, ties to the even neighbour (`rne`).
    NearestEven,
    /// Toward zero (`rtz`).
    TowardZero,
    /// Toward minus infinity (`rtm`).
    Down,
    /// Toward plus infinity (`rtp`).
    Up,
    /// To nearest, ties away from zero (`rna`).
    NearestAway,
    /// An inexact value becomes the odd neighbour (`rto`).
    ToOdd,
    /// To nearest, ties toward plus infinity (`rhb`).
    NearestUp,
}

impl Rounding {
    /// Every mode.
    pub const ALL: [Self; 7] = [
        Self::NearestEven,
        Self::TowardZero,
        Self::Down,
        Self::Up,
        Self::NearestAway,
        Self::ToOdd,
        Self::NearestUp,
    ];

    /// Whether a magnitude that lies `fraction` of the way (0 <= fraction < 1) from one neighbour
    /// to the next goes to the next, away from zero. `odd` says whether the nearer to zero is odd.
    pub const fn is_away(self, negative: bool, fraction: f64, odd: bool) -> bool {
        if fraction == 0.0 {
            return false;
        }
        match self {
            Self::NearestEven => fraction > 0.5 || (fraction == 0.5 && odd),
            Self::TowardZero => false,
            Self::Down => negative,
            Self::Up => !negative,
            Self::NearestAway => fraction >= 0.5,
            Self::ToOdd => !odd,
            Self::NearestUp => fraction > 0.5 || (fraction == 0.5 && !negative),
        }
    }
}

/// `a + b` rounded to odd in `f64`: exact, or the neighbour of the exact sum whose last bit is one.
///
/// Rounding that result again to a format of at most 51 bits of significand, in any mode, gives
/// what rounding the exact sum once gives (Boldo and Melquiond, 2008): the odd last bit keeps the
/// value on its side of every tie and of every representable value. The operands must be finite
/// and their sum must not overflow `f64`; sums of two `f32` values never do.
pub const fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Knuth's two-sum: `error` is exactly what the addition lost.
    let b_part = sum - a;
    let a_part = sum - b_part;
    let error = (a - a_part) + (b - b_part);
    if error == 0.0 || error.is_nan() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // Even and inexact: the other neighbour, on the side of the error, is the odd one.
    let away_from_zero = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away_from_zero {
        sum.to_bits() + 1
    } else {
        sum.to_bits() - 1
    })
}

/// The exponent of a positive finite value: 2^e <= value < 2^(e+1). -1023 for subnormal `f64`.
pub(super) const fn exponent_of(value: f64) -> i32 {
    ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

/// 2^exponent, for exponents of normal `f64` values (-1022..=1023).
pub(super) const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `magnitude / 2^exponent` as a whole number and the fraction of one above it.
///
/// Exact where the whole number has less than 53 bits: scaling by a power of two loses nothing
/// (the caller's exponents keep away from underflow) and neither does removing the whole part.
pub(super) const fn split(magnitude: f64, exponent: i32) -> (u64, f64) {
    let scaled = magnitude / power_of_two(exponent);
    let whole = scaled as u64;
    (whole, scaled - whole as f64)
}
