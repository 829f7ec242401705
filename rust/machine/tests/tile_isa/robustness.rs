//! Any block on any core: no panic, no effect of a fault, and the verifier agrees with the machine.

use crate::builders::*;
use proptest::prelude::*;
use pto_machine::tile::contents::{SharedState, SharedTile};
use pto_machine::tile::core::{Block, Core, Register};
use pto_machine::tile::descriptor::Location;
use pto_machine::tile::encode::{decode_post, decode_start};
use pto_machine::tile::fields::{DataAttributes, RMode, Scalars};
use pto_machine::tile::operation::{Destination, Form, Source};
use pto_machine::tile::{
    Arithmetic, DataType, Descriptor, FaultKind, Layout, Operation, Revision, Tile, legality,
};

fn data_type() -> impl Strategy<Value = DataType> {
    proptest::sample::select(DataType::all().collect::<Vec<_>>())
}

fn any_layout() -> impl Strategy<Value = Layout> {
    proptest::sample::select(vec![
        Layout::RowMajor,
        Layout::ColumnMajor,
        Layout::CubeM16,
        Layout::CubeM32,
        Layout::CubeN8,
        Layout::ImplementationDefined,
    ])
}

fn any_tile() -> impl Strategy<Value = Tile> {
    let shape = (0..40u32, 0..40u32, 0..70u32);
    let size = prop_oneof![Just(128u32), Just(512), Just(1024), 0..4096u32];
    (
        data_type(),
        any_layout(),
        shape,
        size,
        any::<(bool, bool, u64)>(),
    )
        .prop_map(
            |(
                data_type,
                layout,
                (valid_rows, valid_columns, columns),
                capacity,
                (any, full, seed),
            )| {
                let d = Descriptor {
                    data_type,
                    layout,
                    location: if any { Location::Any } else { Location::Matrix },
                    valid_rows,
                    valid_columns,
                    columns,
                    capacity,
                };
                if full {
                    filled(d, |r, c| seed.rotate_left(r * 7 + c))
                } else {
                    Tile::undefined(d).expect("a tile")
                }
            },
        )
}

fn any_block() -> impl Strategy<Value = Block> {
    let data = proptest::option::of((
        proptest::option::of(data_type()),
        0..8u8,
        any::<(bool, bool)>(),
    ));
    let dimension = || proptest::option::of(prop_oneof![0..40u32, any::<u32>()]);
    let post = proptest::option::of(any::<u32>());
    let scalars = proptest::option::of((
        proptest::collection::vec(proptest::option::of(any::<u64>()), 0..3),
        any::<bool>(),
    ));
    (
        (0..40u8, data_type(), data),
        [dimension(), dimension(), dimension()],
        (post, scalars),
        (
            proptest::collection::vec(0..16u8, 0..3),
            0..5u32,
            any::<bool>(),
        ),
        proptest::collection::vec(0..70u8, 0..10),
        proptest::collection::vec(0..6u32, 0..6),
        proptest::collection::vec((0..6u8, 0..13u8), 0..5),
    )
        .prop_map(
            |(head, dimensions, (post, scalars), masks, sources, shared, destinations)| Block {
                function: head.0,
                a_type: head.1,
                data: head.2.map(
                    |(b_type, code, (saturate, has_foreign_fields))| DataAttributes {
                        b_type,
                        rmode: RMode::from_code(code).unwrap(),
                        saturate,
                        has_foreign_fields,
                    },
                ),
                dimensions,
                post: post
                    .and_then(|bits| decode_post(bits & !0x7c7f | 0x2023, Revision::Seed).ok()),
                scalars: scalars.map(|(words, has_foreign_selectors)| Scalars {
                    words,
                    has_foreign_selectors,
                }),
                masks: masks.0,
                element: masks.1,
                stream_ended: masks.2,
                sources,
                shared,
                destinations,
            },
        )
}

/// The operation of a block with descriptors only.
fn described<'a>(core: &Core, bench: &Block, name: impl Fn(u8) -> u32) -> Operation<'a> {
    let source = |number: u8| Source {
        descriptor: core.register(number).map(|r| *r.tile.descriptor()),
        name: Some(name(number)),
        ..Source::default()
    };
    Operation {
        form: Form::Block,
        function: bench.function,
        a_type: bench.a_type,
        data: bench.data,
        dimensions: bench.dimensions,
        post: bench.post,
        scalars: bench.scalars.clone(),
        masks: bench.masks.clone(),
        element: bench.element,
        stream_ended: bench.stream_ended,
        sources: bench.sources.iter().map(|&n| source(n)).collect(),
        shared: Vec::new(),
        destinations: bench
            .destinations
            .iter()
            .map(|&(hand, code)| Destination {
                capacity: 128 << (code - 1),
                name: Some(hand.into()),
                descriptor: None,
            })
            .collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_panics_and_faults_change_nothing(
        tiles in proptest::collection::vec(any_tile(), 6),
        state in any::<(u8, u8, bool)>(),
        block in any_block(),
        head in any::<bool>(),
        raw in any::<bool>(),
    ) {
        let mut core = Core::new();
        for (i, tile) in tiles.into_iter().enumerate() {
            let state = SharedState {
                allocated: state.0 & 15,
                initialised: (state.1 & 15) | (15 * u8::from(state.2)),
                published: state.2,
            };
            core.set_shared(i as u32, SharedTile { tile: tile.clone(), state });
            core.set_register(i as u8 * 9, Some(Register { tile, mask: 15 }));
        }
        let before = core.clone();
        let revision = if head { Revision::Head } else { Revision::Seed };
        let arithmetic = if raw { Arithmetic::Raw } else { Arithmetic::Ieee };
        if core.issue(&block, revision, arithmetic).is_err() {
            prop_assert!(core == before);
        }
        let slots: Vec<u8> = block.sources.clone();
        let types = (block.a_type, block.a_type);
        let before = core.clone();
        if core.issue_direct(block.function, types, 9, &slots, (revision, arithmetic)).is_err() {
            prop_assert!(core == before);
        }
    }

    /// One field of a legal block changed at random: what the verifier accepts by descriptors
    /// alone, the machine runs; what it refuses, the machine refuses with the same rule.
    #[test]
    fn the_verifier_and_the_machine_agree(
        which in 0..9u32,
        value in any::<u32>(),
        t in data_type(),
    ) {
        let Bench { mut core, mut block, .. } = accumulate();
        match which {
            0 => block.function = (value % 32) as u8,
            1 => block.a_type = t,
            2 => block.dimensions[(value % 3) as usize] = Some(value >> 2 & 31),
            3 => block.post = decode_post((value << 15) | 0x2023, Revision::Seed).ok().or(block.post),
            4 => block.sources.truncate((value % 4) as usize),
            5 => block.destinations[0].1 = (value % 10) as u8 + 1,
            6 => block.masks = vec![(value & 15) as u8, (value >> 4 & 15) as u8],
            7 => block.data = Some(DataAttributes { b_type: Some(t), ..DataAttributes::default() }),
            _ => block.sources.swap(0, (value % 3) as usize),
        }
        let verified = legality::check(&described(&core, &block, u32::from), Revision::Seed);
        let ran = core.issue(&block, Revision::Seed, Arithmetic::Ieee);
        prop_assert_eq!(verified.map_err(|f| f.rule), ran.map(|_| ()).map_err(|f| f.rule));
    }

    #[test]
    fn any_word_decodes_or_is_refused(word in any::<u32>()) {
        if let Err(fault) = decode_start(word) {
            prop_assert_eq!(fault.kind(), FaultKind::IllegalInstruction);
        }
        if let Err(fault) = decode_post(word, Revision::Head) {
            prop_assert_eq!(fault.kind(), FaultKind::IllegalInstruction);
        }
    }
}
