//! Carrier words to numbers, a plane at a time.

use crate::formats::Format;
use crate::tile::types::DataType;
use pulp::Arch;

/// The values of a format of at most 8 bits, by storage word. A word with bits outside the format
/// is no number of it and reads as NaN.
const fn table(format: Format) -> [f32; 256] {
    let mut values = [f32::NAN; 256];
    let mut code = 0;
    while code < 256 {
        if format.is_valid(code as u32) {
            values[code] = format.decode_f32(code as u32);
        }
        code += 1;
    }
    values
}

static HIF8: [f32; 256] = table(Format::HiF8);
static E4M3: [f32; 256] = table(Format::F8E4M3FN);
static E5M2: [f32; 256] = table(Format::F8E5M2);
static E3M2: [f32; 256] = table(Format::F6E3M2FN);
static E2M3: [f32; 256] = table(Format::F6E2M3FN);
static E2M1: [f32; 256] = table(Format::F4E2M1FN);
static E1M2: [f32; 256] = table(Format::F4E1M2);

/// The values of float carriers of `data_type`, exactly. Words are cut to the type's width first;
/// what is then no code of the type (a TF32 word with low bits set, a 6-bit code with high ones)
/// is NaN. Integers give no values.
pub fn floats(words: &[u64], data_type: DataType) -> Vec<f32> {
    let mut values = vec![0.0; words.len()];
    let out = &mut values[..];
    match data_type {
        DataType::Fp32 => map(words, out, |w| f32::from_bits(w as u32)),
        DataType::Tf32 => map(words, out, |w| truncated::<13>(w as u32)),
        DataType::Hf32 => map(words, out, |w| truncated::<12>(w as u32)),
        DataType::Bf16 => map(words, out, |w| f32::from_bits((w as u32) << 16)),
        DataType::Fp16 => map(words, out, |w| half(w as u32)),
        DataType::HiF8 => map(words, out, |w| HIF8[(w & 0xff) as usize]),
        DataType::E4M3 => map(words, out, |w| E4M3[(w & 0xff) as usize]),
        DataType::E5M2 => map(words, out, |w| E5M2[(w & 0xff) as usize]),
        DataType::E3M2 => map(words, out, |w| E3M2[(w & 0xff) as usize]),
        DataType::E2M3 => map(words, out, |w| E2M3[(w & 0xff) as usize]),
        DataType::E2M1X2 => map(words, out, |w| E2M1[(w & 0xf) as usize]),
        DataType::E1M2X2 | DataType::HiF4X2 => map(words, out, |w| E1M2[(w & 0xf) as usize]),
        _ => values.clear(),
    }
    values
}

/// Applies `value` to each word, with the vector instructions this processor has.
fn map(words: &[u64], values: &mut [f32], value: impl Fn(u64) -> f32) {
    Arch::new().dispatch(|| {
        for (v, &w) in values.iter_mut().zip(words) {
            *v = value(w);
        }
    });
}

/// A binary32 word whose `PADDING` low bits must be zero.
#[inline(always)]
fn truncated<const PADDING: u32>(word: u32) -> f32 {
    let invalid = word & ((1 << PADDING) - 1) != 0;
    f32::from_bits(if invalid { f32::NAN.to_bits() } else { word })
}

/// The low half of a word as binary16. Its fields, moved to those of binary32, have an exponent
/// 112 too small: multiplying by 2^112 is exact and puts subnormals right as well. The largest
/// exponent stands for infinity and NaN and stays the largest.
#[inline(always)]
fn half(word: u32) -> f32 {
    const SCALE: f32 = f32::from_bits((127 + 112) << 23);
    const LARGEST_EXPONENT: u32 = 0x7f80_0000;
    let fields = (word & 0x7fff) << 13;
    let scaled = (f32::from_bits(fields) * SCALE).to_bits();
    let is_special = fields >= 0x1f << 23;
    let top = if is_special { LARGEST_EXPONENT } else { 0 };
    f32::from_bits(scaled | top | (word & 0x8000) << 16)
}

/// The values of integer carriers, as 32-bit words of which sums and products wrap.
pub fn integers(words: &[u64], data_type: DataType) -> Vec<u32> {
    words.iter().map(|&w| data_type.carrier(w) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_reads_as_its_format_says() {
        for t in DataType::all().filter(|t| t.ordinary_class().is_some()) {
            let Some(format) = t.float_format() else {
                continue;
            };
            let codes: Vec<u64> = if t.bits() <= 16 {
                (0..1 << t.bits()).collect()
            } else {
                (0..1 << 20).map(|c| c << 12).collect()
            };
            let values = floats(&codes, t);
            assert_eq!(values.len(), codes.len());
            for (&code, value) in codes.iter().zip(values) {
                let expected = if format.is_valid(code as u32) {
                    format.decode_f32(code as u32)
                } else {
                    f32::NAN
                };
                let same =
                    value.to_bits() == expected.to_bits() || (value.is_nan() && expected.is_nan());
                assert!(same, "{t} {code:#x}: {value} is not {expected}");
            }
        }
    }

    #[test]
    fn nibbles_are_signed_where_the_type_is() {
        assert_eq!(
            integers(&[0xf, 0x7, 0x8], DataType::S4X2),
            [u32::MAX, 7, -8i32 as u32]
        );
        assert_eq!(integers(&[0xf, 0x18], DataType::U4X2), [15, 8]);
        assert_eq!(integers(&[-79i64 as u64], DataType::S8), [-79i32 as u32]);
    }
}
