//! What the analysis found, and how it is said.

use std::collections::BTreeSet;

use pto_ir::{AllocId, Diag, InstId, Interval, Program, Site};
use rustc_hash::FxHashMap;

use super::fresh::FreshReads;
use super::layout::Layout;
use super::memory::{Cell, FRESH_WITHOUT_A_TRIP};
use super::transitions::Certainty;
use super::worlds::{Fault, Faults, Machine, VALUED, machines_with};

/// The cells a finding is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Where {
    pub(super) alloc: AllocId,
    pub(super) bank: u32,
    /// Partitions of PSUM.
    pub(super) partitions: Interval,
    /// Bytes within the bank.
    pub(super) bytes: Interval,
}

impl Where {
    /// Adds `next` where it is the next strip of the same bytes.
    fn extend(&mut self, next: Self) {
        let is_next = (self.bank, self.bytes) == (next.bank, next.bytes)
            && self.partitions.end == next.partitions.start;
        if is_next {
            self.partitions.end = next.partitions.end;
        }
    }
}

/// What was found at one instruction (`None`: at the end of the function).
#[derive(Clone, Debug)]
struct Finding {
    inst: Option<InstId>,
    place: Where,
    cell: Cell,
    kind: Kind,
    /// One bit a machine; zero where it is the same on all.
    machines: u8,
}

/// The sorts of findings that a walk of the program makes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A fault of a world.
    Fault(Fault),
    /// A memset that legalization inserted destroyed a value.
    Memset,
    /// A fresh cell is read only if a loop does not run.
    MaybeUndefined,
    /// The buffer's value was overwritten by another buffer, by this instruction.
    Overlap(Option<InstId>),
    /// A partial sum is overwritten.
    LostPartial,
    /// A group is read before its STOP.
    ReadOpen,
    /// Right or wrong depends on a predicate.
    NotProvable,
    /// Something is wrong on a path that perhaps no run takes.
    OnSomePath,
}

/// What a fault that is not plainly one of the flags is put down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blame {
    /// The flags.
    Flags,
    /// A START that may or may not have happened.
    Predicate,
    /// A memset that legalization inserted.
    Memset,
}

/// All findings, the first of each kind for each instruction.
#[derive(Debug, Default)]
pub(super) struct Findings {
    list: Vec<Finding>,
    known: FxHashMap<(Option<InstId>, u8), usize>,
    /// Decided when all of the function has been seen.
    pub(super) fresh: FreshReads,
    /// Instructions that read cells which nobody wrote, whatever loops run.
    pub(super) unwritten: BTreeSet<InstId>,
}

impl Kind {
    const fn code(self) -> u8 {
        match self {
            Self::Fault(fault) => fault as u8,
            Self::Memset => 15,
            Self::MaybeUndefined => 16,
            Self::Overlap(_) => 17,
            Self::LostPartial => 18,
            Self::ReadOpen => 19,
            Self::NotProvable => 20,
            Self::OnSomePath => 21,
        }
    }
}

/// What is known of the place of faults.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    pub(super) blame: Blame,
    pub(super) certainty: Certainty,
    /// Whether the place is there only where some loops run or do not.
    pub(super) is_chosen: bool,
}

impl Findings {
    /// Forgets all but which instructions read what nobody wrote.
    pub(super) fn forget(&mut self) {
        self.list.clear();
        self.known.clear();
        self.fresh.forget();
    }

    pub(super) fn add(
        &mut self,
        inst: Option<InstId>,
        place: Where,
        cell: Cell,
        kind: Kind,
        machines: u8,
    ) {
        let next = self.list.len();
        let index = *self.known.entry((inst, kind.code())).or_insert(next);
        match self.list.get_mut(index) {
            Some(known) => {
                known.machines |= machines;
                known.place.extend(place);
            }
            None => self.list.push(Finding {
                inst,
                place,
                cell,
                kind,
                machines,
            }),
        }
    }

    /// The findings that `faults` of an event at `inst` stand for.
    pub(super) fn add_faults(
        &mut self,
        inst: Option<InstId>,
        place: Where,
        cell: Cell,
        faults: Faults,
        Judgement {
            blame,
            certainty,
            is_chosen,
        }: Judgement,
    ) {
        let pending = machines_with(faults, Fault::ReadsPending);
        for fault in Fault::ALL {
            let mut machines = machines_with(faults, fault);
            match fault {
                Fault::ReadsPending if pending != 0 => {
                    machines |= machines_with(faults, Fault::ReadsUndefined);
                }
                Fault::ReadsUndefined if pending != 0 => continue,
                _ => {}
            }
            if machines == 0 {
                continue;
            }
            let is_fresh_read = matches!(fault, Fault::ReadsPending | Fault::ReadsUndefined);
            let may_be_valued = cell.worlds & VALUED != 0;
            // Where it is known that a loop does not run, whether it writes them is seen elsewhere.
            let may_be_valued = match (inst, is_chosen) {
                (Some(inst), true) => may_be_valued || !self.unwritten.contains(&inst),
                (Some(inst), false) if is_fresh_read && !may_be_valued => {
                    self.unwritten.insert(inst);
                    false
                }
                _ => may_be_valued,
            };
            let kind = if is_fresh_read && may_be_valued && cell.fresh == FRESH_WITHOUT_A_TRIP {
                Kind::MaybeUndefined
            } else if fault == Fault::Clobbered && blame == Blame::Memset {
                Kind::Memset
            } else if blame == Blame::Predicate && !is_fresh_read {
                Kind::NotProvable
            } else {
                Kind::Fault(fault)
            };
            let is_error = matches!(kind, Kind::Fault(_) | Kind::Memset);
            let kind = match is_error && !certainty.holds_on(machines) {
                true => Kind::OnSomePath,
                false => kind,
            };
            self.add(inst, place, cell, kind, machines);
        }
    }

    /// The diagnostics, in program order, at most `limit` of them.
    pub(super) fn diags(
        mut self,
        program: &Program,
        layout: &Layout,
        machines: &[Machine],
        limit: usize,
    ) -> Vec<Diag> {
        self.decide_fresh_reads();
        if self.list.is_empty() {
            return Vec::new();
        }
        let mut order = vec![0; program.insts().len()];
        for (position, inst) in program.walk().enumerate() {
            order[inst.index()] = position;
        }
        let position =
            |finding: &Finding| finding.inst.map_or(usize::MAX, |inst| order[inst.index()]);
        self.list
            .sort_by_key(|finding| (position(finding), finding.kind.code()));
        let hidden = self.list.len().saturating_sub(limit);
        self.list.truncate(limit);
        let teller = Teller { layout, machines };
        let mut diags: Vec<Diag> = self
            .list
            .iter()
            .map(|finding| teller.diag(finding))
            .collect();
        if let Some(last) = diags.last_mut()
            && hidden > 0
        {
            let message = format!("{hidden} more findings of this function are not shown");
            last.notes.push((Site::Function, message));
        }
        diags
    }
}

/// Puts findings into words.
struct Teller<'a> {
    layout: &'a Layout,
    machines: &'a [Machine],
}

impl Teller<'_> {
    fn diag(&self, finding: &Finding) -> Diag {
        let site = finding
            .inst
            .map_or(Site::Alloc(finding.place.alloc), Site::Inst);
        let (tag, sentence) = self.sentence(finding);
        let message = format!(
            "{sentence}: {}{}",
            self.place(finding),
            self.models(finding)
        );
        let is_warning = matches!(
            finding.kind,
            Kind::MaybeUndefined
                | Kind::LostPartial
                | Kind::ReadOpen
                | Kind::NotProvable
                | Kind::OnSomePath
        );
        let diag = if is_warning {
            Diag::warning(tag, site, message)
        } else {
            Diag::error(tag, site, message)
        };
        self.with_cause(diag, finding)
    }

    fn sentence(&self, finding: &Finding) -> (&'static str, &'static str) {
        let is_end = finding.inst.is_none();
        match finding.kind {
            Kind::Fault(Fault::AddsToOther) => (
                "pto:wrong-mode",
                "expected this matmul to overwrite, found that its flags make it add to other data",
            ),
            Kind::Fault(Fault::AddsToUndefined) => (
                "pto:accumulate-undefined",
                "expected this matmul to overwrite, found that its flags make it add to cells that \
                 nobody wrote",
            ),
            Kind::Fault(Fault::OverwritesValue) => (
                "pto:wrong-mode",
                "expected this matmul to add, found that its own start makes it overwrite",
            ),
            Kind::Fault(Fault::Clobbered) if is_end => (
                "pto:start-clobbers",
                "expected the buffer to keep its value to the end, found that a later start \
                 clears it",
            ),
            Kind::Fault(Fault::Clobbered) => (
                "pto:start-clobbers",
                "expected a value that is still needed here, found that a later start clears it",
            ),
            Kind::Fault(Fault::Lost) => (
                "pto:call",
                "expected a value that is still needed here, found that a call may overwrite it",
            ),
            Kind::Fault(Fault::ReadsPending) => (
                "pto:read-pending",
                "expected a written cell, found one that is cleared but not yet written",
            ),
            Kind::Fault(Fault::ReadsUndefined) => {
                ("pto:read-undefined", self.undefined_sentence(finding))
            }
            Kind::Fault(Fault::SeedPending) => (
                "pto:seeded-accumulate",
                "expected this matmul to add to data of another engine, found that a pending bit \
                 may make it overwrite",
            ),
            Kind::Memset => (
                "pto:memset-clobbers",
                "expected a value that is still needed here, found that a memset of legalization \
                 clears it",
            ),
            Kind::MaybeUndefined => (
                "pto:maybe-undefined",
                "expected a written cell, found one that is fresh if a loop does not run",
            ),
            Kind::Overlap(_) => (
                "pto:overlapping-allocs",
                "expected a value that is still needed here, found that another buffer took its \
                 place",
            ),
            Kind::LostPartial => (
                "pto:lost-partial",
                "expected the accumulation group to be closed, found its partial sum overwritten",
            ),
            Kind::ReadOpen => (
                "pto:read-open-group",
                "expected the accumulation group to be closed, found it read without a stop",
            ),
            Kind::NotProvable => (
                "pto:not-provable",
                "expected flags that are known, found that right or wrong depends on a predicate",
            ),
            Kind::OnSomePath => (
                "pto:not-provable",
                "expected cells in the right state, found a path on which they are not, and cannot \
                 tell whether it is ever taken",
            ),
        }
    }

    fn undefined_sentence(&self, finding: &Finding) -> &'static str {
        if finding.cell.worlds & VALUED == 0 {
            "expected a written cell, found one that nobody wrote"
        } else {
            "expected a written cell, found one that nobody wrote on some path"
        }
    }

    /// The cells in the buffer's own coordinates.
    fn place(&self, finding: &Finding) -> String {
        let Where {
            alloc,
            bank,
            partitions,
            bytes,
        } = finding.place;
        let pieces = self.layout.pieces(self.layout.place_of_alloc(alloc));
        let first = pieces.first().map_or((0, 0, 0), |piece| {
            let partitions = self
                .layout
                .partitions(piece.bank, piece.strips.start as usize);
            (partitions.start, piece.bank, piece.bytes.start)
        });
        let before: u32 = pieces
            .iter()
            .filter(|piece| piece.bank < bank)
            .map(|piece| piece.bytes.len())
            .sum();
        let start = if bank == first.1 { first.2 } else { 0 };
        let rows = Interval::new(partitions.start - first.0, partitions.end - first.0);
        let cells = Interval::new(bytes.start - start, bytes.end - start).shifted(before);
        format!("partitions {rows}, bytes {cells} of the buffer")
    }

    /// Where not every machine fails, those that do.
    fn models(&self, finding: &Finding) -> String {
        let all = (1 << self.machines.len()) - 1;
        if finding.machines == 0 || finding.machines == all {
            return String::new();
        }
        let mut names: Vec<String> = Vec::new();
        for (index, machine) in self.machines.iter().enumerate() {
            if finding.machines >> index & 1 == 0 {
                continue;
            }
            let fails_alone =
                self.machines.iter().enumerate().any(|(other, its)| {
                    its.rule == machine.rule && finding.machines >> other & 1 == 0
                });
            let extent = match (fails_alone, machine.group_extent) {
                (false, _) => "",
                (true, true) => " with regions of whole column groups",
                (true, false) => " with regions of the destination's partitions",
            };
            let name = format!("{}{extent}", machine.name());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        format!(" (under {})", names.join(", "))
    }

    fn with_cause(&self, diag: Diag, finding: &Finding) -> Diag {
        let Finding { cell, place, .. } = finding;
        let alloc = Site::Alloc(place.alloc);
        let start = cell
            .start()
            .map(|inst| (Site::Inst(inst), "the start is here"));
        let writer = cell
            .writer()
            .map(|inst| (Site::Inst(inst), "the cells were written here"));
        let allocated = Some((alloc, "the buffer is allocated here"));
        let cause = match finding.kind {
            Kind::Fault(Fault::Clobbered | Fault::ReadsPending | Fault::SeedPending) => {
                start.or(writer)
            }
            Kind::Fault(Fault::ReadsUndefined | Fault::AddsToUndefined) => allocated,
            Kind::MaybeUndefined => writer,
            Kind::Overlap(Some(by)) => Some((Site::Inst(by), "the other buffer is written here")),
            Kind::NotProvable | Kind::OnSomePath => start.or(writer),
            _ => writer,
        };
        match cause.or(allocated) {
            Some((site, message)) if site != diag.site => diag.with_note(site, message),
            _ => diag.with_note(alloc, "the buffer is allocated here"),
        }
    }
}
