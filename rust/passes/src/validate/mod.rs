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
//! poisoned memory. The two may differ in flags, regions, ordering edges, memsets of zero, and
//! where the buffers lie.
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
//! `pto:not-equivalent`, with both lists; and what stops the comparison: `pto:not-comparable` where
//! the programs differ in more than they may, `pto:unplaced`, `pto:auto-flags`, `pto:target-limit`,
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
pub(crate) mod place;
pub(crate) mod rects;
mod run;
mod state;
mod tell;
mod value;

use pto_ir::{AllocId, Diag, InstId, Op, Program, Site, Target};

use align::Pair;
use place::Places;
use run::{Machine, Mismatch, Sides};
use state::State;
use value::Values;

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

/// A place in one of two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the original.
    Before(Site),
    /// In the result.
    After(Site),
}

/// What differs, or why two programs cannot be compared. A sentence, its tag, and notes, as in a
/// [`Diag`], but each place names its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The tag.
    pub tag: &'static str,
    /// Where.
    pub place: Place,
    /// The sentence, without the tag.
    pub message: String,
    /// Further places that explain it.
    pub notes: Vec<(Place, String)>,
}

impl Difference {
    fn new(tag: &'static str, place: Place, message: impl Into<String>) -> Self {
        let (message, notes) = (message.into(), Vec::new());
        Self {
            tag,
            place,
            message,
            notes,
        }
    }

    fn with_note(mut self, place: Place, message: impl Into<String>) -> Self {
        self.notes.push((place, message.into()));
        self
    }

    /// As a diagnostic about programs that have the same ids.
    fn into_diag(self) -> Diag {
        let site = |place| match place {
            Place::Before(site) | Place::After(site) => site,
        };
        let own = site(self.place);
        let mut diag = Diag::error(self.tag, own, self.message);
        let notes = self.notes.into_iter();
        let notes = notes.map(|(place, text)| (site(place), text));
        diag.notes.extend(notes.filter(|(site, _)| *site != own));
        diag
    }
}

/// Compares `after`, run on the machines, with the meaning of `before`, of which it was made: entries
/// have the same ids in both, and what is new has ids after those.
///
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
    let told = |all: Vec<Difference>| all.into_iter().map(Difference::into_diag).collect();
    compare(before, after, target, options).map_err(told)
}

/// As [`validate`], of two programs that need not have anything to do with each other.
///
/// # Errors
///
/// The first read that differs, or why the two cannot be compared.
pub fn compare(
    before: &Program,
    after: &Program,
    target: &Target,
    options: Options,
) -> Result<(), Vec<Difference>> {
    if before.body().is_none() || after.body().is_none() || !target.has_group_flags {
        return Ok(());
    }
    let told = |different| vec![tell::different(before, after, different)];
    let blocks = align::pair_blocks(before, after).map_err(told)?;
    let obstacles = obstacles(after, target);
    if !obstacles.is_empty() {
        return Err(obstacles);
    }
    let machines = options.machines();
    let sides = Sides {
        before,
        after,
        target,
        machines: &machines,
        new_places: Places::new(after, target).map_err(|alloc| vec![unplaced(alloc)])?,
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
        Some(mismatch) => Err(vec![tell::mismatch(&sides, &mismatch, &blocks, &values)]),
        None => Ok(()),
    }
}

fn straight_line(sides: &Sides<'_>, pairs: &[Pair], values: &mut Values) -> Option<Mismatch> {
    let Sides { before, target, .. } = *sides;
    let mut state = State::new(before, &sides.new_places, target, sides.sticky(), values);
    for &pair in pairs {
        if let Some(mismatch) = sides.step(pair, None, &mut state, values) {
            return Some(mismatch);
        }
    }
    sides.end(&state)
}

/// Matmuls of the result that no machine can run.
fn obstacles(after: &Program, target: &Target) -> Vec<Difference> {
    let mut diags = Vec::new();
    for (index, inst) in after.insts().iter().enumerate() {
        let Op::Matmul(matmul) = &inst.op else {
            continue;
        };
        let flags = matmul.flags.unwrap_or_default();
        let (tag, message) = if matmul.flags.is_none() && !matmul.is_predicated() {
            let message = "expected accumulate flags in the result, found a matmul without";
            ("pto:auto-flags", message.to_owned())
        } else if matmul
            .accumulator
            .is_some_and(|accumulator| accumulator != matmul.dst)
        {
            let message = "expected the accumulator to be the destination, found other cells";
            ("pto:accumulator-elsewhere", message.to_owned())
        } else if !flags.is_legal(target.has_accumulate) {
            let message = format!("expected flags that {} has, found {flags}", target.name);
            ("pto:target-limit", message)
        } else {
            continue;
        };
        let place = |site| Place::After(site);
        let difference = Difference::new(tag, place(Site::Inst(InstId::new(index))), message);
        let buffer = place(Site::Alloc(after.access(matmul.dst).alloc));
        diags.push(difference.with_note(buffer, "the buffer is allocated here"));
    }
    diags
}

fn unplaced(alloc: AllocId) -> Difference {
    let message = "expected a buffer that lies in psum, found one that does not, or not wholly";
    Difference::new("pto:unplaced", Place::After(Site::Alloc(alloc)), message)
}
