//! The sweep of clusters gives the components of the rule as it is written down.

#[path = "../benches/support/all_pairs.rs"]
mod all_pairs;

use pto_ir::{Interval, Target};
use pto_passes::legalize_acc::clusters::{Extent, components};

fn draw(rng: &mut fastrand::Rng, target: &Target, time: u32) -> Extent {
    let first = rng.u32(0..time);
    let bank = rng.u32(0..target.banks);
    let widest = if target.max_zero_region_code > 0 && rng.u32(0..4) == 0 {
        3
    } else {
        1
    };
    let end = (bank + rng.u32(1..widest + 1)).min(target.banks);
    Extent {
        first,
        last: if rng.u32(0..8) == 0 {
            u32::MAX
        } else {
            first + rng.u32(0..time / 4)
        },
        banks: Interval::new(bank, end),
        strips: rng.u8(1..16),
    }
}

#[test]
fn equal_to_all_pairs() {
    for name in ["trn2", "trn3"] {
        let target = Target::from_name(name).expect("a target");
        let mut several = 0;
        for seed in 0..4_000 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (count, time) = (rng.usize(0..40), rng.u32(8..400));
            let objects: Vec<Extent> = (0..count).map(|_| draw(&mut rng, target, time)).collect();
            let found = components(objects.clone(), target);
            assert_eq!(
                found,
                all_pairs::components(&objects, target),
                "{name} {seed}: {objects:?}"
            );
            several += u32::from(found.extents.len() > 2);
        }
        assert!(several > 1_000, "most programs have several clusters");
    }
}

#[test]
fn small_worlds_completely() {
    // All triples of boxes over two times, two banks and two strips.
    let target = Target::from_name("trn3").expect("a target");
    let mut boxes = Vec::new();
    for (first, last) in [(0, 0), (1, 1), (0, 1)] {
        for banks in [(0, 1), (1, 2), (0, 2)] {
            for strips in 1..4 {
                boxes.push(Extent {
                    first,
                    last,
                    banks: Interval::new(banks.0, banks.1),
                    strips,
                });
            }
        }
    }
    for a in &boxes {
        for b in &boxes {
            for c in &boxes {
                let objects = [*a, *b, *c];
                assert_eq!(
                    components(objects.to_vec(), target),
                    all_pairs::components(&objects, target),
                    "{objects:?}"
                );
            }
        }
    }
}

#[test]
fn folding_again_reaches_back_in_time() {
    // c joins b only through the merged window and time of a and b.
    let target = Target::from_name("trn3").expect("a target");
    let object = |first, last, banks: (u32, u32)| Extent {
        first,
        last,
        banks: Interval::new(banks.0, banks.1),
        strips: 1,
    };
    let objects = [
        object(0, 4, (3, 4)),
        object(1, 9, (0, 1)),
        object(6, 8, (1, 3)),
        object(20, 21, (0, 1)),
    ];
    let found = components(objects.to_vec(), target);
    assert_eq!(found.of, [0, 0, 0, 1]);
    assert_eq!(found.extents[0].banks, Interval::new(0, 4));
}
