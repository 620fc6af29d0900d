//! Parses a block by the grammar of the shell, and continues after syntax errors.

use brush_parser::{ParseError, Parser, TokenizerError, ast};

use super::block::Block;
use super::grammar::parser_options;
use crate::Diagnostics;

/// The most syntax errors that are reported of a block.
const MAX_SYNTAX_PROBLEMS: usize = 8;

/// Parses a block. After a syntax error, the rest of its line is skipped, so that the problems of all other commands
/// are found, too.
pub(super) fn parse_leniently(block: &Block) -> (Option<ast::Program>, Diagnostics) {
    let mut problems = Diagnostics::default();
    let mut text: Vec<char> = block.text.chars().collect();
    let mut last = None;
    for _ in 0..MAX_SYNTAX_PROBLEMS {
        let whole: String = text.iter().collect();
        let mut parser = Parser::new(whole.as_bytes(), &parser_options());
        let error = match parser.parse_program() {
            Ok(program) => return (Some(program), problems),
            Err(error) => error,
        };
        let (message, at) = describe_syntax_error(&error, text.len());
        let (start, end) = line_around(&text, at);
        if last == Some(start) {
            // No part of it can be read.
            text[start..end].fill(' ');
            continue;
        }
        last = Some(start);
        // Behind a bracket, the grammar continues to the end of the line.
        let bracket = text[start..at].iter().position(|&letter| letter == '(');
        let at = bracket.map_or(at, |bracket| start + bracket);
        let help = "give the commands as the guide prints them, without the text around them";
        problems.error("guide", message, &block.span(at..at + 1), help);
        text[at..end].fill(' ');
    }
    (None, problems)
}

/// Returns the range of a line, with those that `\` continues.
fn line_around(text: &[char], at: usize) -> (usize, usize) {
    let is_end = |&at: &usize| text[at] == '\n' && (at == 0 || text[at - 1] != '\\');
    let start = (0..at).rev().find(is_end).map_or(0, |end| end + 1);
    let end = (at..text.len()).find(is_end).unwrap_or(text.len());
    (start, end)
}

/// Returns the message of a syntax error, and its position in a text of `end` characters.
fn describe_syntax_error(error: &ParseError, end: usize) -> (String, usize) {
    let (message, at) = match error {
        ParseError::ParsingNear(position) => ("shell syntax error".to_owned(), position.index),
        ParseError::ParsingAtEndOfInput => {
            ("the block ends in the middle of a command".to_owned(), end)
        }
        ParseError::Tokenizing { inner, position } => match inner {
            TokenizerError::UnterminatedSingleQuote(start)
            | TokenizerError::UnterminatedAnsiCQuote(start)
            | TokenizerError::UnterminatedDoubleQuote(start)
            | TokenizerError::UnterminatedBackquote(start) => {
                ("unterminated quote".to_owned(), start.index)
            }
            other => (other.to_string(), position.as_ref().map_or(end, |position| position.index)),
        },
    };
    // The end of the block is a place without text.
    (message, at.min(end.saturating_sub(1)))
}
