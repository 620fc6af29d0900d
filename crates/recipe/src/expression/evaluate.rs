//! The value of one expression, and the names in it.

use std::fmt;
use std::ops::Range;

use minijinja::value::ValueKind;
use minijinja::{Environment, UndefinedBehavior, Value};

use super::Scope;
use crate::model::ParamValue;

/// The value of an expression, with its type.
#[derive(Debug, Clone, PartialEq)]
pub enum Evaluated {
    Bool(bool),
    Int(i64),
    Number(f64),
    Text(String),
}

impl From<&ParamValue> for Evaluated {
    fn from(value: &ParamValue) -> Self {
        match value {
            ParamValue::Bool(value) => Self::Bool(*value),
            ParamValue::Int(value) => Self::Int(*value),
            ParamValue::Text(value) => Self::Text(value.clone()),
        }
    }
}

impl fmt::Display for Evaluated {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(formatter),
            Self::Int(value) => value.fmt(formatter),
            Self::Number(value) => value.fmt(formatter),
            Self::Text(value) => value.fmt(formatter),
        }
    }
}

/// The value of an expression, or what is wrong with it.
pub fn evaluate(expression: &str, scope: &Scope) -> Result<Evaluated, String> {
    let trimmed = expression.trim();
    if trimmed.is_empty() {
        return Err("there is nothing between `${{` and `}}`".into());
    }
    if is_path(trimmed) {
        return scope
            .get(trimmed)
            .ok_or_else(|| format!("`{trimmed}` is not defined"));
    }
    let environment = environment();
    let compiled = environment
        .compile_expression(trimmed)
        .map_err(|error| describe(&error))?;
    let value = compiled
        .eval(scope.context())
        .map_err(|error| describe(&error))?;
    read(&value)
}

/// A name in an expression, and where it stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub path: String,
    pub range: Range<usize>,
}

/// The names in an expression, or what is wrong with it. Needs no values.
pub fn references(expression: &str) -> Result<Vec<Reference>, String> {
    let trimmed = expression.trim();
    if trimmed.is_empty() {
        return Err("there is nothing between `${{` and `}}`".into());
    }
    let start = expression.len() - expression.trim_start().len();
    if is_path(trimmed) {
        let range = start..start + trimmed.len();
        return Ok(vec![Reference {
            path: trimmed.to_owned(),
            range,
        }]);
    }
    let environment = environment();
    let compiled = environment
        .compile_expression(trimmed)
        .map_err(|error| describe(&error))?;
    let mut found: Vec<_> = compiled
        .undeclared_variables(true)
        .into_iter()
        .map(|path| {
            // minijinja tells names without their places.
            let range = find_word(expression, &path).unwrap_or(start..start + trimmed.len());
            Reference { path, range }
        })
        .collect();
    found.sort_by_key(|reference| reference.range.start);
    Ok(found)
}

/// A dotted path of names; a name may hold hyphens, as keys of a recipe do.
fn is_path(text: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
    };
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.split('.').all(is_name)
        && !matches!(text, "true" | "false" | "none")
}

fn find_word(text: &str, word: &str) -> Option<Range<usize>> {
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    text.match_indices(word).find_map(|(at, _)| {
        let end = at + word.len();
        let before = text[..at].chars().next_back().is_some_and(is_name);
        let after = text[end..].chars().next().is_some_and(is_name);
        (!before && !after).then_some(at..end)
    })
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
}

fn describe(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

fn read(value: &Value) -> Result<Evaluated, String> {
    match value.kind() {
        ValueKind::Bool => Ok(Evaluated::Bool(value.is_true())),
        ValueKind::Number => match i64::try_from(value.clone()) {
            Ok(integer) => Ok(Evaluated::Int(integer)),
            Err(_) => f64::try_from(value.clone())
                .map(Evaluated::Number)
                .map_err(|error| error.to_string()),
        },
        ValueKind::String => Ok(Evaluated::Text(value.to_string())),
        ValueKind::Undefined => Err("it gives an undefined value".into()),
        kind => Err(format!(
            "it gives a {kind}, not text, a number or a truth value"
        )),
    }
}
