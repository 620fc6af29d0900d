//! Merging of templates, recipes and variants: maps key by key; scalars and lists replace;
//! `key+:` appends; null removes.
//!
//! Merging stays symbolic (`+` and null are kept) until [`settle`], because an overlay of a
//! variant may itself be merged over that of a template before it is applied.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::node::{Entry, Node, Value};

/// `over` on top of `base`.
pub(crate) fn merge(base: Node, over: Node, problems: &mut Diagnostics) -> Node {
    match (base.value, over.value) {
        (Value::Map(mut entries), Value::Map(overlay)) => {
            for entry in overlay {
                match entries.iter().position(|old| old.key == entry.key) {
                    Some(at) => {
                        let old = entries.remove(at);
                        entries.insert(at, merge_entry(old, entry, problems));
                    }
                    None => entries.push(entry),
                }
            }
            Node::map(entries, over.span)
        }
        (_, value) => Node {
            value,
            span: over.span,
        },
    }
}

fn merge_entry(old: Entry, over: Entry, problems: &mut Diagnostics) -> Entry {
    if !over.append {
        let value = merge(old.value, over.value, problems);
        return Entry { value, ..over };
    }
    if !matches!(over.value.value, Value::List(_)) {
        // `settle` says so, once, wherever it ends.
        return over;
    }
    let span = over.value.span.clone();
    match (old.value.value, over.value.value) {
        (Value::List(mut items), Value::List(more)) => {
            items.extend(more);
            let value = Node {
                value: Value::List(items),
                span,
            };
            Entry {
                value,
                append: old.append,
                ..over
            }
        }
        (Value::Null, value) => {
            let value = Node { value, span };
            Entry {
                value,
                append: false,
                ..over
            }
        }
        (base, value) => {
            let base = Node {
                value: base,
                span: old.value.span,
            };
            let message = format!(
                "`{0}+` appends to a list, but `{0}` is {1} at {2}",
                over.key,
                base.kind(),
                old.key_span
            );
            problems.push(
                Diagnostic::error("append", message, over.key_span.clone()).help(APPEND_HELP),
            );
            let value = Node { value, span };
            Entry {
                value,
                append: false,
                ..over
            }
        }
    }
}

const APPEND_HELP: &str =
    "maps merge by themselves, and everything else replaces: write the key without `+`";

/// The tree as it is meant: appended lists stand for themselves, nulls are gone.
pub(crate) fn settle(node: Node, problems: &mut Diagnostics) -> Node {
    let value = match node.value {
        Value::List(items) => Value::List(
            items
                .into_iter()
                .map(|item| settle(item, problems))
                .collect(),
        ),
        Value::Map(entries) => Value::Map(
            entries
                .into_iter()
                .filter(|entry| !entry.value.is_null())
                .map(|entry| {
                    if entry.append && !matches!(entry.value.value, Value::List(_)) {
                        let message = format!(
                            "`{}+` appends a list, but this is {}",
                            entry.key,
                            entry.value.kind()
                        );
                        problems.push(
                            Diagnostic::error("append", message, entry.key_span.clone())
                                .help(APPEND_HELP),
                        );
                    }
                    Entry {
                        value: settle(entry.value, problems),
                        append: false,
                        ..entry
                    }
                })
                .collect(),
        ),
        value => value,
    };
    Node {
        value,
        span: node.span,
    }
}
