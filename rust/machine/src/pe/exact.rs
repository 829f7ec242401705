//! When a fused multiply-add may stand for a multiplication and an addition.
//!
//! `fma(a, b, p)` rounds a * b + p once; the definition rounds a * b and then the sum. The two agree,
//! bit for bit, whenever a * b is itself an `f32` value, for then the first rounding does nothing:
//!
//! * finite, non-zero product: it is exact in `f32` if its significand fits in 24 bits, its least
//!   significant bit is at least 2^-149 and its magnitude is below 2^128. A product of significands
//!   of s and t bits has at most s + t bits; its least significant bit is at least the product of
//!   the operands' least significant bits; its magnitude is below the product of the next powers of
//!   two;
//! * zero product: its sign is the exclusive or of the signs in both, and adding a signed zero to p
//!   follows the same rule (in round to nearest, +0 unless both are -0) in both;
//! * infinite operand: the product is an infinity or, with zero, NaN, in both; so are the sums;
//! * NaN: NaN in both, and which NaN is no part of the meaning.
//!
//! A [`Range`] bounds an operand's significand and magnitudes. For f16 and the 8-bit formats the
//! bounds of the format suffice for every pairing among them: 11 + 11 bits, 2^-24 * 2^-24 with ten
//! bits below each, 65504 * 65504. The exponents of bf16 and tf32 are those of f32, so there the
//! values loaded decide. f32 has 24 bits of its own: never fused (unless a scan could show trailing
//! zeros, which is not attempted). Integers widen to at most 8 bits: always exact.

use crate::formats::Format;

/// Bounds of the finite non-zero values of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Bits of significand of any value.
    precision: i32,
    /// The exponent of the least significant bit of any value is at least this.
    lowest_bit: i32,
    /// All magnitudes are below two to this power.
    ceiling: i32,
}

const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;

impl Range {
    /// The bounds of every value of `format`, which must not have more exponents than `f32`.
    pub const fn of_format(format: Format) -> Self {
        let largest = format.decode_f32(format.largest());
        let smallest = format.decode_f32(1);
        Self::between(format.precision(), smallest.to_bits(), largest.to_bits())
    }

    /// The bounds of 8-bit integers, signed or not, widened to `f32`.
    pub const fn of_bytes() -> Self {
        Self {
            precision: 8,
            lowest_bit: 0,
            ceiling: 8,
        }
    }

    /// The bounds of values of at most `precision` bits whose magnitudes, as words, lie between
    /// the two given: finite and positive.
    const fn between(precision: u32, smallest: u32, largest: u32) -> Self {
        let precision = precision as i32;
        Self {
            precision,
            lowest_bit: exponent(smallest) - (precision - 1),
            ceiling: exponent(largest) + 1,
        }
    }

    /// Whether `fma` equals multiplication and addition for all values of the two ranges; `None`
    /// is a range nothing is known of.
    pub fn products_are_exact(left: Option<Self>, right: Option<Self>) -> bool {
        let (Some(left), Some(right)) = (left, right) else {
            return false;
        };
        left.precision + right.precision <= f32::MANTISSA_DIGITS as i32
            && left.lowest_bit + right.lowest_bit >= -149
            && left.ceiling + right.ceiling <= 128
    }
}

/// The exponent of a finite magnitude; subnormals count with that of the smallest normal, in whose
/// units their bits are.
const fn exponent(magnitude: u32) -> i32 {
    let field = (magnitude >> 23) as i32;
    (if field == 0 { 1 } else { field }) - 127
}

/// Gathers the [`Range`] of values of one precision as they are loaded, `LANES` at a time and each
/// lane for itself, which vector instructions do at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<const LANES: usize> {
    /// The smallest non-zero magnitude, less one, so that zero wraps around to the largest.
    smallest_less_one: [u32; LANES],
    largest: [u32; LANES],
}

impl<const LANES: usize> Scan<LANES> {
    pub(super) const fn new() -> Self {
        Self {
            smallest_less_one: [u32::MAX; LANES],
            largest: [0; LANES],
        }
    }

    /// Takes in a value for each lane.
    #[inline(always)]
    pub(super) fn add(&mut self, values: &[f32; LANES]) {
        for (lane, value) in values.iter().enumerate() {
            let magnitude = value.to_bits() & !SIGN;
            let smallest = &mut self.smallest_less_one[lane];
            *smallest = (*smallest).min(magnitude.wrapping_sub(1));
            self.largest[lane] = self.largest[lane].max(magnitude);
        }
    }

    /// The bounds of the values seen; `None` if one was not finite.
    pub(super) fn range(&self, precision: u32) -> Option<Range> {
        let largest = self.largest.iter().fold(0, |all, &lane| all.max(lane));
        if largest >= INFINITY {
            return None;
        }
        if largest == 0 {
            return Some(Range::between(precision, 1f32.to_bits(), 1f32.to_bits()));
        }
        let smallest = self.smallest_less_one.iter();
        let smallest_less_one = smallest.fold(u32::MAX, |all, &lane| all.min(lane));
        Some(Range::between(precision, smallest_less_one + 1, largest))
    }
}
