//! The facts that the specification's tests assert about its predicates, as (name, arguments,
//! result) in the text of its language, evaluated by this project's own functions.

use crate::support::{data_type, descriptor, install, number, word};
use pto_machine::tile::cooperative::PE_MODE_MASKS;
use pto_machine::tile::core::Core;
use pto_machine::tile::fields::{DataAttributes, RMode, ReluMode, group_columns};
use pto_machine::tile::layout::CubeGeometry;
use pto_machine::tile::operation::{
    Destination, Operation, Sharing, Source, accumulator_type, local_roles,
};
use pto_machine::tile::post::modes::{Control, Parameter, PreQuantMode};
use pto_machine::tile::types::{Scaling, mx_pair_legal, ordinary_pair_class};
use pto_machine::tile::{
    Arithmetic, DataType, Descriptor, Function, Layout, Post, Revision, Role, legality,
};
use serde_json::{Value, json};

const HEAD: Revision = Revision::Head;

/// Checks the predicates of a record that can be evaluated. Says why where none can. `siblings`
/// are all records: those of the same test say what its registers hold.
pub(crate) fn run(record: &Value, siblings: &[Value]) -> Option<&'static str> {
    let predicates = record["predicates"].as_array().expect("predicates");
    let mut evaluated = 0;
    for p in predicates {
        let name = p["predicate"].as_str().expect("a name");
        let arguments = p["args"].as_str().expect("arguments");
        let found = evaluate(name, arguments)
            .or_else(|| operands_legal(name, arguments, record, siblings))
            .or_else(|| accumulator_legal(name, arguments, record, siblings));
        if let Some(found) = found {
            let id = &record["id"];
            assert_eq!(found, p["expect"], "{id}: {name}({arguments})");
            evaluated += 1;
        } else {
            println!("not given: {name}({arguments}), which is {}", p["expect"]);
        }
    }
    (evaluated == 0).then_some("only predicates on state that the record does not give")
}

/// The arguments of a predicate, split.
struct Arguments<'a>(Vec<&'a str>);

impl<'a> Arguments<'a> {
    fn new(text: &'a str) -> Self {
        Arguments(text.split(", ").map(str::trim).collect())
    }

    fn at(&self, i: usize) -> Option<&'a str> {
        self.0.get(i).copied()
    }

    /// A bit string such as `'0101'` or `Zeros{6}`.
    fn bits(&self, i: usize) -> Option<u8> {
        let text = self.at(i)?;
        if text.starts_with("Zeros{") {
            return Some(0);
        }
        u8::from_str_radix(text.strip_prefix('\'')?.strip_suffix('\'')?, 2).ok()
    }

    fn flag(&self, i: usize) -> Option<bool> {
        match self.at(i)? {
            "TRUE" => Some(true),
            "FALSE" => Some(false),
            _ => None,
        }
    }

    fn number(&self, i: usize) -> Option<u32> {
        self.at(i)?.parse().ok()
    }

    fn data_type(&self, i: usize) -> Option<DataType> {
        DataType::from_name(self.at(i)?)
    }

    fn layout(&self, i: usize) -> Option<Layout> {
        [
            Layout::CubeM16,
            Layout::CubeM32,
            Layout::CubeN8,
            Layout::RowMajor,
        ]
        .into_iter()
        .find(|l| Some(l.name()) == self.at(i))
    }

    fn mode(&self, i: usize) -> Option<PreQuantMode> {
        PreQuantMode::from_code(self.bits(i)?)
    }
}

/// The value of a predicate; `None` where it, or an argument, is of something not given.
fn evaluate(name: &str, arguments: &str) -> Option<Value> {
    let a = Arguments::new(arguments);
    fields(name, &a)
        .or_else(|| types(name, &a))
        .or_else(|| cube(name, &a))
        .or_else(|| catalogue(name, &a))
}

fn fields(name: &str, a: &Arguments<'_>) -> Option<Value> {
    Some(match name {
        "BundleFPATRPreQuantModeLegal" => json!(PreQuantMode::from_code(a.bits(0)?).is_some()),
        "BundleFPATRReluModeLegal" => json!(ReluMode::from_code(a.bits(0)?).is_some()),
        "BundleFPATRGroupN" => json!(group_columns(a.bits(0)?)?.to_string()),
        "BundleFPATRFieldsLegal" => {
            let post = Post {
                pre_quant: a.mode(0)?,
                relu: ReluMode::from_code(a.bits(1)?)?,
                group_code: a.bits(2)?,
                row_max: a.flag(3)?,
                group_max: a.flag(4)?,
                row_max_init: a.flag(5)?,
                max_abs: a.flag(6)?,
                ..Post::default()
            };
            json!(legality::post_fields(&post, HEAD).is_ok())
        }
        "BundleFPATRDATRFieldsLegal" => {
            let post = Post {
                pre_quant: a.mode(0)?,
                ..Post::default()
            };
            let data = DataAttributes {
                rmode: RMode::from_code(a.bits(1)?)?,
                saturate: a.flag(2)?,
                ..DataAttributes::default()
            };
            json!(legality::control_fields(&post, &data).is_ok())
        }
        "BundleFPATROutputType" => {
            let mode = a.mode(0)?;
            let accumulator = [DataType::Fp32, DataType::S32]
                .into_iter()
                .find(|&t| mode.accepts(t))?;
            json!(mode.output(accumulator).name())
        }
        "BundleFPATRModeUsesVectorParameter" => json!(a.mode(0)?.parameter == Parameter::Vector),
        "BundleFPATRModeUsesScalarParameter" => json!(a.mode(0)?.parameter == Parameter::Scalar),
        "BundleFPATRReluModeUsesScalarParameter" => {
            json!(ReluMode::from_code(a.bits(0)?)? == ReluMode::Scalar)
        }
        "BundleFPATRReluModeUsesVectorParameter" => {
            json!(ReluMode::from_code(a.bits(0)?)? == ReluMode::Vector)
        }
        "BundleFPATRModeFixedRounding" => {
            json!(matches!(a.mode(0)?.control, Control::FixedRounding(_)))
        }
        "BundleFPATRModeFinalSatProgrammable" => json!(a.mode(0)?.allows_control(true, true)),
        "BundleFPATRAccumulatorTypeLegal" => json!(a.mode(0)?.accepts(a.data_type(1)?)),
        _ => return None,
    })
}

fn types(name: &str, a: &Arguments<'_>) -> Option<Value> {
    let pair = || Some((a.data_type(0)?, a.data_type(1)?));
    Some(match name {
        "TileOrdinaryMatrixInputTypesSameClass" => {
            let (left, right) = pair()?;
            json!(ordinary_pair_class(left, right).is_some())
        }
        "TileOrdinaryMatrixAccumulatorType" => {
            let (left, right) = pair()?;
            let f = Function::from_code(0)?;
            json!(accumulator_type(f, left, right, HEAD)?.name())
        }
        "TileOrdinaryMatrixInputTypeSupported" => {
            json!(a.data_type(0)?.ordinary_class().is_some())
        }
        "TileMXInputTypeSupported" => {
            let t = a.data_type(0)?;
            json!(mx_pair_legal(t, t, HEAD.has_hif4()))
        }
        "TileMXInputTypeNeedsScale" => {
            json!(a.data_type(0)?.mx_scaling()? != Scaling::Unscaled)
        }
        "TileMXOperandPairLegal" => {
            let (left, right) = pair()?;
            json!(mx_pair_legal(left, right, HEAD.has_hif4()))
        }
        // For every encoding that is valid, in turn.
        "TileDataTypeEncodingValid" => {
            let is_valid = |t: DataType| DataType::from_code(t.code()) == Some(t);
            json!(DataType::all().all(is_valid))
        }
        "TileMatrixMathematicalSourceCount" => {
            let function = Function::from_code(a.number(0)? as u8)?;
            let (left, right) = (a.data_type(1)?, a.data_type(2)?);
            let roles = local_roles(function, left, right, Sharing::None, &Post::default());
            assert!(roles.iter().all(|&r| r < Role::RowMaxIn));
            json!(roles.len().to_string())
        }
        _ => return None,
    })
}

fn cube(name: &str, a: &Arguments<'_>) -> Option<Value> {
    let cell = || a.layout(0)?.cell_shape(a.data_type(1)?);
    // The tile that the one test of whole-tile geometry builds.
    let tile = || CubeGeometry::new(Layout::CubeN8, DataType::Fp16, 13, 19);
    Some(match name {
        "TileMatrixMLayoutLegal" => {
            let limit = a.layout(0)?.max_m();
            json!(limit >= Some(a.number(1)?))
        }
        "TileCubeStorageRows" => {
            let g = CubeGeometry::new(a.layout(0)?, a.data_type(2)?, a.number(1)?, 1)?;
            json!(g.storage_rows().to_string())
        }
        "TileCubeStorageColumns" => {
            let g = CubeGeometry::new(a.layout(0)?, a.data_type(2)?, 1, a.number(1)?)?;
            json!(g.storage_columns().to_string())
        }
        "TileCubeDescriptorShapeLegal" => {
            let (layout, t) = (a.layout(4)?, a.data_type(3)?);
            let d = Descriptor::cube(layout, t, a.number(1)?, a.number(2)?, a.number(0)?);
            json!(d.check("tile", u32::MAX, HEAD).is_ok())
        }
        "TileCubeKRepeat" => json!(tile()?.k_repeat().to_string()),
        "TileCubeNRepeat" => json!(tile()?.n_repeat().to_string()),
        "TileCubeCellCount" => json!(tile()?.cells().to_string()),
        "TileCubePayloadIndex" => {
            json!(
                tile()?
                    .element_index(a.number(1)?, a.number(2)?)
                    .to_string()
            )
        }
        "TileCubeCellRows" => json!(cell()?.0.to_string()),
        "TileCubeCellColumns" => json!(cell()?.1.to_string()),
        "TileCubeDataTypeSupported" => json!(HEAD.cube_supports(a.data_type(0)?)),
        "TileCubeCellElementIndex" => {
            let g = CubeGeometry::new(a.layout(0)?, a.data_type(1)?, 1, 16)?;
            json!(g.element_index(a.number(2)?, a.number(3)?).to_string())
        }
        _ => return None,
    })
}

/// Legality of a direct instruction on registers that a sibling record describes: it is legal iff
/// it can be issued.
fn operands_legal(
    name: &str,
    arguments: &str,
    record: &Value,
    siblings: &[Value],
) -> Option<Value> {
    let function = Function::from_name(name.strip_prefix("TileOperandsLegal_")?)?;
    let sibling = siblings
        .iter()
        .find(|s| s["test_id"] == record["test_id"] && s["entry"] == "direct")?;
    let mut core = Core::new();
    for input in sibling["inputs"].as_array()? {
        install(&mut core, input);
    }
    let registers: Vec<u8> = arguments
        .split(", ")
        .map(|r| r.parse().ok())
        .collect::<Option<_>>()?;
    let (destination, sources) = registers.split_first()?;
    let attributes = &sibling["attributes"];
    let types = (
        data_type(&attributes["AType"]),
        data_type(&attributes["BType"]),
    );
    let context = (HEAD, Arithmetic::Raw);
    let issued = core.issue_direct(function.code(), types, *destination, sources, context);
    Some(json!(issued.is_ok()))
}

/// Whether a register may be the accumulator of an operation that gives m x n elements of a type in
/// a destination of some bytes. The tests hold a row-major tile against it; so that shape and
/// capacity are what is judged, the same tile is taken in the layout of an accumulator.
fn accumulator_legal(
    name: &str,
    arguments: &str,
    record: &Value,
    siblings: &[Value],
) -> Option<Value> {
    if name != "TileMatrixInfoAccumulatorSchemaLegal" {
        return None;
    }
    let a = Arguments::new(arguments);
    let (register, m, n) = (a.number(0)?, a.number(1)?, a.number(2)?);
    let (accumulator, bytes) = (a.data_type(3)?, a.number(4)?);
    let sibling = siblings
        .iter()
        .find(|s| s["test_id"] == record["test_id"] && s["entry"] == "block")?;
    let mut inputs = sibling["inputs"].as_array()?.iter();
    let found = descriptor(inputs.find(|i| number(&i["register"]) == register)?);
    let (rows, columns) = (found.valid_rows, found.valid_columns);
    let cube = |layout, t, r, c| Descriptor::cube(layout, t, r, c, 0).fitted();
    let c = Descriptor {
        capacity: found.capacity,
        ..cube(Layout::CubeM16, found.data_type, rows, columns)
    };
    let function = Function::from_name("TMATMUL_ACC")?;
    let mut operation = Operation::new(function, DataType::Fp16);
    operation.dimensions = [Some(m), Some(n), None];
    operation.sources = [
        c,
        cube(Layout::CubeM16, DataType::Fp16, m, 1),
        cube(Layout::CubeN8, DataType::Fp16, 1, n),
    ]
    .map(Source::described)
    .to_vec();
    operation.destinations = vec![Destination {
        capacity: bytes,
        name: None,
        descriptor: None,
    }];
    assert_eq!(accumulator, DataType::Fp32);
    Some(json!(legality::check(&operation, HEAD).is_ok()))
}

/// Names and numbers of the operation catalogue.
fn catalogue(name: &str, a: &Arguments<'_>) -> Option<Value> {
    let by_index = || {
        let index = a.number(0)?;
        Function::all().find(|f| f.catalog_index() == index)
    };
    let contract = |prefix: &str| {
        let rest = name
            .strip_prefix("InstructionContract")?
            .strip_prefix(prefix)?;
        let rest = rest.strip_prefix("BSTART_").unwrap_or(rest);
        let spelt = rest
            .replacen("MMX", "M_MX", 1)
            .replacen("ULMX", "UL_MX", 1)
            .replacen("VMX", "V_MX", 1);
        Function::from_name(&spelt)
    };
    if let Some(f) = contract("CubeFunction_") {
        return Some(json!(f.code().to_string()));
    }
    if let Some(f) = contract("SharedOperandsAllowed_") {
        let right = legality::sharing(f, DataType::U16, DataType::U16, 1).is_ok();
        let mx = legality::sharing(f, DataType::Fp16, DataType::Fp16, 1).is_ok();
        return Some(json!(if right || mx { "TRUE" } else { "FALSE" }));
    }
    if let Some(f) = contract("TileOperation_").or_else(|| contract("Operation_")) {
        return Some(json!(format!("TileOperation_{}", f.name())));
    }
    if let Some(f) = contract("Handler_").filter(|_| !name.contains("BSTART")) {
        return Some(json!(format!("TileHandler_{}", f.name())));
    }
    Some(match name {
        "TileClassOfIndex" => by_index().map(|_| json!("TileClass_MatrixAndMatrixVector"))?,
        "TileEngineOfIndex" => by_index().map(|_| json!("TileEngine_CUBE"))?,
        "TileOperationOfIndex" => json!(format!("TileOperation_{}", by_index()?.name())),
        "TileHandlerOfIndex" => json!(format!("TileHandler_{}", by_index()?.name())),
        _ => return None,
    })
}

/// Masks are words as well: the table of the 3-bit codes.
#[test]
fn pe_mode_masks() {
    let expected = ["0x0", "0x8", "0x4", "0x2", "0x1", "0xc", "0xe", "0xf"];
    for (found, expected) in PE_MODE_MASKS.iter().zip(expected) {
        assert_eq!(Some(u64::from(*found)), word(&json!(expected)));
    }
}
