//! Has several machines examine themselves for a recipe, and compares their answers.

use std::fs;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use super::collect;
use super::machine::checks_file;
use crate::app::failure::Failure;
use crate::app::launch::stand_ins::open_with_stand_ins;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest, RecipeRequest};
use crate::app::site::request::SitePlan;
use crate::app::{open, runtime, terminal};
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_cluster::nodes::compare::{KnownMachine, MachineDifferences, compare_machines};
use retrial_cluster::nodes::nonce::write_nonce;
use retrial_host::checks::HostCheckState;
use retrial_plan::Plan;
use retrial_report::content::machines::{self, MachineReport};
use retrial_results::verdict::ExitCode;
use retrial_store::RunDirectory;
use retrial_store::files::write_atomically;

/// The time limit of a site's job, once it has its nodes.
const SITE_JOB_TIME_LIMIT: Duration = Duration::from_mins(10);

/// Examines this machine and others for a recipe.
///
/// # Errors
/// If the recipe is wrong, or needs another number of machines.
pub fn examine_nodes(
    global: &GlobalOptions,
    recipe: RecipeRequest,
    allocation: &NodeAllocation,
) -> Result<ExitCode, Failure> {
    let (opened, _) = open_with_stand_ins(&recipe)?;
    let request = PlanRequest::whole_recipe(recipe);
    let host = open::probe_host(global);
    let plan = opened.plan(global, &request, Some(&host))?;
    NodeAllocation::check_machine_count(Some(allocation), &plan)?;
    let shared = SharedDirectory::new(global, &plan, &opened.resolved.yaml)?;
    let program = runtime::program_path()?;
    let directory = shared.directory.path().display().to_string();
    let command =
        |name: &str| runtime::command_line(&program, global, &["examine", &directory, name]);
    let answers = collect::examine_machines(&host.hostname, allocation, command);
    let answers = runtime::start_runtime()?.block_on(answers)?;
    Ok(shared.print_comparison(global, &plan, &answers))
}

/// Examines the nodes that a site allocates to a job of a recipe.
///
/// # Errors
/// If the recipe or the site's file is wrong, or Slurm refuses the job.
pub fn examine_site(
    global: &GlobalOptions,
    recipe: RecipeRequest,
    name: &str,
) -> Result<ExitCode, Failure> {
    let request = PlanRequest::whole_recipe(recipe);
    let site = SitePlan::open(global, name, &request)?;
    let shared = SharedDirectory::new(&site.global, &site.plan, &site.opened.resolved.yaml)?;
    let [options, command] =
        site.target.examination_command(shared.directory.path(), SITE_JOB_TIME_LIMIT)?;
    let answers =
        runtime::start_runtime()?.block_on(collect::examine_job_nodes(&options, &command))?;
    Ok(shared.print_comparison(&site.global, &site.plan, &answers))
}

/// A directory in the home for the time of the examination, which all machines should see.
struct SharedDirectory {
    directory: RunDirectory,
    nonce: String,
    _removed_at_the_end: TempDir,
}

impl SharedDirectory {
    fn new(global: &GlobalOptions, plan: &Plan, recipe: &str) -> Result<Self, Failure> {
        global.home.create()?;
        let root = global.home.root();
        let cannot = |error| Failure::host(format!("failed to write {}: {error}", root.display()));
        let temporary = TempDir::with_prefix_in("doctor-", root).map_err(cannot)?;
        let directory = RunDirectory::from_path(temporary.path().to_owned());
        directory.write_json("plan.json", plan)?;
        write_atomically(&directory.join("recipe.yaml"), recipe.as_bytes())?;
        fs::create_dir(directory.join("nodes")).map_err(cannot)?;
        Ok(Self { nonce: write_nonce(&directory)?, directory, _removed_at_the_end: temporary })
    }

    /// Compares the machines, and shows everything.
    fn print_comparison(
        &self,
        global: &GlobalOptions,
        plan: &Plan,
        answers: &[KnownMachine],
    ) -> ExitCode {
        let differences = self.find_differences(plan, answers);
        let machines: Vec<MachineReport> =
            answers.iter().map(|one| self.machine_report(one)).collect();
        if global.output == OutputFormat::Json {
            terminal::print_pretty_json(
                &json!({ "machines": machines, "differences": differences }),
            );
        } else {
            terminal::print_document(&machines::machines_document(&machines, &differences));
        }
        let mut checks = machines.iter().flat_map(|machine| &machine.checks);
        let is_ready =
            differences.is_empty() && checks.all(|check| check.state != HostCheckState::Error);
        ExitCode::Host.success_if(is_ready)
    }

    fn find_differences(&self, plan: &Plan, answers: &[KnownMachine]) -> Vec<String> {
        let directory = self.directory.path().display().to_string();
        let differences = compare_machines(answers, &self.nonce, plan.total_gpus(), &directory);
        let MachineDifferences { errors, refusals } = differences;
        let required = plan.nodes.map_or(1, |nodes| nodes.count);
        let silent = (answers.len() < usize::try_from(required).unwrap_or(usize::MAX))
            .then(|| format!("{} of {required} machines answered", answers.len()));
        silent.into_iter().chain(errors).chain(refusals).collect()
    }

    fn machine_report(&self, machine: &KnownMachine) -> MachineReport {
        let facts = &machine.facts;
        MachineReport {
            name: machine.name.clone(),
            gpus: facts.gpus,
            models: facts.models.clone(),
            driver: facts.driver.clone(),
            rocm: facts.rocm.clone(),
            checks: self.directory.read_json(&checks_file(&machine.name)).unwrap_or_default(),
        }
    }
}
