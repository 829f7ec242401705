//! Reading and writing `.npy` files, NumPy's format of one array.
//!
//! A file is a magic string, a version, a header that is a Python dictionary literal (`descr`,
//! `fortran_order`, `shape`), and the elements. Versions 1 to 3 are read, version 1 is written. All
//! arrays in memory are row-major ("C order") and little endian; Fortran order and big endian are
//! converted on reading.
//!
//! Element types: `f2 f4 f8`, `i1 i2 i4 i8`, `u1 u2 u4 u8`, `b1`, and `V1 V2 V4`, raw words, the
//! form in which bf16, fp8 and other types unknown to NumPy travel (ml_dtypes saves them so, but
//! for f8E5M2, which it names `f1`).
//!
//! Input is not trusted: nothing is allocated before the number of elements is known to agree with
//! the number of bytes present.

mod header;
#[cfg(test)]
mod tests;

use header::{Endian, Header};

/// The kind of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// IEEE floating point: 2, 4 or 8 bytes.
    Float,
    /// Signed integer: 1, 2, 4 or 8 bytes.
    Int,
    /// Unsigned integer: 1, 2, 4 or 8 bytes.
    Uint,
    /// One byte, 0 or 1.
    Bool,
    /// A word without a meaning of its own: 1, 2 or 4 bytes.
    Raw,
}

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dtype {
    kind: Kind,
    bytes: usize,
}

impl Dtype {
    /// The type of `kind` in `bytes` bytes, if the format has it.
    pub const fn new(kind: Kind, bytes: usize) -> Option<Self> {
        let is_known = match kind {
            Kind::Float => matches!(bytes, 2 | 4 | 8),
            Kind::Int | Kind::Uint => matches!(bytes, 1 | 2 | 4 | 8),
            Kind::Bool => bytes == 1,
            Kind::Raw => matches!(bytes, 1 | 2 | 4),
        };
        if is_known {
            Some(Self { kind, bytes })
        } else {
            None
        }
    }

    /// The kind.
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// Whether elements may stand for words of `bytes` bytes of a type NumPy does not know.
    pub const fn is_word(self, bytes: usize) -> bool {
        matches!(self.kind, Kind::Raw | Kind::Uint) && self.bytes == bytes
    }
}

/// As NumPy spells it: `<f4`, `|b1`.
impl std::fmt::Display for Dtype {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let endian = if self.bytes == 1 { '|' } else { '<' };
        let kind = match self.kind {
            Kind::Float => 'f',
            Kind::Int => 'i',
            Kind::Uint => 'u',
            Kind::Bool => 'b',
            Kind::Raw => 'V',
        };
        write!(f, "{endian}{kind}{}", self.bytes)
    }
}

/// An array: row-major, little endian.
///
/// ```
/// use pto_machine::npy::{Array, NpyError};
///
/// let mut file = b"\x93NUMPY\x01\x00\x37\x00{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}".to_vec();
/// file.extend([0, 1, 0, 2]);
/// let array = Array::read(&file)?;
/// assert_eq!((array.shape(), array.data()), (&[2][..], &[1, 0, 2, 0][..]));
/// assert_eq!(Array::read(&array.write())?, array);
/// assert_eq!(Array::read(b"text"), Err(NpyError::Magic));
/// # Ok::<(), NpyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    dtype: Dtype,
    shape: Vec<usize>,
    data: Vec<u8>,
}

/// Why bytes are not an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NpyError {
    /// The magic string is missing.
    Magic,
    /// A version other than 1.0, 2.0 and 3.0.
    Version(u8, u8),
    /// The file ends within the magic string, the version or the header.
    TruncatedHeader,
    /// The header is not the dictionary it should be.
    Header {
        /// Byte in the header.
        at: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// An element type that is none of those listed above; the text is the header's.
    Dtype(String),
    /// More elements than can be addressed.
    Shape,
    /// The data have not the length the header says.
    Length {
        /// Bytes according to type and shape.
        expected: usize,
        /// Bytes there are.
        found: usize,
    },
    /// A bool that is neither 0 nor 1.
    Bool {
        /// The element, counted in the order of the file.
        element: usize,
    },
}

impl std::fmt::Display for NpyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Magic => f.write_str("not a .npy file: it does not start with \\x93NUMPY"),
            Self::Version(major, minor) => write!(
                f,
                "version {major}.{minor} of the .npy format; versions 1.0, 2.0 and 3.0 are known"
            ),
            Self::TruncatedHeader => f.write_str("the file ends within its header"),
            Self::Header { at, expected } => {
                write!(f, "expected {expected} at byte {at} of the header")
            }
            Self::Dtype(descr) => write!(
                f,
                "element type {descr}; expected f2, f4, f8, i1 to i8, u1 to u8, b1, V1, V2 or V4"
            ),
            Self::Shape => f.write_str("the shape has more elements than can be addressed"),
            Self::Length { expected, found } => write!(
                f,
                "type and shape need {expected} bytes of data, found {found}"
            ),
            Self::Bool { element } => {
                write!(f, "element {element} is of type bool, and neither 0 nor 1")
            }
        }
    }
}

impl std::error::Error for NpyError {}

impl Array {
    /// An array of the elements `data`, row-major and little endian.
    ///
    /// # Errors
    ///
    /// `data` has not the length of the shape, or a bool is neither 0 nor 1.
    pub fn new(dtype: Dtype, shape: Vec<usize>, data: Vec<u8>) -> Result<Self, NpyError> {
        check_data(dtype, &shape, &data)?;
        Ok(Self { dtype, shape, data })
    }

    /// The element type.
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The size of each dimension, outermost first; empty for a single element.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, row-major and little endian.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The elements, taken out.
    pub fn into_data(self) -> Vec<u8> {
        self.data
    }

    /// The array in the file whose contents are `bytes`.
    ///
    /// # Errors
    ///
    /// Anything that is not exactly one array of a known type; see [`NpyError`].
    pub fn read(bytes: &[u8]) -> Result<Self, NpyError> {
        let (header, data) = header::split(bytes)?;
        let Header {
            dtype,
            endian,
            is_fortran_order,
            shape,
        } = Header::parse(header)?;
        check_data(dtype, &shape, data)?;
        let mut data = if is_fortran_order && shape.len() > 1 {
            to_row_major(data, &shape, dtype.bytes)
        } else {
            data.to_vec()
        };
        if endian == Endian::Big {
            for element in data.chunks_exact_mut(dtype.bytes) {
                element.reverse();
            }
        }
        Ok(Self { dtype, shape, data })
    }

    /// The contents of a file that holds the array.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = header::write(self.dtype, &self.shape);
        bytes.extend_from_slice(&self.data);
        bytes
    }
}

fn check_data(dtype: Dtype, shape: &[usize], data: &[u8]) -> Result<(), NpyError> {
    let expected = byte_count(dtype, shape).ok_or(NpyError::Shape)?;
    if data.len() != expected {
        return Err(NpyError::Length {
            expected,
            found: data.len(),
        });
    }
    if dtype.kind == Kind::Bool
        && let Some(element) = data.iter().position(|&byte| byte > 1)
    {
        return Err(NpyError::Bool { element });
    }
    Ok(())
}

/// Bytes of an array; `None` where they overflow. A dimension of zero makes it empty, whatever the
/// others are.
fn byte_count(dtype: Dtype, shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    let mut sizes = shape.iter();
    sizes.try_fold(dtype.bytes, |count, &size| count.checked_mul(size))
}

/// The elements of `data`, first index fastest, in the order of last index fastest.
fn to_row_major(data: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    if data.is_empty() {
        return out;
    }
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = size;
    for &extent in shape {
        strides.push(stride);
        stride *= extent;
    }
    let mut index = vec![0usize; shape.len()];
    let mut at = 0usize;
    while out.len() < data.len() {
        out.extend_from_slice(&data[at..at + size]);
        for dim in (0..shape.len()).rev() {
            index[dim] += 1;
            at += strides[dim];
            if index[dim] < shape[dim] {
                break;
            }
            at -= strides[dim] * shape[dim];
            index[dim] = 0;
        }
    }
    out
}
