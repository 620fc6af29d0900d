//! The state of a batch, read from its journal.

use std::collections::{BTreeMap, BTreeSet};

use super::cell_failure::CellFailure;
use super::event::{BatchEvent, BatchEventKind, TrialRunEnd};
use retrial_results::verdict::ExitCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default)]
pub struct BatchState {
    /// The number of processes that started or resumed it.
    pub sessions: usize,
    /// Its trial runs, by number.
    pub trial_runs: BTreeMap<usize, TrialRunState>,
    /// Images that the batch itself pulled, and has not removed.
    pub own_images: BTreeSet<String>,
    /// The number of runs that were started.
    starts: u32,
    /// The exit code of the latest process, if it has ended.
    pub final_exit_code: Option<u8>,
    /// The node of that process, by the scheduler's name for it.
    pub node: Option<String>,
}

/// The start of a run in its batch, or in the task of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunStart {
    /// Its position among all starts, from 0: times are of a clock that may be set.
    pub position: u32,
    /// The number of the process that started or resumed the run, from 1: each but the first resumed the batch.
    pub session: u32,
}

#[derive(Debug, Clone, Default)]
pub struct TrialRunState {
    /// The id of its latest run.
    pub run: Option<String>,
    /// The number of the attempt, since the batch was last resumed after its end.
    pub attempt: u32,
    /// Its start in the batch.
    pub start: Option<RunStart>,
    /// How the latest run ended; none while it is under way.
    pub end: Option<TrialRunEnd>,
}

/// The next action for a trial run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialRunAction {
    /// Start a new run.
    Start {
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// Resume the interrupted run.
    Continue {
        /// The run's id.
        run: String,
    },
    /// Nothing: it is complete.
    Complete,
}

impl BatchState {
    /// Returns the state that these events lead to.
    pub fn from_events(events: &[BatchEvent]) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    pub fn apply(&mut self, event: &BatchEvent) {
        match &event.what {
            BatchEventKind::BatchStarted { .. } => {
                // Resuming a batch that had ended means that the host was fixed meanwhile.
                if self.final_exit_code.take().is_some() {
                    // So may the tag exist by now that a cell lacked.
                    self.trial_runs.retain(|_, state| {
                        state.own_failure().is_none() || !state.has_ended_with(ExitCode::Host)
                    });
                    let trial_runs = self.trial_runs.values_mut();
                    for failed in trial_runs.filter(|trial_run| trial_run.host_failed()) {
                        failed.attempt = 0;
                    }
                }
                self.sessions += 1;
            }
            BatchEventKind::TrialRunStarted { trial_run, run, attempt, .. } => {
                let state = self.trial_runs.entry(*trial_run).or_default();
                state.run = Some(run.clone());
                state.attempt = *attempt;
                let session = u32::try_from(self.sessions).unwrap_or(u32::MAX);
                state.start = Some(RunStart { position: self.starts, session });
                self.starts += 1;
                state.end = None;
            }
            BatchEventKind::TrialRunReattached { trial_run, .. } => {
                let state = self.trial_runs.entry(*trial_run).or_default();
                state.end = None;
                // It is measured on in this process.
                if let Some(start) = &mut state.start {
                    start.session = u32::try_from(self.sessions).unwrap_or(u32::MAX);
                }
            }
            BatchEventKind::TrialRunLost { trial_run, .. } => {
                self.trial_runs.remove(trial_run);
            }
            BatchEventKind::TrialRunEnded { trial_run, end } => {
                let state = self.trial_runs.entry(*trial_run).or_default();
                if end.run.is_none() {
                    // It could not begin: that was an attempt, too.
                    state.attempt += 1;
                }
                state.end = Some(end.clone());
            }
            BatchEventKind::ImageMissing { image } => {
                self.own_images.insert(image.clone());
            }
            BatchEventKind::ImageRemoved { image, .. } => {
                self.own_images.remove(image);
            }
            BatchEventKind::BatchEnded { exit_code, node, .. } => {
                self.final_exit_code = Some(*exit_code);
                self.node.clone_from(node);
            }
            _ => {}
        }
    }

    /// Returns the next action for a trial run, which is retried so often after failures of the host.
    pub fn next_action(&self, trial_run: usize, retries: u32) -> TrialRunAction {
        let Some(state) = self.trial_runs.get(&trial_run) else {
            return TrialRunAction::Start { attempt: 1 };
        };
        let is_open = state.end.is_none() || state.has_ended_with(ExitCode::Interrupted);
        match &state.run {
            Some(run) if is_open => TrialRunAction::Continue { run: run.clone() },
            None if is_open => TrialRunAction::Start { attempt: 1 },
            _ if state.host_failed() && state.attempt <= retries => {
                TrialRunAction::Start { attempt: state.attempt + 1 }
            }
            _ => TrialRunAction::Complete,
        }
    }

    /// Returns whether a trial run has ended and is not repeated, even if the batch is resumed.
    pub fn has_result(&self, trial_run: usize) -> bool {
        let code = self.exit_code(trial_run);
        let without = [ExitCode::Interrupted, ExitCode::Host].map(ExitCode::code);
        code.is_some_and(|code| !without.contains(&code))
    }

    /// Returns whether a trial run has a result, or failed by its cell's own failure.
    pub fn has_ended(&self, trial_run: usize) -> bool {
        let state = self.trial_runs.get(&trial_run);
        self.has_result(trial_run) || state.is_some_and(|state| state.own_failure().is_some())
    }

    /// Returns the exit code of a trial run, if it has ended.
    pub fn exit_code(&self, trial_run: usize) -> Option<u8> {
        self.trial_runs.get(&trial_run)?.exit_code()
    }

    /// Returns whether a trial run's run has started and not ended.
    pub fn is_open(&self, trial_run: usize) -> bool {
        let state = self.trial_runs.get(&trial_run);
        state.is_some_and(|trial_run| trial_run.run.is_some() && trial_run.end.is_none())
    }

    /// Returns the runs whose results count, in the order of trial runs: the latest run of each, however it ended.
    pub fn latest_runs(&self) -> impl Iterator<Item = (usize, &str)> {
        let trial_runs = self.trial_runs.iter();
        trial_runs.filter_map(|(trial_run, state)| Some((*trial_run, state.run.as_deref()?)))
    }

    /// Returns the ids of the runs that have started and not ended.
    pub fn open_runs(&self) -> Vec<String> {
        let trial_runs = self.trial_runs.values();
        let open = trial_runs.filter(|trial_run| trial_run.end.is_none());
        open.filter_map(|trial_run| trial_run.run.clone()).collect()
    }

    /// Returns whether a process reached the end of the batch without being stopped.
    pub fn is_over(&self) -> bool {
        self.final_exit_code.is_some() && !self.was_stopped()
    }

    /// Returns whether the latest process was stopped, and ended by itself.
    pub fn was_stopped(&self) -> bool {
        self.final_exit_code == Some(ExitCode::Interrupted.code())
    }
}

impl TrialRunState {
    /// Returns whether its latest run ended by a failure of the host, for which its cell can do nothing.
    pub fn host_failed(&self) -> bool {
        self.has_ended_with(ExitCode::Host) && self.own_failure().is_none()
    }

    /// Returns the failure of its cell by itself, if its latest run ended by one.
    pub fn own_failure(&self) -> Option<&CellFailure> {
        self.end.as_ref()?.failure.as_ref()
    }

    fn has_ended_with(&self, exit: ExitCode) -> bool {
        self.exit_code() == Some(exit.code())
    }

    /// Returns its exit code, if it has ended.
    pub fn exit_code(&self) -> Option<u8> {
        self.end.as_ref().map(|end| end.exit_code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn started() -> BatchEventKind {
        BatchEventKind::BatchStarted {
            batch: "b".to_owned(),
            trial_runs: 2,
            pid: 1,
            tool: String::new(),
        }
    }

    fn trial_run_started(trial_run: usize, run: &str, attempt: u32) -> BatchEventKind {
        BatchEventKind::TrialRunStarted {
            trial_run,
            run: run.to_owned(),
            cell: "cell".to_owned(),
            trial: 1,
            attempt,
            gpus: Vec::new(),
            concurrent_runs: Vec::new(),
        }
    }

    fn trial_run_ended(trial_run: usize, run: Option<&str>, exit_code: u8) -> BatchEventKind {
        let run = run.map(str::to_owned);
        let end = TrialRunEnd { exit_code, run, ..TrialRunEnd::default() };
        BatchEventKind::TrialRunEnded { trial_run, end }
    }

    fn ended(exit_code: u8) -> BatchEventKind {
        BatchEventKind::BatchEnded { exit_code, reason: None, node: None }
    }

    fn state(events: impl IntoIterator<Item = BatchEventKind>) -> BatchState {
        let events =
            events.into_iter().map(|what| BatchEvent { time: Timestamp::UNIX_EPOCH, what });
        // As the journal stores it.
        let lines = events.map(|event| serde_json::to_string(&event).unwrap());
        let read = lines.map(|line| serde_json::from_str(&line).unwrap());
        BatchState::from_events(&read.collect::<Vec<_>>())
    }

    fn go_on(run: &str) -> TrialRunAction {
        TrialRunAction::Continue { run: run.to_owned() }
    }

    #[test]
    fn a_killed_or_stopped_trial_run_resumes_its_run() {
        let fresh = state([started()]);
        assert_eq!(fresh.next_action(1, 1), TrialRunAction::Start { attempt: 1 });
        let killed = state([started(), trial_run_started(1, "r1", 1)]);
        assert_eq!(killed.next_action(1, 1), go_on("r1"));
        assert_eq!(killed.open_runs(), ["r1"]);
        let stopped = [trial_run_ended(1, Some("r1"), 130), ended(130)];
        let stopped = state([started(), trial_run_started(1, "r1", 1)].into_iter().chain(stopped));
        assert_eq!(stopped.next_action(1, 1), go_on("r1"));
        assert!(!stopped.is_over());
    }

    #[test]
    fn a_cell_s_own_failure_is_retried_only_when_the_batch_is_resumed() {
        let failure = CellFailure::NoSuchTag { image: "a:1".to_owned() };
        let end = TrialRunEnd { exit_code: 3, failure: Some(failure), ..TrialRunEnd::default() };
        let missing = BatchEventKind::TrialRunEnded { trial_run: 1, end };
        let after = state([started(), missing.clone()]);
        assert_eq!(after.next_action(1, 5), TrialRunAction::Complete);
        assert!(after.has_ended(1) && !after.has_result(1));
        let killed = state([started(), missing.clone(), started()]);
        assert_eq!(killed.next_action(1, 5), TrialRunAction::Complete);
        let resumed = state([started(), missing, ended(3), started()]);
        assert_eq!(resumed.next_action(1, 5), TrialRunAction::Start { attempt: 1 });
    }

    #[test]
    fn any_result_is_final() {
        for code in [0, 1, 2, 4, 5] {
            let state = state([
                started(),
                trial_run_started(1, "r1", 1),
                trial_run_ended(1, Some("r1"), code),
            ]);
            assert_eq!(state.next_action(1, 9), TrialRunAction::Complete);
            assert!(state.has_ended(1));
        }
    }

    #[test]
    fn host_failures_are_retried_up_to_the_limit() {
        let mut events =
            vec![started(), trial_run_started(1, "r1", 1), trial_run_ended(1, Some("r1"), 3)];
        assert_eq!(state(events.clone()).next_action(1, 0), TrialRunAction::Complete);
        assert_eq!(state(events.clone()).next_action(1, 1), TrialRunAction::Start { attempt: 2 });
        events.extend([trial_run_started(1, "r2", 2), trial_run_ended(1, Some("r2"), 3)]);
        let after = state(events.clone());
        assert_eq!(after.next_action(1, 1), TrialRunAction::Complete);
        assert!(!after.has_ended(1));
        // Resumed after its end, it may retry as often again.
        events.extend([ended(3), started()]);
        assert_eq!(state(events).next_action(1, 1), TrialRunAction::Start { attempt: 1 });
    }

    #[test]
    fn an_attempt_that_could_not_start_counts() {
        let mut events = vec![started(), trial_run_ended(1, None, 3)];
        assert_eq!(state(events.clone()).next_action(1, 1), TrialRunAction::Start { attempt: 2 });
        events.push(trial_run_ended(1, None, 3));
        assert_eq!(state(events).next_action(1, 1), TrialRunAction::Complete);
    }

    #[test]
    fn a_deleted_run_is_repeated() {
        let lost = BatchEventKind::TrialRunLost { trial_run: 1, run: "r1".to_owned() };
        let events =
            [started(), trial_run_started(1, "r1", 1), trial_run_ended(1, Some("r1"), 0), lost];
        let state = state(events);
        assert_eq!(state.next_action(1, 1), TrialRunAction::Start { attempt: 1 });
        assert_eq!(state.latest_runs().count(), 0);
    }

    /// All events have the same time: the clock was set back after each.
    #[test]
    fn runs_are_ordered_by_their_starts_not_by_the_clock() {
        let state =
            state([started(), trial_run_started(2, "r1", 1), trial_run_started(1, "r2", 1)]);
        let position = |trial_run: usize| state.trial_runs[&trial_run].start.unwrap().position;
        assert!(position(2) < position(1));
    }
}
