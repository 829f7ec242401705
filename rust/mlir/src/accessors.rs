//! The C functions of the dialect (`dialect/include/pto-c/Dialect.h`) and of the C++ side
//! (`cpp/include/pto/Bridge/Interfaces.h`), declared for Rust.
//!
//! They read an operation by its type id, without a string look-up, which is what makes reading a
//! function cheap. A struct here must stay equal to the C struct of the same name.

use mlir_sys::{MlirAttribute, MlirContext, MlirLocation, MlirOperation, MlirType, MlirValue};

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
    pub(crate) const TILE_MATMUL: u32 = 9;
    pub(crate) const TILE_ALLOC: u32 = 10;
}

/// The memory spaces, as `ptoTypeGetSpace` tells them.
pub(crate) mod space {
    pub(crate) const HBM: u32 = 0;
    pub(crate) const SBUF: u32 = 1;
    pub(crate) const PSUM: u32 = 2;
    pub(crate) const TILE: u32 = 3;
    /// Not a memref.
    pub(crate) const NONE: u32 = 5;
}

/// What an operand is to a matmul on tiles, as `ptoTileOpGetUse` tells it.
pub(crate) mod tile_use {
    pub(crate) const NONE: u32 = 0;
    pub(crate) const ACCUMULATOR: u32 = 2;
    pub(crate) const DESTINATION: u32 = 3;
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
    pub(crate) after_count: u32,
    pub(crate) has_tile: bool,
    pub(crate) has_token: bool,
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

/// A matmul of the tile ISA; an operand that it does not have is null.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PtoTileOp {
    pub(crate) accumulator: MlirValue,
    pub(crate) lhs: MlirValue,
    pub(crate) lhs_scale: MlirValue,
    pub(crate) rhs: MlirValue,
    pub(crate) rhs_scale: MlirValue,
    pub(crate) bias: MlirValue,
    pub(crate) dst: MlirValue,
    pub(crate) row_max: MlirValue,
    pub(crate) group_max: MlirValue,
    pub(crate) c_scale: MlirValue,
    pub(crate) row_max_in: MlirValue,
    pub(crate) quant: MlirValue,
    pub(crate) prelu: MlirValue,
    pub(crate) function: u32,
    pub(crate) rmode: u32,
    pub(crate) mask: u32,
    pub(crate) pre_quant: u32,
    pub(crate) relu: u32,
    pub(crate) group: u32,
    pub(crate) sat: bool,
    pub(crate) trans_a: bool,
    pub(crate) trans_b: bool,
    pub(crate) has_post: bool,
    pub(crate) row_max_enable: bool,
    pub(crate) group_max_enable: bool,
    pub(crate) row_max_init: bool,
    pub(crate) max_abs: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PtoTileAlloc {
    pub(crate) result: MlirValue,
    pub(crate) space: u32,
    pub(crate) size_code: u32,
    pub(crate) bytes: u32,
    pub(crate) sized: bool,
}

/// What the argument attributes of a function say of one argument.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct PtoArgument {
    pub(crate) bank: i32,
    pub(crate) offset: i32,
    pub(crate) partition: i32,
    pub(crate) placed: bool,
    pub(crate) fresh: bool,
    pub(crate) noalias: bool,
}

/// One bound of a loop: a value, a constant, both, or neither.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PtoBound {
    pub(crate) value: MlirValue,
    pub(crate) constant: i64,
    pub(crate) is_constant: bool,
}

/// A loop with one induction variable.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PtoLoop {
    pub(crate) variable: MlirValue,
    pub(crate) lower: PtoBound,
    pub(crate) upper: PtoBound,
    pub(crate) step: PtoBound,
    pub(crate) bound_operands: u32,
    pub(crate) is_unsigned: bool,
}

unsafe extern "C" {
    pub(crate) fn ptoOpGetKind(op: MlirOperation) -> u32;
    pub(crate) fn ptoMatmulGet(op: MlirOperation, matmul: *mut PtoMatmul) -> bool;
    pub(crate) fn ptoOpHoldsTiledMatmul(op: MlirOperation) -> bool;
    pub(crate) fn ptoAccAttrGet(context: MlirContext, acc: i32) -> MlirAttribute;
    pub(crate) fn ptoMatmulSetAccAttr(
        op: MlirOperation,
        acc: MlirAttribute,
        zero_region: MlirAttribute,
    );
    /// Sets `start_if` (or `stop_if`) of a matmul; null removes it.
    pub(crate) fn ptoMatmulSetPredicate(op: MlirOperation, is_stop: bool, condition: MlirValue);
    pub(crate) fn ptoAllocGet(op: MlirOperation, alloc: *mut PtoAlloc) -> bool;
    pub(crate) fn ptoAllocIsPlaceable(op: MlirOperation) -> bool;
    pub(crate) fn ptoAllocPlace(
        op: MlirOperation,
        bank: i64,
        offset: i64,
        partition: i64,
    ) -> MlirOperation;
    pub(crate) fn ptoTileOpGet(op: MlirOperation, tile_op: *mut PtoTileOp) -> bool;
    pub(crate) fn ptoTileAllocGet(op: MlirOperation, alloc: *mut PtoTileAlloc) -> bool;
    pub(crate) fn ptoTileOpGetUse(op: MlirOperation, operand: u32) -> u32;
    pub(crate) fn ptoTileOpDropAccumulator(op: MlirOperation) -> MlirOperation;
    pub(crate) fn ptoTypeGetTileBytes(r#type: MlirType) -> u32;
    pub(crate) fn ptoTileAllocCreateLike(tile: MlirValue) -> MlirValue;
    pub(crate) fn ptoTypeGetSpace(r#type: MlirType) -> u32;
    pub(crate) fn ptoTileDataTypeSpelling(code: u32) -> *const std::ffi::c_char;
    pub(crate) fn ptoTypeGetTileSpace(r#type: MlirType) -> u32;
    pub(crate) fn ptoTypeGetTileDataType(element: MlirType) -> i32;
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
        engine: u32,
        inserted: bool,
    ) -> MlirOperation;
    pub(crate) fn ptoOpIsEffectFree(op: MlirOperation) -> bool;
    pub(crate) fn ptoTypeGetBytes(r#type: MlirType) -> u32;
    pub(crate) fn ptoOpOperandEffects(op: MlirOperation, operand: u32) -> u32;

    /// Whether the operation is a call (`CallOpInterface`).
    pub(crate) fn ptoOpIsCall(op: MlirOperation) -> bool;
    /// Whether a function says which PSUM banks it touches; if so, they are in `mask`.
    pub(crate) fn ptoFunctionGetPsumBanks(function: MlirOperation, mask: *mut u32) -> bool;
    /// Whether the callee of a call says which PSUM banks it touches; if so, they are in `mask`.
    pub(crate) fn ptoCallGetPsumBanks(call: MlirOperation, mask: *mut u32) -> bool;
    /// Whether the trip count of a loop is a constant; if so, it is in `trips`.
    pub(crate) fn ptoLoopGetTripCount(op: MlirOperation, trips: *mut u64) -> bool;
    /// The induction variable and the bounds of a loop that has one.
    pub(crate) fn ptoLoopGet(op: MlirOperation, r#loop: *mut PtoLoop) -> bool;
    /// An operation with two operands like `op`, on others, before `before`.
    pub(crate) fn ptoOpCreateLike(
        op: MlirOperation,
        left: MlirValue,
        right: MlirValue,
        location: MlirLocation,
        before: MlirOperation,
    ) -> MlirOperation;
    /// Takes a constant off a sum: see the header.
    pub(crate) fn ptoValueGetSum(
        value: MlirValue,
        base: *mut MlirValue,
        constant: *mut i64,
    ) -> bool;
    /// Reads the argument attributes of argument `index` of a function.
    pub(crate) fn ptoFunctionGetArgument(
        function: MlirOperation,
        index: u32,
        argument: *mut PtoArgument,
    );
}
