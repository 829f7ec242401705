//! Half-open intervals and canonical sets of them.

/// `start..end`, half open. Empty iff `start >= end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// First member.
    pub start: u32,
    /// One past the last member.
    pub end: u32,
}

impl Interval {
    /// The interval `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Number of members.
    pub const fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether it has no member.
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Whether the two share a member.
    pub const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end && !self.is_empty() && !other.is_empty()
    }

    /// Whether every member of `other` is a member of `self`.
    pub const fn covers(self, other: Self) -> bool {
        other.is_empty() || (self.start <= other.start && other.end <= self.end)
    }

    /// Whether `point` is a member.
    pub const fn contains(self, point: u32) -> bool {
        self.start <= point && point < self.end
    }

    /// The common members (possibly empty).
    pub fn intersection(self, other: Self) -> Self {
        Self::new(self.start.max(other.start), self.end.min(other.end))
    }

    /// The smallest interval that covers both.
    pub fn hull(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The interval moved up by `by`.
    pub const fn shifted(self, by: u32) -> Self {
        Self::new(self.start + by, self.end + by)
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A set of integers as sorted, disjoint, non-adjacent, non-empty intervals: equal sets compare equal.
///
/// ```
/// use pto_ir::{Interval, IntervalSet};
///
/// let set = IntervalSet::from_spans(vec![Interval::new(4, 8), Interval::new(0, 4), Interval::new(16, 20)]);
/// assert_eq!(set.spans(), [Interval::new(0, 8), Interval::new(16, 20)]);
/// assert_eq!(set.len(), 12);
/// assert!(set.covers(&IntervalSet::from_spans(vec![Interval::new(2, 6)])));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IntervalSet {
    spans: Vec<Interval>,
}

impl IntervalSet {
    /// The empty set.
    pub const fn new() -> Self {
        Self { spans: Vec::new() }
    }

    /// The set of the members of `spans`, in any order, overlapping or not.
    pub fn from_spans(mut spans: Vec<Interval>) -> Self {
        spans.retain(|span| !span.is_empty());
        spans.sort_unstable();
        let mut merged: Vec<Interval> = Vec::with_capacity(spans.len());
        for span in spans {
            match merged.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                _ => merged.push(span),
            }
        }
        Self { spans: merged }
    }

    /// The intervals, ascending.
    pub fn spans(&self) -> &[Interval] {
        &self.spans
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Number of members.
    pub fn len(&self) -> u64 {
        self.spans.iter().map(|span| u64::from(span.len())).sum()
    }

    /// Whether the two sets share a member.
    pub fn overlaps(&self, other: &Self) -> bool {
        spans_overlap(&self.spans, &other.spans)
    }

    /// Whether every member of `other` is a member of `self`.
    pub fn covers(&self, other: &Self) -> bool {
        let mut own = self.spans.iter();
        let mut current = own.next();
        'outer: for span in &other.spans {
            while let Some(candidate) = current {
                if candidate.end >= span.end {
                    if candidate.start > span.start {
                        return false;
                    }
                    continue 'outer;
                }
                current = own.next();
            }
            return false;
        }
        true
    }
}

impl FromIterator<Interval> for IntervalSet {
    fn from_iter<I: IntoIterator<Item = Interval>>(iter: I) -> Self {
        Self::from_spans(iter.into_iter().collect())
    }
}

/// Whether two ascending lists of disjoint intervals share a member.
pub fn spans_overlap(left: &[Interval], right: &[Interval]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        if left[i].overlaps(right[j]) {
            return true;
        }
        if left[i].end <= right[j].end {
            i += 1;
        } else {
            j += 1;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(spans: &[(u32, u32)]) -> IntervalSet {
        spans
            .iter()
            .map(|&(start, end)| Interval::new(start, end))
            .collect()
    }

    #[test]
    fn sets_are_canonical() {
        assert_eq!(set(&[(4, 8), (0, 4), (7, 9), (20, 20)]), set(&[(0, 9)]));
        assert_eq!(set(&[(0, 2), (3, 4)]).spans().len(), 2);
        assert_eq!(set(&[(0, 2), (3, 4)]).len(), 3);
    }

    #[test]
    fn overlap_and_cover_agree_with_membership() {
        // Every subset of 0..6 as a set, against every other: 64 x 64 pairs.
        let subset = |mask: u32| -> IntervalSet {
            (0..6)
                .filter(|bit| mask >> bit & 1 == 1)
                .map(|b| Interval::new(b, b + 1))
                .collect()
        };
        for left in 0..64 {
            for right in 0..64 {
                assert_eq!(subset(left).overlaps(&subset(right)), left & right != 0);
                assert_eq!(subset(left).covers(&subset(right)), left & right == right);
            }
        }
    }
}
