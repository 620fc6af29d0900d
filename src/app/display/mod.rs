//! Shows what happens in a run or a batch, as its events come: from this process, from the journals of another one
//! (`attach`), or from those of jobs (`site`, `batch::array`).
//!
//! - One [`Reporter`] shows the events of a run. `lines` are plain lines or failures on standard error, or JSON on
//!   standard output. `live` is one view on the terminal: indicatif draws its `bars`, and `screen` is the terminal
//!   that it draws on.
//! - `batch` shows a batch, with a reporter for the run under way; `array` one whose runs are jobs.
//! - `job` shows the job of a run: `waiting_line` in the queue, then a reporter.
//!
//! Showing is best effort: a terminal that goes away or a pipe that closes never ends a run.

mod array;
mod bars;
mod batch;
mod job;
mod lines;
mod live;
mod screen;
mod steady_clock;
mod waiting_line;

pub use array::ArrayDisplay;
pub use batch::show_batch;
pub use job::JobDisplay;

use std::io::IsTerminal as _;
use std::thread::JoinHandle;

use tokio::sync::mpsc::UnboundedReceiver;

use self::lines::LineReporter;
use self::steady_clock::SteadyClock;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::{estimate, terminal};
use retrial_report::progress::batch::BatchProgress;
use retrial_report::progress::plain::PlainProgress;
use retrial_report::progress::remaining_time::RemainingTime;
use retrial_report::progress::view::LiveView;
use retrial_store::RunDirectory;
use retrial_store::journal::Event;

/// Shows what happens in a run.
pub trait Reporter: Send {
    /// Prints an event, or adds it to the next drawing.
    fn report_event(&mut self, event: &Event);
    /// Draws what is left and releases the terminal, after the last event.
    fn finish(&mut self) {}
}

/// Shows a run, until the last event.
pub fn show_run(
    global: &GlobalOptions,
    run: &RunDirectory,
    mut incoming: UnboundedReceiver<Event>,
) -> JoinHandle<()> {
    let (global, run) = (global.clone(), run.clone());
    std::thread::spawn(move || {
        // Earlier runs are read while this one begins.
        let mut reporter = run_reporter(&global, &run);
        while let Some(event) = incoming.blocking_recv() {
            reporter.report_event(&event);
        }
        reporter.finish();
    })
}

/// Returns a function that prints a note, unless the command line asks for quiet.
pub fn note_unless_quiet(global: &GlobalOptions) -> impl Fn(&str) {
    let is_quiet = global.quiet;
    move |text| {
        if !is_quiet {
            terminal::print_note(text);
        }
    }
}

/// Returns the reporter of a run that is no batch's.
fn run_reporter(global: &GlobalOptions, run: &RunDirectory) -> Box<dyn Reporter> {
    let remaining = estimate::estimate_run(global, run);
    create_reporter(global, None, remaining, std::io::stderr().is_terminal())
}

/// Returns the reporter that the command line selects. With `is_terminal` standard error is a terminal to draw on.
/// A run of a batch is shown between the batch's lines: of what has finished only failures, if not `verbose`.
fn create_reporter(
    global: &GlobalOptions,
    of_batch: Option<BatchProgress>,
    remaining: RemainingTime,
    is_terminal: bool,
) -> Box<dyn Reporter> {
    let GlobalOptions { quiet, verbose, .. } = *global;
    let brief = of_batch.is_some() && !verbose;
    let can_draw = is_terminal && terminal::can_draw();
    if quiet || (brief && !can_draw) {
        Box::new(LineReporter::new(std::io::stderr(), lines::failure_lines))
    } else if global.output == OutputFormat::Json {
        let json = move |event: &Event| lines::to_json_lines(event, verbose);
        Box::new(LineReporter::new(terminal::Stdout, json))
    } else if can_draw {
        console::set_colors_enabled(terminal::uses_error_color());
        Box::new(live::LiveReporter::start(
            screen::Stderr,
            LiveView::new(verbose, of_batch, remaining),
        ))
    } else {
        let mut plain = PlainProgress::new(verbose, remaining);
        let clock = SteadyClock::start();
        let plain = move |event: &Event| plain.report_event(&clock.retime_event(event));
        Box::new(LineReporter::new(std::io::stderr(), plain))
    }
}
