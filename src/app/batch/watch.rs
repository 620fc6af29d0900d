//! Shows a batch: a line for each run, and on a terminal the progress of the current one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::thread::JoinHandle;

use itertools::join;
use jiff::Timestamp;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::watch::{Reporter, reporter};
use crate::app::{estimate, terminal};
use retrial_batch::BatchPlan;
use retrial_batch::journal::{BatchEvent, BatchEventKind};
use retrial_batch::run::{ProgressEvent, assign_workers};
use retrial_history::entry;
use retrial_plan::Plan;
use retrial_plan::remaining::StepTimes;
use retrial_report::progress::batch::PlainBatchProgress;
use retrial_report::progress::remaining_time::RemainingTime;
use retrial_report::terminal::wrap::wrap_words;
use retrial_store::journal::{Event, EventKind, StepEnd, StepFault};

/// Shows what happens, until the last event.
pub fn watch(
    global: &GlobalOptions,
    plan: &BatchPlan,
    plans: BTreeMap<usize, Plan>,
    mut incoming: UnboundedReceiver<ProgressEvent>,
) -> JoinHandle<()> {
    let (global, plan) = (global.clone(), plan.clone());
    std::thread::spawn(move || {
        let mut display = BatchDisplay::new(global, plan, plans);
        while let Some(progress) = incoming.blocking_recv() {
            match progress {
                ProgressEvent::Batch(event) => display.batch(&event),
                ProgressEvent::Run { event, .. } => display.run(&event),
            }
        }
        display.between_runs();
    })
}

struct BatchDisplay {
    global: GlobalOptions,
    /// The current run's progress is drawn on a terminal.
    live: bool,
    lines: PlainBatchProgress,
    /// The current run's reporter, where one is shown.
    run: Option<Box<dyn Reporter>>,
    /// A run of each cell, before it begins.
    cells: BTreeMap<usize, RemainingTime>,
    /// Failures of the host that a step of an earlier run reported.
    reported: BTreeSet<String>,
    /// Lines that wait for the end of the current run's view.
    waiting: Vec<String>,
}

impl BatchDisplay {
    /// A batch with the plan of a run of each cell.
    fn new(global: GlobalOptions, plan: BatchPlan, plans: BTreeMap<usize, Plan>) -> Self {
        let workers = assign_workers(&plan).len();
        // Earlier runs are read while the batch begins.
        let mut index = entry::open(&global.home);
        let cells = plans.into_iter().map(|(cell, plan)| {
            let remaining = estimate::of_plan(&mut index, plan, StepTimes::default());
            (cell, remaining)
        });
        let cells: BTreeMap<usize, RemainingTime> = cells.collect();
        let now = Timestamp::now();
        let expected = cells.iter();
        let expected =
            expected.filter_map(|(cell, remaining)| Some((*cell, remaining.estimate_at(now)?)));
        let expected = expected.collect();
        Self {
            // One view cannot show the progress of several runs.
            live: workers == 1 && std::io::stderr().is_terminal(),
            lines: PlainBatchProgress::new(plan, workers, global.verbose, expected),
            run: None,
            cells,
            reported: BTreeSet::new(),
            waiting: Vec::new(),
            global,
        }
    }

    fn batch(&mut self, event: &BatchEvent) {
        let lines = self.lines.report_event(event);
        // Quiet prints only the verdict, as for a single run.
        if self.global.output == OutputFormat::Json && !self.global.quiet {
            return terminal::print_json(event);
        }
        if matches!(event.what, BatchEventKind::TrialRunEnded { .. }) {
            self.between_runs();
        }
        if !self.global.quiet || matches!(event.what, BatchEventKind::Warning { .. }) {
            self.waiting.extend(lines);
        }
        if self.run.is_none() || !self.live {
            self.write();
        }
        if let BatchEventKind::TrialRunStarted { trial_run, .. }
        | BatchEventKind::TrialRunReattached { trial_run, .. } = event.what
        {
            let overall = Some(self.lines.overall_progress(trial_run));
            let cell = self.lines.cell_of_trial_run(trial_run);
            let remaining = cell.and_then(|cell| self.cells.get(&cell));
            let remaining = remaining.cloned().unwrap_or_default();
            self.run = Some(reporter(&self.global, overall, remaining, self.live));
        }
    }

    /// An event of the current run; a failure of the host is shown once, not for every run.
    fn run(&mut self, event: &Event) {
        if let EventKind::StepEnded {
            end:
                StepEnd::Failed {
                    fault: StepFault::Host,
                    reason,
                    ..
                },
            ..
        } = &event.what
            && !self.reported.insert(reason.clone())
            && !self.live
            && self.global.output != OutputFormat::Json
        {
            return;
        }
        if let Some(run) = &mut self.run {
            run.event(event);
        }
    }

    fn between_runs(&mut self) {
        if let Some(mut run) = self.run.take() {
            run.finish();
        }
        self.write();
    }

    fn write(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let mut err = std::io::stderr().lock();
        // A terminal would break a line within a word.
        let width = terminal_size::terminal_size_of(&err).map(|(width, _)| width.0.into());
        let lines = self.waiting.drain(..).flat_map(|line| match width {
            Some(width) => wrap_words(&line, width, 4),
            None => vec![line],
        });
        let text = join(lines, "\n") + "\n";
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}
