//! Pairs of steps of a path that may run at once in one quadrant of one bank.
//!
//! Engines, and tiles of the PE array, are queues. Between queues only dependences order; whether a
//! queue keeps its own order is up to the caller. Code that no engine executes waits for everything
//! before it, and everything after it waits for it. All pairs of the transitive closure are looked at.

use pto_ir::{AccessId, Engine, InstId, Interval, Op, Program, Target, Tile};

use super::grid::{footprint, zero_window};
use super::path::Step;

/// A queue of instructions: an engine, or a tile of the PE array.
type Queue = (Engine, Option<Tile>);

/// What orders two steps besides dependences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// Each queue executes its steps in their order.
    InOrder,
    /// Nothing: somebody may reorder the program before it runs.
    Unordered,
}

/// The pairs (earlier, later) of `steps` of different queues that no chain of `dependences` and
/// `kept` orders orders, that touch a common quadrant of a bank, and of which one is a PE write.
pub fn collisions(
    program: &Program,
    target: &Target,
    steps: &[Step],
    dependences: &[Vec<usize>],
    kept: Queues,
) -> Vec<(usize, usize)> {
    let inst = |step: usize| steps[step].event.inst;
    let queues: Vec<Queue> = (0..steps.len())
        .map(|step| queue(program, inst(step)))
        .collect();
    let places: Vec<u32> = steps
        .iter()
        .map(|step| quadrants(program, target, step))
        .collect();
    let is_barrier = |step: usize| matches!(program.inst(inst(step)).op, Op::Effects);
    let mut before: Vec<Vec<bool>> = Vec::new();
    let mut pairs = Vec::new();
    for late in 0..steps.len() {
        let mut ordered = vec![false; late];
        for early in (0..late).rev() {
            let is_in_queue = kept == Queues::InOrder && queues[early] == queues[late];
            let is_near_barrier = is_barrier(early) || is_barrier(late);
            if is_in_queue || is_near_barrier || dependences[late].contains(&early) {
                ordered[early] = true;
                for (own, its) in ordered.iter_mut().zip(&before[early]) {
                    *own |= its;
                }
            }
        }
        let meets = |early: &usize| {
            places[*early] & places[late] != 0
                && !ordered[*early]
                && queues[*early] != queues[late]
                && [*early, late]
                    .iter()
                    .any(|&step| queues[step].0 == Engine::Pe)
        };
        pairs.extend((0..late).filter(meets).map(|early| (early, late)));
        before.push(ordered);
    }
    pairs
}

fn queue(program: &Program, inst: InstId) -> Queue {
    let inst = program.inst(inst);
    (inst.engine, inst.matmul().and_then(|matmul| matmul.tile))
}

/// The quadrants of banks that a step touches, one bit each.
fn quadrants(program: &Program, target: &Target, step: &Step) -> u32 {
    let inst = step.event.inst;
    let uses = program.uses(inst).iter();
    let own = uses.fold(0, |mask, used| {
        mask | of_access(program, used.access, target)
    });
    let Op::Matmul(matmul) = &program.inst(inst).op else {
        return own;
    };
    let flags = matmul.flags.unwrap_or_default();
    if !flags.starts() && !flags.accumulates() && !step.start_if {
        return own;
    }
    let banks = zero_window(program, matmul, target).unwrap_or(Interval::new(0, 0));
    own | mask(banks, matmul.column_group(target), target)
}

fn of_access(program: &Program, access: AccessId, target: &Target) -> u32 {
    let Some((partitions, spans)) = footprint(program, access, target) else {
        return 0;
    };
    let per_bank = target.bank_bytes;
    let of_span = |span: &Interval| {
        let banks = Interval::new(span.start / per_bank, span.end.div_ceil(per_bank));
        mask(banks, partitions, target)
    };
    spans.iter().map(of_span).fold(0, |mask, one| mask | one)
}

fn mask(banks: Interval, partitions: Interval, target: &Target) -> u32 {
    let per_bank = target.partitions / target.quadrant_partitions;
    let quadrants = target.quadrants(partitions.intersection(Interval::new(0, target.partitions)));
    let bits =
        |bank: u32| (quadrants.start..quadrants.end).map(move |q| 1 << (bank * per_bank + q));
    let all = (banks.start..banks.end.min(target.banks)).flat_map(bits);
    all.fold(0, |mask, bit: u32| mask | bit)
}
