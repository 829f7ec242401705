//! Collisions against all pairs of a transitive closure.

use super::*;
use crate::hazards::HazardPolicy;
use crate::random::Random;

const ENGINES: [Queue; 2] = [Queue::Engine(Engine::Vector), Queue::Engine(Engine::Scalar)];
/// Code that no engine executes.
const HOST: Queue = Queue::Engine(Engine::Other);
const TILES: [Queue; 2] = [
    Queue::Tile(None),
    Queue::Tile(Some(Tile {
        rows: 128,
        cols: 32,
        row: 0,
        col: 32,
    })),
];

/// One instruction: its queue, the token it waits for, and what it touches.
#[derive(Clone, Debug)]
struct Step {
    queue: Queue,
    wait: Option<usize>,
    bank: u32,
    partitions: Interval,
    columns: Interval,
    access: Access,
    /// An element of a buffer outside PSUM.
    element: Option<(u32, Access)>,
}

fn target() -> &'static Target {
    Target::from_name("trn2").expect("a target")
}

/// For each instruction, the earlier one that it is told to collide with.
fn found(steps: &[Step]) -> Vec<Option<usize>> {
    let mut concurrency = Concurrency::new(target());
    let mut tokens: Vec<u64> = Vec::new();
    let run = |(index, step): (usize, &Step)| {
        let mut log = HazardLog::new(HazardPolicy::Async);
        let waits = step.wait.map(|wait| tokens[wait]);
        concurrency.begin(step.queue, waits.into_iter(), SiteId::new(index));
        let columns = step.columns.shifted(step.bank * 512);
        concurrency.psum(&Region::new(step.partitions, columns), step.access);
        if let Some((element, access)) = step.element {
            concurrency.buffer(7, Interval::new(element, element + 1), access);
        }
        let (token, other) = match concurrency.end(true, &mut log) {
            Ok(token) => (token, None),
            Err(report) => (tokens.len() as u64, report.notes[0].0.index()),
        };
        tokens.push(token);
        other
    };
    steps.iter().enumerate().map(run).collect()
}

/// For each instruction, all earlier ones that it collides with.
fn expected(steps: &[Step]) -> Vec<Vec<usize>> {
    let mut before: Vec<Vec<bool>> = Vec::new();
    let mut result = Vec::new();
    for (late, step) in steps.iter().enumerate() {
        let mut ordered = vec![false; late];
        for early in (0..late).rev() {
            let other = &steps[early];
            let is_barrier = [step, other].iter().any(|one| one.queue == HOST);
            if is_barrier
                || step.queue == other.queue
                || step.wait == Some(early)
                || conflict(step, other)
            {
                ordered[early] = true;
                let earlier = before[early].clone();
                for (own, its) in ordered.iter_mut().zip(earlier) {
                    *own |= its;
                }
            }
        }
        let is_pe = |step: &Step| matches!(step.queue, Queue::Tile(_));
        let collides = |&early: &usize| {
            let other = &steps[early];
            let quadrants = |step: &Step| target().quadrants(step.partitions);
            !ordered[early]
                && step.queue != other.queue
                && (is_pe(step) || is_pe(other))
                && step.bank == other.bank
                && quadrants(step).overlaps(quadrants(other))
        };
        result.push((0..late).filter(collides).collect());
        before.push(ordered);
    }
    result
}

fn conflict(a: &Step, b: &Step) -> bool {
    let writes = |a: Access, b: Access| a == Access::Write || b == Access::Write;
    let in_psum = a.bank == b.bank
        && a.partitions.overlaps(b.partitions)
        && a.columns.overlaps(b.columns)
        && writes(a.access, b.access);
    let elsewhere = match (a.element, b.element) {
        (Some((x, a)), Some((y, b))) => x == y && writes(a, b),
        _ => false,
    };
    in_psum || elsewhere
}

/// Small random numbers.
struct Dice(Random);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0.bits() % end
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }
}

fn random(rng: &mut Dice, index: usize) -> Step {
    let queue = match rng.below(16) {
        0 => HOST,
        1..8 => TILES[rng.below(2) as usize],
        _ => ENGINES[rng.below(2) as usize],
    };
    let is_pe = matches!(queue, Queue::Tile(_));
    let access = |rng: &mut Dice| match rng.flip() {
        true => Access::Write,
        false => Access::Read,
    };
    let row = rng.below(4) as u32 * 32;
    let column = rng.below(4) as u32;
    let width = 1 + rng.below(2) as u32;
    Step {
        queue,
        wait: (index > 0 && rng.below(4) == 0).then(|| rng.below(index as u64) as usize),
        bank: rng.below(2) as u32,
        partitions: Interval::new(row, row + 32),
        columns: Interval::new(column, column + width),
        access: if is_pe { Access::Write } else { access(rng) },
        element: (rng.below(3) == 0).then(|| (rng.below(3) as u32, access(rng))),
    }
}

#[test]
fn a_collision_is_found_exactly_where_nothing_orders_two_instructions() {
    let mut rng = Dice(Random::new(17));
    let (mut colliding, mut fine) = (0, 0);
    for _ in 0..3000 {
        let steps: Vec<Step> = (0..12).map(|index| random(&mut rng, index)).collect();
        for (late, (all, one)) in expected(&steps).iter().zip(found(&steps)).enumerate() {
            match one {
                Some(early) => assert!(all.contains(&early), "{late} and {early} of {steps:#?}"),
                None => assert!(all.is_empty(), "{late} and {all:?} of {steps:#?}"),
            }
            colliding += usize::from(one.is_some());
            fine += usize::from(one.is_none());
        }
    }
    assert!(colliding > 1000 && fine > 1000, "{colliding} and {fine}");
}

#[test]
fn a_start_touches_its_whole_region() {
    let mut concurrency = Concurrency::new(target());
    let mut log = HazardLog::new(HazardPolicy::Async);
    let group = Interval::new(0, 128);
    let place = |column: u32| Region::new(group, Interval::new(column, column + 8));
    let read = |concurrency: &mut Concurrency, column, site| {
        let none = std::iter::empty();
        concurrency.begin(Queue::Engine(Engine::Vector), none, SiteId::new(site));
        concurrency.psum(&place(column), Access::Read);
    };
    read(&mut concurrency, 0, 0);
    assert!(concurrency.end(false, &mut log).is_ok());
    concurrency.begin(Queue::Tile(None), std::iter::empty(), SiteId::new(1));
    concurrency.zero_region(ZeroWindow::of_bank(0, 0), group);
    concurrency.psum(&place(64), Access::Write);
    assert!(
        concurrency.end(false, &mut log).is_ok(),
        "the region orders it behind the read"
    );
    read(&mut concurrency, 0, 2);
    assert!(
        concurrency.end(false, &mut log).is_ok(),
        "and later reads behind the region"
    );
    concurrency.begin(Queue::Tile(None), std::iter::empty(), SiteId::new(3));
    concurrency.psum(&place(64), Access::Write);
    let report = concurrency
        .end(false, &mut log)
        .expect_err("other cells of the bank");
    assert_eq!(report.tag, "pto:psum-collision");
    assert_eq!(
        (report.site, report.notes[0].0),
        (SiteId::new(3), SiteId::new(2))
    );
}

#[test]
fn a_long_run_keeps_few_clocks() {
    let mut concurrency = Concurrency::new(target());
    let mut log = HazardLog::new(HazardPolicy::Async);
    for index in 0..100_000 {
        let queue = if index % 2 == 0 { TILES[0] } else { ENGINES[0] };
        concurrency.begin(queue, std::iter::empty(), SiteId::new(index));
        let access = if index % 2 == 0 {
            Access::Write
        } else {
            Access::Read
        };
        let place = Region::new(Interval::new(0, 128), Interval::new(0, 512));
        concurrency.psum(&place, access);
        assert!(concurrency.end(false, &mut log).is_ok());
    }
    assert!(!concurrency.clocks.is_full());
}
