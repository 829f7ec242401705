//! Loops whose iterations run in any order: what each order gives, and that it is noticed.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken expectation is a failed test"
)]

mod common;

use common::{config, only};
use pto_machine::code::{
    Allocate, Code, ElementType, FuncBuilder, Index, Inst, Parallel, ParallelDim, Slot, Space,
    Store, ValueType, ViewType,
};
use pto_machine::exec::{Config, RunResult, Value, run};
use pto_machine::hazards::HazardPolicy;
use pto_machine::parallel::Order;
use pto_machine::psum::StartModel;
use pto_machine::report::SiteId;

const ALLOCATE: SiteId = SiteId::new(0);
const LOOP: SiteId = SiteId::new(1);
const STORE: SiteId = SiteId::new(2);
const HERE: SiteId = SiteId::NONE;

/// Every iteration of a nest of 2 by 3 writes `10 * i + j` to element `at(i, j)` of 64, which are the result.
fn every_iteration_writes(at: fn(Index, Index) -> [Index; 2]) -> Code {
    let mut main = FuncBuilder::new("main", HERE);
    let dst = main.view();
    let buffer = Allocate {
        dst,
        element: ElementType::Index,
        space: Space::Hbm,
        sizes: [8, 8].map(Index::Constant).into(),
        layout: None,
        placement: None,
        capacity: None,
    };
    main.push(Inst::Allocate(Box::new(buffer)), ALLOCATE);
    let (i, j, value, ten) = (
        main.scalar(),
        main.scalar(),
        main.scalar(),
        main.constant(10),
    );
    let dim = |iv, count| ParallelDim {
        iv,
        lower: Index::Constant(0),
        upper: Index::Constant(count),
        step: Index::Constant(1),
    };
    let (body, exit) = (main.label(), main.label());
    let enter = Parallel {
        dims: [dim(i, 2), dim(j, 3)].into(),
        exit,
    };
    main.push(Inst::ParallelEnter(Box::new(enter)), LOOP);
    main.bind(body);
    for (op, lhs, rhs) in [
        (pto_machine::scalar::IntBinaryOp::MulI, i, ten),
        (pto_machine::scalar::IntBinaryOp::AddI, value, j),
    ] {
        let inst = Inst::IntBinary {
            op,
            width: 64,
            dst: value,
            lhs,
            rhs,
        };
        main.push(inst, HERE);
    }
    let store = Store {
        value,
        view: dst,
        indices: at(Index::Slot(i), Index::Slot(j)).into(),
    };
    main.push(Inst::Store(Box::new(store)), STORE);
    main.push(Inst::ParallelNext { body }, LOOP);
    main.bind(exit);
    main.push_result(ValueType::View(ViewType::dense(
        ElementType::Index,
        Space::Hbm,
        &[8, 8],
    )));
    main.push(Inst::Return([Slot::View(dst)].into()), HERE);
    Code {
        funcs: vec![main.finish().expect("bound labels")],
        globals: Vec::new(),
        platform: None,
    }
}

fn run_in(order: Order, hazards: HazardPolicy, code: &Code) -> RunResult {
    let config = Config {
        order,
        hazards,
        ..config("trn2", only(StartModel::WrittenBit))
    };
    run(code, Code::func_id(0), Vec::new(), config)
}

/// Element `row`, `column` of the result.
fn element(result: &RunResult, row: usize, column: usize) -> u64 {
    let Some(Value::Elements { array, .. }) = result.results.first() else {
        panic!("a result: {:?}", result.reports);
    };
    let start = 8 * (8 * row + column);
    let bytes = array.bytes[start..start + 8].try_into();
    u64::from_le_bytes(bytes.expect("eight bytes"))
}

const ORDERS: [Order; 4] = [
    Order::Forward,
    Order::Reverse,
    Order::Shuffled(1),
    Order::Shuffled(2),
];

#[test]
fn elements_of_their_own_are_the_same_in_every_order() {
    let code = every_iteration_writes(|i, j| [i, j]);
    for order in ORDERS {
        let result = run_in(order, HazardPolicy::Error, &code);
        assert_eq!(result.reports, []);
        for (i, j) in (0..2).flat_map(|i| (0..3).map(move |j| (i, j))) {
            assert_eq!(element(&result, i, j), (10 * i + j) as u64);
        }
    }
}

#[test]
fn one_element_for_all_is_an_error_in_every_order() {
    let code = every_iteration_writes(|_, j| [Index::Constant(0), j]);
    for order in ORDERS {
        let result = run_in(order, HazardPolicy::Error, &code);
        let report = result.reports.first().expect("a conflict");
        assert_eq!((report.tag, report.site), ("pto:parallel-conflict", STORE));
        let notes: Vec<SiteId> = report.notes.iter().map(|(site, _)| *site).collect();
        assert_eq!(
            notes,
            [STORE, LOOP, LOOP],
            "the other access, the loop, the iteration"
        );
        assert!(result.results.is_empty());
    }
}

#[test]
fn the_order_decides_where_nobody_minds() {
    let code = every_iteration_writes(|_, _| [Index::Constant(0); 2]);
    let last = |order, policy| element(&run_in(order, policy, &code), 0, 0);
    assert_eq!(last(Order::Forward, HazardPolicy::Off), 12);
    assert_eq!(last(Order::Reverse, HazardPolicy::Off), 0);
    assert_eq!(last(Order::Reverse, HazardPolicy::Warn), 0);
    let ends: Vec<u64> = (0..32)
        .map(|seed| last(Order::Shuffled(seed), HazardPolicy::Off))
        .collect();
    assert!(ends.iter().any(|&end| end != ends[0]), "{ends:?}");
    let warned = run_in(Order::Forward, HazardPolicy::Warn, &code);
    assert_eq!(warned.reports.len(), 1, "one for each pair of sites");
}
