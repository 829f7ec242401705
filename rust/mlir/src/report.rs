//! Where the report of a function goes: one JSON file a function.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::handle::Op;

/// Writes `text` as the report of `function` into the folder `dir`, which is made if need be.
pub(crate) fn write(dir: &str, function: Op, text: &str) -> Result<()> {
    let dir = Path::new(dir);
    fs::create_dir_all(dir)
        .with_context(|| format!("cannot make the folder `{}`", dir.display()))?;
    let path = path_of(dir, &symbol_path(function));
    fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

/// The symbols of the operations around `function`, outermost first, and its own.
fn symbol_path(function: Op) -> Vec<String> {
    let around = std::iter::successors(Some(function), |op| op.parent());
    let mut names: Vec<String> = around
        .filter_map(|op| op.attribute("sym_name")?.text_value())
        .collect();
    names.reverse();
    names
}

/// The file of a function: its symbols joined by dots. Characters that a file name may not have,
/// or that would make two functions share a file, are written as `%` and two digits.
fn path_of(dir: &Path, symbols: &[String]) -> PathBuf {
    let mut name = String::new();
    for (index, symbol) in symbols.iter().enumerate() {
        if index > 0 {
            name.push('.');
        }
        for byte in symbol.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'$' => {
                    name.push(char::from(byte));
                }
                _ => name.push_str(&format!("%{byte:02x}")),
            }
        }
    }
    dir.join(name + ".json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_a_function() {
        let path = |symbols: &[&str]| {
            let symbols: Vec<String> = symbols.iter().map(|&symbol| symbol.to_owned()).collect();
            path_of(Path::new("d"), &symbols)
        };
        assert_eq!(path(&["main"]), Path::new("d/main.json"));
        assert_eq!(path(&["m", "f"]), Path::new("d/m.f.json"));
        assert_eq!(path(&["m.f"]), Path::new("d/m%2ef.json"));
        assert_eq!(path(&["../x"]), Path::new("d/%2e%2e%2fx.json"));
    }
}
