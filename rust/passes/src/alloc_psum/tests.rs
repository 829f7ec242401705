use pto_ir::{Diag, Interval, Placement, Plan, Program, Target};
use pto_testkit::generate::{Profile, recipe};
use pto_testkit::properties::{Outcome, values_are_right};
use pto_testkit::text;

use super::{Options, plan};
use crate::legalize_acc;

fn target(name: &str) -> &'static Target {
    Target::from_name(name).expect("a target")
}

fn parse(source: &str) -> Program {
    text::parse(source).expect("valid text")
}

const DEFAULT: Options = Options {
    rotate: false,
    pack: false,
    banks: None,
    remarks: false,
};
const PACK: Options = Options {
    pack: true,
    ..DEFAULT
};

fn solve(source: &str, target_name: &str, options: &Options) -> Result<Plan, Vec<Diag>> {
    plan(&parse(source), target(target_name), options)
}

/// The places as (bank, offset, partition), in the order of the allocations.
fn places(source: &str, target: &str, options: &Options) -> Vec<(u32, u32, u32)> {
    let plan = solve(source, target, options).expect("there is room");
    let place = |&(_, place): &(_, Placement)| (place.bank, place.offset, place.partition);
    plan.placements.iter().map(place).collect()
}

fn tag(source: &str, target: &str, options: &Options) -> &'static str {
    solve(source, target, options).expect_err("an error")[0].tag
}

const TWO: &str = "alloc a unplaced q0..4 u0..4\nalloc b unplaced q0..4 u0..4\n";

#[test]
fn a_bank_is_used_again_when_its_value_is_dead() {
    let apart = format!("{TWO}mm a; read a; mm b; read b");
    assert_eq!(places(&apart, "trn2", &DEFAULT), [(0, 0, 0), (0, 0, 0)]);
    let together = format!("{TWO}mm a; mm b; read a; read b");
    assert_eq!(places(&together, "trn2", &DEFAULT), [(0, 0, 0), (1, 0, 0)]);
    let one_instruction = format!("{TWO}mm a; do read a, data b; read b");
    assert_eq!(
        places(&one_instruction, "trn2", &DEFAULT),
        [(0, 0, 0), (1, 0, 0)]
    );
}

#[test]
fn rotation_takes_the_next_bank() {
    let rotate = Options {
        rotate: true,
        banks: Some(Interval::new(2, 4)),
        ..DEFAULT
    };
    let source = format!("{TWO}alloc c unplaced\nmm a; read a; mm b; read b; mm c; read c");
    assert_eq!(
        places(&source, "trn2", &rotate),
        [(2, 0, 0), (3, 0, 0), (2, 0, 0)]
    );
}

#[test]
fn rotation_never_takes_the_last_room() {
    // Turning leaves banks 0 and 2 taken, and no two in a row.
    let source = "alloc a unplaced; alloc b unplaced; alloc c unplaced; alloc d unplaced u0..16
        mm a; mm b; read b; mm c; read a; mm a; do data d; read d; read c; read a";
    let options = Options {
        rotate: true,
        banks: Some(Interval::new(0, 4)),
        ..DEFAULT
    };
    assert_eq!(places(source, "trn3", &options)[3], (2, 0, 0));
}

#[test]
fn wide_buffers_go_first_where_first_fit_leaves_pieces() {
    // By begin, a and b take banks 0 and 1 and c gets 2; then d finds no two in a row.
    let source = "alloc a unplaced; alloc b unplaced; alloc d unplaced u0..16
        mm a; mm b; read a; do data d; read d; read b";
    let options = Options {
        banks: Some(Interval::new(0, 3)),
        ..DEFAULT
    };
    assert_eq!(places(source, "trn3", &options)[2], (0, 0, 0));
}

#[test]
fn a_window_is_aligned_and_empty() {
    // Three banks have a window of four; the next buffer may not be in the fourth.
    let source = "alloc a unplaced u0..24; alloc b unplaced; alloc c unplaced u0..16
        mm b; do data a; do data c; read a; read b; read c";
    assert_eq!(
        places(source, "trn3", &DEFAULT),
        [(4, 0, 0), (0, 0, 0), (2, 0, 0)]
    );
    // Where regions have one bank, windows do too.
    assert_eq!(
        places(source, "trn2", &DEFAULT),
        [(1, 0, 0), (0, 0, 0), (4, 0, 0)]
    );
}

#[test]
fn packing_shares_banks() {
    let source =
        "alloc a unplaced q0..4 u0..4; alloc b unplaced q0..4 u0..3; alloc c unplaced q0..2 u0..2
        alloc d unplaced q0..2 u0..1
        mm a; mm b; data c; data d; read a; read b; read c; read d";
    assert_eq!(
        places(source, "trn2", &PACK),
        [(0, 0, 0), (0, 1024, 0), (1, 0, 0), (0, 1792, 0)]
    );
    assert_eq!(
        places(source, "trn2", &DEFAULT),
        [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)]
    );
}

#[test]
fn buffers_begin_where_their_tiles_do() {
    let source = "alloc a unplaced q0..1; alloc b unplaced q0..1
        mm a tile(128,32)@(0,32); mm b tile(128,32)@(0,96); read a; read b";
    assert_eq!(places(source, "trn2", &DEFAULT), [(0, 0, 32), (1, 0, 96)]);
    assert_eq!(places(source, "trn2", &PACK), [(0, 0, 32), (0, 0, 96)]);
    let view = "alloc a unplaced q0..4\nmm a q1..2 tile(128,32)@(0,32); read a";
    assert_eq!(places(view, "trn2", &DEFAULT), [(0, 0, 0)]);
    let disagree = "alloc a unplaced q0..1
        mm a tile(128,32)@(0,32); mm a tile(128,32)@(0,64); read a";
    assert_eq!(tag(disagree, "trn2", &DEFAULT), "pto:tile-position");
    let before = "alloc a unplaced q0..4\nmm a q1..2 tile(128,32)@(0,0); read a";
    assert_eq!(tag(before, "trn2", &DEFAULT), "pto:tile-position");
    let nowhere = "alloc a unplaced q0..2\nmm a q0..1 tile(128,32)@(0,32); read a";
    assert_eq!(tag(nowhere, "trn2", &DEFAULT), "pto:tile-position");
}

#[test]
fn every_view_begins_at_a_legal_partition() {
    // The view of 64 partitions from 64 on leaves only the first half for nothing.
    let source = "alloc a unplaced q0..4\ndata a; read a p64..128";
    assert_eq!(places(source, "trn2", &DEFAULT), [(0, 0, 0)]);
    let odd = "alloc a unplaced q0..2\ndata a; read a p16..48";
    assert_eq!(tag(odd, "trn2", &DEFAULT), "pto:start-partition");
}

#[test]
fn what_has_a_place_is_in_the_way() {
    let source = "alloc a bank 0 q0..1 u0..1; alloc b unplaced
        mm b; data a; read b; read a";
    assert_eq!(places(source, "trn2", &DEFAULT), [(1, 0, 0)]);
    let later = "alloc a bank 0 q0..1 u0..1; alloc b unplaced
        mm b; read b; data a; read a";
    assert_eq!(places(later, "trn2", &DEFAULT), [(0, 0, 0)]);
    let argument = "arg a bank 0 q0..1 u0..1 escapes; alloc b unplaced\nmm b; read b";
    assert_eq!(places(argument, "trn2", &DEFAULT), [(1, 0, 0)]);
    let packed = "arg a bank 0 q0..1 u0..1 escapes; alloc b unplaced u0..4\nmm b; read b";
    assert_eq!(places(packed, "trn2", &PACK), [(0, 256, 0)]);
    let window = "arg a bank 3 escapes; alloc b unplaced u0..16; alloc c unplaced
        do data b; data c; read b; read c";
    assert_eq!(places(window, "trn3", &DEFAULT), [(0, 0, 0), (2, 0, 0)]);
    let open_argument = "arg a unplaced; read a";
    assert_eq!(tag(open_argument, "trn2", &DEFAULT), "pto:unplaced");
}

#[test]
fn callees_keep_their_banks() {
    let source = format!("{TWO}mm a; call(0,1); read a; mm b; call(0) read b; read b");
    assert_eq!(places(&source, "trn2", &DEFAULT), [(2, 0, 0), (0, 0, 0)]);
}

#[test]
fn a_life_covers_the_loops_that_use_it() {
    let around = format!("{TWO}for 4 {{ mma a; mm b; read b }}; read a");
    assert_eq!(places(&around, "trn2", &DEFAULT), [(0, 0, 0), (1, 0, 0)]);
    let inside = "for 4 { alloc a unplaced; alloc b unplaced; mm a; read a; mm b; read b }";
    assert_eq!(places(inside, "trn2", &DEFAULT), [(0, 0, 0), (0, 0, 0)]);
    let carried = format!("{TWO}for 4 {{ mm a; read a; mm b; read b }}");
    assert_eq!(places(&carried, "trn2", &DEFAULT), [(0, 0, 0), (1, 0, 0)]);
    let arms = "if { alloc a unplaced; mm a; read a } else { alloc b unplaced; mm b; read b }";
    assert_eq!(places(arms, "trn2", &DEFAULT), [(0, 0, 0), (0, 0, 0)]);
}

#[test]
fn several_blocks_use_a_buffer_for_all_of_their_region() {
    let source = "region { ^one: alloc a unplaced; alloc b unplaced; mm a; mm b; read b; goto two
        ^two: alloc c unplaced; mm c; read c; read a; goto one, two }";
    assert_eq!(
        places(source, "trn2", &DEFAULT),
        [(0, 0, 0), (1, 0, 0), (1, 0, 0)]
    );
}

#[test]
fn what_escapes_lives_to_the_end() {
    let source = "alloc a unplaced escapes; alloc b unplaced\nmm a; mm b; read b";
    assert_eq!(places(source, "trn2", &DEFAULT), [(0, 0, 0), (1, 0, 0)]);
}

#[test]
fn overflow_names_what_is_alive() {
    let source = format!("{TWO}mm a; mm b; read a; read b");
    let options = Options {
        banks: Some(Interval::new(3, 4)),
        ..DEFAULT
    };
    let errors = solve(&source, "trn2", &options).expect_err("no room");
    assert_eq!(errors[0].tag, "pto:psum-overflow");
    assert_eq!(errors[0].notes.len(), 1);
    assert!(
        errors[0].message.contains("banks 3 to 3"),
        "{}",
        errors[0].message
    );
    let large = "alloc a unplaced u0..72\ndata a";
    assert_eq!(tag(large, "trn3", &DEFAULT), "pto:psum-overflow");
    let tall = "alloc a unplaced p0..160\ndata a";
    assert_eq!(tag(tall, "trn2", &DEFAULT), "pto:psum-overflow");
}

#[test]
fn unused_and_empty_buffers_get_a_place() {
    assert_eq!(places(TWO, "trn2", &DEFAULT), [(0, 0, 0), (0, 0, 0)]);
    let empty = "alloc a unplaced p0..0; alloc b unplaced b0..0\nread a; read b";
    assert_eq!(places(empty, "trn2", &PACK).len(), 2);
}

/// The program of `recipe` number `seed` with all places taken away, but for every third buffer if
/// `some` are kept.
fn unplaced(seed: u64, target: &'static Target, profile: Profile, some: bool) -> Program {
    let drawn = recipe(&mut fastrand::Rng::with_seed(seed), target, profile);
    let printed = text::print(&drawn.build(target));
    let lines = printed.lines().enumerate().map(|(number, line)| {
        let is_kept = some && (number as u64 + seed).is_multiple_of(3);
        match line.split_once(" bank ") {
            Some((head, tail)) if head.starts_with("alloc ") && !is_kept => {
                let rest = tail.split_once(' ').map_or("", |(_, rest)| rest);
                format!("{head} unplaced {rest}\n")
            }
            _ => format!("{line}\n"),
        }
    });
    parse(&lines.collect::<String>())
}

#[test]
fn placed_programs_are_right_when_legalized() {
    let profiles = [
        Profile::AUTO,
        Profile {
            regions: true,
            ..Profile::AUTO
        },
    ];
    let (mut placed, mut right) = (0, 0);
    for seed in 0..6_000 {
        let target = target(["trn1", "trn2", "trn3"][seed as usize % 3]);
        let program = unplaced(seed, target, profiles[seed as usize / 3 % 2], seed % 2 == 0);
        let options = Options {
            rotate: seed % 5 == 0,
            pack: seed % 4 == 0,
            ..DEFAULT
        };
        let plan = match plan(&program, target, &options) {
            Ok(plan) if !plan.placements.is_empty() => plan,
            Ok(_) => continue,
            Err(errors) => {
                assert!(
                    !errors[0].tag.contains("internal"),
                    "{:?}\n{}",
                    errors,
                    text::print(&program)
                );
                continue;
            }
        };
        placed += 1;
        let after = plan.applied_to(&program);
        let again = super::plan(&after, target, &options).expect("placed already");
        assert!(again.is_empty(), "idempotent");
        let is_new = |alloc: pto_ir::AllocId| plan.placements.iter().any(|&(new, _)| new == alloc);
        if let Err(errors) = legalize_acc::plan(&after, target, &legalize_acc::Options::default()) {
            // Two that were placed before may meet; a new one may not.
            let meets = errors.iter().find(|error| {
                let sites = error
                    .notes
                    .iter()
                    .map(|(site, _)| site)
                    .chain([&error.site]);
                error.tag == "pto:overlapping-allocs"
                    && sites
                        .into_iter()
                        .any(|site| matches!(site, pto_ir::Site::Alloc(alloc) if is_new(*alloc)))
            });
            assert!(meets.is_none(), "{meets:?}\n{}", text::print(&after));
        }
        match values_are_right(&after, target, seed) {
            Ok(Outcome::Right) => right += 1,
            Ok(_) => {}
            Err(what) => panic!("seed {seed}: {what}"),
        }
    }
    assert!(
        placed > 3_000 && right > 1_000,
        "{placed} placed, {right} right"
    );
}

#[test]
fn the_checker_refuses_other_places() {
    let mut refused = 0;
    for seed in 0..400 {
        let target = target("trn3");
        let program = unplaced(seed, target, Profile::AUTO, false);
        for options in [DEFAULT, PACK] {
            let Ok(right) = plan(&program, target, &options) else {
                continue;
            };
            let check = |plan: &Plan| super::check::check(&program, target, &options, plan);
            assert!(check(&right).is_ok());
            for index in 0..right.placements.len() {
                let mut missing = right.clone();
                missing.placements.remove(index);
                assert!(check(&missing).is_err());
                let mut outside = right.clone();
                outside.placements[index].1.bank = target.banks;
                assert!(check(&outside).is_err());
                // In the place of another one: wrong wherever both are alive at once.
                for other in 0..right.placements.len() {
                    let mut moved = right.clone();
                    moved.placements[index].1.bank = right.placements[other].1.bank;
                    moved.placements[index].1.offset = right.placements[other].1.offset;
                    refused += u32::from(check(&moved).is_err());
                }
            }
        }
    }
    assert!(refused > 500, "{refused}");
}
