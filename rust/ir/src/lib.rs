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
//! | [`condition`] | what is known of predicates, branches and loop bounds, and which of them ask the same |
//! | [`build`] | the one way to make a [`Program`] |
//! | [`plan`] | edits a pass asks for, and their effect on a [`Program`] |
//! | [`tile`] | the same for the tile ISA: functions on tiles, and edits of them |
//! | [`diag`] | diagnostics and remarks with their sites |
//!
//! Two accumulators in one bank of PSUM, as a pass sees them:
//!
//! ```
//! use pto_ir::build::MatmulSpec;
//! use pto_ir::{
//!     AccFlags, Alloc, BlockId, Engine, Op, Origin, Placement, ProgramBuilder, Space, Use, UseKind,
//! };
//!
//! let mut builder = ProgramBuilder::new("main");
//! // 128 partitions of 1024 bytes: 256 cells of f32 in each, at this byte of bank 0.
//! let half = |offset| Alloc {
//!     space: Space::Psum,
//!     origin: Origin::Allocation,
//!     block: BlockId::new(0),
//!     partitions: 128,
//!     bytes: 1024,
//!     placement: Some(Placement { bank: 0, offset, partition: 0 }),
//!     escapes: false,
//!     may_alias: false,
//! };
//! for offset in [0, 1024] {
//!     let alloc = builder.add_alloc(half(offset));
//!     builder.push_alloc(alloc);
//!     let cells = builder.whole(alloc);
//!     builder.push_matmul(cells, MatmulSpec { flags: Some(AccFlags::START), ..MatmulSpec::default() });
//!     builder.push(Op::Engine, Engine::Vector, &[Use { access: cells, kind: UseKind::Read }]);
//! }
//! let program = builder.finish();
//! assert_eq!(program.allocs().len(), 2);
//! ```

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
pub use condition::{Asked, Bounds, Condition, ConditionId, Predicate, Question, Turn};
pub use diag::{Diag, Severity, Site};
pub use flags::AccFlags;
pub use ids::{AccessId, AllocId, BlockId, InstId, QuestionId, RegionId};
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
