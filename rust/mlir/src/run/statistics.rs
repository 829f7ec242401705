//! What `--stats` prints.

use pto_ir::Engine;
use pto_machine::exec::RunResult;
use serde_json::{Map, Value, json};

use super::options::StatsFormat;

/// The counts of a run as text or as one JSON object.
pub(super) fn text(result: &RunResult, format: StatsFormat) -> String {
    match format {
        StatsFormat::Json => format!("{}\n", as_json(result)),
        StatsFormat::Text => as_text(result),
    }
}

fn as_json(result: &RunResult) -> Value {
    let stats = &result.stats;
    let engines: Map<String, Value> = Engine::ALL
        .iter()
        .map(|&engine| {
            let (instructions, cycles) = stats.engine(engine);
            let counts = json!({ "instructions": instructions, "cycles": cycles });
            (engine.name().to_string(), counts)
        })
        .collect();
    json!({
        "engines": engines,
        "cycles": stats.cycles_in_all,
        "macs": stats.macs,
        "bytes_moved": stats.bytes_moved,
        "memsets": stats.memsets,
        "tile_flags": stats.tile_flags,
        "pe_utilisation": stats.pe_utilisation(),
        "steps": result.steps,
    })
}

fn as_text(result: &RunResult) -> String {
    let stats = &result.stats;
    let mut lines = vec![format!(
        "{:<12}{:>14}{:>16}",
        "engine", "instructions", "cycles"
    )];
    for engine in Engine::ALL {
        let name = engine.name();
        let (instructions, cycles) = stats.engine(engine);
        if instructions > 0 {
            lines.push(format!("{name:<12}{instructions:>14}{cycles:>16}"));
        }
    }
    let utilisation = format!("{:.1} %", 100.0 * stats.pe_utilisation());
    let mut totals = vec![
        ("cycles", stats.cycles_in_all.to_string()),
        ("multiply-adds", stats.macs.to_string()),
        ("bytes moved", stats.bytes_moved.to_string()),
        ("memsets", stats.memsets.to_string()),
        ("pe utilisation", utilisation),
    ];
    if stats.tile_flags != 0 {
        totals.push(("tile flags", format!("0x{:02x}", stats.tile_flags)));
    }
    let totals = totals.into_iter();
    lines.extend(totals.map(|(name, value)| format!("{name:<18}{value:>24}")));
    lines.join("\n") + "\n"
}
