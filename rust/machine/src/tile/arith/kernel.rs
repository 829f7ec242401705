//! The k loop on FP32 planes in the machine's own arithmetic, a register block at a time.

use pulp::{Arch, Scalar128b, Simd, WithSimd};

/// Columns of a register block.
pub(super) const COLUMNS: usize = 16;
/// Rows of a register block.
pub(super) const ROWS: usize = 4;

/// `sums[m, n] += a[m, 0] * b[0, n]`, then k = 1 and so on, each product and each sum rounded to
/// nearest even. Rows of `a` and `sums` are whole blocks, and so are columns of `b` and `sums`.
pub(super) struct Kernel<'a> {
    /// Row-major, `depth` columns.
    pub(super) a: &'a [f32],
    /// Row-major, `depth` rows of `width` columns.
    pub(super) b: &'a [f32],
    /// Row-major, `width` columns.
    pub(super) sums: &'a mut [f32],
    /// K.
    pub(super) depth: usize,
    /// N, a multiple of [`COLUMNS`].
    pub(super) width: usize,
    /// Every product of the operands' types is exact in FP32, so that a fused multiply-add is the
    /// step with two roundings.
    pub(super) is_exact: bool,
}

impl Kernel<'_> {
    /// Runs with the instructions this processor was found to have.
    pub(super) fn run(self) {
        match Arch::new() {
            // A fused step without the instruction would be a library call.
            Arch::Scalar => Kernel {
                is_exact: false,
                ..self
            }
            .with_simd(Scalar128b),
            arch => arch.dispatch(self),
        }
    }

    #[inline(always)]
    fn blocks<S: Simd, const VECTORS: usize, const FUSED: bool>(self, simd: S) {
        let rows = self.a.chunks_exact(ROWS * self.depth);
        for (sums, a) in self.sums.chunks_exact_mut(ROWS * self.width).zip(rows) {
            for first in (0..self.width).step_by(COLUMNS) {
                let mut held = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
                for (held, row) in held.iter_mut().zip(sums.chunks_exact(self.width)) {
                    held.copy_from_slice(S::as_simd_f32s(&row[first..first + COLUMNS]).0);
                }
                let held = block::<S, VECTORS, FUSED>(simd, held, a, &self.b[first..], self.width);
                for (held, row) in held.iter().zip(sums.chunks_exact_mut(self.width)) {
                    let row = &mut row[first..first + COLUMNS];
                    S::as_mut_simd_f32s(row).0.copy_from_slice(held);
                }
            }
        }
    }
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match (S::F32_LANES, self.is_exact) {
            (4, true) => self.blocks::<S, 4, true>(simd),
            (4, false) => self.blocks::<S, 4, false>(simd),
            (8, true) => self.blocks::<S, 2, true>(simd),
            (8, false) => self.blocks::<S, 2, false>(simd),
            (16, true) => self.blocks::<S, 1, true>(simd),
            (16, false) => self.blocks::<S, 1, false>(simd),
            _ => self.with_simd(Scalar128b),
        }
    }
}

/// The sums of one block after all of k. `b` starts at the block's first column.
#[inline(always)]
fn block<S: Simd, const VECTORS: usize, const FUSED: bool>(
    simd: S,
    mut sums: [[S::f32s; VECTORS]; ROWS],
    a: &[f32],
    b: &[f32],
    width: usize,
) -> [[S::f32s; VECTORS]; ROWS] {
    let depth = a.len() / ROWS;
    let (a0, rest) = a.split_at(depth);
    let (a1, rest) = rest.split_at(depth);
    let (a2, a3) = rest.split_at(depth);
    let weights = a0.iter().zip(a1).zip(a2.iter().zip(a3));
    for (((&w0, &w1), (&w2, &w3)), row) in weights.zip(b.chunks(width)) {
        let Some(row) = row.get(..COLUMNS) else {
            break;
        };
        let values = S::as_simd_f32s(row).0;
        for (sums, weight) in sums.iter_mut().zip([w0, w1, w2, w3]) {
            let weight = simd.splat_f32s(weight);
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum = if FUSED {
                    simd.mul_add_f32s(weight, value, *sum)
                } else {
                    simd.add_f32s(*sum, simd.mul_f32s(weight, value))
                };
            }
        }
    }
    sums
}
