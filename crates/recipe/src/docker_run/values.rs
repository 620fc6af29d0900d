//! What the shell would insert: known values, values that the reader states, and what only a shell can compute.
//!
//! A word is text of the recipe from the start: what is unknown is an expression in it, `${{ params.model }}`. An
//! expression counts when a word of it is used: until then it may belong to a flag that is dropped.

use std::fmt::Write as _;

use super::secret::{find_hub_token, is_secret};
use super::shell_environment::ShellEnvironment;
use crate::expression::find_expressions;
use crate::{Diagnostic, Diagnostics, Span};

/// The param of the working directory, which is the recipe's directory.
pub(super) const WORKING_DIRECTORY: &str = "${{ params.pwd }}";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The text, unknown values as expressions.
    pub text: String,
    /// The place in the user's text.
    pub span: Span,
    /// The word is one variable outside of quotes, whose value is unknown: the shell would split it.
    pub is_split: bool,
}

impl Word {
    pub(super) fn new(text: impl Into<String>, span: &Span) -> Self {
        Self { text: text.into(), span: span.clone(), is_split: false }
    }

    /// Returns a word with another text at the same place.
    pub(super) fn with_text(&self, text: impl Into<String>) -> Self {
        Self::new(text, &self.span)
    }
}

/// A param that replaces a value of the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuideParam {
    pub name: String,
    /// The variable, or what stands for one: `MODEL`, `id -u`.
    pub variable: String,
    /// As the guide writes it: `$MODEL`, `$(id -u)`.
    pub written: String,
    pub kind: &'static str,
    pub default: Option<String>,
    /// The text that the guide has instead of a value: `<path to the model>`.
    pub placeholder: Option<String>,
}

/// The values of a block.
pub(super) struct Values<'a> {
    params: Vec<GuideParam>,
    /// Problems of words, which count if the word is used, each with the text as it is written.
    deferred: Vec<(Diagnostic, String)>,
    pub environment: &'a dyn ShellEnvironment,
}

impl<'a> Values<'a> {
    pub(super) fn new(environment: &'a dyn ShellEnvironment) -> Self {
        Self { params: Vec::new(), deferred: Vec::new(), environment }
    }

    /// Returns an expression for text that no recipe can have; the problem counts if it is used.
    pub(super) fn defer(
        &mut self,
        written: &str,
        message: String,
        span: Span,
        help: &str,
    ) -> String {
        let problem = Diagnostic::error("guide", message, span).with_help(help);
        self.deferred.push((problem, written.to_owned()));
        format!("${{{{ problems.{} }}}}", self.deferred.len() - 1)
    }

    /// Returns the expression of a variable, its param declared if need be.
    pub(super) fn declare(
        &mut self,
        variable: &str,
        written: &str,
        default: Option<String>,
        placeholder: Option<String>,
    ) -> String {
        let declared = self.params.iter().find(|param| param.variable == variable);
        let name = match (declared, default) {
            // Assigned again since: the param has the earlier value.
            (Some(param), Some(value)) if param.default.as_ref() != Some(&value) => return value,
            (Some(param), _) => param.name.clone(),
            (None, default) => {
                let name = self.unused_name(variable);
                self.params.push(GuideParam {
                    name: name.clone(),
                    variable: variable.to_owned(),
                    written: written.to_owned(),
                    kind: "string",
                    default,
                    placeholder,
                });
                name
            }
        };
        format!("${{{{ params.{name} }}}}")
    }

    fn unused_name(&self, variable: &str) -> String {
        let fit = |letter: char| {
            if letter.is_ascii_alphanumeric() { letter } else { '_' }
        };
        let lower: String = variable.to_lowercase().chars().map(fit).collect();
        let name = lower.trim_matches('_');
        let name = match name.chars().next() {
            Some(first) if first.is_ascii_alphabetic() => name.to_owned(),
            _ => format!("value_{name}").trim_matches('_').to_owned(),
        };
        let is_free = |name: &String| self.params.iter().all(|param| param.name != *name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        names.find(is_free).unwrap_or_default()
    }

    /// Returns the secret that a text is, by itself or next to plain text.
    pub(super) fn secret_name(text: &str) -> Option<&str> {
        let (_, rest) = text.split_once("${{ secrets.")?;
        let (name, after) = rest.split_once(" }}")?;
        (!after.contains("${{")).then_some(name)
    }

    /// Returns a text with the values that are known.
    pub(super) fn literal(&self, text: &str) -> String {
        self.replace(text, |_, param| param.and_then(|param| param.default.clone()))
    }

    /// Returns a text in which variables that hold lists or pairs are replaced by their values, so that it can be split.
    pub(super) fn with_lists(&self, text: &str) -> String {
        self.replace(text, |_, param| {
            let value = param.and_then(|param| param.default.clone());
            value.filter(|value| value.contains([',', ':']))
        })
    }

    /// Returns whether every value of a text is known.
    pub(super) fn is_known(&self, text: &str) -> bool {
        !self.literal(text).contains("${{")
    }

    /// Returns a text as the guide writes it.
    pub(super) fn written(&self, text: &str) -> String {
        self.replace(text, |inner, param| {
            let deferred = || {
                let number = inner.strip_prefix("problems.")?.parse::<usize>().ok()?;
                self.deferred.get(number).map(|(_, written)| written.clone())
            };
            let secret = || inner.strip_prefix("secrets.").map(|name| format!("${name}"));
            let param = param.map(|param| param.written.clone());
            param.or_else(secret).or_else(deferred)
        })
    }

    /// Uses a word: declares its params, and adds its problems. Returns nothing if it has one.
    pub(super) fn take(
        &mut self,
        flag: &str,
        word: &Word,
        problems: &mut Diagnostics,
    ) -> Option<String> {
        let before = problems.error_count();
        let mut error =
            |message: String, help: &str| problems.error("guide", message, &word.span, help);
        if find_hub_token(&word.text).is_some() {
            let message = format!("{flag}: it contains a token of the Hugging Face hub");
            error(message, "write $HF_TOKEN in its place: a recipe contains no secrets");
        }
        for expression in find_expressions(&word.text).unwrap_or_default() {
            let inner = word.text[expression.inner].trim();
            match inner.split_once('.') {
                Some(("secrets", name)) => problems.error(
                    "guide",
                    format!(
                        "{flag}: `${name}` looks like a secret, and would be written to the recipe"
                    ),
                    &word.span,
                    format!("pass it on by --env {name}"),
                ),
                Some(("problems", number)) => {
                    let number = number.parse().ok();
                    let deferred = number.and_then(|number: usize| self.deferred.get(number));
                    if let Some((problem, _)) = deferred {
                        problems.push(problem.clone());
                    }
                }
                _ => {}
            }
        }
        (problems.error_count() == before).then(|| word.text.clone())
    }

    /// States the type of the param with which a text begins.
    pub(super) fn set_kind(&mut self, text: &str, kind: &'static str) {
        if let Some(param) = self.first_param(text) {
            param.kind = kind;
        }
    }

    /// Removes the default of the param with which a mount's source begins, and returns it, if it is a volume's name and
    /// not a path: `${CACHE:-cache}`.
    pub(super) fn take_volume_default(&mut self, source: &str) -> Option<String> {
        let is_volume = |default: &mut String| !default.contains(['/', '.', '~']);
        self.first_param(source)?.default.take_if(is_volume)
    }

    fn first_param(&mut self, text: &str) -> Option<&mut GuideParam> {
        let is_first = |param: &&mut GuideParam| {
            text.starts_with(&format!("${{{{ params.{} }}}}", param.name))
        };
        self.params.iter_mut().find(is_first)
    }

    /// Returns the params that a text names.
    pub(super) fn params_of<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t GuideParam> {
        let is_named =
            |param: &&GuideParam| text.contains(&format!("${{{{ params.{} }}}}", param.name));
        self.params.iter().filter(is_named)
    }

    /// Returns the value of a variable of the environment, unless it is a secret.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        let value = (!is_secret(name)).then(|| self.environment.variable_value(name)).flatten();
        value.filter(|value| !value.contains("${{"))
    }

    fn replace(
        &self,
        text: &str,
        by: impl Fn(&str, Option<&GuideParam>) -> Option<String>,
    ) -> String {
        let mut out = String::new();
        let mut done = 0;
        for expression in find_expressions(text).unwrap_or_default() {
            let inner = text[expression.inner.clone()].trim();
            let name = inner.strip_prefix("params.");
            let param = name.and_then(|name| self.params.iter().find(|param| param.name == name));
            if let Some(value) = by(inner, param) {
                let _ = write!(out, "{}{value}", &text[done..expression.outer.start]);
                done = expression.outer.end;
            }
        }
        out + &text[done..]
    }
}
