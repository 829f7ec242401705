//! One function as the tile ISA sees it, and what a pass wants changed in it.
//!
//! The machine has no bytes that are added to: a tile is read or written as a whole, and an
//! instruction gives its result to another register than any it reads. So all there is to know of
//! an access is the tile, the operand that names it, and what happens to it. Blocks, regions and
//! ids are those of a [`Program`](crate::Program).

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::Diag;
use crate::ids::{AllocId, BlockId, InstId, RegionId};
use crate::program::{Block, Region, RegionKind};

/// Where a tile comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileOrigin {
    /// A function argument: holds a value on entry, and is looked at after the function.
    Argument,
    /// An allocation: each time it runs, the tile holds nothing.
    Allocation,
}

/// A tile: a local register, or a Shared tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileBuffer {
    /// Argument or allocation.
    pub origin: TileOrigin,
    /// The block that allocates it (arguments: the entry block).
    pub block: BlockId,
    /// Capacity in bytes on each processing element; of a Shared tile, of a quarter of it.
    pub bytes: u32,
    /// Whether it is Shared and so takes no register.
    pub is_shared: bool,
}

/// What an operand does to a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileAccess {
    /// A source of a matmul, or read by another engine.
    Read,
    /// The accumulator of a matmul.
    Accumulate,
    /// A destination of a matmul.
    Result,
    /// Overwritten as a whole by another engine.
    Fill,
    /// Anything else: it may read and it may write, all or a part.
    Change,
}

/// One operand of one instruction that names a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileUse {
    /// The number of the operand.
    pub operand: u32,
    /// The tile.
    pub tile: AllocId,
    /// What happens to it.
    pub access: TileAccess,
    /// Whether the operand is the tile itself: only then may it be another tile instead. A view is
    /// made of one tile for good.
    pub is_direct: bool,
}

/// The facts of a matmul.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileMatmul {
    /// Whether post-processing changes the sum on its way to the destination.
    pub converts: bool,
    /// The processing elements that take part. An instruction of none is not in the program.
    pub mask: u8,
    /// Whether the destination has the layout it needs if the accumulator is left out.
    pub can_begin: bool,
}

/// What an entry of a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TileOp {
    /// A matmul on tiles.
    Matmul(TileMatmul),
    /// Any other operation with effects on tiles.
    Other,
    /// An operation that holds regions.
    Region {
        /// Its sort.
        kind: RegionKind,
        /// Its regions, in order.
        regions: Vec<RegionId>,
    },
    /// Marker: here the tile is allocated.
    Alloc(AllocId),
}

/// An entry of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileInst {
    /// The block that holds it.
    pub block: BlockId,
    /// What it is.
    pub op: TileOp,
    /// Its operands that name tiles, in operand order.
    pub uses: Vec<TileUse>,
}

impl TileInst {
    /// The facts of the matmul, if it is one.
    pub const fn matmul(&self) -> Option<&TileMatmul> {
        match &self.op {
            TileOp::Matmul(matmul) => Some(matmul),
            _ => None,
        }
    }

    /// The tile that it accumulates onto and gives the sum to, if both are one.
    pub fn in_place(&self) -> Option<AllocId> {
        let accumulator = self.tile_of(TileAccess::Accumulate)?;
        (self.tile_of(TileAccess::Result)? == accumulator).then_some(accumulator)
    }

    fn tile_of(&self, access: TileAccess) -> Option<AllocId> {
        let found = self.uses.iter().find(|operand| operand.access == access);
        found.map(|operand| operand.tile)
    }
}

/// A function on tiles. Its body is region 0 and the entry block is block 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileProgram {
    /// The function's name.
    pub name: String,
    /// Every tile.
    pub tiles: Vec<TileBuffer>,
    /// Every entry; the index is the [`InstId`], which is not program order.
    pub insts: Vec<TileInst>,
    /// Every block.
    pub blocks: Vec<Block>,
    /// Every region.
    pub regions: Vec<Region>,
    /// Instructions that name a tile nobody knows: a block argument, the result of a call.
    pub unknown: Vec<InstId>,
}

impl TileProgram {
    /// A function with an empty entry block.
    pub fn new(name: impl Into<String>) -> Self {
        let mut program = Self {
            name: name.into(),
            regions: vec![Region {
                holder: None,
                blocks: Vec::new(),
            }],
            ..Self::default()
        };
        program.add_block(RegionId::new(0));
        program
    }

    /// The tile `id`.
    pub fn tile(&self, id: AllocId) -> &TileBuffer {
        &self.tiles[id.index()]
    }

    /// The entry `id`.
    pub fn inst(&self, id: InstId) -> &TileInst {
        &self.insts[id.index()]
    }

    /// The region that holds `block`.
    pub fn region_of(&self, block: BlockId) -> &Region {
        &self.regions[self.blocks[block.index()].region.index()]
    }

    /// The instruction that holds `block`; `None` in the function's body.
    pub fn holder(&self, block: BlockId) -> Option<InstId> {
        self.region_of(block).holder
    }

    /// Adds a tile; the marker of an allocation is a separate entry.
    pub fn add_tile(&mut self, tile: TileBuffer) -> AllocId {
        self.tiles.push(tile);
        AllocId::new(self.tiles.len() - 1)
    }

    /// Appends an entry to `block`.
    pub fn push(&mut self, block: BlockId, op: TileOp, uses: Vec<TileUse>) -> InstId {
        let id = InstId::new(self.insts.len());
        self.insts.push(TileInst { block, op, uses });
        self.blocks[block.index()].insts.push(id);
        id
    }

    /// Puts an entry right before `next`.
    pub fn insert_before(&mut self, next: InstId, op: TileOp, uses: Vec<TileUse>) {
        let block = self.inst(next).block;
        let id = InstId::new(self.insts.len());
        self.insts.push(TileInst { block, op, uses });
        let insts = &mut self.blocks[block.index()].insts;
        let place = insts.iter().position(|&inst| inst == next);
        insts.insert(place.unwrap_or(insts.len()), id);
    }

    /// The program with `zeros` in it: entries after the existing ones, in the order given. Each
    /// fills its tile as operand 0.
    pub fn with_zeros(&self, zeros: &[TileZero]) -> Self {
        let mut result = self.clone();
        let mut before: BTreeMap<InstId, Vec<InstId>> = BTreeMap::new();
        for zero in zeros {
            let id = InstId::new(result.insts.len());
            result.insts.push(TileInst {
                block: self.inst(zero.before).block,
                op: TileOp::Other,
                uses: vec![TileUse {
                    operand: 0,
                    tile: zero.tile,
                    access: TileAccess::Fill,
                    is_direct: true,
                }],
            });
            before.entry(zero.before).or_default().push(id);
        }
        let changed: BTreeSet<BlockId> = before.keys().map(|&id| self.inst(id).block).collect();
        for block in changed {
            let mut insts = Vec::new();
            for &inst in &self.blocks[block.index()].insts {
                insts.extend(before.remove(&inst).into_iter().flatten());
                insts.push(inst);
            }
            result.blocks[block.index()].insts = insts;
        }
        result
    }

    fn insert_first(&mut self, block: BlockId, op: TileOp) {
        match self.blocks[block.index()].insts.first() {
            Some(&first) => self.insert_before(first, op, Vec::new()),
            None => {
                self.push(block, op, Vec::new());
            }
        }
    }

    /// Appends an operation with `count` regions, which have no blocks yet.
    pub fn push_region(
        &mut self,
        block: BlockId,
        kind: RegionKind,
        count: usize,
    ) -> (InstId, Vec<RegionId>) {
        let first = self.regions.len();
        let regions: Vec<RegionId> = (first..first + count).map(RegionId::new).collect();
        let op = TileOp::Region {
            kind,
            regions: regions.clone(),
        };
        let holder = self.push(block, op, Vec::new());
        self.regions.extend((0..count).map(|_| Region {
            holder: Some(holder),
            blocks: Vec::new(),
        }));
        (holder, regions)
    }

    /// Appends an empty block to `region`.
    pub fn add_block(&mut self, region: RegionId) -> BlockId {
        let id = BlockId::new(self.blocks.len());
        self.blocks.push(Block {
            region,
            insts: Vec::new(),
            successors: Vec::new(),
            asks: None,
        });
        self.regions[region.index()].blocks.push(id);
        id
    }
}

/// A place for a value: a tile of the program, or a new one of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TilePlace {
    /// A tile of the program.
    Tile(AllocId),
    /// A new tile, by its place in [`TilePlan::new_tiles`].
    New(u32),
}

/// An operand that names another tile from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileRewire {
    /// The instruction.
    pub inst: InstId,
    /// The number of the operand, before [`TilePlan::heads`] lose theirs.
    pub operand: u32,
    /// What it names.
    pub to: TilePlace,
}

/// A copy of a whole tile, right before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileCopy {
    /// The instruction it stands before.
    pub before: InstId,
    /// Read.
    pub from: TilePlace,
    /// Overwritten.
    pub to: TilePlace,
}

/// A tile that is filled with zeros, right before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileZero {
    /// The instruction it stands before.
    pub before: InstId,
    /// Overwritten.
    pub tile: AllocId,
}

/// Everything one run of a pass wants changed in one function on tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TilePlan {
    /// Tiles that are filled with zeros. They come first: before the same instruction, copies stand
    /// after them.
    pub zeros: Vec<TileZero>,
    /// New tiles: each as the one named, allocated where that one is.
    pub new_tiles: Vec<AllocId>,
    /// Operands that name another tile.
    pub rewires: Vec<TileRewire>,
    /// Matmuls that lose their accumulator, and what scales it.
    pub heads: Vec<InstId>,
    /// New copies.
    pub copies: Vec<TileCopy>,
    /// Warnings and remarks.
    pub diags: Vec<Diag>,
    /// The report, as JSON, where it was asked for and something was changed.
    pub report: Option<String>,
}

impl TilePlan {
    /// Whether applying it would change nothing.
    pub fn is_empty(&self) -> bool {
        self.zeros.is_empty()
            && self.new_tiles.is_empty()
            && self.rewires.is_empty()
            && self.heads.is_empty()
            && self.copies.is_empty()
    }

    /// The program as it will be: the same ids, what is new after the existing entries.
    pub fn applied_to(&self, program: &TileProgram) -> TileProgram {
        let mut result = program.with_zeros(&self.zeros);
        let first = result.tiles.len();
        for &kind in &self.new_tiles {
            result.tiles.push(*program.tile(kind));
            if let Some(new) = result.tiles.last_mut() {
                new.origin = TileOrigin::Allocation;
            }
        }
        let tile = |place| match place {
            TilePlace::Tile(tile) => tile,
            TilePlace::New(index) => AllocId::new(first + index as usize),
        };
        for rewire in &self.rewires {
            let uses = &mut result.insts[rewire.inst.index()].uses;
            for operand in uses.iter_mut().filter(|it| it.operand == rewire.operand) {
                operand.tile = tile(rewire.to);
            }
        }
        for head in &self.heads {
            let uses = &mut result.insts[head.index()].uses;
            uses.retain(|operand| operand.access != TileAccess::Accumulate);
        }
        for (index, &kind) in self.new_tiles.iter().enumerate() {
            let made = program
                .insts
                .iter()
                .position(|inst| inst.op == TileOp::Alloc(kind));
            let block = program.tile(kind).block;
            let op = TileOp::Alloc(AllocId::new(first + index));
            match made {
                Some(marker) => result.insert_before(InstId::new(marker), op, Vec::new()),
                None => result.insert_first(block, op),
            }
        }
        for copy in &self.copies {
            let uses = [(copy.from, TileAccess::Read), (copy.to, TileAccess::Fill)];
            let uses = (0..).zip(uses).map(|(operand, (place, access))| TileUse {
                operand,
                tile: tile(place),
                access,
                is_direct: true,
            });
            result.insert_before(copy.before, TileOp::Other, uses.collect());
        }
        result
    }
}
