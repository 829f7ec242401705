//! Formats, PE and `.npy` against numpy and ml_dtypes, by the scripts in `test/numerics`.
//!
//! Needs a Python interpreter with the packages of `test/requirements.txt`: the one named by
//! PTO_TEST_PYTHON, or that of `build/venv` (made by `./x test`). Without one these tests say so
//! and check nothing; the tables committed in `test/numerics/formats.json` are checked anyway.

#![allow(clippy::unwrap_used, clippy::panic)]

use pto_machine::npy::{Array, Dtype, Kind};
use pto_machine::pe::{CellType, ElementType, PeArray, Update, View};
use std::path::{Path, PathBuf};
use std::process::Command;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn python() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("PTO_TEST_PYTHON") {
        return Some(named.into());
    }
    let ours = project().join("build/venv/bin/python");
    if !ours.exists() {
        eprintln!("skipped: neither PTO_TEST_PYTHON nor build/venv/bin/python");
        return None;
    }
    Some(ours)
}

/// Runs a script of `test/numerics`, which must succeed.
fn run_script(python: &Path, script: &str, arguments: &[&str]) {
    let script = project().join("test/numerics").join(script);
    let mut command = Command::new(python);
    let output = command.arg("-B").arg(script).args(arguments).output();
    let output = output.unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{messages}");
}

#[test]
fn the_committed_tables_are_what_the_libraries_say() {
    if let Some(python) = python() {
        run_script(&python, "formats_fixture.py", &["--check"]);
    }
}

#[test]
fn the_pe_and_its_files_agree_with_numpy() {
    let Some(python) = python() else {
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pe_cases");
    let _ = std::fs::remove_dir_all(&folder);
    let folder_text = folder.to_str().unwrap();
    run_script(&python, "pe_cases.py", &["write", folder_text]);
    let list = std::fs::read_to_string(folder.join("cases.txt")).unwrap();
    assert!(list.lines().count() > 300);
    // One array of each kind for all cases: what one case leaves behind must not show in the next.
    let mut arrays = [PeArray::new(), PeArray::portable()];
    for line in list.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [case, w, x, cells] = fields[..] else {
            panic!("line {line:?}");
        };
        run_case(&folder.join(case), [w, x], cells, &mut arrays);
    }
    run_script(&python, "pe_cases.py", &["check", folder_text]);
}

fn read(path: &Path) -> Array {
    Array::read(&std::fs::read(path).unwrap()).unwrap()
}

fn element_type(name: &str) -> ElementType {
    let is_named = |element: &ElementType| match element.format() {
        Some(format) => format.name() == name,
        None => format!("{element:?}").to_lowercase() == name,
    };
    ElementType::ALL.into_iter().find(is_named).unwrap()
}

/// Computes one case in both ways, and writes the cells and copies of the operands beside it.
fn run_case(folder: &Path, types: [&str; 2], cells: &str, arrays: &mut [PeArray; 2]) {
    let (cell_type, dtype) = match cells {
        "f32" => (CellType::F32, Dtype::new(Kind::Float, 4)),
        "bf16" => (CellType::Bf16, Dtype::new(Kind::Raw, 2)),
        "i32" => (CellType::I32, Dtype::new(Kind::Int, 4)),
        other => panic!("cells of type {other}"),
    };
    let dtype = dtype.unwrap();
    let (w, x) = (read(&folder.join("w.npy")), read(&folder.join("x.npy")));
    for (name, operand) in [("w-copy.npy", &w), ("x-copy.npy", &x)] {
        std::fs::write(folder.join(name), operand.write()).unwrap();
    }
    let acc = folder.join("acc.npy");
    let (before, update) = match acc.exists() {
        true => (words(&read(&acc)), Update::Add),
        false => (
            vec![0xdead_beef; w.shape()[1] * x.shape()[1]],
            Update::Overwrite,
        ),
    };
    let shape = vec![w.shape()[1], x.shape()[1]];
    for (array, name) in arrays.iter_mut().zip(["native.npy", "portable.npy"]) {
        let mut after = before.clone();
        multiply(
            array,
            [(&w, types[0]), (&x, types[1])],
            cell_type,
            &mut after,
            update,
        );
        let bytes = after
            .iter()
            .flat_map(|word| word.to_le_bytes()[..dtype.bytes()].to_vec());
        let found = Array::new(dtype, shape.clone(), bytes.collect()).unwrap();
        std::fs::write(folder.join(name), found.write()).unwrap();
    }
}

/// The elements of an array of cells, each in a word of its own.
fn words(array: &Array) -> Vec<u32> {
    let elements = array.data().chunks_exact(array.dtype().bytes());
    let word = |element: &[u8]| {
        element
            .iter()
            .rev()
            .fold(0, |word, &b| word << 8 | u32::from(b))
    };
    elements.map(word).collect()
}

fn multiply(
    array: &mut PeArray,
    operands: [(&Array, &str); 2],
    cell_type: CellType,
    cells: &mut [u32],
    update: Update,
) {
    for (which, (operand, name)) in operands.into_iter().enumerate() {
        let element = element_type(name);
        let (rows, columns) = (operand.shape()[0], operand.shape()[1]);
        let size = element.bytes() as isize;
        let dims = [(columns, size)];
        let rows = (rows, columns as isize * size);
        let view = View::new(operand.data(), element, 0, rows, &dims).unwrap();
        match which {
            0 => array.load_stationary(&view),
            _ => array.load_moving(&view),
        }
    }
    let sums = array.multiply(cell_type).unwrap();
    for (row, cells) in cells.chunks_exact_mut(sums.columns()).enumerate() {
        sums.update_from(row, 0, cells, update);
    }
}
