//! Text into tokens, each with its line.

/// A token: a word, a punctuation mark, or the end of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Mark(char),
    EndOfStatement,
    EndOfText,
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(word) => write!(f, "'{word}'"),
            Self::Mark(mark) => write!(f, "'{mark}'"),
            Self::EndOfStatement => f.write_str("the end of the statement"),
            Self::EndOfText => f.write_str("the end of the text"),
        }
    }
}

const MARKS: &str = "{}(),=:@<>^";

/// The tokens of `text` with their line numbers, from 1.
pub(super) fn tokens(text: &str) -> Vec<(Token<'_>, usize)> {
    let mut result = Vec::new();
    let mut line_count = 0;
    for (index, line) in text.lines().enumerate() {
        line_count = index + 1;
        let code = line.split('#').next().unwrap_or_default();
        line_tokens(code, line_count, &mut result);
        result.push((Token::EndOfStatement, line_count));
    }
    result.push((Token::EndOfText, line_count));
    result
}

fn line_tokens<'a>(code: &'a str, line: usize, result: &mut Vec<(Token<'a>, usize)>) {
    let is_word = |c: char| !c.is_whitespace() && c != ';' && !MARKS.contains(c);
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let token = match first {
            ';' => Token::EndOfStatement,
            _ if is_word(first) => Token::Word(&rest[..length]),
            _ => Token::Mark(first),
        };
        result.push((token, line));
        rest = rest[length..].trim_start();
    }
}
