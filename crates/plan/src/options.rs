//! The options of the command line that change a plan.

use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};

use retrial_mlperf::ScenarioName;
use retrial_recipe::model::{MAX_WARMUP_TRIALS, Mode, Trials};

/// Options that `plan`, `run` and `batch` share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args, Serialize, Deserialize)]
pub struct PlanOptions {
    /// Run only these scenarios
    #[arg(long = "scenario", value_name = "SCENARIO", value_delimiter = ',')]
    pub scenarios: Vec<ScenarioName>,
    /// Of a sweep, measure only these points
    #[arg(long = "point", value_name = "POINT", value_delimiter = ',')]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<String>,
    /// Run only these modes
    #[arg(long = "mode", value_name = "MODE", value_delimiter = ',', value_parser = parse_mode)]
    pub modes: Vec<Mode>,
    /// Repeat each performance measurement COUNT times; with MIN..MAX at least MIN times, and up to
    /// MAX times until the trials decide
    #[arg(long, value_name = "COUNT|MIN..MAX", value_parser = parse_trials)]
    pub trials: Option<Trials>,
    /// Begin each performance measurement with COUNT trials that are shown but not judged, instead of as
    /// many as the recipe states
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(0..=MAX_WARMUP_TRIALS))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<u32>,
    /// Try it first, in minutes: as the recipe's `smoke_test` says, performance only, once. Its figures are not compared
    /// with published ones
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub smoke_test: bool,
    /// Use only these GPUs: index (0,2 or 0-3), GPU-… or PCI address
    #[arg(long, value_name = "GPU", value_delimiter = ',')]
    pub gpus: Vec<String>,
    /// Remove root-equivalent privileges that no GPU needs (privileged, `SYS_ADMIN`, /dev/mem)
    #[arg(long)]
    pub least_privilege: bool,
    /// Skip a step, by name or number
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    pub skip: Vec<String>,
    /// Start with this step
    #[arg(long, value_name = "STEP")]
    pub from: Option<String>,
    /// Keep the container after the run
    #[arg(long, value_enum, default_value_t)]
    pub keep: KeepContainer,
    /// Pull the image before the run
    #[arg(long, value_enum, default_value_t)]
    pub pull: PullPolicy,
    /// Pass this environment variable to the recipe as a secret (`HF_TOKEN` is always allowed)
    #[arg(long = "secret", value_name = "NAME")]
    pub secrets: Vec<String>,
}

/// When to keep the container at the end of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum KeepContainer {
    /// Remove it
    #[default]
    Never,
    /// Keep it if a step failed
    OnFailure,
    /// Keep it
    Always,
}

/// When to pull an image.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum PullPolicy {
    /// Even if the engine has it
    Always,
    /// Unless the engine has it, by digest if the recipe has one, else by name
    #[default]
    Missing,
    /// Never; a missing image is an error
    Never,
}

/// The largest number of trials.
const MAX_TRIALS: u32 = 1000;

/// A value that an option of a plan does not accept.
#[derive(Debug, thiserror::Error)]
enum OptionValueError {
    #[error("expected a number from 1 to {MAX_TRIALS}, or a range of them: 3..8")]
    Trials,
    #[error("expected performance, accuracy or compliance")]
    Mode,
}

fn parse_trials(text: &str) -> Result<Trials, OptionValueError> {
    let (min, max) = text.split_once("..").unwrap_or((text, text));
    let count = |text: &str| text.parse().ok().filter(|count| (1..=MAX_TRIALS).contains(count));
    match (count(min), count(max)) {
        (Some(min), Some(max)) if min <= max => Ok(Trials { min, max }),
        _ => Err(OptionValueError::Trials),
    }
}

fn parse_mode(text: &str) -> Result<Mode, OptionValueError> {
    serde_json::from_value(text.into()).map_err(|_| OptionValueError::Mode)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("5", Some((5, 5)))]
    #[case("3..8", Some((3, 8)))]
    #[case("8..3", None)]
    #[case("0..3", None)]
    #[case("3..", None)]
    #[case("1001", None)]
    fn trials_are_a_number_or_a_range(#[case] text: &str, #[case] expected: Option<(u32, u32)>) {
        let read = parse_trials(text).ok().map(|Trials { min, max }| (min, max));
        assert_eq!(read, expected);
    }
}
