//! batch.json: what was planned, and what of the command line holds for every run of it. Whoever
//! takes the batch up again does so by this.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::app::options::{PlanRequest, RecipeRequest, RunRequest};
use crate::batch::{BatchPlan, Cell, TrialRun};
use crate::plan::PlanOptions;
use crate::plan::options::{Keep, PullPolicy};

/// What batch.json holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchRecord {
    /// What is planned.
    #[serde(flatten)]
    pub plan: BatchPlan,
    /// What holds for every run.
    pub asked: Asked,
    /// SHA-256 of each cell's resolved recipe.
    pub recipe_hashes: Vec<String>,
}

/// What of the command line holds for every run, besides what is in the plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    least_privilege: bool,
    skip: Vec<String>,
    from: Option<String>,
    keep: Keep,
    pull: PullPolicy,
    lock: Option<String>,
    rules: Vec<PathBuf>,
    secrets: Vec<String>,
    /// How each run is executed.
    #[serde(flatten)]
    pub run: RunRequest,
}

impl Asked {
    /// What a command line asks for.
    pub fn of(plan: &PlanRequest, run: &RunRequest) -> Self {
        let choices = plan.choices.clone();
        Self {
            least_privilege: choices.least_privilege,
            skip: choices.skip,
            from: choices.from,
            keep: choices.keep,
            pull: choices.pull,
            lock: plan.lock.clone(),
            rules: plan.rules.clone(),
            secrets: choices.secrets,
            run: run.clone(),
        }
    }

    /// What `retrial run` would be told for a trial run of a cell.
    pub fn plan(&self, cell: &Cell, trial_run: &TrialRun, gpus: &[String]) -> PlanRequest {
        PlanRequest {
            recipe: recipe_of(cell),
            choices: PlanOptions {
                scenarios: cell.scenarios.clone(),
                modes: trial_run.modes.clone(),
                trials: Some(1),
                gpus: gpus.to_vec(),
                least_privilege: self.least_privilege,
                skip: self.skip.clone(),
                from: self.from.clone(),
                keep: self.keep,
                pull: self.pull,
                secrets: self.secrets.clone(),
            },
            lock: self.lock.clone(),
            rules: self.rules.clone(),
        }
    }
}

/// A cell's recipe with its settings, as the command line would have it.
pub fn recipe_of(cell: &Cell) -> RecipeRequest {
    let all = cell.set.iter().chain(cell.axes.iter());
    let settings = all.filter(|(name, _)| *name != "recipe");
    RecipeRequest {
        recipe: cell.path.clone(),
        settings: settings
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    }
}
