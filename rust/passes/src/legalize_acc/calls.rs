//! Calls across live data.
//!
//! A callee knows nothing of its caller's banks, so a START of its own may hit them. What it was
//! given as an argument it keeps: an argument is plain data that lives from the beginning to the
//! end.

use pto_ir::{AllocId, Diag, Program, Site};

use super::chains::{Chains, Object};
use super::problem::{BEGIN, BlockProblem, Call};

/// An error for the first call across each live value that touches its bank, or may.
pub(super) fn check(program: &Program, problem: &BlockProblem, chains: &Chains) -> Vec<Diag> {
    if problem.calls.is_empty() {
        return Vec::new();
    }
    let by_bank = calls_by_bank(problem);
    let mut victims: Vec<Option<u32>> = vec![None; problem.calls.len()];
    for (index, object) in chains.objects.iter().enumerate() {
        if chains.root(index as u32) != index as u32 {
            continue;
        }
        for bank in object.banks.start..object.banks.end {
            let Some(calls) = by_bank.get(bank as usize) else {
                continue;
            };
            let position = |&call: &u32| problem.calls[call as usize].pos;
            let first = calls.partition_point(|call| position(call) <= object.first);
            let mut across = calls[first..]
                .iter()
                .take_while(|call| position(call) < object.last);
            let hit = across.find(|&&call| !is_argument(program, problem, call, object));
            if let Some(&call) = hit {
                victims[call as usize].get_or_insert(index as u32);
            }
        }
    }
    let calls = problem.calls.iter().zip(victims);
    calls
        .filter_map(|(call, victim)| Some((call, victim?)))
        .map(|(call, victim)| report(program, problem, call, &chains.objects[victim as usize]))
        .collect()
}

/// By bank: the calls that touch it, or may, by position.
fn calls_by_bank(problem: &BlockProblem) -> Vec<Vec<u32>> {
    let mut result: Vec<Vec<u32>> = vec![Vec::new(); u32::BITS as usize];
    for (index, call) in problem.calls.iter().enumerate() {
        let touched = result.iter_mut().enumerate();
        touched
            .filter(|(bank, _)| call.banks.is_none_or(|mask| mask >> bank & 1 == 1))
            .for_each(|(_, calls)| calls.push(index as u32));
    }
    result
}

fn is_argument(program: &Program, problem: &BlockProblem, call: u32, object: &Object) -> bool {
    let uses = program.uses(problem.calls[call as usize].inst);
    uses.iter()
        .any(|used| program.access(used.access).alloc.index() == object.alloc as usize)
}

fn report(program: &Program, problem: &BlockProblem, call: &Call, object: &Object) -> Diag {
    let message = match call.banks {
        None => {
            "expected a callee that names the psum banks it touches (pto.psum_banks), found none while psum holds live data"
        }
        Some(_) => {
            "expected a callee that leaves banks with live data alone, found one that touches them"
        }
    };
    let site = match object.first {
        BEGIN => Site::Alloc(AllocId::new(object.alloc as usize)),
        pos => Site::Inst(problem.inst_at(program, pos)),
    };
    Diag::error("pto:call", Site::Inst(call.inst), message).with_note(site, "the data is from here")
}
