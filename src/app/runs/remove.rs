//! Removes runs with all of their evidence, and never one that is running.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{open, runtime};
use retrial_document::ErrorText;
use retrial_engine::api::Engine;
use retrial_history::{RunState, RunSummary};
use retrial_run::RUN_LABEL;
use retrial_store::journal::JournalState;
use retrial_store::process::ProcessIdentity;
use retrial_store::remove::{freed_bytes, remove_run};
use retrial_store::staging_directory::remove_leftover_stages;
use retrial_store::{Home, packages};

/// Runs that can be removed, and runs that cannot.
pub struct Removal<'a> {
    /// Runs to remove, each with the bytes that this frees.
    pub runs: Vec<(&'a RunSummary, u64)>,
    /// Runs that are not removed.
    pub skipped: Vec<SkippedRun>,
}

/// A run that is not removed.
#[derive(Debug, Serialize)]
pub struct SkippedRun {
    /// The id of the run.
    pub run: String,
    /// Why it is not removed, in a lower-case fragment, and how it can be.
    pub reason: ErrorText,
}

impl<'a> Removal<'a> {
    /// Finds out which of these runs can be removed.
    pub fn new(global: &GlobalOptions, rows: &'a [RunSummary], force: bool) -> Self {
        let mut blocked = BTreeMap::new();
        if !force {
            blocked = find_blocked(global, rows);
        }
        let mut removal = Self { runs: Vec::new(), skipped: Vec::new() };
        for row in rows {
            let id = &row.id;
            let reason = match &row.run_state {
                RunState::Running(process) => {
                    let reason = ErrorText::new(format!("{process} follows it"));
                    Some(reason.with_help(format!("stop it first: retrial stop {id}")))
                }
                RunState::Submitted => {
                    let reason = ErrorText::new("its job may start");
                    Some(reason.with_help(format!("stop it first: retrial stop {id}")))
                }
                _ => blocked.remove(id.as_str()),
            };
            match reason {
                Some(reason) => removal.skipped.push(SkippedRun { run: id.clone(), reason }),
                None => removal.runs.push((row, freed_bytes(&row.path))),
            }
        }
        removal
    }

    pub fn total_freed_bytes(&self) -> u64 {
        self.runs.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Removes the runs; those that cannot be removed are skipped.
    pub fn remove_all(&mut self, home: &Home) {
        let skipped = &mut self.skipped;
        self.runs.retain(|(row, _)| {
            let removed = remove_run(&row.directory());
            skipped.extend(
                removed
                    .as_ref()
                    .err()
                    .map(|error| SkippedRun { run: row.id.clone(), reason: ErrorText::of(error) }),
            );
            removed.is_ok()
        });
        remove_leftover_stages(&home.runs_directory());
        // Nobody asked for the number.
        let _ = packages::remove_unused_packages(home);
    }
}

/// Runs whose container may still exist, by id, with the reason why they stay: a benchmark continues
/// without the process that started it. The engine is queried if a run's own journal does not record
/// the removal of the container.
fn find_blocked<'a>(
    global: &GlobalOptions,
    rows: &'a [RunSummary],
) -> BTreeMap<&'a str, ErrorText> {
    // The container of an imported run is elsewhere.
    let own = rows.iter().filter(|row| row.imported_from.is_none());
    let with_state = own.filter_map(|row| {
        let state = row.directory().read_state().unwrap_or_default();
        state.container.is_some().then_some((row, state))
    });
    let open: Vec<(&RunSummary, JournalState)> = with_state.collect();
    if open.is_empty() {
        return BTreeMap::new();
    }
    let existing = runs_with_container(global);
    let reasons = open.into_iter().filter_map(|(row, state)| {
        let id = &row.id;
        let process = state.process.as_ref();
        if let Some(host) = process.and_then(ProcessIdentity::other_host_name) {
            let reason = ErrorText::new(format!("its container may be running on {host}"));
            let help = format!("run `retrial clean {id}` there, or remove it anyway: --force");
            return Some((id.as_str(), reason.with_help(help)));
        }
        let reason = match &existing {
            Ok(existing) if !existing.contains(id) => return None,
            Ok(_) => ErrorText::new("its container exists and may be running").with_help(format!(
                "remove the container first: retrial clean {id}, or with --all"
            )),
            Err(failure) => failure
                .to_error()
                .in_context("its container may exist, and the engine cannot be queried: ")
                .with_help("remove it anyway: --force"),
        };
        Some((id.as_str(), reason))
    });
    reasons.collect()
}

/// Ids of the runs that have a container.
fn runs_with_container(global: &GlobalOptions) -> Result<BTreeSet<String>, Failure> {
    runtime::start_runtime()?.block_on(async {
        let engine = open::connect_engine(global).await?;
        let containers = engine.list_containers(RUN_LABEL).await?.into_iter();
        Ok(containers.filter_map(|mut container| container.labels.remove(RUN_LABEL)).collect())
    })
}
