//! The text of what was read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pto_machine::tile::Role;
use pto_machine::tile::fields::{Addend, Function as Cube};

use super::super::schema::Function;
use super::Importer;
use super::bound::Bound;
use super::operand::{Place, Value};

impl Importer {
    /// One operation.
    pub(super) fn write(
        &mut self,
        bound: &Bound,
        names: &BTreeMap<Role, Value>,
        scalars: &[Option<String>; 2],
        destinations: &[Value],
    ) {
        let sources = [
            Role::C,
            Role::A,
            Role::ScaleA,
            Role::B,
            Role::ScaleB,
            Role::Bias,
        ];
        let present: Vec<&Value> = sources.iter().filter_map(|role| names.get(role)).collect();
        let values: Vec<&str> = present.iter().map(|value| value.0.as_str()).collect();
        let types: Vec<&str> = present.iter().map(|value| value.1.as_str()).collect();
        let name = operation_name(bound.function);
        let (dst, dst_type) = &destinations[0];
        let body = &mut self.body;
        let _ = write!(
            body,
            "  pto.{name} ins({} : {}) outs({dst} : {dst_type})",
            values.join(", "),
            types.join(", ")
        );
        let scalar = |name: &Option<String>| name.clone().map(|name| (name, "i64".to_owned()));
        let mut outputs = destinations[1..].iter().cloned();
        let clauses = [
            ("c_scale", names.get(&Role::CScale).cloned()),
            ("row_max_in", names.get(&Role::RowMaxIn).cloned()),
            (
                "quant",
                names
                    .get(&Role::Quant)
                    .cloned()
                    .or_else(|| scalar(&scalars[0])),
            ),
            (
                "prelu",
                names
                    .get(&Role::Prelu)
                    .cloned()
                    .or_else(|| scalar(&scalars[1])),
            ),
            (
                "row_max",
                bound.post.row_max.then(|| outputs.next()).flatten(),
            ),
            (
                "group_max",
                bound.post.group_max.then(|| outputs.next()).flatten(),
            ),
        ];
        for (clause, value) in clauses {
            if let Some((name, r#type)) = value {
                let _ = write!(body, " {clause}({name} : {type})");
            }
        }
        let _ = writeln!(body, " {}", bound.dictionary());
    }

    /// The function, its arguments in the order in which they would get their registers again.
    ///
    /// Where a register holds a tile of a capacity of its own, an argument cannot say so: all of
    /// them are loaded from hbm first, into tiles that take the registers in the same order.
    pub(super) fn print(&self, function: &Function, module: &mut String) {
        let is_loaded = self.arguments.values().any(|held| held.size_code.is_some());
        let (mut arguments, mut loads) = (Vec::new(), String::new());
        for (place, held) in &self.arguments {
            let (name, memref) = &held.value;
            if let (true, Place::Local(_, register)) = (is_loaded, place) {
                let size = held.size_code.map(|code| format!("size({code}) "));
                let size = size.unwrap_or_default();
                let (shape, _) = memref.split_once(',').unwrap_or((memref, ""));
                let _ = write!(
                    loads,
                    "  {name} = pto.tile_alloc {size}: {memref}\n  \
                     pto.copy %a{register}, {name} : {shape}>, {memref}\n"
                );
                arguments.push(format!("%a{register}: {shape}>"));
            } else {
                arguments.push(format!("{name}: {memref}"));
            }
        }
        arguments.extend(self.scalars.values().map(|name| format!("{name}: i64")));
        let name = serde_json::Value::from(function.name.as_str());
        let _ = writeln!(
            module,
            "func.func @{name}({}) {{\n{loads}{}  return\n}}",
            arguments.join(", "),
            self.body
        );
    }
}

impl Bound {
    /// The attributes of the operation.
    fn dictionary(&self) -> String {
        const RMODES: [&str; 8] = ["default", "rne", "rtz", "rtm", "rtp", "rna", "rto", "rhb"];
        let mut entries = vec![format!("mask = {}", self.mask)];
        let post = &self.post;
        let rmode = self.data.rmode.code();
        if rmode != 0 {
            entries.push(format!(
                "rmode = #pto.rmode<{}>",
                RMODES[usize::from(rmode)]
            ));
        }
        for (name, is_set) in [
            ("sat", self.data.saturate),
            ("trans_a", post.trans_a),
            ("trans_b", post.trans_b),
            ("gemv", self.function.gemv),
        ] {
            if is_set {
                entries.push(name.to_owned());
            }
        }
        let mut fields = vec![
            format!("pre_quant = {}", post.pre_quant.code()),
            format!("relu = {}", post.relu.code()),
            format!("group = {}", post.group_code),
        ];
        for (name, is_set) in [
            ("row_max", post.row_max),
            ("group_max", post.group_max),
            ("row_max_init", post.row_max_init),
            ("max_abs", post.max_abs),
        ] {
            if is_set {
                fields.push(name.to_owned());
            }
        }
        entries.push(format!("post = #pto.post<{}>", fields.join(", ")));
        format!("{{{}}}", entries.join(", "))
    }
}

/// The name of the operation of a function; the matrix-vector form is an attribute of it.
fn operation_name(function: Cube) -> &'static str {
    match (function.mx, function.addend) {
        (false, Addend::None) => "tmatmul",
        (false, Addend::Bias) => "tmatmul_bias",
        (false, Addend::Accumulator) => "tmatmul_acc",
        (true, Addend::None) => "tmatmul_mx",
        (true, Addend::Bias) => "tmatmul_mx_bias",
        (true, Addend::Accumulator) => "tmatmul_mx_acc",
    }
}
