//! Random programs with allocations and matmuls in the blocks of loops, branches and graphs.

use std::fmt::Write as _;

use pto_ir::Target;
use pto_testkit::text;

use super::random::{Outcome, examine, first_seed, report, rounds};
use super::worked::target;

/// A buffer: its name, its quadrants, and which of its halves every path wrote.
#[derive(Clone)]
struct Buffer {
    name: String,
    quadrants: (u32, u32),
    written: [bool; 2],
}

struct Generator {
    rng: fastrand::Rng,
    text: String,
    names: u32,
    budget: u32,
    has_last_quadrant: bool,
    /// Loops around the current block.
    loops: u32,
}

impl Generator {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn allocate(&mut self, kind: &str) -> Buffer {
        let name = self.name();
        let quadrants = [(0, 4), (0, 1), (1, 2), (0, 2), (2, 4)][self.rng.usize(0..5)];
        let units = [(0, 4), (4, 8), (0, 8), (2, 4)][self.rng.usize(0..4)];
        let line = format!(
            "{kind} {name} bank {} q{}..{} u{}..{}{}",
            self.rng.u32(0..2),
            quadrants.0,
            quadrants.1,
            units.0,
            units.1,
            if kind == "arg" { " escapes" } else { "" }
        );
        self.line(&line);
        Buffer {
            name,
            quadrants,
            written: [kind == "arg"; 2],
        }
    }

    fn instruction(&mut self, buffers: &mut [Buffer]) {
        let Some(index) = (!buffers.is_empty()).then(|| self.rng.usize(0..buffers.len())) else {
            return;
        };
        let buffer = &mut buffers[index];
        let piece = self.rng.usize(0..5).min(2);
        let units = {
            let line = self
                .text
                .lines()
                .find(|l| l.split(' ').nth(1) == Some(&buffer.name) && l.contains(" bank "));
            let units = line.and_then(|l| l.split(" u").nth(1)).expect("allocated");
            let mut ends = units.split(' ').next().expect("units").split("..");
            let mut end = || {
                ends.next()
                    .expect("an end")
                    .parse::<u32>()
                    .expect("a number")
            };
            let start = end();
            end() - start
        };
        let (halves, place): (&[usize], String) = match piece {
            0 => (&[0], format!("u0..{}", units / 2)),
            1 => (&[1], format!("u{}..{units}", units / 2)),
            _ => (&[0, 1], String::new()),
        };
        let (from, to) = buffer.quadrants;
        let tile = match (from, to - from) {
            (0, 4) => "",
            (0, n) if self.rng.bool() => ["", " cg0..1", " cg0..2"][n as usize],
            (0, _) => "",
            (1, _) => " cg1..2",
            (_, _) if self.has_last_quadrant || to - from == 2 => " cg2..4",
            _ => return,
        };
        let is_written = halves.iter().all(|&half| buffer.written[half]);
        let verb = match self.rng.u32(0..10) {
            0..3 => "mma",
            3..5 => "mm",
            5..6 => "data",
            6..7 => "memset",
            7..8 if !is_written => "effects memset",
            _ if is_written => "read",
            _ => "data",
        };
        let tile = if verb.starts_with("mm") { tile } else { "" };
        let line = format!("{verb} {} {place}{tile}", buffer.name);
        if verb != "read" {
            halves.iter().for_each(|&half| buffer.written[half] = true);
        }
        self.line(&line);
    }

    /// A block; what it does to the buffers around it comes back.
    fn block(&mut self, around: &[Buffer], depth: u32) -> Vec<Buffer> {
        let mut buffers: Vec<Buffer> = around.to_vec();
        for _ in 0..self.rng.u32(1..8) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            match self.rng.u32(0..12) {
                0..2 => {
                    let buffer = self.allocate("alloc");
                    buffers.push(buffer);
                }
                2..4 if depth < 3 => self.holder(&mut buffers, depth),
                _ => self.instruction(&mut buffers),
            }
        }
        buffers.truncate(around.len());
        buffers
    }

    fn holder(&mut self, buffers: &mut [Buffer], depth: u32) {
        let heads = [
            "for {",
            "for 2 {",
            "if {",
            "for 0 {",
            "region {",
            "for varying {",
            "if(first 0) {",
            "if(not first 0) {",
        ];
        let head = match heads[self.rng.usize(0..heads.len())] {
            head if head.contains("first") && self.loops == 0 => "if {",
            head => head,
        };
        self.line(head);
        self.loops += u32::from(head.starts_with("for"));
        if head == "region {" {
            self.graph(buffers, depth);
            self.line("}");
            return;
        }
        let first = self.block(buffers, depth + 1);
        self.loops -= u32::from(head.starts_with("for"));
        let has_else = head.starts_with("if") && self.rng.bool();
        let second = if has_else {
            self.line("} else {");
            self.block(buffers, depth + 1)
        } else {
            first.clone()
        };
        self.line("}");
        let runs = has_else || head == "for 2 {";
        for ((buffer, a), b) in buffers.iter_mut().zip(first).zip(second) {
            for half in 0..2 {
                buffer.written[half] |= runs && a.written[half] && b.written[half];
            }
        }
    }

    /// Four blocks: a fork, two ways, and an end, perhaps with a way back.
    fn graph(&mut self, buffers: &[Buffer], depth: u32) {
        let names: Vec<String> = (0..4).map(|_| self.name()).collect();
        let around = buffers.to_vec();
        for (index, name) in names.iter().enumerate() {
            self.line(&format!("^{name}:"));
            self.block(&around, depth + 1);
            let goto = match index {
                0 => format!("goto {}, {}", names[1], names[2]),
                1 | 2 => format!("goto {}", names[3]),
                _ if self.rng.bool() => format!("goto {}", names[0]),
                _ => continue,
            };
            self.line(&goto);
        }
    }
}

fn generate(seed: u64, target: &Target) -> String {
    let mut generator = Generator {
        rng: fastrand::Rng::with_seed(seed),
        text: String::new(),
        names: 0,
        budget: 26,
        has_last_quadrant: target.has_last_quadrant_group,
        loops: 0,
    };
    let mut around = Vec::new();
    if generator.rng.u32(0..4) == 0 {
        around.push(generator.allocate("arg"));
    }
    generator.block(&around, 0);
    generator.text
}

/// Leaves out lines, and whole operations with regions, as long as the program stays wrong.
fn shrink(source: &str, target: &'static Target, paths: u64) -> String {
    let is_wrong = |lines: &[&str]| {
        text::parse(&lines.join("\n"))
            .is_ok_and(|program| examine(&program, target, paths).0 == Outcome::Wrong)
    };
    let mut lines: Vec<&str> = source.lines().collect();
    'again: loop {
        for start in 0..lines.len() {
            for length in [12, 8, 6, 5, 4, 3, 2, 1] {
                let end = (start + length).min(lines.len());
                let shorter = [&lines[..start], &lines[end..]].concat();
                if is_wrong(&shorter) {
                    lines = shorter;
                    continue 'again;
                }
            }
        }
        return lines.join("\n");
    }
}

#[test]
fn blocks_of_their_own() {
    let paths = 8;
    for name in ["trn1", "trn2", "trn3"] {
        let target = target(name);
        let mut counts = [0; 3];
        for seed in first_seed()..first_seed() + rounds() {
            let source = generate(seed, target);
            let program = text::parse(&source).expect("the generator writes valid text");
            match examine(&program, target, paths).0 {
                Outcome::Meaningless => counts[0] += 1,
                Outcome::Refused(_) => counts[1] += 1,
                Outcome::Right => counts[2] += 1,
                Outcome::Wrong => {
                    let small = shrink(&source, target, paths);
                    let program = text::parse(&small).expect("still valid");
                    let (_, reason) = examine(&program, target, paths);
                    let mut message = format!("seed {seed}\n");
                    _ = write!(message, "{}", report(&program, target, &reason));
                    panic!("{message}");
                }
            }
        }
        println!("{name} {counts:?}");
        assert!(counts[2] > rounds() / 10, "{counts:?}");
    }
}
