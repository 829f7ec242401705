//! Buffers in SBUF and HBM, for passes that ask for all accesses.
//!
//! Other than in PSUM nothing is an error here: what is not known exactly counts as all of its
//! buffer, and where the buffer is not known, the instruction is marked as opaque.

use pto_ir::{AccessId, Alloc, AllocId, BlockId, Interval, IntervalSet, Origin, Placement, Space};
use rustc_hash::FxHashMap;

use super::class::Class;
use super::layout::{Layout, Rows};
use super::view::static_layout;
use super::{Detail, Reader};
use crate::accessors::{kind, space};
use crate::handle::{Key, Op, Value};

/// What is known of buffers outside of PSUM so far.
#[derive(Default)]
pub(super) struct Outside {
    accesses: FxHashMap<Key, Option<AccessId>>,
    roots: FxHashMap<Key, Option<Root>>,
    /// By symbol: two references to one global are one buffer.
    globals: FxHashMap<String, Root>,
}

/// A buffer, and its shape where that is static and without a layout.
#[derive(Clone, Copy)]
struct Root {
    alloc: AllocId,
    rows: Option<Rows>,
}

impl Reader {
    /// Whether accesses in this memory were asked for.
    pub(super) fn wants(&self, memory: u32) -> bool {
        self.detail == Detail::Memory && matches!(memory, space::SBUF | space::HBM)
    }

    /// The cells of a value in SBUF or HBM; `None` if its buffer is not known.
    pub(super) fn outside_access(&mut self, value: Value) -> Option<AccessId> {
        if let Some(&known) = self.outside.accesses.get(&value.key()) {
            return known;
        }
        let access = self
            .outside_root(value)
            .map(|root| self.outside_cells(value, root));
        self.outside.accesses.insert(value.key(), access);
        access
    }

    fn outside_cells(&mut self, value: Value, root: Root) -> AccessId {
        let element_bytes = value.r#type().element().bytes();
        let exact = root
            .rows
            .zip(static_layout(value))
            .and_then(|(rows, layout)| {
                let (partitions, cells) = layout.cells(rows).ok()?;
                Some((partitions, scaled(&cells, element_bytes)?))
            });
        match exact {
            Some((partitions, bytes)) => self.builder.access(root.alloc, partitions, bytes),
            None => self.builder.whole(root.alloc),
        }
    }

    /// The buffer that `value` lies in.
    fn outside_root(&mut self, value: Value) -> Option<Root> {
        let mut views = Vec::new();
        let mut source = value;
        let root = loop {
            if let Some(&known) = self.outside.roots.get(&source.key()) {
                break known;
            }
            match source.owner() {
                Some(op) if self.classes.is_view(op) => {
                    views.push(source.key());
                    source = op.operand(0);
                }
                owner => {
                    let root = self.new_outside_root(source, owner);
                    self.outside.roots.insert(source.key(), root);
                    break root;
                }
            }
        };
        for view in views {
            self.outside.roots.insert(view, root);
        }
        root
    }

    fn new_outside_root(&mut self, value: Value, owner: Option<Op>) -> Option<Root> {
        let Some(op) = owner else {
            let index = self.argument_index(value)?;
            let origin = Origin::Argument {
                index,
                fresh: false,
            };
            let root = self.add_outside(value, origin, None);
            if !self.function.argument(index as usize).noalias {
                self.builder.set_may_alias(root.alloc);
            }
            return Some(root);
        };
        if op.kind() == kind::SBUF_ALLOC {
            let placement = op.alloc().filter(|facts| facts.placed);
            let placement = placement.map(|facts| Placement {
                bank: 0,
                offset: facts.offset as u32,
                partition: facts.partition as u32,
            });
            return Some(self.add_outside(value, Origin::Allocation, placement));
        }
        match self.classes.of(op) {
            Class::Alloc => Some(self.add_outside(value, Origin::Allocation, None)),
            Class::Global => {
                let name = op.attribute("name")?.symbol_name()?;
                if let Some(&known) = self.outside.globals.get(&name) {
                    return Some(known);
                }
                let root = self.add_outside(value, Origin::Allocation, None);
                self.builder.set_may_alias(root.alloc);
                self.outside.globals.insert(name, root);
                Some(root)
            }
            _ => None,
        }
    }

    /// The position of `value` among the function's arguments.
    fn argument_index(&self, value: Value) -> Option<u32> {
        let entry = self.function.first_block(0)?;
        let mut arguments = entry.arguments();
        let index = arguments.position(|argument| argument.key() == value.key())?;
        u32::try_from(index).ok()
    }

    fn add_outside(&mut self, value: Value, origin: Origin, placement: Option<Placement>) -> Root {
        let layout = static_layout(value).filter(Layout::is_row_major);
        let rows = layout.and_then(|layout| Rows::of(&layout.sizes).ok());
        let bytes = rows.and_then(|rows| rows.row.checked_mul(value.r#type().element().bytes()));
        let rows = rows.filter(|_| bytes.is_some());
        let space = match value.r#type().space() {
            space::SBUF => Space::Sbuf,
            _ => Space::Hbm,
        };
        let alloc = self.builder.add_alloc(Alloc {
            space,
            origin,
            block: BlockId::new(0),
            // Of a buffer of unknown shape: as large as any.
            partitions: rows.map_or(u32::MAX, |rows| rows.partitions),
            bytes: bytes.unwrap_or(u32::MAX),
            placement,
            escapes: matches!(origin, Origin::Argument { .. }),
            may_alias: false,
        });
        self.buffers.push_value(value);
        Root { alloc, rows }
    }

    /// The buffer whose life `value` ends.
    pub(super) fn outside_alloc(&mut self, value: Value) -> Option<AllocId> {
        self.outside_root(value).map(|root| root.alloc)
    }
}

/// `cells` with `bytes` bytes a cell instead of those of PSUM.
fn scaled(cells: &IntervalSet, bytes: u32) -> Option<IntervalSet> {
    let scale = |at: u32| (at / super::CELL_BYTES).checked_mul(bytes);
    let spans: Option<Vec<Interval>> = cells
        .spans()
        .iter()
        .map(|span| Some(Interval::new(scale(span.start)?, scale(span.end)?)))
        .collect();
    spans.map(IntervalSet::from_spans)
}

/// Elements of each partition of `value`: all but dimension 0, as far as they are static.
pub(super) fn elements_per_partition(value: Value) -> u32 {
    let sizes = value.r#type().sizes().unwrap_or_default();
    let row = sizes.iter().skip(1);
    let product = row.fold(1i64, |product, &size| product.saturating_mul(size.max(0)));
    match sizes.first() {
        Some(0) => 0,
        _ => u32::try_from(product).unwrap_or(u32::MAX),
    }
}
