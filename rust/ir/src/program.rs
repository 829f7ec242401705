//! One function as a matrix engine sees it.
//!
//! The arenas are plain vectors and every reference is a typed id. Instruction ids say nothing of
//! order: order is the order of [`Block::insts`], and of [`Region::blocks`].

use crate::condition::{Asked, Bounds, Condition, ConditionId, Predicate, Question};
use crate::flags::AccFlags;
use crate::ids::{AccessId, AllocId, BlockId, InstId, QuestionId, RegionId};
use crate::interval::{Interval, spans_overlap};

/// A memory of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Off-chip memory; also memrefs without a memory space.
    Hbm,
    /// The on-chip operand memory.
    Sbuf,
    /// The accumulator memory.
    Psum,
}

/// Where a placed buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// First bank (PSUM; 0 in SBUF).
    pub bank: u32,
    /// Bytes from the start of the bank (PSUM) or of the partition (SBUF).
    pub offset: u32,
    /// First partition.
    pub partition: u32,
}

/// Where a buffer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// An allocation in the function. Each time it runs, every cell is fresh.
    Allocation,
    /// A function argument; `fresh` says it holds nothing, otherwise it holds plain data.
    Argument {
        /// Position among the function's arguments.
        index: u32,
        /// Whether its cells are fresh on entry.
        fresh: bool,
    },
}

/// A buffer: `partitions` rows of `bytes` bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alloc {
    /// The memory it lies in.
    pub space: Space,
    /// Allocation or argument.
    pub origin: Origin,
    /// The block it is allocated in (arguments: the entry block).
    pub block: BlockId,
    /// Number of partitions.
    pub partitions: u32,
    /// Bytes per partition; in PSUM every element takes one cell.
    pub bytes: u32,
    /// Where it lies; `None` until placed.
    pub placement: Option<Placement>,
    /// Whether its contents are read after the function: it came in as an argument or is returned.
    pub escapes: bool,
    /// Whether it may be the same memory as others of its space of which this is said too: an argument that
    /// nothing sets apart, a global.
    pub may_alias: bool,
}

impl Alloc {
    /// First byte of the buffer counted from the start of a partition of its memory. Places may be
    /// anything before they are checked: saturates.
    pub fn first_byte(&self, bank_bytes: u32) -> Option<u32> {
        let byte = |p: Placement| p.bank.saturating_mul(bank_bytes).saturating_add(p.offset);
        self.placement.map(byte)
    }
}

/// A set of cells of one buffer: a partition interval times a set of byte intervals, both
/// relative to the buffer. Interned: equal accesses of one program have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The buffer.
    pub alloc: AllocId,
    /// Partitions, relative to the buffer's first.
    pub partitions: Interval,
    /// Where its byte intervals lie in the program's span arena: see [`Program::bytes`].
    pub(crate) first_span: u32,
    /// Number of byte intervals.
    pub(crate) span_count: u32,
}

/// What an instruction does with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UseKind {
    /// Reads every cell.
    Read,
    /// Overwrites every cell with data, from any engine but the PE's accumulation path.
    Write,
    /// Overwrites every cell with +0.0 (or integer zero).
    WriteZero,
    /// The PE overwrites every cell (`tmatmul`).
    PeOverwrite,
    /// The PE adds to every cell, a fresh one being overwritten (`tmatmul_acc`).
    PeAccumulate,
}

impl UseKind {
    /// Whether the use changes cells.
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// Whether the PE's accumulation path does the write.
    pub const fn is_pe_write(self) -> bool {
        matches!(self, Self::PeOverwrite | Self::PeAccumulate)
    }
}

/// One access of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Use {
    /// The cells.
    pub access: AccessId,
    /// What happens to them.
    pub kind: UseKind,
}

/// The part of the PE array that a matmul uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Rows of the tile.
    pub rows: u32,
    /// Columns of the tile.
    pub cols: u32,
    /// First row.
    pub row: u32,
    /// First column: the base partition of the destination.
    pub col: u32,
}

/// The matmul-only facts of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matmul {
    /// The destination: also the one PE use of the instruction.
    pub dst: AccessId,
    /// The accumulator operand of a `tmatmul_acc`; sound programs have it equal to `dst`.
    pub accumulator: Option<AccessId>,
    /// The stationary operand, where the reader was asked: the weights that the array holds.
    pub stationary: Option<AccessId>,
    /// The tile; `None` is the whole array.
    pub tile: Option<Tile>,
    /// The accumulate flags; `None` is auto.
    pub flags: Option<AccFlags>,
    /// The zero-region code, where written.
    pub zero_region: Option<u8>,
    /// The predicate that START depends on.
    pub start_if: Option<Predicate>,
    /// The predicate that STOP depends on.
    pub stop_if: Option<Predicate>,
}

impl Matmul {
    /// The PSUM partitions of the instruction's column group: those of the quadrants its columns meet.
    pub fn column_group(&self, target: &crate::Target) -> Interval {
        let columns = match self.tile {
            // Whatever a tile says, the array ends somewhere.
            Some(tile) => Interval::new(
                tile.col.min(target.pe_columns),
                tile.col.saturating_add(tile.cols).min(target.pe_columns),
            ),
            None => Interval::new(0, target.pe_columns),
        };
        let quadrants = target.quadrants(columns);
        Interval::new(
            quadrants.start * target.quadrant_partitions,
            quadrants.end * target.quadrant_partitions,
        )
    }

    /// Whether START or STOP or both depend on the run.
    pub const fn is_predicated(&self) -> bool {
        self.start_if.is_some() || self.stop_if.is_some()
    }
}

/// The engine an instruction runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// The matrix engine.
    Pe,
    /// The vector engine.
    Vector,
    /// The scalar engine.
    Scalar,
    /// The general-purpose SIMD engine.
    Gpsimd,
    /// A DMA queue.
    Dma,
    /// Not an engine operation of the dialect: host-like code with effects.
    Other,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Pe,
        Self::Vector,
        Self::Scalar,
        Self::Gpsimd,
        Self::Dma,
        Self::Other,
    ];

    /// The name, as the dialect spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pe => "pe",
            Self::Vector => "vector",
            Self::Scalar => "scalar",
            Self::Gpsimd => "gpsimd",
            Self::Dma => "dma",
            Self::Other => "other",
        }
    }
}

/// The sort of an operation that holds regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// `scf.for`, `affine.for`: runs its block `trips` times, unknown where `None`.
    For {
        /// The number of iterations, where all bounds are constants.
        trips: Option<u64>,
    },
    /// `scf.if`: one of its regions runs, or none.
    If,
    /// `scf.while`.
    While,
    /// `scf.index_switch`: one of its regions runs.
    IndexSwitch,
    /// Any other operation with regions: nothing is known of how often they run.
    Other,
}

/// What an entry of a block is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// A PE matmul.
    Matmul(Matmul),
    /// `pto.memset` and `pto.copy`.
    Engine,
    /// Any other operation with effects on SBUF or PSUM (`memref.store`, `linalg.fill`, ...).
    Effects,
    /// A call. `banks` is the set of PSUM banks the callee says it touches, as a bit mask.
    Call {
        /// `None`: the callee does not say.
        banks: Option<u32>,
    },
    /// An operation that holds regions; its own effects are those inside.
    Region {
        /// Its sort.
        kind: RegionKind,
        /// Its regions, in order.
        regions: Vec<RegionId>,
    },
    /// Marker, not an instruction: here the buffer is allocated.
    Alloc(AllocId),
    /// Marker, not an instruction: here the buffer's life ends.
    Dealloc(AllocId),
}

/// An ordering edge: the holder is issued after `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The instruction to wait for.
    pub from: InstId,
    /// Whether legalization added the edge.
    pub inserted: bool,
}

/// An entry of a block: an instruction, or an allocation marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inst {
    /// The block that holds it.
    pub block: BlockId,
    /// What it is.
    pub op: Op,
    /// The engine it runs on.
    pub engine: Engine,
    /// Where its accesses lie in the program's arena: see [`Program::uses`].
    pub(crate) first_use: u32,
    /// Number of accesses.
    pub(crate) use_count: u32,
    /// The instructions it waits for.
    pub after: Vec<Edge>,
    /// Whether legalization added the operation.
    pub inserted: bool,
    /// Elements of each partition that it writes, where the reader was asked: what its time depends on.
    pub elements: u32,
    /// Whether it accesses memory besides its accesses, where the reader was asked for all of them.
    pub is_opaque: bool,
}

impl Inst {
    /// The matmul, if it is one.
    pub const fn matmul(&self) -> Option<&Matmul> {
        match &self.op {
            Op::Matmul(matmul) => Some(matmul),
            _ => None,
        }
    }

    /// Whether an engine executes it (markers are transparent to every rule).
    pub const fn is_instruction(&self) -> bool {
        !matches!(self.op, Op::Alloc(_) | Op::Dealloc(_))
    }
}

/// A straight line of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The region that holds it.
    pub region: RegionId,
    /// Its entries, in program order.
    pub insts: Vec<InstId>,
    /// The blocks control may go to from its end, within the same region.
    pub successors: Vec<BlockId>,
    /// The question whose answer is the number of the successor, where one is known.
    pub asks: Option<Asked>,
}

/// A region: blocks, the first of which is the entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The instruction that holds it; `None` for the function's body.
    pub holder: Option<InstId>,
    /// Its blocks.
    pub blocks: Vec<BlockId>,
}

/// A function. Made by [`ProgramBuilder`](crate::ProgramBuilder); its body is region 0 and its
/// entry block, if it has a body, is block 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The function's name.
    pub name: String,
    /// Whether its flags are provisional (`pto.acc_provisional`).
    pub provisional: bool,
    /// Whether it carries the mark of legalization. Informative: never trusted.
    pub legalized: bool,
    /// The banks of PSUM that the function says it touches (`pto.psum_banks`), as a bit mask. Its callers trust it.
    pub named_banks: Option<u32>,
    pub(crate) allocs: Vec<Alloc>,
    pub(crate) accesses: Vec<Access>,
    pub(crate) spans: Vec<Interval>,
    pub(crate) uses: Vec<Use>,
    pub(crate) insts: Vec<Inst>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) regions: Vec<Region>,
    pub(crate) conditions: Vec<Condition>,
    /// Loops of which something is known, ascending.
    pub(crate) bounds: Vec<(InstId, Bounds)>,
    /// Branches of which something is known, ascending.
    pub(crate) branches: Vec<(InstId, ConditionId)>,
    /// Switches on constants with the region they choose, ascending.
    pub(crate) choices: Vec<(InstId, u32)>,
    pub(crate) questions: Vec<Question>,
    /// Loops and branches whose question is known, ascending.
    pub(crate) asks: Vec<(InstId, Asked)>,
}

impl Program {
    /// What is known of the condition `id`.
    pub fn condition(&self, id: ConditionId) -> &Condition {
        &self.conditions[id.0 as usize]
    }

    /// Every condition that predicates and branches name.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// What is known of the bounds of the loop `holder`; `None` is nothing.
    pub fn bounds(&self, holder: InstId) -> Option<Bounds> {
        let known = self.bounds.binary_search_by_key(&holder, |&(id, _)| id);
        known.ok().map(|index| self.bounds[index].1)
    }

    /// Whether the loop `holder` runs at least once whenever it is reached.
    pub fn runs(&self, holder: InstId) -> bool {
        match self.inst(holder).op {
            Op::Region {
                kind: RegionKind::For { trips: Some(trips) },
                ..
            } => trips > 0,
            _ => self.bounds(holder).is_some_and(|bounds| bounds.runs),
        }
    }

    /// Every question that loops, branches and blocks ask; the index is the [`QuestionId`].
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// What is known of the question `id`.
    pub fn question(&self, id: QuestionId) -> Question {
        self.questions[id.index()]
    }

    /// What the loop or branch `holder` asks; `None` where nothing is known of it.
    pub fn asks(&self, holder: InstId) -> Option<Asked> {
        let known = self.asks.binary_search_by_key(&holder, |&(id, _)| id);
        known.ok().map(|index| self.asks[index].1)
    }

    /// Every loop and branch whose question is known, ascending, with it.
    pub fn all_asks(&self) -> &[(InstId, Asked)] {
        &self.asks
    }

    /// When the first region of the branch `holder` runs; else its second one does, if it has one. Of an
    /// `scf.while`: when it goes on, where that is a constant.
    pub fn branch(&self, holder: InstId) -> Option<&Condition> {
        let known = self.branches.binary_search_by_key(&holder, |&(id, _)| id);
        known
            .ok()
            .map(|index| self.condition(self.branches[index].1))
    }

    /// The region, by its place among those of the branch or switch `holder`, that runs whenever that does;
    /// past the last one where none runs. `None` where it depends.
    pub fn choice(&self, holder: InstId) -> Option<usize> {
        let Op::Region {
            kind: RegionKind::If | RegionKind::IndexSwitch,
            ..
        } = self.inst(holder).op
        else {
            return None;
        };
        match self.branch(holder) {
            Some(&Condition::Constant(takes_first)) => Some(usize::from(!takes_first)),
            Some(_) => None,
            None => {
                let known = self.choices.binary_search_by_key(&holder, |&(id, _)| id);
                known.ok().map(|index| self.choices[index].1 as usize)
            }
        }
    }

    /// Whether `region` never runs: its loop runs zero times, or its branch always chooses another one.
    pub fn is_dead(&self, region: RegionId) -> bool {
        let Some(holder) = self.region(region).holder else {
            return false;
        };
        let Op::Region { kind, regions } = &self.inst(holder).op else {
            return false;
        };
        match kind {
            RegionKind::For { trips } => *trips == Some(0),
            RegionKind::If | RegionKind::IndexSwitch => {
                let choice = self.choice(holder);
                choice.is_some_and(|chosen| regions.get(chosen) != Some(&region))
            }
            RegionKind::While | RegionKind::Other => false,
        }
    }

    /// Every buffer; the index is the [`AllocId`].
    pub fn allocs(&self) -> &[Alloc] {
        &self.allocs
    }

    /// The buffer `id`.
    pub fn alloc(&self, id: AllocId) -> &Alloc {
        &self.allocs[id.index()]
    }

    /// Every access; the index is the [`AccessId`].
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// The access `id`.
    pub fn access(&self, id: AccessId) -> &Access {
        &self.accesses[id.index()]
    }

    /// The byte intervals of `access`, ascending and disjoint, relative to its buffer.
    pub fn bytes(&self, access: AccessId) -> &[Interval] {
        let Access {
            first_span,
            span_count,
            ..
        } = *self.access(access);
        &self.spans[first_span as usize..(first_span + span_count) as usize]
    }

    /// Whether two accesses of one buffer share a cell. Different buffers never do here: two
    /// buffers in one place are a matter of placement.
    pub fn accesses_overlap(&self, left: AccessId, right: AccessId) -> bool {
        let (a, b) = (self.access(left), self.access(right));
        a.alloc == b.alloc
            && a.partitions.overlaps(b.partitions)
            && spans_overlap(self.bytes(left), self.bytes(right))
    }

    /// Every entry; the index is the [`InstId`], which is not program order.
    pub fn insts(&self) -> &[Inst] {
        &self.insts
    }

    /// The entry `id`.
    pub fn inst(&self, id: InstId) -> &Inst {
        &self.insts[id.index()]
    }

    /// The accesses of `inst` (of PSUM; of SBUF and HBM too where the reader was asked). The destination of
    /// a matmul is the first.
    pub fn uses(&self, inst: InstId) -> &[Use] {
        let Inst {
            first_use,
            use_count,
            ..
        } = *self.inst(inst);
        &self.uses[first_use as usize..(first_use + use_count) as usize]
    }

    /// Whether `inst` is a memset of the [relay](crate::MemsetTarget::Relay), in a program of PSUM alone,
    /// where it has no access: all of these are ordered as they are executed.
    pub fn is_relay(&self, inst: InstId) -> bool {
        let inst = self.inst(inst);
        inst.inserted && inst.use_count == 0 && matches!(inst.op, Op::Engine)
    }

    /// Every block; the index is the [`BlockId`].
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block `id`.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// Every region; the index is the [`RegionId`].
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The region `id`.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// The function's body; `None` for a declaration.
    pub fn body(&self) -> Option<&Region> {
        self.regions.first()
    }

    /// The instruction that holds `block`; `None` in the function's body.
    pub fn holder(&self, block: BlockId) -> Option<InstId> {
        self.region(self.block(block).region).holder
    }

    /// Every entry in program order: a holder before what it holds, blocks in region order.
    /// Iterative, so nesting may be as deep as memory allows.
    pub fn walk(&self) -> impl Iterator<Item = InstId> + '_ {
        let mut pending: Vec<std::slice::Iter<'_, InstId>> = Vec::new();
        if let Some(body) = self.body() {
            self.push_blocks(body, &mut pending);
        }
        std::iter::from_fn(move || {
            loop {
                let next = pending.last_mut()?.next().copied();
                let Some(id) = next else {
                    pending.pop();
                    continue;
                };
                if let Op::Region { regions, .. } = &self.inst(id).op {
                    for &region in regions.iter().rev() {
                        self.push_blocks(self.region(region), &mut pending);
                    }
                }
                return Some(id);
            }
        })
    }

    /// Adds an entry to the arena, not yet to the list of its block.
    pub(crate) fn append_inst(
        &mut self,
        block: BlockId,
        op: Op,
        engine: Engine,
        uses: &[Use],
    ) -> InstId {
        let id = InstId::new(self.insts.len());
        self.insts.push(Inst {
            block,
            op,
            engine,
            first_use: self.uses.len() as u32,
            use_count: uses.len() as u32,
            after: Vec::new(),
            inserted: false,
            elements: 0,
            is_opaque: false,
        });
        self.uses.extend_from_slice(uses);
        id
    }

    fn push_blocks<'a>(
        &'a self,
        region: &'a Region,
        pending: &mut Vec<std::slice::Iter<'a, InstId>>,
    ) {
        for &block in region.blocks.iter().rev() {
            pending.push(self.block(block).insts.iter());
        }
    }
}
