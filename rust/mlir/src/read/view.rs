//! From an SSA value in PSUM to the cells it stands for.
//!
//! The type of a strided memref counts its offset from the start of the allocation, so a value with
//! a static type needs only its allocation, found by following views to their source. Where a cast
//! has hidden sizes or offset from the type, the views are composed from the last static one on.

use pto_ir::{AccessId, Alloc, AllocId, BlockId, Interval, IntervalSet, Origin, Placement, Space};
use rustc_hash::FxHashMap;

use super::class::Class;
use super::layout::{Layout, Rows};
use super::{Detail, Reader};
use crate::accessors::{kind, space};
use crate::diag::Message;
use crate::handle::{Block, DYNAMIC, Key, Location, Op, Value};

const DYNAMIC_ACCESS: &str = "pto:dynamic-access";
const VIEW: &str = "pto:view";

/// Why a value is not a known set of cells.
pub(super) enum Problem {
    /// It was said already, where the buffer is made.
    Reported,
    /// To be said at the operation that uses the value.
    New {
        tag: &'static str,
        sentence: String,
        note: Option<(Location, String)>,
    },
}

/// What is known of values in PSUM so far.
#[derive(Default)]
pub(super) struct Buffers {
    /// The value of each allocation.
    values: Vec<Value>,
    /// The allocation that a value lies in; `None` where it is wrong and that was reported.
    roots: FxHashMap<Key, Option<AllocId>>,
    accesses: FxHashMap<Key, AccessId>,
    /// The value looked up last, as most instructions use what the one before used.
    last: Option<(Key, AccessId)>,
}

impl Buffers {
    /// Enters the value of the allocation that was just added to the program.
    pub(super) fn push_value(&mut self, value: Value) {
        self.values.push(value);
    }

    pub(super) fn into_values(self) -> Vec<Value> {
        self.values
    }
}

impl Problem {
    fn new(tag: &'static str, sentence: impl Into<String>) -> Self {
        Self::New {
            tag,
            sentence: sentence.into(),
            note: None,
        }
    }

    fn with_note(mut self, at: Location, text: &str) -> Self {
        if let Self::New { note, .. } = &mut self {
            *note = Some((at, text.to_owned()));
        }
        self
    }
}

impl Reader {
    /// Says at `op` what is wrong, unless it was said or does not matter.
    pub(super) fn report(&mut self, op: Op, problem: Problem) {
        if self.detail == Detail::Instructions {
            return;
        }
        if let Problem::New {
            tag,
            sentence,
            note,
        } = problem
        {
            let mut message = Message::error(tag, op.location(), &sentence);
            message.notes.extend(note);
            self.errors.push(message);
        }
    }

    /// The cells of a value in PSUM.
    pub(super) fn access(&mut self, value: Value) -> Result<AccessId, Problem> {
        let key = value.key();
        if let Some((last, access)) = self.buffers.last
            && last == key
        {
            return Ok(access);
        }
        let access = match self.buffers.accesses.get(&key) {
            Some(&known) => known,
            None => {
                let access = self.resolve(value)?;
                self.buffers.accesses.insert(key, access);
                access
            }
        };
        self.buffers.last = Some((key, access));
        Ok(access)
    }

    /// A stand-in for cells that are not known, different from every other.
    pub(super) fn opaque_access(&mut self, value: Value) -> AccessId {
        if let Some(&known) = self.buffers.accesses.get(&value.key()) {
            return known;
        }
        let alloc = self.builder.add_alloc(Alloc {
            space: Space::Psum,
            origin: Origin::Allocation,
            block: BlockId::new(0),
            partitions: 1,
            bytes: 1,
            placement: None,
            escapes: true,
            may_alias: false,
        });
        self.buffers.values.push(value);
        let access = self.builder.whole(alloc);
        self.buffers.accesses.insert(value.key(), access);
        access
    }

    fn resolve(&mut self, value: Value) -> Result<AccessId, Problem> {
        let alloc = self.root(value)?;
        let Alloc {
            partitions, bytes, ..
        } = *self.builder.program().alloc(alloc);
        let rows = Rows {
            partitions,
            row: bytes / super::layout::CELL_BYTES,
        };
        let layout = self.layout(value)?;
        let made_at = self.buffers.values[alloc.index()];
        let (partitions, bytes): (Interval, IntervalSet) =
            layout.cells(rows).map_err(|sentence| {
                let note_at = made_at.owner().unwrap_or(self.function).location();
                Problem::new(VIEW, sentence).with_note(note_at, "the allocation is here")
            })?;
        Ok(self.builder.access(alloc, partitions, bytes))
    }

    /// The allocation that `value` lies in.
    pub(super) fn root(&mut self, value: Value) -> Result<AllocId, Problem> {
        let mut views = Vec::new();
        let mut source = value;
        let alloc = loop {
            if let Some(&known) = self.buffers.roots.get(&source.key()) {
                break known.ok_or(Problem::Reported)?;
            }
            let Some(op) = source.owner() else {
                return Err(self.carried(source));
            };
            if self.classes.is_view(op) {
                views.push(source);
                source = op.operand(0);
                continue;
            }
            break self.root_alloc(op)?;
        };
        for view in views {
            self.buffers.roots.insert(view.key(), Some(alloc));
        }
        Ok(alloc)
    }

    /// What is wrong with a buffer that the block argument `value` stands for.
    fn carried(&self, value: Value) -> Problem {
        let sentence =
            "expected a psum buffer that is known before run time, found a block argument";
        let problem = Problem::new(DYNAMIC_ACCESS, sentence);
        let holder = value.argument_holder();
        match holder.filter(|holder| holder.key() != self.function.key()) {
            Some(holder) => problem.with_note(
                holder.location(),
                "carried by this; buffers that take turns are known once it is unrolled as often, and canonicalized",
            ),
            None => problem,
        }
    }

    /// The allocation made by `op`, which the walk has not come to yet: its block is laid out
    /// after that of its user, or it cannot be reached.
    fn root_alloc(&mut self, op: Op) -> Result<AllocId, Problem> {
        let allocates = op.kind() == kind::PSUM_ALLOC || self.classes.of(op) == Class::Alloc;
        let block = self.blocks.get(&op.block().key()).copied();
        match block {
            Some(block) if allocates => self.add_alloc(op, block),
            _ => {
                let sentence = format!(
                    "expected a psum buffer that is known before run time, found one made by `{}`",
                    op.name()
                );
                let note = match op.name().as_str() {
                    "arith.select" => {
                        "made here; a branch with the matmul in both arms knows which one"
                    }
                    _ => "made here",
                };
                Err(Problem::new(DYNAMIC_ACCESS, sentence).with_note(op.location(), note))
            }
        }
    }

    /// Adds the buffer that the allocation `op` in `block` makes, if it is not there yet.
    pub(super) fn add_alloc(&mut self, op: Op, block: BlockId) -> Result<AllocId, Problem> {
        let value = op.result(0);
        if let Some(&known) = self.buffers.roots.get(&value.key()) {
            return known.ok_or(Problem::Reported);
        }
        let placement = op.alloc().filter(|facts| facts.placed);
        let placement = placement.map(|facts| Placement {
            bank: facts.bank as u32,
            offset: facts.offset as u32,
            partition: facts.partition as u32,
        });
        self.add_buffer(value, Origin::Allocation, block, placement)
    }

    /// Adds the function's arguments in PSUM.
    pub(super) fn add_arguments(&mut self, entry: Block) {
        for (index, value) in entry.arguments().enumerate() {
            if value.r#type().space() != space::PSUM {
                continue;
            }
            let facts = self.function.argument(index);
            let placement = facts.placed.then_some(Placement {
                bank: facts.bank as u32,
                offset: facts.offset as u32,
                partition: facts.partition as u32,
            });
            let origin = Origin::Argument {
                index: index as u32,
                fresh: facts.fresh,
            };
            match self.add_buffer(value, origin, BlockId::new(0), placement) {
                Ok(alloc) if !facts.placed && !facts.noalias => self.builder.set_may_alias(alloc),
                Ok(_) => {}
                Err(problem) => self.report(self.function, problem),
            }
        }
    }

    fn add_buffer(
        &mut self,
        value: Value,
        origin: Origin,
        block: BlockId,
        placement: Option<Placement>,
    ) -> Result<AllocId, Problem> {
        let rows = self.rows_of(value).inspect_err(|_| {
            self.buffers.roots.insert(value.key(), None);
        })?;
        let alloc = self.builder.add_alloc(Alloc {
            space: Space::Psum,
            origin,
            block,
            partitions: rows.partitions,
            bytes: rows.bytes(),
            placement,
            escapes: matches!(origin, Origin::Argument { .. }),
            may_alias: false,
        });
        self.buffers.values.push(value);
        self.buffers.roots.insert(value.key(), Some(alloc));
        Ok(alloc)
    }

    fn rows_of(&self, value: Value) -> Result<Rows, Problem> {
        let Some(layout) = static_layout(value) else {
            let sentence = format!(
                "expected a psum buffer of static shape and layout, found {}",
                value.r#type().text()
            );
            return Err(Problem::new(DYNAMIC_ACCESS, sentence));
        };
        if !layout.is_row_major() {
            let sentence = format!(
                "expected a psum buffer with the identity layout, found {}",
                value.r#type().text()
            );
            return Err(Problem::new(VIEW, sentence));
        }
        Rows::of(&layout.sizes).map_err(|sentence| Problem::new(VIEW, sentence))
    }

    /// The layout of `value`, from its type or from the views that made it.
    fn layout(&self, value: Value) -> Result<Layout, Problem> {
        let mut hidden = Vec::new();
        let mut source = value;
        let mut layout = loop {
            if let Some(layout) = static_layout(source) {
                break layout;
            }
            match source.owner() {
                Some(op) if op.operand_count() > 0 => {
                    hidden.push(op);
                    source = op.operand(0);
                }
                _ => return Err(dynamic_view(value)),
            }
        };
        for op in hidden.into_iter().rev() {
            layout = compose(&layout, op).ok_or_else(|| {
                dynamic_view(value).with_note(op.location(), "not static from here on")
            })?;
        }
        Ok(layout)
    }

    /// A cast between PSUM and another memory would hide accesses.
    pub(super) fn check_space_cast(&mut self, op: Op) {
        let (from, to) = (op.operand(0).r#type(), op.result(0).r#type());
        if from.space() != to.space() && [from.space(), to.space()].contains(&space::PSUM) {
            let sentence = format!(
                "expected a buffer in psum to stay there, found a cast from {} to {}",
                from.text(),
                to.text()
            );
            self.report(op, Problem::new(VIEW, sentence));
        }
    }
}

fn dynamic_view(value: Value) -> Problem {
    let sentence = format!(
        "expected a view of psum with static offset, sizes and strides, found {}",
        value.r#type().text()
    );
    Problem::new(DYNAMIC_ACCESS, sentence)
}

/// The layout that the type of `value` tells, where all of it is static.
pub(super) fn static_layout(value: Value) -> Option<Layout> {
    let r#type = value.r#type();
    let sizes = r#type.sizes()?;
    let (offset, strides) = r#type.strides(sizes.len())?;
    let is_static = !sizes.contains(&DYNAMIC) && !strides.contains(&DYNAMIC) && offset != DYNAMIC;
    is_static.then_some(Layout {
        offset,
        sizes,
        strides,
    })
}

/// The layout that the view `op` makes of `source`; `None` where that depends on the run.
fn compose(source: &Layout, op: Op) -> Option<Layout> {
    let numbers = |name: &str| {
        let numbers = op.attribute(name)?.i64_array()?;
        (!numbers.contains(&DYNAMIC)).then_some(numbers)
    };
    match op.name().as_str() {
        "memref.cast" | "memref.assume_alignment" => Some(source.clone()),
        "memref.reinterpret_cast" => Some(Layout {
            offset: *numbers("static_offsets")?.first()?,
            sizes: numbers("static_sizes")?,
            strides: numbers("static_strides")?,
        }),
        "memref.subview" => {
            let rank = op.result(0).r#type().sizes()?.len();
            subview(
                source,
                &numbers("static_offsets")?,
                &numbers("static_sizes")?,
                &numbers("static_strides")?,
                rank,
            )
        }
        _ => None,
    }
}

/// A subview of `source`, reduced to `rank` dimensions by leaving out those of one element.
fn subview(
    source: &Layout,
    offsets: &[i64],
    sizes: &[i64],
    steps: &[i64],
    rank: usize,
) -> Option<Layout> {
    let mut offset = source.offset;
    for (&by, &stride) in offsets.iter().zip(&source.strides) {
        offset = offset.checked_add(by.checked_mul(stride)?)?;
    }
    let mut surplus = sizes.len().checked_sub(rank)?;
    let (mut kept_sizes, mut kept_strides) = (Vec::new(), Vec::new());
    for ((&size, &step), &stride) in sizes.iter().zip(steps).zip(&source.strides) {
        if size == 1 && surplus > 0 {
            surplus -= 1;
            continue;
        }
        kept_sizes.push(size);
        kept_strides.push(step.checked_mul(stride)?);
    }
    Some(Layout {
        offset,
        sizes: kept_sizes,
        strides: kept_strides,
    })
}
