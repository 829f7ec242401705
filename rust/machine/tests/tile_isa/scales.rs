//! MX operations: scale layouts of either revision, shares, transposes, HiF4.

use crate::builders::*;
use pto_machine::formats::Format;
use pto_machine::tile::core::Completion;
use pto_machine::tile::fields::DataAttributes;
use pto_machine::tile::{
    Arithmetic, DataType, Descriptor, Fault, Layout, Post, Revision, Rule, Tile,
};

fn issue(mut bench: Bench, revision: Revision) -> Result<Tile, Fault> {
    match bench.core.issue(&bench.block, revision, Arithmetic::Ieee)? {
        Completion::Done(registers) => {
            Ok(bench.core.register(registers[0]).expect("D").tile.clone())
        }
        Completion::NoEffect => panic!("no effect"),
    }
}

fn code(r: u32, c: u32) -> u64 {
    u64::from((r * 13 + c * 29) % 0x7f)
}

fn scale(line: u32, group: u32) -> u64 {
    u64::from(110 + (line * 5 + group * 11) % 30)
}

/// What D must be: products of scaled values rounded once, then summed in order.
fn reference(row: u32, column: u32, k: u32) -> u64 {
    let sum = (0..k).fold(0f32, |sum, l| {
        let a = Format::F8E4M3FN.decode(code(row, l) as u32);
        let b = Format::F8E4M3FN.decode(code(l, column) as u32);
        let exponent = (scale(row, l / 32) + scale(column, l / 32)) as i32 - 254;
        sum + (a * b * 2f64.powi(exponent)) as f32
    });
    u64::from(sum.to_bits())
}

fn expect_reference(d: &Tile, first_row: u32, k: u32) {
    let shape = d.descriptor();
    for r in 0..shape.valid_rows {
        for c in 0..shape.valid_columns {
            assert_eq!(d.get(r, c), Some(reference(first_row + r, c, k)), "{r},{c}");
        }
    }
}

const E4M3: DataType = DataType::E4M3;

/// All Local, with scales made by `scales`: the left one, then the right one.
fn local([m, n, k]: [u32; 3], scales: impl Fn(bool) -> Tile) -> Bench {
    Bench::new("TMATMUL_MX", E4M3, [m, n, k])
        .local(filled(cube(Layout::CubeM16, E4M3, m, k), code))
        .local(scales(true))
        .local(filled(cube(Layout::CubeN8, E4M3, k, n), code))
        .local(scales(false))
        .destination(3, cube(Layout::CubeM16, DataType::Fp32, m, n))
}

#[test]
fn local_scales_have_the_layout_of_the_revision() {
    let [m, n, k] = [5, 9, 70];
    let groups = 3;
    let columns = |left| {
        let lines = if left { m } else { n };
        filled(cube(Layout::CubeM32, DataType::E8M0, lines, groups), scale)
    };
    let rows = |left| {
        let (r, c) = if left { (m, groups) } else { (groups, n) };
        let d = Descriptor::row_major(DataType::E8M0, r, c, 0).fitted();
        filled(d, |r, c| if left { scale(r, c) } else { scale(c, r) })
    };
    let d = issue(local([m, n, k], columns), Revision::Seed).expect("legal");
    expect_reference(&d, 0, k);
    let d = issue(local([m, n, k], rows), Revision::Head).expect("legal");
    expect_reference(&d, 0, k);
    let rule = |bench, revision| issue(bench, revision).map_err(|f| f.rule).unwrap_err();
    assert_eq!(
        rule(local([m, n, k], rows), Revision::Seed),
        Rule::OperandLayout
    );
    assert_eq!(
        rule(local([m, n, k], columns), Revision::Head),
        Rule::OperandLayout
    );
}

#[test]
fn a_local_right_scale_has_at_most_32_columns() {
    let scales = |lines: u32| {
        let d = Descriptor::cube(Layout::CubeM32, DataType::E8M0, lines, 1, 128);
        move |left| match left {
            true => filled(Descriptor { valid_rows: 2, ..d }, scale),
            false => filled(d, scale),
        }
    };
    assert!(issue(local([2, 32, 8], scales(32)), Revision::Seed).is_ok());
    let fault = issue(local([2, 33, 8], scales(33)), Revision::Seed).unwrap_err();
    assert_eq!(fault.rule, Rule::OperandLayout);
}

#[test]
fn unit_scales_change_nothing() {
    let [m, n, k] = [4, 8, 64];
    let unit = |left| {
        let lines = if left { m } else { n };
        filled(cube(Layout::CubeM32, DataType::E8M0, lines, 2), |_, _| 127)
    };
    let plain = Bench::new("TMATMUL", E4M3, [m, n, k])
        .local(filled(cube(Layout::CubeM16, E4M3, m, k), code))
        .local(filled(cube(Layout::CubeN8, E4M3, k, n), code))
        .destination(3, cube(Layout::CubeM16, DataType::Fp32, m, n));
    let scaled = issue(local([m, n, k], unit), Revision::Seed).expect("legal");
    assert_eq!(scaled, issue(plain, Revision::Seed).expect("legal"));
}

/// Shared scales are stored like their side: transposed where it is.
#[test]
fn shared_scales_follow_the_transposes_and_the_shares() {
    let [group, n, k] = [40, 8, 64];
    let stored = |t, rows, columns, transposed: bool, word: fn(u32, u32) -> u64, swap: bool| {
        let (r, c) = if transposed {
            (columns, rows)
        } else {
            (rows, columns)
        };
        let d = Descriptor::row_major(t, r, c, 0).fitted();
        filled(d, move |r, c| {
            let (r, c) = if transposed { (c, r) } else { (r, c) };
            if swap { word(c, r) } else { word(r, c) }
        })
    };
    for (trans_a, trans_b) in [(false, false), (true, false), (false, true), (true, true)] {
        for element in 0..3 {
            let rows = [16, 16, 8][element as usize];
            let mut bench = Bench::new("TMATMUL_MX", E4M3, [group, n, k])
                .post(Post {
                    trans_a,
                    trans_b,
                    ..Post::default()
                })
                .shared(stored(E4M3, group, k, trans_a, code, false))
                .shared(stored(DataType::E8M0, group, 2, trans_a, scale, false))
                .shared(stored(E4M3, k, n, trans_b, code, false))
                .shared(stored(DataType::E8M0, 2, n, trans_b, scale, true))
                .destination(3, cube(Layout::CubeM16, DataType::Fp32, rows, n));
            bench.block.element = element;
            let d = issue(bench, Revision::Seed).expect("legal");
            assert_eq!(d.descriptor().valid_rows, rows);
            expect_reference(&d, element * 16, k);
        }
    }
}

/// In the published release a transpose is of the primary alone.
#[test]
fn released_scales_stay_in_logical_order() {
    let [m, n, k] = [4, 8, 64];
    let shared = |t, r, c| Descriptor::row_major(t, r, c, 0).fitted();
    let bench = Bench::new("TMATMUL_MX", E4M3, [m, n, k])
        .post(Post {
            trans_a: true,
            trans_b: true,
            ..Post::default()
        })
        .shared(filled(shared(E4M3, k, m), |r, c| code(c, r)))
        .shared(filled(shared(DataType::E8M0, m, 2), scale))
        .shared(filled(shared(E4M3, n, k), |r, c| code(c, r)))
        .shared(filled(shared(DataType::E8M0, 2, n), |r, c| scale(c, r)))
        .destination(3, cube(Layout::CubeM16, DataType::Fp32, m, n));
    expect_reference(&issue(bench, Revision::Head).expect("legal"), 0, k);
}

#[test]
fn hif4_has_groups_of_64_and_three_levels() {
    let k = 70;
    // Base 2^0; a doubling for elements 8..16 (level two) and 12..16 (level three).
    let word = 48 << 2 | 1 << 9 | 1 << 19;
    let factor = |l: u32| match l % 64 {
        12..16 => 4.0,
        8..12 => 2.0,
        _ => 1.0,
    };
    let t = DataType::HiF4X2;
    let scales = |d| filled(d, |_, _| word);
    let mut bench = Bench::new("TMATMUL_MX", t, [1, 1, k])
        .local(filled(cube(Layout::CubeM16, t, 1, k), |_, l| {
            u64::from(l % 16)
        }))
        .local(scales(cube(Layout::CubeM32, DataType::U32, 1, 2)))
        .local(filled(
            cube(Layout::CubeN8, DataType::Fp16, k, 1),
            |_, _| 0x3c00,
        ))
        .destination(3, cube(Layout::CubeM16, DataType::Fp32, 1, 1));
    bench.block.data = Some(DataAttributes {
        b_type: Some(DataType::Fp16),
        ..DataAttributes::default()
    });
    let head = bench
        .core
        .clone()
        .issue(&bench.block, Revision::Head, Arithmetic::Ieee);
    assert_eq!(head.map_err(|f| f.rule), Err(Rule::TypePair));
    let d = issue(bench, Revision::Seed).expect("legal");
    let expected: f32 = (0..k)
        .map(|l| {
            let magnitude = (l % 8) as f32 / 4.0;
            let value = if l % 16 < 8 { magnitude } else { -magnitude };
            value * factor(l)
        })
        .sum();
    assert_eq!(d.get(0, 0), Some(u64::from(expected.to_bits())));
}
