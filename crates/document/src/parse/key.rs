//! The keys of maps, as the parser meets them.

use super::fatal_problem;
use crate::diagnostic::Diagnostic;
use crate::node::{Node, Value};
use crate::source::Span;

/// Reads a key: its text, its place, and whether it is written without quotes.
pub(super) fn read_key(node: Node) -> Result<(String, Span, bool), Box<Diagnostic>> {
    match node.value {
        Value::Scalar(scalar) if !scalar.text.is_empty() => {
            Ok((scalar.text, node.span, scalar.plain))
        }
        _ => fatal_problem("key", "a key must be text", node.span, "write `name: value`"),
    }
}

/// Returns whether a key has neither a value nor a colon: `{ value: 45,5 }` has the keys `value` and `5`.
pub(super) fn lacks_colon(key: &Span, value: &Node) -> bool {
    let rest = key.source.text.get(key.end..).unwrap_or_default();
    value.is_null() && value.span.slice().is_empty() && !rest.trim_start().starts_with(':')
}
