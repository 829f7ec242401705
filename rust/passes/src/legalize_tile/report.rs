//! What `report-dir` writes: one JSON object a function.

use pto_ir::tile::TileProgram;
use serde::Serialize;

use super::Group;
use super::registers::Need;

#[derive(Serialize)]
struct Report<'a> {
    function: &'a str,
    target: &'static str,
    /// Registers that hold a value at once, at most, and the bytes of the core they take.
    registers_at_once: u64,
    bytes_at_once: u64,
    locations: Vec<Location>,
}

#[derive(Serialize)]
struct Location {
    tile: usize,
    heads: usize,
    updates: u32,
    new_registers: u32,
    copies: usize,
}

/// The report; `None` where it cannot be written, which has no cause.
pub(super) fn text(program: &TileProgram, groups: &[Group], need: Need) -> Option<String> {
    let report = Report {
        function: &program.name,
        target: "tile",
        registers_at_once: need.registers,
        bytes_at_once: need.bytes,
        locations: groups
            .iter()
            .map(|group| Location {
                tile: group.tile.index(),
                heads: group.heads,
                updates: group.steps,
                new_registers: group.new_registers,
                copies: group.copies,
            })
            .collect(),
    };
    serde_json::to_string(&report).ok()
}
