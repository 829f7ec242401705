//! What a pass wants changed: pure data, applied to MLIR by the host or to a [`Program`] here.

use crate::ProgramBuilder;
use crate::condition::{Condition, Predicate, Turn};
use crate::diag::Diag;
use crate::flags::AccFlags;
use crate::ids::{AccessId, AllocId, BlockId, InstId};
use crate::interval::{Interval, IntervalSet};
use crate::program::{Edge, Engine, Op, Placement, Program, Use, UseKind};

/// New values of both group attributes of one matmul; `None` removes the attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEdit {
    /// The matmul.
    pub inst: InstId,
    /// The flags.
    pub flags: Option<AccFlags>,
    /// The zero-region code.
    pub zero_region: Option<u8>,
}

/// The cells a new memset clears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemsetTarget {
    /// The whole access of an operand of the instruction the memset stands before.
    Access(AccessId),
    /// A rectangle of a buffer, relative to it.
    Rectangle {
        /// The buffer.
        alloc: AllocId,
        /// Partitions.
        partitions: Interval,
        /// Bytes.
        bytes: Interval,
    },
    /// The *relay*: one cell of SBUF, the same for all memsets of a function that say so. Each writes it,
    /// so each waits for those before it, whatever block they are in: the way for order to leave a block,
    /// which tokens cannot.
    Relay,
}

/// Where a new memset stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Anchor {
    /// Right before this instruction.
    Before(InstId),
    /// At the end of this block, after all its entries.
    End(BlockId),
}

impl Anchor {
    /// The block it is in.
    pub fn block(self, program: &Program) -> BlockId {
        match self {
            Self::Before(inst) => program.inst(inst).block,
            Self::End(block) => block,
        }
    }
}

/// A memset of zero to insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewMemset {
    /// Where it stands.
    pub at: Anchor,
    /// What it clears.
    pub target: MemsetTarget,
}

impl NewMemset {
    /// The engine that executes it: one that has little else to do where others would wait for it.
    pub const fn engine(&self) -> Engine {
        match self.target {
            MemsetTarget::Relay => Engine::Gpsimd,
            MemsetTarget::Access(_) | MemsetTarget::Rectangle { .. } => Engine::Vector,
        }
    }
}

/// An end of a new ordering edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeNode {
    /// An instruction of the program.
    Inst(InstId),
    /// A memset of the same plan, by its index in [`Plan::memsets`].
    Memset(u32),
}

/// An ordering edge to add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NewEdge {
    /// Issued first.
    pub from: EdgeNode,
    /// Issued after it.
    pub to: EdgeNode,
}

/// A predicate to give to a matmul: its START, or STOP, is to happen exactly when all of `loops` are
/// at their first, or last, iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPredicate {
    /// The matmul.
    pub inst: InstId,
    /// [`Turn::First`] is `start_if`, [`Turn::Last`] is `stop_if`.
    pub turn: Turn,
    /// Loops around the matmul, from the outside in, at least one.
    pub loops: Vec<InstId>,
}

/// The unit attributes of a function that passes set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionMark {
    /// `pto.acc_provisional`.
    Provisional,
    /// `pto.acc_legalized`.
    Legalized,
}

/// A part of a text to print, where the host puts in what it alone knows of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// As it stands.
    Text(String),
    /// The name of the operation.
    Name(InstId),
    /// Its location.
    Location(InstId),
}

/// Everything one run of a pass wants changed in one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Places of buffers that had none.
    pub placements: Vec<(AllocId, Placement)>,
    /// New flags, at most one entry a matmul. Only real changes are listed.
    pub acc: Vec<AccEdit>,
    /// New memsets; those before one instruction stand in list order.
    pub memsets: Vec<NewMemset>,
    /// New predicates.
    pub predicates: Vec<NewPredicate>,
    /// Matmuls that lose the predicates an earlier legalization inserted.
    pub drop_inserted_predicates: Vec<InstId>,
    /// New ordering edges.
    pub edges: Vec<NewEdge>,
    /// Whether the new edges carry the mark of legalization.
    pub edges_are_inserted: bool,
    /// Blocks in a new order: all their entries, each once. Not together with memsets or erasures.
    pub orders: Vec<(BlockId, Vec<InstId>)>,
    /// Operations to erase (memsets that an earlier legalization inserted).
    pub erase: Vec<InstId>,
    /// Instructions that lose the ordering edges an earlier legalization inserted.
    pub drop_inserted_edges: Vec<InstId>,
    /// Function marks to set or clear.
    pub marks: Vec<(FunctionMark, bool)>,
    /// Warnings and remarks.
    pub diags: Vec<Diag>,
    /// The report for `report-dir`, as JSON, where it was asked for and something was derived.
    pub report: Option<String>,
    /// What an analysis has to show, to be printed part after part.
    pub text: Vec<TextPart>,
}

impl Plan {
    /// Whether applying it would change nothing.
    pub fn is_empty(&self) -> bool {
        self.placements.is_empty()
            && self.acc.is_empty()
            && self.memsets.is_empty()
            && self.predicates.is_empty()
            && self.drop_inserted_predicates.is_empty()
            && self.edges.is_empty()
            && self.orders.is_empty()
            && self.erase.is_empty()
            && self.drop_inserted_edges.is_empty()
            && self.marks.is_empty()
    }

    /// The program as it will be: the same ids, new memsets after the existing entries.
    pub fn applied_to(&self, program: &Program) -> Program {
        let mut result = program.clone();
        for &(mark, set) in &self.marks {
            match mark {
                FunctionMark::Provisional => result.provisional = set,
                FunctionMark::Legalized => result.legalized = set,
            }
        }
        for &(alloc, placement) in &self.placements {
            result.allocs[alloc.index()].placement = Some(placement);
        }
        for edit in &self.acc {
            if let Op::Matmul(matmul) = &mut result.insts[edit.inst.index()].op {
                matmul.flags = edit.flags;
                matmul.zero_region = edit.zero_region;
            }
        }
        for &inst in &self.drop_inserted_edges {
            result.insts[inst.index()]
                .after
                .retain(|edge| !edge.inserted);
        }
        self.change_predicates(&mut result);
        for (block, order) in &self.orders {
            result.blocks[block.index()].insts.clone_from(order);
        }
        let memsets = self.append_memsets(&mut result);
        self.splice_blocks(&mut result, &memsets);
        for edge in &self.edges {
            let resolve = |node| match node {
                EdgeNode::Inst(inst) => inst,
                EdgeNode::Memset(index) => memsets[index as usize],
            };
            let (from, to) = (resolve(edge.from), resolve(edge.to));
            result.insts[to.index()].after.push(Edge {
                from,
                inserted: self.edges_are_inserted,
            });
        }
        result
    }

    fn change_predicates(&self, program: &mut Program) {
        for &inst in &self.drop_inserted_predicates {
            if let Op::Matmul(matmul) = &mut program.insts[inst.index()].op {
                matmul.start_if = matmul.start_if.filter(|predicate| !predicate.inserted);
                matmul.stop_if = matmul.stop_if.filter(|predicate| !predicate.inserted);
            }
        }
        if self.predicates.is_empty() {
            return;
        }
        let mut builder = ProgramBuilder::resume(std::mem::take(program));
        let conditions: Vec<_> = self
            .predicates
            .iter()
            .map(|new| builder.condition(Condition::all(new.turn, new.loops.clone())))
            .collect();
        *program = builder.finish();
        for (new, condition) in self.predicates.iter().zip(conditions) {
            if let Op::Matmul(matmul) = &mut program.insts[new.inst.index()].op {
                let predicate = Some(Predicate {
                    condition,
                    inserted: true,
                });
                match new.turn {
                    Turn::First => matmul.start_if = predicate,
                    Turn::Last => matmul.stop_if = predicate,
                }
            }
        }
    }

    /// Adds the memsets to the arena, not yet to a block.
    fn append_memsets(&self, program: &mut Program) -> Vec<InstId> {
        if self.memsets.is_empty() {
            return Vec::new();
        }
        let mut builder = ProgramBuilder::resume(std::mem::take(program));
        let accesses: Vec<Option<AccessId>> = self
            .memsets
            .iter()
            .map(|memset| match memset.target {
                MemsetTarget::Access(access) => Some(access),
                MemsetTarget::Rectangle {
                    alloc,
                    partitions,
                    bytes,
                } => Some(builder.access(alloc, partitions, IntervalSet::from_spans(vec![bytes]))),
                MemsetTarget::Relay => None,
            })
            .collect();
        *program = builder.finish();
        let mut ids = Vec::with_capacity(self.memsets.len());
        for (memset, access) in self.memsets.iter().zip(accesses) {
            let block = memset.at.block(program);
            let uses = access.map(|access| Use {
                access,
                kind: UseKind::WriteZero,
            });
            let id = program.append_inst(block, Op::Engine, memset.engine(), uses.as_slice());
            program.insts[id.index()].inserted = true;
            ids.push(id);
        }
        ids
    }

    /// Puts the memsets in their places and takes the erased operations out.
    fn splice_blocks(&self, program: &mut Program, memsets: &[InstId]) {
        if memsets.is_empty() && self.erase.is_empty() {
            return;
        }
        let mut anchored: Vec<(Anchor, InstId)> = self
            .memsets
            .iter()
            .map(|m| m.at)
            .zip(memsets.iter().copied())
            .collect();
        anchored.sort_by_key(|&(anchor, _)| anchor);
        let placed = |at: Anchor| {
            let first = anchored.partition_point(|&(anchor, _)| anchor < at);
            let here = anchored[first..].iter();
            here.take_while(move |&&(anchor, _)| anchor == at)
                .map(|&(_, memset)| memset)
        };
        let mut erased = self.erase.clone();
        erased.sort_unstable();
        for (index, block) in program.blocks.iter_mut().enumerate() {
            let old = std::mem::take(&mut block.insts);
            for inst in old {
                block.insts.extend(placed(Anchor::Before(inst)));
                if erased.binary_search(&inst).is_err() {
                    block.insts.push(inst);
                }
            }
            block.insts.extend(placed(Anchor::End(BlockId::new(index))));
        }
        for inst in &mut program.insts {
            inst.after
                .retain(|edge| erased.binary_search(&edge.from).is_err());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::MatmulSpec;
    use crate::{Alloc, Origin, Space};

    fn two_matmuls() -> (Program, AccessId, [InstId; 2]) {
        let mut builder = ProgramBuilder::new("f");
        let alloc = builder.add_alloc(Alloc {
            space: Space::Psum,
            origin: Origin::Allocation,
            block: BlockId::new(0),
            partitions: 128,
            bytes: 2048,
            placement: None,
            escapes: false,
            may_alias: false,
        });
        builder.push_alloc(alloc);
        let dst = builder.whole(alloc);
        let first = builder.push_matmul(dst, MatmulSpec::default());
        let accumulate = MatmulSpec {
            accumulator: Some(dst),
            ..MatmulSpec::default()
        };
        let second = builder.push_matmul(dst, accumulate);
        (builder.finish(), dst, [first, second])
    }

    #[test]
    fn applying_inserts_in_order_and_keeps_ids() {
        let (program, dst, [first, second]) = two_matmuls();
        let memset = |target| NewMemset {
            at: Anchor::Before(second),
            target,
        };
        let rectangle = MemsetTarget::Rectangle {
            alloc: program.access(dst).alloc,
            partitions: Interval::new(0, 32),
            bytes: Interval::new(0, 64),
        };
        let plan = Plan {
            acc: vec![AccEdit {
                inst: first,
                flags: Some(AccFlags::START),
                zero_region: Some(0),
            }],
            memsets: vec![memset(MemsetTarget::Access(dst)), memset(rectangle)],
            edges: vec![NewEdge {
                from: EdgeNode::Memset(1),
                to: EdgeNode::Inst(second),
            }],
            ..Plan::default()
        };
        let result = plan.applied_to(&program);
        let order = &result.blocks()[0].insts;
        assert_eq!(order.len(), 5);
        assert_eq!((order[1], order[4]), (first, second));
        assert_eq!(result.uses(order[2])[0].access, dst);
        assert_eq!(
            result.bytes(result.uses(order[3])[0].access),
            [Interval::new(0, 64)]
        );
        assert_eq!(result.inst(second).after[0].from, order[3]);
        assert_eq!(
            result.inst(first).matmul().and_then(|m| m.flags),
            Some(AccFlags::START)
        );

        let undo = Plan {
            erase: vec![order[2], order[3]],
            ..Plan::default()
        };
        let undone = undo.applied_to(&result);
        assert_eq!(undone.blocks()[0].insts, program.blocks()[0].insts);
        assert!(undone.inst(second).after.is_empty());
    }
}
