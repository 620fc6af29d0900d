//! Checks a document against the declaration of its keys, and evaluates its known expressions.
//!
//! It never stops: every problem is collected, and the result is only used when there was
//! none. The language checks keys against each other, on the returned tree.

mod scalar;

use itertools::Itertools as _;

use super::diagnostic::Diagnostics;
use super::field_type::{FieldType, Key, Object};
use super::formats::StringFormat;
use super::language::Language;
use super::node::{MapEntry, Node, Value};
use super::source::Span;
use super::suggest::{did_you_mean, find_nearest, suggest_name};
use crate::describe::{accepts_kind_of, describe_type, is_scalar, writing_hint_for};

/// Units behind the names of keys: `timeout_s`, `memory_gb`.
const UNIT_SUFFIXES: &[&str] = &[
    "s", "sec", "secs", "seconds", "ms", "min", "mins", "minutes", "h", "hours", "bytes", "mb",
    "mib", "gb", "gib", "tb", "pct", "percent",
];

/// Validates documents of one language.
pub struct Validator<'a, L> {
    language: &'a mut L,
    problems: &'a mut Diagnostics,
}

impl<'a, L: Language> Validator<'a, L> {
    /// Returns a validator that adds its problems to `problems`.
    pub fn new(language: &'a mut L, problems: &'a mut Diagnostics) -> Self {
        Self { language, problems }
    }

    /// Checks a value and returns it evaluated, null where it is wrong. `at` is its key.
    pub fn check_value(&mut self, node: &Node, field_type: &FieldType, at: &Span) -> Node {
        match (field_type, &node.value) {
            (FieldType::Either(types), _) => {
                match types.iter().find(|option| accepts_kind_of(option, node)) {
                    Some(option) => self.check_value(node, option, at),
                    None => self.report_wrong_type(node, field_type, at),
                }
            }
            (FieldType::Object(object), Value::Map(_)) => self.check_object(node, object, at),
            (FieldType::Overlay, Value::Map(_)) => {
                self.language.check_overlay(node, self.problems);
                node.clone()
            }
            (FieldType::Map(format, of), Value::Map(entries)) => {
                self.check_map(entries, *format, of, &node.span)
            }
            (FieldType::List(of, least), Value::List(items)) => {
                if items.len() < *least {
                    self.problems.error(
                        "empty",
                        "this list is empty",
                        &node.span,
                        "write at least one item, or remove the key",
                    );
                }
                let checked_items = items.iter().map(|item| self.check_value(item, of, &item.span));
                Node::list(checked_items.collect(), node.span.clone())
            }
            (_, Value::Scalar(scalar)) if is_scalar(field_type) => {
                self.check_scalar(scalar, field_type, &node.span, at)
            }
            _ => self.report_wrong_type(node, field_type, at),
        }
    }

    /// Checks a map of these keys and returns it evaluated. `at` is its key.
    pub fn check_object(&mut self, node: &Node, object: &'static Object, at: &Span) -> Node {
        let mut out = Vec::new();
        let mut misspelt = Vec::new();
        for entry in node.entries() {
            match object.key(&entry.key) {
                Some(key) => {
                    let value = self.check_value(&entry.value, &key.field_type, &entry.key_span);
                    out.push(entry.with_value(value));
                }
                None => misspelt.extend(self.report_unknown_key(entry, object)),
            }
        }
        self.report_missing_keys(node, object, &misspelt, at);
        // What was meant has no value, like a key with a wrong one.
        let absent = misspelt.into_iter().filter(|key| node.get(key).is_none());
        out.extend(absent.map(|key| MapEntry {
            key: key.to_owned(),
            key_span: at.clone(),
            append: false,
            value: Node::null(at.clone()),
        }));
        Node::map(out, node.span.clone())
    }

    /// Reports the keys that are missing, except those that are reported as misspelt.
    fn report_missing_keys(
        &mut self,
        node: &Node,
        object: &'static Object,
        misspelt: &[&str],
        at: &Span,
    ) {
        let missing = |key: &&Key| {
            key.required && node.get(key.name).is_none() && !misspelt.contains(&key.name)
        };
        for key in object.keys().filter(missing) {
            if !self.language.may_be_missing(key) {
                let message = format!("{} needs `{}`", object.label, key.name);
                let words = key.field_type.accepted_words().iter();
                let choices = match &*words.map(|word| word.name).join(", ") {
                    "" => String::new(),
                    words => format!(" One of {words}."),
                };
                let help = format!("{}: {}{choices}", key.name, key.doc);
                self.problems.error("missing-key", message, at, help);
            }
        }
        let present: Vec<&MapEntry> =
            object.one_of.iter().filter_map(|name| node.entry(name)).collect();
        let mut options = object.one_of.iter().filter_map(|name| object.key(name));
        let choices = object.one_of.join("`, `");
        match present[..] {
            [] if object.one_of.is_empty() => {}
            [] if object.one_of.iter().any(|name| misspelt.contains(name)) => {}
            [] if options.any(|key| self.language.may_be_missing(key)) => {}
            [] => self.problems.error(
                "missing-key",
                format!("{} needs one of `{choices}`", object.label),
                at,
                "write exactly one of them",
            ),
            [_] => {}
            [first, second, ..] => {
                let message =
                    format!("{} has both `{}` and `{}`", object.label, first.key, second.key);
                let help = format!(
                    "exactly one of `{choices}`; `{}: null` removes a template's value",
                    first.key
                );
                self.problems.error("conflict", message, &second.key_span, help);
            }
        }
    }

    /// Returns the key of this map of which the unknown one is probably a misspelling.
    fn report_unknown_key(
        &mut self,
        entry: &MapEntry,
        object: &'static Object,
    ) -> Option<&'static str> {
        if let Some(problem) = self.language.unknown_key_problem(entry, object) {
            self.problems.push(problem);
            return None;
        }
        let name = &entry.key;
        let (meant, help) = self.suggest_key(name, object);
        let message = format!("unknown key `{name}` in {}", object.label);
        self.problems.error("unknown-key", message, &entry.key_span, help);
        meant
    }

    /// Suggests the key that an unknown name probably means: what other tools call so, or a key of another map, also
    /// with a unit behind its name (`timeout_s`); a key of this map with a similar name; else all keys of this map.
    /// Returns the key too, if it is of this map.
    fn suggest_key(&self, name: &str, object: &'static Object) -> (Option<&'static str>, String) {
        let keys = object.keys().map(|key| key.name);
        let nearest = find_nearest(name, keys.clone());
        let Some(path) = self.find_path(name) else {
            return (nearest, did_you_mean(name, keys, "known keys"));
        };
        let key = path.rsplit('.').next().unwrap_or(&path);
        if let Some(key) = object.key(key) {
            return (Some(key.name), suggest_name(key.name));
        }
        let other = nearest.map(|other| format!("; or {}", suggest_name(other)));
        (nearest, describe_path(&path) + &other.unwrap_or_default())
    }

    /// Returns the path of the key that is called so here or by others.
    fn find_path(&self, name: &str) -> Option<String> {
        let path = |name: &str| {
            let foreign = self.language.path_of_foreign_key(name).map(str::to_owned);
            foreign.or_else(|| self.language.path_of_own_key(name))
        };
        path(name).or_else(|| path(strip_unit(name)?))
    }

    fn check_map(
        &mut self,
        entries: &[MapEntry],
        format: StringFormat,
        of: &FieldType,
        span: &Span,
    ) -> Node {
        let mut out = Vec::new();
        for entry in entries {
            self.report_mismatch("name", format.mismatch(&entry.key), &entry.key_span);
            let value = match self.misplaced_key_path(entry, of) {
                Some(path) => {
                    let message = wrong_type_message(&entry.value, of);
                    let help = format!("`{}` is a key: {}", entry.key, describe_path(&path));
                    self.problems.error("wrong-type", message, &entry.key_span, help);
                    Node::null(entry.value.span.clone())
                }
                None => self.check_value(&entry.value, of, &entry.key_span),
            };
            out.push(entry.with_value(value));
        }
        Node::map(out, span.clone())
    }

    /// Returns the path of the key that a map's entry probably is: the map has single values, and this entry has not.
    fn misplaced_key_path(&self, entry: &MapEntry, of: &FieldType) -> Option<String> {
        let is_single = matches!(entry.value.value, Value::Scalar(_));
        let path = || self.language.path_of_own_key(&entry.key);
        (is_scalar(of) && !is_single).then(path)?
    }

    fn report_wrong_type(&mut self, node: &Node, field_type: &FieldType, at: &Span) -> Node {
        // A block map has no text of its own to point at, but its key has.
        let span = if matches!(node.value, Value::Scalar(_)) { &node.span } else { at };
        let message = wrong_type_message(node, field_type);
        let help = writing_hint_for(node, field_type);
        self.problems.error("wrong-type", message, span, help);
        Node::null(node.span.clone())
    }
}

fn wrong_type_message(node: &Node, field_type: &FieldType) -> String {
    format!("expected {}, found {}", describe_type(field_type), node.kind())
}

/// Returns the name of a key without the unit that other tools write behind it: values state their unit here.
fn strip_unit(name: &str) -> Option<&str> {
    let (bare, unit) = name.rsplit_once('_')?;
    UNIT_SUFFIXES.contains(&unit).then_some(bare)
}

/// Returns how to write the key with this path.
fn describe_path(path: &str) -> String {
    if path.contains('.') {
        format!("write it as `{path}`")
    } else {
        format!("write it at the top of the file: `{path}`")
    }
}
