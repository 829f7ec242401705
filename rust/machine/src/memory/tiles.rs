//! Tiles in memory: words in row order, as many bits as the arithmetic keeps.
//!
//! A view of a tile is a view of its elements in row order, whatever the layout of its cells, so
//! that copies, loads and stores need not know where an element lies. An element leaves a tile as
//! the low bits of its word and enters it as a carrier; between tile operations in raw arithmetic
//! words keep all their 64 bits.

use super::view::View;
use crate::code::{ElementType, TileKind, TileSpace};
use crate::tile::contents::SharedState;
use crate::tile::cooperative::ELEMENTS;
use crate::tile::{DataType, Descriptor, Tile};

/// A tile as a buffer.
#[derive(Debug)]
pub(crate) struct TileBuffer {
    kind: TileKind,
    tile: Tile,
}

impl TileBuffer {
    /// A tile of `rows` x `columns` elements that hold nothing. `None`: no tile has that many.
    pub(crate) fn new(kind: TileKind, (rows, columns): (u32, u32), capacity: u32) -> Option<Self> {
        let tile = Tile::undefined(kind.descriptor(rows, columns, capacity))?;
        Some(Self { kind, tile })
    }

    /// The tile.
    pub(crate) fn tile(&self) -> &Tile {
        &self.tile
    }

    /// Whether every processing element of the core reads it.
    pub(crate) fn is_shared(&self) -> bool {
        self.kind.space == TileSpace::Shared
    }

    /// What its elements are.
    pub(crate) fn data_type(&self) -> DataType {
        self.kind.data_type
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.tile.words().len()
    }

    /// Bytes on all processing elements together: each has its own copy of a Local tile.
    pub(crate) fn core_bytes(&self) -> u64 {
        let copies = if self.is_shared() { 1 } else { ELEMENTS };
        u64::from(self.tile.descriptor().capacity) * u64::from(copies)
    }

    /// The descriptor of the same tile as a row-major one: an auxiliary operand, of which only the
    /// one row or column counts.
    pub(crate) fn row_major(&self) -> Descriptor {
        let own = self.tile.descriptor();
        let (rows, columns) = (own.valid_rows, own.valid_columns);
        Descriptor::row_major(own.data_type, rows, columns, own.capacity)
    }

    /// A Shared tile is ready once something was written: its writer publishes it whole.
    pub(crate) fn shared_state(&self) -> Option<SharedState> {
        let is_written = self.tile.undefined_count() < self.len();
        self.is_shared().then_some(match is_written {
            true => SharedState::READY,
            false => SharedState {
                initialised: 0,
                published: false,
                ..SharedState::READY
            },
        })
    }

    /// The bits of element `at` as a scalar; `None` if it holds nothing.
    pub(crate) fn load(&self, at: usize) -> Option<u64> {
        let element = ElementType::of_tile(self.kind.data_type);
        self.tile.word(at).map(|word| truncated(element, word))
    }

    /// Sets element `at` from the bits of a scalar.
    pub(crate) fn store(&mut self, at: usize, bits: u64) {
        let word = self.kind.data_type.carrier(bits);
        self.tile.set_word(at, word);
    }

    /// Sets every element to a word of its own.
    pub(crate) fn set_words(&mut self, words: Vec<u64>) {
        if let Some(tile) = Tile::new(*self.tile.descriptor(), words) {
            self.tile = tile;
        }
    }

    /// Appends the elements of `view`, packed; those that hold nothing as zero, and how many.
    pub(crate) fn gather(&self, view: &View, out: &mut Vec<u8>) -> u64 {
        let width = ElementType::of_tile(self.kind.data_type).bytes();
        let mut undefined = 0;
        view.runs().for_each_segment(|start, len| {
            for at in start..start + len {
                let bits = self.load(at).unwrap_or_else(|| {
                    undefined += 1;
                    0
                });
                out.extend_from_slice(&bits.to_le_bytes()[..width]);
            }
        });
        undefined
    }

    /// The whole words of the elements of `view`, packed; those that hold nothing are zero, and
    /// counted.
    pub(crate) fn words(&self, view: &View) -> (Vec<u8>, u64) {
        let (mut out, mut undefined) = (Vec::new(), 0);
        view.runs().for_each_segment(|start, len| {
            for at in start..start + len {
                let word = self.tile.word(at);
                undefined += u64::from(word.is_none());
                out.extend_from_slice(&word.unwrap_or(0).to_le_bytes());
            }
        });
        (out, undefined)
    }

    /// Sets the whole words of the elements of `view` from packed ones.
    pub(crate) fn scatter_words(&mut self, view: &View, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(size_of::<u64>());
        view.runs().for_each_segment(|start, len| {
            for (at, word) in (start..start + len).zip(&mut words) {
                self.tile.set_word(at, super::bits_of(word));
            }
        });
    }

    /// Sets the elements of `view` from packed ones.
    pub(crate) fn scatter(&mut self, view: &View, bytes: &[u8]) {
        let width = ElementType::of_tile(self.kind.data_type).bytes();
        let mut elements = bytes.chunks_exact(width);
        view.runs().for_each_segment(|start, len| {
            for (at, element) in (start..start + len).zip(&mut elements) {
                self.store(at, super::bits_of(element));
            }
        });
    }

    /// The first of `len` elements from `start` that holds nothing.
    pub(crate) fn first_undefined(&self, start: usize, len: usize) -> Option<usize> {
        (start..start + len).find(|&at| self.tile.word(at).is_none())
    }
}

/// The low bits of a word, as many as an element has.
fn truncated(element: ElementType, word: u64) -> u64 {
    match element.int_width() {
        Some(width) => crate::code::truncate(word, width),
        None => crate::code::truncate(word, element.bytes() as u8 * 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::BufferId;

    fn buffer(space: TileSpace, data_type: DataType) -> TileBuffer {
        let kind = TileKind { space, data_type };
        TileBuffer::new(kind, (2, 3), 128).expect("a small tile")
    }

    #[test]
    fn elements_travel_as_the_bits_of_their_width() {
        let mut tile = buffer(TileSpace::CubeM16, DataType::S4X2);
        let whole = View::row_major(BufferId::NONE, &[2, 3]).expect("small");
        tile.scatter(&whole, &[0x0f, 0x07, 0xf8, 0, 1, 2]);
        assert_eq!(tile.tile().words()[0], u64::MAX, "-1, sign-extended");
        let mut out = Vec::new();
        assert_eq!(tile.gather(&whole, &mut out), 0);
        assert_eq!(out, [0x0f, 0x07, 0x08, 0, 1, 2]);
    }

    #[test]
    fn words_keep_what_an_element_does_not_show() {
        let mut tile = buffer(TileSpace::CubeM16, DataType::Fp32);
        tile.set_words(vec![0x1_0000_0002; 6]);
        assert_eq!(tile.load(4), Some(2));
        assert_eq!(tile.tile().words()[4], 0x1_0000_0002);
    }

    #[test]
    fn views_of_a_tile_are_in_row_order() {
        let mut tile = buffer(TileSpace::CubeN8, DataType::U8);
        let column = View {
            offset: 1,
            dims: [crate::memory::Dim { size: 2, stride: 3 }]
                .into_iter()
                .collect(),
            ..View::row_major(BufferId::NONE, &[2, 3]).expect("small")
        };
        tile.scatter(&column, &[5, 6]);
        assert_eq!(
            (tile.load(1), tile.load(4), tile.load(0)),
            (Some(5), Some(6), None)
        );
        assert_eq!(tile.first_undefined(1, 3), Some(2));
        let mut out = Vec::new();
        let whole = View::row_major(BufferId::NONE, &[2, 3]).expect("small");
        assert_eq!(tile.gather(&whole, &mut out), 4);
    }

    #[test]
    fn a_shared_tile_is_ready_once_written() {
        let mut tile = buffer(TileSpace::Shared, DataType::U8);
        let state = |tile: &TileBuffer| tile.shared_state().expect("Shared").published;
        assert!(!state(&tile));
        tile.store(0, 1);
        assert!(state(&tile));
        assert_eq!(tile.core_bytes(), 128);
        let local = buffer(TileSpace::CubeM16, DataType::U8);
        assert_eq!((local.shared_state(), local.core_bytes()), (None, 512));
    }
}
