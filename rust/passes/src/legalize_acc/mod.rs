//! essay
pub mod clusters;

mod calls;
mod chains;
mod check;
mod edges;
mod flags;
mod geometry;
mod lives;
mod naive;
mod nesting;
mod problem;
mod report;
mod solve;
mod survey;
#[cfg(test)]
mod tests;
mod walk;

use pto_ir::{AllocId, Diag, FunctionMark, Plan, Program, Target};

use geometry::Geometry;
use lives::Lives;
use nesting::Nesting;
use problem::{Blocks, holds_data_on_entry};
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

/// The options of the pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Which rule derives the flags.
    pub profile: Profile,
    /// Whether to refuse what is otherwise a warning.
    pub strict: bool,
    /// Which members close a group.
    pub stop: Stop,
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
    let survey = survey::survey(program, target)?;
    if survey.matmuls == 0 {
        return Ok(Plan::default());
    }
    let wholes: Vec<AllocId> = (0..program.allocs().len())
        .map(AllocId::new)
        .filter(|&alloc| holds_data_on_entry(program, alloc))
        .collect();
    let geometry = Geometry::new(program, target, &survey, &wholes);
    let nesting = Nesting::new(program);
    let blocks = Blocks::new(program, target, &geometry, &nesting, &survey);
    let mut lives = Lives::new(program, &geometry);
    let slots = (target.banks * geometry.strip_count()) as usize;
    let mut walker = Walker::new(program, &geometry, slots);
    let mut solver = Solver {
        program,
        target,
        options,
        geometry: &geometry,
        plan: Plan::default(),
        errors: Vec::new(),
        report: (options.report && options.profile == Profile::Sound).then(|| Report {
            function: &program.name,
            target: target.name,
            counts: Counts::default(),
            clusters: Vec::new(),
        }),
        has_derived: false,
    };
    for block in blocks.in_order() {
        let problem = blocks.problem(block);
        let mut chains = walker.walk(&problem, lives.context(block), &|alloc| {
            nesting.is_visible(alloc, block)
        });
        solver.errors.append(&mut chains.errors);
        solver
            .errors
            .extend(calls::check(program, &problem, &chains));
        lives.descend(&problem, &chains);
        if problem.members.is_empty() || !solver.errors.is_empty() {
            continue;
        }
        match options.profile {
            Profile::Sound => solver.block(&problem, &chains),
            Profile::Naive => solver.naive_block(&problem),
        }
    }
    let Solver {
        mut plan,
        errors,
        report,
        has_derived,
        ..
    } = solver;
    if !errors.is_empty() {
        return Err(errors);
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
    match options.profile {
        Profile::Sound => check::check(program, target, &plan)?,
        Profile::Naive if has_derived => {
            let warning = check::first_fault(program, target, &plan)?;
            plan.diags.extend(warning);
        }
        Profile::Naive => {}
    }
    Ok(plan)
}
