//! The k loop against step-by-step references: numbers, words, block scales, shares of a group.

use crate::builders::*;
use proptest::prelude::*;
use pto_machine::formats::{Format, Rounding};
use pto_machine::tile::core::{Completion, Core};
use pto_machine::tile::fields::{DataAttributes, RMode, Scalars};
use pto_machine::tile::post::modes::PreQuantMode;
use pto_machine::tile::{Arithmetic, DataType, Descriptor, Layout, Post, Revision, Tile};

const NAN: u32 = 0x7fc0_0000;

/// Issues a block and returns its first destination.
fn run(bench: Bench, arithmetic: Arithmetic) -> Tile {
    let Bench {
        mut core, block, ..
    } = bench;
    result(&mut core, &block, arithmetic)
}

fn result(core: &mut Core, block: &pto_machine::tile::core::Block, arithmetic: Arithmetic) -> Tile {
    match core.issue(block, Revision::Seed, arithmetic) {
        Ok(Completion::Done(registers)) => core.register(registers[0]).expect("D").tile.clone(),
        other => panic!("{other:?}"),
    }
}

/// TMATMUL_ACC on a single row and column: `c`, then products of `a` and `b` in order.
fn chain(c: u32, a: &[u32], b: &[u32], types: (DataType, DataType)) -> Bench {
    let k = a.len() as u32;
    let tile = |d, words: &[u32]| {
        Tile::new(d, words.iter().map(|&w| u64::from(w)).collect()).expect("words")
    };
    let out = cube(Layout::CubeM16, DataType::Fp32, 1, 1);
    let mut bench = Bench::new("TMATMUL_ACC", types.0, [1, 1, k])
        .local(tile(out, &[c]))
        .local(tile(cube(Layout::CubeM16, types.0, 1, k), a))
        .local(tile(cube(Layout::CubeN8, types.1, k, 1), b))
        .destination(3, out);
    bench.block.data = Some(DataAttributes {
        b_type: Some(types.1),
        ..DataAttributes::default()
    });
    bench
}

fn chain_of(c: f32, a: &[f32], b: &[f32]) -> f32 {
    let bits = |x: &[f32]| x.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let bench = chain(
        c.to_bits(),
        &bits(a),
        &bits(b),
        (DataType::Fp32, DataType::Fp32),
    );
    f32::from_bits(run(bench, Arithmetic::Ieee).words()[0] as u32)
}

#[test]
fn the_accumulator_comes_first_and_every_step_rounds() {
    // 1e8 + 4 rounds back to 1e8 in FP32, twice; 1e8 + 8 would not.
    assert_eq!(chain_of(1e8, &[2.0, 2.0], &[2.0, 2.0]), 1e8);
    assert_eq!(chain_of(0.0, &[1e30, -1e30, 1.0], &[1.0; 3]), 1.0);
    assert_eq!(chain_of(0.0, &[1.0, 1e30, -1e30], &[1.0; 3]), 0.0);
    assert_eq!(chain_of(-0.0, &[-0.0], &[1.0]).to_bits(), 0);
    assert_eq!(chain_of(f32::MAX, &[f32::MAX], &[1.0]), f32::INFINITY);
    assert_eq!(
        chain_of(f32::INFINITY, &[f32::MAX, -1.0], &[2.0, f32::INFINITY]).to_bits(),
        NAN
    );
    // The product is rounded before it is added: a fused step would give 2^-24.
    let x = 1.0 + f32::EPSILON;
    assert_eq!(chain_of(-(x * x), &[x], &[x]), 0.0);
}

fn special() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => any::<f32>().prop_map(f32::to_bits),
        2 => (-30i32..30, any::<u32>()).prop_map(|(e, m)| ((e + 127) as u32) << 23 | m >> 9 | (m & 1) << 31),
        1 => proptest::sample::select(vec![
            0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 1, 0x8000_0001, 0x7f7f_ffff, 0x7fa0_0000, NAN,
        ]),
    ]
}

/// One step, written out on bits: two roundings by the machine, zero and NaN made canonical.
fn step(s: u32, a: u32, b: u32) -> u32 {
    let p = f32::from_bits(a) * f32::from_bits(b);
    let sum = f32::from_bits(s) + p;
    match sum {
        x if x.is_nan() => NAN,
        0.0 => 0,
        x => x.to_bits(),
    }
}

proptest! {
    #[test]
    fn steps_are_two_roundings(
        c in special(),
        terms in proptest::collection::vec((special(), special()), 1..40),
    ) {
        let (a, b): (Vec<u32>, Vec<u32>) = terms.iter().copied().unzip();
        let expected = terms.iter().fold(c, |s, &(x, y)| step(s, x, y));
        let found = run(chain(c, &a, &b, (DataType::Fp32, DataType::Fp32)), Arithmetic::Ieee);
        prop_assert_eq!(found.words(), [u64::from(expected)]);
    }

    /// Programmable modes let RMode into the loop: each step against whole numbers.
    #[test]
    fn directed_steps_round_whole_numbers(
        c in -(1i64 << 24)..1 << 24,
        terms in proptest::collection::vec((-(1i64 << 24)..1 << 24, -(1i64 << 24)..1 << 24), 1..6),
        code in 1..8u8,
    ) {
        let rounding = RMode::from_code(code).unwrap().rounding();
        let bits = |x: i64| (x as f32).to_bits();
        let (a, b): (Vec<u32>, Vec<u32>) = terms.iter().map(|&(x, y)| (bits(x), bits(y))).unzip();
        let mut bench = chain(bits(c), &a, &b, (DataType::Fp32, DataType::Fp32)).post(Post {
            pre_quant: PreQuantMode::from_code(27).unwrap(),
            ..Post::default()
        });
        bench.block.scalars = Some(Scalars {
            words: vec![Some(127 << 23)],
            has_foreign_selectors: false,
        });
        bench.block.data = Some(DataAttributes {
            rmode: RMode::from_code(code).unwrap(),
            ..DataAttributes::default()
        });
        let found = f32::from_bits(run(bench, Arithmetic::Ieee).words()[0] as u32);
        let expected = terms.iter().fold(i128::from(c), |s, &(x, y)| {
            let p = to_24_bits(i128::from(x) * i128::from(y), rounding);
            to_24_bits(s + p, rounding)
        });
        prop_assert_eq!(f64::from(found), expected as f64);
    }

    /// Integers wrap modulo 2^32 in numeric arithmetic and modulo 2^64 on words.
    #[test]
    fn integers_wrap(
        c in any::<i32>(),
        terms in proptest::collection::vec((any::<i16>(), any::<i16>()), 1..200),
    ) {
        let k = terms.len() as u32;
        let out = cube(Layout::CubeM32, DataType::S32, 1, 1);
        let word = |x: i64| x as u64;
        let bench = || Bench::new("TMATMUL_ACC", DataType::S16, [1, 1, k])
            .local(filled(out, |_, _| word(c.into())))
            .local(filled(cube(Layout::CubeM32, DataType::S16, 1, k), |_, j| word(terms[j as usize].0.into())))
            .local(filled(cube(Layout::CubeN8, DataType::S16, k, 1), |i, _| word(terms[i as usize].1.into())))
            .destination(3, out);
        let exact = terms.iter().fold(i128::from(c), |s, &(x, y)| s + i128::from(x) * i128::from(y));
        let numeric = run(bench(), Arithmetic::Ieee);
        let raw = run(bench(), Arithmetic::Raw);
        prop_assert_eq!(numeric.words(), [i64::from(exact as i32) as u64]);
        prop_assert_eq!(raw.words(), [exact as u64]);
    }

    /// Any words in any types: no panic, and raw arithmetic is what it says.
    #[test]
    fn small_formats_decode_exactly(
        a_type in proptest::sample::select(vec![
            DataType::HiF8, DataType::E4M3, DataType::E5M2, DataType::E3M2, DataType::E2M3,
            DataType::E2M1X2, DataType::E1M2X2, DataType::Fp16, DataType::Bf16,
        ]),
        pairs in proptest::collection::vec((any::<u16>(), any::<u16>()), 1..20),
    ) {
        let format = a_type.float_format().unwrap();
        let width = match a_type {
            DataType::E3M2 | DataType::E2M3 => 6,
            t => t.bits(),
        };
        let mask = (1u32 << width) - 1;
        let (a, b): (Vec<u32>, Vec<u32>) =
            pairs.iter().map(|&(x, y)| (u32::from(x) & mask, u32::from(y) & mask)).unzip();
        let value = |w: u32| (format.decode(w) as f32).to_bits();
        let expected = a.iter().zip(&b).fold(0, |s, (&x, &y)| step(s, value(x), value(y)));
        let found = run(chain(0, &a, &b, (a_type, a_type)), Arithmetic::Ieee);
        prop_assert_eq!(found.words(), [u64::from(expected)]);
    }

    /// Block scales: the product of the scaled values is rounded once.
    #[test]
    fn mx_scales_multiply_before_rounding(
        a in proptest::collection::vec(0..0x7fu64, 40),
        b in proptest::collection::vec(0..0x7bu64, 40),
        sa in proptest::collection::vec(90..160u64, 2),
        sb in proptest::collection::vec(90..160u64, 2),
    ) {
        let k = 40;
        let scale = |words: &[u64]| {
            filled(cube(Layout::CubeM32, DataType::E8M0, 1, 2), |_, g| words[g as usize])
        };
        let out = cube(Layout::CubeM16, DataType::Fp32, 1, 1);
        let mut bench = Bench::new("TMATMUL_MX", DataType::E4M3, [1, 1, k])
            .local(filled(cube(Layout::CubeM16, DataType::E4M3, 1, k), |_, j| a[j as usize]))
            .local(scale(&sa))
            .local(filled(cube(Layout::CubeN8, DataType::E5M2, k, 1), |i, _| b[i as usize]))
            .local(scale(&sb))
            .destination(3, out);
        bench.block.data = Some(DataAttributes {
            b_type: Some(DataType::E5M2),
            ..DataAttributes::default()
        });
        let mut sum = 0.0f32;
        for j in 0..k as usize {
            let x = Format::F8E4M3FN.decode(a[j] as u32);
            let y = Format::F8E5M2.decode(b[j] as u32);
            let exponent = sa[j / 32] as i32 + sb[j / 32] as i32 - 254;
            sum += (x * y * 2f64.powi(exponent)) as f32;
        }
        let found = run(bench, Arithmetic::Ieee);
        prop_assert_eq!(found.words(), [u64::from(sum.to_bits())]);
    }
}

/// The whole number with a 24-bit significand that `x` rounds to.
fn to_24_bits(x: i128, rounding: Rounding) -> i128 {
    let bits = 128 - x.unsigned_abs().leading_zeros();
    let Some(dropped) = bits.checked_sub(24).filter(|&d| d > 0) else {
        return x;
    };
    let unit = 1i128 << dropped;
    let (floor, rest) = (x.div_euclid(unit), x.rem_euclid(unit));
    let up = match rounding {
        _ if rest == 0 => false,
        Rounding::Down => false,
        Rounding::Up => true,
        Rounding::TowardZero => x < 0,
        Rounding::ToOdd => floor % 2 == 0,
        Rounding::NearestEven => 2 * rest > unit || (2 * rest == unit && floor % 2 != 0),
        Rounding::NearestAway => 2 * rest > unit || (2 * rest == unit && x > 0),
        Rounding::NearestUp => 2 * rest >= unit,
    };
    (floor + i128::from(up)) * unit
}

/// Four elements together compute what one would, whichever sides are Shared and however stored.
#[test]
fn the_shares_of_a_group_add_up() {
    let (n, k) = (8, 16);
    for group in [1u32, 16, 17, 48, 64, 65, 100, 128] {
        let each = if group <= 64 { 16 } else { 32 };
        let layout = if each == 16 {
            Layout::CubeM16
        } else {
            Layout::CubeM32
        };
        let shared = |t: DataType, r, c| Descriptor::row_major(t, r, c, 0).fitted();
        let stored = |rows, columns, transposed: bool| {
            let d = if transposed {
                (columns, rows)
            } else {
                (rows, columns)
            };
            filled(shared(DataType::Fp16, d.0, d.1), |r, c| {
                if transposed {
                    small_half(c, r)
                } else {
                    small_half(r, c)
                }
            })
        };
        let expected = |r: u32, c: u32| {
            let value = |r: u32, c: u32| ((r * 3 + c * 5) % 7) as f32;
            (0..k)
                .map(|l| value(r, l) * value(l, c))
                .sum::<f32>()
                .to_bits()
        };
        for (trans_a, trans_b) in [(false, false), (true, false), (false, true), (true, true)] {
            for both in [true, false] {
                let mut next = 0;
                for element in 0..4u32 {
                    let rows = group.saturating_sub(element * each).min(each);
                    let mut bench =
                        Bench::new("TMATMUL", DataType::Fp16, [group, n, k]).post(Post {
                            trans_a: trans_a && both,
                            trans_b,
                            ..Post::default()
                        });
                    if both {
                        bench = bench.shared(stored(group, k, trans_a));
                    } else if rows > 0 {
                        let a = cube(layout, DataType::Fp16, rows, k);
                        bench = bench.local(filled(a, |r, c| small_half(element * each + r, c)));
                    } else {
                        bench.block.sources.push(63);
                    }
                    bench = bench
                        .shared(stored(k, n, trans_b))
                        .destination(3, cube(layout, DataType::Fp32, rows.max(1), n));
                    bench.block.element = element;
                    let before = bench.core.clone();
                    let outcome = bench
                        .core
                        .issue(&bench.block, Revision::Seed, Arithmetic::Ieee);
                    if rows == 0 {
                        assert_eq!(outcome, Ok(Completion::NoEffect));
                        assert!(bench.core == before);
                        continue;
                    }
                    let Ok(Completion::Done(registers)) = outcome else {
                        panic!("group {group} element {element}: {outcome:?}");
                    };
                    let d = &bench.core.register(registers[0]).expect("D").tile;
                    // A layout chosen from the rows alone may be the narrower one.
                    assert_eq!(d.descriptor().valid_rows, rows);
                    for r in 0..rows {
                        for c in 0..n {
                            assert_eq!(d.get(r, c), Some(u64::from(expected(next + r, c))));
                        }
                    }
                    next += rows;
                }
                assert_eq!(next, group);
            }
        }
    }
}

/// C and the sources survive; D is the lowest free register of its hand, again and again.
#[test]
fn a_chain_of_accumulations_never_writes_a_source() {
    let Bench {
        mut core,
        mut block,
        ..
    } = accumulate();
    let sources: Vec<_> = (4..7).map(|n| core.register(n).cloned()).collect();
    let mut registers = Vec::new();
    for _ in 0..16 {
        match core.issue(&block, Revision::Seed, Arithmetic::Ieee) {
            Ok(Completion::Done(done)) => {
                registers.push(done[0]);
                block.sources[0] = done[0];
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(registers, (48..64).collect::<Vec<_>>());
    assert_eq!(
        sources,
        (4..7)
            .map(|n| core.register(n).cloned())
            .collect::<Vec<_>>()
    );
    let fault = core
        .issue(&block, Revision::Seed, Arithmetic::Ieee)
        .unwrap_err();
    assert_eq!(fault.tag(), "pto:tile-no-register");
    // C starts as the row number and every step adds the same product.
    let product = run(
        {
            let mut b = accumulate();
            b.block.function = 0;
            b.block.sources.remove(0);
            b
        },
        Arithmetic::Ieee,
    );
    let last = &core.register(63).expect("the last D").tile;
    for (r, c) in [(0, 0), (3, 5), (15, 7)] {
        let p = f32::from_bits(product.get(r, c).unwrap() as u32);
        let d = f32::from_bits(last.get(r, c).unwrap() as u32);
        assert_eq!(d, r as f32 + 16.0 * p);
    }
}

/// CScale divides the accumulator by powers of two before the loop.
#[test]
fn a_column_of_exponents_scales_the_accumulator() {
    let exponents = cube(Layout::CubeM32, DataType::U8, 16, 1);
    let bench = accumulate()
        .post(Post {
            c_scale: true,
            ..Post::default()
        })
        .local(filled(exponents, |r, _| u64::from(r)));
    let plain = run(
        {
            let mut b = accumulate();
            b.block.function = 0;
            b.block.sources.remove(0);
            b
        },
        Arithmetic::Ieee,
    );
    let scaled = run(bench, Arithmetic::Ieee);
    for r in 0..16u32 {
        let value = |t: &Tile| f32::from_bits(t.get(r, 2).unwrap() as u32);
        assert_eq!(
            value(&scaled),
            r as f32 * 2f32.powi(-(r as i32)) + value(&plain)
        );
    }
}

/// Sat reaches the k loop in modes of a fixed rounding too: the sum stops at the largest value, and
/// comes down from there.
#[test]
fn saturation_reaches_the_loop() {
    let max = f32::MAX.to_bits();
    let (a, b) = ([max, max | 0x8000_0000], [1f32.to_bits(); 2]);
    for (saturate, expected) in [(true, 0), (false, 0x7c00)] {
        let mut bench = chain(max, &a, &b, (DataType::Fp32, DataType::Fp32)).post(Post {
            pre_quant: PreQuantMode::from_code(1).unwrap(),
            ..Post::default()
        });
        bench.block.data = Some(DataAttributes {
            saturate,
            ..DataAttributes::default()
        });
        assert_eq!(run(bench, Arithmetic::Ieee).words(), [expected]);
    }
}

/// An inexact subnormal accumulator raises UF and NX; an exact one nothing.
#[test]
fn scaling_the_accumulator_raises_flags() {
    for (word, flags) in [(0x3f80_0000, 0), (0x3f80_0001, 0x18)] {
        let out = cube(Layout::CubeM16, DataType::Fp32, 1, 1);
        let mut bench = Bench::new("TMATMUL_ACC", DataType::Fp16, [1, 1, 1])
            .post(Post {
                c_scale: true,
                ..Post::default()
            })
            .local(filled(out, |_, _| word))
            .local(filled(
                cube(Layout::CubeM16, DataType::Fp16, 1, 1),
                |_, _| 0,
            ))
            .local(filled(cube(Layout::CubeN8, DataType::Fp16, 1, 1), |_, _| 0))
            .local(filled(cube(Layout::CubeM32, DataType::U8, 1, 1), |_, _| {
                130
            }))
            .destination(3, out);
        result(&mut bench.core, &bench.block, Arithmetic::Ieee);
        assert_eq!(bench.core.flags(), flags);
    }
}

/// MX steps round to nearest even whatever RMode says; RMode is the conversion's alone.
#[test]
fn mx_steps_ignore_the_rounding_mode() {
    let one = 0x3c00;
    let out = cube(Layout::CubeM16, DataType::Fp32, 1, 1);
    for (name, expected) in [("TMATMUL_MX_ACC", 1.0), ("TMATMUL_ACC", 1.0 + f32::EPSILON)] {
        let mut bench = Bench::new(name, DataType::Fp16, [1, 1, 1])
            .post(Post {
                pre_quant: PreQuantMode::from_code(27).unwrap(),
                ..Post::default()
            })
            .local(filled(out, |_, _| u64::from(1f32.to_bits())))
            .local(filled(
                cube(Layout::CubeM16, DataType::Fp16, 1, 1),
                |_, _| 1,
            ))
            .local(filled(
                cube(Layout::CubeN8, DataType::Fp16, 1, 1),
                |_, _| one,
            ))
            .destination(3, out);
        bench.block.scalars = Some(Scalars {
            words: vec![Some(127 << 23)],
            has_foreign_selectors: false,
        });
        bench.block.data = Some(DataAttributes {
            rmode: RMode::from_code(4).unwrap(),
            ..DataAttributes::default()
        });
        let found = f32::from_bits(run(bench, Arithmetic::Ieee).words()[0] as u32);
        assert_eq!(found, expected, "{name}");
    }
}
