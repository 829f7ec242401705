//! Makes a [`Trace`] while a program runs.

use pto_ir::{Engine, Interval, Target};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::cells::{Cells, Change};
use super::depend::{AccessKind, HostTouches, Touch, Waits};
use super::{DependenceKind, Event, MAX_EVENTS, Problem, Rect, Trace, ZeroRegion};
use crate::memory::View;
use crate::psum::{Grid, PeWrite, Physical, Region};
use crate::report::{Report, SiteId};

/// Events, as far as the run has come.
#[derive(Debug)]
pub(crate) struct Recorder {
    target: &'static Target,
    events: Vec<Event>,
    /// What the current event waits for.
    waits: Waits,
    /// Whether the last event still goes on.
    is_open: bool,
    /// The cycle in which everything is done so far.
    end: u64,
    cells: Cells,
    touches: Vec<Grid<Touch>>,
    host: HostTouches,
    /// The last event of each instruction, and how many it has.
    last: FxHashMap<SiteId, (u32, u32)>,
    problems: Vec<Problem>,
    /// Reports of the hazard log that are among the problems.
    seen_reports: usize,
    left_out: u64,
}

impl Recorder {
    pub(crate) fn new(target: &'static Target) -> Self {
        let columns = target.bank_bytes / target.cell_bytes;
        let bank = Grid::new(target.partitions, columns, Touch::none());
        Self {
            target,
            events: Vec::new(),
            waits: Waits::default(),
            is_open: false,
            end: 0,
            cells: Cells::new(target),
            touches: vec![bank; target.banks as usize],
            host: HostTouches::default(),
            last: FxHashMap::default(),
            problems: Vec::new(),
            seen_reports: 0,
            left_out: 0,
        }
    }

    /// The instruction at `site` begins on `engine`; what is recorded until the next one is its.
    pub(crate) fn begin(&mut self, engine: Engine, site: SiteId) {
        self.close();
        if self.left_out > 0 || self.events.len() >= MAX_EVENTS || self.cells.is_full() {
            self.left_out += 1;
            return;
        }
        let number = self.events.len() as u32;
        let known = self.last.entry(site).or_insert((number, 0));
        let repetition = known.1;
        *known = (number, repetition + 1);
        self.events.push(Event {
            site,
            repetition,
            engine,
            start: self.end,
            end: self.end,
            flags: None,
            region: None,
            reads: SmallVec::new(),
            writes: SmallVec::new(),
            group: None,
            after: SmallVec::new(),
        });
        self.is_open = true;
    }

    /// The engine of the current event is busy with it from `start` to `end`. An event of which this is not
    /// said takes no time, after all before it.
    pub(crate) fn runs(&mut self, start: u64, end: u64) {
        if let Some(event) = self.current() {
            (event.start, event.end) = (start, end);
        }
    }

    /// The current event waits for the one with the token `token`; 0 is none.
    pub(crate) fn waits_for(&mut self, token: u64) {
        if let (Some(on), true) = (token.checked_sub(1), self.is_open) {
            let event = self.number();
            self.waits.add(on as u32, DependenceKind::Token, event);
        }
    }

    /// The token of the current event.
    pub(crate) fn token(&self) -> u64 {
        self.events.len() as u64
    }

    /// The current event accesses a buffer outside the banks of PSUM, or one that is not placed:
    /// `view` of the buffer with a serial number and so many elements.
    pub(crate) fn host(&mut self, buffer: (u64, u64), view: &View, access: AccessKind) {
        let (event, is_open) = (self.number(), self.is_open);
        if let (Some(last), true) = (self.events.last(), is_open) {
            let (engine, waits) = (last.engine, &mut self.waits);
            self.host.touch(buffer, view, |touch| {
                touch.touched(event, engine, access, waits)
            });
        }
    }

    /// A matmul has written to `placed`, a region of the buffer with the number `buffer`.
    pub(crate) fn pe_write(
        &mut self,
        physical: &Physical,
        placed: &Region,
        buffer: u64,
        write: &PeWrite<'_>,
    ) {
        if !self.ensure(write.site) {
            return;
        }
        let number = self.number();
        let rects: SmallVec<[Rect; 1]> = self.cells.rects(placed).collect();
        let group = self.cells.group_of(&rects, buffer, write.accumulates);
        let opens = write.flags.starts() || write.flags.accumulates();
        let region = opens.then_some(ZeroRegion {
            banks: write.window.banks(),
            partitions: write.group,
        });
        if let Some(region) = region {
            let bytes = Interval::new(0, self.target.bank_bytes);
            for bank in region.banks.start..region.banks.end.min(self.target.banks) {
                let rect = Rect {
                    bank,
                    partitions: region.partitions,
                    bytes,
                };
                self.touch(&rect, AccessKind::Write);
                self.change(physical, &rect, Change::Region);
            }
        }
        let change = Change::Pe {
            group,
            buffer,
            accumulates: write.accumulates,
        };
        for rect in &rects {
            if !write.flags.starts() {
                self.touch(rect, AccessKind::Read);
            }
            self.touch(rect, AccessKind::Write);
            self.change(physical, rect, change);
        }
        if let Some(event) = self.current() {
            debug_assert!(event.group.is_none(), "one matmul is one write");
            event.flags = Some(write.flags);
            event.region = region;
            event.group = Some(group);
            event.writes = rects;
        }
        debug_assert_eq!(number, self.number());
    }

    /// The instruction at `site` has written to `placed`, or has made it undefined.
    pub(crate) fn write(&mut self, physical: &Physical, placed: &Region, site: SiteId) {
        if !self.ensure(site) {
            return;
        }
        let rects: SmallVec<[Rect; 1]> = self.cells.rects(placed).collect();
        for rect in &rects {
            self.touch(rect, AccessKind::Write);
            self.change(physical, rect, Change::Other);
        }
        if let Some(event) = self.current() {
            add_rects(&mut event.writes, &rects);
        }
    }

    /// The instruction at `site` reads `placed`.
    pub(crate) fn read(&mut self, placed: &Region, site: SiteId) {
        if !self.ensure(site) {
            return;
        }
        let number = self.number();
        let rects: SmallVec<[Rect; 1]> = self.cells.rects(placed).collect();
        for rect in &rects {
            self.touch(rect, AccessKind::Read);
            self.cells.read(number, rect);
        }
        if let Some(event) = self.current() {
            add_rects(&mut event.reads, &rects);
        }
    }

    /// Notes those of `reports` that are new as problems of the current event.
    pub(crate) fn reports(&mut self, reports: &[Report]) {
        for report in reports.get(self.seen_reports..).unwrap_or_default() {
            self.problem(report);
        }
        self.seen_reports = reports.len();
    }

    /// Notes a problem of the instruction that it names: of its last execution.
    pub(crate) fn problem(&mut self, report: &Report) {
        let event_at = |site: SiteId| self.last.get(&site).map(|&(number, _)| number);
        let problem = Problem {
            severity: report.severity,
            tag: report.tag,
            message: report.message.clone(),
            event: event_at(report.site),
            earlier: report
                .notes
                .iter()
                .filter_map(|(site, text)| Some((event_at(*site)?, text.clone())))
                .collect(),
        };
        self.problems.push(problem);
    }

    /// What was recorded.
    pub(crate) fn finish(mut self) -> Trace {
        self.close();
        let (spans, numbers) = self.cells.finish();
        let mut events = self.events;
        for event in &mut events {
            event.group = event.group.map(|group| numbers[group as usize]);
        }
        Trace {
            target: self.target,
            events,
            spans,
            groups: numbers.iter().max().map_or(0, |last| last + 1),
            problems: self.problems,
            left_out: self.left_out,
        }
    }

    /// Makes sure that the current event is one of the instruction at `site`; `false` where nothing
    /// is recorded any more. What is no engine's instruction begins with its first access.
    fn ensure(&mut self, site: SiteId) -> bool {
        let is_current = self.is_open && self.events.last().is_some_and(|last| last.site == site);
        if !is_current {
            self.begin(Engine::Other, site);
        }
        self.is_open
    }

    /// Ends the current event.
    fn close(&mut self) {
        let waits = std::mem::take(&mut self.waits).finish();
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        if let Some(event) = self.events.last_mut() {
            event.after = waits;
            self.end = self.end.max(event.end);
        }
    }

    fn current(&mut self) -> Option<&mut Event> {
        self.events.last_mut().filter(|_| self.is_open)
    }

    /// The number of the current event.
    fn number(&self) -> u32 {
        (self.events.len() as u32).saturating_sub(1)
    }

    fn touch(&mut self, rect: &Rect, access: AccessKind) {
        let number = self.number();
        let Some(engine) = self.events.last().map(|last| last.engine) else {
            return;
        };
        let bytes = self.target.cell_bytes;
        let columns = Interval::new(rect.bytes.start / bytes, rect.bytes.end / bytes);
        let waits = &mut self.waits;
        let bank = &mut self.touches[rect.bank as usize];
        bank.update(rect.partitions, columns, |_, _, touch| {
            touch.touched(number, engine, access, waits)
        });
    }

    /// Takes the states of `rect` over from `physical`.
    fn change(&mut self, physical: &Physical, rect: &Rect, change: Change) {
        let number = self.number();
        let bytes = self.target.cell_bytes;
        let columns = Interval::new(rect.bytes.start / bytes, rect.bytes.end / bytes);
        let cells = &mut self.cells;
        physical.visit(
            rect.bank,
            rect.partitions,
            columns,
            |rows, columns, cell| {
                cells.change(number, (rect.bank, rows, columns), cell, change);
            },
        );
    }
}

/// Rectangles kept of one event: an element-wise loop accesses one cell at a time.
const MAX_RECTS: usize = 64;

fn add_rects(to: &mut SmallVec<[Rect; 1]>, rects: &[Rect]) {
    for rect in rects {
        if let Some(last) = to.last_mut().filter(|last| grows(last, rect)) {
            last.bytes.end = rect.bytes.end;
        } else if to.len() < MAX_RECTS && !to.contains(rect) {
            to.push(*rect);
        }
    }
}

/// Whether `rect` goes on where `last` ends.
fn grows(last: &Rect, rect: &Rect) -> bool {
    (last.bank, last.partitions, last.bytes.end) == (rect.bank, rect.partitions, rect.bytes.start)
}
