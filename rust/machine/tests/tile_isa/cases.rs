//! Cases of TMATMUL_ACC whose results were computed by executing the specification: fields, types
//! and modes in raw arithmetic, and finite FP32 accumulation in the numeric one.

use crate::support::*;
use pto_machine::tile::core::{Block, Completion, Core, Register};
use pto_machine::tile::descriptor::{capacity_of_code, smallest_code_for};
use pto_machine::tile::fields::{DataAttributes, ReluMode, Scalars};
use pto_machine::tile::operation::scalar_count;
use pto_machine::tile::post::modes::{Parameter, PreQuantMode};
use pto_machine::tile::{
    Arithmetic, DataType, Descriptor, Fault, FaultKind, Function, Layout, Post, Revision, Tile,
};
use serde_json::Value;
use std::collections::BTreeMap;

const VARIABLE: &str = "PTO_TILE_CASES";

#[test]
fn every_case_gives_the_recorded_result() {
    let mut ran: BTreeMap<&str, u32> = BTreeMap::new();
    let records = records("tile_ieee.json", VARIABLE);
    for record in &records {
        let profile = record["profile"].as_str().expect("a profile");
        let arithmetic = if profile == "ieee" {
            Arithmetic::Ieee
        } else {
            Arithmetic::Raw
        };
        check(record, arithmetic);
        *ran.entry(profile).or_default() += 1;
        if profile.starts_with("raw-acc0") {
            // A = B = 0: the accumulator reaches post-processing unchanged in either arithmetic,
            // NaN payloads, signed zeros and all that a +0 product changes left aside.
            if is_kept_by_adding_zero(record) {
                check(record, Arithmetic::Ieee);
                *ran.entry("raw-acc0 as ieee").or_default() += 1;
            }
        }
    }
    println!("ran {ran:?}");
    if is_own_copy(VARIABLE) {
        let expected = [
            ("ieee", 25),
            ("raw", 183),
            ("raw-acc0 (postprocess isolated, A=B=0)", 66),
            ("raw-acc0 as ieee", 29),
        ];
        assert_eq!(ran.into_iter().collect::<Vec<_>>(), expected);
    }
}

/// No NaN and no -0, which adding +0 changes.
fn is_kept_by_adding_zero(record: &Value) -> bool {
    let case = &record["case"];
    let is_float = data_type(&case["atype"])
        .ordinary_class()
        .map(|c| c.accumulator())
        == Some(DataType::Fp32);
    words(&case["C"]).iter().flatten().flatten().all(|&w| {
        let x = f32::from_bits(w as u32);
        !is_float || !(x.is_nan() || x.to_bits() == 0x8000_0000)
    })
}

fn words(matrix: &Value) -> Vec<Vec<Option<u64>>> {
    let row = |r: &Value| r.as_array().expect("a row").iter().map(word).collect();
    matrix.as_array().expect("rows").iter().map(row).collect()
}

/// A case made into a block on a fresh core; `None` where a descriptor cannot be made.
struct Setup {
    core: Core,
    block: Block,
}

const C_REGISTER: u8 = 20;

fn setup(case: &Value) -> Option<Setup> {
    let a_type = data_type(&case["atype"]);
    let b_type = case.get("btype").map_or(a_type, data_type);
    let accumulator = a_type
        .ordinary_class()
        .map_or(DataType::Fp32, |c| c.accumulator());
    let [m, n, k] = ["M", "N", "K"].map(|name| number(&case[name]));
    let layout = |key: &str| match case.get(key).and_then(Value::as_str) {
        None => None,
        Some("M16") => Some(Layout::CubeM16),
        Some("M32") => Some(Layout::CubeM32),
        Some(other) => panic!("layout {other}"),
    };
    let ml = layout("layout").unwrap_or(Layout::CubeM16);
    let post = post_of(case);
    let output = post.pre_quant.output(accumulator);
    let d = Descriptor::cube(ml, output, m, n, 0);
    let d_code = match case["cap"].get("Dcode") {
        Some(code) => number(code) as u8,
        None => smallest_code_for(u32::try_from(d.required_bytes()?).ok()?)?,
    };
    let c_layout = layout("clayout").unwrap_or(ml);
    let fitted = Descriptor::cube(c_layout, accumulator, m, n, 0).fitted();
    let c_capacity = match case["cap"].get("C") {
        Some(bytes) => number(bytes),
        None if post.pre_quant.code() == 0 => capacity_of_code(d_code)?,
        None => fitted.capacity,
    };
    let mut core = Core::new();
    let mut sources = Vec::new();
    let mut place = |register: u8, d: Descriptor, words: &[Vec<Option<u64>>]| {
        let mut tile = Tile::undefined(d).expect("a tile");
        for (r, row) in words.iter().enumerate() {
            for (c, word) in row.iter().enumerate() {
                if let Some(word) = word {
                    tile.set(r as u32, c as u32, *word);
                }
            }
        }
        assert!(core.set_register(register, Some(Register { tile, mask: 0b1111 })));
        sources.push(register);
        d.required_bytes().map(|_| ())
    };
    let c_register = case.get("creg").map_or(C_REGISTER, |r| number(r) as u8);
    let c = Descriptor {
        capacity: c_capacity,
        ..fitted
    };
    place(c_register, c, &words(&case["C"]))?;
    let a = Descriptor::cube(ml, a_type, m, k, 0).fitted();
    place(21, a, &words(&case["A"]))?;
    let b = Descriptor::cube(Layout::CubeN8, b_type, k, n, 0).fitted();
    place(22, b, &words(&case["B"]))?;
    let vector = |key: &str| -> Vec<Vec<Option<u64>>> {
        vec![case[key].as_array().expect(key).iter().map(word).collect()]
    };
    let parameters = Descriptor::row_major(DataType::U64, 1, n, 0).fitted();
    if post.pre_quant.parameter == Parameter::Vector {
        place(23, parameters, &vector("vq"))?;
    }
    if post.relu == ReluMode::Vector {
        place(24, parameters, &vector("vr"))?;
    }
    let hand = case.get("dhand").map_or(0, |h| number(h) as u8);
    let mut destinations = vec![(hand, d_code)];
    destinations.extend(post.row_max.then_some((2, 1)));
    destinations.extend(post.group_max.then_some((3, 1)));
    let dimensions = match case.get("dims") {
        Some(dims) => [0, 1, 2].map(|i| Some(number(&dims[i]))),
        None => [Some(m), Some(n), Some(k)],
    };
    let has_data = case.get("force_datr").is_some()
        || case.get("btype").is_some()
        || case.get("rmode").is_some()
        || case.get("sat").is_some();
    Some(Setup {
        core,
        block: Block {
            function: Function::from_name("TMATMUL_ACC")?.code(),
            a_type,
            data: has_data.then(|| DataAttributes {
                b_type: Some(b_type),
                rmode: case.get("rmode").map_or_else(Default::default, rmode),
                saturate: case.get("sat").is_some_and(|s| s == true),
                has_foreign_fields: false,
            }),
            dimensions,
            post: Some(post),
            scalars: scalars(case, &post),
            masks: vec![0b1111],
            element: 0,
            stream_ended: true,
            sources,
            shared: Vec::new(),
            destinations,
        },
    })
}

/// `fpatr` is mode, activation, group, row maximum, group maximum, initial, absolute.
fn post_of(case: &Value) -> Post {
    let Some(f) = case.get("fpatr") else {
        return Post::default();
    };
    let field = |i: usize| number(&f[i]) as u8;
    Post {
        pre_quant: PreQuantMode::from_code(field(0)).expect("a mode"),
        relu: ReluMode::from_code(field(1)).expect("an activation"),
        group_code: field(2),
        row_max: field(3) != 0,
        group_max: field(4) != 0,
        row_max_init: field(5) != 0,
        max_abs: field(6) != 0,
        ..Post::default()
    }
}

fn scalars(case: &Value, post: &Post) -> Option<Scalars> {
    let words: Vec<u64> = case
        .get("gpr")?
        .as_array()?
        .iter()
        .filter_map(word)
        .collect();
    assert!(
        words.is_empty() || words.len() == scalar_count(post),
        "{}",
        case["id"]
    );
    (!words.is_empty()).then(|| Scalars {
        words: words.into_iter().map(Some).collect(),
        has_foreign_selectors: false,
    })
}

fn check(record: &Value, arithmetic: Arithmetic) {
    let id = &record["id"];
    let expected = &record["expected"];
    let Some(Setup { mut core, block }) = setup(&record["case"]) else {
        assert_eq!(
            expected["config_ok"], false,
            "{id}: no descriptor can be made"
        );
        return;
    };
    assert_eq!(expected["config_ok"], true, "{id}: a descriptor was made");
    let result = core.issue(&block, Revision::Head, arithmetic);
    if expected["fault"] != "None" {
        assert_eq!(expected["fault"], "TileLegality", "{id}");
        let kind = result.as_ref().map_err(Fault::kind).err();
        assert_eq!(kind, Some(FaultKind::TileLegality), "{id}: {result:?}");
        assert_eq!(expected["done"], false, "{id}");
    } else {
        let completion = result.unwrap_or_else(|fault| panic!("{id}: {fault}"));
        let Completion::Done(registers) = completion else {
            panic!("{id}: no effect");
        };
        compare(&core, registers[0], &expected["D"], id);
        let tile = &core.register(registers[0]).expect("D").tile;
        let d_type = tile.descriptor().data_type;
        assert_eq!(expected["D_dtype"], d_type.name(), "{id}");
        for (maxima, &register) in ["RowMax", "GroupMax"]
            .iter()
            .filter_map(|key| expected.get(key))
            .zip(&registers[1..])
        {
            compare(&core, register, &rows_of(maxima), id);
        }
    }
    assert_eq!(core.flags(), mask(&expected["flags"]), "{id}: flags");
}

/// Maxima as a matrix: a list with one word a row is a column.
fn rows_of(maxima: &Value) -> Value {
    let row = |w: &Value| match w {
        Value::Array(_) => w.clone(),
        word => Value::Array(vec![word.clone()]),
    };
    Value::Array(maxima.as_array().expect("maxima").iter().map(row).collect())
}

/// Compares words, masked to the type's width.
fn compare(core: &Core, register: u8, expected: &Value, id: &Value) {
    let tile = &core.register(register).expect("a result").tile;
    let mask = u64::MAX >> (64 - tile.descriptor().data_type.bits());
    let expected = words(expected);
    assert_eq!(
        expected.len(),
        tile.descriptor().valid_rows as usize,
        "{id}"
    );
    for (r, row) in expected.iter().enumerate() {
        for (c, word) in row.iter().enumerate() {
            let found = tile.get(r as u32, c as u32);
            assert_eq!(
                found.map(|w| w & mask),
                word.map(|w| w & mask),
                "{id} at {r},{c}"
            );
        }
    }
}
