//! Whoever watches a batch: a line for each run, and the current run's own progress on a terminal.

use std::io::{IsTerminal, Write};
use std::thread::JoinHandle;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::app::options::{GlobalOptions, Output};
use crate::app::terminal;
use crate::app::watch::{Reporter, brief, reporter};
use crate::batch::BatchPlan;
use crate::batch::journal::{BatchEvent, BatchWhat};
use crate::batch::run::{Seen, workers};
use crate::report::progress::batch::Lines;

/// Shows what happens until there is nothing more.
pub fn watch(
    global: &GlobalOptions,
    plan: &BatchPlan,
    mut incoming: UnboundedReceiver<Seen>,
) -> JoinHandle<()> {
    let workers = workers(plan).len();
    // Of several runs at once, one view cannot show the progress.
    let live = workers == 1 && std::io::stderr().is_terminal();
    let mut watching = Watching {
        global: global.clone(),
        live,
        lines: Lines::new(plan.clone(), workers).with_beginnings(live || global.verbose),
        run: None,
        waiting: Vec::new(),
    };
    std::thread::spawn(move || {
        while let Some(seen) = incoming.blocking_recv() {
            match seen {
                Seen::Batch(event) => watching.batch(&event),
                Seen::Run { event, .. } => {
                    if let Some(run) = &mut watching.run {
                        run.event(&event);
                    }
                }
            }
        }
        watching.between_runs();
    })
}

struct Watching {
    global: GlobalOptions,
    /// The current run's progress is drawn on a terminal.
    live: bool,
    lines: Lines,
    /// The current run's reporter, where one is shown.
    run: Option<Box<dyn Reporter>>,
    /// Lines that wait for the end of the current run's view.
    waiting: Vec<String>,
}

impl Watching {
    fn batch(&mut self, event: &BatchEvent) {
        let lines = self.lines.take(event);
        // As with one run: quiet, only the verdict is printed.
        if self.global.output == Output::Json && !self.global.quiet {
            if let Ok(line) = serde_json::to_string(event) {
                terminal::print(&format!("{line}\n"));
            }
            return;
        }
        let ends = matches!(event.what, BatchWhat::TrialRunEnded { .. });
        if ends {
            self.between_runs();
        }
        if !self.global.quiet || matches!(event.what, BatchWhat::Warning { .. }) {
            self.waiting.extend(lines);
        }
        if self.run.is_none() || !self.live {
            self.write();
        }
        if matches!(
            event.what,
            BatchWhat::TrialRunBegan { .. } | BatchWhat::TrialRunReattached { .. }
        ) {
            self.run = Some(self.reporter());
        }
    }

    /// One run's, between whose lines it stands.
    fn reporter(&self) -> Box<dyn Reporter> {
        let GlobalOptions { quiet, verbose, .. } = self.global;
        if self.live && !quiet && !verbose {
            return brief(!terminal::error_color());
        }
        // Where no terminal is, every step only where that is asked.
        reporter(
            false,
            quiet || !verbose,
            verbose,
            self.live,
            !terminal::error_color(),
        )
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
        let mut text = self.waiting.join("\n");
        text.push('\n');
        self.waiting.clear();
        let mut err = std::io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}
