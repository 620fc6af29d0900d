//! `retrial stop`: ends a run's benchmark and keeps its evidence.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;

use crate::app::batch::array;
use crate::app::batch::record::BatchRecord;
use crate::app::failure::Failure;
use crate::app::open;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::own_record::{Own, OwnRunOrBatch};
use crate::app::stop_result::StopResult;
use crate::app::{follow, runtime, site, terminal};
use retrial_batch::run::read_state;
use retrial_cluster::job::record::is_submitted;
use retrial_plan::Plan;
use retrial_results::verdict::ExitCode;
use retrial_run::execute_plan;
use retrial_store::journal::JournalState;
use retrial_store::lock::{FileLock, LockHolder};
use retrial_store::process::{ProcessIdentity, SignalError, SignalRefusal};
use retrial_store::{RecordDirectory, RunDirectory};

/// How long a process that follows a run may take to stop it.
const FOLLOWER_STOP_TIMEOUT: Duration = Duration::from_mins(1);
/// How long a lock may name a process that has ended, until its successor has written its own id.
const STALE_HOLDER_TIMEOUT: Duration = Duration::from_secs(10);

/// Stops a run or a batch, through the process that follows it if there is one.
pub fn stop_run_or_batch(global: &GlobalOptions, name: &str) -> Result<ExitCode, Failure> {
    let (id, result) = match OwnRunOrBatch::find(&global.home, name)? {
        OwnRunOrBatch::Run(directory) => (directory.id().to_owned(), stop_run(global, directory)?),
        OwnRunOrBatch::Batch(directory) => {
            (directory.id().to_owned(), stop_batch(global, &directory)?)
        }
    };
    if global.output == OutputFormat::Json {
        terminal::print_json(&json!({ "id": id, "result": result.word() }));
    } else {
        terminal::print_note(&format!("{id}: {result}"));
    }
    if result == StopResult::ContainerLeft {
        terminal::advise("", format!("remove its container: retrial clean {id}"));
    }
    // The process that stops it was interrupted itself.
    Ok(ExitCode::Interrupted.success_if(result != StopResult::Detached))
}

/// Stops the process that follows a batch, or the runs that continue without one.
fn stop_batch(
    global: &GlobalOptions,
    directory: &Own<RecordDirectory>,
) -> Result<StopResult, Failure> {
    let id = directory.id();
    if BatchRecord::site_name(&global.home, id).is_some() {
        return runtime::start_runtime()?.block_on(array::stop_arrays(global, directory));
    }
    let was_followed = stop_follower(directory)?;
    let state = read_state(directory)?;
    // A process that had just started may have ended at once.
    if was_followed && state.final_exit_code.is_some() {
        return Ok(StopResult::Stopped);
    }
    let open_runs = state.open_runs();
    for run in &open_runs {
        let directory = Own::require_run(&global.home, global.home.find_run(run)?)?;
        let result = stop_run(global, directory)?;
        terminal::print_note(&format!("{run}: {result}"));
    }
    Ok(if open_runs.is_empty() && !was_followed {
        StopResult::NothingRunning
    } else {
        StopResult::Stopped
    })
}

/// Has the process that follows it stop it. False where there is none.
fn stop_follower(record: &RecordDirectory) -> Result<bool, Failure> {
    let id = record.id();
    let since = Instant::now();
    let mut terminated: Option<LockHolder> = None;
    while let Some(holder) = FileLock::find_holder(&record.lock_path()) {
        if terminated.as_ref() != Some(&holder) {
            match terminate_holder(id, &holder) {
                // The next process has not written itself into the file yet.
                Err(StopRefusal::Ended(_)) if since.elapsed() < STALE_HOLDER_TIMEOUT => {}
                signalled => {
                    signalled.map_err(StopRefusal::into_failure)?;
                    terminated = Some(holder.clone());
                }
            }
        }
        if since.elapsed() > FOLLOWER_STOP_TIMEOUT {
            return Err(Failure::host(format!(
                "{id}: {holder} still follows it after {} s",
                FOLLOWER_STOP_TIMEOUT.as_secs()
            )));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(terminated.is_some())
}

/// Refuses a run whose container is on another machine that shares the home: its engine is not this one's.
fn refuse_other_host(id: &str, state: &JournalState) -> Result<(), Failure> {
    let process = state.process.as_ref();
    let other_host = process.and_then(ProcessIdentity::other_host_name);
    let host = other_host.filter(|_| state.container.is_some());
    host.map_or(Ok(()), |host| {
        Err(Failure::host(format!("{id}: no process follows it, and its container is on {host}"))
            .with_help(format!("run `retrial stop {id}` on {host}")))
    })
}

/// Why the process that follows a run was not signalled.
enum StopRefusal {
    /// The process that the lock names has ended, but the lock is held.
    Ended(Failure),
    /// It is on another machine or in another namespace, or the signal was refused.
    Other(Failure),
}

impl StopRefusal {
    fn into_failure(self) -> Failure {
        match self {
            Self::Ended(failure) | Self::Other(failure) => failure,
        }
    }
}

/// Signals the holder of a lock to end, if it is a process of this machine that cannot be mistaken for another.
fn terminate_holder(id: &str, holder: &LockHolder) -> Result<(), StopRefusal> {
    let Some(process) = &holder.process else {
        let reason = format!("{id}: a process follows it, and its lock file does not name it");
        return Err(StopRefusal::Ended(Failure::host(reason)));
    };
    process.terminate().map_err(|error| {
        let help = match &error {
            SignalError::Refused(SignalRefusal::OtherMachine) => {
                format!("run `retrial stop {id}` on {}", process.host)
            }
            SignalError::Refused(SignalRefusal::OtherNamespace) => {
                format!("run `retrial stop {id}` in the container that executes the run")
            }
            SignalError::Refused(SignalRefusal::Ended) => {
                format!("find who has its directory open: `fuser -v` on its `lock`, then resume it: retrial resume {id}")
            }
            SignalError::Kernel(_) => format!("run `retrial stop {id}` as the user of that process"),
        };
        let failure = Failure::host(format!("{id}: {process} follows it and was not signalled: {error}")).with_help(help);
        match error {
            SignalError::Refused(SignalRefusal::Ended) => StopRefusal::Ended(failure),
            _ => StopRefusal::Other(failure),
        }
    })
}

fn stop_run(global: &GlobalOptions, directory: Own<RunDirectory>) -> Result<StopResult, Failure> {
    if is_submitted(&directory) {
        return site::stop_run(global, &directory);
    }
    let id = directory.id().to_owned();
    // Its process is on a node: the pid in its lock is a pid of that node.
    let plan: Option<Plan> = directory.read_json("plan.json").ok();
    let batch = plan.and_then(|plan| plan.batch).map(|batch| batch.id);
    let is_on_site = |batch: &String| BatchRecord::site_name(&global.home, batch).is_some();
    if let Some(batch) = batch.filter(is_on_site) {
        return Err(Failure::usage(format!("{id} is a run of a batch on a site"))
            .with_help(format!("stop all of it: retrial stop {batch}")));
    }
    let was_followed = stop_follower(directory.record())?;
    let state = directory.read_state()?;
    // A process that had just started may have ended at once: then this one ends the benchmark.
    if state.over.is_some() {
        return Ok(match state.container {
            _ if was_followed => StopResult::Stopped,
            Some(_) => StopResult::ContainerLeft,
            None => StopResult::AlreadyEnded,
        });
    }
    refuse_other_host(&id, &state)?;
    runtime::start_runtime()?.block_on(async {
        let engine = open::connect_engine(global).await?;
        let (events, incoming) = unbounded_channel();
        drop(incoming);
        let directory = directory.into_directory();
        let session = follow::open_session(global, engine, directory, events, false).await?;
        session.stop.cancel();
        execute_plan(&session).await?;
        Ok(StopResult::Stopped)
    })
}
