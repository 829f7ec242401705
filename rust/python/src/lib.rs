//! The extension module behind the Python package `pto`: text and bytes in, text and bytes out.
//!
//! What Python programs see, arrays of NumPy and types among it, is `python/pto/__init__.py`.

use pto_mlir::text::{self, Array, Message, Outcome, Severity};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Severity, location, text, and the notes' locations and texts.
type PyMessage = (&'static str, String, String, Vec<(String, String)>);

/// Number, whether a result, element type, sizes, elements.
type PyArray = (usize, bool, String, Vec<u64>, Py<PyBytes>);

/// Runs the passes of `pipeline` on `module`: status, text, messages.
#[pyfunction]
fn transform(python: Python<'_>, module: &str, pipeline: &str) -> (u8, String, Vec<PyMessage>) {
    let outcome = python.detach(|| text::transform(module, pipeline));
    (outcome.status, outcome.text, messages(outcome.messages))
}

/// Runs `module` with options of pto-run on `inputs`, each a number, sizes and elements: status, what the
/// options print, messages, values.
#[pyfunction]
fn interpret(
    python: Python<'_>,
    module: &str,
    options: Vec<String>,
    inputs: Vec<(usize, Vec<u64>, Vec<u8>)>,
) -> (u8, String, Vec<PyMessage>, Vec<PyArray>) {
    let inputs = inputs.into_iter().map(|(number, sizes, bytes)| Array {
        number,
        is_result: false,
        element: String::new(),
        sizes,
        bytes,
    });
    let inputs: Vec<Array> = inputs.collect();
    let Outcome {
        status,
        text,
        messages: said,
        values,
    } = python.detach(|| text::interpret(module, &options, inputs));
    let values = values.into_iter().map(|array| {
        let bytes = PyBytes::new(python, &array.bytes).unbind();
        (
            array.number,
            array.is_result,
            array.element,
            array.sizes,
            bytes,
        )
    });
    (status, text, messages(said), values.collect())
}

fn messages(messages: Vec<Message>) -> Vec<PyMessage> {
    let messages = messages.into_iter();
    messages
        .map(|message| {
            let severity = match message.severity {
                Severity::Remark => "remark",
                Severity::Warning => "warning",
                Severity::Error => "error",
            };
            (severity, message.location, message.text, message.notes)
        })
        .collect()
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(transform, module)?)?;
    module.add_function(wrap_pyfunction!(interpret, module)?)
}
