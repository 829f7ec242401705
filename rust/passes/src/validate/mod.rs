//! Translation validation: the result of a pass gives the same values as the original, bit for bit.
//!
//! # Before and after
//!
//! [`validate`] is given a function before and after legalization and changes nothing. It returns the
//! first read that differs, with both sums and where they come from.
//!
//! # Terms
//!
//! A *value* is an ordered list: what a cell was last overwritten with, then every sum that a matmul
//! added to it. Lists are compared by identity, so one comparison stands for all inputs.
//!
//! # The problem
//!
//! The **original** means what its operations say, buffer by buffer: a `tmatmul` overwrites, a
//! `tmatmul_acc` overwrites fresh cells and adds to others. Its flags are not looked at. The
//! **result** means what the machine does with its flags and zero regions, bank by bank, started from
//! poisoned memory. The two may differ in flags, regions, ordering edges and memsets of zero only.
//! Every read of the result, and every escaping buffer at its end, must hold the value that it has in
//! the original: under both meanings of START, and both readings of the partitions it acts on.
//!
//! # The algorithm
//!
//! 1. `align`: pair the instructions, by content and order, so that the two programs may have been
//!    read separately. What is left over must be a memset.
//! 2. `place`: where the accesses lie.
//! 3. `run`: run both side by side, on rectangles of cells (`rects`) that hold `value`s.
//! 4. `flow`: loops and branches, by telling cells apart until nothing new is learned.
//!
//! # Invariants
//!
//! * V1 (structural): a value is made by one instruction and never changes, so equal values are equal
//!   lists.
//! * V2 (checked by tests against an oracle that goes cell by cell): a result passes exactly if the
//!   oracle finds no wrong value in it.
//!
//! # Cost
//!
//! An instruction costs the rectangles it meets times the machines. No arithmetic is done.
//!
//! # What is diagnosed
//!
//! `pto:not-equivalent`; and what stops the comparison: `pto:unplaced`, `pto:auto-flags`,
//! `pto:accumulator-elsewhere`.
//!
//! # Left out
//!
//! * Cells that some path leaves fresh are not compared: they have no value. `pto-verify-acc` reports
//!   who reads them.
//! * The order of instructions is the program's. That ordering edges are enough to keep it is a
//!   matter of scheduling.

mod align;
mod flow;
mod place;
mod rects;
mod run;
mod state;
mod value;

use pto_ir::{AllocId, Diag, InstId, Op, Program, Site, Target};

use rustc_hash::FxHashSet;

use align::{Different, Pair};
use place::Places;
use run::{Machine, Mismatch, Sides, site};
use state::State;
use value::{Origin, Value, Values};

/// What to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Also run the machine whose pending bits survive writes of other engines. Data that another
    /// engine seeds and a matmul adds to is lost there, unless the matmul has ACCUMULATE.
    pub sticky: bool,
}

impl Options {
    fn machines(self) -> Vec<Machine> {
        let machine = |name, is_eager, is_sticky| {
            [true, false].map(|group_extent| Machine {
                name,
                is_eager,
                is_sticky,
                group_extent,
            })
        };
        let mut machines = Vec::from(machine("written-bit", false, false));
        machines.extend(machine("eager-zero", true, false));
        if self.sticky {
            machines.extend(machine("sticky-pending", false, true));
        }
        machines
    }
}

/// Compares `after`, run on the machines, with the meaning of `before`.
///
/// The diagnostics refer to instructions of `before`, except those of memsets that only `after` has.
/// On a target without group flags there is nothing to compare.
///
/// # Errors
///
/// The first read that differs, or why the two cannot be compared.
pub fn validate(
    before: &Program,
    after: &Program,
    target: &Target,
    options: Options,
) -> Result<(), Vec<Diag>> {
    if before.body().is_none() || after.body().is_none() || !target.has_group_flags {
        return Ok(());
    }
    let blocks = align::pair_blocks(before, after).map_err(|different| vec![tell(different)])?;
    let obstacles = obstacles(after, target);
    if !obstacles.is_empty() {
        return Err(obstacles);
    }
    let places = |program| Places::new(program, target).map_err(|alloc| vec![unplaced(alloc)]);
    let machines = options.machines();
    let sides = Sides {
        before,
        after,
        target,
        machines: &machines,
        old_places: places(before)?,
        new_places: places(after)?,
    };
    let mut values = Values::default();
    let is_line = before.blocks().len() == 1 && before.regions().len() == 1;
    let mismatch = if is_line {
        straight_line(
            &sides,
            blocks.first().map_or(&[], Vec::as_slice),
            &mut values,
        )
    } else {
        flow::run(&sides, &blocks, &mut values)
    };
    match mismatch {
        Some(mismatch) => Err(vec![tell_mismatch(&sides, &mismatch, &values)]),
        None => Ok(()),
    }
}

fn straight_line(sides: &Sides<'_>, pairs: &[Pair], values: &mut Values) -> Option<Mismatch> {
    let Sides { before, target, .. } = *sides;
    let mut state = State::new(before, &sides.new_places, target, sides.sticky(), values);
    for &pair in pairs {
        if let Some(mismatch) = sides.step(pair, &mut state, values) {
            return Some(mismatch);
        }
    }
    sides.end(&state)
}

/// Matmuls of the result that no machine can run.
fn obstacles(after: &Program, target: &Target) -> Vec<Diag> {
    let mut diags = Vec::new();
    for (index, inst) in after.insts().iter().enumerate() {
        let Op::Matmul(matmul) = &inst.op else {
            continue;
        };
        let site = Site::Inst(InstId::new(index));
        let buffer = Site::Alloc(after.access(matmul.dst).alloc);
        let diag = if matmul.flags.is_none() && !matmul.is_predicated() {
            let message = "expected accumulate flags in the result, found a matmul without";
            Diag::error("pto:auto-flags", site, message)
        } else if matmul
            .accumulator
            .is_some_and(|accumulator| accumulator != matmul.dst)
        {
            let message = "expected the accumulator to be the destination, found other cells";
            Diag::error("pto:accumulator-elsewhere", site, message)
        } else if !matmul
            .flags
            .unwrap_or_default()
            .is_legal(target.has_accumulate)
        {
            let name = target.name;
            let message = format!("expected flags that {name} has, found others");
            Diag::error("pto:target-limit", site, message)
        } else {
            continue;
        };
        diags.push(diag.with_note(buffer, "the buffer is allocated here"));
    }
    diags
}

fn unplaced(alloc: AllocId) -> Diag {
    let message = "expected a buffer that lies in psum, found one that does not, or not wholly";
    Diag::error("pto:unplaced", Site::Alloc(alloc), message)
}

fn tell(different: Different) -> Diag {
    let site = different.before.map_or(Site::Function, Site::Inst);
    let message = "expected the result to differ in flags, ordering edges and memsets only, found \
                   another difference";
    let diag = Diag::error("pto:not-equivalent", site, message);
    match different.after {
        Some(after) => diag.with_note(Site::Inst(after), "the result has this here"),
        None => diag,
    }
}

fn tell_mismatch(sides: &Sides<'_>, mismatch: &Mismatch, values: &Values) -> Diag {
    let Mismatch {
        alloc,
        partitions,
        bytes,
        machine,
        ..
    } = *mismatch;
    let (expected, found) = (mismatch.expected, mismatch.found);
    let machine = sides.machines[machine];
    let extent = if machine.group_extent {
        "column group"
    } else {
        "destination"
    };
    let place = mismatch.read.map_or(Site::Alloc(alloc), Site::Inst);
    let message = format!(
        "expected {}, found {}: partitions {partitions}, bytes {bytes} of the buffer (under {}, \
         regions of the {extent})",
        describe(values, expected),
        describe(values, found),
        machine.name,
    );
    let mut diag = Diag::error("pto:not-equivalent", place, message);
    for (inst, words) in differing_sums(values, expected, found) {
        diag = diag.with_note(Site::Inst(inst), words);
    }
    for (writer, words) in [
        (
            mismatch.expected_writer,
            "the value that is expected was written here",
        ),
        (mismatch.found_writer, "the cells were last written here"),
    ] {
        if let Some(inst) = site(writer) {
            diag = diag.with_note(Site::Inst(inst), words);
        }
    }
    diag
}

fn describe(values: &Values, value: Value) -> String {
    let (origin, sums) = values.list(value);
    let base = match origin {
        Origin::Zero => "zero",
        Origin::Poison => "undefined data",
        Origin::Argument(_) => "the argument's data",
        Origin::Data(_, usize::MAX) => "what a call left",
        Origin::Data(..) => "data of another engine",
        Origin::Meeting | Origin::Sum(..) => "a value that depends on the path",
    };
    match (sums.len(), origin) {
        (0, _) => base.to_owned(),
        (1, Origin::Zero) => "one sum".to_owned(),
        (count, Origin::Zero) => format!("{count} sums"),
        (1, _) => format!("one sum on {base}"),
        (count, _) => format!("{count} sums on {base}"),
    }
}

/// The first matmuls that only one of two values contains.
fn differing_sums(values: &Values, expected: Value, found: Value) -> Vec<(InstId, &'static str)> {
    let (wanted, had) = (values.list(expected).1, values.list(found).1);
    let only = |list: &[InstId], other: &[InstId]| {
        let known: FxHashSet<InstId> = other.iter().copied().collect();
        list.iter().copied().find(|inst| !known.contains(inst))
    };
    let missing = only(&wanted, &had).map(|inst| (inst, "this sum is missing"));
    let extra = only(&had, &wanted).map(|inst| (inst, "this sum should not be there"));
    missing.into_iter().chain(extra).collect()
}
