//! A sentence's words with their places.

use itertools::join;

use crate::Spanned;
use retrial_recipe::Span;

/// A word, or a quoted text.
#[derive(Debug, Clone)]
pub(super) struct ClaimWord {
    pub text: String,
    pub quoted: bool,
    pub span: Span,
}

impl ClaimWord {
    /// Returns whether it is this word of the grammar, in any case.
    pub fn is_keyword(&self, word: &str) -> bool {
        !self.quoted && self.text.eq_ignore_ascii_case(word)
    }
}

/// The words of a text. A full stop at its end belongs to no word.
pub(super) fn split_words(text: &Spanned<String>) -> Vec<ClaimWord> {
    // In the file the text may be quoted or folded: then all of it is the place.
    let offset = text.span.slice().find(&text.value);
    let span = |start: usize, end: usize| {
        offset.map_or_else(
            || text.span.clone(),
            |offset| text.span.sub_span(offset + start..offset + end),
        )
    };
    let trimmed = text.value.trim_end();
    let sentence = trimmed.strip_suffix('.').unwrap_or(trimmed);
    let mut words = Vec::new();
    let mut letters = sentence.char_indices().peekable();
    while let Some((start, letter)) = letters.next() {
        if letter.is_whitespace() {
            continue;
        }
        let quote = matches!(letter, '"' | '\'').then_some(letter);
        let mut end = start + letter.len_utf8();
        let mut closed = None;
        while let Some((at, next)) = letters.peek().copied() {
            if quote.is_none() && next.is_whitespace() {
                break;
            }
            letters.next();
            end = at + next.len_utf8();
            if Some(next) == quote {
                closed = Some(at);
                break;
            }
        }
        let (from, to) = closed.map_or((start, end), |at| (start + 1, at));
        words.push(ClaimWord {
            text: sentence[from..to].to_owned(),
            quoted: closed.is_some(),
            span: span(start, end),
        });
    }
    words
}

/// Returns the place from the first word to the last.
pub(super) fn span_of_words(words: &[ClaimWord], otherwise: &Span) -> Span {
    match (words.first(), words.last()) {
        (Some(first), Some(last)) => first.span.source.span(first.span.start..last.span.end),
        _ => otherwise.clone(),
    }
}

/// Joins words with spaces.
pub(super) fn join_words(words: &[ClaimWord]) -> String {
    join(words.iter().map(|word| &word.text), " ")
}

/// Returns the position of a phrase of the grammar.
pub(super) fn find_phrase(words: &[ClaimWord], phrase: &str) -> Option<usize> {
    let phrase_words: Vec<&str> = phrase.split(' ').collect();
    let fits = |part: &[ClaimWord]| {
        part.iter().zip(&phrase_words).all(|(word, expected)| word.is_keyword(expected))
    };
    words.windows(phrase_words.len()).position(fits)
}
