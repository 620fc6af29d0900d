//! `retrial run`: from a recipe to a verdict.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::arguments::{Global, MatrixArguments, Output, PlanArguments, PlanFormat, RunArguments};
use super::failure::Failure;
use super::open::{self, Opened};
use super::{ready, room, supervise, terminal, trust};
use crate::plan::{Plan, shell};
use crate::store::lock::RunLock;
use crate::store::{RunDirectory, StoreError};
use crate::verdict::ExitCode;

/// How long a process in the background may take to take a run over.
const TAKEN_OVER: Duration = Duration::from_secs(10);

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
    let mut plan = open::plan_on(global, arguments, &opened, true, &host)?;
    open::tell_warnings(global, &opened, &plan);
    plan.require_accuracy = run.require_accuracy;
    plan.verify_kept = run.verify_kept;
    plan.no_wait = run.no_wait;
    plan.telemetry = run.telemetry;
    secrets_are_set(global, arguments, &plan)?;
    host_has_what_it_needs(&plan, run.force)?;
    let home = open::home(global);
    if !opened.entry.is_builtin() {
        trust::ask(&home, &plan, opened.entry.directory(), &run.allow)?;
    }
    supervise::runtime()?.block_on(async {
        let engine = open::engine(global).await?;
        let found = ready::look(global, host, Ok(&engine), Some(&plan)).await;
        plan.warnings = found.allow(&plan.recipe, run.force)?;
        room::for_the_image(&engine, &plan, run.force).await?;
        let directory = home.new_run(&stem(&plan))?;
        write_down(&directory, &opened, &plan, &found.record(&engine, &plan))?;
        if run.detach {
            return detach(global, &directory);
        }
        supervise::follow(global, engine, directory, false).await
    })
}

/// A secret that was asked for must be there; one that the recipe may use is better there.
fn secrets_are_set(global: &Global, arguments: &PlanArguments, plan: &Plan) -> Result<(), Failure> {
    let set = secrets(plan);
    for name in plan.secrets.iter().filter(|name| !set.contains_key(*name)) {
        if arguments.secrets.contains(name) {
            return Err(Failure::usage(format!(
                "--secret {name}: there is no such environment variable"
            )));
        }
        if !global.quiet {
            terminal::note(&format!(
                "warning: {name} is not set; steps that need it will fail"
            ));
        }
    }
    Ok(())
}

fn host_has_what_it_needs(plan: &Plan, force: bool) -> Result<(), Failure> {
    let stops = plan.lacks.iter().filter(|lack| lack.stops());
    let lines: Vec<String> = stops
        .map(|lack| {
            format!(
                "  {}: found {}, wanted {}",
                lack.what, lack.found, lack.wanted
            )
        })
        .collect();
    if lines.is_empty() || force {
        return Ok(());
    }
    Err(Failure::host(format!(
        "this host lacks what {} asks for:\n{}\n  run it all the same with --force: the verdict then says 'other hardware'",
        plan.recipe,
        lines.join("\n")
    )))
}

/// `offline-quickstart`: what a run's id says of it.
fn stem(plan: &Plan) -> String {
    shell::container_name(&plan.recipe)
        .to_lowercase()
        .replace(['_', '.'], "-")
}

/// The run's own record of what it is, before anything is done.
fn write_down(
    directory: &RunDirectory,
    opened: &Opened,
    plan: &Plan,
    host: &Value,
) -> Result<(), Failure> {
    let yaml = directory.join("recipe.yaml");
    crate::store::run_directory::write_atomically(&yaml, opened.resolved.yaml.as_bytes())?;
    directory.write_json("plan.json", plan)?;
    directory.write_json("host.json", host)?;
    Ok(())
}

/// Values of the secrets that the plan names, from the environment. They are never written down.
pub fn secrets(plan: &Plan) -> BTreeMap<String, String> {
    plan.secrets
        .iter()
        .filter_map(|name| {
            Some((
                name.clone(),
                std::env::var(name).ok().filter(|value| !value.is_empty())?,
            ))
        })
        .collect()
}

/// Leaves the run to a process of its own.
fn detach(global: &Global, directory: &RunDirectory) -> Result<ExitCode, Failure> {
    let journal = directory.journal();
    std::fs::File::create(&journal).map_err(StoreError::io("create", &journal))?;
    let program = std::env::current_exe()
        .map_err(|error| Failure::host(format!("cannot find myself: {error}")))?;
    let path = directory.join("detached.log");
    let log = std::fs::File::create(&path).map_err(StoreError::io("create", &path))?;
    let errors = log.try_clone().map_err(StoreError::io("open", &path))?;
    let mut command = Command::new(program);
    command.args([
        "resume",
        "--in-background",
        &directory.path().display().to_string(),
    ]);
    command.arg("--root").arg(&global.root);
    if let Some(engine) = &global.engine {
        command.args(["--engine", engine]);
    }
    if let Some(home) = &global.home {
        command.arg("--home").arg(home);
    }
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    let mut child = command.spawn().map_err(|error| {
        Failure::host(format!("cannot start a process in the background: {error}"))
    })?;
    let id = directory.id();
    // Until it follows the run, `logs -f` and `stop` would find nobody.
    let since = Instant::now();
    while !is_followed(directory) && since.elapsed() < TAKEN_OVER {
        if let Ok(Some(_)) = child.try_wait() {
            if has_begun(directory) {
                break;
            }
            let said = std::fs::read_to_string(&path).unwrap_or_default();
            return Err(Failure::host(format!(
                "{id}: the process in the background ended at once\n{}",
                said.trim_end()
            )));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let text = match global.output {
        Output::Json => format!("{}\n", json!({ "run": id, "path": directory.path() })),
        _ => format!("{id}\n"),
    };
    terminal::print(&text);
    if !global.quiet {
        terminal::note(&format!(
            "it goes on in the background\n  follow it: retrial logs -f {id}    its verdict: retrial judge {id}    end it: retrial stop {id}"
        ));
    }
    Ok(ExitCode::Success)
}

fn has_begun(directory: &RunDirectory) -> bool {
    std::fs::metadata(directory.journal()).is_ok_and(|journal| journal.len() > 0)
}

fn is_followed(directory: &RunDirectory) -> bool {
    has_begun(directory) && RunLock::holder(&directory.lock()).is_some()
}
