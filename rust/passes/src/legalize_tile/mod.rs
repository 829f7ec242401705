//! Accumulation groups on the tile ISA: a register for every value of a tile.
//!
//! # Purpose
//!
//! Front ends add in place: a tile is a location that `tmatmul_acc` updates. The tile ISA cannot: an
//! instruction reads its accumulator C and gives the sum to D, *another* register, and C keeps what
//! it holds. And an accumulator that nothing was written to is undefined there, where it means
//! "begin" in place. This pass turns the one form into the other.
//!
//! ```text
//! %c = tile_alloc                          %c = tile_alloc
//!                                          %t = tile_alloc
//! tmatmul_acc ins(%c, ..) outs(%c)   ->    tmatmul          outs(%c)    begins: nothing was there
//! tmatmul_acc ins(%c, ..) outs(%c)         tmatmul_acc ins(%c, ..) outs(%t)
//! tmatmul_acc ins(%c, ..) outs(%c)         tmatmul_acc ins(%t, ..) outs(%c)
//! tmatmul_acc ins(%c, ..) outs(%h)         tmatmul_acc ins(%c, ..) outs(%h)   the tail converts
//! ```
//!
//! # Terms
//!
//! * *Location*: a tile as the input means it, a variable. *Value*: what it holds between two writes.
//! * *Register*: a tile of the output. A location's *home* is the register it was written as.
//! * *Group*: the values of a location from one that does not add to another, by accumulations.
//! * *Pinned*: of a value, that it has to be at home, because somebody looks there.
//!
//! # The problem
//!
//! Given a function whose matmuls may write the tile they read, find new tiles and new operands such
//! that no matmul writes a register that it reads, every read sees the value that it saw, bit for
//! bit, and the least number of registers is added. Everything is whole tiles: there are no cells.
//!
//! # The algorithm
//!
//! 1. [`touches`]: per tile, the entries of each block that touch it.
//! 2. [`flow`]: what a tile holds before each of them. An accumulation in place onto nothing begins
//!    its group: it loses its accumulator.
//! 3. [`zeros`]: where one would begin on some paths and go on on others, zeros before it.
//! 4. [`versions`]: per tile and block the line of its values, and the register of each. In a group
//!    home and one new register take turns: C dies where D is made. Where two pinned values are an
//!    odd number of accumulations apart a second new register helps, or, one apart, a copy.
//! 5. [`registers`]: how many registers hold a value at once, and how many bytes.
//! 6. [`check`]: the proof.
//!
//! A block begins and ends with every value at home that lives around it, and so does an operation
//! with regions. With zeros before them loops need nothing else: the body is a block.
//!
//! # Invariants
//!
//! 1. Every read names a register that holds its location's value; no matmul writes a register it
//!    reads; what loses its accumulator begins on every path, and zeros overwrite nothing (checked:
//!    [`check`], always).
//! 2. The result is input that changes nothing (property test).
//! 3. A function that accumulates nowhere in place is left alone, whatever else it does (structural).
//! 4. Nothing depends on the order of a hash map (structural: maps are only looked up, or sorted).
//!
//! # Cost
//!
//! Linear in the operands that name tiles, times the depth of nesting, plus sorting them per block.
//!
//! # What is diagnosed
//!
//! Errors: `pto:control-flow`, `pto:interior-post`, `pto:view`, `pto:dynamic-access`,
//! `pto:tile-masks`, `pto:tile-m-layout`, `pto:tile-no-register`, `pto:tile-core-capacity`. Remarks:
//! `pto.acc-begin`, `pto.acc-alternate`, `pto.acc-copy`, `pto.acc-memset`.
//!
//! # Left out
//!
//! * Register numbers and hands: [`assign`] chooses them, for who encodes the instructions.
//! * Rotating registers by unrolling loops: a body with one accumulation copies, and a remark says so.

pub mod assign;
mod check;
mod flow;
pub mod registers;
mod report;
#[cfg(test)]
mod tests;
mod touches;
mod versions;
mod zeros;

use pto_ir::tile::{TileAccess, TileOrigin, TilePlace, TilePlan, TileProgram};
use pto_ir::tile::{TileCopy, TileRewire, TileZero};
use pto_ir::{AllocId, Diag, Site};

use flow::{Flow, Holds};
use registers::Room;
use touches::{BlockTouches, Touches};
use versions::{Ends, Moves};

/// What notes at a tile say.
const MADE: &str = "the tile is made here";

/// The options of the pass.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What the machine has room for.
    pub room: Room,
    /// Whether to explain every decision by a remark.
    pub remarks: bool,
    /// Whether to fill in [`TilePlan::report`].
    pub report: bool,
}

/// The registers that make `program` right.
///
/// # Errors
///
/// What no registers can express, each with a note at the other site; the tags are listed in the
/// module's documentation.
pub fn plan(program: &TileProgram, options: &Options) -> Result<TilePlan, Vec<Diag>> {
    let locations = locations(program);
    if !locations.is_empty() {
        refuse_unknown(program)?;
    }
    let (zeros, zeroed, touches) = zeros::place(program, &locations);
    let given = program.insts.len();
    let plan = assign_registers(&zeroed, given, &touches, &locations, options);
    // What the zeros cause is said of the instruction that they stand before.
    let locate = |site| match site {
        Site::Inst(inst) if inst.index() >= given => Site::Inst(zeros[inst.index() - given].before),
        other => other,
    };
    match plan {
        Ok(mut plan) => {
            if options.remarks {
                plan.diags.splice(0..0, explain_zeros(&zeros));
            }
            Ok(TilePlan { zeros, ..plan })
        }
        Err(errors) => Err(errors
            .into_iter()
            .map(|error| error.located(locate))
            .collect()),
    }
}

/// The plan of `program`, of which the instructions from number `given` on fill with zeros.
fn assign_registers(
    program: &TileProgram,
    given: usize,
    touches: &Touches,
    locations: &[AllocId],
    options: &Options,
) -> Result<TilePlan, Vec<Diag>> {
    let mut solver = Solver {
        program,
        given,
        touches,
        options,
        plan: TilePlan::default(),
        groups: Vec::new(),
        errors: Vec::new(),
    };
    for &tile in locations {
        solver.location(tile);
    }
    if !solver.errors.is_empty() {
        return Err(solver.errors);
    }
    let Solver {
        mut plan, groups, ..
    } = solver;
    let need = registers::check_room(program, touches, &plan, options.room)?;
    check::check(program, given, &plan)?;
    if options.report && (!plan.is_empty() || program.insts.len() > given) {
        plan.report = report::text(program, &groups, need);
    }
    Ok(plan)
}

/// The tiles that some matmul reads and writes.
fn locations(program: &TileProgram) -> Vec<AllocId> {
    let mut is_updated = vec![false; program.tiles.len()];
    for inst in program.insts.iter().filter(|inst| inst.matmul().is_some()) {
        let results = inst
            .uses
            .iter()
            .filter(|operand| operand.access == TileAccess::Result);
        for result in results {
            let is_read = |other: &pto_ir::tile::TileUse| {
                other.tile == result.tile && other.access != TileAccess::Result
            };
            is_updated[result.tile.index()] |= inst.uses.iter().any(is_read);
        }
    }
    let all = (0..is_updated.len()).map(AllocId::new);
    all.filter(|tile| is_updated[tile.index()]).collect()
}

/// A tile that nobody knows may be any tile, so nothing can be moved.
fn refuse_unknown(program: &TileProgram) -> Result<(), Vec<Diag>> {
    let message = "expected every tile of a function that accumulates in place to be made in it or \
                   to be an argument of it, found one that is known at run time only";
    let errors: Vec<Diag> = program
        .unknown
        .iter()
        .map(|&inst| Diag::error("pto:dynamic-access", Site::Inst(inst), message))
        .collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// What was done about one location.
#[derive(Debug)]
struct Group {
    tile: AllocId,
    heads: usize,
    steps: u32,
    new_registers: u32,
    copies: usize,
}

/// Says where zeros stand.
fn explain_zeros(zeros: &[TileZero]) -> Vec<Diag> {
    let explain = |zero: &TileZero| {
        let message = "zeros before this: a sum that adds to the tile later begins here on some \
                       paths and goes on with it on others";
        let remark = Diag::remark("pto.acc-memset", Site::Inst(zero.before), message);
        remark.with_note(Site::Alloc(zero.tile), MADE)
    };
    zeros.iter().map(explain).collect()
}

struct Solver<'a> {
    program: &'a TileProgram,
    /// From this number on, instructions fill with zeros.
    given: usize,
    touches: &'a Touches,
    options: &'a Options,
    plan: TilePlan,
    groups: Vec<Group>,
    errors: Vec<Diag>,
}

impl Solver<'_> {
    fn location(&mut self, tile: AllocId) {
        if let Some(error) = mixed_masks(self.program, self.given, self.touches, tile) {
            self.errors.push(error);
            return;
        }
        let flow = Flow::new(self.program, self.touches, tile);
        let blocks = self.touches.of(tile);
        let mut found: Vec<Moves> = Vec::with_capacity(blocks.len());
        for (place, touches) in blocks.iter().enumerate() {
            let state = flow.entry(place);
            let ends = self.ends(tile, touches, state.holds);
            match versions::moves(self.program, tile, touches, &flow, state, ends) {
                Ok(moves) => found.push(moves),
                Err(mut errors) => self.errors.append(&mut errors),
            }
        }
        self.adopt(tile, &found);
    }

    /// What is pinned where `touches` begins and ends. A value that lives around a block is at home
    /// there; in the block that makes the tile only an argument does.
    fn ends(&self, tile: AllocId, touches: &BlockTouches, holds: Holds) -> Ends {
        let home = self.program.tile(tile);
        let is_home = touches.block == home.block;
        let region = self.program.blocks[touches.block.index()].region;
        let beside = |other: &BlockTouches| {
            let other = other.block;
            other != touches.block && self.program.blocks[other.index()].region == region
        };
        let is_argument = home.origin == TileOrigin::Argument;
        let has_neighbours = is_home
            && self.program.region_of(touches.block).blocks.len() > 1
            && self.touches.of(tile).iter().any(beside);
        let lives_around = !is_home || is_argument || has_neighbours;
        Ends {
            begins_at_home: lives_around && holds != Holds::Nothing,
            ends_at_home: lives_around,
        }
    }

    fn adopt(&mut self, tile: AllocId, found: &[Moves]) {
        let count = found.iter().map(Moves::new_registers).max().unwrap_or(0);
        let first = self.plan.new_tiles.len() as u32;
        self.plan.new_tiles.extend((0..count).map(|_| tile));
        let place = |place: u8| match place {
            0 => TilePlace::Tile(tile),
            new => TilePlace::New(first + u32::from(new) - 1),
        };
        for moves in found {
            self.plan.heads.extend(&moves.heads);
            for &((inst, operand), to) in &moves.operands {
                let to = place(to);
                self.plan.rewires.push(TileRewire { inst, operand, to });
            }
            for &before in &moves.copies {
                let (from, to) = (place(0), place(1));
                self.plan.copies.push(TileCopy { before, from, to });
            }
            if self.options.remarks {
                self.explain(tile, moves);
            }
        }
        let group = Group {
            tile,
            heads: found.iter().map(|moves| moves.heads.len()).sum(),
            steps: found.iter().map(|moves| moves.steps).sum(),
            new_registers: u32::from(count),
            copies: found.iter().map(|moves| moves.copies.len()).sum(),
        };
        if self.options.remarks && group.new_registers > 0 {
            let message = format!(
                "{} updates in place take turns in this tile and {}",
                group.steps,
                match group.new_registers {
                    1 => "a new one".to_owned(),
                    count => format!("{count} new ones"),
                }
            );
            let remark = Diag::remark("pto.acc-alternate", Site::Alloc(tile), message);
            self.plan.diags.push(remark);
        }
        self.groups.push(group);
    }

    fn explain(&mut self, tile: AllocId, moves: &Moves) {
        for &head in &moves.heads {
            let message = "begins a group: the tile holds nothing yet, so there is no accumulator";
            let remark = Diag::remark("pto.acc-begin", Site::Inst(head), message);
            self.plan
                .diags
                .push(remark.with_note(Site::Alloc(tile), MADE));
        }
        for &copy in &moves.copies {
            let message = "copies the accumulator first: its value comes from and goes to one \
                           register, and a single accumulation lies between; two of them in a \
                           loop body would need no copy";
            let remark = Diag::remark("pto.acc-copy", Site::Inst(copy), message);
            self.plan
                .diags
                .push(remark.with_note(Site::Alloc(tile), MADE));
        }
    }
}

/// A register holds a value on the elements that the writing instruction names, so a location that
/// moves between registers needs all its writes to name the same ones. Zeros where nothing was, which
/// instructions from number `given` on write, are no value that an element could miss.
fn mixed_masks(
    program: &TileProgram,
    given: usize,
    touches: &Touches,
    tile: AllocId,
) -> Option<Diag> {
    const ALL: u8 = 0b1111;
    let argument = program.tile(tile).origin == TileOrigin::Argument;
    let mut first = argument.then_some((ALL, Site::Alloc(tile)));
    let insts = touches.of(tile).iter().flat_map(|block| &block.insts);
    for inst in insts.filter(|inst| inst.index() < given) {
        let entry = program.inst(*inst);
        for operand in entry.uses.iter().filter(|operand| operand.tile == tile) {
            let mask = match operand.access {
                TileAccess::Read | TileAccess::Accumulate => continue,
                TileAccess::Result => entry.matmul().map_or(ALL, |matmul| matmul.mask),
                TileAccess::Fill | TileAccess::Change => ALL,
            };
            let site = Site::Inst(*inst);
            let &mut (expected, other) = first.get_or_insert((mask, site));
            if mask != expected {
                let message = format!(
                    "expected all writes of a tile that is accumulated in place to be of the same \
                     processing elements, found the masks {expected} and {mask}"
                );
                let error = Diag::error("pto:tile-masks", site, message);
                return Some(error.with_note(other, format!("mask {expected} is here")));
            }
        }
    }
    None
}
