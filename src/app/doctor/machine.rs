//! One machine: examines itself for a recipe. It answers by one line, which is short enough to arrive whole among
//! the lines of others, and by a file in the directory that all machines share.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::app::failure::Failure;
use crate::app::launch::{gpu_support, missing_requirements, preflight};
use crate::app::nodes::read_shared_recipe;
use crate::app::options::GlobalOptions;
use crate::app::{open, runtime, terminal};
use retrial_cluster::nodes::compare::examine_machine;
use retrial_cluster::slurm::current_node;
use retrial_engine::api::Engine;
use retrial_engine::docker::DockerEngine;
use retrial_host::checks::{HostCheck, HostCheckKind};
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_plan::build::plan_for_host;
use retrial_results::verdict::ExitCode;
use retrial_run::nodes::{MachineFacts, is_machine_name};
use retrial_store::RunDirectory;

/// The answer that a machine prints.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExaminedMachine {
    /// The name by which it was started; else Slurm's name of the node, or the host name.
    pub name: String,
    /// Version of Retrial, GPUs and driver, which must be those of the other machines.
    pub facts: MachineFacts,
    /// The time by its clock when it answered.
    pub time: Timestamp,
}

impl ExaminedMachine {
    /// Reads a line; none if it is another program's.
    pub fn parse(line: &str) -> Option<Self> {
        let answer: Self = serde_json::from_str(line).ok()?;
        is_machine_name(&answer.name).then_some(answer)
    }
}

/// A machine's file in the directory: the checks of the recipe.
pub fn checks_file(name: &str) -> String {
    format!("{name}.json")
}

/// Examines a host for a plan, or in general.
///
/// # Errors
/// If the operating system refuses its resources.
pub fn check_host(
    global: &GlobalOptions,
    host: HostView,
    plan: Option<&Plan>,
) -> Result<Vec<HostCheck>, Failure> {
    let result = runtime::start_runtime()?.block_on(async {
        let connect_result = DockerEngine::connect(global.engine.as_deref()).await;
        let docker_result = connect_result.as_ref();
        let engine = docker_result.map(|engine| engine as &dyn Engine);
        preflight::examine_host(global, host, engine, plan).await
    });
    // Files of this host were checked during planning.
    let unmet = plan.into_iter().flat_map(|plan| &plan.unmet);
    let missing = unmet.filter(|check| {
        use HostCheckKind::{Device, Model, Mount};
        matches!(check.kind, Model | Mount | Device)
    });
    Ok(result.checks.into_iter().chain(missing.cloned()).collect())
}

/// Examines this machine for the plan in a directory that several machines share, and answers.
///
/// # Errors
/// If the directory cannot be read or written.
pub fn answer_examination(
    global: &GlobalOptions,
    directory: &Path,
    name: Option<String>,
) -> Result<ExitCode, Failure> {
    let shared = RunDirectory::from_path(directory.to_owned());
    let mut host = open::probe_host(global);
    let (facts, plan) = examine_machine(&host, &shared)?;
    let answer = ExaminedMachine {
        name: name.or_else(current_node).unwrap_or_else(|| host.hostname.clone()),
        facts,
        time: Timestamp::now(),
    };
    terminal::print_json(&answer);
    // The requesting process reports that this machine does not see the directory.
    let Some(plan) = plan else {
        return Ok(ExitCode::Host);
    };
    let recipe = read_shared_recipe(&shared, &plan.recipe)?;
    gpu_support::query_if_needed(global, [&recipe], &mut host);
    let mut plan = plan_for_host(&plan, &recipe, &host)?;
    missing_requirements::add_missing_files(&mut plan, &recipe, &global.root);
    let checks = check_host(global, host, Some(&plan))?;
    shared.write_json(&checks_file(&answer.name), &checks)?;
    Ok(ExitCode::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_programs_are_ignored() {
        let line = |name: &str| {
            let facts = MachineFacts {
                tool: "1".to_owned(),
                nonce: None,
                gpus: 8,
                models: vec!["MI355X".to_owned()],
                driver: None,
                rocm: None,
            };
            let name = name.to_owned();
            let time = Timestamp::UNIX_EPOCH;
            serde_json::to_string(&ExaminedMachine { name, facts, time }).unwrap()
        };
        assert_eq!(
            ExaminedMachine::parse(&line("n1")).map(|answer| answer.name),
            Some("n1".to_owned())
        );
        assert!(ExaminedMachine::parse(&line("../n1")).is_none());
        assert!(ExaminedMachine::parse("Loading rocm/7.1").is_none());
    }
}
