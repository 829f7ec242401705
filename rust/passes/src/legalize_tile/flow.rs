//! What a tile holds before each instruction that touches it: nothing, perhaps something, or a
//! value, and whether post-processing has changed that value.
//!
//! First every block, from the innermost outwards, gets its *effect* as a whole; then every block,
//! from the outermost inwards, the state it is entered with. Only a region of several blocks takes
//! more than two looks: there states are joined along branches until nothing changes, which happens
//! at most three times a block.

use pto_ir::tile::{TileAccess, TileOp, TileOrigin, TileProgram};
use pto_ir::{AllocId, BlockId, InstId, RegionId, RegionKind};
use rustc_hash::FxHashMap;

use super::touches::{BlockTouches, Touches};

/// Whether a tile holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Nothing,
    Perhaps,
    Value,
}

/// What is known of a tile at one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) holds: Holds,
    /// A matmul that changed the sum by post-processing and may be the last one that wrote.
    pub(super) converter: Option<InstId>,
}

impl State {
    const NOTHING: Self = Self {
        holds: Holds::Nothing,
        converter: None,
    };
    const VALUE: Self = Self {
        holds: Holds::Value,
        converter: None,
    };

    fn join(self, other: Self) -> Self {
        Self {
            holds: match self.holds == other.holds {
                true => self.holds,
                false => Holds::Perhaps,
            },
            converter: self.converter.or(other.converter),
        }
    }
}

/// What an entry or a block does to a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// It may write.
    pub(super) writes: bool,
    /// It does, on every path.
    certainly: bool,
    /// As [`State::converter`], afterwards.
    converter: Option<InstId>,
}

impl Effect {
    fn after(self, state: State) -> State {
        let written = State {
            holds: Holds::Value,
            converter: self.converter,
        };
        match (self.writes, self.certainly) {
            (false, _) => state,
            (true, true) => written,
            (true, false) => state.join(written),
        }
    }

    fn then(self, next: Self) -> Self {
        match (next.writes, next.certainly) {
            (false, _) => self,
            (true, true) => next,
            (true, false) => Self {
                writes: true,
                certainly: self.certainly,
                converter: next.converter.or(self.converter),
            },
        }
    }

    /// One of the two happens.
    fn or(self, other: Self) -> Self {
        Self {
            writes: self.writes || other.writes,
            certainly: self.certainly && other.certainly,
            converter: self.converter.or(other.converter),
        }
    }

    /// It happens, or not.
    fn perhaps(self) -> Self {
        Self {
            certainly: false,
            ..self
        }
    }
}

/// One tile throughout the function.
pub(super) struct Flow<'a> {
    program: &'a TileProgram,
    tile: AllocId,
    blocks: &'a [BlockTouches],
    /// The place in `blocks` of each block.
    places: FxHashMap<BlockId, usize>,
    /// Per block.
    effects: Vec<Effect>,
    entries: Vec<Option<State>>,
    /// Of operations that hold regions.
    region_effects: FxHashMap<InstId, Effect>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(program: &'a TileProgram, touches: &'a Touches, tile: AllocId) -> Self {
        let blocks = touches.of(tile);
        let places = blocks.iter().enumerate();
        let mut flow = Self {
            program,
            tile,
            blocks,
            places: places
                .map(|(place, touches)| (touches.block, place))
                .collect(),
            effects: vec![Effect::default(); blocks.len()],
            entries: vec![None; blocks.len()],
            region_effects: FxHashMap::default(),
        };
        for place in (0..blocks.len()).rev() {
            flow.summarize(place);
        }
        flow.enter_home();
        for place in 0..blocks.len() {
            flow.enter_regions_of(place);
        }
        flow
    }

    /// What the tile holds where block number `place` begins. In code that cannot be reached, a
    /// value.
    pub(super) fn entry(&self, place: usize) -> State {
        self.entries[place].unwrap_or(State::VALUE)
    }

    /// The number of `block` among those that touch the tile.
    pub(super) fn place(&self, block: BlockId) -> Option<usize> {
        self.places.get(&block).copied()
    }

    /// The state after `inst`, from the one before it.
    pub(super) fn step(&self, inst: InstId, state: State) -> State {
        self.effect(inst).after(state)
    }

    /// What `inst` does to the tile.
    pub(super) fn effect(&self, inst: InstId) -> Effect {
        let entry = self.program.inst(inst);
        if matches!(entry.op, TileOp::Region { .. }) {
            return self.region_effects.get(&inst).copied().unwrap_or_default();
        }
        let mut effect = Effect::default();
        for operand in entry
            .uses
            .iter()
            .filter(|operand| operand.tile == self.tile)
        {
            let overwrites = matches!(operand.access, TileAccess::Result | TileAccess::Fill);
            effect.writes |= overwrites || operand.access == TileAccess::Change;
            // A part that is written makes no value of the whole.
            effect.certainly |= overwrites;
            if operand.access == TileAccess::Result {
                let converts = entry.matmul().is_some_and(|matmul| matmul.converts);
                effect.converter = converts.then_some(inst);
            }
        }
        effect
    }

    fn summarize(&mut self, place: usize) {
        let mut whole = Effect::default();
        for &inst in &self.blocks[place].insts {
            if let TileOp::Region { kind, regions } = &self.program.inst(inst).op {
                let effect = self.region_effect(*kind, regions);
                self.region_effects.insert(inst, effect);
            }
            whole = whole.then(self.effect(inst));
        }
        self.effects[place] = whole;
    }

    fn region_effect(&self, kind: RegionKind, regions: &[RegionId]) -> Effect {
        let mut parts = regions.iter().map(|&region| self.body_effect(region));
        let first = parts.next().unwrap_or_default();
        let any = |parts: &mut dyn Iterator<Item = Effect>| parts.fold(first, Effect::or);
        match kind {
            RegionKind::For { trips, .. } => match trips {
                Some(count) if count > 0 => first,
                _ => first.perhaps(),
            },
            RegionKind::If | RegionKind::IndexSwitch => any(&mut parts),
            // The first region runs at least once, and last.
            RegionKind::While => Effect {
                certainly: first.certainly,
                ..any(&mut parts)
            },
            RegionKind::Other => any(&mut parts).perhaps(),
        }
    }

    fn body_effect(&self, region: RegionId) -> Effect {
        let blocks = &self.program.regions[region.index()].blocks;
        let effects = blocks.iter().map(|block| {
            self.places
                .get(block)
                .map_or(Effect::default(), |&at| self.effects[at])
        });
        match blocks.len() {
            0 | 1 => effects.fold(Effect::default(), Effect::then),
            _ => effects.fold(Effect::default(), Effect::or).perhaps(),
        }
    }

    /// The region that allocates the tile.
    fn enter_home(&mut self) {
        let home = *self.program.tile(self.tile);
        let state = match home.origin {
            TileOrigin::Argument => State::VALUE,
            TileOrigin::Allocation => State::NOTHING,
        };
        let region = self.program.blocks[home.block.index()].region;
        let is_in = |at: &BlockTouches| self.program.blocks[at.block.index()].region == region;
        let mut here = self.blocks.iter().filter(|at| is_in(at));
        let is_local = here.all(|at| at.block == home.block);
        match self.places.get(&home.block) {
            Some(&place) if is_local => self.entries[place] = Some(state),
            _ => {
                let reset = (home.origin == TileOrigin::Allocation).then_some(home.block);
                self.enter(region, home.block, state, reset);
            }
        }
    }

    /// The regions of the operations in block number `place`.
    fn enter_regions_of(&mut self, place: usize) {
        let mut state = self.entry(place);
        for &inst in &self.blocks[place].insts {
            if let TileOp::Region { kind, regions } = &self.program.inst(inst).op {
                let again = match kind {
                    RegionKind::If | RegionKind::IndexSwitch => state,
                    _ => self.effect(inst).perhaps().after(state),
                };
                for &region in regions {
                    if let Some(&first) = self.program.regions[region.index()].blocks.first() {
                        self.enter(region, first, again, None);
                    }
                }
            }
            state = self.step(inst, state);
        }
    }

    /// The entry states of the blocks of `region`, whose block `first` is entered with `state`.
    /// Nothing flows into `reset`: there the tile is made.
    fn enter(&mut self, region: RegionId, first: BlockId, state: State, reset: Option<BlockId>) {
        let mut known: FxHashMap<BlockId, State> = FxHashMap::default();
        known.insert(first, state);
        let mut pending = vec![first];
        while let Some(block) = pending.pop() {
            let before = known.get(&block).copied().unwrap_or(state);
            let after = match self.places.get(&block) {
                Some(&place) => self.effects[place].after(before),
                None => before,
            };
            for &next in &self.program.blocks[block.index()].successors {
                let joined = known.get(&next).map_or(after, |&old| old.join(after));
                if Some(next) != reset && known.insert(next, joined) != Some(joined) {
                    pending.push(next);
                }
            }
        }
        for block in &self.program.regions[region.index()].blocks {
            if let Some(&place) = self.places.get(block) {
                self.entries[place] = known.get(block).copied();
            }
        }
    }
}
