//! The evidence for a verdict: one scenario in one mode, with all its trials.
//!
//! The runner and `retrial judge` fill these from the run directory; nothing here knows of files.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FigureValue, RuleCheck, TrialLog};
use retrial_mlperf::ScenarioName;
use retrial_mlperf::check::StatingLines;
use retrial_mlperf::loadgen::RunSettings;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{FigureSource, Mode};
use retrial_telemetry::TelemetrySummary;

/// One scenario in one mode, all trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The planned measurement; the trials have its figures under the names that it declares.
    pub plan: MeasurementPlan,
    /// The path of the results below the run's directory.
    pub path: String,
    /// The figure by which the suite publishes this scenario, if it is known.
    pub published_metric: Option<String>,
    /// Numbers of trials after which the evidence is analysed; the error is split between them.
    /// Empty or one: a fixed number of trials.
    pub stages: Vec<u32>,
    /// Whether the published figure is of another system.
    pub other_system: bool,
    /// Why no round's rules are known for it, as a fragment that says what to give: its validity is
    /// not judged then.
    pub unknown_rules: Option<String>,
    /// The planned or numbered trials that are missing, as a fragment: the others may have been
    /// selected.
    pub missing_trials: Option<String>,
    /// A score of `MLPerf` Training that was checked as a whole where its logs are: what the mean of
    /// its times is multiplied with.
    pub scaling: Option<f64>,
    /// Rules that were checked where the files are: a round's seeds and durations, files that are
    /// missing, compliance tests. One that is violated makes the result invalid.
    pub checks: Vec<RuleCheck>,
    /// The trials, in the order in which they ran.
    pub trials: Vec<TrialEvidence>,
    /// The trials before them, which are not judged.
    pub warmups: Vec<TrialEvidence>,
}

impl From<MeasurementPlan> for Evidence {
    fn from(plan: MeasurementPlan) -> Self {
        Self {
            path: format!("results/{}/{}", plan.scenario, plan.mode),
            plan,
            published_metric: None,
            stages: Vec::new(),
            other_system: false,
            unknown_rules: None,
            missing_trials: None,
            scaling: None,
            checks: Vec::new(),
            trials: Vec::new(),
            warmups: Vec::new(),
        }
    }
}

impl Evidence {
    /// Returns evidence without trials, expectations or limits.
    pub fn new(scenario: impl Into<ScenarioName>, mode: Mode) -> Self {
        MeasurementPlan::new(scenario, mode).into()
    }

    /// Returns the number of a further trial, from 1.
    pub(crate) fn next_trial_number(&self) -> u32 {
        u32::try_from(self.trials.len()).unwrap_or(u32::MAX - 1) + 1
    }

    /// Returns the figures that have limits, by the recipe or by the round's rules.
    pub fn limited_figures(&self) -> impl Iterator<Item = &str> {
        let rules = self.plan.rules.iter().filter(|_| self.plan.mode == Mode::Accuracy);
        let round_limits = rules.flat_map(|rules| &rules.accuracy);
        let all = self.plan.limits.iter().chain(round_limits);
        all.map(|(name, _)| name.as_str())
    }

    /// Returns the figures of which something is required: a published value or a limit.
    pub(crate) fn required_figures(&self) -> impl Iterator<Item = &String> {
        let expected = self.plan.expect.iter().map(|(name, _)| name);
        expected.chain(self.plan.limits.iter().map(|(name, _)| name))
    }

    /// Returns the recipe's declaration of a figure; for an entry of a table, that of the table.
    pub(crate) fn figure_source(&self, figure: &str) -> Option<&FigureSource> {
        let named = |expected: &str| {
            let mut figures = self.plan.figures.iter();
            Some(&figures.find(|(name, _)| name == expected)?.1)
        };
        named(figure).or_else(|| named(table_name(figure)?))
    }
}

/// Returns the table that a figure is an entry of: `gemm` of `gemm[bf16 8192]`.
pub fn table_name(figure: &str) -> Option<&str> {
    figure.split_once('[').map(|(table, _)| table)
}

/// The evidence of one trial: everything that is judged, of which a stored `TrialVerdict` has a part.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialEvidence {
    /// Its number, from 1.
    pub trial: u32,
    /// The path of its results below the run's directory.
    pub path: String,
    /// The logs that its figures are read from.
    pub logs: Vec<TrialLog>,
    /// The start and the end of its step, where a run's journal has them.
    pub step: Option<(Timestamp, Timestamp)>,
    pub outcome: StepOutcome,
    /// The figures that it gave, by name.
    pub figures: BTreeMap<String, FigureValue>,
    /// Why a figure of the recipe's own is not among them, as a lower-case fragment, by name.
    pub missing: BTreeMap<String, String>,
    /// The missing figures that a record announces, which cannot be read.
    pub announced: BTreeSet<String>,
    /// The validity that the benchmark itself states.
    pub validity: StatedValidity,
    /// The lines of `LoadGen`'s logs that state why it is invalid.
    pub invalid_in: Vec<StatingLines>,
    /// Only an excerpt of a summary exists: it cannot show that rules passed.
    pub excerpt: bool,
    /// `LoadGen`'s settings, constraints and errors.
    pub run_settings: Option<RunSettings>,
    /// Values of another log that are no figures: samples to converge, batch size.
    pub parameters: BTreeMap<String, f64>,
    /// Telemetry of GPUs and container.
    pub telemetry: Option<TelemetrySummary>,
}

impl TrialEvidence {
    /// Returns a trial that finished, with nothing stated yet.
    pub fn new_finished(trial: u32, path: impl Into<String>) -> Self {
        Self { trial, path: path.into(), ..Self::default() }
    }

    /// Returns why a figure is not there, if anything is known of that.
    pub(crate) fn reason_missing(&self, figure: &str) -> Option<&str> {
        find_by_name(&self.missing, figure).map(|(_, reason)| reason.as_str())
    }

    /// Returns a figure by its name, in any case.
    pub fn figure(&self, name: &str) -> Option<&FigureValue> {
        find_by_name(&self.figures, name).map(|(_, figure)| figure)
    }
}

/// Finds a figure by its name: the one place where names are looked up. `MLCommons` publishes `ROUGE1`,
/// scripts print `rouge1`, and recipes write either.
pub(crate) fn find_by_name<'a, Value>(
    figures: &'a BTreeMap<String, Value>,
    name: &str,
) -> Option<(&'a str, &'a Value)> {
    let exact = figures.get_key_value(name);
    exact
        .or_else(|| {
            let mut all = figures.iter();
            all.find(|(key, _)| key.eq_ignore_ascii_case(name))
        })
        .map(|(key, value)| (key.as_str(), value))
}

// The journal's `StepEnd` is another type: a folder has no journal, and a step that is done may have left no result.
/// How a trial's step ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// Finished with exit code 0.
    #[default]
    Finished,
    /// Ended with an error.
    Failed {
        /// Why, as a lower-case fragment.
        reason: String,
        /// Its exit code, if there is one.
        code: Option<i32>,
    },
    /// Exceeded its timeout.
    TimedOut {
        /// Why or after how long, as a lower-case fragment: `after 2 h`.
        reason: String,
    },
    /// Ended with the run that was stopped.
    Stopped,
    /// Not started: an earlier step failed, or the run was stopped.
    NotRun {
        /// Why, as a lower-case fragment.
        reason: String,
    },
    /// Not ended, in a run that is under way.
    Running,
    /// Finished without a result of its own: there is none, or an older one.
    NoNewResult {
        /// Why, as a lower-case fragment.
        reason: String,
    },
}

/// The validity that the benchmark itself states, `LoadGen` or another. What `LoadGen`'s logs leave open is invalid here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StatedValidity {
    Valid,
    /// Stated as invalid, or its log has errors; each reason is a fragment.
    Invalid(Vec<String>),
    #[default]
    NotStated,
}
