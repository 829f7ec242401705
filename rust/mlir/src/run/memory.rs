//! Arguments from memory, arguments and results to memory: how a program that links the interpreter
//! hands arrays over.

use pto_machine::code::{Code, FuncId, Param, ValueType};
use pto_machine::exec::{Array, Input, RunResult, Value};
use pto_machine::report::{Report, SiteId};

use crate::bridge::ffi::Buffer;

/// Puts `buffers` in place of the arguments of `entry` that they are values of.
pub(super) fn fill(
    inputs: &mut [Input],
    buffers: &[Buffer],
    code: &Code,
    entry: FuncId,
) -> Result<(), Box<Report>> {
    let func = code.func(entry);
    for buffer in buffers {
        let Some(param) = func.params.get(buffer.number) else {
            let count = func.params.len();
            let message = format!(
                "there is no argument {}: @{} has {count}",
                buffer.number, func.name
            );
            return Err(wrong(func.site, message));
        };
        inputs[buffer.number] = input(param, buffer)
            .map_err(|text| wrong(func.site, format!("argument {}: {text}", buffer.number)))?;
    }
    Ok(())
}

fn input(param: &Param, buffer: &Buffer) -> Result<Input, String> {
    let (element, sizes) = match &param.ty {
        ValueType::Scalar(element) => (*element, Vec::new()),
        ValueType::View(ty) => (ty.element, sizes_of(&ty.sizes, &buffer.sizes)?),
        ValueType::Token => return Err("it has no elements".into()),
    };
    let expected = sizes
        .iter()
        .try_fold(element.bytes() as u64, |bytes, &size| {
            bytes.checked_mul(size)
        });
    if expected != Some(buffer.bytes.len() as u64) {
        return Err(format!(
            "expected {} bytes for sizes {sizes:?} of {element}, found {}",
            expected.map_or_else(|| "too many".to_owned(), |bytes| bytes.to_string()),
            buffer.bytes.len()
        ));
    }
    if let ValueType::Scalar(_) = param.ty {
        let mut word = [0; 8];
        word[..element.bytes()].copy_from_slice(&buffer.bytes);
        return Ok(Input::Scalar(u64::from_le_bytes(word)));
    }
    Ok(Input::Elements(Array {
        element,
        sizes,
        bytes: buffer.bytes.clone(),
    }))
}

/// The sizes given, or else those of the type. The machine compares the two.
fn sizes_of(declared: &[Option<u64>], given: &[u64]) -> Result<Vec<u64>, String> {
    if !given.is_empty() {
        return Ok(given.to_vec());
    }
    let declared: Option<Vec<u64>> = declared.iter().copied().collect();
    declared.ok_or_else(|| "its type has dynamic sizes: expected sizes with it".to_owned())
}

/// The memref arguments after the run, then the results.
pub(super) fn values(result: &RunResult) -> Vec<Buffer> {
    let arguments = result.arguments.iter().enumerate();
    let arrays = arguments.filter(|(_, value)| matches!(value, Value::Elements { .. }));
    let results = result.results.iter().enumerate();
    arrays
        .map(|(number, value)| (number, false, value))
        .chain(results.map(|(number, value)| (number, true, value)))
        .filter_map(|(number, is_result, value)| buffer(number, is_result, value))
        .collect()
}

fn buffer(number: usize, is_result: bool, value: &Value) -> Option<Buffer> {
    let (element, sizes, bytes) = match value {
        Value::Elements { array, .. } => (array.element, array.sizes.clone(), array.bytes.clone()),
        Value::Scalar(element, bits) => {
            let bytes = bits.to_le_bytes()[..element.bytes()].to_vec();
            (*element, Vec::new(), bytes)
        }
        Value::Token => return None,
    };
    Some(Buffer {
        number,
        is_result,
        element: element.to_string(),
        sizes,
        bytes,
    })
}

fn wrong(site: SiteId, message: String) -> Box<Report> {
    Box::new(Report::unusable("pto:input", site, message))
}
