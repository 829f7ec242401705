//! The meaning of a program before legalization: per allocation, independent of banks and flags.

use pto_ir::{AllocId, Op, Origin, Program, Use, UseKind};
use rustc_hash::FxHashMap;

use super::grid::Grid;
use super::path::{Event, Step};
use super::values::{Contribution, Value, Values};

/// What a run shows to the outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    /// The values of each read, by instruction and operand, cell by cell in grid order.
    pub reads: Vec<Read>,
    /// The contents of each escaping buffer at the end; `None` for cells that are fresh.
    pub live_out: Vec<(AllocId, Vec<Option<Value>>)>,
}

/// One read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The reading instruction.
    pub event: Event,
    /// Index of the use.
    pub operand: usize,
    /// One value a cell.
    pub values: Vec<Value>,
}

/// Why a program has no meaning on this path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It reads a cell that nobody wrote.
    FreshRead(Event),
    /// It needs a value (`None`: at the end) after another allocation wrote over it: two lives on
    /// one cell.
    Overlap(Option<Event>),
}

/// The result of a reference run.
#[derive(Debug, Default)]
pub struct Reference {
    /// What was read.
    pub observations: Observations,
    /// For every PE write, whether it overwrites, cell by cell in grid order.
    pub overwrites: FxHashMap<Event, Vec<bool>>,
    /// Whether the program has a meaning: empty if so.
    pub faults: Vec<Fault>,
}

/// The uses of an instruction with their operand numbers: it reads all it reads before it writes.
pub(super) fn reads_first(uses: &[Use]) -> impl Iterator<Item = (usize, &Use)> {
    let of = |is_read| {
        let indexed = uses.iter().enumerate();
        indexed.filter(move |(_, used)| (used.kind == UseKind::Read) == is_read)
    };
    of(true).chain(of(false))
}

struct Run<'a> {
    program: &'a Program,
    cell_count: usize,
    /// By allocation, then cell; `None` is fresh.
    contents: Vec<Option<Value>>,
    /// By cell: the allocation whose write was last.
    owners: Vec<Option<AllocId>>,
    result: Reference,
}

/// Runs `steps` of `program`.
pub fn run(program: &Program, grid: &Grid, steps: &[Step], values: &mut Values) -> Reference {
    let cell_count = grid.cells().len();
    let mut run = Run {
        program,
        cell_count,
        contents: vec![None; cell_count * program.allocs().len()],
        owners: vec![None; cell_count],
        result: Reference::default(),
    };
    let allocs = || (0..program.allocs().len()).map(AllocId::new);
    for alloc in allocs() {
        if let Origin::Argument { fresh: false, .. } = program.alloc(alloc).origin {
            let held = values.only(Contribution::Argument {
                alloc: alloc.index(),
            });
            for cell in grid.cells_of_alloc(program, alloc) {
                run.write(alloc, cell, held);
            }
        }
    }
    let cells = grid.cells_of_accesses(program);
    for step in steps {
        run.step(step.event, &cells, values);
    }
    for alloc in allocs().filter(|&alloc| program.alloc(alloc).escapes) {
        let cells = grid.cells_of_alloc(program, alloc);
        let is_taken = |&cell: &usize| {
            run.contents[run.slot(alloc, cell)].is_some() && run.owners[cell] != Some(alloc)
        };
        if cells.iter().any(is_taken) {
            run.result.faults.push(Fault::Overlap(None));
        }
        let values = cells
            .iter()
            .map(|&cell| run.contents[run.slot(alloc, cell)]);
        let values = values.collect();
        run.result.observations.live_out.push((alloc, values));
    }
    run.result
}

impl Run<'_> {
    fn slot(&self, alloc: AllocId, cell: usize) -> usize {
        alloc.index() * self.cell_count + cell
    }

    fn write(&mut self, alloc: AllocId, cell: usize, value: Value) {
        let slot = self.slot(alloc, cell);
        self.contents[slot] = Some(value);
        self.owners[cell] = Some(alloc);
    }

    fn step(&mut self, event: Event, cells: &[Vec<usize>], values: &mut Values) {
        let program = self.program;
        if let Op::Alloc(alloc) | Op::Dealloc(alloc) = program.inst(event.inst).op {
            let start = self.slot(alloc, 0);
            self.contents[start..start + self.cell_count].fill(None);
        }
        for (operand, used) in reads_first(program.uses(event.inst)) {
            let alloc = program.access(used.access).alloc;
            let cells = &cells[used.access.index()];
            match used.kind {
                UseKind::Read => self.read(event, operand, alloc, cells),
                UseKind::WriteZero => {
                    cells
                        .iter()
                        .for_each(|&cell| self.write(alloc, cell, Value::ZERO));
                }
                UseKind::Write => {
                    let data = values.only(Contribution::Data { event, operand });
                    cells.iter().for_each(|&cell| self.write(alloc, cell, data));
                }
                UseKind::PeOverwrite | UseKind::PeAccumulate => {
                    let adds = used.kind == UseKind::PeAccumulate;
                    self.matmul(event, alloc, cells, adds, values);
                }
            }
        }
    }

    fn read(&mut self, event: Event, operand: usize, alloc: AllocId, cells: &[usize]) {
        let mut read = Read {
            event,
            operand,
            values: Vec::with_capacity(cells.len()),
        };
        for &cell in cells {
            read.values
                .push(self.needed(event, alloc, cell).unwrap_or_else(|| {
                    self.result.faults.push(Fault::FreshRead(event));
                    Value::POISON
                }));
        }
        self.result.observations.reads.push(read);
    }

    fn matmul(
        &mut self,
        event: Event,
        alloc: AllocId,
        cells: &[usize],
        adds: bool,
        values: &mut Values,
    ) {
        let product = Contribution::Product { event };
        let mut overwrites = Vec::with_capacity(cells.len());
        for &cell in cells {
            let base = if adds {
                self.needed(event, alloc, cell)
            } else {
                None
            };
            overwrites.push(base.is_none());
            let value = values.add(base.unwrap_or(Value::ZERO), product);
            self.write(alloc, cell, value);
        }
        self.result.overwrites.insert(event, overwrites);
    }

    /// The contents of a cell that is read or added to; `None` where it is fresh.
    fn needed(&mut self, event: Event, alloc: AllocId, cell: usize) -> Option<Value> {
        let value = self.contents[self.slot(alloc, cell)]?;
        if self.owners[cell] != Some(alloc) {
            self.result.faults.push(Fault::Overlap(Some(event)));
        }
        Some(value)
    }
}
