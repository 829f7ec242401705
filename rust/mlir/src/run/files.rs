//! Arguments from files and from the command line, arguments and results to files.

use std::fs;
use std::path::Path;

use pto_machine::code::{Code, ElementType, FuncId, Param, Space, ValueType, truncate};
use pto_machine::exec::{Array, Input, MEMORY_LIMIT, RunResult, TILE_WORD, Value};
use pto_machine::npy::{self, Dtype, Kind};
use pto_machine::random::Random;
use pto_machine::report::{Report, SiteId};
use pto_machine::scalar::float::from_f64;

use super::options::{ArithmeticName, Options};

/// The arguments of `entry` as the options have them.
pub(super) fn inputs(
    code: &Code,
    entry: FuncId,
    options: &Options,
) -> Result<Vec<Input>, Box<Report>> {
    let func = code.func(entry);
    if !func.has_body {
        return Ok(Vec::new()); // the run says so
    }
    let mut random = Random::new(options.seed);
    let mut room = MEMORY_LIMIT;
    let mut inputs: Vec<Input> = func
        .params
        .iter()
        .map(|param| match options.random_inputs {
            true => random_input(param, &mut random, &mut room, options),
            false => Input::Undefined,
        })
        .collect();
    for (number, file) in &options.inputs {
        let Some(param) = func.params.get(*number) else {
            let count = func.params.len();
            let message = format!("--input={number}: @{} has {count} arguments", func.name);
            return Err(input_error(func.site, message));
        };
        let named = |error| input_error(func.site, format!("{}: {error}", file.display()));
        inputs[*number] = match number_of(param, file).map_err(named)? {
            Some(bits) => Input::Scalar(bits),
            None => read(param, file, options).map_err(named)?,
        };
    }
    Ok(inputs)
}

/// A random value of `param`. What does not fit into `room`, the bytes left for arguments, is left
/// undefined: allocating it is what says so, with the place of the function.
fn random_input(param: &Param, random: &mut Random, room: &mut u64, options: &Options) -> Input {
    let distribution = options.dist.into();
    match &param.ty {
        ValueType::Scalar(element) => Input::Scalar(random.value(*element, distribution)),
        ValueType::View(ty) if !(ty.space == Space::Psum && param.is_fresh) => {
            let sizes: Option<Vec<u64>> = ty.sizes.iter().copied().collect();
            let width = ty.element.bytes() as u64;
            let bytes = |sizes: &[u64]| sizes.iter().fold(width, |a, &b| a.saturating_mul(b));
            match sizes {
                Some(sizes) if bytes(&sizes) <= *room => {
                    *room -= bytes(&sizes);
                    random.array(ty.element, &sizes, distribution)
                }
                _ => Input::Undefined,
            }
        }
        _ => Input::Undefined,
    }
}

/// The value of a scalar argument that is written as a number; `None` where the text names a file.
fn number_of(param: &Param, text: &Path) -> Result<Option<u64>, String> {
    let (ValueType::Scalar(element), Some(text)) = (&param.ty, text.to_str()) else {
        return Ok(None);
    };
    let Some(width) = element.int_width() else {
        let number = text.parse::<f64>().ok();
        return Ok(number.map(|number| from_f64(*element, number)));
    };
    let number = match text {
        "true" => 1,
        "false" => 0,
        _ => match text.parse::<i128>() {
            Ok(number) => number,
            Err(_) => return Ok(None),
        },
    };
    // Either reading of the bits.
    let range = -(1i128 << (width - 1))..1i128 << width;
    match range.contains(&number) {
        true => Ok(Some(truncate(number as u64, width))),
        false => Err(format!("expected a number of type {element}")),
    }
}

/// The array in `file` as the value of `param`.
fn read(param: &Param, file: &Path, options: &Options) -> Result<Input, String> {
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    let array = npy::Array::read(&bytes).map_err(|error| error.to_string())?;
    let element = match &param.ty {
        ValueType::Scalar(element) => *element,
        ValueType::View(ty) => ty.element,
        ValueType::Token => return Err("the argument has no elements".into()),
    };
    let element = match is_tile(&param.ty) {
        true => tile_element(element, array.dtype(), options)?,
        false => element,
    };
    if !is_tile(&param.ty) && !is_compatible(element, array.dtype()) {
        let dtype = array.dtype();
        return Err(format!(
            "expected elements of type {element}, found {:?} of {} bytes",
            dtype.kind(),
            dtype.bytes()
        ));
    }
    let sizes: Vec<u64> = array.shape().iter().map(|&size| size as u64).collect();
    if let ValueType::Scalar(_) = param.ty {
        if array.data().len() != element.bytes() {
            return Err(format!("expected one element, found sizes {sizes:?}"));
        }
        let mut word = [0; 8];
        word[..element.bytes()].copy_from_slice(array.data());
        return Ok(Input::Scalar(u64::from_le_bytes(word)));
    }
    Ok(Input::Elements(Array {
        element,
        sizes,
        bytes: array.into_data(),
    }))
}

fn is_tile(ty: &ValueType) -> bool {
    matches!(ty, ValueType::View(view) if matches!(view.space, Space::Tile(_)))
}

/// What an array of `dtype` holds as the contents of a tile of `element`: raw words of the element's
/// width, whatever NumPy calls them, or, in raw arithmetic, of 64 bits.
fn tile_element(
    element: ElementType,
    dtype: Dtype,
    options: &Options,
) -> Result<ElementType, String> {
    let is_raw = options.arith == ArithmeticName::Raw;
    let is_integer = matches!(dtype.kind(), Kind::Int | Kind::Uint);
    if is_raw && is_integer && dtype.bytes() == TILE_WORD.bytes() {
        return Ok(TILE_WORD);
    }
    if dtype.bytes() == element.bytes() {
        return Ok(element);
    }
    let width = element.bytes();
    let raw = TILE_WORD.bytes();
    Err(format!(
        "expected words of {width} bytes for {element} in a tile, or of {raw} with --arith=raw, found \
         {dtype}"
    ))
}

/// Whether an array of `dtype` may stand for elements of type `element`: the type itself, or, for
/// the floats that NumPy does not know, a word of their size.
fn is_compatible(element: ElementType, dtype: Dtype) -> bool {
    if dtype.bytes() != element.bytes() {
        return false;
    }
    match element {
        ElementType::Int(1) => matches!(dtype.kind(), Kind::Bool | Kind::Int | Kind::Uint),
        ElementType::Int(_) | ElementType::Uint(_) | ElementType::Index => {
            matches!(dtype.kind(), Kind::Int | Kind::Uint)
        }
        ElementType::F64 | ElementType::F32 | ElementType::F16 => dtype.kind() == Kind::Float,
        ElementType::Float(_) => dtype.is_word(element.bytes()) || dtype.kind() == Kind::Float,
    }
}

/// The type in which elements are written.
fn dtype_of(element: ElementType) -> Option<Dtype> {
    let kind = match element {
        ElementType::Int(1) => Kind::Bool,
        ElementType::Int(_) | ElementType::Index => Kind::Int,
        ElementType::Uint(_) => Kind::Uint,
        ElementType::F64 | ElementType::F32 | ElementType::F16 => Kind::Float,
        ElementType::Float(_) => Kind::Raw,
    };
    Dtype::new(kind, element.bytes())
}

/// An argument or result of the run: its file, its type and its value.
type Named<'a> = (String, &'a ValueType, &'a Value);

/// What there is to write. After a fault, arguments that hold something: what holds nothing is left
/// as it was in the folder too.
fn outputs<'a>(code: &'a Code, entry: FuncId, result: &'a RunResult) -> Vec<Named<'a>> {
    let func = code.func(entry);
    let types = func.params.iter().map(|param| &param.ty);
    let arguments = types.zip(&result.arguments).enumerate();
    let is_written = |value: &Value| match value {
        Value::Elements { array, undefined } => {
            let len = array.sizes.iter().product::<u64>();
            !result.is_faulted || *undefined < len
        }
        Value::Scalar(..) | Value::Token => false,
    };
    let results = func.results.iter().zip(&result.results).enumerate();
    arguments
        .filter(|(_, (_, value))| is_written(value))
        .map(|(number, (ty, value))| (format!("arg{number}.npy"), ty, value))
        .chain(results.map(|(number, (ty, value))| (format!("res{number}.npy"), ty, value)))
        .collect()
}

/// Writes memref arguments and results to `folder`; what to warn about.
pub(super) fn write(
    code: &Code,
    entry: FuncId,
    result: &RunResult,
    folder: &Path,
) -> Result<Vec<Report>, Box<Report>> {
    let site = code.func(entry).site;
    let failed = |error: String| {
        let message = format!("{}: {error}", folder.display());
        Box::new(Report::unusable("pto:output", site, message))
    };
    fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
    let mut warnings = Vec::new();
    for (name, ty, value) in outputs(code, entry, result) {
        let Some(array) = as_array(ty, value).map_err(failed)? else {
            continue;
        };
        fs::write(folder.join(&name), array.write()).map_err(|error| failed(error.to_string()))?;
        if let Value::Elements {
            undefined: count @ 1..,
            ..
        } = value
        {
            let message = format!("{count} elements of {name} were never written: they are zero");
            warnings.push(Report::warning("pto:undefined-output", site, message));
        }
    }
    Ok(warnings)
}

fn as_array(ty: &ValueType, value: &Value) -> Result<Option<npy::Array>, String> {
    let (element, sizes, bytes) = match value {
        Value::Elements { array, .. } => (array.element, array.sizes.clone(), array.bytes.clone()),
        Value::Scalar(element, bits) => (
            *element,
            Vec::new(),
            bits.to_le_bytes()[..element.bytes()].to_vec(),
        ),
        Value::Token => return Ok(None),
    };
    let dtype = match is_tile(ty) {
        true => Dtype::new(Kind::Uint, element.bytes()),
        false => dtype_of(element),
    };
    let dtype = dtype.ok_or_else(|| format!("no .npy type for {element}"))?;
    let shape = sizes.into_iter().map(|size| size as usize).collect();
    npy::Array::new(dtype, shape, bytes)
        .map(Some)
        .map_err(|error| error.to_string())
}

fn input_error(site: SiteId, message: String) -> Box<Report> {
    Box::new(Report::unusable("pto:input", site, message))
}
