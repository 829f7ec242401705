//! What of `pto-c/PTO.h` this program uses, made safe.

use std::ffi::c_void;

use anyhow::{Result, bail};
use melior::dialect::DialectHandle;
use melior::ir::Module;
use mlir_sys::{MlirDialectHandle, MlirLogicalResult, MlirOperation, MlirStringRef};

type TextCallback = unsafe extern "C" fn(MlirStringRef, *mut c_void);
type ArrayCallback = unsafe extern "C" fn(*const PtoArray, *mut c_void);

#[repr(C)]
struct PtoArray {
    number: isize,
    is_result: bool,
    element: MlirStringRef,
    rank: isize,
    sizes: *const u64,
    data: *const c_void,
    size: usize,
}

#[repr(C)]
struct PtoRun {
    num_options: isize,
    options: *const MlirStringRef,
    num_inputs: isize,
    inputs: *const PtoArray,
    values: Option<ArrayCallback>,
    output: Option<TextCallback>,
    diagnostics: Option<TextCallback>,
    user_data: *mut c_void,
}

#[link(name = "PTO")]
unsafe extern "C" {
    fn mlirGetDialectHandle__pto__() -> MlirDialectHandle;
    fn ptoLegalizeAcc(
        root: MlirOperation,
        options: MlirStringRef,
        diagnostics: Option<TextCallback>,
        user_data: *mut c_void,
    ) -> MlirLogicalResult;
    fn ptoVerifyAcc(
        root: MlirOperation,
        options: MlirStringRef,
        diagnostics: Option<TextCallback>,
        user_data: *mut c_void,
    ) -> MlirLogicalResult;
    fn ptoValidateAgainst(
        original: MlirOperation,
        root: MlirOperation,
        options: MlirStringRef,
        diagnostics: Option<TextCallback>,
        user_data: *mut c_void,
    ) -> MlirLogicalResult;
    fn ptoRun(module: MlirOperation, run: *const PtoRun) -> i32;
}

/// The dialect, to be put in a registry.
pub fn dialect() -> DialectHandle {
    // SAFETY: the handle is a constant of the library.
    unsafe { DialectHandle::from_raw(mlirGetDialectHandle__pto__()) }
}

/// Derives the accumulation groups of every function in `module`. An error has the diagnostics.
pub fn legalize_acc(module: &Module<'_>, options: &str) -> Result<()> {
    // SAFETY: the operation lives, and the rest is what `call` gives.
    call(|append, data| unsafe { ptoLegalizeAcc(raw(module), string_ref(options), append, data) })
}

/// Proves the flags of every function in `module` right, or says what breaks in the error.
pub fn verify_acc(module: &Module<'_>, options: &str) -> Result<()> {
    // SAFETY: as above.
    call(|append, data| unsafe { ptoVerifyAcc(raw(module), string_ref(options), append, data) })
}

/// Proves that `module` gives the values that `original` means. An error has what differs.
pub fn validate_against(original: &Module<'_>, module: &Module<'_>, options: &str) -> Result<()> {
    // SAFETY: as above.
    call(|append, data| unsafe {
        ptoValidateAgainst(
            raw(original),
            raw(module),
            string_ref(options),
            append,
            data,
        )
    })
}

fn raw(module: &Module<'_>) -> MlirOperation {
    module.as_operation().to_raw()
}

/// A call that is given a callback for its diagnostics, and the callback's data.
fn call(
    function: impl FnOnce(Option<TextCallback>, *mut c_void) -> MlirLogicalResult,
) -> Result<()> {
    let mut diagnostics = String::new();
    // `append` is given the address of the string, which outlives the call.
    let result = function(Some(append), (&raw mut diagnostics).cast());
    if result.value == 0 {
        bail!("{diagnostics}");
    }
    Ok(())
}

/// The memref arguments of `main` after a run on `inputs`, elements of f32 in row-major order, one
/// slice for each of the first arguments. An error has the diagnostics.
pub fn run(module: &Module<'_>, inputs: &[&[f32]]) -> Result<Vec<Vec<f32>>> {
    let arrays: Vec<PtoArray> = inputs
        .iter()
        .enumerate()
        .map(|(number, elements)| PtoArray {
            number: number as isize,
            is_result: false,
            element: string_ref(""),
            rank: 0,
            sizes: std::ptr::null(),
            data: elements.as_ptr().cast(),
            size: size_of_val(*elements),
        })
        .collect();
    let mut seen = Seen::default();
    let run = PtoRun {
        num_options: 0,
        options: std::ptr::null(),
        num_inputs: arrays.len() as isize,
        inputs: arrays.as_ptr(),
        values: Some(collect),
        output: None,
        diagnostics: Some(append_seen),
        user_data: (&raw mut seen).cast(),
    };
    // SAFETY: everything that `run` points to outlives the call.
    let status = unsafe { ptoRun(raw(module), &run) };
    if status != 0 {
        bail!("the run ended with status {status}\n{}", seen.diagnostics);
    }
    Ok(seen.values)
}

/// What a run said.
#[derive(Default)]
struct Seen {
    values: Vec<Vec<f32>>,
    diagnostics: String,
}

fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef {
        data: text.as_ptr().cast(),
        length: text.len(),
    }
}

/// # Safety
///
/// `text` is text of the library.
unsafe fn text_of(text: MlirStringRef) -> String {
    // SAFETY: the caller promises it.
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast(), text.length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// # Safety
///
/// `user_data` is the address of a `String`.
unsafe extern "C" fn append(text: MlirStringRef, user_data: *mut c_void) {
    // SAFETY: the caller promises it.
    unsafe { (*user_data.cast::<String>()).push_str(&text_of(text)) }
}

/// # Safety
///
/// `user_data` is the address of a `Seen`.
unsafe extern "C" fn append_seen(text: MlirStringRef, user_data: *mut c_void) {
    // SAFETY: the caller promises it.
    unsafe {
        (*user_data.cast::<Seen>())
            .diagnostics
            .push_str(&text_of(text))
    }
}

/// # Safety
///
/// `array` is an array of the library and `user_data` the address of a `Seen`.
unsafe extern "C" fn collect(array: *const PtoArray, user_data: *mut c_void) {
    // SAFETY: the caller promises it.
    let (bytes, seen) = unsafe {
        let array = &*array;
        let bytes = std::slice::from_raw_parts(array.data.cast::<u8>(), array.size);
        (bytes, &mut *user_data.cast::<Seen>())
    };
    let words = bytes
        .chunks_exact(4)
        .map(|word| [word[0], word[1], word[2], word[3]]);
    seen.values.push(words.map(f32::from_le_bytes).collect());
}
