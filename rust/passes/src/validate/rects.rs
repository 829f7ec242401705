//! A rectangle of cells, cut into rectangles that are in the same state.

use pto_ir::Interval;

/// Cells in the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect<T> {
    pub(crate) partitions: Interval,
    pub(crate) bytes: Interval,
    pub(crate) state: T,
}

impl<T: Copy> Rect<T> {
    /// The part of the rectangle in `partitions` and `bytes`, if there is one.
    pub(crate) fn clipped(&self, partitions: Interval, bytes: Interval) -> Option<Self> {
        let part = Self {
            partitions: self.partitions.intersection(partitions),
            bytes: self.bytes.intersection(bytes),
            state: self.state,
        };
        (!part.partitions.is_empty() && !part.bytes.is_empty()).then_some(part)
    }
}

/// Disjoint rectangles that cover one rectangle. Their order means nothing.
#[derive(Clone, Debug)]
pub(crate) struct Rects<T> {
    list: Vec<Rect<T>>,
}

impl<T: Copy + PartialEq> Rects<T> {
    /// One rectangle.
    pub(crate) fn new(partitions: Interval, bytes: Interval, state: T) -> Self {
        Self {
            list: vec![Rect {
                partitions,
                bytes,
                state,
            }],
        }
    }

    /// The parts of the rectangles in `partitions` and `bytes`.
    pub(crate) fn meeting(
        &self,
        partitions: Interval,
        bytes: Interval,
    ) -> impl Iterator<Item = Rect<T>> {
        self.list
            .iter()
            .filter_map(move |rect| rect.clipped(partitions, bytes))
    }

    /// Every rectangle.
    pub(crate) fn all(&self) -> &[Rect<T>] {
        &self.list
    }

    /// Changes the state of `partitions` times `bytes`. What becomes the same there becomes one
    /// rectangle.
    pub(crate) fn change(
        &mut self,
        partitions: Interval,
        bytes: Interval,
        mut change: impl FnMut(&mut T),
    ) {
        let exact = |rect: &&mut Rect<T>| (rect.partitions, rect.bytes) == (partitions, bytes);
        if let Some(rect) = self.list.iter_mut().find(exact) {
            return change(&mut rect.state);
        }
        if self.change_whole(partitions, bytes, &mut change) {
            return;
        }
        let mut inside: Vec<Rect<T>> = Vec::new();
        let mut index = 0;
        while let Some(&rect) = self.list.get(index) {
            let Some(mut part) = rect.clipped(partitions, bytes) else {
                index += 1;
                continue;
            };
            self.list.swap_remove(index);
            self.list.extend(around(&rect, &part));
            change(&mut part.state);
            inside.push(part);
        }
        let is_uniform = inside.windows(2).all(|pair| pair[0].state == pair[1].state);
        match inside.first() {
            Some(first) if is_uniform && area(&inside) == size(partitions, bytes) => {
                self.list.push(Rect {
                    partitions,
                    bytes,
                    state: first.state,
                });
            }
            _ => self.list.extend(inside),
        }
    }

    /// The common case of [`Self::change`] without any cutting: every rectangle that is met lies
    /// inside, and they stay different. Whether it was that case; if not, nothing was done.
    fn change_whole(
        &mut self,
        partitions: Interval,
        bytes: Interval,
        change: &mut impl FnMut(&mut T),
    ) -> bool {
        let mut met = 0;
        for rect in &self.list {
            if rect.clipped(partitions, bytes).is_some() {
                if !partitions.covers(rect.partitions) || !bytes.covers(rect.bytes) {
                    return false;
                }
                met += 1;
            }
        }
        if met < 2 {
            return false;
        }
        let mut first: Option<T> = None;
        let mut is_uniform = true;
        for rect in &mut self.list {
            if rect.clipped(partitions, bytes).is_some() {
                change(&mut rect.state);
                is_uniform &= *first.get_or_insert(rect.state) == rect.state;
            }
        }
        if let (true, Some(state)) = (is_uniform, first) {
            self.unite(partitions, bytes, state);
        }
        true
    }

    /// Makes one rectangle of those inside `partitions` and `bytes`, if they fill it.
    fn unite(&mut self, partitions: Interval, bytes: Interval, state: T) {
        let is_inside = |rect: &Rect<T>| rect.clipped(partitions, bytes).is_some();
        let inside: u64 = self
            .list
            .iter()
            .filter(|rect| is_inside(rect))
            .map(|rect| size(rect.partitions, rect.bytes))
            .sum();
        if inside == size(partitions, bytes) {
            self.list.retain(|rect| !is_inside(rect));
            self.list.push(Rect {
                partitions,
                bytes,
                state,
            });
        }
    }

    /// Cuts `self` so that no rectangle crosses the border of one of `other`.
    pub(crate) fn cut_like<U: Copy + PartialEq>(&mut self, other: &Rects<U>) {
        let mut result = Vec::with_capacity(self.list.len());
        for rect in &self.list {
            result.extend(other.meeting(rect.partitions, rect.bytes).map(|part| Rect {
                partitions: part.partitions,
                bytes: part.bytes,
                state: rect.state,
            }));
        }
        self.list = result;
    }

    /// Replaces every state.
    pub(crate) fn map<U>(&self, mut map: impl FnMut(&Rect<T>) -> U) -> Rects<U> {
        let list = self.list.iter();
        let mapped = list.map(|rect| Rect {
            partitions: rect.partitions,
            bytes: rect.bytes,
            state: map(rect),
        });
        Rects {
            list: mapped.collect(),
        }
    }
}

fn size(partitions: Interval, bytes: Interval) -> u64 {
    u64::from(partitions.len()) * u64::from(bytes.len())
}

fn area<T>(rects: &[Rect<T>]) -> u64 {
    rects
        .iter()
        .map(|rect| size(rect.partitions, rect.bytes))
        .sum()
}

/// What is left of `rect` without `part`: above, below, and on both sides.
fn around<T: Copy>(rect: &Rect<T>, part: &Rect<T>) -> impl Iterator<Item = Rect<T>> {
    let piece = |partitions: (u32, u32), bytes: (u32, u32)| Rect {
        partitions: Interval::new(partitions.0, partitions.1),
        bytes: Interval::new(bytes.0, bytes.1),
        state: rect.state,
    };
    let (rows, columns) = (rect.partitions, rect.bytes);
    let inner = (part.partitions.start, part.partitions.end);
    let pieces = [
        piece((rows.start, inner.0), (columns.start, columns.end)),
        piece((inner.1, rows.end), (columns.start, columns.end)),
        piece(inner, (columns.start, part.bytes.start)),
        piece(inner, (part.bytes.end, columns.end)),
    ];
    pieces
        .into_iter()
        .filter(|piece| !piece.partitions.is_empty() && !piece.bytes.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_agree_with_a_grid() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..200 {
            let (rows, columns) = (Interval::new(0, 6), Interval::new(0, 8));
            let mut rects = Rects::new(rows, columns, 0u32);
            let mut grid = [[0u32; 8]; 6];
            for step in 1..20 {
                let mut interval = |end: u32| {
                    let start = rng.u32(0..end);
                    Interval::new(start, rng.u32(start + 1..=end))
                };
                let (p, b) = (interval(6), interval(8));
                rects.change(p, b, |state| *state = *state / 2 + step);
                for row in &mut grid[p.start as usize..p.end as usize] {
                    for cell in &mut row[b.start as usize..b.end as usize] {
                        *cell = *cell / 2 + step;
                    }
                }
            }
            assert_eq!(area(rects.all()), 48);
            for rect in rects.all() {
                for row in &grid[rect.partitions.start as usize..rect.partitions.end as usize] {
                    for &cell in &row[rect.bytes.start as usize..rect.bytes.end as usize] {
                        assert_eq!(cell, rect.state);
                    }
                }
            }
        }
    }
}
