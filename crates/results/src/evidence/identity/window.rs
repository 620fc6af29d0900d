//! Logs from before a step: the step measured none of their figures, wherever it has copied them from.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::evidence::readings::TrialReadings;
use crate::verdict::{LogIdentity, RuleCheck, StepOutcome, TextIdentity, TrialEvidence, TrialLog};
use retrial_mlperf::mllog;

/// Tolerance for a log's own time outside of its step: some are logged in whole seconds.
const CLOCK_SLACK: SignedDuration = SignedDuration::from_secs(2);
/// Times without a zone may be a day off, and a log may state when its job was queued.
const ZONE_SLACK: SignedDuration = SignedDuration::from_hours(26);

/// The time of a step, with what it collected.
pub(crate) struct StepWindow<'a> {
    pub started: Timestamp,
    /// The end of the step, or of the check of its results.
    pub ended: Timestamp,
    /// The directory of its results.
    pub results: PathBuf,
    /// The files of its results that were last written before it started, below that directory.
    pub older: &'a [String],
}

impl StepWindow<'_> {
    /// Returns why one of these logs cannot be of the step; none where all of them can.
    pub fn reason_outside_step<'a>(
        &self,
        logs: impl IntoIterator<Item = &'a TrialLog>,
    ) -> Option<String> {
        logs.into_iter().find_map(|log| {
            let reason = self.reason_older(log).or_else(|| match &log.identity {
                LogIdentity::Training(run) => self.reason_run_outside(run),
                LogIdentity::Text(text) => self.reason_text_outside(log, text),
                LogIdentity::LoadGen(run) => {
                    self.reason_start_outside("its log starts", run.started_at?)
                }
                LogIdentity::Endpoint(_) => None,
            })?;
            Some(format!("{}: {reason}", log.file))
        })
    }

    fn is_step_result(&self, log: &TrialLog) -> bool {
        Path::new(&log.directory) == self.results
    }

    fn reason_older(&self, log: &TrialLog) -> Option<String> {
        let is_log = |older: &String| match log.identity {
            // LoadGen's logs may be in a folder of their own, and are the only ones of their name.
            LogIdentity::LoadGen(_) => Path::new(older).ends_with(&log.file),
            _ => *older == log.file,
        };
        let is_older = self.is_step_result(log) && self.older.iter().any(is_log);
        is_older.then(|| format!("it was last written before the step started ({})", self.started))
    }

    fn reason_run_outside(&self, run: &mllog::TrainingRunIdentity) -> Option<String> {
        #[expect(clippy::cast_possible_truncation, reason = "dates in milliseconds")]
        let started = run.dated_start_ms()? as i64;
        let started = Timestamp::from_millisecond(started).ok()?;
        self.reason_start_outside("its run starts", started)
    }

    fn reason_start_outside(&self, what: &str, started: Timestamp) -> Option<String> {
        let early = started < self.started - CLOCK_SLACK;
        let late = started > self.ended + CLOCK_SLACK;
        let (from, to) = (self.started, self.ended);
        (early || late)
            .then(|| format!("{what} at {started}, outside of the step ({from} to {to})"))
    }

    /// Returns why a file is no output of the step: it only states times of long before. The output of a step is its
    /// own, whatever it lists.
    fn reason_text_outside(&self, log: &TrialLog, text: &TextIdentity) -> Option<String> {
        let latest = text.latest.filter(|_| self.is_step_result(log))?;
        let started = self.started;
        (latest < started - ZONE_SLACK)
            .then(|| format!("its latest time is {latest}, before the step ({started})"))
    }
}

/// Keeps the readings that are of the trial's step, with a warning of each that is not: a log of before it, to
/// which the step may have appended its own, is no result.
///
/// # Errors
/// The trial without a result of its own, if no reading is of its step.
pub(crate) fn retain_own_readings(
    window: Option<&StepWindow<'_>>,
    mut readings: Vec<TrialReadings>,
    trial: &TrialEvidence,
) -> Result<(Vec<TrialReadings>, Vec<RuleCheck>), Box<TrialEvidence>> {
    let Some(window) = window else {
        return Ok((readings, Vec::new()));
    };
    let mut reasons = Vec::new();
    readings.retain(|reading| {
        let reason = window.reason_outside_step(&reading.logs);
        let is_own = reason.is_none();
        reasons.extend(reason);
        is_own
    });
    if readings.is_empty() {
        let reason = reasons.join("; ");
        return Err(Box::new(TrialEvidence {
            outcome: StepOutcome::NoNewResult { reason },
            ..trial.clone()
        }));
    }
    let required = "only what this step has measured; the rest is not read";
    let warning =
        |reason| RuleCheck::warning("results", reason, required).for_trial(Some(trial.trial));
    Ok((readings, reasons.into_iter().map(warning).collect()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn log(directory: &str, identity: LogIdentity) -> TrialLog {
        TrialLog { directory: directory.to_owned(), file: "result_0.txt".to_owned(), identity }
    }

    fn training(started: &str) -> TrialLog {
        let started: Timestamp = started.parse().unwrap();
        let identity = mllog::TrainingRunIdentity {
            started_ms: Some(retrial_readings::number::to_f64(
                u64::try_from(started.as_millisecond()).unwrap(),
            )),
            ..mllog::TrainingRunIdentity::default()
        };
        log("results", LogIdentity::Training(identity))
    }

    fn text(directory: &str, latest: Option<&str>) -> TrialLog {
        let identity = TextIdentity {
            latest: latest.map(|time| time.parse().unwrap()),
            ..TextIdentity::default()
        };
        log(directory, LogIdentity::Text(identity))
    }

    fn why(log: &TrialLog, older: &[String]) -> Option<String> {
        let window = StepWindow {
            started: "2026-03-02T10:00:00Z".parse().unwrap(),
            ended: "2026-03-02T10:30:00Z".parse().unwrap(),
            results: "results".into(),
            older,
        };
        window.reason_outside_step([log])
    }

    #[rstest]
    #[case::within(training("2026-03-02T10:10:00Z"), false)]
    #[case::in_the_second_before(training("2026-03-02T09:59:59Z"), false)]
    #[case::of_an_earlier_trial(training("2026-03-02T09:50:00Z"), true)]
    #[case::of_another_year(training("2023-11-05T10:10:00Z"), true)]
    #[case::of_the_future(training("2026-03-02T11:10:00Z"), true)]
    #[case::text_of_another_year(text("results", Some("2023-11-05T10:10:00Z")), true)]
    #[case::text_of_another_zone(text("results", Some("2026-03-01T22:10:00Z")), false)]
    #[case::text_without_a_time(text("results", None), false)]
    #[case::output_that_lists_old_files(text("run", Some("2023-11-05T10:10:00Z")), false)]
    fn logs_of_another_time_are_not_of_the_step(#[case] log: TrialLog, #[case] outside: bool) {
        let reason = why(&log, &[]);
        assert_eq!(reason.is_some(), outside, "{reason:?}");
        assert!(reason.is_none_or(|reason| reason.starts_with("result_0.txt: ")));
    }

    #[test]
    fn only_readings_of_the_step_are_kept() {
        let window = StepWindow {
            started: "2026-03-02T10:00:00Z".parse().unwrap(),
            ended: "2026-03-02T10:30:00Z".parse().unwrap(),
            results: "results".into(),
            older: &[],
        };
        let reading =
            |started| TrialReadings { logs: vec![training(started)], ..TrialReadings::default() };
        let old = reading("2023-11-05T10:10:00Z");
        let own = reading("2026-03-02T10:10:00Z");
        let trial = TrialEvidence::new_finished(2, "results");
        let both = vec![old.clone(), own.clone()];
        let (kept, warnings) = retain_own_readings(Some(&window), both, &trial).unwrap();
        assert_eq!(kept, [own]);
        assert!(warnings[0].warning && warnings[0].trial == Some(2));
        let rejected = retain_own_readings(Some(&window), vec![old.clone()], &trial).unwrap_err();
        let StepOutcome::NoNewResult { reason } = rejected.outcome else { panic!() };
        assert!(reason.starts_with("result_0.txt: its run starts at 2023-11-05"), "{reason}");
        assert!(retain_own_readings(None, vec![old], &trial).is_ok());
    }

    #[test]
    fn files_that_the_step_did_not_write_are_not_of_it() {
        let older = ["result_0.txt".to_owned()];
        let reason = why(&text("results", None), &older).unwrap();
        assert!(reason.contains("last written before the step"), "{reason}");
        assert_eq!(why(&text("run", None), &older), None);
    }
}
