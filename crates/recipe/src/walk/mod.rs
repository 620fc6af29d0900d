//! Checks a merged recipe against the table of keys, and evaluates what is known before the plan.
//!
//! It never stops: every problem is collected, and what is returned is only used when there was
//! none. What one key says about another is checked in `checks`.

mod expressions;
mod scalar;
mod words;

use std::collections::BTreeSet;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::format::Format;
use super::keys::{RESERVED, TOP_ONLY, is_recipe, recipe};
use super::names::Names;
use super::node::{Entry, Node, Value};
use super::shape::{Key, Object, Shape};
use super::source::Span;
use super::suggest::{did_you_mean, nearest};
use words::{describe, elsewhere, example, fits, is_scalar};

/// What a walk finds.
pub struct Walk<'a> {
    pub names: &'a Names,
    /// A template: what is missing may come from whoever extends it.
    pub partial: bool,
    /// A template of it could not be had: the same, but for what templates never give.
    pub lacking: bool,
    pub problems: Diagnostics,
    /// Params that expressions name.
    pub used: BTreeSet<String>,
}

impl<'a> Walk<'a> {
    pub fn new(names: &'a Names, partial: bool) -> Self {
        Self {
            names,
            partial,
            lacking: false,
            problems: Diagnostics::default(),
            used: names.used.clone(),
        }
    }

    /// The whole recipe, evaluated.
    pub fn recipe(&mut self, node: &Node) -> Node {
        let start = node.span.part(0..0);
        self.object(node, recipe(), &start)
    }

    fn error(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: &Span,
        help: impl Into<String>,
    ) {
        let problem = Diagnostic::error(code, message, span.clone());
        self.problems.push(problem.help(help));
    }

    /// A value of this shape. `at` is the key that it stands under.
    pub fn value(&mut self, node: &Node, shape: &Shape, at: &Span) -> Node {
        match (shape, &node.value) {
            (Shape::Either(shapes), _) => match shapes.iter().find(|shape| fits(shape, node)) {
                Some(shape) => self.value(node, shape, at),
                None => self.wrong_type(node, shape, at),
            },
            (Shape::Object(object), Value::Map(_)) => self.object(node, object, at),
            (Shape::Overlay, Value::Map(_)) => self.overlay(node),
            (Shape::Map(format, shape), Value::Map(entries)) => {
                self.map(entries, *format, shape, &node.span)
            }
            (Shape::List(shape, least), Value::List(items)) => {
                if items.len() < *least {
                    self.error(
                        "empty",
                        "this list is empty",
                        &node.span,
                        "write at least one item, or leave the key out",
                    );
                }
                let items = items
                    .iter()
                    .map(|item| self.value(item, shape, &item.span))
                    .collect();
                Node {
                    value: Value::List(items),
                    span: node.span.clone(),
                }
            }
            (shape, Value::Scalar(scalar)) if is_scalar(shape) => {
                self.scalar(scalar, shape, &node.span, at)
            }
            _ => self.wrong_type(node, shape, at),
        }
    }

    /// A map of these keys.
    pub fn object(&mut self, node: &Node, object: &'static Object, at: &Span) -> Node {
        let mut out = Vec::new();
        for entry in node.entries() {
            match object.key(&entry.key) {
                Some(key) => {
                    let value = self.value(&entry.value, &key.shape, &entry.key_span);
                    out.push(Entry {
                        value,
                        ..entry.clone()
                    });
                }
                None => self.unknown_key(entry, object),
            }
        }
        self.missing(node, object, at);
        Node::map(out, node.span.clone())
    }

    fn missing(&mut self, node: &Node, object: &'static Object, at: &Span) {
        let top = is_recipe(object);
        let missing = |key: &&Key| key.required && node.get(key.name).is_none();
        for key in object.keys().filter(missing) {
            let may_come = self.partial || (self.lacking && key.name != "title");
            if !may_come {
                let message = if top {
                    format!("`{}` is missing", key.name)
                } else {
                    format!("{} needs `{}`", object.what, key.name)
                };
                self.error(
                    "missing-key",
                    message,
                    at,
                    format!("{}: {}", key.name, key.doc),
                );
            }
        }
        let given: Vec<&Entry> = object
            .one_of
            .iter()
            .filter_map(|name| node.entry(name))
            .collect();
        let choices = object.one_of.join("`, `");
        match given[..] {
            [] if object.one_of.is_empty() || self.partial || self.lacking => {}
            [] => self.error(
                "missing-key",
                format!("{} needs one of `{choices}`", object.what),
                at,
                "write exactly one of them",
            ),
            [_] => {}
            [first, second, ..] => {
                let message = format!(
                    "{} has both `{}` and `{}`",
                    object.what, first.key, second.key
                );
                let help = format!(
                    "exactly one of `{choices}`; `{}: null` takes away what a template gave",
                    first.key
                );
                self.error("conflict", message, &second.key_span, help);
            }
        }
    }

    fn unknown_key(&mut self, entry: &Entry, object: &'static Object) {
        let name = &entry.key;
        if is_recipe(object) && RESERVED.contains(&name.as_str()) {
            let message = format!("`{name}` is reserved for a later release");
            return self.error(
                "reserved-key",
                message,
                &entry.key_span,
                "this retrial runs one container on one host; take the key out",
            );
        }
        let known = object.keys().map(|key| key.name);
        let help = nearest(name, known.clone()).map_or_else(
            || elsewhere(name, object).unwrap_or_else(|| did_you_mean(name, known, "known keys")),
            |near| format!("did you mean `{near}`?"),
        );
        self.error(
            "unknown-key",
            format!("unknown key `{name}` in {}", object.what),
            &entry.key_span,
            help,
        );
    }

    fn overlay(&mut self, node: &Node) -> Node {
        for entry in node.entries() {
            if TOP_ONLY.contains(&entry.key.as_str()) {
                let message = format!("a variant cannot hold `{}`", entry.key);
                self.error(
                    "overlay",
                    message,
                    &entry.key_span,
                    "write it at the top of the file",
                );
            } else if recipe().key(&entry.key).is_none() {
                self.unknown_key(entry, recipe());
            }
        }
        node.clone()
    }

    fn map(&mut self, entries: &[Entry], format: Format, shape: &Shape, span: &Span) -> Node {
        let mut out = Vec::new();
        for entry in entries {
            if let Some((message, help)) = format.problem(&entry.key, false) {
                let problem = Diagnostic::error("name", message, entry.key_span.clone());
                self.problems.push(problem.maybe_help(help));
            }
            let value = self.value(&entry.value, shape, &entry.key_span);
            out.push(Entry {
                value,
                ..entry.clone()
            });
        }
        Node::map(out, span.clone())
    }

    fn wrong_type(&mut self, node: &Node, shape: &Shape, at: &Span) -> Node {
        // A block map has no text of its own to point at, but its key has.
        let span = if matches!(node.value, Value::Scalar(_)) {
            &node.span
        } else {
            at
        };
        let message = format!("expected {}, found {}", describe(shape), node.kind());
        self.error("wrong-type", message, span, example(shape));
        Node::null(node.span.clone())
    }
}
