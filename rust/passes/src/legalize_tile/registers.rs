//! How much room a function needs: registers that hold a value at once, and bytes of the core.
//!
//! A register is needed from the write of a value to its last read. Per block these spans are laid
//! on a line; an operation with regions needs, at its place, what the worst of its blocks needs
//! besides. A value that lives around a block, and what an argument holds, is needed all the time.

use pto_ir::tile::{TileAccess, TileOp, TileOrigin, TilePlace, TilePlan, TileProgram};
use pto_ir::{AllocId, BlockId, Diag, InstId, Site};
use rustc_hash::FxHashMap;

use super::touches::{BlockTouches, Touches, is_region};

/// What a machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Local tile registers of a core.
    pub registers: u64,
    /// Bytes of all tiles of a core, on all of its processing elements.
    pub bytes: u64,
}

/// What a function needs at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    /// Local tile registers.
    pub registers: u64,
    /// Bytes on all processing elements of a core.
    pub bytes: u64,
}

impl Need {
    fn plus(self, other: Self) -> Self {
        Self {
            registers: self.registers + other.registers,
            bytes: self.bytes + other.bytes,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            registers: self.registers - other.registers,
            bytes: self.bytes - other.bytes,
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            registers: self.registers.max(other.registers),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

/// What `program` needs once `plan` is carried out.
///
/// # Errors
///
/// `pto:tile-no-register` or `pto:tile-core-capacity` where that is more than `room`, at the tile
/// that is one too many.
pub(super) fn check_room(
    program: &TileProgram,
    touches: &Touches,
    plan: &TilePlan,
    room: Room,
) -> Result<Need, Vec<Diag>> {
    let spans = Spans::new(program, touches, plan);
    let mut needs = vec![Need::default(); program.blocks.len()];
    let mut errors: Vec<Diag> = Vec::new();
    for block in (0..needs.len()).rev().map(BlockId::new) {
        let need = spans.need_of(block, &needs, room, &mut errors);
        needs[block.index()] = need;
        if !errors.is_empty() {
            return Err(errors);
        }
    }
    Ok(needs.first().copied().unwrap_or_default())
}

/// The part of a block in which a register is needed, as places in the block, both ends included.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    last: u32,
    tile: AllocId,
    need: Need,
}

struct Spans<'a> {
    program: &'a TileProgram,
    touches: &'a Touches,
    of_block: Vec<Vec<Span>>,
    /// Per region, what is needed in all of its blocks.
    around: Vec<Need>,
}

impl<'a> Spans<'a> {
    fn new(program: &'a TileProgram, touches: &'a Touches, plan: &TilePlan) -> Self {
        let mut spans = Self {
            program,
            touches,
            of_block: vec![Vec::new(); program.blocks.len()],
            around: vec![Need::default(); program.regions.len()],
        };
        let rewires: FxHashMap<(InstId, u32), TilePlace> = plan
            .rewires
            .iter()
            .map(|rewire| ((rewire.inst, rewire.operand), rewire.to))
            .collect();
        let copies: FxHashMap<InstId, TilePlace> = plan
            .copies
            .iter()
            .map(|copy| (copy.before, copy.to))
            .collect();
        let mut heads = vec![false; program.insts.len()];
        for head in &plan.heads {
            heads[head.index()] = true;
        }
        for tile in (0..program.tiles.len()).map(AllocId::new) {
            for block in touches.of(tile) {
                spans.add(tile, block, &rewires, &copies, &heads);
            }
        }
        spans
    }

    /// The spans of the registers of `tile` in one block.
    fn add(
        &mut self,
        tile: AllocId,
        touches: &BlockTouches,
        rewires: &FxHashMap<(InstId, u32), TilePlace>,
        copies: &FxHashMap<InstId, TilePlace>,
        heads: &[bool],
    ) {
        let home = TilePlace::Tile(tile);
        let mut open: Vec<(TilePlace, u32, u32)> = Vec::new();
        let mut closed: Vec<(TilePlace, u32, u32)> = Vec::new();
        for &inst in &touches.insts {
            let at = self.touches.position(inst);
            let entry = self.program.inst(inst);
            if is_region(self.program, inst) {
                extend(&mut open, home, at);
            }
            let uses = || entry.uses.iter().filter(|operand| operand.tile == tile);
            let place = |operand: u32| rewires.get(&(inst, operand)).copied().unwrap_or(home);
            for operand in uses() {
                let register = place(operand.operand);
                let is_dropped = heads[inst.index()] && operand.access == TileAccess::Accumulate;
                match operand.access {
                    TileAccess::Result | TileAccess::Fill => {}
                    _ if is_dropped => {}
                    _ => {
                        if copies.get(&inst) == Some(&register) {
                            extend(&mut open, home, at);
                        }
                        extend(&mut open, register, at);
                    }
                }
            }
            for operand in uses() {
                if matches!(operand.access, TileAccess::Result | TileAccess::Fill) {
                    let register = place(operand.operand);
                    closed.extend(open.iter().filter(|span| span.0 == register));
                    open.retain(|span| span.0 != register);
                    open.push((register, at, at));
                }
            }
        }
        closed.append(&mut open);
        self.close(tile, touches.block, &closed);
    }

    fn close(&mut self, tile: AllocId, block: BlockId, closed: &[(TilePlace, u32, u32)]) {
        let buffer = self.program.tile(tile);
        let elements = if buffer.is_shared { 1 } else { 4 };
        let need = Need {
            registers: u64::from(!buffer.is_shared),
            bytes: u64::from(buffer.bytes) * elements,
        };
        let is_around = self.is_around(tile);
        let is_elsewhere = is_around || buffer.block != block;
        let spans = closed.iter().filter_map(|&(register, first, last)| {
            let is_home = register == TilePlace::Tile(tile);
            let span = Span {
                first,
                last,
                tile,
                need,
            };
            (!is_home || !is_elsewhere).then_some(span)
        });
        self.of_block[block.index()].extend(spans);
        if is_around && buffer.block == block {
            let region = self.program.blocks[block.index()].region;
            let around = &mut self.around[region.index()];
            *around = around.plus(need);
        }
    }

    /// Whether the home of `tile` is needed in all blocks of the region that makes it, all the time.
    fn is_around(&self, tile: AllocId) -> bool {
        let buffer = self.program.tile(tile);
        let region = self.program.region_of(buffer.block);
        buffer.origin == TileOrigin::Argument || region.blocks.len() > 1
    }

    /// What `block` needs, its nested blocks being known in `needs`.
    fn need_of(&self, block: BlockId, needs: &[Need], room: Room, errors: &mut Vec<Diag>) -> Need {
        let spans = &self.of_block[block.index()];
        let mut begins: Vec<&Span> = spans.iter().collect();
        begins.sort_by_key(|span| (span.first, span.tile));
        let mut ends: Vec<&Span> = spans.iter().collect();
        ends.sort_by_key(|span| span.last);
        let mut ends = ends.into_iter().peekable();
        let mut begins = begins.into_iter().peekable();
        let region = self.program.blocks[block.index()].region;
        let mut now = self.around[region.index()];
        let mut most = now;
        for (at, &inst) in self.program.blocks[block.index()].insts.iter().enumerate() {
            let at = at as u32;
            while let Some(span) = ends.next_if(|span| span.last < at) {
                now = now.minus(span.need);
            }
            let mut newest = None;
            while let Some(span) = begins.next_if(|span| span.first <= at) {
                now = now.plus(span.need);
                newest = Some(span.tile);
            }
            let total = now.plus(self.nested(inst, needs));
            most = most.max(total);
            if let Some(error) = refuse(total, room, inst, newest) {
                errors.push(error);
                break;
            }
        }
        most
    }

    /// What the regions of `inst` need.
    fn nested(&self, inst: InstId, needs: &[Need]) -> Need {
        let TileOp::Region { regions, .. } = &self.program.inst(inst).op else {
            return Need::default();
        };
        let blocks = regions
            .iter()
            .flat_map(|region| &self.program.regions[region.index()].blocks);
        blocks.fold(Need::default(), |most, block| {
            most.max(needs[block.index()])
        })
    }
}

/// `register` is looked at, at `at`.
fn extend(open: &mut Vec<(TilePlace, u32, u32)>, register: TilePlace, at: u32) {
    match open.iter_mut().find(|span| span.0 == register) {
        Some(span) => span.2 = at,
        None => open.push((register, at, at)),
    }
}

fn refuse(total: Need, room: Room, inst: InstId, newest: Option<AllocId>) -> Option<Diag> {
    let (tag, what, limit, found) = if total.registers > room.registers {
        let what = "tiles in registers at once";
        (
            "pto:tile-no-register",
            what,
            room.registers,
            total.registers,
        )
    } else if total.bytes > room.bytes {
        let what = "bytes of tiles at once, on all processing elements";
        ("pto:tile-core-capacity", what, room.bytes, total.bytes)
    } else {
        return None;
    };
    let message = format!("expected at most {limit} {what}, found {found} here");
    let error = Diag::error(tag, Site::Inst(inst), message);
    Some(match newest {
        Some(tile) => error.with_note(Site::Alloc(tile), "this tile is one too many"),
        None => error,
    })
}
