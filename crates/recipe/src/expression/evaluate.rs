//! Evaluates one expression, and finds the names in it.

use minijinja::{Environment, Expression, UndefinedBehavior};
use retrial_document::Scalar;
use retrial_document::formats::is_word;

use super::scope::{ExpressionScope, scalar};

/// Returns the value of an expression, or its fault. A value of text is not plain.
pub(crate) fn evaluate(expression: &str, scope: &ExpressionScope) -> Result<Scalar, String> {
    let trimmed = filled(expression)?;
    if is_path(trimmed) {
        return scope
            .get(trimmed)
            .ok_or_else(|| format!("`{trimmed}` is not defined"));
    }
    let environment = environment();
    let value = compile(&environment, trimmed)?.eval(scope.context());
    scalar(&value.map_err(|error| describe(&error))?)
}

/// Returns the names in an expression in their order, or its fault. Needs no values.
pub(crate) fn references(expression: &str) -> Result<Vec<String>, String> {
    let trimmed = filled(expression)?;
    if is_path(trimmed) {
        return Ok(vec![trimmed.to_owned()]);
    }
    let environment = environment();
    let names = compile(&environment, trimmed)?.undeclared_variables(true);
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_by_key(|name| (trimmed.find(name.as_str()), name.clone()));
    Ok(names)
}

fn filled(expression: &str) -> Result<&str, String> {
    match expression.trim() {
        "" => Err("the expression is empty".into()),
        trimmed => Ok(trimmed),
    }
}

fn compile<'e>(
    environment: &'e Environment<'_>,
    expression: &'e str,
) -> Result<Expression<'e, 'e>, String> {
    let compiled = environment.compile_expression(expression);
    compiled.map_err(|error| describe(&error))
}

/// Returns whether the text is a dotted path of names; a name may have hyphens, as keys of a recipe do.
fn is_path(text: &str) -> bool {
    let is_name = |name: &str| is_word(name, "_-") && !name.starts_with('-');
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.split('.').all(is_name)
        && !matches!(text, "true" | "false" | "none")
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("round", |number: f64| whole(number.round()));
    environment.add_filter("floor", |number: f64| whole(number.floor()));
    environment.add_filter("lower", |text: &str| text.to_lowercase());
    environment.add_filter("ceil", |number: f64| whole(number.ceil()));
    environment
}

#[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
fn whole(number: f64) -> i64 {
    number as i64
}

fn describe(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}
