//! Expands variables: as the block assigns them, as this shell has them, or as their defaults are; and the few commands
//! whose output guides use.

use brush_parser::word::{Parameter, ParameterExpr, ParameterTestType, SpecialParameter};

use super::expand::{Expansion, push_words};
use super::grammar::{PLACEHOLDER_START, unmark_placeholders};
use super::secret::{is_secret, mask_secrets};
use super::shell::Shell;
use super::values::{WORKING_DIRECTORY, Word};
use crate::Span;

impl Shell<'_> {
    pub(super) fn expand_parameter(
        &mut self,
        written: &str,
        expression: ParameterExpr,
        expansion: &mut Expansion,
    ) {
        use ParameterExpr as E;
        let (parameter, default) = match expression {
            E::Parameter { parameter, indirect: false }
            | E::IndicateErrorIfNullOrUnset { parameter, indirect: false, .. } => (parameter, None),
            E::UseDefaultValues { parameter, indirect: false, default_value, .. }
            | E::AssignDefaultValues { parameter, indirect: false, default_value, .. } => {
                (parameter, Some(default_value.unwrap_or_default()))
            }
            E::UseAlternativeValue {
                parameter: Parameter::Named(name),
                indirect: false,
                alternative_value,
                test_type,
            } => {
                if self.is_set(&name, &test_type) {
                    self.expand_pieces(&alternative_value.unwrap_or_default(), expansion);
                }
                return;
            }
            _ => {
                let refused = self.refuse(written, &expansion.span);
                return expansion.push(&refused);
            }
        };
        match parameter {
            Parameter::Named(name) => self.expand_variable(&name, default, expansion),
            Parameter::NamedWithAllIndices { name, .. } => {
                self.expand_array(&name, written, expansion);
            }
            Parameter::Positional(number) => self.expand_argument(number, default, expansion),
            Parameter::Special(SpecialParameter::AllPositionalParameters { .. }) => {
                let arguments = self.arguments.clone().unwrap_or_else(|| {
                    self.note(format!("`{written}`: the arguments of the script; none are given"));
                    Vec::new()
                });
                push_words(&arguments, expansion);
            }
            _ => {
                let refused = self.refuse(written, &expansion.span);
                expansion.push(&refused);
            }
        }
    }

    pub(super) fn is_set(&self, name: &str, test: &ParameterTestType) -> bool {
        let keeps_empty = matches!(test, ParameterTestType::Unset);
        let assigned = self.variables.get(name).and_then(|words| words.first());
        let assigned = assigned.map(|word| word.text.clone());
        let value = assigned.or_else(|| self.values.variable(name));
        value.is_some_and(|value| keeps_empty || !value.is_empty())
            || is_secret(name) && self.values.environment.variable_value(name).is_some()
    }

    pub(super) fn expand_array(&mut self, name: &str, written: &str, expansion: &mut Expansion) {
        if let Some(words) = self.variables.get(name).cloned() {
            push_words(&words, expansion);
        } else {
            let refused = self.refuse(written, &expansion.span);
            expansion.push(&refused);
        }
    }

    pub(super) fn expand_argument(
        &mut self,
        number: u32,
        default: Option<String>,
        expansion: &mut Expansion,
    ) {
        let given = self.arguments.as_ref().map(|arguments| {
            let index = usize::try_from(number).unwrap_or(usize::MAX);
            arguments.get(index.saturating_sub(1)).map(|word| word.text.clone())
        });
        let value = match given {
            Some(Some(value)) => value,
            Some(None) => default.unwrap_or_default(),
            None => {
                let default = default.and_then(|text| self.expand_default(&text, &expansion.span));
                self.values.declare(
                    &format!("argument_{number}"),
                    &format!("${number}"),
                    default,
                    None,
                )
            }
        };
        expansion.push_value(&value);
    }

    /// Returns the default of a substitution, if it is known.
    pub(super) fn expand_default(&mut self, text: &str, span: &Span) -> Option<String> {
        let mut inner = Expansion::new(span);
        inner.is_quoted = true;
        self.expand_pieces(text, &mut inner);
        let value = inner.open.unwrap_or_default();
        self.values.is_known(&value).then(|| self.values.literal(&value))
    }

    pub(super) fn expand_variable(
        &mut self,
        name: &str,
        default: Option<String>,
        expansion: &mut Expansion,
    ) {
        self.used.insert(name.to_owned());
        let array = self.variables.get(name).filter(|words| words.len() > 1);
        if let Some(first) = array.map(|words| words[0].text.clone()) {
            return expansion.push_value(&first);
        }
        // A nested default whose own value is unknown takes its place.
        if let Some(text) = &default
            && !self.variables.contains_key(name)
            && self.values.variable(name).is_none()
            && self.expand_default(text, &expansion.span).is_none()
        {
            return self.expand_pieces(text, expansion);
        }
        let default = default.and_then(|text| self.expand_default(&text, &expansion.span));
        let value = self.variable(name, &format!("${name}"), default);
        if !expansion.is_quoted {
            let literal = self.values.literal(&value);
            if literal.is_empty()
                || literal.contains(char::is_whitespace) && !literal.contains("${{")
            {
                return expansion.push_value(&literal);
            }
        }
        let is_alone = expansion.open.is_none() && !expansion.is_quoted;
        expansion.push(&value);
        expansion.is_split = is_alone && !self.values.is_known(&value);
    }

    /// Returns the value of a variable: as the block assigns it, as this shell has it, or its default.
    pub(super) fn variable(
        &mut self,
        name: &str,
        written: &str,
        default: Option<String>,
    ) -> String {
        if is_secret(name) {
            return format!("${{{{ secrets.{name} }}}}");
        }
        if name == "PWD" {
            return self.directory.clone();
        }
        let inherited = self.values.variable(name);
        let Some(assigned) = self
            .variables
            .get(name)
            .map(|words| words.first().map_or(String::new(), |word| word.text.clone()))
        else {
            return self.values.declare(name, written, inherited.or(default), None);
        };
        if assigned.contains(PLACEHOLDER_START) {
            let stated = Some(unmark_placeholders(&assigned));
            return self.values.declare(name, written, inherited, stated);
        }
        if assigned.is_empty() || !self.values.is_known(&assigned) {
            return assigned;
        }
        let value = self.values.literal(&assigned);
        self.values.declare(name, written, Some(value), None)
    }

    /// Returns an expression for what only a shell can compute.
    pub(super) fn refuse(&mut self, written: &str, span: &Span) -> String {
        let shown = mask_secrets(&unmark_placeholders(written));
        let help = "replace it by its output";
        self.values.defer(&shown, format!("`{shown}` needs a shell"), span.clone(), help)
    }

    /// Returns the working directory after `cd`.
    pub(super) fn change_directory(&mut self, target: Option<&Word>) {
        let target =
            target.map_or_else(|| self.variable("HOME", "~", None), |word| word.text.clone());
        self.directory = match &*target {
            "." => return,
            path if path.starts_with('/') || path.starts_with("${{") => path.to_owned(),
            path => format!("{}/{}", self.directory, path.trim_start_matches("./")),
        };
        while let Some((before, after)) = self.directory.split_once("/..") {
            let parent = before.rsplit_once('/').map(|(parent, _)| parent.to_owned());
            match parent {
                Some(parent) if before != WORKING_DIRECTORY => self.directory = parent + after,
                _ => break,
            }
        }
    }
}
