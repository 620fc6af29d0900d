//! Restores collected results in the container for a rerun check: the container of the measurement may be
//! removed. The step's own script unpacks them, as their original user.

use std::fs;
use std::path::PathBuf;

use crate::error::Halt;
use crate::interrupt::run_on_thread;
use crate::step::StepCommand;
use retrial_store::StoreError;
use retrial_store::files::set_mode;
use retrial_store::pack::pack_directories;

/// Restores the collected results that a check reads, unless they were measured in this container.
pub async fn restore_results(command: &StepCommand<'_>) -> Result<(), Halt> {
    let session = &command.session;
    let state = session.run_session.state();
    let Some(measured) = session
        .step
        .measured_step()
        .filter(|measured| !state.ended_in_current_container(*measured))
    else {
        return Ok(());
    };
    let collecting =
        session.run_session.plan.result_steps(measured).filter(|step| state.is_done(step.number));
    let collected_directories = collecting.filter_map(|step| {
        let (measurement, trial) =
            step.measurement_and_trial().filter(|_| step.collects_results())?;
        let top = state.collected.get(&step.number)?.trim_start_matches('/');
        let directory = session.run_session.plan.results_directory(measurement, trial);
        Some((session.run_session.run.join(&directory), PathBuf::from(top)))
    });
    let directories: Vec<(PathBuf, PathBuf)> = collected_directories.collect();
    let archive = session.step_directory(&session.run_session.local).join("results.tar");
    let packing = archive.clone();
    let pack = move || {
        let packed = pack_directories(&directories, &packing)?;
        set_mode(&packing, 0o644)?;
        Ok::<_, StoreError>(packed)
    };
    let packed = run_on_thread(&session.run_session.stop, pack).await??;
    command.files.link_results_archive(&archive)?;
    fs::remove_file(&archive).map_err(StoreError::io("remove", &archive))?;
    let files = packed.files;
    let decision = format!("the results of step {measured:02} were restored: {files} files");
    Ok(session.record_decision(decision)?)
}
