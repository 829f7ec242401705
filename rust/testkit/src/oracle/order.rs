//! Other orders of a path that respect its dependences.
//!
//! The access of a START or ACCUMULATE is its whole zero region, as a write: without that, a START
//! could overtake the last read of other data in its bank. Memsets of the relay write one cell of another
//! memory. In a loop a token is that of the last time its maker ran.

use pto_ir::{InstId, Interval, Op, Program, UseKind};

use super::grid::{Grid, footprint, zero_window};
use super::path::Step;

/// For every step, the earlier steps that must come before it.
pub fn dependences(program: &Program, grid: &Grid, steps: &[Step]) -> Vec<Vec<usize>> {
    let cells = grid.cells_of_accesses(program);
    let touched: Vec<Touched> = steps
        .iter()
        .map(|step| Touched::new(program, grid, &cells, step))
        .collect();
    (0..steps.len())
        .map(|late| {
            let waits = &program.inst(steps[late].event.inst).after;
            (0..late)
                .filter(|&early| touched[early].orders(&touched[late]))
                .chain(waits.iter().filter_map(|edge| last(steps, edge.from, late)))
                .collect()
        })
        .collect()
}

/// The last step before `end` that ran `inst`.
fn last(steps: &[Step], inst: InstId, end: usize) -> Option<usize> {
    let mut before = steps[..end].iter();
    before.rposition(|step| step.event.inst == inst)
}

/// A random order of the steps that respects `dependences`.
pub fn shuffle(steps: &[Step], dependences: &[Vec<usize>], rng: &mut fastrand::Rng) -> Vec<Step> {
    let mut is_done = vec![false; steps.len()];
    let mut order = Vec::with_capacity(steps.len());
    while order.len() < steps.len() {
        let is_ready = |&step: &usize| {
            !is_done[step] && dependences[step].iter().all(|&earlier| is_done[earlier])
        };
        let ready: Vec<usize> = (0..steps.len()).filter(is_ready).collect();
        let Some(&next) = ready.get(rng.usize(0..ready.len().max(1))) else {
            break;
        };
        is_done[next] = true;
        order.push(steps[next]);
    }
    order
}

/// The cells a step reads and writes, for the sake of order.
struct Touched {
    reads: Vec<bool>,
    writes: Vec<bool>,
    /// Calls and the ends of lives stay where they are.
    is_fixed: bool,
    is_relay: bool,
    /// Banks and partitions of the zero region, which may hold cells that nothing else touches.
    region: Option<(Interval, Interval)>,
}

impl Touched {
    fn new(program: &Program, grid: &Grid, cells: &[Vec<usize>], step: &Step) -> Self {
        let inst = program.inst(step.event.inst);
        let count = grid.cells().len();
        let mut touched = Self {
            reads: vec![false; count],
            writes: vec![false; count],
            is_fixed: matches!(inst.op, Op::Call { .. } | Op::Dealloc(_)),
            is_relay: program.is_relay(step.event.inst),
            region: None,
        };
        for used in program.uses(step.event.inst) {
            let marks = match used.kind {
                UseKind::Read => &mut touched.reads,
                _ => &mut touched.writes,
            };
            cells[used.access.index()]
                .iter()
                .for_each(|&cell| marks[cell] = true);
        }
        if let Op::Matmul(matmul) = &inst.op {
            let flags = matmul.flags.unwrap_or_default();
            if flags.starts() || flags.accumulates() || step.start_if {
                touched.mark_region(program, grid, matmul);
            }
        }
        touched
    }

    fn mark_region(&mut self, program: &Program, grid: &Grid, matmul: &pto_ir::Matmul) {
        let target = grid.target();
        let window = zero_window(program, matmul, target);
        let dst = footprint(program, matmul.dst, target);
        let (Some(window), Some((dst, _))) = (window, dst) else {
            return;
        };
        let group = matmul.column_group(target);
        self.region = Some((window, group));
        for cell in grid.cells_where(|cell| {
            window.contains(cell.bank)
                && (group.contains(cell.partition) || dst.contains(cell.partition))
        }) {
            self.writes[cell] = true;
        }
    }

    fn orders(&self, later: &Self) -> bool {
        let meet = |a: &[bool], b: &[bool]| a.iter().zip(b).any(|(&a, &b)| a && b);
        let meets = |other: (Interval, Interval)| {
            let own = self.region.filter(|own| own.0.overlaps(other.0));
            own.is_some_and(|own| own.1.overlaps(other.1))
        };
        self.is_fixed
            || later.is_fixed
            || later.region.is_some_and(meets)
            || (self.is_relay && later.is_relay)
            || meet(&self.writes, &later.writes)
            || meet(&self.writes, &later.reads)
            || meet(&self.reads, &later.writes)
    }
}
