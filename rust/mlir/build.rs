//! Generates and compiles the C++ half of the bridge, and makes the C API of MLIR linkable for the
//! tests of this crate.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=src/bridge.rs");
    cxx_build::bridge("src/bridge.rs")
        .std("c++17")
        .include("../../cpp/include")
        .compile("pto-bridge");
    write_linker_script()
}

/// mlir-sys asks for `libMLIR-C.so`, which LLVM does not build: the C API comes as archives for
/// `libMLIR.so`. A linker script of that name stands for all of them. Only tests link here; the
/// plugin and the tools are linked by CMake.
fn write_linker_script() -> io::Result<()> {
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let prefix = env::var_os("MLIR_SYS_220_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into());
    let library_dir = Path::new(&prefix).join("lib");
    let mut archives: Vec<PathBuf> = fs::read_dir(&library_dir)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy());
            name.is_some_and(|name| name.starts_with("libMLIRCAPI") && name.ends_with(".a"))
        })
        .collect();
    archives.sort();
    let shared = ["libMLIR.so", "libLLVM.so"].map(|name| library_dir.join(name));
    let inputs: Vec<String> = archives
        .iter()
        .chain(&shared)
        .map(|path| path.display().to_string())
        .collect();
    let out_dir = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let script = Path::new(&out_dir).join("libMLIR-C.so");
    fs::write(script, format!("GROUP ( {} )\n", inputs.join("\n")))?;
    println!("cargo:rustc-link-search={}", Path::new(&out_dir).display());
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", library_dir.display());
    Ok(())
}
