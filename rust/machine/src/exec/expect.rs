//! Expectations: a buffer against literal values.

use super::Machine;
use crate::code::types::sign_extend;
use crate::code::{ElementType, ExpectClose, ExpectEq, Tolerance};
use crate::memory::bits_of;
use crate::report::{Outcome, Report, SiteId};
use crate::trace::AccessKind;

/// Elements that are not as expected.
struct Mismatches {
    count: usize,
    total: usize,
    /// Position, expected and found bits of the first.
    first: Option<(usize, u64, u64)>,
}

impl Machine<'_> {
    pub(super) fn expect_eq(&mut self, expect: &ExpectEq, site: SiteId) -> Outcome<()> {
        let element = expect.element;
        let found = self.mismatches(expect, site, |expected, found| {
            element.same_value(expected, found)
        })?;
        let Some(first) = found.first else {
            return Ok(());
        };
        let message = format!("expected equal values: {}", describe(expect, &found, first));
        Err(Box::new(Report::failed("pto:expect-eq", site, message)))
    }

    pub(super) fn expect_close(&mut self, close: &ExpectClose, site: SiteId) -> Outcome<()> {
        let element = close.expect.element;
        let Tolerance::Ulp(limit) = close.tolerance;
        let found = self.mismatches(&close.expect, site, |expected, found| {
            element.same_value(expected, found) || ulp_distance(element, expected, found) <= limit
        })?;
        let Some(first) = found.first else {
            return Ok(());
        };
        let distance = ulp_distance(element, first.1, first.2);
        let message = format!(
            "expected values within {limit} ulp: {}, {distance} ulp apart",
            describe(&close.expect, &found, first)
        );
        Err(Box::new(Report::failed("pto:expect-close", site, message)))
    }

    fn mismatches(
        &mut self,
        expect: &ExpectEq,
        site: SiteId,
        is_as_expected: impl Fn(u64, u64) -> bool,
    ) -> Outcome<Mismatches> {
        self.begin_other(site);
        self.accesses(expect.view, AccessKind::Read);
        let view = self.view(expect.view).clone();
        if view.sizes()[..] != expect.sizes[..] {
            let message = format!("expects {:?} elements of {:?}", expect.sizes, view.sizes());
            return Err(Box::new(Report::failed("pto:shape", site, message)));
        }
        let element = self.memory.buffer(&view, site)?.element;
        if element.bytes() != expect.element.bytes() {
            let message = format!(
                "expects {} elements of a buffer of {element}",
                expect.element
            );
            return Err(Box::new(Report::failed("pto:element-type", site, message)));
        }
        self.charge_elements(view.len(), site)?;
        self.memory.read(&view, site, &mut self.packed)?;
        let width = element.bytes();
        let mut found = Mismatches {
            count: 0,
            total: self.packed.len() / width,
            first: None,
        };
        if self.packed[..] == expect.expected[..] {
            return Ok(found);
        }
        let is_splat = expect.expected.len() == width;
        for (at, chunk) in self.packed.chunks_exact(width).enumerate() {
            let start = if is_splat { 0 } else { at * width };
            let expected = bits_of(&expect.expected[start..start + width]);
            let actual = bits_of(chunk);
            if !is_as_expected(expected, actual) {
                found.count += 1;
                found.first = found.first.or(Some((at, expected, actual)));
            }
        }
        Ok(found)
    }
}

fn describe(
    expect: &ExpectEq,
    found: &Mismatches,
    (at, expected, actual): (usize, u64, u64),
) -> String {
    let mut rest = at as u64;
    let mut indices: Vec<u64> = expect
        .sizes
        .iter()
        .rev()
        .map(|&size| {
            let index = rest % size.max(1);
            rest /= size.max(1);
            index
        })
        .collect();
    indices.reverse();
    format!(
        "{} of {} elements differ, the first at {indices:?}: expected {}, found {}",
        found.count,
        found.total,
        expect.element.show(expected),
        expect.element.show(actual)
    )
}

/// Codes of `ty` from one value to the other, counting through zero; for integers the difference.
fn ulp_distance(ty: ElementType, left: u64, right: u64) -> u64 {
    if ty.is_nan(left) || ty.is_nan(right) {
        return u64::MAX;
    }
    match ty {
        ElementType::Int(width) => sign_extend(left, width).abs_diff(sign_extend(right, width)),
        ElementType::Uint(_) | ElementType::Index => left.abs_diff(right),
        ElementType::Float(_) | ElementType::F64 => {
            ordered_code(ty, left).abs_diff(ordered_code(ty, right))
        }
    }
}

/// A number that counts the codes of a float type upward from the most negative value; both zeros
/// are 0.
fn ordered_code(ty: ElementType, bits: u64) -> i64 {
    let sign = 1u64 << (8 * ty.bytes() - 1);
    let magnitude = (bits & (sign - 1)) as i64;
    if bits & sign == 0 {
        magnitude
    } else {
        -magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_codes() {
        let f32_type = ElementType::F32;
        let bits = |value: f32| u64::from(value.to_bits());
        assert_eq!(
            ulp_distance(f32_type, bits(1.0), bits(1.0).wrapping_add(3)),
            3
        );
        assert_eq!(ulp_distance(f32_type, bits(0.0), bits(-0.0)), 0);
        assert_eq!(ulp_distance(f32_type, 1, 0x8000_0001), 2);
        assert_eq!(ulp_distance(f32_type, bits(f32::NAN), bits(1.0)), u64::MAX);
        assert_eq!(ulp_distance(ElementType::BF16, 0x3f80, 0x3f7f), 1);
        assert_eq!(ulp_distance(ElementType::Int(8), 0xff, 1), 2);
    }
}
