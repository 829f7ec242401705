//! Operands of every pair of types, every small shape, and numbers of every sort.

use super::*;
use proptest::prelude::*;

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_type_and_shape_follows_the_definition((w, x, cells, before, overwrite) in any_case()) {
        let columns = x.columns;
        check(&w, &x, cells, &before, |m, n| update_of(overwrite[m * columns + n]));
    }
}
