//! Where each tile is touched: per block, the entries that do, in order.
//!
//! An operation with regions stands, in its own block, for everything inside that touches a tile of
//! that block or of one around it. So each tile is seen from the block that allocates it downwards,
//! and what does not touch it is not there.

use pto_ir::tile::{TileOp, TileProgram};
use pto_ir::{AllocId, BlockId, InstId};
use rustc_hash::FxHashMap;

/// The entries of one block that touch one tile.
pub(super) struct BlockTouches {
    pub(super) block: BlockId,
    /// In program order, each once.
    pub(super) insts: Vec<InstId>,
}

/// All touches of all tiles.
pub(super) struct Touches {
    /// Per tile, blocks by id: outer ones before inner ones.
    of_tile: Vec<Vec<BlockTouches>>,
    /// The place of each entry in its block.
    positions: Vec<u32>,
}

impl Touches {
    pub(super) fn new(program: &TileProgram) -> Self {
        let mut positions = vec![0; program.insts.len()];
        for block in &program.blocks {
            for (position, inst) in block.insts.iter().enumerate() {
                positions[inst.index()] = position as u32;
            }
        }
        let mut lists: Vec<FxHashMap<BlockId, Vec<InstId>>> = Vec::new();
        lists.resize_with(program.tiles.len(), FxHashMap::default);
        for inst in program.blocks.iter().flat_map(|block| &block.insts) {
            for operand in &program.inst(*inst).uses {
                enter(
                    program,
                    operand.tile,
                    *inst,
                    &mut lists[operand.tile.index()],
                );
            }
        }
        let of_tile = lists
            .into_iter()
            .map(|blocks| sorted(blocks, &positions))
            .collect();
        Self { of_tile, positions }
    }

    /// The blocks that touch `tile`, outer ones first.
    pub(super) fn of(&self, tile: AllocId) -> &[BlockTouches] {
        &self.of_tile[tile.index()]
    }

    /// The place of `inst` in its block.
    pub(super) fn position(&self, inst: InstId) -> u32 {
        self.positions[inst.index()]
    }
}

/// Enters `inst`, and what holds it, up to the region that allocates `tile`.
fn enter(
    program: &TileProgram,
    tile: AllocId,
    inst: InstId,
    blocks: &mut FxHashMap<BlockId, Vec<InstId>>,
) {
    let home = program.blocks[program.tile(tile).block.index()].region;
    let mut inst = inst;
    loop {
        let block = program.inst(inst).block;
        let touched = blocks.entry(block).or_default();
        if touched.last() == Some(&inst) {
            return;
        }
        touched.push(inst);
        if program.blocks[block.index()].region == home {
            return;
        }
        match program.holder(block) {
            Some(holder) => inst = holder,
            None => return,
        }
    }
}

fn sorted(blocks: FxHashMap<BlockId, Vec<InstId>>, positions: &[u32]) -> Vec<BlockTouches> {
    let mut blocks: Vec<BlockTouches> = blocks
        .into_iter()
        .map(|(block, mut insts)| {
            insts.sort_unstable_by_key(|inst| positions[inst.index()]);
            insts.dedup();
            BlockTouches { block, insts }
        })
        .collect();
    blocks.sort_unstable_by_key(|touches| touches.block);
    blocks
}

/// Whether `inst` holds regions.
pub(super) fn is_region(program: &TileProgram, inst: InstId) -> bool {
    matches!(program.inst(inst).op, TileOp::Region { .. })
}
