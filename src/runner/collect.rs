//! Fetches the results of a step out of the container, through the engine's archive call:
//! it needs no mount and hides nothing. Unpacked by the store, which trusts nothing in it.

use super::engine_back::with_engine;
use super::error::RunError;
use super::session::Session;
use crate::journal::{StepEnd, StepFault, What};
use crate::plan::step::Step;
use crate::store::{StoreError, unpack};

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
        return Ok(failed(
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
            return Ok(failed(
                StepFault::Command,
                format!("no new result: the step left no directory {pattern}"),
                "see where it writes: `results:` in the recipe must match one directory that the step makes",
            ));
        }
        several => {
            return Ok(failed(
                StepFault::Command,
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
        return Ok(failed(
            StepFault::Host,
            "the container is gone".to_owned(),
            "",
        ));
    };
    let relative = measured.results_directory(trial);
    let target = session.run.join(&relative);
    let archive = session.run.join(&format!("{}.tar", step.directory()));
    let copied = with_engine(session, step, || {
        session
            .engine
            .copy_out(&container, &path, &archive, MOST_BYTES)
    })
    .await;
    let end = match copied {
        Ok(true) => unpacked(session, step, &path, &relative, &archive, &target)?,
        Ok(false) => failed(
            StepFault::Command,
            format!("no new result: {path} is gone again"),
            "",
        ),
        Err(error) => failed(StepFault::Host, error.to_string(), ""),
    };
    let _ = std::fs::remove_file(&archive);
    Ok(end)
}

fn unpacked(
    session: &Session,
    step: &Step,
    from: &str,
    relative: &str,
    archive: &std::path::Path,
    target: &std::path::Path,
) -> Result<StepEnd, RunError> {
    let part = target.with_extension("part");
    for left in [&part, target] {
        if left.exists() {
            std::fs::remove_dir_all(left).map_err(StoreError::io("remove", left))?;
        }
    }
    let unpacked = match unpack::unpack(archive, &part, MOST_BYTES) {
        Ok(unpacked) => unpacked,
        Err(error) if error.is_disk_full() => return Err(error.into()),
        Err(error) => return Ok(failed(StepFault::Command, error.to_string(), "")),
    };
    std::fs::rename(&part, target).map_err(StoreError::io("rename", &part))?;
    let what = What::Collected {
        from: from.to_owned(),
        to: relative.to_owned(),
        files: unpacked.files,
        bytes: unpacked.bytes,
        left_out: unpacked.left_out,
    };
    session.say(Some(step), what)?;
    Ok(StepEnd::Done { exit_code: None })
}

fn failed(fault: StepFault, because: String, advice: &str) -> StepEnd {
    StepEnd::Failed {
        fault,
        because,
        exit_code: None,
        last_lines: Vec::new(),
        advice: advice.to_owned(),
    }
}
