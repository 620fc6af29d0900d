//! batch.json: a batch's plan, and the options that hold for all of its runs. A batch is resumed by
//! it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::app::launch::approval_key;
use crate::app::options::{PlanFiles, PlanRequest, RecipeRequest, RunRequest};
use retrial_batch::{BatchPlan, Cell, TrialRun};
use retrial_plan::{Plan, PlanOptions};
use retrial_recipe::model::Trials;
use retrial_store::{Home, RecordDirectory};

/// The content of batch.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchRecord {
    /// Cells, schedule, claims, and how they are executed.
    #[serde(flatten)]
    pub plan: BatchPlan,
    /// Options that hold for every run.
    #[serde(rename = "asked")]
    pub options: BatchRunRequest,
    /// The site on whose nodes it is executed; none if it is executed on one host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// SHA-256 of each cell's resolved recipe.
    pub recipe_hashes: Vec<String>,
    /// What was approved of each cell, by its position: the keys of approvals; of a batch on a site, where paths may
    /// lead elsewhere on each node, the digests of the copied files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approved: BTreeMap<usize, BTreeSet<String>>,
}

/// Options that hold for every run of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchRunRequest {
    options: PlanOptions,
    files: PlanFiles,
    /// How each run is executed.
    pub run: RunRequest,
}

impl BatchRecord {
    /// The site of a batch in this home; none if it is executed on one host, or cannot be read.
    pub fn site_name(home: &Home, batch: &str) -> Option<String> {
        let directory = RecordDirectory::from_path(home.batches_directory().join(batch));
        directory.read_json::<Self>("batch.json").ok()?.site
    }

    /// Returns what counts as approved of a plan; none if nothing of it needs to stay as it is.
    pub fn approved_of(&self, plan: &Plan) -> Option<String> {
        if self.site.is_some() { plan.companions.clone() } else { approval_key(plan) }
    }

    /// Returns whether the plan of a cell is not the one of the runs that there are.
    pub fn has_changed(&self, cell: usize, plan: &Plan) -> bool {
        let digests = self.approved.get(&cell).zip(self.approved_of(plan));
        digests.is_some_and(|(recorded, digest)| !recorded.contains(&digest))
    }
}

impl BatchRunRequest {
    /// Keeps the options that are not part of the batch's plan.
    pub fn new(plan: &PlanRequest, run: &RunRequest) -> Self {
        Self {
            options: PlanOptions {
                scenarios: Vec::new(),
                modes: Vec::new(),
                trials: None,
                gpus: Vec::new(),
                ..plan.options.clone()
            },
            files: plan.files.clone(),
            run: run.clone(),
        }
    }

    /// The request of `retrial run` for a trial run of a cell.
    pub fn plan_request(&self, cell: &Cell, trial_run: &TrialRun, gpus: &[String]) -> PlanRequest {
        PlanRequest {
            recipe: recipe_request(cell),
            options: PlanOptions {
                scenarios: cell.scenarios.clone(),
                modes: trial_run.modes.clone(),
                trials: Some(Trials::default()),
                gpus: gpus.to_vec(),
                ..self.options.clone()
            },
            files: self.files.clone(),
        }
    }
}

/// Returns a cell's recipe with its settings, as on the command line of `run`.
pub fn recipe_request(cell: &Cell) -> RecipeRequest {
    RecipeRequest { recipe: cell.path.clone(), settings: cell.recipe_settings().into() }
}
