//! What is measured and how it is judged: the part of a plan that a verdict needs.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::step::{Action, Plan, Purpose, Step};
use retrial_mlperf::rounds::{Rounds, Rules};
use retrial_recipe::model::{Expectation, FigureSource, Limit, Mode, Ordered, Trials};

/// One scenario in one mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasurementPlan {
    /// The scenario's key in the recipe.
    pub key: String,
    /// MLPerf's spelling where it is one of its scenarios, else the key.
    pub scenario: String,
    /// The summary is `LoadGen`'s: results are read as its files.
    pub loadgen: bool,
    /// The mode.
    pub mode: Mode,
    /// How often, and until when.
    pub trials: Trials,
    /// How many trials come before these, which are shown but not judged.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warmup: u32,
    /// The target rate of the published result, queries per second.
    pub target_qps: Option<f64>,
    /// Figures that are not `LoadGen`'s; `file` is rendered.
    pub figures: Ordered<FigureSource>,
    /// Published figures.
    pub expect: Ordered<Vec<Expectation>>,
    /// The benchmark's own limits, as the recipe has them.
    pub limits: Ordered<Limit>,
    /// What the submission's round asks, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Rules>,
}

impl MeasurementPlan {
    /// A measurement of which nothing is known but what it is.
    #[must_use]
    pub fn new(scenario: impl Into<String>, mode: Mode) -> Self {
        let scenario = scenario.into();
        Self {
            key: scenario.clone(),
            scenario,
            loadgen: false,
            mode,
            trials: Trials::default(),
            warmup: 0,
            target_qps: None,
            figures: Vec::new(),
            expect: Vec::new(),
            limits: Vec::new(),
            rules: None,
        }
    }

    /// `offline-performance`: the stem of the steps' names.
    #[must_use]
    pub fn stem(&self) -> String {
        format!("{}-{}", self.key.to_lowercase(), self.mode)
    }

    /// Whether this name means its scenario: `single-stream` is `SingleStream`.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        is_scenario(name, &self.key, Some(&self.scenario))
    }

    /// The numbers of all trials that are judged, needed or not. Those of the warm-up come before.
    #[must_use]
    pub fn judged_trials(&self) -> RangeInclusive<u32> {
        self.warmup + 1..=self.warmup + self.trials.max
    }

    /// `trial 2 of 5`, `trial 3 of at most 8`; empty if there is one only. Warm-ups count: after `warm-up 1 of 1`
    /// comes `trial 2 of 5`.
    #[must_use]
    pub fn trial_name(&self, trial: u32) -> String {
        let (warmup, Trials { min, max }) = (self.warmup, self.trials);
        if warmup + max == 1 {
            return String::new();
        }
        if trial <= warmup {
            return format!("warm-up {trial} of {warmup}");
        }
        let most = if min < max { "at most " } else { "" };
        format!("trial {trial} of {most}{}", warmup + max)
    }

    /// Where the results of a trial lie below the run's directory.
    #[must_use]
    pub fn results_directory(&self, trial: u32) -> String {
        format!("results/{}", self.trial_directory(trial))
    }

    /// Where the results of a trial lie below a directory of results.
    #[must_use]
    pub fn trial_directory(&self, trial: u32) -> String {
        format!("{}/{}/run_{trial}", self.scenario, self.mode)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Whether a name means a scenario of this key, or of `LoadGen`: `single-stream` is `SingleStream`.
pub(super) fn is_scenario(name: &str, key: &str, loadgen: Option<&str>) -> bool {
    let folded = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let mut names = [Some(key), loadgen].into_iter().flatten();
    names.any(|known| folded(known) == folded(name))
}

impl Step {
    /// The measurement and the trial that it is a part of: of several that share it, the first.
    #[must_use]
    pub fn trial(&self) -> Option<(usize, u32)> {
        match &self.action {
            Action::Exec(exec) => match &exec.purpose {
                Purpose::Measure {
                    measurements,
                    trial,
                } => Some((*measurements.first()?, *trial)),
                Purpose::Check {
                    measurement, trial, ..
                } => Some((*measurement, *trial)),
                Purpose::Prepare => None,
            },
            Action::Collect {
                measurement, trial, ..
            } => Some((*measurement, *trial)),
            _ => None,
        }
    }

    /// The step of the measured command whose results it checks or collects.
    #[must_use]
    pub fn of(&self) -> Option<u32> {
        match &self.action {
            Action::Collect { of, .. } => Some(*of),
            Action::Exec(exec) => match exec.purpose {
                Purpose::Check { of, .. } => Some(of),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it collects results.
    #[must_use]
    pub fn collects(&self) -> bool {
        matches!(self.action, Action::Collect { .. })
    }

    /// Whether it checks results.
    #[must_use]
    pub fn checks(&self) -> bool {
        self.of().is_some() && !self.collects()
    }
}

impl Plan {
    /// The steps that check or collect the results of a measured command.
    pub fn steps_of(&self, command: u32) -> impl Iterator<Item = &Step> {
        self.steps
            .iter()
            .filter(move |step| step.of() == Some(command))
    }

    /// The step that collects what a check looks at, if one does.
    #[must_use]
    pub fn collects_for(&self, check: &Step) -> Option<&Step> {
        let mut collecting = self.steps_of(check.of()?).filter(|step| step.collects());
        collecting.find(|step| step.trial() == check.trial())
    }

    /// Where the results of a trial lie below the run's directory.
    #[must_use]
    pub fn results_directory(&self, measurement: usize, trial: u32) -> String {
        let measured = self.measurements.get(measurement);
        measured
            .map(|measured| measured.results_directory(trial))
            .unwrap_or_default()
    }

    /// Has `MLPerf`'s scenarios judged by the rules of the submission's round. The plan keeps them,
    /// so that a run is judged tomorrow as it is today.
    pub fn ruled_by(&mut self, rounds: &Rounds) {
        let submission = &self.submission;
        let Some(round) = &submission.round else {
            return;
        };
        let division = submission.division.as_deref().unwrap_or("closed");
        for measured in &mut self.measurements {
            let (suite, benchmark) = (&submission.suite, &submission.benchmark);
            let rules = rounds.rules(suite, round, benchmark, &measured.scenario);
            measured.rules = rules.map(|rules| rules.in_division(division));
        }
        if submission.suite == "mlperf-inference" && self.rules().next().is_none() {
            self.notes.push(format!(
                "no rules of {round} for {}: only the recipe's own limits are checked; --rules FILE adds a round's rules",
                submission.benchmark
            ));
        }
    }

    /// The rules by which it is judged, one for each measurement that has any.
    pub fn rules(&self) -> impl Iterator<Item = &Rules> {
        self.measurements
            .iter()
            .filter_map(|measured| measured.rules.as_ref())
    }

    /// ` on the published system`, for a duration; nothing where nothing was published.
    #[must_use]
    pub fn published_system(&self) -> &'static str {
        let mut measurements = self.measurements.iter();
        if measurements.any(|measured| !measured.expect.is_empty()) {
            " on the published system"
        } else {
            ""
        }
    }

    /// By which rules it is judged, in words.
    #[must_use]
    pub fn judged_by(&self) -> Option<String> {
        let rules = self.rules().next()?;
        let free = if rules.accuracy.is_empty() {
            ", without accuracy limits, as in the open division"
        } else {
            ""
        };
        Some(format!(
            "{} of {}{free} ({})",
            rules.benchmark, rules.round, rules.file
        ))
    }
}
