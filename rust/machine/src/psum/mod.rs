//! PSUM under several meanings at once.
//!
//! A program is run once. Its control flow, its scalars and its other memories do not depend on
//! PSUM except through what is read from it, so it is enough to keep one PSUM for each meaning (the
//! reference, and the machine under each model of START) and to compare what every read gives.
//! While all reads agree, everything else is the same in all of them; the first read that differs
//! ends the run and is the first difference there is. Nothing is logged, so the length of a run
//! does not matter, and the sums of a matmul, which cost the time, are formed once.

mod cell;
mod grid;
mod physical;
mod plane;
mod reference;

use pto_ir::{Interval, Placement, Target};

pub use cell::StartModel;
pub(crate) use cell::{Cell, Phase};
pub(crate) use grid::Grid;
pub(crate) use physical::{PeWrite, Physical, Region};
pub(crate) use plane::cell_type;

use crate::code::ElementType;
use crate::concurrency::{Access, Concurrency};
use crate::hazards::{HazardLog, HazardPolicy};
use crate::pe::CellType;
use crate::report::{Outcome, Report, SiteId};
use crate::trace::Recorder;
use reference::ReferenceCells;

/// The meanings under which a program is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meanings {
    /// Per allocation, without banks and flags.
    pub reference: bool,
    /// On the machine, under each of these models.
    pub models: Vec<StartModel>,
}

/// Who put an instruction into the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// Whoever wrote it: the instruction is part of what the program means.
    Program,
    /// Legalization.
    Legalization,
}

/// An allocation, or an argument, in PSUM.
#[derive(Debug)]
pub(crate) struct PsumBuffer {
    pub(crate) element: ElementType,
    pub(crate) cells: CellType,
    /// Partitions.
    pub(crate) rows: u32,
    /// Cells of one partition.
    pub(crate) columns: u32,
    /// Where it lies; the machine needs it, the reference does not.
    pub(crate) placement: Option<Placement>,
    /// Distinguishes it from every other, also from those that are gone.
    serial: u64,
    reference: ReferenceCells,
}

/// PSUM under the meanings of a run.
#[derive(Debug)]
pub(crate) struct Psum {
    target: &'static Target,
    reference: bool,
    physical: Option<Physical>,
    pub(crate) hazards: HazardLog,
    /// Where collisions are looked for.
    pub(crate) concurrency: Option<Concurrency>,
    /// Words of one model, to compare with those of another.
    other: Vec<u32>,
    /// Buffers allocated so far.
    allocations: u64,
    /// Takes down what happens, if anyone wants to know.
    pub(crate) recorder: Option<Box<Recorder>>,
}

impl Psum {
    pub(crate) fn new(target: &'static Target, meanings: &Meanings, policy: HazardPolicy) -> Self {
        let physical =
            (!meanings.models.is_empty()).then(|| Physical::new(target, &meanings.models));
        Self {
            target,
            reference: meanings.reference,
            concurrency: (policy == HazardPolicy::Async && physical.is_some())
                .then(|| Concurrency::new(target)),
            physical,
            hazards: HazardLog::new(policy),
            other: Vec::new(),
            allocations: 0,
            recorder: None,
        }
    }

    /// Whether addresses matter: the machine is among the meanings.
    pub(crate) fn is_physical(&self) -> bool {
        self.physical.is_some()
    }

    /// The instruction that [`Concurrency::begin`] began is done; its token.
    pub(crate) fn end_instruction(&mut self, has_token: bool) -> Outcome<u64> {
        match &mut self.concurrency {
            Some(concurrency) => concurrency.end(has_token, &mut self.hazards),
            None => Ok(0),
        }
    }

    /// The hazards that did not end the run.
    pub(crate) fn into_reports(self) -> Vec<Report> {
        self.hazards.into_reports()
    }

    /// The shape of a PSUM buffer, if the machine has room for it (where it is placed).
    pub(crate) fn check_shape(
        &self,
        rows: u64,
        columns: u64,
        placement: Option<Placement>,
        site: SiteId,
    ) -> Outcome<(u32, u32)> {
        let target = self.target;
        let all_columns = u64::from(target.partition_bytes() / target.cell_bytes);
        let place = placement.unwrap_or(Placement {
            bank: 0,
            offset: 0,
            partition: 0,
        });
        let bytes = u64::from(place.bank) * u64::from(target.bank_bytes) + u64::from(place.offset);
        let first_column = bytes / u64::from(target.cell_bytes);
        let fits = rows.saturating_add(place.partition.into()) <= target.partitions.into()
            && columns.saturating_add(first_column) <= all_columns
            && place.offset.is_multiple_of(target.cell_bytes);
        if fits {
            return Ok((rows as u32, columns as u32));
        }
        let message = format!(
            "{rows} partitions of {columns} cells at bank {}, offset {}, partition {} do not fit \
             psum, which has {} partitions of {all_columns} cells",
            place.bank, place.offset, place.partition, target.partitions
        );
        Err(Box::new(Report::unusable("pto:placement", site, message)))
    }

    /// A buffer of `rows` partitions of `columns` fresh cells, allocated at `site`.
    pub(crate) fn allocate(
        &mut self,
        element: ElementType,
        cells: CellType,
        (rows, columns): (u32, u32),
        placement: Option<Placement>,
        site: SiteId,
    ) -> PsumBuffer {
        self.allocations += 1;
        PsumBuffer {
            serial: self.allocations,
            element,
            cells,
            rows,
            columns,
            placement,
            reference: ReferenceCells::new(rows, columns, self.reference, site),
        }
    }

    /// The cells of `buffer` hold nothing, whatever was there: an argument without contents.
    pub(crate) fn undefine(&mut self, buffer: &mut PsumBuffer, site: SiteId) {
        buffer.reference.undefine(site);
        if let Some((physical, region)) = self.on_machine(buffer, &buffer.whole()) {
            physical.undefine(&region);
        }
        self.record(buffer, &buffer.whole(), |recorder, physical, placed| {
            recorder.write(physical, placed, site);
        });
    }

    /// A matmul writes its sums to `region` of `buffer`.
    pub(crate) fn pe_write(
        &mut self,
        buffer: &mut PsumBuffer,
        region: &Region,
        write: &PeWrite<'_>,
    ) -> Outcome<()> {
        let target = self.target;
        if let (Some(placed), Some(physical)) = (self.placed(buffer, region), &mut self.physical) {
            // A fresh cell is overwritten by what means to add: nothing of its own was lost.
            let needs = |cells: &Region| buffer.reference.has_values(&own(buffer, target, cells));
            if let Some(concurrency) = &mut self.concurrency {
                if write.flags.starts() || write.flags.accumulates() {
                    concurrency.zero_region(write.window, write.group);
                }
                concurrency.psum(&placed, Access::Write);
            }
            let outcome = physical.pe_write(&placed, write, needs, &mut self.hazards);
            self.record(buffer, region, |recorder, physical, placed| {
                recorder.pe_write(physical, placed, buffer.serial, write);
            });
            outcome?;
        }
        let written = buffer.reference.pe_write(region, write);
        if self.reference { written } else { Ok(()) }
    }

    /// Another engine writes `words`, row by row, to `region` of `buffer`.
    pub(crate) fn write(
        &mut self,
        buffer: &mut PsumBuffer,
        region: &Region,
        words: &[u32],
        (author, site): (Author, SiteId),
    ) -> Outcome<()> {
        // What legalization does is for the machine: it must not show in what the program means.
        if author == Author::Program {
            buffer.reference.write(region, words, site);
        }
        let Some(placed) = self.placed(buffer, region) else {
            return Ok(());
        };
        if let Some(concurrency) = &mut self.concurrency {
            concurrency.psum(&placed, Access::Write);
        }
        let Some(physical) = &mut self.physical else {
            return Ok(());
        };
        let outcome = physical.write(&placed, words, site, &mut self.hazards);
        self.record(buffer, region, |recorder, physical, placed| {
            recorder.write(physical, placed, site);
        });
        outcome
    }

    /// Copies the words of `region` of `buffer` to `out`, row by row, and compares what each
    /// meaning reads.
    ///
    /// # Errors
    /// A cell holds nothing, a hazard, or two meanings that disagree.
    pub(crate) fn read(
        &mut self,
        buffer: &PsumBuffer,
        region: &Region,
        site: SiteId,
        out: &mut Vec<u32>,
    ) -> Outcome<()> {
        self.record(buffer, region, |recorder, _, placed| {
            recorder.read(placed, site)
        });
        if buffer.reference.has_words() {
            buffer.reference.read(region, site, out)?;
        }
        let Some(placed) = self.placed(buffer, region) else {
            return Ok(());
        };
        let Some(physical) = &mut self.physical else {
            return Ok(());
        };
        if let Some(concurrency) = &mut self.concurrency {
            concurrency.psum(&placed, Access::Read);
        }
        let sites = (site, buffer.reference.site());
        let target = self.target;
        let needs = |cells: &Region| buffer.reference.has_values(&own(buffer, target, cells));
        physical.check_read(&placed, sites, needs, &mut self.hazards)?;
        if let Some(recorder) = &mut self.recorder {
            recorder.reports(self.hazards.reports());
        }
        let models: usize = physical.models().count();
        for model in 0..models {
            if model == 0 && !buffer.reference.has_words() {
                physical.read(&placed, model, out);
                continue;
            }
            physical.read(&placed, model, &mut self.other);
            if let Some(at) = first_difference(buffer, out, &self.other) {
                return Err(self.diverging(buffer, (region, &placed), model, (at, out[at]), site));
            }
        }
        Ok(())
    }

    /// As [`Self::read`] of the cells that hold something; the others are zero in `out`. Returns
    /// how many those are.
    pub(crate) fn read_defined(
        &mut self,
        buffer: &PsumBuffer,
        region: &Region,
        site: SiteId,
        out: &mut Vec<u32>,
    ) -> Outcome<u64> {
        let parts = match (self.placed(buffer, region), &mut self.physical) {
            _ if buffer.reference.has_words() => buffer.reference.values(region),
            (Some(placed), Some(physical)) => physical
                .values(&placed)
                .iter()
                .map(|part| own(buffer, self.target, part))
                .collect(),
            _ => Vec::new(),
        };
        let width = region.width();
        let total = width * region.partitions.len() as usize;
        out.clear();
        out.resize(total, 0);
        let (mut part_words, mut defined) = (Vec::new(), 0);
        for part in parts {
            self.read(buffer, &part, site, &mut part_words)?;
            defined += part_words.len();
            region.insert(&part, &part_words, out);
        }
        Ok((total - defined) as u64)
    }

    /// The report of a read that gives `word` in the first meaning, at cell number `at`, and
    /// something else in model number `model`.
    fn diverging(
        &self,
        buffer: &PsumBuffer,
        (region, placed): (&Region, &Region),
        model: usize,
        (at, word): (usize, u32),
        site: SiteId,
    ) -> Box<Report> {
        let names: Vec<&str> = self
            .physical
            .iter()
            .flat_map(|physical| physical.models().map(StartModel::name))
            .collect();
        let expected_by = if buffer.reference.has_words() {
            "reference"
        } else {
            names[0]
        };
        let show = |word| buffer.element.show(u64::from(word));
        let (row, column) = placed.cell_at(at);
        let bank_columns = self.target.bank_bytes / self.target.cell_bytes;
        let message = format!(
            "this read depends on the meaning: {expected_by} gives {}, {} gives {}, in bank {}, \
             partition {row}, byte {}",
            show(word),
            names[model],
            show(self.other[at]),
            column / bank_columns,
            column % bank_columns * self.target.cell_bytes,
        );
        let mut report = Report::failed("pto:diverging-read", site, message);
        let (own_row, own_column) = region.cell_at(at);
        let on_machine = self.physical.as_ref().map(|p| p.last_event(row, column));
        let in_reference = Some(buffer.reference.last_event(own_row, own_column));
        let named = |site: Option<SiteId>| site.filter(|&site| site != SiteId::NONE);
        if let Some(at) = named(on_machine) {
            report = report.with_note(at, "the machine's cell got its state here");
        }
        if let Some(at) = named(in_reference).filter(|&at| Some(at) != on_machine) {
            report = report.with_note(at, "the cell was last written here");
        }
        Box::new(report)
    }

    /// Hands what has happened to `region` of `buffer` to the recorder, if there is one.
    fn record(
        &mut self,
        buffer: &PsumBuffer,
        region: &Region,
        note: impl FnOnce(&mut Recorder, &Physical, &Region),
    ) {
        if self.recorder.is_none() {
            return;
        }
        let placed = self.placed(buffer, region);
        let Self {
            recorder: Some(recorder),
            physical: Some(physical),
            hazards,
            ..
        } = self
        else {
            return;
        };
        if let Some(placed) = placed {
            note(recorder, physical, &placed);
            recorder.reports(hazards.reports());
        }
    }

    fn on_machine(
        &mut self,
        buffer: &PsumBuffer,
        region: &Region,
    ) -> Option<(&mut Physical, Region)> {
        let placed = self.placed(buffer, region)?;
        Some((self.physical.as_mut()?, placed))
    }

    /// `region` of `buffer` as cells of the machine, where it is among the meanings.
    fn placed(&self, buffer: &PsumBuffer, region: &Region) -> Option<Region> {
        self.physical.as_ref()?;
        let place = buffer.placement?;
        Some(region.shifted(place.partition, first_column(self.target, place)))
    }
}

/// The column of the first cell of a buffer placed at `place`.
fn first_column(target: &Target, place: Placement) -> u32 {
    (place.bank * target.bank_bytes + place.offset) / target.cell_bytes
}

/// Cells of the machine as cells of `buffer`, which they belong to.
fn own(buffer: &PsumBuffer, target: &Target, placed: &Region) -> Region {
    let Some(place) = buffer.placement else {
        return placed.clone();
    };
    let back = |span: Interval, by: u32| Interval::new(span.start - by, span.end - by);
    let first = first_column(target, place);
    Region {
        partitions: back(placed.partitions, place.partition),
        columns: placed
            .columns
            .iter()
            .map(|&span| back(span, first))
            .collect(),
    }
}

impl PsumBuffer {
    /// All of its cells.
    pub(crate) fn whole(&self) -> Region {
        Region {
            partitions: Interval::new(0, self.rows),
            columns: [Interval::new(0, self.columns)].into_iter().collect(),
        }
    }
}

impl Region {
    /// `partitions` times one column interval.
    pub(crate) fn new(partitions: Interval, columns: Interval) -> Self {
        Self {
            partitions,
            columns: [columns].into_iter().collect(),
        }
    }

    /// One cell.
    pub(crate) fn cell(row: u32, column: u32) -> Self {
        Self::new(
            Interval::new(row, row + 1),
            Interval::new(column, column + 1),
        )
    }

    /// The region moved by `partitions` and `columns`.
    fn shifted(&self, partitions: u32, columns: u32) -> Self {
        Self {
            partitions: self.partitions.shifted(partitions),
            columns: self
                .columns
                .iter()
                .map(|span| span.shifted(columns))
                .collect(),
        }
    }

    /// Calls `visit` for each column interval with the number of columns before it.
    fn for_each_span(&self, mut visit: impl FnMut(Interval, usize)) {
        let mut skipped = 0;
        for &columns in &self.columns {
            visit(columns, skipped);
            skipped += columns.len() as usize;
        }
    }

    /// Puts the words of `part`, a rectangle within the region, where they belong among the words
    /// of the region, `out`.
    fn insert(&self, part: &Self, words: &[u32], out: &mut [u32]) {
        let width = self.width();
        let Some(&columns) = part.columns.first() else {
            return;
        };
        let mut skipped = 0;
        for span in &self.columns {
            if span.covers(columns) {
                skipped += (columns.start - span.start) as usize;
                break;
            }
            skipped += span.len() as usize;
        }
        let len = columns.len() as usize;
        for (row, source) in (part.partitions.start..).zip(words.chunks_exact(len)) {
            let start = (row - self.partitions.start) as usize * width + skipped;
            out[start..start + len].copy_from_slice(source);
        }
    }

    /// Partition and column of cell number `at`, counted row by row.
    fn cell_at(&self, at: usize) -> (u32, u32) {
        let width = self.width().max(1);
        let row = self.partitions.start + (at / width) as u32;
        let mut rest = (at % width) as u32;
        for span in &self.columns {
            if rest < span.len() {
                return (row, span.start + rest);
            }
            rest -= span.len();
        }
        (row, 0)
    }
}

/// The first cell where the words differ in value: bits, NaN by class.
fn first_difference(buffer: &PsumBuffer, left: &[u32], right: &[u32]) -> Option<usize> {
    if left == right {
        return None;
    }
    left.iter()
        .zip(right)
        .position(|(&l, &r)| !buffer.element.same_value(u64::from(l), u64::from(r)))
}
