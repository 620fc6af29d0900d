//! `retrial shell`: a shell in a run's container.

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{open, runtime};
use crate::results::verdict::ExitCode;
use crate::store::journal::{Event, Journal, State};
use retrial_engine::api::{Engine, ExecSpec};

/// Opens a shell, or runs a command, in the run's container.
pub fn shell(global: &GlobalOptions, run: &str, command: Vec<String>) -> Result<ExitCode, Failure> {
    let directory = global.home.find(run)?;
    open::began_here(&directory)?;
    let state = State::of(&Journal::read::<Event>(&directory.journal())?);
    let Some(container) = state.container else {
        return Err(Failure::usage(format!(
            "{} has no container\n  keep it next time: retrial run … --keep always (or on-failure)",
            directory.id()
        )));
    };
    let runtime = runtime::runtime()?;
    let ended = runtime.block_on(async {
        let engine = open::engine(global).await?;
        match engine.container(&container).await? {
            Some(state) if state.running => {}
            _ => {
                return Err(Failure::host(format!(
                    "{}: its container has ended; retrial resume {} creates a new one",
                    directory.id(),
                    directory.id()
                )));
            }
        }
        let command = if command.is_empty() {
            [
                "/bin/sh",
                "-c",
                "if command -v bash >/dev/null 2>&1; then exec bash; fi; exec sh",
            ]
            .map(str::to_owned)
            .to_vec()
        } else {
            command
        };
        // The mark prevents that a step's end kills it as a process of the step.
        let spec = ExecSpec {
            command,
            env: vec![("RETRIAL_SHELL".to_owned(), "1".to_owned())],
            ..Default::default()
        };
        let code = engine.interactive(&container, &spec).await?;
        if code == 0 {
            Ok(ExitCode::Success)
        } else {
            Err(Failure::told(ExitCode::StepFailed))
        }
    });
    // A read of the keyboard is still pending, and only a key ends it.
    runtime.shutdown_background();
    ended
}
