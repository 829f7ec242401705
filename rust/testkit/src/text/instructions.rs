//! Instructions: matmuls, other engines, and what may follow their accesses.

use pto_ir::build::MatmulSpec;
use pto_ir::{
    AccFlags, Condition, Engine, InstId, Interval, Op, Predicate, Tile, Turn, Use, UseKind,
};

use super::buffers::{QUADRANT_PARTITIONS, interval};
use super::lex::Token;
use super::loops_around_block;
use super::parse::{Parsed, Parser};

const PE_ROWS: u32 = 128;
const ELEMENT_BYTES: u32 = 4;

/// What may follow the accesses of an instruction.
#[derive(Default)]
struct Suffix {
    engine: Option<Engine>,
    after: Vec<(InstId, bool)>,
    inserted: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn instruction(&mut self, word: &'a str) -> Parsed<InstId> {
        let (op, default_engine, uses) = match word {
            "mm" | "mma" => return self.matmul(word == "mma"),
            "data" | "memset" | "read" => {
                self.at -= 1;
                (Op::Engine, Engine::Vector, vec![self.one_use()?])
            }
            "do" => (Op::Engine, Engine::Vector, self.use_list()?),
            "effects" => (Op::Effects, Engine::Other, self.use_list()?),
            "call" => {
                let banks = self.call_banks()?;
                (Op::Call { banks }, Engine::Other, self.use_list()?)
            }
            _ => return self.error("a statement", Token::Word(word)),
        };
        let suffix = self.suffix()?;
        let engine = suffix.engine.unwrap_or(default_engine);
        let inst = self.builder.push(op, engine, &uses);
        self.set_elements(inst, &uses);
        self.finish_instruction(inst, suffix);
        Ok(inst)
    }

    /// Elements of four bytes: those that are written, or else those of the first access.
    fn set_elements(&mut self, inst: InstId, uses: &[Use]) {
        let is_write = |used: &&Use| used.kind.writes();
        if let Some(used) = uses.iter().find(is_write).or(uses.first()) {
            let spans = self.builder.program().bytes(used.access).iter();
            let bytes: u32 = spans.map(|span| span.len()).sum();
            self.builder.set_elements(inst, bytes / ELEMENT_BYTES);
        }
    }

    fn one_use(&mut self) -> Parsed<Use> {
        let kind = self.known("'read', 'data' or 'memset'", |_, word| match word {
            "read" => Some(UseKind::Read),
            "data" => Some(UseKind::Write),
            "memset" => Some(UseKind::WriteZero),
            _ => None,
        })?;
        let access = self.access()?;
        Ok(Use { access, kind })
    }

    fn use_list(&mut self) -> Parsed<Vec<Use>> {
        let mut uses = Vec::new();
        while let Token::Word("read" | "data" | "memset") = self.peek() {
            uses.push(self.one_use()?);
            if !self.takes_mark(',') {
                break;
            }
        }
        Ok(uses)
    }

    fn call_banks(&mut self) -> Parsed<Option<u32>> {
        self.mark('(')?;
        let mut banks = Some(0);
        while !self.takes_mark(')') {
            if self.takes_word("?") {
                banks = None;
            } else {
                let bank: u32 = self.number()?;
                banks = banks.map(|mask| mask | 1u32.checked_shl(bank).unwrap_or(0));
            }
            self.takes_mark(',');
        }
        Ok(banks)
    }

    fn matmul(&mut self, accumulates: bool) -> Parsed<InstId> {
        let dst = self.access()?;
        let mut spec = MatmulSpec {
            accumulator: accumulates.then_some(dst),
            ..MatmulSpec::default()
        };
        while let Token::Word(word) = self.peek() {
            self.at += 1;
            match word {
                "from" if accumulates => spec.accumulator = Some(self.access()?),
                "weights" => spec.stationary = Some(self.access()?),
                "moving" => spec.moving = Some(self.access()?),
                "tile" => spec.tile = Some(self.tile()?),
                "acc" => spec.flags = Some(self.flags()?),
                "region" => spec.zero_region = Some(self.number()?),
                "start_if" => spec.start_if = Some(self.predicate()?),
                "stop_if" => spec.stop_if = Some(self.predicate()?),
                _ => match word.strip_prefix("cg").and_then(|s| interval(s, 1)) {
                    Some(group) => spec.tile = group_tile(group),
                    None => {
                        self.at -= 1;
                        break;
                    }
                },
            }
        }
        let suffix = self.suffix()?;
        let inst = self.builder.push_matmul(dst, spec);
        self.finish_instruction(inst, suffix);
        Ok(inst)
    }

    fn predicate(&mut self) -> Parsed<Predicate> {
        let condition = self.condition()?;
        let condition = self.builder.condition(condition);
        let inserted = self.takes_word("inserted");
        Ok(Predicate {
            condition,
            inserted,
        })
    }

    /// `(first 0,1)`, `(not last 0)`, `(true)`, or nothing, which is unknown. The number of a loop is
    /// how many loops lie between it and the current block.
    pub(super) fn condition(&mut self) -> Parsed<Condition> {
        if !self.takes_mark('(') {
            return Ok(Condition::Unknown);
        }
        let negated = self.takes_word("not");
        let turn = match self.word("a condition")? {
            "true" | "false" if negated => return self.error("a turn", Token::Word("not")),
            constant @ ("true" | "false") => {
                self.mark(')')?;
                return Ok(Condition::Constant(constant == "true"));
            }
            "first" => Turn::First,
            "last" => Turn::Last,
            other => return self.error("'first' or 'last'", Token::Word(other)),
        };
        let around = loops_around_block(self.builder.program(), self.builder.block());
        let mut loops = Vec::new();
        while !self.takes_mark(')') {
            let level: usize = self.number()?;
            let Some(&holder) = around.get(level) else {
                let found = self.peek();
                return self.error("the number of a loop around this before", found);
            };
            loops.push(holder);
            self.takes_mark(',');
        }
        let condition = Condition::all(turn, loops);
        Ok(if negated {
            condition.opposite()
        } else {
            condition
        })
    }

    fn tile(&mut self) -> Parsed<Tile> {
        let (rows, cols) = self.pair()?;
        self.mark('@')?;
        let (row, col) = self.pair()?;
        Ok(Tile {
            rows,
            cols,
            row,
            col,
        })
    }

    fn pair(&mut self) -> Parsed<(u32, u32)> {
        self.mark('(')?;
        let first = self.number()?;
        self.mark(',')?;
        let second = self.number()?;
        self.mark(')')?;
        Ok((first, second))
    }

    fn flags(&mut self) -> Parsed<AccFlags> {
        self.mark('<')?;
        let names = self.word("flags")?;
        let mut flags = AccFlags::NONE;
        for name in names.split('|') {
            flags = flags.with(match name {
                "none" => AccFlags::NONE,
                "start" => AccFlags::START,
                "stop" => AccFlags::STOP,
                "accumulate" => AccFlags::ACCUMULATE,
                _ => return self.error("a flag", Token::Word(name)),
            });
        }
        self.mark('>')?;
        Ok(flags)
    }

    fn suffix(&mut self) -> Parsed<Suffix> {
        let mut suffix = Suffix::default();
        loop {
            if self.takes_word("inserted") {
                suffix.inserted = true;
            } else if self.takes_word("engine") {
                self.mark('(')?;
                suffix.engine = Some(self.known("an engine", |_, word| engine(word))?);
                self.mark(')')?;
            } else if self.takes_word("after") {
                self.mark('(')?;
                while !self.takes_mark(')') {
                    let inserted = self.takes_word("inserted");
                    let from = self.known("a named instruction", |parser, word| {
                        parser.insts.get(word).copied()
                    })?;
                    suffix.after.push((from, inserted));
                    self.takes_mark(',');
                }
            } else {
                return Ok(suffix);
            }
        }
    }

    fn finish_instruction(&mut self, inst: InstId, suffix: Suffix) {
        for (from, inserted) in suffix.after {
            self.builder.add_edge(inst, from, inserted);
        }
        if suffix.inserted {
            self.builder.set_inserted(inst);
        }
    }
}

/// The tile of all rows over the quadrants `group`; all columns need none.
fn group_tile(group: Interval) -> Option<Tile> {
    (group != Interval::new(0, 4)).then_some(Tile {
        rows: PE_ROWS,
        cols: group.len() * QUADRANT_PARTITIONS,
        row: 0,
        col: group.start * QUADRANT_PARTITIONS,
    })
}

fn engine(name: &str) -> Option<Engine> {
    Some(match name {
        "pe" => Engine::Pe,
        "vector" => Engine::Vector,
        "scalar" => Engine::Scalar,
        "gpsimd" => Engine::Gpsimd,
        "dma" => Engine::Dma,
        "other" => Engine::Other,
        _ => return None,
    })
}
