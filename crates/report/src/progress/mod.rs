//! The progress of a run as text: events in, lines out. Pure: time comes with the events, and
//! `app::display` writes to the terminal.
//!
//! - [`sentence`]: one event in words.
//! - [`plain`]: the lines of a run without a terminal, with pulls and builds thinned out.
//! - [`transfers`]: layers and files, bytes, rate, time left.
//! - [`view`]: the state of the live view, and the lines that stay above it.
//! - [`remaining_time`]: how long the rest of a run takes.
//! - [`batch`]: the lines of a batch.

pub mod batch;
pub mod plain;
pub mod remaining_time;
pub mod sentence;
pub mod transfers;
pub mod view;

#[cfg(any(test, feature = "testing"))]
#[allow(clippy::pedantic, clippy::unwrap_used, reason = "tests")]
pub mod tests;
