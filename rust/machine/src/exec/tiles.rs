//! The tile ISA's matmul: operands from tiles, results to tiles, or a fault that changes nothing.

use smallvec::SmallVec;

use super::Machine;
use crate::code::{Allocate, ElementType, TileKind, TileMatmul, ViewSlot};
use crate::concurrency::Access;
use crate::memory::{Storage, TileBuffer, View};
use crate::report::{Outcome, Report, SiteId};
use crate::tile::cooperative::{element_with_share, group_with_share};
use crate::tile::core::{DEFAULT_CAPACITY, REGISTERS};
use crate::tile::execute::{Results, execute};
use crate::tile::fields::{DataAttributes, Scalars};
use crate::tile::operation::{Destination, Form, Operation, Source};
use crate::tile::{Arithmetic, Fault, Post, Revision, Role, Rule};
use crate::trace::AccessKind;

/// Multiply-adds that a tile operation does in the time of one step.
const MULTIPLY_ADDS_PER_STEP: u64 = 1 << 12;

/// The bit of a function code that says that there is an accumulator.
const ACCUMULATES: u8 = 2;

/// How operations on tiles are executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileConfig {
    /// What a multiply-add does.
    pub arithmetic: Arithmetic,
    /// The processing element whose view the program is, where a left operand is Shared; without
    /// it the first one that has as many rows as the destination.
    pub element: Option<u32>,
    /// The program is the form before registers are assigned: tiles take no room, and an
    /// accumulator may be its destination. One that holds nothing yet is then overwritten.
    pub is_unassigned: bool,
}

impl Machine<'_> {
    pub(super) fn tile_matmul(&mut self, op: &TileMatmul, site: SiteId) -> Outcome<()> {
        self.begin(&op.op, site);
        for &(_, slot) in &op.sources {
            self.accesses(slot, AccessKind::Read);
        }
        for &slot in &op.destinations {
            self.accesses(slot, AccessKind::Write);
        }
        self.note_tiles(op, site)?;
        let operation = self.tile_operation(op, site)?;
        let dimensions = operation.dimensions.iter().flatten();
        let work = dimensions.map(|&size| u64::from(size)).product();
        let arithmetic = self.config.tiles.arithmetic;
        let outcome = execute(&operation, Revision::Seed, arithmetic, None);
        self.charge(work / MULTIPLY_ADDS_PER_STEP, site)?;
        // How long one takes is not published.
        self.time_host();
        match outcome {
            Ok(crate::tile::Outcome::Done(results)) => {
                self.publish(op, results);
                self.stats.tile_matmul(op.op.engine, work);
                Ok(())
            }
            Ok(crate::tile::Outcome::NoEffect | crate::tile::Outcome::Idle) => {
                self.stats.tile_matmul(op.op.engine, 0);
                Ok(())
            }
            Err(fault) => Err(self.operation_fault(op, &fault, site)),
        }
    }

    /// Tells who looks for conflicts of parallel iterations which tiles the operation touches.
    fn note_tiles(&mut self, op: &TileMatmul, site: SiteId) -> Outcome<()> {
        let sources = op.sources.iter().map(|&(_, slot)| (slot, Access::Read));
        let destinations = op.destinations.iter().map(|&slot| (slot, Access::Write));
        for (slot, access) in sources.chain(destinations) {
            let view = &self.views[self.view_base + slot.index()];
            self.memory.note_access(view, access, site)?;
        }
        Ok(())
    }

    /// Hands the results out, all together.
    fn publish(&mut self, op: &TileMatmul, results: Results) {
        for (&slot, tile) in op.destinations.iter().zip(results.tiles) {
            let view = self.view(slot).clone();
            if let Some(target) = self.memory.tile_mut(&view) {
                target.set_words(tile.into_words());
            }
        }
        self.stats.tile_flags |= results.flags;
    }

    /// The report of a fault. The run ends, and what it leaves is what was there before.
    fn fault(&mut self, rule: Rule, message: String, site: SiteId) -> Box<Report> {
        self.is_faulted = true;
        let headline = format!("fault: {}", rule.kind());
        Box::new(Report::failed(rule.tag(), site, headline).with_note(site, message))
    }

    /// The report of a fault of an operation: where it is about C and D, with both.
    fn operation_fault(&mut self, op: &TileMatmul, fault: &Fault, site: SiteId) -> Box<Report> {
        let message = match fault.rule {
            Rule::Alias => {
                "expected the accumulator and the destination to be two tiles, found one"
            }
            _ => &fault.message,
        };
        let mut report = self.fault(fault.rule, message.into(), site);
        if fault.rule == Rule::AccumulatorCapacity {
            let c = op.sources.iter().find(|(role, _)| *role == Role::C);
            let c = c.map(|&(_, slot)| (slot, "the accumulator is allocated here"));
            let d = op.destinations.first();
            let d = d.map(|&slot| (slot, "the destination is allocated here"));
            for (slot, text) in c.into_iter().chain(d) {
                if let Ok(buffer) = self.memory.buffer(self.view(slot), site) {
                    report.notes.push((buffer.site, text.into()));
                }
            }
        }
        report
    }

    /// The operation as the ISA has it.
    fn tile_operation<'m>(&'m self, op: &TileMatmul, site: SiteId) -> Outcome<Operation<'m>> {
        let is_beginning = self.is_beginning(op, site)?;
        let is_left_out = |role| is_beginning && matches!(role, Role::C | Role::CScale);
        let mut tiles: SmallVec<[(Role, &TileBuffer, u32); Role::COUNT]> = SmallVec::new();
        for &(role, slot) in op.sources.iter().filter(|(role, _)| !is_left_out(*role)) {
            let (tile, name) = self.tile(slot, site)?;
            tiles.push((role, tile, name));
        }
        let of_role = |wanted: Role| {
            let found = tiles.iter().find(|(role, ..)| *role == wanted);
            found
                .map(|&(_, tile, _)| tile)
                .ok_or_else(|| malformed(site))
        };
        let (a, b) = (of_role(Role::A)?, of_role(Role::B)?);
        let mut destinations = Vec::with_capacity(op.destinations.len());
        for (position, &slot) in op.destinations.iter().enumerate() {
            let (tile, name) = self.tile(slot, site)?;
            destinations.push(self.destination_tile(tile, name, position == 0));
        }
        let d = destinations.first().and_then(|d| d.descriptor);
        let d = d.ok_or_else(|| malformed(site))?;
        let shape = |tile: &TileBuffer, transposed: bool| {
            let d = tile.tile().descriptor();
            match transposed && tile.is_shared() {
                true => (d.valid_columns, d.valid_rows),
                false => (d.valid_rows, d.valid_columns),
            }
        };
        let (a_rows, k) = shape(a, op.post.trans_a);
        let (rows, element) = self.group(a, b, a_rows, d.valid_rows);
        let sources = tiles.iter().filter(|(_, tile, _)| !tile.is_shared());
        let shared = tiles.iter().filter(|(_, tile, _)| tile.is_shared());
        let source = |&(role, tile, name): &(Role, &'m TileBuffer, u32)| source(role, tile, name);
        Ok(Operation {
            form: Form::Block,
            function: match is_beginning {
                true => op.function & !ACCUMULATES,
                false => op.function,
            },
            a_type: a.tile().descriptor().data_type,
            data: Some(DataAttributes {
                b_type: Some(b.tile().descriptor().data_type),
                rmode: op.rmode,
                saturate: op.saturate,
                has_foreign_fields: false,
            }),
            dimensions: [Some(rows), Some(d.valid_columns), Some(k)],
            post: Some(Post {
                c_scale: op.post.c_scale && !is_beginning,
                ..op.post
            }),
            scalars: (!op.scalars.is_empty()).then(|| Scalars {
                words: op
                    .scalars
                    .iter()
                    .map(|&slot| Some(self.get(slot)))
                    .collect(),
                has_foreign_selectors: false,
            }),
            masks: vec![op.mask],
            element,
            stream_ended: true,
            sources: sources.map(source).collect(),
            shared: shared.map(source).collect(),
            destinations,
        })
    }

    /// Whether an accumulation in place is onto a tile that holds nothing, in the form that has such:
    /// it begins a sum.
    fn is_beginning(&self, op: &TileMatmul, site: SiteId) -> Outcome<bool> {
        let c = op.sources.iter().find(|(role, _)| *role == Role::C);
        let (Some(&(_, c)), Some(&d)) = (c, op.destinations.first()) else {
            return Ok(false);
        };
        let ((tile, c), (_, d)) = (self.tile(c, site)?, self.tile(d, site)?);
        let is_empty = tile.tile().undefined_count() == tile.len();
        Ok(self.config.tiles.is_unassigned && c == d && is_empty)
    }

    /// A destination that exists already. Auxiliary ones are bound as row-major tiles.
    fn destination_tile(&self, tile: &TileBuffer, name: u32, is_d: bool) -> Destination {
        let own = *tile.tile().descriptor();
        Destination {
            capacity: own.capacity,
            name: (!self.config.tiles.is_unassigned).then_some(name),
            descriptor: Some(if is_d { own } else { tile.row_major() }),
        }
    }

    /// The first dimension, and the processing element whose view the operation is: of a group
    /// that has such an element, where operands are Shared.
    fn group(&self, a: &TileBuffer, b: &TileBuffer, a_rows: u32, d_rows: u32) -> (u32, u32) {
        if a.is_shared() {
            let element = self.config.tiles.element;
            let element = element.or_else(|| element_with_share(a_rows, d_rows));
            return (a_rows, element.unwrap_or(0));
        }
        match group_with_share(d_rows).filter(|_| b.is_shared()) {
            Some(group) => group,
            None => (d_rows, 0),
        }
    }

    /// The tile that a memref is, and a name for it. A part of a tile is none.
    fn tile(&self, slot: ViewSlot, site: SiteId) -> Outcome<(&TileBuffer, u32)> {
        let view = self.view(slot);
        let buffer = self.memory.buffer(view, site)?;
        let Storage::Tile(tile) = &buffer.storage else {
            let message = "expected operands in tiles, found another memory";
            return Err(Box::new(Report::unusable("pto:space", site, message)));
        };
        let d = tile.tile().descriptor();
        let sizes = [d.valid_rows, d.valid_columns].map(u64::from);
        if View::row_major(view.buffer, &sizes).as_ref() != Some(view) {
            let message = format!(
                "expected a whole tile of {sizes:?}, found a view of {:?} of it",
                view.sizes()
            );
            let report = Report::unusable("pto:view", site, message);
            return Err(Box::new(report.with_note(buffer.site, "allocated here")));
        }
        Ok((tile, view.buffer.number()))
    }

    /// Allocates a tile of `sizes`.
    pub(super) fn new_tile(
        &mut self,
        allocate: &Allocate,
        kind: TileKind,
        sizes: &[u64],
        site: SiteId,
    ) -> Outcome<View> {
        let &[rows, columns] = sizes else {
            let message = format!("expected a tile of rank 2, found {sizes:?}");
            return Err(Box::new(Report::unusable("pto:rank", site, message)));
        };
        let shape = (saturated(rows), saturated(columns));
        let capacity = allocate
            .capacity
            .or(kind.smallest_capacity(shape.0, shape.1));
        let tile = capacity.and_then(|capacity| TileBuffer::new(kind, shape, capacity));
        let Some(tile) = tile else {
            let d = kind.descriptor(shape.0, shape.1, 0);
            let message = format!("expected a tile that some size holds, found {d}");
            return Err(self.fault(Rule::DestinationCapacity, message, site));
        };
        self.make_room(&tile, site)?;
        let element = ElementType::of_tile(kind.data_type);
        let buffer = self.memory.allocate_tile(element, tile, site);
        View::row_major(buffer, sizes).ok_or_else(|| malformed(site))
    }

    /// A tile lives until it is freed, or until nothing names it any more; then its register and
    /// its bytes are free again.
    fn make_room(&mut self, tile: &TileBuffer, site: SiteId) -> Outcome<()> {
        if self.config.tiles.is_unassigned || self.room_fault(tile).is_none() {
            return Ok(());
        }
        self.collect();
        match self.room_fault(tile) {
            Some(fault) => Err(self.fault(fault.rule, fault.message, site)),
            None => Ok(()),
        }
    }

    /// Why there is no room for one more tile, if there is none.
    fn room_fault(&self, new: &TileBuffer) -> Option<Fault> {
        let all = || self.memory.tiles().chain([new]);
        let locals = all().filter(|tile| !tile.is_shared()).count();
        if locals > REGISTERS {
            let message =
                format!("expected at most {REGISTERS} Local tiles at once, found one more");
            return Some(Fault::new(Rule::NoRegister, message));
        }
        let total: u64 = all().map(TileBuffer::core_bytes).sum();
        let message = || {
            format!("expected all tiles of the core within {DEFAULT_CAPACITY} bytes, found {total}")
        };
        (total > DEFAULT_CAPACITY).then(|| Fault::new(Rule::CoreCapacity, message()))
    }
}

/// One source. An auxiliary one is bound as the row-major tile that its one row or column is,
/// whatever layout the program gave it.
fn source(role: Role, buffer: &TileBuffer, name: u32) -> Source<'_> {
    let own = *buffer.tile().descriptor();
    let descriptor = match role {
        Role::Bias | Role::RowMaxIn | Role::Quant | Role::Prelu => buffer.row_major(),
        _ => own,
    };
    Source {
        descriptor: Some(descriptor),
        tile: Some(buffer.tile()),
        shared_state: buffer.shared_state(),
        name: Some(name),
    }
}

/// A size as a descriptor has it; what is larger than any tile stays so.
fn saturated(size: u64) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

fn malformed(site: SiteId) -> Box<Report> {
    let message = "an operation on tiles without its operands";
    Box::new(Report::unusable("pto:malformed", site, message))
}
