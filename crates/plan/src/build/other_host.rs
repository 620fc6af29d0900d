//! Makes the plan for another machine than the one that made it: the same steps, with that machine's GPUs.

use itertools::Itertools as _;

use super::error::PlanError;
use super::{RecipeOrigin, build_plan};
use crate::lookup::service_containers;
use crate::options::PlanOptions;
use crate::step::{Action, Plan};
use retrial_host::model::HostView;
use retrial_recipe::model::Recipe;

/// Returns the plan as a machine executes it.
///
/// # Errors
/// Returns an error if the recipe's container cannot have the GPUs of this machine.
pub fn plan_for_host(plan: &Plan, recipe: &Recipe, host: &HostView) -> Result<Plan, PlanError> {
    let mut host_recipe = recipe.clone();
    if plan.nodes.is_some_and(|nodes| nodes.gpus.is_some())
        && let Some(gpus) = &mut host_recipe.requires.gpus
    {
        // The total over all machines is as required; one may have fewer than the others.
        let usable = host.usable_gpus(gpus.vendor);
        gpus.count = gpus.count.min(usable).max(1);
    }
    let origin = RecipeOrigin {
        directory: plan.directory.clone(),
        home: plan.home.clone(),
        hash: plan.recipe_hash.clone(),
        built_in: plan.built_in,
        build_content: plan.build_content(),
    };
    let options = PlanOptions {
        gpus: plan.gpus.clone(),
        scenarios: plan.options.scenarios.clone(),
        modes: plan.options.modes.clone(),
        least_privilege: !plan.removed_privileges.is_empty(),
        secrets: plan.secrets.clone(),
        ..PlanOptions::default()
    };
    let here = build_plan(&host_recipe, &origin, &options, host)?;
    let mut on_host = Plan {
        requires: here.requires,
        assigned_gpus: here.assigned_gpus,
        unmet: here.unmet,
        same_sku: here.same_sku,
        // The GPUs of a job are known only on its node, where there may be more than the recipe requires.
        changes: plan.changes.iter().cloned().chain(here.changes).unique().collect(),
        deviations: here.deviations,
        container: here.container,
        ..plan.clone()
    };
    // A lock may have added a digest.
    on_host.container.image.clone_from(&plan.container.image);
    for step in &mut on_host.steps {
        let Action::StartService(started) = &mut step.action else {
            continue;
        };
        let mut containers = service_containers(&here.steps);
        if let Some(own) = &mut started.own_container
            && let Some((_, container)) =
                containers.find(|(service, _)| service.service == started.service)
        {
            let image = std::mem::take(&mut own.image);
            *own = container.clone();
            own.image = image;
        }
    }
    on_host.derive_access(&host.gpu_support, &plan.secrets);
    Ok(on_host)
}
