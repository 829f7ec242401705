//! Operand elements, and their exact widening to `f32`.

use super::exact::{Range, Scan};
use crate::formats::Format;

/// The element type of an operand. All multi-byte elements are little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// IEEE binary32.
    F32,
    /// tf32 in a 4-byte word; the low 13 bits are ignored.
    Tf32,
    /// bf16.
    Bf16,
    /// IEEE binary16.
    F16,
    /// f8E5M2.
    F8E5M2,
    /// f8E4M3FN.
    F8E4M3FN,
    /// f8E3M4.
    F8E3M4,
    /// Signed bytes.
    I8,
    /// Unsigned bytes.
    U8,
}

impl ElementType {
    /// Every operand type.
    pub const ALL: [Self; 9] = [
        Self::F32,
        Self::Tf32,
        Self::Bf16,
        Self::F16,
        Self::F8E5M2,
        Self::F8E4M3FN,
        Self::F8E3M4,
        Self::I8,
        Self::U8,
    ];

    /// Bytes of one element: 1, 2 or 4.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 | Self::Tf32 => 4,
            Self::Bf16 | Self::F16 => 2,
            Self::F8E5M2 | Self::F8E4M3FN | Self::F8E3M4 | Self::I8 | Self::U8 => 1,
        }
    }

    /// Whether it is an integer type: exact sums, `i32` cells.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::I8 | Self::U8)
    }

    /// The number format, unless it is an integer type.
    pub const fn format(self) -> Option<Format> {
        Some(match self {
            Self::F32 => Format::F32,
            Self::Tf32 => Format::Tf32,
            Self::Bf16 => Format::Bf16,
            Self::F16 => Format::F16,
            Self::F8E5M2 => Format::F8E5M2,
            Self::F8E4M3FN => Format::F8E4M3FN,
            Self::F8E3M4 => Format::F8E3M4,
            Self::I8 | Self::U8 => return None,
        })
    }

    /// What is known of products of values of this type, given a scan of those with the exponents
    /// of `f32`.
    pub(super) fn range(self, scan: Scan) -> Option<Range> {
        match self {
            Self::F32 => None,
            Self::Tf32 => scan.range(const { Format::Tf32.precision() }),
            Self::Bf16 => scan.range(const { Format::Bf16.precision() }),
            Self::F16 => Some(const { Range::of_format(Format::F16) }),
            Self::F8E5M2 => Some(const { Range::of_format(Format::F8E5M2) }),
            Self::F8E4M3FN => Some(const { Range::of_format(Format::F8E4M3FN) }),
            Self::F8E3M4 => Some(const { Range::of_format(Format::F8E3M4) }),
            Self::I8 | Self::U8 => Some(const { Range::of_bytes() }),
        }
    }

    /// Widens a row of elements, calling `store` once for every `WIDTH` of them with their position
    /// in the row; the last call is filled up with zeros. Values of bf16 and tf32 go into `scan`.
    #[inline(always)]
    pub(super) fn widen_row<const WIDTH: usize>(
        self,
        row: &[u8],
        scan: &mut Scan,
        store: impl FnMut(usize, &[f32; WIDTH]),
    ) {
        match self {
            Self::F32 => widen::<4, WIDTH>(row, f32::from_le_bytes, store),
            Self::Tf32 => scanned::<4, WIDTH>(row, tf32, scan, store),
            Self::Bf16 => scanned::<2, WIDTH>(row, bf16, scan, store),
            Self::F16 => widen::<2, WIDTH>(row, f16, store),
            Self::F8E5M2 => widen::<1, WIDTH>(row, |b| E5M2[usize::from(b[0])], store),
            Self::F8E4M3FN => widen::<1, WIDTH>(row, |b| E4M3FN[usize::from(b[0])], store),
            Self::F8E3M4 => widen::<1, WIDTH>(row, |b| E3M4[usize::from(b[0])], store),
            Self::I8 => widen::<1, WIDTH>(row, |b| f32::from(b[0] as i8), store),
            Self::U8 => widen::<1, WIDTH>(row, |b| f32::from(b[0]), store),
        }
    }
}

static E5M2: [f32; 256] = table(Format::F8E5M2);
static E4M3FN: [f32; 256] = table(Format::F8E4M3FN);
static E3M4: [f32; 256] = table(Format::F8E3M4);

const fn table(format: Format) -> [f32; 256] {
    let mut values = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        values[code] = format.decode_f32(code as u32);
        code += 1;
    }
    values
}

#[inline(always)]
fn tf32(bytes: [u8; 4]) -> f32 {
    f32::from_bits(u32::from_le_bytes(bytes) & !0x1fff)
}

#[inline(always)]
fn bf16(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

/// The fields of a half moved to those of a float have an exponent 112 too small; multiplying by
/// 2^112 is exact and makes subnormals right as well. Infinities and NaN keep the top exponent.
#[inline(always)]
fn f16(bytes: [u8; 2]) -> f32 {
    const SCALE: f32 = f32::from_bits((112 + 127) << 23);
    const TOP_EXPONENT: u32 = 0x1f << 23;
    let half = u32::from(u16::from_le_bytes(bytes));
    let sign = (half & 0x8000) << 16;
    let fields = (half & 0x7fff) << 13;
    let finite = (f32::from_bits(fields) * SCALE).to_bits();
    let magnitude = if fields >= TOP_EXPONENT {
        fields | 0x7f80_0000
    } else {
        finite
    };
    f32::from_bits(sign | magnitude)
}

/// As [`widen`], with every value shown to `scan`.
#[inline(always)]
fn scanned<const BYTES: usize, const WIDTH: usize>(
    row: &[u8],
    value: impl Fn([u8; BYTES]) -> f32,
    scan: &mut Scan,
    mut store: impl FnMut(usize, &[f32; WIDTH]),
) {
    // One scan a lane, so that the loop over lanes has no dependence from one to the next.
    let mut lanes = [*scan; WIDTH];
    widen::<BYTES, WIDTH>(row, value, |position, values| {
        for (lane, &value) in lanes.iter_mut().zip(values) {
            lane.add(value);
        }
        store(position, values);
    });
    *scan = Scan::merged(lanes);
}

#[inline(always)]
fn widen<const BYTES: usize, const WIDTH: usize>(
    row: &[u8],
    value: impl Fn([u8; BYTES]) -> f32,
    mut store: impl FnMut(usize, &[f32; WIDTH]),
) {
    let elements = row.as_chunks::<BYTES>().0;
    let (chunks, rest) = elements.as_chunks::<WIDTH>();
    for (position, chunk) in chunks.iter().enumerate() {
        store(position * WIDTH, &chunk.map(&value));
    }
    if !rest.is_empty() {
        let mut last = [0.0; WIDTH];
        for (slot, &element) in last.iter_mut().zip(rest) {
            *slot = value(element);
        }
        store(elements.len() - rest.len(), &last);
    }
}
