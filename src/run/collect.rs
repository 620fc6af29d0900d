//! Copies results out of the container through the engine's archive call, which needs no mount and
//! hides nothing. The store unpacks them, and trusts nothing in the archive.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::sync::mpsc::{Receiver, channel};

use super::engine_back::with_engine;
use super::error::Halt;
use super::interrupt::{on_thread, unless_stopped};
use super::session::Session;
use crate::plan::step::{Action, Step};
use crate::store::StoreError;
use crate::store::journal::{StepEnd, StepFault, What};
use crate::store::run_directory::rename_synced;
use crate::store::unpack::{Limits, Unpacked, unpack};

/// The most bytes that are copied out at once, unless the recipe says otherwise: the results of a
/// trial, or what a host step uses.
pub const MAX_BYTES: u64 = 16 << 30;
/// Parts of an archive that wait to be unpacked, at most.
const MOST_CHUNKS: usize = 16;

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
            let list = session.redacted(&several.join(", "));
            let count = several.len();
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
    copy_results(session, step, path, &to).await
}

/// Copies the results of a failed step into the step's own directory: they are evidence, no result.
/// What cannot be copied is left.
pub async fn collect_evidence(session: &Session, step: &Step, of: u32, pattern: &str) {
    for (index, path) in results_of(session, of, pattern).iter().enumerate() {
        if let Some(source) = step_of(session, of) {
            let to = format!("steps/{}/results-{}", source.directory(), index + 1);
            let _ = copy_results(session, step, path, &to).await;
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
async fn copy_results(session: &Session, step: &Step, path: &str, to: &str) -> Result<(), Halt> {
    let target = session.run.join(to);
    let part = target.with_extension("part");
    let absent = format!(
        "{} was removed before it could be collected",
        session.redacted(path)
    );
    let max_bytes = match step.action {
        Action::Collect { max_bytes, .. } => max_bytes,
        _ => None,
    };
    let copy = CopyOut {
        container: &session.container()?,
        path,
        to: &part,
        limits: Limits::results(max_bytes.unwrap_or(MAX_BYTES)),
        absent: StepEnd::failed(StepFault::NoResult, absent, ""),
        too_large: "write less there, or allow more with `max_results:` in the recipe",
    };
    let unpacked = extract(session, step, copy).await?;
    let redactor = session.redactor.clone();
    let finish = move || {
        if let Some(redactor) = redactor {
            redactor.directory(&part)?;
        }
        remove_directory(&target)?;
        rename_synced(&part, &target)
    };
    on_thread(&session.stop, finish).await??;
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
    let left_out = unpacked.left_out.iter();
    let left_out = left_out.map(|text| session.redacted(text)).collect();
    let what = What::Collected {
        from: session.redacted(from),
        to: to.to_owned(),
        files: unpacked.files,
        bytes: unpacked.bytes,
        left_out,
    };
    Ok(session.record(Some(step), what)?)
}

/// What is copied out of a container.
pub struct CopyOut<'a> {
    /// The container.
    pub container: &'a str,
    /// The path in it.
    pub path: &'a str,
    /// The directory that it is copied to.
    pub to: &'a Path,
    /// What it may hold.
    pub limits: Limits,
    /// The step's end if there is no such path; its fault is also that of an archive that cannot be
    /// unpacked.
    pub absent: StepEnd,
    /// What to do if it is too large.
    pub too_large: &'static str,
}

/// Copies a path out of a container, and unpacks it as it comes.
pub async fn extract(session: &Session, step: &Step, copy: CopyOut<'_>) -> Result<Unpacked, Halt> {
    let attempt = || async {
        let (to, chunks) = channel(MOST_CHUNKS);
        let unpacked = unpack_on_thread(&copy, chunks);
        let is_there = session.engine.copy_out(copy.container, copy.path, to);
        let is_there = is_there.await;
        let unpacked = unpacked.await;
        is_there.map(|is_there| is_there.then_some(unpacked))
    };
    let copied = unless_stopped(&session.stop, with_engine(session, step, attempt)).await?;
    match (copied?, copy.absent) {
        (Some(Ok(unpacked)), _) => Ok(unpacked),
        (Some(Err(error)), StepEnd::Failed { fault, .. }) if !error.is_disk_full() => {
            let is_too_large = matches!(error, StoreError::TooLarge { .. });
            let advice = if is_too_large { copy.too_large } else { "" };
            Err(Halt::failed(
                fault,
                session.redacted(&error.to_string()),
                advice,
            ))
        }
        (Some(Err(error)), _) => Err(error.into()),
        (None, absent) => {
            remove_directory(copy.to)?;
            Err(absent.into())
        }
    }
}

/// Unpacks an archive on a thread while the engine sends it.
fn unpack_on_thread(
    copy: &CopyOut<'_>,
    chunks: Receiver<Bytes>,
) -> impl Future<Output = Result<Unpacked, StoreError>> + use<> {
    let (path, to, limits) = (PathBuf::from(copy.path), copy.to.to_owned(), copy.limits);
    let archive = Incoming {
        chunks,
        chunk: Bytes::new(),
    };
    let name = path.clone();
    let unpacking = tokio::task::spawn_blocking(move || {
        remove_directory(&to)?;
        unpack(archive, &name, &to, limits).inspect_err(|_| drop(remove_directory(&to)))
    });
    async {
        unpacking.await.unwrap_or_else(|error| {
            let because = error.to_string();
            Err(StoreError::Unusable { path, because })
        })
    }
}

/// An archive as the engine sends it.
struct Incoming {
    chunks: Receiver<Bytes>,
    chunk: Bytes,
}

impl Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.chunks.blocking_recv() {
                Some(chunk) => self.chunk = chunk,
                None => return Ok(0),
            }
        }
        let chunk = self.chunk.split_to(buffer.len().min(self.chunk.len()));
        buffer[..chunk.len()].copy_from_slice(&chunk);
        Ok(chunk.len())
    }
}

/// Removes a directory, if there is one.
pub fn remove_directory(path: &Path) -> Result<(), StoreError> {
    if path.exists() {
        fs::remove_dir_all(path).map_err(StoreError::io("remove", path))?;
    }
    Ok(())
}
