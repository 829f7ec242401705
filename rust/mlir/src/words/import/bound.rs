//! An instruction of a document, executed into a block.

use pto_machine::tile::cooperative::{ELEMENTS, PE_MODE_MASKS, share};
use pto_machine::tile::core::{Block, DEFAULT_CAPACITY};
use pto_machine::tile::encode::{decode_post, decode_start};
use pto_machine::tile::fields::{DataAttributes, Function as Cube, RMode, Scalars, group_columns};
use pto_machine::tile::header::{Command as Executed, Header};
use pto_machine::tile::operation::{
    Sharing, accumulator_type, local_roles, operand_groups, shared_roles,
};
use pto_machine::tile::schema::Frame;
use pto_machine::tile::types::INHERIT_CODE;
use pto_machine::tile::{DataType, Layout, Post, Revision, Role, Rule};

use super::super::schema::{self, Command, Destination, Instruction, Source};
use super::{Reason, fault, malformed, of_fault};

/// An instruction whose commands were executed: its block, and what only the document knows.
pub(super) struct Bound {
    pub(super) function: Cube,
    pub(super) a_type: DataType,
    pub(super) b_type: DataType,
    pub(super) data: DataAttributes,
    pub(super) post: Post,
    pub(super) block: Block,
    pub(super) mask: u8,
    pub(super) scalars: Vec<u32>,
    pub(super) sources: Vec<Source>,
    pub(super) destinations: Vec<Destination>,
}

impl Bound {
    pub(super) fn of(instruction: &Instruction) -> Result<Self, Reason> {
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
                    sources.extend(more.iter().cloned());
                    destinations.extend(destination.iter().cloned());
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
    pub(super) fn roles(&self) -> Result<(Vec<Role>, Vec<Role>), Reason> {
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
    pub(super) fn frame(&self, element: u32) -> Result<Frame, Reason> {
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
    pub(super) fn results(&self, frame: &Frame) -> Vec<(DataType, (u32, u32))> {
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
