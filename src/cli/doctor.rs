//! `retrial doctor`: checks a host, and changes nothing.

use serde_json::json;

use super::arguments::DoctorArguments;
use crate::app::doctor::look;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat, PlanRequest, RecipeRequest};
use crate::app::{self, gpu_support, open, terminal};
use retrial_host::checks::HostCheckState;
use retrial_report::content;
use retrial_results::verdict::ExitCode;

/// Checks this host, or the machines of a recipe.
pub fn doctor(global: &GlobalOptions, arguments: DoctorArguments) -> Result<ExitCode, Failure> {
    let DoctorArguments {
        recipe,
        settings,
        gpus,
        nodes,
        site,
    } = arguments;
    let recipe = recipe.map(|recipe| RecipeRequest { recipe, settings });
    match (recipe, site, nodes) {
        (Some(recipe), Some(site), _) => app::doctor::site(global, recipe, &site),
        (Some(recipe), None, Some(nodes)) => app::doctor::nodes(global, recipe, &nodes),
        (recipe, ..) => this_host(global, recipe, &gpus),
    }
}

/// Checks the host, for a recipe if one is named.
fn this_host(
    global: &GlobalOptions,
    recipe: Option<RecipeRequest>,
    gpus: &[String],
) -> Result<ExitCode, Failure> {
    let mut host = open::host_view(global);
    gpu_support::ask_the_engine(global, &mut host.gpu_support);
    let plan = match recipe {
        Some(recipe) => {
            let (opened, _) = open::recipe_with_stand_ins(&recipe)?;
            let mut request = PlanRequest::everything(recipe);
            request.options.gpus = gpus.to_vec();
            Some(open::plan(global, &request, &opened, false, &host)?)
        }
        None => None,
    };
    let checks = look(global, host, plan.as_ref())?;
    if global.output == OutputFormat::Json {
        terminal::print_pretty(&json!({ "checks": checks }));
    } else {
        terminal::show(&content::checks::checks_document(&checks));
    }
    let ready = checks
        .iter()
        .all(|check| check.state != HostCheckState::Error);
    Ok(ExitCode::Host.success_if(ready))
}
