//! Matmul tile ordering and accumulation-group legalization.
//!
//! A pass is a function from a [`pto_ir::Program`] to a [`pto_ir::Plan`], which only records what is to
//! change; it ends by running the pass's own checker. [`verify_acc`] and [`validate`] judge flags
//! whoever made them.
//!
//! ```
//! use pto_ir::build::MatmulSpec;
//! use pto_ir::{
//!     AccFlags, Alloc, BlockId, Engine, Op, Origin, Placement, ProgramBuilder, Space, Target, Use,
//!     UseKind,
//! };
//! use pto_passes::{legalize_acc, validate, verify_acc};
//!
//! # fn main() -> Result<(), Vec<pto_ir::Diag>> {
//! // One bank of 128 partitions by 512 cells of f32. Three products are added up in it, and read.
//! let mut builder = ProgramBuilder::new("main");
//! let alloc = builder.add_alloc(Alloc {
//!     space: Space::Psum,
//!     origin: Origin::Allocation,
//!     block: BlockId::new(0),
//!     partitions: 128,
//!     bytes: 2048,
//!     placement: Some(Placement { bank: 0, offset: 0, partition: 0 }),
//!     escapes: false,
//!     may_alias: false,
//! });
//! builder.push_alloc(alloc);
//! let cells = builder.whole(alloc);
//! let adds = MatmulSpec { accumulator: Some(cells), ..MatmulSpec::default() };
//! let chain = [(); 3].map(|()| builder.push_matmul(cells, adds));
//! builder.push(Op::Engine, Engine::Vector, &[Use { access: cells, kind: UseKind::Read }]);
//! let program = builder.finish();
//!
//! let target = Target::from_name("trn2").unwrap();
//! let plan = legalize_acc::plan(&program, target, &legalize_acc::Options::default())?;
//! let legal = plan.applied_to(&program);
//!
//! let flags = chain.map(|inst| match &legal.inst(inst).op {
//!     Op::Matmul(matmul) => matmul.flags,
//!     _ => None,
//! });
//! assert_eq!(flags, [AccFlags::START, AccFlags::NONE, AccFlags::STOP].map(Some));
//!
//! // Nothing to say: the flags are right under both meanings of START, for all inputs.
//! assert_eq!(verify_acc::verify(&legal, target, &verify_acc::Options::default()), []);
//! // And every value that is read is the sum that the program without flags means.
//! validate::validate(&program, &legal, target, validate::Options::default())
//! # }
//! ```

pub mod alloc_psum;
pub mod dump_deps;
pub mod explain;
pub mod legalize_acc;
pub mod legalize_tile;
pub mod mark_first;
pub mod order_column_tiles;
pub mod print_psum;
pub mod reset_acc;
pub mod schedule;
pub mod validate;
pub mod verify_acc;
