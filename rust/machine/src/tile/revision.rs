//! Which state of the ISA's text is followed, and with which arithmetic.

use super::types::DataType;

/// A state of the ISA's text. They differ where [`Revision`]'s methods and the checks that take
/// one say so; docs/tile-isa.md lists all differences in one table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Revision {
    /// The contract this project follows.
    #[default]
    Seed,
    /// The published release 0.58.3, which the vectors were recorded from.
    Head,
}

impl Revision {
    /// Whether a tile of this type can have a CUBE layout.
    pub fn cube_supports(self, data_type: DataType) -> bool {
        data_type.has_cube_layout() && (self.has_hif4() || data_type != DataType::HiF4X2)
    }

    /// Whether HiF4X2 is an MX input.
    pub fn has_hif4(self) -> bool {
        self == Revision::Seed
    }

    /// Whether the accumulator can be scaled by a column of exponents.
    pub fn has_column_scale(self) -> bool {
        self == Revision::Seed
    }

    /// Whether the first dimension of an operation on Shared operands counts the rows of all
    /// processing elements together.
    pub fn has_group_rows(self) -> bool {
        self == Revision::Seed
    }

    /// Whether RMode and Sat are refused where the mode fixes them, and B.IOR is demanded where
    /// the mode takes a scalar. The release's dispatch checks neither.
    pub fn checks_control_fields(self) -> bool {
        self == Revision::Seed
    }

    /// Whether Local MX scales are CUBE_M32 tiles with the right one transposed, and Shared ones
    /// follow the transposes; else every scale is row-major in logical order.
    pub fn has_cube_scales(self) -> bool {
        self == Revision::Seed
    }

    /// Whether a bias, a RowMaxIn and the auxiliary outputs may have the accumulator's layout;
    /// row-major is always legal.
    pub fn allows_cube_auxiliaries(self) -> bool {
        self == Revision::Seed
    }

    /// Whether an auxiliary output must have a power of two of columns.
    pub fn needs_power_of_two_outputs(self) -> bool {
        self == Revision::Head
    }
}

/// What a multiply-add does to payload words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// Numbers: products and sums each rounded to FP32, integers modulo 2^32.
    #[default]
    Ieee,
    /// Words: `acc + a * b` modulo 2^64 on the carriers, whatever the type. This reproduces the
    /// vectors of the executable specification and means nothing else.
    Raw,
}
