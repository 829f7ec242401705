//! The multiply-add of a matmul, in either arithmetic.
//!
//! For each row m and column n on its own: `s = C[m,n]` (or 0); for k ascending
//! `s = step(s, A[m,k], B[k,n])`; then the bias, once. C comes first and takes part in every
//! rounding; there is no tree, no wide accumulator and no fused multiply-add.
//!
//! Operands are decoded once into planes of one numeric type, the step is chosen once, and the
//! k loop is compiled for it: nothing in the loop asks what type an element has.

pub mod decode;
pub mod ieee;
mod kernel;
pub mod raw;

use super::types::DataType;
use crate::formats::{Overflow, Rounding};
use std::borrow::Cow;

/// Columns whose sums are kept in registers through a k loop.
const BLOCK: usize = 16;

/// A product to compute: shapes, types and operand planes in row order.
#[derive(Clone, Debug)]
pub struct Product<'a> {
    /// Rows of A and of the result.
    pub m: usize,
    /// Columns of B and of the result.
    pub n: usize,
    /// Columns of A and rows of B.
    pub k: usize,
    /// The left element type.
    pub a_type: DataType,
    /// The right element type.
    pub b_type: DataType,
    /// FP32, S32 or U32.
    pub accumulator: DataType,
    /// m x k carrier words.
    pub a: Cow<'a, [u64]>,
    /// k x n carrier words.
    pub b: Cow<'a, [u64]>,
    /// The scale of each element of A, in MX products with a scaled left side.
    pub a_scales: Option<ScalePlane>,
    /// The scale of each element of B.
    pub b_scales: Option<ScalePlane>,
    /// m x n words the sums start from; zero where absent.
    pub c: Option<Cow<'a, [u64]>>,
    /// n words added at the end.
    pub bias: Option<&'a [u64]>,
    /// How steps round and overflow.
    pub control: StepControl,
}

/// The scale words of one side, spread to one for each element of the side.
#[derive(Clone, Debug)]
pub struct ScalePlane {
    /// E8M0, or U32 for HiF4.
    pub scale_type: DataType,
    /// One word for each element, in the element's order.
    pub words: Vec<u64>,
    /// The position of each element in its K-group, in the element's order.
    pub lanes: Vec<u8>,
}

/// Rounding and overflow of the products and sums of the k loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepControl {
    /// How products and sums round.
    pub rounding: Rounding,
    /// What a finite sum or product beyond the largest value becomes.
    pub overflow: Overflow,
}

impl StepControl {
    /// Nearest even, overflowing to infinity.
    pub const DEFAULT: StepControl = StepControl {
        rounding: Rounding::NearestEven,
        overflow: Overflow::ToInfinity,
    };
}

/// `sums[m, n] = step(.. step(sums[m, n], a[m, 0], b[0, n]) .., a[m, k-1], b[k-1, n])`.
///
/// `sums` is m x n, `a` m x k, `b` k x n, all in row order.
fn accumulate<S: Copy + Default, T: Copy>(
    (m, n, k): (usize, usize, usize),
    a: &[T],
    b: &[T],
    sums: &mut [S],
    step: impl Fn(S, T, T) -> S,
) {
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    for (sums, a) in sums.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        let mut blocks = sums.chunks_exact_mut(BLOCK);
        let mut first = 0;
        for block in &mut blocks {
            let mut held = [S::default(); BLOCK];
            held.copy_from_slice(block);
            for (&x, row) in a.iter().zip(b.chunks_exact(n)) {
                let row = &row[first..first + BLOCK];
                for (s, &y) in held.iter_mut().zip(row) {
                    *s = step(*s, x, y);
                }
            }
            block.copy_from_slice(&held);
            first += BLOCK;
        }
        let rest = blocks.into_remainder();
        for (&x, row) in a.iter().zip(b.chunks_exact(n)) {
            for (s, &y) in rest.iter_mut().zip(&row[first..]) {
                *s = step(*s, x, y);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_boundary_sums_in_k_order() {
        // The step records the order of what it saw: s -> 10 s + a b, on digits.
        for n in [1, 2, 15, 16, 17, 33, 48] {
            let (m, k) = (3, 4);
            let a: Vec<u64> = (0..m * k).map(|i| i as u64 % 3 + 1).collect();
            let b: Vec<u64> = (0..k * n).map(|i| i as u64 % 3 + 1).collect();
            let mut sums = vec![7u64; m * n];
            accumulate((m, n, k), &a, &b, &mut sums, |s, x, y| 10 * s + x * y);
            for i in 0..m {
                for j in 0..n {
                    let expected = (0..k).fold(7, |s, l| 10 * s + a[i * k + l] * b[l * n + j]);
                    assert_eq!(sums[i * n + j], expected, "n {n} at {i},{j}");
                }
            }
        }
    }
}
