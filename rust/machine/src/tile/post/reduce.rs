//! Row and group maxima of the raw accumulator.
//!
//! A left-to-right fold of a maximum in the accumulator's type. FP32 is ordered by value: +0 is
//! above -0; one NaN gives the other operand, two give the canonical NaN; a signalling NaN raises
//! NV. With absolute values the S32 minimum becomes 0x7fffffff and raises OF.

use super::activate::is_signalling;
use super::flag;
use crate::tile::arith::ieee::NAN;
use crate::tile::types::DataType;

/// How to reduce.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    /// FP32, S32 or U32.
    pub accumulator: DataType,
    /// Of absolute values.
    pub absolute: bool,
}

impl Reduction {
    /// The maximum of each row of the accumulator, started from `initial` (one word a row) where
    /// given. Returns one carrier word a row, and the flags.
    pub fn rows(&self, p: &[u64], columns: usize, initial: Option<&[u64]>) -> (Vec<u64>, u8) {
        self.fold_chunks(p, columns, columns, initial)
    }

    /// The maximum of each group of `group` columns of each row, the last group shorter. Returns
    /// the words of all rows in row order, and the flags.
    pub fn groups(&self, p: &[u64], columns: usize, group: usize) -> (Vec<u64>, u8) {
        self.fold_chunks(p, columns, group, None)
    }

    fn fold_chunks(
        &self,
        p: &[u64],
        columns: usize,
        chunk: usize,
        initial: Option<&[u64]>,
    ) -> (Vec<u64>, u8) {
        if columns == 0 || chunk == 0 {
            return (Vec::new(), 0);
        }
        let mut flags = 0;
        let mut maxima = Vec::new();
        for (i, row) in p.chunks(columns).enumerate() {
            let first = initial.and_then(|words| words.get(i));
            for words in row.chunks(chunk) {
                let maximum = first
                    .into_iter()
                    .chain(words)
                    .map(|&word| self.operand(word as u32, &mut flags))
                    .collect::<Vec<_>>()
                    .into_iter()
                    .reduce(|a, b| self.maximum(a, b, &mut flags))
                    .unwrap_or_default();
                maxima.push(self.accumulator.carrier(u64::from(maximum)));
            }
        }
        (maxima, flags)
    }

    /// The operand the fold sees.
    fn operand(&self, bits: u32, flags: &mut u8) -> u32 {
        if !self.absolute {
            return bits;
        }
        match self.accumulator {
            DataType::Fp32 => bits & 0x7fff_ffff,
            DataType::S32 => (bits as i32).checked_abs().unwrap_or_else(|| {
                *flags |= flag::OF;
                i32::MAX
            }) as u32,
            _ => bits,
        }
    }

    fn maximum(&self, a: u32, b: u32, flags: &mut u8) -> u32 {
        match self.accumulator {
            DataType::Fp32 => {
                if is_signalling(a) || is_signalling(b) {
                    *flags |= flag::NV;
                }
                float_maximum(a, b)
            }
            DataType::S32 => (a as i32).max(b as i32) as u32,
            _ => a.max(b),
        }
    }
}

fn float_maximum(a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => NAN,
        (true, false) => b,
        (false, true) => a,
        (false, false) if x == y => a & b,
        (false, false) => {
            if x > y {
                a
            } else {
                b
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(accumulator: DataType, absolute: bool, words: &[u64]) -> (u64, u8) {
        let r = Reduction {
            accumulator,
            absolute,
        };
        let (maxima, flags) = r.rows(words, words.len(), None);
        (maxima[0], flags)
    }

    #[test]
    fn floats_are_ordered_by_value() {
        let f = |x: f32| u64::from(x.to_bits());
        let max = |words: &[u64]| rows(DataType::Fp32, false, words);
        assert_eq!(max(&[f(-0.0), f(0.0)]), (f(0.0), 0));
        assert_eq!(max(&[f(0.0), f(-0.0)]), (f(0.0), 0));
        assert_eq!(max(&[f(-2.0), f(-1.0), f(f32::NEG_INFINITY)]), (f(-1.0), 0));
        assert_eq!(max(&[0x7fc0_0001, f(1.0)]), (f(1.0), 0));
        assert_eq!(max(&[f(1.0), 0xff80_0001]), (f(1.0), flag::NV));
        assert_eq!(max(&[0x7fc0_0001, 0x7fc0_0002]), (u64::from(NAN), 0));
        assert_eq!(rows(DataType::Fp32, true, &[f(-3.0), f(2.0)]), (f(3.0), 0));
    }

    #[test]
    fn integers_and_the_one_value_without_an_absolute() {
        assert_eq!(
            rows(DataType::S32, false, &[0xffff_ffff, 0x8000_0000]),
            (u64::MAX, 0)
        );
        assert_eq!(
            rows(DataType::S32, true, &[0x8000_0000, 7]),
            (0x7fff_ffff, flag::OF)
        );
        assert_eq!(rows(DataType::S32, true, &[0xffff_fffe]), (2, 0));
        assert_eq!(
            rows(DataType::U32, true, &[0xffff_fffe, 3]),
            (0xffff_fffe, 0)
        );
    }

    #[test]
    fn groups_end_short_and_rows_start_from_the_given() {
        let r = Reduction {
            accumulator: DataType::S32,
            absolute: false,
        };
        let p = [1, 5, 2, 3, 4, 9, 8, 7, 6, 5];
        assert_eq!(r.groups(&p, 5, 2).0, [5, 3, 4, 9, 7, 5]);
        assert_eq!(r.rows(&p, 5, Some(&[6, 6])).0, [6, 9]);
    }
}
