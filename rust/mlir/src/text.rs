//! Passes and interpreter on text.
//!
//! Each call parses the text in a context of its own and leaves nothing behind, so calls may be made
//! from any thread. A program that uses this module links the C++ libraries of the project too.

use crate::bridge::ffi;

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It explains.
    Remark,
    /// Something is doubtful.
    Warning,
    /// Something is wrong.
    Error,
}

/// A message of a pass or of the interpreter, the notes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// How serious it is.
    pub severity: Severity,
    /// `line:column` in the text, or the location as MLIR prints it.
    pub location: String,
    /// The sentence, ending in its tag, `[pto:...]`, if it has one.
    pub text: String,
    /// Location and sentence of each note.
    pub notes: Vec<(String, String)>,
}

/// The value of one argument or result of a run: a memref, or a scalar, which has no sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its number among the arguments, or among the results.
    pub number: usize,
    /// Whether it is a result.
    pub is_result: bool,
    /// The element type, as MLIR spells it. Not looked at in an argument.
    pub element: String,
    /// The sizes. An argument may leave them out where its type has them.
    pub sizes: Vec<u64>,
    /// The elements, little endian, row-major, without gaps.
    pub bytes: Vec<u8>,
}

/// What became of a text.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// 0 if all went well; 1 if a pass failed, or an expectation, a comparison or a hazard of a run; 2 if
    /// the text, the pipeline or the options cannot be used.
    pub status: u8,
    /// The module after the passes, or what the run prints.
    pub text: String,
    /// What was said, in order.
    pub messages: Vec<Message>,
    /// The memref arguments after a run, then the results.
    pub values: Vec<Array>,
}

/// Runs the passes of `pipeline`, as `--pass-pipeline` has them between the parentheses of
/// `builtin.module`, on the module `text`.
pub fn transform(text: &str, pipeline: &str) -> Outcome {
    ffi::transform_text(text, pipeline).into()
}

/// Runs the module `text` with `options` of the command line of `pto-run`, on `inputs`.
pub fn interpret(text: &str, options: &[String], inputs: Vec<Array>) -> Outcome {
    let inputs: Vec<ffi::Buffer> = inputs.into_iter().map(Into::into).collect();
    ffi::interpret_text(text, options, &inputs).into()
}

impl From<ffi::TextOutcome> for Outcome {
    fn from(outcome: ffi::TextOutcome) -> Self {
        Self {
            status: outcome.status,
            text: outcome.text,
            messages: outcome.messages.into_iter().map(Into::into).collect(),
            values: outcome.values.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<ffi::TextMessage> for Message {
    fn from(message: ffi::TextMessage) -> Self {
        let notes = message.notes.into_iter();
        Self {
            severity: match message.severity {
                ffi::Severity::Remark => Severity::Remark,
                ffi::Severity::Warning => Severity::Warning,
                _ => Severity::Error,
            },
            location: message.location,
            text: message.text,
            notes: notes.map(|note| (note.location, note.text)).collect(),
        }
    }
}

impl From<ffi::Buffer> for Array {
    fn from(buffer: ffi::Buffer) -> Self {
        Self {
            number: buffer.number,
            is_result: buffer.is_result,
            element: buffer.element,
            sizes: buffer.sizes,
            bytes: buffer.bytes,
        }
    }
}

impl From<Array> for ffi::Buffer {
    fn from(array: Array) -> Self {
        Self {
            number: array.number,
            is_result: array.is_result,
            element: array.element,
            sizes: array.sizes,
            bytes: array.bytes,
        }
    }
}
