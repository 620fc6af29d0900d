//! The live view: lines for what has finished, which stay. What goes on is `frame`'s.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::fit::{pad, wrap};
use super::pull::Pull;
use super::row::Row;
use super::sentence;
use super::style::Style;
use crate::format::duration;
use crate::store::journal::{Event, StepEnd, What};

/// Lines of the output that are shown.
const TAIL: usize = 5;
/// Columns of a finished step's number and name.
const NAME: usize = 26;

/// What a live view knows of a run.
#[derive(Debug, Default)]
pub struct View {
    pub(super) style: Style,
    verbose: bool,
    brief: bool,
    pub(super) began: Option<Timestamp>,
    pub(super) steps: usize,
    done_before: Vec<u32>,
    pub(super) current: Option<Current>,
}

/// The step that goes on.
#[derive(Debug, Default)]
pub(super) struct Current {
    pub(super) number: u32,
    pub(super) step: String,
    pub(super) doing: String,
    pub(super) began: Timestamp,
    pub(super) timeout_s: Option<u64>,
    pub(super) pull: Pull,
    pub(super) tail: VecDeque<String>,
    pub(super) notes: Vec<String>,
    /// The latest look at GPUs and container.
    pub(super) look: String,
}

impl View {
    /// A view in these colours; `verbose` keeps every line of output.
    #[must_use]
    pub fn new(style: Style, verbose: bool) -> Self {
        Self {
            style,
            verbose,
            ..Self::default()
        }
    }

    /// The view of one run of many: of what has finished, only failures stay.
    #[must_use]
    pub fn brief(self) -> Self {
        Self {
            brief: true,
            ..self
        }
    }

    /// Takes an event in; gives the lines that stay. They may be wider than the terminal: nothing
    /// of a failure is cut.
    pub fn take(&mut self, event: &Event, width: usize) -> Vec<String> {
        let style = self.style;
        let mut out = Vec::new();
        match &event.what {
            What::RunBegan {
                run,
                steps,
                done_before,
                ..
            } => {
                self.began = Some(event.time);
                self.steps = *steps;
                self.done_before.clone_from(done_before);
                if !self.brief {
                    out.push(format!("run {}", style.strong(&sentence::line(run))));
                }
            }
            What::StepBegan { doing, timeout_s } => {
                self.current = Some(Current::new(event, doing, event.time, *timeout_s));
            }
            What::StepFollowed {
                doing,
                began,
                timeout_s,
            } => {
                let mut current =
                    Current::new(event, doing, began.unwrap_or(event.time), *timeout_s);
                current.notes.push("reattached".to_owned());
                self.current = Some(current);
            }
            What::StepEnded { end, seconds } => {
                let current = self
                    .current
                    .take_if(|current| Some(current.number) == event.step);
                if !self.brief || matches!(end, StepEnd::Failed { .. }) {
                    out.extend(self.ended(event, current, end, *seconds, width));
                }
            }
            What::Layer {
                id,
                status,
                current,
                total,
            } => {
                if let Some(step) = &mut self.current {
                    step.pull
                        .take(event.time, &sentence::line(id), status, *current, *total);
                }
            }
            What::File {
                path,
                stand,
                current,
                total,
            } => {
                if let Some(step) = &mut self.current {
                    step.pull.take_file(
                        event.time,
                        &sentence::line(path),
                        *stand,
                        *current,
                        *total,
                    );
                }
            }
            What::Telemetry { live } => {
                if let Some(step) = &mut self.current {
                    step.look = sentence::look(live);
                }
            }
            What::Output { line } => {
                let line = sentence::line(line);
                if self.verbose {
                    let step = event
                        .name
                        .as_deref()
                        .map(sentence::line)
                        .unwrap_or_default();
                    out.push(format!("{} {line}", style.faint(&format!("{step} │"))));
                } else if let Some(step) = &mut self.current {
                    step.tail.push_back(line);
                    step.tail.drain(..step.tail.len().saturating_sub(TAIL));
                }
            }
            what => {
                if let Some(step) = &mut self.current {
                    step.notes.extend(sentence::note(what));
                }
            }
        }
        for text in sentence::warnings(&event.what) {
            out.extend(hanging(
                &format!("{} ", style.warning("!")),
                2,
                &text,
                width,
            ));
        }
        out
    }

    fn ended(
        &self,
        event: &Event,
        current: Option<Current>,
        end: &StepEnd,
        seconds: f64,
        width: usize,
    ) -> Vec<String> {
        let style = self.style;
        let step = pad(&sentence::step(event), NAME);
        let before = current.is_none()
            && event
                .step
                .is_some_and(|number| self.done_before.contains(&number));
        let notes = current.map(|current| current.notes).unwrap_or_default();
        match end {
            StepEnd::Done { .. } => {
                let time = if before {
                    "already complete".to_owned()
                } else {
                    format!("{:>8}", duration(seconds))
                };
                let row = Row::new(width)
                    .paint(|text| style.good(text), "✓")
                    .put(&format!(" {step} {time}"));
                vec![
                    row.paint(|text| style.faint(text), &notes_text(&notes))
                        .text(),
                ]
            }
            StepEnd::Skipped { .. } | StepEnd::Stopped | StepEnd::Failed { .. } => {
                let mark = match end {
                    StepEnd::Failed { .. } => style.bad("✗"),
                    StepEnd::Stopped => style.warning("!"),
                    _ => style.faint("–"),
                };
                let mut lines = hanging(
                    &format!("{mark} {step} "),
                    NAME + 3,
                    &sentence::end(end, seconds),
                    width,
                );
                for line in sentence::details(end) {
                    // Output stays as it is; sentences are broken between words.
                    if line.starts_with(sentence::QUOTED) {
                        lines.push(line);
                    } else {
                        lines.extend(wrap(&line, width, 4));
                    }
                }
                lines
            }
        }
    }
}

impl Current {
    fn new(event: &Event, doing: &str, began: Timestamp, timeout_s: Option<u64>) -> Self {
        Self {
            number: event.step.unwrap_or(0),
            step: sentence::step(event),
            doing: sentence::line(doing),
            began,
            timeout_s,
            ..Self::default()
        }
    }
}

/// A lead that takes so many columns, and a text beside it, broken between words.
fn hanging(lead: &str, indent: usize, text: &str, width: usize) -> Vec<String> {
    let mut lines = wrap(text, width.saturating_sub(indent), 0).into_iter();
    let first = format!("{lead}{}", lines.next().unwrap_or_default());
    std::iter::once(first)
        .chain(lines.map(|line| format!("{}{line}", " ".repeat(indent))))
        .collect()
}

fn notes_text(notes: &[String]) -> String {
    if notes.is_empty() {
        String::new()
    } else {
        format!("  {}", notes.join(", "))
    }
}
