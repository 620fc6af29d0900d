//! Sweeps: a measurement that is made for each of several values becomes a scenario for each. What reads the recipe's tree
//! afterwards sees only scenarios.

mod published;
mod substitute;

use retrial_document::{Diagnostics, MapEntry, Node, Span, Value};
use sha2::{Digest as _, Sha256};

use crate::formats;
use published::{keep_values_at, values_by_point};
use substitute::{names_axis, substitute};

/// The key whose values a sweep's expectations have: `at: {64: 2910}`.
pub(crate) const AT: &str = "at";

/// The key of the seed by which the points are put into a random order.
const SHUFFLE: &str = "shuffle";

/// One sweep of a measurement.
struct Sweep {
    /// The key of the scenario that is swept.
    scenario: String,
    /// What is varied: `concurrency`.
    axis: String,
    points: Vec<Node>,
}

/// Replaces each measurement that has a sweep by a scenario for each of its points, and each service whose text names the
/// point by a service for each.
pub(super) fn expand_sweeps(recipe: &mut Node, problems: &mut Diagnostics) {
    let services = recipe.entries_at("services").to_vec();
    let mut of_points: Vec<(String, MapEntry)> = Vec::new();
    let Some(Node { value: Value::Map(scenarios), .. }) = recipe.descendant_mut(&["scenarios"])
    else {
        return;
    };
    let written = std::mem::take(scenarios);
    for scenario in written.clone() {
        check_shuffle(&scenario, problems);
        let swept = scenario.value.entries().iter().find(|mode| mode.value.get("sweep").is_some());
        let Some(swept) = swept.cloned() else {
            check_point(&scenario, problems);
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
        let own = sweep.own_services(&swept.value, &services);
        let scenario_at = |point| sweep.scenario_at(&scenario, &swept, &own, point);
        let points: Vec<MapEntry> = sweep.points.iter().map(scenario_at).collect();
        of_points.extend(own.iter().flat_map(|service| sweep.service_at_points(service)));
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
    add_services(recipe, of_points, problems);
}

/// Adds the services of points, which may be those of several sweeps, in place of those that they are made of.
fn add_services(recipe: &mut Node, of_points: Vec<(String, MapEntry)>, problems: &mut Diagnostics) {
    let Some(Node { value: Value::Map(services), .. }) = recipe.descendant_mut(&["services"])
    else {
        return;
    };
    services.retain(|service| !of_points.iter().any(|(from, _)| *from == service.key));
    for (from, service) in of_points {
        match services.iter().find(|other| other.key == service.key) {
            None => services.push(service),
            Some(other) if other.key_span == service.key_span => {}
            Some(other) => {
                let message = format!("`{}` is `{from}` at a point of a sweep, too", other.key);
                problems.error("sweep", message, &other.key_span, "give it another name");
            }
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
            if points.iter().any(|other| is_same_point(other.text().unwrap_or_default(), text)) {
                let message = format!("the point {text} is there twice");
                problems.error("sweep", message, &point.span, "remove one of them");
                return None;
            }
            points.push(point.clone());
        }
        if points.is_empty() {
            refuse("a sweep has a list of points".to_owned(), &axis.value.span);
            return None;
        }
        if let Some(shuffle) = mode.value.entry(SHUFFLE) {
            let Some(seed) = shuffle.value.text().and_then(|text| text.parse::<u32>().ok()) else {
                let help = "write an integer, its seed: `shuffle: 7`";
                problems.error("sweep", "a seed is an integer", &shuffle.value.span, help);
                return None;
            };
            // As good as random, and the same in every version of every library.
            points.sort_by_cached_key(|point| {
                Sha256::digest(format!("{seed} {}", point.text().unwrap_or_default()))
            });
        }
        Some(Self { scenario: scenario.key.clone(), axis: axis.key.clone(), points })
    }

    /// Returns the services that the measurement needs and whose text names the point.
    fn own_services<'s>(&self, measurement: &Node, services: &'s [MapEntry]) -> Vec<&'s MapEntry> {
        let needs = measurement.get("needs").map(Node::one_or_items).unwrap_or_default();
        let is_needed =
            |service: &&MapEntry| needs.iter().any(|name| name.text() == Some(&*service.key));
        let needed = services.iter().filter(is_needed);
        needed.filter(|service| names_axis(&service.value, &self.axis)).collect()
    }

    /// Returns a service for each point, with the name of the one that they are made of: `server-64` of `server`.
    fn service_at_points(&self, service: &MapEntry) -> Vec<(String, MapEntry)> {
        let values = self.points.iter().filter_map(Node::text);
        let at_points = values.map(|value| {
            let mut at_point = service.value.clone();
            substitute(&mut at_point, &self.axis, value);
            let key = name_of_point(&service.key, value);
            (service.key.clone(), MapEntry { key, ..service.with_value(at_point) })
        });
        at_points.collect()
    }

    /// Returns the scenario of one point: `serving-64`.
    fn scenario_at(
        &self,
        scenario: &MapEntry,
        mode: &MapEntry,
        own_services: &[&MapEntry],
        point: &Node,
    ) -> MapEntry {
        let value = point.text().unwrap_or_default();
        let mut measurement = measurement_at(mode, &self.axis, value);
        if let Some(needs) = measurement.get("needs").cloned() {
            let names = needs.one_or_items().iter().map(|name| {
                let is_own = own_services.iter().any(|own| name.text() == Some(&*own.key));
                let text = name.text().filter(|_| is_own);
                text.map_or_else(
                    || name.clone(),
                    |text| Node::scalar(name_of_point(text, value), false, name.span.clone()),
                )
            });
            measurement.set_key("needs", Node::list(names.collect(), needs.span.clone()));
        }
        let text = |text: &str| Node::scalar(text, false, point.span.clone());
        let mut place = Node::map(Vec::new(), point.span.clone());
        place.set_key("sweep", text(&self.scenario));
        place.set_key("axis", text(&self.axis));
        place.set_key("value", point.clone());
        measurement.set_key("point", place);
        let modes = vec![mode.with_value(measurement)];
        MapEntry {
            key: name_of_point(&self.scenario, value),
            ..scenario.with_value(Node::map(modes, scenario.value.span.clone()))
        }
    }

    /// Checks that each value of an expectation is of a point.
    fn check_expectations(&self, measurement: &Node, problems: &mut Diagnostics) {
        let points: Vec<&str> = self.points.iter().filter_map(Node::text).collect();
        let axis = &self.axis;
        for values in values_by_point(measurement) {
            for (number, value) in values.iter().enumerate() {
                let is_value = |point: &str| is_same_point(point, &value.key);
                if !points.iter().any(|point| is_value(point)) {
                    let message = format!("{axis} {} is no point of the sweep", value.key);
                    let help =
                        format!("measure it, or remove it; the points: {}", points.join(", "));
                    problems.error("sweep", message, &value.key_span, help);
                } else if values[..number].iter().any(|other| is_value(&other.key)) {
                    let message = format!("{axis} {} has two values", value.key);
                    problems.error("sweep", message, &value.key_span, "remove one of them");
                }
            }
        }
    }
}

fn name_of_point(sweep: &str, value: &str) -> String {
    format!("{sweep}-{value}")
}

/// Refuses a scenario that is no point of the sweep that it names: sweeps write `point`, people do not.
fn check_point(scenario: &MapEntry, problems: &mut Diagnostics) {
    for point in scenario.value.entries().iter().filter_map(|mode| mode.value.entry("point")) {
        let part = |key| point.value.text_at(key).unwrap_or_default();
        if name_of_point(part("sweep"), part("value")) != scenario.key {
            let message = format!("`{}` is no point of a sweep", scenario.key);
            let help = "remove `point`: `sweep: { concurrency: [1, 4] }` writes it for each point";
            problems.error("sweep", message, &point.key_span, help);
        }
    }
}

/// Refuses the order of points where there are none.
fn check_shuffle(scenario: &MapEntry, problems: &mut Diagnostics) {
    let unswept = scenario.value.entries().iter().filter(|mode| mode.value.get("sweep").is_none());
    for shuffle in unswept.filter_map(|mode| mode.value.entry(SHUFFLE)) {
        let help = "remove it, or add the points: `sweep: { concurrency: [1, 4, 16, 64] }`";
        problems.error("sweep", "`shuffle` without a sweep", &shuffle.key_span, help);
    }
}

/// Returns a measurement whose sweep is refused, as if it had one point: what depends on it is no mistake of its own.
fn without_sweep(mode: &MapEntry) -> MapEntry {
    const STAND_IN: &str = "1";
    let mut measurement = mode.value.clone();
    for axis in mode.value.entries_at("sweep") {
        measurement = measurement_at(&mode.with_value(measurement), &axis.key, STAND_IN);
    }
    mode.with_value(measurement)
}

/// Returns a measurement at a point, without its sweep.
fn measurement_at(mode: &MapEntry, axis: &str, point: &str) -> Node {
    let keys = mode.value.entries().iter().filter(|key| key.key != "sweep" && key.key != SHUFFLE);
    let mut measurement = Node::map(keys.cloned().collect(), mode.value.span.clone());
    keep_values_at(&mut measurement, point);
    substitute(&mut measurement, axis, point);
    measurement
}

/// Returns whether two texts are the same number: `16` is `16.0`.
fn is_same_point(left: &str, right: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    number(left).is_some_and(|left| number(right) == Some(left))
}
