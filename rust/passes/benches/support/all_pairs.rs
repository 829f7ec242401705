//! The rule of clusters as it is written down: compare all pairs, join, fold, until nothing changes.
//! Slow and plain; the reference for tests and the peer of the bench.

use pto_ir::{Interval, Target};
use pto_passes::legalize_acc::clusters::{Components, Extent, window_banks};

/// The components of `objects`, by their first object.
pub(crate) fn components(objects: &[Extent], target: &Target) -> Components {
    let mut boxes: Vec<(Extent, Vec<usize>)> = objects
        .iter()
        .enumerate()
        .map(|(index, object)| {
            let banks = window_banks(object.banks, target);
            (Extent { banks, ..*object }, vec![index])
        })
        .collect();
    while join_what_meets(&mut boxes, target) {}
    boxes
        .iter_mut()
        .for_each(|(_, members)| members.sort_unstable());
    boxes.sort_by_key(|(_, members)| members[0]);
    let mut result = Components {
        of: vec![0; objects.len()],
        extents: Vec::new(),
    };
    for (extent, members) in boxes {
        for member in members {
            result.of[member] = result.extents.len() as u32;
        }
        result.extents.push(extent);
    }
    result
}

/// One comparison of all pairs; whether anything was joined.
fn join_what_meets(boxes: &mut Vec<(Extent, Vec<usize>)>, target: &Target) -> bool {
    let before = boxes.len();
    let mut left = 0;
    while left < boxes.len() {
        let mut right = left + 1;
        while right < boxes.len() {
            let (a, b) = (boxes[left].0, boxes[right].0);
            if !meets(&a, &b) {
                right += 1;
                continue;
            }
            let (_, members) = boxes.swap_remove(right);
            boxes[left].1.extend(members);
            boxes[left].0 = Extent {
                first: a.first.min(b.first),
                last: a.last.max(b.last),
                banks: window_banks(a.banks.hull(b.banks), target),
                strips: a.strips | b.strips,
            };
        }
        left += 1;
    }
    boxes.len() < before
}

fn meets(a: &Extent, b: &Extent) -> bool {
    a.first <= b.last
        && b.first <= a.last
        && Interval::overlaps(a.banks, b.banks)
        && a.strips & b.strips != 0
}
