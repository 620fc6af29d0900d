//! Prepares a batch's trial runs as `retrial run` would.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::cells::CellFailures;
use super::planned::PlannedBatch;
use crate::app::failure::Failure;
use crate::app::launch::ApprovedPlan;
use crate::app::launch::free_space::{check_images_fit, pulled_image};
use crate::app::open;
use crate::app::options::GlobalOptions;
use retrial_batch::journal::TrialRunEnd;
use retrial_batch::run::RunMaker;
use retrial_document::ErrorText;
use retrial_engine::api::Engine;
use retrial_engine::missing_image::find_missing_image;
use retrial_plan::options::PullPolicy;
use retrial_plan::step::Action;
use retrial_plan::{BatchPosition, Plan};
use retrial_results::verdict::ExitCode;
use retrial_run::PreparedRun;

/// Prepares the trial runs of one batch.
pub struct TrialRunMaker<'a> {
    pub global: &'a GlobalOptions,
    pub engine: &'a dyn Engine,
    pub id: &'a str,
    pub planned: &'a PlannedBatch,
}

impl TrialRunMaker<'_> {
    /// Returns the resolved recipe, as YAML, and the plan of a trial run in a worker.
    fn plan_trial_run(
        &self,
        number: usize,
        worker: usize,
    ) -> Result<(String, ApprovedPlan), Failure> {
        let PlannedBatch { record, gpus, .. } = self.planned;
        let (cells, plans) = (&self.planned.cells, &self.planned.plans);
        let planned = record.plan.trial_run_with_cell(number);
        let opened = planned.as_ref().and_then(|(one, _)| cells.get(one.cell));
        let approved = planned.as_ref().and_then(|(one, _)| plans.get_plan(one));
        let (Some((trial_run, cell)), Some(opened), Some(approved)) = (&planned, opened, approved)
        else {
            return Err(Failure::usage(format!("the batch has no trial run {number}")));
        };
        let plan = if let [_] = &gpus[..] {
            approved.clone()
        } else {
            let worker_gpus = gpus.get(worker).map(Vec::as_slice).unwrap_or_default();
            let arguments = record.options.plan_request(cell, trial_run, worker_gpus);
            let run = &record.options.run;
            let host = Some(&plans.host);
            approved.approve_again(opened.plan_run(self.global, &arguments, run, host)?)?
        };
        let position = BatchPosition {
            id: self.id.to_owned(),
            cell: cell.name.clone(),
            trial: trial_run.trial,
        };
        Ok((opened.resolved.yaml.clone(), plan.in_batch(position)))
    }

    /// Examines the host and its engine for the requirements of all runs, before the first starts.
    pub async fn check_host(&self) -> Result<(), Failure> {
        let mut failures = CellFailures::default();
        let mut checked = BTreeSet::new();
        let PlannedBatch { record, plans, .. } = self.planned;
        let force = record.options.run.force;
        for (cell, plan) in plans.iter() {
            if !checked.insert(requirements_key(plan.plan())) {
                continue;
            }
            let (host, plan) = (plans.host.clone(), plan.clone());
            let recipe = String::new();
            let prepared = plan.prepare(self.global, host, self.engine, recipe, force);
            if let Err(failure) = prepared.await {
                let cell = record.plan.cells.get(cell);
                failures.add(cell.map_or("", |cell| &cell.name), failure);
            }
        }
        self.find_missing_images(&mut failures).await;
        failures.into_result()?;
        let all_plans: Vec<&Plan> = plans.iter().map(|(_, plan)| plan.plan()).collect();
        let images: BTreeSet<&str> = all_plans.iter().map(|plan| plan.image.as_str()).collect();
        if images.len() > 1 {
            check_images_fit(self.engine, &all_plans, force).await?;
        }
        Ok(())
    }
}

impl TrialRunMaker<'_> {
    /// Adds a failure for each cell whose image neither the engine nor its registry has: a wrong tag would be found
    /// only after the cells before it were measured.
    async fn find_missing_images(&self, failures: &mut CellFailures) {
        let PlannedBatch { record, plans, .. } = self.planned;
        let mut errors: BTreeMap<&str, Option<ErrorText>> = BTreeMap::new();
        for (cell, plan) in plans.iter() {
            let Some(image) = pulled_image(plan.plan()) else {
                continue;
            };
            if !errors.contains_key(image) {
                let missing = find_missing_image(self.engine, image).await;
                errors.insert(image, missing.map(|error| ErrorText::of(&error)));
            }
            if let Some(Some(error)) = errors.get(image) {
                let cell = record.plan.cells.get(cell);
                let name = cell.map_or("", |cell| &cell.name);
                failures.add(name, Failure::host(error.clone()));
            }
        }
    }
}

/// The requirements of a plan: the host is examined once for plans with the same.
fn requirements_key(plan: &Plan) -> String {
    let fetched_models = plan.fetched_models();
    let models: Vec<_> = fetched_models.map(|model| (&model.repository, &model.revision)).collect();
    serde_json::json!([
        plan.image,
        models,
        plan.requires,
        plan.assigned_gpus,
        plan.recipe,
        plan.container.network
    ])
    .to_string()
}

#[async_trait(?Send)]
impl RunMaker for TrialRunMaker<'_> {
    fn image_to_pull(&self, trial_run: usize) -> Option<String> {
        let trial_run = self.planned.record.plan.trial_run(trial_run)?;
        let plan = self.planned.plans.get_plan(&trial_run)?;
        plan.plan().steps.iter().find_map(|step| match &step.action {
            Action::Pull { reference, policy: PullPolicy::Missing } if !step.is_skipped() => {
                Some(reference.clone())
            }
            _ => None,
        })
    }

    async fn prepare_run(
        &self,
        trial_run: usize,
        worker: usize,
    ) -> Result<PreparedRun, TrialRunEnd> {
        let made = async {
            let (recipe, plan) = self.plan_trial_run(trial_run, worker)?;
            let mut host = open::probe_host(self.global);
            // The engine's GPU support is queried only once.
            host.gpu_support = self.planned.plans.host.gpu_support.clone();
            // Measured when the run was planned: the plan's unmet requirements follow from it, and the checks of
            // the disks measure it again.
            host.disk_free = self.planned.plans.host.disk_free;
            let force = self.planned.record.options.run.force;
            plan.prepare(self.global, host, self.engine, recipe, force).await
        };
        made.await.map_err(|failure| TrialRunEnd {
            exit_code: match failure.exit {
                ExitCode::Usage => ExitCode::Usage.code(),
                _ => ExitCode::Host.code(),
            },
            reason: Some(failure.to_error()),
            ..TrialRunEnd::default()
        })
    }
}
