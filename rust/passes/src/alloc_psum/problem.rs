//! What is to be placed, when it is alive, and what is in the way.

use pto_ir::{
    AccessId, Alloc, AllocId, Diag, InstId, Interval, Matmul, Op, Origin, Program, Site, Space,
    Target, ZeroWindow,
};

use super::Options;

/// A buffer to be placed.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) alloc: AllocId,
    /// Positions in program order, half open, from the first access on.
    pub(super) life: Interval,
    /// Banks that it lies in.
    pub(super) banks: u32,
    /// Banks of its window: it begins with a multiple of them.
    pub(super) window: u32,
    /// First partitions that all its accesses allow, ascending; never empty.
    pub(super) first_partitions: Vec<u32>,
    pub(super) partitions: u32,
    /// Bytes in each partition.
    pub(super) bytes: u32,
}

/// Who holds the cells of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holder {
    Buffer(AllocId),
    /// The callee of this call, as far as it is not given the buffer in question.
    Callee(InstId),
}

/// Cells that are taken for a while.
#[derive(Clone, Copy, Debug)]
pub(super) struct Obstacle {
    pub(super) holder: Holder,
    pub(super) life: Interval,
    pub(super) quadrants: Interval,
    /// Bytes counted from the first bank.
    pub(super) bytes: Interval,
}

/// The instance to solve.
pub(super) struct Problem<'p> {
    pub(super) program: &'p Program,
    pub(super) target: &'static Target,
    pub(super) options: Options,
    /// The banks that may be used.
    pub(super) banks: Interval,
    /// By begin of life, then by number of the allocation.
    pub(super) requests: Vec<Request>,
    pub(super) obstacles: Vec<Obstacle>,
}

impl<'p> Problem<'p> {
    /// The instance of `program`, or why there is none.
    pub(super) fn new(
        program: &'p Program,
        target: &'static Target,
        options: &Options,
    ) -> Result<Self, Vec<Diag>> {
        let everything = Interval::new(0, target.banks);
        let mut problem = Self {
            program,
            target,
            options: *options,
            banks: options
                .banks
                .map_or(everything, |banks| banks.intersection(everything)),
            requests: Vec::new(),
            obstacles: Vec::new(),
        };
        let is_open = |alloc: &Alloc| alloc.space == Space::Psum && alloc.placement.is_none();
        if !program.allocs().iter().any(is_open) {
            return Ok(problem);
        }
        let lives = Lives::new(program);
        let columns = Columns::new(program)?;
        let mut errors = Vec::new();
        for (index, alloc) in program.allocs().iter().enumerate() {
            let id = AllocId::new(index);
            match alloc.placement {
                _ if alloc.space != Space::Psum => {}
                Some(_) => problem.add_placed(id, lives.of[index]),
                None => match problem.request(id, lives.of[index], &columns) {
                    Ok(request) => problem.requests.push(request),
                    Err(error) => errors.push(error),
                },
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        problem
            .requests
            .sort_by_key(|request| (request.life.start, request.alloc));
        problem.add_calls(&lives);
        Ok(problem)
    }

    fn request(&self, id: AllocId, life: Interval, columns: &Columns) -> Result<Request, Diag> {
        let alloc = self.program.alloc(id);
        if let Origin::Argument { .. } = alloc.origin {
            let message = "expected a psum argument with a place (pto.bank), found none: its place is the \
                 caller's choice";
            return Err(Diag::error("pto:unplaced", Site::Alloc(id), message));
        }
        self.fits(id, alloc)?;
        let banks = alloc.bytes.div_ceil(self.target.bank_bytes).max(1);
        let widest = 1 << self.target.max_zero_region_code;
        Ok(Request {
            alloc: id,
            life,
            banks,
            window: match banks.next_power_of_two() {
                window if window <= widest => window,
                _ => 1,
            },
            first_partitions: self.first_partitions(id, columns)?,
            partitions: alloc.partitions,
            bytes: alloc.bytes,
        })
    }

    /// Whether PSUM could hold the buffer if it held nothing else.
    fn fits(&self, id: AllocId, alloc: &Alloc) -> Result<(), Diag> {
        let overflow = |message| Err(Diag::error("pto:psum-overflow", Site::Alloc(id), message));
        let bytes = self.banks.len() * self.target.bank_bytes;
        if alloc.bytes > bytes {
            return overflow(format!(
                "expected a buffer of at most {bytes} bytes in each partition, which are {} banks, found {}",
                self.banks.len(),
                alloc.bytes
            ));
        }
        if alloc.partitions > self.target.partitions {
            return overflow(format!(
                "expected a buffer of at most {} partitions, found {}",
                self.target.partitions, alloc.partitions
            ));
        }
        Ok(())
    }

    /// The first partitions of the buffer that its accesses and matmuls allow.
    fn first_partitions(&self, id: AllocId, columns: &Columns) -> Result<Vec<u32>, Diag> {
        let target = self.target;
        let all = target.legal_start_partitions(self.program.alloc(id).partitions);
        let allows = |first: u32, view: Interval| {
            view.is_empty() || target.is_legal_start_partition(first + view.start, view.len())
        };
        let mut left = all;
        for &view in &columns.views[id.index()] {
            left.retain(|&first| allows(first, view));
            if left.is_empty() {
                let message = format!(
                    "expected a buffer that can begin where all of its views are legal: of more than {} \
                     partitions only at 0, more than {} at 0 or {}, others at a multiple of {}; found \
                     a view of partitions {view}",
                    target.partitions / 2,
                    target.quadrant_partitions,
                    target.partitions / 2,
                    target.quadrant_partitions
                );
                return Err(Diag::error("pto:start-partition", Site::Alloc(id), message));
            }
        }
        let Some((matmul, first)) = columns.first[id.index()] else {
            return Ok(left);
        };
        if left.contains(&first) {
            return Ok(vec![first]);
        }
        let message = format!(
            "expected a tile for which the buffer can begin at a legal partition, found one for which it \
             begins at {first}"
        );
        let error = Diag::error("pto:tile-position", Site::Inst(matmul), message);
        Err(error.with_note(Site::Alloc(id), "the buffer is allocated here"))
    }

    /// A buffer that has its place.
    fn add_placed(&mut self, id: AllocId, life: Interval) {
        let alloc = self.program.alloc(id);
        let (Some(place), Some(first)) =
            (alloc.placement, alloc.first_byte(self.target.bank_bytes))
        else {
            return;
        };
        let end = first.saturating_add(alloc.bytes);
        let mut bytes = Interval::new(first, end);
        let mut quadrants = self.target.quadrants(Interval::new(
            place.partition,
            place.partition + alloc.partitions,
        ));
        if !self.options.pack {
            let target = self.target;
            quadrants = target.quadrants(Interval::new(0, target.partitions));
            let last = end.max(first + 1) - 1;
            let window = ZeroWindow::covering(
                first / target.bank_bytes,
                last / target.bank_bytes,
                target.banks,
                target.max_zero_region_code,
            );
            bytes = match window {
                Some(window) => window.banks(),
                None => Interval::new(first / target.bank_bytes, last / target.bank_bytes + 1),
            };
            bytes = Interval::new(
                bytes.start * target.bank_bytes,
                bytes.end * target.bank_bytes,
            );
        }
        self.obstacles.push(Obstacle {
            holder: Holder::Buffer(id),
            life,
            quadrants,
            bytes,
        });
    }

    /// The banks of callees that name them.
    fn add_calls(&mut self, lives: &Lives) {
        let target = self.target;
        for inst in self.program.walk() {
            let Op::Call { banks: Some(mask) } = self.program.inst(inst).op else {
                continue;
            };
            for bank in (0..target.banks).filter(|bank| mask >> bank & 1 == 1) {
                self.obstacles.push(Obstacle {
                    holder: Holder::Callee(inst),
                    life: lives.spans[inst.index()],
                    quadrants: target.quadrants(Interval::new(0, target.partitions)),
                    bytes: Interval::new(bank * target.bank_bytes, (bank + 1) * target.bank_bytes),
                });
            }
        }
    }
}

/// When buffers are alive.
struct Lives {
    /// By allocation.
    of: Vec<Interval>,
    /// By instruction: its position, and one past the last position of what it holds.
    spans: Vec<Interval>,
}

impl Lives {
    fn new(program: &Program) -> Self {
        let order: Vec<InstId> = program.walk().collect();
        let mut spans = vec![Interval::new(0, 0); program.insts().len()];
        for (position, inst) in order.iter().enumerate() {
            spans[inst.index()] = Interval::new(position as u32, position as u32 + 1);
        }
        for &inst in order.iter().rev() {
            if let Some(holder) = program.holder(program.inst(inst).block) {
                let end = spans[inst.index()].end;
                let outer = &mut spans[holder.index()];
                outer.end = outer.end.max(end);
            }
        }
        let end = order.len() as u32;
        let mut lives = Self {
            of: vec![Interval::new(u32::MAX, 0); program.allocs().len()],
            spans,
        };
        // A buffer that nothing uses still needs a place, where it is allocated.
        let mut made = vec![Interval::new(0, 1); program.allocs().len()];
        for &inst in &order {
            for used in program.uses(inst) {
                lives.touch(program, program.access(used.access).alloc, inst, end);
            }
            if let Op::Alloc(alloc) = program.inst(inst).op {
                made[alloc.index()] = lives.spans[inst.index()];
            }
        }
        for ((alloc, life), made) in program.allocs().iter().zip(&mut lives.of).zip(made) {
            if life.is_empty() {
                *life = made;
            }
            if matches!(alloc.origin, Origin::Argument { fresh: false, .. }) {
                life.start = 0;
            }
            if alloc.escapes {
                life.end = life.end.max(end);
            }
        }
        lives
    }

    /// An access of `alloc` by `inst`.
    fn touch(&mut self, program: &Program, alloc: AllocId, inst: InstId, end: u32) {
        let home = program.alloc(alloc).block;
        let region = program.block(home).region;
        let mut at = inst;
        while program.block(program.inst(at).block).region != region {
            match program.holder(program.inst(at).block) {
                Some(holder) => at = holder,
                None => break,
            }
        }
        let mut span = self.spans[at.index()];
        if program.inst(at).block != home && program.region(region).blocks.len() > 1 {
            // Any order of the blocks is possible.
            span = match program.region(region).holder {
                Some(holder) => self.spans[holder.index()],
                None => Interval::new(0, end),
            };
        }
        let life = &mut self.of[alloc.index()];
        *life = life.hull(span);
    }
}

/// What the accesses of each buffer ask of its first partition.
struct Columns {
    /// By allocation: the partitions of its views, without repetition.
    views: Vec<Vec<Interval>>,
    /// By allocation: a matmul into it, and the first partition that its tile asks for.
    first: Vec<Option<(InstId, u32)>>,
}

impl Columns {
    fn new(program: &Program) -> Result<Self, Vec<Diag>> {
        let mut columns = Self {
            views: vec![Vec::new(); program.allocs().len()],
            first: vec![None; program.allocs().len()],
        };
        for access in program.accesses() {
            let views = &mut columns.views[access.alloc.index()];
            if views.last() != Some(&access.partitions) {
                views.push(access.partitions);
            }
        }
        for views in &mut columns.views {
            views.sort_unstable();
            views.dedup();
        }
        let mut errors = Vec::new();
        for inst in program.walk() {
            if let Some(matmul) = program.inst(inst).matmul() {
                errors.extend(columns.add(program, inst, matmul).err());
            }
        }
        match errors.is_empty() {
            true => Ok(columns),
            false => Err(errors),
        }
    }

    fn add(&mut self, program: &Program, inst: InstId, matmul: &Matmul) -> Result<(), Diag> {
        let view = program.access(matmul.dst);
        if program.alloc(view.alloc).placement.is_some() {
            return Ok(());
        }
        let column = matmul.tile.map_or(0, |tile| tile.col);
        let Some(first) = column.checked_sub(view.partitions.start) else {
            let message = format!(
                "expected a tile whose first column is at least {}, where the view begins in its buffer, \
                 found {column}",
                view.partitions.start
            );
            let error = Diag::error("pto:tile-position", Site::Inst(inst), message);
            return Err(error.with_note(Site::Alloc(view.alloc), "the buffer is allocated here"));
        };
        match self.first[view.alloc.index()] {
            Some((other, known)) if known != first => {
                let message = format!(
                    "expected tiles that agree about where the buffer begins, found partition {first} for \
                     this one"
                );
                let error = Diag::error("pto:tile-position", Site::Inst(inst), message);
                Err(error.with_note(Site::Inst(other), format!("partition {known} for this one")))
            }
            Some(_) => Ok(()),
            None => {
                self.first[view.alloc.index()] = Some((inst, first));
                Ok(())
            }
        }
    }
}

/// Whether `alloc` is an operand of `call`.
pub(super) fn is_given(program: &Program, call: InstId, alloc: AllocId) -> bool {
    let is_of = |access: AccessId| program.access(access).alloc == alloc;
    program.uses(call).iter().any(|used| is_of(used.access))
}
