//! The values that a tile holds one after the other in one block, and the register of each.
//!
//! The registers of a tile are the tile itself, its *home*, and up to two new ones. A value is
//! *pinned* to the home where somebody else looks there: where it came into the block or leaves it,
//! where a view, a call or an operation with regions reads or writes it. A value that an
//! instruction makes while it reads the one before *moves*: the two need different registers. All
//! other values may be anywhere.
//!
//! So the values of a block are runs of moves. In a run home and the first new register take turns,
//! beginning or ending at home as pinned values demand. Between two pinned values an odd number of
//! moves greater than one takes a detour over the second new register; a single one is only
//! possible if the older value is copied first.

use pto_ir::tile::{TileAccess, TileProgram};
use pto_ir::{AllocId, Diag, InstId, Site};

use super::flow::{Flow, Holds, State};
use super::touches::{BlockTouches, is_region};

/// A register of a tile: 0 is its home, then the new ones.
pub(super) type Place = u8;

/// An operand, as an instruction and its number.
pub(super) type Operand = (InstId, u32);

/// One value of a tile.
#[derive(Debug, Default)]
struct Version {
    is_pinned: bool,
    /// It was made while the one before was read.
    moves: bool,
    /// Who makes it reads the one before from a copy.
    copies: bool,
    /// Who made it; `None` for what came in, and for nothing.
    maker: Option<InstId>,
    /// Operands that name it.
    operands: Vec<Operand>,
    place: Place,
}

/// What to do to the operands of one block that name one tile.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// Operands that name another register than the home.
    pub(super) operands: Vec<(Operand, Place)>,
    /// Matmuls that lose their accumulator.
    pub(super) heads: Vec<InstId>,
    /// Instructions before which the home is copied to the first new register.
    pub(super) copies: Vec<InstId>,
    /// Values made while the one before is read.
    pub(super) steps: u32,
}

impl Moves {
    /// The new registers that are used.
    pub(super) fn new_registers(&self) -> Place {
        let places = self.operands.iter().map(|&(_, place)| place);
        places.max().unwrap_or(0)
    }
}

/// What is pinned at the ends of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) begins_at_home: bool,
    pub(super) ends_at_home: bool,
}

/// The moves of `tile` in the block `touches`, which is entered with `state`.
pub(super) fn moves(
    program: &TileProgram,
    tile: AllocId,
    touches: &BlockTouches,
    flow: &Flow<'_>,
    mut state: State,
    ends: Ends,
) -> Result<Moves, Vec<Diag>> {
    let mut line = Line {
        program,
        tile,
        versions: vec![Version {
            is_pinned: ends.begins_at_home,
            ..Version::default()
        }],
        moves: Moves::default(),
        errors: Vec::new(),
    };
    for &inst in &touches.insts {
        if is_region(program, inst) {
            line.pass_region(inst, state, flow.effect(inst).writes);
        } else {
            line.pass(inst, state);
        }
        state = flow.step(inst, state);
    }
    if !line.errors.is_empty() {
        return Err(line.errors);
    }
    line.current().is_pinned |= ends.ends_at_home;
    Ok(line.finish())
}

struct Line<'a> {
    program: &'a TileProgram,
    tile: AllocId,
    /// Never empty.
    versions: Vec<Version>,
    moves: Moves,
    errors: Vec<Diag>,
}

impl Line<'_> {
    fn current(&mut self) -> &mut Version {
        let last = self.versions.len() - 1;
        &mut self.versions[last]
    }

    fn make(&mut self, maker: InstId, moves: bool, is_pinned: bool) {
        self.versions.push(Version {
            is_pinned,
            moves,
            maker: Some(maker),
            ..Version::default()
        });
    }

    fn pass_region(&mut self, inst: InstId, state: State, writes: bool) {
        if state.holds != Holds::Nothing || !writes {
            self.current().is_pinned = true;
        }
        if writes {
            self.make(inst, false, true);
        }
    }

    fn pass(&mut self, inst: InstId, state: State) {
        let tile = self.tile;
        let entry = self.program.inst(inst);
        let uses = || entry.uses.iter().filter(|operand| operand.tile == tile);
        let is_in_place = entry.in_place() == Some(tile);
        let begins = is_in_place && state.holds == Holds::Nothing;
        if is_in_place {
            self.judge(inst, state);
        }
        let mut reads = false;
        for operand in uses() {
            match operand.access {
                TileAccess::Accumulate if begins => {}
                TileAccess::Read | TileAccess::Accumulate => {
                    reads = true;
                    match operand.is_direct {
                        true => self.current().operands.push((inst, operand.operand)),
                        false => self.current().is_pinned = true,
                    }
                }
                TileAccess::Change => self.current().is_pinned = true,
                TileAccess::Result | TileAccess::Fill => {}
            }
        }
        if begins {
            self.moves.heads.push(inst);
        }
        for operand in uses() {
            let is_result = operand.access == TileAccess::Result;
            self.moves.steps += u32::from(reads && is_result);
            match operand.access {
                TileAccess::Result if operand.is_direct => {
                    self.make(inst, reads, false);
                    self.current().operands.push((inst, operand.operand));
                }
                TileAccess::Result => self.make(inst, reads, true),
                TileAccess::Fill | TileAccess::Change => self.make(inst, false, true),
                TileAccess::Read | TileAccess::Accumulate => {}
            }
        }
    }

    /// Whether the accumulation in place `inst` has a meaning that registers can have.
    fn judge(&mut self, inst: InstId, state: State) {
        let program = self.program;
        let entry = program.inst(inst);
        let made = Site::Alloc(self.tile);
        let mut fail = |tag, message: &str, site, note: &str| {
            let error = Diag::error(tag, Site::Inst(inst), message);
            self.errors.push(error.with_note(site, note));
        };
        if state.holds == Holds::Perhaps {
            fail(
                "pto:control-flow",
                "expected a tile that holds a value here, or nothing, found one that is written on \
                 some paths only, or in part; write it before, with a matmul that does not \
                 accumulate or with zeros",
                made,
                "the tile is made here",
            );
        }
        if let Some(converter) = state.converter {
            fail(
                "pto:interior-post",
                "expected to add to a sum, found one that post-processing has changed",
                Site::Inst(converter),
                "only the last matmul of a group may convert or activate: this one does",
            );
        }
        let named = entry
            .uses
            .iter()
            .filter(|operand| operand.tile == self.tile);
        if named.clone().any(|operand| !operand.is_direct) {
            fail(
                "pto:view",
                "expected accumulator and destination to name the tile itself, found a view of it",
                made,
                "the tile is made here",
            );
        }
        if state.holds == Holds::Nothing && entry.matmul().is_some_and(|matmul| !matmul.can_begin) {
            fail(
                "pto:tile-m-layout",
                "expected a destination in the narrowest layout for M where a group on Shared \
                 operands begins, found it in cube_m32",
                made,
                "the tile is made here",
            );
        }
    }

    fn finish(mut self) -> Moves {
        let mut start = 0;
        while start < self.versions.len() {
            let moving = self.versions[start + 1..]
                .iter()
                .take_while(|next| next.moves);
            let end = start + 1 + moving.count();
            assign(&mut self.versions[start..end]);
            start = end;
        }
        for (at, version) in self.versions.iter().enumerate() {
            // Who makes the next value may read this one from a copy.
            let copied = self.versions.get(at + 1).filter(|next| next.copies);
            let reader = copied.and_then(|next| next.maker);
            self.moves.copies.extend(reader);
            for &operand in &version.operands {
                let place = match Some(operand.0) == reader {
                    true => 1,
                    false => version.place,
                };
                if place != 0 {
                    self.moves.operands.push((operand, place));
                }
            }
        }
        self.moves
    }
}

/// Gives the values of one run their registers.
fn assign(run: &mut [Version]) {
    let pinned: Vec<usize> = (0..run.len()).filter(|&at| run[at].is_pinned).collect();
    let first = pinned.first().copied().unwrap_or(0);
    let mut before = first;
    for (at, version) in run.iter_mut().enumerate() {
        if version.is_pinned {
            before = at;
        }
        let distance = if at < first { first - at } else { at - before };
        version.place = (distance % 2) as Place;
    }
    for pair in pinned.windows(2) {
        let (length, last) = (pair[1] - pair[0], &mut run[pair[1] - 1]);
        if length % 2 == 1 && length > 1 {
            last.place = 2;
        }
        run[pair[1]].copies = length == 1;
    }
}
