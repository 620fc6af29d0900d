//! A run as plain lines: for logs, pipes and CI. No escapes, and a number of lines that does not
//! grow with the length of a download: progress is reported now and then.

use jiff::Timestamp;

use super::remaining_time::RemainingTime;
use super::sentence;
use super::transfers::{Transfers, seconds_between};
use retrial_document::measures::format::{format_count, format_duration, format_elapsed};
use retrial_store::journal::{Event, EventKind, LiveEvent, SkipReason, StepEnd, TransferState};
use retrial_telemetry::LiveSample;

/// After so long a step's first sample of the GPUs is reported, seconds.
const FIRST_SAMPLE_S: f64 = 60.0;
/// The time between further samples, seconds.
const SAMPLES_APART_S: f64 = 600.0;

/// Turns events into plain lines.
#[derive(Debug, Default)]
pub struct PlainProgress {
    verbose: bool,
    run: String,
    started: Option<Timestamp>,
    completed_steps: Vec<u32>,
    step: StepProgress,
    remaining: RemainingTime,
}

/// The step under way, as far as lines report it: when they did last, and nothing that is drawn.
#[derive(Debug, Default)]
struct StepProgress {
    started: Option<Timestamp>,
    last_report: Option<Timestamp>,
    /// When a sample was last reported.
    last_sample: Option<Timestamp>,
    has_timeout: bool,
    transfers: Transfers,
    /// The figures of its trial, as a note.
    measured_note: Option<String>,
}

impl PlainProgress {
    /// Creates the lines of a run; with every line of output if `verbose`.
    pub fn new(verbose: bool, remaining: RemainingTime) -> Self {
        Self { verbose, remaining, ..Self::default() }
    }

    /// Returns the lines of an event.
    pub fn report_event(&mut self, event: &Event) -> Vec<String> {
        let step = sentence::step_label(event);
        self.remaining.apply(event);
        let mut out = match &event.what {
            EventKind::RunStarted { run, steps, completed_steps, since, .. } => {
                self.run = sentence::to_message_line(run);
                self.started = Some(since.unwrap_or(event.time));
                self.completed_steps.clone_from(completed_steps);
                let before = match completed_steps.len() {
                    0 => String::new(),
                    number => format!(", {number} already complete"),
                };
                let expected = self.remaining.describe_with_basis(event.time);
                let expected =
                    expected.map_or_else(String::new, |expected| format!("; {expected}"));
                let steps = format_count(*steps, "step");
                vec![format!("run {}: {steps}{before}{expected}", self.run)]
            }
            EventKind::StepStarted { summary, timeout_s } => {
                self.start_step(event.time, *timeout_s);
                self.report_step_start(&step, event, summary)
            }
            EventKind::StepReattached { started, timeout_s, .. } => {
                self.start_step(started.unwrap_or(event.time), *timeout_s);
                self.step.last_report = Some(event.time);
                vec![format!("{step}: still running, reattached")]
            }
            EventKind::StepEnded { end, seconds } => {
                let ended = self.report_step_end(&step, event.step, end, *seconds);
                self.step = StepProgress::default();
                ended
            }
            EventKind::Live(
                progress @ (LiveEvent::Transfer(_)
                | LiveEvent::Output { .. }
                | LiveEvent::Telemetry { .. }),
            ) => self.report_progress(&step, event.time, progress).into_iter().collect(),
            EventKind::RunEnded { exit_code, .. } => {
                let after = |started| {
                    format!(" after {}", format_duration(seconds_between(started, event.time)))
                };
                let took = self.started.map(after).unwrap_or_default();
                let run = &self.run;
                vec![format!("run {run}: ended{took}, exit code {exit_code}")]
            }
            EventKind::Judged { outcome, sentence } => {
                let outcome = sentence::to_message_line(outcome);
                // The verdict follows, and a failed step had its lines.
                let reasons = Some(sentence::to_lines(sentence).join(" "));
                let reasons = reasons.filter(|_| self.verbose);
                let reasons = reasons.map_or_else(String::new, |text| format!(": {text}"));
                vec![format!("{step}: {outcome}{reasons}")]
            }
            EventKind::Live(LiveEvent::Measured { .. }) => {
                self.step.measured_note = sentence::step_note(&event.what);
                Vec::new()
            }
            what => {
                let note = sentence::step_note(what).into_iter();
                note.map(|note| format!("{step}: {note}")).collect()
            }
        };
        let colon = if step.is_empty() { "" } else { ": " };
        let warnings = sentence::event_warnings(&event.what).into_iter();
        out.extend(warnings.map(|text| format!("{step}{colon}warning: {text}")));
        out
    }

    fn start_step(&mut self, time: Timestamp, timeout_s: Option<u64>) {
        self.step = StepProgress {
            started: Some(time),
            has_timeout: timeout_s.is_some(),
            ..StepProgress::default()
        };
    }

    fn report_step_start(&self, step: &str, event: &Event, summary: &str) -> Vec<String> {
        if self.is_own_step_hidden() {
            return Vec::new();
        }
        let estimate = self.remaining.describe_at_measurement(event);
        let estimate = estimate.map_or_else(String::new, |estimate| format!("; {estimate}"));
        let summary = sentence::to_message_line(summary);
        vec![format!("{step}: started: {summary}{estimate}")]
    }

    /// Whether the step under way is one of Retrial's own, without a time limit, whose start and end tell little:
    /// what it found has a line of its own.
    fn is_own_step_hidden(&self) -> bool {
        !self.verbose && !self.step.has_timeout
    }

    /// The progress of a step, now and then; every line of its output if requested.
    fn report_progress(
        &mut self,
        step: &str,
        now: Timestamp,
        progress: &LiveEvent,
    ) -> Option<String> {
        let text = match progress {
            LiveEvent::Output { line } if self.verbose => {
                return Some(format!("{step} | {}", sentence::to_message_line(line)));
            }
            LiveEvent::Transfer(transfer) => {
                let transfers = &mut self.step.transfers;
                transfers.record_transfer(now, transfer);
                // The files are listed one after the other: until then the sum is of some only.
                if transfer.state == TransferState::Waiting || !self.is_report_due(now) {
                    return None;
                }
                let sum = self.step.transfers.sum(now);
                let facts = [vec![sum.format_parts()], sum.format_facts()].concat();
                return Some(format!("{step}: {}", facts.join(", ")));
            }
            LiveEvent::Output { line }
                if self.step.transfers.is_empty() && self.is_report_due(now) =>
            {
                sentence::to_message_line(line)
            }
            LiveEvent::Telemetry { live } => self.report_sample(now, live)?,
            _ => return None,
        };
        let since = self.step.started.map_or(0.0, |started| seconds_between(started, now));
        Some(format!("{step}: {}: {text}", format_elapsed(since)))
    }

    /// A sample of GPUs and container: after a minute, then every ten.
    fn report_sample(&mut self, now: Timestamp, live: &LiveSample) -> Option<String> {
        let text = sentence::describe_sample(live);
        let (since, apart) = match self.step.last_sample {
            None => (self.step.started?, FIRST_SAMPLE_S),
            Some(sampled) => (sampled, SAMPLES_APART_S),
        };
        let is_due = seconds_between(since, now) >= apart && !text.is_empty();
        is_due.then(|| {
            self.step.last_sample = Some(now);
            text
        })
    }

    fn report_step_end(
        &self,
        step: &str,
        number: Option<u32>,
        end: &StepEnd,
        seconds: f64,
    ) -> Vec<String> {
        let before = self.step.started.is_none()
            && number.is_some_and(|number| self.completed_steps.contains(&number));
        if before && end.is_done() {
            let line = || format!("{step}: already complete, skipped");
            return self.verbose.then(line).into_iter().collect();
        }
        let is_hidden = match end {
            StepEnd::Done { .. } => self.is_own_step_hidden() && self.step.measured_note.is_none(),
            // The failure that it follows from has its own lines.
            StepEnd::Skipped {
                reason: SkipReason::Aborted { .. } | SkipReason::InputMissing { .. },
            } => !self.verbose,
            _ => false,
        };
        if is_hidden {
            return Vec::new();
        }
        let mut first = format!("{step}: {}", sentence::describe_step_end(end, seconds));
        if let Some(measured) = &self.step.measured_note {
            first = format!("{first}: {measured}");
        }
        [vec![first], sentence::failure_details(end)].concat()
    }

    /// Whether it is time to report progress again: every 5 s in a short pull or build, every
    /// minute in a step that takes hours.
    fn is_report_due(&mut self, now: Timestamp) -> bool {
        let Some(started) = self.step.started else {
            return false;
        };
        let apart = match seconds_between(started, now) {
            since if since < 60.0 && !self.step.has_timeout => 5.0,
            since if since < 600.0 => 30.0,
            _ => 60.0,
        };
        let is_due = seconds_between(self.step.last_report.unwrap_or(started), now) >= apart;
        if is_due {
            self.step.last_report = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::script;
    use super::*;

    fn lines(events: &[Event], verbose: bool) -> String {
        let mut plain = PlainProgress::new(verbose, RemainingTime::default());
        events.iter().flat_map(|event| plain.report_event(event)).map(|line| line + "\n").collect()
    }

    #[test]
    fn a_run_in_plain_lines() {
        insta::assert_snapshot!(lines(&script::run(), false));
    }

    #[test]
    fn a_fetch_in_plain_lines() {
        insta::assert_snapshot!(lines(&script::fetch((2, "fetch-llama"), 0), false));
    }

    #[test]
    fn a_resumed_run_in_plain_lines() {
        insta::assert_snapshot!(lines(&script::resumed(), false));
    }

    #[test]
    fn verbose_prints_every_line_with_its_step() {
        let text = lines(&script::run(), true);
        let outputs = script::run()
            .iter()
            .filter(|event| matches!(event.what, EventKind::Live(LiveEvent::Output { .. })))
            .count();
        assert_eq!(
            text.lines().filter(|line| line.contains(" | ") && !line.starts_with("    ")).count(),
            outputs
        );
        assert!(text.contains("\n05 offline-performance | query 0001 of 2000\n"), "{text}");
    }

    #[test]
    fn escapes_are_removed() {
        for event in script::hostile() {
            let text = lines(&[event], true);
            assert!(
                !text.contains(|character: char| character.is_control() && character != '\n'),
                "{text:?}"
            );
        }
    }
}
