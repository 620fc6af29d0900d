//! Checks a merged recipe against the table of keys, and evaluates what is known before the plan.
//!
//! It never stops: every problem is collected, and what is returned is only used when there was
//! none. What one key says about another is checked in `checks`.

use std::collections::BTreeSet;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::expression;
use super::format::Format;
use super::keys::{RECIPE, RESERVED, TOP_ONLY};
use super::measures;
use super::names::{Names, evaluate};
use super::node::{Entry, Node, Scalar, Value};
use super::shape::{Choice, Key, Object, Reach, Shape};
use super::source::Span;
use super::suggest::{did_you_mean, nearest};

/// What a walk finds.
pub(crate) struct Walk<'a> {
    pub names: &'a Names,
    /// A template: what is missing may come from whoever extends it.
    pub partial: bool,
    pub problems: Diagnostics,
    /// Params that expressions name.
    pub used: BTreeSet<String>,
}

impl<'a> Walk<'a> {
    pub fn new(names: &'a Names, partial: bool) -> Self {
        Self {
            names,
            partial,
            problems: Diagnostics::default(),
            used: names.used.clone(),
        }
    }

    /// The whole recipe, evaluated.
    pub fn recipe(&mut self, node: &Node) -> Node {
        let start = node.span.part(0..0);
        self.object(node, &RECIPE, &start)
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
                self.scalar(scalar, shape, &node.span)
            }
            _ => self.wrong_type(node, shape, at),
        }
    }

    fn object(&mut self, node: &Node, object: &'static Object, at: &Span) -> Node {
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
        let top = std::ptr::eq(object, &RECIPE);
        let missing = |key: &&Key| key.required && node.get(key.name).is_none();
        for key in object.keys.iter().filter(missing) {
            if !self.partial {
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
            [] if object.one_of.is_empty() || self.partial => {}
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
        if std::ptr::eq(object, &RECIPE) && RESERVED.contains(&name.as_str()) {
            let message = format!("`{name}` is reserved for a later release");
            return self.error(
                "reserved-key",
                message,
                &entry.key_span,
                "this retrial runs one container on one host; take the key out",
            );
        }
        let known = object.keys.iter().map(|key| key.name);
        let help = nearest(name, known.clone()).map_or_else(
            || elsewhere(name).unwrap_or_else(|| did_you_mean(name, known, "known keys")),
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
            } else if RECIPE.key(&entry.key).is_none() {
                self.unknown_key(entry, &RECIPE);
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

    fn scalar(&mut self, scalar: &Scalar, shape: &Shape, span: &Span) -> Node {
        let reach = match shape {
            Shape::Template(reach, _) | Shape::Scalar(reach) => *reach,
            _ => Reach::Recipe,
        };
        let known = self.expressions(scalar, span, reach);
        let null = || Node::null(span.clone());
        if let Shape::Template(_, format) = shape {
            let first = expression::scan(&scalar.text)
                .ok()
                .and_then(|found| found.first().cloned());
            let (text, open) = match (format, first) {
                // Its colons can be told apart, expressions or not.
                (Format::Mount, _) | (_, None) => (&*scalar.text, false),
                (_, Some(first)) => (&scalar.text[..first.outer.start], true),
            };
            self.text_fits(scalar, text, open, *format, span);
            return Node::scalar(&*scalar.text, scalar.plain, span.clone());
        }
        if matches!(shape, Shape::Scalar(reach) if *reach != Reach::Recipe) {
            return Node::scalar(&*scalar.text, scalar.plain, span.clone());
        }
        if !known {
            return null();
        }
        match evaluate(scalar, &self.names.scope) {
            Ok(value) => self.evaluated(&value, scalar, shape, span),
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

    fn evaluated(&mut self, value: &Scalar, written: &Scalar, shape: &Shape, span: &Span) -> Node {
        let good = match shape {
            Shape::Text(format) => {
                return if self.text_fits(value, &value.text, false, *format, span) {
                    Node::scalar(&*value.text, false, span.clone())
                } else {
                    Node::null(span.clone())
                };
            }
            Shape::Choice(choices) => return self.choice(value, choices, span),
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

    fn choice(&mut self, value: &Scalar, choices: &[Choice], span: &Span) -> Node {
        let words = choices.iter().map(|choice| choice.word);
        if words.clone().any(|word| word == value.text) {
            return Node::scalar(&*value.text, false, span.clone());
        }
        let help = did_you_mean(&value.text, words, "known are");
        self.error(
            "unknown-value",
            format!("`{}` is not known here", value.text),
            span,
            help,
        );
        Node::null(span.clone())
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

    /// Checks the names in a scalar's expressions. Whether they can be evaluated already.
    fn expressions(&mut self, scalar: &Scalar, span: &Span, reach: Reach) -> bool {
        let found = match expression::scan(&scalar.text) {
            Ok(found) => found,
            Err(error) => {
                let raw = span.slice();
                let place = match expression::scan(raw) {
                    Err(error) => span.part(error.at..error.at + 3),
                    Ok(_) => span.part(error.at..error.at),
                };
                self.error(
                    "expression",
                    "`${{` is never closed by `}}`",
                    &place,
                    "write `${{ params.name }}`",
                );
                return false;
            }
        };
        if found.is_empty() {
            return true;
        }
        // Block scalars are dedented, folded and unescaped, so offsets of the value are not those
        // of the file; but the nth expression of one is the nth of the other.
        let raw = expression::scan(span.slice()).unwrap_or_default();
        let same = raw.len() == found.len();
        let mut known = true;
        for (index, expression) in found.iter().enumerate() {
            let inner = &scalar.text[expression.inner.clone()];
            let place = if same {
                span.part(raw[index].outer.clone())
            } else {
                span.clone()
            };
            match expression::references(inner) {
                Ok(references) => {
                    for reference in references {
                        let at = place.slice().find(&reference.path);
                        let place = at.filter(|_| same).map_or_else(
                            || place.clone(),
                            |at| place.part(at..at + reference.path.len()),
                        );
                        known &= self.reference(&reference.path, &place, reach);
                    }
                }
                Err(message) => {
                    known = false;
                    self.error(
                        "expression",
                        message,
                        &place,
                        "write a name, for example `${{ params.name }}`",
                    );
                }
            }
        }
        known
    }

    /// Checks one name. Whether its value is known.
    fn reference(&mut self, path: &str, span: &Span, reach: Reach) -> bool {
        let (root, rest) = path.split_once('.').unwrap_or((path, ""));
        let names = self.names;
        let undefined = |walk: &mut Self, help: String| {
            walk.error("undefined", format!("`{path}` is not defined"), span, help);
            false
        };
        let early = |walk: &mut Self, what: &str| {
            let message = format!("`{path}` is not known here");
            walk.error("too-early", message, span, format!("it is {what}"));
            false
        };
        match (root, rest) {
            // minijinja names the whole where a key is computed: any may be meant.
            ("params", "") => {
                self.used.extend(names.params.keys().cloned());
                true
            }
            ("params", name) => {
                self.used.insert(name.to_owned());
                if names.params.contains_key(name) {
                    return names.scope.params.contains_key(name);
                }
                let help = nearest(name, names.params.keys().map(String::as_str)).map_or_else(
                    || format!("declare it: `params: {{{name}: {{type: string, default: …}}}}`"),
                    |near| format!("did you mean `params.{near}`?"),
                );
                undefined(self, help)
            }
            ("variant", "") => true,
            ("variant", axis) if names.axes.contains(axis) => {
                names.scope.variant.contains_key(axis)
            }
            ("variant", axis) => {
                let help = did_you_mean(
                    axis,
                    names.axes.iter().map(String::as_str),
                    "axes of `variants`",
                );
                undefined(self, help)
            }
            ("scenario" | "mode" | "trial", "") if reach < Reach::Measurement => early(
                self,
                "defined within `scenarios` only: other commands run once for all",
            ),
            ("scenario" | "mode" | "trial", "") => true,
            ("gpus" | "models", _) if reach < Reach::Run => early(
                self,
                "known only once the host and the models are; commands, env, mounts and paths may name it",
            ),
            ("gpus", "" | "count") if names.gpus || self.partial => true,
            ("gpus", "" | "count") => undefined(
                self,
                "say how many under `requires`: `gpus: {vendor: amd, count: 8}`".into(),
            ),
            ("gpus", _) => undefined(self, "did you mean `gpus.count`?".into()),
            ("models", "") => true,
            ("models", rest) => self.model(path, rest, span),
            _ => {
                let roots = [
                    "params", "variant", "scenario", "mode", "trial", "gpus", "models",
                ];
                let help = if names.params.contains_key(path) {
                    format!("did you mean `params.{path}`?")
                } else if root == "env" {
                    "for an environment variable, write `$NAME`: the shell reads it".into()
                } else {
                    did_you_mean(root, roots, "expressions know")
                };
                undefined(self, help)
            }
        }
    }

    fn model(&mut self, path: &str, rest: &str, span: &Span) -> bool {
        let models = &self.names.models;
        let help = match rest.strip_suffix(".commit") {
            Some(name) => match models.get(name) {
                Some(true) => return true,
                Some(false) => "only a model of the hub has a commit".into(),
                None if self.partial => return true,
                None => did_you_mean(name, models.keys().map(String::as_str), "models are"),
            },
            None => "models have `models.NAME.commit`".into(),
        };
        self.error("undefined", format!("`{path}` is not defined"), span, help);
        false
    }
}

/// Words that people bring from elsewhere.
fn elsewhere(name: &str) -> Option<String> {
    let meant = match name {
        "volumes" | "volume" => "`mounts` under `container`",
        "environment" => "`env`",
        "cmd" | "command" | "script" => "`run`",
        "cwd" | "working_dir" => "`workdir`",
        "capabilities" => "`cap_add` under `container`",
        "gpus" => "`gpus` under `requires`",
        "privileged" | "ipc" | "devices" | "cap_add" | "shm_size" | "security_opt" | "mounts" => {
            "it under `container`"
        }
        "name" => "`title`",
        "inherits" | "include" | "base" => "`extends`",
        "expected" | "reference" => "`expect` in a mode of a scenario",
        _ => return None,
    };
    Some(format!("did you mean {meant}?"))
}

fn is_scalar(shape: &Shape) -> bool {
    !matches!(
        shape,
        Shape::List(..) | Shape::Map(..) | Shape::Object(_) | Shape::Overlay | Shape::Either(_)
    )
}

fn fits(shape: &Shape, node: &Node) -> bool {
    match &node.value {
        Value::Scalar(_) => is_scalar(shape),
        Value::List(_) => matches!(shape, Shape::List(..)),
        Value::Map(_) => matches!(shape, Shape::Object(_) | Shape::Map(..) | Shape::Overlay),
        Value::Null => false,
    }
}

/// What a shape is, with its article.
fn describe(shape: &Shape) -> String {
    match shape {
        Shape::Text(_) | Shape::Template(..) => "text".into(),
        Shape::Integer(..) => "an integer".into(),
        Shape::Number => "a number".into(),
        Shape::Fraction => "a share of one".into(),
        Shape::Bool => "true or false".into(),
        Shape::Size(_) => "a size".into(),
        Shape::Duration => "a duration".into(),
        Shape::Choice(choices) => {
            let words: Vec<_> = choices
                .iter()
                .map(|choice| format!("`{}`", choice.word))
                .collect();
            words.join(" or ")
        }
        Shape::Scalar(_) => "text, a number or a truth value".into(),
        Shape::List(..) => "a list".into(),
        Shape::Map(..) | Shape::Overlay => "a map".into(),
        Shape::Object(object) => {
            let keys: Vec<_> = object.keys.iter().take(4).map(|key| key.name).collect();
            format!(
                "a map ({}{})",
                keys.join(", "),
                if object.keys.len() > 4 { ", …" } else { "" }
            )
        }
        Shape::Either(shapes) => {
            let all: Vec<_> = shapes.iter().map(describe).collect();
            all.join(" or ")
        }
    }
}

/// How to write it.
fn example(shape: &Shape) -> String {
    match shape {
        Shape::Fraction => "write 5% or 0.05, from 0 to 1".into(),
        Shape::Size(_) => "write 500 GiB, 128G or a number of bytes".into(),
        Shape::Duration => "write 12h, 90m, 1h30m or 45s".into(),
        Shape::Bool => "write true or false".into(),
        Shape::Integer(..) => "write a whole number, for example 8".into(),
        Shape::Number => "write a number, for example 103480 or 0.5".into(),
        Shape::List(..) => "write [one, other]".into(),
        Shape::Map(..) => "write name: value, one a line, indented".into(),
        Shape::Object(object) => format!(
            "the keys are {}",
            object
                .keys
                .iter()
                .map(|key| key.name)
                .collect::<Vec<_>>()
                .join(", ")
        ),
        Shape::Overlay => "write the keys that this variant changes, or {}".into(),
        Shape::Either(shapes) => shapes.last().map_or_else(String::new, example),
        _ => "write it as one value".into(),
    }
}
