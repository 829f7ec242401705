//! Lanes: which ones an access touches, and in which of them accesses differ.

use pto_ir::{AccessId, Interval, Target};

use super::clocks::each;
use super::lanes::Lanes;

/// Partitions and bytes of one lane.
type Part = (Interval, Vec<Interval>);

impl Lanes<'_> {
    /// Lanes in which not all accesses are of the same cells of the lane.
    pub(super) fn shared_lanes(&self) -> u64 {
        let program = self.program;
        let mut first: Vec<Option<Part>> = vec![None; u64::BITS as usize];
        let mut shared = 0;
        // What was taken out of the blocks has left its accesses behind.
        let mut is_used = vec![false; program.accesses().len()];
        for used in program.walk().flat_map(|inst| program.uses(inst)) {
            is_used[used.access.index()] = true;
        }
        let used = (0..is_used.len()).filter(|&index| is_used[index]);
        for id in used.map(AccessId::new) {
            for lane in each(self.lanes_of(id) & !shared) {
                let part = self.part(id, lane);
                match &first[lane] {
                    Some(known) if *known == part => {}
                    Some(_) => shared |= 1 << lane,
                    None => first[lane] = Some(part),
                }
            }
        }
        shared & self.distinct_lanes()
    }

    /// The lanes of an access.
    pub(super) fn lanes_of(&self, access: AccessId) -> u64 {
        let facts = self.program.access(access);
        let Some((base, row)) = self.grid.base(facts.alloc) else {
            return 0;
        };
        let partitions = facts.partitions.shifted(row);
        let spans = self.program.bytes(access).iter();
        spans.fold(0, |lanes, span| {
            lanes | self.lanes(partitions, span.shifted(base))
        })
    }

    /// What an access touches of a lane.
    fn part(&self, access: AccessId, lane: usize) -> Part {
        let facts = self.program.access(access);
        let (base, row) = self.grid.base(facts.alloc).unwrap_or_default();
        let per_bank = self.target.partitions / self.target.quadrant_partitions;
        let (bank, quadrant) = (lane as u32 / per_bank, lane as u32 % per_bank);
        let of = |number: u32, size: u32| Interval::new(number * size, (number + 1) * size);
        let rows = of(quadrant, self.target.quadrant_partitions);
        let columns = of(bank, self.target.bank_bytes);
        let spans = self.program.bytes(access).iter();
        let spans = spans.map(|span| span.shifted(base).intersection(columns));
        let partitions = facts.partitions.shifted(row).intersection(rows);
        (partitions, spans.filter(|span| !span.is_empty()).collect())
    }

    /// Without the lanes that are touched whenever the quadrant before is, and only then: where nothing
    /// begins or ends between the two.
    fn distinct_lanes(&self) -> u64 {
        let Target {
            banks,
            quadrant_partitions,
            ..
        } = *self.target;
        (0..self.target.partitions / quadrant_partitions)
            .map(|quadrant| quadrant * quadrant_partitions)
            .filter(|&first| self.grid.is_boundary(first))
            .fold(0, |lanes, first| {
                let partitions = Interval::new(first, first + quadrant_partitions);
                lanes | self.lanes_of_banks(partitions, Interval::new(0, banks))
            })
    }

    /// The lanes of a rectangle.
    pub(super) fn lanes(&self, partitions: Interval, bytes: Interval) -> u64 {
        let bank_bytes = self.target.bank_bytes;
        let banks = Interval::new(bytes.start / bank_bytes, bytes.end.div_ceil(bank_bytes));
        self.lanes_of_banks(partitions, banks)
    }

    pub(super) fn lanes_of_banks(&self, partitions: Interval, banks: Interval) -> u64 {
        let per_bank = self.target.partitions / self.target.quadrant_partitions;
        let quadrants = self.target.quadrants(partitions);
        let mask = (1u64 << quadrants.end.min(per_bank)) - (1 << quadrants.start.min(per_bank));
        let banks = banks.start..banks.end.min(self.target.banks);
        banks.fold(0, |lanes, bank| lanes | mask << (bank * per_bank))
    }
}
