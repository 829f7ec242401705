//! HiFloat8: eight bits whose exponent takes more of them the further the value is from one.
//!
//! After the sign comes a prefix code, the *dot*, which says how many bits the exponent takes:
//!
//! | dot | exponent bits | fraction bits | exponents |
//! |---|---|---|---|
//! | `11` | 4 | 1 | 8..15, -15..-8 |
//! | `10` | 3 | 2 | 4..7, -7..-4 |
//! | `01` | 2 | 3 | 2, 3, -3, -2 |
//! | `001` | 1 | 3 | 1, -1 |
//! | `0001` | 0 | 3 | 0 |
//! | `0000` | | | powers of two: code m is 2^(m-23), m = 1..7 |
//!
//! The exponent is a sign and a magnitude without its leading one. What would be zero with the
//! sign set is NaN (0x80), and the largest code of either sign is infinity, so there is no -0 and
//! the largest finite value is 2^15. Positive codes are not in the order of their values.
//! Published as "Ascend HiFloat8 Format for Deep Learning" (arXiv 2409.16626).

use super::round::{exponent_of, power_of_two, split};
use super::{Encoded, Overflow, Rounding};

/// The NaN code.
pub const NAN: u8 = 0x80;
/// The code of +infinity.
pub const INFINITY: u8 = 0x6f;
/// The code of the largest finite value, 32768.
pub const LARGEST: u8 = 0x6e;
/// Bits of significand near one; the least is 1, of the powers of two at the small end.
pub const PRECISION: u32 = 4;

const SIGN: u8 = 0x80;
/// The exponent of the smallest positive value.
const SMALLEST_EXPONENT: i32 = -22;
/// Below this exponent there are powers of two only.
const SMALLEST_NORMAL_EXPONENT: i32 = -15;
const LARGEST_EXPONENT: i32 = 15;
/// The exponent of the denormal code 0, were it not zero.
const DENORMAL_BIAS: i32 = 23;

/// The value of a code, exactly.
pub const fn decode(code: u8) -> f64 {
    let magnitude = code & !SIGN;
    if code == NAN {
        return f64::NAN;
    }
    let value = if magnitude == INFINITY {
        f64::INFINITY
    } else {
        decode_magnitude(magnitude)
    };
    if code & SIGN != 0 { -value } else { value }
}

const fn decode_magnitude(code: u8) -> f64 {
    let exponent_bits = match code.leading_zeros() - 1 {
        0 => 3 + (code >> 5 & 1) as u32,
        1 => 2,
        2 => 1,
        3 => 0,
        _ if code == 0 => return 0.0,
        _ => return power_of_two(code as i32 - DENORMAL_BIAS),
    };
    let fraction_bits = fraction_bits(exponent_bits);
    let exponent = if exponent_bits == 0 {
        0
    } else {
        let field = (code as u32 >> fraction_bits) & ((1 << exponent_bits) - 1);
        let leading = 1 << (exponent_bits - 1);
        let magnitude = (field | leading) as i32;
        if field & leading != 0 {
            -magnitude
        } else {
            magnitude
        }
    };
    let fraction = code as u32 & ((1 << fraction_bits) - 1);
    (fraction | 1 << fraction_bits) as f64 * power_of_two(exponent - fraction_bits as i32)
}

/// The code nearest to `value`, as [`Format::encode`](super::Format::encode) has it. A tie to even
/// goes to the even code. A value that rounds to zero loses its sign, as does -0.
pub const fn encode(value: f64, rounding: Rounding, overflow: Overflow) -> Encoded {
    if value.is_nan() {
        return Encoded {
            code: NAN as u32,
            inexact: false,
            overflow: false,
        };
    }
    let negative = value.is_sign_negative();
    let rounded = if value.is_infinite() {
        None
    } else {
        round(value.abs(), negative, rounding)
    };
    let magnitude = match (rounded, overflow) {
        (Some(code), _) => code,
        (None, Overflow::ToInfinity) => INFINITY,
        (None, Overflow::Saturate) => LARGEST,
    };
    let code = if negative && magnitude != 0 {
        magnitude | SIGN
    } else {
        magnitude
    };
    let inexact = decode(code) != value;
    Encoded {
        code: code as u32,
        inexact,
        overflow: rounded.is_none() && inexact,
    }
}

/// The magnitude code nearest to a finite magnitude; `None` where it exceeds the largest.
const fn round(magnitude: f64, negative: bool, rounding: Rounding) -> Option<u8> {
    let exponent = exponent_of(magnitude);
    if exponent < SMALLEST_EXPONENT {
        // Between zero and the smallest value; zero is the even code.
        let fraction = magnitude / power_of_two(SMALLEST_EXPONENT);
        return Some(rounding.is_away(negative, fraction, false) as u8);
    }
    if exponent > LARGEST_EXPONENT {
        return None;
    }
    let fraction_bits = fraction_bits(exponent_bits(exponent));
    let fraction_bits = if exponent < SMALLEST_NORMAL_EXPONENT {
        0
    } else {
        fraction_bits
    };
    let (whole, fraction) = split(magnitude, exponent - fraction_bits as i32);
    let below = code_of(exponent, whole as u32, fraction_bits);
    if below == INFINITY {
        return None;
    }
    if !rounding.is_away(negative, fraction, below % 2 == 1) {
        return Some(below);
    }
    let next = whole as u32 + 1;
    let above = if next >> fraction_bits == 2 {
        // The next power of two has a fraction of zero, whatever its number of fraction bits.
        code_of_power(exponent + 1)
    } else {
        code_of(exponent, next, fraction_bits)
    };
    if above == INFINITY { None } else { Some(above) }
}

/// The code of `whole * 2^(exponent - fraction_bits)`, `whole` with its leading one.
const fn code_of(exponent: i32, whole: u32, fraction_bits: u32) -> u8 {
    code_of_power(exponent) | (whole & ((1 << fraction_bits) - 1)) as u8
}

/// The code of 2^exponent, for -22 <= exponent <= 15.
const fn code_of_power(exponent: i32) -> u8 {
    if exponent < SMALLEST_NORMAL_EXPONENT {
        return (exponent + DENORMAL_BIAS) as u8;
    }
    let bits = exponent_bits(exponent);
    let dot: u8 = match bits {
        4 => 0b11 << 5,
        3 => 0b10 << 5,
        2 => 0b01 << 5,
        1 => 0b001 << 4,
        _ => return 0b0001 << 3,
    };
    let leading = 1u32 << (bits - 1);
    let sign = if exponent < 0 { leading } else { 0 };
    let field = (exponent.unsigned_abs() & !leading) | sign;
    dot | (field << fraction_bits(bits)) as u8
}

/// Bits the exponent takes: those of its magnitude, the leading one making room for the sign.
const fn exponent_bits(exponent: i32) -> u32 {
    u32::BITS - exponent.unsigned_abs().leading_zeros()
}

/// Bits left to the fraction beside a dot and an exponent of `exponent_bits`.
const fn fraction_bits(exponent_bits: u32) -> u32 {
    match exponent_bits {
        0..=2 => 3,
        3 => 2,
        _ => 1,
    }
}
