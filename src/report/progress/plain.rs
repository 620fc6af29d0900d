//! A run as plain lines: for logs, pipes and CI. No escapes, and nothing that grows with the
//! length of a download: what goes on is said now and then.

use jiff::Timestamp;

use super::pull::{Phase, Pull, Sum, seconds};
use super::sentence;
use crate::format::{count, duration, elapsed, rate, size};
use crate::store::journal::{Event, StepEnd, TransferState, What};
use crate::telemetry::Live;

/// After so long a step's first look at the GPUs is said, seconds.
const FIRST_LOOK_S: f64 = 60.0;
/// And so far apart the others.
const LOOKS_APART_S: f64 = 600.0;

/// Turns events into plain lines.
#[derive(Debug, Default)]
pub struct Plain {
    verbose: bool,
    run: String,
    began: Option<Timestamp>,
    done_before: Vec<u32>,
    step: Step,
}

/// What goes on.
#[derive(Debug, Default)]
struct Step {
    began: Option<Timestamp>,
    said: Option<Timestamp>,
    looked: Option<Timestamp>,
    timeout_s: Option<u64>,
    pull: Pull,
}

impl Plain {
    /// With every line of output, or without.
    #[must_use]
    pub fn new(verbose: bool) -> Self {
        Self {
            verbose,
            ..Self::default()
        }
    }

    /// The lines that an event gives.
    pub fn take(&mut self, event: &Event) -> Vec<String> {
        let step = sentence::step(event);
        let mut out = match &event.what {
            What::RunBegan {
                run,
                steps,
                done_before,
                ..
            } => {
                self.run = sentence::line(run);
                self.began = Some(event.time);
                self.done_before.clone_from(done_before);
                let before = match done_before.len() {
                    0 => String::new(),
                    number => format!(", {number} already complete"),
                };
                vec![format!(
                    "run {}: {}{before}",
                    self.run,
                    count(*steps, "step")
                )]
            }
            What::StepBegan { doing, timeout_s } => {
                self.step = Step {
                    began: Some(event.time),
                    timeout_s: *timeout_s,
                    ..Step::default()
                };
                vec![format!("{step}: started: {}", sentence::line(doing))]
            }
            What::StepFollowed {
                began, timeout_s, ..
            } => {
                let began = began.or(Some(event.time));
                self.step = Step {
                    began,
                    said: Some(event.time),
                    timeout_s: *timeout_s,
                    ..Step::default()
                };
                vec![format!("{step}: still running, reattached")]
            }
            What::StepEnded { end, seconds } => {
                let ended = self.ended(&step, event.step, end, *seconds);
                self.step = Step::default();
                ended
            }
            What::Layer { .. } | What::File { .. } | What::Output { .. } => {
                self.going_on(&step, event).into_iter().collect()
            }
            What::Telemetry { live } => self.look(&step, event.time, live).into_iter().collect(),
            What::RunEnded { exit_code, .. } => {
                let after = |began| format!(" after {}", duration(seconds(began, event.time)));
                let took = self.began.map(after).unwrap_or_default();
                vec![format!(
                    "run {}: ended{took}, exit code {exit_code}",
                    self.run
                )]
            }
            What::Judged { outcome, sentence } => {
                vec![format!(
                    "{step}: {}: {}",
                    sentence::line(outcome),
                    sentence::lines(sentence).join(" ")
                )]
            }
            what => sentence::note(what)
                .map(|note| format!("{step}: {note}"))
                .into_iter()
                .collect(),
        };
        let of = if step.is_empty() {
            step
        } else {
            format!("{step}: ")
        };
        out.extend(
            sentence::warnings(&event.what)
                .into_iter()
                .map(|text| format!("{of}warning: {text}")),
        );
        out
    }

    /// How far a step is, now and then; every line of its output, where that is wanted.
    fn going_on(&mut self, step: &str, event: &Event) -> Option<String> {
        match &event.what {
            What::Layer {
                id,
                status,
                current,
                total,
            } => {
                self.step
                    .pull
                    .take(event.time, id, status, *current, *total);
                self.summary_in_time(step, event.time)
            }
            What::File {
                path,
                stand,
                current,
                total,
            } => {
                self.step
                    .pull
                    .take_file(event.time, path, *stand, *current, *total);
                // One after the other they are told to wait: until then the sum is of some only.
                if *stand == TransferState::Waiting {
                    return None;
                }
                self.summary_in_time(step, event.time)
            }
            What::Output { line } if self.verbose => {
                Some(format!("{step} | {}", sentence::line(line)))
            }
            What::Output { line } if self.step.pull.is_empty() && self.is_time(event.time) => {
                let since = self
                    .step
                    .began
                    .map_or(0.0, |began| seconds(began, event.time));
                Some(format!(
                    "{step}: {}: {}",
                    elapsed(since),
                    sentence::line(line)
                ))
            }
            _ => None,
        }
    }

    /// A look at GPUs and container: after a minute, then every ten.
    fn look(&mut self, step: &str, now: Timestamp, live: &Live) -> Option<String> {
        let text = sentence::look(live);
        let began = self.step.began?;
        let due = match self.step.looked {
            None => seconds(began, now) >= FIRST_LOOK_S,
            Some(looked) => seconds(looked, now) >= LOOKS_APART_S,
        };
        (due && !text.is_empty()).then(|| {
            self.step.looked = Some(now);
            format!("{step}: {}: {text}", elapsed(seconds(began, now)))
        })
    }

    fn summary_in_time(&mut self, step: &str, now: Timestamp) -> Option<String> {
        self.is_time(now)
            .then(|| format!("{step}: {}", summary(&self.step.pull.sum(now))))
    }

    fn ended(&self, step: &str, number: Option<u32>, end: &StepEnd, seconds: f64) -> Vec<String> {
        let before = self.step.began.is_none()
            && number.is_some_and(|number| self.done_before.contains(&number));
        if before && end.is_done() {
            return vec![format!("{step}: already complete, skipped")];
        }
        let mut out = vec![format!("{step}: {}", sentence::end(end, seconds))];
        out.extend(sentence::details(end));
        out
    }

    /// Whether it is time to say again how far the step is: every 5 s in a short pull or build,
    /// every minute in a step that takes hours.
    fn is_time(&mut self, now: Timestamp) -> bool {
        let Some(began) = self.step.began else {
            return false;
        };
        let apart = match seconds(began, now) {
            since if since < 60.0 && self.step.timeout_s.is_none() => 5.0,
            since if since < 600.0 => 30.0,
            _ => 60.0,
        };
        let due = seconds(self.step.said.unwrap_or(began), now) >= apart;
        if due {
            self.step.said = Some(now);
        }
        due
    }
}

/// A pull in one line.
fn summary(sum: &Sum) -> String {
    let mut parts = vec![format!(
        "{} of {}",
        sum.done_parts,
        count(sum.parts, sum.unit.word())
    )];
    parts.extend(facts(sum));
    parts.join(", ")
}

/// Bytes, speed and time left of a pull, as far as they are known.
#[must_use]
pub fn facts(sum: &Sum) -> Vec<String> {
    let mut facts = Vec::new();
    if sum.total > 0 {
        let doing = if sum.phase == Phase::Extracting {
            "extracting, "
        } else {
            ""
        };
        let at_least = if sum.total_known { "" } else { "at least " };
        facts.push(format!(
            "{doing}{} of {at_least}{}",
            size(sum.done),
            size(sum.total)
        ));
    }
    facts.extend(sum.rate.map(rate));
    facts.extend(sum.left.map(|left| format!("{} left", elapsed(left))));
    facts
}

#[cfg(test)]
mod tests {
    use super::super::tests::script;
    use super::*;

    fn told(events: &[Event], verbose: bool) -> String {
        let mut plain = Plain::new(verbose);
        events
            .iter()
            .flat_map(|event| plain.take(event))
            .map(|line| line + "\n")
            .collect()
    }

    #[test]
    fn a_run_in_plain_lines() {
        insta::assert_snapshot!(told(&script::run(), false));
    }

    #[test]
    fn a_fetch_in_plain_lines() {
        insta::assert_snapshot!(told(&script::fetch((2, "fetch-llama"), 0), false));
    }

    #[test]
    fn a_resumed_run_in_plain_lines() {
        insta::assert_snapshot!(told(&script::resumed(), false));
    }

    #[test]
    fn verbose_tells_every_line_with_its_step() {
        let text = told(&script::run(), true);
        let outputs = script::run()
            .iter()
            .filter(|event| matches!(event.what, What::Output { .. }))
            .count();
        assert_eq!(
            text.lines()
                .filter(|line| line.contains(" | ") && !line.starts_with("    "))
                .count(),
            outputs
        );
        assert!(
            text.contains("\n05 offline-performance | query 0001 of 2000\n"),
            "{text}"
        );
    }

    #[test]
    fn no_escape_gets_through() {
        for event in script::hostile() {
            let text = told(&[event], true);
            assert!(
                !text.contains(|character: char| character.is_control() && character != '\n'),
                "{text:?}"
            );
        }
    }
}
