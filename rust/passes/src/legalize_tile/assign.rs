//! Register numbers for the tiles of a straight line of instructions.
//!
//! # The rule
//!
//! A destination becomes the lowest register of its hand that is free; the compiler chooses the
//! hand. Hands are T, U, M and N, their registers numbered in this order from 0. What matmuls write is in M, then N,
//! T, U; what other engines write, and arguments in order, in U, then T, M, N. A register is free
//! again after the last read of its value, once the instruction has its destinations. Shared tiles
//! have names of their own, counted in order of appearance.
//!
//! The machine compares the *number* of the accumulator's register with the *hands* of destinations,
//! so a hand is passed over while a source of the instruction is in the register of its number.
//! That can only be one of the first registers of T, which the rule takes last.
//!
//! # Left out
//!
//! Loops and branches: which register is the lowest free one depends on the path.

use pto_ir::tile::{TileAccess, TileOp, TileOrigin, TileProgram, TileUse};
use pto_ir::{AllocId, Diag, InstId, Site};
use rustc_hash::{FxHashMap, FxHashSet};

/// The hands in the order in which results take them.
const RESULT_HANDS: [u8; 4] = [2, 3, 0, 1];
/// The hands in the order in which arguments and loaded tiles take them.
pub const LOAD_HANDS: [u8; 4] = [1, 0, 2, 3];

/// What an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// A Local register, 0 to 63.
    Local(u8),
    /// A Shared tile, by its name.
    Shared(u32),
}

/// The registers of every operand of every matmul.
pub type Assignment = FxHashMap<(InstId, u32), Register>;

/// Assigns registers. A hand has `hand` of them.
///
/// # Errors
///
/// `pto:control-flow` for anything but a straight line, `pto:dynamic-access` for a tile that is
/// known at run time only, `pto:tile-alias` for a matmul that writes a tile it reads, and
/// `pto:tile-no-register` where all hands are full.
pub fn assign(program: &TileProgram, hand: u8) -> Result<Assignment, Vec<Diag>> {
    check_form(program).map_err(|diag| vec![diag])?;
    let mut assigner = Assigner {
        program,
        dying: last_reads(program),
        registers: vec![None; program.tiles.len()],
        is_taken: vec![false; usize::from(hand) * RESULT_HANDS.len()],
        hand,
        shared: 0,
        found: Assignment::default(),
    };
    assigner.run().map_err(|diag| vec![diag])?;
    Ok(assigner.found)
}

fn check_form(program: &TileProgram) -> Result<(), Diag> {
    let is_region = |inst: &&InstId| matches!(program.inst(**inst).op, TileOp::Region { .. });
    let entry = program.blocks.first();
    if let Some(&inst) = entry.and_then(|block| block.insts.iter().find(is_region)) {
        let message = "expected a straight line of instructions, found an operation with regions";
        return Err(Diag::error("pto:control-flow", Site::Inst(inst), message));
    }
    if program.blocks.len() > 1 {
        let message = "expected a straight line of instructions, found several blocks";
        return Err(Diag::error("pto:control-flow", Site::Function, message));
    }
    if let Some(&inst) = program.unknown.first() {
        let message = "expected a tile that is made in the function or is an argument of it, found \
                       one that is known at run time only";
        return Err(Diag::error("pto:dynamic-access", Site::Inst(inst), message));
    }
    let is_result = |operand: &&TileUse| operand.access == TileAccess::Result;
    for (index, inst) in program.insts.iter().enumerate() {
        for result in inst.uses.iter().filter(is_result) {
            let is_source =
                |other: &TileUse| other.tile == result.tile && other.access != TileAccess::Result;
            if inst.uses.iter().any(is_source) {
                let message = "TileLegality: expected a destination that is no source of the \
                               instruction, found one tile for both; pto-legalize-acc gives it \
                               another";
                let site = Site::Inst(InstId::new(index));
                return Err(Diag::error("pto:tile-alias", site, message));
            }
        }
    }
    Ok(())
}

/// The operands that are the last to read a value; a write that nobody reads is one, too.
fn last_reads(program: &TileProgram) -> FxHashSet<(InstId, u32)> {
    let argument = |tile: &pto_ir::tile::TileBuffer| tile.origin == TileOrigin::Argument;
    let mut is_needed: Vec<bool> = program.tiles.iter().map(argument).collect();
    let mut last = FxHashSet::default();
    let order = program.blocks.first().map_or(&[][..], |block| &block.insts);
    for &inst in order.iter().rev() {
        let uses = &program.inst(inst).uses;
        for operand in uses.iter().filter(|operand| overwrites(operand)) {
            if !is_needed[operand.tile.index()] {
                last.insert((inst, operand.operand));
            }
            is_needed[operand.tile.index()] =
                program.tile(operand.tile).origin == TileOrigin::Argument;
        }
        for operand in uses.iter().filter(|operand| !overwrites(operand)) {
            if !std::mem::replace(&mut is_needed[operand.tile.index()], true) {
                last.insert((inst, operand.operand));
            }
        }
    }
    last
}

const fn overwrites(operand: &TileUse) -> bool {
    matches!(operand.access, TileAccess::Result | TileAccess::Fill)
}

struct Assigner<'a> {
    program: &'a TileProgram,
    dying: FxHashSet<(InstId, u32)>,
    registers: Vec<Option<Register>>,
    /// Per register.
    is_taken: Vec<bool>,
    /// Registers of a hand.
    hand: u8,
    /// Names of Shared tiles given so far.
    shared: u32,
    found: Assignment,
}

impl Assigner<'_> {
    fn run(&mut self) -> Result<(), Diag> {
        let program = self.program;
        let mut is_used = vec![false; program.tiles.len()];
        let matmuls = program.insts.iter().filter(|inst| inst.matmul().is_some());
        for operand in matmuls.flat_map(|inst| &inst.uses) {
            is_used[operand.tile.index()] = true;
        }
        for tile in (0..program.tiles.len()).map(AllocId::new) {
            if is_used[tile.index()] && program.tile(tile).origin == TileOrigin::Argument {
                self.take(tile, Site::Alloc(tile), LOAD_HANDS, &[])?;
            }
        }
        let order = program.blocks.first().map_or(&[][..], |block| &block.insts);
        order.iter().try_for_each(|&inst| self.step(inst))
    }

    fn step(&mut self, inst: InstId) -> Result<(), Diag> {
        let entry = self.program.inst(inst);
        let is_matmul = entry.matmul().is_some();
        let hands = if is_matmul { RESULT_HANDS } else { LOAD_HANDS };
        let mut sources = Vec::new();
        for operand in entry.uses.iter().filter(|operand| !overwrites(operand)) {
            // A value that nobody wrote has a register all the same: the machine will refuse it.
            if self.registers[operand.tile.index()].is_none() {
                self.take(operand.tile, Site::Inst(inst), LOAD_HANDS, &[])?;
            }
            self.enter(inst, operand);
            if let Some(Register::Local(number)) = self.registers[operand.tile.index()] {
                sources.push(number);
            }
        }
        let mut freed = Vec::new();
        for operand in entry.uses.iter().filter(|operand| overwrites(operand)) {
            // What the tile holds is dead; the value gets a register of its own.
            freed.extend(self.registers[operand.tile.index()].take());
            self.take(operand.tile, Site::Inst(inst), hands, &sources)?;
            self.enter(inst, operand);
        }
        for register in freed {
            self.free(register);
        }
        for operand in &entry.uses {
            if self.dying.contains(&(inst, operand.operand)) {
                let register = self.registers[operand.tile.index()].take();
                register
                    .into_iter()
                    .for_each(|register| self.free(register));
            }
        }
        Ok(())
    }

    fn enter(&mut self, inst: InstId, operand: &TileUse) {
        if let Some(register) = self.registers[operand.tile.index()] {
            self.found.insert((inst, operand.operand), register);
        }
    }

    fn free(&mut self, register: Register) {
        if let Register::Local(number) = register {
            self.is_taken[usize::from(number)] = false;
        }
    }

    /// Gives `tile` the lowest free register of the first of `hands` that has one, none of them
    /// being the number of a register in `sources`.
    fn take(
        &mut self,
        tile: AllocId,
        site: Site,
        hands: [u8; 4],
        sources: &[u8],
    ) -> Result<(), Diag> {
        if self.program.tile(tile).is_shared {
            self.registers[tile.index()] = Some(Register::Shared(self.shared));
            self.shared += 1;
            return Ok(());
        }
        let usable = hands.into_iter().filter(|hand| !sources.contains(hand));
        let free = usable
            .flat_map(|hand| hand * self.hand..(hand + 1) * self.hand)
            .find(|&number| !self.is_taken[usize::from(number)]);
        let Some(number) = free else {
            let message = "TileAllocation: expected a free register, found all of them taken";
            return Err(Diag::error("pto:tile-no-register", site, message));
        };
        self.is_taken[usize::from(number)] = true;
        self.registers[tile.index()] = Some(Register::Local(number));
        Ok(())
    }
}
