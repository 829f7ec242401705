//! The matrix engines: one table of numbers, and the zero-region code.
//!
//! The numbers live in `dialect/Targets.td`; [`TARGETS`] is generated from it and a test of the
//! build compares the two. No pass and no interpreter writes a machine number of its own.

mod generated;

pub use generated::TARGETS;

/// The numbers of one matrix engine. Units are in the field names or their documentation.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// The name used in IR and options.
    pub name: &'static str,
    /// Other names of the same machine.
    pub aliases: &'static [&'static str],
    /// The architecture level, where the generation has one.
    pub arch_level: Option<u32>,
    /// PSUM partitions.
    pub partitions: u32,
    /// Partitions of one quadrant: the unit of start partitions and of column groups.
    pub quadrant_partitions: u32,
    /// PSUM banks.
    pub banks: u32,
    /// Bytes of one bank in one partition.
    pub bank_bytes: u32,
    /// Bytes of one PSUM cell, whatever its element type.
    pub cell_bytes: u32,
    /// Rows of the PE array: the largest K of one matmul.
    pub pe_rows: u32,
    /// Columns of the PE array: the largest M of one matmul.
    pub pe_columns: u32,
    /// The largest N of one matmul, in cells.
    pub max_moving_cells: u32,
    /// The largest zero-region code; a region spans 2^code banks.
    pub max_zero_region_code: u8,
    /// Whether the control byte has the ACCUMULATE bit.
    pub has_accumulate: bool,
    /// Whether matmuls carry accumulation-group flags at all.
    pub has_group_flags: bool,
    /// Legal tile heights, in rows.
    pub row_tiles: &'static [u32],
    /// Whether a column group of the last quadrant alone exists.
    pub has_last_quadrant_group: bool,
    /// Whether PSUM may hold bf16.
    pub has_bf16_psum: bool,
    /// Cycles of the PE for each column of the moving operand.
    pub pe_column_cycles: u32,
    /// Cycles of loading weights, for each row of the tile.
    pub weight_row_cycles: u32,
    /// Whether weights are loaded while the matmul before streams its moving operand.
    pub fast_weight_load: bool,
    /// Cycles of the vector engine for each element of a partition.
    pub vector_element_cycles: u32,
    /// Cycles of the scalar engine for each element of a partition.
    pub scalar_element_cycles: u32,
    /// Cycles of the SIMD engine for each element of a partition.
    pub gpsimd_element_cycles: u32,
    /// Cycles of a DMA queue for each element of a partition.
    pub dma_element_cycles: u32,
}

impl Target {
    /// The target used where nothing names one.
    pub const DEFAULT: &'static str = "trn2";

    /// The target called `name`, by name or alias.
    pub fn from_name(name: &str) -> Option<&'static Target> {
        TARGETS
            .iter()
            .find(|t| t.name == name || t.aliases.contains(&name))
    }

    /// Bytes of PSUM in one partition.
    pub const fn partition_bytes(&self) -> u32 {
        self.banks * self.bank_bytes
    }

    /// The quadrants of a partition interval, as quadrant numbers.
    pub const fn quadrants(&self, partitions: crate::Interval) -> crate::Interval {
        crate::Interval::new(
            partitions.start / self.quadrant_partitions,
            partitions.end.div_ceil(self.quadrant_partitions),
        )
    }

    /// Whether an access of `count` partitions may start at partition `start`:
    /// more than 64 only at 0, more than 32 at 0 or 64, others at a quadrant.
    pub const fn is_legal_start_partition(&self, start: u32, count: u32) -> bool {
        let step = if count > self.partitions / 2 {
            self.partitions
        } else if count > self.quadrant_partitions {
            self.partitions / 2
        } else {
            self.quadrant_partitions
        };
        start.is_multiple_of(step) && start <= self.partitions && count <= self.partitions - start
    }

    /// The partitions at which an access of `count` partitions may start, ascending.
    pub fn legal_start_partitions(&self, count: u32) -> Vec<u32> {
        (0..self.partitions)
            .filter(|&start| self.is_legal_start_partition(start, count))
            .collect()
    }
}

/// The banks a zero region covers: a power-of-two-aligned window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ZeroWindow {
    /// log2 of the number of banks.
    pub code: u8,
    /// First bank.
    pub first: u32,
}

impl ZeroWindow {
    /// The smallest window that covers banks `first..=last` on a machine of `banks` banks whose
    /// largest code is `max_code`. `None`: no window does, which is different from bank 0.
    ///
    /// Banks 1 and 2 need code 2 (banks 0 to 3): windows are aligned, so the count alone is not enough.
    ///
    /// ```
    /// use pto_ir::ZeroWindow;
    ///
    /// let window = ZeroWindow::covering(1, 2, 8, 3);
    /// assert_eq!(window, Some(ZeroWindow { code: 2, first: 0 }));
    /// assert_eq!(ZeroWindow::covering(1, 2, 8, 0), None);
    /// ```
    pub fn covering(first: u32, last: u32, banks: u32, max_code: u8) -> Option<Self> {
        if first > last || last >= banks {
            return None;
        }
        (0..=max_code).find_map(|code| {
            let window = Self::of_bank(first, code);
            (window.last() >= last && window.last() < banks).then_some(window)
        })
    }

    /// The window of 2^code banks that holds `bank`.
    pub const fn of_bank(bank: u32, code: u8) -> Self {
        Self {
            code,
            first: bank & !((1 << code) - 1),
        }
    }

    /// Last bank.
    pub const fn last(self) -> u32 {
        self.first + (1 << self.code) - 1
    }

    /// The banks as a half-open interval.
    pub const fn banks(self) -> crate::Interval {
        crate::Interval::new(self.first, self.last() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_window_by_brute_force() {
        for banks in 1..=8u32 {
            for max_code in 0..=3u8 {
                for first in 0..10 {
                    for last in 0..10 {
                        let best = (0..=max_code)
                            .flat_map(|code| (0..8).map(move |n| (code, n << code)))
                            .filter(|&(code, lo)| {
                                let hi = lo + (1 << code) - 1;
                                lo <= first && first <= last && last <= hi && hi < banks
                            })
                            .min()
                            .map(|(code, first)| ZeroWindow { code, first });
                        assert_eq!(ZeroWindow::covering(first, last, banks, max_code), best);
                    }
                }
            }
        }
    }

    #[test]
    fn banks_one_and_two_need_four() {
        let window = ZeroWindow::covering(1, 2, 8, 3);
        assert_eq!(window, Some(ZeroWindow { code: 2, first: 0 }));
        assert_eq!(ZeroWindow::covering(1, 2, 8, 0), None);
        assert_eq!(
            ZeroWindow::covering(7, 7, 8, 0),
            Some(ZeroWindow { code: 0, first: 7 })
        );
        assert_eq!(ZeroWindow::covering(0, 8, 8, 3), None);
    }

    #[test]
    fn start_partitions() {
        let target = Target::from_name("cayman").expect("an alias");
        assert_eq!(target.name, "trn2");
        let starts = |count| target.legal_start_partitions(count);
        assert_eq!(starts(128), [0]);
        assert_eq!(starts(65), [0]);
        assert_eq!(starts(64), [0, 64]);
        assert_eq!(starts(33), [0, 64]);
        assert_eq!(starts(32), [0, 32, 64, 96]);
        assert_eq!(starts(1), [0, 32, 64, 96]);
        assert_eq!(starts(129), []);
        assert!(!target.is_legal_start_partition(!127, 128));
        assert!(!target.is_legal_start_partition(128, u32::MAX));
    }
}
