//! Batches of planted trials: cells, differences, claims, and how often claims err.

mod forms;

use super::*;
use crate::{AxisDomain, BatchPlan, CliOverrides, plan_batch};
use retrial_recipe::model::{Limit, Mode};
use retrial_recipe::{LoadedRecipe, NoTemplates, Source};
use retrial_results::verdict::claim::{ClaimOutcome, ClaimPart, ClaimVerdict, Statistic};
use retrial_results::verdict::tests::build::{accuracy, context, offline};
use retrial_results::verdict::{Evidence, ExitCode, Outcome, StepOutcome};

mod errors;
mod external;
mod missing;

const RECIPE: &str = r#"
schema: 1
title: t
submission: { suite: own, benchmark: llama2-70b-99 }
variants:
  rocm: { "6.4.1": {}, "7.0.0": {}, "7.1.1": {} }
  gpu: { w7900: {}, r9700: {} }
default: { rocm: "7.1.1", gpu: w7900 }
image: lab/x
scenarios: { offline: { performance: { run: "true", results: /out }, accuracy: { run: "true", results: /out } } }
"#;

fn planned(vary: &[&str], claims: &[&str], order: crate::RunOrder) -> BatchPlan {
    let source = Source::new("recipe.yaml", RECIPE);
    let loaded = LoadedRecipe::from_source("r", &source, &NoTemplates).unwrap();
    let own = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
    let overrides = CliOverrides {
        vary: own(vary),
        claims: own(claims),
        order: Some(order),
        options: retrial_plan::PlanOptions {
            trials: Some(retrial_recipe::model::Trials { min: 5, max: 5 }),
            ..Default::default()
        },
        ..CliOverrides::default()
    };
    let mut batch = overrides.to_batch("./r.yaml").unwrap();
    let others = crate::ExternalRuns { runs: Vec::new(), cells: None };
    batch.external_results.push(("rtx4090".to_owned(), others));
    let domain = AxisDomain::new("r", "./r.yaml", &loaded);
    plan_batch(&batch, &[domain]).unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

const INTERLEAVED: crate::RunOrder = crate::RunOrder::Interleaved;
const GROUPED: crate::RunOrder = crate::RunOrder::Grouped;

fn run(trial: u32, evidence: Vec<Evidence>) -> RunEvidence {
    RunEvidence {
        run: format!("run-{trial}"),
        trial,
        start: None,
        evidence: Ok((context(), evidence)),
        failure: None,
    }
}

/// A run for each value, of which each was printed with one decimal.
fn runs(values: &[f64]) -> Vec<RunEvidence> {
    let printed = |value: &f64| {
        let mut evidence = offline(&[*value]);
        for figure in evidence.trials[0].figures.values_mut() {
            figure.half_digit = 0.05;
        }
        evidence
    };
    let numbered = (1..).zip(values);
    numbered.map(|(trial, value)| run(trial, vec![printed(value)])).collect()
}

fn cell(name: &str, values: &[f64]) -> SubjectEvidence {
    SubjectEvidence { name: name.to_owned(), runs: runs(values) }
}

fn other(values: &[f64]) -> Vec<SubjectEvidence> {
    vec![SubjectEvidence { name: "rtx4090".to_owned(), runs: runs(values) }]
}

const SLOW: [f64; 5] = [100.0, 101.0, 99.0, 100.5, 99.5];
const FAST: [f64; 5] = [120.0, 121.5, 119.0, 120.5, 119.5];
const FASTEST: [f64; 5] = [200.0, 201.0, 199.0, 200.5, 199.5];

fn two(claims: &[&str], slow: &[f64], fast: &[f64]) -> BatchVerdict {
    let plan = planned(&["rocm=6.4.1,7.1.1"], claims, INTERLEAVED);
    let cells = [cell("rocm=6.4.1", slow), cell("rocm=7.1.1", fast)];
    judge_batch(Some("id"), &plan, &cells, &other(&FASTEST))
}

#[test]
fn runs_are_pooled_into_one_sample() {
    let verdict = two(&[], &SLOW, &FAST);
    let cell = &verdict.cells[1];
    assert_eq!(cell.outcome, Some(Outcome::Measured));
    let result = &cell.verdict.as_ref().unwrap().results[0];
    assert_eq!(result.trials.len(), 5);
    assert_eq!(result.trials[4].trial, 5);
    assert!(result.trials[4].path.starts_with("run-5/"));
    let difference = &cell.differences[0];
    assert_eq!(difference.change.to_string(), "faster");
    assert!((difference.ratio.unwrap() - 1.2).abs() < 0.01);
    assert!(difference.paired);
    insta::assert_snapshot!(difference.sentence, @"tokens_per_second: rocm=7.1.1 is 1.201 × rocm=6.4.1 (120.097 against 99.9975 tokens/s): faster; two-sided 95 % interval 1.199–1.203 (geometric mean of 5 pairs of trials).");
    assert_eq!(verdict.exit_code, ExitCode::Success);
    assert_eq!(verdict.sentence, "2 cells: 2 measured.");
}

#[test]
fn claim_outcomes_and_sentences() {
    let verdict = two(
        &[
            "7.1.1 is faster than 6.4.1",
            "7.1.1 is faster than 6.4.1 by 15%",
            "7.1.1 is faster than 6.4.1 by 20%",
            "7.1.1 is faster than 6.4.1 by 30%",
            "6.4.1 is not slower than 7.1.1 by more than 5%",
            "7.1.1 is as fast as 6.4.1",
            "rtx4090 is faster than 7.1.1",
            "the gap to rtx4090 is smaller with 7.1.1 than with 6.4.1 by 10%",
            "the gap to rtx4090 is smaller with 6.4.1 than with 7.1.1",
            "the gap to 6.4.1 is smaller with rtx4090 than with 7.1.1",
            "7.1.1 is accurate",
            "7.1.1 is as accurate as 6.4.1",
        ],
        &SLOW,
        &FAST,
    );
    let claims: Vec<String> = verdict
        .claims
        .iter()
        .map(|claim| format!("{}: {}\n  {}", claim.claim, claim.outcome, claim.sentence))
        .collect();
    insta::assert_snapshot!(claims.join("\n"), @r#"
7.1.1 is faster than 6.4.1: supported
  1.201 × (120.097 against 99.9975 tokens/s), at least 1.200 × (95 %, 5 pairs of trials).
7.1.1 is faster than 6.4.1 by 15%: supported
  1.201 × (120.097 against 99.9975 tokens/s), at least 1.200 × (95 %, 5 pairs of trials).
7.1.1 is faster than 6.4.1 by 20%: not decided
  1.201 × (120.097 against 99.9975 tokens/s), at least 1.200 × (95 %, 5 pairs of trials); above 1.200 required; about 4 more trials of each would decide.
7.1.1 is faster than 6.4.1 by 30%: contradicted
  1.201 × (120.097 against 99.9975 tokens/s), at most 1.203 × (95 %, 5 pairs of trials); above 1.300 required.
6.4.1 is not slower than 7.1.1 by more than 5%: contradicted
  0.833 × (99.9975 against 120.097 tokens/s), at most 0.834 × (95 %, 5 pairs of trials); at least 0.950 required.
7.1.1 is as fast as 6.4.1: contradicted
  1.201 × (120.097 against 99.9975 tokens/s), between 1.200 and 1.203 × (95 %, 5 pairs of trials); 0.980 to 1.020 required.
rtx4090 is faster than 7.1.1: supported
  1.665 × (199.999 against 120.097 tokens/s), at least 1.652 × (95 %, 5 trials each).
the gap to rtx4090 is smaller with 7.1.1 than with 6.4.1 by 10%: supported
  Offline tokens_per_second: rtx4090 is 1.665 of rocm=7.1.1 and 2.000 of rocm=6.4.1: the gap with the first is at most 0.834 (95 %, 5 pairs of trials).
the gap to rtx4090 is smaller with 6.4.1 than with 7.1.1: contradicted
  Offline tokens_per_second: rtx4090 is 2.000 of rocm=6.4.1 and 1.665 of rocm=7.1.1: the gap with the first is at least 1.200 (95 %, 5 pairs of trials); below 1.000 required.
the gap to 6.4.1 is smaller with rtx4090 than with 7.1.1: contradicted
  Offline tokens_per_second: rocm=6.4.1 is 0.500 of rtx4090 and 0.833 of rocm=7.1.1: it is not ahead of rocm=7.1.1, and there is no gap.
7.1.1 is accurate: not decided
  Not compared: its accuracy was not measured.
7.1.1 is as accurate as 6.4.1: not decided
  Not compared: they do not both have an accuracy.
"#);
    assert_eq!(verdict.exit_code, ExitCode::NotReproduced);
    let json = serde_json::to_string(&verdict).unwrap();
    let read: BatchVerdict = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
}

#[test]
fn a_gap_excludes_the_noise_of_the_reference() {
    let claim = ["the gap to rtx4090 is smaller with 7.1.1 than with 6.4.1"];
    let plan = planned(&["rocm=6.4.1,7.1.1"], &claim, INTERLEAVED);
    let cells = [cell("rocm=6.4.1", &SLOW), cell("rocm=7.1.1", &FAST)];
    // 5 % of noise, and a difference of 20 %.
    let verdict = judge_batch(None, &plan, &cells, &other(&[190.0, 210.0, 200.0]));
    let part = &verdict.claims[0].parts[0];
    assert_eq!(part.outcome, ClaimOutcome::Supported, "{}", part.sentence);
    let bounds = part.bounds.unwrap();
    assert!((part.ratio.unwrap() - 1.0 / 1.2).abs() < 0.01);
    assert!(bounds.upper - bounds.lower < 0.02, "{bounds:?}");
    let gap = part.gaps[0].bounds.unwrap();
    assert!(gap.upper - gap.lower > 0.1, "{gap:?}");
    // Behind both there is no gap that could be smaller.
    let verdict = judge_batch(None, &plan, &cells, &other(&[50.0, 50.1, 49.9]));
    let part = &verdict.claims[0].parts[0];
    assert_eq!(part.outcome, ClaimOutcome::Contradicted);
    assert!(part.sentence.contains("there is no gap"), "{}", part.sentence);
}

/// A drift that both share hides a difference from samples taken apart, and not from pairs.
#[test]
fn rounds_are_pairs() {
    let drifting = |factor: f64| -> Vec<f64> {
        let rounds = [1.0, 1.05, 1.1, 1.15, 1.2];
        let noise = [0.0, 0.1, -0.1, 0.05, -0.05];
        rounds.iter().zip(noise).map(|(drift, noise)| 100.0 * drift * factor + noise).collect()
    };
    let claim = ["7.1.1 is faster than 6.4.1"];
    for (order, expected) in
        [(INTERLEAVED, ClaimOutcome::Supported), (GROUPED, ClaimOutcome::NotDecided)]
    {
        let plan = planned(&["rocm=6.4.1,7.1.1"], &claim, order);
        let cells = [cell("rocm=6.4.1", &drifting(1.0)), cell("rocm=7.1.1", &drifting(1.02))];
        let verdict = judge_batch(None, &plan, &cells, &[]);
        assert_eq!(verdict.claims[0].outcome, expected, "{}", verdict.claims[0].sentence);
        assert_eq!(verdict.notes.iter().any(|note| note.contains("drift")), order == GROUPED);
    }
}

#[test]
fn only_rounds_in_both_cells_are_paired() {
    let plan = planned(&["rocm=6.4.1,7.1.1"], &["7.1.1 is faster than 6.4.1"], INTERLEAVED);
    let mut slow = cell("rocm=6.4.1", &SLOW);
    let mut fast = cell("rocm=7.1.1", &FAST);
    slow.runs[1].evidence =
        Err(LostRun { reason: "the engine went away".to_owned(), exit: ExitCode::Host });
    fast.runs.remove(4);
    let verdict = judge_batch(None, &plan, &[slow, fast], &[]);
    let part = &verdict.claims[0].parts[0];
    assert_eq!(part.baseline.as_ref().unwrap().trials, [100.0, 99.0, 100.5]);
    assert_eq!(part.candidate.trials, [120.0, 119.0, 120.5]);
    assert_eq!(part.outcome, ClaimOutcome::Supported);
    assert!(verdict.notes[0].contains("3 of their 4 and 4 rounds"), "{:?}", verdict.notes);
    assert_eq!(verdict.exit_code, ExitCode::Host);
    assert_eq!(verdict.cells[0].runs[1].lost.as_deref(), Some("the engine went away"));
}

#[test]
fn missing_or_invalid_results_decide_nothing() {
    let plan = planned(
        &["rocm=6.4.1,7.0.0,7.1.1"],
        &[
            "7.1.1 is faster than 6.4.1",
            "7.0.0 is faster than 6.4.1",
            "7.1.1 is faster than rtx4090",
        ],
        INTERLEAVED,
    );
    let mut failed = cell("rocm=7.1.1", &FAST);
    if let Ok((_, evidence)) = &mut failed.runs[0].evidence {
        evidence[0].trials[0].outcome =
            StepOutcome::Failed { reason: "exit code 3".to_owned(), code: Some(3) };
    }
    let verdict = judge_batch(None, &plan, &[cell("rocm=6.4.1", &SLOW), failed], &[]);
    let claims: Vec<String> = verdict
        .claims
        .iter()
        .map(|claim| format!("{}: {}", claim.outcome, claim.sentence))
        .collect();
    insta::assert_snapshot!(claims.join("\n"), @r#"
not decided: Offline tokens_per_second: not compared: rocm=7.1.1 failed: trial 1: the step failed: exit code 3.
not decided: Not compared: rocm=7.0.0 has no result.
not decided: Not compared: rtx4090 has no result.
"#);
    assert_eq!(verdict.cells[1].outcome, None);
    assert_eq!(verdict.cells[1].sentence, "It was not run.");
    assert_eq!(
        verdict.sentence,
        "3 cells: 1 measured, 1 failed, 1 without a result. 3 of 3 claims not decided."
    );
    assert_eq!(verdict.exit_code, ExitCode::StepFailed);
}

#[test]
fn a_claim_over_several_cards() {
    let plan = planned(
        &["rocm=6.4.1,7.1.1", "gpu=w7900,r9700"],
        &["7.1.1 is faster than 6.4.1"],
        INTERLEAVED,
    );
    let cells = |r9700: &[f64]| {
        [
            cell("rocm=6.4.1,gpu=w7900", &SLOW),
            cell("rocm=6.4.1,gpu=r9700", &SLOW),
            cell("rocm=7.1.1,gpu=w7900", &FAST),
            cell("rocm=7.1.1,gpu=r9700", r9700),
        ]
    };
    let claim = |r9700: &[f64]| judge_batch(None, &plan, &cells(r9700), &[]).claims.remove(0);
    let both = claim(&FASTEST);
    assert_eq!(both.outcome, ClaimOutcome::Supported);
    assert_eq!(both.parts[1].of, "gpu=r9700");
    insta::assert_snapshot!(both.sentence, @"Both parts hold, at 1.201 to 2.000.");
    let mixed = claim(&[90.0, 91.0, 89.0, 90.5, 89.5]);
    assert_eq!(mixed.outcome, ClaimOutcome::Contradicted);
    insta::assert_snapshot!(mixed.sentence, @r#"1 of 2 parts do not hold. Offline tokens_per_second (gpu=r9700): 0.900 × (89.9972 against 99.9975 tokens/s), at most 0.901 × (95 %, 5 pairs of trials); above 1.000 required."#);
}

/// A cell whose first run has a ROUGE-1, which has to be 44 at least.
fn with_accuracy(name: &str, values: &[f64], rouge: f64) -> SubjectEvidence {
    let mut cell = cell(name, values);
    let limit = Limit { min: Some(44.0), max: None, below: None };
    if let Ok((_, evidence)) = &mut cell.runs[0].evidence {
        evidence.push(accuracy("Offline", "ROUGE1", rouge).limited("ROUGE1", limit));
    }
    cell
}

#[test]
fn a_single_accuracy_run_is_exact() {
    let plan = planned(
        &["rocm=6.4.1,7.1.1"],
        &[
            "7.1.1 is accurate",
            "6.4.1 is accurate",
            "7.1.1 is more accurate than 6.4.1",
            "7.1.1 is as accurate as 6.4.1 to within 5%",
        ],
        INTERLEAVED,
    );
    let cells =
        [with_accuracy("rocm=6.4.1", &SLOW, 43.0), with_accuracy("rocm=7.1.1", &FAST, 44.4)];
    let verdict = judge_batch(None, &plan, &cells, &[]);
    let claims: Vec<String> = verdict
        .claims
        .iter()
        .map(|claim| format!("{}: {}", claim.outcome, claim.sentence))
        .collect();
    insta::assert_snapshot!(claims.join("\n"), @r#"
supported: rocm=7.1.1 Offline: accurate: ROUGE1 44.4; required at least 44.
contradicted: rocm=6.4.1 Offline: not accurate: ROUGE1 43; required at least 44.
supported: 1.033 × (44.4 against 43), at least 1.033 × (95 %, one trial each).
supported: 1.033 × (44.4 against 43), between 1.033 and 1.033 × (95 %, one trial each).
"#);
    assert_eq!(verdict.claims[0].parts[0].mode, Mode::Accuracy);
}
