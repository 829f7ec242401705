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

macro_rules! pass {
    ($name:ident { $($field:ident : $type:ty),* }) => {
        pub(crate) mod $name {
            use super::*;
            #[derive(Default)]
            pub(crate) struct Options { $(pub(crate) $field: $type),* }
            pub(crate) fn plan(_: &Program, _: &'static Target, _: &Options) -> Result<Plan, Vec<Diag>> {
                Err(missing())
            }
        }
    };
}

pub(crate) use legalize::{Profile, StopAt};

mod legalize {
    #[derive(Default)]
    pub(crate) enum Profile {
        #[default]
        Sound,
        Naive,
    }
    #[derive(Default)]
    pub(crate) enum StopAt {
        #[default]
        Chain,
        Cluster,
    }
}

pass!(order_column_tiles {
    restart_at_origin: bool,
    ignore_other_engines: bool
});
pass!(mark_first {});
pass!(reset_acc {});
pass!(legalize_acc {
    profile: Profile,
    stop: StopAt,
    strict: bool,
    remarks: bool,
    report: bool
});

pub(crate) mod verify_acc {
    use super::*;
    #[derive(Default)]
    pub(crate) enum Model {
        #[default]
        Both,
        WrittenBit,
        EagerZero,
    }
    #[derive(Default)]
    pub(crate) struct Options {
        pub(crate) model: Model,
    }
    pub(crate) fn verify(_: &Program, _: &'static Target, _: &Options) -> Vec<Diag> {
        missing()
    }
}

pub(crate) mod validate {
    use super::*;
    pub(crate) fn validate(_: &Program, _: &Program, _: &'static Target) -> Result<(), Vec<Diag>> {
        Err(missing())
    }
}
