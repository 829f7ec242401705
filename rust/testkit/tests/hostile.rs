//! Inputs that the fuzz targets found, and some that they should start from.

#![allow(clippy::expect_used, reason = "a test stops at the first surprise")]

use std::path::Path;

use pto_testkit::hostile;

/// Calls `holds` with every file of `fuzz/regressions/<target>`.
fn replay(target: &str, holds: impl Fn(&[u8]) -> Result<(), String>) {
    let regressions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    let folder = regressions.join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder of regressions") {
        let file = entry.expect("an entry").path();
        let bytes = std::fs::read(&file).expect("a file");
        assert_eq!(holds(&bytes), Ok(()), "{}", file.display());
        count += 1;
    }
    assert!(count >= 3, "{count} files in {}", folder.display());
}

#[test]
fn text_regressions_hold() {
    replay("text", hostile::text);
}

#[test]
fn program_regressions_hold() {
    replay("programs", hostile::programs);
}

#[test]
fn random_bytes_are_programs_of_which_everything_holds() {
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..rng.usize(1..80)).map(|_| rng.u8(..)).collect();
        assert_eq!(hostile::programs(&bytes), Ok(()), "{bytes:?}");
    }
}
