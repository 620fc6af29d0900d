//! Opens what the command line names: a run or a batch, the host, the engine.

use std::path::Path;

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use retrial_engine::docker::DockerEngine;
use retrial_host as host;
use retrial_host::model::HostView;
use retrial_readings::sanitize;
use retrial_store::RecordDirectory;
use retrial_store::import::ImportOrigin;
use retrial_store::{Home, RunDirectory, StoreError};

/// A run or a batch, by the directory that it is recorded in.
pub enum RunOrBatch {
    Run(RunDirectory),
    Batch(RecordDirectory),
}

/// Finds a run or a batch by its id, a part of it, a path, or `last` (a run).
pub fn find_run_or_batch(home: &Home, name: &str) -> Result<RunOrBatch, Failure> {
    let path = Path::new(name);
    let is_batch = name.contains('/') && path.join("batch.json").exists();
    if is_batch
        || home
            .batches_directory()
            .join(name)
            .join("batch.json")
            .exists()
    {
        return Ok(RunOrBatch::Batch(home.find_batch(name)?));
    }
    match home.find_run(name) {
        Err(StoreError::NoSuch { matches: 0, .. }) if !name.is_empty() && name != "last" => {
            match home.find_batch(name) {
                Ok(batch) => Ok(RunOrBatch::Batch(batch)),
                Err(error @ StoreError::NoSuch { matches: 2.., .. }) => Err(error.into()),
                // Most names refer to runs.
                Err(_) => Ok(RunOrBatch::Run(home.find_run(name)?)),
            }
        }
        run => Ok(RunOrBatch::Run(run?)),
    }
}

/// Returns the run or batch that a path or a name refers to; none if it is a folder that is neither.
pub fn find_results(home: &Home, name: &str) -> Result<Option<RunOrBatch>, Failure> {
    let path = Path::new(name);
    let is_run = path.join("plan.json").exists();
    if is_run || path.join("batch.json").exists() {
        let canonical_path = path
            .canonicalize()
            .map_err(|error| Failure::host(format!("failed to open {name}: {error}")))?;
        return Ok(Some(if is_run {
            RunOrBatch::Run(RunDirectory::from_path(canonical_path))
        } else {
            RunOrBatch::Batch(RecordDirectory::from_path(canonical_path))
        }));
    }
    if path.is_file() {
        return Err(Failure::usage(format!(
            "{name} is a file: name the directory that it is in"
        )));
    }
    if path.is_dir() {
        return Ok(None);
    }
    find_run_or_batch(home, name).map(Some)
}

/// Reads GPUs, drivers and kernel of this machine, or of the one described below `--root`.
pub fn probe_host(global: &GlobalOptions) -> HostView {
    host::probe_host(&global.root, global.home.root())
}

/// Refuses imported runs: their plans were not approved on this machine.
pub fn refuse_imported(run: &RunDirectory) -> Result<(), Failure> {
    ImportOrigin::read(run).map_or(Ok(()), |mark| {
        Err(Failure::usage(format!(
            "{} was imported from {}: imported runs cannot be resumed",
            run.id(),
            sanitize(&mark.host)
        )))
    })
}

/// Connects to the engine that `--engine`, the environment or Docker's context selects.
pub async fn connect_engine(global: &GlobalOptions) -> Result<DockerEngine, Failure> {
    Ok(DockerEngine::connect(global.engine.as_deref()).await?)
}
