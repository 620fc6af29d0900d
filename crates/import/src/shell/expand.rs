//! Expands words as bash does: variables, substitutions of the host's facts, lists in braces, splitting. What is not
//! known stays a part of the word.

use std::ops::Range;

use brush_parser::word::{
    Parameter, ParameterExpr, ParameterTestType, SpecialParameter, WordPiece, WordPieceWithSource,
};

use super::blanks::{find_blanks, unmark};
use super::braces::expand_braces;
use super::parse::{RawWord, parser_options};
use super::part::{ParamId, Part, Problem, only_shell, push_part};
use super::substitution::substitute;
use super::values::{Value, Values};

/// A piece of a word after expansion.
struct Piece {
    parts: Vec<Part>,
    /// The shell splits it at blanks.
    splits: bool,
    /// Each is a word of its own: `"${ARRAY[@]}"`.
    words: Option<Vec<Vec<Part>>>,
}

/// A word after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub parts: Vec<Part>,
    /// It is one variable outside of quotes whose value is unknown.
    pub is_open: bool,
}

/// An expansion in a word, with the bytes that it replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expansion {
    pub range: Range<usize>,
    pub parts: Vec<Part>,
    pub is_quoted: bool,
}

/// Returns the words that the shell makes of one.
pub fn expand_word(raw: &RawWord, values: &mut Values) -> Vec<Field> {
    let expanded = expand_braces(&raw.text);
    expanded.iter().flat_map(|text| split_pieces(expand_pieces(text, values))).collect()
}

/// Returns a text as one word, as in an assignment.
pub fn expand_whole(text: &str, values: &mut Values) -> Vec<Part> {
    let mut whole = Vec::new();
    for piece in expand_pieces(text, values) {
        let words = piece.words.into_iter().flatten().flatten();
        for part in piece.parts.into_iter().chain(words) {
            push_part(&mut whole, part);
        }
    }
    whole
}

/// Returns the expansions in a word, whose other text stays as it is.
pub fn find_expansions(text: &str, values: &mut Values) -> Vec<Expansion> {
    let mut found: Vec<Expansion> = Vec::new();
    match parse_word(text) {
        Ok(pieces) => collect_expansions(&pieces, false, values, &mut found),
        Err(problem) => {
            found.push(Expansion { range: 0..text.len(), parts: vec![problem], is_quoted: false });
        }
    }
    for blank in find_blanks(text) {
        let is_inside = |one: &Expansion| {
            one.range.start < blank.range.end && blank.range.start < one.range.end
        };
        if !found.iter().any(is_inside) {
            let id = ask_for_blank(&blank.words, blank.default(), values);
            let before = text[..blank.range.start].matches('"').count();
            let is_quoted = before % 2 == 1;
            found.push(Expansion { range: blank.range, parts: vec![Part::Param(id)], is_quoted });
        }
    }
    found.sort_by_key(|expansion| expansion.range.start);
    found
}

/// Returns the parameter of a blank.
pub fn ask_for_blank(words: &str, default: Option<String>, values: &mut Values) -> ParamId {
    let trimmed = words.trim_start_matches("/path/to/").trim_start_matches("path/to/");
    let hint = if words.starts_with('/') || words.starts_with("path/") { words } else { trimmed };
    values.add_param(hint, words, default, Some(words.to_owned()))
}

fn parse_word(text: &str) -> Result<Vec<WordPieceWithSource>, Part> {
    brush_parser::word::parse(text, &parser_options()).map_err(|_| {
        let message = format!("`{}`: only a shell can read it", unmark(text));
        Part::Problem(Problem { message, help: "write its value" })
    })
}

fn collect_expansions(
    pieces: &[WordPieceWithSource],
    is_quoted: bool,
    values: &mut Values,
    found: &mut Vec<Expansion>,
) {
    for piece in pieces {
        match &piece.piece {
            WordPiece::DoubleQuotedSequence(inner)
            | WordPiece::GettextDoubleQuotedSequence(inner) => {
                collect_expansions(inner, true, values, found);
            }
            WordPiece::ParameterExpansion(_)
            | WordPiece::CommandSubstitution(_)
            | WordPiece::BackquotedCommandSubstitution(_)
            | WordPiece::ArithmeticExpression(_)
            | WordPiece::TildeExpansion(_) => {
                let expanded = expand_piece(&piece.piece, is_quoted, values);
                let words = expanded.words.into_iter().flatten();
                let mut parts = expanded.parts;
                for (number, word) in words.enumerate() {
                    if number > 0 {
                        push_part(&mut parts, Part::Text(" ".to_owned()));
                    }
                    for part in word {
                        push_part(&mut parts, part);
                    }
                }
                found.push(Expansion {
                    range: piece.start_index..piece.end_index,
                    parts,
                    is_quoted,
                });
            }
            WordPiece::Text(text)
                if text.starts_with("~/") && piece.start_index == 0 && !is_quoted =>
            {
                found.push(Expansion { range: 0..1, parts: vec![Part::Home], is_quoted });
            }
            _ => {}
        }
    }
}

fn expand_pieces(text: &str, values: &mut Values) -> Vec<Piece> {
    let pieces = match parse_word(text) {
        Ok(pieces) => pieces,
        Err(problem) => return vec![Piece { parts: vec![problem], splits: false, words: None }],
    };
    let mut out = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        match &piece.piece {
            WordPiece::Text(text) if number == 0 && (text == "~" || text.starts_with("~/")) => {
                out.push(Piece { parts: vec![Part::Home], splits: false, words: None });
                out.push(Piece {
                    parts: blanks_as_parts(&text[1..], values),
                    splits: false,
                    words: None,
                });
            }
            WordPiece::DoubleQuotedSequence(inner)
            | WordPiece::GettextDoubleQuotedSequence(inner) => {
                // An empty text is a word, too.
                out.push(Piece {
                    parts: vec![Part::Text(String::new())],
                    splits: false,
                    words: None,
                });
                out.extend(inner.iter().map(|piece| expand_piece(&piece.piece, true, values)));
            }
            piece => out.push(expand_piece(piece, false, values)),
        }
    }
    out
}

fn expand_piece(piece: &WordPiece, is_quoted: bool, values: &mut Values) -> Piece {
    let fixed = |parts| Piece { parts, splits: false, words: None };
    match piece {
        WordPiece::Text(text) => fixed(blanks_as_parts(text, values)),
        WordPiece::SingleQuotedText(text) | WordPiece::AnsiCQuotedText(text) => {
            let mut parts = blanks_as_parts(text, values);
            if parts.is_empty() {
                parts.push(Part::Text(String::new()));
            }
            fixed(parts)
        }
        WordPiece::EscapeSequence(text) => {
            fixed(vec![Part::Text(unmark(text.strip_prefix('\\').unwrap_or(text)))])
        }
        WordPiece::TildeExpansion(_) => fixed(vec![Part::Home]),
        WordPiece::ParameterExpansion(expression) => {
            if let Some(words) = array_words(expression, values) {
                return Piece { parts: Vec::new(), splits: !is_quoted, words: Some(words) };
            }
            Piece { parts: expand_parameter(expression, values), splits: !is_quoted, words: None }
        }
        WordPiece::CommandSubstitution(command)
        | WordPiece::BackquotedCommandSubstitution(command) => Piece {
            parts: substitute(command, values, expand_whole),
            splits: !is_quoted,
            words: None,
        },
        WordPiece::ArithmeticExpression(expression) => {
            fixed(vec![only_shell(&format!("$(({}))", expression.value))])
        }
        WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
            let parts =
                inner.iter().flat_map(|piece| expand_piece(&piece.piece, true, values).parts);
            fixed(parts.collect())
        }
    }
}

/// Returns a text with its blanks as parameters.
fn blanks_as_parts(text: &str, values: &mut Values) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut done = 0;
    for blank in find_blanks(text) {
        push_part(&mut parts, Part::Text(unmark(&text[done..blank.range.start])));
        let default = blank.default();
        parts.push(Part::Param(ask_for_blank(&blank.words, default, values)));
        done = blank.range.end;
    }
    push_part(&mut parts, Part::Text(unmark(&text[done..])));
    parts
}

fn array_words(expression: &ParameterExpr, values: &mut Values) -> Option<Vec<Vec<Part>>> {
    let ParameterExpr::Parameter { parameter, .. } = expression else { return None };
    match parameter {
        Parameter::NamedWithAllIndices { name, .. } => match values.value(name)?.clone() {
            Value::Array(words) => Some(words),
            Value::Scalar(parts) => Some(vec![parts]),
            Value::Asked(_) => None,
        },
        // The arguments of a script: none.
        Parameter::Special(SpecialParameter::AllPositionalParameters { .. }) => Some(Vec::new()),
        _ => None,
    }
}

fn expand_parameter(expression: &ParameterExpr, values: &mut Values) -> Vec<Part> {
    match expression {
        ParameterExpr::Parameter { parameter, indirect: false } => use_parameter(parameter, values),
        ParameterExpr::UseDefaultValues {
            parameter,
            indirect: false,
            test_type,
            default_value,
        }
        | ParameterExpr::AssignDefaultValues {
            parameter,
            indirect: false,
            test_type,
            default_value,
        } => {
            use_default(parameter, test_type, default_value.as_deref().unwrap_or_default(), values)
        }
        ParameterExpr::IndicateErrorIfNullOrUnset {
            parameter,
            indirect: false,
            error_message,
            ..
        } => {
            let parts = use_parameter(parameter, values);
            if let ([Part::Param(id)], Some(message)) = (&parts[..], error_message) {
                values.param_mut(*id).question.get_or_insert_with(|| unmark(message));
            }
            parts
        }
        other => vec![only_shell(&describe(other))],
    }
}

/// `${NAME:-default}`
fn use_default(
    parameter: &Parameter,
    test_type: &ParameterTestType,
    default: &str,
    values: &mut Values,
) -> Vec<Part> {
    let name = match parameter {
        Parameter::Named(name) => name.clone(),
        Parameter::Positional(number) => format!("argument_{number}"),
        _ => return vec![only_shell("${…}")],
    };
    match values.value(&name) {
        Some(Value::Scalar(parts))
            if !parts.is_empty() || matches!(test_type, ParameterTestType::Unset) =>
        {
            return values.use_variable(&name);
        }
        Some(Value::Array(_)) => return values.use_variable(&name),
        _ => {}
    }
    let parts = expand_whole(default, values);
    match &parts[..] {
        [Part::Text(text)]
            if !text.contains(char::is_whitespace)
                && !text.starts_with('-')
                && !text.is_empty() =>
        {
            vec![Part::Param(values.param_of_variable(&name, Some(text.clone()), None))]
        }
        _ => parts,
    }
}

fn use_parameter(parameter: &Parameter, values: &mut Values) -> Vec<Part> {
    match parameter {
        Parameter::Named(name) => values.use_variable(name),
        Parameter::Positional(0) => vec![only_shell("$0")],
        Parameter::Positional(number) => {
            let name = format!("argument_{number}");
            let question = format!("argument {number} of the script");
            vec![Part::Param(values.add_param(&name, &format!("${number}"), None, Some(question)))]
        }
        Parameter::NamedWithIndex { name, index } => {
            match (values.value(name), index.parse::<usize>()) {
                (Some(Value::Array(words)), Ok(index)) => {
                    words.get(index).cloned().unwrap_or_default()
                }
                _ => vec![only_shell(&format!("${{{name}[{index}]}}"))],
            }
        }
        other => vec![only_shell(&format!("${{{other}}}"))],
    }
}

/// Returns the variable of an expansion that changes its value, with the operator.
pub fn changed_parameter(expression: &ParameterExpr) -> Option<(&Parameter, &'static str)> {
    use ParameterExpr as E;
    Some(match expression {
        E::RemoveSmallestSuffixPattern { parameter, .. } => (parameter, "%"),
        E::RemoveLargestSuffixPattern { parameter, .. } => (parameter, "%%"),
        E::RemoveSmallestPrefixPattern { parameter, .. } => (parameter, "#"),
        E::RemoveLargestPrefixPattern { parameter, .. } => (parameter, "##"),
        E::ReplaceSubstring { parameter, .. } => (parameter, "/"),
        E::Substring { parameter, .. } => (parameter, ":"),
        _ => return None,
    })
}

/// Returns an expansion as a guide writes it, without its operator's operands.
fn describe(expression: &ParameterExpr) -> String {
    let Some((parameter, operator)) = changed_parameter(expression) else {
        return match expression {
            ParameterExpr::ParameterLength { parameter, .. } => format!("${{#{parameter}}}"),
            _ => "${…}".to_owned(),
        };
    };
    let name = match parameter {
        Parameter::Named(name) => name.clone(),
        other => other.to_string(),
    };
    format!("${{{name}{operator}…}}")
}

/// Splits pieces into words at the blanks of those outside of quotes.
fn split_pieces(pieces: Vec<Piece>) -> Vec<Field> {
    let is_open = matches!(&pieces[..], [Piece { parts, splits: true, words: None }] if matches!(parts[..], [Part::Param(_)]));
    let mut fields: Vec<Vec<Part>> = Vec::new();
    let mut current: Option<Vec<Part>> = None;
    for piece in pieces {
        if let Some(words) = piece.words {
            for (number, word) in words.into_iter().enumerate() {
                if number > 0 {
                    fields.extend(current.take());
                }
                current.get_or_insert_default().extend(word);
            }
            continue;
        }
        for part in piece.parts {
            match part {
                Part::Text(text) if piece.splits => {
                    let mut pieces = text.split(char::is_whitespace).peekable();
                    while let Some(piece) = pieces.next() {
                        if !piece.is_empty() {
                            push_part(
                                current.get_or_insert_default(),
                                Part::Text(piece.to_owned()),
                            );
                        }
                        if pieces.peek().is_some() {
                            fields.extend(current.take());
                        }
                    }
                }
                part => push_part(current.get_or_insert_default(), part),
            }
        }
    }
    fields.extend(current);
    fields.into_iter().map(|parts| Field { parts, is_open }).collect()
}
