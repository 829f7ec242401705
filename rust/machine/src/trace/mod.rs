//! What happened in a run, instruction by instruction: for people who look at it.
//!
//! A [`Trace`] is made by [`record`](crate::exec::record). A run that is not recorded pays one test
//! of a pointer for each access of PSUM and each engine instruction.
//!
//! * An [`Event`] is one execution of one instruction: engine, cycles, flags, PSUM cells read and
//!   written, and the earlier events it had to wait for.
//! * A [`Span`] is a rectangle of PSUM in one state over time. States are those of the interpreter,
//!   read from it after each event, never derived a second time.
//! * A [`Problem`] is a report of the run with the events of both its sites.
//!
//! Times are those of the run (`timing`): the cycles in which the engine is busy with the instruction. The
//! dependences shown are the accesses to common cells or elements, at least one of them a write, where the
//! access of a START or ACCUMULATE is its whole zero region; and tokens. Of several earlier readers on
//! one engine only the last is kept, for an engine runs its instructions in order.

mod cells;
mod depend;
mod recorder;

use pto_ir::{AccFlags, Engine, Interval, Severity, Target};
use smallvec::SmallVec;

use crate::report::SiteId;
pub(crate) use depend::AccessKind;
pub(crate) use recorder::Recorder;

/// Executions recorded at most: what comes after is counted in [`Trace::left_out`].
pub const MAX_EVENTS: usize = 1_000_000;

/// What happened in a run.
#[derive(Debug)]
pub struct Trace {
    /// The machine.
    pub target: &'static Target,
    /// Every execution of an instruction, in program order; the index is its number.
    pub events: Vec<Event>,
    /// The states of PSUM, in the order in which they ended. Empty where nothing is placed.
    pub spans: Vec<Span>,
    /// Number of accumulation groups.
    pub groups: u32,
    /// Hazards, and the error that ended the run, if one did.
    pub problems: Vec<Problem>,
    /// Executions beyond [`MAX_EVENTS`].
    pub left_out: u64,
}

/// One execution of one instruction.
#[derive(Clone, Debug)]
pub struct Event {
    /// The instruction.
    pub site: SiteId,
    /// How many times it was executed before.
    pub repetition: u32,
    /// The engine; [`Engine::Other`] for what no engine of the machine does, such as an expectation.
    pub engine: Engine,
    /// Cycle in which it starts.
    pub start: u64,
    /// Cycle after its last one.
    pub end: u64,
    /// The accumulate flags of a matmul.
    pub flags: Option<AccFlags>,
    /// Banks and partitions of the zero region of a START or ACCUMULATE.
    pub region: Option<ZeroRegion>,
    /// PSUM cells read, where they are placed.
    pub reads: SmallVec<[Rect; 1]>,
    /// PSUM cells written, where they are placed.
    pub writes: SmallVec<[Rect; 1]>,
    /// The accumulation group of a matmul.
    pub group: Option<u32>,
    /// The events it waits for, ascending.
    pub after: SmallVec<[Dependence; 3]>,
}

/// Where a START acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZeroRegion {
    /// Its banks.
    pub banks: Interval,
    /// Its partitions.
    pub partitions: Interval,
}

/// Cells of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// The bank.
    pub bank: u32,
    /// Partitions.
    pub partitions: Interval,
    /// Bytes, from the start of the bank.
    pub bytes: Interval,
}

/// An earlier event that an event waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependence {
    /// Its number.
    pub on: u32,
    /// Why; of several reasons the first of these.
    pub kind: DependenceKind,
}

/// Why one instruction waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependenceKind {
    /// It uses what the other wrote.
    Data,
    /// It overwrites what the other wrote or read.
    Overwrite,
    /// It names the other's token.
    Token,
}

impl DependenceKind {
    /// The name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Overwrite => "overwrite",
            Self::Token => "token",
        }
    }
}

/// What PSUM cells hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState {
    /// A START has reached them, and no write since.
    Pending,
    /// A partial sum of an open group.
    Open,
    /// Plain data, or the sum of a closed group.
    Data,
}

impl CellState {
    /// The name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Open => "open",
            Self::Data => "data",
        }
    }
}

/// A rectangle of PSUM in one state, from one event to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The cells.
    pub rect: Rect,
    /// The state.
    pub state: CellState,
    /// Whether a START has hit contents that nothing has overwritten since.
    pub clobbered: bool,
    /// The accumulation group whose sum they hold, or held before a START hit it.
    pub group: Option<u32>,
    /// The event that put them into the state.
    pub from: u32,
    /// The last event that used their value: a read, or a matmul that added to it, or meant to add to
    /// what a START had hit. A span is live until then.
    pub last_use: Option<u32>,
    /// The event that ended the state; `None` where the run did.
    pub to: Option<u32>,
}

/// A report of the run.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Error or warning.
    pub severity: Severity,
    /// The stable tag, without brackets.
    pub tag: &'static str,
    /// The sentence, without the tag.
    pub message: String,
    /// The access, if it was recorded.
    pub event: Option<u32>,
    /// What explains it: the last execution of each instruction that the report names.
    pub earlier: Vec<(u32, String)>,
}

impl Trace {
    /// The cycle in which the last event ends.
    pub fn cycles(&self) -> u64 {
        self.events.iter().map(|event| event.end).max().unwrap_or(0)
    }

    /// Gives each event the time of its number, for a machine that has no times of its own.
    pub fn number_events(&mut self) {
        for (number, event) in (0..).zip(&mut self.events) {
            (event.start, event.end) = (number, number + 1);
        }
    }

    /// When `span` begins, when its value is used for the last time, and when it ends.
    pub fn times(&self, span: &Span) -> (u64, Option<u64>, u64) {
        let event = |number: u32| &self.events[number as usize];
        let end = span.to.map_or_else(
            || self.cycles(),
            |to| event(to).start.max(event(span.from).start),
        );
        let used = span.last_use.map(|last| event(last).end.min(end));
        (event(span.from).start, used, end)
    }
}
