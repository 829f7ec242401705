//! Files that the fuzz target `npy` found, and some that it should start from.

#![allow(clippy::expect_used, reason = "a broken expectation is a failed test")]

#[path = "common/hostile_npy.rs"]
mod hostile_npy;

use std::path::Path;

#[test]
fn npy_regressions_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions/npy");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder of regressions") {
        let file = entry.expect("an entry").path();
        let bytes = std::fs::read(&file).expect("a file");
        assert_eq!(hostile_npy::check(&bytes), Ok(()), "{}", file.display());
        count += 1;
    }
    assert!(count >= 3, "{count} files in {}", folder.display());
}
