//! Random arguments, the same for a seed on every machine.

use crate::code::{ElementType, truncate};
use crate::exec::{Array, Input};
use crate::formats::Format;
use crate::scalar::cast::CastOp;
use crate::scalar::float::from_f64;

/// How random values are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Integers from -4 to 4: every float format has them, and sums of up to 2^20 products are
    /// exact in f32.
    #[default]
    SmallInt,
    /// Floats spread normally around 0 with deviation 1; integers as [`Self::SmallInt`].
    Normal,
    /// All bits random, so infinities and NaN are among the floats.
    Bits,
}

/// The largest small integer.
const SMALL: i64 = 4;

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, passes the usual batteries, and is short
/// enough to stay as it is for ever.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator whose numbers are those of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number in 0..1.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A normal deviate, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }

    /// The raw bits of a random value of type `element`.
    pub fn value(&mut self, element: ElementType, distribution: Distribution) -> u64 {
        match distribution {
            Distribution::Bits => self.bits() & element.code_bits(),
            Distribution::Normal if element.is_float() => from_f64(element, self.normal()),
            _ => small_value(element, self.small_index() as i64 - SMALL),
        }
    }

    fn small_index(&mut self) -> usize {
        (self.bits() % (2 * SMALL as u64 + 1)) as usize
    }

    /// Random elements of `sizes`: a scalar each, so what has too many is for the caller to refuse.
    pub fn array(
        &mut self,
        element: ElementType,
        sizes: &[u64],
        distribution: Distribution,
    ) -> Input {
        let len = sizes
            .iter()
            .fold(1u64, |len, &size| len.saturating_mul(size));
        let width = element.bytes();
        // Rounding to a format takes longer than a random number: small integers are rounded once.
        let small: Vec<u64> = (0..=2 * SMALL as u64)
            .map(|n| small_value(element, n as i64 - SMALL))
            .collect();
        let mut bytes = Vec::new();
        for _ in 0..len {
            let bits = match distribution {
                Distribution::SmallInt => small[self.small_index()],
                _ => self.value(element, distribution),
            };
            // Integers of odd widths fill their bytes with zeros.
            let bits = element
                .int_width()
                .map_or(bits, |width| truncate(bits, width));
            bytes.extend_from_slice(&bits.to_le_bytes()[..width]);
        }
        Input::Elements(Array {
            element,
            sizes: sizes.to_vec(),
            bytes,
        })
    }
}

/// The bits of a small integer as a value of type `element`; sizes and unsigned numbers are not
/// negative.
fn small_value(element: ElementType, value: i64) -> u64 {
    match element {
        // Scales: powers of two, which have no sign.
        ElementType::Float(Format::F8E8M0FNU) => from_f64(element, libm::exp2(value as f64)),
        ElementType::Float(_) | ElementType::F64 => from_f64(element, value as f64),
        ElementType::Index | ElementType::Uint(_) => value.unsigned_abs(),
        ElementType::Int(_) => CastOp::TruncI.apply(ElementType::I64, element, value as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_are_fixed() {
        let mut random = Random::new(0);
        assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn values_are_of_their_type_and_range() {
        let mut random = Random::new(7);
        for _ in 0..1000 {
            let small = random.value(ElementType::F32, Distribution::SmallInt);
            let value = f32::from_bits(small as u32);
            assert!(value.fract() == 0.0 && value.abs() <= 4.0, "{value}");
            let int = random.value(ElementType::Int(8), Distribution::SmallInt);
            assert!((int as u8 as i8).abs() <= 4 && int < 256);
            assert!(random.value(ElementType::Index, Distribution::Normal) <= 4);
            assert!(random.value(ElementType::I1, Distribution::SmallInt) <= 1);
            let normal = random.value(ElementType::F32, Distribution::Normal);
            assert!(f32::from_bits(normal as u32).is_finite());
        }
    }

    #[test]
    fn normal_deviates_have_their_moments() {
        let mut random = Random::new(1);
        let values: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let variance = values.iter().map(|value| value * value).sum::<f64>() / 20_000.0;
        assert!(
            mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05,
            "{mean} {variance}"
        );
    }
}
