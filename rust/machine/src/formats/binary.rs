//! Formats with fixed fields: sign, biased exponent, fraction.

use super::round::{exponent_of, power_of_two, split};
use super::{Encoded, Overflow, Rounding};

/// Which codes of the largest exponent are not numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Specials {
    /// The whole largest exponent: infinity where the fraction is zero, else NaN.
    Ieee,
    /// The all-ones code is NaN; there is no infinity.
    NanOnly,
    /// None: every code is a finite number.
    Finite,
}

/// A layout of fields. A code is `sign | exponent | fraction`, moved up by `shift`.
#[derive(Clone, Copy)]
pub(super) struct Binary {
    exponent_bits: u32,
    pub(super) fraction_bits: u32,
    bias: i32,
    specials: Specials,
    /// Without a sign there is no zero and no subnormal either: E8M0.
    signed: bool,
    shift: u32,
}

impl Binary {
    pub(super) const fn new(
        exponent_bits: u32,
        fraction_bits: u32,
        bias: i32,
        specials: Specials,
    ) -> Self {
        Self {
            exponent_bits,
            fraction_bits,
            bias,
            specials,
            signed: true,
            shift: 0,
        }
    }

    pub(super) const fn unsigned(self) -> Self {
        Self {
            signed: false,
            ..self
        }
    }

    pub(super) const fn shifted(self, shift: u32) -> Self {
        Self { shift, ..self }
    }

    /// The code, unshifted, of all exponent and fraction bits set.
    const fn magnitude_mask(self) -> u32 {
        (1 << (self.exponent_bits + self.fraction_bits)) - 1
    }

    const fn sign_bit(self) -> u32 {
        if self.signed {
            self.magnitude_mask() + 1
        } else {
            0
        }
    }

    pub(super) const fn code_mask(self) -> u32 {
        (self.sign_bit() | self.magnitude_mask()) << self.shift
    }

    /// The largest exponent field with all fraction bits zero, unshifted.
    const fn top_exponent(self) -> u32 {
        self.magnitude_mask() & !((1 << self.fraction_bits) - 1)
    }

    const fn largest_magnitude(self) -> u32 {
        match self.specials {
            Specials::Ieee => self.top_exponent() - 1,
            Specials::NanOnly => self.magnitude_mask() - 1,
            Specials::Finite => self.magnitude_mask(),
        }
    }

    pub(super) const fn largest(self) -> u32 {
        self.largest_magnitude() << self.shift
    }

    pub(super) const fn infinity(self) -> Option<u32> {
        match self.specials {
            Specials::Ieee => Some(self.top_exponent() << self.shift),
            Specials::NanOnly | Specials::Finite => None,
        }
    }

    /// The quiet NaN: the top fraction bit set, or the only NaN there is.
    pub(super) const fn nan(self) -> Option<u32> {
        match self.specials {
            Specials::Ieee => {
                Some((self.top_exponent() | 1 << (self.fraction_bits - 1)) << self.shift)
            }
            Specials::NanOnly => Some(self.magnitude_mask() << self.shift),
            Specials::Finite => None,
        }
    }

    /// The exponent of the smallest normal value, and of every subnormal one.
    const fn smallest_exponent(self) -> i32 {
        if self.signed {
            1 - self.bias
        } else {
            -self.bias
        }
    }

    pub(super) const fn decode(self, code: u32) -> f64 {
        let code = (code & self.code_mask()) >> self.shift;
        let magnitude = code & self.magnitude_mask();
        let value = if magnitude <= self.largest_magnitude() {
            self.value(magnitude)
        } else if matches!(self.specials, Specials::Ieee) && magnitude == self.top_exponent() {
            f64::INFINITY
        } else {
            return f64::NAN;
        };
        if code & self.sign_bit() != 0 {
            -value
        } else {
            value
        }
    }

    /// The value of a finite magnitude.
    const fn value(self, magnitude: u32) -> f64 {
        let field = (magnitude >> self.fraction_bits) as i32;
        let fraction = magnitude & ((1 << self.fraction_bits) - 1);
        let is_normal = field > 0 || !self.signed;
        let (significand, exponent) = if is_normal {
            (fraction | 1 << self.fraction_bits, field - self.bias)
        } else {
            (fraction, self.smallest_exponent())
        };
        significand as f64 * power_of_two(exponent - self.fraction_bits as i32)
    }

    pub(super) const fn encode(
        self,
        value: f64,
        rounding: Rounding,
        overflow: Overflow,
    ) -> Encoded {
        let negative = value.is_sign_negative();
        if value.is_nan() || (!self.signed && (negative || value == 0.0)) {
            let code = match self.nan() {
                Some(code) => code,
                None => self.sign_bit() << self.shift,
            };
            return Encoded {
                code,
                inexact: false,
                overflow: false,
            };
        }
        let sign = if negative { self.sign_bit() } else { 0 };
        let rounded = if value.is_infinite() {
            u64::MAX
        } else {
            self.round(value.abs(), negative, rounding)
        };
        let exceeds = rounded > self.largest_magnitude() as u64;
        let magnitude = if exceeds {
            self.overflowed(overflow)
        } else {
            rounded as u32
        };
        let code = (sign | magnitude) << self.shift;
        let inexact = self.decode(code) != value;
        Encoded {
            code,
            inexact,
            overflow: exceeds && (inexact || value.is_finite()),
        }
    }

    /// The magnitude code nearest to a finite `magnitude`, were there no largest exponent.
    const fn round(self, magnitude: f64, negative: bool, rounding: Rounding) -> u64 {
        let smallest = self.smallest_exponent();
        let exponent = if exponent_of(magnitude) < smallest {
            smallest
        } else {
            exponent_of(magnitude)
        };
        let (whole, fraction) = split(magnitude, exponent - self.fraction_bits as i32);
        if !self.signed && whole == 0 {
            return 0;
        }
        let is_away = rounding.is_away(negative, fraction, whole % 2 == 1);
        // The implicit bit of `whole` is one exponent step: adding it, rather than or-ing fields,
        // makes a subnormal (which lacks it) and a carry out of the fraction come out right.
        let binade = (exponent - smallest) as u64;
        (binade << self.fraction_bits) + whole + is_away as u64 - (!self.signed) as u64
    }

    const fn overflowed(self, overflow: Overflow) -> u32 {
        match (overflow, self.specials) {
            (Overflow::Saturate, _) | (_, Specials::Finite) => self.largest_magnitude(),
            (Overflow::ToInfinity, Specials::Ieee) => self.top_exponent(),
            (Overflow::ToInfinity, Specials::NanOnly) => self.magnitude_mask(),
        }
    }
}
