//! Making a [`Program`]: the reader of MLIR, the text form and the generators all come through here.

use std::collections::HashMap;

use crate::condition::{Asked, Bounds, Condition, ConditionId, Predicate, Question};
use crate::flags::AccFlags;
use crate::ids::{AccessId, AllocId, BlockId, InstId, QuestionId, RegionId};
use crate::interval::{Interval, IntervalSet};
use crate::program::{
    Access, Alloc, Block, Edge, Engine, Matmul, Op, Program, Region, RegionKind, Tile, Use, UseKind,
};

/// What a matmul needs beyond its destination.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatmulSpec {
    /// The tile; `None` is the whole array.
    pub tile: Option<Tile>,
    /// The stationary operand, where its place matters.
    pub stationary: Option<AccessId>,
    /// The moving operand, where its place matters.
    pub moving: Option<AccessId>,
    /// The accumulator operand; `None` is a `tmatmul`.
    pub accumulator: Option<AccessId>,
    /// The flags; `None` is auto.
    pub flags: Option<AccFlags>,
    /// The zero-region code.
    pub zero_region: Option<u8>,
    /// The predicate that START depends on.
    pub start_if: Option<Predicate>,
    /// The predicate that STOP depends on.
    pub stop_if: Option<Predicate>,
}

/// Builds a [`Program`]. Entries go to the current block, which [`Self::set_block`] chooses; the
/// builder starts in the entry block of the body.
#[derive(Debug)]
pub struct ProgramBuilder {
    program: Program,
    block: BlockId,
    interned: HashMap<(AllocId, Interval, Vec<Interval>), AccessId>,
}

impl ProgramBuilder {
    /// A function called `name` with an empty entry block.
    pub fn new(name: impl Into<String>) -> Self {
        let program = Program {
            name: name.into(),
            blocks: vec![Block {
                region: RegionId::new(0),
                insts: Vec::new(),
                successors: Vec::new(),
                asks: None,
            }],
            regions: vec![Region {
                holder: None,
                blocks: vec![BlockId::new(0)],
            }],
            ..Program::default()
        };
        Self {
            program,
            block: BlockId::new(0),
            interned: HashMap::new(),
        }
    }

    /// A function without a body.
    pub fn declaration(name: impl Into<String>) -> Program {
        Program {
            name: name.into(),
            ..Program::default()
        }
    }

    /// A builder that goes on with `program`, in its entry block.
    pub fn resume(program: Program) -> Self {
        let mut interned = HashMap::with_capacity(program.accesses.len());
        for (index, access) in program.accesses.iter().enumerate() {
            let id = AccessId::new(index);
            interned.insert(
                (access.alloc, access.partitions, program.bytes(id).to_vec()),
                id,
            );
        }
        Self {
            program,
            block: BlockId::new(0),
            interned,
        }
    }

    /// Says whether the flags are provisional and whether the mark of legalization is there.
    pub fn set_marks(&mut self, provisional: bool, legalized: bool) {
        self.program.provisional = provisional;
        self.program.legalized = legalized;
    }

    /// Says which banks of PSUM the function says it touches, as a bit mask.
    pub fn set_named_banks(&mut self, banks: Option<u32>) {
        self.program.named_banks = banks;
    }

    /// What was built so far.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The block that entries go to.
    pub fn block(&self) -> BlockId {
        self.block
    }

    /// From now on entries go to the end of `block`.
    pub fn set_block(&mut self, block: BlockId) {
        self.block = block;
    }

    /// Adds a buffer. An [`Op::Alloc`] marker is a separate entry: see [`Self::push_alloc`].
    pub fn add_alloc(&mut self, alloc: Alloc) -> AllocId {
        let id = AllocId::new(self.program.allocs.len());
        self.program.allocs.push(alloc);
        id
    }

    /// Says that the contents of `alloc` are read after the function.
    pub fn set_escapes(&mut self, alloc: AllocId) {
        self.program.allocs[alloc.index()].escapes = true;
    }

    /// Says that `alloc` may be the same memory as others of its space of which this is said.
    pub fn set_may_alias(&mut self, alloc: AllocId) {
        self.program.allocs[alloc.index()].may_alias = true;
    }

    /// The access of `partitions` times `bytes` of `alloc`, both relative to the buffer.
    pub fn access(&mut self, alloc: AllocId, partitions: Interval, bytes: IntervalSet) -> AccessId {
        let key = (alloc, partitions, bytes.spans().to_vec());
        if let Some(&known) = self.interned.get(&key) {
            return known;
        }
        let id = AccessId::new(self.program.accesses.len());
        self.program.accesses.push(Access {
            alloc,
            partitions,
            first_span: self.program.spans.len() as u32,
            span_count: bytes.spans().len() as u32,
        });
        self.program.spans.extend_from_slice(bytes.spans());
        self.interned.insert(key, id);
        id
    }

    /// The access of the whole of `alloc`.
    pub fn whole(&mut self, alloc: AllocId) -> AccessId {
        let Alloc {
            partitions, bytes, ..
        } = *self.program.alloc(alloc);
        let all_bytes = IntervalSet::from_spans(vec![Interval::new(0, bytes)]);
        self.access(alloc, Interval::new(0, partitions), all_bytes)
    }

    /// Appends an entry with the accesses `uses`.
    pub fn push(&mut self, op: Op, engine: Engine, uses: &[Use]) -> InstId {
        let id = self.program.append_inst(self.block, op, engine, uses);
        self.program.blocks[self.block.index()].insts.push(id);
        id
    }

    /// Appends the marker that allocates `alloc`; the block is the buffer's.
    pub fn push_alloc(&mut self, alloc: AllocId) -> InstId {
        self.program.allocs[alloc.index()].block = self.block;
        self.push(Op::Alloc(alloc), Engine::Other, &[])
    }

    /// Appends a matmul into `dst`.
    pub fn push_matmul(&mut self, dst: AccessId, spec: MatmulSpec) -> InstId {
        let kind = match spec.accumulator {
            Some(_) => UseKind::PeAccumulate,
            None => UseKind::PeOverwrite,
        };
        let matmul = Matmul {
            dst,
            accumulator: spec.accumulator,
            stationary: spec.stationary,
            tile: spec.tile,
            flags: spec.flags,
            zero_region: spec.zero_region,
            start_if: spec.start_if,
            stop_if: spec.stop_if,
        };
        let read = |access| Use {
            access,
            kind: UseKind::Read,
        };
        let mut uses = [Use { access: dst, kind }; 3];
        let mut count = 1;
        for access in [spec.stationary, spec.moving].into_iter().flatten() {
            uses[count] = read(access);
            count += 1;
        }
        self.push(Op::Matmul(matmul), Engine::Pe, &uses[..count])
    }

    /// The id of `condition`.
    pub fn condition(&mut self, condition: Condition) -> ConditionId {
        let known = self.program.conditions.iter().rev().take(8);
        let back = known.into_iter().position(|known| *known == condition);
        let count = self.program.conditions.len();
        let index = back.map_or(count, |back| count - 1 - back);
        if index == count {
            self.program.conditions.push(condition);
        }
        ConditionId(index as u32)
    }

    /// Says what is known of the bounds of the loop `holder`, which was pushed after all loops of
    /// which this was said before.
    pub fn set_bounds(&mut self, holder: InstId, bounds: Bounds) {
        self.program.bounds.push((holder, bounds));
    }

    /// Says when the branch `holder` takes its first region, or an `scf.while` goes on; order as in
    /// [`Self::set_bounds`].
    pub fn set_branch(&mut self, holder: InstId, condition: Condition) {
        let condition = self.condition(condition);
        self.program.branches.push((holder, condition));
    }

    /// Says that the switch `holder` always takes its region number `region`; order as in
    /// [`Self::set_bounds`].
    pub fn set_choice(&mut self, holder: InstId, region: usize) {
        self.program.choices.push((holder, region as u32));
    }

    /// Adds a question.
    pub fn add_question(&mut self, question: Question) -> QuestionId {
        let id = QuestionId::new(self.program.questions.len());
        self.program.questions.push(question);
        id
    }

    /// Says what the loop or branch `holder` asks; order as in [`Self::set_bounds`].
    pub fn set_asks(&mut self, holder: InstId, asked: Asked) {
        self.program.asks.push((holder, asked));
    }

    /// Says what the end of `block` asks.
    pub fn set_jump_asks(&mut self, block: BlockId, asked: Asked) {
        self.program.blocks[block.index()].asks = Some(asked);
    }

    /// Appends an operation with `region_count` empty regions (no blocks yet) and returns both.
    pub fn push_region(
        &mut self,
        kind: RegionKind,
        region_count: usize,
    ) -> (InstId, Vec<RegionId>) {
        let first = self.program.regions.len();
        let regions: Vec<RegionId> = (first..first + region_count).map(RegionId::new).collect();
        let op = Op::Region {
            kind,
            regions: regions.clone(),
        };
        let holder = self.push(op, Engine::Other, &[]);
        for _ in 0..region_count {
            self.program.regions.push(Region {
                holder: Some(holder),
                blocks: Vec::new(),
            });
        }
        (holder, regions)
    }

    /// Gives `holder`, an operation that holds regions, one more region without blocks.
    pub fn add_region(&mut self, holder: InstId) -> RegionId {
        let id = RegionId::new(self.program.regions.len());
        if let Op::Region { regions, .. } = &mut self.program.insts[holder.index()].op {
            regions.push(id);
        }
        self.program.regions.push(Region {
            holder: Some(holder),
            blocks: Vec::new(),
        });
        id
    }

    /// Appends an empty block to `region`. It does not become the current one.
    pub fn add_block(&mut self, region: RegionId) -> BlockId {
        let id = BlockId::new(self.program.blocks.len());
        self.program.blocks.push(Block {
            region,
            insts: Vec::new(),
            successors: Vec::new(),
            asks: None,
        });
        self.program.regions[region.index()].blocks.push(id);
        id
    }

    /// Says that control may go from `from` to `to`.
    pub fn add_successor(&mut self, from: BlockId, to: BlockId) {
        self.program.blocks[from.index()].successors.push(to);
    }

    /// Says that `inst` waits for `from`.
    pub fn add_edge(&mut self, inst: InstId, from: InstId, inserted: bool) {
        self.program.insts[inst.index()]
            .after
            .push(Edge { from, inserted });
    }

    /// Says that legalization added `inst`.
    pub fn set_inserted(&mut self, inst: InstId) {
        self.program.insts[inst.index()].inserted = true;
    }

    /// Says how many elements of each partition `inst` writes.
    pub fn set_elements(&mut self, inst: InstId, elements: u32) {
        self.program.insts[inst.index()].elements = elements;
    }

    /// Says that `inst` accesses memory besides its accesses.
    pub fn set_opaque(&mut self, inst: InstId) {
        self.program.insts[inst.index()].is_opaque = true;
    }

    /// The finished program.
    pub fn finish(self) -> Program {
        self.program
    }
}
