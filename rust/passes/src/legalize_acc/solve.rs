//! One block from its chains to the edits of the plan.

use pto_ir::{
    AccEdit, AccFlags, AllocId, Anchor, Diag, InstId, Interval, MemsetTarget, NewMemset,
    NewPredicate, Plan, Program, Site, Target,
};

use rustc_hash::FxHashMap;

use super::chains::{Chains, Demand};
use super::clusters::{self, Extent};
use super::collisions;
use super::edges::{self, Cells, Memset};
use super::flags::{self, Clear, Cluster, Decision, Decisions, Facts};
use super::geometry::{Geometry, NONE, Rectangle};
use super::naive;
use super::nests::Nest;
use super::problem::{BlockProblem, END, Member};
use super::relays::Relays;
use super::report::{self, Asked, Narrator, Report};
use super::survey::legal_starts;
use super::{Collisions, Options};

/// The parts of a solution that blocks add to.
pub(super) struct Solver<'p> {
    pub program: &'p Program,
    pub target: &'static Target,
    pub options: &'p Options,
    pub geometry: &'p Geometry,
    pub plan: Plan,
    /// Flags of matmuls in loops that run once.
    pub in_loops: FxHashMap<InstId, AccFlags>,
    /// For the remarks: the matmuls with a predicate, and the outermost of the loops that it asks.
    pub asked: Asked,
    pub errors: Vec<Diag>,
    /// The report, where one was asked for.
    pub report: Option<Report<'p>>,
    /// Whether some flags were derived, rather than found.
    pub has_derived: bool,
    /// What orders blocks, in a function of several where that is wanted.
    pub relays: Option<Relays>,
}

impl Solver<'_> {
    /// Adds the flags and predicates of loop nests.
    pub(super) fn add_nests(&mut self, nests: Vec<Nest>) {
        for nest in nests {
            if self.options.remarks {
                let outermost =
                    |new: &NewPredicate| Some(((new.inst, new.turn), *new.loops.first()?));
                self.asked
                    .extend(nest.predicates.iter().filter_map(outermost));
            }
            self.plan.predicates.extend(nest.predicates);
            for (inst, flag) in nest.flags {
                let flags = self.in_loops.entry(inst).or_default();
                *flags = flags.with(flag);
            }
        }
    }

    /// Adds the edits of one block.
    pub(super) fn block(&mut self, problem: &BlockProblem, chains: &Chains) {
        let (objects, extent_of) = extents(chains);
        let components = clusters::components(objects, self.target);
        let facts = Facts {
            problem,
            geometry: self.geometry,
            chains,
            components: &components,
            extent_of: &extent_of,
            target: self.target,
        };
        let decisions = flags::decide(&facts, self.options);
        let memsets = self.memsets(&facts, &decisions);
        let mut edges = edges::edges(self.program, &facts, &decisions, &memsets);
        if self.options.collisions == Collisions::Order {
            let relays = self.relays.as_mut();
            let new = collisions::edges(self.program, &facts, &decisions, &memsets, &edges, relays);
            edges.extend(new);
        }
        self.edits(problem, &decisions);
        self.seeded(&facts, &decisions);
        if self.options.remarks {
            let narrator = Narrator {
                program: self.program,
                facts: &facts,
                decisions: &decisions,
                memsets: &memsets,
                asked: &self.asked,
            };
            self.plan.diags.extend(narrator.remarks());
        }
        if let Some(report) = &mut self.report {
            report::add_clusters(report, self.program, &facts, &decisions);
            report.counts.memsets += memsets.len();
            report.counts.edges += edges.len();
        }
        self.plan.edges.extend(edges);
    }

    /// Adds what orders blocks, if some flags were derived.
    pub(super) fn order_blocks(&mut self) {
        let Some(relays) = self.relays.take().filter(|_| self.has_derived) else {
            return;
        };
        let (memsets, edges) = (self.plan.memsets.len(), self.plan.edges.len());
        relays.add_to(self.program, &mut self.plan, self.options.remarks);
        if let Some(report) = &mut self.report {
            report.counts.memsets += self.plan.memsets.len() - memsets;
            report.counts.edges += self.plan.edges.len() - edges;
        }
    }

    /// Adds the edits of one block by the bare rule.
    pub(super) fn naive_block(&mut self, problem: &BlockProblem) {
        let decisions = naive::decide(self.program, self.target, self.geometry, problem);
        self.edits(problem, &decisions);
    }

    /// The flags that change, with a warning where an explicit one does.
    fn edits(&mut self, problem: &BlockProblem, decisions: &Decisions) {
        self.plan.acc.reserve(problem.members.len());
        for (index, member) in problem.members.iter().enumerate() {
            let Some((flags, region)) = decisions.flags[index] else {
                continue;
            };
            let flags = match self.in_loops.get(&member.inst) {
                Some(&more) => flags.with(more),
                None => flags,
            };
            let cluster = &decisions.clusters[decisions.cluster_of[index] as usize];
            self.has_derived |= cluster.decision != Decision::Keep;
            if member.attributes == (Some(flags), Some(region)) {
                continue;
            }
            self.plan.acc.push(AccEdit {
                inst: member.inst,
                flags: Some(flags),
                zero_region: Some(region),
            });
            let matmul = self.program.inst(member.inst).matmul();
            if cluster.decision != Decision::Keep && matmul.is_some_and(|m| m.is_predicated()) {
                self.refuse_predicate(member, cluster, problem);
                continue;
            }
            let changes = member.flags.is_some_and(|old| old != flags)
                || member.region.is_some_and(|old| old != region);
            if changes {
                let mut diag = Diag::warning(
                    "pto:mixed-flags",
                    Site::Inst(member.inst),
                    format!(
                        "expected all or none of the matmuls that share a zero region to have flags; derived acc<{flags}> zero_region({region}) instead of what was written"
                    ),
                );
                if let Some(auto) = problem.members.get(cluster.first_auto as usize) {
                    diag = diag.with_note(Site::Inst(auto.inst), "this one has none");
                }
                self.warn(diag);
            }
        }
    }

    /// Flags that are derived around a predicate of other origin would not be what its author meant.
    fn refuse_predicate(&mut self, member: &Member, cluster: &Cluster, problem: &BlockProblem) {
        let message = "expected flags that do not depend on the run among matmuls to derive flags for, found start_if or stop_if";
        let mut error = Diag::error("pto:control-flow", Site::Inst(member.inst), message);
        if let Some(auto) = problem.members.get(cluster.first_auto as usize) {
            error = error.with_note(Site::Inst(auto.inst), "this one has no flags");
        }
        self.errors.push(error);
    }

    /// Chains on data of another engine, where the target cannot clear pending bits.
    fn seeded(&mut self, facts: &Facts<'_>, decisions: &Decisions) {
        if self.target.has_accumulate {
            return;
        }
        let mut is_reported = vec![false; facts.chains.objects.len()];
        for &(member, written) in &facts.chains.data_seeds {
            let cluster = &decisions.clusters[decisions.cluster_of[member as usize] as usize];
            let chain = facts.chains.chain_of[member as usize];
            if cluster.decision == Decision::Keep
                || std::mem::replace(&mut is_reported[chain as usize], true)
            {
                continue;
            }
            let member = &facts.problem.members[member as usize];
            let inst = member.inst;
            let site = match written {
                super::problem::BEGIN => Site::Alloc(AllocId::new(member.alloc as usize)),
                pos => Site::Inst(facts.problem.inst_at(self.program, pos)),
            };
            self.warn(
                Diag::warning(
                    "pto:seeded-accumulate",
                    Site::Inst(inst),
                    format!(
                        "expected an accumulation on {} to begin by overwriting or on zeros, found one that adds onto data; it is lost where writes of other engines leave pending bits alone",
                        self.target.name
                    ),
                )
                .with_note(site, "the data comes from here"),
            );
        }
    }

    fn warn(&mut self, mut diag: Diag) {
        if self.options.strict {
            diag.severity = pto_ir::Severity::Error;
            self.errors.push(diag);
        } else {
            self.plan.diags.push(diag);
        }
    }

    /// Adds the memsets of a block to the plan and says where they are.
    fn memsets(&mut self, facts: &Facts<'_>, decisions: &Decisions) -> Vec<Memset> {
        let mut result: Vec<Memset> = Vec::new();
        let mut demands = facts.chains.demands.clone();
        demands.sort_unstable();
        demands.dedup();
        let mut settled = demands
            .chunk_by(|a, b| (a.pos, a.shape, a.alloc) == (b.pos, b.shape, b.alloc))
            .peekable();
        for (member, clear) in &decisions.clears {
            let pos = facts.problem.members[*member as usize].pos;
            while let Some(chunk) = settled.next_if(|chunk| chunk[0].pos < pos) {
                self.settle(facts, chunk, &mut result);
            }
            self.clear(facts, *member, clear, &mut result);
        }
        settled.for_each(|chunk| self.settle(facts, chunk, &mut result));
        result
    }

    fn clear(&mut self, facts: &Facts<'_>, member: u32, clear: &Clear, result: &mut Vec<Memset>) {
        let member = &facts.problem.members[member as usize];
        let Some(matmul) = self.program.inst(member.inst).matmul() else {
            return;
        };
        match clear {
            Clear::Whole => {
                result.push(Memset {
                    before: member.pos,
                    index: self.plan.memsets.len() as u32,
                    cells: Cells::Shape(member.shape),
                });
                self.plan.memsets.push(NewMemset {
                    at: Anchor::Before(member.inst),
                    target: MemsetTarget::Access(matmul.dst),
                });
            }
            Clear::Classes(classes) => {
                let is_wanted = |class: u32| classes.binary_search(&class).is_ok();
                for rectangle in self.geometry.rectangles(member.shape, is_wanted) {
                    self.rectangle(facts, member.pos, member.alloc, rectangle, result);
                }
            }
        }
    }

    /// Clears cells before the operation that may or may not write them.
    fn settle(&mut self, facts: &Facts<'_>, chunk: &[Demand], result: &mut Vec<Memset>) {
        let Demand {
            pos, shape, alloc, ..
        } = chunk[0];
        let is_wanted = |class: u32| {
            chunk
                .binary_search_by_key(&class, |demand| demand.class)
                .is_ok()
        };
        for rectangle in self.geometry.rectangles(shape, is_wanted) {
            self.rectangle(facts, pos, alloc, rectangle, result);
        }
    }

    fn rectangle(
        &mut self,
        facts: &Facts<'_>,
        pos: u32,
        alloc: u32,
        rectangle: Rectangle,
        result: &mut Vec<Memset>,
    ) {
        let (at, site) = match pos {
            END => (Anchor::End(facts.problem.block), Site::Function),
            pos => {
                let inst = facts.problem.inst_at(self.program, pos);
                (Anchor::Before(inst), Site::Inst(inst))
            }
        };
        let Interval { start, .. } = rectangle.partitions;
        let count = rectangle.partitions.len();
        if !self.target.is_legal_start_partition(start, count) {
            let error = Diag::error(
                "pto:start-partition",
                site,
                format!(
                    "expected cells to clear before this that a memset reaches: {count} partitions have to start at {}, found partition {start}",
                    legal_starts(self.target, count)
                ),
            );
            self.errors.push(error.with_note(
                Site::Alloc(AllocId::new(alloc as usize)),
                "a memset of zero over the buffer before its first matmul settles this",
            ));
            return;
        }
        let alloc = AllocId::new(alloc as usize);
        let Some(place) = self.program.alloc(alloc).placement else {
            return;
        };
        let base = place.bank * self.target.bank_bytes + place.offset;
        let lower =
            |interval: Interval, by: u32| Interval::new(interval.start - by, interval.end - by);
        result.push(Memset {
            before: pos,
            index: self.plan.memsets.len() as u32,
            cells: Cells::Rectangle(rectangle),
        });
        self.plan.memsets.push(NewMemset {
            at,
            target: MemsetTarget::Rectangle {
                alloc,
                partitions: lower(rectangle.partitions, place.partition),
                bytes: lower(rectangle.bytes, base),
            },
        });
    }
}

/// What the chains and the data of a block cover, and the index of each object among them: chains
/// that were joined into others have none.
fn extents(chains: &Chains) -> (Vec<Extent>, Vec<u32>) {
    let mut extents = Vec::with_capacity(chains.objects.len());
    let mut extent_of = vec![NONE; chains.objects.len()];
    for (index, object) in chains.objects.iter().enumerate() {
        if chains.root(index as u32) == index as u32 {
            extent_of[index] = extents.len() as u32;
            extents.push(Extent {
                first: object.first,
                last: object.last,
                banks: object.banks,
                strips: object.strips,
            });
        }
    }
    (extents, extent_of)
}
