//! The first act of a job on its node: completes the plan with the node's GPUs, and examines the
//! node and its engine as `run` does on a host.

use crate::app::failure::Failure;
use crate::app::launch::ApprovedPlan;
use crate::app::launch::gpu_support::probe_host_for;
use crate::app::options::GlobalOptions;
use crate::app::{clean, open, runtime};
use retrial_cluster::job::record::{self, REQUEST_FILE, SITE_COPY_FILE, SiteRequest};
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_cluster::site::Site;
use retrial_cluster::slurm;
use retrial_document::ErrorText;
use retrial_document::Source;
use retrial_plan::Plan;
use retrial_run::nodes::Launcher;
use retrial_store::journal::{AbortReason, EventKind};
use retrial_store::open::read_text_beneath;
use retrial_store::{RecordDirectory, RunDirectory, StoreError};

/// The GPUs of this node that Slurm assigned, as indices.
const ASSIGNED_GPUS_VARIABLE: &str = "SLURM_JOB_GPUS";
/// The largest recipe.yaml that is read, bytes.
const MAX_RECIPE_BYTES: u64 = 64 << 20;

/// Writes into the run's journal why its job ends early, where followers of the job read it.
pub fn record_failure(directory: &RunDirectory, failure: &Failure) -> Result<(), StoreError> {
    let node = slurm::current_node().unwrap_or_else(|| "its node".to_owned());
    let what = EventKind::RunEnded {
        exit_code: failure.exit.code(),
        reason: Some(AbortReason::Error {
            error: failure.to_error().in_context(&format!("on {node}: ")),
        }),
    };
    record::write_run_event(directory, what)
}

pub fn prepare_on_node(global: &GlobalOptions, directory: &RunDirectory) -> Result<(), Failure> {
    let request: SiteRequest = directory.read_json(REQUEST_FILE)?;
    let before: Plan = directory.read_json("plan.json")?;
    let host = probe_host_for(global, [&request.recipe]);
    let plan = ApprovedPlan::of_created_run(before)
        .on_node(usable_gpus(directory, &request)?)
        .complete_for_host(&request.recipe, &host, global)?
        .with_missing_files(&request.recipe, &global.root);
    plan.check_requirements(request.force)?;
    let recipe = read_text_beneath(directory.path(), "recipe.yaml".as_ref(), MAX_RECIPE_BYTES)?;
    let name = host.hostname.clone();
    let (mut prepared, allocation) = runtime::start_runtime()?.block_on(async {
        let allocation = job_allocation(directory, request.force).await?;
        let engine = open::connect_engine(global).await?;
        if allocation.exclusive {
            clean::containers::remove_of_earlier_jobs(global, &engine, &[directory.id()]).await?;
        }
        let prepared = plan.prepare(global, host, &engine, recipe, request.force);
        Ok::<_, Failure>((prepared.await?, allocation))
    })?;
    warn_of_other_node(directory, &name)?;
    if !allocation.exclusive {
        let text = "the job shared its node (`exclusive: false`): other jobs may have slowed it";
        prepared.plan.warnings.push(text.to_owned());
    }
    NodeAllocation::check_machine_count(Some(&allocation), &prepared.plan)?;
    allocation.write(directory)?;
    prepared.write_files(directory).map_err(Failure::from)
}

/// The nodes of the job, of which this is the first.
async fn job_allocation(directory: &RunDirectory, force: bool) -> Result<NodeAllocation, Failure> {
    let names_result = slurm::current_job_nodes().await;
    let names = names_result.map_err(|error| Failure::host(ErrorText::of(&error)))?;
    Ok(NodeAllocation {
        launcher: Launcher::Srun,
        others: names.into_iter().skip(1).collect(),
        force,
        exclusive: saved_site(directory.record())?.exclusive,
    })
}

/// The GPUs that the run may use: the requested ones, else, on a shared node, those that Slurm assigned.
fn usable_gpus(directory: &RunDirectory, request: &SiteRequest) -> Result<Vec<String>, Failure> {
    let requested = &request.options.gpus;
    if request.recipe.requires.gpus.is_none() {
        return Ok(requested.clone());
    }
    Ok(job_gpus(requested, &saved_site(directory.record())?))
}

/// The GPUs that a job may use: the requested ones, else, on a shared node, those that Slurm assigned; empty for
/// all of the node's.
pub fn job_gpus(requested: &[String], site: &Site) -> Vec<String> {
    let assigned = std::env::var(ASSIGNED_GPUS_VARIABLE).unwrap_or_default();
    if !requested.is_empty() || site.exclusive || assigned.is_empty() {
        return requested.to_vec();
    }
    assigned.split(',').map(str::to_owned).collect()
}

/// The site as it was when the run or the array was submitted.
pub fn saved_site(directory: &RecordDirectory) -> Result<Site, Failure> {
    let text = read_text_beneath(directory.path(), SITE_COPY_FILE.as_ref(), MAX_RECIPE_BYTES)?;
    retrial_cluster::site::read_site(&Source::new(SITE_COPY_FILE, text))
        .map_err(Failure::of_problems)
}

/// Warns if an earlier job measured on another node.
fn warn_of_other_node(directory: &RunDirectory, name: &str) -> Result<(), StoreError> {
    let state = directory.read_state()?;
    let host = directory.read_host_record().unwrap_or_default();
    let Some(earlier) = host.hostname().filter(|host| state.begun && *host != name) else {
        return Ok(());
    };
    let text = format!("resumed on {name}: earlier measurements are from {earlier}");
    record::write_run_event(directory, EventKind::Incident { text })
}
