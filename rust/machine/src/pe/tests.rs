//! Against the definition, written as the three plain loops it is.

use super::*;
use crate::formats::{Format, Rounding};
use proptest::prelude::*;

/// One operand as codes, K rows of `columns`, and the bytes that hold it.
struct Operand {
    element: ElementType,
    columns: usize,
    codes: Vec<u32>,
}

impl Operand {
    fn new(element: ElementType, columns: usize, codes: Vec<u32>) -> Self {
        Self {
            element,
            columns,
            codes,
        }
    }

    fn of_values(element: ElementType, columns: usize, values: &[f64]) -> Self {
        let format = element.format().unwrap();
        let codes = values.iter().map(|&v| format.encode_rne(v)).collect();
        Self::new(element, columns, codes)
    }

    fn rows(&self) -> usize {
        self.codes.len() / self.columns
    }

    /// The bytes of the operand, `gap` bytes between rows.
    fn bytes(&self, gap: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for row in self.codes.chunks_exact(self.columns) {
            for code in row {
                bytes.extend_from_slice(&code.to_le_bytes()[..self.element.bytes()]);
            }
            bytes.extend(std::iter::repeat_n(0xa5, gap));
        }
        bytes
    }

    fn float(&self, row: usize, column: usize) -> f32 {
        let format = self.element.format().unwrap();
        format.decode_f32(self.codes[row * self.columns + column])
    }

    fn integer(&self, row: usize, column: usize) -> i32 {
        let code = self.codes[row * self.columns + column] as u8;
        match self.element {
            ElementType::I8 => i32::from(code as i8),
            _ => i32::from(code),
        }
    }
}

/// The definition: two roundings a step, k ascending, the cell last.
fn reference_cell(
    w: &Operand,
    x: &Operand,
    (m, n): (usize, usize),
    cells: CellType,
    cell: u32,
    update: Update,
) -> u32 {
    let is_overwrite = update == Update::Overwrite;
    if cells == CellType::I32 {
        let products = (0..w.rows()).map(|k| w.integer(k, m) * x.integer(k, n));
        let sum = products.fold(0i32, i32::wrapping_add);
        let base = if is_overwrite { 0 } else { cell as i32 };
        return base.wrapping_add(sum) as u32;
    }
    let mut p = 0.0f32;
    for k in 0..w.rows() {
        let product = w.float(k, m) * x.float(k, n);
        p += product;
    }
    let decode = |cell| match cells {
        CellType::Bf16 => Format::Bf16.decode_f32(cell),
        _ => f32::from_bits(cell),
    };
    let sum = if is_overwrite { 0.0 } else { decode(cell) } + p;
    match cells {
        CellType::Bf16 => Format::Bf16.encode_rne(f64::from(sum)),
        _ => sum.to_bits(),
    }
}

fn is_nan(cells: CellType, cell: u32) -> bool {
    match cells {
        CellType::F32 => f32::from_bits(cell).is_nan(),
        CellType::Bf16 => Format::Bf16.decode(cell).is_nan(),
        CellType::I32 => false,
    }
}

fn load(array: &mut PeArray, w: &Operand, x: &Operand, gap: usize) {
    for (operand, is_stationary) in [(w, true), (x, false)] {
        let bytes = operand.bytes(gap);
        let size = operand.element.bytes();
        let rows = (operand.rows(), (operand.columns * size + gap) as isize);
        let columns = [(operand.columns, size as isize)];
        let view = View::new(&bytes, operand.element, 0, rows, &columns).unwrap();
        if is_stationary {
            array.load_stationary(&view);
        } else {
            array.load_moving(&view);
        }
    }
}

/// Runs both paths on `before`, M x N cells, cell (m, n) updated as `update` says.
fn check(
    w: &Operand,
    x: &Operand,
    cells: CellType,
    before: &[u32],
    update: impl Fn(usize, usize) -> Update,
) {
    for mut array in [PeArray::new(), PeArray::portable()] {
        load(&mut array, w, x, 3);
        let sums = array.multiply(cells).unwrap();
        assert_eq!((sums.rows(), sums.columns()), (w.columns, x.columns));
        for m in 0..w.columns {
            let row = &before[m * x.columns..(m + 1) * x.columns];
            let mut after = row.to_vec();
            for n in 0..x.columns {
                sums.update_from(m, n, &mut after[n..=n], update(m, n));
            }
            for n in 0..x.columns {
                let expected = reference_cell(w, x, (m, n), cells, row[n], update(m, n));
                let got = after[n];
                let are_both_nan = is_nan(cells, expected) && is_nan(cells, got);
                assert!(
                    expected == got || are_both_nan,
                    "{:?} x {:?} -> {cells:?} at ({m}, {n}): {got:#010x}, expected {expected:#010x}",
                    w.element,
                    x.element,
                );
            }
        }
    }
}

/// Small whole numbers, so sums are exact; ordinary numbers; or any bits at all.
fn any_code(element: ElementType) -> BoxedStrategy<u32> {
    let bits = 8 * element.bytes();
    let mask = u32::MAX >> (32 - bits);
    let any_bits = any::<u32>().prop_map(move |word| word & mask);
    match element.format() {
        None => any_bits.boxed(),
        Some(format) => prop_oneof![
            4 => (-8i32..=8).prop_map(move |v| format.encode_rne(f64::from(v))),
            4 => (-4.0f64..4.0).prop_map(move |v| format.encode_rne(v)),
            1 => prop::sample::select(vec![0.0, -0.0]).prop_map(move |v| format.encode_rne(v)),
            1 => any_bits,
        ]
        .boxed(),
    }
}

fn operand(element: ElementType, rows: usize, columns: usize) -> impl Strategy<Value = Operand> {
    // One distribution for most operands, so that whole operands stay finite now and then.
    let codes = prop_oneof![
        prop::collection::vec(any_code(element), rows * columns),
        prop::collection::vec(-4.0f64..4.0, rows * columns).prop_map(move |values| {
            let code = |v: &f64| match element.format() {
                Some(format) => format.encode_rne(*v),
                None => (*v * 32.0) as i32 as u32 & 0xff,
            };
            values.iter().map(code).collect()
        }),
    ];
    codes.prop_map(move |codes| Operand::new(element, columns, codes))
}

impl std::fmt::Debug for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            element, columns, ..
        } = self;
        write!(f, "{element:?} x{columns} {:x?}", self.codes)
    }
}

fn any_case() -> impl Strategy<Value = (Operand, Operand, CellType, Vec<u32>, Vec<bool>)> {
    let elements = prop::sample::select(ElementType::ALL.to_vec());
    let extents = (1usize..40, 1usize..20, 1usize..40);
    (elements.clone(), elements, extents, any::<bool>()).prop_flat_map(
        |(left, right, (k, m, n), is_bf16)| {
            let right = if left.is_integer() == right.is_integer() {
                right
            } else {
                left
            };
            let cells = match (left.is_integer(), is_bf16) {
                (true, _) => CellType::I32,
                (false, true) => CellType::Bf16,
                (false, false) => CellType::F32,
            };
            let mask = if is_bf16 { 0xffff } else { u32::MAX };
            let cell = prop_oneof![
                any::<u32>().prop_map(move |word| word & mask),
                (-100f32..100.0).prop_map(move |v| (v.to_bits() >> 16) & mask),
            ];
            (
                operand(left, k, m),
                operand(right, k, n),
                Just(cells),
                prop::collection::vec(cell, m * n),
                prop::collection::vec(any::<bool>(), m * n),
            )
        },
    )
}

fn update_of(is_overwrite: bool) -> Update {
    if is_overwrite {
        Update::Overwrite
    } else {
        Update::Add
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_type_and_shape_follows_the_definition((w, x, cells, before, overwrite) in any_case()) {
        let columns = x.columns;
        check(&w, &x, cells, &before, |m, n| update_of(overwrite[m * columns + n]));
    }

    #[test]
    fn a_fused_step_equals_two_roundings_where_ranges_say_so(
        left in prop::sample::select(ElementType::ALL.to_vec()),
        right in prop::sample::select(ElementType::ALL.to_vec()),
        words in any::<[u32; 2]>(),
        low in -160i32..20,
        addend in any::<u32>(),
        is_near in any::<bool>(),
    ) {
        prop_assume!(!left.is_integer() && !right.is_integer());
        // Exponents near the limits of the proof, or any at all.
        let value = |element: ElementType, word: u32| {
            let format = element.format().unwrap();
            let near = f64::from(word as i32) * 2f64.powi(low - 31);
            let code = if is_near { format.encode_rne(near) } else { word };
            format.decode_f32(code)
        };
        let (a, b) = (value(left, words[0]), value(right, words[1]));
        let (mut a_scan, mut b_scan) = (exact::Scan::new(), exact::Scan::new());
        a_scan.add(&[a]);
        b_scan.add(&[b]);
        if Range::products_are_exact(left.range(&a_scan), right.range(&b_scan)) {
            for p in [f32::from_bits(addend), 0.0, -0.0, a, -(a * b), (a * b).next_up()] {
                let (fused, stepped) = (a.mul_add(b, p), a * b + p);
                prop_assert!(
                    fused.to_bits() == stepped.to_bits() || fused.is_nan() && stepped.is_nan(),
                    "{left:?} {a:e} * {right:?} {b:e} + {p:e}"
                );
            }
        }
    }
}

#[test]
fn products_of_byte_formats_are_exact_without_exception() {
    let elements = [
        ElementType::F8E5M2,
        ElementType::F8E4M3FN,
        ElementType::F8E3M4,
    ];
    for left in elements {
        for right in elements {
            let unseen = exact::Scan::<1>::new();
            let (left_range, right_range) = (left.range(&unseen), right.range(&unseen));
            assert!(Range::products_are_exact(left_range, right_range));
            for code in 0..1u32 << 16 {
                let a = left.format().unwrap().decode(code & 0xff);
                let b = right.format().unwrap().decode(code >> 8);
                let product = a * b;
                assert!(product.is_nan() || f64::from(product as f32) == product);
            }
        }
    }
}

#[test]
fn products_of_halves_are_exact_at_their_extremes() {
    let extremes = |format: Format| {
        let codes = [1, 2, 3, 0x3ff, 0x400, 0x401, 0x7ff, 0x3bff, 0x3c01, 0x7bff];
        codes.map(|code| format.decode(code))
    };
    for a in extremes(Format::F16) {
        for b in extremes(Format::F16) {
            assert_eq!(f64::from((a * b) as f32), a * b);
        }
    }
    let range = ElementType::F16.range(&exact::Scan::<1>::new());
    assert!(Range::products_are_exact(range, range));
}

#[test]
fn products_of_bf16_are_fused_only_within_range() {
    let bf16_range = |values: &[f32]| {
        let mut scan = exact::Scan::new();
        values.iter().for_each(|&value| scan.add(&[value]));
        ElementType::Bf16.range(&scan)
    };
    let ordinary = bf16_range(&[0.0, -3.5, 1e-10, 7e18]);
    assert!(Range::products_are_exact(ordinary, ordinary));
    let zeros = bf16_range(&[0.0, -0.0]);
    assert!(Range::products_are_exact(zeros, ordinary));
    for values in [
        [1.0, 1e-30],
        [1.0, 1e20],
        [1e-40, 0.0],
        [1.0, f32::INFINITY],
    ] {
        let range = bf16_range(&values);
        assert!(!Range::products_are_exact(range, range), "{values:?}");
    }
    // Exactly at the limits: 2^-67 has its least bit at 2^-74 (bits below: 7), 2^63 is below 2^64.
    let limit = bf16_range(&[2f32.powi(-67), 2f32.powi(63)]);
    let beyond = bf16_range(&[2f32.powi(-68), 2f32.powi(63)]);
    assert!(Range::products_are_exact(limit, limit));
    assert!(!Range::products_are_exact(beyond, beyond));
    assert!(!Range::products_are_exact(
        ElementType::F32.range(&exact::Scan::<1>::new()),
        zeros
    ));
}

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
