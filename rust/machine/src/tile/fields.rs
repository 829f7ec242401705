//! The coded fields of an operation: its function, B.DATR, B.FPATR and B.IOR.

use super::post::modes::PreQuantMode;
use super::types::DataType;
use crate::formats::Rounding;

/// What is added to the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addend {
    /// Nothing: D = A.B.
    None,
    /// A row, after the product: D = A.B + Bias.
    Bias,
    /// An accumulator, before it: D = C + A.B.
    Accumulator,
}

/// A CUBE function: twelve of the 32 codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Matrix-vector: M must be 1 and every operand Local.
    pub gemv: bool,
    /// Block-scaled inputs.
    pub mx: bool,
    /// What is added.
    pub addend: Addend,
}

impl Function {
    /// Every function, by ascending code.
    pub fn all() -> impl Iterator<Item = Function> {
        (0..32).filter_map(Function::from_code)
    }

    /// The function of a 5-bit code; `None` for the twenty that are not assigned.
    pub fn from_code(code: u8) -> Option<Function> {
        let addend = match code & 3 {
            0 => Addend::None,
            1 => Addend::Bias,
            2 => Addend::Accumulator,
            _ => return None,
        };
        (code & !0b10111 == 0).then_some(Function {
            gemv: code & 16 != 0,
            mx: code & 4 != 0,
            addend,
        })
    }

    /// The 5-bit code.
    pub fn code(self) -> u8 {
        let addend = match self.addend {
            Addend::None => 0,
            Addend::Bias => 1,
            Addend::Accumulator => 2,
        };
        u8::from(self.gemv) << 4 | u8::from(self.mx) << 2 | addend
    }

    /// The published name, such as `TMATMUL_MX_ACC`.
    pub fn name(self) -> &'static str {
        match (self.gemv, self.mx, self.addend) {
            (false, false, Addend::None) => "TMATMUL",
            (false, false, Addend::Bias) => "TMATMUL_BIAS",
            (false, false, Addend::Accumulator) => "TMATMUL_ACC",
            (false, true, Addend::None) => "TMATMUL_MX",
            (false, true, Addend::Bias) => "TMATMUL_MX_BIAS",
            (false, true, Addend::Accumulator) => "TMATMUL_MX_ACC",
            (true, false, Addend::None) => "TGEMV",
            (true, false, Addend::Bias) => "TGEMV_BIAS",
            (true, false, Addend::Accumulator) => "TGEMV_ACC",
            (true, true, Addend::None) => "TGEMV_MX",
            (true, true, Addend::Bias) => "TGEMV_MX_BIAS",
            (true, true, Addend::Accumulator) => "TGEMV_MX_ACC",
        }
    }

    /// The function of a published name.
    pub fn from_name(name: &str) -> Option<Function> {
        Function::all().find(|f| f.name() == name)
    }

    /// The index of the published release's catalogue of tile operations.
    pub fn catalog_index(self) -> u32 {
        let addend = match self.addend {
            Addend::None => 0,
            Addend::Bias => 1,
            Addend::Accumulator => 2,
        };
        97 + 6 * u32::from(self.gemv) + 3 * u32::from(self.mx) + addend
    }
}

/// The 3-bit rounding control of B.DATR. `Default` is round to nearest even.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RMode {
    /// Not given.
    #[default]
    Default,
    /// Given.
    Given(Rounding),
}

impl RMode {
    /// The modes by code, from 1.
    const CODES: [Rounding; 7] = [
        Rounding::NearestEven,
        Rounding::TowardZero,
        Rounding::Down,
        Rounding::Up,
        Rounding::NearestAway,
        Rounding::ToOdd,
        Rounding::NearestUp,
    ];

    /// The control of a 3-bit code.
    pub fn from_code(code: u8) -> Option<RMode> {
        match code {
            0 => Some(RMode::Default),
            _ => Self::CODES
                .get(usize::from(code) - 1)
                .map(|&r| RMode::Given(r)),
        }
    }

    /// The 3-bit code.
    pub fn code(self) -> u8 {
        match self {
            RMode::Default => 0,
            RMode::Given(rounding) => Self::CODES
                .iter()
                .position(|&r| r == rounding)
                .map_or(0, |i| i as u8 + 1),
        }
    }

    /// How it rounds.
    pub fn rounding(self) -> Rounding {
        match self {
            RMode::Default => Rounding::NearestEven,
            RMode::Given(rounding) => rounding,
        }
    }
}

/// B.DATR: the right operand's type and the numeric control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataAttributes {
    /// The right type; `None` inherits the left one.
    pub b_type: Option<DataType>,
    /// Rounding control.
    pub rmode: RMode,
    /// Overflow gives the largest finite value.
    pub saturate: bool,
    /// A field a matmul has no use for (layout, pad, compare, canonicalize) is not zero.
    pub has_foreign_fields: bool,
}

/// What negative accumulator values become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReluMode {
    /// Themselves.
    #[default]
    None,
    /// Zero.
    Zero,
    /// Themselves times one scalar from B.IOR.
    Scalar,
    /// Themselves times a factor of their column.
    Vector,
}

impl ReluMode {
    /// The mode of a 3-bit code; `None` for 4 to 7.
    pub fn from_code(code: u8) -> Option<ReluMode> {
        [Self::None, Self::Zero, Self::Scalar, Self::Vector]
            .get(usize::from(code))
            .copied()
    }

    /// The 3-bit code.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// B.FPATR: post-processing and transposes. The default is the all-zero command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post {
    /// Conversion of D.
    pub pre_quant: PreQuantMode,
    /// Activation.
    pub relu: ReluMode,
    /// Code of the columns of one GroupMax group, 0 to 9; see [`group_columns`].
    pub group_code: u8,
    /// Write the maximum of each row.
    pub row_max: bool,
    /// Write the maximum of each group of columns of each row.
    pub group_max: bool,
    /// Start the row maxima from RowMaxIn.
    pub row_max_init: bool,
    /// Take absolute values in both reductions.
    pub max_abs: bool,
    /// Read the Shared left operand transposed.
    pub trans_a: bool,
    /// Read the Shared right operand transposed.
    pub trans_b: bool,
    /// Scale the accumulator by CScale first.
    pub c_scale: bool,
}

impl Default for Post {
    fn default() -> Self {
        Post {
            pre_quant: PreQuantMode::NONE,
            relu: ReluMode::None,
            group_code: 0,
            row_max: false,
            group_max: false,
            row_max_init: false,
            max_abs: false,
            trans_a: false,
            trans_b: false,
            c_scale: false,
        }
    }
}

/// Columns of one GroupMax group for a 4-bit code: 0 for code 0, `None` above 9.
pub fn group_columns(code: u8) -> Option<u32> {
    match code {
        0 => Some(0),
        1 => Some(8),
        2..=9 => Some(16 * (u32::from(code) - 1)),
        _ => None,
    }
}

/// B.IOR: scalar parameters in packed order, the quantisation word before the activation one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scalars {
    /// The words supplied; `None` where the value is not known yet.
    pub words: Vec<Option<u64>>,
    /// A selector beyond the words, or the destination, is not zero.
    pub has_foreign_selectors: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_functions() {
        let codes: Vec<u8> = Function::all().map(Function::code).collect();
        assert_eq!(codes, [0, 1, 2, 4, 5, 6, 16, 17, 18, 20, 21, 22]);
        for f in Function::all() {
            assert_eq!(Function::from_name(f.name()), Some(f));
        }
    }

    #[test]
    fn rounding_codes_round_trip() {
        for code in 0..8 {
            assert_eq!(RMode::from_code(code).map(RMode::code), Some(code));
        }
        assert_eq!(RMode::from_code(8), None);
        assert_eq!(
            RMode::from_code(7).map(RMode::rounding),
            Some(Rounding::NearestUp)
        );
    }

    #[test]
    fn group_codes() {
        let columns: Vec<_> = (0..10).map(|c| group_columns(c).unwrap()).collect();
        assert_eq!(columns, [0, 8, 16, 32, 48, 64, 80, 96, 112, 128]);
        assert_eq!(group_columns(10), None);
    }
}
