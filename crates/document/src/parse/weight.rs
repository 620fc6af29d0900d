//! How much a value adds to a document when an alias repeats it.

use crate::node::Node;

/// Values, bytes of text and levels.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    pub values: usize,
    pub bytes: usize,
    pub depth: usize,
}

/// Adds up a value and all below it.
pub(super) fn node_weight(node: &Node) -> Weight {
    let mut total = Weight { values: 1, bytes: node.text().map_or(0, str::len), depth: 1 };
    let mut add = |part: &Node| {
        let weight = node_weight(part);
        total.depth = total.depth.max(weight.depth + 1);
        total.values += weight.values;
        total.bytes += weight.bytes;
    };
    node.items().iter().for_each(&mut add);
    node.entries().iter().for_each(|entry| add(&entry.value));
    total
}
