//! Numbers whose sums tell one order or rounding from another.

use super::*;
use crate::formats::Rounding;

/// One column of `w` against one of `x`, f32, from `cell`.
fn dot(w: &[f64], x: &[f64], cells: CellType, cell: u32, update: Update) -> u32 {
    let (w, x) = (
        Operand::of_values(ElementType::F32, 1, w),
        Operand::of_values(ElementType::F32, 1, x),
    );
    check(&w, &x, cells, &[cell], |_, _| update);
    let mut array = PeArray::new();
    load(&mut array, &w, &x, 0);
    let mut after = [cell];
    array
        .multiply(cells)
        .unwrap()
        .update_from(0, 0, &mut after, update);
    after[0]
}

#[test]
fn the_column_is_summed_before_the_cell_is_added() {
    // Added one by one, 1e8 + 4 + 4 stays 1e8: its neighbour is 8 away and ties go to even.
    let cell = 1e8f32.to_bits();
    let after = dot(&[2.0, 2.0], &[2.0, 2.0], CellType::F32, cell, Update::Add);
    assert_eq!(f32::from_bits(after), 1e8 + 8.0);
    let overwritten = dot(
        &[2.0, 2.0],
        &[2.0, 2.0],
        CellType::F32,
        cell,
        Update::Overwrite,
    );
    assert_eq!(f32::from_bits(overwritten), 8.0);
}

#[test]
fn k_ascends() {
    let ones = [1.0; 3];
    let forward = dot(
        &[1e30, -1e30, 1.0],
        &ones,
        CellType::F32,
        0,
        Update::Overwrite,
    );
    assert_eq!(f32::from_bits(forward), 1.0);
    let backward = dot(
        &[1.0, -1e30, 1e30],
        &ones,
        CellType::F32,
        0,
        Update::Overwrite,
    );
    assert_eq!(f32::from_bits(backward), 0.0);
}

#[test]
fn a_bf16_cell_rounds_at_every_instruction() {
    let mut cell = Format::Bf16.encode_rne(255.0);
    for _ in 0..3 {
        cell = dot(&[1.0], &[1.0], CellType::Bf16, cell, Update::Add);
    }
    // 256 + 1 lies half way to 258 and the even neighbour is 256.
    assert_eq!(Format::Bf16.decode(cell), 256.0);
    let at_once = dot(&[1.0; 2], &[1.0; 2], CellType::Bf16, cell, Update::Add);
    assert_eq!(Format::Bf16.decode(at_once), 258.0);
}

#[test]
fn a_product_is_rounded_before_it_is_added() {
    // (1 + 2^-23)^2 = 1 + 2^-22 + 2^-46: a fused step would leave 2^-46 behind.
    let e = 1.0 + 2f64.powi(-23);
    let rounded = 1.0 + 2f64.powi(-22);
    let sum = dot(
        &[-rounded, e],
        &[1.0, e],
        CellType::F32,
        0,
        Update::Overwrite,
    );
    assert_eq!(sum, 0);
}

#[test]
fn signs_of_zero() {
    let minus_zero = (-0.0f32).to_bits();
    let add = |w: f64, x: f64, cell| dot(&[w], &[x], CellType::F32, cell, Update::Add);
    assert_eq!(add(-0.0, 1.0, minus_zero), 0, "p starts at +0.0");
    assert_eq!(add(0.0, 1.0, minus_zero), 0);
    let overwritten = dot(
        &[-0.0],
        &[1.0],
        CellType::F32,
        minus_zero,
        Update::Overwrite,
    );
    assert_eq!(overwritten, 0);
    let underflow = dot(&[-1e-30], &[1e-30], CellType::F32, minus_zero, Update::Add);
    assert_eq!(underflow, 0, "a product that underflows to -0 adds as -0");
}

#[test]
fn integers_wrap_and_stay_exact_at_any_depth() {
    let depth = 700;
    let w = Operand::new(ElementType::U8, 2, vec![255; 2 * depth]);
    let x = Operand::new(ElementType::U8, 3, vec![255; 3 * depth]);
    check(&w, &x, CellType::I32, &[i32::MAX as u32; 6], |m, _| {
        update_of(m == 0)
    });
    let x = Operand::new(ElementType::I8, 3, vec![0x80; 3 * depth]);
    check(&w, &x, CellType::I32, &[i32::MIN as u32; 6], |m, _| {
        update_of(m == 0)
    });
}

#[test]
fn the_rounding_of_bf16_cells_is_that_of_the_format() {
    for bits in (0..=u32::MAX).step_by(65_521) {
        // The sum of a column is never -0.
        let sum = 0.0 + f32::from_bits(bits);
        if sum.is_nan() {
            continue;
        }
        let overflow = crate::formats::Overflow::ToInfinity;
        let expected = Format::Bf16.encode(f64::from(sum), Rounding::NearestEven, overflow);
        let x = Operand::new(ElementType::F32, 1, vec![bits]);
        let w = Operand::of_values(ElementType::F32, 1, &[1.0]);
        let mut array = PeArray::portable();
        load(&mut array, &w, &x, 0);
        let mut cell = [0];
        let sums = array.multiply(CellType::Bf16).unwrap();
        sums.update_from(0, 0, &mut cell, Update::Overwrite);
        assert_eq!(cell[0], expected.code, "{sum:e}");
    }
}
