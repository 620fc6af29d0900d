//! Prepares a batch's trial runs as `retrial run` would.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::cells::CellFailures;
use super::planned::PlannedBatch;
use crate::app::failure::Failure;
use crate::app::launch::free_space::{check_images_fit, pulled_images};
use crate::app::launch::{ApprovedPlan, PrepareError};
use crate::app::open;
use crate::app::options::GlobalOptions;
use retrial_batch::RunOrder;
use retrial_batch::journal::{CellFailure, TrialRunEnd};
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
    /// Cells, by position, whose image does not exist or does not support the GPUs.
    failed_cells: BTreeMap<usize, OwnFailure>,
}

/// The failure of a cell by itself, found before it was started.
type OwnFailure = (CellFailure, ErrorText);

impl<'a> TrialRunMaker<'a> {
    pub fn new(
        global: &'a GlobalOptions,
        engine: &'a dyn Engine,
        id: &'a str,
        planned: &'a PlannedBatch,
    ) -> Self {
        Self { global, engine, id, planned, failed_cells: BTreeMap::new() }
    }

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

    /// Examines the host and its engine for the requirements of all runs, before the first starts. A cell whose image does
    /// not exist or does not support the GPUs fails by itself, unless all do.
    pub async fn check_host(&mut self) -> Result<(), Failure> {
        let mut failures = CellFailures::default();
        let mut failed_cells = self.find_missing_images().await;
        self.examine_requirements(&mut failures, &mut failed_cells).await;
        let PlannedBatch { record, plans, host, .. } = self.planned;
        let mut cells = plans.iter().map(|(cell, _)| cell);
        let is_part = host.is_some();
        if !is_part && cells.all(|cell| failed_cells.contains_key(&cell)) {
            for (cell, (_, error)) in std::mem::take(&mut failed_cells) {
                let cell = record.plan.cells.get(cell);
                failures.add(cell.map_or("", |cell| &cell.name), Failure::host(error));
            }
        }
        failures.into_result()?;
        let possible = plans.iter().filter(|(cell, _)| !failed_cells.contains_key(cell));
        let plans: Vec<&Plan> = possible.map(|(_, plan)| plan.plan()).collect();
        let images: BTreeSet<&str> = plans.iter().map(|plan| plan.image.as_str()).collect();
        if images.len() > 1 {
            let execution = &record.plan.execution;
            let one_at_a_time = execution.remove_images && execution.order == RunOrder::Grouped;
            let force = record.options.run.force;
            check_images_fit(self.engine, &plans, one_at_a_time, force).await?;
        }
        self.failed_cells = failed_cells;
        Ok(())
    }

    /// Examines the host once for the plans with the same requirements, of the cells that can run so far.
    async fn examine_requirements(
        &self,
        failures: &mut CellFailures,
        failed_cells: &mut BTreeMap<usize, OwnFailure>,
    ) {
        let mut examined: BTreeMap<String, Option<OwnFailure>> = BTreeMap::new();
        let PlannedBatch { record, plans, .. } = self.planned;
        let force = record.options.run.force;
        for (cell, plan) in plans.iter() {
            if failed_cells.contains_key(&cell) {
                continue;
            }
            let key = requirements_key(plan.plan());
            if !examined.contains_key(&key) {
                let (host, plan) = (plans.host.clone(), plan.clone());
                let prepared = plan.prepare(self.global, host, self.engine, String::new(), force);
                let own = match prepared.await.map_err(own_failure) {
                    Ok(_) => None,
                    Err((Some(own), failure)) => Some((own, failure.to_error())),
                    Err((None, failure)) => {
                        let cell = record.plan.cells.get(cell);
                        failures.add(cell.map_or("", |cell| &cell.name), failure);
                        None
                    }
                };
                examined.insert(key.clone(), own);
            }
            if let Some(Some(own)) = examined.get(&key) {
                failed_cells.insert(cell, own.clone());
            }
        }
    }

    /// Returns the cells with an image that neither the engine nor its registry has: a wrong tag would be found only after
    /// the cells before it were measured.
    async fn find_missing_images(&self) -> BTreeMap<usize, OwnFailure> {
        let mut failed_cells = BTreeMap::new();
        let mut errors: BTreeMap<&str, Option<ErrorText>> = BTreeMap::new();
        for (cell, plan) in self.planned.plans.iter() {
            for image in pulled_images(plan.plan()) {
                if !errors.contains_key(image) {
                    let missing = find_missing_image(self.engine, image).await;
                    errors.insert(image, missing.map(|error| ErrorText::of(&error)));
                }
                if let Some(Some(error)) = errors.get(image) {
                    let failure = CellFailure::NoSuchTag { image: image.to_owned() };
                    failed_cells.entry(cell).or_insert_with(|| (failure, error.clone()));
                }
            }
        }
        failed_cells
    }

    /// The end of a trial run whose cell is known to fail.
    fn known_end(&self, trial_run: usize) -> Option<TrialRunEnd> {
        let cell = self.planned.record.plan.trial_run(trial_run)?.cell;
        let (failure, error) = self.failed_cells.get(&cell)?.clone();
        Some(end_without_run(ExitCode::Host, error, Some(failure)))
    }
}

/// The failure of a cell by itself, if it is one, and what to print of it.
fn own_failure(error: PrepareError) -> (Option<CellFailure>, Failure) {
    let PrepareError { failure, unsupported_targets: targets } = error;
    let own = (!targets.is_empty()).then_some(CellFailure::UnsupportedGpu { targets });
    (own, failure)
}

/// How a trial run ended that could not be started.
fn end_without_run(exit: ExitCode, error: ErrorText, failure: Option<CellFailure>) -> TrialRunEnd {
    TrialRunEnd {
        exit_code: match exit {
            ExitCode::Usage => ExitCode::Usage.code(),
            _ => ExitCode::Host.code(),
        },
        reason: Some(error),
        failure,
        ..TrialRunEnd::default()
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
    fn images_to_pull(&self, trial_run: usize) -> Vec<String> {
        let planned = self.planned.record.plan.trial_run(trial_run);
        let possible = planned.filter(|one| !self.failed_cells.contains_key(&one.cell));
        let plan = possible.and_then(|one| self.planned.plans.get_plan(&one));
        let pulls = plan.into_iter().flat_map(|plan| &plan.plan().steps);
        let missing = pulls.filter_map(|step| match &step.action {
            Action::Pull { reference, policy: PullPolicy::Missing } if !step.is_skipped() => {
                Some(reference.clone())
            }
            _ => None,
        });
        missing.collect()
    }

    async fn prepare_run(
        &self,
        trial_run: usize,
        worker: usize,
    ) -> Result<PreparedRun, TrialRunEnd> {
        if let Some(end) = self.known_end(trial_run) {
            return Err(end);
        }
        let made = async {
            let (recipe, plan) = self.plan_trial_run(trial_run, worker)?;
            let mut host = open::probe_host(self.global);
            // The engine's GPU support is queried only once.
            host.gpu_support = self.planned.plans.host.gpu_support.clone();
            let force = self.planned.record.options.run.force;
            plan.prepare(self.global, host, self.engine, recipe, force).await
        };
        made.await.map_err(|error| {
            let (own, failure) = own_failure(error);
            end_without_run(failure.exit, failure.to_error(), own)
        })
    }
}
