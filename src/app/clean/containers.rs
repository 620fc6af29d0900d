//! `retrial clean`: removes containers of earlier runs, and none without our label.

use std::path::Path;

use clap::Args;
use serde_json::json;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::own_record::Own;
use crate::app::{open, runtime, terminal};
use retrial_document::ErrorText;
use retrial_engine::api::{ContainerState, Engine};
use retrial_plan::Plan;
use retrial_results::verdict::ExitCode;
use retrial_run::nodes::whole_run_directory;
use retrial_run::{
    JOB_LABEL, PATH_LABEL, RUN_LABEL, find_other_user, label_value, revoke_privileges_of_run,
};
use retrial_store::journal::JournalState;
use retrial_store::lock::FileLock;
use retrial_store::{RecordDirectory, RunDirectory};

/// Which containers are removed.
#[derive(Debug, Clone, Copy, Args)]
pub struct CleanScope {
    /// Also remove containers with a running benchmark or uncollected results
    #[arg(long)]
    pub all: bool,
    /// Also remove other users' containers; only root can
    #[arg(long, conflicts_with = "cached")]
    pub all_users: bool,
    /// Print what would be removed, without removing it
    #[arg(long)]
    pub dry_run: bool,
}

/// Removes what a container of a run must not leave, as the run itself does when it removes it.
fn revoke_privileges(global: &GlobalOptions, container: &ContainerState) {
    let run = label_value(container, RUN_LABEL);
    // Of another machine of the run it is a directory of its own.
    let path = container.labels.get(PATH_LABEL).map(Path::new);
    let runs = global.home.runs_directory().canonicalize();
    // Labels may be an image's own.
    let own = path.zip(runs.ok()).and_then(|(path, runs)| {
        let path = path.canonicalize().ok()?;
        path.starts_with(&runs).then(|| RunDirectory::from_path(path))
    });
    let named = Some(run).filter(|run| RecordDirectory::is_valid_id(run));
    let find_named = || global.home.find_run(named?).ok();
    // An imported plan may name any directory.
    let is_of_home = |run: &RunDirectory| {
        let whole = RunDirectory::from_path(whole_run_directory(run.path()));
        Own::require_run(&global.home, whole).is_ok()
    };
    let known = own.or_else(find_named).filter(is_of_home).and_then(|run| {
        let plan = run.read_json::<Plan>("plan.json").ok()?;
        Some((run.read_state().ok()?, plan, run))
    });
    let Some((state, plan, run)) = known else {
        return terminal::print_note(&format!(
            "{run} cannot be read, or is none of this home: directories of the host that it could write were not searched for set-user-ID files and devices"
        ));
    };
    for text in revoke_privileges_of_run(&run, &plan, &state) {
        terminal::print_note(&text);
    }
}

/// Removes this user's containers that carry our label and that no process follows.
pub fn remove_containers(
    global: &GlobalOptions,
    run: Option<&str>,
    extent: CleanScope,
) -> Result<ExitCode, Failure> {
    let dry_run = extent.dry_run;
    if extent.all_users && !rustix::process::getuid().is_root() {
        return Err(Failure::usage("--all-users needs root")
            .with_help("ask the containers' owners, or run it with sudo"));
    }
    let selected = run.map(|run| global.home.find_run(run)).transpose()?;
    let runs_directory = global.home.runs_directory();
    let runs = runs_directory.canonicalize().unwrap_or(runs_directory);
    runtime::start_runtime()?.block_on(async {
        let engine = open::connect_engine(global).await?;
        let mut removed = Vec::new();
        let mut is_refused = false;
        for container in engine.list_containers(RUN_LABEL).await? {
            let id = container.labels.get(RUN_LABEL).cloned().unwrap_or_default();
            if selected.as_ref().is_some_and(|run| run.id() != id) {
                continue;
            }
            let other = find_other_user(&container.labels);
            if other.is_none() && selected.is_none() && belongs_to_another_home(&container, &runs) {
                continue;
            }
            let foreign = other.filter(|_| !extent.all_users).map(|user| {
                ErrorText::new(format!("it belongs to {user}"))
                    .with_help("root can remove it: --all-users")
            });
            let reason = foreign.or_else(|| {
                let reason = reason_to_keep(&container, extent.all)?;
                // Without a name, containers in use are skipped; a named one is refused.
                is_refused = selected.is_some();
                Some(reason)
            });
            if let Some(reason) = reason {
                let context = format!("{}: skipped: ", container.name);
                terminal::note_error(&reason.in_context(&context));
                continue;
            }
            if !dry_run {
                engine.remove_container(&container.id).await?;
                revoke_privileges(global, &container);
            }
            removed.push(container.name);
        }
        match global.output {
            OutputFormat::Json => {
                terminal::print_json(&json!({ "removed": removed, "dry_run": dry_run }));
            }
            _ if removed.is_empty() => terminal::print_text("nothing to remove\n"),
            _ => {
                let word = if dry_run { "would remove" } else { "removed" };
                terminal::print_lines(removed.iter().map(|name| format!("{word} {name}")));
            }
        }
        Ok(if is_refused { ExitCode::Usage } else { ExitCode::Success })
    })
}

/// Removes this user's containers of earlier jobs of a site on this machine, except those of these runs: such
/// a job has the machine alone, so containers of earlier jobs are not needed.
///
/// # Errors
/// If the engine does not answer.
pub async fn remove_of_earlier_jobs(
    global: &GlobalOptions,
    engine: &dyn Engine,
    runs: &[&str],
) -> Result<(), Failure> {
    for container in engine.list_containers(RUN_LABEL).await? {
        let id = label_value(&container, RUN_LABEL);
        if container.labels.contains_key(JOB_LABEL)
            && !runs.contains(&id)
            && find_other_user(&container.labels).is_none()
        {
            engine.remove_container(&container.id).await?;
            revoke_privileges(global, &container);
        }
    }
    Ok(())
}

/// Returns whether the container's run is in another home, which cleans it.
fn belongs_to_another_home(container: &ContainerState, runs: &Path) -> bool {
    let path = container.labels.get(PATH_LABEL).map(Path::new);
    path.is_some_and(|path| !path.starts_with(runs) && path.try_exists().unwrap_or(true))
}

/// Returns why a container must not be removed now.
fn reason_to_keep(container: &ContainerState, all: bool) -> Option<ErrorText> {
    let id = container.labels.get(RUN_LABEL)?;
    let path = container.labels.get(PATH_LABEL).map(Path::new);
    if let Some(holder) = path.and_then(|path| FileLock::find_holder(&path.join("lock"))) {
        let reason = ErrorText::new(format!("{holder} follows its run"));
        return Some(reason.with_help(format!("stop it first: retrial stop {id}")));
    }
    if all {
        return None;
    }
    // If a run has several machines, the journal of the head states whether it is over.
    let state =
        path.map(|path| JournalState::read(&whole_run_directory(path).join("journal.jsonl")));
    match state {
        Some(Ok(state)) if state.over.is_some() => None,
        Some(Ok(_)) if container.running => Some(
            ErrorText::new("its benchmark is still running, though no process follows it")
                .with_help(format!("continue it: retrial resume {id}    end it and keep its evidence: retrial stop {id}    remove it anyway: --all")),
        ),
        Some(Ok(_)) => Some(
            ErrorText::new("its results may not be collected yet")
                .with_help(format!("collect them: retrial resume {id}    remove it anyway: --all")),
        ),
        // A run whose directory was deleted.
        _ if container.running => {
            let reason = ErrorText::new("its run cannot be read, and it is running");
            Some(reason.with_help("remove it anyway: --all"))
        }
        _ => None,
    }
}
