//! A verdict, as stored in verdict.json and shown in reports.

use std::collections::BTreeMap;

use itertools::join;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::claim::ClaimVerdict;
use super::{
    Bounds, ExitCode, FigureValue, MoreTrials, NoiseBasis, Outcome, QualifiedOutcome, Qualifier,
    ReasonSentence, RuleCheck, StepOutcome,
};
use retrial_mlperf::check::EvidenceLine;
use retrial_mlperf::figures::find_known_figure;
use retrial_mlperf::{Division, ScenarioName};
use retrial_recipe::model::{Better, Claim, ExpectationKind, Mode, Submission, SweepPoint};
use retrial_stats::OrderEffect;
use retrial_telemetry::TelemetrySummary;

/// The verdict on a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Version of this document.
    pub schema: u32,
    /// The submission whose figures are judged: suite, round, submitter, system, benchmark.
    pub submission: Submission,
    /// Chosen value of each variant axis.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variant: BTreeMap<String, String>,
    /// The run's outcome: the first of its results' in order of precedence.
    pub outcome: Outcome,
    /// Limits of what the outcome shows, each with its reason.
    pub qualifiers: Vec<Qualifier>,
    /// Host settings that may have reduced speed or reliability.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The published figures that hold, do not hold or are undecided, in one sentence; empty if the run's
    /// only result is invalid or failed.
    pub headline: String,
    /// The first result that has this outcome, and its reason; empty if the headline says all.
    pub detail: String,
    /// The exit code of the process.
    pub exit_code: ExitCode,
    /// `MLCommons`' trademark notice, where the figures are `MLPerf`'s.
    pub notice: Option<String>,
    /// The requested one-sided confidence.
    pub confidence: f64,
    /// One per scenario and mode.
    pub results: Vec<ResultVerdict>,
    /// What was claimed of two figures of the run: one that does not hold is an outcome of the run as a published
    /// figure is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<ClaimVerdict>,
}

/// The verdict on one scenario in one mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultVerdict {
    /// The path of the results below the run's directory.
    pub path: String,
    /// The round, if known: `v5.1`.
    #[serde(default)]
    pub round: Option<String>,
    /// The division, if known: `closed`.
    #[serde(default)]
    pub division: Option<Division>,
    /// The submitter, if known.
    #[serde(default)]
    pub submitter: Option<String>,
    /// The system, as published.
    pub system: Option<String>,
    /// The benchmark, as published.
    pub benchmark: String,
    /// The scenario, for example `Offline`.
    pub scenario: ScenarioName,
    /// The point of a sweep that the scenario measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<SweepPoint>,
    /// Performance, accuracy or compliance.
    pub mode: Mode,
    /// Every figure, aggregated over the trials.
    pub figures: BTreeMap<String, FigureValue>,
    /// The figures that the recipe declares, in its order: shown even if nothing was published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<String>,
    /// The columns of tables of these figures, in the recipe's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<FigureColumn>,
    /// The figure that decided, or by which the suite publishes this scenario.
    pub deciding: Option<String>,
    /// The lines of a submission's files that state the deciding figure; only where it is not reproduced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<EvidenceLine>,
    /// Whether the benchmark's own rules passed; false, too, where no round's rules are known.
    pub valid: bool,
    /// Every checked rule, passed or violated.
    pub rules: Vec<RuleCheck>,
    /// Published figures that are shown next to the measured ones, and were not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<UnjudgedReference>,
    /// The published value of the deciding figure.
    pub references: Vec<Reference>,
    /// The deciding figure's ratio; see [`Judgement::ratio`].
    pub ratio: Option<f64>,
    /// The deciding figure's bounds.
    pub bounds: Option<Bounds>,
    /// The deciding figure's margin, as a fraction.
    pub margin: Option<f64>,
    /// The deciding figure's noise.
    pub noise: Option<Noise>,
    /// Telemetry of GPUs and container during the measurements, over all trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<TelemetrySummary>,
    /// The judged trials, in the order in which they ran.
    pub trials: Vec<TrialVerdict>,
    /// The warm-up trials, which were not judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warmups: Vec<TrialVerdict>,
    /// The judgements, one per published figure.
    pub judgements: Vec<Judgement>,
    /// The outcome of this result.
    pub outcome: Outcome,
    /// Limits of what the outcome shows, each with its reason.
    pub qualifiers: Vec<Qualifier>,
    /// The reason of the outcome, in one sentence.
    pub sentence: ReasonSentence,
}

impl Verdict {
    /// Returns the outcome with the kinds of its qualifiers.
    pub fn qualified_outcome(&self) -> QualifiedOutcome {
        QualifiedOutcome::new(self.outcome, &self.qualifiers)
    }

    /// Returns the headline and the detail, for places that have room for one text.
    pub fn sentence(&self) -> String {
        let parts = [&self.headline, &self.detail];
        join(parts.into_iter().filter(|part| !part.is_empty()), " ")
    }
}

impl ResultVerdict {
    /// Returns the outcome with the kinds of its qualifiers.
    pub fn qualified_outcome(&self) -> QualifiedOutcome {
        QualifiedOutcome::new(self.outcome, &self.qualifiers)
    }

    /// Leaves it and its judgements undecided, for a reason.
    pub(crate) fn undecide(&mut self, words: &str) {
        for judgement in &mut self.judgements {
            judgement.outcome = Outcome::Inconclusive;
            judgement.sentence = judgement.sentence.prefixed(words);
            judgement.more_trials = None;
        }
        self.outcome = Outcome::Inconclusive;
        self.sentence = self.sentence.prefixed(words);
    }

    /// Returns the name and the value of the deciding figure.
    pub fn deciding_figure(&self) -> Option<(&str, &FigureValue)> {
        let (name, figure) = self.figures.get_key_value(self.deciding.as_ref()?)?;
        Some((name, figure))
    }

    /// Returns whether the result violates a rule. One that is not valid and violates none was not
    /// judged: no round's rules are known for it.
    pub fn violates_rule(&self) -> bool {
        matches!(self.outcome, Outcome::Invalid | Outcome::Failed)
    }

    /// Returns the values of a figure, trial by trial, in the unit of the trials; none of a single trial.
    pub fn figure_of_each_trial(&self, figure: &str) -> Vec<f64> {
        let figures = self.trials.iter().filter_map(|trial| {
            let mut figures = trial.figures.iter();
            figures.find(|(name, _)| name.eq_ignore_ascii_case(figure))
        });
        let values: Vec<f64> = figures.map(|(_, figure)| figure.value).collect();
        if values.len() > 1 { values } else { Vec::new() }
    }

    /// Returns the judgement of the deciding figure; none where nothing is published for it.
    fn deciding_judgement(&self) -> Option<&Judgement> {
        let deciding = self.deciding.as_ref()?;
        self.judgements.iter().find(|judgement| judgement.figure == *deciding)
    }

    /// Returns whether its deciding figure does not reproduce the published one, also where a rule is violated.
    pub fn differs_from_published(&self) -> bool {
        let judged = self.deciding_judgement();
        judged.is_some_and(|judgement| judgement.outcome == Outcome::NotReproduced)
    }

    /// Returns whether its deciding figure is of a single trial, whose noise the recipe does not state.
    pub fn is_of_single_trial(&self) -> bool {
        let is_single = self.mode == Mode::Performance && self.trials.len() == 1;
        self.deciding_judgement().map_or(is_single, Judgement::is_of_single_trial)
    }

    /// Returns the outcome of a judged figure: a violated rule counts, whatever the figure.
    pub fn outcome_of(&self, judgement: &Judgement) -> Outcome {
        match self.outcome {
            Outcome::Invalid | Outcome::Failed => self.outcome,
            _ => judgement.outcome,
        }
    }
}

/// One trial: its figures, its validity, its telemetry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialVerdict {
    /// Its number, from 1.
    pub trial: u32,
    /// The path of its results below the run's directory.
    pub path: String,
    /// How its step ended.
    pub step: StepOutcome,
    /// Whether the benchmark's own rules passed.
    pub valid: bool,
    /// The figures that it measured, by name.
    pub figures: BTreeMap<String, FigureValue>,
    /// Judged figures in which it is an outlier among the trials; it counts anyway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlier_in: Vec<String>,
    /// Telemetry of GPUs and container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<TelemetrySummary>,
}

/// One published figure, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The figure's name, for example `tokens_per_second`.
    pub figure: String,
    /// Its value over all trials: the geometric mean, median, or Olympic mean.
    pub measured: Option<FigureValue>,
    /// Whether higher or lower values are better; none if neither the recipe nor `MLPerf` says so.
    pub better: Option<Better>,
    /// The published figures; the first one with `decides` was compared with.
    pub references: Vec<Reference>,
    /// How good it is next to the published figure: above 1 is better, whichever way the figure
    /// goes (published over measured for latencies).
    pub ratio: Option<f64>,
    /// One-sided bounds of the ratio, each at `confidence`.
    pub bounds: Option<Bounds>,
    /// The confidence of each bound: the run's, with the error split between the stages.
    pub confidence: f64,
    /// The claim that was tested.
    #[serde(default)]
    pub claim: Claim,
    /// The margin, as a fraction.
    pub margin: f64,
    /// The factor by which reference convergence points change the aggregated figure (`MLPerf`
    /// Training).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalised_by: Option<f64>,
    /// The noise of one trial.
    pub noise: Noise,
    /// The source of an assumed noise: `the recipe`, `16 published pairs of llama2-70b Offline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub noise_basis: Option<NoiseBasis>,
    /// The number of judged trials.
    pub trials: u32,
    /// Outliers among them; they count anyway.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outliers: Vec<u32>,
    /// Rare slow trials: they count in the median, by which the figure is then judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<u32>,
    /// How they depend on their order; if they do, they count as one trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderEffect>,
    /// By how much the first is slower than the others, as a log ratio, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<f64>,
    /// By how much it may be worse than published (where an equivalence is claimed: differ from
    /// it), at `confidence`; 0: it is no worse.
    pub holds_within: Option<f64>,
    /// If inconclusive: how many more trials would decide.
    pub more_trials: Option<MoreTrials>,
    /// The outcome of this figure.
    pub outcome: Outcome,
    /// The reason of the outcome, in one sentence.
    pub sentence: ReasonSentence,
}

impl Judgement {
    /// A figure that is this many times better or worse than published. Units that are taken for each other differ by
    /// more (bits and bytes excepted): minutes and seconds by 60, a prefix by 1,000. Machines on which one benchmark is
    /// published differ by less.
    const MISREAD_RATIO: f64 = 10.0;

    /// Returns whether a recipe's own figure is so far from the published one that its pattern or its unit is probably
    /// wrong. `LoadGen`'s figures have no pattern.
    pub fn is_probably_misread(&self) -> bool {
        let is_far =
            |ratio: f64| !(1.0 / Self::MISREAD_RATIO..=Self::MISREAD_RATIO).contains(&ratio);
        self.ratio.is_some_and(is_far) && find_known_figure(&self.figure).is_none()
    }

    /// Returns whether it rests on one trial, whose noise the recipe does not state.
    fn is_of_single_trial(&self) -> bool {
        let is_stated = match self.noise {
            // An exact figure has no noise.
            Noise::Assumed(noise) => noise <= 0.0 || self.noise_basis == Some(NoiseBasis::Recipe),
            Noise::Measured(_) => true,
            Noise::Unknown => false,
        };
        self.trials == 1 && !is_stated
    }
}

/// A published figure that was compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    /// The value, in the figure's unit.
    pub value: f64,
    /// The kind of source.
    pub kind: ExpectationKind,
    /// Where it was published, for example `6.0-0002`.
    pub source: Option<String>,
    /// Declared standard deviation, as a fraction; none: the value is exact.
    pub sigma: Option<f64>,
    /// The measured figure as a ratio to it; above 1 is better.
    pub ratio: Option<f64>,
    /// Whether it decides; the others are only shown.
    pub decides: bool,
}

impl Reference {
    /// Returns the published figure that was compared with.
    pub fn find_deciding(references: &[Self]) -> Option<&Self> {
        references.iter().find(|reference| reference.decides)
    }
}

/// A figure that the recipe declares, as a column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FigureColumn {
    /// The figure's name; of a table, without its entries.
    pub figure: String,
    /// The heading: the recipe's, else the name and the unit.
    pub heading: String,
    /// The words that name the entries of a table, for example `shape`; empty if it is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
}

/// A published figure that is shown next to the measured one, and was not judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnjudgedReference {
    /// The figure's name, for example `latency_p99_ns`.
    pub figure: String,
    /// Its value over all trials; none where it was not measured.
    pub measured: Option<FigureValue>,
    /// The published value, in the figure's unit.
    pub published: FigureValue,
    /// The kind of source.
    pub kind: ExpectationKind,
    /// Where it was published.
    pub source: Option<String>,
}

/// The relative standard deviation of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// Estimated from the trials.
    Measured(f64),
    /// Assumed, since there is one trial.
    Assumed(f64),
    /// Neither measured nor assumed.
    Unknown,
}
