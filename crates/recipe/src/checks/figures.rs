//! Checks figures: each is provided, its keys fit together, and expectations and limits can be met.

use super::CheckContext;
use crate::client_figures::find_client;
use crate::model::{entry_name, figure_name};
use retrial_document::{MapEntry, Node, Span, find_nearest, suggest_name, suggest_nearest};
use retrial_mlperf::figures::{
    accuracy_figure_names, find_known_figure, find_loadgen_figure, is_accuracy_figure,
    loadgen_figure_names,
};
use retrial_readings::bounded::BoundedRegex;
use retrial_readings::claim::Better;
use retrial_readings::lexer::read_published;
use retrial_readings::pattern::{MatchSelection, Pattern, expand_readers};
use retrial_readings::units::{is_higher_better, is_same, is_time_per_something};

impl CheckContext<'_> {
    /// Checks the figures of a measurement, and the keys that name them.
    pub(super) fn check_figures(&mut self, measurement: &Node, accuracy: bool) {
        for figure in measurement.entries_at("figures") {
            self.check_figure(figure);
            self.check_printed_unit(&figure.value);
            self.check_direction(figure);
            self.check_figure_file(measurement, figure);
        }
        for name in measurement.entries_at("expect") {
            self.check_figure_provided(measurement, accuracy, name);
            self.check_expectation(measurement, name);
        }
        self.check_single_official(measurement);
        let references = measurement.get("references").into_iter();
        for name in references.flat_map(|references| references.entries_at("values")) {
            self.check_figure_provided(measurement, accuracy, name);
        }
        for limit in measurement.entries_at("limits") {
            if limit.value.get("json").is_some() || limit.value.get("is").is_some() {
                self.check_required_value(limit);
            } else {
                self.check_figure_provided(measurement, accuracy, limit);
                self.check_limit(limit);
            }
        }
    }

    /// Checks the combination of keys of one figure.
    fn check_figure(&mut self, figure: &MapEntry) {
        let node = &figure.value;
        let by = node.get("by");
        if let Some(pattern) = node.get("pattern") {
            self.check_pattern_groups(node, pattern);
        }
        let is_one_line = node.get("pattern").is_some() && by.is_none();
        let trained = node.text_at("mllog") == Some("time_to_train");
        let is_reduced = matches!(node.text_at("take"), Some("mean" | "sum"));
        let is_reduced = is_reduced && node.get("mllog").is_none();
        let misplaced = [
            ("value", node.get("json").is_some(), "json"),
            ("below", is_one_line, "pattern, without by"),
            ("until", node.get("below").is_some(), "below"),
            ("by", node.get("mllog").is_none(), "pattern, json or csv"),
            ("skip", is_reduced, "take: mean or sum, of a pattern, json or csv"),
            ("target", trained, "mllog: time_to_train"),
            ("rcp", trained, "mllog: time_to_train"),
        ];
        for (key, fits, requirement) in misplaced {
            if !fits {
                let message = format!("`{key}` is allowed with `{requirement}` only");
                self.report_misplaced(node, key, &message, "remove it");
            }
        }
        if self.partial || node.get("json").is_none() {
            return;
        }
        match (by, node.entry("value")) {
            (Some(by), None) => self.problems.error(
                "missing-key",
                "a table from JSON needs `value`",
                &by.span,
                "value: the member of each match that is the figure",
            ),
            (None, Some(value)) => self.problems.error(
                "conflict",
                "`value` has no effect without `by`",
                &value.key_span,
                "without a table the path itself leads to the figure",
            ),
            _ => {}
        }
    }

    /// Checks the path of a figure's file: it must be below `results`.
    fn check_figure_file(&mut self, measurement: &Node, figure: &MapEntry) {
        let Some(file) = figure.value.get("file").filter(|_| !self.partial) else {
            return;
        };
        let written = file.text().unwrap_or_default();
        let help = match measurement.text_at("results") {
            None => "name the directory to collect: `results: /path/in/the/container`".to_owned(),
            Some(results) => {
                let root = results.trim_end_matches('/');
                let inner = written.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
                if inner || !written.starts_with('/') {
                    return;
                }
                format!("only files below `{results}` are collected: write a path below it")
            }
        };
        self.problems.error(
            "not-fetched",
            format!("`{written}` is not among the results"),
            &file.span,
            help,
        );
    }

    /// Checks the groups that `by` names, and that one is left for the figure.
    fn check_pattern_groups(&mut self, figure: &Node, pattern: &Node) {
        let expression = pattern.text().and_then(|text| expand_readers(text).ok());
        let Some(regex) = expression.and_then(|text| BoundedRegex::new(&text).ok()) else {
            return;
        };
        let named: Vec<&str> = regex.group_names().flatten().collect();
        let by = figure.items_at("by");
        for group in by {
            let text = group.text().unwrap_or_default();
            if !named.contains(&text) || matches!(text, "value" | "unit") {
                let name = match text {
                    "" | "value" | "unit" => "name",
                    text => text,
                };
                let help = match find_nearest(text, named.iter().copied()) {
                    Some(near) if near != text => suggest_name(near),
                    _ => format!(
                        "write it: `(?<{name}>\\S+)`; `value` and `unit` have a meaning of their own"
                    ),
                };
                let message = format!("the pattern has no group `{text}` to name figures by");
                self.problems.error("unknown-group", message, &group.span, help);
            }
        }
        let converts = named.contains(&"unit");
        if converts && figure.get("unit").is_none() && !self.partial {
            self.problems.error(
                "missing-key",
                "the pattern reads a unit, but the figure has no `unit` to convert it to",
                &pattern.span,
                "write the figure's own: `unit: ms`",
            );
        }
        let other_groups = by.len() + usize::from(converts);
        if regex.group_count() - 1 <= other_groups {
            self.problems.error(
                "unknown-group",
                "no group of the pattern is left for the figure",
                &pattern.span,
                "write it: `${number}`",
            );
        }
    }

    /// Checks that the unit in a pattern, behind its number, is the figure's.
    fn check_printed_unit(&mut self, figure: &Node) {
        let (Some(expression), Some(unit)) = (figure.text_at("pattern"), figure.get("unit")) else {
            return;
        };
        let stated = unit.text().unwrap_or_default();
        let pattern = Pattern::new(expression, MatchSelection::default(), stated.to_owned());
        let printed = pattern.ok().and_then(|pattern| pattern.find_contradicting_unit());
        if let Some(printed) = printed {
            self.problems.error(
                "conflict",
                format!(
                    "the pattern reads a number in `{printed}`, and the figure's unit is `{stated}`"
                ),
                &unit.span,
                format!("write `unit: {printed}`, or correct the pattern"),
            );
        }
    }

    /// Checks that a figure of which lower is better by its name or its unit has its direction: `higher` is the default.
    fn check_direction(&mut self, figure: &MapEntry) {
        let node = &figure.value;
        if self.partial || node.get("better").is_some() || node.get("mllog").is_some() {
            return;
        }
        let name = &figure.key;
        let known = find_known_figure(name).and_then(|known| known.better);
        let unit = node.text_at("unit").unwrap_or_default();
        let is_of_time = is_time_per_something(unit);
        let (message, help) = if known == Some(Better::Lower) {
            (
                format!("lower is better for `{name}`, and the default is `higher`"),
                "write it: `better: lower`",
            )
        } else if known.is_none() && is_of_time {
            (
                format!("`{name}` is a time in `{unit}`, and the default is that higher is better"),
                "write `better: lower`, or `better: higher` where that is meant",
            )
        } else if known.is_none() && !is_higher_better(unit) {
            (
                format!("`{name}` is in `{unit}`, which does not say whether more is better"),
                "write `better: lower` or `better: higher`",
            )
        } else {
            return;
        };
        self.problems.error("missing-key", message, &figure.key_span, help);
    }

    /// Checks that something provides the named figure.
    fn check_figure_provided(&mut self, measurement: &Node, accuracy: bool, named: &MapEntry) {
        let declared = self.find_figure(measurement, accuracy, &named.key, &named.key_span);
        if let Some(figure) = declared {
            self.check_table_naming(figure, named, named.key.contains('['));
        }
    }

    /// Returns the measurement's own declaration of a figure, and reports a figure that nothing provides.
    pub(super) fn find_figure<'b>(
        &mut self,
        measurement: &'b Node,
        accuracy: bool,
        written: &str,
        span: &Span,
    ) -> Option<&'b MapEntry> {
        // An unknown client would declare figures, and is reported by itself.
        let mut clients = measurement.entries().iter().filter(|entry| entry.key == "client");
        let is_client_unknown = clients.any(|client| find_client(&client.value).is_none());
        if self.partial || is_client_unknown {
            return None;
        }
        let own = measurement.entries_at("figures");
        let name = written.split_once('[').map_or(written, |(table, _)| table);
        if let Some(figure) = own.iter().find(|figure| figure.key == *name) {
            return Some(figure);
        }
        let results = measurement.get("results").is_some();
        let is_of_loadgen = find_loadgen_figure(name).is_some();
        let is_of_script = accuracy && is_accuracy_figure(name);
        if results && (is_of_loadgen || is_of_script) {
            return None;
        }
        // The figures that are read from results without a declaration.
        let usual: Vec<&str> = match (results, accuracy) {
            (false, _) => Vec::new(),
            (true, true) => accuracy_figure_names().collect(),
            (true, false) => loadgen_figure_names().collect(),
        };
        let help = if is_of_loadgen {
            "LoadGen writes it: set `results` to its output directory".to_owned()
        } else {
            let keys = own.iter().map(|figure| figure.key.as_str());
            suggest_nearest(name, keys.chain(usual)).unwrap_or_else(|| {
                format!("define how it is read: `figures: {{{name}: {{pattern: …}}}}`")
            })
        };
        let message = format!("nothing provides the figure `{written}`");
        self.problems.error("unknown-figure", message, span, help);
        None
    }

    /// Checks that a table is named by its entries, and any other figure by its name.
    fn check_table_naming(&mut self, figure: &MapEntry, named: &MapEntry, is_entry: bool) {
        let name = &figure.key;
        let table = figure.value.get("by").is_some();
        for node in named.value.one_or_items() {
            let wrong = match (table, is_entry, node.get("values").is_some()) {
                (true, false, true) | (true, true, false) | (false, false, false) => continue,
                (true, true, true) => format!("`{}` is one entry: it has one `value`", named.key),
                (true, false, false) => format!("`{name}` is a table"),
                (false, ..) => format!("`{name}` is not a table"),
            };
            let help = if table {
                format!("name its entries: `{name}: {{values: {{ENTRY: …}}}}`, or `{name}[ENTRY]`")
            } else {
                format!(
                    "it has one `value`; `by` in `figures: {{{name}: …}}` would make it a table"
                )
            };
            self.problems.error("unknown-figure", wrong, &named.key_span, help);
        }
    }

    fn check_expectation(&mut self, measurement: &Node, entry: &MapEntry) {
        let name = entry.key.split_once('[').map_or(&*entry.key, |(table, _)| table);
        let declared = measurement.get("figures").and_then(|figures| figures.get(name));
        let known = find_loadgen_figure(name).map(|figure| figure.unit);
        let own = declared.map(|figure| figure.text_at("unit").unwrap_or_default());
        let unit = own.or(known);
        for expectation in entry.value.one_or_items() {
            let listed = expectation.entries_at("values").iter();
            let single = expectation.get("value").into_iter();
            for value in single.chain(listed.map(|entry| &entry.value)) {
                self.check_published_value(value, unit);
            }
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
    fn check_single_official(&mut self, measurement: &Node) {
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

    fn check_limit(&mut self, entry: &MapEntry) {
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
    fn check_required_value(&mut self, entry: &MapEntry) {
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
