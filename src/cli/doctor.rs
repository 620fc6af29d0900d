//! `retrial doctor`: checks a host, and changes nothing.

use serde_json::json;

use super::arguments::DoctorArguments;
use crate::app::doctor::check_host;
use crate::app::failure::Failure;
use crate::app::launch::gpu_support;
use crate::app::launch::stand_ins::open_with_stand_ins;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest, RecipeRequest};
use crate::app::{self, open, terminal};
use retrial_host::checks::HostCheckState;
use retrial_report::content;
use retrial_results::verdict::ExitCode;

/// Checks this host, or the machines of a recipe.
pub fn check_machines(
    global: &GlobalOptions,
    arguments: DoctorArguments,
) -> Result<ExitCode, Failure> {
    let DoctorArguments { recipe, settings, gpus, nodes, site } = arguments;
    let recipe_request = recipe.map(|recipe| RecipeRequest { recipe, settings });
    match (recipe_request, site, nodes) {
        (Some(recipe), Some(site), _) => app::doctor::examine_site(global, recipe, &site),
        (Some(recipe), None, Some(nodes)) => app::doctor::examine_nodes(global, recipe, &nodes),
        (recipe, ..) => check_this_host(global, recipe, &gpus),
    }
}

/// Checks the host, for a recipe if one is named.
fn check_this_host(
    global: &GlobalOptions,
    recipe: Option<RecipeRequest>,
    gpus: &[String],
) -> Result<ExitCode, Failure> {
    let mut host = open::probe_host(global);
    gpu_support::query_engine(global, &mut host);
    let plan = match recipe {
        Some(recipe) => {
            let (opened, _) = open_with_stand_ins(&recipe)?;
            let mut request = PlanRequest::whole_recipe(recipe);
            request.options.gpus = gpus.to_vec();
            Some(opened.plan(global, &request, Some(&host))?)
        }
        None => None,
    };
    let checks = check_host(global, host, plan.as_ref())?;
    if global.output == OutputFormat::Json {
        terminal::print_pretty_json(&json!({ "checks": checks }));
    } else {
        terminal::print_document(&content::checks::checks_document(&checks));
    }
    let ready = checks.iter().all(|check| check.state != HostCheckState::Error);
    Ok(ExitCode::Host.success_if(ready))
}
