//! Operand elements, and their exact widening to `f32`.

use super::exact::{Range, Scan};
use super::kernel::PANEL;
use crate::formats::Format;

/// Where one row of an operand goes, from its first panel on: every `pitch`-th chunk.
pub(super) struct PanelRow<'a> {
    pub(super) values: &'a mut [[f32; PANEL]],
    pub(super) pitch: usize,
}

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
    pub(super) fn range<const LANES: usize>(self, scan: &Scan<LANES>) -> Option<Range> {
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

    /// Widens a row of elements, the last panel filled up with zeros. Values of bf16 and tf32 go into
    /// `scan` as well.
    #[inline(always)]
    pub(super) fn widen_row(self, row: &[u8], scan: &mut Scan<PANEL>, panels: PanelRow<'_>) {
        match self {
            Self::F32 => widen::<4, false>(row, f32::from_le_bytes, scan, panels),
            Self::Tf32 => widen::<4, true>(row, tf32, scan, panels),
            Self::Bf16 => widen::<2, true>(row, bf16, scan, panels),
            Self::F16 => widen::<2, false>(row, f16, scan, panels),
            Self::F8E5M2 => widen::<1, false>(row, e5m2, scan, panels),
            Self::F8E4M3FN => widen::<1, false>(row, e4m3fn, scan, panels),
            Self::F8E3M4 => widen::<1, false>(row, e3m4, scan, panels),
            Self::I8 => widen::<1, false>(row, int8, scan, panels),
            Self::U8 => widen::<1, false>(row, uint8, scan, panels),
        }
    }
}

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
fn e5m2([code]: [u8; 1]) -> f32 {
    static TABLE: [f32; 256] = table(Format::F8E5M2);
    TABLE[usize::from(code)]
}

#[inline(always)]
fn e4m3fn([code]: [u8; 1]) -> f32 {
    static TABLE: [f32; 256] = table(Format::F8E4M3FN);
    TABLE[usize::from(code)]
}

#[inline(always)]
fn e3m4([code]: [u8; 1]) -> f32 {
    static TABLE: [f32; 256] = table(Format::F8E3M4);
    TABLE[usize::from(code)]
}

#[inline(always)]
fn int8(bytes: [u8; 1]) -> f32 {
    f32::from(i8::from_le_bytes(bytes))
}

#[inline(always)]
fn uint8([byte]: [u8; 1]) -> f32 {
    f32::from(byte)
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
    let scaled = (f32::from_bits(fields) * SCALE).to_bits();
    let top = if fields >= TOP_EXPONENT {
        0x7f80_0000
    } else {
        0
    };
    f32::from_bits(sign | scaled | top)
}

#[inline(always)]
fn widen<const BYTES: usize, const IS_SCANNED: bool>(
    row: &[u8],
    value: impl Fn([u8; BYTES]) -> f32,
    scan: &mut Scan<PANEL>,
    panels: PanelRow<'_>,
) {
    let (chunks, rest) = row.as_chunks::<BYTES>().0.as_chunks::<PANEL>();
    for (index, chunk) in chunks.iter().enumerate() {
        // By way of a local array: only so does the compiler make vectors of the loop.
        let mut values = [0.0; PANEL];
        for lane in 0..PANEL {
            values[lane] = value(chunk[lane]);
        }
        if IS_SCANNED {
            scan.add(&values);
        }
        panels.values[index * panels.pitch] = values;
    }
    if !rest.is_empty() {
        let mut values = [0.0; PANEL];
        for (slot, &element) in values.iter_mut().zip(rest) {
            *slot = value(element);
        }
        if IS_SCANNED {
            scan.add(&values);
        }
        panels.values[chunks.len() * panels.pitch] = values;
    }
}
