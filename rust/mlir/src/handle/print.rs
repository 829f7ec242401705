//! Operations and locations as text.

use mlir_sys::*;

use super::data::append_to_string;
use super::{Location, Op};

/// Elements of a constant that are printed; of a larger one they are left out.
const MAX_ELEMENTS: isize = 8;

/// Prints the operations inside one operation, under the names that they have in the whole of it.
/// The names are found once, not for every operation.
pub(crate) struct Printer {
    state: MlirAsmState,
    flags: MlirOpPrintingFlags,
}

impl Printer {
    /// For operations inside `root`, which must not change as long as the printer lives.
    pub(crate) fn new(root: Op) -> Self {
        // SAFETY: `root` is live; the state is destroyed before the flags, both once, in `drop`.
        unsafe {
            let flags = mlirOpPrintingFlagsCreate();
            mlirOpPrintingFlagsElideLargeElementsAttrs(flags, MAX_ELEMENTS);
            let state = mlirAsmStateCreateForOperation(root.raw(), flags);
            Self { state, flags }
        }
    }

    /// The first line of `op`.
    pub(crate) fn line(&self, op: Op) -> String {
        let mut text = String::new();
        let sink: *mut String = &mut text;
        // SAFETY: the callback runs before the call returns, with the pointer to `text` given here.
        unsafe {
            mlirOperationPrintWithState(op.raw(), self.state, Some(append_to_string), sink.cast());
        }
        text.lines().next().unwrap_or_default().trim().to_owned()
    }
}

impl Drop for Printer {
    fn drop(&mut self) {
        // SAFETY: made in `new`, destroyed nowhere else.
        unsafe {
            mlirAsmStateDestroy(self.state);
            mlirOpPrintingFlagsDestroy(self.flags);
        }
    }
}

impl Location {
    /// The location as MLIR prints it, without `loc(...)` around it; a file's name without quotes.
    pub(crate) fn text(self) -> String {
        let mut text = String::new();
        let sink: *mut String = &mut text;
        // SAFETY: as in `Printer::line`.
        unsafe { mlirLocationPrint(self.raw(), Some(append_to_string), sink.cast()) };
        let inner = text
            .strip_prefix("loc(")
            .and_then(|text| text.strip_suffix(')'));
        inner.unwrap_or(&text).replace('"', "")
    }
}
