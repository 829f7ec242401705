//! Every small program over two buffers, up to symmetry.
//!
//! Instructions are all combinations of a kind (`mm`, `mma`, `data`, `memset`, `read`), a buffer,
//! a part of it (all, and its halves) and a column group (its own, or all columns). Every program
//! contains a matmul and ends with reads of everything that was written. Of programs that say the same
//! only one is made; what is left out, and why nothing is lost:
//!
//! 1. Reads of cells that nobody wrote: a program must not do that.
//! 2. Programs that use buffer 1 first, where the buffers are alike: exchange their names.
//! 3. Programs that use the second half of a buffer within one bank before its first: no rule of the
//!    machine orders the cells of a bank and partition, so the halves may be exchanged.
//! 4. `mm` on cells that are all fresh: `mma` overwrites them too.
//! 5. Of neighbouring reads all orders but one, and a read right after the same read or right before
//!    the reads at the end: between two writes every read sees the same.
//!
//! [`Reduction::None`] leaves out the first and second only. A test compares both.

use pto_ir::{Engine, Interval, Origin, Program, Target};

use super::recipe::{Buffer, Dst, Kind, Piece, Recipe, Step, UNIT_BYTES, tile_columns};

/// Two buffers in a relative place that matters.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What the place is, in a few words.
    pub name: &'static str,
    buffers: [Buffer; 2],
    letters: Vec<Letter>,
    bank_bytes: u32,
    /// Exchanging the buffers gives the same programs.
    is_symmetric: bool,
}

/// Which programs that say the same as another are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Those that are the same program: another name for a buffer, a read that must not be.
    None,
    /// All that the rules of the module name.
    Full,
}

/// A part of the programs of one length: number `index` of `count` parts of about one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The part.
    pub index: u64,
    /// How many parts there are.
    pub count: u64,
}

impl Shard {
    /// Everything in one part.
    pub const ALL: Self = Self { index: 0, count: 1 };
}

/// Instructions after which programs are dealt out to shards.
const DEALT_AFTER: usize = 3;

/// An instruction, with what the reductions ask of it.
#[derive(Clone, Debug)]
struct Letter {
    step: Step,
    buffer: usize,
    kind: Kind,
    /// Its cells: a bit for each quadrant and half of its buffer.
    cells: u8,
    half: Half,
}

/// The part of a buffer in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Whole,
    First,
    Second,
}

impl Letter {
    const fn is_matmul(&self) -> bool {
        matches!(self.kind, Kind::Matmul(_) | Kind::MatmulAcc(_))
    }
}

fn buffer(bank: u32, quadrants: (u32, u32), units: (u32, u32)) -> Buffer {
    Buffer {
        bank,
        quadrants: Interval::new(quadrants.0, quadrants.1),
        units: Interval::new(units.0, units.1),
        origin: Origin::Allocation,
        escapes: false,
        late: false,
    }
}

/// The scenes of `target`: two quadrants, two banks and two places within a bank at most.
pub fn scenes(target: &'static Target) -> Vec<Scene> {
    let scene = |name, first, second, is_symmetric| {
        let buffers: [Buffer; 2] = [first, second];
        let letters = letters(target, &buffers);
        Scene {
            name,
            buffers,
            letters,
            bank_bytes: target.bank_bytes,
            is_symmetric,
        }
    };
    let near = buffer(0, (0, 1), (0, 4));
    let mut scenes = vec![
        scene(
            "beside each other",
            near.clone(),
            buffer(0, (0, 1), (4, 8)),
            true,
        ),
        scene(
            "in two quadrants, other bytes",
            near.clone(),
            buffer(0, (1, 2), (4, 8)),
            false,
        ),
        scene(
            "in two quadrants, same bytes",
            near.clone(),
            buffer(0, (1, 2), (0, 4)),
            false,
        ),
        scene(
            "in two banks",
            near.clone(),
            buffer(1, (0, 1), (0, 4)),
            true,
        ),
        scene(
            "one in two quadrants",
            buffer(0, (0, 2), (0, 4)),
            buffer(0, (1, 2), (4, 8)),
            false,
        ),
        scene(
            "in the same place, one after the other",
            near.clone(),
            near,
            true,
        ),
    ];
    if target.max_zero_region_code > 0 {
        let wide = buffer(0, (0, 1), (4, 12));
        scenes.push(scene(
            "one over two banks",
            wide,
            buffer(1, (0, 1), (4, 8)),
            false,
        ));
        let crossing = buffer(1, (0, 1), (4, 12));
        scenes.push(scene(
            "window of four banks",
            crossing,
            buffer(0, (0, 1), (0, 4)),
            false,
        ));
    }
    scenes
}

/// The pieces of a buffer, with their cells.
fn pieces(buffer: &Buffer) -> Vec<(Piece, Half, u8)> {
    let bytes = buffer.units.len() * UNIT_BYTES;
    let piece = |quadrant, quadrants: u32, bytes| Piece {
        quadrant,
        partitions: quadrants * 32,
        bytes: vec![bytes],
    };
    let all = buffer.quadrants.len();
    let (first, second) = if all > 1 {
        (0b0101, 0b1010)
    } else {
        (0b01, 0b10)
    };
    let mut pieces = vec![
        (
            piece(0, all, Interval::new(0, bytes)),
            Half::Whole,
            first | second,
        ),
        (
            piece(0, all, Interval::new(0, bytes / 2)),
            Half::First,
            first,
        ),
        (
            piece(0, all, Interval::new(bytes / 2, bytes)),
            Half::Second,
            second,
        ),
    ];
    if all > 1 {
        pieces.push((piece(1, 1, Interval::new(0, bytes)), Half::Whole, 0b1100));
    }
    pieces
}

fn letters(target: &Target, buffers: &[Buffer; 2]) -> Vec<Letter> {
    let mut letters = Vec::new();
    for (index, buffer) in buffers.iter().enumerate() {
        for (piece, half, cells) in pieces(buffer) {
            let base = buffer.quadrants.start + piece.quadrant;
            let columns = tile_columns(target, base, piece.partitions);
            let widest = columns.iter().copied().find(|&size| size == 0);
            let own = columns
                .iter()
                .copied()
                .find(|&size| size >= piece.partitions);
            let mut kinds = vec![Kind::Data(Engine::Vector), Kind::Memset, Kind::Read];
            for columns in [own, widest].into_iter().flatten() {
                let dst = Dst {
                    columns,
                    flags: None,
                };
                kinds.extend([Kind::Matmul(dst), Kind::MatmulAcc(dst)]);
            }
            letters.extend(kinds.into_iter().map(|kind| Letter {
                step: Step::Inst(kind, index, piece.clone(), None),
                buffer: index,
                kind,
                cells,
                half,
            }));
        }
    }
    letters
}

impl Scene {
    /// Number of different instructions.
    pub fn letter_count(&self) -> usize {
        self.letters.len()
    }

    /// Calls `visit` with the programs of exactly `length` instructions that belong to `shard`, each
    /// followed by reads of everything written.
    pub fn programs(
        &self,
        target: &'static Target,
        length: usize,
        reduction: Reduction,
        shard: Shard,
        mut visit: impl FnMut(&Program),
    ) {
        self.words(length, reduction, shard, |recipe| {
            visit(&recipe.build(target));
        });
    }

    /// How many programs of exactly `length` instructions belong to `shard`.
    pub fn count(&self, length: usize, reduction: Reduction, shard: Shard) -> u64 {
        let mut count = 0;
        self.words(length, reduction, shard, |_| count += 1);
        count
    }

    fn words(&self, length: usize, reduction: Reduction, shard: Shard, visit: impl FnMut(&Recipe)) {
        let recipe = Recipe {
            buffers: self.buffers.to_vec(),
            steps: Vec::with_capacity(length),
            reads_back: false,
            reads_at_end: true,
        };
        let mut search = Search {
            scene: self,
            length,
            reduction,
            shard,
            dealt: 0,
            recipe,
            visit,
        };
        search.extend(Prefix::default());
    }

    /// Whether the halves of a buffer are alike as long as the program used neither alone.
    fn halves_are_alike(&self, buffer: usize, has_half: [bool; 2]) -> bool {
        let is_in_one_bank = self.buffers[buffer].units.end * UNIT_BYTES <= self.bank_bytes;
        // Where the buffers share their cells, a half of one is a half of the other.
        let is_shared = self.buffers[0] == self.buffers[1];
        is_in_one_bank && !has_half[buffer] && !(is_shared && has_half[1 - buffer])
    }
}

/// What matters of the instructions so far.
#[derive(Clone, Copy, Default)]
struct Prefix {
    /// By buffer, the cells that were written.
    written: [u8; 2],
    /// By buffer, whether its halves can be told apart.
    has_half: [bool; 2],
    has_matmul: bool,
    /// The letter before, if it was a read.
    last_read: Option<usize>,
}

/// Depth first over all words; prefixes that no program may have are cut.
struct Search<'a, Visit> {
    scene: &'a Scene,
    length: usize,
    reduction: Reduction,
    shard: Shard,
    /// Prefixes dealt out so far.
    dealt: u64,
    recipe: Recipe,
    visit: Visit,
}

impl<Visit: FnMut(&Recipe)> Search<'_, Visit> {
    fn extend(&mut self, prefix: Prefix) {
        let depth = self.recipe.steps.len();
        if depth == DEALT_AFTER.min(self.length) {
            let number = self.dealt;
            self.dealt += 1;
            if number % self.shard.count != self.shard.index {
                return;
            }
        }
        if depth == self.length {
            if prefix.has_matmul && !self.ends_in_vain(&prefix) {
                (self.visit)(&self.recipe);
            }
            return;
        }
        let scene = self.scene;
        for (index, letter) in scene.letters.iter().enumerate() {
            if let Some(next) = self.next(&prefix, index, letter) {
                self.recipe.steps.push(letter.step.clone());
                self.extend(next);
                self.recipe.steps.pop();
            }
        }
    }

    /// Rule 5: a read right before the reads at the end.
    fn ends_in_vain(&self, prefix: &Prefix) -> bool {
        self.reduction == Reduction::Full && prefix.last_read.is_some()
    }

    /// `prefix` with one more letter; `None` where a rule leaves that out.
    fn next(&self, prefix: &Prefix, index: usize, letter: &Letter) -> Option<Prefix> {
        let written = prefix.written[letter.buffer] & letter.cells;
        let is_read = letter.kind == Kind::Read;
        let is_first = prefix.written == [0, 0];
        if (is_read && written != letter.cells)
            || (is_first && letter.buffer == 1 && self.scene.is_symmetric)
            || (self.reduction == Reduction::Full && self.repeats(prefix, index, letter, written))
        {
            return None;
        }
        let mut next = *prefix;
        if !is_read {
            next.written[letter.buffer] |= letter.cells;
        }
        next.has_half[letter.buffer] |= letter.half != Half::Whole;
        next.has_matmul |= letter.is_matmul();
        next.last_read = is_read.then_some(index);
        Some(next)
    }

    /// Rules 3 to 5.
    fn repeats(&self, prefix: &Prefix, index: usize, letter: &Letter, written: u8) -> bool {
        let other_half = letter.half == Half::Second
            && self.scene.halves_are_alike(letter.buffer, prefix.has_half);
        let fresh_overwrite = matches!(letter.kind, Kind::Matmul(_)) && written == 0;
        let read_again =
            letter.kind == Kind::Read && prefix.last_read.is_some_and(|last| last >= index);
        other_half || fresh_overwrite || read_again
    }
}
