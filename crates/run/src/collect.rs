//! Collects results: copies them out of the container, without the run's secrets.

use itertools::join;

use super::control::{ResultDirectory, StepControl};
use super::error::Halt;
use super::extract::{Extraction, MAX_BYTES, extract};
use super::interrupt::on_thread;
use super::step_session::StepSession;
use retrial_plan::step::Action;
use retrial_store::files::{remove_directory, rename_synced};
use retrial_store::journal::{EventKind, StepEnd, StepFault};
use retrial_store::unpack::{Limits, Unpacked};

/// Collects the one result directory that the step `producer` created.
pub async fn collect(
    session: &StepSession<'_>,
    measurement: usize,
    trial: u32,
    producer: u32,
    pattern: &str,
) -> Result<(), Halt> {
    let missing = |reason: String, advice: &str| Halt::failed(StepFault::NoResult, reason, advice);
    let producer = session.plan.step(producer);
    let producer = producer.map(|step| session.control.step(step));
    let directories = match producer.filter(StepControl::exists) {
        Some(producer) => producer.result_directories(pattern),
        // A check was rerun on another disk than the measurement.
        None => collected_before(session).into_iter().collect(),
    };
    let directory = match &directories[..] {
        [directory] => directory,
        [] => {
            return Err(missing(
                format!("the step created no directory {pattern}"),
                "check where it writes: `results:` must match one directory that the step creates",
            ));
        }
        several => {
            let paths = join(several.iter().map(|directory| &directory.path), ", ");
            let list = session.redacted(&paths);
            let count = several.len();
            return Err(missing(
                format!("{pattern} matches {count} directories: {list}"),
                "make `results:` match one directory",
            ));
        }
    };
    let Some(measured) = session.plan.measurements.get(measurement) else {
        let reason = "the plan has nothing to collect";
        return Err(Halt::failed(StepFault::Request, reason, ""));
    };
    let to = measured.results_directory(trial);
    copy_results(session, directory, &to).await
}

/// Copies the results of a failed step into the step's own directory: they are evidence, not a result. Copy
/// errors are ignored.
pub async fn collect_evidence(session: &StepSession<'_>, producer: u32, pattern: &str) {
    let Some(source) = session.plan.step(producer) else {
        return;
    };
    let directories = session.control.step(source).result_directories(pattern);
    for (index, directory) in directories.iter().enumerate() {
        let to = format!("steps/{}/results-{}", source.directory(), index + 1);
        let _ = copy_results(session, directory, &to).await;
    }
}

/// Returns the directory from which a step collected results before.
fn collected_before(session: &StepSession<'_>) -> Option<ResultDirectory> {
    let path = session.state().collected.remove(&session.step.number)?;
    Some(ResultDirectory { path, length: 0 })
}

/// Copies one result directory to `to` below the run's directory, without the step's secrets.
async fn copy_results(
    session: &StepSession<'_>,
    directory: &ResultDirectory,
    to: &str,
) -> Result<(), Halt> {
    let path = &directory.path;
    let target = session.run.join(to);
    let part = target.with_extension("part");
    let absent = format!(
        "{} was removed before it could be collected",
        session.redacted(path)
    );
    let max_bytes = match session.step.action {
        Action::Collect { max_bytes, .. } => max_bytes,
        _ => None,
    };
    let copy = Extraction {
        container: &session.container()?,
        path,
        to: &part,
        length: directory.length,
        limits: Limits::results(max_bytes.unwrap_or(MAX_BYTES)),
        absent: StepEnd::failed(StepFault::NoResult, absent, ""),
        too_large: "write less there, or allow more with `max_results:` in the recipe",
    };
    let unpacked = extract(session, copy).await?;
    let (redactor, unsearched) = (session.redactor.clone(), part.clone());
    let finish = move || {
        if let Some(redactor) = redactor {
            redactor.directory(&part)?;
        }
        remove_directory(&target)?;
        rename_synced(&part, &target)
    };
    let finished = on_thread(&session.stop, finish).await;
    // They may still contain a secret.
    finished.inspect_err(|_| drop(remove_directory(&unsearched)))??;
    record(session, path, to, &unpacked)
}

/// Records the collected files.
pub fn record(
    session: &StepSession<'_>,
    from: &str,
    to: &str,
    unpacked: &Unpacked,
) -> Result<(), Halt> {
    let omitted = unpacked.omitted.iter();
    let omitted = omitted.map(|text| session.redacted(text)).collect();
    let event = EventKind::Collected {
        from: session.redacted(from),
        to: to.to_owned(),
        files: unpacked.files,
        bytes: unpacked.bytes,
        omitted,
    };
    Ok(session.record(event)?)
}
