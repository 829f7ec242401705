//! What must hold for arbitrary bytes as a `.npy` file. The fuzz target calls this without end, a test
//! calls it on every file that it once found.

use pto_machine::npy::Array;

/// Bytes are refused, or they are an array that is written and read back as it was.
///
/// # Errors
///
/// What does not hold.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    let Ok(array) = Array::read(bytes) else {
        return Ok(());
    };
    match Array::read(&array.write()) {
        Ok(again) if again == array => Ok(()),
        other => Err(format!("{array:?} is read back as {other:?}")),
    }
}
