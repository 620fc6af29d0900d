//! Verdicts on published figures by the evidence. Pure: evidence in, [`Verdict`] out.
//!
//! [`judge()`] works in this order, since validity comes before speed:
//!
//! 1. `rules`: did every trial finish, give a new result, keep the benchmark's own rules?
//! 2. `published_figure`: each published figure against its trials, as log ratios ([`retrial_stats`]).
//! 3. `judge`: `holm`'s correction over all figures, outcomes, accuracy coupled to performance.
//! 4. `claim`: what the recipe claims of two figures, corrected for all claims by themselves.
//! 5. `sentence`: one sentence of reason for each.
//!
//! [`decide_stage`] asks the same of the trials so far, for `trials: {min, max}`.

mod benchmark;
mod bounds;
pub mod claim;
pub mod comparison;
mod context;
pub mod convergence;
mod coupling;
mod draft;
pub mod evidence;
mod exit;
mod figure_value;
mod figures;
mod judge;
mod model;
mod noise_basis;
mod notice;
pub use retrial_readings::number;
mod outcome;
mod published_figure;
pub mod qualifier;
mod qualify;
mod reason_sentence;
mod reference;
mod rules;
mod sentence;
mod stages;
mod telemetry;
mod trial_log;

pub use benchmark::BenchmarkVerdict;
pub use bounds::Bounds;
pub use context::RunContext;
pub(crate) use context::{qualifier_of_part, settings_qualifiers};
pub use evidence::{Evidence, StatedValidity, StepOutcome, TrialEvidence, table_name};
pub use exit::ExitCode;
pub use figure_value::{FigureLocation, FigureValue, MarkedLine, RepeatedValues, Skipped};
pub use judge::judge;
pub(crate) use judge::judge_whole_benchmark;
pub use model::{
    FigureColumn, Judgement, Noise, Reference, ResultVerdict, TrialVerdict, UnjudgedReference,
    Verdict,
};
pub use noise_basis::NoiseBasis;
pub use notice::{published_notice, trademark_notice};
pub use outcome::Outcome;
pub use qualifier::{QualifiedOutcome, Qualifier, QualifierKind};
pub use reason_sentence::ReasonSentence;
pub use reference::UNKNOWN_DIRECTION;
pub use retrial_mlperf::check::RuleCheck;
pub use retrial_stats::MoreTrials;
pub use stages::{StageDecision, decide_stage};
pub use trial_log::{ContentPart, LogIdentity, ReadFigure, TextIdentity, TrialLog};

#[cfg(any(test, feature = "testing"))]
#[allow(clippy::pedantic, clippy::unwrap_used, reason = "tests")]
pub mod tests;
