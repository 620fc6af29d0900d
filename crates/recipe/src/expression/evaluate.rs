//! Evaluates one expression, and finds the names in it.

use minijinja::{Environment, UndefinedBehavior};
use retrial_document::Scalar;
use retrial_document::formats::is_word;

use super::error::ExpressionFault;
use super::scope::{ExpressionScope, to_scalar};

/// Returns the value of an expression, or its fault. A value of text is not plain.
pub(crate) fn evaluate_expression(
    expression: &str,
    scope: &ExpressionScope,
) -> Result<Scalar, ExpressionFault> {
    let trimmed = trim_nonempty(expression)?;
    if is_path(trimmed) {
        return scope
            .evaluate_path(trimmed)
            .ok_or_else(|| ExpressionFault::Undefined { name: trimmed.to_owned() });
    }
    let environment = strict_environment();
    let compiled = environment.compile_expression(trimmed)?;
    to_scalar(&compiled.eval(scope.to_context())?)
}

/// Returns the names in an expression in their order, or its fault. Needs no values.
pub(crate) fn referenced_names(expression: &str) -> Result<Vec<String>, ExpressionFault> {
    let trimmed = trim_nonempty(expression)?;
    if is_path(trimmed) {
        return Ok(vec![trimmed.to_owned()]);
    }
    let environment = strict_environment();
    let compiled = environment.compile_expression(trimmed)?;
    let variables = compiled.undeclared_variables(true);
    let mut names: Vec<String> = variables.into_iter().collect();
    names.sort_by_key(|name| (trimmed.find(name.as_str()), name.clone()));
    Ok(names)
}

fn trim_nonempty(expression: &str) -> Result<&str, ExpressionFault> {
    match expression.trim() {
        "" => Err(ExpressionFault::Empty),
        trimmed => Ok(trimmed),
    }
}

/// Returns whether the text is a dotted path of names; a name may have hyphens, as keys of a recipe do.
fn is_path(text: &str) -> bool {
    let is_name = |name: &str| is_word(name, "_-") && !name.starts_with('-');
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.split('.').all(is_name)
        && !matches!(text, "true" | "false" | "none")
}

fn strict_environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("round", |number: f64| saturating_integer(number.round()));
    environment.add_filter("floor", |number: f64| saturating_integer(number.floor()));
    environment.add_filter("lower", |text: &str| text.to_lowercase());
    environment.add_filter("ceil", |number: f64| saturating_integer(number.ceil()));
    environment
}

#[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
fn saturating_integer(number: f64) -> i64 {
    number as i64
}
