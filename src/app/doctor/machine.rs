//! One machine: examines itself for a recipe.

use std::path::Path;

use jiff::Timestamp;

use super::answer::{Answer, Examined, file};
use crate::app::failure::Failure;
use crate::app::nodes::{facts, nonce, recipe_of};
use crate::app::options::GlobalOptions;
use crate::app::{gpu_support, missing, open, preflight, runtime, terminal};
use crate::host::assign::depends_on_engine;
use crate::host::checks::{Check, CheckKind};
use crate::host::model::HostView;
use crate::plan::Plan;
use crate::plan::build::on_host;
use crate::results::verdict::ExitCode;
use crate::slurm::node_of_process;
use crate::store::RunDirectory;
use retrial_engine::api::Engine;
use retrial_engine::docker::Docker;

/// Examines a host for a plan, or in general.
///
/// # Errors
/// If the operating system refuses its resources.
pub fn look(
    global: &GlobalOptions,
    host: HostView,
    plan: Option<&Plan>,
) -> Result<Vec<Check>, Failure> {
    let found = runtime::runtime()?.block_on(async {
        let engine = Docker::connect(global.engine.as_deref()).await;
        let engine = engine.as_ref();
        let engine = engine.map(|engine| engine as &dyn Engine);
        preflight::look(global, host, engine, plan).await
    });
    // Files of this host were looked for when it was planned.
    let unmet = plan.into_iter().flat_map(|plan| &plan.unmet);
    let missing = unmet.filter(|check| matches!(check.kind, CheckKind::Model | CheckKind::Mount));
    Ok(found.checks.into_iter().chain(missing.cloned()).collect())
}

/// Examines this machine for the plan in a directory that several machines share, and answers.
///
/// # Errors
/// If the directory cannot be read or written.
pub fn examine(
    global: &GlobalOptions,
    directory: &Path,
    name: Option<String>,
) -> Result<ExitCode, Failure> {
    let shared = RunDirectory::at(directory.to_owned());
    let mut host = open::host_view(global);
    let nonce = nonce(&shared);
    let plan: Option<Plan> = match nonce {
        Some(_) => Some(shared.read_json("plan.json")?),
        None => None,
    };
    let answer = Answer {
        name: name
            .or_else(node_of_process)
            .unwrap_or_else(|| host.hostname.clone()),
        facts: facts(&host, plan.as_ref(), nonce),
        time: Timestamp::now(),
    };
    terminal::print(&format!("{}\n", terminal::json(&answer)));
    // Whoever asked says that this machine does not see the directory.
    let Some(plan) = plan else {
        return Ok(ExitCode::Host);
    };
    let recipe = recipe_of(&shared, &plan.recipe)?;
    if depends_on_engine(&recipe.container, recipe.requires.gpus.as_ref()) {
        gpu_support::ask_the_engine(global, &mut host.gpu_support);
    }
    let mut plan = on_host(&plan, &recipe, &host)?;
    missing::note(&mut plan, &recipe);
    let checks = look(global, host, Some(&plan))?;
    shared.write_json(&file(&answer.name), &Examined { checks })?;
    Ok(ExitCode::Success)
}
