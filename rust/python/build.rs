//! Links the C++ half of the project from the build folder that `PTO_BUILD_DIR` names, and the shared
//! MLIR. All but MLIR is inside the extension and invisible from outside.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-env-changed=PTO_BUILD_DIR");
    // Without it the extension can be checked, not linked.
    let Some(build) = env::var_os("PTO_BUILD_DIR") else {
        return Ok(());
    };
    let prefix = env::var_os("MLIR_SYS_220_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into());
    let llvm = Path::new(&prefix).join("lib");
    let ours = ["libPTOPasses.a", "libPTOCAPIDialect.a", "libPTODialect.a"];
    let mut archives: Vec<PathBuf> = ours
        .map(|name| Path::new(&build).join("lib").join(name))
        .into();
    archives.extend(c_api_archives(&llvm)?);
    for archive in &archives {
        println!("cargo:rerun-if-changed={}", archive.display());
    }
    link("-Wl,--start-group");
    archives
        .iter()
        .for_each(|path| link(&path.display().to_string()));
    link("-Wl,--end-group");
    for library in ["libMLIR.so", "libLLVM.so"] {
        link(&llvm.join(library).display().to_string());
    }
    link("-lstdc++");
    link("-Wl,--exclude-libs,ALL");
    link(&format!("-Wl,-rpath,{}", llvm.display()));
    Ok(())
}

fn link(argument: &str) {
    println!("cargo:rustc-cdylib-link-arg={argument}");
}

/// The C API of MLIR, which the shared library lacks.
fn c_api_archives(llvm: &Path) -> io::Result<Vec<PathBuf>> {
    let mut archives: Vec<PathBuf> = fs::read_dir(llvm)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy());
            name.is_some_and(|name| name.starts_with("libMLIRCAPI") && name.ends_with(".a"))
        })
        .collect();
    archives.sort();
    Ok(archives)
}
