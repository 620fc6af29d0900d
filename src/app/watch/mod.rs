//! Whoever watches a run: reporters that show its events as they come.
//!
//! - `plain`: lines on standard error, where that is no terminal.
//! - `live`: one view on the terminal, drawn by `screen`.
//! - `quiet`: failures only.
//! - `json`: one event a line on standard output.
//!
//! Showing is best effort: a terminal that goes away or a pipe that closes never ends a run.

mod json;
mod lines;
mod live;
mod screen;

use crate::store::journal::Event;

/// Shows what happens in a run.
pub trait Reporter: Send {
    /// Something happened.
    fn event(&mut self, event: &Event);
    /// Nothing more will: leaves the terminal as it should be.
    fn finish(&mut self);
}

/// The reporter for what the command line asks and the place where standard error goes.
#[must_use]
#[expect(
    clippy::fn_params_excessive_bools,
    reason = "five independent facts, named at the only call"
)]
pub fn reporter(
    json: bool,
    quiet: bool,
    verbose: bool,
    terminal: bool,
    no_color: bool,
) -> Box<dyn Reporter> {
    if quiet {
        Box::new(lines::Quiet::new(std::io::stderr()))
    } else if json {
        Box::new(json::Json::new(std::io::stdout(), verbose))
    } else if terminal && can_move_its_cursor() {
        Box::new(live::Live::begin(
            screen::Stderr::default(),
            !no_color,
            verbose,
        ))
    } else {
        Box::new(lines::Plain::new(std::io::stderr(), verbose))
    }
}

/// The reporter of one run of many on a terminal: its progress, and of what has finished, failures.
#[must_use]
pub fn brief(no_color: bool) -> Box<dyn Reporter> {
    if can_move_its_cursor() {
        let screen = screen::Stderr::default();
        Box::new(live::Live::begin_brief(screen, !no_color))
    } else {
        Box::new(lines::Quiet::new(std::io::stderr()))
    }
}

/// A dumb terminal (an editor's shell, a serial console) shows escapes as they are.
fn can_move_its_cursor() -> bool {
    std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}
