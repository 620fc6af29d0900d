//! Removes runs with all of their evidence: asked at a terminal, and never one that goes on.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Write};

use serde_json::json;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, Output};
use crate::app::{open, runtime, terminal};
use crate::format;
use crate::history::{RunState, RunSummary};
use crate::results::verdict::ExitCode;
use crate::run::RUN_LABEL;
use crate::store::journal::Journal;
use crate::store::journal::{Event, State};
use crate::store::remove::{frees, remove as remove_run};
use crate::store::stage::clear_left;
use crate::store::{RunDirectory, packages};
use retrial_engine::api::Engine;

/// How the runs are removed.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// Do not ask.
    pub yes: bool,
    /// Only say what would be removed.
    pub dry_run: bool,
    /// Also where a container of the run may still be there.
    pub force: bool,
}

/// Removes these runs.
pub fn remove(global: &GlobalOptions, rows: &[RunSummary], how: How) -> Result<ExitCode, Failure> {
    let containers = Containers::of(global, rows, how.force);
    let mut going = Vec::new();
    let mut left = Vec::new();
    for row in rows {
        match stays(row, &containers) {
            Some(because) => left.push((row.id.clone(), because)),
            None => going.push((row, frees(&row.path))),
        }
    }
    let bytes: u64 = going.iter().map(|(_, bytes)| bytes).sum();
    let what = format!(
        "{} ({})",
        format::count(going.len(), "run"),
        format::size(bytes)
    );
    if !going.is_empty() && !how.dry_run && !how.yes {
        ask(&going, &what)?;
    }
    let mut removed = Vec::new();
    for (row, bytes) in going {
        let run = RunDirectory::at(row.path.clone());
        let done = if how.dry_run {
            Ok(())
        } else {
            remove_run(&run)
        };
        match done {
            Ok(()) => removed.push((row.id.clone(), bytes)),
            Err(error) => left.push((row.id.clone(), error.to_string())),
        }
    }
    if !how.dry_run {
        let home = global.home.clone();
        clear_left(&home.runs());
        let _ = packages::prune(&home);
    }
    for (id, because) in &left {
        terminal::note(&format!("{id}: left alone: {because}"));
    }
    tell(global, &removed, &left, how.dry_run);
    Ok(if left.is_empty() {
        ExitCode::Success
    } else {
        ExitCode::Host
    })
}

fn tell(
    global: &GlobalOptions,
    removed: &[(String, u64)],
    left: &[(String, String)],
    dry_run: bool,
) {
    let bytes: u64 = removed.iter().map(|(_, bytes)| bytes).sum();
    if global.output == Output::Json {
        let ids: Vec<&String> = removed.iter().map(|(id, _)| id).collect();
        let left: Vec<_> = left
            .iter()
            .map(|(id, because)| json!({ "run": id, "because": because }))
            .collect();
        let told = json!({ "removed": ids, "bytes": bytes, "left": left, "dry_run": dry_run });
        return terminal::print(&format!("{told}\n"));
    }
    let word = if dry_run { "would remove" } else { "removed" };
    let count = format::count(removed.len(), "run");
    terminal::print(&match removed {
        [] => "nothing to remove\n".to_owned(),
        _ => format!("{word} {count}, {}\n", format::size(bytes)),
    });
}

/// Why a run stays.
fn stays(row: &RunSummary, containers: &Containers) -> Option<String> {
    let id = &row.id;
    if let RunState::Running { pid } = row.state {
        return Some(format!(
            "process {pid} follows it; end it first: retrial stop {id}"
        ));
    }
    containers.stays(id)
}

/// What is known of the runs' containers: one may go on without the tool that began it.
#[derive(Default)]
struct Containers {
    /// By the engine.
    there: BTreeSet<String>,
    /// Runs whose container nobody can tell of, and why.
    unknown: Option<(BTreeSet<String>, String)>,
}

impl Containers {
    /// Asks the engine, where a run's own journal does not say that its container is gone.
    fn of(global: &GlobalOptions, rows: &[RunSummary], force: bool) -> Self {
        let open: BTreeSet<String> = rows
            .iter()
            // The container of a run that came from elsewhere is there.
            .filter(|row| row.imported_from.is_none())
            .filter(|row| {
                let journal = RunDirectory::at(row.path.clone()).journal();
                let events = Journal::read::<Event>(&journal).unwrap_or_default();
                State::of(&events).container.is_some()
            })
            .map(|row| row.id.clone())
            .collect();
        if open.is_empty() || force {
            return Self::default();
        }
        match there(global) {
            Ok(all) => Self {
                there: open.intersection(&all).cloned().collect(),
                unknown: None,
            },
            Err(error) => Self {
                there: BTreeSet::new(),
                unknown: Some((open, error)),
            },
        }
    }

    fn stays(&self, id: &str) -> Option<String> {
        if self.there.contains(id) {
            return Some(format!(
                "its container is there, and may be at work: retrial clean {id}, or --all with it"
            ));
        }
        let (unknown, because) = self.unknown.as_ref()?;
        unknown.contains(id).then(|| {
            format!("its container may be there, and the engine cannot be asked ({because}); --force removes it anyway")
        })
    }
}

/// Runs that have a container.
fn there(global: &GlobalOptions) -> Result<BTreeSet<String>, String> {
    let runtime = runtime::runtime().map_err(|error| error.text().to_owned())?;
    runtime.block_on(async {
        let engine = open::engine(global)
            .await
            .map_err(|error| error.text().to_owned())?;
        let containers = engine.containers(RUN_LABEL).await;
        let containers = containers.map_err(|error| error.to_string())?;
        let ids = containers.iter();
        Ok(ids
            .filter_map(|container| container.labels.get(RUN_LABEL).cloned())
            .collect())
    })
}

fn ask(going: &[(&RunSummary, u64)], what: &str) -> Result<(), Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(format!(
            "{what} would be removed, and nobody can be asked: add --yes, or look with --dry-run"
        )));
    }
    let mut text = String::new();
    for (row, bytes) in going.iter().take(20) {
        let bytes = format::size(*bytes);
        let _ = writeln!(text, "  {}  {}  {bytes}", row.id, row.state());
    }
    if going.len() > 20 {
        let _ = writeln!(text, "  and {} more", going.len() - 20);
    }
    let mut err = std::io::stderr();
    let _ = write!(
        err,
        "{text}remove {what}, with all of their evidence? [y/N] "
    );
    let _ = err.flush();
    let mut answer = String::new();
    let _ = std::io::stdin().lock().read_line(&mut answer);
    if matches!(answer.trim(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::usage("nothing was removed"))
}
