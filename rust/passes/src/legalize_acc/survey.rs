//! What has to hold before anything can be derived, one access and one matmul at a time.
//!
//! Everything here is a fact of single operations and their buffers, so a function that fails is
//! reported with all its faults at once (up to [`MAX_ERRORS`]).

use pto_ir::{
    AccessId, Alloc, AllocId, Diag, InstId, Matmul, Op, Origin, Program, Site, Space, Target, Tile,
    ZeroWindow,
};

/// More errors than this help nobody.
pub(super) const MAX_ERRORS: usize = 64;

/// What the survey learned about a function that passed.
#[derive(Debug)]
pub(super) struct Survey {
    /// By access: whether an instruction uses it.
    pub is_used: Vec<bool>,
    /// By access: whether the PE writes it.
    pub is_destination: Vec<bool>,
    /// The distinct column groups, as quadrant masks, ascending.
    pub groups: Vec<u8>,
    /// Number of matmuls.
    pub matmuls: usize,
    /// Whether an operation with regions or a second block exists.
    pub has_control_flow: bool,
}

/// The quadrants of the column group of `matmul`, one bit each.
pub(super) fn group_quadrants(matmul: &Matmul, target: &Target) -> u8 {
    let group = target.quadrants(matmul.column_group(target));
    ((1u32 << group.end) - (1u32 << group.start)) as u8
}

/// Checks every operation of `program`.
pub(super) fn survey(program: &Program, target: &'static Target) -> Result<Survey, Vec<Diag>> {
    let mut surveyor = Surveyor {
        program,
        target,
        seen: vec![Seen::NOT_YET; program.accesses().len()],
        is_alloc_known: vec![false; program.allocs().len()],
        has_group: [false; 256],
        matmuls: 0,
        errors: Vec::new(),
    };
    match program.blocks() {
        // The usual case, without the cost of a walk over regions.
        [block] => surveyor.instructions(block.insts.iter().copied()),
        _ => surveyor.instructions(program.walk()),
    }
    if surveyor.matmuls > 0 {
        surveyor.arguments();
    }
    if !surveyor.errors.is_empty() && surveyor.matmuls > 0 {
        return Err(surveyor.errors);
    }
    Ok(Survey {
        is_used: surveyor.seen.iter().map(|s| s.used && !s.empty).collect(),
        is_destination: surveyor.seen.iter().map(|seen| seen.destination).collect(),
        groups: (0..=255u8)
            .filter(|&group| surveyor.has_group[usize::from(group)])
            .collect(),
        matmuls: surveyor.matmuls,
        has_control_flow: program.blocks().len() > 1,
    })
}

/// Which checks an access went through already.
#[derive(Clone, Copy)]
struct Seen {
    used: bool,
    empty: bool,
    by_engine: bool,
    destination: bool,
    /// Not in PSUM: nothing to check.
    elsewhere: bool,
    /// The tile it was checked with as a destination.
    tile: Option<Tile>,
}

impl Seen {
    const NOT_YET: Self = Self {
        used: false,
        empty: false,
        by_engine: false,
        destination: false,
        elsewhere: false,
        tile: None,
    };
}

struct Surveyor<'p> {
    program: &'p Program,
    target: &'static Target,
    seen: Vec<Seen>,
    /// Buffers that were reported, or found to be in order.
    is_alloc_known: Vec<bool>,
    has_group: [bool; 256],
    matmuls: usize,
    errors: Vec<Diag>,
}

impl Surveyor<'_> {
    fn instructions(&mut self, ids: impl Iterator<Item = InstId>) {
        for id in ids {
            if self.errors.len() >= MAX_ERRORS {
                break;
            }
            self.instruction(id);
        }
    }

    fn instruction(&mut self, id: InstId) {
        let inst = self.program.inst(id);
        let is_engine = matches!(inst.op, Op::Engine | Op::Matmul(_));
        for used in self.program.uses(id) {
            let seen = self.seen[used.access.index()];
            if !seen.elsewhere && (!seen.used || (is_engine && !seen.by_engine)) {
                self.access(id, used.access, is_engine);
            }
        }
        if let Op::Matmul(matmul) = &inst.op {
            self.matmuls += 1;
            let seen = self.seen[matmul.dst.index()];
            if !seen.destination || seen.tile != matmul.tile {
                self.destination(id, matmul);
            }
            self.matmul(id, matmul);
        }
    }

    fn access(&mut self, id: InstId, access: AccessId, is_engine: bool) {
        let alloc = self.program.access(access).alloc;
        let seen = &mut self.seen[access.index()];
        if self.program.alloc(alloc).space != Space::Psum {
            seen.elsewhere = true;
            return;
        }
        let is_first = !std::mem::replace(&mut seen.used, true);
        let is_first_by_engine = is_engine && !std::mem::replace(&mut seen.by_engine, true);
        if is_first {
            self.placed(alloc, Some(id));
            self.inside(id, access);
        }
        if is_first_by_engine {
            self.start_partition(id, access);
        }
    }

    /// Reports a buffer without a place, or with one outside the memory, once.
    fn placed(&mut self, alloc: AllocId, user: Option<InstId>) {
        if std::mem::replace(&mut self.is_alloc_known[alloc.index()], true) {
            return;
        }
        let facts = self.program.alloc(alloc);
        let site = Site::Alloc(alloc);
        let error = match extent(facts, self.target) {
            Some(true) => return,
            Some(false) => Diag::error(
                "pto:target-limit",
                site,
                format!(
                    "expected a buffer inside the {} partitions of {} bytes of {}, found {} partitions of {} bytes at {}",
                    self.target.partitions,
                    self.target.partition_bytes(),
                    self.target.name,
                    facts.partitions,
                    facts.bytes,
                    place_text(facts),
                ),
            ),
            None => Diag::error(
                "pto:unplaced",
                site,
                "expected a placed psum buffer, found one without a bank; run pto-alloc-psum first",
            ),
        };
        let error = match user {
            Some(user) => error.with_note(Site::Inst(user), "first used here"),
            None => error,
        };
        self.errors.push(error);
    }

    /// Arguments that hold data matter even where nothing touches them.
    fn arguments(&mut self) {
        for index in 0..self.program.allocs().len() {
            let alloc = AllocId::new(index);
            let facts = self.program.alloc(alloc);
            if facts.space == Space::Psum
                && matches!(facts.origin, Origin::Argument { fresh: false, .. })
            {
                self.placed(alloc, None);
            }
        }
    }

    fn inside(&mut self, id: InstId, access: AccessId) {
        let cells = self.program.access(access);
        let facts = self.program.alloc(cells.alloc);
        let last_byte = self.program.bytes(access).last().map_or(0, |span| span.end);
        let is_empty = cells.partitions.is_empty() || last_byte == 0;
        self.seen[access.index()].empty = is_empty;
        let is_inside = cells.partitions.end <= facts.partitions && last_byte <= facts.bytes;
        if !is_empty && !is_inside {
            let error = Diag::error(
                "pto:dynamic-access",
                Site::Inst(id),
                format!(
                    "expected an access inside its buffer of {} partitions of {} bytes, found partitions {} up to byte {last_byte}",
                    facts.partitions, facts.bytes, cells.partitions
                ),
            );
            self.errors
                .push(error.with_note(Site::Alloc(cells.alloc), "the buffer"));
        }
    }

    fn start_partition(&mut self, id: InstId, access: AccessId) {
        let cells = self.program.access(access);
        let Some(place) = self.program.alloc(cells.alloc).placement else {
            return;
        };
        let count = cells.partitions.len();
        let start = u64::from(place.partition) + u64::from(cells.partitions.start);
        let is_legal = u32::try_from(start)
            .is_ok_and(|start| self.target.is_legal_start_partition(start, count));
        if !is_legal {
            let error = Diag::error(
                "pto:start-partition",
                Site::Inst(id),
                format!(
                    "expected an access of {count} partitions to start at {}, found partition {start}",
                    legal_starts(self.target, count)
                ),
            );
            self.errors
                .push(error.with_note(Site::Alloc(cells.alloc), "the buffer"));
        }
    }

    /// What a destination and a tile say together.
    fn destination(&mut self, id: InstId, matmul: &Matmul) {
        let alloc = self.program.access(matmul.dst).alloc;
        let seen = &mut self.seen[matmul.dst.index()];
        let is_first = !std::mem::replace(&mut seen.destination, true);
        seen.tile = matmul.tile;
        let (elsewhere, empty) = (seen.elsewhere, seen.empty);
        if elsewhere {
            let message = "expected a destination in psum, found one in another memory".to_owned();
            self.error("pto:accumulator-elsewhere", id, message, alloc);
            return;
        }
        if empty {
            let message = "expected a destination with cells, found an empty one".to_owned();
            self.error("pto:dynamic-access", id, message, alloc);
            return;
        }
        let group = group_quadrants(matmul, self.target);
        self.has_group[usize::from(group)] = true;
        self.tile(id, matmul, group);
        if is_first {
            self.one_region(id, matmul.dst);
        }
    }

    fn matmul(&mut self, id: InstId, matmul: &Matmul) {
        if let Some(accumulator) = matmul.accumulator
            && accumulator != matmul.dst
        {
            let other = self.program.access(accumulator).alloc;
            let message = "expected the accumulator to be the destination, which the matrix engine adds onto, found other cells";
            self.error("pto:accumulator-elsewhere", id, message.to_owned(), other);
        }
        if !self.program.provisional && (matmul.flags.is_some() || matmul.zero_region.is_some()) {
            self.flags(id, matmul);
        }
    }

    fn tile(&mut self, id: InstId, matmul: &Matmul, group: u8) {
        let dst = self.program.access(matmul.dst);
        let Some(place) = self.program.alloc(dst.alloc).placement else {
            return;
        };
        let base = u64::from(place.partition) + u64::from(dst.partitions.start);
        let column = matmul.tile.map_or(0, |tile| tile.col);
        if u64::from(column) != base {
            self.error(
                "pto:tile-position",
                id,
                format!(
                    "expected the destination to start at partition {column}, the first column of the {}, found partition {base}",
                    if matmul.tile.is_some() { "tile" } else { "whole array" }
                ),
                dst.alloc,
            );
        }
        let Some(tile) = matmul.tile else { return };
        if dst.partitions.len() > tile.cols {
            self.error(
                "pto:tile-position",
                id,
                format!(
                    "expected a destination of at most {} partitions, the columns of the tile, found {}",
                    tile.cols,
                    dst.partitions.len()
                ),
                dst.alloc,
            );
        }
        if !self.target.row_tiles.contains(&tile.rows) {
            self.errors.push(Diag::error(
                "pto:target-limit",
                Site::Inst(id),
                format!(
                    "expected a tile of {} rows on {}, found {}",
                    list(self.target.row_tiles),
                    self.target.name,
                    tile.rows
                ),
            ));
        }
        let quadrants = self.target.partitions / self.target.quadrant_partitions;
        if group == 1 << (quadrants - 1) && !self.target.has_last_quadrant_group {
            self.errors.push(Diag::error(
                "pto:target-limit",
                Site::Inst(id),
                format!(
                    "expected a column tile that {} has, found one of the last {} columns alone",
                    self.target.name, self.target.quadrant_partitions
                ),
            ));
        }
    }

    /// Flags that a human or another compiler wrote have to exist on the target.
    fn flags(&mut self, id: InstId, matmul: &Matmul) {
        if let Some(flags) = matmul.flags
            && !flags.is_legal(self.target.has_accumulate)
        {
            self.errors.push(Diag::error(
                "pto:target-limit",
                Site::Inst(id),
                format!(
                    "expected accumulate flags that {} has, found {flags} (control byte {})",
                    self.target.name,
                    flags.byte()
                ),
            ));
        }
        if let Some(region) = matmul.zero_region
            && region > self.target.max_zero_region_code
        {
            self.errors.push(Diag::error(
                "pto:target-limit",
                Site::Inst(id),
                format!(
                    "expected a zero-region code of at most {} on {}, found {region}",
                    self.target.max_zero_region_code, self.target.name
                ),
            ));
        }
    }

    /// The banks of one destination have to fit one zero region.
    fn one_region(&mut self, id: InstId, dst: AccessId) {
        let cells = self.program.access(dst);
        let facts = self.program.alloc(cells.alloc);
        let (Some(true), Some(place)) = (extent(facts, self.target), facts.placement) else {
            return;
        };
        let [Some(first), Some(last)] = [
            self.program.bytes(dst).first().map(|span| span.start),
            self.program.bytes(dst).last().map(|span| span.end - 1),
        ] else {
            return;
        };
        let bank = |byte: u32| place.bank + (place.offset + byte) / self.target.bank_bytes;
        let (first, last) = (bank(first), bank(last));
        let Target {
            banks,
            max_zero_region_code,
            ..
        } = *self.target;
        if ZeroWindow::covering(first, last, banks, max_zero_region_code).is_none() {
            self.error(
                "pto:multi-bank",
                id,
                format!(
                    "expected a destination within {} on {}, found banks {first} to {last}",
                    match max_zero_region_code {
                        0 => "one bank".to_owned(),
                        code => format!("a window of {} banks", 1 << code),
                    },
                    self.target.name
                ),
                cells.alloc,
            );
        }
    }

    fn error(&mut self, tag: &'static str, id: InstId, message: String, buffer: AllocId) {
        self.errors.push(
            Diag::error(tag, Site::Inst(id), message).with_note(Site::Alloc(buffer), "the buffer"),
        );
    }
}

/// Whether a buffer lies inside PSUM; `None` where it is not placed.
fn extent(alloc: &Alloc, target: &Target) -> Option<bool> {
    let place = alloc.placement?;
    let bytes = u64::from(place.bank) * u64::from(target.bank_bytes)
        + u64::from(place.offset)
        + u64::from(alloc.bytes);
    let partitions = u64::from(place.partition) + u64::from(alloc.partitions);
    Some(bytes <= u64::from(target.partition_bytes()) && partitions <= u64::from(target.partitions))
}

/// The partitions at which an access of `count` partitions may start, in words.
pub(super) fn legal_starts(target: &Target, count: u32) -> String {
    format!("partition {}", list(&target.legal_start_partitions(count)))
}

fn place_text(alloc: &Alloc) -> String {
    alloc.placement.map_or_else(String::new, |place| {
        format!(
            "bank {} offset {} partition {}",
            place.bank, place.offset, place.partition
        )
    })
}

/// `0`, `0 or 64`, `0, 32 or 64`.
pub(super) fn list(numbers: &[u32]) -> String {
    let texts: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match texts.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
