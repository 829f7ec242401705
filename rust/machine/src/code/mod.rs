//! Executable programs: the form that a reader of some IR produces once and the interpreter runs.
//!
//! A [`Code`] is a list of functions, a [`Func`] a flat list of instructions with jumps: loops,
//! conditionals and blocks are all jumps, so nesting costs nothing and nothing recurses. Every value
//! has a *slot*: scalars (tokens included) in one array, memrefs ("views") in another. Constants are
//! slots that are filled when the function is entered. Nothing is looked up by name while running.
//!
//! [`FuncBuilder`] is the one way to make a function; [`SiteId`]s are numbers of the caller's.

mod affine;
mod build;
mod inst;
mod reach;
mod tiles;
pub mod types;

pub use affine::{Affine, AffineOp};
pub use build::FuncBuilder;
pub use inst::{
    AffineApply, Allocate, Call, Compare, Contraction, EngineOp, Expand, ExpectClose, ExpectEq,
    Generic, GenericInput, GenericOutput, Index, Inst, Label, MatmulOp, Metadata, Parallel,
    ParallelDim, Reinterpret, Reshape, Store, Subview, Switch, Tolerance, Transfer, ViewCast,
};
pub use tiles::{TileKind, TileMatmul, TileSpace};
pub use types::{ElementType, sign_extend, truncate};

use pto_ir::{Placement, Target};

use crate::report::SiteId;

macro_rules! slot {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            pub(crate) const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

slot!(
    /// The slot of a scalar or a token, in the frame of a function.
    ScalarSlot
);
slot!(
    /// The slot of a memref, in the frame of a function.
    ViewSlot
);
slot!(
    /// A function of a [`Code`].
    FuncId
);
slot!(
    /// A global buffer of a [`Code`].
    GlobalId
);

/// A slot of either array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// A scalar or a token.
    Scalar(ScalarSlot),
    /// A memref.
    View(ViewSlot),
}

/// The memory that a memref lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Off-chip memory; also memrefs without a memory space.
    Hbm,
    /// The operand memory of the PE machine.
    Sbuf,
    /// The accumulator memory of the PE machine.
    Psum,
    /// A tile of the tile ISA.
    Tile(TileKind),
}

/// The machine that a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// One with a PE array.
    Pe(&'static Target),
    /// The tile ISA.
    Tile,
}

impl Platform {
    /// The platform called `name`: a PE target, or `tile`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "tile" => Some(Self::Tile),
            _ => Target::from_name(name).map(Self::Pe),
        }
    }

    /// The name in IR and options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pe(target) => target.name,
            Self::Tile => "tile",
        }
    }
}

/// The type of a memref: dimensions are `None` where they are dynamic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewType {
    /// The type of an element.
    pub element: ElementType,
    /// The memory it lies in.
    pub space: Space,
    /// The sizes.
    pub sizes: Vec<Option<u64>>,
    /// The strides and the offset, in elements; `None` is row-major from the first element.
    pub layout: Option<Layout>,
}

/// A strided layout; `None` where dynamic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Elements before the first.
    pub offset: Option<i64>,
    /// Elements from one index to the next, for each dimension.
    pub strides: Vec<Option<i64>>,
}

/// The type of a function's argument or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A scalar.
    Scalar(ElementType),
    /// A memref.
    View(ViewType),
    /// A token, or another value without contents.
    Token,
}

/// An argument of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its type.
    pub ty: ValueType,
    /// Where its value goes.
    pub slot: Slot,
    /// Whether anything uses it.
    pub is_used: bool,
    /// A PSUM argument: where it lies.
    pub placement: Option<Placement>,
    /// A PSUM argument: whether it holds nothing on entry.
    pub is_fresh: bool,
    /// Whether no other argument and no global is the same memory. What may be one waits as one.
    pub is_apart: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Func {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub site: SiteId,
    /// Its arguments.
    pub params: Vec<Param>,
    /// The types of its results.
    pub results: Vec<ValueType>,
    /// Whether it has a body.
    pub has_body: bool,
    /// Whether its flags are provisional: marked, not derived.
    pub is_provisional: bool,
    pub(crate) insts: Vec<Inst>,
    /// The site of each instruction.
    pub(crate) sites: Vec<SiteId>,
    pub(crate) constants: Vec<(ScalarSlot, u64)>,
    pub(crate) scalars: u32,
    pub(crate) views: u32,
}

/// A buffer that exists for the whole run.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub site: SiteId,
    /// Its type; every dimension is static.
    pub ty: ViewType,
    /// Its elements, little endian, row-major; `None` if it begins undefined.
    pub contents: Option<Vec<u8>>,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Its functions; the index is the [`FuncId`].
    pub funcs: Vec<Func>,
    /// Its globals; the index is the [`GlobalId`].
    pub globals: Vec<Global>,
    /// The machine that the program names, if it names one.
    pub platform: Option<Platform>,
}

impl Code {
    /// The function called `name`.
    pub fn find(&self, name: &str) -> Option<FuncId> {
        let index = self.funcs.iter().position(|func| func.name == name)?;
        Some(FuncId(index as u32))
    }

    /// The function `id`.
    pub fn func(&self, id: FuncId) -> &Func {
        &self.funcs[id.index()]
    }

    /// The id of the function at `index`.
    pub const fn func_id(index: usize) -> FuncId {
        FuncId(index as u32)
    }

    /// The id of the global at `index`.
    pub const fn global_id(index: usize) -> GlobalId {
        GlobalId(index as u32)
    }
}

impl ViewType {
    /// A row-major memref of static sizes.
    pub fn dense(element: ElementType, space: Space, sizes: &[u64]) -> Self {
        Self {
            element,
            space,
            sizes: sizes.iter().map(|&size| Some(size)).collect(),
            layout: None,
        }
    }
}
