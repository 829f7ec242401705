//! Carrier words to numbers, a plane at a time.

use crate::formats::Format;
use crate::tile::types::DataType;
use half::slice::HalfFloatSliceExt;

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
    let small = |table: &[f32; 256], mask: u64| -> Vec<f32> {
        words.iter().map(|&w| table[(w & mask) as usize]).collect()
    };
    match data_type {
        DataType::Fp32 => words.iter().map(|&w| f32::from_bits(w as u32)).collect(),
        DataType::Tf32 => words.iter().map(|&w| truncated(w as u32, 13)).collect(),
        DataType::Hf32 => words.iter().map(|&w| truncated(w as u32, 12)).collect(),
        DataType::Bf16 => words
            .iter()
            .map(|&w| f32::from_bits(u32::from(w as u16) << 16))
            .collect(),
        DataType::Fp16 => {
            let halves: Vec<half::f16> = words
                .iter()
                .map(|&w| half::f16::from_bits(w as u16))
                .collect();
            let mut values = vec![0.0; halves.len()];
            halves.convert_to_f32_slice(&mut values);
            values
        }
        DataType::HiF8 => small(&HIF8, 0xff),
        DataType::E4M3 => small(&E4M3, 0xff),
        DataType::E5M2 => small(&E5M2, 0xff),
        DataType::E3M2 => small(&E3M2, 0xff),
        DataType::E2M3 => small(&E2M3, 0xff),
        DataType::E2M1X2 => small(&E2M1, 0xf),
        DataType::E1M2X2 | DataType::HiF4X2 => small(&E1M2, 0xf),
        _ => Vec::new(),
    }
}

/// A binary32 word whose `padding` low bits must be zero.
fn truncated(word: u32, padding: u32) -> f32 {
    if word & ((1 << padding) - 1) == 0 {
        f32::from_bits(word)
    } else {
        f32::NAN
    }
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
