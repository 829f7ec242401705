//! Operands in memory, their widening, and sums on their way to cells.

use super::*;

#[test]
fn every_code_of_every_type_widens_to_its_value() {
    for element in ElementType::ALL {
        let codes: Vec<u32> = match element.bytes() {
            4 => (0..1u32 << 16)
                .map(|i| i << 16 | i.reverse_bits() >> 16)
                .collect(),
            bytes => (0..1u32 << (8 * bytes)).collect(),
        };
        // One row times the number one: the sums are the values, but for the sign of zero.
        let one = match element.format() {
            Some(format) => format.encode_rne(1.0),
            None => 1,
        };
        let cells = match element.is_integer() {
            true => CellType::I32,
            false => CellType::F32,
        };
        let columns = codes.len();
        let w = Operand::new(element, 1, vec![one]);
        let x = Operand::new(element, columns, codes);
        check(&w, &x, cells, &vec![0; columns], |_, _| Update::Overwrite);
    }
}

#[test]
fn strides_and_nested_columns_pick_their_elements() {
    // A 3 x (2 x 4) operand out of 64 bytes: rows 20 apart, columns 10 and 2 apart, from byte 3.
    let bytes: Vec<u8> = (0..64).collect();
    let dims = [(2, 10), (4, 2)];
    let view = View::new(&bytes, ElementType::U8, 3, (3, 20), &dims).unwrap();
    let mut array = PeArray::new();
    array.load_moving(&view);
    let ones = [0, 1, 0u8];
    let unit = View::new(&ones, ElementType::U8, 0, (3, 1), &[]).unwrap();
    array.load_stationary(&unit);
    let sums = array.multiply(CellType::I32).unwrap();
    assert_eq!((sums.rows(), sums.columns()), (1, 8));
    let mut cells = [7; 8];
    sums.update_from(0, 0, &mut cells, Update::Overwrite);
    assert_eq!(cells, [23, 25, 27, 29, 33, 35, 37, 39]);
    // Backwards, and one row seen three times.
    let dims = [(4, -1)];
    let view = View::new(&bytes, ElementType::U8, 3, (3, 0), &dims).unwrap();
    array.load_moving(&view);
    let sums = array.multiply(CellType::I32).unwrap();
    let mut cells = [10; 4];
    sums.update_from(0, 0, &mut cells, Update::Add);
    assert_eq!(cells, [13, 12, 11, 10]);
}

#[test]
fn views_outside_their_bytes_are_refused() {
    let bytes = [0; 64];
    let view = |offset, rows, dims: &[(usize, isize)]| {
        View::new(&bytes, ElementType::F32, offset, rows, dims).err()
    };
    let outside = Some(ViewError::OutOfBounds);
    assert_eq!(view(0, (4, 16), &[(4, 4)]), None);
    assert_eq!(view(1, (4, 16), &[(4, 4)]), outside);
    assert_eq!(view(0, (5, 16), &[(4, 4)]), outside);
    assert_eq!(view(0, (2, -16), &[(4, 4)]), outside);
    assert_eq!(view(0, (2, isize::MAX), &[(2, isize::MAX)]), outside);
    assert_eq!(view(usize::MAX, (1, 0), &[(1, 0)]), outside);
    assert_eq!(
        view(0, (usize::MAX, 0), &[(1, 0)]),
        Some(ViewError::TooLarge)
    );
    assert_eq!(
        view(0, (1, 0), &[(1 << 40, 0), (1 << 40, 0)]),
        Some(ViewError::TooLarge)
    );
    assert_eq!(view(0, (1 << 24, 0), &[(1, 0)]), Some(ViewError::TooLarge));
    assert_eq!(view(0, (0, 1 << 40), &[(4, 4)]), None);
    assert_eq!(view(0, (4, 1 << 40), &[(0, 4)]), None);
}

#[test]
fn a_part_of_a_row_of_sums_goes_to_a_part_of_a_row_of_cells() {
    let mut array = PeArray::new();
    let w = Operand::of_values(ElementType::F32, 2, &[1.0, 10.0]);
    let x = Operand::of_values(ElementType::F32, 5, &[0.0, 1.0, 2.0, 3.0, 4.0]);
    load(&mut array, &w, &x, 0);
    let sums = array.multiply(CellType::F32).unwrap();
    let mut cells = [0.5f32.to_bits(); 5];
    sums.update_from(1, 3, &mut cells[..2], Update::Add);
    sums.update_from(0, 2, &mut cells[3..4], Update::Overwrite);
    let expected = [30.5f32, 40.5, 0.5, 2.0, 0.5].map(f32::to_bits);
    assert_eq!(cells, expected);
}

#[test]
fn empty_operands_sum_to_plus_zero() {
    let mut array = PeArray::new();
    let rows = View::new(&[], ElementType::F32, 0, (0, 0), &[(3, 4)]).unwrap();
    array.load_stationary(&rows);
    array.load_moving(&rows);
    let sums = array.multiply(CellType::F32).unwrap();
    let mut cells = [1f32.to_bits(); 3];
    sums.update_from(2, 0, &mut cells, Update::Overwrite);
    assert_eq!(cells, [0; 3]);
    let columns = View::new(&[], ElementType::F32, 0, (0, 0), &[(0, 4)]).unwrap();
    array.load_moving(&columns);
    assert_eq!(array.multiply(CellType::F32).unwrap().columns(), 0);
}

#[test]
fn operands_that_do_not_go_together_are_refused() {
    let view = |element, rows| View::new(&[0; 64], element, 0, (rows, 4), &[(1, 4)]).unwrap();
    let mut array = PeArray::new();
    array.load_stationary(&view(ElementType::F32, 3));
    array.load_moving(&view(ElementType::F32, 4));
    let error = array.multiply(CellType::F32).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the stationary operand has 3 rows, the moving operand 4"
    );
    let wide = [(1 << 20, 0)];
    let wide = View::new(&[0; 4], ElementType::F32, 0, (1, 0), &wide).unwrap();
    array.load_stationary(&wide);
    array.load_moving(&wide);
    let error = array.multiply(CellType::F32).unwrap_err();
    assert_eq!(error, PeError::TooLarge);
    array.load_stationary(&view(ElementType::F32, 3));
    array.load_moving(&view(ElementType::I8, 3));
    assert_eq!(
        array.multiply(CellType::F32).unwrap_err(),
        PeError::MixedOperands
    );
    array.load_moving(&view(ElementType::F32, 3));
    assert_eq!(array.multiply(CellType::I32).unwrap_err(), PeError::Cells);
    assert!(array.multiply(CellType::Bf16).is_ok());
}

#[test]
fn a_smaller_shape_sees_nothing_of_a_larger_one_before() {
    let mut array = PeArray::new();
    let ones = |k: usize, n: usize| Operand::of_values(ElementType::F16, n, &vec![1.0; k * n]);
    for (k, m, n) in [(33, 9, 40), (5, 3, 17), (1, 1, 1), (64, 4, 16)] {
        load(&mut array, &ones(k, m), &ones(k, n), 0);
        let sums = array.multiply(CellType::F32).unwrap();
        for row in 0..m {
            let mut cells = vec![0; n];
            sums.update_from(row, 0, &mut cells, Update::Overwrite);
            assert!(cells.iter().all(|&cell| f32::from_bits(cell) == k as f32));
        }
    }
}
