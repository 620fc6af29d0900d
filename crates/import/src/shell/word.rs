//! Words as the shell makes them of a guide's text: a list of parts, of which some are not known before the recipe is
//! run.

use brush_parser::word::{WordPiece, WordPieceWithSource};
use retrial_document::Span;

use super::blanks::unmark;
use super::parse::{Simple, parser_options};
use super::part::{ParamId, Part};
use super::values::Values;

impl Simple {
    /// Returns the words without their quotes; expansions are as they are written.
    pub fn plain_words(&self) -> Vec<String> {
        self.words.iter().map(|word| unmark(&unquote(&word.text))).collect()
    }
}

/// Returns a typed word without its quotes; expansions stay as they are written.
fn unquote(text: &str) -> String {
    let pieces = brush_parser::word::parse(text, &parser_options());
    pieces.map_or_else(|_| text.to_owned(), |pieces| unquote_pieces(text, &pieces))
}

fn unquote_pieces(text: &str, pieces: &[WordPieceWithSource]) -> String {
    let plain = |piece: &WordPieceWithSource| match &piece.piece {
        WordPiece::SingleQuotedText(inner) | WordPiece::AnsiCQuotedText(inner) => inner.clone(),
        WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
            unquote_pieces(text, inner)
        }
        WordPiece::EscapeSequence(escaped) => escaped.trim_start_matches('\\').to_owned(),
        _ => text[piece.start_index..piece.end_index].to_owned(),
    };
    pieces.iter().map(plain).collect()
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub parts: Vec<Part>,
    /// The place in the guide.
    pub span: Span,
    /// The text in the guide, quotes included.
    pub written: String,
    /// It is one variable outside of quotes whose value is unknown: the shell would split it.
    pub is_open: bool,
}

impl Word {
    pub fn text(text: impl Into<String>, span: &Span) -> Self {
        let text = text.into();
        Self {
            written: text.clone(),
            parts: vec![Part::Text(text)],
            span: span.clone(),
            is_open: false,
        }
    }

    /// Returns a word of these parts at the same place.
    pub fn with_parts(&self, parts: Vec<Part>) -> Self {
        Self { parts, is_open: false, ..self.clone() }
    }

    pub fn with_text(&self, text: impl Into<String>) -> Self {
        self.with_parts(vec![Part::Text(text.into())])
    }

    /// Returns the text with which the word begins.
    pub fn start(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns the word without the first bytes of its text.
    pub fn skip(&self, bytes: usize) -> Self {
        let mut parts = self.parts.clone();
        if let Some(Part::Text(text)) = parts.first_mut() {
            text.drain(..bytes);
            if text.is_empty() {
                parts.remove(0);
            }
        }
        self.with_parts(parts)
    }

    /// Returns the text, if the word has no other part.
    pub fn plain(&self) -> Option<&str> {
        match &self.parts[..] {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the parameter that is the whole word.
    pub fn only_param(&self) -> Option<ParamId> {
        match self.parts[..] {
            [Part::Param(id)] => Some(id),
            _ => None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() || self.plain() == Some("")
    }

    /// Returns the text with the defaults of parameters, if all of it is known.
    pub fn known(&self, values: &Values) -> Option<String> {
        let part = |part: &Part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::Param(id) => values.param(*id).default.clone(),
            _ => None,
        };
        self.parts.iter().map(part).collect()
    }

    /// Returns the text with what is known, and variables in place of the rest.
    pub fn sketch(&self, values: &Values) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Param(id) => {
                let param = values.param(*id);
                param.default.clone().unwrap_or_else(|| param.written.clone())
            }
            Part::Secret(name) => format!("${name}"),
            Part::Here => "$PWD".to_owned(),
            Part::Home => "~".to_owned(),
            Part::Problem(_) => "$(…)".to_owned(),
        };
        self.parts.iter().map(part).collect()
    }

    /// Splits the text at a separator. A variable whose value has the separator is split, too.
    pub fn split(&self, separator: char, values: &Values) -> Vec<Self> {
        let mut fields = vec![Vec::new()];
        for part in &self.parts {
            let text = match part {
                Part::Text(text) => Some(text),
                Part::Param(id) => {
                    values.param(*id).default.as_ref().filter(|text| text.contains(separator))
                }
                _ => None,
            };
            let Some(text) = text else {
                fields.last_mut().into_iter().for_each(|field| field.push(part.clone()));
                continue;
            };
            for (number, piece) in text.split(separator).enumerate() {
                if number > 0 {
                    fields.push(Vec::new());
                }
                if !piece.is_empty() {
                    let part = Part::Text(piece.to_owned());
                    fields.last_mut().into_iter().for_each(|field| field.push(part.clone()));
                }
            }
        }
        fields.into_iter().map(|parts| self.with_parts(parts)).collect()
    }

    /// Splits the text at the first separator.
    pub fn split_once(&self, separator: char) -> Option<(Self, Self)> {
        let at = self.parts.iter().position(|part| match part {
            Part::Text(text) => text.contains(separator),
            _ => false,
        })?;
        let Part::Text(text) = &self.parts[at] else { return None };
        let (before, after) = text.split_once(separator)?;
        let piece = |text: &str| (!text.is_empty()).then(|| Part::Text(text.to_owned()));
        let first = self.parts[..at].iter().cloned().chain(piece(before));
        let rest = piece(after).into_iter().chain(self.parts[at + 1..].iter().cloned());
        Some((self.with_parts(first.collect()), self.with_parts(rest.collect())))
    }
}
