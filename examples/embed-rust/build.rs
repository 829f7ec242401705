//! Links the libPTO of the installed package in the folder that `PTO_PREFIX` names.

use std::env;

fn main() {
    println!("cargo:rerun-if-env-changed=PTO_PREFIX");
    // Without it the program can be checked, not linked.
    let Ok(prefix) = env::var("PTO_PREFIX") else {
        return;
    };
    // lib/pto has the libMLIR-C.so that mlir-sys asks for and LLVM does not build.
    for folder in ["lib", "lib/pto"] {
        println!("cargo:rustc-link-search=native={prefix}/{folder}");
    }
    println!("cargo:rustc-link-arg=-Wl,-rpath,{prefix}/lib");
    if let Ok(llvm) = env::var("MLIR_SYS_220_PREFIX") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{llvm}/lib");
    }
}
