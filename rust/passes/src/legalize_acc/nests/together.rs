//! Which sums that begin in one body share a START.

use pto_ir::{AccessId, InstId, Op};

use super::times::Times;
use super::{Candidate, Nests, Window};
use crate::legalize_acc::blocks::Blocks;
use crate::legalize_acc::geometry::NONE;
use crate::legalize_acc::problem::BlockProblem;
use crate::legalize_acc::summary::Summarized;

impl Nests<'_> {
    /// The candidates that can begin, in groups that one START begins: that of the first member, in
    /// whose window the others lie. `candidates` begin at one position, by their heads.
    pub(super) fn groups<'c>(
        &self,
        problem: &BlockProblem,
        blocks: &Blocks<'_>,
        times: &Times<'_>,
        candidates: &'c [Candidate],
    ) -> Vec<Vec<&'c Candidate>> {
        let mut groups: Vec<Vec<&Candidate>> = Vec::new();
        let mut is_taken = vec![false; candidates.len()];
        for (index, head) in candidates.iter().enumerate() {
            if is_taken[index] {
                continue;
            }
            let joins = |other: &Candidate| {
                other.loops == head.loops
                    && other.window.banks == head.window.banks
                    && self.is_cleared_by(other, head)
            };
            let rest: Vec<usize> = (index + 1..candidates.len())
                .filter(|&other| !is_taken[other] && joins(&candidates[other]))
                .collect();
            let group: Vec<&Candidate> = std::iter::once(head)
                .chain(rest.iter().map(|&other| &candidates[other]))
                .collect();
            let outermost = problem.inst_at(self.program, head.pos);
            let is_free = !times.is_live(head.window, head.pos)
                && !self.is_disturbed(blocks, outermost, &group, head.window)
                && self.stays_pending(blocks, &group);
            if is_free {
                rest.iter().for_each(|&other| is_taken[other] = true);
                groups.push(group);
            }
        }
        groups
    }

    /// Whether a START of `head` reaches all cells of `other` for certain, whatever its extent.
    fn is_cleared_by(&self, other: &Candidate, head: &Candidate) -> bool {
        let covered = self.geometry.shape(head.shape).partitions;
        let mut classes = self.geometry.classes(other.shape).iter();
        classes.all(|&class| {
            let facts = self.geometry.class(class);
            covered.covers(facts.slab) && head.window.banks.contains(facts.bank)
        })
    }

    /// Whether anything inside `holder` but reads and matmuls of `group` touches the window.
    fn is_disturbed(
        &self,
        blocks: &Blocks<'_>,
        holder: InstId,
        group: &[&Candidate],
        window: Window,
    ) -> bool {
        let geometry = self.geometry;
        let Some(summary) = blocks.summary(holder) else {
            return true;
        };
        let disturbs = |used: &Summarized| {
            let access = AccessId::new(used.access as usize);
            let shape = geometry.shape_of(access);
            let alloc = self.program.access(access).alloc.index() as u32;
            match group.iter().any(|member| member.alloc == alloc) {
                true => used.writes,
                false => {
                    shape != NONE && {
                        let shape = geometry.shape(shape);
                        let strips = geometry.strips_of(shape.quadrants);
                        shape.banks.overlaps(window.banks) && strips & window.strips != 0
                    }
                }
            }
        };
        !summary.calls.is_empty() || summary.uses.iter().any(disturbs)
    }

    /// Whether what the START of the first member leaves pending is there when the others begin. Another
    /// matmul between them may have to ACCUMULATE, which takes it away.
    fn stays_pending(&self, blocks: &Blocks<'_>, group: &[&Candidate]) -> bool {
        let [head, .., last] = group else {
            return true;
        };
        if !self.target.has_accumulate {
            return true;
        }
        let program = self.program;
        let body = &program.block(program.inst(head.head).block).insts;
        let position = |id: InstId| body.iter().position(|&inst| inst == id);
        let (Some(from), Some(to)) = (position(head.head), position(last.head)) else {
            return true;
        };
        let slots = self.slot_mask(head.window);
        let takes_away = |&id: &InstId| match &program.inst(id).op {
            Op::Matmul(matmul) => {
                let alloc = program.access(matmul.dst).alloc.index() as u32;
                let is_own = group.iter().any(|member| member.alloc == alloc);
                let is_in_psum = self.geometry.shape_of(matmul.dst) != NONE;
                is_in_psum && !is_own && self.slot_mask(self.window(matmul)) & slots != 0
            }
            Op::Region { .. } => blocks
                .summary(id)
                .is_none_or(|summary| summary.slots & slots != 0),
            _ => false,
        };
        !body[from..to].iter().any(takes_away)
    }

    /// The slots that a START reaches, one bit each.
    fn slot_mask(&self, window: Window) -> u64 {
        let slots = window.slots(self.geometry, self.target);
        slots.fold(0, |mask, slot| mask | 1 << slot)
    }
}
