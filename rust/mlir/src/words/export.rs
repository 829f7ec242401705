//! From the matmuls of a module to the words of their commands.

use pto_ir::InstId;
use pto_machine::tile::cooperative::{PE_MODE_MASKS, element_with_share, group_with_share};
use pto_machine::tile::core::HAND;
use pto_machine::tile::descriptor::smallest_code_for;
use pto_machine::tile::encode::{post_word, start_word};
use pto_machine::tile::fields::{Function as Cube, ReluMode};
use pto_machine::tile::post::modes::PreQuantMode;
use pto_machine::tile::{DataType, Post};
use pto_passes::legalize_tile::assign::{Assignment, Register, assign};
use rustc_hash::FxHashMap;

use super::schema::{self, Command, Destination, Document, Function, Instruction, Source};
use crate::accessors::{PtoTileOp, tile_use};
use crate::diag::Message;
use crate::handle::{Key, Op, Value};
use crate::read::tile::{TileReading, read};
use crate::tile_pass::located;

/// The memory spaces of tiles, by number.
pub(super) const LAYOUTS: [&str; 5] = ["", "cube_m16", "cube_m32", "cube_n8", "shared"];
const SHARED: u32 = 4;
/// Sources of one B.IOT.
const SOURCES: usize = 2;

/// The document of the functions in `module`, as JSON.
pub(crate) fn export(module: Op) -> Result<String, Vec<Message>> {
    let mut functions = Vec::new();
    for function in functions_in(module) {
        functions.push(export_function(function)?);
    }
    let document = Document {
        schema: schema::NAME.to_owned(),
        functions,
    };
    serde_json::to_string_pretty(&document)
        .map(|text| text + "\n")
        .map_err(|error| {
            vec![Message::error(
                "pto:internal",
                module.location(),
                &error.to_string(),
            )]
        })
}

/// The function-like operations at the top of `module`.
fn functions_in(module: Op) -> Vec<Op> {
    let body = (module.region_count() > 0)
        .then(|| module.first_block(0))
        .flatten();
    let first = body.and_then(|block| block.first_op());
    std::iter::successors(first, |op| op.next())
        .filter(|op| op.region_count() > 0 && op.attribute("sym_name").is_some())
        .collect()
}

fn export_function(function: Op) -> Result<Function, Vec<Message>> {
    let reading = read(function)?;
    let registers =
        assign(&reading.program, HAND as u8).map_err(|diags| located(diags, &reading))?;
    let mut exporter = Exporter {
        reading: &reading,
        registers,
        scalars: FxHashMap::default(),
    };
    let mut instructions = Vec::new();
    for index in 0..reading.program.insts.len() {
        let inst = InstId::new(index);
        let op = reading.op(inst);
        if let Some(facts) = op.tile_matmul() {
            instructions.push(
                exporter
                    .instruction(inst, op, &facts)
                    .map_err(|message| vec![message])?,
            );
        }
    }
    Ok(Function {
        name: reading.program.name.clone(),
        instructions,
    })
}

struct Exporter<'a> {
    reading: &'a TileReading,
    registers: Assignment,
    /// The scalar registers, numbered in order of appearance.
    scalars: FxHashMap<Key, u32>,
}

impl Exporter<'_> {
    fn instruction(
        &mut self,
        inst: InstId,
        op: Op,
        facts: &PtoTileOp,
    ) -> Result<Instruction, Message> {
        let fail = |what: &str| {
            let sentence = format!("expected {what} that the instruction can say, found another");
            Err(Message::error("pto:internal", op.location(), &sentence))
        };
        let (Some(lhs), Some(rhs), Some(dst)) =
            (value(facts.lhs), value(facts.rhs), value(facts.dst))
        else {
            return fail("operands");
        };
        let Some(function) = Cube::from_code(facts.function as u8) else {
            return fail("a function");
        };
        let (Some(a_type), Some(b_type)) = (data_type(lhs), data_type(rhs)) else {
            return fail("element types");
        };
        let Some(start) = start_word(function.code(), a_type) else {
            return fail("a function");
        };
        let Some(pe_mode) = pe_mode(facts.mask) else {
            return fail("a mask");
        };
        let Some(post) = post_of(facts) else {
            return fail("post-processing");
        };
        let (m, n) = shape(dst);
        let (rows, columns) = shape(lhs);
        let (lhs_rows, k) = if facts.trans_a {
            (columns, rows)
        } else {
            (rows, columns)
        };
        let is_shared = |side: Value| side.r#type().tile_space() == SHARED;
        let (group, element) = match (is_shared(lhs), is_shared(rhs)) {
            (true, _) => (lhs_rows, element_with_share(lhs_rows, m).unwrap_or(0)),
            (false, true) => group_with_share(m).unwrap_or((m, 0)),
            (false, false) => (m, 0),
        };
        let mut commands = vec![
            Command::Start {
                word: schema::spell(start),
            },
            Command::Data {
                b_type: b_type.code(),
                rmode: facts.rmode as u8,
                sat: facts.sat,
            },
        ];
        let dimensions = [group, n, k].into_iter().enumerate();
        commands
            .extend(dimensions.map(|(dimension, value)| Command::Dimension { dimension, value }));
        commands.push(Command::Post {
            word: schema::spell(post_word(&post)),
        });
        let scalars = self.scalars_of(facts);
        if !scalars.is_empty() {
            commands.push(Command::Scalars { registers: scalars });
        }
        self.bind(inst, op, pe_mode, &mut commands);
        Ok(Instruction {
            name: function.name().to_owned(),
            element,
            commands,
        })
    }

    /// The registers of scalar parameters, that of the conversion first.
    fn scalars_of(&mut self, facts: &PtoTileOp) -> Vec<u32> {
        let parameters = [facts.quant, facts.prelu].into_iter().filter_map(value);
        parameters
            .filter(|parameter| parameter.r#type().tile_space() == 0)
            .map(|parameter| {
                let next = self.scalars.len() as u32;
                *self.scalars.entry(parameter.key()).or_insert(next)
            })
            .collect()
    }

    /// The commands that bind operands: Shared ones, then the Local stream with the destinations.
    fn bind(&self, inst: InstId, op: Op, pe_mode: u8, commands: &mut Vec<Command>) {
        let (mut sources, mut destinations) = (Vec::new(), Vec::new());
        for operand in &self.reading.program.inst(inst).uses {
            let tile = op.operand(operand.operand as usize);
            let layout = LAYOUTS[tile.r#type().tile_space() as usize].to_owned();
            let bytes = self.reading.program.tile(operand.tile).bytes;
            let is_destination = op.tile_use(operand.operand as usize) == tile_use::DESTINATION;
            match self.registers.get(&(inst, operand.operand)) {
                Some(&Register::Shared(name)) => commands.push(Command::Shared { name, pe_mode }),
                Some(&Register::Local(register)) if is_destination => {
                    destinations.push(Destination {
                        hand: register / HAND as u8,
                        size_code: smallest_code_for(bytes).unwrap_or(0),
                        register,
                        layout,
                    });
                }
                Some(&Register::Local(register)) => sources.push(Source {
                    register,
                    layout,
                    size_code: (bytes != tile.r#type().tile_bytes())
                        .then(|| smallest_code_for(bytes))
                        .flatten(),
                }),
                None => {}
            }
        }
        let count = sources.len().div_ceil(SOURCES).max(destinations.len());
        let mut sources = sources.into_iter();
        let mut destinations = destinations.into_iter();
        for index in 0..count {
            commands.push(Command::Local {
                sources: sources.by_ref().take(SOURCES).collect(),
                destination: destinations.next(),
                pe_mode,
                last: index + 1 == count,
            });
        }
    }
}

fn value(raw: mlir_sys::MlirValue) -> Option<Value> {
    // SAFETY: the facts of a live operation name its operands.
    unsafe { Value::from_option_raw(raw) }
}

fn data_type(tile: Value) -> Option<DataType> {
    DataType::from_code(tile.r#type().element().tile_data_type()?)
}

/// Rows and columns. The verifier has seen that there are two, static and small.
fn shape(tile: Value) -> (u32, u32) {
    match tile.r#type().sizes().as_deref() {
        Some(&[rows, columns]) => (rows as u32, columns as u32),
        _ => (0, 0),
    }
}

fn pe_mode(mask: u32) -> Option<u8> {
    let is_mask = |&known: &u8| u32::from(known) == mask;
    PE_MODE_MASKS
        .iter()
        .position(is_mask)
        .map(|code| code as u8)
}

fn post_of(facts: &PtoTileOp) -> Option<Post> {
    Some(Post {
        pre_quant: PreQuantMode::from_code(facts.pre_quant as u8)?,
        relu: ReluMode::from_code(facts.relu as u8)?,
        group_code: facts.group as u8,
        row_max: facts.row_max_enable,
        group_max: facts.group_max_enable,
        row_max_init: facts.row_max_init,
        max_abs: facts.max_abs,
        c_scale: !facts.c_scale.ptr.is_null(),
        trans_b: facts.trans_b,
        trans_a: facts.trans_a,
    })
}
