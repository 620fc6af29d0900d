//! One part of a claim as a test: what it would take to hold, and what it shows at an error.

use super::gap::GapTest;
use super::model::{ClaimOutcome, ClaimPart, RequiredRatio};
use super::subject::Rounds;
use retrial_results::verdict::RuleCheck;
use retrial_stats::{Decision, Difference};

/// A part, and how it is decided.
pub(super) struct PartTest {
    pub part: ClaimPart,
    pub test: Test,
}

/// How a part is decided.
pub(super) enum Test {
    /// By the ratio of two samples.
    Ratio(Difference),
    /// By two of them.
    Gap(Box<GapTest>),
    /// By the benchmark's own limits: there is no error.
    Limits(ClaimOutcome, String),
    /// Not at all, and why.
    Nothing(String),
}

impl PartTest {
    /// Whether it is one of the family that shares the error.
    pub fn shares_error(&self) -> bool {
        matches!(self.test, Test::Ratio(_) | Test::Gap(_))
    }

    /// What it shows with error `alpha` either way.
    pub fn outcome(&self, alpha: f64) -> ClaimOutcome {
        let holds = self.holds(alpha);
        if self.part.required.negated {
            holds.negated()
        } else {
            holds
        }
    }

    /// Whether the ratio is as required.
    fn holds(&self, alpha: f64) -> ClaimOutcome {
        match &self.test {
            Test::Ratio(difference) => {
                let RequiredRatio { claim, margin, .. } = self.part.required;
                match claim.map(|claim| difference.decide(claim, margin, alpha)) {
                    Some(Decision::Holds) => ClaimOutcome::Supported,
                    Some(Decision::Worse) => ClaimOutcome::Contradicted,
                    Some(Decision::Open) | None => ClaimOutcome::NotDecided,
                }
            }
            Test::Gap(gap) => gap.outcome(self.part.required.margin, alpha),
            Test::Limits(outcome, _) => *outcome,
            Test::Nothing(_) => ClaimOutcome::NotDecided,
        }
    }
}

/// Tests whether a cell is within the benchmark's own limits of accuracy.
pub(super) fn limits(measured: &Rounds, figure: Option<&str>) -> Test {
    let result = &measured.result;
    let applies = |rule: &str| {
        let named = measured.limited.iter().any(|limited| limited == rule);
        named && figure.is_none_or(|figure| figure == rule)
    };
    let mut checked = result.rules.iter().filter(|check| applies(&check.rule));
    let broken = checked.clone().find(|check| !check.passed);
    let message = |check: &RuleCheck| {
        format!(
            "{} {}; required {}",
            check.rule, check.measured, check.required
        )
    };
    if let Some(broken) = broken {
        return Test::Limits(ClaimOutcome::Contradicted, message(broken));
    }
    if !result.valid {
        return Test::Nothing(format!("it is {}: {}", result.outcome, result.sentence));
    }
    match checked.next() {
        Some(first) => Test::Limits(ClaimOutcome::Supported, message(first)),
        None => Test::Nothing("it has no accuracy limit".to_owned()),
    }
}
