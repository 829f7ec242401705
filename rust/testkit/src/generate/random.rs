//! Drawing a recipe: one generator for property tests and for millions of programs a minute.

use proptest::prelude::{Just, Strategy, any};
use pto_ir::{AccFlags, Engine, Interval, Origin, RegionKind, Target};

use super::recipe::{Buffer, Dst, Kind, Piece, Recipe, Step, UNIT_BYTES, tile_columns};

/// Where choices come from. Zero is the simplest choice everywhere, so that shrinking a list of
/// choices simplifies the program.
pub trait Source {
    /// A number below `count`, which is at least 1.
    fn below(&mut self, count: u32) -> u32;

    /// True in `percent` of the cases.
    fn percent(&mut self, percent: u32) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of `choices`, which is not empty.
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }
}

impl Source for fastrand::Rng {
    fn below(&mut self, count: u32) -> u32 {
        self.u32(0..count.max(1))
    }
}

/// Choices from a list; when it is used up every choice is 0.
#[derive(Debug)]
pub struct Listed<'a>(std::slice::Iter<'a, u32>);

impl<'a> Listed<'a> {
    /// The choices of `list`, each a fraction of 2^32.
    pub fn new(list: &'a [u32]) -> Self {
        Self(list.iter())
    }
}

impl Source for Listed<'_> {
    fn below(&mut self, count: u32) -> u32 {
        let raw = self.0.next().copied().unwrap_or(0);
        ((u64::from(raw) * u64::from(count)) >> 32) as u32
    }
}

/// What may be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The most buffers.
    pub buffers: u32,
    /// The most steps.
    pub steps: u32,
    /// Loops and branches around instructions.
    pub regions: bool,
    /// Arguments, escaping buffers and late allocations.
    pub lives: bool,
    /// Random flags instead of auto.
    pub flags: bool,
    /// Read back every write at once.
    pub reads_back: bool,
}

impl Profile {
    /// Straight lines with auto flags.
    pub const AUTO: Self = Self {
        buffers: 4,
        steps: 14,
        regions: false,
        lives: true,
        flags: false,
        reads_back: false,
    };

    /// Straight lines with random flags.
    pub const FLAGGED: Self = Self {
        steps: 8,
        flags: true,
        ..Self::AUTO
    };
}

/// A property-test strategy for recipes of `profile` on `target`.
pub fn strategy(target: &'static Target, profile: Profile) -> impl Strategy<Value = Recipe> {
    let choices = proptest::collection::vec(any::<u32>(), 0..400);
    (choices, Just(profile))
        .prop_map(move |(choices, profile)| recipe(&mut Listed::new(&choices), target, profile))
}

/// Draws a recipe.
pub fn recipe(source: &mut impl Source, target: &'static Target, profile: Profile) -> Recipe {
    let count = 1 + source.below(profile.buffers);
    let mut buffers: Vec<Buffer> = Vec::new();
    for _ in 0..count {
        let buffer = draw_buffer(source, target, profile, buffers.last());
        buffers.push(buffer);
    }
    buffers.sort_by_key(|buffer| buffer.origin == Origin::Allocation);
    let mut steps = Vec::new();
    let mut depth = 0;
    for _ in 0..1 + source.below(profile.steps) {
        if profile.regions && source.percent(20) {
            steps.push(draw_region(source, &mut depth));
        } else {
            let buffer = source.below(count) as usize;
            steps.push(draw_inst(source, target, profile, buffer, &buffers[buffer]));
        }
    }
    Recipe {
        buffers,
        steps,
        reads_back: profile.reads_back,
        reads_at_end: profile.reads_back || !source.percent(20),
    }
}

fn draw_region(source: &mut impl Source, depth: &mut u32) -> Step {
    if *depth > 0 && source.percent(60) {
        if source.percent(40) {
            return Step::Next;
        }
        *depth -= 1;
        return Step::Close;
    }
    *depth += 1;
    if source.percent(40) {
        return match source.below(6) {
            0 => Step::OpenVarying,
            3..6 => Step::OpenAsking {
                is_loop: source.percent(40),
                negated: source.percent(25),
                number: source.below(2),
                depth: source.below(3),
            },
            1 => Step::OpenFirst { negated: false },
            _ => Step::OpenFirst { negated: true },
        };
    }
    let trips = source.pick(&[None, Some(0), Some(1), Some(2), Some(3)]);
    Step::Open(source.pick(&[
        RegionKind::If,
        RegionKind::For { trips },
        RegionKind::For { trips: None },
        RegionKind::IndexSwitch,
        RegionKind::While,
    ]))
}

/// A buffer. Often it lies near the one before: in its bank, on the same bytes or beside them.
fn draw_buffer(
    source: &mut impl Source,
    target: &Target,
    profile: Profile,
    last: Option<&Buffer>,
) -> Buffer {
    let quadrants = source.pick(&[
        (0, 4),
        (0, 2),
        (2, 4),
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (0, 3),
    ]);
    let start = source.below(8);
    let end = start + 1 + source.below(8 - start);
    let mut units = Interval::new(start, end);
    let mut bank = source.below(3);
    if target.max_zero_region_code > 0 && source.percent(15) {
        units = source.pick(&[
            Interval::new(0, 16),
            Interval::new(4, 12),
            Interval::new(0, 24),
        ]);
        bank = source.below(4);
    }
    let mut quadrants = Interval::new(quadrants.0, quadrants.1);
    if let Some(last) = last {
        bank = if source.percent(20) { bank } else { last.bank };
        if source.percent(25) {
            units = last.units;
        }
        if source.percent(40) {
            quadrants = last.quadrants;
        }
    }
    let is_argument = profile.lives && source.percent(10);
    Buffer {
        bank,
        quadrants,
        units,
        origin: if is_argument {
            Origin::Argument {
                index: 0,
                fresh: source.percent(50),
            }
        } else {
            Origin::Allocation
        },
        escapes: is_argument || (profile.lives && source.percent(5)),
        late: !is_argument && profile.lives && source.percent(50),
    }
}

fn draw_piece(source: &mut impl Source, buffer: &Buffer) -> Piece {
    let mut piece = Piece {
        quadrant: 0,
        partitions: buffer.quadrants.len() * 32,
        bytes: vec![Interval::new(0, buffer.units.len() * UNIT_BYTES)],
    };
    if source.percent(30) {
        piece.quadrant = source.below(buffer.quadrants.len());
        let rest = (buffer.quadrants.len() - piece.quadrant) * 32;
        let first = buffer.quadrants.start + piece.quadrant;
        let most = [128, 32, 64, 32][first as usize % 4].min(rest);
        let some = 1 + source.below(most);
        piece.partitions = source.pick(&[most, most.min(32), most.min(64), some]);
    }
    if source.percent(35) {
        let units = buffer.units.len();
        let start = source.below(units);
        let end = start + 1 + source.below(units - start);
        piece.bytes = vec![Interval::new(start * UNIT_BYTES, end * UNIT_BYTES)];
        if source.percent(15) {
            let at = start * UNIT_BYTES;
            piece.bytes = vec![
                Interval::new(at, at + 64),
                Interval::new(at + 128, at + 192),
            ];
        }
    }
    piece
}

fn draw_inst(
    source: &mut impl Source,
    target: &Target,
    profile: Profile,
    index: usize,
    buffer: &Buffer,
) -> Step {
    let piece = draw_piece(source, buffer);
    let first = buffer.quadrants.start + piece.quadrant;
    let columns = tile_columns(target, first, piece.partitions);
    let dst = Dst {
        columns: if columns.is_empty() {
            0
        } else {
            source.pick(&columns)
        },
        flags: profile.flags.then(|| draw_flags(source, target)),
    };
    let kind = match source.below(100) {
        0..45 => Kind::MatmulAcc(dst),
        45..60 => Kind::Matmul(dst),
        60..78 => Kind::Read,
        78..86 => Kind::Data(source.pick(&[Engine::Vector, Engine::Dma, Engine::Scalar])),
        86..96 => Kind::Memset,
        _ => Kind::Fill,
    };
    let wait = source.percent(5).then(|| source.below(6) as usize);
    Step::Inst(kind, index, piece, wait)
}

/// Flags that are often right: START and nothing are the common ones.
fn draw_flags(source: &mut impl Source, target: &Target) -> (AccFlags, Option<u8>) {
    let stop = if source.percent(30) {
        AccFlags::STOP
    } else {
        AccFlags::NONE
    };
    let open = match source.below(10) {
        0..5 => AccFlags::START,
        5..8 => AccFlags::NONE,
        _ if target.has_accumulate => AccFlags::ACCUMULATE,
        _ => AccFlags::NONE,
    };
    let region = match source.below(4) {
        0 | 1 => Some(0),
        2 => None,
        _ => Some(source.below(u32::from(target.max_zero_region_code) + 1) as u8),
    };
    (open.with(stop), region)
}
