//! Shows a batch whose runs are jobs: a line for each of its events, and how many tasks wait and run.

use std::collections::BTreeMap;

use super::waiting_line::WaitingLine;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::terminal;
use retrial_batch::BatchPlan;
use retrial_batch::journal::BatchEvent;
use retrial_cluster::slurm::JobPhase;
use retrial_document::measures::format::format_count;
use retrial_report::progress::batch::PlainBatchProgress;

/// Prints the events of a batch's arrays, and the number of their tasks in each phase.
pub struct ArrayDisplay {
    lines: PlainBatchProgress,
    waiting: WaitingLine,
    is_json: bool,
}

impl ArrayDisplay {
    /// Shows events in the format of the command line; nothing if it is silent.
    pub fn new(global: &GlobalOptions, plan: &BatchPlan, is_silent: bool) -> Self {
        Self {
            // Times of earlier runs on this host do not apply to the nodes.
            lines: PlainBatchProgress::new(plan.clone(), 1, false, BTreeMap::new()),
            waiting: WaitingLine::new(global.quiet || is_silent),
            is_json: global.output == OutputFormat::Json,
        }
    }

    /// Prints an event, as a line or as JSON.
    pub fn report_event(&mut self, event: &BatchEvent) {
        let lines = self.lines.report_event(event);
        if self.waiting.is_quiet {
            return;
        }
        if self.is_json {
            return terminal::print_json(event);
        }
        for line in &lines {
            self.waiting.print_note(line);
        }
    }

    /// Shows how many tasks wait and run; nothing once all have ended.
    pub fn show_tasks(&mut self, phases: &[JobPhase]) {
        let in_phase = |phase| phases.iter().filter(|other| **other == phase).count();
        let (waiting, active) = (in_phase(JobPhase::Pending), in_phase(JobPhase::Running));
        let all = phases.len();
        self.lines.set_workers(active);
        if waiting + active == 0 {
            return;
        }
        let text = format!(
            "{} of {} ended, {active} running, {waiting} pending",
            all - waiting - active,
            format_count(all, "task")
        );
        // A log has a line when tasks start to run, and when none runs any more.
        self.waiting.show_status(&text, (active > 0).to_string());
    }

    /// Writes a line that stays.
    pub fn print_note(&mut self, text: &str) {
        self.waiting.print_note(text);
    }

    /// Erases the line of the tasks.
    pub fn finish(&mut self) {
        self.waiting.clear();
    }
}
