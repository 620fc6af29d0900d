//! The last step: a prepared run gets its directory, and is executed here or in the background.

use super::background::start_in_background;
use crate::app::failure::Failure;
use crate::app::follow::follow_run;
use crate::app::options::GlobalOptions;
use crate::app::own_record::Own;
use crate::app::{open, runtime};
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_engine::docker::DockerEngine;
use retrial_results::verdict::ExitCode;
use retrial_run::PreparedRun;
use retrial_store::RunDirectory;
use retrial_store::error::RecordKind;

/// Starts a run, on several machines if there is an allocation.
pub async fn start_run(
    global: &GlobalOptions,
    engine: DockerEngine,
    prepared: PreparedRun,
    allocation: Option<NodeAllocation>,
    detach: bool,
) -> Result<ExitCode, Failure> {
    let directory = global.home.create_run_directory(&prepared.id_stem())?;
    prepared.write_files(&directory)?;
    // With the staged copy of the recipe's files, which the run's directory has now.
    drop(prepared);
    if let Some(allocation) = allocation {
        allocation.write(&directory)?;
    }
    if detach {
        return start_in_background(global, RecordKind::Run, directory.record());
    }
    follow_run(global, engine, directory, false).await
}

/// Continues a run of this home. Its plan was approved when it was created.
pub fn continue_run(
    global: &GlobalOptions,
    directory: Own<RunDirectory>,
    require_accuracy: bool,
) -> Result<ExitCode, Failure> {
    runtime::start_runtime()?.block_on(async {
        let engine = open::connect_engine(global).await?;
        follow_run(global, engine, directory.into_directory(), require_accuracy).await
    })
}
