//! Estimates how long the rest of a run takes, while its events come in.

use jiff::Timestamp;

use super::transfers::seconds_between;
use retrial_document::measures::format::format_duration;
use retrial_plan::remaining::{EstimateBasis, RemainingSteps, TimeEstimate};
use retrial_store::journal::{Event, EventKind};

/// Shorter estimates are not worth a line, seconds.
const SHORTEST_S: f64 = 60.0;

/// The rest of a run; of one whose plan is not known, nothing.
#[derive(Debug, Clone, Default)]
pub struct RemainingTime {
    remaining: Option<RemainingSteps>,
    /// The earlier run that gives the duration of steps.
    earlier: Option<String>,
    running: Option<(u32, Timestamp)>,
}

impl RemainingTime {
    /// The rest of a run, by an earlier one if there is any.
    pub fn new(remaining: RemainingSteps, earlier: Option<String>) -> Self {
        Self { remaining: Some(remaining), earlier, running: None }
    }

    /// Updates the estimate with an event.
    pub fn apply(&mut self, event: &Event) {
        let Some(remaining) = &mut self.remaining else {
            return;
        };
        match (&event.what, event.step) {
            (EventKind::RunStarted { completed_steps, .. }, _) => {
                for step in completed_steps {
                    remaining.finish_step(*step, None);
                }
            }
            (EventKind::StepStarted { .. }, Some(step)) => self.running = Some((step, event.time)),
            (EventKind::StepReattached { started, .. }, Some(step)) => {
                self.running = Some((step, started.unwrap_or(event.time)));
            }
            (EventKind::StepEnded { end, seconds }, Some(step)) => {
                let ran = self.running.take_if(|(number, _)| *number == step);
                let done = end.is_done() && ran.is_some();
                remaining.finish_step(step, done.then_some(*seconds));
            }
            _ => {}
        }
    }

    pub fn estimate_at(&self, now: Timestamp) -> Option<TimeEstimate> {
        let running = self.running.map(|(step, started)| (step, seconds_between(started, now)));
        self.remaining.as_ref()?.estimate(running)
    }

    /// The estimate with its basis: `about 12m 10s, by run 2026…`. Nothing of a short one.
    pub fn describe_with_basis(&self, now: Timestamp) -> Option<String> {
        let estimate = self.estimate_at(now).filter(|estimate| estimate.seconds >= SHORTEST_S)?;
        let basis = match (estimate.basis, &self.earlier) {
            (EstimateBasis::Recipe, _) => ", by the recipe's expected_duration",
            (EstimateBasis::EarlierRun, Some(run)) => &format!(", by run {run}"),
            _ => "",
        };
        Some(format!("about {}{basis}", format_duration(estimate.seconds)))
    }

    /// As [`Self::describe_with_basis`] before a run, if an earlier run is the basis.
    pub fn describe_by_earlier_run(&self, now: Timestamp) -> Option<String> {
        let is_known = self.estimate_at(now)?.basis == EstimateBasis::EarlierRun;
        is_known.then(|| self.describe_with_basis(now)).flatten()
    }

    /// `about 9m 30s left`, at the beginning of a step that measures. Nothing of a short time.
    pub fn describe_at_measurement(&self, event: &Event) -> Option<String> {
        let measures = self.remaining.as_ref()?.is_measuring_step(event.step?);
        let estimate =
            self.estimate_at(event.time).filter(|estimate| estimate.seconds >= SHORTEST_S)?;
        measures.then(|| format!("about {} left", format_duration(estimate.seconds)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::PlainProgress;
    use super::super::tests::script::{at, done, rest_of_trials, started};
    use super::*;
    use retrial_store::process::ProcessIdentity;

    /// Three trials, the first of which takes two minutes instead of one.
    #[test]
    fn plain_lines_show_the_time_left_before_each_measurement() {
        let (remaining, steps) = rest_of_trials(3);
        let mut plain = PlainProgress::new(false, remaining);
        let start = EventKind::RunStarted {
            run: "r".to_owned(),
            steps: 7,
            process: ProcessIdentity::default(),
            completed_steps: vec![1, 2],
            tool: String::new(),
            since: None,
        };
        let mut lines = plain.report_event(&at(0, None, start));
        for (index, (number, name)) in (0_i64..).zip(&steps) {
            let (step, time) = (Some((*number, name.as_str())), index * 120_000);
            lines.extend(plain.report_event(&at(time, step, started("work", Some(7200)))));
            lines.extend(plain.report_event(&at(time + 120_000, step, done(120.0))));
        }
        insta::assert_snapshot!(lines.join("\n"), @r"
        run r: 7 steps, 2 already complete; about 3m 00s, by the recipe's expected_duration
        03 s-performance-1: started: work; about 3m 00s left
        03 s-performance-1: finished in 2m 00s
        04 s-performance-2: started: work; about 4m 00s left
        04 s-performance-2: finished in 2m 00s
        05 s-performance-3: started: work; about 2m 00s left
        05 s-performance-3: finished in 2m 00s
        ");
    }
}
