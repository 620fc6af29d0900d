//! The live view: lines for what has finished, which stay, and a frame for what goes on, which
//! is drawn anew several times a second.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::fit::{fit, pad, width as columns, wrap};
use super::palette::Palette;
use super::plain::facts;
use super::pull::{Pull, Stand, seconds};
use super::row::{Row, bar};
use super::sentence;
use crate::journal::{Event, StepEnd, What};
use crate::report::human::{bytes, count, duration, elapsed, limit};

/// Lines of the output that are shown.
const TAIL: usize = 5;
/// Layers that are shown.
const LAYERS: usize = 4;
/// Columns of a finished step's number and name.
const NAME: usize = 26;

/// What a live view knows of a run.
#[derive(Debug, Default)]
pub struct View {
    palette: Palette,
    verbose: bool,
    began: Option<Timestamp>,
    steps: usize,
    done_before: Vec<u32>,
    current: Option<Current>,
}

/// The step that goes on.
#[derive(Debug, Default)]
struct Current {
    number: u32,
    step: String,
    doing: String,
    began: Timestamp,
    timeout_s: Option<u64>,
    pull: Pull,
    tail: VecDeque<String>,
    notes: Vec<String>,
}

impl View {
    /// A view in these colours; `verbose` keeps every line of output.
    #[must_use]
    pub fn new(palette: Palette, verbose: bool) -> Self {
        Self {
            palette,
            verbose,
            ..Self::default()
        }
    }

    /// Takes an event in; gives the lines that stay. They may be wider than the terminal: nothing
    /// of a failure is cut.
    pub fn take(&mut self, event: &Event, width: usize) -> Vec<String> {
        let palette = self.palette;
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
                out.push(format!("run {}", palette.strong(&sentence::line(run))));
            }
            What::StepBegan { doing, timeout_s } => {
                self.current = Some(Current::new(event, doing, event.time, *timeout_s))
            }
            What::StepFollowed {
                doing,
                began,
                timeout_s,
            } => {
                let mut current =
                    Current::new(event, doing, began.unwrap_or(event.time), *timeout_s);
                current.notes.push("followed again".to_owned());
                self.current = Some(current);
            }
            What::StepEnded { end, seconds } => {
                let current = self
                    .current
                    .take_if(|current| Some(current.number) == event.step);
                out.extend(self.ended(event, current, end, *seconds, width));
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
            What::Output { line } => {
                let line = sentence::line(line);
                if self.verbose {
                    let step = event
                        .name
                        .as_deref()
                        .map(sentence::line)
                        .unwrap_or_default();
                    out.push(format!("{} {line}", palette.faint(&format!("{step} │"))));
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
                &format!("{} ", palette.warning("!")),
                2,
                &text,
                width,
            ));
        }
        out
    }

    /// What goes on, in lines of at most `width` columns, at most `height` of them.
    #[must_use]
    pub fn frame(&self, now: Timestamp, width: usize, height: usize) -> Vec<String> {
        let Some(step) = &self.current else {
            return Vec::new();
        };
        let mut lines = vec![self.head(step, now, width)];
        if !step.doing.is_empty() {
            lines.push(
                Row::new(width)
                    .add("  ")
                    .paint(|text| self.palette.faint(text), &step.doing)
                    .text(),
            );
        }
        let room = height.saturating_sub(lines.len());
        if step.pull.is_empty() {
            let tail = step.tail.iter().skip(step.tail.len().saturating_sub(room));
            lines.extend(tail.map(|line| {
                Row::new(width)
                    .paint(|text| self.palette.faint(text), "  │ ")
                    .add(line)
                    .text()
            }));
        } else {
            lines.extend(self.pull(step, now, width).into_iter().take(room));
        }
        lines.truncate(height);
        lines
    }

    /// `⠹ 05 offline-performance  3m 12s of at most 1h        step 5 of 9, 13m 02s in all`
    fn head(&self, step: &Current, now: Timestamp, width: usize) -> String {
        let palette = self.palette;
        let mut time = elapsed(seconds(step.began, now));
        if let Some(timeout) = step.timeout_s {
            time = format!("{time} of at most {}", limit(timeout));
        }
        let row = Row::new(width)
            .paint(|text| palette.active(text), spinner(now))
            .add(" ")
            .paint(|text| palette.strong(text), &step.step)
            .add(&format!("  {time}"));
        // After a resume the step may be older than what this process knows of the run.
        let began = self.began.filter(|began| *began <= step.began);
        let all = began
            .map(|began| format!(", {} in all", elapsed(seconds(began, now))))
            .unwrap_or_default();
        let whole = format!("step {} of {}{all}", step.number, self.steps);
        let short = format!("{}/{}", step.number, self.steps);
        row.right(|text| palette.faint(text), &[&whole, &short])
            .text()
    }

    fn pull(&self, step: &Current, now: Timestamp, width: usize) -> Vec<String> {
        let palette = self.palette;
        let sum = step.pull.sum(now);
        let mut texts = facts(&sum);
        texts.push(format!(
            "{} of {}",
            sum.done_layers,
            count(sum.layers, "layer")
        ));
        let mut row = Row::new(width).add("  ");
        if sum.total > 0 {
            let facts: usize = texts.iter().map(|text| columns(text) + 2).sum();
            let room = row.left().saturating_sub(facts).clamp(10, 30);
            let (full, rest) = bar(sum.done, sum.total, room);
            row = row
                .paint(|text| palette.active(text), &full)
                .paint(|text| palette.faint(text), &rest)
                .add("  ");
        }
        for (index, text) in texts.iter().enumerate() {
            let between = if index == 0 { "" } else { "  " };
            row = row.whole(&format!("{between}{text}"));
        }
        let mut lines = vec![row.text()];
        for layer in step.pull.active().take(LAYERS) {
            let doing = if layer.stand == Stand::Extracting {
                "extracting "
            } else {
                "downloading"
            };
            let mut row = Row::new(width)
                .add("    ")
                .add(&pad(&fit(&layer.id, 12), 12))
                .add(" ")
                .add(doing)
                .add(" ");
            if let Some(total) = layer.total {
                let text = format!("  {} of {}", bytes(layer.current), bytes(total));
                let room = row.left().saturating_sub(columns(&text)).clamp(6, 12);
                let (full, rest) = bar(layer.current, total, room);
                row = row
                    .paint(|text| palette.active(text), &full)
                    .paint(|text| palette.faint(text), &rest)
                    .whole(&text);
            }
            lines.push(row.text());
        }
        lines
    }

    fn ended(
        &self,
        event: &Event,
        current: Option<Current>,
        end: &StepEnd,
        seconds: f64,
        width: usize,
    ) -> Vec<String> {
        let palette = self.palette;
        let step = pad(&sentence::step(event), NAME);
        let before = current.is_none()
            && event
                .step
                .is_some_and(|number| self.done_before.contains(&number));
        let notes = current.map(|current| current.notes).unwrap_or_default();
        match end {
            StepEnd::Done { .. } => {
                let time = if before {
                    "done before".to_owned()
                } else {
                    format!("{:>8}", duration(seconds))
                };
                let row = Row::new(width)
                    .paint(|text| palette.good(text), "✓")
                    .add(&format!(" {step} {time}"));
                vec![
                    row.paint(|text| palette.faint(text), &notes_text(&notes))
                        .text(),
                ]
            }
            StepEnd::Skipped { .. } | StepEnd::Stopped | StepEnd::Failed { .. } => {
                let mark = match end {
                    StepEnd::Failed { .. } => palette.bad("✗"),
                    StepEnd::Stopped => palette.warning("!"),
                    _ => palette.faint("–"),
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
                        lines.push(line)
                    } else {
                        lines.extend(wrap(&line, width, 4))
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

fn spinner(now: Timestamp) -> &'static str {
    const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    let tenth = now.as_millisecond().div_euclid(100).rem_euclid(10);
    FRAMES[usize::try_from(tenth).unwrap_or(0)]
}
