//! From the words of commands to the text of the operations.
//!
//! Commands are executed into a block as the machine does it ([`bound`]), which finds what is
//! undecodable, twice or late. From the block follow the operand streams and, with the dimensions,
//! type and shape of every operand ([`operand`]). A register that nothing wrote yet is an argument
//! of the function. [`print`] spells the operations.

mod bound;
mod operand;
mod print;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pto_machine::tile::core::HAND;
use pto_machine::tile::fields::ReluMode;
use pto_machine::tile::operation::scalar_count;
use pto_machine::tile::post::modes::Parameter;
use pto_machine::tile::{DataType, Fault, Role, Rule};

use self::bound::Bound;
use self::operand::{Held, Operand, Place, Value, layout_named};
use super::schema::{self, Destination, Document, Instruction};

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

/// One function being made.
#[derive(Default)]
struct Importer {
    /// What is in each place.
    held: BTreeMap<Place, Held>,
    /// What was read before anything wrote it.
    arguments: BTreeMap<Place, Held>,
    /// The scalar registers.
    scalars: BTreeMap<u32, String>,
    made: usize,
    body: String,
}

impl Importer {
    fn instruction(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let bound = Bound::of(instruction)?;
        let frame = bound.frame(instruction.element)?;
        let mut names: BTreeMap<Role, Value> = BTreeMap::new();
        let (local, shared) = bound.roles()?;
        for (role, name) in shared.into_iter().zip(&bound.block.shared) {
            let schema = frame.shared(role);
            let operand = Operand {
                place: Place::Shared(*name),
                data_type: schema.data_type,
                shape: schema.shape,
                layout: "shared".to_owned(),
                size_code: None,
            };
            names.insert(role, self.source(&operand)?);
        }
        for (role, source) in local.into_iter().zip(&bound.sources) {
            let schema = frame.local(role);
            let operand = Operand {
                place: Place::local(source.register)?,
                data_type: schema.data_type,
                shape: schema.shape,
                layout: layout_named(&source.layout)?,
                size_code: source.size_code,
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
    fn source(&mut self, operand: &Operand) -> Result<Value, Reason> {
        let wanted = operand.memref();
        if let Some(held) = self.held.get(&operand.place) {
            let (_, found) = &held.value;
            if *found != wanted {
                return Err(malformed(&format!("{wanted} in this register"), found));
            }
            if operand.size_code.is_some() && operand.size_code != held.size_code {
                let found = match held.size_code {
                    Some(code) => code.to_string(),
                    None => "none".to_owned(),
                };
                return Err(malformed(
                    "the size code of the tile in this register",
                    &found,
                ));
            }
            return Ok(held.value.clone());
        }
        let held = Held {
            value: (operand.place.first_value(), wanted),
            size_code: operand.size_code,
        };
        self.arguments.insert(operand.place, held.clone());
        let value = held.value.clone();
        self.held.insert(operand.place, held);
        Ok(value)
    }

    /// A new tile in the register that the machine chooses.
    fn destination(
        &mut self,
        destination: &Destination,
        data_type: DataType,
        shape: (u32, u32),
    ) -> Result<Value, Reason> {
        let place = Place::local(destination.register)?;
        if destination.register / HAND as u8 != destination.hand {
            let hand = format!("a register of hand {}", destination.hand);
            return Err(malformed(&hand, &destination.register.to_string()));
        }
        let operand = Operand {
            place,
            data_type,
            shape,
            layout: layout_named(&destination.layout)?,
            size_code: Some(destination.size_code),
        };
        let value = (format!("%d{}", self.made), operand.memref());
        self.made += 1;
        let (name, memref) = &value;
        let code = destination.size_code;
        let _ = writeln!(
            self.body,
            "  {name} = pto.tile_alloc size({code}) : {memref}"
        );
        let held = Held {
            value: value.clone(),
            size_code: operand.size_code,
        };
        self.held.insert(place, held);
        Ok(value)
    }

    /// The values of scalar parameters: that of the conversion, and that of the activation.
    fn scalars(&mut self, bound: &Bound) -> Result<[Option<String>; 2], Reason> {
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
}
