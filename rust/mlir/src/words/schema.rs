//! The format: one document a module. Every struct is closed: a name it does not have is an error.

use serde::{Deserialize, Serialize};

/// The name of this format; a change that old readers would misread gives it another number.
pub(super) const NAME: &str = "pto-tile-words/1";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) schema: String,
    pub(super) functions: Vec<Function>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) instructions: Vec<Instruction>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Instruction {
    /// The published name of the function, to be read by people.
    pub(super) name: String,
    /// The processing element whose rows the destination has, where operands are Shared.
    #[serde(default)]
    pub(super) element: u32,
    pub(super) commands: Vec<Command>,
}

/// One command. Those with a published layout have their word, the others their fields.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "command")]
pub(super) enum Command {
    #[serde(rename = "BSTART")]
    Start { word: String },
    #[serde(rename = "B.DATR")]
    Data { b_type: u8, rmode: u8, sat: bool },
    #[serde(rename = "B.DIM")]
    Dimension { dimension: usize, value: u32 },
    #[serde(rename = "B.FPATR")]
    Post { word: String },
    #[serde(rename = "B.IOR")]
    Scalars { registers: Vec<u32> },
    #[serde(rename = "B.IOS")]
    Shared { name: u32, pe_mode: u8 },
    #[serde(rename = "B.IOT")]
    Local {
        sources: Vec<Source>,
        destination: Option<Destination>,
        pe_mode: u8,
        last: bool,
    },
}

/// A register, and the layout of the tile in it: that is in its descriptor, not in the command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    pub(super) register: u8,
    pub(super) layout: String,
    /// The size code of a tile that has more room than its contents need, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) size_code: Option<u8>,
}

/// A hand and a size code, and what the machine makes of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Destination {
    pub(super) hand: u8,
    pub(super) size_code: u8,
    pub(super) register: u8,
    pub(super) layout: String,
}

/// A word as it is written: 0x and eight digits.
pub(super) fn spell(word: u32) -> String {
    format!("{word:#010x}")
}

/// The word that `text` spells, in any number of hexadecimal digits that fit.
pub(super) fn parse(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0x")?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_plain
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}
