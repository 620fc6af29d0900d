//! `retrial run`: from a recipe to a verdict.

use super::arguments::{PlanFormat, RunArguments};
use crate::app::failure::Failure;
use crate::app::launch::gpu_support::probe_host_for;
use crate::app::launch::{OpenedRecipe, start_run};
use crate::app::options::GlobalOptions;
use crate::app::{open, runtime, site};
use retrial_batch::CliOverrides;
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_results::verdict::ExitCode;

/// Plans a recipe, has its privileges approved, and runs it to its verdict, in the background if requested.
pub fn run_recipe(global: &GlobalOptions, arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let (request, run, nodes) = (&arguments.plan, &arguments.run, &arguments.nodes);
    let site = arguments.site.as_deref();
    if run.dry_run {
        let matrix = CliOverrides::default();
        return super::plan::plan_run_or_batch(global, site, request, &matrix, PlanFormat::Text);
    }
    run.require_follower_to_notify(site.is_some())?;
    let mut opened = OpenedRecipe::open(request)?;
    if arguments.untrusted_settings {
        opened = opened.with_untrusted_settings(request);
    }
    if let Some(name) = site {
        return site::submit_run(global, name, &opened, request, &run.request, run.detach);
    }
    let host = probe_host_for(global, [&opened.resolved.recipe]);
    let planned = opened.plan_run(global, request, &run.request, Some(&host))?;
    planned.print_warnings(global, 1);
    let checked = planned.check(global)?;
    NodeAllocation::check_machine_count(nodes.as_ref(), checked.plan())?;
    let approved = checked.approve(global)?;
    let force = run.request.force;
    let allocation = nodes.clone().map(|nodes| NodeAllocation { force, ..nodes });
    runtime::start_runtime()?.block_on(async {
        let engine = open::connect_engine(global).await?;
        let recipe = opened.resolved.yaml.clone();
        let prepared = approved.prepare(global, host, &engine, recipe, force);
        let prepared = prepared.await?;
        Box::pin(start_run(global, engine, prepared, allocation, run.detach)).await
    })
}
