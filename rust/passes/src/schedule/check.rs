//! The checker: both orders are followed cell by cell, and every instruction must see the same.
//!
//! What a read sees is the instruction that wrote each cell last; what a write sees are the last writer
//! of each cell and the readers since. If every instruction sees the same in both orders, then no two
//! that meet have changed places. The sum over cells of hashes stands for what is seen, so that it
//! does not matter into which pieces a memory is cut.

use std::collections::{BTreeMap, HashMap};

use pto_ir::{
    Alloc, AllocId, BlockId, InstId, Interval, Matmul, Op, Plan, Program, Space, Target, ZeroWindow,
};

/// Whether every new order of `plan` keeps what must be kept.
pub(super) fn check(program: &Program, target: &'static Target, plan: &Plan) -> Result<(), String> {
    for (block, order) in &plan.orders {
        let old = &program.block(*block).insts;
        segments_agree(program, old, order)?;
        allocations_come_first(program, *block, order)?;
        let before = Replay::new(program, target, old).follow(old);
        let after = Replay::new(program, target, old).follow(order);
        let changed = old.iter().find(|inst| before.get(inst) != after.get(inst));
        if let Some(inst) = changed {
            return Err(format!("{inst:?} has passed an instruction that it meets"));
        }
        tokens_come_first(program, order)?;
    }
    Ok(())
}

/// Nothing is lost, and nothing passes a barrier.
fn segments_agree(program: &Program, old: &[InstId], new: &[InstId]) -> Result<(), String> {
    let split = |insts: &[InstId]| -> Vec<Vec<InstId>> {
        let has_ends = insts.split_inclusive(|&inst| is_barrier(program, inst));
        has_ends
            .map(|segment| {
                let mut sorted = segment.to_vec();
                sorted.sort_unstable();
                sorted
            })
            .collect()
    };
    match split(old) == split(new) {
        true => Ok(()),
        false => Err("an instruction is lost, doubled, or has passed a barrier".to_owned()),
    }
}

/// Code that no engine executes, or whose effects are not known.
fn is_barrier(program: &Program, inst: InstId) -> bool {
    let entry = program.inst(inst);
    match &entry.op {
        Op::Alloc(_) | Op::Dealloc(_) => false,
        Op::Matmul(_) | Op::Engine => entry.is_opaque || entry.engine == pto_ir::Engine::Other,
        Op::Call { .. } | Op::Effects | Op::Region { .. } => true,
    }
}

fn allocations_come_first(
    program: &Program,
    block: BlockId,
    order: &[InstId],
) -> Result<(), String> {
    let mut is_there = vec![false; program.allocs().len()];
    for (index, alloc) in program.allocs().iter().enumerate() {
        let has_marker = alloc.origin == pto_ir::Origin::Allocation && alloc.block == block;
        is_there[index] = !has_marker || alloc.space != Space::Psum;
    }
    for &inst in order {
        if let Op::Alloc(alloc) = program.inst(inst).op {
            is_there[alloc.index()] = true;
        }
        let uses = program.uses(inst).iter();
        let mut allocs = uses.map(|used| program.access(used.access).alloc);
        if allocs.any(|alloc| !is_there[alloc.index()]) {
            return Err(format!("{inst:?} uses what is allocated later"));
        }
    }
    Ok(())
}

fn tokens_come_first(program: &Program, order: &[InstId]) -> Result<(), String> {
    let position: HashMap<InstId, usize> = order.iter().copied().zip(0..).collect();
    for &inst in order {
        for edge in &program.inst(inst).after {
            if position.get(&edge.from) > position.get(&inst) {
                return Err(format!(
                    "{inst:?} comes before {:?}, for which it waits",
                    edge.from
                ));
            }
        }
    }
    Ok(())
}

/// Cells of one memory.
struct Cells {
    memory: u32,
    partitions: Interval,
    spans: Vec<Interval>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Touch {
    Read,
    Write,
    /// By the PE, with the number of its access.
    Accumulate(u32),
    /// A zero region.
    Region,
}

/// Bytes of a band that share their history.
#[derive(Clone, Copy, Default)]
struct Piece {
    end: u32,
    writer: u64,
    readers: u64,
    /// The access of the matmul that wrote them last, plus one; 0 after other writes.
    open: u32,
}

/// Partitions that all accesses treat alike.
type Band = BTreeMap<u32, Piece>;

struct Replay<'p> {
    program: &'p Program,
    target: &'static Target,
    /// By memory: where bands begin, and the bands.
    bands: HashMap<u32, (Vec<u32>, Vec<Band>)>,
    /// By (bank, quadrant): the hashes of those of each user.
    lanes: HashMap<u32, HashMap<u64, u64>>,
    /// By buffer, for those that may be the same memory: the hashes of its writers and of its readers; and
    /// by space those of all of them.
    aliases: HashMap<AllocId, (u64, u64)>,
    aliases_by_space: [(u64, u64); 3],
}

impl<'p> Replay<'p> {
    fn new(program: &'p Program, target: &'static Target, insts: &[InstId]) -> Self {
        let mut replay = Self {
            program,
            target,
            bands: HashMap::new(),
            lanes: HashMap::new(),
            aliases: HashMap::new(),
            aliases_by_space: Default::default(),
        };
        let mut bounds: HashMap<u32, Vec<u32>> = HashMap::new();
        for &inst in insts {
            let region = program.inst(inst).matmul();
            let region = region.and_then(|matmul| replay.region(matmul));
            let touched = replay.touches(inst).into_iter().map(|(cells, _)| cells);
            for cells in touched.chain(region) {
                let bounds = bounds.entry(cells.memory).or_default();
                bounds.extend([cells.partitions.start, cells.partitions.end]);
            }
        }
        for (memory, mut bounds) in bounds {
            bounds.sort_unstable();
            bounds.dedup();
            let all = Piece {
                end: u32::MAX,
                ..Piece::default()
            };
            let bands = vec![Band::from([(0, all)]); bounds.len()];
            replay.bands.insert(memory, (bounds, bands));
        }
        replay
    }

    /// What each instruction sees.
    fn follow(mut self, order: &[InstId]) -> HashMap<InstId, u64> {
        let mut seen = HashMap::with_capacity(order.len());
        for &inst in order {
            if is_barrier(self.program, inst) {
                self.forget();
                continue;
            }
            let mut touches = self.touches(inst);
            let mut sum = self.meet_in_lanes(inst, &touches);
            sum = sum.wrapping_add(self.meet_aliases(inst));
            touches.extend(self.reached_region(inst));
            for (cells, touch) in &touches {
                sum = sum.wrapping_add(self.look(cells, *touch));
            }
            for (cells, touch) in &touches {
                self.enter(cells, *touch, inst);
            }
            seen.insert(inst, sum);
        }
        seen
    }

    fn forget(&mut self) {
        self.lanes.clear();
        self.aliases.clear();
        self.aliases_by_space = Default::default();
        for (_, bands) in self.bands.values_mut() {
            for band in bands {
                let all = Piece {
                    end: u32::MAX,
                    ..Piece::default()
                };
                *band = Band::from([(0, all)]);
            }
        }
    }

    /// The cells that `inst` touches, apart from its zero region.
    fn touches(&self, inst: InstId) -> Vec<(Cells, Touch)> {
        let program = self.program;
        let entry = program.inst(inst);
        let mut touches = Vec::with_capacity(4);
        for used in program.uses(inst) {
            let access = program.access(used.access);
            let cells = self.cells(access.alloc, access.partitions, program.bytes(used.access));
            let touch = match used.kind {
                kind if kind.is_pe_write() => Touch::Accumulate(used.access.index() as u32 + 1),
                kind if kind.writes() => Touch::Write,
                _ => Touch::Read,
            };
            touches.push((cells, touch));
        }
        if let Op::Dealloc(id) = entry.op {
            let alloc = program.alloc(id);
            let all = [Interval::new(0, alloc.bytes)];
            let cells = self.cells(id, Interval::new(0, alloc.partitions), &all);
            touches.push((cells, Touch::Write));
        }
        touches
    }

    fn cells(&self, id: AllocId, partitions: Interval, bytes: &[Interval]) -> Cells {
        let Alloc {
            space, placement, ..
        } = *self.program.alloc(id);
        let (memory, row, byte) = match (space, placement) {
            (Space::Psum, Some(at)) => (
                0,
                at.partition,
                at.bank
                    .saturating_mul(self.target.bank_bytes)
                    .saturating_add(at.offset),
            ),
            (Space::Sbuf, Some(at)) => (1, at.partition, at.offset),
            _ => (2 + id.index() as u32, 0, 0),
        };
        let moved = |at: Interval, by: u32| {
            Interval::new(at.start.saturating_add(by), at.end.saturating_add(by))
        };
        Cells {
            memory,
            partitions: moved(partitions, row),
            spans: bytes.iter().map(|span| moved(*span, byte)).collect(),
        }
    }

    fn region(&self, matmul: &Matmul) -> Option<Cells> {
        let target = self.target;
        let access = self.program.access(matmul.dst);
        let cells = self.cells(
            access.alloc,
            access.partitions,
            self.program.bytes(matmul.dst),
        );
        if cells.memory != 0 || !target.has_group_flags {
            return None;
        }
        let first = cells.spans.first()?.start / target.bank_bytes;
        let last = (cells.spans.last()?.end - 1) / target.bank_bytes;
        let most = target.max_zero_region_code;
        let smallest = ZeroWindow::covering(first, last, target.banks, most)?;
        let explicit = matmul.zero_region.filter(|&code| code <= most);
        let window = explicit.map_or(smallest, |code| ZeroWindow::of_bank(first, code));
        let banks = window.banks();
        Some(Cells {
            memory: 0,
            partitions: matmul.column_group(target),
            spans: vec![Interval::new(
                banks.start * target.bank_bytes,
                banks.end * target.bank_bytes,
            )],
        })
    }

    /// The zero region of `inst`, if START or ACCUMULATE is set or may come to be.
    fn reached_region(&mut self, inst: InstId) -> Option<(Cells, Touch)> {
        let matmul = self.program.inst(inst).matmul()?;
        let reaches = self.may_be_head(inst);
        let cells = self.region(matmul).filter(|_| reaches)?;
        Some((cells, Touch::Region))
    }

    /// Whether START or ACCUMULATE is set, or may come to be.
    fn may_be_head(&mut self, inst: InstId) -> bool {
        let Some(matmul) = self.program.inst(inst).matmul() else {
            return false;
        };
        if matmul.start_if.is_some() {
            return true;
        }
        if let Some(flags) = matmul.flags {
            return flags.starts() || flags.accumulates();
        }
        let access = self.program.access(matmul.dst);
        let bytes = self.program.bytes(matmul.dst);
        let cells = self.cells(access.alloc, access.partitions, bytes);
        let own = matmul.dst.index() as u32 + 1;
        let mut goes_on = matmul.accumulator.is_some() && !cells.spans.is_empty();
        self.for_each_piece(&cells, |_, piece| goes_on &= piece.open == own);
        !goes_on
    }

    /// What an access sees.
    fn look(&mut self, cells: &Cells, touch: Touch) -> u64 {
        let mut sum = 0u64;
        self.for_each_piece(cells, |size, piece| {
            let mut seen = mix(piece.writer);
            if touch != Touch::Read {
                seen = seen.wrapping_add(mix(piece.readers ^ 0x5EED));
            }
            sum = sum.wrapping_add(seen.wrapping_mul(size));
        });
        sum
    }

    fn enter(&mut self, cells: &Cells, touch: Touch, inst: InstId) {
        let stamp = inst.index() as u64 + 1;
        self.for_each_piece(cells, |_, piece| {
            if touch == Touch::Read {
                piece.readers = piece.readers.wrapping_add(mix(stamp));
                return;
            }
            piece.writer = stamp;
            piece.readers = 0;
            match touch {
                Touch::Accumulate(access) => piece.open = access,
                Touch::Write => piece.open = 0,
                Touch::Read | Touch::Region => {}
            }
        });
        if matches!(touch, Touch::Write | Touch::Accumulate(_)) {
            self.merge(cells);
        }
    }

    /// Calls `visit` with the number of cells and the history of each piece of `cells`.
    fn for_each_piece(&mut self, cells: &Cells, mut visit: impl FnMut(u64, &mut Piece)) {
        let Some((bounds, bands)) = self.bands.get_mut(&cells.memory) else {
            return;
        };
        let first = bounds.partition_point(|&bound| bound < cells.partitions.start);
        let end = bounds.partition_point(|&bound| bound < cells.partitions.end);
        for index in first..end {
            let rows = u64::from(bounds[index + 1] - bounds[index]);
            for span in cells.spans.iter().filter(|span| !span.is_empty()) {
                split(&mut bands[index], span.start);
                split(&mut bands[index], span.end);
                for (&start, piece) in bands[index].range_mut(span.start..span.end) {
                    visit(rows * u64::from(piece.end - start), piece);
                }
            }
        }
    }

    /// Makes one piece of each span that was just written.
    fn merge(&mut self, cells: &Cells) {
        let Some((bounds, bands)) = self.bands.get_mut(&cells.memory) else {
            return;
        };
        let first = bounds.partition_point(|&bound| bound < cells.partitions.start);
        let end = bounds.partition_point(|&bound| bound < cells.partitions.end);
        // Partitions that end before they begin are none.
        for band in bands.get_mut(first..end).unwrap_or_default() {
            for span in cells.spans.iter().filter(|span| !span.is_empty()) {
                let inner: Vec<u32> = band
                    .range(span.start..span.end)
                    .skip(1)
                    .map(|(&start, _)| start)
                    .collect();
                inner.iter().for_each(|start| _ = band.remove(start));
                if let Some(piece) = band.get_mut(&span.start) {
                    piece.end = span.end;
                }
            }
        }
    }

    /// What was done before to buffers that may be those of `inst`; then enters what it does.
    fn meet_aliases(&mut self, inst: InstId) -> u64 {
        let program = self.program;
        let uses = program.uses(inst).iter();
        let mut done: Vec<(AllocId, bool)> = uses
            .map(|used| (program.access(used.access).alloc, used.kind.writes()))
            .collect();
        if let Op::Dealloc(id) = program.inst(inst).op {
            done.push((id, true));
        }
        done.retain(|&(id, _)| program.alloc(id).may_alias);
        let mut sum = 0u64;
        for &(id, writes) in &done {
            let total = self.aliases_by_space[program.alloc(id).space as usize];
            let own = self.aliases.get(&id).copied().unwrap_or_default();
            sum = sum.wrapping_add(mix(total.0.wrapping_sub(own.0)));
            if writes {
                sum = sum.wrapping_add(mix(total.1.wrapping_sub(own.1) ^ 0x5EED));
            }
        }
        let stamp = mix(inst.index() as u64 + 1);
        for (id, writes) in done {
            let total = &mut self.aliases_by_space[program.alloc(id).space as usize];
            for (writers, readers) in [total, self.aliases.entry(id).or_default()] {
                let met = if writes { writers } else { readers };
                *met = met.wrapping_add(stamp);
            }
        }
        sum
    }

    /// What was in the (bank, quadrant) pairs of `inst` before and may not be there at the same time; then
    /// enters it.
    fn meet_in_lanes(&mut self, inst: InstId, touches: &[(Cells, Touch)]) -> u64 {
        let target = self.target;
        let quadrants = target.partitions / target.quadrant_partitions;
        let tile = self.program.inst(inst).matmul().map(|matmul| matmul.tile);
        let stamp = mix(inst.index() as u64 + 1);
        let mut used = BTreeMap::new();
        for &(ref cells, touch) in touches {
            if cells.memory != 0 || matches!(self.program.inst(inst).op, Op::Dealloc(_)) {
                continue;
            }
            let user = match (tile, touch) {
                (Some(None), Touch::Accumulate(_)) => 1,
                (Some(Some(tile)), Touch::Accumulate(_)) => {
                    let place = u64::from(tile.row) << 16 | u64::from(tile.col);
                    mix(u64::from(tile.rows) << 48 | u64::from(tile.cols) << 32 | place) | 2
                }
                _ => 0,
            };
            let group = target.quadrants(cells.partitions);
            for span in cells.spans.iter().filter(|span| !span.is_empty()) {
                let banks = span.start / target.bank_bytes..=(span.end - 1) / target.bank_bytes;
                for bank in banks.filter(|&bank| bank < target.banks) {
                    for quadrant in group.start..group.end.min(quadrants) {
                        used.insert(bank * quadrants + quadrant, user);
                    }
                }
            }
        }
        let mut sum = 0u64;
        for (lane, user) in used {
            let users = self.lanes.entry(lane).or_default();
            let others = users
                .iter()
                .filter(|&(&other, _)| other != user)
                .fold(0u64, |sum, (_, &hash)| sum.wrapping_add(hash));
            sum = sum.wrapping_add(mix(others ^ mix(u64::from(lane))));
            let own = users.entry(user).or_default();
            *own = own.wrapping_add(stamp);
        }
        sum
    }
}

/// Cuts the piece that holds `at`.
fn split(band: &mut Band, at: u32) {
    let Some((&start, piece)) = band.range_mut(..=at).next_back() else {
        return;
    };
    if start == at || piece.end <= at {
        return;
    }
    let rest = *piece;
    piece.end = at;
    band.insert(at, rest);
}

/// A hash of one number.
const fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ (mixed >> 32)
}
