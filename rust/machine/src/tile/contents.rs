//! Tiles with contents: the words an operation reads, and which of them are defined.

use super::descriptor::{Descriptor, MAX_SHARED_CAPACITY};
use super::revision::Revision;

/// The most elements a tile can have: the largest capacity of the narrowest type.
const MAX_ELEMENTS: usize = 2 * MAX_SHARED_CAPACITY as usize;

/// A tile with contents: one 64-bit carrier word for each valid element, in row order.
///
/// A carrier holds the element's bits right-aligned; signed integers are sign-extended. The words
/// are kept in logical order: the storage order of a layout is [`Descriptor::element_index`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    descriptor: Descriptor,
    words: Vec<u64>,
    /// One flag for each word; not kept when all are defined.
    defined: Vec<bool>,
    /// Words not defined.
    undefined: usize,
}

impl Tile {
    /// A tile without defined contents. `None` for more elements than any tile can have.
    pub fn undefined(descriptor: Descriptor) -> Option<Tile> {
        let len = descriptor.len();
        (len <= MAX_ELEMENTS).then(|| Tile {
            words: vec![0; len],
            defined: vec![false; len],
            undefined: len,
            descriptor,
        })
    }

    /// A tile of `words`, one for each valid element in row order. `None` where the number of
    /// words is another.
    pub fn new(descriptor: Descriptor, words: Vec<u64>) -> Option<Tile> {
        (words.len() == descriptor.len()).then_some(Tile {
            descriptor,
            words,
            defined: Vec::new(),
            undefined: 0,
        })
    }

    /// The descriptor.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// All words in row order, undefined ones included.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words of one row. Empty beyond the valid rows.
    pub fn row(&self, row: u32) -> &[u64] {
        let columns = self.descriptor.valid_columns as usize;
        let start = row as usize * columns;
        self.words.get(start..start + columns).unwrap_or(&[])
    }

    /// The word of a defined element; `None` for undefined ones and outside the valid region.
    pub fn get(&self, row: u32, column: u32) -> Option<u64> {
        self.word(self.position(row, column)?)
    }

    /// Defines an element. Nothing happens outside the valid region.
    pub fn set(&mut self, row: u32, column: u32, word: u64) {
        if let Some(index) = self.position(row, column) {
            self.set_word(index, word);
        }
    }

    /// The word of the element at `index` in row order; `None` if it is undefined.
    pub fn word(&self, index: usize) -> Option<u64> {
        let is_defined = self.undefined == 0 || *self.defined.get(index)?;
        self.words.get(index).copied().filter(|_| is_defined)
    }

    /// Defines the element at `index` in row order. Nothing happens beyond the last one.
    pub fn set_word(&mut self, index: usize, word: u64) {
        let Some(place) = self.words.get_mut(index) else {
            return;
        };
        *place = word;
        if self.undefined > 0 && !std::mem::replace(&mut self.defined[index], true) {
            self.undefined -= 1;
        }
    }

    /// How many elements are undefined.
    pub fn undefined_count(&self) -> usize {
        self.undefined
    }

    /// The words, taken out.
    pub fn into_words(self) -> Vec<u64> {
        self.words
    }

    /// The first undefined element in row order.
    pub fn first_undefined(&self) -> Option<(u32, u32)> {
        if self.undefined == 0 {
            return None;
        }
        let index = self.defined.iter().position(|d| !d)?;
        let columns = self.descriptor.valid_columns as usize;
        Some(((index / columns) as u32, (index % columns) as u32))
    }

    fn position(&self, row: u32, column: u32) -> Option<usize> {
        let d = &self.descriptor;
        (row < d.valid_rows && column < d.valid_columns)
            .then(|| row as usize * d.valid_columns as usize + column as usize)
    }
}

/// The state of a Shared tile beside its contents. Quarter i belongs to processing element i and
/// is mask bit 3 - i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedState {
    /// Quarters that are allocated.
    pub allocated: u8,
    /// Quarters that were written.
    pub initialised: u8,
    /// Whether the writers have published it.
    pub published: bool,
}

impl SharedState {
    /// Allocated, written and published as a whole.
    pub const READY: SharedState = SharedState {
        allocated: 0b1111,
        initialised: 0b1111,
        published: true,
    };

    /// Whether an operation may read the tile. The default revision judges the parent as a whole:
    /// written everywhere and published; the published release looks at the allocation of each
    /// quarter as well.
    pub fn is_ready(&self, revision: Revision) -> bool {
        let whole = self.initialised == 0b1111 && self.published;
        whole && (revision == Revision::Seed || self.allocated == 0b1111)
    }
}

/// A tile every processing element of the core can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedTile {
    /// Row-major contents.
    pub tile: Tile,
    /// Readiness.
    pub state: SharedState,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::{DataType, Layout};

    #[test]
    fn definedness_is_kept_element_by_element() {
        let d = Descriptor::cube(Layout::CubeM16, DataType::Fp32, 2, 2, 128);
        let mut tile = Tile::undefined(d).unwrap();
        assert_eq!(tile.first_undefined(), Some((0, 0)));
        for (r, c) in [(0, 0), (1, 1), (0, 1)] {
            tile.set(r, c, 7);
        }
        assert_eq!(tile.first_undefined(), Some((1, 0)));
        assert_eq!((tile.get(1, 0), tile.get(1, 1)), (None, Some(7)));
        tile.set(1, 0, 9);
        assert_eq!(tile.first_undefined(), None);
        assert_eq!(tile.row(1), [9, 7]);
        assert_eq!(tile.get(2, 0), None);
    }

    #[test]
    fn contents_have_the_size_of_their_descriptor() {
        let d = Descriptor::row_major(DataType::U8, 2, 3, 128);
        assert!(Tile::new(d, vec![0; 5]).is_none());
        assert_eq!(Tile::new(d, (0..6).collect()).unwrap().row(1), [3, 4, 5]);
        let huge = Descriptor::row_major(DataType::U8, u32::MAX, u32::MAX, 128);
        assert_eq!(Tile::undefined(huge), None);
    }

    #[test]
    fn readiness_is_of_the_whole() {
        let quarter = SharedState {
            initialised: 0b0111,
            ..SharedState::READY
        };
        let elsewhere = SharedState {
            allocated: 0b0011,
            ..SharedState::READY
        };
        let unpublished = SharedState {
            published: false,
            ..SharedState::READY
        };
        for revision in [Revision::Seed, Revision::Head] {
            assert!(SharedState::READY.is_ready(revision));
            assert!(!quarter.is_ready(revision) && !unpublished.is_ready(revision));
            assert_eq!(elsewhere.is_ready(revision), revision == Revision::Seed);
        }
    }
}
