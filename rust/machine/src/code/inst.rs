//! The instructions.

use pto_ir::{AccFlags, Engine, Placement, Tile};

use super::{
    Affine, ElementType, FuncId, GlobalId, Layout, ScalarSlot, Slot, Space, TileMatmul, ViewSlot,
};
use crate::scalar::{
    CastOp, FloatBinaryOp, FloatClass, FloatCompare, FloatUnaryOp, IntBinaryOp, IntCompare,
    IntUnaryOp,
};

/// A place in a function to jump to. While a function is built it is the number of a label,
/// afterwards the number of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(pub(crate) u32);

/// A number known when the code is built, or a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Known.
    Constant(i64),
    /// In a slot.
    Slot(ScalarSlot),
}

/// A comparison of two scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Of integers of this many bits.
    Int(IntCompare, u8),
    /// Of floats of this type.
    Float(FloatCompare, ElementType),
}

/// One instruction. Large operands are boxed, so that the list stays dense.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "operands are named as in MLIR")]
pub enum Inst {
    // Scalars.
    IntBinary {
        op: IntBinaryOp,
        width: u8,
        dst: ScalarSlot,
        lhs: ScalarSlot,
        rhs: ScalarSlot,
    },
    IntUnary {
        op: IntUnaryOp,
        width: u8,
        dst: ScalarSlot,
        src: ScalarSlot,
    },
    FloatBinary {
        op: FloatBinaryOp,
        ty: ElementType,
        dst: ScalarSlot,
        lhs: ScalarSlot,
        rhs: ScalarSlot,
    },
    FloatUnary {
        op: FloatUnaryOp,
        ty: ElementType,
        dst: ScalarSlot,
        src: ScalarSlot,
    },
    FloatTest {
        op: FloatClass,
        ty: ElementType,
        dst: ScalarSlot,
        src: ScalarSlot,
    },
    FusedMultiplyAdd {
        ty: ElementType,
        dst: ScalarSlot,
        operands: [ScalarSlot; 3],
    },
    /// A float to an integer power of `width` bits.
    FloatPower {
        ty: ElementType,
        width: u8,
        dst: ScalarSlot,
        base: ScalarSlot,
        exponent: ScalarSlot,
    },
    Compare {
        op: Compare,
        dst: ScalarSlot,
        lhs: ScalarSlot,
        rhs: ScalarSlot,
    },
    Cast {
        op: CastOp,
        from: ElementType,
        to: ElementType,
        dst: ScalarSlot,
        src: ScalarSlot,
    },
    Select {
        dst: ScalarSlot,
        condition: ScalarSlot,
        yes: ScalarSlot,
        no: ScalarSlot,
    },
    SelectView {
        dst: ViewSlot,
        condition: ScalarSlot,
        yes: ViewSlot,
        no: ViewSlot,
    },
    Move {
        dst: ScalarSlot,
        src: ScalarSlot,
    },
    MoveView {
        dst: ViewSlot,
        src: ViewSlot,
    },
    Affine(Box<AffineApply>),

    // Control.
    Jump(Label),
    JumpIf {
        condition: ScalarSlot,
        target: Label,
    },
    JumpUnless {
        condition: ScalarSlot,
        target: Label,
    },
    Switch(Box<Switch>),
    /// Sets `iv` to `lower`; jumps to `exit` if the loop does not run. The step must be positive.
    LoopEnter {
        compare: IntCompare,
        width: u8,
        iv: ScalarSlot,
        lower: ScalarSlot,
        upper: ScalarSlot,
        step: ScalarSlot,
        exit: Label,
    },
    /// Adds `step` to `iv`; jumps to `body` if the loop goes on.
    LoopNext {
        compare: IntCompare,
        width: u8,
        iv: ScalarSlot,
        upper: ScalarSlot,
        step: ScalarSlot,
        body: Label,
    },
    /// Begins a loop whose iterations run in any order; jumps to its exit if there is none.
    ParallelEnter(Box<Parallel>),
    /// Goes to the next iteration, at `body`, or falls through.
    ParallelNext {
        body: Label,
    },
    Call(Box<Call>),
    Return(Box<[Slot]>),
    /// `cf.assert`.
    Assert {
        condition: ScalarSlot,
        message: Box<str>,
    },

    // Buffers and views of them.
    Allocate(Box<Allocate>),
    Deallocate(ViewSlot),
    Global {
        dst: ViewSlot,
        global: GlobalId,
    },
    Subview(Box<Subview>),
    /// Collapses groups of adjacent dimensions.
    Collapse(Box<Reshape>),
    Expand(Box<Expand>),
    Reinterpret(Box<Reinterpret>),
    Transpose {
        dst: ViewSlot,
        src: ViewSlot,
        permutation: Box<[u32]>,
    },
    ViewCast(Box<ViewCast>),
    Metadata(Box<Metadata>),
    Dim {
        dst: ScalarSlot,
        view: ViewSlot,
        dim: Index,
    },
    Load {
        dst: ScalarSlot,
        view: ViewSlot,
        indices: Box<[Index]>,
    },
    Store(Box<Store>),

    // Engines.
    Matmul(Box<MatmulOp>),
    TileMatmul(Box<TileMatmul>),
    /// `src` is copied to `dst`, converting between element types.
    Copy(Box<Transfer<ViewSlot>>),
    /// `dst` is filled with a scalar of type `value_type`.
    Fill(Box<Transfer<ScalarSlot>>),
    ExpectEq(Box<ExpectEq>),
    ExpectClose(Box<ExpectClose>),

    // linalg.
    /// Begins to iterate: loads the inputs of the first element, or jumps to `exit` if there is none.
    GenericEnter(Box<Generic>),
    /// Stores the outputs and loads the inputs of the next element, or falls through. `enter` is the
    /// instruction after which the body begins.
    GenericNext {
        enter: Label,
    },
    /// The index of the innermost iteration in dimension `dim`.
    GenericIndex {
        dst: ScalarSlot,
        dim: u32,
    },
}

/// `dst = expr(inputs)`; all are 64-bit integers.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct AffineApply {
    pub dst: ScalarSlot,
    pub expr: Affine,
    pub inputs: Box<[Index]>,
}

/// Jumps by the value of an integer of `width` bits.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Switch {
    pub value: ScalarSlot,
    pub width: u8,
    pub cases: Box<[(i64, Label)]>,
    pub default: Label,
}

/// A nest of loops whose iterations run in any order: the induction variables are signed 64-bit
/// integers. The steps must be positive.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Parallel {
    pub dims: Box<[ParallelDim]>,
    pub exit: Label,
}

/// One loop of such a nest.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ParallelDim {
    pub iv: ScalarSlot,
    pub lower: Index,
    pub upper: Index,
    pub step: Index,
}

/// A call: arguments and results slot by slot.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Call {
    pub callee: FuncId,
    pub arguments: Box<[Slot]>,
    pub results: Box<[Slot]>,
}

/// A new buffer, row-major, or with the strides of `layout`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Allocate {
    pub dst: ViewSlot,
    pub element: ElementType,
    pub space: Space,
    pub sizes: Box<[Index]>,
    pub layout: Option<Layout>,
    /// Where it lies, if it is placed.
    pub placement: Option<Placement>,
    /// The bytes of a tile whose size is given; the smallest size that holds it otherwise.
    pub capacity: Option<u32>,
}

/// A rectangular part with steps.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Subview {
    pub dst: ViewSlot,
    pub src: ViewSlot,
    pub offsets: Box<[Index]>,
    pub sizes: Box<[Index]>,
    pub strides: Box<[Index]>,
    /// Which dimensions the result keeps.
    pub kept: Box<[bool]>,
}

/// Groups of adjacent dimensions of the source, one for each dimension of the result.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Reshape {
    pub dst: ViewSlot,
    pub src: ViewSlot,
    pub groups: Box<[u32]>,
}

/// Splits dimension i of the source into the next `groups[i]` dimensions of the result.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Expand {
    pub dst: ViewSlot,
    pub src: ViewSlot,
    pub groups: Box<[u32]>,
    pub sizes: Box<[Index]>,
}

/// Another view of the whole buffer.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Reinterpret {
    pub dst: ViewSlot,
    pub src: ViewSlot,
    pub offset: Index,
    pub sizes: Box<[Index]>,
    pub strides: Box<[Index]>,
}

/// What a view consists of: the first element of its buffer, and numbers of elements.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Metadata {
    pub src: ViewSlot,
    pub base: ViewSlot,
    pub offset: ScalarSlot,
    pub sizes: Box<[ScalarSlot]>,
    pub strides: Box<[ScalarSlot]>,
}

/// The same view; what the new type knows of sizes, strides and offset must be true.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ViewCast {
    pub dst: ViewSlot,
    pub src: ViewSlot,
    pub sizes: Box<[Option<u64>]>,
    pub layout: Option<Layout>,
}

/// Stores one element.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Store {
    pub value: ScalarSlot,
    pub view: ViewSlot,
    pub indices: Box<[Index]>,
}

/// What every engine operation has.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct EngineOp {
    pub engine: Engine,
    /// Where its token goes.
    pub token: Option<ScalarSlot>,
    /// The tokens it waits for.
    pub after: Box<[ScalarSlot]>,
    /// Whether legalization inserted it: then it is no part of what the program means.
    pub is_inserted: bool,
}

impl EngineOp {
    /// An operation of `engine` without tokens.
    pub fn plain(engine: Engine) -> Self {
        Self {
            engine,
            token: None,
            after: Box::default(),
            is_inserted: false,
        }
    }
}

/// A PE matmul.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct MatmulOp {
    pub op: EngineOp,
    /// The accumulator of a `tmatmul_acc`.
    pub accumulator: Option<ViewSlot>,
    pub stationary: ViewSlot,
    pub moving: ViewSlot,
    pub dst: ViewSlot,
    pub tile: Option<Tile>,
    /// `None` is auto.
    pub flags: Option<AccFlags>,
    pub zero_region: Option<u8>,
    /// START is added to the flags where this holds.
    pub start_if: Option<ScalarSlot>,
    /// STOP is added to the flags where this holds.
    pub stop_if: Option<ScalarSlot>,
}

/// A whole buffer is written from `source`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Transfer<S> {
    pub op: EngineOp,
    pub source: S,
    /// The type of a scalar source, where it is not that of the destination's elements.
    pub source_type: Option<ElementType>,
    pub dst: ViewSlot,
}

/// A buffer must hold these elements, bit for bit (NaN by class).
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ExpectEq {
    pub view: ViewSlot,
    /// The elements' type as written.
    pub element: ElementType,
    /// The elements, little endian, row-major; one element stands for all.
    pub expected: Box<[u8]>,
    pub sizes: Box<[u64]>,
}

/// How far a value may be from the one expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// In units of the last place: codes of the element type between the two values.
    Ulp(u64),
}

/// A buffer must hold elements near these.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct ExpectClose {
    pub expect: ExpectEq,
    pub tolerance: Tolerance,
}

/// A `linalg` operation: a body run for every point of an iteration space.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Generic {
    /// Number of dimensions of the iteration space.
    pub dims: u32,
    pub inputs: Box<[GenericInput]>,
    pub outputs: Box<[GenericOutput]>,
    /// What the body computes, where it is a contraction of two inputs into one output.
    pub contraction: Option<Contraction>,
    pub exit: Label,
}

/// A body `out + a * b`, by the type in which it multiplies and adds. Inputs are widened to it:
/// floats exactly, integers with their sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contraction {
    /// f32, both operations rounded.
    F32,
    /// f64, both operations rounded.
    F64,
    /// Integers of the output's width, wrapping.
    Int,
}

/// A memref that the body reads.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct GenericInput {
    pub view: ViewSlot,
    pub map: Box<[Affine]>,
    /// Where the body finds the element; `None` if it does not look.
    pub slot: Option<ScalarSlot>,
}

/// A memref that the body writes.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct GenericOutput {
    pub input: GenericInput,
    /// The element to store.
    pub value: ScalarSlot,
}

impl Inst {
    /// Calls `visit` for every label of the instruction.
    pub(super) fn for_each_label(&mut self, mut visit: impl FnMut(&mut Label)) {
        match self {
            Self::Jump(target)
            | Self::JumpIf { target, .. }
            | Self::JumpUnless { target, .. }
            | Self::LoopEnter { exit: target, .. }
            | Self::LoopNext { body: target, .. }
            | Self::GenericNext { enter: target }
            | Self::ParallelNext { body: target } => visit(target),
            Self::ParallelEnter(parallel) => visit(&mut parallel.exit),
            Self::GenericEnter(generic) => visit(&mut generic.exit),
            Self::Switch(switch) => {
                switch
                    .cases
                    .iter_mut()
                    .for_each(|(_, target)| visit(target));
                visit(&mut switch.default);
            }
            _ => {}
        }
    }
}
