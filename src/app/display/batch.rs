//! Shows a batch: a line for each run, and on a terminal the progress of the current one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::thread::JoinHandle;

use itertools::join;
use jiff::Timestamp;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{Reporter, create_reporter};
use crate::app::options::{GlobalOptions, OutputFormat};
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

/// Shows a batch, until the last event. `plans` has the plan of a run of each cell, where its times are to be estimated.
pub fn show_batch(
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
                ProgressEvent::Batch(event) => display.report_batch_event(&event),
                ProgressEvent::Run { event, .. } => display.report_run_event(&event),
            }
        }
        display.finish_run();
    })
}

struct BatchDisplay {
    global: GlobalOptions,
    /// The current run's progress is drawn on a terminal.
    is_live: bool,
    lines: PlainBatchProgress,
    /// The current run's reporter, where one is shown.
    run_reporter: Option<Box<dyn Reporter>>,
    /// A run of each cell, before it begins.
    cells: BTreeMap<usize, RemainingTime>,
    /// Failures of the host that a step of an earlier run reported.
    reported_faults: BTreeSet<String>,
    /// Lines that wait for the end of the current run's view.
    waiting_lines: Vec<String>,
}

impl BatchDisplay {
    /// A batch with the plan of a run of each cell.
    fn new(global: GlobalOptions, plan: BatchPlan, plans: BTreeMap<usize, Plan>) -> Self {
        let worker_count = assign_workers(&plan).len();
        // Earlier runs are read while the batch begins.
        let mut index = entry::open_index(&global.home);
        let estimates = plans.into_iter().map(|(cell, plan)| {
            let remaining = estimate::estimate_plan(&mut index, plan, StepTimes::default());
            (cell, remaining)
        });
        let cells: BTreeMap<usize, RemainingTime> = estimates.collect();
        let now = Timestamp::now();
        let durations =
            cells.iter().filter_map(|(cell, remaining)| Some((*cell, remaining.estimate_at(now)?)));
        let expected = durations.collect();
        Self {
            // One view cannot show the progress of several runs.
            is_live: worker_count == 1 && std::io::stderr().is_terminal(),
            lines: PlainBatchProgress::new(plan, worker_count, global.verbose, expected),
            run_reporter: None,
            cells,
            reported_faults: BTreeSet::new(),
            waiting_lines: Vec::new(),
            global,
        }
    }

    fn report_batch_event(&mut self, event: &BatchEvent) {
        let lines = self.lines.report_event(event);
        // Quiet prints only the verdict, as for a single run.
        if self.global.output == OutputFormat::Json && !self.global.quiet {
            return terminal::print_json(event);
        }
        if matches!(event.what, BatchEventKind::TrialRunEnded { .. }) {
            self.finish_run();
        }
        let is_for_all =
            matches!(event.what, BatchEventKind::Warning { .. } | BatchEventKind::Live(_));
        if !self.global.quiet || is_for_all {
            self.waiting_lines.extend(lines);
        }
        if self.run_reporter.is_none() || !self.is_live {
            self.flush_lines();
        }
        if let BatchEventKind::TrialRunStarted { trial_run, .. }
        | BatchEventKind::TrialRunReattached { trial_run, .. } = event.what
        {
            let overall = Some(self.lines.overall_progress(trial_run));
            let cell = self.lines.cell_of_trial_run(trial_run);
            let cell_estimate = cell.and_then(|cell| self.cells.get(&cell));
            let remaining = cell_estimate.cloned().unwrap_or_default();
            self.run_reporter =
                Some(create_reporter(&self.global, overall, remaining, self.is_live));
        }
    }

    /// An event of the current run; a failure of the host is shown once, not for every run.
    fn report_run_event(&mut self, event: &Event) {
        if let EventKind::StepEnded {
            end: StepEnd::Failed { fault: StepFault::Host, reason, .. },
            ..
        } = &event.what
            && !self.reported_faults.insert(reason.clone())
            && !self.is_live
            && self.global.output != OutputFormat::Json
        {
            return;
        }
        if let Some(run) = &mut self.run_reporter {
            run.report_event(event);
        }
    }

    fn finish_run(&mut self) {
        if let Some(mut run) = self.run_reporter.take() {
            run.finish();
        }
        self.flush_lines();
    }

    fn flush_lines(&mut self) {
        if self.waiting_lines.is_empty() {
            return;
        }
        let mut err = std::io::stderr().lock();
        // A terminal would break a line within a word.
        let width = terminal_size::terminal_size_of(&err).map(|(width, _)| width.0.into());
        let lines = self.waiting_lines.drain(..).flat_map(|line| match width {
            Some(width) => wrap_words(&line, width, 4),
            None => vec![line],
        });
        let text = join(lines, "\n") + "\n";
        // A terminal that is gone does not end the batch.
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}
