//! `retrial doctor`: checks a host, and changes nothing.

use serde_json::json;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output, PlanRequest, RecipeRequest};
use crate::app::{gpu_support, open, preflight, runtime, terminal};
use crate::host::checks::CheckState;
use crate::report::content;
use crate::results::verdict::ExitCode;
use retrial_engine::api::Engine;
use retrial_engine::docker::Docker;

/// Checks the host, for a recipe where one is named.
pub fn doctor(
    global: &GlobalOptions,
    recipe: Option<RecipeRequest>,
    gpus: &[String],
) -> Result<ExitCode, Failure> {
    let mut host = open::host_view(global);
    gpu_support::ask_the_engine(global, &mut host.gpu_support);
    let plan = match recipe {
        Some(recipe) => {
            let (opened, _) = open::recipe_to_look_at(&recipe)?;
            let secrets = opened.resolved.recipe.secrets.clone();
            let mut arguments = PlanRequest::everything(recipe, secrets);
            arguments.options.gpus = gpus.to_vec();
            let plan = open::plan(global, &arguments, &opened, false, &host)?;
            Some(plan)
        }
        None => None,
    };
    let found = runtime::runtime()?.block_on(async {
        let engine = Docker::connect(global.engine.as_deref()).await;
        let engine = engine.as_ref();
        let engine = engine.map(|engine| engine as &dyn Engine);
        preflight::look(global, host, engine, plan.as_ref()).await
    });
    let checks = found.checks;
    if global.output == Output::Json {
        terminal::print_pretty(&json!({ "checks": checks }))?;
    } else {
        terminal::show(&content::checks::document(&checks));
    }
    let ready = checks.iter().all(|check| check.state != CheckState::Error);
    Ok(if ready {
        ExitCode::Success
    } else {
        ExitCode::Host
    })
}
