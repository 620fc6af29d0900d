//! The lines of a batch: one for each run that ended, with its figure and an estimate of the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use itertools::Itertools as _;

use super::sentence;
use retrial_batch::BatchPlan;
use retrial_batch::journal::{BatchEvent, BatchEventKind, BatchState, TrialRunEnd};
use retrial_document::ErrorText;
use retrial_document::measures::format::{format_count, format_duration};
use retrial_plan::remaining::{EstimateBasis, TimeEstimate};
use retrial_results::verdict::{ExitCode, Outcome, number};
use retrial_store::journal::LiveEvent;

/// Figures of a run that are shown.
const MAX_SHOWN_FIGURES: usize = 3;

/// How far a batch is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchProgress {
    pub ended_runs: usize,
    pub all_runs: usize,
    /// The current run in words, with the time that is left.
    pub text: String,
}

/// The lines of a batch.
#[derive(Debug)]
pub struct PlainBatchProgress {
    plan: BatchPlan,
    workers: usize,
    shows_starts: bool,
    state: BatchState,
    /// Trial runs that ended before, and whose results count.
    reused_trial_runs: BTreeSet<usize>,
    /// Reasons that were reported before: a host that fails, fails run after run.
    reported_reasons: BTreeSet<ErrorText>,
    /// How long a run of each cell takes, by earlier runs or its recipe.
    estimates: BTreeMap<usize, TimeEstimate>,
}

impl PlainBatchProgress {
    /// Lines of a batch with so many runs at once. With `starts` the start of each run has a line,
    /// for progress that does not name the run.
    pub fn new(
        plan: BatchPlan,
        workers: usize,
        shows_starts: bool,
        estimates: BTreeMap<usize, TimeEstimate>,
    ) -> Self {
        Self {
            plan,
            workers: workers.max(1),
            shows_starts,
            state: BatchState::default(),
            reused_trial_runs: BTreeSet::new(),
            reported_reasons: BTreeSet::new(),
            estimates,
        }
    }

    /// Sets how many runs are under way at once.
    pub fn set_workers(&mut self, workers: usize) {
        self.workers = workers.max(1);
    }

    /// Returns the lines of an event.
    pub fn report_event(&mut self, event: &BatchEvent) -> Vec<String> {
        let mut line = self.describe_event(&event.what);
        let help = self.help_lines(&event.what);
        self.state.apply(event);
        match &event.what {
            BatchEventKind::TrialRunEnded { end, .. } => {
                self.reported_reasons.extend(end.reason.clone());
                // What follows counts the trial run itself.
                line = line.map(|line| line + &self.remaining_text());
            }
            BatchEventKind::Reused { trial_runs } => self.reused_trial_runs.extend(trial_runs),
            _ => {}
        }
        line.into_iter().chain(help).collect()
    }

    /// The remedies of an error that was not reported before, below the line of the event.
    fn help_lines(&self, what: &BatchEventKind) -> Vec<String> {
        let error = match what {
            BatchEventKind::TrialRunEnded { end, .. } => end.reason.as_ref(),
            BatchEventKind::ImageFailed { error, .. } => Some(error),
            _ => None,
        };
        let new_error = error.filter(|error| !self.reported_reasons.contains(error));
        let lines = new_error.into_iter().flat_map(ErrorText::help_lines);
        lines.map(|line| format!("    {}", sentence::to_message_line(&line))).collect()
    }

    /// `[2/10] rocm=7.1.1 trial 1/5`
    fn trial_run_label(&self, trial_run: usize) -> String {
        let is_search = self.plan.search.is_some();
        let number = if is_search {
            // The trial runs of a search are not numbered in their order.
            format!("[{}]", self.start_position(trial_run))
        } else {
            format!("[{trial_run}/{}]", self.plan.schedule.trial_runs.len())
        };
        let planned = self.plan.trial_run(trial_run);
        let named = planned.and_then(|planned| {
            let cell = self.plan.cells.get(planned.cell)?;
            let name = sentence::to_message_line(&cell.name);
            let total = (!is_search).then(|| format!("/{}", cell.trials));
            let trial = format!("{}{}", planned.trial, total.unwrap_or_default());
            Some(format!("{number} {name} trial {trial}"))
        });
        named.unwrap_or(number)
    }

    /// Whether a trial run is judged with others of its cell.
    fn is_one_of_several(&self, trial_run: usize) -> bool {
        let planned = self.plan.trial_run_with_cell(trial_run);
        planned.is_some_and(|(_, cell)| cell.trials > 1)
    }

    /// The position of a trial run among those of a search that have begun, from 1.
    fn start_position(&self, trial_run: usize) -> usize {
        let is_known = self.state.trial_runs.contains_key(&trial_run);
        self.state.trial_runs.len() + usize::from(!is_known)
    }

    fn describe_start(&self, batch: &str, trial_runs: usize) -> String {
        let cells = self.plan.cells.len();
        if let Some(search) = &self.plan.search {
            let (values, most) =
                (format_count(cells, "value"), format_count(search.most as usize, "run"));
            return format!("search {batch}: {values} along {}, at most {most}", search.axis);
        }
        let at_once = match self.workers {
            1 => String::new(),
            workers => format!(", {workers} at once"),
        };
        let about = self.estimate_text().unwrap_or_default();
        let (runs, cells) = (format_count(trial_runs, "run"), format_count(cells, "cell"));
        format!("batch {batch}: {runs} of {cells}{at_once}{about}")
    }

    fn describe_event(&self, what: &BatchEventKind) -> Option<String> {
        Some(match what {
            BatchEventKind::BatchStarted { batch, trial_runs, .. } => {
                self.describe_start(batch, *trial_runs)
            }
            BatchEventKind::Reused { trial_runs } if trial_runs.is_empty() => return None,
            BatchEventKind::Reused { trial_runs } => {
                let reused = format_count(trial_runs.len(), "run");
                let all = self.plan.schedule.trial_runs.len();
                match self.plan.search {
                    Some(_) => format!("reused: {reused} already complete"),
                    None => format!("reused: {reused} of {all} already complete, skipped"),
                }
            }
            BatchEventKind::Detached { resume } => {
                format!("detached from its terminal, the batch continues; reattach with: {resume}")
            }
            BatchEventKind::ImagePulled { image, seconds } => {
                format!(
                    "pulled ahead: {} ({})",
                    sentence::to_message_line(image),
                    format_duration(*seconds)
                )
            }
            BatchEventKind::ImageFailed { image, error } => format!(
                "warning: {} cannot be pulled, and its run will try again: {}",
                sentence::to_message_line(image),
                sentence::to_message_line(&error.message)
            ),
            BatchEventKind::ImageRemoved { image, removed } => {
                let result =
                    if *removed { "removed" } else { "kept, since something else uses it" };
                format!("{result}: {}", sentence::to_message_line(image))
            }
            BatchEventKind::TrialRunStarted { trial_run, run, attempt, gpus, .. } => {
                let again = match attempt {
                    1 if gpus.is_empty() && !self.shows_starts => return None,
                    1 => String::new(),
                    attempt => format!(", attempt {attempt}"),
                };
                let gpu_list = (!gpus.is_empty()).then(|| format!(" on GPUs {}", gpus.join(", ")));
                let on = gpu_list.unwrap_or_default();
                format!("{}: run {run}{again}{on}", self.trial_run_label(*trial_run))
            }
            BatchEventKind::TrialRunReattached { trial_run, run } => {
                format!("{}: run {run} continues", self.trial_run_label(*trial_run))
            }
            BatchEventKind::TrialRunLost { trial_run, run } => format!(
                "{}: run {run} is missing on this host; it starts again",
                self.trial_run_label(*trial_run)
            ),
            BatchEventKind::TrialRunEnded { trial_run, end } => {
                let end_reason = end.reason.as_ref();
                let reported =
                    end_reason.is_some_and(|reason| self.reported_reasons.contains(reason));
                let text = describe_end(end, reported, self.is_one_of_several(*trial_run));
                format!("{}: {text}", self.trial_run_label(*trial_run))
            }
            BatchEventKind::Warning { text } => {
                format!("warning: {}", sentence::to_message_line(text))
            }
            BatchEventKind::Live(LiveEvent::Notice { text }) => sentence::to_message_line(text),
            // They are of its runs.
            BatchEventKind::Live(_)
            | BatchEventKind::ImageMissing { .. }
            | BatchEventKind::Judged { .. }
            | BatchEventKind::BatchEnded { .. } => return None,
        })
    }

    pub fn cell_of_trial_run(&self, trial_run: usize) -> Option<usize> {
        Some(self.plan.trial_run(trial_run)?.cell)
    }

    /// Returns how far the batch is in this trial run.
    pub fn overall_progress(&self, trial_run: usize) -> BatchProgress {
        if let Some(search) = &self.plan.search {
            return BatchProgress {
                ended_runs: self.start_position(trial_run) - 1,
                all_runs: search.most as usize,
                text: self.trial_run_label(trial_run),
            };
        }
        let all = self.plan.schedule.trial_runs.len();
        BatchProgress {
            ended_runs: all - self.remaining_trial_runs().len(),
            all_runs: all,
            text: self.trial_run_label(trial_run) + &self.remaining_text(),
        }
    }

    fn remaining_trial_runs(&self) -> Vec<usize> {
        let is_open = |trial_run: &usize| {
            !self.state.has_ended(*trial_run) && !self.reused_trial_runs.contains(trial_run)
        };
        let trial_runs = 1..=self.plan.schedule.trial_runs.len();
        trial_runs.filter(is_open).collect()
    }

    /// `; 3 remaining, about 12m 10s`
    fn remaining_text(&self) -> String {
        let remaining = self.remaining_trial_runs();
        if remaining.is_empty() || self.plan.search.is_some() {
            return String::new();
        }
        let about = self.estimate_text().unwrap_or_default();
        format!("; {} remaining{about}", remaining.len())
    }

    /// `, about 12m 10s`: the time of all runs that remain.
    fn estimate_text(&self) -> Option<String> {
        let open_trial_runs = self.remaining_trial_runs().into_iter();
        let remaining = open_trial_runs.map(|trial_run| self.expected_seconds(trial_run));
        let seconds: f64 = remaining.sum::<Option<_>>()?;
        let workers = f64::from(u32::try_from(self.workers).unwrap_or(1));
        Some(format!(", about {}", format_duration(seconds / workers)))
    }

    /// The expected duration of a trial run, seconds: the mean of the same cell's runs, or as long as the recipe
    /// took before, or the mean of all, or what the recipe expects.
    fn expected_seconds(&self, trial_run: usize) -> Option<f64> {
        let cell = self.cell_of_trial_run(trial_run);
        let mean = |of_cell: bool| {
            let ended = self.state.trial_runs.iter().filter_map(|(other, state)| {
                let end = state.end.as_ref()?;
                // A failed run took as long as it took to fail.
                let exit = ExitCode::try_from(end.exit_code);
                let is_measured = exit.is_ok_and(ExitCode::is_judgement) && end.seconds > 0.0;
                let counts = is_measured && (!of_cell || self.cell_of_trial_run(*other) == cell);
                counts.then_some(end.seconds)
            });
            let (number, sum) = ended.fold((0.0, 0.0), |(number, sum), s| (number + 1.0, sum + s));
            (number > 0.0).then(|| sum / number)
        };
        let estimate = cell.and_then(|cell| self.estimates.get(&cell));
        let estimate = |basis| Some(estimate.filter(|estimate| estimate.basis == basis)?.seconds);
        mean(true)
            .or_else(|| estimate(EstimateBasis::EarlierRun))
            .or_else(|| mean(false))
            .or_else(|| estimate(EstimateBasis::Recipe))
    }
}

/// `reproduced, Offline tokens_per_second 103,480 tokens/s (3m 12s)`
/// With `reported`, its reason is that of a run before.
/// How a trial run ended. One of several trials has no outcome of its own, unless it failed or is invalid.
fn describe_end(end: &TrialRunEnd, reported: bool, is_one_of_several: bool) -> String {
    let code = end.exit_code;
    let word = match (&end.failure, &end.outcome, ExitCode::try_from(code)) {
        (_, _, Ok(ExitCode::Interrupted)) => Some("stopped".to_owned()),
        (Some(failure), ..) => Some(failure.to_string()),
        (_, _, Ok(ExitCode::Usage | ExitCode::Host | ExitCode::StepFailed)) => {
            Some(format!("failed with exit code {code}"))
        }
        (_, Some(ended), _) if is_one_of_several && ended.outcome < Outcome::Invalid => None,
        (_, Some(ended), _) => Some(ended.to_string()),
        (_, None, _) => Some(format!("ended with exit code {code}")),
    };
    let figures = end.figures.iter().take(MAX_SHOWN_FIGURES).map(|figure| {
        let scenario = sentence::to_message_line(&figure.scenario);
        let name = sentence::to_message_line(&figure.name);
        format!("{scenario} {name} {}", number::format_figure(figure.value, &figure.unit))
    });
    let mut text = word.into_iter().chain(figures).join(", ");
    if text.is_empty() {
        text += "ended";
    }
    if reported {
        text += " for the same reason";
    } else if let Some(reason) = &end.reason {
        let _ = write!(text, ": {}", sentence::to_message_line(&reason.message));
    }
    if end.seconds > 0.0 {
        let _ = write!(text, " ({})", format_duration(end.seconds));
    }
    text
}

#[cfg(test)]
mod tests;
