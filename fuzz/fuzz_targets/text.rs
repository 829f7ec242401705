//! Arbitrary text as a program of the testkit.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(what) = pto_testkit::hostile::text(bytes) {
        panic!("{what}");
    }
});
