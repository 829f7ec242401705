//! The first look at a function, one pass over its instructions: what makes checking pointless, and
//! where partitions are cut.

use pto_ir::{Diag, InstId, Interval, Matmul, Op, Program, Site, Target};

use super::layout::{self, zero_region};
use super::named;

/// What one pass over the instructions tells.
pub(super) struct Survey {
    /// Flags that are not there or that the target does not have, accumulators elsewhere, and banks that the function
    /// does not name.
    pub(super) blockers: Vec<Diag>,
    /// By bank: the partitions at which something begins or ends.
    pub(super) cuts: Vec<Cuts>,
    /// Whether control is more than one straight line.
    pub(super) has_flow: bool,
    auto_count: usize,
    first_auto: Option<InstId>,
}

impl Survey {
    pub(super) fn new(program: &Program, target: &Target) -> Self {
        let mut survey = Self {
            blockers: Vec::new(),
            cuts: vec![Cuts::default(); target.banks as usize],
            has_flow: program.blocks().len() > 1,
            auto_count: 0,
            first_auto: None,
        };
        for (index, inst) in program.insts().iter().enumerate() {
            match &inst.op {
                Op::Matmul(matmul) => {
                    survey.matmul(program, InstId::new(index), matmul, target);
                }
                Op::Region { .. } => survey.has_flow = true,
                _ => {}
            }
        }
        for (partitions, bytes) in layout::rectangles(program, target) {
            for bank in layout::banks(bytes, target) {
                survey.cuts[bank as usize].add(partitions);
            }
        }
        survey.report_auto();
        survey.blockers.extend(named::check(program, target));
        survey
    }

    fn matmul(&mut self, program: &Program, inst: InstId, matmul: &Matmul, target: &Target) {
        let is_auto = matmul.flags.is_none() && !matmul.is_predicated();
        if !is_auto {
            let limit = flag_limits(inst, matmul, target);
            let limit = limit.map(|diag| with_buffer(diag, program, matmul));
            self.blockers.extend(limit);
        } else if target.has_group_flags {
            self.auto_count += 1;
            self.first_auto = self.first_auto.or(Some(inst));
        }
        if matmul
            .accumulator
            .is_some_and(|accumulator| accumulator != matmul.dst)
        {
            self.blockers
                .push(accumulator_elsewhere(program, inst, matmul));
        }
        // In its own bank a matmul without a tile cuts nowhere that its access does not.
        if matmul.tile.is_some() || matmul.zero_region != Some(0) {
            self.cut_region(program, matmul, target);
        }
    }

    fn cut_region(&mut self, program: &Program, matmul: &Matmul, target: &Target) {
        let Some(region) = zero_region(program, matmul, target) else {
            return;
        };
        for bank in region.banks.start..region.banks.end {
            for partitions in [region.group, region.dst] {
                self.cuts[bank as usize].add(partitions);
            }
        }
    }

    fn report_auto(&mut self) {
        if let Some(inst) = self.first_auto {
            let message = format!(
                "expected accumulate flags, found {} matmuls without",
                self.auto_count
            );
            let diag = Diag::error("pto:auto-flags", Site::Inst(inst), message);
            self.blockers
                .push(diag.with_note(Site::Function, "pto-legalize-acc derives them"));
        }
    }
}

/// What `target` does not have of the flags of `matmul`.
fn flag_limits(inst: InstId, matmul: &Matmul, target: &Target) -> Option<Diag> {
    let flags = matmul.flags.unwrap_or_default();
    let (code, most) = (matmul.zero_region.unwrap_or(0), target.max_zero_region_code);
    let name = target.name;
    let message = if !target.has_group_flags {
        format!("expected no accumulate flags, because {name} has none, found {flags}")
    } else if !flags.is_legal(target.has_accumulate) {
        format!("expected flags that {name} has, found {flags}")
    } else if code > most {
        format!("expected a zero region of at most {most} on {name}, found {code}")
    } else {
        return None;
    };
    Some(Diag::error("pto:target-limit", Site::Inst(inst), message))
}

fn accumulator_elsewhere(program: &Program, inst: InstId, matmul: &Matmul) -> Diag {
    let message = "expected the accumulator to be the destination, found other cells";
    let diag = Diag::error("pto:accumulator-elsewhere", Site::Inst(inst), message);
    with_buffer(diag, program, matmul)
}

fn with_buffer(diag: Diag, program: &Program, matmul: &Matmul) -> Diag {
    let buffer = Site::Alloc(program.access(matmul.dst).alloc);
    diag.with_note(buffer, "the destination's buffer is allocated here")
}

/// Partition bounds, one bit each.
#[derive(Clone, Default)]
pub(super) struct Cuts {
    words: Vec<u64>,
}

impl Cuts {
    pub(super) fn add(&mut self, partitions: Interval) {
        for bound in [partitions.start, partitions.end] {
            let word = bound as usize / 64;
            if self.words.len() <= word {
                self.words.resize(word + 1, 0);
            }
            self.words[word] |= 1 << (bound % 64);
        }
    }

    /// The bounds in ascending order, with both ends of the bank.
    pub(super) fn bounds(&self, partitions: u32) -> Vec<u32> {
        let is_cut = |bound: u32| {
            let word = self.words.get(bound as usize / 64).copied().unwrap_or(0);
            word >> (bound % 64) & 1 == 1
        };
        let inner = (1..partitions).filter(|&bound| is_cut(bound));
        std::iter::once(0)
            .chain(inner)
            .chain([partitions])
            .collect()
    }
}
