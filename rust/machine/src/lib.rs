//! The reference interpreter of the matrix engine: two semantics in one crate that knows no pass.
//!
//! | module | holds |
//! |---|---|
//! | [`code`] | executable programs: functions of flat instructions over slots |
//! | [`exec`] | the interpreter |
//! | [`scalar`] | arithmetic on one value |
//! | [`hazards`] | accesses whose result the machine does not promise |
//! | [`parallel`] | loops whose iterations run in any order |
//! | [`stats`], `timing` | counts, and how long a run takes on the machine |
//! | [`trace`] | what happened in a run, for looking at it |
//! | [`random`] | random arguments |
//! | [`report`] | diagnostics as data |
//! | [`formats`], [`pe`] | number formats and the arithmetic of one matmul |
//! | [`npy`] | reading and writing `.npy` files |
//! | [`tile`] | the TMATMUL family of the tile ISA |
//!
//! Two products are added up in PSUM and copied out; the run is made under what the program means and
//! under both readings of START, and is silent as all three agree:
//!
//! ```
//! use pto_ir::{AccFlags, Engine, Placement, Target};
//! use pto_machine::code::{
//!     Allocate, Code, ElementType, EngineOp, FuncBuilder, Index, Inst, MatmulOp, Slot, Space, Transfer,
//!     ValueType, ViewSlot, ViewType,
//! };
//! use pto_machine::exec::{Config, DEFAULT_MAX_STEPS, Extent, TileConfig, Value, run};
//! use pto_machine::hazards::HazardPolicy;
//! use pto_machine::parallel::Order;
//! use pto_machine::psum::{Meanings, StartModel};
//! use pto_machine::report::SiteId;
//!
//! const HERE: SiteId = SiteId::NONE;
//! let mut main = FuncBuilder::new("main", HERE);
//! let allocate = |main: &mut FuncBuilder, space, [rows, columns]: [i64; 2], placement| -> ViewSlot {
//!     let (dst, element) = (main.view(), ElementType::F32);
//!     let sizes = [rows, columns].map(Index::Constant).into();
//!     let op = Allocate { dst, element, space, sizes, layout: None, placement, capacity: None };
//!     main.push(Inst::Allocate(Box::new(op)), HERE);
//!     dst
//! };
//!
//! // K = 64 rows, M = 32 columns of the stationary and N = 32 of the moving operand: here one buffer, of ones.
//! let ones = allocate(&mut main, Space::Sbuf, [64, 32], None);
//! let source = main.constant(u64::from(1.0_f32.to_bits()));
//! let fill = Transfer { op: EngineOp::plain(Engine::Vector), source, source_type: None, dst: ones };
//! main.push(Inst::Fill(Box::new(fill)), HERE);
//!
//! let origin = Placement { bank: 0, offset: 0, partition: 0 };
//! let sum = allocate(&mut main, Space::Psum, [32, 32], Some(origin));
//! for (accumulator, flags) in [(None, AccFlags::START), (Some(sum), AccFlags::STOP)] {
//!     let matmul = MatmulOp {
//!         op: EngineOp::plain(Engine::Pe),
//!         accumulator,
//!         stationary: ones,
//!         moving: ones,
//!         dst: sum,
//!         tile: None,
//!         flags: Some(flags),
//!         zero_region: None,
//!         start_if: None,
//!         stop_if: None,
//!     };
//!     main.push(Inst::Matmul(Box::new(matmul)), HERE);
//! }
//!
//! let result = allocate(&mut main, Space::Sbuf, [32, 32], None);
//! let copy = Transfer { op: EngineOp::plain(Engine::Vector), source: sum, source_type: None, dst: result };
//! main.push(Inst::Copy(Box::new(copy)), HERE);
//! main.push_result(ValueType::View(ViewType::dense(ElementType::F32, Space::Sbuf, &[32, 32])));
//! main.push(Inst::Return([Slot::View(result)].into()), HERE);
//! let code = Code { funcs: vec![main.finish().unwrap()], globals: Vec::new(), platform: None };
//!
//! let config = Config {
//!     target: Target::from_name("trn2").unwrap(),
//!     meanings: Meanings { reference: true, models: vec![StartModel::WrittenBit, StartModel::EagerZero] },
//!     extent: Extent::Group,
//!     hazards: HazardPolicy::Error,
//!     order: Order::Forward,
//!     tiles: TileConfig::default(),
//!     max_steps: DEFAULT_MAX_STEPS,
//!     times: false,
//! };
//! let run = run(&code, Code::func_id(0), Vec::new(), config);
//! assert!(run.reports.is_empty());
//! let Value::Elements { array, undefined: 0 } = &run.results[0] else { panic!("a memref") };
//! assert_eq!(array.bytes[..4], 128.0_f32.to_le_bytes());
//! ```

pub mod code;
mod concurrency;
pub mod exec;
pub mod formats;
pub mod hazards;
mod memory;
pub mod npy;
pub mod parallel;
pub mod pe;
pub mod psum;
pub mod random;
pub mod report;
pub mod scalar;
pub mod stats;
pub mod tile;
mod timing;
pub mod trace;
