//! `retrial shell`: a shell in a run's container.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::arguments::ShellArguments;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::own_record::Own;
use crate::app::{open, runtime};
use retrial_cluster::job::record::{is_submitted, latest_job_id};
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_engine::api::{Engine, ExecSpec};
use retrial_results::verdict::ExitCode;
use retrial_run::nodes::Launcher;
use retrial_store::RunDirectory;

/// Runs the best shell of the container.
const SHELL_COMMAND: [&str; 3] =
    ["/bin/sh", "-c", "if command -v bash >/dev/null 2>&1; then exec bash; fi; exec sh"];

/// Opens a shell, or runs a command, in the run's container.
pub fn open_shell(global: &GlobalOptions, arguments: &ShellArguments) -> Result<ExitCode, Failure> {
    let ShellArguments { run, node, command } = arguments;
    let (node, command) = (node.as_deref(), command.as_slice());
    let directory = Own::require_run(&global.home, global.home.find_run(run)?)?;
    // Within the job, the engine of this machine has the container.
    let is_elsewhere = is_submitted(&directory) && std::env::var_os("SLURM_JOB_ID").is_none();
    if is_elsewhere || node.is_some() {
        return open_on_node(global, &directory, node, command);
    }
    let state = directory.read_state()?;
    let Some(container) = state.container else {
        return Err(Failure::usage(format!("{} has no container", directory.id()))
            .with_help("keep it next time: retrial run … --keep always (or on-failure)"));
    };
    let async_runtime = runtime::start_runtime()?;
    let ended = async_runtime.block_on(async {
        let engine = open::connect_engine(global).await?;
        match engine.inspect_container(&container).await? {
            Some(state) if state.running => {}
            _ => {
                return Err(Failure::host(format!(
                    "{0}: its container has ended; retrial resume {0} creates a new one",
                    directory.id()
                )));
            }
        }
        let command = match command {
            [] => SHELL_COMMAND.map(str::to_owned).to_vec(),
            command => command.to_vec(),
        };
        // The variable marks it as no process of the step, so that the step's end does not kill it.
        let spec = ExecSpec {
            command,
            env: vec![("RETRIAL_SHELL".to_owned(), "1".to_owned())],
            ..Default::default()
        };
        let code = engine.run_interactive(&container, &spec).await?;
        if code == 0 { Ok(ExitCode::Success) } else { Err(Failure::reported(ExitCode::StepFailed)) }
    });
    // A read of the keyboard is still pending until a key is pressed.
    async_runtime.shutdown_background();
    ended
}

/// Opens the shell on another machine of the run.
fn open_on_node(
    global: &GlobalOptions,
    run: &RunDirectory,
    node: Option<&str>,
    command: &[String],
) -> Result<ExitCode, Failure> {
    let directory = NodeAllocation::machine_directory(run, node)?;
    let job = latest_job_id(run)?;
    if is_submitted(run) && job.is_none() {
        return Err(Failure::usage(format!("{} has no job", run.id())));
    }
    let program = runtime::program_path()?;
    let text = |path: &Path| path.display().to_string();
    let mut words = vec![text(&program), "--home".to_owned(), text(global.home.root())];
    words.extend(["shell".to_owned(), text(directory.path())]);
    if !command.is_empty() {
        words.push("--".to_owned());
        words.extend_from_slice(command);
    }
    let line = Launcher::terminal_command_line(job.as_deref(), node, &words);
    let error = Command::new(&line[0]).args(&line[1..]).exec();
    Err(Failure::host(format!("failed to start {}: {error}", line[0])))
}
