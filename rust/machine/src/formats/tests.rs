//! Against tables of independent libraries (`test/numerics/formats_fixture.py`), and the rules no
//! library knows.

use super::*;
use half::{bf16, f16};
use proptest::prelude::*;
use serde_json::Value;

fn fixture() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../test/numerics/formats.json"
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn format_named(name: &str) -> Format {
    *Format::ALL.iter().find(|f| f.name() == name).unwrap()
}

fn hex_words(text: &Value, digits: usize) -> Vec<u32> {
    let text = text.as_str().unwrap();
    assert_eq!(text.len() % digits, 0);
    (0..text.len() / digits)
        .map(|i| u32::from_str_radix(&text[i * digits..(i + 1) * digits], 16).unwrap())
        .collect()
}

/// CRC-32 as zlib has it, bit by bit.
fn crc(bytes: impl Iterator<Item = u8>) -> u32 {
    !bytes.fold(!0u32, |mut crc, byte| {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
        crc
    })
}

fn crc_of_words(words: &[u32]) -> u32 {
    crc(words.iter().flat_map(|word| word.to_le_bytes()))
}

/// The inputs of `ladder` in the fixture's script.
fn ladder(format: Format, code_bits: u32) -> Vec<f32> {
    let mut steps: Vec<f64> = (0..1u32 << code_bits)
        .map(|code| format.decode(code).abs())
        .filter(|value| value.is_finite())
        .collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    steps.push(2.0 * steps[steps.len() - 1] - steps[steps.len() - 2]);
    let mut inputs = Vec::new();
    for pair in steps.windows(2) {
        let middle = ((pair[0] + pair[1]) / 2.0) as f32;
        inputs.extend([pair[0] as f32, middle.next_down(), middle, middle.next_up()]);
    }
    inputs.extend([1e-45, f32::MAX, f32::INFINITY]);
    let negated: Vec<f32> = inputs.iter().map(|value| -value).collect();
    inputs.extend(negated);
    inputs
}

fn canonical_bits(value: f32) -> u32 {
    if value.is_nan() {
        0x7fc0_0000
    } else {
        value.to_bits()
    }
}

#[test]
fn small_formats_match_the_reference_tables() {
    let fixture = fixture();
    let tables = fixture["small"].as_object().unwrap();
    assert_eq!(tables.len(), 9);
    for (name, table) in tables {
        let format = format_named(name);
        let values = hex_words(&table["decode"], 8);
        for (code, &bits) in values.iter().enumerate() {
            let decoded = canonical_bits(format.decode_f32(code as u32));
            assert_eq!(decoded, bits, "{name}: value of code {code:#x}");
        }
        let rounding = match table["rounding"].as_str().unwrap() {
            "rne" => Rounding::NearestEven,
            "rna" => Rounding::NearestAway,
            other => panic!("rounding {other}"),
        };
        let inputs = hex_words(&table["inputs"], 8);
        let codes = hex_words(&table["codes"], 2);
        assert!(inputs.len() == codes.len() && codes.len() > 4 * values.len() / 2);
        for (bits, code) in inputs.into_iter().zip(codes) {
            let value = f64::from(f32::from_bits(bits));
            let encoded = format.encode(value, rounding, Overflow::ToInfinity).code;
            assert_eq!(encoded, code, "{name}: code of {value:e}");
        }
    }
}

#[test]
fn half_formats_match_the_reference_digests() {
    let fixture = fixture();
    for name in ["bf16", "f16"] {
        let format = format_named(name);
        let table = &fixture["half"][name];
        let values: Vec<u32> = (0..1 << 16)
            .map(|code| canonical_bits(format.decode_f32(code)))
            .collect();
        assert_eq!(crc_of_words(&values), table["decode"], "{name}: values");
        let inputs = ladder(format, 16);
        let words: Vec<u32> = inputs.iter().map(|value| value.to_bits()).collect();
        assert_eq!(crc_of_words(&words), table["inputs"], "{name}: inputs");
        let codes = inputs
            .iter()
            .map(|&value| format.encode_rne(f64::from(value)) as u16);
        let digest = crc(codes.flat_map(u16::to_le_bytes));
        assert_eq!(digest, table["codes"], "{name}: codes");
    }
}

#[test]
fn truncated_formats_match_the_reference_digests() {
    let fixture = fixture();
    let mut state = 1u32;
    let words: Vec<u32> = (0..1 << 16)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state
        })
        .filter(|&word| !f32::from_bits(word).is_nan())
        .collect();
    for name in ["tf32", "!pto.hf32"] {
        let format = format_named(name);
        let table = &fixture["truncated"][name];
        assert_eq!(crc_of_words(&words), table["inputs"]);
        let codes: Vec<u32> = words
            .iter()
            .map(|&word| format.encode_rne(f64::from(f32::from_bits(word))))
            .collect();
        assert_eq!(crc_of_words(&codes), table["codes"], "{name}: codes");
        for code in codes {
            assert!(format.is_valid(code));
            assert_eq!(format.decode_f32(code).to_bits(), code);
        }
    }
}

/// All codes of a format, or a sample of those of the wide ones.
fn codes(format: Format) -> Box<dyn Iterator<Item = u32>> {
    match format.storage_bytes() {
        4 => Box::new((0..=0xffffu32).map(|i| i << 16 | 0x2000 | i.reverse_bits() >> 16)),
        bytes => Box::new(0..1u32 << (8 * bytes)),
    }
}

#[test]
fn every_value_encodes_to_its_code_in_every_mode() {
    for format in Format::ALL {
        for code in codes(format).filter(|&code| format.is_valid(code)) {
            let value = format.decode(code);
            if value.is_nan() {
                continue;
            }
            for rounding in Rounding::ALL {
                let encoded = format.encode(value, rounding, Overflow::ToInfinity);
                let exact = Encoded {
                    code,
                    inexact: false,
                    overflow: false,
                };
                assert_eq!(encoded, exact, "{format:?} {rounding:?} {value:e}");
            }
        }
    }
}

#[test]
fn special_codes_decode_to_what_they_are() {
    for format in Format::ALL {
        assert!(format.nan().is_none_or(|nan| format.decode(nan).is_nan()));
        let infinity = format.infinity().map(|code| format.decode(code));
        assert!(infinity.is_none_or(|value| value == f64::INFINITY));
        let finite = codes(format)
            .map(|code| format.decode(code))
            .filter(|value| value.is_finite());
        let largest = format.decode(format.largest());
        assert!(largest >= finite.fold(0.0, f64::max), "{format:?}");
    }
    let largest = |format: Format| format.decode(format.largest());
    assert_eq!(largest(Format::F16), 65504.0);
    assert_eq!(largest(Format::F8E4M3FN), 448.0);
    assert_eq!(largest(Format::F8E3M4), 15.5);
    assert_eq!(largest(Format::HiF8), 32768.0);
}

#[test]
fn overflow_goes_to_infinity_to_nan_or_to_the_largest() {
    let code =
        |format: Format, value, overflow| format.encode(value, Rounding::TowardZero, overflow);
    for (format, infinite, largest) in [
        (Format::F32, 0xff80_0000, 0xff7f_ffff),
        (Format::F16, 0xfc00, 0xfbff),
        (Format::F8E4M3FN, 0xff, 0xfe),
        (Format::F4E2M1FN, 0xf, 0xf),
        (Format::HiF8, 0xef, 0xee),
    ] {
        for value in [-1e300, f64::NEG_INFINITY] {
            let to_infinity = code(format, value, Overflow::ToInfinity);
            assert_eq!(to_infinity.code, infinite, "{format:?}");
            let saturated = code(format, value, Overflow::Saturate);
            assert_eq!(saturated.code, largest, "{format:?}");
            assert!(saturated.overflow && saturated.inexact);
        }
        assert!(code(format, -1e300, Overflow::ToInfinity).overflow);
    }
    // Truncation keeps what lies below the next binade, 65536 in f16.
    assert_eq!(
        code(Format::F16, 65535.9, Overflow::ToInfinity).code,
        0x7bff
    );
    assert_eq!(
        code(Format::F16, 65536.0, Overflow::ToInfinity).code,
        0x7c00
    );
    // HiF8 has no value between 2^15 and infinity: 1.5 * 2^15 is infinity's place.
    assert_eq!(code(Format::HiF8, 49151.0, Overflow::ToInfinity).code, 0x6e);
    assert_eq!(code(Format::HiF8, 49152.0, Overflow::ToInfinity).code, 0x6f);
}

#[test]
fn nan_zero_and_sign_rules() {
    let rne = |format: Format, value| format.encode_rne(value);
    assert_eq!(rne(Format::F8E4M3FN, f64::NAN), 0x7f);
    assert_eq!(rne(Format::HiF8, f64::NAN), 0x80);
    assert_eq!(rne(Format::F4E2M1FN, f64::NAN), 0x8);
    assert_eq!(rne(Format::F8E8M0FNU, 0.0), 0xff);
    assert_eq!(rne(Format::F8E8M0FNU, -1.0), 0xff);
    assert_eq!(rne(Format::F8E8M0FNU, 1e-300), 0);
    assert_eq!(rne(Format::HiF8, -0.0), 0);
    assert_eq!(rne(Format::HiF8, -1e-9), 0);
    assert_eq!(rne(Format::F8E5M2, -0.0), 0x80);
    assert_eq!(rne(Format::F32, -1e-60), 0x8000_0000);
}

#[test]
fn hif8_ties_follow_the_mode() {
    let code = |value, rounding| {
        Format::HiF8
            .encode(value, rounding, Overflow::ToInfinity)
            .code
    };
    // 1.5 * 2^-20 lies between codes 3 and 4; 1.0625 between 0x08 and 0x09.
    let tie = 1.5 * 2f64.powi(-20);
    assert_eq!(code(tie, Rounding::NearestEven), 4);
    assert_eq!(code(tie / 2.0, Rounding::NearestEven), 2);
    assert_eq!(code(1.0625, Rounding::NearestEven), 0x08);
    assert_eq!(code(1.0625, Rounding::NearestUp), 0x09);
    assert_eq!(code(-1.0625, Rounding::NearestUp), 0x88);
    // A carry into a binade with fewer fraction bits: 15.5 -> 16.
    assert_eq!(code(15.5, Rounding::NearestAway), 0x40);
    assert_eq!(code(2f64.powi(-23), Rounding::NearestEven), 0);
    assert_eq!(code(2f64.powi(-23), Rounding::NearestUp), 1);
}

/// Nearest value by search: the definition, for formats small enough to search.
fn encode_by_search(format: Format, value: f64, rounding: Rounding) -> f64 {
    let finite: Vec<(f64, u32)> = codes(format)
        .filter(|&code| format.is_valid(code) && format.decode(code).is_finite())
        .map(|code| (format.decode(code), code))
        .collect();
    let below = finite.iter().filter(|(v, _)| *v <= value);
    let above = finite.iter().filter(|(v, _)| *v >= value);
    let below = *below.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    let above = *above.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    if below.0 == above.0 {
        return value;
    }
    let (toward_zero, away) = if value > 0.0 {
        (below, above)
    } else {
        (above, below)
    };
    let even = if below.1 % 2 == 0 { below } else { above };
    let odd = if below.1 % 2 == 0 { above } else { below };
    let to_nearest = |on_tie: (f64, u32)| match (value - below.0).total_cmp(&(above.0 - value)) {
        std::cmp::Ordering::Less => below,
        std::cmp::Ordering::Greater => above,
        std::cmp::Ordering::Equal => on_tie,
    };
    let chosen = match rounding {
        Rounding::NearestEven => to_nearest(even),
        Rounding::TowardZero => toward_zero,
        Rounding::Down => below,
        Rounding::Up => above,
        Rounding::NearestAway => to_nearest(away),
        Rounding::ToOdd => odd,
        Rounding::NearestUp => to_nearest(above),
    };
    chosen.0
}

proptest! {
    #[test]
    fn encoding_is_the_nearest_value(
        format in prop::sample::select(vec![
            Format::F8E5M2, Format::F8E4M3FN, Format::F8E3M4, Format::F6E3M2FN,
            Format::F6E2M3FN, Format::F4E2M1FN, Format::F4E1M2, Format::HiF8,
        ]),
        rounding in prop::sample::select(Rounding::ALL.to_vec()),
        position in -1.0f64..1.0,
        power in 0i32..40,
        steps in prop::option::of(-64i32..64),
    ) {
        let largest = format.decode(format.largest());
        // Small multiples of a power of two are often ties; the rest is spread over the binades.
        let value = match steps {
            Some(steps) => f64::from(steps) * 2f64.powi(-power),
            None => position * 2f64.powi(15 - power),
        };
        prop_assume!(value.abs() <= largest);
        let encoded = format.encode(value, rounding, Overflow::ToInfinity);
        prop_assert_eq!(
            format.decode(encoded.code),
            encode_by_search(format, value, rounding),
            "{:?} {:?} {:e}", format, rounding, value
        );
        prop_assert_eq!(encoded.inexact, format.decode(encoded.code) != value);
        prop_assert!(!encoded.overflow);
    }

    #[test]
    fn half_crate_agrees(bits in any::<u64>(), small in any::<f32>()) {
        for value in [f64::from_bits(bits), f64::from(small)] {
            prop_assume!(!value.is_nan());
            prop_assert_eq!(Format::F16.encode_rne(value), u32::from(f16::from_f64(value).to_bits()));
            prop_assert_eq!(Format::Bf16.encode_rne(value), u32::from(bf16::from_f64(value).to_bits()));
            prop_assert_eq!(Format::F32.encode_rne(value), (value as f32).to_bits());
        }
    }

    #[test]
    fn sums_rounded_to_odd_round_once(a in any::<f32>(), b in any::<f32>(), near in -60i32..60) {
        let near = b * 2f32.powi(near);
        for b in [b, near, -a, (-a).next_up()] {
            prop_assume!(a.is_finite() && b.is_finite());
            let sum = add_to_odd(f64::from(a), f64::from(b));
            prop_assert_eq!(Format::F32.encode_rne(sum), (a + b).to_bits());
            let down = Format::F32.encode(sum, Rounding::Down, Overflow::ToInfinity).code;
            let up = Format::F32.encode(sum, Rounding::Up, Overflow::ToInfinity).code;
            let nearest = a + b;
            prop_assert!(f32::from_bits(down) <= nearest && nearest <= f32::from_bits(up));
            let lost = f64::from(a) + f64::from(b) - f64::from(nearest);
            let is_between = nearest.is_finite() && lost != 0.0;
            prop_assert!(!is_between || down != up, "an inexact sum has two neighbours");
        }
    }
}
