//! Tokens into a program.

use std::collections::HashMap;

use pto_ir::build::MatmulSpec;
use pto_ir::{
    AccFlags, AccessId, Alloc, AllocId, BlockId, Engine, InstId, Interval, IntervalSet, Op, Origin,
    Placement, Program, ProgramBuilder, RegionKind, Space, Tile, Use, UseKind,
};

use super::lex::{Token, tokens};

const QUADRANT_PARTITIONS: u32 = 32;
const UNIT_BYTES: u32 = 256;
const PE_ROWS: u32 = 128;

/// Why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// What was expected and what was found.
    pub message: String,
}

impl std::fmt::Display for TextError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TextError {}

type Parsed<T> = Result<T, TextError>;

/// The program that `text` describes.
///
/// # Errors
///
/// Where the text does not follow the grammar of [the module](super), or names what is not there.
pub fn parse(text: &str) -> Result<Program, TextError> {
    let mut parser = Parser {
        tokens: tokens(text),
        at: 0,
        builder: ProgramBuilder::new("f"),
        marks: (false, false),
        argument_count: 0,
        allocs: HashMap::new(),
        insts: HashMap::new(),
        frames: vec![Frame::default()],
        declared: None,
    };
    parser.statements()?;
    if let Some(name) = parser.declared {
        return Ok(ProgramBuilder::declaration(name));
    }
    parser.close_frame()?;
    parser.builder.set_marks(parser.marks.0, parser.marks.1);
    Ok(parser.builder.finish())
}

/// A region under construction; the body's has no holder.
#[derive(Default)]
struct Frame<'a> {
    /// The operation that holds the region, and the block to go on with after it.
    holder: Option<(InstId, BlockId)>,
    labels: HashMap<&'a str, BlockId>,
    gotos: Vec<(BlockId, &'a str, usize)>,
}

/// The access-shaped words of a statement: either axis may be missing.
#[derive(Default)]
struct Ranges {
    partitions: Option<Interval>,
    bytes: Option<IntervalSet>,
}

/// What may follow the accesses of an instruction.
#[derive(Default)]
struct Suffix {
    engine: Option<Engine>,
    after: Vec<(InstId, bool)>,
    inserted: bool,
}

struct Parser<'a> {
    tokens: Vec<(Token<'a>, usize)>,
    at: usize,
    builder: ProgramBuilder,
    marks: (bool, bool),
    argument_count: u32,
    allocs: HashMap<&'a str, AllocId>,
    insts: HashMap<&'a str, InstId>,
    frames: Vec<Frame<'a>>,
    declared: Option<&'a str>,
}

impl<'a> Parser<'a> {
    // Tokens.

    fn peek(&self) -> Token<'a> {
        self.tokens[self.at].0
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if token != Token::EndOfText {
            self.at += 1;
        }
        token
    }

    fn error<T>(&self, expected: &str, found: Token<'_>) -> Parsed<T> {
        let before = self.at.saturating_sub(usize::from(self.peek() != found));
        Err(TextError {
            line: self.tokens[before].1,
            message: format!("expected {expected}, found {found}"),
        })
    }

    fn mark(&mut self, mark: char) -> Parsed<()> {
        match self.next() {
            Token::Mark(found) if found == mark => Ok(()),
            found => self.error(&format!("'{mark}'"), found),
        }
    }

    fn takes_mark(&mut self, mark: char) -> bool {
        let found = self.peek() == Token::Mark(mark);
        self.at += usize::from(found);
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Token::Word(word);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, expected: &str) -> Parsed<&'a str> {
        match self.next() {
            Token::Word(word) => Ok(word),
            found => self.error(expected, found),
        }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let word = self.word("a number")?;
        word.parse()
            .or_else(|_| self.error("a number", Token::Word(word)))
    }

    fn known<T: Copy>(
        &mut self,
        expected: &str,
        find: impl Fn(&Self, &'a str) -> Option<T>,
    ) -> Parsed<T> {
        let word = self.word(expected)?;
        match find(self, word) {
            Some(found) => Ok(found),
            None => self.error(expected, Token::Word(word)),
        }
    }

    // Statements and regions.

    fn statements(&mut self) -> Parsed<()> {
        loop {
            match self.next() {
                Token::EndOfStatement => {}
                Token::EndOfText if self.frames.len() > 1 => {
                    return self.error("'}'", Token::EndOfText);
                }
                Token::EndOfText => return Ok(()),
                Token::Mark('}') if self.frames.len() > 1 => self.end_region()?,
                Token::Mark('^') => self.label()?,
                Token::Word(word) => self.statement(word)?,
                found => return self.error("a statement", found),
            }
        }
    }

    fn statement(&mut self, word: &'a str) -> Parsed<()> {
        match word {
            "func" => self.builder_name()?,
            "declare" => self.declared = Some(self.word("a name")?),
            "provisional" => self.marks.0 = true,
            "legalized" => self.marks.1 = true,
            "alloc" | "arg" => self.alloc(word == "arg")?,
            "dealloc" => {
                let alloc = self.buffer()?;
                self.builder.push(Op::Dealloc(alloc), Engine::Other, &[]);
            }
            "goto" => self.goto()?,
            "for" | "if" | "while" | "switch" | "region" => return self.begin_regions(word),
            _ if self.takes_mark('=') => {
                let op = self.word("an instruction")?;
                let inst = self.instruction(op)?;
                self.insts.insert(word, inst);
            }
            _ => {
                self.instruction(word)?;
            }
        }
        self.end_statement()
    }

    fn end_statement(&mut self) -> Parsed<()> {
        match self.peek() {
            Token::EndOfStatement | Token::EndOfText | Token::Mark('}') => Ok(()),
            found => self.error("';' or a new line", found),
        }
    }

    /// The name is given once, before anything else is built.
    fn builder_name(&mut self) -> Parsed<()> {
        let name = self.word("a name")?;
        self.builder = ProgramBuilder::new(name);
        Ok(())
    }

    fn begin_regions(&mut self, word: &str) -> Parsed<()> {
        let kind = match word {
            "for" => {
                let trips = match self.peek() {
                    Token::Word(word) if word != "-" => Some(self.number()?),
                    _ => None,
                };
                RegionKind::For { trips }
            }
            "if" => RegionKind::If,
            "while" => RegionKind::While,
            "switch" => RegionKind::IndexSwitch,
            _ => RegionKind::Other,
        };
        let return_block = self.builder.block();
        let (holder, _) = self.builder.push_region(kind, 0);
        self.next_region(holder, return_block)
    }

    /// Opens the next region of `holder`, or ends the statement where none follows.
    fn next_region(&mut self, holder: InstId, return_block: BlockId) -> Parsed<()> {
        loop {
            if self.takes_word("-") {
                self.builder.add_region(holder);
                continue;
            }
            if !self.takes_word("else") && !self.takes_word("do") {
                break;
            }
        }
        if !self.takes_mark('{') {
            self.builder.set_block(return_block);
            return self.end_statement();
        }
        let region = self.builder.add_region(holder);
        let block = self.builder.add_block(region);
        self.builder.set_block(block);
        self.frames.push(Frame {
            holder: Some((holder, return_block)),
            ..Frame::default()
        });
        Ok(())
    }

    fn end_region(&mut self) -> Parsed<()> {
        match self.close_frame()? {
            Some((holder, return_block)) => self.next_region(holder, return_block),
            None => Ok(()),
        }
    }

    /// Ends the current region: every `goto` must name one of its blocks.
    fn close_frame(&mut self) -> Parsed<Option<(InstId, BlockId)>> {
        let frame = self.frames.pop().unwrap_or_default();
        for (from, name, line) in frame.gotos {
            let Some(&to) = frame.labels.get(name) else {
                return Err(TextError {
                    line,
                    message: format!("expected a block of this region, found '{name}'"),
                });
            };
            self.builder.add_successor(from, to);
        }
        Ok(frame.holder)
    }

    /// `^name:` begins a block, or names the entry block where that is still empty.
    fn label(&mut self) -> Parsed<()> {
        let name = self.word("a block name")?;
        self.mark(':')?;
        let current = self.builder.block();
        let region = self.builder.program().block(current).region;
        let is_new_entry = self.builder.program().block(current).insts.is_empty()
            && self
                .frames
                .last()
                .is_some_and(|frame| frame.labels.is_empty() && frame.gotos.is_empty());
        let block = if is_new_entry {
            current
        } else {
            self.builder.add_block(region)
        };
        self.builder.set_block(block);
        if let Some(frame) = self.frames.last_mut() {
            frame.labels.insert(name, block);
        }
        Ok(())
    }

    fn goto(&mut self) -> Parsed<()> {
        let from = self.builder.block();
        loop {
            let line = self.tokens[self.at].1;
            let name = self.word("a block name")?;
            if let Some(frame) = self.frames.last_mut() {
                frame.gotos.push((from, name, line));
            }
            if !self.takes_mark(',') {
                return Ok(());
            }
        }
    }

    // Buffers and accesses.

    fn buffer(&mut self) -> Parsed<AllocId> {
        self.known("a buffer", |parser, word| parser.allocs.get(word).copied())
    }

    fn alloc(&mut self, is_argument: bool) -> Parsed<()> {
        let name = self.word("a name")?;
        let (mut bank, mut placed, mut space) = (None, true, Space::Psum);
        let (mut fresh, mut escapes) = (false, false);
        let mut ranges = Ranges::default();
        while let Token::Word(word) = self.peek() {
            self.at += 1;
            match word {
                "bank" => bank = Some(self.number()?),
                "unplaced" => placed = false,
                "sbuf" => space = Space::Sbuf,
                "hbm" => space = Space::Hbm,
                "fresh" => fresh = true,
                "escapes" => escapes = true,
                _ if self.range(word, &mut ranges)? => {}
                _ => {
                    self.at -= 1;
                    break;
                }
            }
        }
        if bank.is_none() && placed {
            let message = format!("expected 'bank N' or 'unplaced' for '{name}'");
            let line = self.tokens[self.at].1;
            return Err(TextError { line, message });
        }
        let partitions = ranges.partitions.unwrap_or(Interval::new(0, PE_ROWS));
        let bytes = ranges.bytes.unwrap_or_default();
        let bytes = bytes
            .spans()
            .first()
            .copied()
            .unwrap_or(Interval::new(0, 2048));
        let origin = if is_argument {
            Origin::Argument {
                index: self.argument_count,
                fresh,
            }
        } else {
            Origin::Allocation
        };
        self.argument_count += u32::from(is_argument);
        let block = match origin {
            Origin::Argument { .. } => BlockId::new(0),
            Origin::Allocation => self.builder.block(),
        };
        let alloc = self.builder.add_alloc(Alloc {
            space,
            origin,
            block,
            partitions: partitions.len(),
            bytes: bytes.len(),
            placement: bank.map(|bank| Placement {
                bank,
                offset: bytes.start,
                partition: partitions.start,
            }),
            escapes,
        });
        if !is_argument {
            self.builder.push_alloc(alloc);
        }
        self.allocs.insert(name, alloc);
        Ok(())
    }

    /// Takes `word` as a range, where it is one.
    fn range(&self, word: &'a str, ranges: &mut Ranges) -> Parsed<bool> {
        let mut letters = word.chars();
        let (Some(axis), rest) = (letters.next(), letters.as_str()) else {
            return Ok(false);
        };
        let (is_bytes, scale) = match axis {
            'p' => (false, 1),
            'q' => (false, QUADRANT_PARTITIONS),
            'b' => (true, 1),
            'u' => (true, UNIT_BYTES),
            _ => return Ok(false),
        };
        if !rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(false);
        }
        let spans: Option<Vec<Interval>> = rest.split('+').map(|s| interval(s, scale)).collect();
        match spans {
            Some(spans) if is_bytes => ranges.bytes = Some(IntervalSet::from_spans(spans)),
            Some(spans) if spans.len() == 1 => ranges.partitions = Some(spans[0]),
            _ => return self.error("a range", Token::Word(word)),
        }
        Ok(true)
    }

    /// A buffer name and the ranges after it.
    fn access(&mut self) -> Parsed<AccessId> {
        let alloc = self.buffer()?;
        let mut ranges = Ranges::default();
        while let Token::Word(word) = self.peek() {
            if !self.range(word, &mut ranges)? {
                break;
            }
            self.at += 1;
        }
        let Alloc {
            partitions, bytes, ..
        } = *self.builder.program().alloc(alloc);
        let all_bytes = || IntervalSet::from_spans(vec![Interval::new(0, bytes)]);
        let partitions = ranges.partitions.unwrap_or(Interval::new(0, partitions));
        let bytes = ranges.bytes.unwrap_or_else(all_bytes);
        Ok(self.builder.access(alloc, partitions, bytes))
    }

    // Instructions.

    fn instruction(&mut self, word: &'a str) -> Parsed<InstId> {
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
        self.finish_instruction(inst, suffix);
        Ok(inst)
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
                "tile" => spec.tile = Some(self.tile()?),
                "acc" => spec.flags = Some(self.flags()?),
                "region" => spec.zero_region = Some(self.number()?),
                "start_if" => spec.has_start_if = true,
                "stop_if" => spec.has_stop_if = true,
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

/// `a..b` or `a-b`, both ends times `scale`.
fn interval(text: &str, scale: u32) -> Option<Interval> {
    let (start, end) = text.split_once("..").or_else(|| text.split_once('-'))?;
    let bound = |s: &str| s.parse::<u32>().ok()?.checked_mul(scale);
    Some(Interval::new(bound(start)?, bound(end)?))
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
