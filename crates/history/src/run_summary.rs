//! The summary of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use retrial_mlperf::ScenarioName;
use retrial_plan::BatchPosition;
use retrial_recipe::model::{Mode, Submission};
use retrial_results::verdict::{ExitCode, Outcome, QualifiedOutcome, QualifierKind, Verdict};
use retrial_store::RunDirectory;
use retrial_store::process::ProcessIdentity;

/// The summary of a run. Fields that its files do not state are empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Its id: its directory's name.
    #[serde(rename = "run")]
    pub id: String,
    /// The directory with the run's files.
    pub path: PathBuf,
    /// The recipe's name or path.
    pub recipe: String,
    /// SHA-256 of the resolved recipe.
    pub recipe_hash: String,
    /// The title of the recipe: `AMD, Llama 2 70B`.
    pub title: String,
    /// Suite, round, submitter, system and benchmark of the published result.
    pub submission: Submission,
    /// The batch that it is a part of.
    pub batch: Option<BatchPosition>,
    /// Chosen value of each variant axis.
    pub variant: BTreeMap<String, String>,
    /// The value of each parameter, as text.
    pub params: BTreeMap<String, String>,
    /// Parameters that `--set` changed.
    pub modified: Vec<String>,
    /// When it started first.
    pub started: Option<Timestamp>,
    /// When it ended last.
    pub ended: Option<Timestamp>,
    /// The host name of the machine that ran it.
    pub host: String,
    /// Its GPUs: `8 x MI355X`.
    pub gpus: String,
    /// The release of `ROCm` in the container, as it was read there.
    pub rocm: String,
    /// The release of `ROCm` on the machine.
    pub rocm_host: String,
    /// The version of the GPUs' driver.
    pub driver: String,
    /// The release of the kernel, as `uname -r` prints it.
    pub kernel: String,
    /// The image, as the plan names it.
    pub image: String,
    /// The image's digest, or its id where it was built.
    pub digest: String,
    /// The version of Retrial that planned it.
    pub tool: String,
    /// The machine that it was imported from.
    pub imported_from: Option<String>,
    /// Whether it runs, waits for its job, was interrupted or has ended.
    pub run_state: RunState,
    /// The outcome of its verdict; none if it was not judged.
    pub outcome: Option<Outcome>,
    pub qualifiers: Vec<QualifierKind>,
    /// The verdict on all trials of its cell in a batch, which are judged together; none if the run is judged alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<JudgedCell>,
    /// The exit code of the tool.
    pub exit_code: Option<u8>,
    /// Why it ended early, in a lower-case fragment.
    pub reason: Option<String>,
    /// The sentence of its verdict; empty if it was not judged.
    pub sentence: String,
    /// The figure that this run measured.
    pub deciding: Option<DecidingFigure>,
    /// Its measurements as JSON, for comparisons.
    #[serde(skip)]
    pub measured: Option<String>,
}

/// The figure that decided a run's outcome, or by which its suite publishes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecidingFigure {
    /// The scenario of the result: `Offline`.
    pub scenario: ScenarioName,
    /// The mode in which it was measured.
    pub mode: Mode,
    /// The name of the figure, as the recipe or the suite has it.
    pub figure: String,
    /// Its value; none where a trial has none.
    pub value: Option<f64>,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// Its ratio to the published figure: above 1 is better.
    pub ratio: Option<f64>,
    /// Whether the figure is of a single trial, whose noise the recipe does not state.
    pub is_of_single_trial: bool,
}

impl DecidingFigure {
    /// The figure of a result with the verdict's outcome: of performance before the other modes.
    pub(crate) fn from_verdict(verdict: &Verdict) -> Option<Self> {
        let result = verdict.results.iter().filter(|result| result.deciding.is_some()).min_by_key(
            |result| match (result.outcome == verdict.outcome, result.mode) {
                (true, Mode::Performance) => 0,
                (true, _) => 1,
                (false, _) => 2,
            },
        )?;
        let figure = result.deciding.clone()?;
        let measured = result.figures.get(&figure);
        Some(Self {
            scenario: result.scenario.clone(),
            mode: result.mode,
            value: measured.map(|figure| figure.value).filter(|value| value.is_finite()),
            unit: measured.map(|figure| figure.unit.clone()).unwrap_or_default(),
            ratio: result.ratio,
            is_of_single_trial: result.is_of_single_trial(),
            figure,
        })
    }
}

/// The verdict on trials of a batch's cell that were judged together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedCell {
    /// The number of trials with evidence.
    pub trials: usize,
    pub outcome: Outcome,
    pub qualifiers: Vec<QualifierKind>,
    /// The sentence of its verdict.
    pub sentence: String,
    /// The figure that decided, over all trials.
    pub deciding: Option<DecidingFigure>,
}

/// A verdict on a run alone, or on the trials of its cell.
#[derive(Debug, Clone, PartialEq)]
pub struct RunVerdict<'a> {
    pub outcome: QualifiedOutcome,
    /// The sentence of the verdict.
    pub sentence: &'a str,
    /// The figure that the outcome rests on.
    pub figure: Option<&'a DecidingFigure>,
    /// The number of trials that were judged together; 1 of a run alone.
    pub trials: usize,
}

impl RunVerdict<'_> {
    /// Returns whether the outcome rests on one trial, whose noise the recipe does not state.
    pub fn rests_on_single_trial(&self) -> bool {
        self.outcome.outcome < Outcome::Invalid
            && self.figure.is_some_and(|deciding| deciding.is_of_single_trial)
    }
}

/// Whether a run is over, by its journal and its lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// A process follows it.
    Running(ProcessIdentity),
    /// Its job was submitted, and no event of the run shows that it has started.
    Submitted,
    /// It started and did not end, and no process follows it.
    #[default]
    Interrupted,
    /// Its journal records its end.
    Ended,
}

impl RunSummary {
    pub fn directory(&self) -> RunDirectory {
        RunDirectory::from_path(self.path.clone())
    }

    /// Returns its state in a word: `running`, `submitted`, an outcome, `stopped`, `failed` or `interrupted`.
    pub fn state_word(&self) -> &'static str {
        let stopped = Some(ExitCode::Interrupted.code());
        match (&self.run_state, self.outcome) {
            (RunState::Running { .. }, _) => "running",
            (RunState::Submitted, _) => "submitted",
            (_, Some(outcome)) => outcome.word(),
            (RunState::Ended, None) if self.exit_code == stopped => "stopped",
            (RunState::Ended, None) => "failed",
            (RunState::Interrupted, None) => "interrupted",
        }
    }

    /// Returns its verdict's outcome with the kinds of its qualifiers.
    pub fn qualified_outcome(&self) -> Option<QualifiedOutcome> {
        let kinds = self.qualifiers.iter().copied();
        Some(QualifiedOutcome::from_kinds(self.outcome?, kinds))
    }

    /// Returns the verdict on this run alone.
    pub fn own_verdict(&self) -> Option<RunVerdict<'_>> {
        Some(RunVerdict {
            outcome: self.qualified_outcome()?,
            sentence: &self.sentence,
            figure: self.deciding.as_ref(),
            trials: 1,
        })
    }

    /// Returns the verdict that counts: on all trials of its cell, or on the run alone.
    pub fn deciding_verdict(&self) -> Option<RunVerdict<'_>> {
        let of_cell = |cell: &'_ JudgedCell| {
            QualifiedOutcome::from_kinds(cell.outcome, cell.qualifiers.iter().copied())
        };
        self.cell.as_ref().map_or_else(
            || self.own_verdict(),
            |cell| {
                Some(RunVerdict {
                    outcome: of_cell(cell),
                    sentence: &cell.sentence,
                    figure: cell.deciding.as_ref().or(self.deciding.as_ref()),
                    trials: cell.trials,
                })
            },
        )
    }

    /// Returns its position in a batch of this home; none for an imported run, whose batch is in another home.
    pub fn local_batch(&self) -> Option<&BatchPosition> {
        self.batch.as_ref().filter(|_| self.imported_from.is_none())
    }

    /// Its state for people: [`Self::state_word`], an outcome with its qualifiers.
    pub fn describe_state(&self) -> String {
        self.describe_state_by(self.own_verdict())
    }

    /// Its state for people, with the verdict that counts: [`Self::deciding_verdict`].
    pub fn describe_deciding_state(&self) -> String {
        self.describe_state_by(self.deciding_verdict())
    }

    fn describe_state_by(&self, verdict: Option<RunVerdict<'_>>) -> String {
        let is_over = self.outcome.is_some_and(|own| own.word() == self.state_word());
        let verdict = verdict.filter(|_| is_over);
        verdict.map_or_else(|| self.state_word().to_owned(), |verdict| verdict.outcome.to_string())
    }

    /// Returns its duration from the first start to the last end, seconds.
    pub fn duration_seconds(&self) -> Option<f64> {
        let lasted = self.ended?.duration_since(self.started?);
        Some(lasted.as_secs_f64().max(0.0))
    }

    /// The value of each variant axis, and of each parameter that `--set` changed.
    pub fn chosen_settings(&self) -> impl Iterator<Item = (&String, &String)> {
        let modified_names = self.modified.iter();
        let changed = modified_names.filter_map(|name| Some((name, self.params.get(name)?)));
        self.variant.iter().chain(changed)
    }

    /// `backend=vllm,rocm=7.1.1`: the values of [`Self::chosen_settings`].
    pub fn format_choices(&self) -> String {
        let all = self.chosen_settings().map(|(name, value)| format!("{name}={value}"));
        all.collect::<Vec<String>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_the_most_specific_word() {
        let mut row = RunSummary::default();
        assert_eq!(row.state_word(), "interrupted");
        row.run_state = RunState::Ended;
        row.exit_code = Some(3);
        assert_eq!(row.state_word(), "failed");
        row.exit_code = Some(130);
        assert_eq!(row.state_word(), "stopped");
        row.outcome = Some(Outcome::NotReproduced);
        assert_eq!(row.state_word(), "not reproduced");
        row.run_state = RunState::Running(ProcessIdentity::current().clone());
        assert_eq!(row.state_word(), "running");
        row.run_state = RunState::Submitted;
        assert_eq!(row.state_word(), "submitted");
    }

    #[test]
    fn a_described_outcome_has_its_qualifiers() {
        let mut row = RunSummary {
            outcome: Some(Outcome::Reproduced),
            qualifiers: vec![QualifierKind::UnpinnedImage, QualifierKind::Modified],
            ..RunSummary::default()
        };
        assert_eq!(row.describe_state(), "reproduced (modified, unpinned image)");
        row.run_state = RunState::Running(ProcessIdentity::current().clone());
        assert_eq!(row.describe_state(), "running");
    }

    #[test]
    fn options_name_axes_and_modified_params() {
        let pairs = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter();
            pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let row = RunSummary {
            variant: pairs(&[("rocm", "7.1.1"), ("backend", "vllm")]),
            params: pairs(&[("batch", "4"), ("results", "/results")]),
            modified: vec!["batch".to_owned()],
            ..RunSummary::default()
        };
        assert_eq!(row.format_choices(), "backend=vllm,rocm=7.1.1,batch=4");
    }
}
