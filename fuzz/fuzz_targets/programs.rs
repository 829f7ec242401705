//! Arbitrary bytes as choices of the program generator.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(what) = pto_testkit::hostile::programs(bytes) {
        panic!("{what}");
    }
});
