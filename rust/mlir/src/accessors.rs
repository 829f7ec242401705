//! The C functions of the dialect (`dialect/include/pto-c/Dialect.h`) and of the C++ side
//! (`cpp/include/pto/Bridge/Interfaces.h`), declared for Rust.
//!
//! They read an operation by its type id, without a string look-up, which is what makes reading a
//! function cheap. A struct here must stay equal to the C struct of the same name.

use mlir_sys::{MlirAttribute, MlirContext, MlirOperation, MlirType, MlirValue};

/// The operations of the dialect that the reader tells apart.
pub(crate) mod kind {
    pub(crate) const OTHER: u32 = 0;
    pub(crate) const MATMUL: u32 = 1;
    pub(crate) const MATMUL_ACC: u32 = 2;
    pub(crate) const PSUM_ALLOC: u32 = 3;
    pub(crate) const SBUF_ALLOC: u32 = 4;
    pub(crate) const MEMSET: u32 = 5;
    pub(crate) const COPY: u32 = 6;
    pub(crate) const EXPECT_EQ: u32 = 7;
    pub(crate) const EXPECT_CLOSE: u32 = 8;
}

/// The memory spaces, as `ptoTypeGetSpace` tells them.
pub(crate) mod space {
    pub(crate) const SBUF: u32 = 1;
    pub(crate) const PSUM: u32 = 2;
}

/// The bits of `ptoOpOperandEffects`.
pub(crate) mod effect {
    pub(crate) const READ: u32 = 1;
    pub(crate) const WRITE: u32 = 2;
    pub(crate) const FREE: u32 = 8;
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PtoMatmul {
    pub(crate) dst: MlirValue,
    pub(crate) accumulator: MlirValue,
    pub(crate) lhs: MlirValue,
    pub(crate) rhs: MlirValue,
    pub(crate) start_if: MlirValue,
    pub(crate) stop_if: MlirValue,
    pub(crate) acc: i32,
    pub(crate) zero_region: i32,
    pub(crate) tile_rows: i32,
    pub(crate) tile_cols: i32,
    pub(crate) tile_row: i32,
    pub(crate) tile_col: i32,
    pub(crate) has_tile: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PtoAlloc {
    pub(crate) result: MlirValue,
    pub(crate) space: i32,
    pub(crate) bank: i32,
    pub(crate) offset: i32,
    pub(crate) partition: i32,
    pub(crate) placed: bool,
}

/// What the argument attributes of a function say of one argument in PSUM.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct PtoArgument {
    pub(crate) bank: i32,
    pub(crate) offset: i32,
    pub(crate) partition: i32,
    pub(crate) placed: bool,
    pub(crate) fresh: bool,
}

unsafe extern "C" {
    pub(crate) fn ptoOpGetKind(op: MlirOperation) -> u32;
    pub(crate) fn ptoMatmulGet(op: MlirOperation, matmul: *mut PtoMatmul) -> bool;
    pub(crate) fn ptoAccAttrGet(context: MlirContext, acc: i32) -> MlirAttribute;
    pub(crate) fn ptoMatmulSetAccAttr(
        op: MlirOperation,
        acc: MlirAttribute,
        zero_region: MlirAttribute,
    );
    pub(crate) fn ptoAllocGet(op: MlirOperation, alloc: *mut PtoAlloc) -> bool;
    pub(crate) fn ptoAllocIsPlaceable(op: MlirOperation) -> bool;
    pub(crate) fn ptoAllocPlace(
        op: MlirOperation,
        bank: i64,
        offset: i64,
        partition: i64,
    ) -> MlirOperation;
    pub(crate) fn ptoTypeGetSpace(r#type: MlirType) -> u32;
    pub(crate) fn ptoEngineOpGet(
        op: MlirOperation,
        engine: *mut u32,
        after_count: *mut u32,
        has_token: *mut bool,
        inserted: *mut bool,
    ) -> bool;
    pub(crate) fn ptoEngineOpGetAfter(op: MlirOperation, index: u32) -> MlirValue;
    pub(crate) fn ptoEngineOpIsAfterInserted(op: MlirOperation, index: u32) -> bool;
    pub(crate) fn ptoEngineOpAddToken(op: MlirOperation, inserted: bool) -> MlirOperation;
    pub(crate) fn ptoEngineOpAppendAfter(
        op: MlirOperation,
        count: u32,
        tokens: *const MlirValue,
        inserted: bool,
    );
    pub(crate) fn ptoEngineOpDropInserted(op: MlirOperation);
    pub(crate) fn ptoEngineOpDropTokenIfUnusedInserted(op: MlirOperation) -> MlirOperation;
    pub(crate) fn ptoMemsetCreateBefore(
        before: MlirOperation,
        value: MlirValue,
        target: MlirValue,
        inserted: bool,
    ) -> MlirOperation;
    pub(crate) fn ptoOpOperandEffects(op: MlirOperation, operand: u32) -> u32;

    /// Whether the operation is a call (`CallOpInterface`).
    pub(crate) fn ptoOpIsCall(op: MlirOperation) -> bool;
    /// Whether the callee of a call says which PSUM banks it touches; if so, they are in `mask`.
    pub(crate) fn ptoCallGetPsumBanks(call: MlirOperation, mask: *mut u32) -> bool;
    /// Whether the trip count of a loop is a constant; if so, it is in `trips`.
    pub(crate) fn ptoLoopGetTripCount(op: MlirOperation, trips: *mut u64) -> bool;
    /// Reads the argument attributes of argument `index` of a function.
    pub(crate) fn ptoFunctionGetArgument(
        function: MlirOperation,
        index: u32,
        argument: *mut PtoArgument,
    );
}
