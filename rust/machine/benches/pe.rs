//! Speed of the PE matmul, as ratios measured in one run: against the fused multiply-add peak of
//! this processor's AVX2 (or NEON) units, and against numpy doing the same work on one thread.
//!
//!     cargo bench -p pto-machine --bench pe -- --python=PATH
//!
//! Without `--python` (an interpreter with numpy and ml_dtypes) the second part is left out.

use pto_machine::pe::{CellType, ElementType, PeArray, Update, View};
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// Time per sample, and samples per figure: the fastest sample counts, the least disturbed one.
const SAMPLE: Duration = Duration::from_millis(40);
const SAMPLES: usize = 15;

fn main() {
    let python = std::env::args().find_map(|a| a.strip_prefix("--python=").map(str::to_owned));
    let peak = peak_flops();
    println!("fused multiply-add peak   {:8.2} GFLOP/s", peak / 1e9);
    for (name, make) in [
        ("native", PeArray::new as fn() -> PeArray),
        ("portable", PeArray::portable),
    ] {
        for element in [
            ElementType::Bf16,
            ElementType::F16,
            ElementType::F8E4M3FN,
            ElementType::F32,
        ] {
            let mut case = Case::new(make(), element, (128, 128, 512));
            report(&format!("{name} {element:?} 128x128x512"), &mut case, peak);
        }
        // bf16 whose products may leave the range of f32, so every step takes two roundings.
        let mut wide = Case::new(make(), ElementType::Bf16, (128, 128, 512)).with_wide_range();
        report(&format!("{name} bf16 wide 128x128x512"), &mut wide, peak);
        let mut small = Case::new(make(), ElementType::Bf16, (16, 16, 16));
        report(&format!("{name} bf16 16x16x16"), &mut small, peak);
    }
    if let Some(python) = python {
        against_numpy(&python);
    }
}

fn report(name: &str, case: &mut Case, peak: f64) {
    let seconds = best_seconds(|| case.run());
    println!(
        "{name:32} {:10.0} ns {:8.2} GFLOP/s {:6.2} of peak",
        seconds * 1e9,
        case.flops() / seconds / 1e9,
        case.flops() / seconds / peak
    );
}

/// Seconds of one call of `work`.
fn best_seconds(mut work: impl FnMut()) -> f64 {
    let mut calls = 1u32;
    let mut best = f64::INFINITY;
    let mut samples = 0;
    while samples < SAMPLES {
        let start = Instant::now();
        for _ in 0..calls {
            work();
        }
        let elapsed = start.elapsed();
        if elapsed < SAMPLE / 2 {
            calls *= 2;
            continue;
        }
        best = best.min(elapsed.as_secs_f64() / f64::from(calls));
        samples += 1;
    }
    best
}

/// One matmul instruction from bytes to accumulator cells, as an interpreter runs it.
struct Case {
    array: PeArray,
    element: ElementType,
    extents: (usize, usize, usize),
    stationary: Vec<u8>,
    moving: Vec<u8>,
    cells: Vec<u32>,
}

impl Case {
    fn new(array: PeArray, element: ElementType, (k, m, n): (usize, usize, usize)) -> Self {
        let mut state = 1u32;
        let mut bytes = |count: usize| {
            let mut bytes = Vec::with_capacity(count * element.bytes());
            for _ in 0..count {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let value = f64::from(state as i32) / f64::from(i32::MIN);
                let code = element
                    .format()
                    .map_or(state, |format| format.encode_rne(value));
                bytes.extend_from_slice(&code.to_le_bytes()[..element.bytes()]);
            }
            bytes
        };
        Self {
            stationary: bytes(k * m),
            moving: bytes(k * n),
            cells: vec![0; m * n],
            array,
            element,
            extents: (k, m, n),
        }
    }

    fn with_wide_range(mut self) -> Self {
        for bytes in [&mut self.stationary, &mut self.moving] {
            bytes[..2].copy_from_slice(&[0, 1]);
        }
        self
    }

    fn flops(&self) -> f64 {
        let (k, m, n) = self.extents;
        2.0 * (k * m * n) as f64
    }

    fn run(&mut self) {
        let (k, m, n) = self.extents;
        let size = self.element.bytes() as isize;
        let (m_dims, n_dims) = ([(m, size)], [(n, size)]);
        let view = |bytes, columns: usize, dims| {
            let rows = (k, columns as isize * size);
            View::new(bytes, self.element, 0, rows, dims).expect("a view of all its bytes")
        };
        self.array
            .load_stationary(&view(&self.stationary, m, &m_dims));
        self.array.load_moving(&view(&self.moving, n, &n_dims));
        let sums = self
            .array
            .multiply(CellType::F32)
            .expect("operands of one type");
        for (row, cells) in self.cells.chunks_exact_mut(n).enumerate() {
            sums.update_from(row, 0, cells, Update::Add);
        }
        black_box(&mut self.cells);
    }
}

/// Floating point operations a second of independent fused multiply-adds in registers.
fn peak_flops() -> f64 {
    const STEPS: usize = 1 << 14;
    const CHAINS: usize = 12;
    struct Peak;
    impl WithSimd for Peak {
        type Output = f64;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            let (scale, step) = (simd.splat_f32s(0.5), simd.splat_f32s(1.0));
            let mut chains = [simd.splat_f32s(1.0); CHAINS];
            for _ in 0..STEPS {
                for chain in &mut chains {
                    *chain = simd.mul_add_f32s(*chain, scale, step);
                }
            }
            black_box(chains);
            (2 * STEPS * CHAINS * S::F32_LANES) as f64
        }
    }
    let arch = Arch::new();
    let operations = arch.dispatch(Peak);
    operations / best_seconds(|| drop(black_box(arch.dispatch(Peak))))
}

/// C[512, 512] += A[2048, 512]^T . B[2048, 512] in tiles of 128 rows, cast from bf16 each time:
/// what both sides do. Runs alternate, so that both see the same state of the machine.
fn against_numpy(python: &str) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/numpy_matmul.py");
    let mut ratios = Vec::new();
    for _ in 0..5 {
        let mut case = Case::new(PeArray::new(), ElementType::Bf16, (128, 128, 512));
        let ours = case.flops() / best_seconds(|| case.run());
        let output = Command::new(python).arg(script).output();
        let output = output.expect("python runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let theirs: f64 = text.trim().parse().unwrap_or_else(|_| {
            panic!("{}", String::from_utf8_lossy(&output.stderr));
        });
        println!(
            "numpy, one thread        {:8.2} GFLOP/s, native bf16 at {:.2} of it",
            theirs / 1e9,
            ours / theirs
        );
        ratios.push(ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median against numpy     {:8.2}", ratios[ratios.len() / 2]);
}
