//! Post-processing of a finished accumulator: activation, conversion, reductions, flags.
//!
//! P is the accumulator with the bias. D is `convert(activate(P))`, column by column with that
//! column's parameters; RowMax and GroupMax are taken of P itself, in the accumulator's type.
//! Only bits 31:0 of an accumulator word are read, except where D is P unchanged.

pub mod activate;
pub mod convert;
pub mod modes;
pub mod reduce;

use super::types::DataType;
use convert::Conversion;

/// Sticky flags, as bits.
pub mod flag {
    /// An invalid operand.
    pub const NV: u8 = 1;
    /// Division by zero. No matmul raises it.
    pub const DZ: u8 = 2;
    /// Overflow.
    pub const OF: u8 = 4;
    /// Underflow.
    pub const UF: u8 = 8;
    /// Inexact.
    pub const NX: u8 = 16;
}

/// The parameters of one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Quantisation.
    pub quantisation: modes::Quantisation,
    /// What negative values are multiplied with instead of the scale; `None` without activation.
    pub negative_factor: Option<f64>,
}

/// Converts the m x n accumulator words `p` with one [`Column`] for each of the n columns.
/// Returns D's carrier words and the flags raised.
pub fn convert_all(
    p: &[u64],
    accumulator: DataType,
    conversion: &Conversion,
    columns: &[Column],
) -> (Vec<u64>, u8) {
    let is_identity = conversion.is_identity()
        && columns
            .iter()
            .all(|column| column.negative_factor.is_none());
    if is_identity || columns.is_empty() {
        return (p.to_vec(), 0);
    }
    let mut flags = 0;
    let words = p
        .iter()
        .zip(columns.iter().cycle())
        .map(|(&word, column)| {
            let (word, raised) = conversion.apply(word, accumulator, column);
            flags |= raised;
            word
        })
        .collect();
    (words, flags)
}
