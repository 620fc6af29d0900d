//! Scalars: evaluated where that is possible, and checked against their type.

use super::Validator;
use crate::describe::{describe_type, writing_hint};
use crate::diagnostic::Diagnostic;
use crate::field_type::{FieldType, Scope, Word};
use crate::formats::FormatMismatch;
use crate::language::Language;
use crate::measures;
use crate::node::{Node, Scalar};
use crate::source::Span;
use crate::suggest::did_you_mean;

impl<L: Language> Validator<'_, L> {
    pub(super) fn check_scalar(
        &mut self,
        scalar: &Scalar,
        field_type: &FieldType,
        span: &Span,
        at: &Span,
    ) -> Node {
        let scope = match field_type {
            FieldType::Template(scope, _) | FieldType::Scalar(scope) => *scope,
            _ => Scope::DOCUMENT,
        };
        let can_evaluate = self.language.check_expressions(scalar, span, scope, self.problems);
        if let FieldType::Template(_, format) = field_type {
            let mismatch = self.language.template_mismatch(scalar, *format);
            self.check_text(scalar, mismatch, span);
        }
        if matches!(field_type, FieldType::Template(..)) || scope != Scope::DOCUMENT {
            return Node::scalar(&*scalar.text, scalar.plain, span.clone());
        }
        if can_evaluate {
            match self.language.evaluate(scalar) {
                Ok(value) if self.check_evaluated_value(&value, scalar, field_type, span, at) => {
                    let is_text = matches!(field_type, FieldType::Text(_) | FieldType::Words(_));
                    return Node::scalar(value.text, value.plain && !is_text, span.clone());
                }
                Ok(_) => {}
                Err(mismatch) => self.report_mismatch("expression", Some(mismatch), span),
            }
        }
        Node::null(span.clone())
    }

    /// Reports an evaluated value that is not of its type; returns whether it is.
    fn check_evaluated_value(
        &mut self,
        value: &Scalar,
        written: &Scalar,
        field_type: &FieldType,
        span: &Span,
        at: &Span,
    ) -> bool {
        let good = match field_type {
            FieldType::Text(format) => {
                return self.check_text(value, format.mismatch(&value.text), span);
            }
            FieldType::Words(words) => return self.check_word(value, words, span, at),
            FieldType::Integer(low, high) => match value.as_integer() {
                Some(number) if (*low..=*high).contains(&number) => true,
                Some(number) => {
                    let help = if *high == i64::MAX {
                        format!("at least {low}")
                    } else {
                        format!("from {low} to {high}")
                    };
                    self.problems.error(
                        "out-of-range",
                        format!("{number} is out of range"),
                        span,
                        help,
                    );
                    return false;
                }
                None => false,
            },
            FieldType::Number => value.as_number().is_some(),
            FieldType::Bool => value.as_bool().is_some(),
            FieldType::Fraction => measures::parse_fraction(&value.text).is_some(),
            FieldType::Size(units) => measures::parse_size(&value.text, *units).is_some(),
            FieldType::Duration => measures::parse_duration(&value.text).is_some(),
            _ => true,
        };
        if good {
            return true;
        }
        let from = if value.text == written.text {
            String::new()
        } else {
            format!(", from {}", written.text.trim())
        };
        let message = match field_type {
            FieldType::Fraction | FieldType::Size(_) | FieldType::Duration => {
                format!("`{}` is not {}{from}", value.text, describe_type(field_type))
            }
            _ => format!(
                "expected {}, found {} `{}`{from}",
                describe_type(field_type),
                value.kind(),
                value.text
            ),
        };
        let help = match field_type {
            FieldType::Bool if matches!(&*value.text.to_lowercase(), "yes" | "on" | "1") => {
                "write true".into()
            }
            FieldType::Bool if matches!(&*value.text.to_lowercase(), "no" | "off" | "0") => {
                "write false".into()
            }
            FieldType::Integer(..) | FieldType::Number | FieldType::Bool
                if !value.plain && value.text == written.text =>
            {
                "remove the quotes".into()
            }
            _ => writing_hint(field_type),
        };
        self.problems.error("wrong-type", message, span, help);
        false
    }

    fn check_word(&mut self, value: &Scalar, words: &[Word], span: &Span, at: &Span) -> bool {
        let names = words.iter().map(|word| word.name);
        if names.clone().any(|name| name == value.text) {
            return true;
        }
        let help = did_you_mean(&value.text, names, "known are");
        let message = format!("invalid value `{}` for `{}`", value.text, at.slice());
        self.problems.error("unknown-value", message, span, help);
        false
    }

    /// Reports a text's fault, or a boolean in its place; returns whether there is neither.
    fn check_text(
        &mut self,
        scalar: &Scalar,
        mismatch: Option<FormatMismatch>,
        span: &Span,
    ) -> bool {
        if scalar.as_bool().is_some() {
            let help = format!("for the text, write \"{}\" in quotes", scalar.text);
            let message = "expected text, found a boolean";
            self.problems.error("wrong-type", message, span, help);
            return false;
        }
        let fits = mismatch.is_none();
        self.report_mismatch("bad-value", mismatch, span);
        fits
    }

    pub(super) fn report_mismatch(
        &mut self,
        code: &'static str,
        mismatch: Option<FormatMismatch>,
        span: &Span,
    ) {
        if let Some((message, help)) = mismatch {
            let problem = Diagnostic::error(code, message, span.clone());
            self.problems.push(problem.with_optional_help(help));
        }
    }
}
