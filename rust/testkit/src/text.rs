//! A short text form of programs, for regressions and reproducers.
//!
//! ```text
//! func f; provisional
//! alloc a bank 0 q0..4 u0..4          # named, placed; ranges are half open
//! arg   b bank 1 q0..1 u0..8 escapes  # plain data; `fresh` says it holds nothing
//! mm a tile(128,32)@(0,64) acc<start|stop> region 0
//! t = mma a q0..2 u0..2 start_if
//! data a b0..4+64..128 engine(dma) after(t)
//! memset a inserted
//! for 4 { mma a; if { read a } else { } }
//! read a
//! ```
//!
//! Statements end at a newline or `;`, comments run from `#`.
//!
//! * Ranges: `p` partitions, `q` quadrants (32 partitions), `b` bytes, `u` units of 256 bytes; `a..b`
//!   or `a-b`. In an allocation they are the place in memory, in an instruction they are relative to
//!   the allocation, and what is left out is all of it. `b0..4+64..128` is a set of byte intervals.
//! * Allocations: `alloc NAME bank N ...`, or `unplaced` instead of the bank; also `escapes`, `aliases`
//!   (it may be the same memory as others that say so), and `sbuf` or `hbm`. `arg` makes a function argument, `dealloc NAME` ends a life.
//! * Matmuls: `mm` overwrites, `mma` accumulates (`from NAME ...` names another accumulator).
//!   `weights NAME ...` and `moving NAME ...` name the operands, where they matter.
//!   `cg0..1` is the tile of column group 0..1 and all rows. Without `acc<..>` the flags are auto.
//! * Other engines: `data`, `memset` (of zero), `read`; `do USE, USE` for several accesses of one
//!   operation, `effects USE, ...` for one that is not of the dialect, `call(0,1) USE, ...` or
//!   `call(?) ...` for a call that names its banks or does not. `engine(..)` names the engine.
//! * `t = ...` names an instruction and `after(t, inserted u)` waits for it; `inserted` marks what
//!   legalization added.
//! * Regions: `for`, `for N`, `if`, `while`, `switch`, `region`, then one `{ .. }` a region (`-` is a
//!   region without blocks; `else` and `do` may stand between them). In a region `^name:` begins a
//!   block and `goto name, name` gives its successors. The bounds of a `for varying` depend on the
//!   operation around it; loops `for like 3` have the same lower and upper bound. Branches and jumps that are
//!   `if like 4`, `switch varying like 5`, `goto like 6 a, b` ask for one value, `unlike 4` for the opposite of a bit.
//! * Conditions: `start_if(first 0,1)` holds where the two innermost loops around are in their first
//!   iteration; also `stop_if(last 0)`, `if(not first 0)`, `(true)`, `while(false)`. Without one nothing is known.

mod buffers;
mod instructions;
mod lex;
mod parse;
mod print;

use pto_ir::{BlockId, InstId, Op, Program, RegionKind};

pub use parse::{TextError, parse};
pub use print::print;

/// The loops around `block`, from the inside out.
fn loops_around_block(program: &Program, mut block: BlockId) -> Vec<InstId> {
    let mut loops = Vec::new();
    while let Some(holder) = program.holder(block) {
        let kind = match &program.inst(holder).op {
            Op::Region { kind, .. } => Some(*kind),
            _ => None,
        };
        if matches!(kind, Some(RegionKind::For { .. })) {
            loops.push(holder);
        }
        block = program.inst(holder).block;
    }
    loops
}

#[cfg(test)]
mod tests {
    use super::*;
    use pto_ir::{Interval, Op, UseKind};

    const EVERYTHING: &str = "
        func all; legalized
        arg b bank 1 q0-1 u0-8 escapes fresh
        alloc a bank 0 q0..4 u0..4
        alloc s sbuf unplaced p0..128 b0..64
        first = mm a tile(128,32)@(0,64) acc<start|stop> region 2
        second = mma a q0..2 u0..2 start_if stop_if acc<none> after(first)
        for like 7 { for varying { mma a acc<none> start_if(first 0,1) inserted stop_if(last 0) }; if(not first 0) { read a } }
        mma a start_if(true) acc<none>
        data a b0..4+64..128 engine(dma) after(inserted first, second)
        memset a inserted
        for 4 { mma a cg1..2; if { read a } else { } }; for like 7 { read a }
        while(false) { read b } do { ^head: goto unlike 3 head, tail; ^tail: mm b }
        if { memset b } -
        do read a, data b engine(scalar)
        effects memset a p0..1
        call(0,3) read b; call(?) data b
        switch {} {} {}; if like 3 { read a }; for { switch varying like 4 {} {} {}; if unlike 3 { read a } else {} }
        mma b from a q0..1
        mm b weights s moving s p0..64 acc<start>
        mma b moving s
        dealloc a";

    #[test]
    fn printing_parses_back() {
        let program = parse(EVERYTHING).expect("valid text");
        let text = print(&program);
        let again = parse(&text).expect("printed text is valid");
        assert!(again == program, "{text}");
        assert_eq!(print(&again), text);
    }

    #[test]
    fn ranges_are_relative_to_the_allocation() {
        let program = parse("alloc a bank 2 q1..3 u4..8\n mma a q1..2 u1..2").expect("valid");
        let placement = program.allocs()[0].placement.expect("placed");
        assert_eq!(
            (placement.bank, placement.partition, placement.offset),
            (2, 32, 1024)
        );
        let inst = program.walk().last().expect("the matmul");
        let access = program.uses(inst)[0].access;
        assert_eq!(program.access(access).partitions, Interval::new(32, 64));
        assert_eq!(program.bytes(access), [Interval::new(256, 512)]);
        assert_eq!(program.uses(inst)[0].kind, UseKind::PeAccumulate);
    }

    #[test]
    fn deep_nesting_is_no_problem() {
        let depth = 10_000;
        let text = format!("{}{}", "for {".repeat(depth), "}".repeat(depth));
        let program = parse(&text).expect("valid");
        assert_eq!(parse(&print(&program)).expect("valid"), program);
        assert_eq!(
            program
                .walk()
                .filter(|&id| matches!(program.inst(id).op, Op::Region { .. }))
                .count(),
            depth
        );
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        for (text, expected) in [
            ("\nmm a", "line 2: expected a buffer, found 'a'"),
            (
                "alloc a q0..1",
                "line 1: expected 'bank N' or 'unplaced' for 'a'",
            ),
            (
                "alloc a bank 0 q0..1 u0..1\nmm a acc<go>",
                "line 2: expected a flag, found 'go'",
            ),
            ("for {", "line 1: expected '}', found the end of the text"),
            ("}", "line 1: expected a statement, found '}'"),
            (
                "if { goto x }",
                "line 1: expected a block of this region, found 'x'",
            ),
            (
                "alloc a bank 0 q0..1 u0..1 z9",
                "line 1: expected ';' or a new line, found 'z9'",
            ),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(error.to_string(), expected);
        }
    }
}
