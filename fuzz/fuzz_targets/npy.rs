//! Arbitrary bytes as a .npy file.
#![no_main]

#[path = "../../rust/machine/tests/common/hostile_npy.rs"]
mod hostile_npy;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(what) = hostile_npy::check(bytes) {
        panic!("{what}");
    }
});
