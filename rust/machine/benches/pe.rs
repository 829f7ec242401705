//! Speed of the PE matmul, as ratios measured in one run: against the fused multiply-add peak of
//! this processor's AVX2 (or NEON) units, and against numpy doing the same work on one thread.
//!
//!     cargo bench -p pto-machine --bench pe -- [--json] [--python=PATH]
//!
//! Without `--python` (an interpreter with numpy and ml_dtypes) the second part is left out. `--json`
//! measures only what has a bar, for `bench/run.py`. Both
//! sides of a ratio are measured in turn, sample by sample, and the median of the ratios counts: so
//! a change of clock frequency or a busy neighbour weighs on both.

use pto_machine::pe::{CellType, ElementType, PeArray, Update, View};
use pulp::{Arch, Simd, WithSimd};
use serde_json::json;
use std::error::Error;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// K, M and N of the largest instruction of one bank.
const INSTRUCTION: (usize, usize, usize) = (128, 128, 512);
const SAMPLES: usize = 31;
/// Seconds of one sample.
const SAMPLE: f64 = 0.01;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let python = arguments.iter().find_map(|a| a.strip_prefix("--python="));
    if arguments.iter().any(|a| a == "--json") {
        return bars(python);
    }
    println!("{:32} {:>12} {:>10} {:>8}", "", "ns", "GFLOP/s", "of peak");
    for (name, make) in [
        ("native", PeArray::new as fn() -> PeArray),
        ("portable", PeArray::portable),
    ] {
        for element in [
            ElementType::Bf16,
            ElementType::F16,
            ElementType::F8E4M3FN,
            ElementType::F32,
            ElementType::U8,
        ] {
            let case = Case::new(make(), element, INSTRUCTION);
            against_peak(case)?.print(&format!("{name} {element:?} 128x128x512"));
        }
        // bf16 whose products may leave the range of f32, so every step takes two roundings.
        let wide = Case::new(make(), ElementType::Bf16, INSTRUCTION).with_wide_range();
        against_peak(wide)?.print(&format!("{name} Bf16 wide 128x128x512"));
        let small = Case::new(make(), ElementType::Bf16, (16, 16, 16));
        against_peak(small)?.print(&format!("{name} Bf16 16x16x16"));
    }
    if let Some(python) = python {
        println!("native Bf16 against numpy: {:.2}", against_numpy(python)?);
    }
    Ok(())
}

/// The bars of the project, a JSON object a line.
fn bars(python: Option<&str>) -> Result<()> {
    let print = |name: &str, figure: f64, bar: f64| {
        let figure = (figure * 1e3).round() / 1e3;
        println!(
            "{}",
            json!({"name": name, "figure": figure, "bar": bar, "at_least": true})
        );
    };
    let bf16 = |array| against_peak(Case::new(array, ElementType::Bf16, INSTRUCTION));
    print(
        "bf16 128x128x512, native / FMA peak",
        bf16(PeArray::new())?.of_peak,
        0.50,
    );
    print(
        "bf16 128x128x512, portable / FMA peak",
        bf16(PeArray::portable())?.of_peak,
        0.20,
    );
    if let Some(python) = python {
        print(
            "bf16 128x128x512, native / numpy",
            against_numpy(python)?,
            0.8,
        );
    }
    Ok(())
}

/// How fast a case is.
struct Speed {
    nanoseconds: f64,
    gigaflops: f64,
    of_peak: f64,
}

impl Speed {
    fn print(&self, name: &str) {
        let Self {
            nanoseconds,
            gigaflops,
            of_peak,
        } = self;
        println!("{name:32} {nanoseconds:12.0} {gigaflops:10.2} {of_peak:8.2}");
    }
}

fn against_peak(mut case: Case) -> Result<Speed> {
    case.run()?;
    let (mut ratios, mut best) = (Vec::new(), 0f64);
    for _ in 0..SAMPLES {
        let peak = peak_flops();
        let flops = case.flops_per_second()?;
        ratios.push(flops / peak);
        best = best.max(flops);
    }
    Ok(Speed {
        nanoseconds: case.flops() / best * 1e9,
        gigaflops: best / 1e9,
        of_peak: median(ratios),
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Calls of `work` a second, over one sample.
fn calls_per_second(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let start = Instant::now();
    let mut calls = 0.0;
    loop {
        for _ in 0..8 {
            work()?;
        }
        calls += 8.0;
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed > SAMPLE {
            return Ok(calls / elapsed);
        }
    }
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
                let format = element.format();
                let code = format.map_or(state >> 24, |format| format.encode_rne(value));
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

    /// Puts one very small value into either operand.
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

    fn flops_per_second(&mut self) -> Result<f64> {
        Ok(self.flops() * calls_per_second(|| self.run())?)
    }

    fn run(&mut self) -> Result<()> {
        let (k, m, n) = self.extents;
        let size = self.element.bytes() as isize;
        let (m_dims, n_dims) = ([(m, size)], [(n, size)]);
        let view = |bytes, columns: usize, dims| {
            let rows = (k, columns as isize * size);
            View::new(bytes, self.element, 0, rows, dims)
        };
        let stationary = view(&self.stationary, m, &m_dims)?;
        let moving = view(&self.moving, n, &n_dims)?;
        self.array.load_stationary(&stationary);
        self.array.load_moving(&moving);
        let cells = match self.element.is_integer() {
            true => CellType::I32,
            false => CellType::F32,
        };
        let sums = self.array.multiply(cells)?;
        for (row, cells) in self.cells.chunks_exact_mut(n).enumerate() {
            sums.update_from(row, 0, cells, Update::Add);
        }
        black_box(&mut self.cells);
        Ok(())
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
    let (mut operations, start) = (0.0, Instant::now());
    loop {
        operations += arch.dispatch(Peak);
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed > SAMPLE {
            return operations / elapsed;
        }
    }
}

/// Our speed over numpy's in C[128, 512] += W[128, 128]^T . X[128, 512], where both cast from bf16
/// each time.
fn against_numpy(python: &str) -> Result<f64> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/numpy_matmul.py");
    let mut case = Case::new(PeArray::new(), ElementType::Bf16, INSTRUCTION);
    let mut ratios = Vec::new();
    for _ in 0..9 {
        let samples: Result<Vec<f64>> = (0..SAMPLES).map(|_| case.flops_per_second()).collect();
        let ours = median(samples?);
        let output = Command::new(python).arg(script).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let theirs: f64 = text
            .trim()
            .parse()
            .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
        ratios.push(ours / theirs);
    }
    Ok(median(ratios))
}
