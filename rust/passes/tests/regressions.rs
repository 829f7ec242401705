//! Programs that random search rarely finds, or that once went wrong.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use pto_ir::Target;
use pto_passes::verify_acc::{Options, is_proved, verify};
use pto_testkit::properties::{Outcome, all_hold, without_panic};
use pto_testkit::text::parse;

/// Legalized, these are right on every machine.
const PROGRAMS: &[&str] = &[
    // Data beside a group, in partitions that its column group reaches and its destination does not.
    "alloc a bank 0 q0..4 u0..8; alloc b bank 0 q0..4 u0..8
     data a q2..3 u2..6; mma b q0..1 u0..2; read a q2..3 u2..6; read b q0..1 u0..2",
    // A group grows after data of another buffer came into its bank.
    "alloc a bank 0 q0..1 u0..8; alloc b bank 0 q2..4 u2..4
     mm a u4..8; data b; mma a; read a; read b",
    // Half zero, half data, one group.
    "alloc a bank 0 u0..8
     memset a u0..4; data a u4..8; mma a; read a",
    // The group covers fewer partitions than it harms.
    "alloc a bank 0 q2..4 u0..4; alloc b bank 0 q0..2 u4..8
     data a q0..1; mm b; read a q0..1; read b",
    // Data in all partitions, a group in some, then in all.
    "alloc a bank 0 u0..4
     data a; mma a q3..4 cg3..4; mma a; read a",
    // Peeled head and a chain of two shapes.
    "alloc a bank 0 u0..8
     mm a; mma a u0..4; read a u4..8; mma a u0..2; read a",
    // Two buffers take turns in one place.
    "alloc a bank 0 u0..4; alloc b bank 0 u0..4
     mm a; read a; mma b; mma b; read b; mm a; read a",
    // Sixteen partitions at the last quadrant.
    "alloc a bank 0 q3..4 u0..4
     mm a p0..16 cg3..4; mma a p0..16 cg3..4; read a p0..16",
    // Bank 7 alone.
    "alloc a bank 7 u0..8
     mm a; mma a; read a",
    // A branch that writes what another buffer's group left.
    "alloc a bank 0 p0..32 b512..1536; alloc b bank 0 p0..96 b768..1280
     mma b p64..96 tile(128,64)@(0,64); read b p64..96; switch { data a } { effects memset b }",
    // One logical matmul in four steps.
    "alloc a bank 0 u0..8
     mm a; mma a; mma a; mma a; read a",
    // A sum that goes on in a loop beside one that begins in every iteration, in reach of its START.
    "alloc b bank 0 p32..64 b1024..1280; alloc a bank 0 p0..32 b1024..1280
     for { mm a tile(128,64)@(0,0); mma b p0..5 tile(128,32)@(0,32) }",
    // The same, allocated in the loop.
    "alloc b bank 0 p32..64 b1024..1280
     for { alloc a bank 0 p0..32 b1024..1280; mm a tile(128,64)@(0,0); mma b p0..5 tile(128,32)@(0,32) }",
    // A part of a sum is older than the loop that begins the rest of it.
    "alloc a bank 1 p96..128 b1024..1792
     mma a b256..768 tile(128,32)@(0,96)
     for { if { }; mma a b0..256 tile(128,32)@(0,96); mma a tile(128,32)@(0,96) }",
    // A branch STARTs beside a sum, and then overwrites that with data.
    "alloc b bank 0 p0..64 b768..1536; alloc a bank 0 p64..96 b256..512
     mma a tile(128,64)@(0,64); switch { mma b; data a engine(scalar) }
     mma a tile(128,32)@(0,64); read a",
    // Only the first iteration has to do with a sum, whose cells another buffer takes.
    "alloc a bank 1 p0..96 b768..2048; alloc b bank 1 p0..96 b1536..1792
     for { if(first 0) { mma b tile(128,128)@(0,0); mm a b768..1024 } }",
    // A buffer for every iteration of three loops.
    "for 2 { for 3 { alloc a bank 0 u0..4; for 4 { mma a }; read a }; alloc b bank 0 u0..4; mma b; read b }",
    // Two sums begin by one START; a third, between them, ACCUMULATEs on trn3.
    "alloc a bank 1 p96..128 b512..1280; alloc b bank 1 p96..128 b1536..1792; alloc c bank 1 p0..32 b1280..1536
     for { mma b tile(128,32)@(0,96); mma c tile(128,128)@(0,0); mma a tile(128,32)@(0,96) }",
    // Zeros give way to another buffer in a loop, and come back as data.
    "alloc a bank 0 p32..64 b1792..2048
     effects memset a
     for 2 { alloc b bank 0 p32..64 b1792..2048; mma b tile(128,32)@(0,32); data a }
     mma a tile(128,32)@(0,32); read a",
    // Some cells of a buffer outlive a branch; of those that another buffer takes in it none does.
    "alloc a bank 0 p0..64 b512..1792
     for 3 {
       if(first 0) { effects memset a b256..512; alloc b bank 0 p0..128 b1024..2048; mma b b512..1024 }
       mm a p0..20 tile(128,128)@(0,0)
     }
     read a p0..20",
    // A sum in a loop of which a part is on zeros and a part is fresh.
    "alloc a bank 0 p0..64 b1280..1792
     memset a p0..32
     for { mma a p32..64 tile(128,32)@(0,32); mma a b0..256 tile(128,128)@(0,0) }
     read a p0..32",
    // Branches that nobody takes.
    "alloc a bank 1 p0..32 b1536..2048
     mma a tile(128,32)@(0,0); for 1 { if(not first 0) { read a p0..20 b0..256 } }; read a",
    "alloc a bank 2 p64..128 b768..2048
     for { mma a b256..1024 tile(128,64)@(0,64); if(not first 0) { if(first 0) { memset a } } }",
    "alloc a bank 1 p0..64 b512..2048
     data a b256..1536 engine(scalar)
     for 1 { if(not first 0) { mma a b0..512 tile(128,64)@(0,0) }; mma a }",
    "alloc a bank 0 p0..32 b0..2048
     for { mma a; if(first 0) { read a b0..1536; if(not first 0) { mm a b1584..2048 }; mm a tile(128,128)@(0,0) } }",
    "alloc a bank 0 p0..32 b0..2048
     for { while { mma a; if(first 0) { read a b0..1536; if(not first 0) { mm a b1584..2048 }; mm a tile(128,128)@(0,0) } } }",
    // What was cleared for one buffer another takes before anybody reads it, which is no fault the second time.
    "arg a bank 1 p0..32 b0..1792 fresh escapes; alloc b bank 1 p0..32 b0..1024
     if { if { mma b b512..768 tile(128,128)@(0,0) }; mma b tile(128,128)@(0,0); mma a tile(128,128)@(0,0) }
     if { data b engine(scalar); effects memset a }",
    // Written, and never read.
    "alloc a bank 0 u0..4; alloc b bank 0 u4..8
     mm a; mm b; mma a; read b",
];

#[test]
fn legalized_they_are_right() {
    for name in ["trn2", "trn3"] {
        let target = Target::from_name(name).expect("a target");
        for text in PROGRAMS {
            let program = parse(text).expect("valid text");
            let outcome = without_panic(&program, || all_hold(&program, target, 0));
            assert_eq!(outcome, Ok(Outcome::Right), "{name}\n{text}");
        }
    }
}

/// Flags that other rules give to such programs, each wrong on some machine.
const WRONG: &[(&str, &str)] = &[
    // START wherever a group begins by overwriting, without a look at its neighbours.
    (
        "trn2",
        "alloc a bank 0 u0..4; alloc b bank 0 u4..8
         mm a acc<start>; mm b acc<start>; mma a acc<stop>; mma b acc<stop>; read a; read b",
    ),
    // Only bytes tell groups apart, not the partitions that a START reaches.
    (
        "trn2",
        "alloc a bank 0 q2..4 u0..4; alloc b bank 0 q0..2 u4..8
         data a; mm b acc<start|stop>; read a; read b",
    ),
    // START on the group of a zeroed buffer that it covers in part.
    (
        "trn2",
        "alloc a bank 0 u0..8
         memset a; mma a u0..4 acc<start|stop>; read a",
    ),
    // A window of one bank for a group over two.
    (
        "trn3",
        "alloc a bank 1 u0..16
         mm a acc<start|stop> region 0; read a",
    ),
    // A window of four banks over a neighbour.
    (
        "trn3",
        "alloc a bank 1 u0..16; alloc b bank 3 u0..8
         mm b acc<start|stop> region 0; mm a acc<start|stop> region 2; read a; read b",
    ),
    // The START of a loop's first matmul wipes what the iteration before left.
    (
        "trn2",
        "alloc a bank 0 u0..4
         memset a; for 4 { mma a acc<start>; mma a acc<stop> }; read a",
    ),
    // Two loops, one accumulator: the second wipes the first.
    (
        "trn2",
        "alloc a bank 0 u0..4
         mm a acc<start|stop>; for 2 { mma a acc<stop> }; mma a acc<start|stop>
         for 2 { mma a acc<stop> }; read a",
    ),
    // One arm overwrites, the other accumulates on nothing.
    (
        "trn2",
        "alloc a bank 0 u0..4
         if { mm a acc<start|stop> } else { mma a acc<stop> }; read a",
    ),
];

#[test]
fn wrong_flags_are_not_proved() {
    for (name, text) in WRONG {
        let program = parse(text).expect("valid text");
        let target = Target::from_name(name).expect("a target");
        let diags = verify(&program, target, &Options::default());
        assert!(!is_proved(&diags), "{text}");
    }
}
