//! Merging of templates, recipes and variants: maps key by key; scalars and lists replace;
//! `key+:` appends; null removes.
//!
//! Merging stays symbolic (`+` and null are retained) until [`settle_tree`], because an overlay of a
//! variant may itself be merged over that of a template before it is applied.

use retrial_document::{Diagnostics, MapEntry, Node, Span, Value};
use std::collections::HashMap;

/// Merges `over` over `base`; values of `over` win.
pub fn merge_trees(base: Node, over: Node, problems: &mut Diagnostics) -> Node {
    match (base.value, over.value) {
        (Value::Map(mut entries), Value::Map(overlay)) => {
            let places = entries.iter().enumerate();
            let places: HashMap<String, usize> =
                places.map(|(at, entry)| (entry.key.clone(), at)).collect();
            for entry in overlay {
                // A map has each key once, so no later entry has a key that is pushed here.
                match places.get(&entry.key) {
                    Some(&at) => {
                        let nothing = entry.with_value(Node::null(entry.key_span.clone()));
                        let old = std::mem::replace(&mut entries[at], nothing);
                        entries[at] = merge_entry(old, entry, problems);
                    }
                    None => entries.push(entry),
                }
            }
            Node::map(entries, over.span)
        }
        (_, value) => Node { value, span: over.span },
    }
}

fn merge_entry(mut old: MapEntry, mut over: MapEntry, problems: &mut Diagnostics) -> MapEntry {
    if !over.append && over.value.is_null() {
        let value = Node { value: Value::Removed, ..over.value };
        return MapEntry { value, ..over };
    }
    if !over.append {
        if over.key == "image" {
            drop_replaced_image(&mut old.value, &mut over.value, &over.key_span);
        }
        let value = merge_trees(old.value, over.value, problems);
        return MapEntry { value, ..over };
    }
    if !matches!(over.value.value, Value::List(_)) {
        // `settle` reports it, once, wherever it ends.
        return over;
    }
    let kind = old.value.kind();
    let (value, append) = match (old.value.value, over.value.value) {
        (Value::List(mut items), Value::List(more)) => {
            items.extend(more);
            (Value::List(items), old.append)
        }
        (Value::Null | Value::Removed, value) => (value, false),
        (_, value) => {
            let message = format!(
                "`{0}+` appends to a list, but `{0}` is {kind} at {1}",
                over.key, old.key_span
            );
            problems.error("append", message, &over.key_span, APPEND_HELP);
            (value, false)
        }
    };
    let span = over.value.span;
    MapEntry { value: Node { value, span }, append, ..over }
}

/// Removes from an image what belongs to the one that another takes the place of: an image is pulled or built, and a
/// digest and contents are those of one reference. The other removes it from images that both are merged over, too.
fn drop_replaced_image(image: &mut Node, over: &mut Node, key_span: &Span) {
    let has = |key: &str| over.entry(key).is_some();
    let replaced = match (has("ref"), has("build")) {
        (true, false) => ["build", "digest", "built_by", "contains"],
        (false, true) => ["ref", "digest", "built_by", "contains"],
        _ => return,
    };
    if let Value::Map(entries) = &mut image.value {
        entries.retain(|entry| !replaced.contains(&entry.key.as_str()));
    }
    for key in replaced {
        if over.entry(key).is_none() {
            over.set_key(key, Node { value: Value::Removed, span: key_span.clone() });
        }
    }
}

const APPEND_HELP: &str =
    "only lists are appended to; maps merge and other values replace: write the key without `+`";

/// Returns the resolved tree: appended lists are plain lists, nulls are removed.
pub fn settle_tree(node: Node, problems: &mut Diagnostics) -> Node {
    let value = match node.value {
        Value::List(items) => {
            let settled_items = items.into_iter().map(|item| settle_tree(item, problems));
            Value::List(settled_items.collect())
        }
        Value::Map(entries) => {
            let unsettled = entries.into_iter();
            let settled_entries = unsettled.filter_map(|entry| settle_entry(entry, problems));
            Value::Map(settled_entries.collect())
        }
        value => value,
    };
    Node { value, ..node }
}

fn settle_entry(entry: MapEntry, problems: &mut Diagnostics) -> Option<MapEntry> {
    let span = entry.key_span.clone();
    match &entry.value.value {
        Value::Removed => return None,
        Value::Null => {
            let message = format!("`{}` has no value", entry.key);
            let help = "write its value, or remove the key; for empty text, write \"\"";
            problems.warning("no-value", message, &span, help);
            return None;
        }
        Value::List(_) => {}
        _ if entry.append => {
            let message =
                format!("`{}+` appends a list, but this is {}", entry.key, entry.value.kind());
            problems.error("append", message, &span, APPEND_HELP);
        }
        _ => {}
    }
    let value = settle_tree(entry.value, problems);
    Some(MapEntry { value, append: false, ..entry })
}
