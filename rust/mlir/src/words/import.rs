//! From the words of commands to the text of the operations.
//!
//! Commands are executed into a block as the machine does it, which finds what is undecodable, twice
//! or late. From the block follow the operand streams and, with the dimensions, type and shape of
//! every operand. A register that nothing wrote yet is an argument of the function.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pto_machine::tile::cooperative::{ELEMENTS, PE_MODE_MASKS, share};
use pto_machine::tile::core::{Block, DEFAULT_CAPACITY, HAND};
use pto_machine::tile::encode::{decode_post, decode_start};
use pto_machine::tile::fields::{
    Addend, DataAttributes, Function as Cube, RMode, Scalars, group_columns,
};
use pto_machine::tile::header::{Command as Executed, Header};
use pto_machine::tile::operation::{
    Sharing, accumulator_type, local_roles, operand_groups, scalar_count, shared_roles,
};
use pto_machine::tile::schema::Frame;
use pto_machine::tile::types::INHERIT_CODE;
use pto_machine::tile::{DataType, Fault, Layout, Post, Revision, Role, Rule};

use super::export::LAYOUTS;
use super::schema::{self, Command, Destination, Document, Function, Instruction, Source};
use crate::handle::tile_type_spelling;

/// Why a text is not the words of operations.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) String);

/// The tag of what is wrong with the document rather than with an instruction.
const TAG: &str = "pto:tile-words";

/// The module that `text` stands for, as text.
pub(crate) fn import(text: &str) -> Result<String, Refusal> {
    let document: Document = serde_json::from_str(text).map_err(|error| {
        Refusal(format!(
            "expected words of tile operations, found {error} [{TAG}]"
        ))
    })?;
    if document.schema != schema::NAME {
        let found = &document.schema;
        return Err(Refusal(format!(
            "expected the schema {}, found {found} [{TAG}]",
            schema::NAME
        )));
    }
    let mut module = String::new();
    for function in &document.functions {
        let mut importer = Importer::default();
        for (index, instruction) in function.instructions.iter().enumerate() {
            importer.instruction(instruction).map_err(|reason| {
                let name = &function.name;
                Refusal(format!("function `{name}`, instruction {index}: {reason}"))
            })?;
        }
        importer.print(function, &mut module);
    }
    Ok(module)
}

/// What is wrong with one instruction: a sentence with its tag.
type Reason = String;

fn of_fault(fault: &Fault) -> Reason {
    format!(
        "fault: {}: {} [{}]",
        fault.kind(),
        fault.message,
        fault.tag()
    )
}

fn fault(rule: Rule, message: String) -> Reason {
    of_fault(&Fault::new(rule, message))
}

fn malformed(what: &str, found: &str) -> Reason {
    format!("expected {what}, found {found} [{TAG}]")
}

/// What names a tile: a Local register, by hand and number, or a Shared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// The hand in the order in which arguments take hands, then the register.
    Local(usize, u8),
    Shared(u32),
}

impl Place {
    fn local(register: u8) -> Self {
        let hand = register / HAND as u8;
        let hands = pto_passes::legalize_tile::assign::LOAD_HANDS;
        let order = hands.iter().position(|&other| other == hand);
        Self::Local(order.unwrap_or(hands.len()), register)
    }

    /// The name of an argument.
    fn argument(self) -> String {
        match self {
            Self::Local(_, register) => format!("%r{register}"),
            Self::Shared(name) => format!("%s{name}"),
        }
    }
}

/// A tile that an instruction names: what it must be.
struct Operand {
    place: Place,
    data_type: DataType,
    shape: (u32, u32),
    layout: String,
}

impl Operand {
    fn memref(&self) -> String {
        let (rows, columns) = self.shape;
        let element = tile_type_spelling(self.data_type.code());
        format!(
            "memref<{rows}x{columns}x{element}, #pto.mem<{}>>",
            self.layout
        )
    }
}

/// One function being made.
#[derive(Default)]
struct Importer {
    /// The value and the type in each place.
    values: BTreeMap<Place, (String, String)>,
    /// Places that were read before anything wrote them, with the type.
    arguments: BTreeMap<Place, String>,
    /// The scalar registers.
    scalars: BTreeMap<u32, String>,
    made: usize,
    body: String,
}

impl Importer {
    fn instruction(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let bound = Bound::of(instruction)?;
        let frame = bound.frame(instruction.element)?;
        let mut names: BTreeMap<Role, (String, String)> = BTreeMap::new();
        let (local, shared) = bound.roles()?;
        for (role, name) in shared.into_iter().zip(&bound.block.shared) {
            let schema = frame.shared(role);
            let operand = Operand {
                place: Place::Shared(*name),
                data_type: schema.data_type,
                shape: schema.shape,
                layout: "shared".to_owned(),
            };
            names.insert(role, self.source(&operand)?);
        }
        for (role, source) in local.into_iter().zip(&bound.sources) {
            let schema = frame.local(role);
            let operand = Operand {
                place: Place::local(source.register),
                data_type: schema.data_type,
                shape: schema.shape,
                layout: layout_named(&source.layout)?,
            };
            names.insert(role, self.source(&operand)?);
        }
        let scalars = self.scalars(&bound)?;
        let mut destinations = Vec::new();
        for (destination, (data_type, shape)) in
            bound.destinations.iter().zip(bound.results(&frame))
        {
            destinations.push(self.destination(destination, data_type, shape)?);
        }
        self.write(&bound, &names, &scalars, &destinations);
        Ok(())
    }

    /// The value in a place, an argument if nothing wrote it.
    fn source(&mut self, operand: &Operand) -> Result<(String, String), Reason> {
        let wanted = operand.memref();
        if let Some((name, found)) = self.values.get(&operand.place) {
            if *found != wanted {
                return Err(malformed(&format!("{wanted} in this register"), found));
            }
            return Ok((name.clone(), wanted));
        }
        self.arguments.insert(operand.place, wanted.clone());
        let value = (operand.place.argument(), wanted);
        self.values.insert(operand.place, value.clone());
        Ok(value)
    }

    /// A new tile in the register that the machine chooses.
    fn destination(
        &mut self,
        destination: &Destination,
        data_type: DataType,
        shape: (u32, u32),
    ) -> Result<(String, String), Reason> {
        let place = Place::local(destination.register);
        if destination.register / HAND as u8 != destination.hand {
            let hand = format!("a register of hand {}", destination.hand);
            return Err(malformed(&hand, &destination.register.to_string()));
        }
        let operand = Operand {
            place,
            data_type,
            shape,
            layout: layout_named(&destination.layout)?,
        };
        let value = (format!("%d{}", self.made), operand.memref());
        self.made += 1;
        let (name, memref) = &value;
        let code = destination.size_code;
        let _ = writeln!(
            self.body,
            "  {name} = pto.tile_alloc size({code}) : {memref}"
        );
        self.values.insert(place, value.clone());
        Ok(value)
    }

    /// The values of scalar parameters: that of the conversion, and that of the activation.
    fn scalars(&mut self, bound: &Bound) -> Result<[Option<String>; 2], Reason> {
        use pto_machine::tile::fields::ReluMode;
        use pto_machine::tile::post::modes::Parameter;
        let wanted = scalar_count(&bound.post);
        if bound.scalars.len() != wanted {
            let found = bound.scalars.len();
            let message = format!("expected {wanted} scalar parameters, found {found}");
            return Err(fault(Rule::ScalarParameters, message));
        }
        let mut registers = bound.scalars.iter();
        let mut next = |is_there: bool| {
            let register = is_there.then(|| registers.next()).flatten()?;
            let name = format!("%g{register}");
            self.scalars.insert(*register, name.clone());
            Some(name)
        };
        Ok([
            next(bound.post.pre_quant.parameter == Parameter::Scalar),
            next(bound.post.relu == ReluMode::Scalar),
        ])
    }

    fn write(
        &mut self,
        bound: &Bound,
        names: &BTreeMap<Role, (String, String)>,
        scalars: &[Option<String>; 2],
        destinations: &[(String, String)],
    ) {
        let sources = [
            Role::C,
            Role::A,
            Role::ScaleA,
            Role::B,
            Role::ScaleB,
            Role::Bias,
        ];
        let present: Vec<&(String, String)> =
            sources.iter().filter_map(|role| names.get(role)).collect();
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
    fn print(&self, function: &Function, module: &mut String) {
        let tiles = self.arguments.iter();
        let tiles = tiles.map(|(place, r#type)| format!("{}: {type}", place.argument()));
        let scalars = self.scalars.values().map(|name| format!("{name}: i64"));
        let arguments: Vec<String> = tiles.chain(scalars).collect();
        let name = serde_json::Value::from(function.name.as_str());
        let _ = writeln!(
            module,
            "func.func @{name}({}) {{\n{}  return\n}}",
            arguments.join(", "),
            self.body
        );
    }
}

/// An instruction whose commands were executed: its block, and what only the document knows.
struct Bound {
    function: Cube,
    a_type: DataType,
    b_type: DataType,
    data: DataAttributes,
    post: Post,
    block: Block,
    mask: u8,
    scalars: Vec<u32>,
    sources: Vec<Source>,
    destinations: Vec<Destination>,
}

impl Bound {
    fn of(instruction: &Instruction) -> Result<Self, Reason> {
        let Some((Command::Start { word }, rest)) = instruction.commands.split_first() else {
            return Err(malformed("BSTART as the first command", "another"));
        };
        let word = word_of(word)?;
        let (code, a_type) = decode_start(word).map_err(|fault| of_fault(&fault))?;
        let mut header = Header::matrix(code, a_type, Revision::Seed);
        let (mut scalars, mut sources, mut destinations) = (Vec::new(), Vec::new(), Vec::new());
        for command in rest {
            let executed = execute(command)?;
            header.execute(executed).map_err(|fault| of_fault(&fault))?;
            match command {
                Command::Scalars { registers } => scalars.extend(registers),
                Command::Local {
                    sources: more,
                    destination,
                    ..
                } => {
                    sources.extend(more.iter().map(Source::copied));
                    destinations.extend(destination.iter().map(Destination::copied));
                }
                _ => {}
            }
        }
        let block = header.complete();
        let Some(post) = block.post else {
            let message = "expected one B.FPATR command, found none".to_owned();
            return Err(fault(Rule::MissingPost, message));
        };
        let Some(function) = Cube::from_code(code) else {
            let message = format!("expected an assigned CUBE function, found {code}");
            return Err(fault(Rule::UndecodableFunction, message));
        };
        if !block.stream_ended {
            let message = "expected the last B.IOT to say so, found one that does not".to_owned();
            return Err(fault(Rule::StreamEnd, message));
        }
        let mask = block.masks.first().copied().unwrap_or_default();
        if let Some(other) = block.masks.iter().find(|&&other| other != mask) {
            let message = format!("expected one mask, found {mask:04b} and {other:04b}");
            return Err(fault(Rule::Masks, message));
        }
        let data = block.data.unwrap_or_default();
        Ok(Self {
            function,
            a_type,
            b_type: data.b_type.unwrap_or(a_type),
            data,
            post,
            mask,
            scalars,
            sources,
            destinations,
            block,
        })
    }

    fn sharing(&self) -> Result<Sharing, Reason> {
        let (left, right) = operand_groups(self.function, self.a_type, self.b_type);
        match self.block.shared.len() {
            0 => Ok(Sharing::None),
            count if count == right.len() => Ok(Sharing::Right),
            count if count == left.len() + right.len() => Ok(Sharing::Both),
            count => {
                let message = format!(
                    "expected no Shared operands, {} of the right side or {} of both, found {count}",
                    right.len(),
                    left.len() + right.len()
                );
                Err(fault(Rule::SharedCount, message))
            }
        }
    }

    /// The roles of the Local and of the Shared sources; as many as there are of them.
    fn roles(&self) -> Result<(Vec<Role>, Vec<Role>), Reason> {
        let sharing = self.sharing()?;
        let (a_type, b_type) = (self.a_type, self.b_type);
        let local = local_roles(self.function, a_type, b_type, sharing, &self.post);
        let shared = shared_roles(self.function, a_type, b_type, sharing);
        let (wanted, found) = (local.len(), self.sources.len());
        if wanted != found {
            let message = format!("expected {wanted} Local sources, found {found}");
            return Err(fault(Rule::SourceCount, message));
        }
        let wanted = 1 + usize::from(self.post.row_max) + usize::from(self.post.group_max);
        let found = self.destinations.len();
        if wanted != found {
            let message = format!("expected {wanted} destinations, found {found}");
            return Err(fault(Rule::DestinationCount, message));
        }
        Ok((local, shared))
    }

    /// What the operands are held against, as `element` sees them.
    fn frame(&self, element: u32) -> Result<Frame, Reason> {
        let (a_type, b_type) = (self.a_type, self.b_type);
        let Some(accumulator) = accumulator_type(self.function, a_type, b_type, Revision::Seed)
        else {
            let message =
                format!("expected types that can be multiplied, found {a_type} and {b_type}");
            return Err(fault(Rule::TypePair, message));
        };
        let [group_m, n, k] = self.block.dimensions.map(|size| size.unwrap_or(1));
        let sharing = self.sharing()?;
        if element >= ELEMENTS {
            return Err(malformed("an element from 0 to 3", &element.to_string()));
        }
        let rows = share(group_m, element);
        let is_shared = sharing != Sharing::None;
        let m = if is_shared { rows.rows } else { group_m };
        if m == 0 || n == 0 || k == 0 {
            let message = format!("expected M, N and K of at least 1, found {m}, {n} and {k}");
            return Err(fault(Rule::Dimensions, message));
        }
        Ok(Frame {
            m,
            group_m,
            first_row: if is_shared { rows.first_row } else { 0 },
            n,
            k,
            a_type,
            b_type,
            accumulator,
            m_layout: Layout::narrowest_for_m(m),
            trans_a: self.post.trans_a,
            trans_b: self.post.trans_b,
            group_code: self.post.group_code,
            revision: Revision::Seed,
            tile_limit: DEFAULT_CAPACITY,
        })
    }

    /// Type and shape of each destination.
    fn results(&self, frame: &Frame) -> Vec<(DataType, (u32, u32))> {
        let output = self.post.pre_quant.output(frame.accumulator);
        let mut results = vec![(output, (frame.m, frame.n))];
        if self.post.row_max {
            results.push((frame.accumulator, (frame.m, 1)));
        }
        if let (true, Some(columns)) = (self.post.group_max, group_columns(self.post.group_code)) {
            let groups = frame.n.div_ceil(columns.max(1));
            results.push((frame.accumulator, (frame.m, groups)));
        }
        results
    }

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

impl Source {
    fn copied(&self) -> Self {
        Self {
            register: self.register,
            layout: self.layout.clone(),
        }
    }
}

impl Destination {
    fn copied(&self) -> Self {
        Self {
            layout: self.layout.clone(),
            ..*self
        }
    }
}

/// A command as the machine executes it.
fn execute(command: &Command) -> Result<Executed, Reason> {
    let reserved = |what: &str, code: u8| {
        let message = format!("expected {what} with an assigned code, found {code}");
        fault(Rule::ReservedField, message)
    };
    Ok(match command {
        Command::Start { .. } => return Err(malformed("one BSTART", "a second")),
        Command::Data { b_type, rmode, sat } => {
            let inherits = *b_type == INHERIT_CODE;
            let known = DataType::from_code(*b_type);
            if known.is_none() && !inherits {
                return Err(reserved("a right type", *b_type));
            }
            Executed::Data(DataAttributes {
                b_type: known,
                rmode: RMode::from_code(*rmode)
                    .ok_or_else(|| reserved("a rounding mode", *rmode))?,
                saturate: *sat,
                has_foreign_fields: false,
            })
        }
        Command::Dimension { dimension, value } => Executed::Dimension(*dimension, *value),
        Command::Post { word } => {
            let word = word_of(word)?;
            Executed::Post(decode_post(word, Revision::Seed).map_err(|fault| of_fault(&fault))?)
        }
        Command::Scalars { .. } => Executed::Scalars(Scalars::default()),
        Command::Shared { name, pe_mode } => Executed::Shared {
            name: *name,
            mask: mask_of(*pe_mode)?,
        },
        Command::Local {
            sources,
            destination,
            pe_mode,
            last,
        } => Executed::Local {
            sources: sources.iter().map(|source| source.register).collect(),
            destination: destination.as_ref().map(|to| (to.hand, to.size_code)),
            mask: mask_of(*pe_mode)?,
            last: *last,
        },
    })
}

fn mask_of(pe_mode: u8) -> Result<u8, Reason> {
    let mask = PE_MODE_MASKS.get(usize::from(pe_mode)).copied();
    mask.ok_or_else(|| {
        let message = format!("expected a PE mode from 0 to 7, found {pe_mode}");
        fault(Rule::ReservedField, message)
    })
}

fn word_of(text: &str) -> Result<u32, Reason> {
    schema::parse(text).ok_or_else(|| malformed("a word such as 0x00002023", &format!("`{text}`")))
}

fn layout_named(name: &str) -> Result<String, Reason> {
    // All but the first, which is none, and the last, which no Local tile has.
    let local = &LAYOUTS[1..LAYOUTS.len() - 1];
    match local.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(malformed(
            "cube_m16, cube_m32 or cube_n8",
            &format!("`{name}`"),
        )),
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
