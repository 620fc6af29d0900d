//! `retrial stop`: ends a run's benchmark and keeps its evidence.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc::unbounded_channel;

use crate::app::batch::array;
use crate::app::batch::record::BatchRecord;
use crate::app::failure::Failure;
use crate::app::open::{self, RunOrBatch};
use crate::app::options::GlobalOptions;
use crate::app::{follow, runtime, site, terminal};
use retrial_batch::run::read_state;
use retrial_plan::Plan;
use retrial_results::verdict::ExitCode;
use retrial_run::execute;
use retrial_store::lock::FileLock;
use retrial_store::{Record, RunDirectory};

/// How long a process that follows a run may take to stop it.
const PATIENCE: Duration = Duration::from_mins(1);

/// Stops a run or a batch: through the process that follows it, or in its place.
pub fn stop(global: &GlobalOptions, name: &str) -> Result<ExitCode, Failure> {
    match open::run_or_batch(&global.home, name)? {
        RunOrBatch::Run(directory) => stop_run(global, directory),
        RunOrBatch::Batch(directory) => stop_batch(global, &directory),
    }
}

/// Stops the process that follows a batch, or the runs that continue without one.
fn stop_batch(global: &GlobalOptions, directory: &Record) -> Result<ExitCode, Failure> {
    let id = directory.id();
    if BatchRecord::site_of(&global.home, id).is_some() {
        return runtime::runtime()?.block_on(array::stop(global, directory));
    }
    if stop_follower(directory)? {
        return Ok(ExitCode::Success);
    }
    let state = read_state(directory)?;
    let going = state.running();
    for run in &going {
        stop_run(global, global.home.find(run)?)?;
    }
    if going.is_empty() {
        terminal::note(&format!("{id}: none of its runs is running"));
    }
    Ok(ExitCode::Success)
}

/// Has the process that follows it stop it. False where there is none.
fn stop_follower(record: &Record) -> Result<bool, Failure> {
    let id = record.id();
    let Some(holder) = FileLock::holder(&record.lock()) else {
        return Ok(false);
    };
    let pid = i32::try_from(holder).ok().and_then(Pid::from_raw);
    let Some(pid) = pid else {
        return Err(Failure::host(format!(
            "{id}: its lock file names no process"
        )));
    };
    kill_process(pid, Signal::TERM).map_err(|error| {
        Failure::host(format!(
            "{id}: failed to signal process {holder}, which follows it: {error}"
        ))
    })?;
    let since = Instant::now();
    while FileLock::holder(&record.lock()).is_some() {
        if since.elapsed() > PATIENCE {
            return Err(Failure::host(format!(
                "{id}: process {holder} still follows it after {} s",
                PATIENCE.as_secs()
            )));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    terminal::note(&format!("{id}: stopped"));
    Ok(true)
}

fn stop_run(global: &GlobalOptions, directory: RunDirectory) -> Result<ExitCode, Failure> {
    if site::is_submitted(&directory) {
        return site::stop(global, &directory);
    }
    let id = directory.id().to_owned();
    // Its process is on a node: the pid in its lock is none of this machine's.
    let plan: Option<Plan> = directory.read_json("plan.json").ok();
    let batch = plan.and_then(|plan| plan.batch).map(|batch| batch.id);
    let of_site = |batch: &String| BatchRecord::site_of(&global.home, batch).is_some();
    if let Some(batch) = batch.filter(of_site) {
        return Err(Failure::usage(format!(
            "{id} is a run of a batch on a site\n  stop all of it: retrial stop {batch}"
        )));
    }
    if stop_follower(&directory)? {
        return Ok(ExitCode::Success);
    }
    let state = directory.state()?;
    if state.over.is_some() {
        let container = if state.container.is_some() {
            format!("; its container still exists: retrial clean {id}")
        } else {
            String::new()
        };
        terminal::note(&format!("{id}: already ended{container}"));
        return Ok(ExitCode::Success);
    }
    open::check_not_imported(&directory)?;
    runtime::runtime()?.block_on(async {
        let engine = open::engine(global).await?;
        let (events, incoming) = unbounded_channel();
        drop(incoming);
        let session = follow::session(global, engine, directory, events, false).await?;
        session.stop.cancel();
        execute(&session).await?;
        terminal::note(&format!("{id}: stopped"));
        Ok(ExitCode::Success)
    })
}
