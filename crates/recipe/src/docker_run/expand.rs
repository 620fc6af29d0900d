//! Expands words as the shell does: variables of the block, of this shell, and the few commands that guides use.

use brush_parser::ast;
use brush_parser::word::{self, WordPiece, WordPieceWithSource};

use super::grammar::{
    PLACEHOLDER_BLANK, PLACEHOLDER_END, PLACEHOLDER_START, parser_options, unmark_placeholders,
};
use super::secret::mask_secrets;
use super::shell::Shell;
use super::values::Word;
use crate::Span;
use crate::formats::VARIABLE;

/// Words that are being made of one.
pub(super) struct Expansion {
    pub words: Vec<Word>,
    /// The word that is being made; an empty one is a word where there were quotes.
    pub open: Option<String>,
    /// Whether it is one variable outside of quotes, whose value is unknown.
    pub is_split: bool,
    pub span: Span,
    pub is_quoted: bool,
}

impl Expansion {
    pub(super) fn new(span: &Span) -> Self {
        Self {
            words: Vec::new(),
            open: None,
            is_split: false,
            span: span.clone(),
            is_quoted: false,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.is_split = false;
        self.open.get_or_insert_default().push_str(text);
    }

    pub(super) fn end_word(&mut self) {
        let word = self
            .open
            .take()
            .map(|text| Word { is_split: self.is_split, ..Word::new(text, &self.span) });
        self.words.extend(word);
    }

    /// Adds the value of a variable, which is split outside of quotes.
    pub(super) fn push_value(&mut self, value: &str) {
        if self.is_quoted || !value.contains(char::is_whitespace) || value.contains("${{") {
            if !value.is_empty() || self.is_quoted {
                self.push(value);
            }
            return;
        }
        for (number, part) in value.split(char::is_whitespace).enumerate() {
            if number > 0 {
                self.end_word();
            }
            if !part.is_empty() {
                self.push(part);
            }
        }
    }
}

impl Shell<'_> {
    /// Returns the words that a word becomes.
    pub(super) fn expand(&mut self, word: &ast::Word) -> Vec<Word> {
        let mut expansion = Expansion::new(&self.word_span(word));
        // Bash expands `A=~/x` in an argument, too.
        let text = match word.value.split_once("=~") {
            Some((name, _)) if VARIABLE.mismatch(name).is_none() => {
                expansion.push(&word.value[..=name.len()]);
                &word.value[name.len() + 1..]
            }
            _ => &*word.value,
        };
        self.expand_pieces(text, &mut expansion);
        expansion.end_word();
        expansion.words
    }

    /// Returns the one word that the value of an assignment becomes.
    pub(super) fn expand_joined(&mut self, word: &ast::Word) -> Word {
        let span = self.word_span(word);
        let mut expansion = Expansion::new(&span);
        expansion.is_quoted = true;
        self.expand_pieces(&word.value, &mut expansion);
        Word::new(expansion.open.unwrap_or_default(), &span)
    }

    /// Returns the text of a here-document in which the shell expands variables.
    pub(super) fn expand_document(&mut self, text: &str, span: &Span) -> String {
        let Ok(pieces) = word::parse_heredoc(text, &parser_options()) else {
            return self.refuse(text, span);
        };
        let mut expansion = Expansion::new(span);
        expansion.is_quoted = true;
        for piece in pieces {
            self.expand_piece(text, piece, false, &mut expansion);
        }
        expansion.open.unwrap_or_default()
    }

    /// Returns a text that the shell does not expand, with placeholders as params.
    pub(super) fn take_literally(&mut self, text: &str, span: &Span) -> String {
        let mut expansion = Expansion::new(span);
        self.push_literal(text, false, &mut expansion);
        expansion.open.unwrap_or_default()
    }

    pub(super) fn expand_pieces(&mut self, text: &str, expansion: &mut Expansion) {
        let text = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                let home = self.variable("HOME", "~", None);
                expansion.push(&home);
                rest
            }
            _ => text,
        };
        let Ok(pieces) = word::parse(text, &parser_options()) else {
            let refused = self.refuse(text, &expansion.span);
            return expansion.push(&refused);
        };
        // `"a < b and c > d"` has no placeholder.
        let is_prose = pieces.iter().any(|piece| is_quoted_prose(&piece.piece));
        for piece in pieces {
            self.expand_piece(text, piece, is_prose, expansion);
        }
    }

    /// Adds a piece of `text`.
    fn expand_piece(
        &mut self,
        text: &str,
        piece: WordPieceWithSource,
        is_prose: bool,
        expansion: &mut Expansion,
    ) {
        let written = text.get(piece.start_index..piece.end_index).unwrap_or(text);
        match piece.piece {
            WordPiece::Text(text) if expansion.is_quoted => {
                // The shell continues the line within quotes, too.
                self.push_literal(&text.replace("\\\n", ""), is_prose, expansion);
            }
            WordPiece::Text(text) if has_braces(&text) => {
                let refused = self.refuse(&text, &expansion.span);
                expansion.push(&refused);
            }
            WordPiece::Text(text) if has_pattern(&text) => self.push_pattern(&text, expansion),
            WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => {
                self.push_literal(&text, is_prose, expansion);
            }
            WordPiece::AnsiCQuotedText(text) => {
                let unescaped = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\'", "'");
                self.push_literal(&unescaped, is_prose, expansion);
            }
            WordPiece::EscapeSequence(text) => match text.strip_prefix('\\') {
                Some("\n") => {}
                escaped => self.push_literal(escaped.unwrap_or(&text), is_prose, expansion),
            },
            WordPiece::DoubleQuotedSequence(pieces)
            | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                let was_quoted = std::mem::replace(&mut expansion.is_quoted, true);
                if pieces.is_empty() {
                    expansion.push("");
                }
                for piece in pieces {
                    self.expand_piece(text, piece, is_prose, expansion);
                }
                expansion.is_quoted = was_quoted;
            }
            WordPiece::ParameterExpansion(parameter) => {
                self.expand_parameter(written, parameter, expansion);
            }
            WordPiece::CommandSubstitution(command)
            | WordPiece::BackquotedCommandSubstitution(command) => {
                let value = self.substitute(&command, &expansion.span);
                expansion.push_value(&value);
            }
            WordPiece::ArithmeticExpression(_) => {
                let refused = self.refuse(written, &expansion.span);
                expansion.push(&refused);
            }
            WordPiece::TildeExpansion(_) => {}
        }
    }

    /// Adds text with a file pattern, which the shell leaves as it is if no file matches: in practice an option or an
    /// address.
    fn push_pattern(&mut self, text: &str, expansion: &mut Expansion) {
        let before = expansion.open.as_deref().unwrap_or_default();
        let word = format!("{before}{text}");
        if word.starts_with('-') || word.contains("://") || word.contains('=') {
            let shown = unmark_placeholders(&word);
            self.note(format!(
                "`{shown}`: the pattern is as written; the guide's shell expands it only if files of that name exist"
            ));
            return self.push_literal(text, false, expansion);
        }
        let shown = mask_secrets(&unmark_placeholders(text));
        let help =
            "quote it if the program expands it, or write `bash -c '…'` for files of the container";
        let message = format!("`{shown}` needs a shell, which expands it to file names");
        let refused = self.values.defer(&shown, message, expansion.span.clone(), help);
        expansion.push(&refused);
    }

    /// Adds text that the shell takes as it is, placeholders as params.
    fn push_literal(&mut self, text: &str, is_prose: bool, expansion: &mut Expansion) {
        if text.contains("${{") {
            let message = format!("`${{{{` in `{text}`: a recipe would read it as an expression");
            let help = "write the command into a script in the image, or next to the recipe";
            let refused = self.values.defer(text, message, expansion.span.clone(), help);
            return expansion.push(&refused);
        }
        if is_prose {
            return expansion.push(&unmark_placeholders(text));
        }
        let with_params = self.name_placeholders(text);
        expansion.push(&with_params);
    }

    /// Returns a text with the params of its placeholders.
    pub(super) fn name_placeholders(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(PLACEHOLDER_START) {
            let (inner, after) = after.split_once(PLACEHOLDER_END).unwrap_or((after, ""));
            let name = inner.to_uppercase().replace(['-', ' ', '/', '.', PLACEHOLDER_BLANK], "_");
            let written = format!("<{}>", unmark_placeholders(inner));
            let value = self.values.variable(name.trim_matches('_'));
            let param = self.values.declare(name.trim_matches('_'), &written, value, None);
            out.push_str(before);
            out.push_str(&param);
            rest = after;
        }
        out + rest
    }
}

pub(super) fn push_words(words: &[Word], expansion: &mut Expansion) {
    for (number, word) in words.iter().enumerate() {
        if number > 0 {
            expansion.end_word();
        }
        expansion.push(&word.text);
    }
}

/// Whether a quoted piece has text around its placeholders that no value has: blanks, brackets.
fn is_quoted_prose(piece: &WordPiece) -> bool {
    let is_odd = |text: &str| {
        let mut is_inside = false;
        text.chars().any(|letter| {
            is_inside = match letter {
                PLACEHOLDER_START => true,
                PLACEHOLDER_END => false,
                _ => is_inside,
            };
            !is_inside && (letter.is_whitespace() || "()[]{}'\";|&".contains(letter))
        })
    };
    match piece {
        WordPiece::SingleQuotedText(text) => is_odd(text),
        WordPiece::DoubleQuotedSequence(pieces) => pieces.iter().any(|piece| match &piece.piece {
            WordPiece::Text(text) => is_odd(text),
            WordPiece::EscapeSequence(_) => true,
            _ => false,
        }),
        _ => false,
    }
}

/// Whether the shell expands an unquoted text to file names.
fn has_pattern(text: &str) -> bool {
    let is_class =
        text.split_once('[').is_some_and(|(_, rest)| rest.find(']').is_some_and(|end| end > 0));
    text.contains(['*', '?']) || is_class
}

/// Whether the shell expands braces: `renderD{128,129}`.
fn has_braces(text: &str) -> bool {
    let inside = text.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    inside.is_some_and(|(inside, _)| inside.contains(',') || inside.contains(".."))
}
