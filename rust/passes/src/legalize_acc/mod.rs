//! Accumulation groups: final flags, zero regions, memsets and ordering edges.
//!
//! # Purpose
//!
//! A matmul does not say "overwrite" or "add". It carries two flags that act on a whole *zero
//! region* of PSUM: START makes every cell of the region be overwritten at its next PE write, STOP
//! closes the group. Who derives the flags by location alone gets wrong sums as soon as two
//! accumulations share a bank: the START of one clears the other. This pass derives flags that are
//! right for everything that lives in the banks at the time, and adds memsets where no flags are.
//!
//! ```text
//! %a, %b: halves of bank 0                 trn2
//! tmatmul     outs(%a)                     acc<start|stop> zero_region(0)   starts the bank
//! tmatmul     outs(%b)                     acc<none>       zero_region(0)   pending since then
//! copy        %a -> %x
//! tmatmul     outs(%a)       ->            memset %a       a START would clear %b
//!                                          acc<none>       zero_region(0)
//! tmatmul_acc outs(%b)                     acc<stop>       zero_region(0)
//! tmatmul_acc outs(%a)                     acc<stop>       zero_region(0)
//! ```
//!
//! # Terms
//!
//! * *Chain*: an accumulation group, the PE writes that build one sum. Each of its cells either
//!   *begins* (its first PE write has to overwrite it) or is *seeded* (that write adds onto what
//!   another engine left). *Object*: a chain, or the data of one other write in one bank.
//! * *Live*: from a write to the last read or add of its value.
//! * *Zero window*: the smallest aligned power of two of banks around those of an object.
//! * A value that comes into a block is a *sum* (the PE began it elsewhere), *zeros*, or *data*. Who
//!   goes on with a sum needs no flag.
//! * *Cluster*: what shares a zero window, partitions and time; its *head* is its first matmul.
//! * *Harm* of the head: merged window times column group, all its START may reach. *Cover*: merged
//!   window times its destination's partitions, all it reaches for certain.
//!
//! # The problem
//!
//! Given a function with placed buffers in final order, find flags, regions and zero memsets such
//! that PSUM, started from poison, holds at every read what the reference meaning says (per buffer:
//! `tmatmul` overwrites, `tmatmul_acc` overwrites fresh cells and adds to others), bit for bit, for
//! every input, whether START sets a pending bit or clears at once, and whether its region has the
//! partitions of the column group or of the destination. Use as few memsets and edges as the rule
//! below allows.
//!
//! # The algorithm
//!
//! 1. [`survey`]: facts of single operations; everything wrong is reported at once.
//! 2. [`geometry`]: cells that all accesses treat alike become one class; all state is per class.
//! 3. [`problem`]: per block a list of uses, which [`blocks`] builds. An operation with regions stands for what is inside, as
//!    [`summary`] tells: what it wants from before, what it leaves, what one run wants of the last
//!    ([`tied`]: loops without which there is no value to want).
//! 4. [`walk`]: chains, seeds and lives, one walk a block ([`chains`] holds the result, [`lives`] and
//!    [`jumps`] what is live around blocks, [`calls`] looks for calls across live data).
//!    What a loop adds to cells that are fresh is cleared before it, unless one of its operations can
//!    START in the first iteration: [`nests`].
//! 5. [`clusters`]: one sweep over time.
//! 6. [`flags`]: per cluster, the first of these that holds (without ACCUMULATE, 1 falls away):
//!
//!    1. every chain is seeded: all members ACCUMULATE;
//!    2. one chain, on zeros alone, whose head writes all of those zeros, and nothing else is live
//!       in harm: the head STARTs;
//!    3. the head begins all its cells and no older data is live in harm (with ACCUMULATE: and no
//!       chain is seeded): the head STARTs and nobody else does. What a later member begins is
//!       pending or zero if it lies in cover and nobody wrote it since; else a memset clears it;
//!    4. every chain is seeded: nothing, they add onto the data;
//!    5. no START: memsets clear what members begin (with ACCUMULATE: all members carry it).
//!
//!    STOP goes to members with a cell that no later member of their chain writes. A cell that is
//!    +0.0 already needs no memset.
//! 7. [`edges`]: tokens for the orders that the bytes do not show; [`collisions`]: those that keep engines
//!    out of each other's banks, [`relays`] likewise where that is a matter of several blocks.
//! 8. [`solve`] makes the plan, [`report`] the remarks and the report, [`check`] the proof.
//!
//! Flags that were there: a cluster whose members all have explicit flags keeps them, and the proof
//! decides; a mixed one is derived anew, with a warning where an explicit flag changes.
//!
//! # Invariants
//!
//! 1. With the plan, every read is right on all four machines (checked: [`check`], always).
//! 2. Explicit flags change only with a warning; memsets stand before the matmul, region or call
//!    they are made for and clear nothing else, or are of the relay (checked: [`check`]).
//! 3. The result is legal input that changes nothing more, and resetting and legalizing it gives the
//!    same plan (property tests).
//! 4. In a function where flags are derived no two instructions collide in PSUM (checked: [`check`]), in
//!    any order that respects bytes and tokens (property tests). Callees are not looked into.
//! 5. Clusters are those of comparing all pairs until nothing changes (property tests).
//! 6. Nothing depends on the order of a hash map (structural: maps are only looked up).
//!
//! # Cost
//!
//! Linear in the uses times the classes of their accesses, plus sorting objects by time. A function
//! whose accesses are whole banks has one class a bank. Some 150 bytes a matmul.
//!
//! # What is diagnosed
//!
//! Errors: `pto:unplaced`, `pto:dynamic-access`, `pto:overlapping-allocs`, `pto:multi-bank`,
//! `pto:target-limit`, `pto:tile-position`, `pto:start-partition`, `pto:accumulator-elsewhere`,
//! `pto:call`, `pto:control-flow`, `pto:unsound-flags`. Warnings (errors with `strict`): `pto:mixed-flags`,
//! `pto:seeded-accumulate`, `pto:not-provable`. Remarks: `pto.acc-start`, `pto.acc-no-start`, `pto.acc-seeded`,
//! `pto.acc-cluster`, `pto.acc-region`, `pto.acc-memset`, `pto.acc-stop`, `pto.acc-relay`.
//!
//! # Left out
//!
//! * Predicates where accumulations that share a zero region begin in several bodies: those begin on zeros.
//! * Cells that no single memset reaches, because engines start at certain partitions only: the
//!   function is refused, since clearing more would clear live data.
//! * Ordering edges after operations that hand out no token.

pub mod clusters;

mod blocks;
mod calls;
mod chains;
mod check;
mod collisions;
mod edges;
mod flags;
mod geometry;
mod jumps;
mod lives;
mod naive;
mod nesting;
mod nests;
mod problem;
mod relays;
mod report;
mod solve;
mod summary;
mod survey;
#[cfg(test)]
mod tests;
mod tied;
mod turns;
mod walk;

use pto_ir::{AllocId, Diag, FunctionMark, InstId, Op, Plan, Program, Severity, Target};

use rustc_hash::{FxHashMap, FxHashSet};

use blocks::Blocks;
use geometry::Geometry;
use lives::Lives;
use nesting::Nesting;
use nests::Nests;
use problem::holds_data_on_entry;
use relays::Relays;
use report::{Counts, Report};
use solve::Solver;
use walk::Walker;

/// Which rule derives the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The rule of this pass.
    #[default]
    Sound,
    /// The bare rule "cluster what shares a zero window and partitions", for comparison.
    Naive,
}

/// Which members close a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// Members with a cell that no later member of their chain writes.
    #[default]
    Chain,
    /// The last member of each cluster.
    Cluster,
}

/// What to do about instructions that may meet in a bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collisions {
    /// Order them by tokens.
    #[default]
    Order,
    /// Leave them to whoever schedules.
    Leave,
}

/// How an accumulation begins that is added to in a loop and allocated outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loops {
    /// By a START in the first iteration where a predicate can say so, else on zeros.
    #[default]
    Predicate,
    /// On zeros, which a memset before the loop leaves.
    Memset,
}

/// The options of the pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Which rule derives the flags.
    pub profile: Profile,
    /// Whether to refuse what is otherwise a warning.
    pub strict: bool,
    /// Which members close a group.
    pub stop: Stop,
    /// How accumulations in loops begin.
    pub loops: Loops,
    /// What to do about instructions that may meet in a bank.
    pub collisions: Collisions,
    /// Whether to explain every decision by a remark.
    pub remarks: bool,
    /// Whether to fill in [`Plan::report`] (of the sound profile).
    pub report: bool,
}

/// The flags, regions, memsets and edges that make `program` right on `target`.
///
/// # Errors
///
/// What the program lacks or what no flags can express, each with a note at the other site; the
/// tags are listed in the module's documentation.
pub fn plan(
    program: &Program,
    target: &'static Target,
    options: &Options,
) -> Result<Plan, Vec<Diag>> {
    if !target.has_group_flags {
        return crate::reset_acc::plan(program, target, &crate::reset_acc::Options::default());
    }
    match derive(program, target, options) {
        // Loops that are nested too deep for telling all their first iterations apart.
        Err(errors) if errors.iter().any(|error| error.tag == check::NOT_PROVABLE) => {
            let loops = Loops::Memset;
            derive(program, target, &Options { loops, ..*options })
        }
        Err(errors) => legalized_before(program, target, options).ok_or(errors),
        result => result,
    }
}

/// The empty plan, where all flags are there and right. To the solver a memset of an earlier
/// legalization is a value like others, which another buffer may destroy; so it looks without those.
fn legalized_before(program: &Program, target: &'static Target, options: &Options) -> Option<Plan> {
    let inserted = program.walk().filter(|&id| {
        let inst = program.inst(id);
        inst.inserted && matches!(inst.op, Op::Engine) && !program.is_relay(id)
    });
    let erase: Vec<InstId> = inserted.collect();
    if erase.is_empty() {
        return None;
    }
    let without = Plan {
        erase,
        ..Plan::default()
    };
    let solution = draft(&without.applied_to(program), target, options).ok()??;
    let is_done = solution.plan.is_empty() && !solution.has_derived;
    is_done.then(|| prove(program, target, options, solution).ok())?
}

fn derive(
    program: &Program,
    target: &'static Target,
    options: &Options,
) -> Result<Plan, Vec<Diag>> {
    match draft(program, target, options)? {
        Some(solution) => prove(program, target, options, solution),
        None => {
            let nothing = Plan::default();
            check::named_banks(program, target, &nothing)?;
            Ok(nothing)
        }
    }
}

/// A plan that was not proved yet.
struct Solution {
    plan: Plan,
    /// Whether some flags were derived, rather than found.
    has_derived: bool,
}

/// Makes the plan; `None` without matmuls.
fn draft(
    program: &Program,
    target: &'static Target,
    options: &Options,
) -> Result<Option<Solution>, Vec<Diag>> {
    let survey = survey::survey(program, target)?;
    if survey.matmuls == 0 {
        return Ok(None);
    }
    let wholes: Vec<AllocId> = (0..program.allocs().len())
        .map(AllocId::new)
        .filter(|&alloc| holds_data_on_entry(program, alloc))
        .collect();
    let geometry = Geometry::new(program, target, &survey, &wholes);
    let nesting = Nesting::new(program);
    let blocks = Blocks::new(program, target, &geometry, &nesting, &survey);
    let mut lives = Lives::new(program, &geometry, &blocks);
    let slots = (target.banks * geometry.strip_count()) as usize;
    let mut walker = Walker::new(program, &geometry, slots);
    let nests = Nests::new(program, target, &geometry);
    let order = blocks.in_order();
    let orders_blocks = options.collisions == Collisions::Order
        && options.profile == Profile::Sound
        && order.len() > 1
        && geometry.shared_lanes() != 0;
    let mut solver = Solver {
        program,
        target,
        options,
        geometry: &geometry,
        plan: Plan::default(),
        in_loops: FxHashMap::default(),
        asked: FxHashMap::default(),
        errors: Vec::new(),
        report: (options.report && options.profile == Profile::Sound).then(|| Report {
            schema: report::SCHEMA,
            function: &program.name,
            target: target.name,
            counts: Counts::default(),
            clusters: Vec::new(),
        }),
        has_derived: false,
        relays: orders_blocks.then(Relays::default),
    };
    for block in order {
        let problem = blocks.problem(block);
        let mut chains = walker.walk(&problem, lives.context(block), &|alloc| {
            nesting.is_visible(alloc, block)
        });
        solver.errors.append(&mut chains.errors);
        solver
            .errors
            .extend(calls::check(program, &problem, &chains));
        if !chains.demands.is_empty() {
            let wants_predicates = options.loops == Loops::Predicate;
            let found = nests.settle(&problem, &blocks, &mut chains, wants_predicates);
            solver.add_nests(found);
            chains.clear_before_branches();
        }
        lives.descend(&problem, &chains);
        let is_idle =
            problem.members.is_empty() && chains.demands.is_empty() && solver.relays.is_none();
        if is_idle || !solver.errors.is_empty() {
            continue;
        }
        match options.profile {
            Profile::Sound => solver.block(&problem, &chains),
            Profile::Naive => solver.naive_block(&problem),
        }
    }
    if solver.errors.is_empty() {
        solver.order_blocks();
    }
    let Solver {
        mut plan,
        errors,
        report,
        has_derived,
        ..
    } = solver;
    if !errors.is_empty() {
        return Err(distinct(errors));
    }
    plan.edges_are_inserted = !plan.edges.is_empty();
    if program.provisional {
        plan.marks.push((FunctionMark::Provisional, false));
    }
    if has_derived && !program.legalized {
        plan.marks.push((FunctionMark::Legalized, true));
    }
    if has_derived {
        plan.report = report.and_then(|report| serde_json::to_string(&report).ok());
    }
    Ok(Some(Solution { plan, has_derived }))
}

/// `errors` without those that say the same again: what one block gets from another is found in both.
fn distinct(mut errors: Vec<Diag>) -> Vec<Diag> {
    let mut known = FxHashSet::default();
    errors.retain(|error| known.insert((error.site, error.message.clone(), error.notes.clone())));
    errors
}

/// Checks the plan.
fn prove(
    program: &Program,
    target: &'static Target,
    options: &Options,
    Solution {
        mut plan,
        has_derived,
    }: Solution,
) -> Result<Plan, Vec<Diag>> {
    check::named_banks(program, target, &plan)?;
    match options.profile {
        Profile::Sound => {
            let mut open = check::check(program, target, &plan, options.collisions)?;
            if options.strict && !open.is_empty() {
                let errors = open.iter_mut();
                errors.for_each(|diag| diag.severity = Severity::Error);
                return Err(open);
            }
            plan.diags.append(&mut open);
        }
        Profile::Naive if has_derived => {
            let warning = check::first_fault(program, target, &plan)?;
            plan.diags.extend(warning);
        }
        Profile::Naive => {}
    }
    Ok(plan)
}
