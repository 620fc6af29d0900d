//! Notices that the run's directories were removed while the run is executed: its evidence is lost, and nothing
//! else would end the benchmark.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::sleep;

use super::session::RunSession;
use crate::error::RunError;
use retrial_store::StoreError;

/// The interval between checks. A directory that is replaced is missing for a moment: it counts at the second
/// check.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The directories that have existed, and the first that is missing now.
#[derive(Default)]
struct ObservedDirectories {
    present: BTreeSet<PathBuf>,
    missing_path: Option<PathBuf>,
}

/// Waits until a directory of the run, or its journal, is removed; then returns an error that names it.
pub async fn wait_until_removed(session: &RunSession) -> RunError {
    let run_identity = file_identity(session.run.path());
    let mut observed = ObservedDirectories::default();
    loop {
        sleep(CHECK_INTERVAL).await;
        if let Some(path) = observed.check_missing(session, run_identity) {
            return StoreError::Removed { path }.into();
        }
    }
}

impl ObservedDirectories {
    /// Returns what has been missing at two checks.
    fn check_missing(
        &mut self,
        session: &RunSession,
        identity: Option<(u64, u64)>,
    ) -> Option<PathBuf> {
        let missing = self.find_first_missing(session, identity);
        let before = std::mem::replace(&mut self.missing_path, missing);
        before.filter(|before| self.missing_path.as_ref() == Some(before))
    }

    fn find_first_missing(
        &mut self,
        session: &RunSession,
        own: Option<(u64, u64)>,
    ) -> Option<PathBuf> {
        let run = session.run.path();
        if own.is_some()
            && file_identity(run) != own
            && (is_missing(run) || file_identity(run).is_some())
        {
            return Some(run.to_owned());
        }
        let paths = required_paths(session);
        self.present.retain(|path| paths.contains(path));
        for path in paths {
            if !is_missing(&path) {
                self.present.insert(path);
            } else if self.present.contains(&path) {
                return Some(path);
            }
        }
        None
    }
}

/// The paths that must stay once they are there, the outer ones first.
fn required_paths(session: &RunSession) -> Vec<PathBuf> {
    let local = session.local.path();
    let (run_steps, control) = (session.run.steps_directory(), session.control.path());
    let mut paths = vec![local.to_owned(), session.run.journal_path(), run_steps.clone()];
    paths.extend([control.to_owned(), control.join("steps")]);
    let services = session.service_controls.values();
    paths.extend(services.map(|control| control.path().to_owned()));
    let state = session.state();
    let steps = session.plan.steps.iter();
    for step in
        steps.filter(|step| state.open.contains(&step.number) && step.recipe_command().is_some())
    {
        let name = step.directory_name();
        paths.extend([run_steps.join(&name), control.join("steps").join(name)]);
    }
    paths
}

fn file_identity(path: &Path) -> Option<(u64, u64)> {
    let status = std::fs::symlink_metadata(path).ok()?;
    Some((status.dev(), status.ino()))
}

/// Returns whether a path does not exist. A file system that does not answer is no proof.
fn is_missing(path: &Path) -> bool {
    let status = std::fs::symlink_metadata(path);
    status.is_err_and(|error| {
        matches!(error.kind(), ErrorKind::NotFound | ErrorKind::StaleNetworkFileHandle)
    })
}
