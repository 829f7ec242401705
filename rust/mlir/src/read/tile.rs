//! From a function-like MLIR operation to a [`TileProgram`]: one walk.
//!
//! What becomes an entry of a block:
//!
//! * a matmul on tiles in which some processing element takes part;
//! * an operation with effects on an operand that is a tile, and a call with such an operand: it may
//!   read and write a part of it;
//! * the return of a tile, which reads it;
//! * an operation with regions, and the allocation of a tile.
//!
//! A tile is known by its allocation or argument, also behind views. Where it is not, the entry is
//! one of [`TileProgram::unknown`]. Tiles that go through operands of a branch, a loop or a yield
//! are block arguments and results there, and so unknown where they are used.

use pto_ir::tile::{TileAccess, TileBuffer, TileMatmul, TileOp, TileOrigin, TileProgram, TileUse};
use pto_ir::{AllocId, BlockId, InstId, RegionId, RegionKind};
use pto_machine::tile::Layout;
use rustc_hash::FxHashMap;

use super::class::{Class, Classes, Coverage};
use crate::accessors::{effect, kind, space, tile_use};
use crate::diag::Message;
use crate::handle::{Block, Key, Location, Op, Value};

/// The number of the memory space of Shared tiles, and of cube_m32.
const SHARED: u32 = 4;
const CUBE_M32: u32 = 2;

/// A function that was read, with the way back from ids to MLIR.
pub(crate) struct TileReading {
    /// The operation that was read.
    pub(crate) function: Op,
    /// What it says.
    pub(crate) program: TileProgram,
    ops: Vec<Op>,
    values: Vec<Value>,
}

impl TileReading {
    /// The operation of `inst`.
    pub(crate) fn op(&self, inst: InstId) -> Op {
        self.ops[inst.index()]
    }

    /// The value of `tile`.
    pub(crate) fn value(&self, tile: AllocId) -> Value {
        self.values[tile.index()]
    }

    /// Where `tile` is made: at its operation, or at the function for an argument.
    pub(crate) fn tile_location(&self, tile: AllocId) -> Location {
        let owner = self.value(tile).owner();
        owner.unwrap_or(self.function).location()
    }
}

/// Reads the function-like operation `function`.
pub(crate) fn read(function: Op) -> Result<TileReading, Vec<Message>> {
    let name = function
        .attribute("sym_name")
        .and_then(|name| name.text_value())
        .unwrap_or_default();
    let mut reader = TileReader {
        reading: TileReading {
            function,
            program: TileProgram::new(name),
            ops: Vec::new(),
            values: Vec::new(),
        },
        block: BlockId::new(0),
        classes: Classes::default(),
        tiles: FxHashMap::default(),
        blocks: FxHashMap::default(),
        pending: Vec::new(),
        errors: Vec::new(),
    };
    let has_body = function.region_count() > 0;
    if let Some(entry) = has_body.then(|| function.first_block(0)).flatten() {
        reader.read_body(entry);
    }
    match reader.errors.is_empty() {
        true => Ok(reader.reading),
        false => Err(reader.errors),
    }
}

struct TileReader {
    reading: TileReading,
    /// The block that entries go to.
    block: BlockId,
    classes: Classes,
    /// The tile that a value is, or is a view of; `None` where that is unknown.
    tiles: FxHashMap<Key, Option<AllocId>>,
    /// Blocks of regions with several of them, the only ones that branches name.
    blocks: FxHashMap<Key, BlockId>,
    /// Blocks still to be read. What a block uses is defined in blocks pushed before it.
    pending: Vec<(Block, BlockId)>,
    errors: Vec<Message>,
}

impl TileReader {
    fn read_body(&mut self, entry: Block) {
        for value in entry.arguments() {
            if value.r#type().space() == space::TILE {
                self.add_tile(value, TileOrigin::Argument, BlockId::new(0));
            }
        }
        self.add_region(RegionId::new(0), entry);
        while let Some((block, id)) = self.pending.pop() {
            self.block = id;
            self.read_block(block, id);
        }
    }

    /// Adds the blocks of a region, the first being `entry`, and leaves them to be read in order.
    fn add_region(&mut self, region: RegionId, entry: Block) {
        let first_pending = self.pending.len();
        let is_branching = entry.next().is_some();
        let blocks = std::iter::successors(Some(entry), |block| block.next());
        for (index, block) in blocks.enumerate() {
            let id = match region.index() == 0 && index == 0 {
                true => BlockId::new(0),
                false => self.reading.program.add_block(region),
            };
            if is_branching {
                self.blocks.insert(block.key(), id);
            }
            self.pending.push((block, id));
        }
        self.pending[first_pending..].reverse();
    }

    fn read_block(&mut self, block: Block, id: BlockId) {
        let mut next = block.first_op();
        while let Some(op) = next {
            next = op.next();
            match next {
                Some(_) => self.read_op(op),
                None => self.end_block(op, id),
            }
        }
    }

    /// The last operation of a block: a branch, or what leaves the region. Only leaving the function
    /// reads its operands.
    fn end_block(&mut self, last: Op, id: BlockId) {
        for index in 0..last.successor_count() {
            if let Some(&to) = self.blocks.get(&last.successor(index).key()) {
                self.reading.program.blocks[id.index()].successors.push(to);
            }
        }
        let is_body = self.reading.program.blocks[id.index()].region == RegionId::new(0);
        if is_body && last.successor_count() == 0 {
            self.push_uses(last, TileOp::Other, |_, _| Some(TileAccess::Read));
        } else {
            self.read_op(last);
        }
    }

    fn read_op(&mut self, op: Op) {
        match op.kind() {
            kind::TILE_MATMUL => self.read_matmul(op),
            kind::TILE_ALLOC => self.read_alloc(op),
            kind::MATMUL | kind::MATMUL_ACC => self.errors.push(Message::error(
                "pto:target-limit",
                op.location(),
                "expected matmuls on tiles for the target tile, found one of the PE array",
            )),
            kind::MEMSET | kind::COPY => self.read_by_effects(op, Coverage::Whole),
            kind::EXPECT_EQ | kind::EXPECT_CLOSE => {
                self.push_uses(op, TileOp::Other, |_, _| Some(TileAccess::Read));
            }
            kind::OTHER => self.read_foreign(op),
            _ => {}
        }
    }

    fn read_foreign(&mut self, op: Op) {
        match self.classes.of(op) {
            Class::Alloc => {
                if op.result(0).r#type().space() == space::TILE {
                    self.read_alloc(op);
                }
            }
            Class::Call => self.push_uses(op, TileOp::Other, |_, _| Some(TileAccess::Change)),
            Class::Region(sort) => self.read_region(op, sort),
            Class::View | Class::Transparent | Class::SpaceCast | Class::Global => {}
            Class::Leaf(coverage) => self.read_by_effects(op, coverage),
        }
    }

    fn read_region(&mut self, op: Op, sort: RegionKind) {
        if sort == RegionKind::Other {
            self.read_by_effects(op, Coverage::Unknown);
        }
        let kind = match sort {
            RegionKind::For { .. } => RegionKind::For {
                trips: op.trip_count(),
            },
            other => other,
        };
        let program = &mut self.reading.program;
        let (_, regions) = program.push_region(self.block, kind, op.region_count());
        self.reading.ops.push(op);
        for (index, region) in regions.into_iter().enumerate().rev() {
            if let Some(entry) = op.first_block(index) {
                self.add_region(region, entry);
            }
        }
    }

    fn read_by_effects(&mut self, op: Op, coverage: Coverage) {
        self.push_uses(op, TileOp::Other, |op, index| {
            let effects = op.operand_effects(index);
            let (reads, writes) = (effects & effect::READ != 0, effects & effect::WRITE != 0);
            match (reads, writes) {
                (false, false) => None,
                (true, false) => Some(TileAccess::Read),
                (false, true) if coverage != Coverage::Unknown => Some(TileAccess::Fill),
                _ => Some(TileAccess::Change),
            }
        });
    }

    fn read_matmul(&mut self, op: Op) {
        let Some(facts) = op.tile_matmul() else {
            return;
        };
        if facts.mask == 0 {
            return;
        }
        // SAFETY: both are operands of `op`, and every matmul has them.
        let (dst, lhs) = unsafe {
            (
                Value::from_option_raw(facts.dst),
                Value::from_option_raw(facts.lhs),
            )
        };
        let (Some(dst), Some(lhs)) = (dst, lhs) else {
            return;
        };
        let is_widest = dst.r#type().tile_space() == CUBE_M32;
        let is_narrow = dst.r#type().sizes().is_some_and(|sizes| {
            let rows = sizes.first().and_then(|&rows| u32::try_from(rows).ok());
            rows.and_then(Layout::narrowest_for_m) == Some(Layout::CubeM16)
        });
        let matmul = TileMatmul {
            converts: facts.pre_quant != 0 || facts.relu != 0,
            mask: facts.mask as u8,
            can_begin: lhs.r#type().tile_space() != SHARED || !(is_widest && is_narrow),
        };
        self.push_uses(op, TileOp::Matmul(matmul), |op, index| {
            Some(match op.tile_use(index) {
                tile_use::NONE => return None,
                tile_use::ACCUMULATOR => TileAccess::Accumulate,
                tile_use::DESTINATION => TileAccess::Result,
                _ => TileAccess::Read,
            })
        });
    }

    fn read_alloc(&mut self, op: Op) {
        let value = op.result(0);
        let tile = match self.tiles.get(&value.key()) {
            Some(&Some(known)) => known,
            _ => self.add_tile(value, TileOrigin::Allocation, self.block),
        };
        self.reading
            .program
            .push(self.block, TileOp::Alloc(tile), Vec::new());
        self.reading.ops.push(op);
    }

    fn add_tile(&mut self, value: Value, origin: TileOrigin, block: BlockId) -> AllocId {
        let facts = value.owner().and_then(Op::tile_alloc);
        let tile = self.reading.program.add_tile(TileBuffer {
            origin,
            block,
            bytes: facts.map_or_else(|| value.r#type().tile_bytes(), |facts| facts.bytes),
            is_shared: value.r#type().tile_space() == SHARED,
        });
        self.reading.values.push(value);
        self.tiles.insert(value.key(), Some(tile));
        tile
    }

    /// Appends an entry with those operands of `op` that are tiles and that `access` finds an access
    /// for, unless there are none.
    fn push_uses(
        &mut self,
        op: Op,
        entry: TileOp,
        access: impl Fn(Op, usize) -> Option<TileAccess>,
    ) {
        let mut uses = Vec::new();
        let mut is_unknown = false;
        for (index, value) in op.operands().enumerate() {
            if value.r#type().space() != space::TILE {
                continue;
            }
            let Some(access) = access(op, index) else {
                continue;
            };
            let Some(tile) = self.tile_of(value) else {
                is_unknown = true;
                continue;
            };
            let is_direct = self.reading.values[tile.index()].key() == value.key();
            uses.push(TileUse {
                operand: index as u32,
                tile,
                // What is written through a view may be a part.
                access: match access {
                    TileAccess::Fill if !is_direct => TileAccess::Change,
                    TileAccess::Change | TileAccess::Fill => access,
                    TileAccess::Read | TileAccess::Accumulate | TileAccess::Result => access,
                },
                is_direct,
            });
        }
        if uses.is_empty() && !is_unknown {
            return;
        }
        let inst = self.reading.program.push(self.block, entry, uses);
        self.reading.ops.push(op);
        if is_unknown {
            self.reading.program.unknown.push(inst);
        }
    }

    /// The tile that `value` is or is a view of.
    fn tile_of(&mut self, value: Value) -> Option<AllocId> {
        let mut views = Vec::new();
        let mut source = value;
        let tile = loop {
            if let Some(&known) = self.tiles.get(&source.key()) {
                break known;
            }
            let Some(op) = source.owner() else {
                break None;
            };
            if !self.classes.is_view(op) {
                break self.later_tile(op, source);
            }
            views.push(source);
            source = op.operand(0);
        };
        for view in views {
            self.tiles.insert(view.key(), tile);
        }
        tile
    }

    /// The tile made by `op`, which the walk has not come to yet: its block is laid out after that
    /// of its user.
    fn later_tile(&mut self, op: Op, value: Value) -> Option<AllocId> {
        let is_alloc = op.kind() == kind::TILE_ALLOC || self.classes.of(op) == Class::Alloc;
        let block = self.blocks.get(&op.block().key()).copied();
        let block = block.filter(|_| is_alloc)?;
        Some(self.add_tile(value, TileOrigin::Allocation, block))
    }
}
