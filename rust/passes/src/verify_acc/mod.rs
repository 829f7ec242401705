//! `pto-verify-acc`: proves the accumulate flags of a function right, or says what breaks.
//!
//! # Before and after
//!
//! Nothing changes. The flags may come from anywhere: `pto-legalize-acc`, another compiler, a hand.
//!
//! ```text
//! alloc a bank 0 u0..4; alloc b bank 0 u4..8
//! mm a acc<start|stop>
//! mm b acc<start|stop>      // its zero region is the whole bank: a is cleared
//! read a                    // error: ... found that a later start clears it [pto:start-clobbers]
//! ```
//!
//! # The problem
//!
//! The *reference meaning* of a function looks at buffers only: a `tmatmul` overwrites, a
//! `tmatmul_acc` overwrites fresh cells and adds to others. The *machine* looks at flags and zero
//! regions only. Memsets that legalization inserted belong to the machine's side. They agree when every PE write has, on every cell, the mode that the reference
//! requires, and no value that is needed later is destroyed in between. Public sources do not settle
//! what START does to the cells it does not write, nor the partitions it acts on, so agreement is
//! required on every combination that [`Options`] asks for.
//!
//! # The algorithm
//!
//! Abstract interpretation.
//!
//! 1. `survey`: one pass for what blocks checking. `layout`: cut each bank into strips of partitions, place every access once.
//! 2. `flow`: one graph for region tree and blocks, in which the first iteration of a loop stands apart
//!    from the others where a predicate asks for it.
//! 3. `check`: walk it, `step` by step. For each strip and byte segment `memory` keeps the set of `worlds` its
//!    cells may be in: what the reference says, what PSUM holds in relation to it, pending or not, on
//!    each machine. An instruction maps sets to sets; where paths meet, sets are united, until
//!    nothing changes. In straight-line code that is one pass. Where an error is found and several loops
//!    have equal bounds, or several branches ask for one value, the walk is done again on a larger graph that
//!    knows that they go together.
//! 4. `findings`: the faults met on the way, one a kind and instruction, each with both sites.
//!
//! # Invariants
//!
//! * I1 (checked by property tests against an oracle that goes cell by cell): a function without
//!   findings reads the reference's values on every path, on every machine asked for.
//! * I2 (structural): every event acts on each world alone, so uniting paths loses nothing but the
//!   correlation between cells.
//! * I3 (structural): sets only grow at a node, and a cell that two buffers claim stays contested, so
//!   the walk ends.
//!
//! # Cost
//!
//! A step is a search among the segments of a strip and a look into a small table. Straight-line code
//! is linear in the instructions times the segments their regions hold.
//!
//! # What is diagnosed
//!
//! Errors: `pto:wrong-mode`, `pto:accumulate-undefined`, `pto:start-clobbers`, `pto:read-pending`,
//! `pto:read-undefined`, `pto:memset-clobbers`, `pto:overlapping-allocs`, `pto:call`, `pto:seeded-accumulate` (only where
//! the sticky machine is asked for), and what cannot be checked at all: `pto:auto-flags`,
//! `pto:unplaced`, `pto:target-limit`, `pto:tile-position`, `pto:accumulator-elsewhere`. Warnings:
//! `pto:lost-partial`, `pto:read-open-group`, `pto:maybe-undefined` (a cell is fresh only if a loop
//! does not run) and `pto:not-provable` (it depends on a `start_if` or `stop_if` of which nothing is
//! known, or on whether a path is ever taken: see [`Ties`]).
//!
//! # Left out
//!
//! * Of conditions only "these loops are in their first, or last, iteration" is understood. Loops whose
//!   copies would be too many are not told apart; then predicates on them are not provable.
//! * A flag that never matters is judged all the same: a wrong mode on a cell that nobody reads is an
//!   error.
//! * Collisions of engines that run at the same time are the interpreter's business.

mod check;
mod findings;
pub(crate) mod flow;
mod fresh;
mod layout;
mod lost;
mod memory;
pub(crate) mod named;
pub(crate) mod needs;
mod read;
mod step;
mod survey;
mod ties;
mod transitions;
mod worlds;

pub use ties::Ties;

use std::collections::BTreeSet;

use pto_ir::{Diag, InstId, Program, Severity, Site, Target};

use check::Check;
use survey::Survey;
use worlds::{Machine, Rule};

/// The meanings of START to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Model {
    /// Written-bit and eager-zero.
    #[default]
    Both,
    /// START sets a pending bit that the next PE write acts on.
    WrittenBit,
    /// START sets its region to +0.0.
    EagerZero,
}

/// The partitions of a zero region to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Those of the column group, and those of the destination.
    #[default]
    Both,
    /// Those of the instruction's column group.
    Group,
    /// Those of its destination.
    Dst,
}

/// What to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The meanings of START.
    pub model: Model,
    /// The partitions of a zero region.
    pub extent: Extent,
    /// Also check a machine whose pending bits survive writes of other engines. Data that another
    /// engine seeds and a matmul adds to is not safe there without ACCUMULATE.
    pub sticky: bool,
    /// The most diagnostics of one function.
    pub limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model: Model::Both,
            extent: Extent::Both,
            sticky: false,
            limit: 64,
        }
    }
}

impl Options {
    /// The machines, in groups that are checked together.
    fn machines(&self) -> Vec<Vec<Machine>> {
        let mut rules = match self.model {
            Model::Both => vec![vec![Rule::WrittenBit, Rule::EagerZero]],
            Model::WrittenBit => vec![vec![Rule::WrittenBit]],
            Model::EagerZero => vec![vec![Rule::EagerZero]],
        };
        if self.sticky {
            rules.push(vec![Rule::Sticky]);
        }
        let extents: &[bool] = match self.extent {
            Extent::Both => &[true, false],
            Extent::Group => &[true],
            Extent::Dst => &[false],
        };
        let with_extents = |rule: &Rule| {
            let rule = *rule;
            extents
                .iter()
                .map(move |&group_extent| Machine { rule, group_extent })
        };
        rules
            .iter()
            .map(|group| group.iter().flat_map(with_extents).collect())
            .collect()
    }
}

/// Checks the flags of `program` on `target`. Nothing is returned for a function that is proved
/// right; diagnostics come in program order. A function without a body is right.
///
/// Every diagnostic has the instruction (or, at the end of the function, the buffer) and a note at
/// the instruction or buffer that explains it.
pub fn verify(program: &Program, target: &Target, options: &Options) -> Vec<Diag> {
    run(program, target, options, None::<fn() -> Ties>)
}

/// As [`verify`], for a program whose decisions are tied to each other as `ties` says when it is asked,
/// which is where there are errors: those that are not certain are `pto:not-provable` then.
pub fn verify_with(
    program: &Program,
    target: &Target,
    options: &Options,
    ties: impl FnOnce() -> Ties,
) -> Vec<Diag> {
    run(program, target, options, Some(ties))
}

fn run(
    program: &Program,
    target: &Target,
    options: &Options,
    ties: Option<impl FnOnce() -> Ties>,
) -> Vec<Diag> {
    let survey = Survey::new(program, target);
    if !survey.blockers.is_empty() || !target.has_group_flags {
        return survey.blockers;
    }
    let mut walks = Walks {
        program,
        target,
        options,
        survey: &survey,
        unwritten: BTreeSet::new(),
    };
    let graph = flow::Graph::new(program, survey.has_flow);
    let mut diags = walks.on(&graph, None);
    // What is wrong on some path may be so on none where a question gets one answer.
    let refined = match is_proved(&diags) {
        true => None,
        false => flow::Graph::refined(program, flow::Repeats::Any),
    };
    let suspects = Suspects::new(&diags, options);
    if let Some(refined) = &refined {
        diags = suspects.among(walks.on(refined, None));
    }
    // A still larger graph may prove it right. What is wrong is told of the smaller one.
    let is_refused =
        |diag: &Diag| diag.severity == Severity::Error || diag.tag == "pto:not-provable";
    if diags.iter().any(is_refused)
        && let Some(larger) = flow::Graph::refined(program, flow::Repeats::Alike)
    {
        let unwritten = walks.unwritten.clone();
        let found = suspects.among(walks.on(&larger, None));
        if !found.iter().any(is_refused) {
            return found;
        }
        walks.unwritten = unwritten;
    }
    let has_errors = diags.iter().any(|diag| diag.severity == Severity::Error);
    if let (true, true, Some(ties)) = (survey.has_flow, has_errors, ties) {
        let ties = ties();
        let mut certain = walks.on(&graph, Some(&ties));
        diags = match &refined {
            Some(refined) => suspects.among(walks.on(refined, Some(&ties))),
            None => std::mem::take(&mut certain),
        };
        if let Some(large) = flow::Graph::of_large_runs(program, &ties.growing) {
            certain.extend(walks.on(&large, Some(&ties.in_large_runs(program))));
        }
        diags = with_certain(diags, &certain);
    }
    diags
}

/// One program, walked on several graphs.
struct Walks<'a> {
    program: &'a Program,
    target: &'a Target,
    options: &'a Options,
    survey: &'a Survey,
    /// What [`Check::run`] adds to and asks for.
    unwritten: BTreeSet<InstId>,
}

impl Walks<'_> {
    /// What all machines asked for say on `graph`.
    fn on(&mut self, graph: &flow::Graph, ties: Option<&Ties>) -> Vec<Diag> {
        let mut diags: Vec<Diag> = Vec::new();
        for machines in self.options.machines() {
            let check = Check::new(self.program, self.target, self.survey, graph, machines);
            let more = check.run(self.options.limit, ties, &mut self.unwritten);
            add_new(&mut diags, more);
        }
        diags
    }
}

/// Where something was found on all paths: what is fine there is fine on those that are left. All sites, where not
/// all that was found is listed.
struct Suspects(Option<BTreeSet<Site>>);

impl Suspects {
    fn new(found: &[Diag], options: &Options) -> Self {
        let is_complete = found.len() < options.limit;
        Self(is_complete.then(|| found.iter().map(|diag| diag.site).collect()))
    }

    fn among(&self, mut diags: Vec<Diag>) -> Vec<Diag> {
        diags.retain(|diag| {
            self.0
                .as_ref()
                .is_none_or(|sites| sites.contains(&diag.site))
        });
        diags
    }
}

/// `diags`, where what is not provable is an error if `certain` tells one.
fn with_certain(diags: Vec<Diag>, certain: &[Diag]) -> Vec<Diag> {
    let mut result = Vec::new();
    for diag in diags {
        let errors = certain.iter().filter(|sure| {
            let is_same = sure.site == diag.site && sure.severity == Severity::Error;
            is_same && diag.tag == "pto:not-provable"
        });
        let errors: Vec<Diag> = errors.cloned().collect();
        match errors.is_empty() {
            true => add_new(&mut result, vec![diag]),
            false => add_new(&mut result, errors),
        }
    }
    result
}

/// Adds those of `more` that are not in `diags`.
fn add_new(diags: &mut Vec<Diag>, more: Vec<Diag>) {
    for diag in more {
        let is_same = |old: &Diag| (old.tag, old.site) == (diag.tag, diag.site);
        if !diags.iter().any(is_same) {
            diags.push(diag);
        }
    }
}

/// Whether `diags` lets a function pass as proved: there is no error, and nothing was left open.
pub fn is_proved(diags: &[Diag]) -> bool {
    let open = ["pto:not-provable", "pto:maybe-undefined"];
    !diags
        .iter()
        .any(|diag| diag.severity == Severity::Error || open.contains(&diag.tag))
}
