//! Reads of cells that are fresh because a loop is known not to run.
//!
//! The graph may tell apart whether an inner loop runs at all. In the part where it does not, nobody wrote what
//! that loop writes, and a read of it is one of cells that nobody wrote. Whether there is a value otherwise, and
//! so a warning instead of an error, the other parts tell, when all of them have been seen.

use pto_ir::{AllocId, InstId};
use rustc_hash::FxHashSet;

use super::findings::{Findings, Judgement, Kind, Where};
use super::memory::{Cell, FRESH_WITHOUT_A_TRIP};
use super::worlds::{Fault, Faults, VALUED, machines_with};

/// Cells that an instruction reads: bytes from `byte` on of one strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    pub(super) inst: InstId,
    pub(super) alloc: AllocId,
    pub(super) bank: u32,
    pub(super) strip: u32,
    pub(super) byte: u32,
}

/// One such read.
#[derive(Debug)]
struct FreshRead {
    spot: Spot,
    place: Where,
    cell: Cell,
    faults: Faults,
    judgement: Judgement,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct FreshReads {
    reads: Vec<FreshRead>,
    /// Where values are read, in some part of the graph.
    valued: FxHashSet<Spot>,
}

impl FreshReads {
    /// Forgets all but where values are read.
    pub(super) fn forget(&mut self) {
        self.reads.clear();
    }
}

impl Findings {
    /// The cells of `spot` hold values when they are read there.
    pub(super) fn add_valued_read(&mut self, spot: Spot) {
        self.fresh.valued.insert(spot);
    }

    /// The findings that `faults` of a read stand for: that of `spot`, or the end of the function.
    pub(super) fn add_read_faults(
        &mut self,
        spot: Option<Spot>,
        place: Where,
        cell: Cell,
        faults: Faults,
        judgement: Judgement,
    ) {
        let is_fresh = cell.worlds & VALUED == 0 && cell.fresh == FRESH_WITHOUT_A_TRIP;
        match spot.filter(|_| is_fresh && faults != 0) {
            Some(spot) => self.fresh.reads.push(FreshRead {
                spot,
                place,
                cell,
                faults,
                judgement,
            }),
            None => self.add_faults(spot.map(|spot| spot.inst), place, cell, faults, judgement),
        }
    }

    /// Adds the findings of all such reads.
    pub(super) fn decide_fresh_reads(&mut self) {
        let FreshReads { reads, valued } = std::mem::take(&mut self.fresh);
        for read in reads {
            let inst = Some(read.spot.inst);
            if valued.contains(&read.spot) {
                let faults = [Fault::ReadsPending, Fault::ReadsUndefined];
                let machines = faults.map(|fault| machines_with(read.faults, fault));
                let machines = machines[0] | machines[1];
                self.add(inst, read.place, read.cell, Kind::MaybeUndefined, machines);
            } else {
                self.add_faults(inst, read.place, read.cell, read.faults, read.judgement);
            }
        }
    }
}
