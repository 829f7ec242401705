//! Dependences: who touched a cell or an element last.

use pto_ir::{Engine, Interval};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Dependence, DependenceKind};
use crate::memory::View;
use crate::psum::Grid;

/// No event.
const NONE: u32 = u32::MAX;

/// The last accesses of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    writer: u32,
    /// The last reader since, on each engine: earlier ones on the same engine have ended by then.
    readers: [u32; Engine::ALL.len()],
}

impl Touch {
    pub(super) const fn none() -> Self {
        Self {
            writer: NONE,
            readers: [NONE; Engine::ALL.len()],
        }
    }

    /// After a read by `event` on `engine`; what the event waits for goes to `after`.
    fn read(mut self, event: u32, engine: Engine, after: &mut Waits) -> Self {
        after.add(self.writer, DependenceKind::Data, event);
        self.readers[engine as usize] = event;
        self
    }

    fn written(self, event: u32, after: &mut Waits) -> Self {
        after.add(self.writer, DependenceKind::Overwrite, event);
        for reader in self.readers {
            after.add(reader, DependenceKind::Overwrite, event);
        }
        Self {
            writer: event,
            ..Self::none()
        }
    }

    /// After `access` by `event` on `engine`.
    pub(super) fn touched(
        self,
        event: u32,
        engine: Engine,
        access: AccessKind,
        after: &mut Waits,
    ) -> Self {
        match access {
            AccessKind::Read => self.read(event, engine, after),
            AccessKind::Write => self.written(event, after),
        }
    }
}

/// What an event does with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
}

/// What an event waits for, while it is being found out.
#[derive(Debug, Default)]
pub(super) struct Waits {
    found: SmallVec<[Dependence; 3]>,
}

impl Waits {
    pub(super) fn add(&mut self, on: u32, kind: DependenceKind, event: u32) {
        let is_known = |known: &Dependence| known.on == on && known.kind <= kind;
        if on != NONE && on != event && !self.found.iter().any(is_known) {
            self.found.retain(|known| known.on != on);
            self.found.push(Dependence { on, kind });
        }
    }

    /// The dependences, ascending.
    pub(super) fn finish(mut self) -> SmallVec<[Dependence; 3]> {
        self.found.sort_unstable();
        self.found
    }
}

/// Buffers outside the banks of PSUM.
#[derive(Debug, Default)]
pub(super) struct HostTouches {
    /// By the buffer's serial number.
    buffers: FxHashMap<u64, Rows>,
}

/// A buffer as rows of `row` elements.
#[derive(Debug)]
struct Rows {
    row: u64,
    touches: Grid<Touch>,
}

impl HostTouches {
    /// An access to `view` of the buffer with the number `serial` and `len` elements. The buffer is
    /// cut into rows as the first access to it was; of each row, all elements between the first and
    /// the last count as accessed.
    pub(super) fn touch(
        &mut self,
        (serial, len): (u64, u64),
        view: &View,
        mut change: impl FnMut(Touch) -> Touch,
    ) {
        let Rows { row, touches } = self.buffers.entry(serial).or_insert_with(|| {
            let row = outer_stride(view).unwrap_or(len).clamp(1, len.max(1));
            let is_countable = len < u64::from(u32::MAX);
            // Where elements are too many to be told apart, all of them are one.
            let (rows, row) = if is_countable {
                (len.div_ceil(row), row)
            } else {
                (1, 1)
            };
            Rows {
                row,
                touches: Grid::new(rows as u32, row as u32, Touch::none()),
            }
        });
        let whole = (Interval::new(0, 1), Interval::new(0, 1));
        let is_one = len >= u64::from(u32::MAX);
        let area = if is_one {
            Some(whole)
        } else {
            bounding_box(view, *row)
        };
        if let Some((rows, columns)) = area {
            touches.update(rows, columns, |_, _, before| change(before));
        }
    }
}

/// Elements from one index of the outermost dimension to the next.
fn outer_stride(view: &View) -> Option<u64> {
    let strides = view.dims.iter().filter(|dim| dim.size > 1);
    strides.map(|dim| dim.stride.unsigned_abs()).max()
}

/// The rows of `row` elements that `view` meets, and the columns in them: the smallest box, exact
/// where a view steps through rows with its outer dimensions and stays within one with the others.
fn bounding_box(view: &View, row: u64) -> Option<(Interval, Interval)> {
    let (low, high) = view.extent()?;
    let row = i128::from(row);
    let rows = Interval::new((low / row) as u32, (high / row + 1) as u32);
    let width: i128 = view
        .dims
        .iter()
        .filter(|dim| i128::from(dim.stride) % row != 0)
        .map(|dim| i128::from(dim.size - 1) * i128::from(dim.stride.unsigned_abs()))
        .sum();
    let first = low % row;
    let columns = if first + width < row {
        Interval::new(first as u32, (first + width + 1) as u32)
    } else {
        Interval::new(0, row as u32)
    };
    Some((rows, columns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{BufferId, Dim};

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

    #[test]
    fn boxes_hold_the_elements_and_little_else() {
        let of = |offset, dims: &[(u64, i64)]| bounding_box(&view(offset, dims), 16);
        let rect = |rows: (u32, u32), columns: (u32, u32)| {
            Some((
                Interval::new(rows.0, rows.1),
                Interval::new(columns.0, columns.1),
            ))
        };
        assert_eq!(of(4, &[(3, 16), (4, 1)]), rect((0, 3), (4, 8)));
        assert_eq!(of(36, &[(4, 1), (2, 32)]), rect((2, 5), (4, 8)));
        assert_eq!(of(14, &[(4, 1)]), rect((0, 2), (0, 16)), "over a border");
        assert_eq!(of(15, &[(4, -1), (2, 16)]), rect((0, 2), (12, 16)));
        assert_eq!(of(0, &[(0, 1)]), None);
    }

    #[test]
    fn a_read_waits_for_the_writer_and_a_write_for_all() {
        let mut waits = Waits::default();
        let touch = Touch::none()
            .touched(0, Engine::Dma, AccessKind::Write, &mut waits)
            .touched(1, Engine::Pe, AccessKind::Read, &mut waits)
            .touched(2, Engine::Pe, AccessKind::Read, &mut waits);
        assert_eq!(
            waits.finish().as_slice(),
            [Dependence {
                on: 0,
                kind: DependenceKind::Data
            }]
        );
        let mut waits = Waits::default();
        touch.touched(3, Engine::Vector, AccessKind::Write, &mut waits);
        let on: Vec<u32> = waits.finish().iter().map(|wait| wait.on).collect();
        assert_eq!(on, [0, 2], "the first reader ended before the second began");
    }
}
