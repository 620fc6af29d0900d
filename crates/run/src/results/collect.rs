//! Collects results: copies them out of the container, without the run's secrets.

use itertools::join;

use crate::container::{Extraction, MAX_EXTRACTED_BYTES, extract_path};
use crate::control::{RefusedResult, ResultDirectory, StepControl};
use crate::error::Halt;
use crate::interrupt::run_on_thread;
use crate::step::StepSession;
use retrial_plan::step::Action;
use retrial_store::clock::Moment;
use retrial_store::files::{remove_directory, rename_synced};
use retrial_store::journal::{EventKind, StepEnd, StepFault};
use retrial_store::unpack::{UnpackOptions, UnpackSummary};

/// The largest difference between a file system's clock and this machine's, seconds: a file server has its own.
const CLOCK_SLACK_S: i64 = 60;

/// Collects the one result directory that the step `producer` created.
pub async fn collect_results(
    session: &StepSession<'_>,
    measurement: usize,
    trial: u32,
    producer: u32,
    pattern: &str,
) -> Result<(), Halt> {
    let missing = |reason: String, advice: &str| Halt::failure(StepFault::NoResult, reason, advice);
    let producing_step = session.run_session.plan.step(producer);
    let step_control = producing_step.map(|step| session.run_session.control.step_control(step));
    let control = step_control.filter(StepControl::is_prepared);
    let directories = match &control {
        Some(control) => control.find_result_directories(pattern),
        // A check was rerun on another disk than the measurement.
        None => find_collected_before(session).into_iter().collect(),
    };
    let directory = match &directories[..] {
        [directory] => directory,
        [] => {
            let refused = control.and_then(|control| control.find_refused_result(pattern));
            let Some((reason, path)) = refused else {
                return Err(missing(
                    format!("the step created no directory {pattern}"),
                    "check where it writes: `results:` must match one directory that the step creates",
                ));
            };
            let path = session.run_session.redact(&path);
            let check = "check where the step writes: `results:` must match one directory that it writes files to";
            return Err(match reason {
                RefusedResult::File => missing(
                    format!("{path} is a file, not a directory"),
                    "let `results:` name the directory of the file, and `file:` of each figure the file",
                ),
                RefusedResult::Empty => {
                    missing(format!("the step wrote no file to {path}, which is empty"), check)
                }
                RefusedResult::Unchanged => missing(
                    format!("the step wrote no file to {path}; those in it are older"),
                    check,
                ),
            });
        }
        several => {
            let paths = join(several.iter().map(|directory| &directory.path), ", ");
            let list = session.run_session.redact(&paths);
            let count = several.len();
            return Err(missing(
                format!("{pattern} matches {count} directories: {list}"),
                "make `results:` match one directory",
            ));
        }
    };
    let Some(measured) = session.run_session.plan.measurements.get(measurement) else {
        let reason = "the plan has nothing to collect";
        return Err(Halt::failure(StepFault::Request, reason, ""));
    };
    let to = measured.results_directory(trial);
    let started = session.run_session.state().started.get(&producer).cloned();
    copy_results(session, directory, &to, started).await
}

/// Copies the results of a failed step into the step's own directory: they are evidence, not a result. Copy
/// errors are ignored.
pub async fn collect_evidence(session: &StepSession<'_>, producer: u32, pattern: &str) {
    let Some(source) = session.run_session.plan.step(producer) else {
        return;
    };
    let directories =
        session.run_session.control.step_control(source).find_result_directories(pattern);
    for (index, directory) in directories.iter().enumerate() {
        let to = format!("steps/{}/results-{}", source.directory_name(), index + 1);
        if let Err(halt) = copy_results(session, directory, &to, None).await {
            tracing::debug!(to, ?halt, "the results of a failed step were not copied");
        }
    }
}

fn find_collected_before(session: &StepSession<'_>) -> Option<ResultDirectory> {
    let path = session.run_session.state().collected.get(&session.step.number).cloned()?;
    Some(ResultDirectory { path, length: 0 })
}

/// Copies one result directory to `to` below the run's directory, without the step's secrets. Files that were
/// last written before the measurement started are recorded: they are no results of it.
async fn copy_results(
    session: &StepSession<'_>,
    directory: &ResultDirectory,
    to: &str,
    started: Option<Moment>,
) -> Result<(), Halt> {
    let path = &directory.path;
    let target = session.run_session.run.join(to);
    let part = target.with_extension("part");
    let absent =
        format!("{} was removed before it could be collected", session.run_session.redact(path));
    let max_bytes = match session.step.action {
        Action::Collect { max_bytes, .. } => max_bytes,
        _ => None,
    };
    let copy = Extraction {
        container: &session.run_session.require_container()?,
        path,
        target: &part,
        length: directory.length,
        limits: UnpackOptions {
            written_since: started.as_ref().and_then(earliest_write),
            ..UnpackOptions::for_results(max_bytes.unwrap_or(MAX_EXTRACTED_BYTES))
        },
        absent: StepEnd::failure(StepFault::NoResult, absent, ""),
        too_large: "write less there, or allow more with `max_results:` in the recipe",
    };
    let unpacked = extract_path(session, copy).await?;
    let (redactor, unsearched) = (session.run_session.redactor.clone(), part.clone());
    let finish = move || {
        if let Some(redactor) = redactor {
            redactor.redact_directory(&part)?;
        }
        remove_directory(&target)?;
        rename_synced(&part, &target)
    };
    let finished = run_on_thread(&session.run_session.stop, finish).await;
    // They may still contain a secret.
    finished.inspect_err(|_| drop(remove_directory(&unsearched)))??;
    record_collected(session, path, to, &unpacked)
}

/// Returns the earliest time of last change that a file written by the step may have, seconds since 1970.
fn earliest_write(started: &Moment) -> Option<u64> {
    let (earliest, _) = started.wall_clock_span(&Moment::now());
    u64::try_from(earliest.as_second() - CLOCK_SLACK_S).ok()
}

pub fn record_collected(
    session: &StepSession<'_>,
    from: &str,
    to: &str,
    unpacked: &UnpackSummary,
) -> Result<(), Halt> {
    let omitted = unpacked.omitted.iter();
    let omitted_names = omitted.map(|text| session.run_session.redact(text)).collect();
    let older = unpacked.older.iter().map(|name| session.run_session.redact(name));
    let event = EventKind::Collected {
        from: session.run_session.redact(from),
        to: to.to_owned(),
        files: unpacked.files,
        bytes: unpacked.bytes,
        omitted: omitted_names,
        older: older.collect(),
    };
    Ok(session.record(event)?)
}
