//! One operation of the TMATMUL family: its function, its fields and its operand streams.
//!
//! An [`Operation`] is everything a block says, before anything is judged: `legality::check` judges
//! what the operation alone can know, `preflight` that and the state of the machine.

use super::descriptor::{Descriptor, SharedState, Tile};
use super::post::modes::{Parameter, PreQuantMode};
use super::revision::Revision;
use super::types::{DataType, Scaling};
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

/// The part an operand plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Accumulator in.
    C,
    /// Left operand.
    A,
    /// MX scale of the left operand.
    ScaleA,
    /// Right operand.
    B,
    /// MX scale of the right operand.
    ScaleB,
    /// Row added at the end.
    Bias,
    /// Exponents that scale the accumulator down.
    CScale,
    /// Row maxima in.
    RowMaxIn,
    /// Quantisation parameters of the columns.
    Quant,
    /// Activation parameters of the columns.
    Prelu,
}

impl Role {
    /// Number of roles.
    pub const COUNT: usize = 10;

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Role::C => "C",
            Role::A => "A",
            Role::ScaleA => "ScaleA",
            Role::B => "B",
            Role::ScaleB => "ScaleB",
            Role::Bias => "Bias",
            Role::CScale => "CScale",
            Role::RowMaxIn => "RowMaxIn",
            Role::Quant => "the quantisation vector",
            Role::Prelu => "the activation vector",
        }
    }
}

/// One operand of a stream. Whatever is not known yet is `None`, and its rules are not judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'a> {
    /// The descriptor; `None` for a register that holds no tile.
    pub descriptor: Option<Descriptor>,
    /// The contents.
    pub tile: Option<&'a Tile>,
    /// The state of a Shared operand.
    pub shared_state: Option<SharedState>,
    /// What an alias check compares: the encoded register number, or the identity of a buffer.
    pub name: Option<u32>,
}

impl<'a> Source<'a> {
    /// An operand of which only the descriptor is known.
    pub fn described(descriptor: Descriptor) -> Source<'a> {
        Source {
            descriptor: Some(descriptor),
            ..Source::default()
        }
    }

    /// An operand with contents.
    pub fn filled(tile: &'a Tile) -> Source<'a> {
        Source {
            descriptor: Some(*tile.descriptor()),
            tile: Some(tile),
            ..Source::default()
        }
    }
}

/// One destination: room for a tile whose descriptor the operation makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Bytes on each processing element.
    pub capacity: u32,
    /// What an alias check compares: the encoded hand of a block, the register number of the
    /// direct form, or the identity of a buffer.
    pub name: Option<u32>,
    /// The descriptor of a destination that exists already (a buffer, or the direct form), which
    /// must then be what the operation would make.
    pub descriptor: Option<Descriptor>,
}

/// How an operation is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A block of commands: needs B.FPATR, allocates its destinations.
    Block,
    /// A single tile instruction on registers that exist: no post-processing, no Shared operands.
    Direct,
}

/// One operation as encoded. Streams are in the order of the ISA; see [`local_roles`].
#[derive(Clone, Debug)]
pub struct Operation<'a> {
    /// Block or direct.
    pub form: Form,
    /// The 5-bit CUBE function code.
    pub function: u8,
    /// The left type.
    pub a_type: DataType,
    /// B.DATR, if present.
    pub data: Option<DataAttributes>,
    /// LB0, LB1, LB2: M (or the rows of the group), N, K. Absent ones are 1.
    pub dimensions: [Option<u32>; 3],
    /// B.FPATR, if present.
    pub post: Option<Post>,
    /// B.IOR, if present.
    pub scalars: Option<Scalars>,
    /// The mask of every binding; bit 3 - i is processing element i.
    pub masks: Vec<u8>,
    /// The processing element whose view this is, for operations on Shared operands.
    pub element: u32,
    /// Whether the source stream ended with its last command.
    pub stream_ended: bool,
    /// Local sources.
    pub sources: Vec<Source<'a>>,
    /// Shared sources.
    pub shared: Vec<Source<'a>>,
    /// Destinations: D, then RowMaxOut, then GroupMaxOut.
    pub destinations: Vec<Destination>,
}

impl Operation<'_> {
    /// A block of `function` with every field at its default and no operand.
    pub fn new(function: Function, a_type: DataType) -> Self {
        Operation {
            form: Form::Block,
            function: function.code(),
            a_type,
            data: None,
            dimensions: [None; 3],
            post: Some(Post::default()),
            scalars: None,
            masks: vec![0b1111],
            element: 0,
            stream_ended: true,
            sources: Vec::new(),
            shared: Vec::new(),
            destinations: Vec::new(),
        }
    }

    /// The right type.
    pub fn b_type(&self) -> DataType {
        self.data.and_then(|d| d.b_type).unwrap_or(self.a_type)
    }
}

/// Which operands are Shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// None.
    None,
    /// B and its scale.
    Right,
    /// A, B and their scales.
    Both,
}

/// The roles of one side's operand group, in stream order.
fn side(primary: Role, scale: Role, data_type: DataType, mx: bool) -> Vec<Role> {
    let is_scaled = mx && matches!(data_type.mx_scaling(), Some(Scaling::Group { .. }));
    if is_scaled {
        vec![primary, scale]
    } else {
        vec![primary]
    }
}

/// The roles of the left and of the right operand group.
pub fn operand_groups(
    function: Function,
    a_type: DataType,
    b_type: DataType,
) -> (Vec<Role>, Vec<Role>) {
    (
        side(Role::A, Role::ScaleA, a_type, function.mx),
        side(Role::B, Role::ScaleB, b_type, function.mx),
    )
}

/// The roles of the Shared stream, in its order.
pub fn shared_roles(
    function: Function,
    a_type: DataType,
    b_type: DataType,
    sharing: Sharing,
) -> Vec<Role> {
    let (left, right) = operand_groups(function, a_type, b_type);
    match sharing {
        Sharing::None => Vec::new(),
        Sharing::Right => right,
        Sharing::Both => [left, right].concat(),
    }
}

/// The roles of the Local source stream, in its order: the mathematical sources, then those of
/// post-processing. Roles bound as Shared are left out.
pub fn local_roles(
    function: Function,
    a_type: DataType,
    b_type: DataType,
    sharing: Sharing,
    post: &Post,
) -> Vec<Role> {
    let (left, right) = operand_groups(function, a_type, b_type);
    let mut roles = Vec::with_capacity(Role::COUNT);
    let mut add = |wanted: bool, role: &[Role]| {
        if wanted {
            roles.extend_from_slice(role);
        }
    };
    add(function.addend == Addend::Accumulator, &[Role::C]);
    add(sharing != Sharing::Both, &left);
    add(sharing == Sharing::None, &right);
    add(function.addend == Addend::Bias, &[Role::Bias]);
    add(post.c_scale, &[Role::CScale]);
    add(post.row_max && post.row_max_init, &[Role::RowMaxIn]);
    add(
        post.pre_quant.parameter == Parameter::Vector,
        &[Role::Quant],
    );
    add(post.relu == ReluMode::Vector, &[Role::Prelu]);
    roles
}

/// The number of scalar parameters the modes take, quantisation first.
pub fn scalar_count(post: &Post) -> usize {
    usize::from(post.pre_quant.parameter == Parameter::Scalar)
        + usize::from(post.relu == ReluMode::Scalar)
}

/// The number of K-groups of an MX scale: one for each `size` consecutive k.
pub fn scale_groups(k: u32, size: u32) -> u32 {
    k.div_ceil(size)
}

/// Whether the pair of types can be multiplied by the function, and in what it accumulates.
pub fn accumulator_type(
    function: Function,
    a_type: DataType,
    b_type: DataType,
    revision: Revision,
) -> Option<DataType> {
    if function.mx {
        super::types::mx_pair_legal(a_type, b_type, revision.has_hif4()).then_some(DataType::Fp32)
    } else {
        super::types::ordinary_pair_class(a_type, b_type).map(|class| class.accumulator())
    }
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
    fn streams_are_in_the_order_of_the_isa() {
        let post = Post {
            row_max: true,
            row_max_init: true,
            c_scale: true,
            relu: ReluMode::Vector,
            pre_quant: PreQuantMode::from_code(23).unwrap(),
            ..Post::default()
        };
        let f = Function::from_name("TMATMUL_MX_ACC").unwrap();
        use Role::*;
        assert_eq!(
            local_roles(f, DataType::E4M3, DataType::Fp16, Sharing::None, &post),
            [C, A, ScaleA, B, CScale, RowMaxIn, Quant, Prelu]
        );
        assert_eq!(
            local_roles(f, DataType::E4M3, DataType::E4M3, Sharing::Right, &post),
            [C, A, ScaleA, CScale, RowMaxIn, Quant, Prelu]
        );
        assert_eq!(
            shared_roles(f, DataType::E4M3, DataType::E4M3, Sharing::Both),
            [A, ScaleA, B, ScaleB]
        );
    }

    #[test]
    fn group_codes() {
        let columns: Vec<_> = (0..10).map(|c| group_columns(c).unwrap()).collect();
        assert_eq!(columns, [0, 8, 16, 32, 48, 64, 80, 96, 112, 128]);
        assert_eq!(group_columns(10), None);
    }
}
