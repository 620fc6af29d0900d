//! Sweeps: a measurement that is made for each of several values becomes a scenario for each. What reads the recipe's tree
//! afterwards sees only scenarios.

use retrial_document::{Diagnostics, MapEntry, Node, Span, Value};

use crate::expression::find_expressions;
use crate::formats;

/// The key whose values a sweep's expectations have: `at: {64: 2910}`.
pub(super) const AT: &str = "at";

/// One sweep of a measurement.
struct Sweep {
    /// The key of the scenario that is swept.
    scenario: String,
    /// What is varied: `concurrency`.
    axis: String,
    points: Vec<Node>,
}

/// Replaces each measurement that has a sweep by a scenario for each of its points.
pub(super) fn expand_sweeps(recipe: &mut Node, problems: &mut Diagnostics) {
    let Some(Node { value: Value::Map(scenarios), .. }) = recipe.descendant_mut(&["scenarios"])
    else {
        return;
    };
    let written = std::mem::take(scenarios);
    for scenario in written.clone() {
        let swept = scenario.value.entries().iter().find(|mode| mode.value.get("sweep").is_some());
        let Some(swept) = swept.cloned() else {
            scenarios.push(scenario);
            continue;
        };
        let Some(sweep) = Sweep::read(&scenario, &swept, problems) else {
            let modes =
                scenario.value.entries().iter().map(|mode| {
                    if mode.key == swept.key { without_sweep(mode) } else { mode.clone() }
                });
            let span = scenario.value.span.clone();
            scenarios.push(scenario.with_value(Node::map(modes.collect(), span)));
            continue;
        };
        let points = sweep.points.iter().map(|point| sweep.scenario_at(&scenario, &swept, point));
        let points: Vec<MapEntry> = points.collect();
        let is_point = |key: &str| points.iter().any(|point| point.key == key);
        if let Some(other) = written.iter().find(|other| is_point(&other.key)) {
            let message =
                format!("`{}` is a point of the sweep of `{}`, too", other.key, scenario.key);
            problems.error("sweep", message, &other.key_span, "give it another name");
        }
        scenarios.extend(points);
        sweep.check_expectations(&swept.value, problems);
        let rest = scenario.value.entries().iter().filter(|mode| mode.key != swept.key);
        let rest: Vec<MapEntry> = rest.cloned().collect();
        if !rest.is_empty() {
            let span = scenario.value.span.clone();
            scenarios.push(scenario.with_value(Node::map(rest, span)));
        }
    }
}

impl Sweep {
    /// Reads the sweep of a scenario's mode.
    fn read(scenario: &MapEntry, mode: &MapEntry, problems: &mut Diagnostics) -> Option<Self> {
        let sweep = mode.value.entry("sweep")?;
        let mut refuse = |message: String, at: &Span| {
            let help = "write the points of one sweep: `sweep: { concurrency: [1, 4, 16, 64] }`";
            problems.error("sweep", message, at, help);
        };
        if mode.key != "performance" {
            refuse("only performance is swept".to_owned(), &sweep.key_span);
            return None;
        }
        let [axis] = sweep.value.entries() else {
            refuse("a sweep has one axis with a list of points".to_owned(), &sweep.key_span);
            return None;
        };
        let mut points: Vec<Node> = Vec::new();
        for point in axis.value.items() {
            let text = point.text().unwrap_or_default();
            let is_number = text.parse().is_ok_and(|number: f64| number > 0.0);
            if !is_number || formats::NAME.mismatch(text).is_some() {
                refuse("a point is a number above 0".to_owned(), &point.span);
                return None;
            }
            if points.iter().any(|other| other.text() == Some(text)) {
                refuse(format!("the point {text} is there twice"), &point.span);
                return None;
            }
            points.push(point.clone());
        }
        if points.is_empty() {
            refuse("a sweep has a list of points".to_owned(), &axis.value.span);
            return None;
        }
        Some(Self { scenario: scenario.key.clone(), axis: axis.key.clone(), points })
    }

    /// Returns the scenario of one point: `serving-64`.
    fn scenario_at(&self, scenario: &MapEntry, mode: &MapEntry, point: &Node) -> MapEntry {
        let value = point.text().unwrap_or_default();
        let mut measurement = measurement_at(mode, value);
        substitute(&mut measurement, &self.axis, value);
        let text = |text: &str| Node::scalar(text, false, point.span.clone());
        let mut place = Node::map(Vec::new(), point.span.clone());
        place.set_key("sweep", text(&self.scenario));
        place.set_key("axis", text(&self.axis));
        place.set_key("value", point.clone());
        measurement.set_key("point", place);
        let modes = vec![mode.with_value(measurement)];
        MapEntry {
            key: format!("{}-{value}", self.scenario),
            ..scenario.with_value(Node::map(modes, scenario.value.span.clone()))
        }
    }

    /// Checks that each value of an expectation is of a point.
    fn check_expectations(&self, measurement: &Node, problems: &mut Diagnostics) {
        let is_point = |key: &str| self.points.iter().any(|point| point.text() == Some(key));
        let expected = measurement.entries_at("expect").iter();
        let expected = expected.flat_map(|figure| figure.value.one_or_items());
        for value in expected.flat_map(|expectation| expectation.entries_at(AT)) {
            if !is_point(&value.key) {
                let axis = &self.axis;
                let points: Vec<&str> = self.points.iter().filter_map(Node::text).collect();
                let message = format!("{axis} {} is no point of the sweep", value.key);
                let help = format!("measure it, or remove it; the points: {}", points.join(", "));
                problems.error("sweep", message, &value.key_span, help);
            }
        }
    }
}

/// Returns a measurement whose sweep is refused, as if it had one point: what depends on it is no mistake of its own.
fn without_sweep(mode: &MapEntry) -> MapEntry {
    const STAND_IN: &str = "1";
    let mut measurement = measurement_at(mode, STAND_IN);
    for axis in mode.value.entries_at("sweep") {
        substitute(&mut measurement, &axis.key, STAND_IN);
    }
    mode.with_value(measurement)
}

/// Returns a measurement with what is expected at a point, and without its sweep.
fn measurement_at(mode: &MapEntry, point: &str) -> Node {
    let keys = mode.value.entries().iter().filter(|key| key.key != "sweep");
    let mut measurement = Node::map(keys.cloned().collect(), mode.value.span.clone());
    if let Some(Value::Map(figures)) =
        measurement.descendant_mut(&["expect"]).map(|expect| &mut expect.value)
    {
        *figures = figures.iter().filter_map(|figure| expectation_at(figure, point)).collect();
    }
    measurement
}

/// Returns a figure's expectations at a point: those without `at` hold at each. None if there is none.
fn expectation_at(figure: &MapEntry, point: &str) -> Option<MapEntry> {
    let at_point = |expectation: &Node| {
        let Some(at) = expectation.get(AT) else {
            return Some(expectation.clone());
        };
        // A null value is a point that was not published.
        let value = at.get(point)?.clone();
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

/// Writes a point's value where expressions name the axis.
fn substitute(node: &mut Node, axis: &str, value: &str) {
    match &mut node.value {
        Value::Map(entries) => {
            for entry in entries {
                substitute(&mut entry.value, axis, value);
            }
        }
        Value::List(items) => {
            for item in items {
                substitute(item, axis, value);
            }
        }
        Value::Scalar(scalar) => scalar.text = substitute_text(&scalar.text, axis, value),
        Value::Null | Value::Removed => {}
    }
}

fn substitute_text(text: &str, axis: &str, value: &str) -> String {
    let name = format!("sweep.{axis}");
    let mut out = String::new();
    let mut done = 0;
    // What is not closed is reported where expressions are checked.
    for expression in find_expressions(text).unwrap_or_default() {
        out.push_str(&text[done..expression.inner.start]);
        out.push_str(&replace_name(&text[expression.inner.clone()], &name, value));
        done = expression.inner.end;
    }
    out + &text[done..]
}

/// Replaces a dotted name where it is whole.
fn replace_name(text: &str, name: &str, value: &str) -> String {
    let is_inside = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        out.push_str(before);
        let is_whole = !before.ends_with(is_inside) && !after.starts_with(is_inside);
        out.push_str(if is_whole { value } else { name });
        rest = after;
    }
    out + rest
}
