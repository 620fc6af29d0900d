//! Checks figures: each is provided, its keys fit together, and expectations and limits can be met.

use super::CheckContext;
use crate::client_figures::find_client;
use retrial_document::{MapEntry, Node, Span, find_nearest, suggest_name, suggest_nearest};
use retrial_mlperf::figures::{
    accuracy_figure_names, find_known_figure, find_loadgen_figure, is_accuracy_figure,
    loadgen_figure_names,
};
use retrial_readings::bounded::BoundedRegex;
use retrial_readings::claim::Better;
use retrial_readings::pattern::{MatchSelection, Pattern, expand_readers};
use retrial_readings::units::{is_higher_better, is_time_per_something};

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
            self.refuse_points(&name.value);
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
        // What declares figures and cannot be read is reported by itself.
        let is_unread = |entry: &MapEntry| match &*entry.key {
            "client" => find_client(&entry.value).is_none(),
            "figures" => entry.value.is_null(),
            _ => false,
        };
        if self.partial || measurement.entries().iter().any(is_unread) {
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
}
