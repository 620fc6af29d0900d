//! Opens what the command line names: a run or a batch, the host, the engine.

use std::path::{Path, PathBuf};
use std::sync::Once;

use itertools::Itertools as _;

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::terminal;
use retrial_batch::run::read_state;
use retrial_document::ErrorText;
use retrial_document::measures::format;
use retrial_engine::docker::DockerEngine;
use retrial_host as host;
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_readings::sanitize;
use retrial_store::RecordDirectory;
use retrial_store::error::RecordKind;
use retrial_store::journal::JournalState;
use retrial_store::lookup::{describe_oldest, parse_last};
use retrial_store::process::ProcessIdentity;
use retrial_store::{Home, RunDirectory, StoreError};

/// A run or a batch, by the directory that it is recorded in.
pub enum RunOrBatch {
    Run(RunDirectory),
    Batch(RecordDirectory),
}

/// Finds a run or a batch by its id, a part of it, a path, or `last` and `last~1`: that of a command.
pub fn find_run_or_batch(home: &Home, name: &str) -> Result<RunOrBatch, Failure> {
    if let Some(before) = parse_last(name) {
        return find_last(home, name, before);
    }
    let path = Path::new(name);
    let is_batch = name.contains('/') && path.join("batch.json").exists();
    if is_batch || home.batches_directory().join(name).join("batch.json").exists() {
        return Ok(RunOrBatch::Batch(home.find_batch(name)?));
    }
    match home.find_run(name) {
        Err(StoreError::NoSuch { .. }) if !name.is_empty() => {
            match home.find_batch(name) {
                Ok(batch) => Ok(RunOrBatch::Batch(batch)),
                Err(error @ StoreError::Ambiguous { .. }) => Err(error.into()),
                // Most names refer to runs.
                Err(_) => Ok(RunOrBatch::Run(home.find_run(name)?)),
            }
        }
        run => Ok(RunOrBatch::Run(run?)),
    }
}

/// Finds the run or the batch of the last command, or of one before it: of a batch's runs, the batch.
fn find_last(home: &Home, name: &str, before: usize) -> Result<RunOrBatch, Failure> {
    let Some((kind, id)) = list_commands(home).nth(before) else {
        let count = list_commands(home).count();
        if count == 0 {
            return Ok(RunOrBatch::Run(home.find_run(name)?));
        }
        return Err(Failure::usage(format!("no such run or batch: `{name}`"))
            .with_help(describe_oldest(count)));
    };
    Ok(match kind {
        RecordKind::Run => RunOrBatch::Run(home.find_run(&id)?),
        RecordKind::Batch => RunOrBatch::Batch(home.find_batch(&id)?),
    })
}

/// The runs and batches of all commands, the last first: a batch stands where its last run does.
fn list_commands(home: &Home) -> impl Iterator<Item = (RecordKind, String)> {
    let records = |kind| home.newest_first(kind).map(move |(start, id)| (start, kind, id));
    let runs = records(RecordKind::Run);
    let all = runs.merge_by(records(RecordKind::Batch), |(run, ..), (batch, ..)| run >= batch);
    let batch_of = |run: &str| {
        let plan: Option<Plan> = home.find_run(run).and_then(|run| run.read_json("plan.json")).ok();
        let batch = plan?.batch?.id;
        // The batch of an imported run is elsewhere.
        home.find_batch(&batch).is_ok().then_some(batch)
    };
    let commands = all.map(move |(_, kind, id)| match kind {
        RecordKind::Run => match batch_of(&id) {
            Some(batch) => (RecordKind::Batch, batch),
            None => (kind, id),
        },
        RecordKind::Batch => (kind, id),
    });
    commands.unique()
}

/// Returns the run or batch that a path or a name refers to; none if it is a folder that is neither.
pub fn find_results(home: &Home, name: &str) -> Result<Option<RunOrBatch>, Failure> {
    let path = Path::new(name);
    let is_run = path.join("plan.json").exists();
    if is_run || path.join("batch.json").exists() {
        let canonical_path = path
            .canonicalize()
            .map_err(|error| Failure::host(format!("failed to open {name}: {error}")))?;
        return Ok(Some(if is_run {
            RunOrBatch::Run(RunDirectory::from_path(canonical_path))
        } else {
            RunOrBatch::Batch(RecordDirectory::from_path(canonical_path))
        }));
    }
    if path.is_file() {
        return Err(Failure::usage(format!("{name} is a file: name the directory that it is in")));
    }
    if path.is_dir() {
        refuse_folder_of_runs(path)?;
        return Ok(None);
    }
    let is_unknown = |error: &StoreError| matches!(error, StoreError::NoSuch { .. });
    match (home.find_run(name), home.find_batch(name)) {
        (Err(of_run), Err(of_batch))
            if parse_last(name).is_none() && is_unknown(&of_run) && is_unknown(&of_batch) =>
        {
            let help = ErrorText::of(&of_run).help;
            let message = format!("no such file, directory, run or batch: `{name}`");
            Err(Failure::usage(ErrorText { message, help }))
        }
        _ => find_run_or_batch(home, name).map(Some),
    }
}

/// Refuses a folder of run directories: logs in them are a part of what a run is judged by.
fn refuse_folder_of_runs(folder: &Path) -> Result<(), Failure> {
    let find = |folder: &Path| {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let is_run = |path: &PathBuf| path.join("plan.json").exists();
        paths.filter(is_run).sorted().collect::<Vec<PathBuf>>()
    };
    let of_home = find(Home::from_root(folder.to_owned()).runs_directory().as_path());
    let (home, runs) = match folder.parent() {
        _ if !of_home.is_empty() => (Some(folder), of_home),
        Some(parent) if folder.ends_with("runs") => (Some(parent), find(folder)),
        _ => (None, find(folder)),
    };
    let Some(first) = runs.first() else {
        return Ok(());
    };
    let count = format::format_count(runs.len(), "run");
    let list = match home {
        Some(home) => {
            let prefix = Home::from_root(home.to_owned()).command_prefix();
            format!("list them: {prefix} runs")
        }
        None => format!("import them: retrial runs import {}/*", folder.display()),
    };
    let failure = Failure::usage(format!("{} holds {count} of Retrial", folder.display()));
    Err(failure.with_help(format!("name one: {}    {list}", first.display())))
}

/// Reads GPUs, drivers and kernel of this machine, or of the one described below `--root`. A directory that does not
/// exist, as one of a site's nodes, is an empty host, with one warning.
pub fn probe_host(global: &GlobalOptions) -> HostView {
    static MISSING_ROOT: Once = Once::new();
    if !global.root.is_dir() {
        MISSING_ROOT.call_once(|| {
            let text = format!("warning: no such directory: --root {}", global.root.display());
            let help = "check the path; a host without its directory has no GPU, and nothing else";
            terminal::advise(text, help);
        });
    }
    host::probe_host(&global.root)
}

/// Refuses to resume a run that started on another machine that shares the home: its container and its
/// measurements are of that machine.
pub fn refuse_to_resume_elsewhere(id: &str, state: &JournalState) -> Result<(), Failure> {
    let process = state.process.as_ref();
    let host = process.and_then(ProcessIdentity::other_host_name);
    host.map_or(Ok(()), |host| {
        let host = sanitize(host);
        Err(Failure::host(format!(
            "{id} started on {host}, and its measurements are of that machine"
        ))
        .with_help(format!(
            "resume it there: `retrial resume {id}` on {host}; to measure this machine, start a new one (a batch with --new)"
        )))
    })
}

/// Refuses like [`refuse_to_resume_elsewhere`] for the runs of a batch that has not ended.
pub fn refuse_to_resume_batch_elsewhere(
    home: &Home,
    batch: &RecordDirectory,
) -> Result<(), Failure> {
    let state = read_state(batch)?;
    if state.is_over() {
        return Ok(());
    }
    for (_, run) in state.latest_runs() {
        // A run that was removed is measured again.
        let run_state = home.find_run(run).and_then(|run| run.read_state());
        refuse_to_resume_elsewhere(batch.id(), &run_state.unwrap_or_default())?;
    }
    Ok(())
}

/// Connects to the engine that `--engine`, the environment or Docker's context selects.
pub async fn connect_engine(global: &GlobalOptions) -> Result<DockerEngine, Failure> {
    Ok(DockerEngine::connect(global.engine.as_deref()).await?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use retrial_plan::build::RecipeOrigin;
    use retrial_plan::{PlanOptions, build_plan};
    use retrial_recipe::{NoTemplates, Source, resolve_recipe};

    const RECIPE: &str = "schema: 1
title: t
submission: { suite: own, benchmark: b }
image: debian
scenarios: { s: { performance: { run: 'true', figures: { speed: { pattern: 'speed: ${number}' } } } } }
";

    /// A plan of one scenario whose performance is measured once.
    fn plan_one_measurement() -> Plan {
        let source = Source::new("r.yaml", RECIPE.to_owned());
        let resolved = resolve_recipe("r", &source, &NoTemplates, &[]).unwrap();
        let (origin, options) = (RecipeOrigin::default(), PlanOptions::default());
        build_plan(&resolved.recipe, &origin, &options, &HostView::default()).unwrap()
    }

    fn plant(home: &Home, kind: RecordKind, id: &str, minute: u32) {
        let parent = match kind {
            RecordKind::Run => home.runs_directory(),
            RecordKind::Batch => home.batches_directory(),
        };
        fs::create_dir_all(parent.join(id)).unwrap();
        let line = format!("{{\"time\":\"2026-11-21T12:{minute:02}:00Z\"}}\n");
        fs::write(parent.join(id).join("journal.jsonl"), line).unwrap();
    }

    fn last(home: &Home) -> String {
        named(home, "last")
    }

    fn named(home: &Home, name: &str) -> String {
        match find_run_or_batch(home, name) {
            Ok(RunOrBatch::Run(run)) => format!("run {}", run.id()),
            Ok(RunOrBatch::Batch(batch)) => format!("batch {}", batch.id()),
            Err(failure) => failure.to_error().to_string(),
        }
    }

    #[test]
    fn last_is_the_batch_whose_run_started_last() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::from_root(directory.path().to_owned());
        assert!(last(&home).contains("there are no runs yet"));
        plant(&home, RecordKind::Run, "single", 1);
        assert_eq!(last(&home), "run single");
        plant(&home, RecordKind::Batch, "all", 2);
        assert_eq!(last(&home), "batch all");
        let mut plan = plan_one_measurement();
        plan.batch = Some(retrial_plan::step::BatchPosition {
            id: "all".to_owned(),
            cell: "c".to_owned(),
            trial: 1,
        });
        plant(&home, RecordKind::Run, "inner", 3);
        let inner = home.find_run("inner").unwrap();
        inner.record().write_json("plan.json", &plan).unwrap();
        assert_eq!(last(&home), "batch all");
        plant(&home, RecordKind::Run, "later", 4);
        assert_eq!(last(&home), "run later");
        // The batch is one, with its runs.
        assert_eq!(named(&home, "last~1"), "batch all");
        assert_eq!(named(&home, "last~2"), "run single");
        assert!(named(&home, "last~3").ends_with("the oldest is `last~2`"));
    }
}
