//! The specification's own tests of the TMATMUL family, record by record.
//!
//! They were recorded from the published release, so they run as `Revision::Head` in raw
//! arithmetic. Records that say too little to be run are counted and named by their reason; a
//! record of a kind not known here fails.

use crate::predicates;
use crate::support::*;
use pto_machine::tile::core::{Block, Completion, Core};
use pto_machine::tile::encode::decode_post;
use pto_machine::tile::fields::{Addend, DataAttributes, RMode, ReluMode, Scalars};
use pto_machine::tile::header::{Command, Header};
use pto_machine::tile::operation::scalar_count;
use pto_machine::tile::post::Column;
use pto_machine::tile::post::convert::Conversion;
use pto_machine::tile::post::modes::{PreQuantMode, Quantisation, relu_factor};
use pto_machine::tile::{Arithmetic, DataType, FaultKind, Function, Post, Revision, Rule};
use serde_json::Value;
use std::collections::BTreeMap;

const VARIABLE: &str = "PTO_TILE_SPEC";

fn id(record: &Value) -> &str {
    record["id"].as_str().expect("an id")
}

#[test]
fn every_record_passes() {
    let mut ran: BTreeMap<&str, u32> = BTreeMap::new();
    let mut set_aside: BTreeMap<&str, u32> = BTreeMap::new();
    let records = records("tile_spec_tests.json", VARIABLE);
    for record in &records {
        let entry = record["entry"].as_str().expect("an entry");
        let reason = match entry {
            "block" => run_block(record),
            "direct" => run_direct(record, number_slots(record), true),
            "direct-decoded" => run_direct(record, number_slots(record), false),
            "element-postprocess" => run_elements(record),
            "predicate" => predicates::run(record, &records),
            "decode-or-static" => run_named(record),
            other => panic!("{}: entry {other}", id(record)),
        };
        match reason {
            None => *ran.entry(entry).or_default() += 1,
            Some(reason) => *set_aside.entry(reason).or_default() += 1,
        }
    }
    println!("ran {ran:?}\nset aside {set_aside:?}");
    let total: u32 = ran.values().chain(set_aside.values()).sum();
    assert_eq!(total as usize, records.len());
    if is_own_copy(VARIABLE) {
        let expected = [
            ("block", 87),
            ("decode-or-static", 15),
            ("direct", 17),
            ("direct-decoded", 20),
            ("element-postprocess", 9),
            ("predicate", 50),
        ];
        assert_eq!(ran.into_iter().collect::<Vec<_>>(), expected);
        assert_eq!(set_aside.values().sum::<u32>(), 7 + 7, "{set_aside:?}");
    }
}

/// What a fault field says.
fn fault_kind(name: &Value) -> Option<FaultKind> {
    [
        FaultKind::IllegalInstruction,
        FaultKind::BundleControl,
        FaultKind::TileLegality,
        FaultKind::TileAllocation,
    ]
    .into_iter()
    .find(|k| Some(k.to_string().as_str()) == name.as_str())
}

fn run_block(record: &Value) -> Option<&'static str> {
    let id = id(record);
    let attributes = &record["attributes"];
    let function = Function::from_name(record["op"].as_str().expect("an op")).expect("a function");
    let mut core = Core::new();
    let (mut sources, mut shared) = (Vec::new(), Vec::new());
    for input in record["inputs"].as_array().expect("inputs") {
        install(&mut core, input);
        match input.get("shared_id") {
            Some(name) => shared.push(number(name)),
            None => sources.push(number(&input["register"]) as u8),
        }
    }
    let fpatr = &attributes["B.FPATR"];
    let post = (fpatr["present"] == true).then(|| post(fpatr));
    let datr = &attributes["B.DATR"];
    let data = (datr["present"] == true).then(|| DataAttributes {
        b_type: Some(data_type(&datr["DataType"])),
        rmode: rmode(&datr["RMode"]),
        saturate: datr["Sat"] == true,
        has_foreign_fields: false,
    });
    let dimension = |name: &str| {
        let value = &attributes["B.DIM"][name];
        (!value.is_null()).then(|| number(value))
    };
    let block = Block {
        function: function.code(),
        a_type: data_type(&attributes["AType"]),
        data,
        dimensions: [dimension("LB0"), dimension("LB1"), dimension("LB2")],
        post,
        scalars: scalars(&attributes["B.IOR"], post.as_ref()),
        masks: record["masks"]
            .as_array()
            .expect("masks")
            .iter()
            .map(mask)
            .collect(),
        element: 0,
        stream_ended: true,
        sources,
        shared,
        destinations: record["destinations"]
            .as_array()
            .expect("destinations")
            .iter()
            .map(|d| (number(&d["hand"]) as u8, number(&d["size_code"]) as u8))
            .collect(),
    };
    let before = core.clone();
    let result = core.issue(&block, Revision::Head, Arithmetic::Raw);
    let expected = &record["expected"];
    match &result {
        Err(fault) => {
            assert_eq!(
                Some(fault.kind()),
                fault_kind(&expected["fault"]),
                "{id}: {fault}"
            );
            assert_eq!(expected["completed"], false, "{id}");
            assert!(core == before, "{id}: a fault changed the core");
        }
        Ok(completion) => {
            assert_eq!(expected["completed"], true, "{id}: {completion:?}");
            let is_no_op = expected.get("no_op").is_some_and(|n| n == true);
            assert_eq!(*completion == Completion::NoEffect, is_no_op, "{id}");
            assert!(
                !is_no_op || core == before,
                "{id}: no effect changed the core"
            );
            for output in expected["outputs"].as_array().into_iter().flatten() {
                expect_output(&core, output, id);
            }
        }
    }
    assert_eq!(core.flags(), mask(&expected["flags"]), "{id}");
    None
}

/// The words of B.IOR in packed order; a word beyond those the modes take is a foreign selector.
/// A B.IOR that no mode takes anything from is recorded only in the test of unused selectors.
fn scalars(ior: &Value, post: Option<&Post>) -> Option<Scalars> {
    let words: Vec<u64> = ior.as_array()?.iter().filter_map(word).collect();
    let used = post.map_or(0, scalar_count);
    Some(Scalars {
        has_foreign_selectors: used == 0 || words[used..].iter().any(|&w| w != 0),
        words: words[..used].iter().map(|&w| Some(w)).collect(),
    })
}

/// The operands of a direct record after the destination, in catalogue order: how many there are.
fn number_slots(record: &Value) -> usize {
    let function = record["op"].as_str().and_then(Function::from_name);
    function.map_or(5, |f| {
        2 + usize::from(f.addend != Addend::None) + 2 * usize::from(f.mx)
    })
}

/// A direct instruction. `is_handler` records called the handler without its legality check.
fn run_direct(record: &Value, slots: usize, is_handler: bool) -> Option<&'static str> {
    let id = id(record);
    let attributes = &record["attributes"];
    let types = (
        data_type(&attributes["AType"]),
        data_type(&attributes["BType"]),
    );
    let mut core = Core::new();
    let inputs = record["inputs"].as_array().expect("inputs");
    inputs.iter().for_each(|input| install(&mut core, input));
    let registers: Vec<u8> = inputs
        .iter()
        .map(|i| number(&i["register"]) as u8)
        .collect();
    let op = record["op"].as_str().expect("an op");
    let function =
        Function::from_name(op).map_or_else(|| op.parse().expect("a code"), |f| f.code());
    let (destination, sources) = registers.split_first().expect("a destination");
    let sources = &sources[..slots.min(sources.len())];
    let context = (Revision::Head, Arithmetic::Raw);
    let expected = &record["expected"];
    if is_handler && sources.contains(destination) {
        // The handler tolerates what legality forbids: an accumulator that is the destination.
        let fault = core.issue_direct(function, types, *destination, sources, context);
        assert_eq!(fault.expect_err(id).rule, Rule::Alias, "{id}");
        let free = 63;
        let copied = core.register(*destination).cloned();
        assert!(core.set_register(free, copied));
        let moved: Vec<u8> = sources
            .iter()
            .map(|&s| if s == *destination { free } else { s })
            .collect();
        core.issue_direct(function, types, *destination, &moved, context)
            .expect(id);
    } else {
        let before = core.clone();
        let result = core.issue_direct(function, types, *destination, sources, context);
        let kind = result.as_ref().err().map(|f| f.kind());
        assert_eq!(kind, fault_kind(&expected["fault"]), "{id}: {result:?}");
        assert!(
            kind.is_none() || core == before,
            "{id}: a fault changed the core"
        );
    }
    for output in expected["outputs"].as_array().into_iter().flatten() {
        expect_output(&core, output, id);
    }
    None
}

fn run_elements(record: &Value) -> Option<&'static str> {
    let id = id(record);
    let cases = record["cases"].as_array().expect("cases");
    assert!(!cases.is_empty(), "{id}");
    for case in cases {
        let mode = PreQuantMode::from_code(number(&case["PreQuantMode"]) as u8).expect("a mode");
        let relu = ReluMode::from_code(number(&case["ReluMode"]) as u8).expect("an activation");
        let output = data_type(&case["output_type"]);
        let accumulator = [DataType::Fp32, DataType::S32, DataType::U32]
            .into_iter()
            .find(|&t| mode.accepts(t) && mode.output(t) == output)
            .expect("an accumulator");
        let rounding = ["default", "RNE", "RTZ", "RTM", "RTP", "RNA", "RTO", "RHB"]
            .iter()
            .position(|n| case["RMode_effective_in"] == *n)
            .and_then(|code| RMode::from_code(code as u8))
            .expect("a rounding mode")
            .rounding();
        let conversion = Conversion::new(mode, accumulator, rounding, case["Sat"] == true);
        let column = Column {
            quantisation: match mode.parameter {
                pto_machine::tile::post::modes::Parameter::None => Quantisation::IDENTITY,
                _ => Quantisation::decode(word(&case["quant_param"]).unwrap(), mode.conversion),
            },
            negative_factor: match relu {
                ReluMode::None => None,
                ReluMode::Zero => Some(0.0),
                _ => Some(relu_factor(word(&case["relu_param"]).unwrap())),
            },
        };
        let (result, flags) =
            conversion.apply(word(&case["accumulator"]).unwrap(), accumulator, &column);
        assert_eq!(Some(result), word(&case["result"]), "{id}: {case}");
        assert_eq!(flags, mask(&case["flags"]), "{id}: {case}");
    }
    None
}

/// A matrix block of which B.FPATR is to be executed.
fn header() -> Header {
    Header::matrix(0, DataType::Fp16, Revision::Head)
}

/// Executes commands; the rule that the last one breaks.
fn broken_rule(mut header: Header, commands: Vec<Command>) -> Option<Rule> {
    let outcomes: Vec<_> = commands
        .into_iter()
        .map(|command| header.execute(command))
        .collect();
    let (last, before) = outcomes.split_last()?;
    assert!(before.iter().all(Result::is_ok));
    last.as_ref().err().map(|fault| fault.rule)
}

/// Records of which only the name is given. Where it names codes of B.FPATR, those are decoded;
/// where it names its place in a block, such blocks are executed.
fn run_named(record: &Value) -> Option<&'static str> {
    let id = id(record);
    assert_eq!(record["oracle_return"], 0, "{id}");
    let name = id.strip_prefix("PTO-AVS-BLOCK-B-FPATR-").unwrap_or(id);
    let is_reserved = |word: u32| {
        decode_post(word, Revision::Head)
            .is_err_and(|fault| fault.kind() == FaultKind::IllegalInstruction)
    };
    const ZERO: u32 = 0x2023;
    if let Some(range) = name.strip_prefix("PQ").and_then(|r| r.strip_suffix("-001")) {
        let (low, high) = range.split_once('-').expect("a range");
        let (low, high): (u32, u32) = (low.parse().unwrap(), high.parse().unwrap());
        assert!(
            (low..=high).all(|code| is_reserved(ZERO | code << 26)),
            "{id}"
        );
        return None;
    }
    match name {
        "GROUP-RSVD-001" => assert!((10..16).all(|code| is_reserved(ZERO | code << 19))),
        "RELU-RSVD-001" => assert!((4..8).all(|code| is_reserved(ZERO | code << 23))),
        "RSVD-001" => assert!(
            [10, 11, 12]
                .into_iter()
                .all(|bit| is_reserved(ZERO ^ 1 << bit))
        ),
        "TRANSPOSE-RSVD-012" => assert!(is_reserved(ZERO | 1 << 9) && is_reserved(ZERO | 1 << 10)),
        "TRANSPOSE-011" => {
            let post = decode_post(ZERO | 1 << 7, Revision::Head).expect(id);
            assert!(post.trans_a && !post.trans_b);
            let post = decode_post(ZERO | 1 << 8, Revision::Head).expect(id);
            assert!(post.trans_b && !post.trans_a);
        }
        "DUPLICATE-001" => {
            let post = Command::Post(Post::default());
            let rule = broken_rule(header(), vec![post.clone(), post]);
            assert_eq!(rule, Some(Rule::DuplicatePost));
        }
        "NONMATRIX-001" => {
            let other = Header::other(DataType::Fp16, Revision::Head);
            let rule = broken_rule(other, vec![Command::Post(Post::default())]);
            assert_eq!(rule, Some(Rule::ForeignPost));
        }
        "PLACE-001" => {
            let operands = Command::Local {
                sources: vec![1, 2],
                destination: Some((0, 1)),
                mask: 0b1111,
                last: true,
            };
            let rule = broken_rule(header(), vec![operands, Command::Post(Post::default())]);
            assert_eq!(rule, Some(Rule::LatePost));
        }
        "RESET-CLEAR-001" => {
            // The next block begins without the B.FPATR of the one before.
            let mut before = header();
            before.execute(Command::Post(Post::default())).expect(id);
            assert!(before.complete().post.is_some());
            assert_eq!(header().complete().post, None);
        }
        _ => return Some("only the name of a test that asserts facts of the specification's code"),
    }
    None
}
