//! MX scales: their shapes, their values, and which scale covers which element.
//!
//! A side of an 8-bit or 4-bit type has one E8M0 scale for 32 consecutive k; a HiF4 side one
//! 32-bit word for 64. ScaleA covers (m, k / g), ScaleB (k / g, n). In the default revision a
//! Local ScaleB is stored transposed, one row for each column of B; see docs/tile-isa.md.

use super::types::{DataType, Scaling};
use crate::formats::Format;

/// The factor a scale word gives the element at position `lane` of its K-group. NaN for the E8M0
/// code 255, which is NaN itself, and for the HiF4 base 255.
pub fn scale_value(word: u64, lane: u8, scale_type: DataType) -> f64 {
    match scale_type {
        DataType::E8M0 => Format::F8E8M0FNU.decode((word & 0xff) as u32),
        _ => hif4_scale(word as u32, lane),
    }
}

/// The scale of a HiF4 group has three levels: bits 7:0 an unsigned E6M2 base (bias 48, no zero,
/// 255 is NaN) for all 64 elements, bits 15:8 one factor of two for each 8 elements, bits 31:16
/// one for each 4, the lowest bit for the first elements.
fn hif4_scale(word: u32, lane: u8) -> f64 {
    let base = word & 0xff;
    if base == 0xff {
        return f64::NAN;
    }
    let bit = |shift: u32| (word >> shift & 1) as i32;
    let doublings = bit(8 + u32::from(lane) / 8 % 8) + bit(16 + u32::from(lane) / 4 % 16);
    let exponent = (base >> 2) as i32 - 48 + doublings;
    f64::from(4 + (base & 3)) / 4.0 * 2f64.powi(exponent)
}

/// The group size and scale type of a side; `None` where the side has no scale.
pub fn group_of(data_type: DataType) -> Option<(u32, DataType)> {
    match data_type.mx_scaling()? {
        Scaling::Unscaled => None,
        Scaling::Group { size, scale } => Some((size, scale)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e8m0_is_a_power_of_two() {
        assert_eq!(scale_value(127, 0, DataType::E8M0), 1.0);
        assert_eq!(scale_value(0, 0, DataType::E8M0), 2f64.powi(-127));
        assert_eq!(scale_value(254, 0, DataType::E8M0), 2f64.powi(127));
        assert!(scale_value(255, 0, DataType::E8M0).is_nan());
    }

    #[test]
    fn hif4_levels_multiply() {
        let unit = 48 << 2;
        assert_eq!(hif4_scale(unit, 0), 1.0);
        assert_eq!(hif4_scale(unit | 3, 63), 1.75);
        assert_eq!(hif4_scale(unit | 1 << 8, 7), 2.0);
        assert_eq!(hif4_scale(unit | 1 << 8, 8), 1.0);
        assert_eq!(hif4_scale(unit | 1 << 15 | 1 << 31, 63), 4.0);
        assert_eq!(hif4_scale(unit | 1 << 16, 4), 1.0);
        assert_eq!(hif4_scale(0, 0), 2f64.powi(-48));
        assert!(hif4_scale(0xff, 0).is_nan());
    }
}
