//! `--trace`: the run as Chrome trace events, which Perfetto opens.
//!
//! Engines are the threads of one process, banks those of another. A microsecond is one cycle; on the
//! tile ISA, which has no times, one instruction. A
//! slice of an engine is one execution of an instruction; an arrow leads from what it waits for.
//! Slices of a bank are accumulation groups from their first write to the last use of their sum, and
//! inside them the time in which they are open; and other data, from the write to its last use.
//! Slices of one thread must nest, so groups that are alive together are on several threads of the
//! bank. Counters show how many cells of a bank are open, pending and hold data.

use std::collections::BTreeMap;

use pto_ir::{Engine, Severity};
use pto_machine::trace::{CellState, Event, Span, Trace};
use serde_json::{Value, json};

use super::looking::{Axis, Texts, closed, decoded};

/// The process of the engines.
const ENGINES: u32 = 1;
/// The process of the banks.
const BANKS: u32 = 2;
/// Threads of one bank at most: later ones share the last.
const LANES: u32 = 1000;

/// The trace as one JSON object.
pub(super) fn chrome(trace: &Trace, texts: &Texts, axis: &Axis) -> String {
    let mut list = List::default();
    for (engine, name) in Engine::ALL.map(|engine| (engine, engine.name())) {
        if trace.events.iter().any(|event| event.engine == engine) {
            list.name_thread((ENGINES, engine as u32), name);
        }
    }
    list.name_process(ENGINES, "engines");
    for (number, event) in trace.events.iter().enumerate() {
        list.push(event.start, execution(number, event, texts));
        dependences(&mut list, trace, number, event);
    }
    problems(&mut list, trace);
    if !trace.spans.is_empty() {
        list.name_process(BANKS, "psum banks");
        bank_slices(&mut list, trace);
        counters(&mut list, trace);
    }
    list.finish(trace, axis)
}

/// Trace events by the time they are to be listed at.
#[derive(Default)]
struct List {
    events: Vec<(u64, String)>,
    metadata: Vec<String>,
    flows: u64,
}

impl List {
    fn push(&mut self, time: u64, event: Value) {
        self.events.push((time, event.to_string()));
    }

    fn name_thread(&mut self, (process, thread): (u32, u32), name: &str) {
        for (what, args) in [
            ("thread_name", json!({ "name": name })),
            ("thread_sort_index", json!({ "sort_index": thread })),
        ] {
            let event =
                json!({ "ph": "M", "name": what, "pid": process, "tid": thread, "args": args });
            self.metadata.push(event.to_string());
        }
    }

    fn name_process(&mut self, process: u32, name: &str) {
        let args = json!({ "name": name });
        let event = json!({ "ph": "M", "name": "process_name", "pid": process, "args": args });
        self.metadata.push(event.to_string());
    }

    /// An arrow from one event to another.
    fn arrow(&mut self, (from, to): (&Event, &Event), category: &str, name: &str) {
        self.flows += 1;
        let end = |phase: &str, event: &Event| {
            json!({
                "ph": phase, "id": self.flows, "cat": category, "name": name,
                "pid": ENGINES, "tid": event.engine as u32, "ts": event.start,
            })
        };
        let (start, mut finish) = (end("s", from), end("f", to));
        finish["bp"] = json!("e");
        self.push(from.start, start);
        self.push(to.start, finish);
    }

    fn finish(mut self, trace: &Trace, axis: &Axis) -> String {
        // Stable: a slice comes before the arrows at its beginning, and before slices inside it.
        self.events.sort_by_key(|&(time, _)| time);
        let events = self.events.into_iter().map(|(_, event)| event);
        let lines: Vec<String> = self.metadata.into_iter().chain(events).collect();
        let unit = match axis.is_timed {
            true => "1 us is 1 cycle",
            false => "1 us is 1 instruction",
        };
        let about = json!({
            "tool": "pto-run", "target": axis.target, "unit": unit,
            "cycles": if axis.is_timed { trace.cycles() } else { 0 }, "instructions": trace.events.len(), "left_out": trace.left_out,
        });
        format!(
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[\n{}\n]}}\n",
            lines.join(",\n")
        )
    }
}

fn execution(number: usize, event: &Event, texts: &Texts) -> Value {
    let text = texts.of(event);
    let mut args = json!({
        "number": number, "repetition": event.repetition,
        "text": text.line, "location": text.location,
    });
    if let Some(flags) = event.flags {
        args["flags"] = json!(decoded(flags, event.region.as_ref()));
    }
    if let Some(group) = event.group {
        args["group"] = json!(group);
    }
    for (key, rects) in [("reads", &event.reads), ("writes", &event.writes)] {
        let cells: Vec<String> = rects
            .iter()
            .map(|rect| {
                let (partitions, bytes) = (closed(rect.partitions), closed(rect.bytes));
                format!("bank {} partitions {partitions} bytes {bytes}", rect.bank)
            })
            .collect();
        if !cells.is_empty() {
            args[key] = json!(cells);
        }
    }
    json!({
        "ph": "X", "name": text.name, "cat": "instruction", "pid": ENGINES, "tid": event.engine as u32,
        "ts": event.start, "dur": event.end - event.start, "args": args,
    })
}

fn dependences(list: &mut List, trace: &Trace, number: usize, event: &Event) {
    debug_assert!(event.after.iter().all(|wait| (wait.on as usize) < number));
    for wait in &event.after {
        let from = &trace.events[wait.on as usize];
        list.arrow((from, event), "dependence", wait.kind.name());
    }
}

/// Both sites of each hazard as marks, and an arrow from the earlier one.
fn problems(list: &mut List, trace: &Trace) {
    for problem in &trace.problems {
        let Some(event) = problem.event.map(|number| &trace.events[number as usize]) else {
            continue;
        };
        let kind = match problem.severity {
            Severity::Error => "error",
            _ => "warning",
        };
        let mut mark = |event: &Event, text: &str| {
            let args = json!({ "message": text, "severity": kind });
            let mark = json!({
                "ph": "i", "s": "t", "name": problem.tag, "cat": "hazard", "pid": ENGINES,
                "tid": event.engine as u32, "ts": event.start, "args": args,
            });
            list.push(event.start, mark);
        };
        mark(event, &problem.message);
        for (number, note) in &problem.earlier {
            mark(&trace.events[*number as usize], note);
        }
        for (number, _) in &problem.earlier {
            let from = &trace.events[*number as usize];
            if *number < problem.event.unwrap_or(0) {
                list.arrow((from, event), "hazard", problem.tag);
            }
        }
    }
}

/// A value in a bank, while it lives.
struct Life {
    bank: u32,
    group: Option<u32>,
    start: u64,
    /// After the last write of an open group.
    open_until: u64,
    end: u64,
}

/// The groups, and other data span by span, by bank and time.
fn lives(trace: &Trace) -> Vec<Life> {
    let mut groups: BTreeMap<(u32, u32), Life> = BTreeMap::new();
    let mut lives = Vec::new();
    for span in &trace.spans {
        let (start, used, end) = trace.times(span);
        let is_open = span.state == CellState::Open;
        let written = trace.events[span.from as usize].end;
        let life = Life {
            bank: span.rect.bank,
            group: span.group,
            start,
            open_until: if is_open { end } else { start },
            end: used
                .unwrap_or(written)
                .max(if is_open { end } else { start }),
        };
        match (span.state, span.group) {
            (CellState::Pending, _) => {}
            (_, Some(group)) => {
                let known = groups.entry((span.rect.bank, group)).or_insert(Life {
                    open_until: 0,
                    ..life
                });
                known.start = known.start.min(start);
                known.open_until = known.open_until.max(if is_open { end } else { 0 });
                known.end = known.end.max(used.unwrap_or(written)).max(known.open_until);
            }
            (_, None) => lives.push(life),
        }
    }
    lives.extend(groups.into_values());
    lives.sort_by_key(|life| (life.bank, life.start, life.end, life.group));
    lives
}

fn bank_slices(list: &mut List, trace: &Trace) {
    // When each thread of each bank is free.
    let mut free: Vec<Vec<u64>> = vec![Vec::new(); trace.target.banks as usize];
    for life in lives(trace) {
        let lanes = &mut free[life.bank as usize];
        let found = lanes.iter().position(|&free| free <= life.start);
        let lane = found.unwrap_or(lanes.len());
        if lane as u32 >= LANES {
            continue;
        }
        let thread = (BANKS, life.bank * LANES + lane as u32);
        if found.is_none() {
            lanes.push(0);
            let name = match lane {
                0 => format!("bank {}", life.bank),
                _ => format!("bank {} ({})", life.bank, lane + 1),
            };
            list.name_thread(thread, &name);
        }
        lanes[lane] = life.end;
        let slice = |name: &str, end: u64| {
            json!({
                "ph": "X", "name": name, "cat": "psum", "pid": thread.0, "tid": thread.1,
                "ts": life.start, "dur": end - life.start,
            })
        };
        let name = life
            .group
            .map_or_else(|| "data".to_owned(), |group| format!("group {group}"));
        list.push(life.start, slice(&name, life.end));
        if life.group.is_some() && life.open_until > life.start {
            list.push(life.start, slice("open", life.open_until.min(life.end)));
        }
    }
}

/// Cells in each state, whenever that changes.
fn counters(list: &mut List, trace: &Trace) {
    let mut changes: BTreeMap<(u32, u64), [i64; 3]> = BTreeMap::new();
    for span in &trace.spans {
        let (start, _, end) = trace.times(span);
        let cells = cells(span, trace.target.cell_bytes);
        for (time, by) in [(start, cells), (end, -cells)] {
            changes.entry((span.rect.bank, time)).or_default()[span.state as usize] += by;
        }
    }
    let mut bank_now = None;
    let mut counts = [0i64; 3];
    for ((bank, time), change) in changes {
        if bank_now.replace(bank) != Some(bank) {
            counts = [0; 3];
        }
        for (count, by) in counts.iter_mut().zip(change) {
            *count += by;
        }
        let [pending, open, data] = counts;
        let counter = json!({
            "ph": "C", "name": format!("bank {bank} cells"), "pid": BANKS, "tid": bank * LANES,
            "ts": time, "args": { "open": open, "pending": pending, "data": data },
        });
        list.push(time, counter);
    }
}

fn cells(span: &Span, cell_bytes: u32) -> i64 {
    i64::from(span.rect.partitions.len()) * i64::from(span.rect.bytes.len() / cell_bytes)
}
