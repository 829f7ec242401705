//! Which tiles a block or an operation with regions writes, and whether one was written before a
//! block is entered: a question of paths, answered by searching for one.

use std::collections::BTreeMap;

use pto_ir::tile::{TileAccess, TileOp, TileOrigin, TileProgram};
use pto_ir::{AllocId, BlockId, InstId, RegionId, RegionKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Whether a tile was written to on the way to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Never,
    Perhaps,
    Certainly,
}

/// What is done to a tile that is touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) writes: bool,
    pub(super) certainly: bool,
}

type Effects = BTreeMap<AllocId, Effect>;

/// The facts of a function.
pub(super) struct Facts<'a> {
    program: &'a TileProgram,
    /// Per block, the tiles that are touched in it or inside it.
    of_block: Vec<Effects>,
    /// Per operation with regions, those of around it.
    of_holder: FxHashMap<InstId, Effects>,
    /// The state before an operation with regions.
    saved: FxHashMap<(InstId, AllocId), Written>,
    /// In how many blocks of the region that makes it each tile is touched.
    home_blocks: Vec<usize>,
    /// Of regions of several blocks.
    paths: FxHashMap<(RegionId, AllocId), Paths>,
}

/// The blocks of one region that may be entered with one tile not written, and with it written.
#[derive(Default)]
struct Paths {
    unwritten: FxHashSet<BlockId>,
    written: FxHashSet<BlockId>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(program: &'a TileProgram) -> Self {
        let mut facts = Self {
            program,
            of_block: vec![Effects::new(); program.blocks.len()],
            of_holder: FxHashMap::default(),
            saved: FxHashMap::default(),
            home_blocks: vec![0; program.tiles.len()],
            paths: FxHashMap::default(),
        };
        // Blocks come after what holds them.
        for block in (0..program.blocks.len()).rev().map(BlockId::new) {
            let mut effects = Effects::new();
            for &inst in &program.blocks[block.index()].insts {
                facts.add(inst, &mut effects);
            }
            for &tile in effects.keys() {
                let is_home = facts.region_that_makes(tile) == program.blocks[block.index()].region;
                facts.home_blocks[tile.index()] += usize::from(is_home);
            }
            facts.of_block[block.index()] = effects;
        }
        facts
    }

    fn add(&mut self, inst: InstId, effects: &mut Effects) {
        let entry = self.program.inst(inst);
        for operand in &entry.uses {
            let certainly = matches!(operand.access, TileAccess::Result | TileAccess::Fill);
            let effect = effects.entry(operand.tile).or_default();
            effect.writes |= certainly || operand.access == TileAccess::Change;
            effect.certainly |= certainly;
        }
        if let TileOp::Region { kind, regions } = &entry.op {
            let inside = self.of_regions(*kind, regions);
            for (&tile, effect) in &inside {
                let whole = effects.entry(tile).or_default();
                whole.writes |= effect.writes;
                whole.certainly |= effect.certainly;
            }
            self.of_holder.insert(inst, inside);
        }
    }

    fn of_regions(&self, kind: RegionKind, regions: &[RegionId]) -> Effects {
        let mut total = Effects::new();
        for &region in regions {
            for block in &self.program.regions[region.index()].blocks {
                for (&tile, effect) in &self.of_block[block.index()] {
                    if self.region_that_makes(tile) != region {
                        total.entry(tile).or_default().writes |= effect.writes;
                    }
                }
            }
        }
        let needed: &[RegionId] = match kind {
            RegionKind::For { trips, .. } if trips.is_some_and(|count| count > 0) => regions,
            RegionKind::If | RegionKind::IndexSwitch => regions,
            RegionKind::While => &regions[..regions.len().min(1)],
            RegionKind::For { .. } | RegionKind::Other => &[],
        };
        for (&tile, effect) in &mut total {
            let certain = |region: &RegionId| match &self.program.regions[region.index()].blocks[..]
            {
                [only] => {
                    let inside = self.of_block[only.index()].get(&tile);
                    inside.is_some_and(|effect| effect.certainly)
                }
                _ => false,
            };
            effect.certainly = !needed.is_empty() && needed.iter().all(certain);
        }
        total
    }

    /// The tiles of around `holder` that are touched inside.
    pub(super) fn inside(&self, holder: InstId) -> Vec<(AllocId, Effect)> {
        let effects = self.of_holder.get(&holder);
        let effects = effects.into_iter().flatten();
        effects.map(|(&tile, &effect)| (tile, effect)).collect()
    }

    /// Keeps the state of `tile` before `holder`.
    pub(super) fn save(&mut self, holder: InstId, tile: AllocId, written: Written) {
        self.saved.insert((holder, tile), written);
    }

    fn region_that_makes(&self, tile: AllocId) -> RegionId {
        self.program.blocks[self.program.tile(tile).block.index()].region
    }

    /// The tiles that `block` touches and does not make, as it finds them.
    pub(super) fn entry(&mut self, block: BlockId) -> Vec<(AllocId, Written)> {
        let tiles: Vec<AllocId> = self.of_block[block.index()].keys().copied().collect();
        let is_found = |tile: &AllocId| {
            let home = self.program.tile(*tile);
            home.block != block || home.origin == TileOrigin::Argument
        };
        let found: Vec<AllocId> = tiles.into_iter().filter(is_found).collect();
        found
            .into_iter()
            .map(|tile| (tile, self.written_before(block, tile)))
            .collect()
    }

    /// The tiles that `block` touches and that live after it.
    pub(super) fn leaving(&self, block: BlockId) -> Vec<AllocId> {
        let tiles = self.of_block[block.index()].keys().copied();
        tiles
            .filter(|&tile| {
                let home = self.program.tile(tile);
                let is_argument = home.origin == TileOrigin::Argument;
                home.block != block || is_argument || self.home_blocks[tile.index()] > 1
            })
            .collect()
    }

    fn written_before(&mut self, block: BlockId, tile: AllocId) -> Written {
        let region = self.program.blocks[block.index()].region;
        let is_made_here = self.region_that_makes(tile) == region;
        let origin = self.program.tile(tile).origin;
        let outer = match (is_made_here, origin, self.program.holder(block)) {
            (true, TileOrigin::Allocation, _) | (false, _, None) => Written::Never,
            (true, TileOrigin::Argument, _) => Written::Certainly,
            (false, _, Some(holder)) => self.written_around(holder, tile),
        };
        if self.program.regions[region.index()].blocks.len() == 1 {
            return outer;
        }
        let key = (region, tile);
        if !self.paths.contains_key(&key) {
            let paths = self.paths(region, tile, outer);
            self.paths.insert(key, paths);
        }
        let paths = &self.paths[&key];
        match (
            paths.unwritten.contains(&block),
            paths.written.contains(&block),
        ) {
            (true, false) => Written::Never,
            (true, true) => Written::Perhaps,
            (false, _) => Written::Certainly,
        }
    }

    /// The paths through `region`, which is entered with `outer`; none leads through where the tile
    /// is made.
    fn paths(&self, region: RegionId, tile: AllocId, outer: Written) -> Paths {
        let blocks = &self.program.regions[region.index()].blocks;
        let home = self.program.tile(tile);
        let is_made_here = self.region_that_makes(tile) == region;
        let first = if is_made_here { home.block } else { blocks[0] };
        let made = (is_made_here && home.origin == TileOrigin::Allocation).then_some(home.block);
        let effect = |of: BlockId| {
            let effects = &self.of_block[of.index()];
            effects.get(&tile).copied().unwrap_or_default()
        };
        let mut paths = Paths::default();
        if outer != Written::Certainly {
            paths.unwritten = self.reached(vec![first], made, |of| !effect(of).certainly);
        }
        let writers = blocks.iter().filter(|&&of| effect(of).writes);
        let after = writers.flat_map(|of| &self.program.blocks[of.index()].successors);
        let mut from: Vec<BlockId> = after.copied().filter(|&next| Some(next) != made).collect();
        if outer != Written::Never {
            from.push(first);
        }
        paths.written = self.reached(from, made, |_| true);
        paths
    }

    /// The state where the regions of `holder` are entered, again and again if it is a loop.
    fn written_around(&self, holder: InstId, tile: AllocId) -> Written {
        let before = self.saved.get(&(holder, tile)).copied();
        let before = before.unwrap_or(Written::Never);
        let TileOp::Region { kind, .. } = self.program.inst(holder).op else {
            return before;
        };
        let is_once = matches!(kind, RegionKind::If | RegionKind::IndexSwitch);
        let effect = self.of_holder.get(&holder).and_then(|all| all.get(&tile));
        match effect.is_some_and(|effect| effect.writes) && !is_once {
            true => before.or(Written::Certainly),
            false => before,
        }
    }

    /// The blocks that paths from the begins of `from` come to through blocks that `passes` lets
    /// through, never into `made`.
    fn reached(
        &self,
        from: Vec<BlockId>,
        made: Option<BlockId>,
        passes: impl Fn(BlockId) -> bool,
    ) -> FxHashSet<BlockId> {
        let mut seen: FxHashSet<BlockId> = from.iter().copied().collect();
        let mut pending = from;
        while let Some(block) = pending.pop() {
            if passes(block) {
                let next = self.program.blocks[block.index()].successors.iter();
                pending.extend(next.filter(|&&next| Some(next) != made && seen.insert(next)));
            }
        }
        seen
    }
}
