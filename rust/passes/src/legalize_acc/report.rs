//! Saying what was decided: remarks for people, a report for tools. Both only on request.

use pto_ir::{AllocId, Diag, InstId, Program, Site, Turn};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::edges::Memset;
use super::flags::{Cluster, Decision, Decisions, Facts};
use super::geometry::NONE;
use super::problem::BEGIN;

/// The version of the report's form: it grows when a field changes its meaning or goes. Fields may be
/// added without that. `docs/report.schema.json` describes the form.
pub(super) const SCHEMA: u32 = 1;

/// What was derived for one function.
#[derive(Debug, Serialize)]
pub(super) struct Report<'p> {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The function.
    pub function: &'p str,
    /// The target.
    pub target: &'static str,
    /// Totals over all blocks.
    pub counts: Counts,
    /// The clusters, block by block, by their first matmul.
    pub clusters: Vec<ClusterReport>,
}

/// Totals.
#[derive(Debug, Default, Serialize)]
pub(super) struct Counts {
    /// Matmuls.
    pub matmuls: usize,
    /// Accumulation groups.
    pub chains: usize,
    /// Clusters.
    pub clusters: usize,
    /// Matmuls with START.
    pub starts: usize,
    /// Matmuls with STOP.
    pub stops: usize,
    /// Matmuls with ACCUMULATE.
    pub accumulates: usize,
    /// Memsets that were added.
    pub memsets: usize,
    /// Ordering edges that were added.
    pub edges: usize,
}

/// One cluster. Matmuls are numbered by their place among the operations of the function.
#[derive(Debug, Serialize)]
pub(super) struct ClusterReport {
    /// Number of its block.
    pub block: usize,
    /// The first matmul.
    pub head: usize,
    /// What was decided.
    pub decision: Decision,
    /// First and last bank of the merged window.
    pub banks: (u32, u32),
    /// The chains, by first matmul.
    pub chains: Vec<ChainReport>,
}

/// One chain.
#[derive(Debug, Serialize)]
pub(super) struct ChainReport {
    /// Its matmuls, in program order.
    pub members: Vec<usize>,
    /// The buffer of the first one.
    pub buffer: u32,
    /// Where it lies, and when it is live.
    #[serde(flatten)]
    pub geometry: ChainGeometry,
    /// What it adds onto: `nothing`, `zeros`, `data`, with `mixed-` where some cell is overwritten.
    pub begins_on: &'static str,
}

/// Where a chain lies, and when it is live.
#[derive(Debug, Serialize)]
pub(super) struct ChainGeometry {
    /// First and last bank of its cells.
    pub banks: (u32, u32),
    /// The code of the smallest zero region over these banks.
    pub zero_region: u8,
    /// The quadrants of its cells.
    pub quadrants: Vec<u32>,
    /// The operation that writes it first, its seed's where it has one (`None`: it comes into the
    /// block), and the last that uses its value (`None`: it leaves the block).
    pub live: (Option<usize>, Option<usize>),
}

/// Adds the clusters of one block of `program`.
pub(super) fn add_clusters(
    report: &mut Report<'_>,
    program: &Program,
    facts: &Facts<'_>,
    decisions: &Decisions,
) {
    let first = report.clusters.len();
    report
        .clusters
        .extend(decisions.clusters.iter().map(|cluster| ClusterReport {
            block: facts.problem.block.index(),
            head: facts.problem.members[cluster.head as usize].inst.index(),
            decision: cluster.decision,
            banks: (cluster.banks.start, cluster.banks.end - 1),
            chains: Vec::new(),
        }));
    let mut place_of_chain = vec![NONE; facts.chains.objects.len()];
    for (index, member) in facts.problem.members.iter().enumerate() {
        let chain = facts.chains.chain_of[index];
        let cluster = &mut report.clusters[first + decisions.cluster_of[index] as usize];
        let place = &mut place_of_chain[chain as usize];
        if *place == NONE {
            *place = cluster.chains.len() as u32;
            cluster.chains.push(ChainReport {
                members: Vec::new(),
                buffer: member.alloc,
                geometry: geometry(program, facts, chain),
                begins_on: begins_on(facts, chain),
            });
            report.counts.chains += 1;
        }
        let chain = &mut cluster.chains[*place as usize];
        chain.members.push(member.inst.index());
        let own = facts.geometry.shape(member.shape).quadrants;
        let own = (0..u8::BITS).filter(|quadrant| own >> quadrant & 1 == 1);
        chain.geometry.quadrants.extend(own);
        chain.geometry.quadrants.sort_unstable();
        chain.geometry.quadrants.dedup();
        if let Some((flags, _)) = decisions.flags[index] {
            report.counts.starts += usize::from(flags.starts());
            report.counts.stops += usize::from(flags.stops());
            report.counts.accumulates += usize::from(flags.accumulates());
        }
    }
    report.counts.matmuls += facts.problem.members.len();
    report.counts.clusters += decisions.clusters.len();
}

/// The geometry of a chain, its quadrants being those of its members.
fn geometry(program: &Program, facts: &Facts<'_>, chain: u32) -> ChainGeometry {
    let chain = &facts.chains.objects[chain as usize];
    let entries = &program.block(facts.problem.block).insts;
    // Positions count from 1; those that stand for the ends of the block are no entry.
    let entry = |pos: u32| {
        let index = (pos as usize).checked_sub(1)?;
        entries.get(index).map(|inst| inst.index())
    };
    ChainGeometry {
        banks: (chain.banks.start, chain.banks.end - 1),
        zero_region: facts.geometry.window(chain.banks).code,
        quadrants: Vec::new(),
        live: (entry(chain.first), entry(chain.last)),
    }
}

fn begins_on(facts: &Facts<'_>, chain: u32) -> &'static str {
    let chain = &facts.chains.objects[chain as usize];
    match (chain.begins, chain.data_seeded, chain.zero_seeded) {
        (true, false, false) => "nothing",
        (true, true, _) => "mixed-data",
        (true, false, true) => "mixed-zeros",
        (false, true, _) => "data",
        (false, false, true) => "zeros",
        (false, false, false) => "sum",
    }
}

/// By matmul and turn: the outermost of the loops that must be at this turn for it to START or STOP.
pub(super) type Asked = FxHashMap<(InstId, Turn), InstId>;

/// Explains the decisions of one block.
pub(super) struct Narrator<'a> {
    pub program: &'a Program,
    pub facts: &'a Facts<'a>,
    pub decisions: &'a Decisions,
    pub memsets: &'a [Memset],
    pub asked: &'a Asked,
}

impl Narrator<'_> {
    /// One remark a decision, by cluster, then by matmul.
    pub(super) fn remarks(&self) -> Vec<Diag> {
        let mut remarks = Vec::new();
        let heads = self.chain_heads();
        for (index, cluster) in self.decisions.clusters.iter().enumerate() {
            if cluster.decision != Decision::Keep {
                remarks.extend(self.cluster(cluster, &heads[index]));
                remarks.push(self.decision(cluster));
                remarks.extend(self.region(cluster));
            }
        }
        for index in 0..self.facts.problem.members.len() as u32 {
            remarks.extend(self.memset(index));
            remarks.extend(self.stop(index));
        }
        remarks
    }

    fn inst(&self, member: u32) -> InstId {
        self.facts.problem.members[member as usize].inst
    }

    fn site(&self, member: u32) -> Site {
        Site::Inst(self.inst(member))
    }

    /// Where the data of an object comes from.
    fn origin(&self, object: u32) -> Site {
        let object = &self.facts.chains.objects[object as usize];
        match object.first {
            BEGIN => Site::Alloc(AllocId::new(object.alloc as usize)),
            pos => Site::Inst(self.facts.problem.inst_at(self.program, pos)),
        }
    }

    /// By cluster: the first members of its chains.
    fn chain_heads(&self) -> Vec<Vec<u32>> {
        let mut heads = vec![Vec::new(); self.decisions.clusters.len()];
        let mut is_known = vec![false; self.facts.chains.objects.len()];
        for (index, &cluster) in self.decisions.cluster_of.iter().enumerate() {
            let chain = self.facts.chains.chain_of[index];
            if !std::mem::replace(&mut is_known[chain as usize], true) {
                heads[cluster as usize].push(index as u32);
            }
        }
        heads
    }

    fn cluster(&self, cluster: &Cluster, heads: &[u32]) -> Option<Diag> {
        let (_, others) = heads
            .split_first()
            .filter(|(_, others)| !others.is_empty())?;
        let mut remark = Diag::remark(
            "pto.acc-cluster",
            self.site(cluster.head),
            format!(
                "{} accumulation groups share zero region and partitions while they are live: {}",
                heads.len(),
                banks(cluster)
            ),
        );
        for &other in others {
            remark = remark.with_note(self.site(other), "another group begins here");
        }
        Some(remark)
    }

    /// The loop up to which a predicate asks for `turn`.
    fn asks(&self, member: u32, turn: Turn) -> Option<InstId> {
        self.asked.get(&(self.inst(member), turn)).copied()
    }

    fn decision(&self, cluster: &Cluster) -> Diag {
        let head = self.site(cluster.head);
        if let Some(outermost) = self.asks(cluster.head, Turn::First) {
            let message = format!(
                "starts in the first iteration of its loops: it overwrites all its cells then, and nothing older is live in {}",
                banks(cluster)
            );
            let remark = Diag::remark("pto.acc-start", head, message);
            return remark.with_note(Site::Inst(outermost), "the outermost of these loops");
        }
        let blocker = (cluster.blocker != NONE).then(|| self.origin(cluster.blocker));
        match cluster.decision {
            Decision::Start | Decision::Keep => Diag::remark(
                "pto.acc-start",
                head,
                format!(
                    "starts: it overwrites all its cells, and nothing older is live in {}",
                    banks(cluster)
                ),
            ),
            Decision::StartOverZeros => {
                let remark = Diag::remark(
                    "pto.acc-start",
                    head,
                    "starts: it writes every cell of the zeros it would add onto, and nothing else is live",
                );
                with_note(remark, blocker, "the zeros")
            }
            Decision::Accumulate | Decision::AddOntoData => {
                let how = match cluster.decision {
                    Decision::Accumulate => "with the accumulate flag",
                    _ => "without a flag",
                };
                let data = self.data_of(cluster);
                let remark =
                    Diag::remark("pto.acc-seeded", head, format!("adds onto {data}, {how}"));
                with_note(remark, blocker, "here")
            }
            Decision::Clear => {
                let reason = if blocker.is_some() {
                    "a start would clear older data that is live in its zero region"
                } else {
                    "some group adds onto what other engines wrote"
                };
                let remark = Diag::remark(
                    "pto.acc-no-start",
                    head,
                    format!("no start: {reason}; cells to overwrite are cleared by memsets"),
                );
                with_note(remark, blocker, "the data")
            }
        }
    }

    /// What the groups of a cluster that does not begin add onto.
    fn data_of(&self, cluster: &Cluster) -> &'static str {
        let chain = self.facts.chains.chain_of[cluster.head as usize];
        let chain = &self.facts.chains.objects[chain as usize];
        match (chain.data_seeded, chain.zero_seeded) {
            (false, false) => "a sum that began before",
            _ => "what other engines wrote",
        }
    }

    fn region(&self, cluster: &Cluster) -> Option<Diag> {
        let (_, code) = self.decisions.flags[cluster.head as usize]?;
        (code > 0).then(|| {
            let window = self.facts.geometry.window(cluster.banks);
            Diag::remark(
                "pto.acc-region",
                self.site(cluster.head),
                format!(
                    "zero region {code}: the smallest aligned window over the banks in use; the cluster spans banks {} to {}",
                    window.first,
                    window.last()
                ),
            )
        })
    }

    fn memset(&self, member: u32) -> Option<Diag> {
        let pos = self.facts.problem.members[member as usize].pos;
        let start = self.memsets.partition_point(|memset| memset.before < pos);
        let count = self.memsets[start..]
            .iter()
            .take_while(|memset| memset.before == pos)
            .count();
        if count == 0 {
            return None;
        }
        let cluster = &self.decisions.clusters[self.decisions.cluster_of[member as usize] as usize];
        let reason = match cluster.decision {
            Decision::Start => "the start of its cluster does not clear them for certain",
            _ => "its cluster has no start",
        };
        let remark = Diag::remark(
            "pto.acc-memset",
            self.site(member),
            format!("cleared by {count} memset(s): it has to overwrite cells, and {reason}"),
        );
        let head = (cluster.head != member).then(|| self.site(cluster.head));
        Some(with_note(remark, head, "the head of the cluster"))
    }

    fn stop(&self, member: u32) -> Option<Diag> {
        if let Some(outermost) = self.asks(member, Turn::Last) {
            let message = "stops in the last iteration of its loops: some of its cells are written by no later matmul of its group";
            let remark = Diag::remark("pto.acc-stop", self.site(member), message);
            return Some(remark.with_note(Site::Inst(outermost), "the outermost of these loops"));
        }
        let (flags, _) = self.decisions.flags[member as usize]?;
        flags.stops().then(|| {
            Diag::remark(
                "pto.acc-stop",
                self.site(member),
                "stops: some of its cells are written by no later matmul of its group",
            )
        })
    }
}

fn banks(cluster: &Cluster) -> String {
    match cluster.banks.len() {
        1 => format!("bank {}", cluster.banks.start),
        _ => format!("banks {} to {}", cluster.banks.start, cluster.banks.end - 1),
    }
}

fn with_note(remark: Diag, site: Option<Site>, message: &str) -> Diag {
    match site {
        Some(site) => remark.with_note(site, message),
        None => remark,
    }
}
