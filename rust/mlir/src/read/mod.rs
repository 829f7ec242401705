//! From a function-like MLIR operation to a [`Program`]: one walk.
//!
//! Every operation is looked at once. Operations of the dialect are told apart by type id; others
//! by their name, which is turned into a [`Class`] once per name and reading. Blocks wait on an
//! explicit stack, so nesting may be as deep as memory allows.
//!
//! What becomes an entry of a block:
//!
//! * an engine operation of the dialect, and `pto.expect_*`;
//! * an operation with effects on an operand in PSUM or SBUF. Only PSUM operands become accesses.
//!   A write that may leave cells of its operand as they were counts as a read and a write;
//! * a call. It may read and write all of its PSUM operands;
//! * an operation with regions;
//! * the allocation and the end of the life of a PSUM buffer, as markers.
//!
//! Where all accesses are asked for, SBUF and HBM count as PSUM does, and every operation with effects
//! is an entry: see [`outside`].
//!
//! Everything else is transparent. What cannot be read is an error, and then there is no program:
//! `[pto:dynamic-access]` where the cells are not known before run time, `[pto:view]` where the
//! machine cannot address them.

pub(crate) use class::Classes;
pub(crate) use layout::CELL_BYTES;
pub(crate) use loops::INSERTED_MARK;

mod class;
mod comparisons;
mod conditions;
mod instruction;
mod layout;
mod loops;
mod outside;
mod questions;
mod ties;
pub(crate) mod tile;
mod trips;
mod view;

use pto_ir::{
    AccessId, AllocId, BlockId, Engine, InstId, Op as IrOp, Program, ProgramBuilder, RegionId,
    RegionKind, Use, UseKind,
};
use rustc_hash::FxHashMap;

use crate::accessors::{effect, kind, space};
use crate::diag::Message;
use crate::handle::{Block, Key, Location, Op, Value};
use class::{Class, Coverage};
use outside::{Outside, elements_per_partition};
use view::Buffers;

/// How much a pass needs to know of the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Every access must be known exactly.
    Exact,
    /// Only the instructions and their tiles matter: an unknown access is no error.
    Instructions,
    /// As exact; also the accesses of SBUF and HBM, as far as they are known, and an entry for every
    /// operation with effects.
    Memory,
}

/// A function that was read, with the way back from ids to MLIR.
pub(crate) struct Reading {
    /// The operation that was read.
    pub(crate) function: Op,
    /// What it says.
    pub(crate) program: Program,
    /// The operation of each entry of the program.
    ops: Vec<Op>,
    /// The value of each buffer of the program.
    alloc_values: Vec<Value>,
    /// The block of each block of the program.
    blocks: Vec<Block>,
}

impl Reading {
    /// The operation of `inst`.
    pub(crate) fn op(&self, inst: InstId) -> Op {
        self.ops[inst.index()]
    }

    /// Says that the operation of `inst` was rebuilt as `op`.
    pub(crate) fn replace_op(&mut self, inst: InstId, op: Op) {
        self.ops[inst.index()] = op;
    }

    /// The block `block`.
    pub(crate) fn block(&self, block: BlockId) -> Block {
        self.blocks[block.index()]
    }

    /// The value of the whole buffer `alloc`.
    pub(crate) fn alloc_value(&self, alloc: AllocId) -> Value {
        self.alloc_values[alloc.index()]
    }

    /// Where `alloc` is made: at its operation, or at the function for an argument.
    pub(crate) fn alloc_location(&self, alloc: AllocId) -> Location {
        let owner = self.alloc_value(alloc).owner();
        owner.unwrap_or(self.function).location()
    }
}

/// Reads the function-like operation `function`.
pub(crate) fn read(function: Op, detail: Detail) -> Result<Reading, Vec<Message>> {
    let name = function
        .attribute("sym_name")
        .and_then(|name| name.text_value())
        .unwrap_or_default();
    let body = (function.region_count() > 0)
        .then(|| function.first_block(0))
        .flatten();
    let Some(entry) = body else {
        return Ok(Reading {
            function,
            program: ProgramBuilder::declaration(name),
            ops: Vec::new(),
            alloc_values: Vec::new(),
            blocks: Vec::new(),
        });
    };
    let mut reader = Reader {
        builder: ProgramBuilder::new(name),
        function,
        detail,
        ops: Vec::new(),
        classes: Classes::default(),
        buffers: Buffers::default(),
        outside: Outside::default(),
        blocks: FxHashMap::default(),
        loops: loops::Loops::default(),
        questions: questions::Questions::default(),
        block_handles: vec![entry],
        token_makers: FxHashMap::default(),
        edges: Vec::new(),
        pending: Vec::new(),
        errors: Vec::new(),
    };
    reader.builder.set_marks(
        function.has_mark("pto.acc_provisional"),
        function.has_mark("pto.acc_legalized"),
    );
    reader.builder.set_named_banks(function.named_banks());
    reader.add_arguments(entry);
    reader.add_region(RegionId::new(0), entry);
    reader.read_pending();
    reader.finish()
}

/// What is left to be read.
enum Pending {
    /// A block, from an operation on.
    Block(BlockId, Option<Op>),
    /// Nothing: all inside an operation with regions was read.
    End(Op),
}

struct Reader {
    builder: ProgramBuilder,
    function: Op,
    detail: Detail,
    ops: Vec<Op>,
    classes: Classes,
    buffers: Buffers,
    outside: Outside,
    /// Blocks of regions with several of them, the only ones that branches name.
    blocks: FxHashMap<Key, BlockId>,
    loops: loops::Loops,
    questions: questions::Questions,
    /// The entry of each operation that makes a token.
    token_makers: FxHashMap<Key, InstId>,
    /// Tokens waited for: the entry, the operation that makes the token, whether inserted.
    edges: Vec<(InstId, Key, bool)>,
    /// What is left, the next last: blocks around the current operation, and those after one of these.
    pending: Vec<Pending>,
    errors: Vec<Message>,
    /// The block of each block of the program.
    block_handles: Vec<Block>,
}

impl Reader {
    /// Reads every entry in program order, a holder before what it holds: so entries are numbered in the
    /// order in which passes walk them.
    fn read_pending(&mut self) {
        while let Some(pending) = self.pending.last_mut() {
            match pending {
                Pending::Block(id, next) => {
                    let (id, Some(op)) = (*id, *next) else {
                        self.pending.pop();
                        continue;
                    };
                    *next = op.next();
                    let is_last = next.is_none();
                    self.builder.set_block(id);
                    self.read_op(op);
                    if is_last {
                        self.end_block(op, id);
                    }
                }
                Pending::End(op) => {
                    let op = *op;
                    self.pending.pop();
                    self.leave_holder(op);
                }
            }
        }
    }

    /// Adds the blocks of a region, the first being `entry`, and leaves them to be read in order.
    fn add_region(&mut self, region: RegionId, entry: Block) {
        let first_pending = self.pending.len();
        let several = entry.next().is_some();
        let mut block = Some(entry);
        while let Some(current) = block {
            let is_body_entry = region.index() == 0 && self.pending.len() == first_pending;
            let id = match is_body_entry {
                true => BlockId::new(0),
                false => {
                    self.block_handles.push(current);
                    self.builder.add_block(region)
                }
            };
            if several {
                self.blocks.insert(current.key(), id);
            }
            self.pending.push(Pending::Block(id, current.first_op()));
            block = current.next();
        }
        self.pending[first_pending..].reverse();
    }

    /// Successors of a block, and buffers that leave the function, by its last operation.
    fn end_block(&mut self, last: Op, id: BlockId) {
        for index in 0..last.successor_count() {
            if let Some(&to) = self.blocks.get(&last.successor(index).key()) {
                self.builder.add_successor(id, to);
            }
        }
        self.ask_of_jump(last, id);
        let leaves = last.successor_count() == 0
            && self.builder.program().block(id).region == RegionId::new(0);
        if leaves {
            for value in last.operands() {
                if value.r#type().space() == space::PSUM {
                    self.mark_escaping(last, value);
                }
            }
        }
    }

    fn mark_escaping(&mut self, op: Op, value: Value) {
        match self.root(value) {
            Ok(alloc) => self.builder.set_escapes(alloc),
            Err(problem) => self.report(op, problem),
        }
    }

    fn read_op(&mut self, op: Op) {
        match op.kind() {
            kind::OTHER => self.read_foreign(op),
            kind::MATMUL | kind::MATMUL_ACC => self.read_matmul(op),
            kind::PSUM_ALLOC => self.read_alloc(op),
            kind::SBUF_ALLOC => {}
            kind::MEMSET => {
                let written = match op.operand(0).is_positive_zero() {
                    true => UseKind::WriteZero,
                    false => UseKind::Write,
                };
                let _ = self.read_engine_op(op, &[(op.operand(1), written)]);
            }
            kind::COPY => {
                let uses = [
                    (op.operand(0), UseKind::Read),
                    (op.operand(1), UseKind::Write),
                ];
                let _ = self.read_engine_op(op, &uses);
            }
            kind::EXPECT_EQ | kind::EXPECT_CLOSE => {
                if let Some(uses) = self.uses(op, &[(op.operand(0), UseKind::Read)]) {
                    self.push(op, IrOp::Effects, Engine::Other, &uses);
                }
            }
            _ => self.read_by_effects(op, Coverage::Unknown),
        }
    }

    /// An operation of another dialect, or one of ours that is not an instruction of the PE machine.
    fn read_foreign(&mut self, op: Op) {
        match self.classes.of(op) {
            Class::Alloc => {
                if op.result(0).r#type().space() == space::PSUM {
                    self.read_alloc(op);
                }
            }
            Class::Call => self.read_call(op),
            Class::Region(sort) => self.read_region(op, sort),
            Class::SpaceCast => self.check_space_cast(op),
            Class::Transparent if self.detail == Detail::Memory => {
                self.push(op, IrOp::Effects, Engine::Other, &[]);
            }
            Class::View | Class::Transparent | Class::Global => {}
            Class::Leaf(coverage) => self.read_by_effects(op, coverage),
        }
    }

    /// An operation with regions. Its operands carry no effects of their own, unless nothing is
    /// known of it.
    fn read_region(&mut self, op: Op, sort: RegionKind) {
        if sort == RegionKind::Other {
            self.read_by_effects(op, Coverage::Unknown);
        }
        let kind = match sort {
            RegionKind::For { .. } => RegionKind::For {
                trips: op.trip_count(),
            },
            other => other,
        };
        let (holder, regions) = self.builder.push_region(kind, op.region_count());
        self.ops.push(op);
        self.enter_holder(op, holder);
        match kind {
            RegionKind::For { trips } => self.read_bounds(op, holder, trips),
            RegionKind::If => self.read_branch(op, holder),
            RegionKind::IndexSwitch => {
                self.read_branch(op, holder);
                self.read_switch(op, holder);
            }
            RegionKind::While => self.read_while(op, holder),
            _ => {}
        }
        self.pending.push(Pending::End(op));
        for (index, region) in regions.into_iter().enumerate().rev() {
            if let Some(entry) = op.first_block(index) {
                self.add_region(region, entry);
            }
        }
    }

    /// An operation that is an instruction if it has effects on an operand in PSUM or SBUF.
    fn read_by_effects(&mut self, op: Op, coverage: Coverage) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let mut is_instruction = self.detail == Detail::Memory && self.has_effects(op);
        for (index, value) in op.operands().enumerate() {
            let memory = value.r#type().space();
            if self.wants(memory) && op.operand_effects(index) & effect::FREE != 0 {
                // The end of a life is in order with the accesses of its buffer only.
                if let Some(alloc) = self.outside_alloc(value) {
                    self.push(op, IrOp::Dealloc(alloc), Engine::Other, &[]);
                    return;
                }
            }
            if memory != space::PSUM && memory != space::SBUF {
                continue;
            }
            let effects = op.operand_effects(index);
            is_instruction |= effects & (effect::READ | effect::WRITE) != 0;
            if memory != space::PSUM {
                continue;
            }
            if effects & effect::FREE != 0 {
                self.read_dealloc(op, value);
                is_instruction &= self.detail != Detail::Memory;
            }
            let written = match coverage {
                _ if effects & effect::WRITE == 0 => None,
                Coverage::Unknown => Some(UseKind::Write),
                Coverage::Whole => Some(UseKind::Write),
                Coverage::Fill if op.operand(0).is_positive_zero() => Some(UseKind::WriteZero),
                Coverage::Fill => Some(UseKind::Write),
            };
            let keeps_cells = written.is_some() && coverage == Coverage::Unknown;
            if effects & effect::READ != 0 || keeps_cells {
                reads.push((value, UseKind::Read));
            }
            writes.extend(written.map(|kind| (value, kind)));
        }
        if !is_instruction {
            return;
        }
        reads.append(&mut writes);
        if let Some(uses) = self.uses(op, &reads) {
            self.push(op, IrOp::Effects, Engine::Other, &uses);
        }
    }

    /// Whether `op` may do anything but compute. What ends a block stays where it is in any case.
    fn has_effects(&self, op: Op) -> bool {
        !(op.is_effect_free() || op.next().is_none() && op.is_terminator())
    }

    fn read_alloc(&mut self, op: Op) {
        let block = self.builder.block();
        match self.add_alloc(op, block) {
            Ok(alloc) => {
                self.push(op, IrOp::Alloc(alloc), Engine::Other, &[]);
            }
            Err(problem) => self.report(op, problem),
        }
    }

    fn read_dealloc(&mut self, op: Op, value: Value) {
        match self.root(value) {
            Ok(alloc) => {
                self.push(op, IrOp::Dealloc(alloc), Engine::Other, &[]);
            }
            Err(problem) => self.report(op, problem),
        }
    }

    /// The accesses of those of `operands` that lie in PSUM, or in another memory that was asked for;
    /// `None` where one was reported.
    fn uses(&mut self, op: Op, operands: &[(Value, UseKind)]) -> Option<Vec<Use>> {
        let mut uses = Vec::with_capacity(operands.len());
        for &(value, kind) in operands {
            let memory = value.r#type().space();
            if memory == space::PSUM {
                let access = self.access_or_report(op, value)?;
                uses.push(Use { access, kind });
            } else if self.wants(memory)
                && let Some(access) = self.outside_access(value)
            {
                uses.push(Use { access, kind });
            }
        }
        Some(uses)
    }

    /// Whether `value` lies in a buffer that is not known, all memories being asked for.
    fn is_unknown(&mut self, value: Value) -> bool {
        match value.r#type().space() {
            space::PSUM | space::NONE => false,
            space::SBUF | space::HBM => self.outside_access(value).is_none(),
            _ => true,
        }
    }

    fn access_or_report(&mut self, op: Op, value: Value) -> Option<AccessId> {
        match self.access(value) {
            Ok(access) => Some(access),
            Err(_) if self.detail == Detail::Instructions => Some(self.opaque_access(value)),
            Err(problem) => {
                self.report(op, problem);
                None
            }
        }
    }

    fn push(&mut self, op: Op, entry: IrOp, engine: Engine, uses: &[Use]) -> InstId {
        self.ops.push(op);
        self.builder.push(entry, engine, uses)
    }

    fn finish(mut self) -> Result<Reading, Vec<Message>> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        for &(inst, maker, inserted) in &self.edges {
            if let Some(&from) = self.token_makers.get(&maker) {
                self.builder.add_edge(inst, from, inserted);
            }
        }
        Ok(Reading {
            function: self.function,
            program: self.builder.finish(),
            ops: self.ops,
            alloc_values: self.buffers.into_values(),
            blocks: self.block_handles,
        })
    }
}
