//! Scalars: evaluated where that is possible, and held against their shape.

use super::Walk;
use super::words::{describe, example};
use crate::diagnostic::Diagnostic;
use crate::expression;
use crate::format::Format;
use crate::measures;
use crate::names::evaluate;
use crate::node::{Node, Scalar};
use crate::shape::{Choice, Reach, Shape};
use crate::source::Span;
use crate::suggest::did_you_mean;

impl Walk<'_> {
    pub(super) fn scalar(
        &mut self,
        scalar: &Scalar,
        shape: &Shape,
        span: &Span,
        at: &Span,
    ) -> Node {
        let reach = match shape {
            Shape::Template(reach, _) | Shape::Scalar(reach) => *reach,
            _ => Reach::Recipe,
        };
        let known = self.expressions(scalar, span, reach);
        let null = || Node::null(span.clone());
        if let Shape::Template(_, format) = shape {
            self.template(scalar, *format, span);
            return Node::scalar(&*scalar.text, scalar.plain, span.clone());
        }
        if matches!(shape, Shape::Scalar(reach) if *reach != Reach::Recipe) {
            return Node::scalar(&*scalar.text, scalar.plain, span.clone());
        }
        if !known {
            return null();
        }
        match evaluate(scalar, &self.names.scope) {
            Ok(value) => self.evaluated(&value, scalar, shape, span, at),
            Err(message) => {
                self.error(
                    "expression",
                    message,
                    span,
                    "see `retrial show RECIPE --resolved` for what each param is",
                );
                null()
            }
        }
    }

    fn evaluated(
        &mut self,
        value: &Scalar,
        written: &Scalar,
        shape: &Shape,
        span: &Span,
        at: &Span,
    ) -> Node {
        let good = match shape {
            Shape::Text(format) => {
                return if self.text_fits(value, &value.text, false, *format, span) {
                    Node::scalar(&*value.text, false, span.clone())
                } else {
                    Node::null(span.clone())
                };
            }
            Shape::Choice(choices) => return self.choice(value, choices, span, at),
            Shape::Integer(low, high) => match value.integer() {
                Some(number) if (*low..=*high).contains(&number) => true,
                Some(number) => {
                    let help = if *high == i64::MAX {
                        format!("at least {low}")
                    } else {
                        format!("from {low} to {high}")
                    };
                    self.error(
                        "out-of-range",
                        format!("{number} is out of range"),
                        span,
                        help,
                    );
                    return Node::null(span.clone());
                }
                None => false,
            },
            Shape::Number => value.number().is_some(),
            Shape::Bool => value.boolean().is_some(),
            Shape::Fraction => measures::fraction(&value.text).is_some(),
            Shape::Size(units) => measures::size(&value.text, *units).is_some(),
            Shape::Duration => measures::duration(&value.text).is_some(),
            _ => true,
        };
        if good {
            return Node::scalar(&*value.text, value.plain, span.clone());
        }
        let from = if value.text == written.text {
            String::new()
        } else {
            format!(", from {}", written.text.trim())
        };
        let message = match shape {
            Shape::Fraction | Shape::Size(_) | Shape::Duration => {
                format!("`{}` is not {}{from}", value.text, describe(shape))
            }
            _ => format!(
                "expected {}, found {} `{}`{from}",
                describe(shape),
                value.kind(),
                value.text
            ),
        };
        let help = match shape {
            Shape::Bool if matches!(&*value.text.to_lowercase(), "yes" | "on" | "1") => {
                "write true".into()
            }
            Shape::Bool if matches!(&*value.text.to_lowercase(), "no" | "off" | "0") => {
                "write false".into()
            }
            Shape::Integer(..) | Shape::Number | Shape::Bool
                if !value.plain && value.text == written.text =>
            {
                "take the quotes away".into()
            }
            _ => example(shape),
        };
        self.error("wrong-type", message, span, help);
        Node::null(span.clone())
    }

    fn choice(&mut self, value: &Scalar, choices: &[Choice], span: &Span, at: &Span) -> Node {
        let words = choices.iter().map(|choice| choice.word);
        if words.clone().any(|word| word == value.text) {
            return Node::scalar(&*value.text, false, span.clone());
        }
        let help = did_you_mean(&value.text, words, "known are");
        let message = format!("`{}` is no value of `{}`", value.text, at.slice());
        self.error("unknown-value", message, span, help);
        Node::null(span.clone())
    }

    /// A text that the plan renders: as much as is known already is looked at.
    fn template(&mut self, scalar: &Scalar, format: Format, span: &Span) {
        let Ok(found) = expression::scan(&scalar.text) else {
            return;
        };
        match (found.first(), evaluate(scalar, &self.names.scope)) {
            // Colons in a value do not part a mount: it is split before it is rendered.
            (Some(_), _) if format == Format::Mount => {
                self.text_fits(scalar, &scalar.text, false, format, span)
            }
            (None, _) => self.text_fits(scalar, &scalar.text, false, format, span),
            (Some(_), Ok(value)) => self.text_fits(scalar, &value.text, false, format, span),
            (Some(first), Err(_)) => {
                let start = &scalar.text[..first.outer.start];
                self.text_fits(scalar, start, true, format, span)
            }
        };
    }

    fn text_fits(
        &mut self,
        scalar: &Scalar,
        text: &str,
        open: bool,
        format: Format,
        span: &Span,
    ) -> bool {
        if scalar.boolean().is_some() {
            self.error(
                "wrong-type",
                "expected text, found a truth value",
                span,
                format!("for the text, write \"{}\" in quotes", scalar.text),
            );
            return false;
        }
        match format.problem(text, open) {
            None => true,
            Some((message, help)) => {
                let problem = Diagnostic::error("bad-value", message, span.clone());
                self.problems.push(problem.maybe_help(help));
                false
            }
        }
    }
}
