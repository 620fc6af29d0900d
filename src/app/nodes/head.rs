//! The head: starts the agents on the other machines by this program's command lines.

use std::time::Duration;

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{open, runtime};
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_cluster::nodes::head::{self, MachineCommands, MachinesError};
use retrial_run::nodes::{PeerNodes, RunMachine};
use retrial_store::RunDirectory;

/// Starts the agent on the other machines of a run, and checks them all. Returns this machine and the others,
/// ready for the first step.
///
/// # Errors
/// If a machine cannot be reached, or does not meet the requirements.
pub async fn start_machines(
    global: &GlobalOptions,
    run: &RunDirectory,
    allocation: &NodeAllocation,
    patience: Duration,
) -> Result<(RunMachine, PeerNodes), Failure> {
    let program = runtime::program_path()?;
    let path = run.path().display().to_string();
    let command = |words: &[&str]| runtime::command_line(&program, global, words);
    let commands = MachineCommands {
        serve: |name: &str| command(&["node", &path, name]),
        clean: command(&["clean", "--all", &path]),
    };
    let host = open::probe_host(global);
    Ok(head::start_machines(run, allocation, &host, commands, patience).await?)
}

impl From<MachinesError> for Failure {
    fn from(error: MachinesError) -> Self {
        match error {
            MachinesError::Store(error) => error.into(),
            error => Self::host(error.to_error_text()),
        }
    }
}
