//! Whether a `result_summary.json` agrees with itself and with the `config.yaml` of its run: its figures are stated
//! several times, each of which follows from others.

use serde_json::{Map, Value};

use super::{member_at_path, to_number};
use crate::check::{NOT_STATED, RuleCheck};

/// Relative difference of two figures that are the same: rates are over a time that ends a sample earlier, and another
/// tokenizer counts a few tokens more.
const TOLERANCE: f64 = 0.01;

/// Distributions: their member, whether every sample has a value, and whether a value may be zero.
const SERIES: [(&str, bool, bool); 4] = [
    ("latency", true, false),
    ("ttft", false, false),
    ("tpot", false, false),
    ("output_sequence_lengths", true, true),
];

type Object = Map<String, Value>;

/// Returns what in a summary contradicts the rest of it, or its configuration.
pub(super) fn find_contradictions(config: &Object, summary: &Object) -> Vec<RuleCheck> {
    let mut document = Document { config, summary, contradictions: Vec::new() };
    document.check_state();
    document.check_rates();
    for (name, is_of_all, may_be_zero) in SERIES {
        if let Some(series) = object_at(summary, &[name]) {
            document.check_series(name, series, is_of_all, may_be_zero);
        }
    }
    document.check_concurrency();
    document.check_config();
    document.contradictions
}

struct Document<'a> {
    config: &'a Object,
    summary: &'a Object,
    contradictions: Vec<RuleCheck>,
}

impl Document<'_> {
    fn stated(&self, name: &str) -> Option<f64> {
        to_number(self.summary.get(name))
    }

    fn configured(&self, path: &[&str]) -> Option<f64> {
        to_number(member_at_path(self.config, path))
    }

    /// Requires that two figures are the same.
    fn require_equal(&mut self, what: &str, derived: Option<f64>, stated: (&str, Option<f64>)) {
        if let (Some(derived), (name, Some(stated))) = (derived, stated)
            && (derived - stated).abs() > stated.abs() * TOLERANCE
        {
            self.contradict(what, derived.to_string(), format!("{stated}, as {name} states"));
        }
    }

    fn require_at_least(
        &mut self,
        what: &str,
        value: Option<f64>,
        (name, least): (&str, Option<f64>),
        tolerance: f64,
    ) {
        if let (Some(value), Some(least)) = (value, least)
            && value < least * (1.0 - tolerance)
        {
            self.contradict(what, value.to_string(), format!("at least {least}, as {name} states"));
        }
    }

    fn contradict(&mut self, what: &str, measured: String, required: String) {
        self.contradictions.push(RuleCheck::new(what, measured, required, false));
    }

    fn check_state(&mut self) {
        let state = self.summary.get("state").and_then(Value::as_str);
        if let Some(state) = state.filter(|state| *state != "complete") {
            self.contradict("state", state.to_owned(), "complete".to_owned());
        }
        let reasons = object_at(self.summary, &["finish_reason_counts"]);
        let finished = reasons
            .map(|reasons| reasons.values().filter_map(|count| to_number(Some(count))).sum());
        self.require_equal(
            "sum of finish_reason_counts",
            finished,
            ("n_samples_completed", self.stated("n_samples_completed")),
        );
    }

    /// Rates times their duration are counts.
    fn check_rates(&mut self) {
        let duration = self.stated("duration_ns");
        let window = self.stated("legacy_loadgen_window_duration_ns").or(duration);
        let seconds = window.map(|window| window / 1e9);
        let product = |rate: Option<f64>| Some(rate? * seconds?);
        let tokens = to_number(member_at_path(self.summary, &["output_sequence_lengths", "total"]));
        let completed = self.stated("n_samples_completed");
        self.require_equal(
            "qps × duration",
            product(self.stated("qps")),
            ("n_samples_completed", completed),
        );
        let tokens = ("the total of output_sequence_lengths", tokens);
        self.require_equal("tps × duration", product(self.stated("tps")), tokens);
        let longest = to_number(member_at_path(self.summary, &["latency", "max"]));
        self.require_at_least("duration_ns", duration, ("the longest latency", longest), 0.0);
        let window = ("legacy_loadgen_window_duration_ns", window);
        self.require_at_least("duration_ns", duration, window, 0.0);
    }

    /// The values of a distribution are in order, and their sum is their mean times their count.
    fn check_series(&mut self, name: &str, series: &Object, is_of_all: bool, may_be_zero: bool) {
        let value = |member: &str| to_number(series.get(member));
        let counts = member_at_path(series, &["histogram", "counts"]).and_then(Value::as_array);
        let counted = counts.map(|all| all.iter().filter_map(|count| to_number(Some(count))).sum());
        let completed = self.stated("n_samples_completed");
        let (what, samples) = (format!("{name}: values"), ("n_samples_completed", completed));
        if is_of_all {
            self.require_equal(&what, counted, samples);
        } else {
            self.require_at_least("n_samples_completed", completed, (&what, counted), 0.0);
        }
        let count = counted.or(completed.filter(|_| is_of_all));
        let sum = value("avg").and_then(|mean| Some(mean * count?));
        self.require_equal(&format!("{name}: avg × count"), sum, ("total", value("total")));
        let percentiles = percentiles_of(series, "percentiles");
        if let Some((percent, _)) = percentiles.iter().find(|(_, value)| value.is_none()) {
            self.contradict(
                &format!("{name}: {percent}"),
                "no number".to_owned(),
                "a number".to_owned(),
            );
        }
        let ordered = percentiles.iter().map(|(percent, value)| (percent.as_str(), *value));
        let ends = |end| [(end, value(end))];
        let ordered: Vec<_> = ends("min").into_iter().chain(ordered).chain(ends("max")).collect();
        self.require_order(name, &ordered);
        for middle in ["avg", "median"] {
            self.require_order(
                name,
                &[("min", value("min")), (middle, value(middle)), ("max", value("max"))],
            );
        }
        for (percent, estimate) in percentiles_of(series, "early_stopping_percentiles") {
            let plain = percentiles.iter().find(|(other, _)| *other == percent);
            let plain = plain.and_then(|(_, value)| *value);
            if let Some(estimate) = estimate {
                let estimate = ("its estimate", Some(estimate));
                self.require_order(name, &[(&percent, plain), estimate, ("max", value("max"))]);
            }
        }
        if let Some(least) =
            value("min").filter(|least| *least < 0.0 || *least == 0.0 && !may_be_zero)
        {
            self.contradict(&format!("{name}: min"), least.to_string(), "above 0".to_owned());
        }
    }

    /// Requires that values, of which some are not stated, do not decrease.
    fn require_order(&mut self, name: &str, values: &[(&str, Option<f64>)]) {
        let stated = values.iter().filter_map(|(label, value)| Some((*label, (*value)?)));
        let stated: Vec<(&str, f64)> = stated.collect();
        if let Some([(before, least), (label, value)]) =
            stated.array_windows().find(|[(_, before), (_, after)]| after < before)
        {
            let required = format!("at least {least}, as {before}");
            self.contradict(&format!("{name}: {label}"), value.to_string(), required);
        }
    }

    /// So many requests at once cannot have waited longer in sum than the run took, each.
    fn check_concurrency(&mut self) {
        let concurrency = to_number(member_at_path(
            self.summary,
            &["run_config", "load_pattern", "target_concurrency"],
        ));
        let waited = to_number(member_at_path(self.summary, &["latency", "total"]));
        let duration = self.stated("duration_ns");
        let longest = duration.and_then(|duration| Some(duration * concurrency?));
        self.require_at_least(
            "duration_ns × target_concurrency",
            longest,
            ("the sum of latencies", waited),
            TOLERANCE,
        );
    }

    fn check_config(&mut self) {
        let minimum =
            self.configured(&["settings", "runtime", "min_duration_ms"]).map(|ms| ms * 1e6);
        self.require_at_least(
            "duration_ns",
            self.stated("duration_ns"),
            ("min_duration_ms of config.yaml", minimum),
            0.0,
        );
        let samples = self.configured(&["settings", "runtime", "n_samples_to_issue"]);
        self.require_at_least(
            "n_samples_issued",
            self.stated("n_samples_issued"),
            ("n_samples_to_issue of config.yaml", samples),
            0.0,
        );
        let longest = to_number(member_at_path(self.summary, &["output_sequence_lengths", "max"]));
        let most = self.configured(&["model_params", "max_new_tokens"]);
        self.require_at_least(
            "max_new_tokens of config.yaml",
            most,
            ("the longest of output_sequence_lengths", longest),
            TOLERANCE,
        );
        let streams =
            member_at_path(self.config, &["model_params", "streaming"]).and_then(as_switch);
        let has_first_tokens = object_at(self.summary, &["ttft"]).is_some();
        if let Some(streams) = streams.filter(|streams| *streams != has_first_tokens) {
            let shown = |streams| if streams { "stated" } else { "not stated" };
            let required = format!("{}, as streaming of config.yaml requires", shown(streams));
            self.contradict("ttft", shown(has_first_tokens).to_owned(), required);
        }
        let settings = member_at_path(self.config, &["settings"]);
        let ran = object_at(self.summary, &["run_config"]);
        if ran.is_none() {
            let required = "the settings of the run, as config.yaml has them";
            self.contradictions.push(RuleCheck::warning("run_config", NOT_STATED, required));
        }
        for (name, ran) in ran.into_iter().flatten() {
            let configured =
                settings.and_then(|all| all.get(name).or_else(|| all.get("runtime")?.get(name)));
            self.require_same_setting(name, ran, configured);
        }
    }

    /// Requires that what ran is what was configured, as far as both state it.
    fn require_same_setting(&mut self, name: &str, ran: &Value, configured: Option<&Value>) {
        let Some(configured) = configured.filter(|value| !value.is_null() && !ran.is_null()) else {
            return;
        };
        if let Value::Object(members) = ran {
            for (member, ran) in members {
                self.require_same_setting(&format!("{name}.{member}"), ran, configured.get(member));
            }
            return;
        }
        // Seeds have more digits than a fraction.
        let fractions = to_number(Some(ran)).zip(to_number(Some(configured)));
        let fractions = fractions.filter(|_| !ran.is_u64() || !configured.is_u64());
        let is_same = fractions.map_or_else(
            || ran == configured,
            |(ran, configured)| (ran - configured).abs() <= configured.abs() * f64::EPSILON,
        );
        if !is_same {
            let required = format!("{configured}, as config.yaml has it");
            self.contradict(&format!("{name} of the run"), ran.to_string(), required);
        }
    }
}

/// Returns an object that has members.
fn object_at<'a>(object: &'a Object, path: &[&str]) -> Option<&'a Object> {
    let found = member_at_path(object, path).and_then(Value::as_object);
    found.filter(|members| !members.is_empty())
}

/// Returns percentiles by their names, in ascending order.
fn percentiles_of(series: &Object, member: &str) -> Vec<(String, Option<f64>)> {
    let all = series.get(member).and_then(Value::as_object).into_iter().flatten();
    let named = all.filter_map(|(percent, value)| {
        Some((percent.parse::<f64>().ok()?, (percent.clone(), to_number(Some(value)))))
    });
    let mut sorted: Vec<_> = named.collect();
    sorted.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    sorted.into_iter().map(|(_, percentile)| percentile).collect()
}

/// YAML 1.1 reads a bare `on` as true.
pub(super) fn as_switch(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(value) => Some(*value),
        Value::String(word) => match word.to_lowercase().as_str() {
            "on" | "true" | "yes" => Some(true),
            "off" | "false" | "no" => Some(false),
            _ => None,
        },
        _ => None,
    }
}
