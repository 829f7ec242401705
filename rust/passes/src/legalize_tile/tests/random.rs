//! Random programs, with loops, branches and views, run along random paths before and after: every
//! read must see the same value. The runner knows nothing of the solver or the checker: it executes.

use pto_ir::tile::{TileAccess, TileOp, TileOrigin, TileProgram};
use pto_ir::{AllocId, BlockId, InstId, RegionKind};

use super::build::{Builder, plan};

fn random_program(rng: &mut fastrand::Rng) -> TileProgram {
    let mut builder = Builder::new();
    let mut tiles = Vec::new();
    for _ in 0..rng.usize(1..4) {
        tiles.push(match rng.bool() {
            true => builder.argument(),
            false => builder.alloc(),
        });
    }
    let count = rng.usize(1..12);
    fill_block(&mut builder, rng, &mut tiles, count, 0);
    builder.finish()
}

fn fill_block(
    builder: &mut Builder,
    rng: &mut fastrand::Rng,
    tiles: &mut Vec<AllocId>,
    count: usize,
    depth: usize,
) {
    for _ in 0..count {
        let tile = tiles[rng.usize(..tiles.len())];
        let other = tiles[rng.usize(..tiles.len())];
        match rng.usize(0..18) {
            0..=6 => {
                builder.accumulate(tile);
            }
            7..=8 => {
                builder.overwrite(tile);
            }
            9..=10 => {
                builder.read(tile);
            }
            11 => {
                builder.fill(tile);
            }
            12 => {
                builder.change_view(tile);
            }
            13 => {
                builder.accumulate_to(tile, other);
            }
            14 => {
                let uses = [(tile, TileAccess::Read), (other, TileAccess::Result)];
                builder.matmul(&uses);
            }
            15 => {
                let new = builder.alloc();
                tiles.push(new);
            }
            _ if depth < 3 => random_region(builder, rng, tiles, depth),
            _ => {}
        }
    }
}

fn random_region(builder: &mut Builder, rng: &mut fastrand::Rng, tiles: &[AllocId], depth: usize) {
    let (kind, bodies) = match rng.usize(0..6) {
        0..=1 => (RegionKind::For { trips: None }, 1),
        2 => {
            let trips = Some(rng.u64(0..3));
            (RegionKind::For { trips }, 1)
        }
        3 => (RegionKind::If, 2),
        4 => (RegionKind::While, 2),
        _ => (RegionKind::Other, 1),
    };
    let outer = builder.block;
    let (_, regions) = builder.program().push_region(outer, kind, bodies);
    for region in regions {
        builder.block = builder.program().add_block(region);
        let count = rng.usize(0..6);
        // What is made inside is not seen outside.
        fill_block(builder, rng, &mut tiles.to_vec(), count, depth + 1);
    }
    builder.block = outer;
}

/// What a tile of zeros holds, and what is read where nothing is held.
const ZERO: u64 = 7;
/// What a tile holds that was written in part, and what is made of it: the original has no such
/// value, so the result may have any.
const UNDEFINED: u64 = 8;

/// One run: what every tile holds, and what was read, in order.
struct Run<'a> {
    program: &'a TileProgram,
    held: Vec<Option<u64>>,
    reads: Vec<(InstId, Option<u64>)>,
    /// Decides loops and branches; the same for both programs.
    path: fastrand::Rng,
    /// Whether an accumulator that holds nothing is left out, and destinations may be sources.
    is_original: bool,
    /// The instructions that fill with zeros.
    zeros: std::ops::Range<usize>,
    steps: usize,
}

/// A value made of others: equal ones are equal lists of what went in.
fn combine(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, part| {
        (hash ^ part)
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(23)
    })
}

impl Run<'_> {
    fn block(&mut self, block: BlockId) {
        for &inst in &self.program.blocks[block.index()].insts {
            self.steps += 1;
            if self.steps > 3000 {
                return;
            }
            self.step(inst);
        }
    }

    fn step(&mut self, inst: InstId) {
        let entry = self.program.inst(inst);
        match &entry.op {
            TileOp::Alloc(tile) => self.held[tile.index()] = None,
            TileOp::Region { kind, regions } => self.region(*kind, regions),
            TileOp::Matmul(_) | TileOp::Other => self.execute(inst),
        }
    }

    fn region(&mut self, kind: RegionKind, regions: &[pto_ir::RegionId]) {
        let block = |index: usize| self.program.regions[regions[index].index()].blocks[0];
        match kind {
            RegionKind::For { trips } => {
                let count = trips.unwrap_or_else(|| self.path.u64(0..4));
                let body = block(0);
                (0..count).for_each(|_| self.block(body));
            }
            RegionKind::If | RegionKind::IndexSwitch => {
                let taken = block(self.path.usize(..regions.len()));
                self.block(taken);
            }
            RegionKind::While => {
                let (before, after) = (block(0), block(1));
                self.block(before);
                for _ in 0..self.path.usize(0..3) {
                    self.block(after);
                    self.block(before);
                }
            }
            RegionKind::Other => {
                for _ in 0..self.path.usize(0..4) {
                    let body = block(0);
                    self.block(body);
                }
            }
        }
    }

    fn execute(&mut self, inst: InstId) {
        let entry = self.program.inst(inst);
        let is_matmul = entry.matmul().is_some();
        let mut sources = Vec::new();
        for operand in &entry.uses {
            let held = self.held[operand.tile.index()];
            match operand.access {
                TileAccess::Accumulate => {
                    let is_left_out = self.is_original
                        && held.is_none()
                        && entry.in_place() == Some(operand.tile);
                    // Zeros add nothing.
                    if !is_left_out && held.unwrap_or(ZERO) != ZERO {
                        sources.extend(held);
                    }
                }
                TileAccess::Read | TileAccess::Change => {
                    self.reads.push((inst, held));
                    sources.push(held.unwrap_or(ZERO));
                }
                TileAccess::Result | TileAccess::Fill => {}
            }
        }
        // Loops execute one instruction often; what it makes is told apart by the sources.
        let made = match sources.contains(&UNDEFINED) {
            true => UNDEFINED,
            false => combine(std::iter::once(inst.index() as u64 + 1000).chain(sources.clone())),
        };
        let copied = !is_matmul && entry.uses.len() == 2;
        for operand in &entry.uses {
            let reads_too = |other: &&pto_ir::tile::TileUse| {
                other.tile == operand.tile && other.access != TileAccess::Result
            };
            match operand.access {
                TileAccess::Result => {
                    let is_source = entry.uses.iter().find(reads_too);
                    assert!(
                        self.is_original || is_source.is_none(),
                        "reads what it writes"
                    );
                    self.held[operand.tile.index()] = Some(made);
                }
                TileAccess::Fill if self.zeros.contains(&inst.index()) => {
                    self.held[operand.tile.index()] = Some(ZERO);
                }
                TileAccess::Fill if copied => self.held[operand.tile.index()] = Some(sources[0]),
                TileAccess::Fill => self.held[operand.tile.index()] = Some(made),
                // A part of nothing is still not a value.
                TileAccess::Change => {
                    let held = &mut self.held[operand.tile.index()];
                    *held = held.map(|_| made).or(Some(UNDEFINED));
                }
                TileAccess::Read | TileAccess::Accumulate => {}
            }
        }
    }
}

fn run(
    program: &TileProgram,
    seed: u64,
    is_original: bool,
    zeros: std::ops::Range<usize>,
) -> Run<'_> {
    let mut run = Run {
        program,
        held: Vec::new(),
        reads: Vec::new(),
        path: fastrand::Rng::with_seed(seed),
        is_original,
        zeros,
        steps: 0,
    };
    let arguments = program.tiles.iter().enumerate();
    run.held = arguments
        .map(|(index, tile)| (tile.origin == TileOrigin::Argument).then_some(index as u64))
        .collect();
    run.block(BlockId::new(0));
    run
}

#[test]
fn every_read_sees_the_same_value() {
    let mut rng = fastrand::Rng::with_seed(20);
    let (mut copies, mut changed, mut zeros) = (0, 0, 0);
    for number in 0..6000 {
        let program = random_program(&mut rng);
        // One block a region: there is always a place for zeros.
        let found = plan(&program).expect("a plan");
        copies += found.copies.len();
        changed += usize::from(!found.is_empty());
        zeros += found.zeros.len();
        let given = program.insts.len();
        let after = found.applied_to(&program);
        let again = plan(&after).expect("the result is legal");
        assert!(
            again.is_empty() && again.diags.is_empty(),
            "program {number}: {again:?}"
        );
        for seed in 0..4 {
            let (old, new) = (
                run(&program, seed, true, 0..0),
                run(&after, seed, false, given..given + found.zeros.len()),
            );
            let own = |(inst, _): &&(InstId, Option<u64>)| inst.index() < given;
            let same = old.reads.iter().zip(new.reads.iter().filter(own));
            for (expected, found) in same {
                // A tile that holds nothing has no value to keep.
                let has_value = expected.1.is_some_and(|value| value != UNDEFINED);
                let is_same = expected.0 == found.0 && (!has_value || expected == found);
                assert!(
                    is_same,
                    "program {number}, path {seed}: {program:#?}\n{after:#?}"
                );
            }
            if old.steps <= 3000 && new.steps <= 3000 {
                for (index, tile) in program.tiles.iter().enumerate() {
                    let is_argument = tile.origin == TileOrigin::Argument;
                    let has_value = old.held[index] != Some(UNDEFINED);
                    assert!(!is_argument || !has_value || old.held[index] == new.held[index]);
                }
            }
        }
    }
    assert!(
        copies > 3000 && changed > 3000 && zeros > 500,
        "{copies} copies, {changed} changed, {zeros} zeros"
    );
}
