//! Which regions lie inside which.

use pto_ir::{AllocId, BlockId, Program, RegionId};

/// The regions of a function, numbered so that those inside a region are an interval.
#[derive(Debug)]
pub(super) struct Nesting<'p> {
    program: &'p Program,
    /// By region: its number, and one past the last number inside it.
    numbers: Vec<(u32, u32)>,
}

impl<'p> Nesting<'p> {
    /// The nesting of the regions of `program`.
    pub(super) fn new(program: &'p Program) -> Self {
        let regions = program.regions().len();
        let mut numbers = vec![(0, 1); regions];
        let mut inside: Vec<Vec<RegionId>> = vec![Vec::new(); regions];
        for (index, region) in program.regions().iter().enumerate() {
            if let Some(holder) = region.holder {
                let outer = program.block(program.inst(holder).block).region;
                inside[outer.index()].push(RegionId::new(index));
            }
        }
        let mut next = 0;
        let mut pending = if regions > 0 {
            vec![(RegionId::new(0), 0)]
        } else {
            Vec::new()
        };
        while let Some((region, child)) = pending.pop() {
            if child == 0 {
                numbers[region.index()].0 = next;
                next += 1;
            }
            match inside[region.index()].get(child) {
                Some(&inner) => {
                    pending.push((region, child + 1));
                    pending.push((inner, 0));
                }
                None => numbers[region.index()].1 = next,
            }
        }
        Self { program, numbers }
    }

    /// Whether `alloc` is allocated in the region of `block` or around it.
    pub(super) fn is_visible(&self, alloc: u32, block: BlockId) -> bool {
        let home = self.program.alloc(AllocId::new(alloc as usize)).block;
        let (first, end) = self.numbers[self.program.block(home).region.index()];
        let (inner, _) = self.numbers[self.program.block(block).region.index()];
        (first..end).contains(&inner)
    }
}
