//! A performance run: `config.yaml` and `result_summary.json`.

use serde_json::{Map, Value};

use super::consistency::{as_switch, find_contradictions};
use super::{member_at_path, to_number, to_whole_number};
use crate::check::RuleCheck;
use crate::loadgen::{
    Parameters, RunSettings, TestMode, TestScenario, digest_latencies, published_metric,
    resolve_figure,
};
use crate::rounds::Metric;
use retrial_readings::figure::{
    Figure, Figures, NANOSECONDS, SAMPLES_PER_SECOND, TOKENS_PER_SECOND,
};
use retrial_readings::number::to_f64;

/// The results of an endpoint's performance run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EndpointPerformance {
    /// The scenario that was configured. SingleStream and Interactive are configured as `online`.
    pub scenario: Option<TestScenario>,
    /// Figures, by LoadGen's names.
    pub figures: Figures,
    /// The settings of `config.yaml`.
    pub settings: Parameters,
    /// The model, as it is configured.
    pub model: Option<String>,
    /// What in the summary contradicts the rest of it, or the configuration.
    pub contradictions: Vec<RuleCheck>,
    pub complete: Option<bool>,
    /// Number of samples that were sent.
    pub issued: Option<u64>,
    /// Number of samples that were answered.
    pub completed: Option<u64>,
    /// Number of samples that failed.
    pub failed: Option<u64>,
    /// Tokens came one by one, so that their latencies are known.
    pub streaming: bool,
    /// The accuracy run answers the same requests: both are configured with one file of them.
    pub answers_accuracy_requests: bool,
    /// Percentiles are early stopping's estimates, not the plain ones.
    pub has_early_stopping: bool,
}

/// Latencies, by their members and among the figures.
const LATENCY_MEMBERS: [&str; 3] = ["latency", "ttft", "tpot"];
/// Percentiles as they are written, and in names.
const PERCENTILES: [(&str, &str); 7] = [
    ("50.0", "p50"),
    ("80.0", "p80"),
    ("90.0", "p90"),
    ("95.0", "p95"),
    ("97.0", "p97"),
    ("99.0", "p99"),
    ("99.9", "p99_9"),
];

impl EndpointPerformance {
    /// Reads a run from its configuration and its summary.
    pub fn from_config_and_summary(
        config: &Map<String, Value>,
        summary: &Map<String, Value>,
    ) -> Self {
        let mut run = Self {
            scenario: configured_scenario(config),
            complete: member_at_path(summary, &["complete"]).and_then(Value::as_bool),
            issued: to_whole_number(member_at_path(summary, &["n_samples_issued"])),
            completed: to_whole_number(member_at_path(summary, &["n_samples_completed"])),
            failed: to_whole_number(member_at_path(summary, &["n_samples_failed"])),
            streaming: member_at_path(config, &["model_params", "streaming"]).and_then(as_switch)
                == Some(true),
            model: member_at_path(config, &["model_params", "name"])
                .and_then(Value::as_str)
                .map(str::to_owned),
            contradictions: find_contradictions(config, summary),
            answers_accuracy_requests: has_one_data_set(config),
            ..Self::default()
        };
        run.read_settings(config, summary);
        run.read_rates(summary);
        for name in LATENCY_MEMBERS {
            run.read_latency(summary, name);
        }
        run
    }

    fn read_settings(&mut self, config: &Map<String, Value>, summary: &Map<String, Value>) {
        let runtime = |name| member_at_path(config, &["settings", "runtime", name]);
        let pattern = |name| member_at_path(config, &["settings", "load_pattern", name]);
        let ran = |name| member_at_path(summary, &["run_config", name]);
        let seed = |name| (to_whole_number(runtime(name)), to_whole_number(ran(name)));
        let sample_index = seed("dataloader_random_seed");
        let schedule = seed("scheduler_random_seed");
        let target_qps = to_number(pattern("target_qps"));
        self.settings = Parameters {
            target_qps,
            min_duration_ms: to_whole_number(runtime("min_duration_ms")),
            max_duration_ms: to_whole_number(runtime("max_duration_ms")),
            min_sample_count: to_whole_number(runtime("n_samples_to_issue")),
            sample_index_rng_seed: sample_index.0.or(sample_index.1),
            schedule_rng_seed: schedule.0.or(schedule.1),
            use_token_latencies: Some(self.streaming),
            ..Parameters::default()
        };
    }

    /// Rates. Offline's and Server's have names of their own, as LoadGen's.
    fn read_rates(&mut self, summary: &Map<String, Value>) {
        let is_offline = self.scenario == Some(TestScenario::Offline);
        let duration =
            to_number(member_at_path(summary, &["duration_ns"])).filter(|duration| *duration > 0.0);
        let counted =
            self.issued.zip(duration).map(|(count, duration)| to_f64(count) / (duration / 1e9));
        // In Offline the checker divides; elsewhere it takes the run's rate.
        let logged = to_number(member_at_path(summary, &["qps"]));
        let (samples, scenario) = if is_offline {
            (counted.or(logged), TestScenario::Offline)
        } else {
            (logged.or(counted), TestScenario::Server)
        };
        let tokens = to_number(member_at_path(summary, &["tps"]));
        let name = |tokens| published_metric(scenario, tokens).to_owned();
        self.insert_figure(name(false), samples, SAMPLES_PER_SECOND);
        self.insert_figure(name(true), tokens, TOKENS_PER_SECOND);
        let length = to_number(member_at_path(summary, &["output_sequence_lengths", "avg"]));
        self.insert_figure("TOKENS_PER_SAMPLE".to_owned(), length, "");
        self.insert_figure("duration_ns".to_owned(), duration, NANOSECONDS);
    }

    fn read_latency(&mut self, summary: &Map<String, Value>, name: &str) {
        for (written, short) in [("min", "min"), ("max", "max"), ("avg", "mean")] {
            let value = to_number(member_at_path(summary, &[name, written]));
            self.insert_figure(format!("{name}_{short}_ns"), value, NANOSECONDS);
        }
        let nonempty_member = |kind| {
            member_at_path(summary, &[name, kind])
                .filter(|found| found.as_object().is_some_and(|all| !all.is_empty()))
        };
        let estimates = nonempty_member("early_stopping_percentiles");
        self.has_early_stopping |= estimates.is_some();
        let Some(percentiles) = estimates.or_else(|| nonempty_member("percentiles")) else {
            return;
        };
        for (written, short) in PERCENTILES {
            let bare = written.trim_end_matches(".0");
            let value = percentiles.get(written).or_else(|| percentiles.get(bare));
            self.insert_figure(format!("{name}_{short}_ns"), to_number(value), NANOSECONDS);
        }
    }

    fn insert_figure(&mut self, name: String, value: Option<f64>, unit: &'static str) {
        if let Some(value) = value {
            let figure = Figure { value, unit: unit.into(), half_digit: 0.0 };
            self.figures.insert(name.into(), figure);
        }
    }

    /// Returns the figure by which a scenario is published: a round names LoadGen's, of which an endpoint
    /// has no early-stopping latency.
    pub fn published_figure_name<'a>(&self, of_round: &'a str) -> &'a str {
        if of_round.starts_with("early_stopping_latency")
            || !self.figures.contains_key(of_round) && of_round.starts_with("latency")
        {
            "latency_mean_ns"
        } else {
            of_round
        }
    }

    /// Returns the metric by which a run is published, where a round names LoadGen's.
    pub fn published_metric(&self, of_round: &Metric) -> Metric {
        Metric {
            figure: self.published_figure_name(&of_round.figure).to_owned(),
            unit: of_round.unit.clone(),
        }
    }

    /// Returns the figure that a recipe means by `name`, as of LoadGen's logs.
    pub fn resolve_figure(&self, name: &str) -> Option<Figure> {
        resolve_figure(name, |name| self.figures.get(name))
    }

    /// Returns a digest of its latencies, in which no two runs agree; none where it states none.
    pub fn digest(&self) -> Option<u64> {
        digest_latencies(&self.figures, &LATENCY_MEMBERS)
    }

    /// Returns the same in LoadGen's format.
    pub fn run_settings(&self) -> RunSettings {
        RunSettings {
            scenario: self.scenario,
            mode: Some(TestMode::Performance),
            errors: self.failed,
            queries: self.issued,
            settings: self.settings.clone(),
            library_samples: self.issued,
            ..RunSettings::default()
        }
    }
}

/// Returns whether the data sets for performance and for accuracy are of one file. Several benchmarks measure
/// speed with other requests than accuracy: their answers differ in length.
fn has_one_data_set(config: &Map<String, Value>) -> bool {
    let all = member_at_path(config, &["datasets"]).and_then(Value::as_array);
    let files = |kind: &str| {
        let sets = all.into_iter().flatten();
        let sets = sets.filter(move |set| set.get("type").and_then(Value::as_str) == Some(kind));
        sets.map(|set| set.get("path").and_then(Value::as_str)).collect::<Vec<_>>()
    };
    let (performance, accuracy) = (files("performance"), files("accuracy"));
    matches!((&performance[..], &accuracy[..]), ([Some(one)], [Some(other)]) if one == other)
}

/// `type: offline`, `online`, or a scenario's own name.
fn configured_scenario(config: &Map<String, Value>) -> Option<TestScenario> {
    let word = member_at_path(config, &["type"])?.as_str()?;
    if word.eq_ignore_ascii_case("online") {
        return Some(TestScenario::Server);
    }
    TestScenario::from_word(word)
}
