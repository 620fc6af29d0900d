//! The state of the live view: the step under way, which `app::display` draws, and the lines that
//! stay for what has finished.

use std::collections::VecDeque;

use console::{Alignment, measure_text_width, pad_str, style, truncate_str};
use jiff::Timestamp;

use super::batch::BatchProgress;
use super::remaining_time::RemainingTime;
use super::sentence;
use super::transfers::Transfers;
use crate::terminal::wrap::wrap_words;
use retrial_document::measures::format::format_duration;
use retrial_store::journal::{Event, EventKind, LiveEvent, StepEnd};

/// Lines of the output that are shown.
const MAX_TAIL_LINES: usize = 5;
/// Columns of a finished step's time, which comes first: names have any length.
const TIME_COLUMNS: usize = 8;
/// Columns of a finished step's number and name, unless they are longer.
const NAME_COLUMNS: usize = 26;
/// Columns between the stops of tabs.
const TAB_COLUMNS: usize = 8;

#[derive(Debug, Default)]
pub struct LiveView {
    verbose: bool,
    brief: bool,
    /// When the run was started, or resumed.
    pub started: Option<Timestamp>,
    /// The number of steps of the run.
    pub steps: usize,
    completed_steps: Vec<u32>,
    pub remaining: RemainingTime,
    /// The batch that the run is a part of.
    pub overall: Option<BatchProgress>,
    pub step: Option<ActiveStep>,
}

#[derive(Debug, Default)]
pub struct ActiveStep {
    pub number: u32,
    /// The step's number and name: `04 offline-performance`.
    pub name: String,
    /// Its command, or what it does.
    pub summary: String,
    /// When it was started, perhaps by an earlier process.
    pub started: Timestamp,
    /// The longest time it may take, seconds.
    pub timeout_s: Option<u64>,
    pub transfers: Transfers,
    /// The last lines of its output, without tabs.
    pub tail: VecDeque<String>,
    /// The latest sample of GPUs and container.
    pub sample: String,
    notes: Vec<String>,
}

impl LiveView {
    /// A view that keeps every line of output if `verbose`. Of a run of a batch it else keeps only
    /// failures of what has finished.
    pub fn new(verbose: bool, overall: Option<BatchProgress>, remaining: RemainingTime) -> Self {
        Self {
            verbose,
            remaining,
            brief: overall.is_some() && !verbose,
            overall,
            ..Self::default()
        }
    }

    /// Takes an event in and returns the lines that stay. They may be wider than the terminal:
    /// nothing of a failure is cut.
    pub fn report_event(&mut self, event: &Event, width: usize) -> Vec<String> {
        let mut out = Vec::new();
        self.remaining.apply(event);
        match &event.what {
            EventKind::RunStarted { run, steps, completed_steps, since, .. } => {
                self.started = Some(since.unwrap_or(event.time));
                self.steps = *steps;
                self.completed_steps.clone_from(completed_steps);
                if !self.brief {
                    out.push(format!("run {}", style(sentence::to_message_line(run)).bold()));
                }
            }
            EventKind::StepStarted { summary, timeout_s } => {
                self.step = Some(ActiveStep::new(event, summary, None, *timeout_s));
            }
            EventKind::StepReattached { summary, started, timeout_s } => {
                let mut step = ActiveStep::new(event, summary, *started, *timeout_s);
                step.notes.push("reattached".to_owned());
                self.step = Some(step);
            }
            EventKind::StepEnded { end, seconds } => {
                let step = self.step.take_if(|step| Some(step.number) == event.step);
                if !self.brief || matches!(end, StepEnd::Failed { .. }) {
                    out.extend(self.step_end_lines(event, step, end, *seconds, width));
                }
            }
            EventKind::Live(LiveEvent::Output { line }) if self.verbose => {
                let name = event.name.as_deref().map(sentence::to_message_line);
                let name = format!("{} │", name.unwrap_or_default());
                out.push(format!("{} {}", style(name).dim(), sentence::to_message_line(line)));
            }
            what => {
                if let Some(step) = &mut self.step {
                    step.apply_event(event.time, what);
                }
            }
        }
        for text in sentence::event_warnings(&event.what) {
            out.extend(wrap_words(&format!("{} {text}", style('!').yellow()), width, 2));
        }
        out
    }

    fn step_end_lines(
        &self,
        event: &Event,
        step: Option<ActiveStep>,
        end: &StepEnd,
        seconds: f64,
        width: usize,
    ) -> Vec<String> {
        let name = sentence::step_label(event);
        let name = pad_str(&name, NAME_COLUMNS, Alignment::Left, None);
        let number = event.step.unwrap_or(0);
        let before = step.is_none() && self.completed_steps.contains(&number);
        let mark = match end {
            StepEnd::Done { .. } => {
                let (time, notes) = if before {
                    (String::new(), "already complete".to_owned())
                } else {
                    let notes = step.map(|step| step.notes.join(", "));
                    (format_duration(seconds), notes.unwrap_or_default())
                };
                let line = format!(
                    "{} {time:>TIME_COLUMNS$}  {name}  {}",
                    style('✓').green(),
                    style(notes).dim()
                );
                return vec![truncate_str(line.trim_end(), width, "…").into_owned()];
            }
            StepEnd::Failed { .. } => style('✗').red(),
            StepEnd::Stopped => style('!').yellow(),
            StepEnd::Skipped { .. } => style('–').dim(),
        };
        let line = format!(
            "{mark} {:TIME_COLUMNS$}  {name}  {}",
            "",
            sentence::describe_step_end(end, seconds)
        );
        let mut lines = wrap_words(&line, width, TIME_COLUMNS + 4);
        for line in sentence::failure_details(end) {
            // Output stays as it is; sentences are broken between words.
            if line.starts_with(sentence::OUTPUT_PREFIX) {
                lines.push(line);
            } else {
                lines.extend(wrap_words(&line, width, 4));
            }
        }
        lines
    }
}

impl ActiveStep {
    fn new(
        event: &Event,
        summary: &str,
        started: Option<Timestamp>,
        timeout_s: Option<u64>,
    ) -> Self {
        Self {
            number: event.step.unwrap_or(0),
            name: sentence::step_label(event),
            summary: sentence::to_message_line(summary),
            started: started.unwrap_or(event.time),
            timeout_s,
            ..Self::default()
        }
    }

    fn apply_event(&mut self, time: Timestamp, what: &EventKind) {
        match what {
            EventKind::Live(LiveEvent::Transfer(transfer)) => {
                self.transfers.record_transfer(time, transfer);
            }
            EventKind::Live(LiveEvent::Telemetry { live }) => {
                self.sample = sentence::describe_sample(live);
            }
            EventKind::Live(LiveEvent::Output { line }) => {
                self.tail.push_back(expand_tabs(&sentence::to_message_line(line)));
                self.tail.drain(..self.tail.len().saturating_sub(MAX_TAIL_LINES));
            }
            // The figure comes first: what does not fit is cut.
            EventKind::Live(LiveEvent::Measured { .. }) => {
                self.notes.splice(0..0, sentence::step_note(what));
            }
            what => self.notes.extend(sentence::step_note(what)),
        }
    }
}

/// The text with blanks up to the next stop for each tab: indicatif replaces each by as many.
fn expand_tabs(text: &str) -> String {
    let mut parts = text.split('\t');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let column = measure_text_width(&out);
        out.push_str(&" ".repeat(TAB_COLUMNS - column % TAB_COLUMNS));
        out.push_str(part);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(expand_tabs("a\tb\t日本\tc"), "a       b       日本    c");
    }
}
