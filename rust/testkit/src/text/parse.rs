//! Tokens into a program.

use std::collections::HashMap;

use pto_ir::{
    AllocId, Asked, BlockId, Bounds, Condition, Engine, InstId, Op, Program, ProgramBuilder,
    Question, QuestionId, RegionKind,
};

use super::lex::{Token, tokens};

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

/// What parsing gives.
pub(super) type Parsed<T> = Result<T, TextError>;

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
        questions: HashMap::new(),
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

/// A text half read.
pub(super) struct Parser<'a> {
    pub(super) tokens: Vec<(Token<'a>, usize)>,
    pub(super) at: usize,
    pub(super) builder: ProgramBuilder,
    marks: (bool, bool),
    pub(super) argument_count: u32,
    pub(super) allocs: HashMap<&'a str, AllocId>,
    pub(super) insts: HashMap<&'a str, InstId>,
    /// The questions that have a number.
    questions: HashMap<u32, QuestionId>,
    frames: Vec<Frame<'a>>,
    declared: Option<&'a str>,
}

impl<'a> Parser<'a> {
    // Tokens.

    pub(super) fn peek(&self) -> Token<'a> {
        self.tokens[self.at].0
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if token != Token::EndOfText {
            self.at += 1;
        }
        token
    }

    pub(super) fn error<T>(&self, expected: &str, found: Token<'_>) -> Parsed<T> {
        let before = self.at.saturating_sub(usize::from(self.peek() != found));
        Err(TextError {
            line: self.tokens[before].1,
            message: format!("expected {expected}, found {found}"),
        })
    }

    pub(super) fn mark(&mut self, mark: char) -> Parsed<()> {
        match self.next() {
            Token::Mark(found) if found == mark => Ok(()),
            found => self.error(&format!("'{mark}'"), found),
        }
    }

    pub(super) fn takes_mark(&mut self, mark: char) -> bool {
        let found = self.peek() == Token::Mark(mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Token::Word(word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn word(&mut self, expected: &str) -> Parsed<&'a str> {
        match self.next() {
            Token::Word(word) => Ok(word),
            found => self.error(expected, found),
        }
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let word = self.word("a number")?;
        word.parse()
            .or_else(|_| self.error("a number", Token::Word(word)))
    }

    pub(super) fn known<T: Copy>(
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

    /// The name is given once, before anything else.
    fn builder_name(&mut self) -> Parsed<()> {
        let name = self.word("a name")?;
        let built = self.builder.program();
        if self.frames.len() > 1 || !built.insts().is_empty() || !built.allocs().is_empty() {
            return self.error("'func' before anything else", Token::Word(name));
        }
        self.builder = ProgramBuilder::new(name);
        Ok(())
    }

    fn begin_regions(&mut self, word: &str) -> Parsed<()> {
        let may_ask = matches!(word, "for" | "if" | "switch");
        let around = self.builder.program().holder(self.builder.block());
        let varies = may_ask && self.takes_word("varying");
        let made_in = around.filter(|_| varies);
        let asked = match may_ask {
            true => self.asked(made_in)?,
            false => None,
        };
        let runs = word == "for" && self.takes_word("runs");
        let condition = match word {
            "if" | "while" => self.condition()?,
            _ => Condition::Unknown,
        };
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
        let choice: Option<u32> = match (word, self.peek()) {
            ("switch", Token::Word(number)) if number != "-" => Some(self.number()?),
            _ => None,
        };
        let return_block = self.builder.block();
        let (holder, _) = self.builder.push_region(kind, 0);
        if let Some(chosen) = choice {
            self.builder.set_choice(holder, chosen as usize);
        }
        let is_loop = matches!(kind, RegionKind::For { .. });
        if is_loop {
            let bounds = Bounds {
                vary_in: made_in,
                runs,
                tells_first: true,
                tells_last: true,
            };
            self.builder.set_bounds(holder, bounds);
        }
        // The bounds of a loop are its own where nothing else is said.
        let own = || Asked {
            question: self.builder.add_question(Question { made_in }),
            negated: false,
        };
        if let Some(asked) = asked.or_else(|| (is_loop && !runs).then(own)) {
            self.builder.set_asks(holder, asked);
        }
        if condition != Condition::Unknown {
            self.builder.set_branch(holder, condition);
        }
        self.next_region(holder, return_block)
    }

    /// `like` or `unlike` and the number of a question; one that is new is made anew in `made_in`.
    fn asked(&mut self, made_in: Option<InstId>) -> Parsed<Option<Asked>> {
        let negated = self.takes_word("unlike");
        if !negated && !self.takes_word("like") {
            return Ok(None);
        }
        let number: u32 = self.number()?;
        let builder = &mut self.builder;
        let new = || builder.add_question(Question { made_in });
        let question = *self.questions.entry(number).or_insert_with(new);
        Ok(Some(Asked { question, negated }))
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
        if let Some(asked) = self.asked(None)? {
            self.builder.set_jump_asks(from, asked);
        }
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
}
