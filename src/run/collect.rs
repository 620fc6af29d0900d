//! Copies results out of the container through the engine's archive call, which needs no mount and
//! hides nothing. The store unpacks them, and trusts nothing in the archive.

use std::fs;
use std::path::{Path, PathBuf};

use super::engine_back::with_engine;
use super::error::Halt;
use super::redact;
use super::session::Session;
use crate::plan::step::{Action, Step};
use crate::store::StoreError;
use crate::store::journal::{StepEnd, StepFault, What};
use crate::store::run_directory::rename_synced;
use crate::store::unpack::{Limits, Unpacked, unpack};
use retrial_engine::error::EngineError;

/// The most bytes that are copied out at once: the results of a trial, or what a host step uses.
pub const MAX_BYTES: u64 = 16 << 30;

/// Collects the one result directory that the step `of` made.
pub async fn collect(
    session: &Session,
    step: &Step,
    measurement: usize,
    trial: u32,
    of: u32,
    pattern: &str,
) -> Result<(), Halt> {
    let missing =
        |because: String, advice: &str| Halt::failed(StepFault::NoResult, because, advice);
    let found = results_of(session, of, pattern);
    let path = match &found[..] {
        [path] => path,
        [] => {
            return Err(missing(
                format!("the step created no directory {pattern}"),
                "check where it writes: `results:` must match one directory that the step creates",
            ));
        }
        several => {
            let (count, list) = (several.len(), several.join(", "));
            return Err(missing(
                format!("{pattern} matches {count} directories: {list}"),
                "make `results:` match one directory",
            ));
        }
    };
    let Some(measured) = session.plan.measurements.get(measurement) else {
        let because = "the plan has nothing to collect";
        return Err(Halt::failed(StepFault::Request, because, ""));
    };
    let to = measured.results_directory(trial);
    copy_results(session, step, of, path, &to).await
}

/// Copies the results of a failed step into the step's own directory: they are evidence, no result.
/// What cannot be copied is left.
pub async fn collect_evidence(session: &Session, step: &Step, of: u32, pattern: &str) {
    for (index, path) in results_of(session, of, pattern).iter().enumerate() {
        if let Some(source) = step_of(session, of) {
            let to = format!("steps/{}/results-{}", source.directory(), index + 1);
            let _ = copy_results(session, step, of, path, &to).await;
        }
    }
}

fn step_of(session: &Session, number: u32) -> Option<&Step> {
    let mut steps = session.plan.steps.iter();
    steps.find(|step| step.number == number)
}

/// The directories that a step made and that match the pattern.
fn results_of(session: &Session, of: u32, pattern: &str) -> Vec<String> {
    let found = step_of(session, of)
        .map(|step| session.control.step(&step.directory()).found())
        .unwrap_or_default();
    let of_pattern = found.into_iter().filter(|(known, _)| known == pattern);
    of_pattern.map(|(_, path)| path).collect()
}

/// Copies one result directory to `to` below the run's directory, without the step's secrets.
async fn copy_results(
    session: &Session,
    step: &Step,
    of: u32,
    path: &str,
    to: &str,
) -> Result<(), Halt> {
    let target = session.run.join(to);
    let part = target.with_extension("part");
    let absent = format!("{path} was removed before it could be collected");
    let absent = StepEnd::failed(StepFault::NoResult, absent, "");
    let container = session.container()?;
    let limits = Limits::results(MAX_BYTES);
    let unpacked = extract(session, step, &container, path, &part, limits, absent).await?;
    if let Some(Action::Exec(exec)) = step_of(session, of).map(|step| &step.action)
        && !exec.secrets.is_empty()
    {
        for path in files_below(&part) {
            redact::file(&path, &exec.secrets, &session.secrets)?;
        }
    }
    remove_directory(&target)?;
    rename_synced(&part, &target)?;
    record(session, step, path, to, unpacked)
}

/// Records what was collected.
pub fn record(
    session: &Session,
    step: &Step,
    from: &str,
    to: &str,
    unpacked: Unpacked,
) -> Result<(), Halt> {
    let what = What::Collected {
        from: from.to_owned(),
        to: to.to_owned(),
        files: unpacked.files,
        bytes: unpacked.bytes,
        left_out: unpacked.left_out,
    };
    Ok(session.record(Some(step), what)?)
}

/// Copies a path of a container to the directory `to`. `absent` is the step's end if there is no such
/// path; its fault is also that of an archive that cannot be unpacked.
pub async fn extract(
    session: &Session,
    step: &Step,
    container: &str,
    path: &str,
    to: &Path,
    limits: Limits,
    absent: StepEnd,
) -> Result<Unpacked, Halt> {
    remove_directory(to)?;
    let archive = session.run.join(&format!("{}.tar", step.directory()));
    let copy = || {
        session
            .engine
            .copy_out(container, path, &archive, MAX_BYTES)
    };
    let result = match with_engine(session, step, copy).await {
        Ok(true) => unpack(&archive, to, limits).map_err(|error| match absent {
            StepEnd::Failed { fault, .. } if !error.is_disk_full() => {
                Halt::failed(fault, error.to_string(), "")
            }
            _ => error.into(),
        }),
        Ok(false) => Err(absent.into()),
        Err(EngineError::File { path, source }) => {
            Err(StoreError::io("write", &path)(source).into())
        }
        Err(error) => Err(error.into()),
    };
    let _ = fs::remove_file(&archive);
    result
}

/// Removes a directory, if there is one.
pub fn remove_directory(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        fs::remove_dir_all(path).map_err(StoreError::io("remove", path))?;
    }
    Ok(())
}

/// Unpacked files: there are no links among them.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}
