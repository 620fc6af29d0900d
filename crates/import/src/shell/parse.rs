//! Parses commands by brush's grammar, and keeps the place of each in the text. It expands nothing.

use std::ops::Range;

use brush_parser::ast::{self, SourceLocation as _};
use brush_parser::{ParseError, Parser, ParserOptions, Token};

/// The options of the grammar. `~` is read where a word is expanded.
pub fn parser_options() -> ParserOptions {
    ParserOptions { tilde_expansion_at_word_start: false, ..ParserOptions::default() }
}

/// A word as it is typed, quotes included. Positions are in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawWord {
    pub text: String,
    pub range: Range<usize>,
}

/// The value of an assignment.
#[derive(Debug, Clone)]
pub enum RawValue {
    Scalar(RawWord),
    Array(Vec<RawWord>),
}

#[derive(Debug, Clone)]
pub struct Assignment {
    pub name: String,
    pub value: RawValue,
    /// `NAME+=value`
    pub appends: bool,
}

#[derive(Debug, Clone)]
pub struct HereDocument {
    pub body: String,
    /// The shell expands variables in it: its delimiter has no quotes.
    pub expands: bool,
}

/// A command of words.
#[derive(Debug, Clone, Default)]
pub struct Simple {
    /// Before its words, or of `export` and similar.
    pub assignments: Vec<Assignment>,
    pub words: Vec<RawWord>,
    pub here_document: Option<HereDocument>,
    pub reads_input: bool,
    /// The word of a file that the output is written to.
    pub output: Option<RawWord>,
}

#[derive(Debug, Clone)]
pub enum Stage {
    Simple(Simple),
    /// A loop, a condition, or a group; the keyword says which.
    Compound {
        keyword: &'static str,
        inner: Vec<Item>,
    },
    Function {
        name: String,
        inner: Vec<Item>,
    },
}

/// How a command is joined with the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    Then,
    And,
    Or,
}

/// A pipeline, with its place.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its text, without what separates it from the next. A here-document is part of it.
    pub range: Range<usize>,
    pub stages: Vec<Stage>,
    pub joined: Joined,
    pub is_background: bool,
}

impl Item {
    /// Returns the command, if it is one of words.
    pub fn simple(&self) -> Option<&Simple> {
        match self.stages.first() {
            Some(Stage::Simple(simple)) => Some(simple),
            _ => None,
        }
    }

    pub fn has_here_document(&self) -> bool {
        self.stages.iter().any(|stage| match stage {
            Stage::Simple(simple) => simple.here_document.is_some(),
            Stage::Compound { inner, .. } | Stage::Function { inner, .. } => {
                inner.iter().any(Self::has_here_document)
            }
        })
    }
}

/// A text that the grammar does not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub message: String,
    /// The position, in characters.
    pub position: usize,
}

/// Parses a text into its pipelines.
///
/// # Errors
/// [`SyntaxError`]
pub fn parse_commands(text: &[char]) -> Result<Vec<Item>, SyntaxError> {
    check_limits(text)?;
    let whole: String = text.iter().collect();
    let mut parser = Parser::new(whole.as_bytes(), &parser_options());
    let program = parser.parse_program().map_err(|error| describe_error(&error, text.len()))?;
    let lists: Vec<Item> =
        program.complete_commands.iter().flat_map(|list| read_list(list, text.len())).collect();
    Ok(set_ends(lists, text, &whole))
}

/// The longest block, in characters: it is a page of a guide.
const MAX_LENGTH: usize = 1 << 16;
/// The deepest nesting of brackets and braces. Each level multiplies the time that the grammar needs.
const MAX_NESTING: usize = 8;

fn check_limits(text: &[char]) -> Result<(), SyntaxError> {
    if text.len() > MAX_LENGTH {
        let message = format!("more than {MAX_LENGTH} characters in a block");
        return Err(SyntaxError { message, position: 0 });
    }
    let mut depth = 0_usize;
    for (position, letter) in text.iter().enumerate() {
        depth = match letter {
            '(' | '{' => depth + 1,
            ')' | '}' => depth.saturating_sub(1),
            _ => depth,
        };
        if depth > MAX_NESTING {
            let message = "brackets are nested too deeply".to_owned();
            return Err(SyntaxError { message, position });
        }
    }
    Ok(())
}

fn read_list(list: &ast::CompoundList, end: usize) -> Vec<Item> {
    let mut items = Vec::new();
    for ast::CompoundListItem(and_or, separator) in &list.0 {
        let count = and_or.into_iter().count();
        for (number, (operator, pipeline)) in and_or.into_iter().enumerate() {
            let joined = match operator {
                _ if number == 0 => Joined::Then,
                ast::PipelineOperator::And => Joined::And,
                ast::PipelineOperator::Or => Joined::Or,
            };
            let location = pipeline.location();
            let range = location.map_or(end..end, |place| place.start.index..place.end.index);
            items.push(Item {
                range,
                stages: pipeline.seq.iter().map(|command| read_stage(command, end)).collect(),
                joined,
                is_background: number + 1 == count
                    && matches!(separator, ast::SeparatorOperator::Async),
            });
        }
    }
    items
}

fn read_stage(command: &ast::Command, end: usize) -> Stage {
    use ast::CompoundCommand as C;
    let compound = |keyword, lists: &[&ast::CompoundList]| {
        let inner = lists.iter().flat_map(|list| read_list(list, end)).collect();
        Stage::Compound { keyword, inner }
    };
    match command {
        ast::Command::Simple(simple) => Stage::Simple(read_simple(simple)),
        ast::Command::Function(function) => {
            let body = ast::Command::Compound(function.body.0.clone(), None);
            let inner = match read_stage(&body, end) {
                Stage::Compound { inner, .. } => inner,
                _ => Vec::new(),
            };
            Stage::Function { name: function.fname.value.clone(), inner }
        }
        ast::Command::ExtendedTest(..) => compound("[[", &[]),
        ast::Command::Compound(inner, _) => match inner {
            C::BraceGroup(group) => compound("{", &[&group.list]),
            C::Subshell(subshell) => compound("(", &[&subshell.list]),
            C::ForClause(clause) => compound("for", &[&clause.body.list]),
            C::ArithmeticForClause(clause) => compound("for", &[&clause.body.list]),
            C::WhileClause(clause) => compound("while", &[&clause.0, &clause.1.list]),
            C::UntilClause(clause) => compound("until", &[&clause.0, &clause.1.list]),
            C::IfClause(clause) => {
                let elses = clause.elses.iter().flatten().map(|branch| &branch.body);
                let lists = [&clause.condition, &clause.then].into_iter().chain(elses);
                compound("if", &lists.collect::<Vec<_>>())
            }
            C::CaseClause(clause) => {
                let lists = clause.cases.iter().filter_map(|case| case.cmd.as_ref());
                compound("case", &lists.collect::<Vec<_>>())
            }
            C::Arithmetic(_) | C::Coprocess(_) => compound("((", &[]),
        },
    }
}

fn read_simple(simple: &ast::SimpleCommand) -> Simple {
    let mut read = Simple::default();
    let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
    for item in prefix {
        match item {
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                read.assignments.extend(read_assignment(assignment, word));
            }
            other => read_suffix(other, &mut read),
        }
    }
    read.words.extend(simple.word_or_name.as_ref().map(raw_word));
    let declares = read.words.first().is_some_and(|word| {
        ["export", "declare", "local", "readonly", "typeset"].contains(&&*word.text)
    });
    for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) if declares => {
                read.assignments.extend(read_assignment(assignment, word));
                read.words.push(raw_word(word));
            }
            other => read_suffix(other, &mut read),
        }
    }
    read
}

fn read_suffix(item: &ast::CommandPrefixOrSuffixItem, read: &mut Simple) {
    use ast::CommandPrefixOrSuffixItem as P;
    match item {
        P::Word(word) | P::AssignmentWord(_, word) => read.words.push(raw_word(word)),
        P::ProcessSubstitution(..) => read.reads_input = true,
        P::IoRedirect(redirect) => match redirect {
            ast::IoRedirect::HereDocument(_, document) => {
                read.here_document = Some(HereDocument {
                    body: document.doc.value.clone(),
                    expands: document.requires_expansion,
                });
            }
            ast::IoRedirect::HereString(..)
            | ast::IoRedirect::File(_, ast::IoFileRedirectKind::Read, _) => read.reads_input = true,
            ast::IoRedirect::OutputAndError(word, _)
            | ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::Filename(word)) => {
                read.output = Some(raw_word(word));
            }
            ast::IoRedirect::File(..) => {}
        },
    }
}

fn read_assignment(assignment: &ast::Assignment, word: &ast::Word) -> Option<Assignment> {
    let ast::AssignmentName::VariableName(name) = &assignment.name else { return None };
    let value = match &assignment.value {
        ast::AssignmentValue::Scalar(value) => {
            let mut value = raw_word(value);
            // The position of the value is that of the word behind `NAME=`.
            let end = raw_word(word).range.end;
            value.range = end.saturating_sub(value.text.chars().count())..end;
            RawValue::Scalar(value)
        }
        ast::AssignmentValue::Array(items) => {
            RawValue::Array(items.iter().map(|(_, word)| raw_word(word)).collect())
        }
    };
    Some(Assignment { name: name.clone(), value, appends: assignment.append })
}

fn raw_word(word: &ast::Word) -> RawWord {
    let location = word.location();
    let range = location.map_or(0..0, |place| place.start.index..place.end.index);
    RawWord { text: word.value.clone(), range }
}

/// Sets the end of each item: the grammar gives redirections no place.
fn set_ends(mut items: Vec<Item>, text: &[char], whole: &str) -> Vec<Item> {
    let tokens = brush_parser::tokenize_str(whole).unwrap_or_default();
    let place = |token: &Token| match token {
        Token::Word(_, place) => (false, place.start.index, place.end.index),
        Token::Operator(operator, place) => {
            (is_separator(operator), place.start.index, place.end.index)
        }
    };
    let mut places: Vec<(bool, usize, usize)> = tokens.iter().map(place).collect();
    places.sort_by_key(|(_, start, _)| *start);
    let mut next = text.len();
    for item in items.iter_mut().rev() {
        let start = item.range.start;
        let end = if item.has_here_document() {
            next
        } else {
            let behind = places.partition_point(|(_, position, _)| *position < next);
            let inside = places[..behind].iter().rev();
            let mut inside = inside.take_while(|(_, position, _)| *position >= start);
            inside
                .find(|(separates, ..)| !separates)
                .map_or(item.range.end, |(_, _, end)| (*end).min(next))
        };
        let blank = |&&letter: &&char| letter.is_whitespace();
        let trimmed = text[start.min(end)..end].iter().rev().take_while(blank).count();
        item.range.end = end - trimmed;
        next = start;
    }
    items
}

fn is_separator(operator: &str) -> bool {
    [";", "&", "&&", "||", "\n", "|"].contains(&operator)
}

fn describe_error(error: &ParseError, end: usize) -> SyntaxError {
    use brush_parser::TokenizerError as T;
    let (message, position) = match error {
        ParseError::ParsingNear(position) => ("shell syntax error".to_owned(), position.index),
        ParseError::ParsingAtEndOfInput => {
            ("the block ends in the middle of a command".to_owned(), end)
        }
        ParseError::Tokenizing { inner, position } => match inner {
            T::UnterminatedSingleQuote(start)
            | T::UnterminatedAnsiCQuote(start)
            | T::UnterminatedDoubleQuote(start)
            | T::UnterminatedBackquote(start) => ("unterminated quote".to_owned(), start.index),
            other => (other.to_string(), position.as_ref().map_or(end, |position| position.index)),
        },
    };
    SyntaxError { message, position: position.min(end.saturating_sub(1)) }
}
