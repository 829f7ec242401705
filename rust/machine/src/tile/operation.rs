//! One operation of the TMATMUL family: its fields and its operand streams.
//!
//! An [`Operation`] is everything a block says, before anything is judged: `legality::check` judges
//! what the operation alone can know, `preflight` that and the state of the machine.

use super::contents::{SharedState, Tile};
use super::descriptor::Descriptor;
use super::fields::{Addend, DataAttributes, Function, Post, ReluMode, Scalars};
use super::post::modes::Parameter;
use super::revision::Revision;
use super::types::{DataType, Scaling};

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
    use crate::tile::post::modes::PreQuantMode;

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
}
