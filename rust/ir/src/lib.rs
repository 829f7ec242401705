//! The common language of the project: what a pass, a checker or an interpreter knows of a program.
//!
//! A [`Program`] is one function seen by a matrix engine: allocations, instructions in blocks, and
//! for every instruction the bytes it touches. Nothing here knows MLIR, a pass, or how an
//! interpreter works, and nothing here decides anything: [`Plan`] only *records* what a pass wants.
//!
//! | module | holds |
//! |---|---|
//! | [`target`] | the numbers of the machines (generated from `dialect/Targets.td`) and the zero-region code |
//! | [`flags`] | the accumulate control byte |
//! | [`interval`] | half-open intervals and canonical interval sets |
//! | [`program`] | allocations, accesses, instructions, blocks, regions |
//! | [`condition`] | what is known of predicates, branches and loop bounds |
//! | [`build`] | the one way to make a [`Program`] |
//! | [`plan`] | edits a pass asks for, and their effect on a [`Program`] |
//! | [`tile`] | the same for the tile ISA: functions on tiles, and edits of them |
//! | [`diag`] | diagnostics and remarks with their sites |

pub mod build;
pub mod condition;
pub mod diag;
pub mod flags;
pub mod ids;
pub mod interval;
pub mod plan;
pub mod program;
pub mod target;
pub mod tile;

pub use build::ProgramBuilder;
pub use condition::{Bounds, Condition, ConditionId, Predicate, Turn};
pub use diag::{Diag, Severity, Site};
pub use flags::AccFlags;
pub use ids::{AccessId, AllocId, BlockId, InstId, RegionId};
pub use interval::{Interval, IntervalSet};
pub use plan::{
    AccEdit, Anchor, EdgeNode, FunctionMark, MemsetTarget, NewEdge, NewMemset, NewPredicate, Plan,
    TextPart,
};
pub use program::{
    Access, Alloc, Block, Edge, Engine, Inst, Matmul, Op, Origin, Placement, Program, Region,
    RegionKind, Space, Tile, Use, UseKind,
};
pub use target::{Target, ZeroWindow};
