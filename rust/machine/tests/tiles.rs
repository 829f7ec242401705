//! Programs on tiles, instruction by instruction.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests: a wrong program fails the test"
)]

use pto_ir::{Engine, Target};
use pto_machine::code::{
    Allocate, Code, ElementType, EngineOp, FuncBuilder, Index, Inst, Slot, Space, TileKind,
    TileMatmul, TileSpace, Transfer, ValueType, ViewSlot, ViewType,
};
use pto_machine::exec::{
    Array, Config, DEFAULT_MAX_STEPS, Extent, Input, RunResult, TILE_WORD, TileConfig, Value, run,
};
use pto_machine::hazards::HazardPolicy;
use pto_machine::parallel::Order;
use pto_machine::psum::Meanings;
use pto_machine::report::SiteId;
use pto_machine::tile::fields::RMode;
use pto_machine::tile::{Arithmetic, DataType, Function, Post, Role};

const M: u64 = 2;

struct Program {
    builder: FuncBuilder,
}

fn ty(space: TileSpace, data_type: DataType) -> ViewType {
    let kind = TileKind { space, data_type };
    ViewType::dense(ElementType::of_tile(data_type), Space::Tile(kind), &[M, M])
}

impl Program {
    fn new() -> Self {
        Self {
            builder: FuncBuilder::new("main", SiteId::NONE),
        }
    }

    fn argument(&mut self, ty: ViewType) -> ViewSlot {
        match self.builder.param(ValueType::View(ty)) {
            Slot::View(slot) => slot,
            Slot::Scalar(_) => panic!("a memref"),
        }
    }

    fn tile(&mut self, ty: &ViewType) -> ViewSlot {
        let dst = self.builder.view();
        let allocate = Allocate {
            dst,
            element: ty.element,
            space: ty.space,
            sizes: [M, M].map(|size| Index::Constant(size as i64)).into(),
            layout: None,
            placement: None,
            capacity: None,
        };
        self.push(Inst::Allocate(Box::new(allocate)));
        dst
    }

    fn copy(&mut self, source: ViewSlot, dst: ViewSlot) {
        self.push(Inst::Copy(Box::new(Transfer {
            op: EngineOp::plain(Engine::Vector),
            source,
            source_type: None,
            dst,
        })));
    }

    fn accumulate(&mut self, [c, a, b, d]: [ViewSlot; 4]) {
        let function = Function::from_name("TMATMUL_ACC").expect("a function");
        self.push(Inst::TileMatmul(Box::new(TileMatmul {
            op: EngineOp::plain(Engine::Pe),
            function: function.code(),
            post: Post::default(),
            rmode: RMode::Default,
            saturate: false,
            mask: 0b1111,
            sources: [(Role::C, c), (Role::A, a), (Role::B, b)].into(),
            scalars: Box::default(),
            destinations: [d].into(),
        })));
    }

    fn push(&mut self, inst: Inst) {
        self.builder.push(inst, SiteId::NONE);
    }

    fn run(
        mut self,
        result: (ViewSlot, ViewType),
        inputs: Vec<Input>,
        tiles: TileConfig,
    ) -> RunResult {
        self.push(Inst::Return([Slot::View(result.0)].into()));
        self.builder.push_result(ValueType::View(result.1));
        let code = Code {
            funcs: vec![self.builder.finish().expect("no labels")],
            globals: Vec::new(),
            platform: None,
        };
        let meanings = Meanings {
            reference: true,
            models: Vec::new(),
        };
        let config = Config {
            target: Target::from_name(Target::DEFAULT).expect("a target"),
            meanings,
            extent: Extent::Group,
            hazards: HazardPolicy::Off,
            tiles,
            order: Order::Forward,
            max_steps: DEFAULT_MAX_STEPS,
            times: false,
        };
        run(&code, Code::func_id(0), inputs, config)
    }
}

fn words(values: [u64; 4]) -> Input {
    Input::Elements(Array {
        element: TILE_WORD,
        sizes: vec![M, M],
        bytes: values.iter().flat_map(|word| word.to_le_bytes()).collect(),
    })
}

fn result_words(result: &RunResult) -> Vec<u64> {
    let Some(Value::Elements {
        array,
        undefined: 0,
    }) = result.results.first()
    else {
        panic!("a defined tile, found {result:?}");
    };
    let width = array.element.bytes();
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word[..width].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    array.bytes.chunks_exact(width).map(word).collect()
}

/// `%c += a . b` twice, in place, onto a tile that holds nothing.
fn in_place(tiles: TileConfig) -> RunResult {
    let mut program = Program::new();
    let a = program.argument(ty(TileSpace::CubeM16, DataType::U8));
    let b = program.argument(ty(TileSpace::CubeN8, DataType::U8));
    let sum = ty(TileSpace::CubeM16, DataType::U32);
    let c = program.tile(&sum);
    program.accumulate([c, a, b, c]);
    program.accumulate([c, a, b, c]);
    let inputs = vec![words([1, 2, 3, 4]), words([1, 0, 0, 1])];
    program.run((c, sum), inputs, tiles)
}

#[test]
fn an_accumulator_that_is_its_destination_is_for_the_form_without_registers() {
    let unassigned = TileConfig {
        is_unassigned: true,
        ..TileConfig::default()
    };
    assert_eq!(result_words(&in_place(unassigned)), [2, 4, 6, 8]);
    let result = in_place(TileConfig::default());
    assert!(result.is_faulted && result.results.is_empty());
    let tags: Vec<_> = result.reports.iter().map(|report| report.tag).collect();
    assert_eq!(
        tags,
        ["pto:tile-undefined"],
        "the accumulator holds nothing"
    );
    assert_eq!(result.arguments.len(), 2, "arguments are as they were");
}

#[test]
fn raw_words_keep_all_their_bits_from_tile_to_tile() {
    let raw = TileConfig {
        arithmetic: Arithmetic::Raw,
        ..TileConfig::default()
    };
    let mut program = Program::new();
    let half = ty(TileSpace::CubeM16, DataType::Fp16);
    let a = program.argument(half.clone());
    let b = program.tile(&half);
    program.copy(a, b);
    let long = [u64::MAX, 1 << 63, 0x1_0000_0002, 5];
    let result = program.run((b, half.clone()), vec![words(long)], raw);
    assert_eq!(result_words(&result), long);

    // Another memory shows the bits of the element only.
    let mut program = Program::new();
    let a = program.argument(half.clone());
    let hbm = ViewType::dense(half.element, Space::Hbm, &[M, M]);
    let b = program.argument(hbm.clone());
    program.copy(a, b);
    let result = program.run((b, hbm), vec![words(long)], raw);
    assert_eq!(result_words(&result), [0xffff, 0, 2, 5]);
}
