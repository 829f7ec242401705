//! Buffers, ranges and accesses.

use pto_ir::{AccessId, Alloc, AllocId, BlockId, Interval, IntervalSet, Origin, Placement, Space};

use super::lex::Token;
use super::parse::{Parsed, Parser, TextError};

pub(super) const QUADRANT_PARTITIONS: u32 = 32;
const UNIT_BYTES: u32 = 256;
const PARTITIONS: u32 = 128;
const BANK_BYTES: u32 = 2048;

/// The access-shaped words of a statement: either axis may be missing.
#[derive(Default)]
struct Ranges {
    partitions: Option<Interval>,
    bytes: Option<IntervalSet>,
}

impl<'a> Parser<'a> {
    pub(super) fn buffer(&mut self) -> Parsed<AllocId> {
        self.known("a buffer", |parser, word| parser.allocs.get(word).copied())
    }

    pub(super) fn alloc(&mut self, is_argument: bool) -> Parsed<()> {
        let name = self.word("a name")?;
        let (mut bank, mut placed, mut space) = (None, true, Space::Psum);
        let (mut fresh, mut escapes, mut may_alias) = (false, false, false);
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
                "aliases" => may_alias = true,
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
        let partitions = ranges.partitions.unwrap_or(Interval::new(0, PARTITIONS));
        let bytes = ranges.bytes.unwrap_or_default();
        let bytes = bytes
            .spans()
            .first()
            .copied()
            .unwrap_or(Interval::new(0, BANK_BYTES));
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
            may_alias,
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
    pub(super) fn access(&mut self) -> Parsed<AccessId> {
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
}

/// `a..b` or `a-b`, both ends times `scale`.
pub(super) fn interval(text: &str, scale: u32) -> Option<Interval> {
    let (start, end) = text.split_once("..").or_else(|| text.split_once('-'))?;
    let bound = |s: &str| s.parse::<u32>().ok()?.checked_mul(scale);
    Some(Interval::new(bound(start)?, bound(end)?))
}
