//! Merge keys: `<<: *base` and `<<: [*one, *other]`.

use crate::diagnostic::Diagnostics;
use crate::node::{MapEntry, Node, Value};

/// Adds the entries of the maps that `<<` names, each at its position: keys that the map itself has win, then the
/// first.
pub(super) fn apply_merge_keys(
    mut entries: Vec<MapEntry>,
    merges: Vec<(usize, Node)>,
    problems: &mut Diagnostics,
) -> Vec<MapEntry> {
    for (mut at, node) in merges.into_iter().rev() {
        let maps = match node.value {
            Value::List(items) => items,
            _ => vec![node],
        };
        for map in maps {
            let Value::Map(from) = map.value else {
                problems.error(
                    "merge-key",
                    format!("expected a map after `<<`, found {}", map.kind()),
                    &map.span,
                    "write `<<: *anchor` with the anchor of a map",
                );
                continue;
            };
            for entry in from {
                if !entries.iter().any(|own| own.key == entry.key) {
                    entries.insert(at, entry);
                    at += 1;
                }
            }
        }
    }
    entries
}
