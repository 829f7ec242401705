//! The checker: follows every register through the function as the plan leaves it.
//!
//! Values are numbers. The *original* says which value each tile holds, the *result* which value
//! each register holds; an instruction of the result must read the values that the original reads,
//! and write no register that it reads. Blocks are looked at one by one: at the ends of one, and
//! around an operation with regions, a tile that lives there has to be at home, and its other
//! registers lose what they hold. Whether a tile was written before a block is a matter of paths
//! ([`Facts`]). Nothing is taken from the solver.

mod facts;

use pto_ir::tile::{TileAccess, TileOp, TilePlace, TilePlan, TileProgram, TileUse};
use pto_ir::{AllocId, BlockId, Diag, InstId, Site};
use rustc_hash::FxHashMap;

use facts::{Facts, Written};

/// What a tile of the original holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    value: u64,
    written: Written,
}

type Verdict = Result<(), (Site, &'static str)>;

/// Whether `plan` makes `program` right, of which the instructions from number `given` on fill with
/// zeros what holds nothing.
pub(super) fn check(program: &TileProgram, given: usize, plan: &TilePlan) -> Result<(), Vec<Diag>> {
    Checker::new(program, given, plan)
        .and_then(Checker::run)
        .map_err(|(site, reason)| {
            let message = format!("the registers contradict the proof: {reason}");
            vec![Diag::error("pto:internal-legalize-acc", site, message)]
        })
}

struct Checker<'a> {
    program: &'a TileProgram,
    /// From this number on, instructions fill with zeros.
    given: usize,
    plan: &'a TilePlan,
    facts: Facts<'a>,
    rewires: FxHashMap<(InstId, u32), TilePlace>,
    copies: FxHashMap<InstId, Vec<usize>>,
    is_head: Vec<bool>,
    held: Vec<Held>,
    /// What the tiles hold as registers, then what the new ones hold.
    registers: Vec<Option<u64>>,
    last_value: u64,
}

impl<'a> Checker<'a> {
    fn new(
        program: &'a TileProgram,
        given: usize,
        plan: &'a TilePlan,
    ) -> Result<Self, (Site, &'static str)> {
        let mut rewires = FxHashMap::default();
        for rewire in &plan.rewires {
            let key = (rewire.inst, rewire.operand);
            if rewires.insert(key, rewire.to).is_some() {
                return Err((Site::Inst(rewire.inst), "an operand is planned twice"));
            }
        }
        let mut copies: FxHashMap<InstId, Vec<usize>> = FxHashMap::default();
        for (index, copy) in plan.copies.iter().enumerate() {
            copies.entry(copy.before).or_default().push(index);
        }
        let mut is_head = vec![false; program.insts.len()];
        for head in &plan.heads {
            is_head[head.index()] = true;
        }
        let nothing = Held {
            value: 0,
            written: Written::Never,
        };
        Ok(Self {
            program,
            given,
            plan,
            facts: Facts::new(program),
            rewires,
            copies,
            is_head,
            held: vec![nothing; program.tiles.len()],
            registers: vec![None; program.tiles.len() + plan.new_tiles.len()],
            last_value: 0,
        })
    }

    /// What holds a region comes before its blocks, so its states are known by then.
    fn run(mut self) -> Verdict {
        let program = self.program;
        for block in (0..program.blocks.len()).map(BlockId::new) {
            for (tile, written) in self.facts.entry(block) {
                self.forget(tile, written);
            }
            for &inst in &program.blocks[block.index()].insts {
                self.step(inst)?;
            }
            let leaving = self.facts.leaving(block);
            if let Some(&tile) = leaving.iter().find(|&&tile| !self.is_home(tile)) {
                return Err((Site::Alloc(tile), "a value leaves its block elsewhere"));
            }
        }
        Ok(())
    }

    fn fresh_value(&mut self) -> u64 {
        self.last_value += 1;
        self.last_value
    }

    /// Whether the home of `tile` holds its value, if it has one.
    fn is_home(&self, tile: AllocId) -> bool {
        let held = self.held[tile.index()];
        held.written == Written::Never || self.registers[tile.index()] == Some(held.value)
    }

    /// The tile gets a value that is not known, at home, and its other registers lose theirs.
    fn forget(&mut self, tile: AllocId, written: Written) {
        let value = self.fresh_value();
        self.held[tile.index()] = Held { value, written };
        self.registers[tile.index()] = Some(value);
        let kinds = &self.plan.new_tiles;
        // New tiles of one kind stand together.
        let start = kinds.partition_point(|&kind| kind < tile);
        let count = kinds[start..]
            .iter()
            .take_while(|&&kind| kind == tile)
            .count();
        let first = self.program.tiles.len() + start;
        self.registers[first..first + count].fill(None);
    }

    fn step(&mut self, inst: InstId) -> Verdict {
        for index in self.copies.remove(&inst).unwrap_or_default() {
            let copy = self.plan.copies[index];
            let (from, to) = (self.register(copy.from), self.register(copy.to));
            self.registers[to] = self.registers[from];
        }
        match &self.program.inst(inst).op {
            TileOp::Alloc(tile) => {
                self.forget(*tile, Written::Never);
                Ok(())
            }
            TileOp::Region { .. } => self.pass_region(inst),
            TileOp::Matmul(_) | TileOp::Other => self.execute(inst),
        }
    }

    fn pass_region(&mut self, inst: InstId) -> Verdict {
        for (tile, effect) in self.facts.inside(inst) {
            if !self.is_home(tile) {
                return Err((Site::Inst(inst), "a value enters a region elsewhere"));
            }
            let before = self.held[tile.index()].written;
            self.facts.save(inst, tile, before);
            if effect.writes {
                self.forget(tile, before.after(effect));
            }
        }
        Ok(())
    }

    fn execute(&mut self, inst: InstId) -> Verdict {
        let entry = self.program.inst(inst);
        let fail = |reason| Err((Site::Inst(inst), reason));
        let is_first =
            |operand: &TileUse| self.held[operand.tile.index()].written == Written::Never;
        if inst.index() >= self.given && !entry.uses.iter().all(is_first) {
            return fail("zeros overwrite a value");
        }
        let in_place = entry.in_place();
        if let Some(tile) = in_place {
            let begins = self.held[tile.index()].written == Written::Never;
            if begins != self.is_head[inst.index()] {
                return fail("a group begins elsewhere");
            }
            if self.held[tile.index()].written == Written::Perhaps {
                return fail("an accumulator may be undefined");
            }
        } else if self.is_head[inst.index()] {
            return fail("an accumulator is dropped that is another tile");
        }
        let mut read = Vec::new();
        for operand in &entry.uses {
            let register = self.register_of(inst, operand)?;
            let is_dropped = self.is_head[inst.index()] && operand.access == TileAccess::Accumulate;
            if !is_dropped && self.reads(operand) {
                let held = self.held[operand.tile.index()];
                if held.written != Written::Never && self.registers[register] != Some(held.value) {
                    return fail("a register is read that holds another value");
                }
                read.push(register);
            }
        }
        for operand in &entry.uses {
            let register = self.register_of(inst, operand)?;
            if operand.access == TileAccess::Result && read.contains(&register) {
                return fail("a register is read and written");
            }
            self.write(operand, register);
        }
        Ok(())
    }

    fn reads(&self, operand: &TileUse) -> bool {
        !matches!(operand.access, TileAccess::Result | TileAccess::Fill)
    }

    fn write(&mut self, operand: &TileUse, register: usize) {
        let before = self.held[operand.tile.index()].written;
        let written = match operand.access {
            TileAccess::Read | TileAccess::Accumulate => return,
            TileAccess::Result | TileAccess::Fill => Written::Certainly,
            TileAccess::Change => before.or(Written::Certainly),
        };
        let value = self.fresh_value();
        self.held[operand.tile.index()] = Held { value, written };
        self.registers[register] = Some(value);
    }

    fn register(&self, place: TilePlace) -> usize {
        match place {
            TilePlace::Tile(tile) => tile.index(),
            TilePlace::New(index) => self.program.tiles.len() + index as usize,
        }
    }

    /// The register that an operand names in the result.
    fn register_of(&self, inst: InstId, operand: &TileUse) -> Result<usize, (Site, &'static str)> {
        let Some(&place) = self.rewires.get(&(inst, operand.operand)) else {
            return Ok(operand.tile.index());
        };
        let kind = match place {
            TilePlace::Tile(tile) => Some(tile),
            TilePlace::New(index) => self.plan.new_tiles.get(index as usize).copied(),
        };
        if !operand.is_direct || kind != Some(operand.tile) {
            return Err((
                Site::Inst(inst),
                "an operand names a register of another tile",
            ));
        }
        Ok(self.register(place))
    }
}

impl Written {
    fn after(self, effect: facts::Effect) -> Self {
        match (effect.writes, effect.certainly) {
            (false, _) => self,
            (true, true) => Self::Certainly,
            (true, false) => self.or(Self::Certainly),
        }
    }

    /// Either of the two.
    fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Perhaps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legalize_tile::tests::build::Builder;
    use pto_ir::tile::TileRewire;

    /// The right plan passes; every plan with one thing changed does not.
    #[test]
    fn every_change_of_a_plan_is_refused() {
        let mut builder = Builder::new();
        let tile = builder.alloc();
        for _ in 0..3 {
            builder.accumulate(tile);
        }
        builder.read(tile);
        let program = builder.finish();
        let plan = crate::legalize_tile::tests::build::plan(&program).expect("a plan");
        assert_eq!((plan.rewires.len(), plan.heads.len()), (2, 1));
        assert_eq!(check(&program, program.insts.len(), &plan), Ok(()));
        for skipped in 0..plan.rewires.len() {
            let mut broken = plan.clone();
            broken.rewires.remove(skipped);
            assert!(
                check(&program, program.insts.len(), &broken).is_err(),
                "without rewire {skipped}"
            );
        }
        let mut broken = plan.clone();
        broken.heads.clear();
        assert!(check(&program, program.insts.len(), &broken).is_err());
        let mut broken = plan.clone();
        broken.heads.push(plan.rewires[1].inst);
        assert!(check(&program, program.insts.len(), &broken).is_err());
        let mut broken = plan.clone();
        broken.rewires.push(TileRewire {
            inst: InstId::new(4),
            operand: 0,
            to: TilePlace::New(0),
        });
        assert!(
            check(&program, program.insts.len(), &broken).is_err(),
            "a read of the other register"
        );
        assert!(check(&program, program.insts.len(), &TilePlan::default()).is_err());
    }

    #[test]
    fn zeros_overwrite_nothing() {
        let mut builder = Builder::new();
        let tile = builder.alloc();
        let first = builder.read(tile);
        let writer = builder.overwrite(tile);
        let last = builder.read(tile);
        let program = builder.finish();
        for (before, is_right) in [(first, true), (writer, true), (last, false)] {
            let zeroed = program.with_zeros(&[pto_ir::tile::TileZero { before, tile }]);
            let found = check(&zeroed, program.insts.len(), &TilePlan::default());
            assert_eq!(found.is_ok(), is_right, "{found:?}");
        }
    }
}
