//! Every small program over two buffers, up to symmetry.
//!
//! Instructions are all combinations of a kind (`mm`, `mma`, `data`, `memset`, `read`), a buffer,
//! a part of it (all, and its halves) and a column group (its own, or all columns). Programs begin
//! with a write, contain a matmul, and use buffer 0 first where both buffers are alike.

use pto_ir::{Engine, Interval, Origin, Program, Target};

use super::recipe::{Buffer, Dst, Kind, Piece, Recipe, Step, UNIT_BYTES, tile_columns};

/// Two buffers in a relative place that matters.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What the place is, in a few words.
    pub name: &'static str,
    buffers: [Buffer; 2],
    letters: Vec<Step>,
    /// Exchanging the buffers gives the same programs.
    is_symmetric: bool,
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

fn pieces(buffer: &Buffer) -> Vec<Piece> {
    let bytes = buffer.units.len() * UNIT_BYTES;
    let piece = |quadrant, quadrants: u32, bytes| Piece {
        quadrant,
        partitions: quadrants * 32,
        bytes: vec![bytes],
    };
    let all = buffer.quadrants.len();
    let mut pieces = vec![
        piece(0, all, Interval::new(0, bytes)),
        piece(0, all, Interval::new(0, bytes / 2)),
        piece(0, all, Interval::new(bytes / 2, bytes)),
    ];
    if all > 1 {
        pieces.push(piece(1, 1, Interval::new(0, bytes)));
    }
    pieces
}

fn letters(target: &Target, buffers: &[Buffer; 2]) -> Vec<Step> {
    let mut letters = Vec::new();
    for (index, buffer) in buffers.iter().enumerate() {
        for piece in pieces(buffer) {
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
            let step = |kind| Step::Inst(kind, index, piece.clone(), None);
            letters.extend(kinds.into_iter().map(step));
        }
    }
    letters
}

impl Scene {
    /// Number of different instructions.
    pub fn letter_count(&self) -> usize {
        self.letters.len()
    }

    /// Calls `visit` with the programs of exactly `length` instructions, each followed by reads of
    /// everything written: of their numbers in `range`, every `stride`-th. Returns how many it was.
    pub fn programs(
        &self,
        target: &'static Target,
        length: usize,
        range: std::ops::Range<u64>,
        stride: u64,
        mut visit: impl FnMut(&Program),
    ) -> u64 {
        let (mut number, mut count) = (0, 0);
        let mut word = vec![0; length];
        loop {
            if self.is_canonical(&word) {
                if range.contains(&number) && (number - range.start).is_multiple_of(stride) {
                    visit(&self.recipe(&word).build(target));
                    count += 1;
                }
                number += 1;
            }
            if number >= range.end || !advance(&mut word, self.letters.len()) {
                return count;
            }
        }
    }

    fn recipe(&self, word: &[usize]) -> Recipe {
        Recipe {
            buffers: self.buffers.to_vec(),
            steps: word
                .iter()
                .map(|&letter| self.letters[letter].clone())
                .collect(),
            reads_back: false,
            reads_at_end: true,
        }
    }

    fn is_canonical(&self, word: &[usize]) -> bool {
        let kind_and_buffer = |letter: usize| match &self.letters[letter] {
            Step::Inst(kind, buffer, _, _) => Some((*kind, *buffer)),
            _ => None,
        };
        let is_matmul = |&letter: &usize| {
            matches!(
                kind_and_buffer(letter),
                Some((Kind::Matmul(_) | Kind::MatmulAcc(_), _))
            )
        };
        match word.first().and_then(|&letter| kind_and_buffer(letter)) {
            None | Some((Kind::Read, _)) => false,
            Some((_, first)) => word.iter().any(is_matmul) && !(self.is_symmetric && first == 1),
        }
    }
}

/// The next word in counting order; false after the last.
fn advance(word: &mut [usize], letters: usize) -> bool {
    for digit in word.iter_mut().rev() {
        *digit += 1;
        if *digit < letters {
            return true;
        }
        *digit = 0;
    }
    false
}
