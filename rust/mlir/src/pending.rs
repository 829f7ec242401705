//! Stands in for passes that have not landed in `pto-passes`. Goes when they have.
#![allow(missing_docs, dead_code)]

use pto_ir::{Diag, Plan, Program, Site, Target};

fn missing() -> Vec<Diag> {
    vec![Diag::error(
        "pto:internal",
        Site::Function,
        "this pass is not there yet",
    )]
}

pub(crate) mod validate {
    use super::*;
    pub(crate) fn validate(_: &Program, _: &Program, _: &'static Target) -> Result<(), Vec<Diag>> {
        Err(missing())
    }
}
