//! `retrial run`: from a recipe to a verdict.

use super::arguments::{PlanFormat, RunArguments};
use crate::app::failure::Failure;
use crate::app::nodes::NodeAllocation;
use crate::app::options::GlobalOptions;
use crate::app::{approval, background, follow, open, prepare, runtime, site};
use retrial_batch::CliOverrides;
use retrial_results::verdict::ExitCode;
use retrial_store::error::RecordKind;

/// Plans a recipe, has its privileges approved, and runs it to its verdict, in the background if requested.
pub fn run(global: &GlobalOptions, arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let (request, run, nodes) = (&arguments.plan, &arguments.run, &arguments.nodes);
    let site = arguments.site.as_deref();
    if run.dry_run {
        let matrix = CliOverrides::default();
        return super::plan::plan(global, site, request, &matrix, PlanFormat::Text);
    }
    if let Some(name) = site {
        return site::run(global, name, request, &run.request, run.detach);
    }
    let opened = open::recipe(&request.recipe)?;
    let execution = &run.request;
    let host = open::host_and_engine(global, &opened);
    let plan = prepare::planned(global, request, execution, &opened, &host)?;
    open::report_warnings(global, &opened, &plan);
    prepare::check(global, request, execution, &plan)?;
    NodeAllocation::matches(nodes.as_ref(), &plan)?;
    approval::ask(&global.home, &[(&opened, &plan)], &execution.allow, true)?;
    runtime::runtime()?.block_on(async {
        let engine = open::engine(global).await?;
        let recipe = opened.resolved.yaml.clone();
        let prepared =
            prepare::prepared(global, host, &engine, recipe, plan, execution.force).await?;
        let directory = global.home.create_run_directory(&prepared.stem())?;
        prepared.write_files(&directory)?;
        if let Some(nodes) = nodes {
            let force = execution.force;
            let nodes = nodes.clone();
            NodeAllocation { force, ..nodes }.write_down(&directory)?;
        }
        if run.detach {
            return background::detach(global, RecordKind::Run, &directory);
        }
        follow::follow(global, engine, directory, false).await
    })
}
