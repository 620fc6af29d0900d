//! What is measured: scenarios, modes, trials.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommandOptions, Expectation, FigureSource, Limit, Ordered, Template};

/// One scenario: what is measured in each mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// MLPerf's name (`Offline`, `Server`, …) if the key is one of its scenarios.
    pub loadgen: Option<String>,
    /// Modes in the order of the file.
    pub modes: Vec<(Mode, Measurement)>,
}

/// MLPerf's modes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// How fast.
    Performance,
    /// How right.
    Accuracy,
    /// The audit's tests.
    Compliance,
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Performance => "performance",
            Self::Accuracy => "accuracy",
            Self::Compliance => "compliance",
        })
    }
}

/// One scenario in one mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The command, its own or a shared one.
    pub command: MeasurementCommand,
    /// What its commands may say besides their text.
    #[serde(flatten)]
    pub options: CommandOptions,
    /// Path or glob of the result directory in the container.
    pub results: Option<Template>,
    /// A command that checks the results, for example the accuracy script.
    pub check: Option<Template>,
    /// Longest time of the check.
    pub check_timeout: Option<Duration>,
    /// Figures that are not `LoadGen`'s.
    pub figures: Ordered<FigureSource>,
    /// Published figures: per figure one or several.
    pub expect: Ordered<Vec<Expectation>>,
    /// The benchmark's own limits: outside of them the result is invalid.
    pub limits: Ordered<Limit>,
    /// The target rate of the published result, queries per second: another one is `modified`.
    pub target_qps: Option<f64>,
    /// How often it is measured.
    pub trials: Trials,
}

/// Where a measurement's command stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasurementCommand {
    /// Its own.
    Run(Template),
    /// `from: NAME`: one of `commands`, run once for all that name it.
    From(String),
}

/// How often a performance measurement is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trials {
    /// At least.
    pub min: u32,
    /// At most; more than `min` adds trials until the evidence decides.
    pub max: u32,
}

/// More interim analyses would leave each too little of the error.
const MOST_STAGES: usize = 4;

impl Trials {
    /// Returns the numbers of trials after which the evidence is analysed: 3 to 8 gives 3, 5, 8.
    #[must_use]
    pub fn stages(self) -> Vec<u32> {
        let (first, last) = (self.min.max(1), self.max.max(self.min).max(1));
        let mut stages = vec![first];
        let mut next = first;
        while next < last && stages.len() < MOST_STAGES - 1 {
            next = next
                .saturating_mul(8)
                .div_ceil(5)
                .max(next.saturating_add(2))
                .min(last);
            stages.push(next);
        }
        if next < last {
            stages.push(last);
        }
        stages
    }
}

impl Default for Trials {
    fn default() -> Self {
        Self { min: 1, max: 1 }
    }
}
