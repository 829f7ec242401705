//! docs/tile-isa.md lists every rule and every mode as the machine has them.

use pto_machine::tile::post::modes::{Control, Conversion, Parameter, PreQuantMode};
use pto_machine::tile::{DataType, Rule};
use std::path::Path;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tile-isa.md");
    std::fs::read_to_string(path).expect("docs/tile-isa.md")
}

/// The lines of the page that begin with `prefix`.
fn rows(page: &str, prefix: &str) -> Vec<String> {
    let is_row = |line: &&str| line.starts_with(prefix);
    page.lines().filter(is_row).map(str::to_string).collect()
}

#[test]
fn every_rule_is_listed_in_order() {
    let header = header_of_the_verifier();
    let of_verifier = rules_of_the_verifier(&header);
    let expected: Vec<String> = Rule::ALL
        .iter()
        .map(|rule| {
            let is_verified = of_verifier.iter().any(|&(_, tag)| tag == rule.tag());
            let judges = if is_verified { "V M" } else { "M" };
            let (tag, kind, summary) = (rule.tag(), rule.kind(), rule.summary());
            format!("| `{tag}` | {kind} | {summary} | {judges} |")
        })
        .collect();
    assert_eq!(rows(&page(), "| `pto:"), expected);
}

fn header_of_the_verifier() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dialect/lib/IR/TileRules.h");
    std::fs::read_to_string(path).expect("TileRules.h")
}

/// Fault and tag of each rule: `inline constexpr TileRule name{"fault", "tag"};` on one line or two.
fn rules_of_the_verifier(header: &str) -> Vec<(&str, &str)> {
    header
        .split("constexpr TileRule ")
        .skip(1)
        .map(|text| {
            let mut quoted = text.split('"').skip(1).step_by(2);
            (
                quoted.next().expect("a fault"),
                quoted.next().expect("a tag"),
            )
        })
        .collect()
}

/// The dialect's verifier shares no code with the machine; its rules are rules of this list, raise the
/// same faults, and each is broken in the table of the dialect's tests.
#[test]
fn rules_of_the_verifier_are_rules_of_the_machine() {
    let path = "../../test/dialect/Inputs/tile_rules.py";
    let table = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    let table = table.expect("tile_rules.py");
    let header = header_of_the_verifier();
    let rules = rules_of_the_verifier(&header);
    assert!(rules.len() > 20, "{rules:?}");
    for (fault, tag) in rules {
        let rule = Rule::ALL.iter().find(|rule| rule.tag() == tag);
        let found = rule.map(|rule| rule.kind().to_string());
        assert_eq!(found.as_deref(), Some(fault), "{tag}");
        let name = tag.strip_prefix("pto:tile-").expect("a rule of tiles");
        assert!(
            table.contains(&format!("(\"{name}\",")),
            "{tag} is not in {path}"
        );
    }
}

fn mode_row(mode: PreQuantMode) -> String {
    let accumulators: Vec<&str> = [DataType::Fp32, DataType::S32, DataType::U32]
        .into_iter()
        .filter(|&t| mode.accepts(t))
        .map(DataType::name)
        .collect();
    let output = match mode.conversion {
        Conversion::Identity => "same",
        _ if accumulators == ["FP32"] => mode.output(DataType::Fp32).name(),
        _ => mode.output(DataType::S32).name(),
    };
    let parameter = match mode.parameter {
        Parameter::None => "none",
        Parameter::Scalar => "scalar",
        Parameter::Vector => "vector",
    };
    let conversion = match mode.conversion {
        Conversion::Identity => "none".to_string(),
        Conversion::Shift => "shift".to_string(),
        Conversion::Affine { offset_bits } => format!("affine, offset of {offset_bits} bits"),
        Conversion::Float => "float".to_string(),
    };
    let rounding = match mode.control {
        Control::Fixed => "default, no Sat".to_string(),
        Control::FixedRounding(rounding) => format!("{rounding:?}"),
        Control::Programmable => "RMode".to_string(),
    };
    format!(
        "| mode {} | {} | {output} | {parameter} | {conversion} | {rounding} |",
        mode.code(),
        accumulators.join(", ")
    )
}

#[test]
fn every_mode_is_listed_in_order() {
    let expected: Vec<String> = PreQuantMode::all().map(mode_row).collect();
    let found = rows(&page(), "| mode ");
    assert_eq!(found[1..], expected, "expected:\n{}", expected.join("\n"));
}
