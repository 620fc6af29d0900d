//! Shows a job: a line while it waits, then the run's events as those of a run in this process.

use super::waiting_line::WaitingLine;
use super::{Reporter, run_reporter};
use crate::app::options::GlobalOptions;
use retrial_cluster::slurm::Job;
use retrial_store::RunDirectory;
use retrial_store::journal::{Event, EventKind};

/// Prints or draws a job: its place in the queue, then the events of its run.
pub struct JobDisplay<'a> {
    global: &'a GlobalOptions,
    run: &'a RunDirectory,
    waiting: WaitingLine,
    reporter: Option<Box<dyn Reporter>>,
    is_silent: bool,
}

impl<'a> JobDisplay<'a> {
    /// Shows events in the format of the command line; nothing if it is silent.
    pub fn new(global: &'a GlobalOptions, run: &'a RunDirectory, is_silent: bool) -> Self {
        Self {
            global,
            run,
            waiting: WaitingLine::new(global.quiet || is_silent),
            reporter: None,
            is_silent,
        }
    }

    /// Shows the position of a job in the queue.
    pub fn show_waiting(&mut self, job: &Job, position: Option<(usize, usize)>) {
        self.waiting.show_job(job, position);
    }

    /// Shows an event; none before the run begins, since earlier failures are reported at the end.
    pub fn report_event(&mut self, event: &Event) {
        if self.is_silent {
            return;
        }
        if self.reporter.is_none() && matches!(event.what, EventKind::RunStarted { .. }) {
            self.waiting.clear();
            self.reporter = Some(run_reporter(self.global, self.run));
        }
        if let Some(reporter) = &mut self.reporter {
            reporter.report_event(event);
        }
    }

    /// Shows a message: among the run's events once there are any.
    pub fn print_note(&mut self, text: &str) {
        let Some(reporter) = &mut self.reporter else {
            self.waiting.print_note(text);
            return;
        };
        let text = text.to_owned();
        reporter.report_event(&Event::new("local", None, EventKind::Warning { text }));
    }

    /// Erases the line of a waiting job, and ends the run's view.
    pub fn finish(&mut self) {
        self.waiting.clear();
        if let Some(reporter) = &mut self.reporter {
            reporter.finish();
        }
    }
}
