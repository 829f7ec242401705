//! The header: the little of Python's literal syntax that NumPy writes, and what older versions and
//! other writers are known to write (either quote, any order of keys, `3L`, spaces anywhere).

use super::{Dtype, Kind, NpyError};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Where data begin is a multiple of this.
const ALIGNMENT: usize = 64;
/// NumPy's own limit on the number of dimensions.
const MOST_DIMENSIONS: usize = 64;

/// The order of bytes in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

/// What a header says.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) dtype: Dtype,
    pub(super) endian: Endian,
    pub(super) is_fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

/// Divides a file into the text of its header and its data.
pub(super) fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), NpyError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        let is_cut = MAGIC.starts_with(bytes);
        return Err(if is_cut {
            NpyError::TruncatedHeader
        } else {
            NpyError::Magic
        });
    };
    let (&[major, minor], rest) = rest.split_first_chunk().ok_or(NpyError::TruncatedHeader)?;
    let (length, rest) = match (major, minor) {
        (1, 0) => {
            let (length, rest) = rest.split_first_chunk().ok_or(NpyError::TruncatedHeader)?;
            (u32::from(u16::from_le_bytes(*length)), rest)
        }
        (2 | 3, 0) => {
            let (length, rest) = rest.split_first_chunk().ok_or(NpyError::TruncatedHeader)?;
            (u32::from_le_bytes(*length), rest)
        }
        _ => return Err(NpyError::Version(major, minor)),
    };
    usize::try_from(length)
        .ok()
        .and_then(|length| rest.split_at_checked(length))
        .ok_or(NpyError::TruncatedHeader)
}

/// Magic string, version 1.0 and header of an array.
pub(super) fn write(dtype: Dtype, shape: &[usize]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = sizes.join(", ");
    let mut text =
        format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({shape}{comma}), }}");
    let fixed = MAGIC.len() + 4;
    let padded = (fixed + text.len() + 1).next_multiple_of(ALIGNMENT) - fixed;
    text.extend(std::iter::repeat_n(' ', padded - text.len() - 1));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    // A version 1 header is shorter than 64 KiB. Ours is, up to some 3000 dimensions; beyond,
    // version 2 has a longer length field.
    match u16::try_from(padded) {
        Ok(length) => {
            bytes.extend([1, 0]);
            bytes.extend(length.to_le_bytes());
        }
        Err(_) => {
            bytes.extend([2, 0]);
            bytes.extend((padded as u32).to_le_bytes());
        }
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

impl Header {
    pub(super) fn parse(text: &[u8]) -> Result<Self, NpyError> {
        let mut cursor = Cursor { text, at: 0 };
        let (mut descr, mut is_fortran_order, mut shape) = (None, None, None);
        cursor.expect(b'{', "'{'")?;
        while !cursor.accept(b'}') {
            cursor.peek();
            let at = cursor.at;
            let key = cursor.string()?;
            cursor.expect(b':', "':'")?;
            let is_new = match key {
                b"descr" => descr.replace(cursor.string()?).is_none(),
                b"fortran_order" => is_fortran_order.replace(cursor.boolean()?).is_none(),
                b"shape" => shape.replace(cursor.tuple()?).is_none(),
                _ => false,
            };
            if !is_new {
                return Err(NpyError::Header {
                    at,
                    expected: "each of 'descr', 'fortran_order' and 'shape' once",
                });
            }
            if !cursor.accept(b',') {
                cursor.expect(b'}', "',' or '}'")?;
                break;
            }
        }
        if cursor.peek().is_some() {
            return Err(cursor.error("nothing after '}'"));
        }
        let missing = |expected| NpyError::Header { at: 0, expected };
        let (dtype, endian) = parse_descr(descr.ok_or(missing("a key 'descr'"))?)?;
        Ok(Self {
            dtype,
            endian,
            is_fortran_order: is_fortran_order.ok_or(missing("a key 'fortran_order'"))?,
            shape: shape.ok_or(missing("a key 'shape'"))?,
        })
    }
}

/// A type as NumPy spells it: byte order, kind, size.
fn parse_descr(descr: &[u8]) -> Result<(Dtype, Endian), NpyError> {
    let unknown = || {
        let shown: String = String::from_utf8_lossy(descr).chars().take(32).collect();
        NpyError::Dtype(format!("'{}'", shown.escape_debug()))
    };
    let &[order, kind, size] = descr else {
        return Err(unknown());
    };
    let kind = match kind {
        // ml_dtypes saves float8_e5m2, alone among the 8-bit formats, so; NumPy cannot read it.
        b'f' if size == b'1' => Kind::Raw,
        b'f' => Kind::Float,
        b'i' => Kind::Int,
        b'u' => Kind::Uint,
        b'b' => Kind::Bool,
        b'V' => Kind::Raw,
        _ => return Err(unknown()),
    };
    let endian = match order {
        b'>' if kind != Kind::Raw => Endian::Big,
        b'<' | b'|' | b'=' => Endian::Little,
        _ => return Err(unknown()),
    };
    let size = usize::from(size.wrapping_sub(b'0'));
    let dtype = Dtype::new(kind, size).ok_or_else(unknown)?;
    Ok((dtype, endian))
}

/// A position in the header. Every method skips white space first.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn error(&self, expected: &'static str) -> NpyError {
        NpyError::Header {
            at: self.at,
            expected,
        }
    }

    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), NpyError> {
        if self.accept(byte) {
            Ok(())
        } else {
            Err(self.error(what))
        }
    }

    /// A string in either quote, without escapes.
    fn string(&mut self) -> Result<&'a [u8], NpyError> {
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.error("a string (structured types are not supported)")),
        };
        let rest = &self.text[self.at + 1..];
        let end = rest.iter().position(|&byte| byte == quote || byte == b'\\');
        match end {
            Some(end) if rest[end] == quote => {
                self.at += end + 2;
                Ok(&rest[..end])
            }
            _ => Err(self.error("a string without escapes that ends")),
        }
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        self.peek();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.error("True or False"))
    }

    /// A tuple of sizes: `()`, `(3,)`, `(3, 4)`.
    fn tuple(&mut self) -> Result<Vec<usize>, NpyError> {
        let mut sizes = Vec::new();
        self.expect(b'(', "'('")?;
        while !self.accept(b')') {
            if sizes.len() == MOST_DIMENSIONS {
                return Err(self.error("at most 64 dimensions"));
            }
            sizes.push(self.size()?);
            if !self.accept(b',') {
                if sizes.len() == 1 {
                    return Err(self.error("',': one size in parentheses is no tuple"));
                }
                self.expect(b')', "',' or ')'")?;
                break;
            }
        }
        Ok(sizes)
    }

    fn size(&mut self) -> Result<usize, NpyError> {
        self.peek();
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err(self.error("a size"));
        }
        let value = std::str::from_utf8(&rest[..digits]).ok();
        let value = value.and_then(|text| text.parse().ok());
        let value = value.ok_or(NpyError::Shape)?;
        self.at += digits;
        if self.text.get(self.at) == Some(&b'L') {
            self.at += 1;
        }
        Ok(value)
    }
}
