//! Fetches the results of a step out of the container, through the engine's archive call:
//! it needs no mount and hides nothing. Unpacked by the store, which trusts nothing in it.

use std::path::{Path, PathBuf};

use super::engine_back::with_engine;
use super::error::RunError;
use super::redact;
use super::session::Session;
use crate::plan::step::{Action, Step};
use crate::store::journal::{StepEnd, StepFault, What};
use crate::store::run_directory::rename_synced;
use crate::store::{StoreError, unpack};
use retrial_engine::error::EngineError;

/// The most that one trial's results may hold.
const MOST_BYTES: u64 = 16 << 30;

/// Fetches the one result directory that the step made.
pub async fn collect(
    session: &Session,
    step: &Step,
    measurement: usize,
    trial: u32,
    of: u32,
    pattern: &str,
) -> Result<StepEnd, RunError> {
    let (Some(measured), Some(source)) = (
        session.plan.measurements.get(measurement),
        session.plan.steps.iter().find(|step| step.number == of),
    ) else {
        return Ok(StepEnd::failed(
            StepFault::Request,
            "the plan does not say what to collect".to_owned(),
            "",
        ));
    };
    let control = session.control.step(&source.directory());
    let found: Vec<String> = control
        .found()
        .into_iter()
        .filter(|(known, _)| known == pattern)
        .map(|(_, path)| path)
        .collect();
    let path = match &found[..] {
        [path] => path.clone(),
        [] => {
            return Ok(StepEnd::failed(
                StepFault::NoResult,
                format!("the step created no directory {pattern}"),
                "see where it writes: `results:` in the recipe must match one directory that the step makes",
            ));
        }
        several => {
            return Ok(StepEnd::failed(
                StepFault::NoResult,
                format!(
                    "{pattern} matches {} directories: {}",
                    several.len(),
                    several.join(", ")
                ),
                "make `results:` match one directory",
            ));
        }
    };
    let Some(container) = session.state().container else {
        return Ok(StepEnd::failed(
            StepFault::Host,
            "the container is gone".to_owned(),
            "",
        ));
    };
    let relative = measured.results_directory(trial);
    let archive = session.run.join(&format!("{}.tar", step.directory()));
    let copied = with_engine(session, step, || {
        session
            .engine
            .copy_out(&container, &path, &archive, MOST_BYTES)
    })
    .await;
    let end = match copied {
        Ok(true) => {
            let secrets = if let Action::Exec(exec) = &source.action {
                exec.secrets.as_slice()
            } else {
                &[]
            };
            take_over(
                session,
                step,
                &Archive {
                    path: &archive,
                    from: &path,
                    to: &relative,
                    secrets,
                },
            )
        }
        Ok(false) => Ok(StepEnd::failed(
            StepFault::NoResult,
            format!("{path} was removed before it could be collected"),
            "",
        )),
        Err(EngineError::File { path, source }) => {
            Err(StoreError::io("write", &path)(source).into())
        }
        Err(error) => Ok(StepEnd::host(error.to_string())),
    };
    let _ = std::fs::remove_file(&archive);
    end
}

/// Fetches what a failed step left where its results are expected, into the step's own directory:
/// it is evidence, and no result. What cannot be fetched is left.
pub async fn keep_what_failed(session: &Session, step: &Step, of: u32, pattern: &str) {
    let source = session.plan.steps.iter().find(|step| step.number == of);
    let (Some(source), Some(container)) = (source, session.state().container) else {
        return;
    };
    let found = session.control.step(&source.directory()).found();
    let found = found.iter().filter(|(known, _)| known == pattern);
    let secrets = match &source.action {
        Action::Exec(exec) => exec.secrets.as_slice(),
        _ => &[],
    };
    let archive = session.run.join(&format!("{}.tar", step.directory()));
    for (index, (_, path)) in found.enumerate() {
        let to = format!("steps/{}/results-{}", source.directory(), index + 1);
        let copied = session
            .engine
            .copy_out(&container, path, &archive, MOST_BYTES)
            .await;
        if let Ok(true) = copied {
            let taken = Archive {
                path: &archive,
                from: path,
                to: &to,
                secrets,
            };
            let _ = take_over(session, step, &taken);
        }
        let _ = std::fs::remove_file(&archive);
    }
}

/// What came out of the container.
struct Archive<'a> {
    path: &'a Path,
    from: &'a str,
    to: &'a str,
    /// Secrets that the step knew.
    secrets: &'a [String],
}

/// Unpacks it beside its place, and renames: what is in its place is whole.
fn take_over(session: &Session, step: &Step, archive: &Archive<'_>) -> Result<StepEnd, RunError> {
    let target = session.run.join(archive.to);
    let part = target.with_extension("part");
    for left in [&part, &target] {
        if left.exists() {
            std::fs::remove_dir_all(left).map_err(StoreError::io("remove", left))?;
        }
    }
    let unpacked = match unpack::unpack(archive.path, &part, unpack::Limits::results(MOST_BYTES)) {
        Ok(unpacked) => unpacked,
        Err(error) if error.is_disk_full() => return Err(error.into()),
        Err(error) => return Ok(StepEnd::failed(StepFault::NoResult, error.to_string(), "")),
    };
    if !archive.secrets.is_empty() {
        for path in files_below(&part) {
            redact::file(&path, archive.secrets, &session.secrets)?;
        }
    }
    rename_synced(&part, &target)?;
    let what = What::Collected {
        from: archive.from.to_owned(),
        to: archive.to.to_owned(),
        files: unpacked.files,
        bytes: unpacked.bytes,
        left_out: unpacked.left_out,
    };
    session.say(Some(step), what)?;
    Ok(StepEnd::Done { exit_code: None })
}

/// Files that were unpacked: there are no links among them.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}
