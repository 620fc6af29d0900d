//! What is measured and how it is judged: the part of a plan that a verdict needs.

use serde::{Deserialize, Serialize};

use crate::recipe::model::{Expectation, FigureSource, Limit, Mode, Ordered, Trials};

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
    /// The target rate of the published result, queries per second.
    pub target_qps: Option<f64>,
    /// Figures that are not `LoadGen`'s; `file` is rendered.
    pub figures: Ordered<FigureSource>,
    /// Published figures.
    pub expect: Ordered<Vec<Expectation>>,
    /// The benchmark's own limits.
    pub limits: Ordered<Limit>,
}

impl MeasurementPlan {
    /// `offline-performance`: the stem of the steps' names.
    #[must_use]
    pub fn stem(&self) -> String {
        format!("{}-{}", self.key.to_lowercase(), self.mode)
    }

    /// Whether this name means its scenario: `single-stream` is `SingleStream`.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        let folded = |text: &str| text.to_lowercase().replace(['-', '_'], "");
        folded(&self.scenario) == folded(name) || folded(&self.key) == folded(name)
    }

    /// Where the results of a trial lie below the run's directory.
    #[must_use]
    pub fn results_directory(&self, trial: u32) -> String {
        format!("results/{}/{}/run_{trial}", self.scenario, self.mode)
    }
}
