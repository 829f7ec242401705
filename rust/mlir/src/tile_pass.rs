//! Running a pass on one function for the tile ISA: reading, planning, applying, messages.

use pto_ir::{Diag, Site};
use pto_machine::tile::core::{DEFAULT_CAPACITY, REGISTERS};
use pto_passes::legalize_tile::registers::Room;
use pto_passes::{legalize_acc, legalize_tile};

use crate::apply::tile::apply;
use crate::bridge::ffi;
use crate::diag::Message;
use crate::handle::Op;
use crate::pass::Choice;
use crate::read::tile::{TileReading, read};
use crate::report;

/// The name of the target.
pub(crate) const TARGET: &str = "tile";

/// What a core has at reset.
const ROOM: Room = Room {
    registers: REGISTERS as u64,
    bytes: DEFAULT_CAPACITY,
};

/// Runs a pass on the function-like operation `function`. On `Err` the function is as it was.
pub(crate) fn run(
    choice: &Choice,
    function: Op,
    options: &ffi::Options,
) -> Result<ffi::Outcome, Vec<Message>> {
    let fail = |tag, sentence: &str| vec![Message::error(tag, function.location(), sentence)];
    match choice {
        Choice::LegalizeAcc(given) if given.profile == legalize_acc::Profile::Sound => {
            legalize(function, given, options)
        }
        Choice::LegalizeAcc(_) => Err(fail(
            "pto:option",
            "expected the profile `sound` for the target `tile`, found `naive`",
        )),
        // Nothing was derived: registers are as much the program's own as any others.
        _ => Ok(ffi::Outcome::default()),
    }
}

fn legalize(
    function: Op,
    given: &legalize_acc::Options,
    options: &ffi::Options,
) -> Result<ffi::Outcome, Vec<Message>> {
    let reading = read(function)?;
    let wanted = legalize_tile::Options {
        room: ROOM,
        remarks: given.remarks,
        report: given.report,
    };
    let mut plan =
        legalize_tile::plan(&reading.program, &wanted).map_err(|diags| located(diags, &reading))?;
    if let Some(text) = &plan.report {
        report::write(&options.report_dir, function, text).map_err(|error| {
            let sentence = format!("{error:#}");
            vec![Message::error(
                "pto:report-dir",
                function.location(),
                &sentence,
            )]
        })?;
    }
    // Operations that lose their accumulator are made anew, so places are looked up before.
    let messages = located(std::mem::take(&mut plan.diags), &reading);
    apply(&plan, &reading).map_err(|message| vec![message])?;
    Ok(ffi::Outcome {
        changed: !plan.is_empty(),
        messages: messages.into_iter().map(Into::into).collect(),
        memsets: plan.zeros.len() as u64,
        heads: plan.heads.len() as u64,
        tiles: plan.new_tiles.len() as u64,
        copies: plan.copies.len() as u64,
        ..ffi::Outcome::default()
    })
}

/// The messages of diagnostics about the function that `reading` holds.
pub(crate) fn located(diags: Vec<Diag>, reading: &TileReading) -> Vec<Message> {
    let locate = |site| match site {
        Site::Function => reading.function.location(),
        Site::Inst(inst) => reading.op(inst).location(),
        Site::Alloc(tile) => reading.tile_location(tile),
    };
    let message = |diag| Message::of(diag, locate);
    diags.into_iter().map(message).collect()
}
