//! Shows a job that waits: one line on a terminal, else a line for each change.

use std::io::{IsTerminal as _, Write as _};

use console::{Term, truncate_str};

use crate::app::terminal;
use retrial_cluster::slurm::Job;
use retrial_report::progress::sentence;

/// The line of a job that waits.
pub struct WaitingLine {
    /// Nothing is printed or drawn.
    pub is_quiet: bool,
    /// The terminal that the line is on, if there is one.
    term: Option<Term>,
    last_change: String,
    is_drawn: bool,
}

impl WaitingLine {
    /// Creates the line; nothing is printed or drawn if it `is_quiet`.
    pub fn new(is_quiet: bool) -> Self {
        let draws = std::io::stderr().is_terminal() && terminal::can_draw();
        Self {
            is_quiet,
            term: draws.then(Term::stderr),
            last_change: String::new(),
            is_drawn: false,
        }
    }

    pub fn show_job(&mut self, job: &Job, position: Option<(usize, usize)>) {
        // A place in the queue changes often: a log is for what the job is waiting for.
        let reason = format!("{} {}", job.state, job.reason);
        self.show_status(&describe_job(job, position), reason);
    }

    /// Shows a text: on one line of a terminal, else once for each value of `change`.
    pub fn show_status(&mut self, text: &str, change: String) {
        let text = sentence::to_message_line(text);
        if self.is_quiet {
            return;
        }
        if let Some(term) = &mut self.term {
            let (_, columns) = term.size();
            let line = truncate_str(&text, usize::from(columns).saturating_sub(1), "…");
            // A terminal that is gone does not end the command.
            let _ = term.clear_line().and_then(|()| write!(term, "{line}"));
            self.is_drawn = true;
        } else if change != self.last_change {
            terminal::print_note(&text);
            self.last_change = change;
        }
    }

    /// Writes a line that stays.
    pub fn print_note(&mut self, text: &str) {
        self.clear();
        if !self.is_quiet {
            terminal::print_note(text);
        }
    }

    /// Erases the line from the terminal.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn)
            && let Some(term) = &self.term
        {
            // A terminal that is gone does not end the command.
            let _ = term.clear_line();
        }
    }
}

/// `job 12 is pending (Priority), place 3 of 7 in partition gpu, may start 2026-11-23T06:00:00`
fn describe_job(job: &Job, position: Option<(usize, usize)>) -> String {
    let reason = match job.reason.as_str() {
        "" | "None" => String::new(),
        reason => format!(" ({})", reason.trim_matches(['(', ')'])),
    };
    let place = position
        .map(|(place, total)| format!(", place {place} of {total} in partition {}", job.partition));
    let start_time = job.start.as_ref();
    let start = start_time.map(|start| format!(", may start {start}"));
    format!(
        "job {} is {}{reason}{}{}",
        job.id,
        job.state.to_lowercase(),
        place.unwrap_or_default(),
        start.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_in_the_queue_is_described_with_its_place() {
        let mut job = Job {
            id: "12".to_owned(),
            state: "PENDING".to_owned(),
            partition: "gpu".to_owned(),
            reason: "None".to_owned(),
            ..Job::default()
        };
        assert_eq!(describe_job(&job, None), "job 12 is pending");
        job.reason = "(Priority)".to_owned();
        job.start = Some("2026-11-23T06:00:00".to_owned());
        assert_eq!(
            describe_job(&job, Some((3, 7))),
            "job 12 is pending (Priority), place 3 of 7 in partition gpu, may start 2026-11-23T06:00:00"
        );
    }
}
