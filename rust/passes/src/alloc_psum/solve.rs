//! First fit, by begin of life.

use pto_ir::{AllocId, Diag, Interval, Placement, Site};

use super::problem::{Holder, Obstacle, Problem, Request, is_given};

/// Notes of one overflow: the rest is counted.
const MAX_NOTES: usize = 16;

/// A place for every request, by number of the allocation; or why one has none.
pub(super) fn solve(problem: &Problem<'_>) -> Result<Vec<(AllocId, Placement)>, Diag> {
    let all: Vec<&Request> = problem.requests.iter().collect();
    let by_width = || {
        let mut widths: Vec<u32> = all
            .iter()
            .map(|request| request.window.max(request.banks))
            .collect();
        widths.sort_unstable();
        widths.dedup();
        let of_width = |&width: &u32| -> Vec<&Request> {
            let has = |request: &&&Request| request.window.max(request.banks) == width;
            all.iter().filter(has).copied().collect()
        };
        widths.iter().rev().map(of_width).collect::<Vec<_>>()
    };
    let first = scan(problem, std::slice::from_ref(&all), problem.options.rotate);
    let mut placed = match first {
        Err(_) if problem.options.rotate => scan(problem, std::slice::from_ref(&all), false),
        other => other,
    }
    .or_else(|overflow| scan(problem, &by_width(), false).map_err(|_| overflow))?;
    placed.sort_unstable_by_key(|&(alloc, _)| alloc);
    Ok(placed)
}

/// Places the requests of each pass in turn.
fn scan(
    problem: &Problem<'_>,
    passes: &[Vec<&Request>],
    rotate: bool,
) -> Result<Vec<(AllocId, Placement)>, Diag> {
    let mut obstacles = problem.obstacles.clone();
    let mut placed = Vec::with_capacity(problem.requests.len());
    for requests in passes {
        let mut scan = Scan::new(problem, &obstacles, rotate);
        for request in requests {
            let place = scan.place(request).ok_or_else(|| scan.overflow(request))?;
            placed.push((request.alloc, place));
            let obstacle = scan.footprint(request, place);
            scan.take(obstacle);
            if passes.len() > 1 {
                obstacles.push(obstacle);
            }
        }
    }
    Ok(placed)
}

/// What is taken in one lane.
#[derive(Default)]
struct Lane {
    /// Alive at the present position.
    active: Vec<Obstacle>,
    /// By begin of life; those from `next` on are still to come.
    upcoming: Vec<Obstacle>,
    next: usize,
}

impl Lane {
    fn advance(&mut self, now: u32) {
        self.active.retain(|obstacle| obstacle.life.end > now);
        while let Some(obstacle) = self.upcoming.get(self.next)
            && obstacle.life.start <= now
        {
            if obstacle.life.end > now {
                self.active.push(*obstacle);
            }
            self.next += 1;
        }
    }

    /// What is taken at some time of `life`, which begins now.
    fn taken(&self, life: Interval) -> impl Iterator<Item = &Obstacle> {
        let coming = self.upcoming[self.next..].iter();
        self.active
            .iter()
            .chain(coming.take_while(move |obstacle| obstacle.life.start < life.end))
    }
}

struct Scan<'a> {
    problem: &'a Problem<'a>,
    /// By bank, then by quadrant.
    lanes: Vec<Lane>,
    quadrants: u32,
    rotate: bool,
    /// The bank where the next search begins.
    cursor: u32,
}

impl<'a> Scan<'a> {
    fn new(problem: &'a Problem<'a>, obstacles: &[Obstacle], rotate: bool) -> Self {
        let target = problem.target;
        let quadrants = target.partitions / target.quadrant_partitions;
        let mut lanes: Vec<Lane> = (0..target.banks * quadrants)
            .map(|_| Lane::default())
            .collect();
        for obstacle in obstacles {
            let banks = obstacle.bytes.start / target.bank_bytes
                ..obstacle
                    .bytes
                    .end
                    .div_ceil(target.bank_bytes)
                    .min(target.banks);
            for bank in banks {
                for quadrant in obstacle.quadrants.start..obstacle.quadrants.end.min(quadrants) {
                    lanes[(bank * quadrants + quadrant) as usize]
                        .upcoming
                        .push(*obstacle);
                }
            }
        }
        for lane in &mut lanes {
            lane.upcoming.sort_by_key(|obstacle| obstacle.life.start);
        }
        Self {
            problem,
            lanes,
            quadrants,
            rotate,
            cursor: problem.banks.start,
        }
    }

    /// The first free place, from the present position on.
    fn place(&mut self, request: &Request) -> Option<Placement> {
        for lane in &mut self.lanes {
            lane.advance(request.life.start);
        }
        let place = self
            .banks(request)
            .find_map(|bank| match self.problem.options.pack {
                true => self.place_packed(request, bank),
                false => self.place_whole(request, bank),
            })?;
        if self.rotate {
            self.cursor = place.bank + self.reserved(request);
        }
        Some(place)
    }

    /// Banks that a buffer is given: its window by default.
    fn reserved(&self, request: &Request) -> u32 {
        match self.problem.options.pack {
            true => request.banks,
            false => request.window.max(request.banks),
        }
    }

    /// First banks to try, in order.
    fn banks(&self, request: &Request) -> impl Iterator<Item = u32> + use<> {
        let Interval { start, end } = self.problem.banks;
        let reserved = self.reserved(request);
        let window = request.window;
        let cursor = if self.cursor < end {
            self.cursor
        } else {
            start
        };
        let from = if self.rotate { cursor } else { start };
        (from..end)
            .chain(start..from)
            .filter(move |bank| bank.is_multiple_of(window) && bank + reserved <= end)
    }

    fn place_whole(&self, request: &Request, bank: u32) -> Option<Placement> {
        let lanes = bank * self.quadrants..(bank + self.reserved(request)) * self.quadrants;
        let is_free = |lane: u32| self.conflicts(request, lane).next().is_none();
        lanes.into_iter().all(is_free).then(|| Placement {
            bank,
            offset: 0,
            partition: request.first_partitions[0],
        })
    }

    fn place_packed(&self, request: &Request, bank: u32) -> Option<Placement> {
        request.first_partitions.iter().find_map(|&partition| {
            let partitions = Interval::new(partition, partition + request.partitions);
            let offset =
                self.lowest_gap(request, bank, self.problem.target.quadrants(partitions))?;
            Some(Placement {
                bank,
                offset,
                partition,
            })
        })
    }

    /// The lowest offset in `bank` at which the buffer has room in all of `quadrants`.
    fn lowest_gap(&self, request: &Request, bank: u32, quadrants: Interval) -> Option<u32> {
        let bank_bytes = self.problem.target.bank_bytes;
        let first = bank * bank_bytes;
        let mut taken: Vec<Interval> = Vec::new();
        for bank in bank..bank + request.banks {
            for quadrant in quadrants.start..quadrants.end {
                let conflicts = self.conflicts(request, bank * self.quadrants + quadrant);
                taken.extend(conflicts.map(|obstacle| obstacle.bytes));
            }
        }
        taken.sort_unstable();
        let mut at = first;
        for bytes in taken {
            if bytes.start >= at + request.bytes {
                break;
            }
            at = at.max(bytes.end.next_multiple_of(self.problem.target.cell_bytes));
        }
        // A buffer of several banks begins with a bank, one of a single bank ends in it.
        let end = if request.banks > 1 {
            first + request.bytes
        } else {
            first + bank_bytes
        };
        (at + request.bytes <= end).then_some(at - first)
    }

    fn conflicts(&self, request: &Request, lane: u32) -> impl Iterator<Item = &Obstacle> {
        let alloc = request.alloc;
        let is_in_the_way = move |obstacle: &&Obstacle| match obstacle.holder {
            Holder::Buffer(_) => true,
            Holder::Callee(call) => !is_given(self.problem.program, call, alloc),
        };
        self.lanes[lane as usize]
            .taken(request.life)
            .filter(is_in_the_way)
    }

    /// What the buffer takes at `place`.
    fn footprint(&self, request: &Request, place: Placement) -> Obstacle {
        let target = self.problem.target;
        let first = place.bank * target.bank_bytes;
        let (partitions, bytes) = match self.problem.options.pack {
            true => (
                Interval::new(place.partition, place.partition + request.partitions),
                Interval::new(0, request.bytes).shifted(first + place.offset),
            ),
            false => (
                Interval::new(0, target.partitions),
                Interval::new(0, self.reserved(request) * target.bank_bytes).shifted(first),
            ),
        };
        Obstacle {
            holder: Holder::Buffer(request.alloc),
            life: request.life,
            quadrants: target.quadrants(partitions),
            bytes,
        }
    }

    /// Takes the cells of a buffer that lives from now on.
    fn take(&mut self, obstacle: Obstacle) {
        let bank_bytes = self.problem.target.bank_bytes;
        for bank in obstacle.bytes.start / bank_bytes..obstacle.bytes.end.div_ceil(bank_bytes) {
            for quadrant in obstacle.quadrants.start..obstacle.quadrants.end {
                let lane = bank * self.quadrants + quadrant;
                self.lanes[lane as usize].active.push(obstacle);
            }
        }
    }

    /// The sentence that says what is in the way of `request`.
    fn overflow(&self, request: &Request) -> Diag {
        let banks = self.problem.banks;
        let lanes = banks.start * self.quadrants..banks.end * self.quadrants;
        let mut holders: Vec<Holder> = lanes
            .flat_map(|lane| self.conflicts(request, lane))
            .map(|obstacle| obstacle.holder)
            .collect();
        holders.sort_unstable();
        holders.dedup();
        let room = match (self.problem.options.pack, self.reserved(request)) {
            (true, _) => format!(
                "{} partitions of {} bytes",
                request.partitions, request.bytes
            ),
            (false, 1) => "a whole bank".to_owned(),
            (false, count) => format!(
                "{count} whole banks in a row, from a multiple of {}",
                request.window
            ),
        };
        let message = format!(
            "expected room for {room} in banks {} to {} of psum, found {} other buffers and callees \
             alive at the time",
            banks.start,
            banks.end.max(1) - 1,
            holders.len(),
        );
        let mut error = Diag::error("pto:psum-overflow", Site::Alloc(request.alloc), message);
        for &holder in holders.iter().take(MAX_NOTES) {
            error = match holder {
                Holder::Buffer(alloc) => error.with_note(Site::Alloc(alloc), "this one is alive"),
                Holder::Callee(call) => {
                    error.with_note(Site::Inst(call), "this callee uses its banks")
                }
            };
        }
        error
    }
}
