//! The rule of clusters as it is written down: compare all pairs, join, fold, until nothing changes.
//! Slow and plain; the reference for tests and the peer of the bench.

use pto_ir::{Interval, Target};
use pto_passes::legalize_acc::clusters::{Components, Extent, window_banks};

/// The components of `objects`, by their first object.
pub fn components(objects: &[Extent], target: &Target) -> Components {
    let mut boxes: Vec<(Extent, Vec<usize>)> = objects
        .iter()
        .enumerate()
        .map(|(index, object)| {
            let banks = window_banks(object.banks, target);
            (Extent { banks, ..*object }, vec![index])
        })
        .collect();
    while let Some((left, right)) = first_meeting(&boxes) {
        let (other, members) = boxes.swap_remove(right);
        let (own, own_members) = &mut boxes[left];
        *own = Extent {
            first: own.first.min(other.first),
            last: own.last.max(other.last),
            banks: window_banks(own.banks.hull(other.banks), target),
            strips: own.strips | other.strips,
        };
        own_members.extend(members);
    }
    boxes.iter_mut().for_each(|(_, members)| members.sort_unstable());
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

fn first_meeting(boxes: &[(Extent, Vec<usize>)]) -> Option<(usize, usize)> {
    for (left, (a, _)) in boxes.iter().enumerate() {
        let meets = |(b, _): &(Extent, Vec<usize>)| {
            a.first <= b.last
                && b.first <= a.last
                && Interval::overlaps(a.banks, b.banks)
                && a.strips & b.strips != 0
        };
        if let Some(offset) = boxes[left + 1..].iter().position(meets) {
            return Some((left, left + 1 + offset));
        }
    }
    None
}
