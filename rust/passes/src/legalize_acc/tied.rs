//! Loops without which a buffer is never written.
//!
//! ```text
//! %a = psum_alloc
//! for i {
//!   for k = 0 to %n { if first { tmatmul %a } else { tmatmul_acc %a } }
//!   copy %a                      the place of %a is another buffer's from here on
//! ```
//!
//! Where the loop over `k` does not run, `copy` reads what the iteration of `i` before left, it seems. But
//! `%n` is the same in all of them: then no iteration wrote `%a`, and there is no value to keep. So as
//! far as anybody can tell, the loop overwrites `%a` whenever it is reached.
//!
//! That holds of a loop if it runs in one life of the buffer always or never, for its bounds are made
//! once a life, and all that write the buffer stand in it, or in loops with the same bounds.

use pto_ir::{AllocId, Asked, BlockId, InstId, Op, Program, RegionKind, Space};
use smallvec::SmallVec;

use super::problem::holds_data_on_entry;

/// By buffer: the loops that all its writers stand in, by what they ask.
#[derive(Debug, Default)]
pub(super) struct Tied {
    loops: Vec<Option<SmallVec<[Asked; 2]>>>,
}

impl Tied {
    /// Of the buffers of `program`.
    pub(super) fn new(program: &Program) -> Self {
        let mut tied = Self {
            loops: vec![None; program.allocs().len()],
        };
        if program.insts().iter().any(|inst| is_open(&inst.op)) {
            for index in 0..program.insts().len() {
                tied.instruction(program, InstId::new(index));
            }
        }
        tied
    }

    /// Whether `alloc` has no value where the loop `holder`, whose trips are not known, does not run.
    pub(super) fn is_tied(&self, program: &Program, holder: InstId, alloc: u32) -> bool {
        let loops = self.loops.get(alloc as usize).and_then(Option::as_ref);
        let asked = program.asks(holder);
        loops.is_some_and(|loops| asked.is_some_and(|asked| loops.contains(&asked)))
    }

    fn instruction(&mut self, program: &Program, id: InstId) {
        for used in program.uses(id).iter().filter(|used| used.kind.writes()) {
            let alloc = program.access(used.access).alloc;
            if program.alloc(alloc).space != Space::Psum {
                continue;
            }
            let around = match holds_data_on_entry(program, alloc) {
                true => SmallVec::new(),
                false => loops_around(program, program.inst(id).block, alloc),
            };
            match &mut self.loops[alloc.index()] {
                None => self.loops[alloc.index()] = Some(around),
                Some(known) => known.retain(|known| around.contains(known)),
            }
        }
    }
}

/// The loops around `block` that run in one life of `alloc` always or never, by what they ask.
fn loops_around(program: &Program, mut block: BlockId, alloc: AllocId) -> SmallVec<[Asked; 2]> {
    let home = program.block(program.alloc(alloc).block).region;
    let mut inside: SmallVec<[InstId; 4]> = SmallVec::new();
    let mut result = SmallVec::new();
    loop {
        let region = program.block(block).region;
        // Among jumps a bound may be made anew while the region around it runs once.
        if program.region(region).blocks.len() > 1 {
            return SmallVec::new();
        }
        if region == home {
            break;
        }
        let Some(holder) = program.region(region).holder else {
            return SmallVec::new();
        };
        inside.push(holder);
        block = program.inst(holder).block;
    }
    for &holder in &inside {
        let bounds = program.bounds(holder);
        let bounds = bounds.filter(|_| is_open(&program.inst(holder).op));
        let is_fixed =
            |vary_in: Option<InstId>| vary_in.is_none_or(|maker| !inside.contains(&maker));
        if bounds.is_some_and(|bounds| is_fixed(bounds.vary_in)) {
            result.extend(program.asks(holder));
        }
    }
    result
}

/// Whether it is a loop of unknown trips.
fn is_open(op: &Op) -> bool {
    let open = RegionKind::For { trips: None };
    matches!(op, Op::Region { kind, .. } if *kind == open)
}
