//! Measurements and the rules that judge them: the part of a plan that a verdict needs.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use retrial_mlperf::ScenarioName;
use retrial_mlperf::rounds::InferenceRules;
use retrial_recipe::model::{
    Expectation, FigureSource, Limit, LoadClient, Mode, OrderedMap, ReferenceFigures,
    RequiredValue, SweepPoint, Trials,
};

/// One scenario in one mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasurementPlan {
    /// The scenario's key in the recipe.
    pub key: ScenarioName,
    /// MLPerf's spelling where it is one of its scenarios, else the key.
    pub scenario: ScenarioName,
    /// The results are `LoadGen`'s files.
    pub loadgen: bool,
    /// Performance, accuracy or compliance.
    pub mode: Mode,
    /// The number of trials, fixed or a range.
    pub trials: Trials,
    /// The number of warm-up trials, which are shown but not judged.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warmup: u32,
    /// The free memory that it needs on each of its GPUs, bytes, if stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_memory: Option<u64>,
    /// The target rate of the published result, queries per second.
    pub target_qps: Option<f64>,
    /// The point of a sweep that it measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<SweepPoint>,
    /// The client that loads a server; `output_tokens` is rendered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<LoadClient>,
    /// Figures that are not `LoadGen`'s; `file` is rendered.
    pub figures: OrderedMap<FigureSource>,
    /// The published figures, by the figure's name.
    pub expect: OrderedMap<Vec<Expectation>>,
    /// Published figures that are shown next to the measured ones, and never judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<ReferenceFigures>,
    /// The benchmark's own limits, from the recipe.
    pub limits: OrderedMap<Limit>,
    /// What a result must state of itself, from the recipe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_values: OrderedMap<RequiredValue>,
    /// The rules of the submission's round, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<InferenceRules>,
}

impl MeasurementPlan {
    /// A measurement with only its identity, all else at defaults.
    pub fn new(scenario: impl Into<ScenarioName>, mode: Mode) -> Self {
        let name = scenario.into();
        Self {
            key: name.clone(),
            scenario: name,
            loadgen: false,
            mode,
            trials: Trials::default(),
            warmup: 0,
            gpu_memory: None,
            target_qps: None,
            point: None,
            client: None,
            figures: Vec::new(),
            expect: Vec::new(),
            references: None,
            limits: Vec::new(),
            required_values: Vec::new(),
            rules: None,
        }
    }

    /// `offline-performance`: the stem of the steps' names.
    pub fn step_name_stem(&self) -> String {
        format!("{}-{}", self.key.to_lowercase(), self.mode)
    }

    /// Whether this name refers to its scenario, by its key or as MLPerf spells it.
    pub fn has_scenario_name(&self, name: &str) -> bool {
        self.key == *name || self.scenario == *name
    }

    /// The numbers of all judged trials, needed or not. The warm-ups precede them.
    pub fn judged_trials(&self) -> RangeInclusive<u32> {
        self.warmup + 1..=self.warmup + self.trials.max
    }

    /// `trial 2 of 5`, `trial 3 of at most 8`; empty if there is one only. Warm-ups count: after `warm-up 1 of 1`
    /// comes `trial 2 of 5`.
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

    /// The directory of a trial's results, relative to the run's.
    pub fn results_directory(&self, trial: u32) -> String {
        format!("results/{}", self.trial_directory(trial))
    }

    /// The directory of a trial's results, relative to a directory of results.
    pub fn trial_directory(&self, trial: u32) -> String {
        format!("{}/{}/run_{trial}", self.scenario, self.mode)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}
