//! Worked cases: what each shape of a program becomes.

use pto_ir::tile::{TileAccess, TileOp, TilePlace, TilePlan, TileProgram};
use pto_ir::{AllocId, RegionKind};

use super::build::{Builder, plan};

use TileAccess::{Accumulate, Read, Result as Dst};

/// Each matmul and read of the result as text: `sum t0 -> t1`, `new -> t1`, `read t1`.
fn lines(program: &TileProgram, plan: &TilePlan) -> Vec<String> {
    let after = plan.applied_to(program);
    let order = after.blocks.iter().flat_map(|block| &block.insts);
    let mut lines = Vec::new();
    for inst in order.map(|&inst| after.inst(inst)) {
        let named = |wanted: TileAccess| {
            let found = inst.uses.iter().find(|operand| operand.access == wanted);
            found.map(|operand| operand.tile.index())
        };
        let line = match (
            named(Accumulate),
            named(Dst),
            named(Read),
            named(TileAccess::Fill),
        ) {
            (Some(from), Some(to), ..) => format!("sum {from} -> {to}"),
            (None, Some(to), None, _) => format!("new -> {to}"),
            (None, Some(to), Some(from), _) => format!("from {from} -> {to}"),
            (_, None, Some(from), Some(to)) => format!("copy {from} -> {to}"),
            (_, None, Some(from), None) => format!("read {from}"),
            (_, None, None, Some(to)) => format!("fill {to}"),
            _ => continue,
        };
        lines.push(line);
    }
    lines
}

/// What `build` becomes; the second run changes nothing.
fn result(build: impl FnOnce(&mut Builder)) -> Vec<String> {
    let mut builder = Builder::new();
    build(&mut builder);
    let program = builder.finish();
    let found = plan(&program).expect("a plan");
    let again = plan(&found.applied_to(&program)).expect("a plan");
    assert!(again.is_empty() && again.diags.is_empty(), "{again:?}");
    lines(&program, &found)
}

/// The tags of the errors about what `build` makes.
fn errors(build: impl FnOnce(&mut Builder)) -> Vec<&'static str> {
    let mut builder = Builder::new();
    build(&mut builder);
    let diags = plan(&builder.finish()).expect_err("an error");
    assert!(diags.iter().all(|diag| !diag.notes.is_empty()), "{diags:?}");
    diags.iter().map(|diag| diag.tag).collect()
}

#[test]
fn home_and_one_new_register_take_turns() {
    let found = result(|b| {
        let tile = b.alloc();
        for _ in 0..4 {
            b.accumulate(tile);
        }
        b.read(tile);
    });
    assert_eq!(
        found,
        [
            "new -> 0",
            "sum 0 -> 1",
            "sum 1 -> 0",
            "sum 0 -> 1",
            "read 1"
        ]
    );
}

#[test]
fn a_matmul_that_overwrites_begins_a_group() {
    let found = result(|b| {
        let tile = b.alloc();
        b.overwrite(tile);
        b.accumulate(tile);
        b.read(tile);
        b.overwrite(tile);
        b.accumulate(tile);
        b.read(tile);
    });
    assert_eq!(found[..3], ["new -> 0", "sum 0 -> 1", "read 1"]);
    assert_eq!(found[3..], ["new -> 0", "sum 0 -> 1", "read 1"]);
}

#[test]
fn reads_in_the_middle_see_the_value_of_then() {
    let found = result(|b| {
        let tile = b.alloc();
        b.fill(tile);
        b.accumulate(tile);
        b.read(tile);
        b.accumulate(tile);
        b.read(tile);
    });
    assert_eq!(
        found,
        ["fill 0", "sum 0 -> 1", "read 1", "sum 1 -> 0", "read 0"]
    );
}

#[test]
fn a_tail_into_another_tile_stays() {
    let found = result(|b| {
        let (sum, out) = (b.alloc(), b.alloc());
        b.accumulate(sum);
        b.accumulate(sum);
        b.accumulate_to(sum, out);
        b.read(out);
        b.read(sum);
    });
    assert_eq!(
        found,
        ["new -> 0", "sum 0 -> 2", "sum 2 -> 1", "read 1", "read 2"]
    );
}

#[test]
fn arguments_come_from_home_and_go_home() {
    for (count, expected) in [
        (1, vec!["copy 0 -> 1", "sum 1 -> 0"]),
        (2, vec!["sum 0 -> 1", "sum 1 -> 0"]),
        (3, vec!["sum 0 -> 1", "sum 1 -> 2", "sum 2 -> 0"]),
        (
            4,
            vec!["sum 0 -> 1", "sum 1 -> 0", "sum 0 -> 1", "sum 1 -> 0"],
        ),
    ] {
        let found = result(|b| {
            let tile = b.argument();
            for _ in 0..count {
                b.accumulate(tile);
            }
        });
        assert_eq!(found, expected);
    }
    // A group that begins afresh needs no third register: it begins where it must.
    let found = result(|b| {
        let tile = b.argument();
        b.overwrite(tile);
        b.accumulate(tile);
    });
    assert_eq!(found, ["new -> 1", "sum 1 -> 0"]);
}

#[test]
fn any_source_that_is_the_destination_moves() {
    let found = result(|b| {
        let tile = b.argument();
        let other = b.alloc();
        b.matmul(&[(tile, Read), (tile, Dst)]);
        b.matmul(&[(tile, Read), (tile, Dst)]);
        b.matmul(&[(tile, Read), (other, Dst)]);
    });
    assert_eq!(found, ["from 0 -> 2", "from 2 -> 0", "from 0 -> 1"]);
}

#[test]
fn loops_keep_values_at_home_around_them() {
    let body = |count: usize| {
        result(move |b| {
            let tile = b.alloc();
            b.overwrite(tile);
            b.repeat(None, &move |b| {
                for _ in 0..count {
                    b.accumulate(tile);
                }
            });
            b.read(tile);
        })
    };
    // Blocks in order: the outer one, then the body.
    assert_eq!(body(2), ["new -> 0", "read 0", "sum 0 -> 1", "sum 1 -> 0"]);
    assert_eq!(body(1), ["new -> 0", "read 0", "copy 0 -> 1", "sum 1 -> 0"]);
    assert_eq!(body(3)[2..], ["sum 0 -> 1", "sum 1 -> 2", "sum 2 -> 0"]);
}

#[test]
fn a_tile_of_the_loop_begins_every_time() {
    let found = result(|b| {
        b.repeat(None, &|b| {
            let tile = b.alloc();
            b.accumulate(tile);
            b.accumulate(tile);
            b.read(tile);
        });
    });
    assert_eq!(found, ["new -> 0", "sum 0 -> 1", "read 1"]);
}

#[test]
fn a_group_that_begins_and_ends_in_a_loop_needs_no_copy() {
    let found = result(|b| {
        let tile = b.alloc();
        b.repeat(None, &|b| {
            b.overwrite(tile);
            b.accumulate(tile);
            b.read(tile);
        });
    });
    assert_eq!(found, ["new -> 1", "sum 1 -> 0", "read 0"]);
}

#[test]
fn both_arms_of_a_branch_may_begin() {
    let found = result(|b| {
        let tile = b.alloc();
        b.region(
            RegionKind::If,
            &[
                &|b| {
                    b.accumulate(tile);
                },
                &|b| {
                    b.accumulate(tile);
                },
            ],
        );
        b.accumulate(tile);
        b.read(tile);
    });
    assert_eq!(found, ["sum 0 -> 1", "read 1", "new -> 0", "new -> 0"]);
}

#[test]
fn zeros_stand_where_a_sum_may_begin_or_go_on() {
    let in_loop = result(|b| {
        let tile = b.alloc();
        b.repeat(None, &|b| {
            b.accumulate(tile);
            b.accumulate(tile);
        });
        b.read(tile);
    });
    assert_eq!(in_loop, ["fill 0", "read 0", "sum 0 -> 1", "sum 1 -> 0"]);
    let after_one_arm = result(|b| {
        let tile = b.alloc();
        b.region(
            RegionKind::If,
            &[
                &|b| {
                    b.overwrite(tile);
                },
                &|_| (),
            ],
        );
        b.accumulate(tile);
    });
    assert_eq!(after_one_arm, ["fill 0", "sum 0 -> 1", "new -> 0"]);
    // What is there of the sum counts.
    let in_part = result(|b| {
        let tile = b.alloc();
        b.change_view(tile);
        b.accumulate(tile);
    });
    assert_eq!(in_part, ["fill 0", "sum 0 -> 1"]);
    let trips = result(|b| {
        let tile = b.alloc();
        b.repeat(Some(3), &|b| {
            b.overwrite(tile);
        });
        b.accumulate(tile);
        b.read(tile);
    });
    assert_eq!(trips, ["sum 0 -> 1", "read 1", "new -> 0"]);
}

#[test]
fn zeros_stand_outside_of_all_that_needs_them_and_no_further() {
    // Each round of the outer loop has a tile of its own.
    let nest = result(|b| {
        b.repeat(None, &|b| {
            let tile = b.alloc();
            b.repeat(None, &|b| {
                b.repeat(None, &|b| {
                    b.accumulate(tile);
                    b.accumulate(tile);
                });
            });
            b.read(tile);
        });
    });
    assert_eq!(nest, ["fill 0", "read 0", "sum 0 -> 1", "sum 1 -> 0"]);
    // One arm begins once; the other in a loop.
    let arms = result(|b| {
        let tile = b.alloc();
        b.region(
            RegionKind::If,
            &[
                &|b| {
                    b.accumulate(tile);
                },
                &|b| {
                    b.repeat(None, &|b| {
                        b.accumulate(tile);
                        b.accumulate(tile);
                    });
                },
            ],
        );
    });
    assert_eq!(arms, ["new -> 0", "fill 0", "sum 0 -> 1", "sum 1 -> 0"]);
    // Zeros before a loop are enough for those after it.
    let two = result(|b| {
        let tile = b.alloc();
        for _ in 0..2 {
            b.repeat(None, &|b| {
                b.accumulate(tile);
                b.accumulate(tile);
            });
        }
        b.read(tile);
    });
    let bodies = ["sum 0 -> 1", "sum 1 -> 0", "sum 0 -> 1", "sum 1 -> 0"];
    assert_eq!(two[..2], ["fill 0", "read 0"]);
    assert_eq!(two[2..], bodies);
}

#[test]
fn only_the_last_matmul_of_a_group_converts() {
    let convert = |facts: &mut pto_ir::tile::TileMatmul| facts.converts = true;
    let interior = errors(|b| {
        let tile = b.alloc();
        b.overwrite(tile);
        b.matmul_with(&[(tile, Accumulate), (tile, Dst)], convert);
        b.accumulate(tile);
    });
    assert_eq!(interior, ["pto:interior-post"]);
    let in_loop = errors(|b| {
        let tile = b.alloc();
        b.overwrite(tile);
        b.repeat(None, &|b| {
            b.matmul_with(&[(tile, Accumulate), (tile, Dst)], convert);
        });
    });
    assert_eq!(in_loop, ["pto:interior-post"]);
    let tail = result(|b| {
        let tile = b.alloc();
        b.overwrite(tile);
        b.matmul_with(&[(tile, Accumulate), (tile, Dst)], convert);
        b.read(tile);
        b.overwrite(tile);
        b.accumulate(tile);
    });
    assert_eq!(
        tail,
        ["new -> 0", "sum 0 -> 1", "read 1", "new -> 0", "sum 0 -> 1"]
    );
}

#[test]
fn views_look_at_home() {
    let found = result(|b| {
        let tile = b.alloc();
        b.overwrite(tile);
        b.accumulate(tile);
        b.change_view(tile);
        b.accumulate(tile);
        b.read(tile);
    });
    assert_eq!(found, ["new -> 1", "sum 1 -> 0", "sum 0 -> 1", "read 1"]);
    let accumulator = errors(|b| {
        let tile = b.alloc();
        b.overwrite(tile);
        let inst = b.accumulate(tile);
        b.program().insts[inst.index()].uses[0].is_direct = false;
    });
    assert_eq!(accumulator, ["pto:view"]);
}

#[test]
fn elements_that_do_not_take_part_would_lose_their_value() {
    let found = errors(|b| {
        let tile = b.alloc();
        b.overwrite(tile);
        b.matmul_with(&[(tile, Accumulate), (tile, Dst)], |facts| facts.mask = 8);
    });
    assert_eq!(found, ["pto:tile-masks"]);
}

#[test]
fn a_beginning_needs_its_layout() {
    let found = errors(|b| {
        let tile = b.alloc();
        b.matmul_with(&[(tile, Accumulate), (tile, Dst)], |facts| {
            facts.can_begin = false
        });
    });
    assert_eq!(found, ["pto:tile-m-layout"]);
}

#[test]
fn unknown_tiles_matter_only_where_something_moves() {
    let mut builder = Builder::new();
    let (left, right) = (builder.alloc(), builder.alloc());
    builder.overwrite(left);
    let inst = builder.accumulate_to(left, right);
    builder.program().unknown.push(inst);
    let legal = builder.finish();
    assert!(plan(&legal).expect("a plan").is_empty());
    let mut updated = legal;
    updated.insts[inst.index()].uses[1].tile = left;
    let diags = plan(&updated).expect_err("an error");
    assert_eq!(diags[0].tag, "pto:dynamic-access");
}

#[test]
fn sixty_four_registers_are_enough_for_sixty_four_values() {
    let many = |count: usize| {
        let mut builder = Builder::new();
        let tiles: Vec<AllocId> = (0..count).map(|_| builder.alloc_of(128)).collect();
        for &tile in &tiles {
            builder.overwrite(tile);
        }
        for &tile in &tiles {
            builder.read(tile);
        }
        plan(&builder.finish())
    };
    assert!(many(64).is_ok());
    let diags = many(65).expect_err("an error");
    assert_eq!(diags[0].tag, "pto:tile-no-register");
    assert_eq!(diags[0].notes.len(), 1);
    // One after the other, as many as one likes.
    let mut builder = Builder::new();
    for _ in 0..200 {
        let tile = builder.alloc();
        builder.accumulate(tile);
        builder.accumulate(tile);
        builder.read(tile);
    }
    assert!(plan(&builder.finish()).is_ok());
}

#[test]
fn a_new_register_counts() {
    let with_update = |update: bool| {
        let mut builder = Builder::new();
        let tiles: Vec<AllocId> = (0..64).map(|_| builder.alloc_of(128)).collect();
        for &tile in &tiles {
            builder.overwrite(tile);
        }
        if update {
            builder.accumulate(tiles[0]);
        }
        for &tile in &tiles {
            builder.read(tile);
        }
        plan(&builder.finish())
    };
    assert!(with_update(false).is_ok());
    assert_eq!(
        with_update(true).expect_err("an error")[0].tag,
        "pto:tile-no-register"
    );
}

#[test]
fn loops_add_their_registers_to_those_around() {
    let around = |count: usize| {
        let mut builder = Builder::new();
        let tiles: Vec<AllocId> = (0..count).map(|_| builder.alloc_of(128)).collect();
        for &tile in &tiles {
            builder.overwrite(tile);
        }
        builder.repeat(None, &|b| {
            let tile = b.alloc_of(128);
            b.accumulate(tile);
            b.accumulate(tile);
            b.read(tile);
        });
        for &tile in &tiles {
            builder.read(tile);
        }
        plan(&builder.finish())
    };
    assert!(around(62).is_ok());
    assert_eq!(
        around(63).expect_err("an error")[0].tag,
        "pto:tile-no-register"
    );
}

#[test]
fn the_core_has_so_many_bytes() {
    let of = |bytes: u32| {
        let mut builder = Builder::new();
        let tile = builder.alloc_of(bytes);
        builder.overwrite(tile);
        builder.accumulate(tile);
        builder.read(tile);
        plan(&builder.finish())
    };
    assert!(of(32 << 10).is_ok());
    assert_eq!(
        of(64 << 10).expect_err("an error")[0].tag,
        "pto:tile-core-capacity"
    );
}

#[test]
fn blocks_that_branch_to_each_other() {
    // Entry, a loop of one block, exit.
    let mut builder = Builder::new();
    let tile = builder.alloc();
    builder.overwrite(tile);
    let body = pto_ir::RegionId::new(0);
    let again = builder.program().add_block(body);
    let exit = builder.program().add_block(body);
    builder.program().blocks[0].successors.push(again);
    builder.program().blocks[again.index()].successors = vec![again, exit];
    builder.block = again;
    builder.accumulate(tile);
    builder.accumulate(tile);
    builder.block = exit;
    builder.accumulate(tile);
    builder.read(tile);
    let program = builder.finish();
    let found = plan(&program).expect("a plan");
    let expected = [
        "new -> 0",
        "sum 0 -> 1",
        "sum 1 -> 0",
        "copy 0 -> 1",
        "sum 1 -> 0",
        "read 0",
    ];
    assert_eq!(lines(&program, &found), expected);
    // Where the entry does not write, the loop finds nothing the first time.
    let mut undefined = program;
    let written = undefined.blocks[0].insts[1];
    undefined.insts[written.index()].op = TileOp::Other;
    undefined.insts[written.index()].uses.clear();
    let diags = plan(&undefined).expect_err("an error");
    assert!(
        diags.iter().all(|diag| diag.tag == "pto:control-flow"),
        "{diags:?}"
    );
}

#[test]
fn remarks_and_report_say_what_was_done() {
    let mut builder = Builder::new();
    let (argument, tile) = (builder.argument(), builder.alloc());
    builder.accumulate(argument);
    builder.accumulate(tile);
    builder.accumulate(tile);
    builder.read(tile);
    let found = plan(&builder.finish()).expect("a plan");
    let names: Vec<&str> = found.diags.iter().map(|diag| diag.tag).collect();
    let expected = [
        "pto.acc-copy",
        "pto.acc-alternate",
        "pto.acc-begin",
        "pto.acc-alternate",
    ];
    assert_eq!(names, expected);
    assert_eq!(
        found.report.as_deref(),
        Some(
            r#"{"function":"f","target":"tile","registers_at_once":3,"bytes_at_once":12288,"locations":[{"tile":0,"heads":0,"updates":1,"new_registers":1,"copies":1},{"tile":1,"heads":1,"updates":1,"new_registers":1,"copies":0}]}"#
        )
    );
    assert_eq!(found.copies[0].to, TilePlace::New(0));
}
