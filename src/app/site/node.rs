//! The first act of a job on its node: completes the plan with the node's GPUs, and examines the
//! node and its engine as `run` does on a host.

use serde_json::Value;

use super::record::{self, REQUEST, SITE, SiteRequest};
use crate::app::failure::Failure;
use crate::app::nodes::NodeAllocation;
use crate::app::options::GlobalOptions;
use crate::app::{clean, gpu_support, missing, open, prepare, runtime};
use retrial_document::ErrorText;
use retrial_document::Source;
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_plan::build::plan_for_host;
use retrial_run::nodes::Launcher;
use retrial_run::record_links;
use retrial_site::Site;
use retrial_slurm as slurm;
use retrial_store::journal::{AbortReason, EventKind};
use retrial_store::open::read_text_beneath;
use retrial_store::{RecordDirectory, RunDirectory, StoreError};

/// The GPUs of this node that Slurm assigned, as indices.
const ASSIGNED: &str = "SLURM_JOB_GPUS";
/// The largest recipe.yaml that is read, bytes.
const RECIPE: u64 = 64 << 20;

/// Writes into the run's journal why its job ends early, where followers of the job read it.
pub fn record_failure(directory: &RunDirectory, failure: &Failure) -> Result<(), StoreError> {
    let node = slurm::current_node().unwrap_or_else(|| "its node".to_owned());
    let what = EventKind::RunEnded {
        exit_code: failure.exit.code(),
        reason: Some(AbortReason::Error {
            error: failure.error().clone().in_context(&format!("on {node}: ")),
        }),
    };
    record::write(directory, what)
}

/// Prepares a run on this node.
pub fn prepare(global: &GlobalOptions, directory: &RunDirectory) -> Result<(), Failure> {
    let request: SiteRequest = directory.read_json(REQUEST)?;
    let before: Plan = directory.read_json("plan.json")?;
    let mut host = open::host_view(global);
    gpu_support::ask_for(global, &request.recipe, &mut host);
    let plan = on_this_node(directory, &request, before, &host)?;
    prepare::check_requirements(&plan, request.force)?;
    let recipe = read_text_beneath(directory.path(), "recipe.yaml".as_ref(), RECIPE)?;
    let name = host.hostname.clone();
    let (mut prepared, allocation) = runtime::runtime()?.block_on(async {
        let allocation = allocation(directory, request.force).await?;
        let engine = open::engine(global).await?;
        if allocation.exclusive {
            clean::containers::of_earlier_jobs(&engine, &[directory.id()]).await?;
        }
        let prepared = prepare::prepared(global, host, &engine, recipe, plan, request.force);
        Ok::<_, Failure>((prepared.await?, allocation))
    })?;
    warn_of_other_node(directory, &name)?;
    if !allocation.exclusive {
        let text = "the job shared its node (`exclusive: false`): other jobs may have slowed it";
        prepared.plan.warnings.push(text.to_owned());
    }
    NodeAllocation::matches(Some(&allocation), &prepared.plan)?;
    allocation.write_down(directory)?;
    prepared.write_files(directory).map_err(Failure::from)
}

/// The nodes of the job, of which this is the first.
async fn allocation(directory: &RunDirectory, force: bool) -> Result<NodeAllocation, Failure> {
    let names = slurm::current_job_nodes().await;
    let names = names.map_err(|error| Failure::host(ErrorText::of(&error)))?;
    Ok(NodeAllocation {
        launcher: Launcher::Srun,
        others: names.into_iter().skip(1).collect(),
        force,
        exclusive: site(directory)?.exclusive,
    })
}

/// The plan of the login host with what depends on the host from this one.
fn on_this_node(
    directory: &RunDirectory,
    request: &SiteRequest,
    mut before: Plan,
    host: &HostView,
) -> Result<Plan, Failure> {
    before.gpus = gpus(directory, request)?;
    before.directory.clone_from(&request.directory);
    let mut here = plan_for_host(&before, &request.recipe, host)?;
    record_links(&mut here);
    prepare::check_privileges(&before, &here)?;
    missing::note(&mut here, &request.recipe);
    Ok(here)
}

/// The GPUs that the run may use: the requested ones, else, on a shared node, those that Slurm assigned.
fn gpus(directory: &RunDirectory, request: &SiteRequest) -> Result<Vec<String>, Failure> {
    let requested = &request.options.gpus;
    if request.recipe.requires.gpus.is_none() {
        return Ok(requested.clone());
    }
    Ok(gpus_of_node(requested, &site(directory)?))
}

/// The GPUs that a job may use: the requested ones, else, on a shared node, those that Slurm assigned; empty for
/// all of the node's.
pub fn gpus_of_node(requested: &[String], site: &Site) -> Vec<String> {
    let assigned = std::env::var(ASSIGNED).unwrap_or_default();
    if !requested.is_empty() || site.exclusive || assigned.is_empty() {
        return requested.to_vec();
    }
    assigned.split(',').map(str::to_owned).collect()
}

/// The site as it was when the run or the array was submitted.
pub fn site(directory: &RecordDirectory) -> Result<Site, Failure> {
    let text = read_text_beneath(directory.path(), SITE.as_ref(), RECIPE)?;
    retrial_site::read(&Source::new(SITE, text)).map_err(Failure::problems)
}

/// Warns if an earlier job measured on another node.
fn warn_of_other_node(directory: &RunDirectory, name: &str) -> Result<(), StoreError> {
    let state = directory.read_state()?;
    let host: Value = directory.read_json("host.json").unwrap_or_default();
    let earlier = host["host"]["hostname"].as_str().unwrap_or_default();
    if !state.begun || earlier.is_empty() || earlier == name {
        return Ok(());
    }
    let text = format!("resumed on {name}: earlier measurements are from {earlier}");
    record::write(directory, EventKind::Incident { text })
}
