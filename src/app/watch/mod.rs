//! Reporters that show the events of a run as they come.
//!
//! - `lines`: plain lines or failures on standard error, or JSON on standard output.
//! - `live`: one view on the terminal. indicatif draws its `bars`, and `screen` is the terminal
//!   that it draws on.
//!
//! Showing is best effort: a terminal that goes away or a pipe that closes never ends a run.

mod bars;
mod lines;
mod live;
mod screen;
mod steady_clock;

use self::lines::LineReporter;
use self::steady_clock::SteadyClock;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::terminal;
use retrial_report::progress::batch::BatchProgress;
use retrial_report::progress::plain::PlainProgress;
use retrial_report::progress::remaining_time::RemainingTime;
use retrial_report::progress::view::LiveView;
use retrial_store::journal::Event;

/// Shows what happens in a run.
pub trait Reporter: Send {
    /// Prints an event, or adds it to the next drawing.
    fn report_event(&mut self, event: &Event);
    /// Draws what is left and releases the terminal, after the last event.
    fn finish(&mut self) {}
}

/// Returns the reporter that the command line selects. With `is_terminal` standard error is a terminal to draw on.
/// A run of a batch is shown between the batch's lines: of what has finished only failures, if not `verbose`.
pub fn create_reporter(
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
