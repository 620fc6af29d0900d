//! Checks what is published and required of figures: values, their units, and bounds that can be met.

use super::CheckContext;
use crate::model::{entry_name, figure_name};
use crate::sweep::AT;
use retrial_document::{MapEntry, Node, Span};
use retrial_mlperf::figures::find_loadgen_figure;
use retrial_readings::lexer::read_published;
use retrial_readings::units::is_same;

impl CheckContext<'_> {
    pub(super) fn check_expectation(&mut self, measurement: &Node, entry: &MapEntry) {
        let name = entry.key.split_once('[').map_or(&*entry.key, |(table, _)| table);
        let declared = measurement.get("figures").and_then(|figures| figures.get(name));
        let known = find_loadgen_figure(name).map(|figure| figure.unit);
        let own = declared.map(|figure| figure.text_at("unit").unwrap_or_default());
        let unit = own.or(known);
        for expectation in entry.value.one_or_items() {
            self.refuse_points(expectation);
            let listed = expectation.entries_at("values").iter();
            let single = expectation.get("value").into_iter();
            for value in single.chain(listed.map(|entry| &entry.value)) {
                self.check_published_value(value, unit);
            }
        }
    }

    /// Refuses values at points: those of a sweep are values of its scenarios by now.
    pub(super) fn refuse_points(&mut self, published: &Node) {
        if let Some(at) = published.entry(AT).filter(|_| !self.partial) {
            let message = "`at` is allowed in a measurement with `sweep` only";
            let help = "write `value`, or `sweep: { concurrency: [1, 4, 16, 64] }`";
            self.problems.error("sweep", message, &at.key_span, help);
        }
    }

    /// Checks that a published value is above zero and in its figure's unit, if it states one.
    fn check_published_value(&mut self, value: &Node, unit: Option<&str>) {
        let Some((number, printed)) = value.text().and_then(|text| read_published(text).ok())
        else {
            return;
        };
        if number.value <= 0.0 {
            self.problems.error(
                "out-of-range",
                "a published figure is more than zero",
                &value.span,
                "figures are compared as ratios",
            );
        }
        let Some(unit) = unit.filter(|unit| !printed.is_empty() && !is_same(&printed, unit)) else {
            return;
        };
        let (found, help) = if unit.is_empty() {
            ("the figure has no unit".to_owned(), format!("add `unit: {printed}` to the figure"))
        } else {
            (format!("the figure's unit is `{unit}`"), format!("write the value in `{unit}`"))
        };
        let message = format!("the value is in `{printed}`, and {found}");
        self.problems.error("conflict", message, &value.span, help);
    }

    /// Checks that each figure has at most one official value.
    pub(super) fn check_single_official(&mut self, measurement: &Node) {
        let mut official: Vec<String> = Vec::new();
        for entry in measurement.entries_at("expect") {
            for expectation in entry.value.one_or_items() {
                let kind = expectation.get("kind");
                let Some(kind) = kind.filter(|kind| kind.text() == Some("official")) else {
                    continue;
                };
                for (name, span) in expected_figure_names(entry, expectation, &kind.span) {
                    if official.contains(&name) {
                        self.problems.error(
                            "conflict",
                            format!("two official figures of `{name}`"),
                            &span,
                            "one decides; the others are guide or third-party",
                        );
                    } else {
                        official.push(name);
                    }
                }
            }
        }
    }

    pub(super) fn check_limit(&mut self, entry: &MapEntry) {
        let bound = |key: &str| -> Option<f64> { entry.value.text_at(key)?.parse().ok() };
        let upper = [bound("max"), bound("below")].into_iter().flatten();
        let most = upper.reduce(f64::min);
        match (bound("min"), most) {
            (None, None) if entry.value.entries().is_empty() && !self.partial => {
                self.problems.error(
                    "missing-key",
                    format!("the limit of `{}` has no bounds", entry.key),
                    &entry.key_span,
                    "give min, max or below; or `json` and `is` for a word or a truth value",
                );
            }
            (Some(least), Some(most)) if least > most => {
                self.problems.error(
                    "out-of-range",
                    "no figure can be within this limit",
                    &entry.key_span,
                    "min is at most max",
                );
            }
            _ => {}
        }
    }

    /// Checks that a limit of words has its path and its value, and no bounds.
    pub(super) fn check_required_value(&mut self, entry: &MapEntry) {
        for key in ["min", "max", "below"] {
            let message = format!("`{key}` is a bound of a figure, which has no `json` and `is`");
            self.report_misplaced(&entry.value, key, &message, "write a limit of its own for it");
        }
        for (key, other) in [("json", "is"), ("is", "json")] {
            if entry.value.get(key).is_none() && !self.partial {
                self.problems.error(
                    "missing-key",
                    format!("`{other}` needs `{key}`"),
                    &entry.key_span,
                    "write both: {json: $.was_cancelled, is: false}",
                );
            }
        }
    }
}

/// Returns the figures of an expectation, each with its position.
fn expected_figure_names(entry: &MapEntry, expectation: &Node, span: &Span) -> Vec<(String, Span)> {
    match expectation.get("values") {
        Some(values) => values
            .entries()
            .iter()
            .map(|value| (entry_name(&entry.key, &value.key), value.key_span.clone()))
            .collect(),
        None => vec![(figure_name(&entry.key), span.clone())],
    }
}
