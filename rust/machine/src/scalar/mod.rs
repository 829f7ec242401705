//! Scalar operations: `arith` and `math` on one value.
//!
//! Values are raw bits as [`ElementType`](crate::code::ElementType) says. Where upstream leaves a
//! result open (poison), the result here is defined and the same everywhere:
//!
//! * integers wrap; a division that overflows wraps too, a division by zero is an error;
//! * a shift by the width or more gives zero, or the sign for an arithmetic right shift;
//! * a float beyond the range of an integer converts to the nearest end of the range, NaN to zero.
//!
//! Narrow floats compute in `f32` and round once, which is correctly rounded for the four basic
//! operations and the square root. Transcendental functions come from the `libm` crate, so that a
//! program gives the same bits on every machine.

pub mod cast;
pub mod float;
pub mod int;

pub use cast::CastOp;
pub use float::{FloatBinaryOp, FloatClass, FloatCompare, FloatUnaryOp};
pub use int::{IntBinaryOp, IntCompare, IntUnaryOp};

/// Why a scalar operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarFault {
    /// An integer division or remainder by zero.
    DivisionByZero,
}
