//! Generates and compiles the C++ half of the bridge.

fn main() {
    cxx_build::bridge("src/bridge.rs")
        .std("c++17")
        .compile("pto-bridge");
    println!("cargo:rerun-if-changed=src/bridge.rs");
}
