//! One function as a matrix engine sees it.
//!
//! The arenas are plain vectors and every reference is a typed id. Instruction ids say nothing of
//! order: order is the order of [`Block::insts`], and of [`Region::blocks`].

mod buffers;
mod insts;

pub use buffers::{Access, Alloc, Origin, Placement, Space, Use, UseKind};
pub use insts::{Block, Edge, Engine, Inst, Matmul, Op, Region, RegionKind, Tile};

use crate::condition::{Asked, Bounds, Condition, ConditionId, Question};
use crate::ids::{AccessId, AllocId, BlockId, InstId, QuestionId, RegionId};
use crate::interval::{Interval, spans_overlap};

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
