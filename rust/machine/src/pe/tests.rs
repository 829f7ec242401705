//! Against the definition, written as the plain loops it is ([`reference_cell`]).

mod arithmetic;
mod loading;
mod random;
mod ranges;

use super::*;
use crate::formats::Format;

/// One operand as codes, K rows of `columns`, and the bytes that hold it.
struct Operand {
    element: ElementType,
    columns: usize,
    codes: Vec<u32>,
}

impl Operand {
    fn new(element: ElementType, columns: usize, codes: Vec<u32>) -> Self {
        Self {
            element,
            columns,
            codes,
        }
    }

    fn of_values(element: ElementType, columns: usize, values: &[f64]) -> Self {
        let format = element.format().unwrap();
        let codes = values.iter().map(|&v| format.encode_rne(v)).collect();
        Self::new(element, columns, codes)
    }

    fn rows(&self) -> usize {
        self.codes.len() / self.columns
    }

    /// The bytes of the operand, `gap` bytes between rows.
    fn bytes(&self, gap: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for row in self.codes.chunks_exact(self.columns) {
            for code in row {
                bytes.extend_from_slice(&code.to_le_bytes()[..self.element.bytes()]);
            }
            bytes.extend(std::iter::repeat_n(0xa5, gap));
        }
        bytes
    }

    fn float(&self, row: usize, column: usize) -> f32 {
        let format = self.element.format().unwrap();
        format.decode_f32(self.codes[row * self.columns + column])
    }

    fn integer(&self, row: usize, column: usize) -> i32 {
        let code = self.codes[row * self.columns + column] as u8;
        match self.element {
            ElementType::I8 => i32::from(code as i8),
            _ => i32::from(code),
        }
    }
}

/// The definition: two roundings a step, k ascending, the cell last.
fn reference_cell(
    w: &Operand,
    x: &Operand,
    (m, n): (usize, usize),
    cells: CellType,
    cell: u32,
    update: Update,
) -> u32 {
    let is_overwrite = update == Update::Overwrite;
    if cells == CellType::I32 {
        let products = (0..w.rows()).map(|k| w.integer(k, m) * x.integer(k, n));
        let sum = products.fold(0i32, i32::wrapping_add);
        let base = if is_overwrite { 0 } else { cell as i32 };
        return base.wrapping_add(sum) as u32;
    }
    let mut p = 0.0f32;
    for k in 0..w.rows() {
        let product = w.float(k, m) * x.float(k, n);
        p += product;
    }
    let decode = |cell| match cells {
        CellType::Bf16 => Format::Bf16.decode_f32(cell),
        _ => f32::from_bits(cell),
    };
    let sum = if is_overwrite { 0.0 } else { decode(cell) } + p;
    match cells {
        CellType::Bf16 => Format::Bf16.encode_rne(f64::from(sum)),
        _ => sum.to_bits(),
    }
}

fn is_nan(cells: CellType, cell: u32) -> bool {
    match cells {
        CellType::F32 => f32::from_bits(cell).is_nan(),
        CellType::Bf16 => Format::Bf16.decode(cell).is_nan(),
        CellType::I32 => false,
    }
}

fn load(array: &mut PeArray, w: &Operand, x: &Operand, gap: usize) {
    for (operand, is_stationary) in [(w, true), (x, false)] {
        let bytes = operand.bytes(gap);
        let size = operand.element.bytes();
        let rows = (operand.rows(), (operand.columns * size + gap) as isize);
        let columns = [(operand.columns, size as isize)];
        let view = View::new(&bytes, operand.element, 0, rows, &columns).unwrap();
        if is_stationary {
            array.load_stationary(&view);
        } else {
            array.load_moving(&view);
        }
    }
}

/// Runs both paths on `before`, M x N cells, cell (m, n) updated as `update` says.
fn check(
    w: &Operand,
    x: &Operand,
    cells: CellType,
    before: &[u32],
    update: impl Fn(usize, usize) -> Update,
) {
    for mut array in [PeArray::new(), PeArray::portable()] {
        load(&mut array, w, x, 3);
        let sums = array.multiply(cells).unwrap();
        assert_eq!((sums.rows(), sums.columns()), (w.columns, x.columns));
        for m in 0..w.columns {
            let row = &before[m * x.columns..(m + 1) * x.columns];
            let mut after = row.to_vec();
            for n in 0..x.columns {
                sums.update_from(m, n, &mut after[n..=n], update(m, n));
            }
            for n in 0..x.columns {
                let expected = reference_cell(w, x, (m, n), cells, row[n], update(m, n));
                let got = after[n];
                let are_both_nan = is_nan(cells, expected) && is_nan(cells, got);
                assert!(
                    expected == got || are_both_nan,
                    "{:?} x {:?} -> {cells:?} at ({m}, {n}): {got:#010x}, expected {expected:#010x}",
                    w.element,
                    x.element,
                );
            }
        }
    }
}

impl std::fmt::Debug for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            element, columns, ..
        } = self;
        write!(f, "{element:?} x{columns} {:x?}", self.codes)
    }
}

fn update_of(is_overwrite: bool) -> Update {
    if is_overwrite {
        Update::Overwrite
    } else {
        Update::Add
    }
}
