//! The machine: physical banks, flags and zero regions, and nothing else.

use pto_ir::{AllocId, InstId, Interval, Matmul, Op, Origin, Program, UseKind};

use super::grid::{Grid, footprint, zero_window};
use super::path::{Event, Step};
use super::reference::{Observations, Read, Reference, reads_first};
use super::values::{Contribution, Value, Values};

/// What START does to a cell, and what other engines do to its pending bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PendingRule {
    /// START sets a pending bit; the next PE write overwrites; other writes clear the bit.
    WrittenBit,
    /// START sets the region to +0.0 at once.
    EagerZero,
    /// As written-bit, but writes of other engines leave the bit alone.
    Sticky,
}

/// The partitions of a zero region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    /// Those of the instruction's column group.
    Group,
    /// Those of its destination.
    Dst,
}

/// One of the machines a program has to be right on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Model {
    /// The meaning of START.
    pub rule: PendingRule,
    /// The partitions it acts on.
    pub extent: Extent,
    /// Whether pending bits are set when the function begins (sticky only: elsewhere it is of no
    /// interest, the first write of any kind clears them).
    pub initially_pending: bool,
}

impl Model {
    /// The four machines every legalized program must be right on.
    pub const REQUIRED: [Self; 4] = [
        Self::new(PendingRule::WrittenBit, Extent::Group),
        Self::new(PendingRule::WrittenBit, Extent::Dst),
        Self::new(PendingRule::EagerZero, Extent::Group),
        Self::new(PendingRule::EagerZero, Extent::Dst),
    ];

    /// The machines on which data seeded by another engine may be lost.
    pub const STICKY: [Self; 4] = [
        Self::new(PendingRule::Sticky, Extent::Group),
        Self::new(PendingRule::Sticky, Extent::Dst),
        Self {
            initially_pending: true,
            ..Self::new(PendingRule::Sticky, Extent::Group)
        },
        Self {
            initially_pending: true,
            ..Self::new(PendingRule::Sticky, Extent::Dst)
        },
    ];

    /// The machine with this rule and extent and no bit pending at the start.
    pub const fn new(rule: PendingRule, extent: Extent) -> Self {
        Self {
            rule,
            extent,
            initially_pending: false,
        }
    }
}

/// What the machine reports; both sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hazard {
    /// Its stable tag.
    pub tag: &'static str,
    /// The access.
    pub at: InstId,
    /// The earlier instruction that put the cell in its state, if there was one.
    pub cause: Option<InstId>,
}

impl Hazard {
    /// Whether it is more than a warning.
    pub fn is_error(&self) -> bool {
        !matches!(self.tag, "pto:lost-partial" | "pto:read-open-group")
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Undefined,
    /// Pending; whether it held a value that START made unreadable.
    Pending {
        clobbered: bool,
    },
    Partial,
    Plain,
}

#[derive(Clone, Copy)]
struct CellState {
    value: Value,
    pending: bool,
    state: State,
    cause: Option<InstId>,
}

/// The result of a machine run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What was read.
    pub observations: Observations,
    /// What it reports, in order of discovery, without repetition.
    pub hazards: Vec<Hazard>,
}

struct Run<'a> {
    program: &'a Program,
    grid: &'a Grid,
    model: Model,
    reference: &'a Reference,
    cells: Vec<CellState>,
    outcome: Outcome,
}

/// Runs `steps` of `program` on `model`. `reference` tells which values a START destroyed are
/// still needed; values come from the flags alone.
pub fn run(
    program: &Program,
    grid: &Grid,
    steps: &[Step],
    model: Model,
    reference: &Reference,
    values: &mut Values,
) -> Outcome {
    let undefined = CellState {
        value: Value::POISON,
        pending: model.initially_pending,
        state: State::Undefined,
        cause: None,
    };
    let mut run = Run {
        program,
        grid,
        model,
        reference,
        cells: vec![undefined; grid.cells().len()],
        outcome: Outcome::default(),
    };
    let allocs = || (0..program.allocs().len()).map(AllocId::new);
    for alloc in allocs() {
        if let Origin::Argument { fresh: false, .. } = program.alloc(alloc).origin {
            let held = values.only(Contribution::Argument {
                alloc: alloc.index(),
            });
            for cell in grid.cells_of_alloc(program, alloc) {
                run.cells[cell].value = held;
                run.cells[cell].state = State::Plain;
            }
        }
    }
    let cells = grid.cells_of_accesses(program);
    for step in steps {
        run.step(step, &cells, values);
    }
    for alloc in allocs().filter(|&alloc| program.alloc(alloc).escapes) {
        let cells = grid.cells_of_alloc(program, alloc);
        let contents = cells
            .iter()
            .map(|&cell| Some(run.cells[cell].value))
            .collect();
        run.outcome.observations.live_out.push((alloc, contents));
    }
    run.outcome
}

impl Run<'_> {
    fn hazard(&mut self, tag: &'static str, at: Event, cause: Option<InstId>) {
        let hazard = Hazard {
            tag,
            at: at.inst,
            cause,
        };
        if !self.outcome.hazards.contains(&hazard) {
            self.outcome.hazards.push(hazard);
        }
    }

    fn step(&mut self, step: &Step, cells: &[Vec<usize>], values: &mut Values) {
        let (program, event) = (self.program, step.event);
        if let Op::Call { banks } = program.inst(event.inst).op {
            self.call(event, banks.unwrap_or(u32::MAX), values);
        }
        for (operand, used) in reads_first(program.uses(event.inst)) {
            let cells = &cells[used.access.index()];
            match used.kind {
                UseKind::Read => self.read(event, operand, cells),
                UseKind::Write => {
                    let data = values.only(Contribution::Data { event, operand });
                    self.plain_write(event, cells, data);
                }
                UseKind::WriteZero => self.plain_write(event, cells, Value::ZERO),
                UseKind::PeOverwrite | UseKind::PeAccumulate => {
                    if let Some(matmul) = program.inst(event.inst).matmul() {
                        self.matmul(step, matmul, cells, values);
                    }
                }
            }
        }
    }

    fn call(&mut self, event: Event, banks: u32, values: &mut Values) {
        let unknown = values.only(Contribution::Data {
            event,
            operand: usize::MAX,
        });
        let touched = self.grid.cells_where(|cell| banks >> cell.bank & 1 == 1);
        self.plain_write(event, &touched, unknown);
    }

    fn read(&mut self, event: Event, operand: usize, cells: &[usize]) {
        let mut read = Read {
            event,
            operand,
            values: Vec::with_capacity(cells.len()),
        };
        for &cell in cells {
            let CellState {
                value,
                state,
                cause,
                ..
            } = self.cells[cell];
            read.values.push(value);
            match state {
                State::Plain => {}
                State::Partial => self.hazard("pto:read-open-group", event, cause),
                State::Undefined => self.hazard("pto:read-undefined", event, cause),
                State::Pending { clobbered: false } => {
                    self.hazard("pto:read-pending", event, cause)
                }
                State::Pending { clobbered: true } => {
                    self.hazard("pto:start-clobbers", event, cause)
                }
            }
        }
        self.outcome.observations.reads.push(read);
    }

    fn plain_write(&mut self, event: Event, cells: &[usize], value: Value) {
        for &cell in cells {
            if self.cells[cell].state == State::Partial {
                self.hazard("pto:lost-partial", event, self.cells[cell].cause);
            }
            let keeps_bit = self.model.rule == PendingRule::Sticky;
            let pending = keeps_bit && self.cells[cell].pending;
            self.cells[cell] = CellState {
                value,
                pending,
                state: State::Plain,
                cause: Some(event.inst),
            };
        }
    }

    /// The cells of the zero region of `matmul`.
    fn region(&self, matmul: &Matmul) -> Vec<usize> {
        let target = self.grid.target();
        let window = zero_window(self.program, matmul, target);
        let dst = footprint(self.program, matmul.dst, target);
        let (Some(window), Some((dst, _))) = (window, dst) else {
            return Vec::new();
        };
        let partitions: Interval = match self.model.extent {
            Extent::Group => matmul.column_group(target),
            Extent::Dst => dst,
        };
        self.grid
            .cells_where(|cell| window.contains(cell.bank) && partitions.contains(cell.partition))
    }

    fn matmul(&mut self, step: &Step, matmul: &Matmul, cells: &[usize], values: &mut Values) {
        let event = step.event;
        let flags = matmul.flags.unwrap_or_default();
        let region = self.region(matmul);
        if flags.starts() || step.start_if {
            self.start(event.inst, &region, cells);
        }
        if flags.accumulates() {
            for &cell in &region {
                self.cells[cell].pending = false;
                if matches!(self.cells[cell].state, State::Pending { .. }) {
                    self.cells[cell].state = State::Plain;
                }
            }
        }
        let reference = self.reference;
        let modes = reference.overwrites.get(&event);
        for (index, &cell) in cells.iter().enumerate() {
            let must_overwrite = modes.and_then(|m| m.get(index)).is_none_or(|&mode| mode);
            self.accumulate(event, cell, must_overwrite, values);
            if flags.stops() || step.stop_if {
                self.cells[cell].state = State::Plain;
            }
        }
    }

    fn start(&mut self, inst: InstId, region: &[usize], own: &[usize]) {
        for &cell in region {
            let cause = self.cells[cell].cause;
            let state = &mut self.cells[cell];
            state.pending = self.model.rule != PendingRule::EagerZero;
            if self.model.rule == PendingRule::EagerZero {
                state.value = Value::ZERO;
            }
            let holds_value = match state.state {
                State::Undefined => false,
                State::Pending { clobbered } => clobbered,
                State::Partial | State::Plain => true,
            };
            let first_clobber = !matches!(state.state, State::Pending { clobbered: true });
            state.cause = if first_clobber { Some(inst) } else { cause };
            state.state = State::Pending {
                clobbered: holds_value && !own.contains(&cell),
            };
        }
    }

    /// One cell of a PE write, after START and ACCUMULATE have acted on the region.
    fn accumulate(&mut self, event: Event, cell: usize, must_overwrite: bool, values: &mut Values) {
        let CellState {
            value,
            pending,
            state,
            cause,
        } = self.cells[cell];
        match state {
            State::Undefined => self.hazard("pto:accumulate-undefined", event, cause),
            State::Pending { clobbered: true } if !must_overwrite => {
                self.hazard("pto:start-clobbers", event, cause);
            }
            _ => {}
        }
        let base = if pending { Value::ZERO } else { value };
        let product = Contribution::Product { event };
        self.cells[cell] = CellState {
            value: values.add(base, product),
            pending: false,
            state: State::Partial,
            cause: Some(event.inst),
        };
    }
}
