//! What lies in PSUM from when to when.

use pto_ir::{
    AccFlags, AccessId, AllocId, InstId, Interval, Matmul, Op, Program, Target, UseKind, ZeroWindow,
};

use crate::validate::place::{Piece, Places};
use crate::validate::rects::Rects;

/// No object, no time.
const NONE: u32 = u32::MAX;

/// What a stay is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Content {
    /// The sum of a group: its number.
    Group(u32),
    /// Data of another engine: a number of its own.
    Data(u32),
    /// Pending.
    Pending,
}

/// Cells that hold something, in `times`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stay {
    pub(super) bank: u32,
    pub(super) partitions: Interval,
    pub(super) bytes: Interval,
    pub(super) content: Content,
    /// Positions among the instructions: from the one that makes it up to its last use, or to the
    /// one that overwrites it.
    pub(super) times: Interval,
    /// Up to here its group still gets members; `times.start` for what is no group.
    pub(super) open_until: u32,
}

/// Everything that the map shows.
#[derive(Debug)]
pub(super) struct Lives {
    /// The instructions in program order.
    pub(super) order: Vec<InstId>,
    /// In no order that means anything.
    pub(super) stays: Vec<Stay>,
    pub(super) groups: u32,
}

/// An accumulation group, or the data of one write.
#[derive(Clone, Copy, Debug)]
struct Object {
    is_group: bool,
    /// The object it was united with; itself if with none.
    parent: u32,
    last_member: u32,
    last_use: u32,
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    object: u32,
    alloc: u32,
    since: u32,
}

impl Held {
    const NOTHING: Self = Self {
        object: NONE,
        alloc: NONE,
        since: NONE,
    };
}

/// A stay while its end is known and the last use of its object is not.
struct Past {
    piece: (u32, Interval, Interval),
    object: u32,
    from: u32,
    to: u32,
}

struct Walk<'a> {
    program: &'a Program,
    target: &'static Target,
    places: Places,
    banks: Vec<Rects<Held>>,
    /// By bank: since when cells are pending, or [`NONE`].
    pending: Vec<Rects<u32>>,
    objects: Vec<Object>,
    past: Vec<Past>,
    stays: Vec<Stay>,
    now: u32,
}

/// What lies where in `program`; or the first buffer without a place.
pub(super) fn find(program: &Program, target: &'static Target) -> Result<Lives, AllocId> {
    let partitions = Interval::new(0, target.partitions);
    let bytes = Interval::new(0, target.bank_bytes);
    let banks = target.banks as usize;
    let mut walk = Walk {
        program,
        target,
        places: Places::new(program, target)?,
        banks: vec![Rects::new(partitions, bytes, Held::NOTHING); banks],
        pending: vec![Rects::new(partitions, bytes, NONE); banks],
        objects: Vec::new(),
        past: Vec::new(),
        stays: Vec::new(),
        now: 0,
    };
    walk.arguments();
    let is_executed = |id: &InstId| {
        let inst = program.inst(*id);
        inst.is_instruction() && !matches!(inst.op, Op::Region { .. })
    };
    let order: Vec<InstId> = program.walk().filter(is_executed).collect();
    for &id in &order {
        walk.instruction(id);
        walk.now += 1;
    }
    let groups = walk.finish();
    Ok(Lives {
        order,
        stays: walk.stays,
        groups,
    })
}

impl Walk<'_> {
    /// Arguments that hold data do so from the beginning.
    fn arguments(&mut self) {
        for index in 0..self.program.allocs().len() {
            let alloc = AllocId::new(index);
            let origin = self.program.alloc(alloc).origin;
            if matches!(origin, pto_ir::Origin::Argument { fresh: false, .. }) {
                let pieces = self.places.of_alloc(alloc).to_vec();
                let object = self.new_object(false);
                self.put(&pieces, object, alloc);
            }
        }
    }

    fn instruction(&mut self, id: InstId) {
        let program = self.program;
        // An instruction reads before it writes.
        for is_write in [false, true] {
            for one in program
                .uses(id)
                .iter()
                .filter(|one| one.kind.writes() == is_write)
            {
                self.access(id, one.access, one.kind);
            }
        }
    }

    fn access(&mut self, id: InstId, access: AccessId, kind: UseKind) {
        let alloc = self.program.access(access).alloc;
        let pieces = self.places.of_access(access).to_vec();
        match kind {
            UseKind::Read => {
                for object in self.found(&pieces, alloc) {
                    self.objects[object as usize].last_use = self.now;
                }
            }
            UseKind::Write | UseKind::WriteZero => {
                let object = self.new_object(false);
                self.put(&pieces, object, alloc);
            }
            UseKind::PeOverwrite | UseKind::PeAccumulate => {
                if let Some(matmul) = self.program.inst(id).matmul() {
                    self.start(matmul, &pieces);
                }
                let group = match kind {
                    UseKind::PeOverwrite => self.new_object(true),
                    _ => self.joined(&pieces, alloc),
                };
                self.objects[group as usize].last_member = self.now;
                self.put(&pieces, group, alloc);
            }
        }
    }

    /// The region of an explicit START becomes pending.
    fn start(&mut self, matmul: &Matmul, pieces: &[Piece]) {
        let flags = matmul.flags.unwrap_or(AccFlags::NONE);
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
            return;
        };
        let (banks, max_code) = (self.target.banks, self.target.max_zero_region_code);
        let window = match matmul.zero_region {
            Some(code) if code <= max_code => Some(ZeroWindow::of_bank(first.bank, code)),
            _ => ZeroWindow::covering(first.bank, last.bank, banks, max_code),
        };
        let Some(window) = window.filter(|_| flags.starts()) else {
            return;
        };
        let partitions = matmul.column_group(self.target);
        for bank in window.first..=window.last().min(banks - 1) {
            let bytes = Interval::new(0, self.target.bank_bytes);
            self.end_pending(bank, partitions, bytes, self.now);
        }
    }

    /// The objects of `alloc` in `pieces`, each once.
    fn found(&mut self, pieces: &[Piece], alloc: AllocId) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        for piece in pieces {
            let bank = &self.banks[piece.bank as usize];
            let parts = bank.meeting(piece.partitions, piece.bytes);
            let own = parts.filter(|part| part.state.alloc == alloc.index() as u32);
            found.extend(own.map(|part| part.state.object));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The group of a matmul that adds to `pieces`: the union of those it meets, or a new one.
    fn joined(&mut self, pieces: &[Piece], alloc: AllocId) -> u32 {
        let mut group: Option<u32> = None;
        for object in self.found(pieces, alloc) {
            self.objects[object as usize].last_use = self.now;
            if !self.objects[object as usize].is_group {
                continue;
            }
            let root = self.root(object);
            let known = *group.get_or_insert(root);
            let (low, high) = (known.min(root), known.max(root));
            self.objects[high as usize].parent = low;
            group = Some(low);
        }
        group.unwrap_or_else(|| self.new_object(true))
    }

    fn root(&mut self, mut object: u32) -> u32 {
        while self.objects[object as usize].parent != object {
            object = self.objects[object as usize].parent;
        }
        object
    }

    fn new_object(&mut self, is_group: bool) -> u32 {
        let number = self.objects.len() as u32;
        self.objects.push(Object {
            is_group,
            parent: number,
            last_member: self.now,
            last_use: self.now,
        });
        number
    }

    /// `object` of `alloc` is in `pieces` from now on.
    fn put(&mut self, pieces: &[Piece], object: u32, alloc: AllocId) {
        let held = Held {
            object,
            alloc: alloc.index() as u32,
            since: self.now,
        };
        for &Piece {
            bank,
            partitions,
            bytes,
            ..
        } in pieces
        {
            self.end_pending(bank, partitions, bytes, NONE);
            self.replace(bank, partitions, bytes, held);
        }
    }

    fn replace(&mut self, bank: u32, partitions: Interval, bytes: Interval, held: Held) {
        let rects = &mut self.banks[bank as usize];
        for part in rects.meeting(partitions, bytes) {
            if part.state.object != NONE {
                self.past.push(Past {
                    piece: (bank, part.partitions, part.bytes),
                    object: part.state.object,
                    from: part.state.since,
                    to: self.now,
                });
            }
        }
        rects.change(partitions, bytes, |state| *state = held);
    }

    /// What is pending there ends, and from `since` on it is pending again, unless that is [`NONE`].
    fn end_pending(&mut self, bank: u32, partitions: Interval, bytes: Interval, since: u32) {
        let rects = &mut self.pending[bank as usize];
        for part in rects.meeting(partitions, bytes) {
            if part.state < self.now {
                self.stays.push(Stay {
                    bank,
                    partitions: part.partitions,
                    bytes: part.bytes,
                    content: Content::Pending,
                    times: Interval::new(part.state, self.now),
                    open_until: part.state,
                });
            }
        }
        rects.change(partitions, bytes, |state| *state = since);
    }

    /// Ends everything; the number of groups.
    fn finish(&mut self) -> u32 {
        let partitions = Interval::new(0, self.target.partitions);
        let bytes = Interval::new(0, self.target.bank_bytes);
        for bank in 0..self.target.banks {
            for part in self.banks[bank as usize].all() {
                let Held { object, alloc, .. } = part.state;
                if object != NONE && self.program.allocs()[alloc as usize].escapes {
                    self.objects[object as usize].last_use = self.now;
                }
            }
            self.replace(bank, partitions, bytes, Held::NOTHING);
            self.end_pending(bank, partitions, bytes, NONE);
        }
        let numbers = self.number_groups();
        for past in std::mem::take(&mut self.past) {
            let (bank, partitions, bytes) = past.piece;
            let object = self.objects[past.object as usize];
            let root = self.root(past.object);
            let last = object.last_use.max(self.objects[root as usize].last_use);
            let members = self.objects[root as usize]
                .last_member
                .max(object.last_member);
            let end = past.to.min(last.max(members) + 1).max(past.from + 1);
            self.stays.push(Stay {
                bank,
                partitions,
                bytes,
                content: match object.is_group {
                    true => Content::Group(numbers[root as usize]),
                    false => Content::Data(past.object),
                },
                times: Interval::new(past.from, end),
                open_until: if object.is_group {
                    (members + 1).min(end)
                } else {
                    past.from
                },
            });
        }
        numbers
            .iter()
            .filter(|&&number| number != NONE)
            .max()
            .map_or(0, |last| last + 1)
    }

    /// Numbers for the groups in order, by object.
    fn number_groups(&mut self) -> Vec<u32> {
        let mut count = 0;
        (0..self.objects.len())
            .map(|index| {
                let is_first =
                    self.objects[index].is_group && self.root(index as u32) as usize == index;
                count += u32::from(is_first);
                if is_first { count - 1 } else { NONE }
            })
            .collect()
    }
}
