//! Views: which elements of a buffer a memref names, and in which order.

use pto_ir::Interval;
use smallvec::SmallVec;

use super::BufferId;
use crate::psum::Region;

/// A memref while it runs. Every element lies within the buffer: whoever makes a view checks that.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) buffer: BufferId,
    /// Number of the first element in the buffer.
    pub(crate) offset: i64,
    pub(crate) dims: SmallVec<[Dim; 4]>,
}

/// A dimension of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    pub(crate) size: u64,
    /// Elements of the buffer from one index to the next.
    pub(crate) stride: i64,
}

impl Clone for View {
    fn clone(&self) -> Self {
        Self {
            buffer: self.buffer,
            offset: self.offset,
            // A plain copy, where the derived one goes element by element.
            dims: SmallVec::from_slice(&self.dims),
        }
    }
}

impl View {
    /// A view of nothing: what a slot holds before it is set.
    pub(crate) fn unset() -> Self {
        Self {
            buffer: BufferId::NONE,
            offset: 0,
            dims: SmallVec::new(),
        }
    }

    /// All of a row-major buffer of `sizes`. `None`: more elements than can be counted.
    pub(crate) fn row_major(buffer: BufferId, sizes: &[u64]) -> Option<Self> {
        let mut dims: SmallVec<[Dim; 4]> =
            SmallVec::from_elem(Dim { size: 0, stride: 0 }, sizes.len());
        let mut stride = 1i64;
        for (dim, &size) in dims.iter_mut().zip(sizes).rev() {
            *dim = Dim { size, stride };
            // Without elements the strides do not matter, but they must exist.
            stride = stride.checked_mul(i64::try_from(size.max(1)).ok()?)?;
        }
        Some(Self {
            buffer,
            offset: 0,
            dims,
        })
    }

    /// The sizes.
    pub(crate) fn sizes(&self) -> SmallVec<[u64; 4]> {
        self.dims.iter().map(|dim| dim.size).collect()
    }

    /// The number of elements, saturating.
    pub(crate) fn len(&self) -> u64 {
        let mut len = 1u64;
        for dim in &self.dims {
            if dim.size == 0 {
                return 0;
            }
            len = len.saturating_mul(dim.size);
        }
        len
    }

    /// Element number `at` of the buffer alone.
    pub(crate) fn one(&self, at: usize) -> Self {
        Self {
            buffer: self.buffer,
            offset: at as i64,
            dims: SmallVec::new(),
        }
    }

    /// The lowest and the highest element number, if there are elements.
    pub(crate) fn extent(&self) -> Option<(i128, i128)> {
        let (mut low, mut high) = (i128::from(self.offset), i128::from(self.offset));
        for dim in &self.dims {
            if dim.size == 0 {
                return None;
            }
            let reach = i128::from(dim.size - 1).checked_mul(i128::from(dim.stride))?;
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
        }
        Some((low, high))
    }

    /// Whether every element lies in a buffer of `len` elements.
    pub(crate) fn is_within(&self, len: u64) -> bool {
        match self.extent() {
            Some((low, high)) => low >= 0 && high < i128::from(len),
            None => self.len() == 0,
        }
    }

    /// The number of the element at `indices`, or the first dimension whose index is out of range.
    pub(crate) fn element(&self, indices: impl IntoIterator<Item = i64>) -> Result<usize, usize> {
        let mut at = self.offset;
        for (number, (dim, index)) in self.dims.iter().zip(indices).enumerate() {
            if index < 0 || index as u64 >= dim.size {
                return Err(number);
            }
            at += index * dim.stride;
        }
        Ok(at as usize)
    }

    /// The elements in row-major order, as runs of equally spaced ones.
    pub(crate) fn runs(&self) -> Runs {
        let mut merged: SmallVec<[Dim; 4]> = SmallVec::new();
        for &dim in self.dims.iter().filter(|dim| dim.size != 1) {
            match merged.last_mut() {
                Some(outer) if outer.stride == dim.stride.saturating_mul(dim.size as i64) => {
                    *outer = Dim {
                        size: outer.size.saturating_mul(dim.size),
                        stride: dim.stride,
                    };
                }
                _ => merged.push(dim),
            }
        }
        let inner = merged.pop().unwrap_or(Dim { size: 1, stride: 1 });
        Runs {
            offset: self.offset,
            outer: merged,
            len: inner.size as usize,
            stride: inner.stride as isize,
        }
    }

    /// The cells of a PSUM buffer with `columns` cells in a row: partitions times columns, in the
    /// order of the view. `None` if the view is not of that shape: dimension 0 must step through
    /// partitions one by one and the others stay within a partition and ascend, or all of them do.
    pub(crate) fn region(&self, columns: u32) -> Option<Region> {
        let row_stride = i64::from(columns.max(1));
        // Within a buffer of PSUM: neither is negative or large.
        let first_row = self.offset as u32 / columns.max(1);
        let column = self.offset % row_stride;
        if let [rows, row] = self.dims[..]
            && rows.stride == row_stride
            && row.stride == 1
        {
            let end = column as u64 + row.size;
            return (end <= u64::from(columns)).then(|| {
                let rows = Interval::new(first_row, first_row + rows.size as u32);
                Region::new(rows, Interval::new(column as u32, end as u32))
            });
        }
        let is_partitions = |dim: &Dim| dim.stride == row_stride || dim.size == 1;
        let (rows, inner) = match self.dims.split_first() {
            Some((first, inner)) if is_partitions(first) => (first.size, inner),
            _ => (1, &self.dims[..]),
        };
        let in_row = Self {
            buffer: self.buffer,
            offset: column,
            dims: inner.iter().copied().collect(),
        };
        if in_row
            .extent()
            .is_some_and(|(low, high)| low < 0 || high >= i128::from(row_stride))
        {
            return None;
        }
        let mut spans: SmallVec<[Interval; 2]> = SmallVec::new();
        let mut ascends = true;
        in_row.runs().for_each_segment(|start, len| {
            let (start, end) = (start as u32, (start + len) as u32);
            match spans.last_mut() {
                Some(last) if last.end == start => last.end = end,
                Some(last) if last.end > start => ascends = false,
                _ => spans.push(Interval::new(start, end)),
            }
        });
        ascends.then(|| Region {
            partitions: Interval::new(first_row, first_row + rows as u32),
            columns: spans,
        })
    }
}

/// The elements of a view: runs of `len` elements `stride` apart, one for each point of the outer
/// dimensions.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    offset: i64,
    outer: SmallVec<[Dim; 4]>,
    pub(crate) len: usize,
    pub(crate) stride: isize,
}

impl Runs {
    /// Calls `visit` with the number of the first element of each run, in order.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize)) {
        if self.len == 0 || self.outer.iter().any(|dim| dim.size == 0) {
            return;
        }
        let mut point: SmallVec<[u64; 4]> = SmallVec::from_elem(0, self.outer.len());
        let mut at = self.offset;
        loop {
            visit(at as usize);
            let mut number = self.outer.len();
            loop {
                let Some(next) = number.checked_sub(1) else {
                    return;
                };
                number = next;
                let dim = self.outer[number];
                point[number] += 1;
                at += dim.stride;
                if point[number] < dim.size {
                    break;
                }
                at -= dim.stride * dim.size as i64;
                point[number] = 0;
            }
        }
    }

    /// Calls `visit` with the first element and the length of each stretch of adjacent elements.
    pub(crate) fn for_each_segment(&self, mut visit: impl FnMut(usize, usize)) {
        if self.stride == 1 || self.len == 1 {
            self.for_each(|start| visit(start, self.len));
            return;
        }
        self.for_each(|start| {
            for number in 0..self.len {
                visit(start.wrapping_add_signed(self.stride * number as isize), 1);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(offset: i64, dims: &[(u64, i64)]) -> View {
        View {
            buffer: BufferId::NONE,
            offset,
            dims: dims
                .iter()
                .map(|&(size, stride)| Dim { size, stride })
                .collect(),
        }
    }

    fn elements(view: &View) -> Vec<usize> {
        let mut found = Vec::new();
        view.runs()
            .for_each_segment(|start, len| found.extend(start..start + len));
        found
    }

    #[test]
    fn runs_follow_row_major_order() {
        assert_eq!(
            elements(&view(5, &[(2, 10), (3, 1)])),
            [5, 6, 7, 15, 16, 17]
        );
        assert_eq!(elements(&view(0, &[(2, 1), (2, 2)])), [0, 2, 1, 3]);
        assert_eq!(elements(&view(3, &[(3, -1)])), [3, 2, 1]);
        assert_eq!(elements(&view(7, &[])), [7]);
        assert!(elements(&view(0, &[(2, 4), (0, 1)])).is_empty());
        assert_eq!(elements(&view(2, &[(3, 0)])), [2, 2, 2]);
        let contiguous = view(0, &[(4, 6), (2, 3), (3, 1)]).runs();
        assert_eq!((contiguous.len, contiguous.stride), (24, 1));
    }

    #[test]
    fn bounds() {
        assert!(view(0, &[(4, 8), (8, 1)]).is_within(32));
        assert!(!view(1, &[(4, 8), (8, 1)]).is_within(32));
        assert!(!view(0, &[(2, -1)]).is_within(32));
        assert!(view(99, &[(0, 1)]).is_within(0));
        assert!(!view(0, &[(u64::MAX, i64::MAX)]).is_within(1 << 40));
        assert_eq!(view(3, &[(4, 8), (8, 1)]).element([1, 2]), Ok(13));
        assert_eq!(view(3, &[(4, 8), (8, 1)]).element([1, 8]), Err(1));
        assert!(View::row_major(BufferId::NONE, &[u64::MAX, 2]).is_none());
    }

    #[test]
    fn regions_of_psum() {
        let spans = |view: View| {
            view.region(512).map(|region| {
                let spans: Vec<_> = region.columns.iter().map(|s| (s.start, s.end)).collect();
                ((region.partitions.start, region.partitions.end), spans)
            })
        };
        assert_eq!(
            spans(view(512 * 32 + 64, &[(16, 512), (128, 1)])),
            Some(((32, 48), vec![(64, 192)]))
        );
        assert_eq!(
            spans(view(0, &[(2, 512), (3, 128), (4, 1)])),
            Some(((0, 2), vec![(0, 4), (128, 132), (256, 260)]))
        );
        assert_eq!(
            spans(view(512, &[(512, 1)])),
            Some(((1, 2), vec![(0, 512)]))
        );
        assert_eq!(spans(view(0, &[(4, 1), (4, 512)])), None, "transposed");
        assert_eq!(
            spans(view(0, &[(4, 1024), (4, 1)])),
            None,
            "steps over partitions"
        );
        assert_eq!(spans(view(0, &[(2, 512), (2, 0)])), None, "one cell twice");
        assert_eq!(
            spans(view(0, &[(1024, 1)])),
            None,
            "two partitions in a row"
        );
    }
}
