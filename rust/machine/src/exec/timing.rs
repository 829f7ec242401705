//! What an instruction tells the timeline.

use pto_ir::{AccFlags, Engine, Interval, Placement, ZeroWindow};

use super::Machine;
use crate::code::{EngineOp, MatmulOp, ScalarSlot, Space};
use crate::memory::{BufferId, Storage, View};
use crate::stats::elements_per_partition;
use crate::timing::{Busy, Cells, Issue, Memory, Touch, User};

/// Stretches of one view that are told apart; a view of more counts as all between its ends.
const MAX_STRETCHES: usize = 1 << 12;

impl Machine<'_> {
    /// Says that `buffer` may be one with others of `space` of which that is said.
    pub(super) fn may_be_one(&mut self, buffer: BufferId, space: Space) {
        if let Some(timeline) = &mut self.timeline {
            let memory = Memory::Buffer(buffer, self.memory.serial_of(buffer));
            timeline.may_be_one(memory, space);
        }
    }

    /// Code that no engine executes.
    pub(super) fn time_host(&mut self) {
        if let Some(timeline) = &mut self.timeline {
            timeline.barrier();
        }
    }

    /// An instruction of another engine than the PE, which reads `source` and writes `dst`.
    pub(super) fn time_transfer(&mut self, op: &EngineOp, source: Option<&View>, dst: &View) {
        if op.engine == Engine::Other {
            self.time_host();
            return;
        }
        let elements = elements_per_partition(dst);
        let reads = source.and_then(|view| self.cells(view));
        let writes = self.cells(dst);
        let mut lanes: Vec<u32> = [&reads, &writes]
            .into_iter()
            .flatten()
            .flat_map(|cells| self.lanes(cells))
            .collect();
        lanes.sort_unstable();
        lanes.dedup();
        let tokens = self.tokens(op);
        let Some(timeline) = &mut self.timeline else {
            return;
        };
        let mut touches = Vec::with_capacity(2);
        touches.extend(reads.map(|cells| (timeline.place(cells), Touch::Read)));
        touches.extend(writes.map(|cells| (timeline.place(cells), Touch::Write)));
        let busy = timeline.issue(&Issue {
            engine: op.engine,
            elements,
            weights: None,
            touches: &touches,
            user: User::Others,
            lanes: &lanes,
            tokens,
        });
        self.is_timed(op, busy);
    }

    /// A matmul that was executed, with its flags and the banks of its zero region.
    pub(super) fn time_matmul(
        &mut self,
        op: &MatmulOp,
        flags: AccFlags,
        window: Option<ZeroWindow>,
        columns: u64,
    ) {
        let target = self.config.target;
        let dst = self.view(op.dst).clone();
        let serial = self.memory.serial(&dst);
        let [stationary, moving] =
            [op.stationary, op.moving].map(|slot| self.cells(&self.view(slot).clone()));
        let (Some(written), Some(stationary), Some(moving)) =
            (self.cells(&dst), stationary, moving)
        else {
            return;
        };
        let lanes: Vec<u32> = self.lanes(&written).collect();
        let tokens = self.tokens(&op.op);
        let group = super::checks::column_group(op.tile, target);
        let is_placed = written.memory == Memory::Psum;
        let Some(timeline) = &mut self.timeline else {
            return;
        };
        let (stationary, moving) = (timeline.place(stationary), timeline.place(moving));
        let written = timeline.place(written);
        let mut touches = vec![
            (written, Touch::Accumulate(serial)),
            (stationary, Touch::Read),
            (moving, Touch::Read),
        ];
        let is_open = op.accumulator.is_some() && timeline.continues_group(written, serial);
        let opens = match op.flags {
            _ if op.start_if.is_some() => true,
            Some(_) => flags.starts() || flags.accumulates(),
            None => !is_open,
        };
        if let Some(window) = window.filter(|_| opens && is_placed && target.has_group_flags) {
            let banks = window.banks();
            let bytes = |bank: u32| u64::from(bank) * u64::from(target.bank_bytes);
            let region = timeline.place(Cells {
                memory: Memory::Psum,
                rows: group,
                spans: vec![(bytes(banks.start), bytes(banks.end))],
            });
            touches.push((region, Touch::Region));
        }
        let rows = op.tile.map_or(target.pe_rows, |tile| tile.rows);
        let busy = timeline.issue(&Issue {
            engine: Engine::Pe,
            elements: columns,
            weights: Some((stationary, rows)),
            touches: &touches,
            user: User::Pe(op.tile),
            lanes: &lanes,
            tokens,
        });
        self.is_timed(&op.op, busy);
    }

    /// When the tokens that `op` waits for are there.
    fn tokens(&self, op: &EngineOp) -> u64 {
        let base = self.scalar_base;
        let timeline = self.timeline.as_ref();
        let time = |&slot: &ScalarSlot| timeline.map(|line| line.token(base + slot.index()));
        op.after.iter().filter_map(time).max().unwrap_or(0)
    }

    /// Tells whoever counts, waits or looks when `op` ran.
    fn is_timed(&mut self, op: &EngineOp, busy: Busy) {
        let base = self.scalar_base;
        self.stats
            .busy(op.engine, busy.cycles(), self.config.target);
        if let Some(recorder) = &mut self.memory.psum.recorder {
            recorder.runs(busy.start, busy.end);
        }
        if let (Some(slot), Some(timeline)) = (op.token, &mut self.timeline) {
            timeline.set_token(base + slot.index(), busy.end);
        }
    }

    /// The smallest zero region of the cells of `dst`, or that of the code written.
    pub(super) fn timed_window(&self, op: &MatmulOp, dst: &View) -> Option<ZeroWindow> {
        self.timeline.as_ref()?;
        let target = self.config.target;
        let cells = self.cells(dst)?;
        let bank = |byte: u64| (byte / u64::from(target.bank_bytes)) as u32;
        let first = bank(cells.spans.first()?.0);
        let last = bank(cells.spans.last()?.1 - 1);
        let code = target.max_zero_region_code;
        let smallest = ZeroWindow::covering(first, last, target.banks, code)?;
        Some(match op.zero_region {
            Some(code) if code <= target.max_zero_region_code => ZeroWindow::of_bank(first, code),
            _ => smallest,
        })
    }

    /// The cells of a view; `None` without a timeline, and for a view of nothing.
    fn cells(&self, view: &View) -> Option<Cells> {
        self.timeline.as_ref()?;
        let storage = self.memory.storage(view)?;
        let number = Memory::Buffer(view.buffer, self.memory.serial(view));
        if let Storage::Psum(psum) = storage
            && let Some(region) = view.region(psum.columns)
        {
            let cell = u64::from(self.config.target.cell_bytes);
            let (memory, row, first) = match psum.placement {
                Some(Placement {
                    bank,
                    offset,
                    partition,
                }) => {
                    let byte = u64::from(bank) * u64::from(self.config.target.bank_bytes);
                    (Memory::Psum, partition, byte + u64::from(offset))
                }
                None => (number, 0, 0),
            };
            let span = |span: &Interval| {
                (
                    first + u64::from(span.start) * cell,
                    first + u64::from(span.end) * cell,
                )
            };
            return Some(Cells {
                memory,
                rows: region.partitions.shifted(row),
                spans: region.columns.iter().map(span).collect(),
            });
        }
        let mut spans: Vec<(u64, u64)> = Vec::new();
        view.runs().for_each_segment(|start, len| {
            let (start, end) = (start as u64, (start + len) as u64);
            match spans.last_mut() {
                Some(last) if last.1 == start => last.1 = end,
                _ => spans.push((start, end)),
            }
        });
        spans.sort_unstable();
        if spans.len() > MAX_STRETCHES {
            let ends = spans.iter().map(|span| span.1).max();
            spans = vec![(spans[0].0, ends.unwrap_or(0))];
        }
        (!spans.is_empty()).then_some(Cells {
            memory: number,
            rows: Interval::new(0, 1),
            spans,
        })
    }

    /// The (bank, quadrant) pairs of cells of PSUM.
    fn lanes(&self, cells: &Cells) -> impl Iterator<Item = u32> + use<> {
        let target = self.config.target;
        let quadrants = match cells.memory {
            Memory::Psum => target.quadrants(cells.rows),
            Memory::Buffer(..) => Interval::new(0, 0),
        };
        let bank_bytes = u64::from(target.bank_bytes);
        let mut banks: Vec<u32> = cells
            .spans
            .iter()
            .flat_map(|&(start, end)| start / bank_bytes..end.div_ceil(bank_bytes))
            .map(|bank| bank as u32)
            .collect();
        banks.dedup();
        let per_bank = target.partitions / target.quadrant_partitions;
        banks.into_iter().flat_map(move |bank| {
            (quadrants.start..quadrants.end).map(move |quadrant| bank * per_bank + quadrant)
        })
    }
}
