//! Reading the vector files: words, tiles, fields.

use pto_machine::tile::contents::{SharedState, SharedTile};
use pto_machine::tile::core::{Core, Register};
use pto_machine::tile::descriptor::Location;
use pto_machine::tile::fields::{Post, RMode, ReluMode};
use pto_machine::tile::post::modes::PreQuantMode;
use pto_machine::tile::{DataType, Descriptor, Layout, Tile};
use serde_json::Value;
use std::path::PathBuf;

/// The records of a vector file, or of the file that `variable` names instead.
pub(crate) fn records(file: &str, variable: &str) -> Vec<Value> {
    let path = std::env::var_os(variable).map_or_else(
        || {
            PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                .join("../../test/vectors")
                .join(file)
        },
        PathBuf::from,
    );
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()));
    let file: Value = serde_json::from_str(&text).expect("vectors are JSON");
    file["vectors"].as_array().expect("a list").clone()
}

/// Whether the run is on the project's own copy, whose numbers of records are known.
pub(crate) fn is_own_copy(variable: &str) -> bool {
    std::env::var_os(variable).is_none()
}

/// A number, `0x...` text, or a decimal.
pub(crate) fn word(value: &Value) -> Option<u64> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(
            u64::from_str_radix(text.strip_prefix("0x").expect("hexadecimal"), 16).expect("a word"),
        ),
        _ => Some(
            value
                .as_u64()
                .or_else(|| value.as_i64().map(|i| i as u64))
                .unwrap_or_else(|| panic!("{value} is no word")),
        ),
    }
}

pub(crate) fn number(value: &Value) -> u32 {
    word(value)
        .and_then(|w| u32::try_from(w).ok())
        .expect("a number")
}

pub(crate) fn data_type(name: &Value) -> DataType {
    DataType::from_name(name.as_str().expect("a type name")).expect("a known type")
}

pub(crate) fn layout(name: &Value) -> Layout {
    match name.as_str().expect("a layout name") {
        "RowMajor" => Layout::RowMajor,
        "ColumnMajor" => Layout::ColumnMajor,
        "CUBE_M16" => Layout::CubeM16,
        "CUBE_M32" => Layout::CubeM32,
        "CUBE_N8" => Layout::CubeN8,
        "ImplementationDefined" => Layout::ImplementationDefined,
        other => panic!("layout {other}"),
    }
}

/// B.FPATR from the fields of a record.
pub(crate) fn post(f: &Value) -> Post {
    let flag = |name: &str| f[name].as_bool().expect("a flag");
    Post {
        pre_quant: PreQuantMode::from_code(number(&f["PreQuantMode"]) as u8).expect("a mode"),
        relu: ReluMode::from_code(number(&f["ReluMode"]) as u8).expect("an activation"),
        group_code: number(&f["GroupNCode"]) as u8,
        row_max: flag("RowMaxEn"),
        group_max: flag("GroupMaxEn"),
        row_max_init: flag("RowMaxInit"),
        max_abs: flag("MaxAbsEn"),
        trans_a: flag("TransA"),
        trans_b: flag("TransB"),
        c_scale: false,
    }
}

pub(crate) fn rmode(code: &Value) -> RMode {
    RMode::from_code(number(code) as u8).expect("a rounding mode")
}

/// The descriptor of a record's operand, which must store what the record says it stores.
pub(crate) fn descriptor(o: &Value) -> Descriptor {
    let layout = layout(&o["layout"]);
    let d = Descriptor {
        data_type: data_type(&o["dtype"]),
        layout,
        location: match o["location"].as_str().expect("a location") {
            "Matrix" => Location::Matrix,
            "Any" => Location::Any,
            other => panic!("location {other}"),
        },
        valid_rows: number(&o["valid_rows"]),
        valid_columns: number(&o["valid_columns"]),
        columns: number(&o["columns"]),
        capacity: number(&o["capacity_bytes"]),
    };
    if let Some(g) = d.geometry() {
        let stored = (g.storage_rows(), g.storage_columns());
        assert_eq!(stored, (number(&o["rows"]), d.columns), "storage of {d}");
    }
    d
}

/// The tile of a record's operand, undefined where it has no value.
pub(crate) fn tile(o: &Value) -> Tile {
    let d = descriptor(o);
    let mut tile = Tile::undefined(d).expect("a tile");
    let Some(rows) = o["values"].as_array() else {
        return Tile::new(d, vec![0; d.len()]).expect("as many words as elements");
    };
    for (r, row) in rows.iter().enumerate() {
        for (c, value) in row.as_array().expect("a row").iter().enumerate() {
            if let Some(word) = word(value) {
                tile.set(r as u32, c as u32, word);
            }
        }
    }
    tile
}

pub(crate) fn mask(value: &Value) -> u8 {
    word(value).expect("a mask") as u8
}

/// Puts a record's operand where it says it is.
pub(crate) fn install(core: &mut Core, o: &Value) {
    if o["unallocated"] == true {
        return;
    }
    if o.get("shared_id").is_some() {
        let state = SharedState {
            allocated: mask(&o["allocation_mask"]),
            initialised: mask(&o["initialized_mask"]),
            published: o["published"].as_bool().expect("a flag"),
        };
        core.set_shared(
            number(&o["shared_id"]),
            SharedTile {
                tile: tile(o),
                state,
            },
        );
        return;
    }
    let register = Register {
        tile: tile(o),
        mask: mask(&o["alloc_mask"]),
    };
    assert!(core.set_register(number(&o["register"]) as u8, Some(register)));
}

/// Checks that a register holds what a record's output says.
pub(crate) fn expect_output(core: &Core, o: &Value, id: &str) {
    let index = number(&o["index"]) as u8;
    let register = core
        .register(index)
        .unwrap_or_else(|| panic!("{id}: register {index} is empty"));
    let expected = tile(o);
    assert_eq!(
        register.tile.descriptor(),
        expected.descriptor(),
        "{id}: {}",
        o["role"]
    );
    assert_eq!(
        register.tile.words(),
        expected.words(),
        "{id}: {}",
        o["role"]
    );
    assert_eq!(register.tile.first_undefined(), None, "{id}: {}", o["role"]);
    assert_eq!(register.mask, mask(&o["alloc_mask"]), "{id}: {}", o["role"]);
}
