//! What the elements of a buffer remember of parallel iterations.

use crate::report::SiteId;

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    /// The iteration it was in; 0 before any.
    pub(super) iteration: u32,
    pub(super) site: SiteId,
}

/// The last accesses to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) write: Touch,
    pub(super) read: Touch,
}

const UNTOUCHED: Touch = Touch {
    iteration: 0,
    site: SiteId::NONE,
};

const UNMARKED: Mark = Mark {
    write: UNTOUCHED,
    read: UNTOUCHED,
};

/// Marks that are made together.
pub(super) const PAGE: usize = 1024;

/// The marks of a buffer: pages, made when an element in them is first touched.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    pages: Vec<Option<Box<[Mark]>>>,
}

impl Marks {
    /// Calls `change` with each of `len` elements from `start`, and its mark. New pages are taken from
    /// `pages_left`; `false` if there were too few.
    pub(super) fn update(
        &mut self,
        start: usize,
        len: usize,
        pages_left: &mut usize,
        mut change: impl FnMut(usize, &mut Mark),
    ) -> bool {
        let (mut at, end) = (start, start + len);
        while at < end {
            let number = at / PAGE;
            if self.pages.len() <= number {
                self.pages.resize_with(number + 1, || None);
            }
            let page = &mut self.pages[number];
            if page.is_none() && *pages_left == 0 {
                return false;
            }
            let marks = page.get_or_insert_with(|| {
                *pages_left -= 1;
                vec![UNMARKED; PAGE].into()
            });
            let first = number * PAGE;
            let stop = end.min(first + PAGE);
            for (offset, mark) in marks[at - first..stop - first].iter_mut().enumerate() {
                change(at + offset, mark);
            }
            at = stop;
        }
        true
    }

    /// Number of pages, for who counts them.
    pub(crate) fn page_count(&self) -> usize {
        self.pages.iter().flatten().count()
    }
}
