//! `retrial run`: from a recipe to a verdict.

use super::arguments::{PlanFormat, RunArguments};
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{approval, background, follow, open, prepare, runtime, site};
use retrial_batch::CliOverrides;
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_results::verdict::ExitCode;
use retrial_store::error::RecordKind;

/// Plans a recipe, has its privileges approved, and runs it to its verdict, in the background if requested.
pub fn run_recipe(global: &GlobalOptions, arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let (request, run, nodes) = (&arguments.plan, &arguments.run, &arguments.nodes);
    let site = arguments.site.as_deref();
    if run.dry_run {
        let matrix = CliOverrides::default();
        return super::plan::plan_run_or_batch(global, site, request, &matrix, PlanFormat::Text);
    }
    if let Some(name) = site {
        return site::submit_run(global, name, request, &run.request, run.detach);
    }
    let opened = open::open_recipe(&request.recipe)?;
    let execution = &run.request;
    let host = open::probe_host_and_engine(global, &opened);
    let plan = prepare::plan_run(global, request, execution, &opened, &host)?;
    open::print_recipe_warnings(global, &opened, &plan);
    prepare::check_before_engine(global, request, execution, &plan)?;
    NodeAllocation::check_machine_count(nodes.as_ref(), &plan)?;
    approval::ensure_approved(&global.home, &[(&opened, &plan)], &execution.allow, true)?;
    runtime::start_runtime()?.block_on(async {
        let engine = open::connect_engine(global).await?;
        let recipe = opened.resolved.yaml.clone();
        let prepared =
            prepare::prepare_run(global, host, &engine, recipe, plan, execution.force).await?;
        let directory = global.home.create_run_directory(&prepared.id_stem())?;
        prepared.write_files(&directory)?;
        if let Some(nodes) = nodes {
            let force = execution.force;
            let nodes = nodes.clone();
            NodeAllocation { force, ..nodes }.write(&directory)?;
        }
        if run.detach {
            return background::start_in_background(global, RecordKind::Run, &directory);
        }
        follow::follow_run(global, engine, directory, false).await
    })
}
