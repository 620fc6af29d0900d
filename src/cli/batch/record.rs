//! batch.json: what was planned, and what of the command line holds for every run of it. Whoever
//! takes the batch up again does so by this.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::batch::{BatchPlan, Cell, Turn};
use crate::cli::arguments::{PlanArguments, RecipeArguments, RunArguments};
use crate::plan::choices::{Keep, PullPolicy};
use crate::telemetry::rate::Interval;

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
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub struct Asked {
    least_privilege: bool,
    skip: Vec<String>,
    from: Option<String>,
    keep: Keep,
    pull: PullPolicy,
    lock: Option<String>,
    rules: Vec<PathBuf>,
    secrets: Vec<String>,
    allow: Vec<String>,
    telemetry: Interval,
    force: bool,
    no_wait: bool,
    require_accuracy: bool,
    verify_cache: bool,
}

impl Asked {
    /// What a command line asks for.
    pub fn of(plan: &PlanArguments, run: &RunArguments) -> Self {
        Self {
            least_privilege: plan.least_privilege,
            skip: plan.skip.clone(),
            from: plan.from.clone(),
            keep: plan.keep,
            pull: plan.pull,
            lock: plan.lock.clone(),
            rules: plan.rules.clone(),
            secrets: plan.secrets.clone(),
            allow: run.allow.clone(),
            telemetry: run.telemetry,
            force: run.force,
            no_wait: run.no_wait,
            require_accuracy: run.require_accuracy,
            verify_cache: run.verify_cache,
        }
    }

    /// How each run is gone about.
    pub fn run(&self) -> RunArguments {
        RunArguments {
            dry_run: false,
            detach: false,
            allow: self.allow.clone(),
            telemetry: self.telemetry,
            force: self.force,
            no_wait: self.no_wait,
            require_accuracy: self.require_accuracy,
            verify_cache: self.verify_cache,
        }
    }

    /// What `retrial run` would be told for a turn of a cell.
    pub fn plan(&self, cell: &Cell, turn: &Turn, gpus: &[String]) -> PlanArguments {
        PlanArguments {
            recipe: recipe_of(cell),
            scenario: cell.scenarios.clone(),
            mode: turn.modes.clone(),
            trials: Some(1),
            gpus: gpus.to_vec(),
            least_privilege: self.least_privilege,
            skip: self.skip.clone(),
            from: self.from.clone(),
            keep: self.keep,
            pull: self.pull,
            lock: self.lock.clone(),
            rules: self.rules.clone(),
            secrets: self.secrets.clone(),
        }
    }
}

/// A cell's recipe with its settings, as the command line would have it.
pub fn recipe_of(cell: &Cell) -> RecipeArguments {
    let all = cell.set.iter().chain(cell.axes.iter());
    let settings = all.filter(|(name, _)| *name != "recipe");
    RecipeArguments {
        recipe: cell.path.clone(),
        settings: settings
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    }
}
