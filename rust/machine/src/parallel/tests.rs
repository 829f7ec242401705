use std::collections::BTreeSet;

use super::*;
use crate::memory::{BufferId, Dim, View};

const LOOP: SiteId = SiteId::new(100);
const INNER: SiteId = SiteId::new(101);

#[test]
fn every_order_is_a_permutation() {
    for count in (1..40).chain([64, 100, 1000]) {
        let all: BTreeSet<u64> = (0..count).collect();
        let seeds = (0..5).map(Order::Shuffled);
        for order in seeds.chain([Order::Forward, Order::Reverse]) {
            let run: BTreeSet<u64> = (0..count).map(|at| order.iteration(at, count)).collect();
            assert_eq!(run, all, "{order:?} of {count}");
        }
    }
    let first: BTreeSet<u64> = (0..64)
        .map(|seed| Order::Shuffled(seed).iteration(0, 8))
        .collect();
    assert!(first.len() > 5, "seeds begin everywhere: {first:?}");
    let huge = u64::MAX - 3;
    assert!(Order::Shuffled(1).iteration(5, huge) < huge);
}

/// Loops with one buffer, whose elements are touched one at a time.
struct Watch {
    loops: ParallelLoops,
    marks: Marks,
}

impl Watch {
    fn new() -> Self {
        Self {
            loops: ParallelLoops::new(true),
            marks: Marks::default(),
        }
    }

    fn enter(&mut self, site: SiteId) {
        self.loops.enter(site, 1);
    }

    /// The earlier site and the loop, if the access of `site` to `element` is in conflict.
    fn touch(&mut self, element: usize, access: Access, site: usize) -> Option<(usize, SiteId)> {
        let view = View {
            buffer: BufferId::NONE,
            offset: element as i64,
            dims: [Dim { size: 1, stride: 1 }].into_iter().collect(),
        };
        let Self { loops, marks } = self;
        let found = loops.touch(marks, &view.runs(), access, SiteId::new(site));
        found
            .expect("few elements")
            .map(|conflict| (conflict.earlier.index().expect("a site"), conflict.in_loop))
    }

    fn read(&mut self, element: usize, site: usize) -> Option<(usize, SiteId)> {
        self.touch(element, Access::Read, site)
    }

    fn write(&mut self, element: usize, site: usize) -> Option<(usize, SiteId)> {
        self.touch(element, Access::Write, site)
    }
}

#[test]
fn iterations_may_share_what_they_only_read() {
    let mut watch = Watch::new();
    watch.enter(LOOP);
    assert_eq!(watch.read(0, 1), None);
    assert_eq!(watch.write(5, 2), None);
    assert_eq!(watch.read(5, 3), None, "its own");
    assert_eq!(watch.write(5, 4), None, "its own");
    watch.loops.advance(1);
    assert_eq!(watch.read(0, 1), None);
    assert_eq!(watch.read(5, 3), Some((4, LOOP)));
    assert_eq!(watch.write(0, 6), Some((1, LOOP)));
}

#[test]
fn what_comes_after_a_loop_is_in_order() {
    let mut watch = Watch::new();
    watch.enter(LOOP);
    assert_eq!(watch.write(0, 1), None);
    watch.loops.advance(1);
    assert_eq!(watch.write(1, 1), None);
    watch.loops.leave();
    watch.enter(LOOP);
    assert_eq!(watch.read(0, 2), None, "of the loop before");
    watch.loops.advance(1);
    assert_eq!(watch.read(0, 2), None);
    assert_eq!(watch.write(1, 3), None);
}

#[test]
fn loops_in_loops() {
    let mut watch = Watch::new();
    watch.enter(LOOP);
    watch.enter(INNER);
    assert_eq!(watch.write(0, 1), None);
    watch.loops.advance(1);
    assert_eq!(watch.write(1, 1), None);
    assert_eq!(watch.read(0, 2), Some((1, INNER)));
    watch.loops.leave();
    assert_eq!(watch.read(1, 3), None, "the inner loop is done");
    watch.loops.advance(1);
    watch.enter(INNER);
    assert_eq!(
        watch.read(1, 4),
        Some((1, LOOP)),
        "of another outer iteration"
    );
}

/// An access with the loops around it: for each the instance and the iteration.
struct Past {
    path: Vec<(u32, u32)>,
    element: usize,
    is_write: bool,
}

impl Past {
    /// Whether the two may change places: some loop has them in different iterations.
    fn conflicts_with(&self, other: &Self) -> bool {
        let mut levels = self.path.iter().zip(&other.path);
        let differ = levels.find(|(own, other)| own != other);
        self.element == other.element
            && (self.is_write || other.is_write)
            && differ.is_some_and(|(own, other)| own.0 == other.0)
    }
}

/// Against the definition: every pair of accesses, by the iterations around both.
#[test]
fn conflicts_by_brute_force() {
    let mut random = Random::new(7);
    let mut draw = |below: u64| random.bits() % below;
    let mut conflicts = 0;
    for _ in 0..400 {
        let mut watch = Watch::new();
        let mut path: Vec<(u32, u32)> = Vec::new();
        let (mut instances, mut found, mut expected) = (0, false, false);
        let mut history: Vec<Past> = Vec::new();
        for _ in 0..30 {
            match draw(6) {
                0 if path.len() < 3 => {
                    instances += 1;
                    path.push((instances, 0));
                    watch.enter(LOOP);
                }
                1 if !path.is_empty() => {
                    path.pop();
                    watch.loops.leave();
                }
                2 | 3 if !path.is_empty() => {
                    if let Some((_, iteration)) = path.last_mut() {
                        *iteration += 1;
                    }
                    watch.loops.advance(1);
                }
                _ => {
                    let present = Past {
                        path: path.clone(),
                        element: draw(4) as usize,
                        is_write: draw(3) == 0,
                    };
                    expected |= history.iter().any(|past| present.conflicts_with(past));
                    let access = match present.is_write {
                        true => Access::Write,
                        false => Access::Read,
                    };
                    if watch.loops.watches(1) {
                        found |= watch.touch(present.element, access, 1).is_some();
                    }
                    history.push(present);
                }
            }
        }
        assert_eq!(found, expected);
        conflicts += usize::from(found);
    }
    assert!(
        (100..300).contains(&conflicts),
        "of both kinds: {conflicts}"
    );
}

#[test]
fn buffers_of_an_iteration_and_unwatched_loops_are_left_alone() {
    let mut loops = ParallelLoops::new(true);
    assert!(!loops.watches(1), "no loop");
    loops.enter(LOOP, 7);
    assert!(loops.watches(7));
    assert!(!loops.watches(8));
    loops.advance(9);
    assert!(loops.watches(8));
    let mut loops = ParallelLoops::new(false);
    loops.enter(LOOP, 7);
    assert!(!loops.watches(7));
}

#[test]
fn there_is_an_end_to_what_is_remembered() {
    let mut watch = Watch::new();
    watch.loops.pages_left = 2;
    watch.enter(LOOP);
    let view = View {
        buffer: BufferId::NONE,
        offset: 0,
        dims: [Dim {
            size: 3 * marks::PAGE as u64,
            stride: 1,
        }]
        .into_iter()
        .collect(),
    };
    let Watch { loops, marks } = &mut watch;
    let outcome = loops.touch(marks, &view.runs(), Access::Read, LOOP);
    assert_eq!(outcome, Err(TooManyMarks));
    assert_eq!(marks.page_count(), 2);
}
