//! What was published at a point of a sweep.

use retrial_document::{MapEntry, Node, Value};

use super::{AT, is_same_point};

/// Leaves the values at a point of what was published, and what has no `at`.
pub(super) fn keep_values_at(measurement: &mut Node, point: &str) {
    if let Some(Node { value: Value::Map(figures), .. }) = measurement.descendant_mut(&["expect"]) {
        *figures = figures.iter().filter_map(|figure| expectation_at(figure, point)).collect();
    }
    let references = measurement.descendant_mut(&["references", "values"]);
    if let Some(Node { value: Value::Map(figures), .. }) = references {
        *figures = figures.iter().filter_map(|figure| reference_at(figure, point)).collect();
        if figures.is_empty()
            && let Value::Map(keys) = &mut measurement.value
        {
            keys.retain(|key| key.key != "references");
        }
    }
}

/// Returns the maps of points that what was published has.
pub(super) fn values_by_point(measurement: &Node) -> Vec<&[MapEntry]> {
    let expected = measurement.entries_at("expect").iter();
    let expected = expected.flat_map(|figure| figure.value.one_or_items());
    let values = measurement.descendant(&["references", "values"]);
    let references = values.into_iter().flat_map(Node::entries).map(|figure| &figure.value);
    expected.chain(references).map(|figure| figure.entries_at(AT)).collect()
}

/// Returns a figure's expectations at a point: those without `at` hold at each. None if there is none.
fn expectation_at(figure: &MapEntry, point: &str) -> Option<MapEntry> {
    let at_point = |expectation: &Node| {
        let Some(at) = expectation.get(AT) else {
            return Some(expectation.clone());
        };
        // A null value is a point that was not published.
        let value = value_at(at, point)?;
        let rest = expectation.entries().iter().filter(|key| key.key != AT).cloned();
        let mut one = Node::map(rest.collect(), expectation.span.clone());
        one.set_key("value", value);
        Some(one)
    };
    let value = match &figure.value.value {
        Value::List(items) => {
            let items: Vec<Node> = items.iter().filter_map(at_point).collect();
            (!items.is_empty()).then(|| Node::list(items, figure.value.span.clone()))
        }
        _ => at_point(&figure.value),
    };
    value.map(|value| figure.with_value(value))
}

fn reference_at(figure: &MapEntry, point: &str) -> Option<MapEntry> {
    match figure.value.get(AT) {
        None => Some(figure.clone()),
        Some(at) => Some(figure.with_value(value_at(at, point)?)),
    }
}

fn value_at(at: &Node, point: &str) -> Option<Node> {
    let value = at.entries().iter().find(|value| is_same_point(&value.key, point))?;
    Some(value.value.clone())
}
