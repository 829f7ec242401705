//! Zeros for sums of which nobody can say where they begin.
//!
//! In place, the first accumulation onto a tile that holds nothing overwrites it. As an instruction
//! it is another one than those that follow, so a loop whose first round begins and whose later
//! rounds go on has no body that is right for both. But a sum that begins with zeros is, bit for
//! bit, the sum that begins with nothing: the machine's own sum without C starts from +0, in either
//! arithmetic and every class of types, and a scale of the accumulator leaves +0 alone. So the tile
//! is filled with zeros before it may first be written, and holds a value on every path.
//!
//! ```text
//! %c = tile_alloc                           %c = tile_alloc
//!                                           memset 0, %c
//! for { tmatmul_acc ins(%c, ..) outs(%c) }  for { tmatmul_acc ins(%c, ..) outs(%c) }
//! ```
//!
//! The *turning point* of an accumulation is the last instruction before it, in its block or in one
//! around it, before which the tile still holds nothing on every path. Zeros stand before that one,
//! so they overwrite nothing. In a region of several blocks that makes the tile itself there need
//! not be one; the accumulation is then refused where it stands.

use std::borrow::Cow;

use pto_ir::tile::{TileProgram, TileZero};
use pto_ir::{AllocId, InstId};

use super::flow::{Flow, Holds};
use super::touches::Touches;

/// Where zeros are needed for `locations`, the program with them, and its touches.
pub(super) fn place<'a>(
    program: &'a TileProgram,
    locations: &[AllocId],
) -> (Vec<TileZero>, Cow<'a, TileProgram>, Touches) {
    let mut zeros: Vec<TileZero> = Vec::new();
    let mut zeroed = Cow::Borrowed(program);
    let mut touches = Touches::new(program);
    let mut open = locations.to_vec();
    // Arms of a branch may need zeros each: then a tile takes more than one round.
    loop {
        let known = zeros.len();
        open.retain(|&tile| {
            let found = outermost_turning_point(&zeroed, &touches, tile);
            zeros.extend(found.map(|before| TileZero { before, tile }));
            found.is_some()
        });
        if zeros.len() == known {
            return (zeros, zeroed, touches);
        }
        zeroed = Cow::Owned(program.with_zeros(&zeros));
        touches = Touches::new(&zeroed);
    }
}

/// Of the turning points of accumulations onto `tile` that may or may not begin, the outermost one.
/// Zeros there may be all that those inside need.
fn outermost_turning_point(
    program: &TileProgram,
    touches: &Touches,
    tile: AllocId,
) -> Option<InstId> {
    let flow = Flow::new(program, touches, tile);
    let mut outermost = None;
    for (place, block) in touches.of(tile).iter().enumerate() {
        let mut state = flow.entry(place);
        for (at, &inst) in block.insts.iter().enumerate() {
            let is_in_place = program.inst(inst).in_place() == Some(tile);
            if is_in_place && state.holds == Holds::Perhaps {
                let search = TurningPoints {
                    program,
                    touches,
                    flow: &flow,
                    tile,
                };
                let found = search.before(place, at);
                let block_of = |inst: &InstId| program.inst(*inst).block;
                outermost = outermost.into_iter().chain(found).min_by_key(block_of);
                if outermost.is_some_and(|inst| block_of(&inst) == program.tile(tile).block) {
                    return outermost;
                }
            }
            state = flow.step(inst, state);
        }
    }
    outermost
}

struct TurningPoints<'a> {
    program: &'a TileProgram,
    touches: &'a Touches,
    flow: &'a Flow<'a>,
    tile: AllocId,
}

impl TurningPoints<'_> {
    /// The turning point of entry number `at` of block number `place`.
    fn before(&self, mut place: usize, mut at: usize) -> Option<InstId> {
        let home = self.program.blocks[self.program.tile(self.tile).block.index()].region;
        loop {
            let touched = &self.touches.of(self.tile)[place];
            if let Some(found) = self.last_with_nothing(place, at) {
                return Some(found);
            }
            if self.program.blocks[touched.block.index()].region == home {
                return None;
            }
            let holder = self.program.holder(touched.block)?;
            place = self.flow.place(self.program.inst(holder).block)?;
            let insts = &self.touches.of(self.tile)[place].insts;
            at = insts.iter().position(|&inst| inst == holder)?;
        }
    }

    /// The last of the entries up to number `at` before which the tile holds nothing.
    fn last_with_nothing(&self, place: usize, at: usize) -> Option<InstId> {
        let mut state = self.flow.entry(place);
        let mut found = None;
        for &inst in &self.touches.of(self.tile)[place].insts[..=at] {
            if state.holds == Holds::Nothing {
                found = Some(inst);
            }
            state = self.flow.step(inst, state);
        }
        found
    }
}
