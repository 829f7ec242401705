//! What is said of two programs that differ.

use pto_ir::{AllocId, InstId, Program, Site, UseKind};
use rustc_hash::FxHashMap;

use super::align::{Different, Pair};
use super::run::{Mismatch, Sides, site};
use super::value::{Origin, Value, Values};
use super::{Difference, Place};

/// Of each list, the entries that are shown from where the lists part.
const SHOWN: usize = 8;

/// Programs that differ in more than they may.
pub(super) fn different(before: &Program, after: &Program, different: Different) -> Difference {
    let tag = "pto:not-comparable";
    let function = (Place::Before(Site::Function), Place::After(Site::Function));
    let (reads, others) = (reads(before), reads(after));
    let ((there, here), message) = match different {
        Different::Buffers(alloc) => (
            buffer_places(before, after, alloc),
            buffers(before, after, alloc),
        ),
        Different::Flow => (
            function,
            "expected the blocks and regions of the original, found others".to_owned(),
        ),
        Different::Entries(old, new) => {
            let message = if reads == others {
                "expected the instructions of the original, but for flags, ordering edges and memsets \
                 of zero, found another"
                    .to_owned()
            } else {
                format!("expected the {reads} reads of psum of the original, found {others}")
            };
            let there = old.map_or(function.0, |inst| Place::Before(Site::Inst(inst)));
            let here = new.map_or(function.1, |inst| Place::After(Site::Inst(inst)));
            ((there, here), message)
        }
    };
    Difference::new(tag, here, message).with_note(there, "the original has this here")
}

fn reads(program: &Program) -> usize {
    let all = (0..program.insts().len()).map(InstId::new);
    let uses = all.flat_map(|inst| program.uses(inst));
    uses.filter(|used| used.kind == UseKind::Read).count()
}

fn buffer_places(before: &Program, after: &Program, alloc: AllocId) -> (Place, Place) {
    let of = |program: &Program| match alloc.index() < program.allocs().len() {
        true => Site::Alloc(alloc),
        false => Site::Function,
    };
    (Place::Before(of(before)), Place::After(of(after)))
}

fn buffers(before: &Program, after: &Program, alloc: AllocId) -> String {
    let describe = |program: &Program| match program.allocs().get(alloc.index()) {
        Some(buffer) => {
            let (rows, bytes) = (buffer.partitions, buffer.bytes);
            let use_ = if buffer.escapes {
                ", which escapes"
            } else {
                ""
            };
            format!("one of {rows} partitions and {bytes} bytes a partition{use_}")
        }
        None => "none".to_owned(),
    };
    let (expected, found) = (describe(before), describe(after));
    let index = alloc.index();
    format!("expected buffer {index} to be {expected}, as in the original, found {found}")
}

/// A read of different values.
pub(super) fn mismatch(
    sides: &Sides<'_>,
    mismatch: &Mismatch,
    blocks: &[Vec<Pair>],
    values: &Values,
) -> Difference {
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
    let message = format!(
        "expected {}, found {}: partitions {partitions}, bytes {bytes} of the buffer (under {}, \
         regions of the {extent})",
        describe(values, expected),
        describe(values, found),
        machine.name,
    );
    let (there, here) = match mismatch.read {
        Some((old, new)) => (Site::Inst(old), Site::Inst(new)),
        None => (Site::Alloc(alloc), Site::Alloc(alloc)),
    };
    let difference = Difference::new("pto:not-equivalent", Place::After(here), message)
        .with_note(Place::Before(there), "the original reads it here");
    let lists = Lists::new(values, expected, found, blocks);
    with_writers(lists.noted(difference), mismatch)
}

fn with_writers(mut difference: Difference, mismatch: &Mismatch) -> Difference {
    let expected = site(mismatch.expected_writer).map(|inst| Place::Before(Site::Inst(inst)));
    let found = site(mismatch.found_writer).map(|inst| Place::After(Site::Inst(inst)));
    for (writer, words) in [
        (expected, "the value that is expected was written here"),
        (found, "the cells were last written here"),
    ] {
        let Some(writer) = writer else { continue };
        if difference.notes.iter().all(|(place, _)| *place != writer) {
            difference = difference.with_note(writer, words);
        }
    }
    difference
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

/// What two values begin with, and the matmuls that added to each, in order.
struct Lists {
    expected: (Origin, Vec<InstId>),
    found: (Origin, Vec<InstId>),
    /// The instruction of the result of each of the original.
    counterpart: FxHashMap<InstId, InstId>,
}

impl Lists {
    fn new(values: &Values, expected: Value, found: Value, blocks: &[Vec<Pair>]) -> Self {
        let pairs = blocks.iter().flatten().filter_map(|pair| match pair {
            Pair::Both(old, new) => Some((*old, *new)),
            Pair::Before(_) | Pair::After(_) => None,
        });
        Self {
            expected: values.list(expected),
            found: values.list(found),
            counterpart: pairs.collect(),
        }
    }

    /// Where the lists begin, if they begin differently, and both from where they part.
    fn noted(&self, mut difference: Difference) -> Difference {
        let (expected, found) = (&self.expected, &self.found);
        let there = |inst: InstId| Some(Place::Before(Site::Inst(inst)));
        let here = |inst: InstId| {
            let inst = self.counterpart.get(&inst)?;
            Some(Place::After(Site::Inst(*inst)))
        };
        let same = match expected.0 == found.0 {
            true => {
                let pairs = expected.1.iter().zip(&found.1);
                pairs.take_while(|(a, b)| a == b).count()
            }
            false => 0,
        };
        if same == 0 && expected.0 != found.0 {
            difference = begins(difference, expected.0, &there, "expected");
        }
        difference = listed(difference, &expected.1, same, &there, "expected");
        if same == 0 && expected.0 != found.0 {
            difference = begins(difference, found.0, &here, "found");
        }
        listed(difference, &found.1, same, &here, "found")
    }
}

/// Adds a note at the data that a list begins with.
fn begins(
    difference: Difference,
    origin: Origin,
    place: &impl Fn(InstId) -> Option<Place>,
    whose: &str,
) -> Difference {
    let Origin::Data(inst, _) = origin else {
        return difference;
    };
    match place(inst) {
        Some(place) => difference.with_note(place, format!("{whose}: data written here")),
        None => difference,
    }
}

/// Adds a note at each sum of a list, from number `from` on.
fn listed(
    mut difference: Difference,
    sums: &[InstId],
    from: usize,
    place: &impl Fn(InstId) -> Option<Place>,
    whose: &str,
) -> Difference {
    let count = sums.len();
    for (index, &inst) in sums.iter().enumerate().skip(from).take(SHOWN) {
        let left_out = count - index - 1;
        let more = match index + 1 == from + SHOWN && left_out > 0 {
            true => format!(", and {left_out} more"),
            false => String::new(),
        };
        if let Some(place) = place(inst) {
            let number = index + 1;
            let text = format!("{whose}: sum {number} of {count}{more}");
            difference = difference.with_note(place, text);
        }
    }
    difference
}
