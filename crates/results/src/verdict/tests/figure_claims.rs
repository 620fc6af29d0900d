//! Claims between two figures of one run.

use rstest::rstest;

use super::build::*;
use crate::verdict::claim::{ClaimOutcome, ClaimVerdict};
use crate::verdict::{Evidence, Outcome, RunContext, StepOutcome, Verdict, judge};
use retrial_recipe::model::{Better, Claim, ClaimedFigure, FigureClaim, FigureSource, Mode};

fn side(scenario: &str, figure: &str) -> ClaimedFigure {
    ClaimedFigure {
        scenario: scenario.to_owned(),
        mode: Mode::Performance,
        figure: figure.to_owned(),
    }
}

fn claim(
    candidate: (&str, &str),
    is: Claim,
    baseline: (&str, &str),
    by: Option<f64>,
) -> FigureClaim {
    FigureClaim {
        claim: "as it was published".to_owned(),
        source: Some("table 1".to_owned()),
        candidate: side(candidate.0, candidate.1),
        baseline: side(baseline.0, baseline.1),
        is,
        by,
    }
}

fn judge_claim(claim: FigureClaim, evidence: &[Evidence]) -> Verdict {
    let context = RunContext { claims: vec![claim], ..context_of_other_suite() };
    judge(&context, evidence)
}

fn only_claim(verdict: &Verdict) -> &ClaimVerdict {
    assert_eq!(verdict.claims.len(), 1);
    &verdict.claims[0]
}

/// One measurement with two figures, which both vary by 5 % from trial to trial.
fn two_figures(ratio: f64) -> Evidence {
    let matmul = [1000.0, 1050.0, 1020.0];
    let mut evidence = own("libraries", "matmul", "TFLOPS", &matmul);
    for (number, (trial, value)) in (0..).zip(evidence.trials.iter_mut().zip(matmul)) {
        let noise = 1.0 + 0.001 * f64::from(number);
        let linear = own("x", "linear", "TFLOPS", &[value * ratio * noise]);
        trial.figures.extend(linear.trials[0].figures.clone());
    }
    evidence.with_source("matmul", source()).with_source("linear", source())
}

#[rstest]
#[case(1.15, Claim::Better, Some(0.11), ClaimOutcome::Supported, Outcome::Reproduced)]
#[case(1.05, Claim::Better, Some(0.11), ClaimOutcome::Contradicted, Outcome::NotReproduced)]
#[case(1.11, Claim::Better, Some(0.11), ClaimOutcome::NotDecided, Outcome::Inconclusive)]
#[case(0.99, Claim::NotWorse, None, ClaimOutcome::Supported, Outcome::Reproduced)]
#[case(1.01, Claim::Equivalent, None, ClaimOutcome::Supported, Outcome::Reproduced)]
#[case(1.15, Claim::Equivalent, None, ClaimOutcome::Contradicted, Outcome::NotReproduced)]
fn trials_of_one_measurement_are_compared_in_pairs(
    #[case] ratio: f64,
    #[case] is: Claim,
    #[case] by: Option<f64>,
    #[case] expected: ClaimOutcome,
    #[case] of_run: Outcome,
) {
    let claimed = claim(("libraries", "linear"), is, ("libraries", "matmul"), by);
    let verdict = judge_claim(claimed, &[two_figures(ratio)]);
    let judged = only_claim(&verdict);
    assert_eq!(judged.outcome, expected, "{}", judged.sentence);
    assert!(judged.parts[0].paired);
    assert_eq!(verdict.outcome, of_run);
    assert!(
        verdict.headline.ends_with(&format!("The claim is {expected}.")),
        "{}",
        verdict.headline
    );
}

#[test]
fn each_entry_of_a_table_is_a_part() {
    let evidence = own("libraries", "matmul[4096]", "TFLOPS", &[900.0, 901.0, 902.0])
        .with_figure("linear[4096]", 1000.0, "TFLOPS")
        .with_figure("matmul[8192]", 1000.0, "TFLOPS")
        .with_figure("linear[8192]", 900.0, "TFLOPS")
        .with_figure("matmul[16384]", 1000.0, "TFLOPS");
    let of_both = |name: &str| (name.to_owned(), source());
    let mut evidence = evidence;
    evidence.plan.figures.extend(["matmul", "linear"].map(of_both));
    let claimed = claim(("libraries", "linear"), Claim::Better, ("libraries", "matmul"), None);
    let verdict = judge_claim(claimed, &[evidence]);
    let parts = &only_claim(&verdict).parts;
    let outcomes = parts.iter().map(|part| (part.of.as_str(), part.outcome));
    assert_eq!(
        outcomes.collect::<Vec<_>>(),
        [
            ("4096", ClaimOutcome::Supported),
            ("8192", ClaimOutcome::Contradicted),
            ("16384", ClaimOutcome::NotDecided),
        ]
    );
    assert_eq!(
        parts[2].sentence,
        "libraries linear (16384): not compared: libraries has no linear[16384]."
    );
}

#[test]
fn figures_of_two_scenarios_are_independent_samples_and_less_memory_is_better() {
    let memory = || FigureSource { better: Better::Lower, ..source() };
    let lora = own("lora", "memory", "GB", &[72.6, 72.7, 72.65]).with_source("memory", memory());
    let full = own("full", "memory", "GB", &[76.3, 76.4, 76.35]).with_source("memory", memory());
    let claimed = || claim(("lora", "memory"), Claim::Better, ("full", "memory"), None);
    let verdict = judge_claim(claimed(), &[lora, full.clone()]);
    let part = &only_claim(&verdict).parts[0];
    assert_eq!(part.outcome, ClaimOutcome::Supported);
    assert!(!part.paired);
    assert!(
        part.sentence.starts_with("1.051 × as good (72.65 against 76.35 GB), at least "),
        "{}",
        part.sentence
    );
    // One trial without a known noise shows nothing.
    let one = own("lora", "memory", "GB", &[72.6]).with_source("memory", memory());
    let other = own("full", "memory", "GB", &[76.3]).with_source("memory", memory());
    let undecided = judge_claim(claimed(), &[one, other]);
    assert_eq!(only_claim(&undecided).outcome, ClaimOutcome::NotDecided);
    assert_eq!(undecided.outcome, Outcome::Inconclusive);
}

#[test]
fn a_failed_side_leaves_the_claim_undecided() {
    let mut evidence = two_figures(1.15);
    evidence.trials[1].outcome =
        StepOutcome::Failed { reason: "exit code 1".to_owned(), code: Some(1) };
    let claimed = claim(("libraries", "linear"), Claim::Better, ("libraries", "matmul"), None);
    let verdict = judge_claim(claimed, &[evidence]);
    assert_eq!(verdict.outcome, Outcome::Failed);
    let judged = only_claim(&verdict);
    assert_eq!(judged.outcome, ClaimOutcome::NotDecided);
    assert!(judged.sentence.contains("not compared: libraries is failed"), "{}", judged.sentence);
}

#[test]
fn a_claim_about_a_measurement_without_evidence_is_not_judged() {
    let claimed = claim(("other", "a"), Claim::Better, ("libraries", "matmul"), None);
    let verdict = judge_claim(claimed, &[two_figures(1.15)]);
    assert_eq!(verdict.claims, []);
    assert_eq!(verdict.outcome, Outcome::Measured);
}
