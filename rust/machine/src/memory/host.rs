//! Buffers in SBUF, HBM and host memory: bytes, and which elements were ever written.

use super::access::bits_of;

/// The elements of a buffer.
#[derive(Debug)]
pub(crate) struct HostBuffer {
    bytes: Vec<u8>,
    /// Bytes of one element.
    width: usize,
    defined: Defined,
    /// Counts the writes: equal versions have equal contents.
    version: u64,
}

impl HostBuffer {
    /// `len` elements of `width` bytes that hold nothing. `None`: there is not so much memory.
    pub(crate) fn new(len: usize, width: usize) -> Option<Self> {
        Some(Self {
            bytes: zeroed(len.checked_mul(width)?)?,
            width,
            defined: Defined::none(len)?,
            version: 0,
        })
    }

    /// A buffer of the elements `bytes`, all defined.
    pub(crate) fn with_contents(bytes: Vec<u8>, width: usize) -> Self {
        Self {
            bytes,
            width,
            defined: Defined::all(),
            version: 0,
        }
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / self.width
    }

    /// Bytes of one element.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Every byte, defined or not.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Changes with every write.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// The bytes of `len` elements from `start`, to be overwritten.
    pub(crate) fn overwrite(&mut self, start: usize, len: usize) -> &mut [u8] {
        self.defined.set(start, len);
        self.version += 1;
        &mut self.bytes[start * self.width..(start + len) * self.width]
    }

    /// The bits of element `at`, defined or not.
    pub(crate) fn bits(&self, at: usize) -> u64 {
        let start = at * self.width;
        let bytes = &self.bytes[start..start + self.width];
        // By the usual widths: a copy of so few bytes must not be a call.
        match *bytes {
            [a] => u64::from(a),
            [a, b] => u64::from(u16::from_le_bytes([a, b])),
            [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => bits_of(bytes),
        }
    }

    /// Sets element `at`.
    pub(crate) fn set_bits(&mut self, at: usize, bits: u64) {
        let word = bits.to_le_bytes();
        let bytes = self.overwrite(at, 1);
        match bytes.len() {
            4 => bytes.copy_from_slice(&word[..4]),
            8 => bytes.copy_from_slice(&word),
            width => bytes.copy_from_slice(&word[..width]),
        }
    }

    /// Whether every element was written.
    pub(crate) fn is_all_defined(&self) -> bool {
        self.defined.missing == 0
    }

    /// The first of `len` elements from `start` that holds nothing.
    pub(crate) fn first_undefined(&self, start: usize, len: usize) -> Option<usize> {
        self.defined.first_missing(start, len)
    }
}

/// `len` zero bytes; the host gives the pages when they are first touched.
fn zeroed(len: usize) -> Option<Vec<u8>> {
    // `vec!` aborts when memory is short: ask first.
    let mut probe: Vec<u8> = Vec::new();
    probe.try_reserve_exact(len).ok()?;
    drop(probe);
    Some(vec![0; len])
}

/// A set of elements, as bits; free once every element is in it.
#[derive(Debug)]
struct Defined {
    words: Vec<u64>,
    missing: usize,
}

impl Defined {
    fn none(len: usize) -> Option<Self> {
        let mut probe: Vec<u64> = Vec::new();
        probe.try_reserve_exact(len.div_ceil(64)).ok()?;
        drop(probe);
        Some(Self {
            words: vec![0; len.div_ceil(64)],
            missing: len,
        })
    }

    const fn all() -> Self {
        Self {
            words: Vec::new(),
            missing: 0,
        }
    }

    fn set(&mut self, start: usize, len: usize) {
        if self.missing == 0 {
            return;
        }
        for (word, mask) in masks(start, len) {
            let added = mask & !self.words[word];
            self.words[word] |= mask;
            self.missing -= added.count_ones() as usize;
        }
        if self.missing == 0 {
            self.words = Vec::new();
        }
    }

    fn first_missing(&self, start: usize, len: usize) -> Option<usize> {
        if self.missing == 0 {
            return None;
        }
        masks(start, len).find_map(|(word, mask)| {
            let missing = mask & !self.words[word];
            (missing != 0).then(|| word * 64 + missing.trailing_zeros() as usize)
        })
    }
}

/// The words that hold bits `start..start + len`, each with the mask of those bits.
fn masks(start: usize, len: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = start + len;
    (start / 64..end.div_ceil(64))
        .filter(move |_| len > 0)
        .map(move |word| {
            let low = start.saturating_sub(word * 64);
            let high = (end - word * 64).min(64);
            let mask = if high - low == 64 {
                u64::MAX
            } else {
                ((1 << (high - low)) - 1) << low
            };
            (word, mask)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definedness_by_brute_force() {
        for (start, len) in
            (0..200).flat_map(|start| (0..=200 - start).map(move |len| (start, len)))
        {
            let mut buffer = HostBuffer::new(200, 1).expect("small");
            buffer.overwrite(start, len);
            for at in 0..200 {
                let expected = (!(start..start + len).contains(&at)).then_some(at);
                assert_eq!(buffer.first_undefined(at, 1), expected);
            }
            assert_eq!(buffer.is_all_defined(), len == 200);
            let first = if start > 0 {
                Some(0)
            } else {
                (len < 200).then_some(len)
            };
            assert_eq!(buffer.first_undefined(0, 200), first);
        }
    }

    #[test]
    fn elements_are_little_endian() {
        let mut buffer = HostBuffer::new(3, 2).expect("small");
        buffer.set_bits(1, 0x3f80);
        assert_eq!(buffer.bytes(), [0, 0, 0x80, 0x3f, 0, 0]);
        assert_eq!(buffer.bits(1), 0x3f80);
        assert_eq!(buffer.first_undefined(0, 3), Some(0));
        buffer.set_bits(0, 1);
        buffer.set_bits(2, 1);
        assert!(buffer.is_all_defined());
        assert_eq!(buffer.first_undefined(0, 3), None);
        assert_eq!(buffer.len(), 3);
    }

    #[test]
    fn absurd_sizes_are_refused() {
        assert!(HostBuffer::new(usize::MAX / 2, 8).is_none());
        assert!(HostBuffer::new(usize::MAX / 16, 8).is_none());
    }
}
