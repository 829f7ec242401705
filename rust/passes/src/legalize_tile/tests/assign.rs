//! Register numbers of straight lines.

use pto_ir::RegionKind;

use super::build::Builder;
use crate::legalize_tile::assign::{Register, assign};

fn numbers(builder: Builder) -> Vec<(u8, u8)> {
    let program = builder.finish();
    let found = assign(&program, 16).expect("an assignment");
    let local = |inst, operand| match found[&(inst, operand)] {
        Register::Local(number) => number,
        Register::Shared(_) => panic!("a Local tile"),
    };
    let matmuls = program.blocks[0].insts.iter().copied();
    matmuls
        .filter(|&inst| program.inst(inst).matmul().is_some())
        .map(|inst| (local(inst, 0), local(inst, 1)))
        .collect()
}

#[test]
fn lowest_free_of_the_first_hand() {
    let mut builder = Builder::new();
    let (first, second, third) = (builder.alloc(), builder.alloc(), builder.alloc());
    let argument = builder.argument();
    builder.accumulate_to(argument, first);
    builder.accumulate_to(first, second);
    builder.accumulate_to(second, third);
    builder.accumulate_to(third, first);
    builder.read(first);
    // Arguments are in U, results in M. A source keeps its register until the destination has one.
    assert_eq!(numbers(builder), [(16, 32), (32, 33), (33, 32), (32, 33)]);
}

#[test]
fn the_number_of_a_source_is_no_hand_of_a_destination() {
    let mut builder = Builder::new();
    // Sixteen arguments fill U, the next ones are in T: numbers 0, 1 and 2, the last of which is
    // the hand M.
    let arguments: Vec<_> = (0..19).map(|_| builder.argument()).collect();
    let result = builder.alloc();
    for &argument in &arguments {
        builder.accumulate_to(argument, result);
    }
    builder.read(result);
    let found = numbers(builder);
    assert_eq!(found[0], (16, 32));
    assert_eq!(found[16].0, 0);
    assert_eq!(found[18].0, 2);
    assert_eq!(found[18].1 / 16, 3);
    assert!(found.iter().all(|&(from, to)| from != to / 16));
}

#[test]
fn what_cannot_be_numbered() {
    let tag = |build: &dyn Fn(&mut Builder)| {
        let mut builder = Builder::new();
        build(&mut builder);
        assign(&builder.finish(), 16).expect_err("an error")[0].tag
    };
    assert_eq!(
        tag(&|b| {
            let tile = b.alloc();
            b.accumulate(tile);
        }),
        "pto:tile-alias"
    );
    assert_eq!(
        tag(&|b| {
            b.region(RegionKind::If, &[&|_| ()]);
        }),
        "pto:control-flow"
    );
    assert_eq!(
        tag(&|b| {
            let tiles: Vec<_> = (0..65).map(|_| b.alloc()).collect();
            tiles.iter().for_each(|&tile| drop_id(b.overwrite(tile)));
            tiles.iter().for_each(|&tile| drop_id(b.read(tile)));
        }),
        "pto:tile-no-register"
    );
}

const fn drop_id(_: pto_ir::InstId) {}
