//! A batch as it is planned: batch.json.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::search::SearchPlan;
use super::{Claim, ExecutionOptions, ExternalResult, Schedule, TrialRun, Values};
use retrial_recipe::Setting;
use retrial_recipe::model::Mode;

/// A batch, all of it decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchPlan {
    /// Version of this document.
    pub schema: u32,
    /// One line.
    pub title: String,
    /// How it is gone about.
    pub execution: ExecutionOptions,
    /// The axes in order, with the values that cells have; several recipes are the first, `recipe`.
    pub axes: Vec<(String, Vec<String>)>,
    /// What is run.
    pub cells: Vec<Cell>,
    /// What is not, and why.
    pub left_out: Vec<LeftOut>,
    /// In which order.
    pub schedule: Schedule,
    /// Runs of other hosts.
    pub external_results: Vec<ExternalResult>,
    /// What is claimed, of whom.
    pub claims: Vec<Claim>,
    /// The claims were changed after a run had ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restated: bool,
    /// What is searched along its cells; none of a batch that runs all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchPlan>,
}

impl BatchPlan {
    /// A trial run by its number, from 1. The schedule of a search is one round; further trials of
    /// the cells have the numbers of further rounds.
    #[must_use]
    pub fn trial_run(&self, number: usize) -> Option<TrialRun> {
        let (round, at) = match (&self.search, self.cells.len()) {
            (Some(_), cells @ 1..) => (number.checked_sub(1)? / cells, (number - 1) % cells),
            _ => (0, number.checked_sub(1)?),
        };
        let mut trial_run = self.schedule.trial_runs.get(at)?.clone();
        trial_run.trial += u32::try_from(round).ok()?;
        Some(trial_run)
    }
}

/// One recipe with one value of each axis: all that its plan needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// `rocm=7.1.1,backend=migraphx`; with several recipes, `bert,rocm=7.1.1,backend=migraphx`.
    pub name: String,
    /// The recipe's short name in this batch.
    pub recipe: String,
    /// The recipe as `retrial run` takes it: a built-in name or a path.
    pub path: String,
    /// The values of the axes, variants and params, in order.
    pub axes: Values,
    /// What is set besides, in all cells.
    pub set: Values,
    /// Only these scenarios; all if empty.
    pub scenarios: Vec<String>,
    /// Only these modes; all if empty. Which of them a trial measures, its trial run says.
    pub modes: Vec<Mode>,
    /// How many trials.
    pub trials: u32,
    /// The cell that it is compared with, by name; none for that one itself, and without a baseline.
    pub baseline: Option<String>,
}

impl Cell {
    /// What its recipe is resolved with.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let all = self.set.iter().chain(self.axes.iter());
        all.map(|(name, value)| Setting::new(name, value)).collect()
    }
}

/// A combination that is not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// As a cell's.
    pub name: String,
    /// The recipe's short name in this batch.
    pub recipe: String,
    /// The values of the axes.
    pub axes: Values,
    /// Why.
    pub reason: Omission,
}

/// Why a combination is not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Omission {
    /// The batch's own `exclude` matches it.
    Excluded {
        /// The reason that the batch states.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The recipe does not have the value.
    NoSuchValue {
        /// The recipe's short name.
        recipe: String,
        /// The axis.
        name: String,
        /// The value.
        value: String,
    },
    /// The recipe says that the combination is unsupported.
    Unsupported {
        /// The reason that the recipe states.
        reason: String,
    },
}

impl fmt::Display for Omission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Excluded { reason: None } => formatter.write_str("excluded"),
            Self::Excluded {
                reason: Some(reason),
            } => write!(formatter, "excluded: {reason}"),
            Self::NoSuchValue {
                recipe,
                name,
                value,
            } => write!(formatter, "{recipe} has no {name}={value}"),
            Self::Unsupported { reason } => formatter.write_str(reason),
        }
    }
}
