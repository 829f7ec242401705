//! What a generated program is made of.

use std::collections::BTreeMap;

use pto_ir::build::MatmulSpec;
use pto_ir::{
    AccFlags, Alloc, AllocId, Asked, BlockId, Bounds, Condition, Engine, InstId, Interval,
    IntervalSet, Op, Origin, Placement, Program, ProgramBuilder, Question, QuestionId, RegionKind,
    Space, Target, Tile, Turn, Use, UseKind,
};

/// Bytes of one unit: an eighth of a bank.
pub const UNIT_BYTES: u32 = 256;

/// A buffer and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its first bank.
    pub bank: u32,
    /// Its partitions, in quadrants.
    pub quadrants: Interval,
    /// Its bytes, in units from the start of the bank.
    pub units: Interval,
    /// What it is.
    pub origin: Origin,
    /// Whether it is read after the function.
    pub escapes: bool,
    /// Allocate right before the first use instead of at the top: in a loop, once an iteration. What
    /// stands outside the block of the allocation does not use it.
    pub late: bool,
}

/// The part of a buffer that an instruction touches, relative to the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First partition, in quadrants.
    pub quadrant: u32,
    /// Partitions.
    pub partitions: u32,
    /// Bytes.
    pub bytes: Vec<Interval>,
}

/// A destination of a matmul beyond its piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dst {
    /// Columns of the tile; 0 is no tile.
    pub columns: u32,
    /// Flags and region; `None` is auto.
    pub flags: Option<(AccFlags, Option<u8>)>,
}

/// What a step does with its piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `tmatmul`.
    Matmul(Dst),
    /// `tmatmul_acc`.
    MatmulAcc(Dst),
    /// A write by another engine.
    Data(Engine),
    /// A memset of zero.
    Memset,
    /// A fill of zero that is not an operation of the dialect.
    Fill,
    /// A read.
    Read,
}

/// One entry of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An instruction on a piece of the buffer with this index, waiting for the instruction that
    /// many steps back, if there is one.
    Inst(Kind, usize, Piece, Option<usize>),
    /// The beginning of an operation with regions, in its first region.
    Open(RegionKind),
    /// The beginning of a loop whose bounds vary with what is around it.
    OpenVarying,
    /// The beginning of a loop or branch that asks a question of which others ask too.
    OpenAsking {
        /// A loop, else a branch.
        is_loop: bool,
        /// Whether it asks the opposite.
        negated: bool,
        /// Which question of those that are made anew in one place.
        number: u32,
        /// How many of the open operations are around that place.
        depth: u32,
    },
    /// The beginning of a branch on the first iteration of the innermost loop, or on all others.
    OpenFirst {
        /// On all others.
        negated: bool,
    },
    /// The next region of the innermost operation.
    Next,
    /// The end of the innermost operation.
    Close,
}

/// A program to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// Its buffers.
    pub buffers: Vec<Buffer>,
    /// Its entries. Unbalanced regions are closed at the end.
    pub steps: Vec<Step>,
    /// Read every write back at once, so that every wrong value is seen.
    pub reads_back: bool,
    /// Read everything that was written at the end.
    pub reads_at_end: bool,
}

/// The columns a tile may have whose first column is in quadrant `base`; 0 is no tile.
pub fn tile_columns(target: &Target, base: u32, partitions: u32) -> Vec<u32> {
    let sizes: &[u32] = match base {
        0 => &[0, 32, 64, 128],
        2 => &[32, 64],
        3 if !target.has_last_quadrant_group => &[],
        _ => &[32],
    };
    let fits = |&size: &u32| size == 0 || size >= partitions;
    sizes.iter().copied().filter(fits).collect()
}

/// What every path wrote so far: by buffer and grain of bytes, one bit a partition.
type Written = Vec<Vec<u128>>;

const GRAIN_BYTES: u32 = 64;

struct Build<'a> {
    target: &'static Target,
    recipe: &'a Recipe,
    builder: ProgramBuilder,
    /// By buffer: the block that allocates it.
    homes: Vec<Option<BlockId>>,
    written: Written,
    insts: Vec<InstId>,
    /// By open region: the holder, the block after it, and what was written before it.
    open: Vec<(InstId, BlockId, Written, Option<Written>)>,
    /// The questions of [`Step::OpenAsking`], by where they are made anew and number.
    questions: BTreeMap<(Option<InstId>, u32), QuestionId>,
}

impl Recipe {
    /// The program. Reads of cells that some path leaves fresh, and pieces without a legal tile,
    /// are left out.
    pub fn build(&self, target: &'static Target) -> Program {
        let mut builder = ProgramBuilder::new("generated");
        let mut arguments = 0;
        for buffer in &self.buffers {
            let mut origin = buffer.origin;
            if let Origin::Argument { index, .. } = &mut origin {
                *index = arguments;
                arguments += 1;
            }
            builder.add_alloc(Alloc {
                space: Space::Psum,
                origin,
                block: BlockId::new(0),
                partitions: buffer.quadrants.len() * target.quadrant_partitions,
                bytes: buffer.units.len() * UNIT_BYTES,
                placement: Some(Placement {
                    bank: buffer.bank,
                    offset: buffer.units.start * UNIT_BYTES,
                    partition: buffer.quadrants.start * target.quadrant_partitions,
                }),
                escapes: buffer.escapes,
                may_alias: false,
            });
        }
        let written = self.buffers.iter().map(|buffer| {
            let holds_data = matches!(buffer.origin, Origin::Argument { fresh: false, .. });
            let rows = if holds_data { u128::MAX } else { 0 };
            vec![rows; (buffer.units.len() * UNIT_BYTES / GRAIN_BYTES) as usize]
        });
        let written = written.collect();
        let mut build = Build {
            target,
            recipe: self,
            builder,
            homes: vec![None; self.buffers.len()],
            written,
            insts: Vec::new(),
            open: Vec::new(),
            questions: BTreeMap::new(),
        };
        build.run();
        build.builder.finish()
    }
}

impl Build<'_> {
    fn run(&mut self) {
        for (index, buffer) in self.recipe.buffers.iter().enumerate() {
            if !buffer.late {
                self.allocate(index);
            }
        }
        for step in &self.recipe.steps {
            match step {
                Step::Inst(kind, buffer, piece, wait) => {
                    self.inst(*kind, *buffer, piece, *wait);
                }
                Step::Open(kind) => self.open(*kind, false),
                Step::OpenVarying => self.open(RegionKind::For { trips: None }, true),
                Step::OpenAsking {
                    is_loop,
                    negated,
                    number,
                    depth,
                } => self.open_asking(*is_loop, *negated, *number, *depth as usize),
                Step::OpenFirst { negated } => self.open_first(*negated),
                Step::Next => self.next(),
                Step::Close => self.close(),
            }
        }
        while !self.open.is_empty() {
            self.close();
        }
        (0..self.homes.len()).for_each(|buffer| self.allocate(buffer));
        if self.recipe.reads_at_end {
            self.read_everything();
        }
    }

    fn allocate(&mut self, buffer: usize) {
        if self.homes[buffer].is_some() {
            return;
        }
        self.homes[buffer] = Some(self.builder.block());
        if self.recipe.buffers[buffer].origin == Origin::Allocation {
            self.builder.push_alloc(AllocId::new(buffer));
        }
    }

    /// Whether the buffer is, or may be, allocated where the next instruction stands.
    fn is_visible(&self, buffer: usize) -> bool {
        match self.homes[buffer] {
            Some(home) => {
                home == self.builder.block() || self.open.iter().any(|open| open.1 == home)
            }
            // What is read after the function is there all the time.
            None => self.open.is_empty() || !self.recipe.buffers[buffer].escapes,
        }
    }

    /// The partitions of a piece as a mask, and its grains.
    fn grains(&self, buffer: usize, piece: &Piece) -> (u128, Vec<usize>) {
        let first = piece.quadrant * self.target.quadrant_partitions;
        let rows = u128::MAX >> (128 - piece.partitions.clamp(1, 128));
        let grains = piece
            .bytes
            .iter()
            .flat_map(|span| span.start / GRAIN_BYTES..span.end.div_ceil(GRAIN_BYTES));
        let count = self.written[buffer].len();
        let grains = grains
            .map(|grain| grain as usize)
            .filter(|&grain| grain < count);
        (rows.checked_shl(first).unwrap_or(0), grains.collect())
    }

    fn inst(&mut self, kind: Kind, buffer: usize, piece: &Piece, wait: Option<usize>) {
        if !self.is_visible(buffer) {
            return;
        }
        let (rows, grains) = self.grains(buffer, piece);
        let is_written = |&grain: &usize| rows & !self.written[buffer][grain] == 0;
        if kind == Kind::Read && !grains.iter().all(is_written) {
            return;
        }
        let Some(inst) = self.push(kind, buffer, piece) else {
            return;
        };
        if let Some(from) = wait.and_then(|back| self.insts.iter().rev().nth(back).copied())
            && self.builder.program().inst(from).block == self.builder.block()
        {
            self.builder.add_edge(inst, from, false);
        }
        self.insts.push(inst);
        if kind != Kind::Read {
            for grain in grains {
                self.written[buffer][grain] |= rows;
            }
            if self.recipe.reads_back {
                self.push(Kind::Read, buffer, piece);
            }
        }
    }

    fn push(&mut self, kind: Kind, buffer: usize, piece: &Piece) -> Option<InstId> {
        let quadrant = self.recipe.buffers[buffer].quadrants.start + piece.quadrant;
        let first = piece.quadrant * self.target.quadrant_partitions;
        if let Kind::Matmul(dst) | Kind::MatmulAcc(dst) = kind
            && !tile_columns(self.target, quadrant, piece.partitions).contains(&dst.columns)
        {
            return None;
        }
        self.allocate(buffer);
        let rows = Interval::new(first, first + piece.partitions);
        let bytes = IntervalSet::from_spans(piece.bytes.clone());
        let access = self.builder.access(AllocId::new(buffer), rows, bytes);
        let one = |kind| [Use { access, kind }];
        let matmul = |dst: Dst, accumulator| MatmulSpec {
            tile: (dst.columns > 0).then_some(Tile {
                rows: 128,
                cols: dst.columns,
                row: 0,
                col: quadrant * self.target.quadrant_partitions,
            }),
            accumulator,
            flags: dst.flags.map(|(flags, _)| flags),
            zero_region: dst.flags.and_then(|(_, region)| region),
            ..MatmulSpec::default()
        };
        Some(match kind {
            Kind::Matmul(dst) => self.builder.push_matmul(access, matmul(dst, None)),
            Kind::MatmulAcc(dst) => self.builder.push_matmul(access, matmul(dst, Some(access))),
            Kind::Data(engine) => self.builder.push(Op::Engine, engine, &one(UseKind::Write)),
            Kind::Memset => self
                .builder
                .push(Op::Engine, Engine::Vector, &one(UseKind::WriteZero)),
            Kind::Fill => self
                .builder
                .push(Op::Effects, Engine::Other, &one(UseKind::WriteZero)),
            Kind::Read => self
                .builder
                .push(Op::Engine, Engine::Vector, &one(UseKind::Read)),
        })
    }

    fn open(&mut self, kind: RegionKind, varies: bool) {
        let around = self.builder.program().holder(self.builder.block());
        let made_in = around.filter(|_| varies);
        let holder = self.open_region(kind);
        if matches!(kind, RegionKind::For { .. }) {
            let question = self.builder.add_question(Question { made_in });
            self.set_asks(holder, question, false);
        }
    }

    fn open_asking(&mut self, is_loop: bool, negated: bool, number: u32, depth: usize) {
        let around = depth.checked_sub(1).and_then(|index| {
            let last = self.open.len().checked_sub(1)?;
            Some(self.open[index.min(last)].0)
        });
        let builder = &mut self.builder;
        let new = || builder.add_question(Question { made_in: around });
        let question = *self.questions.entry((around, number)).or_insert_with(new);
        let holder = self.open_region(match is_loop {
            true => RegionKind::For { trips: None },
            false => RegionKind::If,
        });
        self.set_asks(holder, question, negated);
    }

    fn set_asks(&mut self, holder: InstId, question: QuestionId, negated: bool) {
        let program = self.builder.program();
        let vary_in = program.question(question).made_in;
        let is_loop = matches!(
            program.inst(holder).op,
            Op::Region {
                kind: RegionKind::For { .. },
                ..
            }
        );
        if is_loop {
            let bounds = Bounds {
                vary_in,
                runs: false,
                tells_first: true,
                tells_last: true,
            };
            self.builder.set_bounds(holder, bounds);
        }
        self.builder.set_asks(holder, Asked { question, negated });
    }

    fn open_region(&mut self, kind: RegionKind) -> InstId {
        let after = self.builder.block();
        let (holder, _) = self.builder.push_region(kind, 0);
        self.open.push((holder, after, self.written.clone(), None));
        self.enter(holder);
        holder
    }

    fn open_first(&mut self, negated: bool) {
        let innermost = self.open.iter().rev().map(|open| open.0).find(|&holder| {
            let op = &self.builder.program().inst(holder).op;
            matches!(
                op,
                Op::Region {
                    kind: RegionKind::For { .. },
                    ..
                }
            )
        });
        self.open(RegionKind::If, false);
        let branch = self.open.last().map(|open| open.0);
        if let (Some(innermost), Some(branch)) = (innermost, branch) {
            let first = Condition::all(Turn::First, vec![innermost]);
            let condition = if negated { first.opposite() } else { first };
            self.builder.set_branch(branch, condition);
        }
    }

    fn enter(&mut self, holder: InstId) {
        let region = self.builder.add_region(holder);
        let block = self.builder.add_block(region);
        self.builder.set_block(block);
    }

    /// A second region, where the operation may have one.
    fn next(&mut self) {
        let Some((holder, _, before, first)) = self.open.last_mut() else {
            return;
        };
        let holder = *holder;
        let has_second = matches!(
            self.builder.program().inst(holder).op,
            Op::Region {
                kind: RegionKind::If | RegionKind::IndexSwitch | RegionKind::While,
                ..
            }
        );
        if has_second && first.is_none() {
            *first = Some(std::mem::replace(&mut self.written, before.clone()));
            self.enter(holder);
        }
    }

    /// After the operation only what every path wrote counts as written.
    fn close(&mut self) {
        let Some((holder, after, before, first)) = self.open.pop() else {
            return;
        };
        let runs_once_or_more = match &self.builder.program().inst(holder).op {
            Op::Region {
                kind: RegionKind::For { trips },
                ..
            } => trips.is_some_and(|n| n > 0),
            // The body may not run; its condition does.
            Op::Region {
                kind: RegionKind::While,
                ..
            } => false,
            _ => first.is_some(),
        };
        if !runs_once_or_more {
            self.written = before;
        } else if let Some(first) = first {
            let grains = self.written.iter_mut().flatten();
            for (now, then) in grains.zip(first.iter().flatten()) {
                *now &= then;
            }
        }
        self.builder.set_block(after);
    }

    fn read_everything(&mut self) {
        for buffer in 0..self.recipe.buffers.len() {
            for quadrant in 0..self.recipe.buffers[buffer].quadrants.len() {
                for (partitions, bytes) in self.written_rectangles(buffer, quadrant) {
                    let piece = Piece {
                        quadrant,
                        partitions,
                        bytes: vec![bytes],
                    };
                    self.inst(Kind::Read, buffer, &piece, None);
                }
            }
        }
    }

    /// What was written in a quadrant, as numbers of partitions (pieces begin with the quadrant)
    /// and byte intervals.
    fn written_rectangles(&self, buffer: usize, quadrant: u32) -> Vec<(u32, Interval)> {
        let size = self.target.quadrant_partitions;
        let heights = self.written[buffer]
            .iter()
            .map(|rows| (rows >> (quadrant * size)).trailing_ones().min(size));
        let mut rectangles: Vec<(u32, Interval)> = Vec::new();
        for (grain, height) in heights.enumerate() {
            let start = grain as u32 * GRAIN_BYTES;
            match rectangles.last_mut() {
                Some((known, bytes)) if *known == height && bytes.end == start => {
                    bytes.end += GRAIN_BYTES;
                }
                _ => rectangles.push((height, Interval::new(start, start + GRAIN_BYTES))),
            }
        }
        rectangles.retain(|&(height, _)| height > 0);
        rectangles
    }
}
