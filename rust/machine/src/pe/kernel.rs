//! The loop nest: register blocks of a few rows of M by one panel of N, k innermost and serial.

use pulp::{Arch, Scalar128b, Simd, WithSimd};
use std::ops::Range;

/// Columns of a panel of either operand: M of the stationary one, N of the moving one.
pub(super) const PANEL: usize = 16;

/// Which instructions the kernel is compiled for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path {
    /// What the processor was found to have; a fused multiply-add is among it.
    Native(Arch),
    /// What the compilation target promises; a fused multiply-add would be a library call.
    Portable,
}

impl Path {
    pub(super) fn native() -> Self {
        match Arch::new() {
            Arch::Scalar => Self::Portable,
            arch => Self::Native(arch),
        }
    }

    /// Runs `work`, compiled with this path's instructions.
    #[inline(always)]
    pub(super) fn vectorize(self, work: impl FnOnce()) {
        match self {
            Self::Native(arch) => arch.dispatch(work),
            Self::Portable => work(),
        }
    }

    pub(super) fn run(self, kernel: Kernel<'_>) {
        match self {
            Self::Native(arch) => arch.dispatch(kernel),
            Self::Portable => Kernel {
                is_fused: false,
                ..kernel
            }
            .with_simd(Scalar128b),
        }
    }
}

/// One pass over two operands: `sums[m, n]` for all m and n, of the rows `depth`.
pub(super) struct Kernel<'a> {
    /// Whether all products are exact, so that a fused multiply-add is the two-rounding step.
    pub(super) is_fused: bool,
    pub(super) stationary: &'a [[f32; PANEL]],
    pub(super) moving: &'a [[f32; PANEL]],
    /// Chunks from one panel to the next.
    pub(super) pitch: usize,
    /// The rows of the panels to sum over.
    pub(super) depth: Range<usize>,
    /// M: columns of the stationary operand.
    pub(super) height: usize,
    /// Row-major, both extents rounded up to whole panels. The first M rows are written.
    pub(super) sums: &'a mut [f32],
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Rows by vectors of a register block: as many sums as the registers hold beside the
        // operands, and at least as many as additions are in flight.
        match (S::F32_LANES, self.is_fused) {
            (8, true) => self.blocks::<S, 4, 2, true>(simd),
            (8, false) => self.blocks::<S, 4, 2, false>(simd),
            (4, true) => self.blocks::<S, 4, 4, true>(simd),
            (4, false) => self.blocks::<S, 2, 4, false>(simd),
            (16, true) => self.blocks::<S, 4, 1, true>(simd),
            (16, false) => self.blocks::<S, 4, 1, false>(simd),
            _ => self.with_simd(Scalar128b),
        }
    }
}

impl Kernel<'_> {
    #[inline(always)]
    fn blocks<S: Simd, const ROWS: usize, const VECTORS: usize, const FUSED: bool>(self, simd: S) {
        let stride = self.moving.len() / self.pitch * PANEL;
        for (j, moving) in self.moving.chunks_exact(self.pitch).enumerate() {
            let moving = &moving[self.depth.clone()];
            for (i, stationary) in self.stationary.chunks_exact(self.pitch).enumerate() {
                let stationary = &stationary[self.depth.clone()];
                let height = PANEL.min(self.height - i * PANEL);
                for first in (0..height).step_by(ROWS) {
                    let block = block::<S, ROWS, VECTORS, FUSED>(simd, stationary, moving, first);
                    for (r, row) in block.iter().enumerate() {
                        let at = (i * PANEL + first + r) * stride + j * PANEL;
                        let sums = &mut self.sums[at..at + PANEL];
                        S::as_mut_simd_f32s(sums).0.copy_from_slice(row);
                    }
                }
            }
        }
    }
}

/// The sums of `ROWS` columns of a stationary panel, from `first`, and all of a moving panel.
#[inline(always)]
fn block<S: Simd, const ROWS: usize, const VECTORS: usize, const FUSED: bool>(
    simd: S,
    stationary: &[[f32; PANEL]],
    moving: &[[f32; PANEL]],
    first: usize,
) -> [[S::f32s; VECTORS]; ROWS] {
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
    // `ROWS` divides `PANEL`, so this changes nothing but what the compiler knows of `first`.
    let first = first.min(PANEL - ROWS);
    for (weights, values) in stationary.iter().zip(moving) {
        let vectors = S::as_simd_f32s(values).0;
        for r in 0..ROWS {
            let weight = simd.splat_f32s(weights[first + r]);
            for v in 0..VECTORS {
                sums[r][v] = if FUSED {
                    simd.mul_add_f32s(weight, vectors[v], sums[r][v])
                } else {
                    simd.add_f32s(sums[r][v], simd.mul_f32s(weight, vectors[v]))
                };
            }
        }
    }
    sums
}
