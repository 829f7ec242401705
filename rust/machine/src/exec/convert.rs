//! Packed elements from one type to another.

use half::{bf16, f16};

use crate::code::ElementType;
use crate::code::types::{sign_extend, truncate};
use crate::formats::Format;
use crate::memory::bits_of;
use crate::scalar::cast::CastOp;
use crate::scalar::float::to_f64;

/// Replaces `out` by the packed elements `bytes` of type `from`, as elements of type `to`: floats
/// round to nearest even, integers from floats too (the nearest end of the range where they are out
/// of it, zero for NaN), integers from integers keep their low bits.
pub(crate) fn convert(from: ElementType, to: ElementType, bytes: &[u8], out: &mut Vec<u8>) {
    out.clear();
    match (from, to) {
        (ElementType::Float(Format::F32), ElementType::Float(Format::Bf16)) => {
            each(bytes, out, |word| {
                bf16::from_f32(f32::from_le_bytes(word)).to_le_bytes()
            });
        }
        (ElementType::Float(Format::F32), ElementType::Float(Format::F16)) => {
            each(bytes, out, |word| {
                f16::from_f32(f32::from_le_bytes(word)).to_le_bytes()
            });
        }
        (ElementType::Float(Format::Bf16), ElementType::Float(Format::F32)) => {
            each(bytes, out, |word| {
                bf16::from_le_bytes(word).to_f32().to_le_bytes()
            });
        }
        (ElementType::Float(Format::F16), ElementType::Float(Format::F32)) => {
            each(bytes, out, |word| {
                f16::from_le_bytes(word).to_f32().to_le_bytes()
            });
        }
        _ => {
            let width = to.bytes();
            for element in bytes.chunks_exact(from.bytes()) {
                let bits = convert_bits(from, to, bits_of(element));
                out.extend_from_slice(&bits.to_le_bytes()[..width]);
            }
        }
    }
}

/// One element of type `from` as an element of type `to`: see [`convert`].
pub(crate) fn convert_bits(from: ElementType, to: ElementType, bits: u64) -> u64 {
    match (from.int_width(), to.int_width()) {
        (None, None) => CastOp::Float.apply(from, to, bits),
        (Some(_), None) if matches!(from, ElementType::Uint(_)) => {
            CastOp::UIToFP.apply(from, to, bits)
        }
        (Some(_), None) => CastOp::SIToFP.apply(from, to, bits),
        (None, Some(_)) => {
            let nearest = to_f64(from, bits).round_ties_even().to_bits();
            let op = match to {
                ElementType::Uint(_) => CastOp::FPToUI,
                _ => CastOp::FPToSI,
            };
            op.apply(ElementType::F64, to, nearest)
        }
        (Some(_), Some(width)) if matches!(from, ElementType::Uint(_)) => truncate(bits, width),
        (Some(from_width), Some(width)) => truncate(sign_extend(bits, from_width) as u64, width),
    }
}

#[inline(always)]
fn each<const FROM: usize, const TO: usize>(
    bytes: &[u8],
    out: &mut Vec<u8>,
    convert: impl Fn([u8; FROM]) -> [u8; TO],
) {
    let elements = bytes.as_chunks::<FROM>().0;
    out.resize(elements.len() * TO, 0);
    for (target, &element) in out.as_chunks_mut::<TO>().0.iter_mut().zip(elements) {
        *target = convert(element);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: ElementType = ElementType::F32;

    #[test]
    fn fast_paths_agree_with_the_formats() {
        let values = [
            1.0f32,
            -0.0,
            3.3,
            65_520.0,
            1e-41,
            6e-8,
            f32::INFINITY,
            256.5,
            -1e30,
        ];
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        for to in [ElementType::BF16, ElementType::F16] {
            let (mut narrow, mut back) = (Vec::new(), Vec::new());
            convert(F32, to, &bytes, &mut narrow);
            convert(to, F32, &narrow, &mut back);
            for (at, value) in values.iter().enumerate() {
                let expected = convert_bits(F32, to, u64::from(value.to_bits()));
                assert_eq!(
                    bits_of(&narrow[2 * at..2 * at + 2]),
                    expected,
                    "{value} to {to}"
                );
                let widened = convert_bits(to, F32, expected);
                assert_eq!(bits_of(&back[4 * at..4 * at + 4]), widened);
            }
        }
    }

    #[test]
    fn between_integers_and_floats() {
        let bits = |value: f32| u64::from(value.to_bits());
        let i8_type = ElementType::Int(8);
        assert_eq!(convert_bits(F32, i8_type, bits(2.5)), 2);
        assert_eq!(convert_bits(F32, i8_type, bits(-300.0)), 0x80);
        assert_eq!(convert_bits(F32, ElementType::Uint(8), bits(300.0)), 255);
        assert_eq!(convert_bits(i8_type, F32, 0xff), bits(-1.0));
        assert_eq!(convert_bits(ElementType::Uint(8), F32, 0xff), bits(255.0));
        assert_eq!(convert_bits(i8_type, ElementType::I32, 0xff), 0xffff_ffff);
        let mut out = Vec::new();
        convert(ElementType::Int(16), i8_type, &[1, 2, 3, 4], &mut out);
        assert_eq!(out, [1, 3]);
    }
}
