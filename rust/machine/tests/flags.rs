//! Worked programs with the flags a sound legalization gives, and with others.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a broken expectation is a failed test"
)]

mod common;

use common::*;
use pto_machine::code::Code;

const BANK: (u64, u64) = (128, 512);
const HALF: (u64, u64) = (128, 256);

/// One location, three matmuls, with these control bytes.
fn chain(target: &str, bytes: [u8; 3]) -> Result<Vec<Vec<f32>>, String> {
    let mut kernel = Kernel::new();
    let a = kernel.psum(0, (0, 0), 128, 512);
    kernel.matmul(a, BANK, 1.0, mm(bytes[0]));
    kernel.matmul(a, BANK, 2.0, acc(bytes[1]));
    kernel.matmul(a, BANK, 4.0, acc(bytes[2]));
    kernel.read(a, BANK);
    let result = run_with(&kernel.finish(), config(target, all()));
    match result.reports.first() {
        None => Ok(results(&result)),
        Some(report) => Err(report.tag.to_string()),
    }
}

#[test]
fn a_chain_of_three() {
    assert_eq!(chain("trn2", [1, 0, 2]), Ok(vec![vec![7.0]]));
    assert_eq!(chain("trn3", [1, 0, 2]), Ok(vec![vec![7.0]]));
    // START on every step overwrites what was summed.
    assert_eq!(chain("trn2", [1, 1, 2]), Err("pto:diverging-read".into()));
    assert_eq!(chain("trn2", [3, 3, 3]), Err("pto:diverging-read".into()));
    assert_eq!(
        chain("trn2", [0, 0, 2]),
        Err("pto:accumulate-undefined".into())
    );
    assert_eq!(chain("trn2", [1, 0, 0]), Err("pto:read-open-group".into()));
    assert_eq!(chain("trn2", [4, 0, 2]), Err("pto:target-limit".into()));
    assert_eq!(
        chain("trn3", [4, 4, 6]),
        Err("pto:accumulate-undefined".into())
    );
    assert_eq!(chain("trn3", [5, 0, 2]), Err("pto:target-limit".into()));
}

/// Two locations in disjoint columns of one bank, interleaved.
fn interleaved(bytes: [u8; 4]) -> Code {
    let mut kernel = Kernel::new();
    let a = kernel.psum(0, (0, 0), 128, 256);
    let b = kernel.psum(0, (0, 256), 128, 256);
    kernel.matmul(a, HALF, 1.0, mm(bytes[0]));
    kernel.matmul(b, HALF, 2.0, mm(bytes[1]));
    kernel.matmul(a, HALF, 4.0, acc(bytes[2]));
    kernel.matmul(b, HALF, 8.0, acc(bytes[3]));
    kernel.read(a, HALF);
    kernel.read(b, HALF);
    kernel.finish()
}

#[test]
fn interleaved_chains_share_one_start() {
    let found = expect_clean("trn2", &interleaved([1, 0, 2, 2]));
    assert_eq!(found, [[5.0], [10.0]]);
    let report = expect_error("trn2", &interleaved([1, 1, 2, 2]));
    assert_eq!(report.tag, "pto:start-clobbers");
    assert_eq!((report.site, report.notes[0].0), (site(2), site(1)));
}

#[test]
fn a_start_must_not_hit_closed_live_data() {
    let build = |flags_of_b: [u8; 2]| {
        let mut kernel = Kernel::new();
        let a = kernel.psum(0, (0, 0), 128, 256);
        let b = kernel.psum(0, (0, 256), 128, 256);
        kernel.matmul(a, HALF, 1.0, mm(1));
        kernel.matmul(a, HALF, 2.0, acc(2));
        kernel.matmul(b, HALF, 4.0, mm(flags_of_b[0]));
        kernel.matmul(b, HALF, 8.0, acc(flags_of_b[1]));
        kernel.read(a, HALF);
        kernel.read(b, HALF);
        kernel.finish()
    };
    assert_eq!(expect_clean("trn2", &build([0, 2])), [[3.0], [12.0]]);
    let report = expect_error("trn2", &build([1, 2]));
    assert_eq!(report.tag, "pto:start-clobbers");
    assert_eq!((report.site, report.notes[0].0), (site(4), site(2)));
}

#[test]
fn a_bank_is_used_again_after_its_last_read() {
    for column in [0, 256] {
        let mut kernel = Kernel::new();
        let a = kernel.psum(0, (0, 0), 128, 256);
        kernel.matmul(a, HALF, 1.0, mm(1));
        kernel.matmul(a, HALF, 2.0, acc(2));
        kernel.read(a, HALF);
        let b = kernel.psum(0, (0, column), 128, 256);
        kernel.matmul(b, HALF, 4.0, mm(1));
        kernel.matmul(b, HALF, 8.0, acc(2));
        kernel.read(b, HALF);
        assert_eq!(expect_clean("trn2", &kernel.finish()), [[3.0], [12.0]]);
    }
}

#[test]
fn a_memset_stands_in_for_a_start_that_would_do_harm() {
    let build = |clears: bool| {
        let mut kernel = Kernel::new();
        let a = kernel.psum(0, (0, 0), 128, 256);
        let b = kernel.psum(0, (0, 256), 128, 256);
        kernel.matmul(a, HALF, 1.0, mm(3));
        kernel.matmul(b, HALF, 2.0, mm(0));
        kernel.read(a, HALF);
        let c = kernel.psum(0, (0, 0), 128, 256);
        if clears {
            kernel.memset(c, 0.0);
        }
        kernel.matmul(c, HALF, 4.0, mm(0));
        kernel.matmul(b, HALF, 8.0, acc(2));
        kernel.matmul(c, HALF, 16.0, acc(2));
        kernel.read(b, HALF);
        kernel.read(c, HALF);
        kernel.finish()
    };
    assert_eq!(expect_clean("trn2", &build(true)), [[1.0], [10.0], [20.0]]);
    let report = expect_error("trn2", &build(false));
    assert_eq!(report.tag, "pto:diverging-read");
    assert!(
        report.message.contains("reference gives 20.0"),
        "{}",
        report.message
    );
    assert!(
        report.message.contains("written-bit gives 21.0"),
        "{}",
        report.message
    );
}

#[test]
fn column_tiles_start_on_their_own() {
    let tile = (32, 512);
    let mut kernel = Kernel::new();
    let a = kernel.psum(0, (0, 0), 32, 512);
    let b = kernel.psum(0, (32, 0), 32, 512);
    kernel.matmul(a, tile, 1.0, mm(1).tile(128, 32, 0, 0));
    kernel.matmul(b, tile, 2.0, mm(1).tile(128, 32, 0, 32));
    kernel.matmul(a, tile, 4.0, acc(2).tile(128, 32, 0, 0));
    kernel.matmul(b, tile, 8.0, acc(2).tile(128, 32, 0, 32));
    kernel.read(a, tile);
    kernel.read(b, tile);
    assert_eq!(expect_clean("trn2", &kernel.finish()), [[5.0], [10.0]]);
}

#[test]
fn a_tile_covers_only_its_partitions() {
    let build = |clears: bool| {
        let (all_rows, tile) = ((128, 256), (32, 256));
        let mut kernel = Kernel::new();
        let a = kernel.psum(0, (0, 0), 128, 256);
        let b = kernel.psum(0, (64, 256), 32, 256);
        kernel.matmul(b, tile, 1.0, mm(1).tile(128, 32, 0, 64));
        if clears {
            kernel.memset(a, 0.0);
        }
        kernel.matmul(a, all_rows, 2.0, mm(0));
        kernel.matmul(b, tile, 4.0, acc(2).tile(128, 32, 0, 64));
        kernel.matmul(a, all_rows, 8.0, acc(2));
        kernel.read(a, all_rows);
        kernel.read(b, tile);
        kernel.finish()
    };
    assert_eq!(expect_clean("trn2", &build(true)), [[10.0], [5.0]]);
    assert_eq!(
        expect_error("trn2", &build(false)).tag,
        "pto:accumulate-undefined"
    );
}

#[test]
fn the_partition_extent_of_a_start_can_be_told_apart() {
    // A on 64 rows without a tile: its START may or may not reach the rows below.
    let build = |clears: bool| {
        let (upper, tile) = ((64, 256), (32, 256));
        let mut kernel = Kernel::new();
        let a = kernel.psum(0, (0, 0), 64, 256);
        let b = kernel.psum(0, (96, 0), 32, 256);
        kernel.matmul(a, upper, 1.0, mm(1));
        if clears {
            kernel.memset(b, 0.0);
        }
        kernel.matmul(b, tile, 2.0, mm(2).tile(128, 32, 0, 96));
        kernel.matmul(a, upper, 4.0, acc(2));
        kernel.read(a, upper);
        kernel.read(b, tile);
        kernel.finish()
    };
    assert_eq!(expect_clean("trn2", &build(true)), [[5.0], [2.0]]);
    let code = build(false);
    let group = run_with(&code, config("trn2", all()));
    assert!(group.reports.is_empty());
    let mut to_dst = config("trn2", all());
    to_dst.extent = pto_machine::exec::Extent::Destination;
    let found = run_with(&code, to_dst);
    assert_eq!(found.reports[0].tag, "pto:accumulate-undefined");
}

#[test]
fn seeds() {
    let build = |value: f32, bytes: [u8; 2]| {
        let mut kernel = Kernel::new();
        let a = kernel.psum(0, (0, 0), 128, 512);
        if value == 0.0 {
            kernel.memset(a, 0.0);
        } else {
            kernel.seed(a, BANK, value);
        }
        kernel.matmul(a, BANK, 1.0, acc(bytes[0]));
        kernel.matmul(a, BANK, 2.0, acc(bytes[1]));
        kernel.read(a, BANK);
        kernel.finish()
    };
    assert_eq!(expect_clean("trn2", &build(0.0, [1, 2])), [[3.0]]);
    assert_eq!(expect_clean("trn3", &build(0.0, [4, 6])), [[3.0]]);
    assert_eq!(expect_clean("trn2", &build(5.0, [0, 2])), [[8.0]]);
    assert_eq!(expect_clean("trn3", &build(5.0, [4, 6])), [[8.0]]);
    // A START throws the seed away.
    assert_eq!(
        expect_error("trn2", &build(5.0, [1, 2])).tag,
        "pto:diverging-read"
    );
}

#[test]
fn a_start_beside_a_partly_written_seed() {
    let build = |byte: u8| {
        let mut kernel = Kernel::new();
        let all = kernel.psum(0, (0, 0), 128, 512);
        kernel.memset(all, 0.0);
        let part = kernel.part(all, (0, 0), 128, 256);
        kernel.matmul(part, HALF, 1.0, acc(byte));
        kernel.read(all, BANK);
        kernel.finish()
    };
    assert_eq!(expect_clean("trn2", &build(2)), [[1.0, 0.0]]);
    assert_eq!(expect_clean("trn3", &build(6)), [[1.0, 0.0]]);
    assert_eq!(expect_error("trn2", &build(3)).tag, "pto:start-clobbers");
}

#[test]
fn groups_over_two_banks() {
    let two_banks = (128, 1024);
    let build = |code: Option<u8>| {
        let mut kernel = Kernel::new();
        let a = kernel.psum(1, (0, 0), 128, 1024);
        let mut first = mm(1);
        first.zero_region = code;
        kernel.matmul(a, two_banks, 1.0, first);
        kernel.matmul(a, two_banks, 2.0, acc(2));
        kernel.read(a, two_banks);
        kernel.finish()
    };
    assert_eq!(expect_clean("trn3", &build(Some(2))), [[3.0]]);
    assert_eq!(expect_clean("trn3", &build(None)), [[3.0]]);
    // Code 1 is the window of banks 0 and 1: the cells of bank 2 are never made pending.
    assert_eq!(
        expect_error("trn3", &build(Some(1))).tag,
        "pto:accumulate-undefined"
    );
    assert_eq!(expect_error("trn2", &build(None)).tag, "pto:target-limit");
}

#[test]
fn a_wide_window_reaches_its_neighbours() {
    let build = |flags_of_x: u8| {
        let (one, two) = ((128, 512), (128, 1024));
        let mut kernel = Kernel::new();
        let y = kernel.psum(3, (0, 0), 128, 512);
        let h = kernel.psum(0, (0, 0), 128, 512);
        let x = kernel.psum(1, (0, 0), 128, 1024);
        kernel.matmul(y, one, 1.0, mm(3).region(2));
        kernel.matmul(h, one, 2.0, mm(0));
        kernel.read(y, one);
        kernel.matmul(x, two, 4.0, mm(flags_of_x).region(2));
        kernel.matmul(h, one, 8.0, acc(2));
        kernel.read(h, one);
        kernel.read(x, two);
        kernel.finish()
    };
    assert_eq!(expect_clean("trn3", &build(2)), [[1.0], [10.0], [4.0]]);
    assert_eq!(expect_error("trn3", &build(3)).tag, "pto:start-clobbers");
}

#[test]
fn one_chain_of_two_widths() {
    let mut kernel = Kernel::new();
    let all = kernel.psum(0, (0, 0), 128, 512);
    let part = kernel.part(all, (0, 0), 128, 256);
    kernel.matmul(all, BANK, 1.0, mm(3));
    kernel.matmul(part, HALF, 2.0, acc(2));
    kernel.read(all, BANK);
    assert_eq!(expect_clean("trn2", &kernel.finish()), [[3.0, 1.0]]);
}
