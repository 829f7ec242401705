//! Where a fused multiply-add is said to be the two-rounding step, it is.

use super::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_fused_step_equals_two_roundings_where_ranges_say_so(
        left in prop::sample::select(ElementType::ALL.to_vec()),
        right in prop::sample::select(ElementType::ALL.to_vec()),
        words in any::<[u32; 2]>(),
        low in -160i32..130,
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
    // Exactly at the limits: a bf16 of exponent e has its least bit at e - 7, and is below 2^(e+1).
    let are_exact = |left: i32, right: i32| {
        let [left, right] = [left, right].map(|exponent| bf16_range(&[2f32.powi(exponent)]));
        Range::products_are_exact(left, right)
    };
    assert!(are_exact(-67, -68) && !are_exact(-68, -68));
    assert!(are_exact(63, 63) && !are_exact(63, 64));
    // A subnormal has its bits where the smallest normal has them.
    assert!(are_exact(-126, -9) && are_exact(-130, -9) && !are_exact(-130, -10));
    assert!(!Range::products_are_exact(
        ElementType::F32.range(&exact::Scan::<1>::new()),
        zeros
    ));
}
