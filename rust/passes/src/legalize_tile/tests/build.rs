//! Programs for tests, one call an instruction.

use pto_ir::tile::{
    TileAccess, TileBuffer, TileMatmul, TileOp, TileOrigin, TilePlan, TileProgram, TileUse,
};
use pto_ir::{AllocId, BlockId, Diag, InstId, RegionKind};

use crate::legalize_tile::registers::Room;
use crate::legalize_tile::{Options, plan as plan_with};

/// The machine of the tests.
pub(crate) const ROOM: Room = Room {
    registers: 64,
    bytes: 1 << 18,
};

/// The plan of `program`, with remarks.
pub(crate) fn plan(program: &TileProgram) -> Result<TilePlan, Vec<Diag>> {
    let options = Options {
        room: ROOM,
        remarks: true,
        report: true,
    };
    plan_with(program, &options)
}

/// Builds a program; instructions go to the current block.
pub(crate) struct Builder {
    program: TileProgram,
    pub(crate) block: BlockId,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            program: TileProgram::new("f"),
            block: BlockId::new(0),
        }
    }

    pub(crate) fn finish(self) -> TileProgram {
        self.program
    }

    pub(crate) fn program(&mut self) -> &mut TileProgram {
        &mut self.program
    }

    fn tile(&mut self, origin: TileOrigin, bytes: u32) -> AllocId {
        let block = self.block;
        self.program.add_tile(TileBuffer {
            origin,
            block,
            bytes,
            is_shared: false,
        })
    }

    pub(crate) fn argument(&mut self) -> AllocId {
        self.tile(TileOrigin::Argument, 1024)
    }

    pub(crate) fn alloc(&mut self) -> AllocId {
        self.alloc_of(1024)
    }

    pub(crate) fn alloc_of(&mut self, bytes: u32) -> AllocId {
        let tile = self.tile(TileOrigin::Allocation, bytes);
        self.program
            .push(self.block, TileOp::Alloc(tile), Vec::new());
        tile
    }

    /// A matmul with the given sources, which `result` may be one of. Facts are the usual ones.
    pub(crate) fn matmul(&mut self, uses: &[(AllocId, TileAccess)]) -> InstId {
        self.matmul_with(uses, |_| ())
    }

    pub(crate) fn matmul_with(
        &mut self,
        uses: &[(AllocId, TileAccess)],
        change: impl FnOnce(&mut TileMatmul),
    ) -> InstId {
        let mut facts = TileMatmul {
            converts: false,
            mask: 0b1111,
            can_begin: true,
        };
        change(&mut facts);
        self.push(TileOp::Matmul(facts), uses)
    }

    pub(crate) fn push(&mut self, op: TileOp, uses: &[(AllocId, TileAccess)]) -> InstId {
        let uses = uses.iter().enumerate();
        let uses = uses.map(|(operand, &(tile, access))| TileUse {
            operand: operand as u32,
            tile,
            access,
            is_direct: true,
        });
        self.program.push(self.block, op, uses.collect())
    }

    pub(crate) fn overwrite(&mut self, tile: AllocId) -> InstId {
        self.matmul(&[(tile, TileAccess::Result)])
    }

    /// In place.
    pub(crate) fn accumulate(&mut self, tile: AllocId) -> InstId {
        self.accumulate_to(tile, tile)
    }

    pub(crate) fn accumulate_to(&mut self, from: AllocId, to: AllocId) -> InstId {
        self.matmul(&[(from, TileAccess::Accumulate), (to, TileAccess::Result)])
    }

    pub(crate) fn read(&mut self, tile: AllocId) -> InstId {
        self.push(TileOp::Other, &[(tile, TileAccess::Read)])
    }

    pub(crate) fn fill(&mut self, tile: AllocId) -> InstId {
        self.push(TileOp::Other, &[(tile, TileAccess::Fill)])
    }

    /// A view that something reads and writes.
    pub(crate) fn change_view(&mut self, tile: AllocId) -> InstId {
        let inst = self.push(TileOp::Other, &[(tile, TileAccess::Change)]);
        self.program.insts[inst.index()].uses[0].is_direct = false;
        inst
    }

    /// An operation with one block in each of its regions; `bodies` fills them.
    pub(crate) fn region(&mut self, kind: RegionKind, bodies: &[&dyn Fn(&mut Self)]) -> InstId {
        let outer = self.block;
        let (holder, regions) = self.program.push_region(outer, kind, bodies.len());
        for (region, body) in regions.into_iter().zip(bodies) {
            self.block = self.program.add_block(region);
            body(self);
        }
        self.block = outer;
        holder
    }

    pub(crate) fn repeat(&mut self, trips: Option<u64>, body: &dyn Fn(&mut Self)) -> InstId {
        self.region(RegionKind::For { trips }, &[body])
    }
}
