//! Shows a run or a batch that another process executes, as that process would, until it ends.
//!
//! The events are read from journals, outputs and telemetry. The run is not changed: `attach` may end at any time, and
//! the run continues.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::app::options::GlobalOptions;
use crate::app::{display, terminal};
use retrial_batch::BatchPlan;
use retrial_batch::journal::{BatchEvent, BatchEventKind};
use retrial_batch::run::ProgressEvent;
use retrial_cluster::job::incoming_file::IncomingFile;
use retrial_cluster::job::run_events::RunEvents;
use retrial_store::lock::FileLock;
use retrial_store::{RecordDirectory, RunDirectory};

/// The time between two looks at the files of a run.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Shows a run until no process follows it. If none does, it only prints that the run is not running.
pub fn show_run(global: &GlobalOptions, run: &RunDirectory) {
    if FileLock::find_holder(&run.lock_path()).is_none() {
        return note_without_follower(global, run.record());
    }
    note_how_to_leave(global, run.record());
    let (sender, incoming) = unbounded_channel();
    let shown = display::show_run(global, run, incoming);
    let mut events = RunEvents::open_at(run, 0, global.verbose);
    while_followed(&run.lock_path(), || {
        // The display ends with this function only.
        events.poll().into_iter().for_each(|event| drop(sender.send(event)));
    });
    drop(sender);
    // A display that panicked does not change the verdict.
    let _ = shown.join();
}

/// Shows a batch until no process follows it. If none does, it only prints that the batch is not running.
pub fn show_batch(global: &GlobalOptions, directory: &RecordDirectory, plan: &BatchPlan) {
    if FileLock::find_holder(&directory.lock_path()).is_none() {
        return note_without_follower(global, directory);
    }
    note_how_to_leave(global, directory);
    let (events, incoming) = unbounded_channel();
    let shown = display::show_batch(global, plan, BTreeMap::new(), incoming);
    let mut journal = IncomingFile::open_at(directory.journal_path(), 0);
    let mut runs: BTreeMap<usize, RunEvents> = BTreeMap::new();
    while_followed(&directory.lock_path(), || {
        for event in journal.poll::<BatchEvent>() {
            show_batch_event(global, event, &mut runs, &events);
        }
        send_run_events(&mut runs, &events);
    });
    drop(events);
    // A display that panicked does not change the verdict.
    let _ = shown.join();
}

/// Reads files at intervals, until no process has this lock; then once more.
fn while_followed(lock: &Path, mut read: impl FnMut()) {
    loop {
        // Determined before reading: what was written until then is read in this iteration.
        let is_followed = FileLock::find_holder(lock).is_some();
        read();
        if !is_followed {
            break;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Sends an event of a batch to its display, with the events of the run that it starts or ends.
fn show_batch_event(
    global: &GlobalOptions,
    event: BatchEvent,
    runs: &mut BTreeMap<usize, RunEvents>,
    display: &UnboundedSender<ProgressEvent>,
) {
    let mut started = None;
    match &event.what {
        BatchEventKind::TrialRunStarted { trial_run, run, .. }
        | BatchEventKind::TrialRunReattached { trial_run, run } => {
            let directory = global.home.find_run(run).ok();
            started = directory.map(|run| {
                let events = RunEvents::open_at(&run, 0, global.verbose);
                (*trial_run, events)
            });
        }
        BatchEventKind::TrialRunEnded { trial_run, .. } => {
            if let Some(mut ended) = runs.remove(trial_run) {
                send_events(*trial_run, &mut ended, display);
            }
        }
        _ => {}
    }
    // The display ends with this function's caller only.
    let _ = display.send(ProgressEvent::Batch(event));
    runs.extend(started);
}

fn send_run_events(
    runs: &mut BTreeMap<usize, RunEvents>,
    display: &UnboundedSender<ProgressEvent>,
) {
    for (trial_run, events) in runs {
        send_events(*trial_run, events, display);
    }
}

fn send_events(trial_run: usize, events: &mut RunEvents, display: &UnboundedSender<ProgressEvent>) {
    for event in events.poll() {
        // As above.
        let _ = display.send(ProgressEvent::Run { trial_run, event });
    }
}

/// Prints that it is not running; the caller prints the verdict next.
pub fn note_without_follower(global: &GlobalOptions, directory: &RecordDirectory) {
    if !global.quiet {
        let id = directory.id();
        terminal::print_note(&format!("{id} is not running; its verdict:"));
    }
}

fn note_how_to_leave(global: &GlobalOptions, directory: &RecordDirectory) {
    if !global.quiet {
        let stop = format!("stop it: {} stop {}", global.home.command_prefix(), directory.id());
        terminal::advise("attached; Ctrl-C leaves it running", stop);
    }
}
