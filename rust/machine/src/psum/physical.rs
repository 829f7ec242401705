//! The machine's PSUM: banks, zero regions, flags and hazards, under one or more models of START.
//!
//! Each model has a plane of data; the state of the cells is shared.

use pto_ir::{AccFlags, Interval, Target, ZeroWindow};
use smallvec::SmallVec;

use super::cell::{Cell, Phase, StartModel};
use super::grid::Grid;
use super::plane::{Plane, fetch};
use crate::hazards::{Hazard, HazardKind, HazardLog};
use crate::pe::Sums;
use crate::report::{Outcome, SiteId};

/// Physical cells: partitions times column intervals. Columns count cells from the start of a
/// partition, across banks, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) partitions: Interval,
    pub(crate) columns: SmallVec<[Interval; 2]>,
}

/// A PE write as the machine sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeWrite<'a> {
    pub(crate) flags: AccFlags,
    /// The banks of the zero region.
    pub(crate) window: ZeroWindow,
    /// The partitions of the zero region.
    pub(crate) group: Interval,
    /// Whether the instruction is a `tmatmul_acc`.
    pub(crate) accumulates: bool,
    /// Where its destination was allocated.
    pub(crate) allocated: SiteId,
    /// The sums, with as many rows and columns as the region.
    pub(crate) sums: Sums<'a>,
    pub(crate) site: SiteId,
}

/// A part of an access within one bank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) bank: usize,
    /// Within the bank.
    pub(crate) columns: Interval,
    /// Columns of the access before this part.
    skipped: usize,
}

/// A rectangle of cells in one state, as an event found them.
#[derive(Clone, Copy, Debug)]
struct Patch {
    piece: Piece,
    partitions: Interval,
    columns: Interval,
    before: Cell,
}

impl Patch {
    /// The columns of the access, counted from its own first.
    fn own_columns(&self) -> std::ops::Range<usize> {
        let start = self.piece.skipped + (self.columns.start - self.piece.columns.start) as usize;
        start..start + self.columns.len() as usize
    }
}

/// PSUM as hardware.
#[derive(Debug)]
pub(crate) struct Physical {
    target: &'static Target,
    /// One a bank.
    states: Vec<Grid<Cell>>,
    planes: Vec<(StartModel, Plane)>,
    /// Rectangles of the event at hand.
    patches: Vec<Patch>,
    bank_columns: u32,
}

impl Physical {
    /// PSUM of `target` with nothing in it, under each of `models`.
    pub(crate) fn new(target: &'static Target, models: &[StartModel]) -> Self {
        let bank_columns = target.bank_bytes / target.cell_bytes;
        let nothing = Cell::undefined();
        let all_columns = bank_columns * target.banks;
        Self {
            target,
            states: vec![
                Grid::new(target.partitions, bank_columns, nothing);
                target.banks as usize
            ],
            planes: models
                .iter()
                .map(|&model| (model, Plane::new(target.partitions, all_columns)))
                .collect(),
            patches: Vec::new(),
            bank_columns,
        }
    }

    /// The models, in the order of [`Self::read`]'s planes.
    pub(crate) fn models(&self) -> impl Iterator<Item = StartModel> + '_ {
        self.planes.iter().map(|&(model, _)| model)
    }

    /// The cells of `region` hold nothing from now on: an argument without contents.
    pub(crate) fn undefine(&mut self, region: &Region) {
        self.for_each_state(region, |_| Cell::undefined());
    }

    /// A matmul writes its sums to `region`. `needs` tells whether the program means to add to some
    /// of these cells.
    pub(crate) fn pe_write(
        &mut self,
        region: &Region,
        write: &PeWrite<'_>,
        needs: impl Fn(&Region) -> bool,
        hazards: &mut HazardLog,
    ) -> Outcome<()> {
        self.open_group(write);
        let after = Cell::pe_written(write.flags.stops(), write.site);
        self.collect_patches(region, |_| after);
        for index in 0..self.patches.len() {
            let patch = self.patches[index];
            let is_needed = || needs(&Region::new(patch.partitions, self.plane_columns(&patch)));
            if let Some(kind) = add_hazard(&patch, write, is_needed) {
                self.note(kind, &patch, (write.site, write.allocated), hazards)?;
            }
            self.accumulate(&patch, region, write);
        }
        Ok(())
    }

    /// Another engine writes `words`, row by row, to `region`.
    pub(crate) fn write(
        &mut self,
        region: &Region,
        words: &[u32],
        site: SiteId,
        hazards: &mut HazardLog,
    ) -> Outcome<()> {
        self.collect_patches(region, |cell| cell.overwritten(site));
        let width = region.width();
        for index in 0..self.patches.len() {
            let patch = self.patches[index];
            if patch.before.phase == Phase::Partial {
                self.note(
                    HazardKind::LostPartial,
                    &patch,
                    (site, SiteId::NONE),
                    hazards,
                )?;
            }
            let columns = self.plane_columns(&patch);
            for (_, plane) in &mut self.planes {
                for row in patch.partitions.start..patch.partitions.end {
                    let start = (row - region.partitions.start) as usize * width;
                    let source = &words[start..start + width][patch.own_columns()];
                    plane.row_mut(row, columns).copy_from_slice(source);
                }
            }
        }
        Ok(())
    }

    /// Reports what is hazardous about reading `region` of a buffer. The sites are those of the read
    /// and of the buffer's allocation; `needs` tells whether the program has put values into some
    /// of these cells.
    pub(crate) fn check_read(
        &mut self,
        region: &Region,
        sites: (SiteId, SiteId),
        needs: impl Fn(&Region) -> bool,
        hazards: &mut HazardLog,
    ) -> Outcome<()> {
        self.find_patches(region);
        for index in 0..self.patches.len() {
            let patch = self.patches[index];
            let is_needed = || needs(&Region::new(patch.partitions, self.plane_columns(&patch)));
            if let Some(kind) = read_hazard(patch.before, is_needed) {
                self.note(kind, &patch, sites, hazards)?;
            }
        }
        Ok(())
    }

    /// Copies the words of `region`, as model number `model` has them, to `out`, row by row.
    pub(crate) fn read(&mut self, region: &Region, model: usize, out: &mut Vec<u32>) {
        self.find_patches(region);
        let width = region.width();
        out.clear();
        out.resize(region.partitions.len() as usize * width, 0);
        let (start_model, plane) = &self.planes[model];
        for patch in &self.patches {
            let contents = patch.before.read(*start_model);
            let columns = self.plane_columns(patch);
            for row in patch.partitions.start..patch.partitions.end {
                let start = (row - region.partitions.start) as usize * width;
                let target = &mut out[start..start + width][patch.own_columns()];
                fetch(plane.row(row, columns), contents, target);
            }
        }
    }

    /// Calls `visit` for each rectangle of one state in `partitions` times `columns` of `bank`.
    pub(crate) fn visit(
        &self,
        bank: u32,
        partitions: Interval,
        columns: Interval,
        visit: impl FnMut(Interval, Interval, Cell),
    ) {
        self.states[bank as usize].visit(partitions, columns, visit);
    }

    /// The parts of `region` that hold something, or are about to: all but undefined cells.
    pub(crate) fn values(&mut self, region: &Region) -> Vec<Region> {
        self.find_patches(region);
        let parts = self
            .patches
            .iter()
            .filter(|patch| patch.before.phase != Phase::Undefined);
        parts
            .map(|patch| Region::new(patch.partitions, self.plane_columns(patch)))
            .collect()
    }

    /// The last instruction that put the cell at `partition` and `column` into its state.
    pub(crate) fn last_event(&self, partition: u32, column: u32) -> SiteId {
        let mut site = SiteId::NONE;
        let bank = (column / self.bank_columns) as usize;
        let column = column % self.bank_columns;
        self.states[bank].visit(
            Interval::new(partition, partition + 1),
            Interval::new(column, column + 1),
            |_, _, cell| site = cell.site,
        );
        site
    }

    /// START and ACCUMULATE, which touch every cell of the zero region.
    fn open_group(&mut self, write: &PeWrite<'_>) {
        let PeWrite { flags, site, .. } = *write;
        if !flags.starts() && !flags.accumulates() {
            return;
        }
        let all = Interval::new(0, self.bank_columns);
        for bank in write.window.first..=write.window.last() {
            self.states[bank as usize].update(write.group, all, |_, _, cell| {
                if flags.starts() {
                    cell.started(site)
                } else {
                    cell.resumed(site)
                }
            });
        }
    }

    fn accumulate(&mut self, patch: &Patch, region: &Region, write: &PeWrite<'_>) {
        let columns = self.plane_columns(patch);
        let first_row = (patch.partitions.start - region.partitions.start) as usize;
        let first = (first_row, patch.own_columns().start);
        for (model, plane) in &mut self.planes {
            let base = patch.before.added_to(*model);
            plane.accumulate(patch.partitions, columns, &write.sums, first, base);
        }
    }

    /// Changes every state of `region` and keeps the rectangles as they were in `self.patches`.
    fn collect_patches(&mut self, region: &Region, change: impl Fn(Cell) -> Cell) {
        let mut patches = std::mem::take(&mut self.patches);
        patches.clear();
        for piece in region.pieces(self.bank_columns) {
            let states = &mut self.states[piece.bank];
            states.update(
                region.partitions,
                piece.columns,
                |partitions, columns, before| {
                    patches.push(Patch {
                        piece,
                        partitions,
                        columns,
                        before,
                    });
                    change(before)
                },
            );
        }
        self.patches = patches;
    }

    /// Keeps the rectangles of `region` in `self.patches`.
    fn find_patches(&mut self, region: &Region) {
        self.patches.clear();
        for piece in region.pieces(self.bank_columns) {
            let patches = &mut self.patches;
            self.states[piece.bank].visit(
                region.partitions,
                piece.columns,
                |partitions, columns, before| {
                    patches.push(Patch {
                        piece,
                        partitions,
                        columns,
                        before,
                    });
                },
            );
        }
    }

    fn for_each_state(&mut self, region: &Region, change: impl Fn(Cell) -> Cell) {
        for piece in region.pieces(self.bank_columns) {
            let states = &mut self.states[piece.bank];
            states.update(region.partitions, piece.columns, |_, _, cell| change(cell));
        }
    }

    /// The columns of `patch` counted from the start of the partition.
    fn plane_columns(&self, patch: &Patch) -> Interval {
        patch
            .columns
            .shifted(patch.piece.bank as u32 * self.bank_columns)
    }

    fn note(
        &self,
        kind: HazardKind,
        patch: &Patch,
        (site, allocated): (SiteId, SiteId),
        hazards: &mut HazardLog,
    ) -> Outcome<()> {
        let is_undefined = patch.before.phase == Phase::Undefined;
        let bytes = |column: u32| column * self.target.cell_bytes;
        hazards.note(Hazard {
            kind,
            site,
            earlier: if is_undefined {
                allocated
            } else {
                patch.before.site
            },
            bank: patch.piece.bank as u32,
            partitions: patch.partitions,
            bytes: Interval::new(bytes(patch.columns.start), bytes(patch.columns.end)),
        })
    }
}

impl Region {
    /// Cells of one partition.
    pub(crate) fn width(&self) -> usize {
        self.columns.iter().map(|span| span.len() as usize).sum()
    }

    /// The column intervals cut at the bank borders.
    pub(crate) fn pieces(&self, bank_columns: u32) -> impl Iterator<Item = Piece> + '_ {
        let mut skipped = 0;
        self.columns.iter().flat_map(move |&span| {
            let before = skipped;
            skipped += span.len() as usize;
            (span.start / bank_columns..span.end.div_ceil(bank_columns)).map(move |bank| {
                let first = bank * bank_columns;
                let part = span.intersection(Interval::new(first, first + bank_columns));
                Piece {
                    bank: bank as usize,
                    columns: Interval::new(part.start - first, part.end - first),
                    skipped: before + (part.start - span.start) as usize,
                }
            })
        })
    }
}

/// The hazard of a PE write to the cells of `patch`, found after the region's event.
fn add_hazard(
    patch: &Patch,
    write: &PeWrite<'_>,
    is_needed: impl Fn() -> bool,
) -> Option<HazardKind> {
    if patch.before.phase == Phase::Undefined {
        return Some(HazardKind::AccumulateUndefined);
    }
    // A cell under the instruction's own START is overwritten whatever hit it before, and a tmatmul
    // never meant to add.
    let is_started = write.flags.starts()
        && write.window.banks().contains(patch.piece.bank as u32)
        && write.group.covers(patch.partitions);
    let adds = write.accumulates && !is_started;
    (patch.before.clobbered && adds && is_needed()).then_some(HazardKind::StartClobbers)
}

/// The hazard of a read of a cell in the state `before`.
fn read_hazard(before: Cell, is_needed: impl Fn() -> bool) -> Option<HazardKind> {
    match before.phase {
        Phase::Undefined => Some(HazardKind::ReadUndefined),
        // What a START hit may have been of a life that is over.
        _ if before.clobbered && is_needed() => Some(HazardKind::StartClobbers),
        Phase::Pending => Some(HazardKind::ReadPending),
        Phase::Partial => Some(HazardKind::ReadOpenGroup),
        Phase::Data => None,
    }
}
