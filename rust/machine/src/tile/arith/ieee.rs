//! Numeric arithmetic: every product and every sum is rounded once, to FP32; integers wrap.
//!
//! `p = round(value(a) * value(b)); s = round(s + p)`, with two roundings a step. Subnormals are
//! kept. A sum that is exactly zero is +0, even (-0) + (-0); a product that rounds to zero keeps
//! its sign, which no later sum can see. NaN and infinity go the IEEE way and NaN results are the
//! canonical 0x7fc00000. An MX side is the exact `value * 2^(scale - 127)`, so that a product of
//! two scaled sides is still rounded once.
//!
//! For round-to-nearest-even without saturation the machine's own f32 arithmetic does all that,
//! but for the sign of zero and the NaN payload, which are put right once at the end: a zero sum
//! adds to anything but zero as if it had no sign. Other controls take the exact product or
//! sum in f64 and round it with the format encoder.

use super::{Product, ScalePlane, StepControl, accumulate, decode, kernel};
use crate::formats::{Format, Overflow, Rounding, add_to_odd};
use crate::tile::mx;
use crate::tile::types::DataType;

/// The canonical quiet NaN of FP32.
pub const NAN: u32 = 0x7fc0_0000;

/// The m x n carrier words of the product: FP32 and U32 zero-extended, S32 sign-extended.
pub fn multiply(p: &Product<'_>) -> Vec<u64> {
    match p.accumulator {
        DataType::Fp32 => multiply_floats(p),
        _ => multiply_integers(p),
    }
}

fn multiply_integers(p: &Product<'_>) -> Vec<u64> {
    let a = decode::integers(&p.a, p.a_type);
    let b = decode::integers(&p.b, p.b_type);
    let accumulators = |words: &[u64]| decode::integers(words, p.accumulator);
    let mut sums =
        p.c.as_ref()
            .map_or_else(|| vec![0; p.m * p.n], |c| accumulators(c));
    accumulate((p.m, p.n, p.k), &a, &b, &mut sums, |s: u32, x: u32, y| {
        s.wrapping_add(x.wrapping_mul(y))
    });
    if let Some(bias) = p.bias.map(accumulators) {
        for row in sums.chunks_exact_mut(p.n) {
            for (s, &b) in row.iter_mut().zip(&bias) {
                *s = s.wrapping_add(b);
            }
        }
    }
    let carrier = |s| p.accumulator.carrier(u64::from(s));
    sums.into_iter().map(carrier).collect()
}

fn multiply_floats(p: &Product<'_>) -> Vec<u64> {
    let shape = (p.m, p.n, p.k);
    let mut sums = p.c.as_ref().map_or_else(
        || vec![0.0; p.m * p.n],
        |c| decode::floats(c, DataType::Fp32),
    );
    let is_scaled = p.a_scales.is_some() || p.b_scales.is_some();
    if is_scaled {
        let a = scaled(&p.a, p.a_type, p.a_scales.as_ref());
        let b = scaled(&p.b, p.b_type, p.b_scales.as_ref());
        accumulate(shape, &a, &b, &mut sums, |s: f32, x: f64, y| {
            s + (x * y) as f32
        });
    } else {
        let a = decode::floats(&p.a, p.a_type);
        let b = decode::floats(&p.b, p.b_type);
        if p.control == StepControl::DEFAULT {
            let is_exact = has_exact_products(p.a_type) && has_exact_products(p.b_type);
            accumulate_blocks(shape, a, b, &mut sums, is_exact);
        } else {
            let control = p.control;
            accumulate(shape, &a, &b, &mut sums, |s, x, y| {
                controlled_step(s, x, y, control)
            });
        }
    }
    if let Some(bias) = p.bias {
        let bias = decode::floats(bias, DataType::Fp32);
        for row in sums.chunks_exact_mut(p.n) {
            for (s, &b) in row.iter_mut().zip(&bias) {
                *s += b;
            }
        }
    }
    sums.into_iter().map(|s| u64::from(canonical(s))).collect()
}

/// Whether two values of this type, or of another such, have a product that FP32 holds: at most 11
/// bits of significand each, and no exponent beyond those of FP16 or HiF8.
fn has_exact_products(data_type: DataType) -> bool {
    !matches!(
        data_type,
        DataType::Fp32 | DataType::Tf32 | DataType::Hf32 | DataType::Bf16
    )
}

/// The k loop by register blocks: planes are filled up with zeros to whole ones where they are not.
fn accumulate_blocks(
    (m, n, k): (usize, usize, usize),
    a: Vec<f32>,
    b: Vec<f32>,
    sums: &mut Vec<f32>,
    is_exact: bool,
) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    let height = m.next_multiple_of(kernel::ROWS);
    let width = n.next_multiple_of(kernel::COLUMNS);
    let a = padded(a, (m, k), (height, k));
    let b = padded(b, (k, n), (k, width));
    let mut held = padded(std::mem::take(sums), (m, n), (height, width));
    kernel::Kernel {
        a: &a,
        b: &b,
        sums: &mut held,
        depth: k,
        width,
        is_exact,
    }
    .run();
    *sums = if n == width {
        held.truncate(m * n);
        held
    } else {
        held.chunks_exact(width)
            .take(m)
            .flat_map(|row| &row[..n])
            .copied()
            .collect()
    };
}

/// A row-major plane with zeros added below and to the right.
fn padded(
    mut plane: Vec<f32>,
    (rows, columns): (usize, usize),
    (height, width): (usize, usize),
) -> Vec<f32> {
    if columns == width {
        plane.resize(height * width, 0.0);
        return plane;
    }
    let mut out = vec![0.0; height * width];
    let filled = out.chunks_exact_mut(width).take(rows);
    for (to, from) in filled.zip(plane.chunks_exact(columns)) {
        to[..columns].copy_from_slice(from);
    }
    out
}

/// The word of a finished sum: zero is +0 and NaN the canonical one.
fn canonical(sum: f32) -> u32 {
    if sum.is_nan() {
        NAN
    } else {
        (sum + 0.0).to_bits()
    }
}

/// The exact values of a side that may be scaled. A significand has at most 11 bits here and an
/// exponent stays within +-300, so f64 holds each, and the product of two, without rounding.
fn scaled(words: &[u64], data_type: DataType, scales: Option<&ScalePlane>) -> Vec<f64> {
    let values = decode::floats(words, data_type).into_iter().map(f64::from);
    match scales {
        None => values.collect(),
        Some(plane) => values
            .zip(plane.words.iter().zip(&plane.lanes))
            .map(|(v, (&scale, &lane))| v * mx::scale_value(scale, lane, plane.scale_type))
            .collect(),
    }
}

/// One step in a rounding mode other than the machine's, or with saturation. The product of two
/// f32 values is exact in f64; their sum is taken rounded to odd, which rounds on without harm.
fn controlled_step(sum: f32, a: f32, b: f32, control: StepControl) -> f32 {
    let product = round(f64::from(a) * f64::from(b), control);
    let (s, p) = (f64::from(sum), f64::from(product));
    let exact = if s.is_finite() && p.is_finite() {
        add_to_odd(s, p)
    } else {
        s + p
    };
    round(exact, control)
}

/// Rounds an exact value to FP32. An infinity stays one: only finite values overflow.
fn round(value: f64, control: StepControl) -> f32 {
    if value.is_infinite() || value == 0.0 {
        return (value + 0.0) as f32;
    }
    let code = Format::F32
        .encode(value, control.rounding, control.overflow)
        .code;
    f32::from_bits(code)
}

/// The accumulator scaled down: `c * 2^-exponent`, rounded to nearest even, and whether that was
/// inexact (which it only is where the result is subnormal or zero). NaN, infinities and zeros
/// pass bit for bit.
pub fn scale_accumulator(word: u64, exponent: u8) -> (u64, bool) {
    let value = f32::from_bits(word as u32);
    if !value.is_finite() || value == 0.0 {
        return (word, false);
    }
    let scale = f64::from_bits((1023 - u64::from(exponent)) << 52);
    let encoded = Format::F32.encode(
        f64::from(value) * scale,
        Rounding::NearestEven,
        Overflow::ToInfinity,
    );
    (u64::from(encoded.code), encoded.inexact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign_and_nan_no_payload() {
        assert_eq!(canonical(-0.0), 0);
        assert_eq!(canonical(f32::from_bits(0xffc0_1234)), NAN);
        assert_eq!(canonical(f32::NEG_INFINITY), 0xff80_0000);
    }

    #[test]
    fn controls_act_on_both_roundings() {
        let step = |rounding, s, a, b| {
            controlled_step(
                s,
                a,
                b,
                StepControl {
                    rounding,
                    overflow: Overflow::ToInfinity,
                },
            )
        };
        let tiny = f32::from_bits(1);
        assert_eq!(step(Rounding::Up, 1.0, tiny, tiny), 1.0 + f32::EPSILON);
        assert_eq!(step(Rounding::TowardZero, 1.0, tiny, tiny), 1.0);
        assert_eq!(
            step(Rounding::Down, 1.0, -tiny, tiny).to_bits(),
            1.0f32.to_bits() - 1
        );
        assert_eq!(step(Rounding::Down, 1.0, -1.0, 1.0).to_bits(), 0);
        let saturating = StepControl {
            rounding: Rounding::NearestEven,
            overflow: Overflow::Saturate,
        };
        assert_eq!(controlled_step(1.0, f32::MAX, 2.0, saturating), f32::MAX);
        assert_eq!(
            controlled_step(f32::INFINITY, 1.0, 1.0, saturating),
            f32::INFINITY
        );
        assert!(controlled_step(f32::INFINITY, f32::NEG_INFINITY, 1.0, saturating).is_nan());
    }

    #[test]
    fn scaling_down_rounds_only_below_the_normals() {
        assert_eq!(scale_accumulator(0x3f80_0000, 0), (0x3f80_0000, false));
        assert_eq!(scale_accumulator(0x3f80_0000, 126), (0x0080_0000, false));
        assert_eq!(scale_accumulator(0x3f80_0001, 127), (0x0040_0000, true));
        assert_eq!(scale_accumulator(0xbf80_0000, 255), (0x8000_0000, true));
        assert_eq!(scale_accumulator(0x7fa0_0000, 9), (0x7fa0_0000, false));
        assert_eq!(scale_accumulator(0x8000_0000, 9), (0x8000_0000, false));
    }
}
