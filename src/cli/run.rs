//! `retrial run`: from a recipe to a verdict.

use super::arguments::{Global, MatrixArguments, PlanArguments, PlanFormat, RunArguments};
use super::failure::Failure;
use super::{background, open, prepare, supervise, trust};
use crate::results::verdict::ExitCode;
use crate::store::lookup::Kind;

/// Runs a recipe.
pub fn run(
    global: &Global,
    arguments: &PlanArguments,
    run: &RunArguments,
) -> Result<ExitCode, Failure> {
    if run.dry_run {
        return super::plan::plan(
            global,
            arguments,
            &MatrixArguments::default(),
            PlanFormat::Text,
        );
    }
    let opened = open::recipe(&arguments.recipe)?;
    let host = open::host_and_engine(global, &opened);
    let plan = prepare::planned(global, arguments, run, &opened, &host)?;
    open::tell_warnings(global, &opened, &plan);
    prepare::check(global, arguments, run, &plan)?;
    let home = open::home(global);
    trust::ask(
        &home,
        &[trust::Asking::of(&opened, &plan)],
        &run.allow,
        true,
    )?;
    supervise::runtime()?.block_on(async {
        let engine = open::engine(global).await?;
        let recipe = opened.resolved.yaml.clone();
        let prepared = prepare::prepared(global, host, &engine, recipe, plan, run.force).await?;
        let directory = home.new_run(&prepared.stem())?;
        prepared.write_down(&directory)?;
        if run.detach {
            return background::detach(global, Kind::Run, &directory);
        }
        supervise::follow(global, engine, directory, false).await
    })
}
