//! The signs and tones of outcomes, changes and checks, and the word next to scores that nobody verified.

use itertools::{Itertools as _, join};

use crate::document::{StatusMark, TableCell, Tone};
use retrial_batch::search::SearchOutcome;
use retrial_host::checks::HostCheckState;
use retrial_results::verdict::claim::ClaimOutcome;
use retrial_results::verdict::comparison::Change;
use retrial_results::verdict::{Outcome, QualifiedOutcome, RuleCheck};

pub(super) const BAD: StatusMark = StatusMark::new(Tone::Bad, "!");
pub(super) const WARNING: StatusMark = StatusMark::new(Tone::Open, "~");
pub(super) const GOOD: StatusMark = StatusMark::new(Tone::Good, "✓");

/// Of a run that has not ended.
pub(super) const UNFINISHED: StatusMark = StatusMark::new(Tone::Open, "-");

/// `MLCommons`' guidelines require the word next to each score.
pub(super) fn unverified_word(unverified: bool) -> &'static str {
    if unverified { "unverified" } else { "" }
}

/// Signs identify outcomes without colour.
impl From<Outcome> for StatusMark {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Reproduced => GOOD,
            Outcome::Measured => Self::new(Tone::Plain, "•"),
            Outcome::Inconclusive => Self::new(Tone::Open, "?"),
            Outcome::Running => UNFINISHED,
            Outcome::NotReproduced => Self::new(Tone::Bad, "✗"),
            Outcome::Invalid | Outcome::Failed => BAD,
        }
    }
}

impl From<ClaimOutcome> for StatusMark {
    fn from(outcome: ClaimOutcome) -> Self {
        match outcome {
            ClaimOutcome::Supported => GOOD,
            ClaimOutcome::NotDecided => Self::new(Tone::Open, "?"),
            ClaimOutcome::Contradicted => Self::new(Tone::Bad, "✗"),
        }
    }
}

impl From<SearchOutcome> for StatusMark {
    fn from(outcome: SearchOutcome) -> Self {
        match outcome {
            SearchOutcome::Found => GOOD,
            SearchOutcome::NoDifference => Self::new(Tone::Bad, "✗"),
            SearchOutcome::NotDecided => Self::new(Tone::Open, "?"),
        }
    }
}

/// Accuracy varies slightly with every change; the verdict says whether it suffices.
impl From<Change> for StatusMark {
    fn from(change: Change) -> Self {
        match change {
            Change::Faster => Self::new(Tone::Good, "▲"),
            Change::Slower => Self::new(Tone::Bad, "▼"),
            Change::Better => Self::new(Tone::Faint, "▲"),
            Change::Worse => Self::new(Tone::Faint, "▼"),
            Change::NoDifference => Self::new(Tone::Faint, "≈"),
            Change::NotCompared => Self::new(Tone::Open, "!"),
        }
    }
}

impl From<HostCheckState> for StatusMark {
    fn from(state: HostCheckState) -> Self {
        match state {
            HostCheckState::Ok => GOOD,
            HostCheckState::Unknown => Self::new(Tone::Faint, "?"),
            HostCheckState::Warning => Self::new(Tone::Open, "!"),
            HostCheckState::Error => Self::new(Tone::Bad, "✗"),
        }
    }
}

/// An outcome with its qualifiers: no table has one without them.
pub(super) fn outcome_cell(outcome: &QualifiedOutcome) -> TableCell {
    TableCell::status(outcome.outcome, outcome.outcome.word()).with_note(join(&outcome.kinds, ", "))
}

/// Counts outcomes: `2 reproduced, 1 reproduced (modified)`.
pub fn count_outcomes(outcomes: impl Iterator<Item = QualifiedOutcome>) -> String {
    let counts = outcomes.counts().into_iter().sorted();
    join(counts.map(|(outcome, count)| format!("{count} {outcome}")), ", ")
}

pub(super) fn change_cell(change: Change) -> TableCell {
    TableCell::status(change, change.word())
}

impl From<&RuleCheck> for StatusMark {
    fn from(rule: &RuleCheck) -> Self {
        match (rule.passed, rule.warning) {
            (false, _) => BAD,
            (true, true) => WARNING,
            (true, false) => GOOD,
        }
    }
}

/// Returns the cell on whether all rules of a trial passed.
pub(super) fn rules_cell(passed: bool) -> TableCell {
    if passed { TableCell::status(GOOD, "passed") } else { TableCell::status(BAD, "violated") }
}

/// Returns the cell on whether a rule was passed or violated, or passed with a warning.
pub(super) fn rule_cell(rule: &RuleCheck) -> TableCell {
    let word = match (rule.passed, rule.warning) {
        (false, _) => "violated",
        (true, true) => "warning",
        (true, false) => "passed",
    };
    TableCell::status(rule, word)
}
