//! Conversions against a reference that shares nothing with them: whole numbers only.
//!
//! Float formats are walked code by code. Between two neighbours the points at a quarter, a half
//! and three quarters are exact products of an accumulator and a scale, so the neighbour to take
//! and the flags follow from the mode's definition without any arithmetic.

use proptest::prelude::*;
use pto_machine::formats::{Format, Rounding, hif8};
use pto_machine::tile::DataType;
use pto_machine::tile::post::Column;
use pto_machine::tile::post::convert::Conversion;
use pto_machine::tile::post::modes::{self, PreQuantMode, Quantisation};

const OF_NX: u8 = 0x14;
const UF_NX: u8 = 0x18;
const NX: u8 = 0x10;

fn mode(code: u8) -> PreQuantMode {
    PreQuantMode::from_code(code).expect("a mode")
}

/// A column without activation whose scale is 2^exponent.
fn power(exponent: i32) -> Column {
    let field = u64::try_from(exponent + 127).expect("a normal scale") << 23;
    let parameter = Quantisation::parse(field, modes::Conversion::Float).expect("a scale");
    Column {
        quantisation: parameter,
        negative_factor: None,
    }
}

/// Whether the point `quarters` / 4 of the way from one magnitude to the next goes to the next.
fn goes_away(rounding: Rounding, quarters: u32, low_is_odd: bool, negative: bool) -> bool {
    if quarters == 0 {
        return false;
    }
    match rounding {
        Rounding::TowardZero => false,
        Rounding::Up => !negative,
        Rounding::Down => negative,
        Rounding::ToOdd => !low_is_odd,
        Rounding::NearestEven if quarters == 2 => low_is_odd,
        Rounding::NearestAway if quarters == 2 => true,
        Rounding::NearestUp if quarters == 2 => !negative,
        Rounding::NearestEven | Rounding::NearestAway | Rounding::NearestUp => quarters == 3,
    }
}

/// A float format with an IEEE layout: fraction bits, exponent bits.
struct Layout {
    fraction: u32,
    exponent: u32,
}

impl Layout {
    fn bias(&self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// Significand and exponent of a magnitude code: value = significand * 2^exponent.
    fn split(&self, code: u32) -> (i64, i32) {
        let field = code >> self.fraction;
        let fraction = i64::from(code & ((1 << self.fraction) - 1));
        let implicit = i64::from(field != 0) << self.fraction;
        let exponent = field.max(1) as i32 - self.bias() - self.fraction as i32;
        (fraction | implicit, exponent)
    }
}

/// S32 accumulators to FP16: every magnitude code, every quarter point, every mode, sign and Sat.
#[test]
fn half_from_integers_is_exhaustive() {
    let layout = Layout {
        fraction: 10,
        exponent: 5,
    };
    let mut checked = 0u32;
    for code in 0..0x7c00u32 {
        let (significand, exponent) = layout.split(code);
        let column = power(exponent - 2);
        for quarters in 0..4u32 {
            for negative in [false, true] {
                let magnitude = 4 * significand + i64::from(quarters);
                let p = (if negative { -magnitude } else { magnitude }) as i32;
                for rounding in Rounding::ALL {
                    for saturate in [false, true] {
                        let to = Conversion::new(mode(5), DataType::S32, rounding, saturate);
                        let found = to.apply(u64::from(p as u32), DataType::S32, &column);
                        // A point whose magnitude is zero has no sign in an integer.
                        let negative = negative && magnitude != 0;
                        let away = goes_away(rounding, quarters, code % 2 == 1, negative);
                        let expected = half(code + u32::from(away), quarters, negative, saturate);
                        assert_eq!(found, expected, "{p} * 2^{} {rounding:?}", exponent - 2);
                        checked += 1;
                    }
                }
            }
        }
    }
    assert_eq!(checked, 0x7c00 * 4 * 2 * 7 * 2);
}

/// The word and flags of the FP16 magnitude code that was chosen.
fn half(code: u32, quarters: u32, negative: bool, saturate: bool) -> (u64, u8) {
    let sign = if negative { 0x8000 } else { 0 };
    if code == 0x7c00 {
        let magnitude = if saturate { 0x7bff } else { 0x7c00 };
        return (u64::from(magnitude | sign), OF_NX);
    }
    let flags = match (quarters, code < 0x400) {
        (0, _) => 0,
        (_, true) => UF_NX,
        (_, false) => NX,
    };
    (u64::from(code | sign), flags)
}

/// FP32 accumulators to an 8-bit format by the table of its values in ascending order: each value,
/// and the quarter points up to the next.
fn walk_small(format: Format, code_of_mode: u8, rounding: Rounding, smallest_normal: f64) {
    let mut codes: Vec<u32> = (0..0x80)
        .filter(|&c| format.decode(c).is_finite())
        .collect();
    codes.sort_by(|&a, &b| format.decode(a).total_cmp(&format.decode(b)));
    let column = power(0);
    for pair in codes.windows(2) {
        let (low, high) = (format.decode(pair[0]), format.decode(pair[1]));
        for quarters in 0..4u32 {
            let x = low + (high - low) * f64::from(quarters) / 4.0;
            for negative in [false, true] {
                let signed = if negative { -x } else { x };
                let p = (signed as f32).to_bits();
                for saturate in [false, true] {
                    let to =
                        Conversion::new(mode(code_of_mode), DataType::Fp32, rounding, saturate);
                    let found = to.apply(u64::from(p), DataType::Fp32, &column);
                    let away = goes_away(rounding, quarters, pair[0] % 2 == 1, negative);
                    let code = pair[usize::from(away)];
                    let is_small = format.decode(code) < smallest_normal;
                    let flags = match (quarters, is_small) {
                        (0, _) => 0,
                        (_, true) => UF_NX,
                        (_, false) => NX,
                    };
                    // An exact -0 keeps its sign where there is one; what rounds to zero does not.
                    let keeps_sign = code != 0 || (quarters == 0 && format != Format::HiF8);
                    let sign = if negative && keeps_sign { 0x80 } else { 0 };
                    assert_eq!(
                        found,
                        (u64::from(code | sign), flags),
                        "{signed:e} {format:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn e4m3_is_exhaustive() {
    walk_small(Format::F8E4M3FN, 26, Rounding::NearestEven, 2f64.powi(-6));
}

#[test]
fn hif8_is_exhaustive() {
    walk_small(Format::HiF8, 25, Rounding::NearestUp, 2f64.powi(-15));
}

/// Beyond the largest value, at it, and at the specials: word and flags, without and with Sat.
#[test]
fn the_ends_of_the_float_formats() {
    type Result = (u64, u8);
    let cases: &[(u8, f32, Result, Result)] = &[
        (1, 65504.0, (0x7bff, 0), (0x7bff, 0)),
        (1, 65519.0, (0x7bff, NX), (0x7bff, NX)),
        (1, 65520.0, (0x7c00, OF_NX), (0x7bff, OF_NX)),
        (1, f32::NEG_INFINITY, (0xfc00, 0), (0xfbff, OF_NX)),
        (16, f32::MAX, (0x7f80, OF_NX), (0x7f7f, OF_NX)),
        (26, 448.0, (0x7e, 0), (0x7e, 0)),
        (26, 449.0, (0x7f, OF_NX), (0x7e, OF_NX)),
        (26, -449.0, (0x7f, OF_NX), (0xfe, OF_NX)),
        (26, f32::NEG_INFINITY, (0x7f, OF_NX), (0xfe, OF_NX)),
        (25, 32768.0, (0x6e, 0), (0x6e, 0)),
        (25, 32770.0, (0x6f, OF_NX), (0x6e, OF_NX)),
        (25, -40000.0, (0xef, OF_NX), (0xee, OF_NX)),
        (25, f32::INFINITY, (0x6f, 0), (0x6e, OF_NX)),
        (
            27,
            f32::NEG_INFINITY,
            (0xff80_0000, 0),
            (0xff7f_ffff, OF_NX),
        ),
    ];
    for &(code, p, plain, saturated) in cases {
        for (saturate, expected) in [(false, plain), (true, saturated)] {
            let to = Conversion::new(mode(code), DataType::Fp32, Rounding::NearestEven, saturate);
            let found = to.apply(u64::from(p.to_bits()), DataType::Fp32, &power(0));
            assert_eq!(found, expected, "mode {code} of {p}, sat {saturate}");
        }
    }
    let nans = [
        (1, 0x7e00),
        (16, 0x7fc0),
        (25, 0x80),
        (26, 0x7f),
        (27, 0x7fc0_0000),
    ];
    for (code, canonical) in nans {
        for (nan, nv) in [(0x7fc0_0001, 0), (0xffa0_0000, 1)] {
            for (saturate, word) in [(false, canonical), (true, 0)] {
                let rounding = Rounding::NearestEven;
                let to = Conversion::new(mode(code), DataType::Fp32, rounding, saturate);
                let found = to.apply(nan, DataType::Fp32, &power(0));
                assert_eq!(found, (word, nv), "mode {code}");
            }
        }
    }
}

#[test]
fn nan_and_infinity_to_integers() {
    for saturate in [false, true] {
        let to = Conversion::new(mode(24), DataType::Fp32, Rounding::NearestEven, saturate);
        let of = |word| to.apply(word, DataType::Fp32, &power(0));
        let minimum = -128i64 as u64;
        let expected = if saturate {
            [(0, 1), (127, OF_NX), (minimum, OF_NX)]
        } else {
            [(minimum, 1), (minimum, 1), (minimum, 1)]
        };
        assert_eq!(
            [of(0x7fc0_0000), of(0x7f80_0000), of(0xff80_0000)],
            expected
        );
    }
}

/// `numerator / 2^shift` rounded to a whole number, and whether that was inexact: floor division
/// and a look at the remainder.
fn round_ratio(numerator: i128, shift: u32, rounding: Rounding) -> (i128, bool) {
    let unit = 1i128 << shift;
    let (floor, rest) = (numerator.div_euclid(unit), numerator.rem_euclid(unit));
    if rest == 0 {
        return (floor, false);
    }
    let up = match rounding {
        Rounding::Down => false,
        Rounding::Up => true,
        Rounding::TowardZero => numerator < 0,
        Rounding::ToOdd => floor % 2 == 0,
        Rounding::NearestEven if 2 * rest == unit => floor % 2 != 0,
        Rounding::NearestAway if 2 * rest == unit => numerator > 0,
        Rounding::NearestUp if 2 * rest == unit => true,
        Rounding::NearestEven | Rounding::NearestAway | Rounding::NearestUp => 2 * rest > unit,
    };
    (floor + i128::from(up), true)
}

fn rounding() -> impl Strategy<Value = Rounding> {
    proptest::sample::select(Rounding::ALL.to_vec())
}

proptest! {
    /// Affine modes of an S32 accumulator, with and without activation.
    #[test]
    fn affine_is_exact_arithmetic_on_ratios(
        p in prop_oneof![any::<i32>(), -300..300i32],
        fraction in 0..1024u64,
        exponent in 100..150u64,
        offset in any::<i64>(),
        factor in proptest::option::of((0..1024u64, 100..150u64)),
        (code, bits, width) in proptest::sample::select(vec![(3u8, 9, 8), (17, 5, 4), (19, 17, 16)]),
        rounding in rounding(),
        saturate in any::<bool>(),
    ) {
        let offset = (offset << (64 - bits)) >> (64 - bits);
        let word = exponent << 23 | fraction << 13 | (offset as u64 & ((1 << bits) - 1)) << 37;
        let quantisation = Quantisation::parse(word, mode(code).conversion).unwrap();
        let negative_factor = factor.map(|(f, e)| modes::parse_relu_factor(e << 10 | f).unwrap());
        let to = Conversion::new(mode(code), DataType::S32, rounding, saturate);
        let column = Column { quantisation, negative_factor };
        let found = to.apply(u64::from(p as u32), DataType::S32, &column);

        let (fraction, exponent) = factor.filter(|_| p < 0).unwrap_or((fraction, exponent));
        let numerator = (i128::from(p) * i128::from(1024 + fraction)) << (exponent - 100);
        let (q, inexact) = round_ratio(numerator, 10 + 27, rounding);
        let half = 1i128 << (bits - 1);
        let y = q.clamp(-half, half - 1) + i128::from(offset);
        let (low, high) = (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1);
        let fits = (low..=high).contains(&y);
        let value = if saturate { y.clamp(low, high) } else { (y << (128 - width)) >> (128 - width) };
        let mut flags = if inexact { NX } else { 0 };
        if q != q.clamp(-half, half - 1) || !fits {
            flags |= OF_NX;
        }
        prop_assert_eq!(found, (value as i64 as u64, flags));
    }

    /// Mode 0 with an activation: the S32 result wraps, in the default rounding.
    #[test]
    fn activation_alone_wraps(
        p in any::<i32>(),
        fraction in 0..1024u64,
        exponent in 100..160u64,
    ) {
        let factor = modes::parse_relu_factor(exponent << 10 | fraction).unwrap();
        let to = Conversion::new(PreQuantMode::NONE, DataType::S32, Rounding::Up, true);
        let column = Column {
            quantisation: Quantisation::IDENTITY,
            negative_factor: Some(factor),
        };
        let (found, flags) = to.apply(u64::from(p as u32), DataType::S32, &column);
        if p >= 0 {
            prop_assert_eq!((found, flags), (p as u64, 0));
        } else {
            let numerator = (i128::from(p) * i128::from(1024 + fraction)) << (exponent - 100);
            let (q, inexact) = round_ratio(numerator, 10 + 27, Rounding::NearestEven);
            prop_assert_eq!(found as i64, i64::from(q as i32));
            let overflows = i128::from(q as i32) != q;
            let expected = if overflows { OF_NX } else if inexact { NX } else { 0 };
            prop_assert_eq!(flags, expected);
        }
    }

    /// Shifts are floor division, then saturation; nothing else matters.
    #[test]
    fn shift_is_floor_division(p in any::<i32>(), amount in 1..=16u64, relu in any::<bool>()) {
        let quantisation = Quantisation::parse((amount - 1) << 32, modes::Conversion::Shift).unwrap();
        let column = Column { quantisation, negative_factor: relu.then_some(0.0) };
        let to = Conversion::new(mode(13), DataType::S32, Rounding::NearestEven, false);
        let exact = i64::from(p).div_euclid(1 << amount);
        let clamped = exact.clamp(-32768, 32767);
        let flags = if clamped == exact { 0 } else { OF_NX };
        prop_assert_eq!(
            to.apply(u64::from(p as u32), DataType::S32, &column),
            (clamped as u64, flags)
        );
    }

    /// FP32 scaled to FP32: the significand, as a whole number, rounded to 24 bits.
    #[test]
    fn scaling_rounds_the_significand_once(
        significand in 1u64 << 23..1 << 24,
        e in -20..20i32,
        negative in any::<bool>(),
        fraction in 0..1024u64,
        rounding in rounding(),
    ) {
        let p = (significand as f32) * 2f32.powi(e);
        let p = if negative { -p } else { p };
        let quantisation = Quantisation::parse(127 << 23 | fraction << 13, modes::Conversion::Float);
        let column = Column { quantisation: quantisation.unwrap(), negative_factor: None };
        let to = Conversion::new(mode(27), DataType::Fp32, rounding, false);
        let (found, flags) = to.apply(u64::from(p.to_bits()), DataType::Fp32, &column);
        let exact = i128::from(significand) * i128::from(1024 + fraction);
        // 34 or 35 bits: keep 24.
        let dropped = 128 - exact.leading_zeros() - 24;
        let signed = if negative { -exact } else { exact };
        let (rounded, inexact) = round_ratio(signed, dropped, rounding);
        let value = rounded as f64 * 2f64.powi(dropped as i32 - 10 + e);
        prop_assert_eq!(f64::from(f32::from_bits(found as u32)), value);
        prop_assert_eq!(flags, if inexact { NX } else { 0 });
    }
}

/// The table of HiF8 that the walk stands on: the values the format's description names.
#[test]
fn hif8_anchors() {
    let value = |code| hif8::decode(code);
    assert_eq!(value(0x08), 1.0);
    assert_eq!(value(0x6e), 32768.0);
    assert_eq!(value(0x01), 2f64.powi(-22));
    assert!(value(0x6f).is_infinite() && value(0x80).is_nan());
}
