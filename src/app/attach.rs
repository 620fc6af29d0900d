//! Shows a run or a batch that another process executes, as that process would, until it ends.
//!
//! The events are read from journals and outputs. Nothing of the run is changed: whoever attaches may leave at any
//! time, and the run continues.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{IsTerminal as _, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{batch, estimate, terminal, watch};
use retrial_batch::BatchPlan;
use retrial_batch::journal::{BatchEvent, BatchEventKind};
use retrial_batch::run::ProgressEvent;
use retrial_cluster::job::incoming_journal::{IncomingJournal, MAX_POLL_BYTES};
use retrial_plan::Plan;
use retrial_readings::lines::LineSplitter;
use retrial_store::journal::{Event, EventKind};
use retrial_store::lock::FileLock;
use retrial_store::open::open_beneath;
use retrial_store::{RecordDirectory, RunDirectory};

/// The time between two looks at the files of a run.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How long a background process may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(2);
/// The file of a step's output, in the step's directory.
const OUTPUT_FILE: &str = "output.log";

/// Shows a run until no process follows it; nothing if none does.
pub fn show_run(global: &GlobalOptions, run: &RunDirectory) -> Result<(), Failure> {
    if !has_follower(run.record()) {
        return Ok(());
    }
    note_how_to_leave(global, run.record());
    let remaining = estimate::estimate_run(global, run);
    let is_terminal = std::io::stderr().is_terminal();
    let mut reporter = watch::create_reporter(global, None, remaining, is_terminal);
    let mut events = RunEvents::open(run)?;
    loop {
        // Determined before reading: what was written until then is read in this iteration.
        let is_followed = FileLock::find_holder(&run.lock_path()).is_some();
        for event in events.poll() {
            reporter.report_event(&event);
        }
        if !is_followed {
            break;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    reporter.finish();
    Ok(())
}

/// Shows a batch until no process follows it; nothing if none does.
pub fn show_batch(global: &GlobalOptions, directory: &RecordDirectory, plan: &BatchPlan) {
    if !has_follower(directory) {
        return;
    }
    note_how_to_leave(global, directory);
    let (events, incoming) = unbounded_channel();
    let watcher = batch::watch::spawn_watcher(global, plan, BTreeMap::new(), incoming);
    let mut journal = IncomingJournal::open_at(directory.journal_path(), 0);
    let mut runs: BTreeMap<usize, RunEvents> = BTreeMap::new();
    loop {
        let is_followed = FileLock::find_holder(&directory.lock_path()).is_some();
        for event in journal.poll::<BatchEvent>() {
            show_batch_event(global, event, &mut runs, &events);
        }
        send_run_events(&mut runs, &events);
        if !is_followed {
            break;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    drop(events);
    // A display that panicked does not change the verdict.
    let _ = watcher.join();
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
            let run_events = directory.and_then(|directory| RunEvents::open(&directory).ok());
            started = run_events.map(|run_events| (*trial_run, run_events));
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

/// Returns whether a process executes it, or starts to within a moment: a run that was detached just now has none yet.
fn has_follower(directory: &RecordDirectory) -> bool {
    let since = Instant::now();
    loop {
        if FileLock::find_holder(&directory.lock_path()).is_some() {
            return true;
        }
        if since.elapsed() > START_TIMEOUT {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn note_how_to_leave(global: &GlobalOptions, directory: &RecordDirectory) {
    if !global.quiet {
        let stop = format!(
            "stop it: {} stop {}",
            global.home.command_prefix(),
            directory.id()
        );
        terminal::advise("attached; Ctrl-C leaves it running", stop);
    }
}

/// The events of a run that another process writes: those of its journal, and lines of the output of its step.
struct RunEvents {
    directory: RunDirectory,
    plan: Plan,
    journal: IncomingJournal,
    output: Option<StepOutput>,
}

/// The output of the step under way.
struct StepOutput {
    /// The event that started it.
    started: Event,
    file: Option<File>,
    splitter: LineSplitter,
}

impl RunEvents {
    fn open(run: &RunDirectory) -> Result<Self, Failure> {
        Ok(Self {
            directory: run.clone(),
            plan: run.read_json("plan.json")?,
            journal: IncomingJournal::open_at(run.journal_path(), 0),
            output: None,
        })
    }

    /// Returns the events since the last call.
    fn poll(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        for event in self.journal.poll::<Event>() {
            match &event.what {
                EventKind::StepStarted { .. } | EventKind::StepReattached { .. } => {
                    self.output = Some(StepOutput {
                        started: event.clone(),
                        file: None,
                        splitter: LineSplitter::new(),
                    });
                }
                EventKind::StepEnded { .. } => {
                    events.extend(self.poll_output());
                    self.output = None;
                }
                _ => {}
            }
            events.push(event);
        }
        events.extend(self.poll_output());
        events
    }

    /// Returns an event for each new line of the output of the step under way.
    fn poll_output(&mut self) -> Vec<Event> {
        let Some(output) = &mut self.output else {
            return Vec::new();
        };
        if output.file.is_none() {
            let number = output.started.step;
            let mut steps = self.plan.steps.iter();
            let step = steps.find(|step| Some(step.number) == number);
            output.file = step.and_then(|step| {
                let path = self.directory.steps_directory().join(step.directory_name());
                open_beneath(&path, Path::new(OUTPUT_FILE)).ok()
            });
        }
        let Some(file) = &mut output.file else {
            return Vec::new();
        };
        let mut bytes = Vec::new();
        // An output that cannot be read is not shown: the step itself reports the fault.
        let _ = file.take(MAX_POLL_BYTES).read_to_end(&mut bytes);
        let mut lines = Vec::new();
        let started = &output.started;
        output.splitter.push(&bytes, |line| {
            let what = EventKind::Output {
                line: line.text.into_owned(),
            };
            lines.push(Event {
                what,
                ..started.clone()
            });
        });
        lines
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::app::planted::plan_one_measurement;
    use retrial_store::Home;

    /// A run of one measurement, whose journal and output another process writes.
    fn plant_run(home: &Home) -> (RunDirectory, u32, String) {
        let plan = plan_one_measurement();
        let run = home.create_run_directory("planted").unwrap();
        run.record().write_json("plan.json", &plan).unwrap();
        let mut steps = plan.steps.iter();
        let step = steps.find(|step| step.measurement_and_trial().is_some());
        let step = step.unwrap();
        (run, step.number, step.name.clone())
    }

    #[test]
    fn events_and_output_are_read_as_they_are_written() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::from_root(directory.path().to_owned());
        let (run, number, name) = plant_run(&home);
        let mut journal = File::create(run.journal_path()).unwrap();
        let mut write = |what: EventKind| {
            let mut event = Event::new("local", None, what);
            event.step = Some(number);
            event.name = Some(name.clone());
            let line = serde_json::to_string(&event).unwrap();
            writeln!(journal, "{line}").unwrap();
        };
        let mut events = RunEvents::open(&run).unwrap();
        assert!(events.poll().is_empty());
        write(EventKind::StepStarted {
            summary: "measure".to_owned(),
            timeout_s: None,
        });
        assert_eq!(events.poll().len(), 1);
        let output = run.steps_directory().join(format!("{number:02}-{name}"));
        std::fs::create_dir_all(&output).unwrap();
        std::fs::write(output.join(OUTPUT_FILE), "part 1\npart 2\npar").unwrap();
        let lines: Vec<String> = events
            .poll()
            .into_iter()
            .map(|event| match event.what {
                EventKind::Output { line } => line,
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(lines, ["part 1", "part 2"]);
    }
}
