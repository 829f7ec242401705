//! Every rule is broken once, from a legal block, and is the one reported. A rule that nothing
//! raises, or a test that does not isolate its rule, fails here.

use crate::builders::*;
use pto_machine::tile::contents::{SharedState, SharedTile};
use pto_machine::tile::core::{Block, Completion, Core, Register};
use pto_machine::tile::fields::{DataAttributes, RMode, ReluMode, Scalars};
use pto_machine::tile::header::{Command, Header};
use pto_machine::tile::post::modes::PreQuantMode;
use pto_machine::tile::{
    Arithmetic, DataType, Descriptor, Fault, Layout, Post, Revision, Rule, Tile,
};
use std::collections::BTreeMap;

fn issue(core: &mut Core, block: &Block) -> Result<Completion, Fault> {
    core.issue(block, Revision::Seed, Arithmetic::Ieee)
}

/// Applies a change to a legal block and returns the rule it breaks. The core must be as before.
fn broken(bench: Bench, change: impl FnOnce(&mut Core, &mut Block)) -> Rule {
    let Bench {
        mut core,
        mut block,
        ..
    } = bench;
    issue(&mut core.clone(), &block).expect("the block is legal before the change");
    change(&mut core, &mut block);
    let before = core.clone();
    let fault = issue(&mut core, &block).expect_err("the changed block is illegal");
    assert!(core == before, "{fault}: a fault changed the core");
    assert!(
        fault.message.starts_with("expected ") && fault.message.contains("found"),
        "{fault}"
    );
    fault.rule
}

fn replace(core: &mut Core, number: u8, change: impl FnOnce(&mut Descriptor)) {
    let mut d = *core.register(number).expect("a tile").tile.descriptor();
    change(&mut d);
    let tile = Tile::new(d, vec![0; d.len()]).expect("as many words as elements");
    assert!(core.set_register(number, Some(Register { tile, mask: 0b1111 })));
}

fn post(block: &mut Block, change: impl FnOnce(&mut Post)) {
    change(block.post.as_mut().expect("a post"));
}

fn mode(code: u8) -> PreQuantMode {
    PreQuantMode::from_code(code).expect("a mode")
}

const ONE: u64 = 127 << 23;

/// TMATMUL_ACC with a scalar quantisation to S8.
fn quantised() -> Bench {
    let mut bench = accumulate().post(Post {
        pre_quant: mode(24),
        ..Post::default()
    });
    bench.block.scalars = Some(Scalars {
        words: vec![Some(ONE)],
        has_foreign_selectors: false,
    });
    bench
}

/// TMATMUL_ACC with a vector of activation factors.
fn activated() -> Bench {
    let factors = Descriptor::row_major(DataType::U64, 1, 8, 0).fitted();
    accumulate()
        .post(Post {
            relu: ReluMode::Vector,
            ..Post::default()
        })
        .local(filled(factors, |_, _| 127 << 10))
}

/// TMATMUL_ACC with a column of exponents.
fn scaled() -> Bench {
    let exponents = cube(Layout::CubeM32, DataType::U8, 16, 1);
    accumulate()
        .post(Post {
            c_scale: true,
            ..Post::default()
        })
        .local(filled(exponents, |r, _| u64::from(r % 3)))
}

/// Breaks the rules of fields, counts, dimensions and masks.
fn header_rules(found: &mut Vec<Rule>) {
    let mut case = |bench, rule, change: fn(&mut Core, &mut Block)| {
        assert_eq!(broken(bench, change), rule);
        found.push(rule);
    };
    case(accumulate(), Rule::UndecodableFunction, |_, b| {
        b.function = 3
    });
    case(accumulate(), Rule::ReservedField, |_, b| {
        b.destinations[0].1 = 11
    });
    case(accumulate(), Rule::ReservedField, |_, b| {
        post(b, |p| p.group_code = 10)
    });
    case(accumulate(), Rule::MissingPost, |_, b| b.post = None);
    case(accumulate(), Rule::TypePair, |_, b| {
        b.a_type = DataType::Fp64
    });
    case(cooperate(), Rule::SharedCount, |_, b| b.shared.push(40));
    case(accumulate(), Rule::SourceCount, |_, b| {
        b.sources.truncate(2)
    });
    case(accumulate(), Rule::DestinationCount, |_, b| {
        b.destinations.push((2, 1))
    });
    case(accumulate(), Rule::GemvRows, |_, b| b.function = 18);
    case(accumulate(), Rule::StreamEnd, |_, b| b.stream_ended = false);
    case(quantised(), Rule::ScalarParameters, |_, b| b.scalars = None);
    case(accumulate(), Rule::ScalarParameters, |_, b| {
        b.scalars = Some(Scalars {
            words: vec![],
            has_foreign_selectors: true,
        })
    });
    case(accumulate(), Rule::RoundingFields, |_, b| {
        b.data = Some(DataAttributes {
            saturate: true,
            ..DataAttributes::default()
        })
    });
    case(accumulate(), Rule::RoundingFields, |_, b| {
        b.data = Some(DataAttributes {
            rmode: RMode::from_code(1).expect("a code"),
            ..DataAttributes::default()
        })
    });
    case(accumulate(), Rule::AttributeFields, |_, b| {
        b.data = Some(DataAttributes {
            has_foreign_fields: true,
            ..DataAttributes::default()
        })
    });
    case(accumulate(), Rule::PostFields, |_, b| {
        post(b, |p| p.row_max_init = true)
    });
    case(accumulate(), Rule::Dimensions, |_, b| {
        b.dimensions[2] = Some(0)
    });
    case(cooperate(), Rule::Dimensions, |_, b| {
        b.dimensions[0] = Some(129)
    });
    case(cooperate(), Rule::Dimensions, |_, b| {
        b.dimensions[1] = Some(24)
    });
    case(accumulate(), Rule::Masks, |_, b| {
        b.masks = vec![0b1111, 0b1110]
    });
    case(cooperate(), Rule::CooperativeMask, |_, b| {
        b.masks = vec![0b1110]
    });
    case(accumulate(), Rule::Transpose, |_, b| {
        post(b, |p| p.trans_b = true)
    });
    case(cooperate(), Rule::SharedCount, |_, b| b.function = 16);
}

/// Breaks the rules of operands.
fn operand_rules(found: &mut Vec<Rule>) {
    let mut case = |bench, rule, change: fn(&mut Core, &mut Block)| {
        assert_eq!(broken(bench, change), rule);
        found.push(rule);
    };
    case(cooperate(), Rule::SharedReadiness, |core, _| {
        let tile = filled(
            Descriptor::row_major(DataType::Fp16, 16, 8, 256),
            small_half,
        );
        let state = SharedState {
            published: false,
            ..SharedState::READY
        };
        core.set_shared(41, SharedTile { tile, state });
    });
    case(cooperate(), Rule::SharedSchema, |core, _| {
        let d = Descriptor::row_major(DataType::Bf16, 16, 8, 256);
        let state = SharedState::READY;
        core.set_shared(
            41,
            SharedTile {
                tile: filled(d, small_half),
                state,
            },
        );
    });
    case(accumulate(), Rule::Unallocated, |_, b| b.sources[2] = 63);
    case(quantised(), Rule::ScaleParameterBits, |_, b| {
        b.scalars = Some(Scalars {
            words: vec![Some(0)],
            has_foreign_selectors: false,
        })
    });
    case(scaled(), Rule::ColumnScale, |core, _| {
        replace(core, 7, |d| d.data_type = DataType::S8)
    });
    case(quantised(), Rule::ModeAccumulator, |_, b| {
        post(b, |p| p.pre_quant = mode(3))
    });
    case(activated(), Rule::PostSource, |core, _| {
        replace(core, 7, |d| d.valid_columns = 7)
    });
    case(accumulate(), Rule::OperandType, |core, _| {
        replace(core, 6, |d| d.data_type = DataType::Bf16)
    });
    case(accumulate(), Rule::OperandShape, |core, _| {
        replace(core, 5, |d| d.valid_columns = 11)
    });
    case(accumulate(), Rule::OperandLayout, |core, _| {
        replace(core, 6, |d| d.layout = Layout::RowMajor)
    });
    case(accumulate(), Rule::Capacity, |core, _| {
        replace(core, 5, |d| d.capacity = 129)
    });
    case(accumulate(), Rule::AccumulatorCapacity, |core, _| {
        replace(core, 4, |d| d.capacity = 1024)
    });
    case(accumulate(), Rule::Undefined, |core, _| {
        let d = *core.register(6).expect("B").tile.descriptor();
        let tile = Tile::undefined(d).expect("a tile");
        assert!(core.set_register(6, Some(Register { tile, mask: 0b1111 })));
    });
    case(accumulate(), Rule::Alias, |core, b| {
        let c = core.register(4).cloned();
        assert!(core.set_register(3, c));
        b.sources[0] = 3;
    });
    case(scaled(), Rule::Alias, |core, b| {
        let scale = core.register(7).cloned();
        assert!(core.set_register(3, scale));
        b.sources[3] = 3;
    });
}

/// Breaks the rules of destinations.
fn destination_rules(found: &mut Vec<Rule>) {
    let mut case = |bench, rule, change: fn(&mut Core, &mut Block)| {
        assert_eq!(broken(bench, change), rule);
        found.push(rule);
    };
    case(accumulate(), Rule::NoRegister, |core, _| {
        let any = core.register(4).cloned();
        (48..64).for_each(|n| assert!(core.set_register(n, any.clone())));
    });
    case(accumulate(), Rule::CoreCapacity, |core, _| {
        core.set_capacity(4095)
    });
    case(quantised(), Rule::DestinationCapacity, |_, b| {
        post(b, |p| p.pre_quant = mode(27));
        b.destinations[0].1 = 1;
    });
    // Only the published release counts M for each element: 64 rows have no Local layout.
    let mut bench = cooperate();
    let head = bench
        .core
        .issue(&bench.block, Revision::Head, Arithmetic::Ieee);
    found.push(head.expect_err("64 rows on one element").rule);
}

fn late_rules(found: &mut Vec<Rule>) {
    let post = || Command::Post(Post::default());
    let bound = Command::Shared {
        name: 1,
        mask: 0b1111,
    };
    for (mut header, commands) in [
        (Header::other(DataType::Fp16, Revision::Seed), vec![post()]),
        (
            Header::matrix(0, DataType::Fp16, Revision::Seed),
            vec![post(), post()],
        ),
        (
            Header::matrix(0, DataType::Fp16, Revision::Seed),
            vec![bound, post()],
        ),
    ] {
        let fault = commands
            .into_iter()
            .find_map(|c| header.execute(c).err())
            .expect("a fault");
        found.push(fault.rule);
    }
}

#[test]
fn every_rule_is_raised_by_what_breaks_it_alone() {
    let mut found = Vec::new();
    header_rules(&mut found);
    operand_rules(&mut found);
    destination_rules(&mut found);
    late_rules(&mut found);
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    for rule in &found {
        *times.entry(rule.tag()).or_default() += 1;
    }
    let missing: Vec<_> = Rule::ALL
        .iter()
        .filter(|rule| !found.contains(rule))
        .collect();
    assert!(missing.is_empty(), "{missing:?} of {times:#?}");
}

#[test]
fn each_change_breaks_the_rule_it_is_meant_to() {
    let expected = [
        (
            "accumulator",
            broken(accumulate(), |_, b| b.destinations[0].1 = 4),
            Rule::AccumulatorCapacity,
        ),
        (
            "alias",
            broken(accumulate(), |core, b| {
                let c = core.register(4).cloned();
                assert!(core.set_register(3, c));
                b.sources[0] = 3;
            }),
            Rule::Alias,
        ),
        (
            "gemv",
            broken(accumulate(), |_, b| b.function = 18),
            Rule::GemvRows,
        ),
        (
            "shared gemv",
            broken(cooperate(), |_, b| b.function = 16),
            Rule::SharedCount,
        ),
        (
            "left transpose of a right-only group",
            broken(cooperate(), |core, b| {
                let a = cube(Layout::CubeM16, DataType::Fp16, 16, 16);
                let tile = filled(a, small_half);
                assert!(core.set_register(4, Some(Register { tile, mask: 0b1111 })));
                b.sources.push(4);
                b.shared.remove(0);
                post(b, |p| p.trans_a = true);
            }),
            Rule::Transpose,
        ),
    ];
    for (what, found, rule) in expected {
        assert_eq!(found, rule, "{what}");
    }
}

/// The order in which faults win: control before decoding before legality before allocation.
#[test]
fn the_first_failing_step_wins() {
    let everything_wrong = || {
        let mut bench = accumulate();
        bench.block.post = None;
        bench.block.function = 31;
        bench.block.a_type = DataType::Fp64;
        bench.core.set_capacity(0);
        bench
    };
    let rule = |bench: &mut Bench| issue(&mut bench.core, &bench.block).map_err(|f| f.rule);
    let mut bench = everything_wrong();
    bench.block.masks = vec![0, 0];
    assert_eq!(rule(&mut bench), Ok(Completion::NoEffect));
    bench.block.masks = vec![0b1111];
    assert_eq!(rule(&mut bench), Err(Rule::MissingPost));
    bench.block.post = Some(Post::default());
    assert_eq!(rule(&mut bench), Err(Rule::UndecodableFunction));
    bench.block.function = 2;
    assert_eq!(rule(&mut bench), Err(Rule::TypePair));
    bench.block.a_type = DataType::Fp16;
    assert_eq!(rule(&mut bench), Err(Rule::Capacity));
    bench.core.set_capacity(1 << 11);
    assert_eq!(rule(&mut bench), Err(Rule::CoreCapacity));
    bench.core.set_capacity(1 << 20);
    assert!(matches!(rule(&mut bench), Ok(Completion::Done(_))));
}

/// Ordinary inputs, E8M0, S32 and U32, in pairs: 441, of which 162 are legal.
#[test]
fn the_type_matrix() {
    const FLOATS: [&str; 12] = [
        "FP32", "TF32", "HF32", "FP16", "BF16", "HiF8", "E4M3", "E5M2", "E3M2", "E2M3", "E2M1X2",
        "E1M2X2",
    ];
    let classes: [&[&str]; 3] = [&FLOATS, &["S16", "S8", "S4X2"], &["U16", "U8", "U4X2"]];
    let others = ["E8M0", "S32", "U32"];
    let class = |name| classes.iter().position(|c| c.contains(&name));
    let names: Vec<&str> = classes.concat().into_iter().chain(others).collect();
    let (mut pairs, mut legal) = (0, 0);
    for &a in &names {
        for &b in &names {
            let (a_type, b_type) = (
                DataType::from_name(a).unwrap(),
                DataType::from_name(b).unwrap(),
            );
            let both = class(a).filter(|_| class(a) == class(b));
            let accumulator = [DataType::Fp32, DataType::S32, DataType::U32][both.unwrap_or(0)];
            let c = cube(Layout::CubeM16, accumulator, 1, 1);
            let mut bench = Bench::new("TMATMUL_ACC", a_type, [1, 1, 1])
                .local(filled(c, |_, _| 0))
                .local(filled(cube(Layout::CubeM16, a_type, 1, 1), |_, _| 0))
                .local(filled(cube(Layout::CubeN8, b_type, 1, 1), |_, _| 0))
                .destination(3, c);
            bench.block.data = Some(DataAttributes {
                b_type: Some(b_type),
                ..DataAttributes::default()
            });
            for revision in [Revision::Seed, Revision::Head] {
                let issued = bench
                    .core
                    .clone()
                    .issue(&bench.block, revision, Arithmetic::Ieee);
                match both {
                    Some(_) => assert!(issued.is_ok(), "{a} {b}: {issued:?}"),
                    None => assert_eq!(issued.map_err(|f| f.rule), Err(Rule::TypePair), "{a} {b}"),
                }
            }
            pairs += 1;
            legal += u32::from(both.is_some());
        }
    }
    assert_eq!((pairs, legal), (441, 162));
}

/// Three groups of columns: the published release allocates powers of two only.
#[test]
fn group_maxima_of_three_groups() {
    let grouped = || {
        let c = cube(Layout::CubeM16, DataType::Fp32, 2, 17);
        Bench::new("TMATMUL", DataType::Fp16, [2, 17, 3])
            .local(filled(
                cube(Layout::CubeM16, DataType::Fp16, 2, 3),
                small_half,
            ))
            .local(filled(
                cube(Layout::CubeN8, DataType::Fp16, 3, 17),
                small_half,
            ))
            .post(Post {
                group_code: 1,
                group_max: true,
                ..Post::default()
            })
            .destination(3, c)
            .destination(2, Descriptor::row_major(DataType::Fp32, 2, 3, 0))
    };
    let mut seed = grouped();
    let Ok(Completion::Done(registers)) = issue(&mut seed.core, &seed.block) else {
        panic!("three groups are legal");
    };
    let d = &seed.core.register(registers[0]).expect("D").tile;
    let maxima = &seed.core.register(registers[1]).expect("maxima").tile;
    assert_eq!(
        (
            maxima.descriptor().valid_columns,
            maxima.descriptor().columns
        ),
        (3, 4)
    );
    for row in 0..2 {
        for group in 0..3 {
            let columns = group * 8..(group * 8 + 8).min(17);
            let largest = columns.filter_map(|c| d.get(row, c)).max();
            assert_eq!(maxima.get(row, group), largest);
        }
    }
    let mut head = grouped();
    let fault = head
        .core
        .issue(&head.block, Revision::Head, Arithmetic::Ieee);
    assert_eq!(fault.map_err(|f| f.rule), Err(Rule::DestinationCapacity));
}
