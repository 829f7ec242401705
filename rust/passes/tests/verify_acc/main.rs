//! `verify_acc` against cases worked by hand and against the oracle.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod certain;
mod lines;
mod oracle;
mod paths;
mod strictness;

use pto_ir::{Diag, Severity, Target};
use pto_passes::verify_acc::{Options, verify};
use pto_testkit::text::parse;

/// The machines that have groups.
const TARGETS: [&str; 3] = ["trn1", "trn2", "trn3"];

fn target(name: &str) -> &'static Target {
    Target::from_name(name).expect("a target")
}

fn check(name: &str, text: &str) -> Vec<Diag> {
    verify(
        &parse(text).expect("valid text"),
        target(name),
        &Options::default(),
    )
}

fn tags(diags: &[Diag]) -> Vec<&'static str> {
    diags.iter().map(|diag| diag.tag).collect()
}

fn errors(diags: &[Diag]) -> Vec<&'static str> {
    tags(
        &diags
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .cloned()
            .collect::<Vec<_>>(),
    )
}

const BANK: &str = "alloc a bank 0 u0..4; alloc b bank 0 u4..8\n";
