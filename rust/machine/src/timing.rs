//! When instructions run: the engines side by side, each in the order in which it is given them.
//!
//! An instruction begins when its engine is free and everything it depends on is done: earlier ones that
//! access common cells, one of them writing, the zero region of a matmul that opens a group (or, without
//! flags, may come to open one) counting as written; in one quadrant of a bank, matmuls in another tile
//! and the PE against all other engines; and makers of tokens. Buffers that a caller may have made of one
//! memory wait for each other as if it had: the one who orders a program does not know. Code that no
//! engine executes takes no time, waits for all before it, and all after it waits for it.
//!
//! The PE takes the cycles of its target for each column of the moving operand. Weights other than those
//! it holds are loaded first, row by row, as soon as they are there and the array has room for them: when it
//! is free, or with fast weight load when the matmul before streams. The moving operand may come later.

use std::collections::{BTreeSet, HashMap};

use pto_ir::{Engine, Interval, Target, Tile};

use crate::code::Space;
use crate::memory::BufferId;

const ENGINES: usize = 5;

/// A memory: what lies in different ones never meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Memory {
    /// PSUM, for buffers that have a place.
    Psum,
    /// One buffer, with the number that tells it from others in the same slot.
    Buffer(BufferId, u64),
}

/// Cells of one memory: rows times ascending spans of columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cells {
    pub(crate) memory: Memory,
    pub(crate) rows: Interval,
    pub(crate) spans: Vec<(u64, u64)>,
}

impl Cells {
    /// From the first byte to the one after the last.
    fn hull(&self) -> (u64, u64) {
        match (self.spans.first(), self.spans.last()) {
            (Some(first), Some(last)) => (first.0, last.1),
            _ => (0, 0),
        }
    }

    fn meets(&self, other: &Self) -> bool {
        if !self.rows.overlaps(other.rows) {
            return false;
        }
        let (mut own, mut its) = (self.spans.iter().peekable(), other.spans.iter().peekable());
        while let (Some(left), Some(right)) = (own.peek(), its.peek()) {
            if left.0 < right.1 && right.0 < left.1 {
                return true;
            }
            if left.1 <= right.1 {
                own.next();
            } else {
                its.next();
            }
        }
        false
    }
}

/// Cells that were seen before, by number.
pub(crate) type Place = u32;

/// What an instruction does to cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Read,
    Write,
    /// By the PE, into the buffer with this number.
    Accumulate(u64),
    /// The zero region of a matmul.
    Region,
}

/// Who uses a quadrant of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum User {
    Pe(Option<Tile>),
    Others,
}

/// An instruction of an engine.
pub(crate) struct Issue<'a> {
    pub(crate) engine: Engine,
    /// Elements of each partition; columns of the moving operand.
    pub(crate) elements: u64,
    /// The weights, and the rows of the tile.
    pub(crate) weights: Option<(Place, u32)>,
    pub(crate) touches: &'a [(Place, Touch)],
    /// Who it is, and its quadrants of banks.
    pub(crate) user: User,
    pub(crate) lanes: &'a [u32],
    /// When the tokens it waits for are there.
    pub(crate) tokens: u64,
}

/// When an engine is busy with one instruction. No two of one engine overlap: weights that are loaded
/// while the matmul before streams count for that one, and those loaded while their own waits for its
/// moving operand for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Busy {
    pub(crate) const fn cycles(self) -> u64 {
        self.end - self.start
    }
}

#[derive(Debug, Default)]
struct History {
    meets: Vec<Place>,
    written: u64,
    read: u64,
    /// The number of the last instruction that wrote some of it.
    version: u64,
    /// The buffer into exactly these cells of which the last write to any of them was a matmul, and the
    /// number of barriers before that.
    open: Option<(u64, u64)>,
}

/// The places of one memory, to be found by the first byte.
#[derive(Debug, Default)]
struct Neighbours {
    by_start: BTreeSet<(u64, Place)>,
    /// The most bytes from the first to the last of one of them.
    widest: u64,
}

/// A buffer that may be the same memory as others of its space.
#[derive(Debug)]
struct Shared {
    space: Space,
    written: u64,
    read: u64,
}

/// The time that a run takes.
#[derive(Debug)]
pub(crate) struct Timeline {
    target: &'static Target,
    free: [u64; ENGINES],
    /// When the last matmul began to stream, and the weights it used, with their version.
    stream: u64,
    weights: Option<(Place, u64)>,
    barrier: u64,
    /// The number of barriers so far.
    barriers: u64,
    end: u64,
    issued: u64,
    places: HashMap<Cells, Place>,
    /// By place.
    cells: Vec<Cells>,
    histories: Vec<History>,
    by_memory: HashMap<Memory, Neighbours>,
    /// Buffers that may be the same memory, and their numbers there.
    shared: Vec<Shared>,
    shared_by_memory: HashMap<Memory, usize>,
    lanes: HashMap<u32, Vec<(User, u64)>>,
    /// By slot: when the token in it is there.
    tokens: HashMap<usize, u64>,
}

impl Timeline {
    pub(crate) fn new(target: &'static Target) -> Self {
        Self {
            target,
            free: [0; ENGINES],
            stream: 0,
            weights: None,
            barrier: 0,
            barriers: 0,
            end: 0,
            issued: 0,
            places: HashMap::new(),
            cells: Vec::new(),
            histories: Vec::new(),
            by_memory: HashMap::new(),
            shared: Vec::new(),
            shared_by_memory: HashMap::new(),
            lanes: HashMap::new(),
            tokens: HashMap::new(),
        }
    }

    /// The cycle at which everything is done.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// Says that `memory` may be one with others of `space` of which that is said.
    pub(crate) fn may_be_one(&mut self, memory: Memory, space: Space) {
        self.shared_by_memory.insert(memory, self.shared.len());
        self.shared.push(Shared {
            space,
            written: 0,
            read: 0,
        });
    }

    /// The number of `cells`.
    pub(crate) fn place(&mut self, cells: Cells) -> Place {
        if let Some(&known) = self.places.get(&cells) {
            return known;
        }
        let place = self.histories.len() as Place;
        let neighbours = self.by_memory.entry(cells.memory).or_default();
        let mut history = History {
            meets: vec![place],
            ..History::default()
        };
        let (start, end) = cells.hull();
        let from = (start + 1).saturating_sub(neighbours.widest);
        for &(_, other) in neighbours.by_start.range((from, 0)..(end, 0)) {
            if cells.meets(&self.cells[other as usize]) {
                history.meets.push(other);
                self.histories[other as usize].meets.push(place);
            }
        }
        neighbours.by_start.insert((start, place));
        neighbours.widest = neighbours.widest.max(end - start);
        self.cells.push(cells.clone());
        self.places.insert(cells, place);
        self.histories.push(history);
        // What was done to cells of a new place was done to those it meets.
        place
    }

    /// Whether the last write to any cell of `place` was a matmul into exactly these cells of `buffer`.
    pub(crate) fn continues_group(&self, place: Place, buffer: u64) -> bool {
        self.histories[place as usize].open == Some((buffer, self.barriers))
    }

    /// Code that no engine executes.
    pub(crate) fn barrier(&mut self) {
        self.barrier = self.end;
        self.barriers += 1;
        self.weights = None;
    }

    /// When the token in this slot is there.
    pub(crate) fn token(&self, slot: usize) -> u64 {
        self.tokens.get(&slot).copied().unwrap_or(0)
    }

    /// The token in this slot is there at `done`.
    pub(crate) fn set_token(&mut self, slot: usize, done: u64) {
        self.tokens.insert(slot, done);
    }

    /// Runs one instruction; when its engine is busy with it.
    pub(crate) fn issue(&mut self, issue: &Issue<'_>) -> Busy {
        let ready = self.ready(issue);
        let engine = issue.engine as usize;
        let busy = match issue.engine {
            Engine::Pe => self.matmul(issue, ready),
            _ => {
                let start = self.free[engine].max(ready);
                let cycles = issue.elements * self.element_cycles(issue.engine);
                Busy {
                    start,
                    end: start + cycles,
                }
            }
        };
        let done = busy.end;
        self.free[engine] = done;
        self.end = self.end.max(done);
        self.issued += 1;
        for &(place, touch) in issue.touches {
            self.enter(place, touch, done);
        }
        for &lane in issue.lanes {
            let users = self.lanes.entry(lane).or_default();
            match users.iter_mut().find(|(user, _)| *user == issue.user) {
                Some((_, last)) => *last = done.max(*last),
                None => users.push((issue.user, done)),
            }
        }
        busy
    }

    fn element_cycles(&self, engine: Engine) -> u64 {
        u64::from(match engine {
            Engine::Pe => self.target.pe_column_cycles,
            Engine::Vector => self.target.vector_element_cycles,
            Engine::Scalar => self.target.scalar_element_cycles,
            Engine::Gpsimd => self.target.gpsimd_element_cycles,
            Engine::Dma => self.target.dma_element_cycles,
            Engine::Other => 0,
        })
    }

    /// When all that the touches of `wanted` depend on is done, and the tokens are there.
    fn touches_ready(&self, issue: &Issue<'_>, wanted: impl Fn((Place, Touch)) -> bool) -> u64 {
        let mut ready = issue.tokens.max(self.barrier);
        for &(place, touch) in issue.touches.iter().filter(|&&touch| wanted(touch)) {
            for &other in &self.histories[place as usize].meets {
                let history = &self.histories[other as usize];
                ready = ready.max(history.written);
                if touch != Touch::Read {
                    ready = ready.max(history.read);
                }
            }
            ready = ready.max(self.shared_ready(place, touch));
        }
        ready
    }

    /// When all that the instruction depends on is done.
    fn ready(&self, issue: &Issue<'_>) -> u64 {
        let mut ready = self.touches_ready(issue, |_| true);
        for lane in issue.lanes {
            let users = self.lanes.get(lane).into_iter().flatten();
            let others = users.filter(|(user, _)| *user != issue.user);
            ready = others.fold(ready, |ready, &(_, done)| ready.max(done));
        }
        ready
    }

    /// When all is done that may have touched the memory of `place` through another buffer.
    fn shared_ready(&self, place: Place, touch: Touch) -> u64 {
        let Some(own) = self.shared_number(place) else {
            return 0;
        };
        let others = self
            .shared
            .iter()
            .enumerate()
            .filter(|&(number, other)| number != own && other.space == self.shared[own].space);
        let done = |other: &Shared| match touch {
            Touch::Read => other.written,
            _ => other.written.max(other.read),
        };
        others.map(|(_, other)| done(other)).max().unwrap_or(0)
    }

    fn shared_number(&self, place: Place) -> Option<usize> {
        let memory = self.cells[place as usize].memory;
        self.shared_by_memory.get(&memory).copied()
    }

    fn matmul(&mut self, issue: &Issue<'_>, ready: u64) -> Busy {
        let free = self.free[Engine::Pe as usize];
        let weights = issue
            .weights
            .map(|(place, rows)| ((place, self.version(place)), u64::from(rows)));
        let (mut start, mut stream) = (free.max(ready), free.max(ready));
        if let Some((held, rows)) = weights.filter(|&(held, _)| self.weights != Some(held)) {
            let there = self.touches_ready(issue, |touch| touch == (held.0, Touch::Read));
            let load = rows * u64::from(self.target.weight_row_cycles);
            let is_hidden = self.target.fast_weight_load && self.weights.is_some();
            let begin = if is_hidden { self.stream } else { free }.max(there);
            start = start.max(begin);
            stream = stream.max(begin + load);
        }
        self.stream = stream;
        self.weights = weights.map(|(weights, _)| weights);
        Busy {
            start,
            end: stream + issue.elements * self.element_cycles(Engine::Pe),
        }
    }

    /// The number of the last instruction that wrote a cell of `place`.
    fn version(&self, place: Place) -> u64 {
        let meets = self.histories[place as usize].meets.iter();
        meets
            .map(|&other| self.histories[other as usize].version)
            .max()
            .unwrap_or(0)
    }

    fn enter(&mut self, place: Place, touch: Touch, done: u64) {
        if let Some(number) = self.shared_number(place) {
            let shared = &mut self.shared[number];
            match touch {
                Touch::Read => shared.read = shared.read.max(done),
                _ => shared.written = shared.written.max(done),
            }
        }
        let history = &mut self.histories[place as usize];
        if touch == Touch::Read {
            history.read = history.read.max(done);
            return;
        }
        history.written = history.written.max(done);
        if touch == Touch::Region {
            return;
        }
        history.version = self.issued;
        for index in 0..self.histories[place as usize].meets.len() {
            let other = self.histories[place as usize].meets[index];
            self.histories[other as usize].open = None;
        }
        if let Touch::Accumulate(buffer) = touch {
            self.histories[place as usize].open = Some((buffer, self.barriers));
        }
    }
}
