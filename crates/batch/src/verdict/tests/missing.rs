//! A part of a claim that is missing on a side is undecided and named, whatever else is shown.

use super::*;
use retrial_results::verdict::StatedValidity;
use retrial_results::verdict::claim::ClaimOutcome::{Contradicted, NotDecided, Supported};
use retrial_results::verdict::tests::build::{loadgen, own, source};

const SERVER: &str = "Server";

/// How one side's Server came to no figure.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    Failed,
    Invalid,
    NoFigure,
}

/// Trials of Offline and Server; the first of Server with a fault.
fn scenarios(name: &str, values: &[f64], fault: Fault) -> SubjectEvidence {
    let numbered = (1..).zip(values);
    let runs = numbered.map(|(trial, value)| {
        let mut server = loadgen(SERVER, "tokens_per_second", "tokens/s", &[*value]);
        // It has a figure of less weight, which does not stand in for the published one.
        server = server.with_figure("ttft_p99_ms", 100.0 / value, "ms");
        let of_server = &mut server.trials[0];
        if trial == 1 {
            match fault {
                Fault::None | Fault::NoFigure => {}
                Fault::Failed => {
                    of_server.figures.clear();
                    of_server.outcome =
                        StepOutcome::Failed { reason: "exit code 9".to_owned(), code: Some(9) };
                }
                Fault::Invalid => {
                    of_server.validity =
                        StatedValidity::Invalid(vec!["too few queries".to_owned()]);
                }
            }
        }
        if fault == Fault::NoFigure {
            of_server.figures.remove("tokens_per_second");
        }
        run(trial, vec![offline(&[*value]), server])
    });
    SubjectEvidence { name: name.to_owned(), runs: runs.collect() }
}

const CLAIMS: [&str; 6] = [
    "7.1.1 is faster than 6.4.1",
    "6.4.1 is slower than 7.1.1 by 5%",
    "6.4.1 is as consistent as 7.1.1 to within 90%",
    "6.4.1 is not always faster than 7.1.1",
    "the gap to rtx4090 is smaller with 7.1.1 than with 6.4.1",
    "rtx4090 is faster than 6.4.1",
];

fn sides(claims: &[&str], slow: Fault, fast: Fault) -> BatchVerdict {
    let plan = planned(&["rocm=6.4.1,7.1.1"], claims, INTERLEAVED);
    let cells = [scenarios("rocm=6.4.1", &SLOW, slow), scenarios("rocm=7.1.1", &FAST, fast)];
    let other = scenarios("rtx4090", &FASTEST, Fault::None);
    judge_batch(None, &plan, &cells, &[other])
}

fn of_server(claim: &ClaimVerdict) -> Vec<&ClaimPart> {
    let parts = claim.parts.iter();
    parts.filter(|part| part.scenario == SERVER).collect()
}

#[test]
fn a_claim_is_not_supported_while_a_scenario_of_it_is_missing_on_a_side() {
    let whole = sides(&CLAIMS, Fault::None, Fault::None);
    for claim in &whole.claims {
        assert_eq!(of_server(claim).len(), 1, "{}", claim.claim);
    }
    assert_eq!(whole.claims[0].outcome, ClaimOutcome::Supported);
    assert_eq!(whole.claims[4].outcome, ClaimOutcome::Supported);
    for fault in [Fault::Failed, Fault::Invalid, Fault::NoFigure] {
        for [slow, fast] in [[fault, Fault::None], [Fault::None, fault], [fault, fault]] {
            let verdict = sides(&CLAIMS[..5], slow, fast);
            for claim in &verdict.claims {
                let parts = of_server(claim);
                let context = format!("{} with {slow:?} and {fast:?}: {claim:#?}", claim.claim);
                assert_eq!(parts.len(), 1, "{context}");
                assert_eq!(parts[0].outcome, ClaimOutcome::NotDecided, "{context}");
                assert_eq!(parts[0].figure, "tokens_per_second", "{context}");
                assert_ne!(claim.outcome, ClaimOutcome::Contradicted, "{context}");
                assert!(
                    claim.outcome != ClaimOutcome::Supported || claim.claim.contains("not always"),
                    "{context}"
                );
            }
        }
    }
}

#[test]
fn a_missing_part_is_named_with_its_reason() {
    let claims = ["7.1.1 is faster than 6.4.1"];
    let sentence = |slow, fast| sides(&claims, slow, fast).claims[0].sentence.clone();
    insta::assert_snapshot!(sentence(Fault::None, Fault::Failed), @"1 of 2 parts hold, 1 undecided. Server tokens_per_second: not compared: rocm=7.1.1 failed: trial 1: the step failed: exit code 9.");
    let both = sentence(Fault::Invalid, Fault::Failed);
    assert!(
        both.contains("rocm=7.1.1 failed: ") && both.contains("; rocm=6.4.1 is invalid: "),
        "{both}"
    );
    let without = sentence(Fault::NoFigure, Fault::None);
    assert!(without.contains("rocm=6.4.1 has no tokens_per_second in Server"), "{without}");
}

#[test]
fn an_exception_is_not_ruled_out_while_a_scenario_is_missing() {
    let claims = ["7.1.1 is not always faster than 6.4.1"];
    let whole = sides(&claims, Fault::None, Fault::None);
    assert_eq!(whole.claims[0].outcome, ClaimOutcome::Contradicted);
    let part = sides(&claims, Fault::Failed, Fault::None);
    assert_eq!(part.claims[0].outcome, ClaimOutcome::NotDecided);
}

#[test]
fn a_claim_on_one_scenario_needs_only_that() {
    let claims = [
        "7.1.1 is faster than 6.4.1 in offline",
        "7.1.1 is faster than 6.4.1 in tokens_per_second",
    ];
    let verdict = sides(&claims, Fault::Failed, Fault::Failed);
    assert_eq!(verdict.claims[0].outcome, ClaimOutcome::Supported);
    assert_eq!(verdict.claims[1].outcome, ClaimOutcome::NotDecided);
    assert_eq!(of_server(&verdict.claims[1]).len(), 1);
}

#[test]
fn another_host_that_lacks_a_scenario_leaves_a_claim_undecided() {
    let plan = planned(&["rocm=6.4.1,7.1.1"], &["rtx4090 is faster than 7.1.1"], INTERLEAVED);
    let cells =
        [scenarios("rocm=6.4.1", &SLOW, Fault::None), scenarios("rocm=7.1.1", &FAST, Fault::None)];
    let verdict = judge_batch(None, &plan, &cells, &other(&FASTEST));
    let claim = &verdict.claims[0];
    assert_eq!(claim.outcome, ClaimOutcome::NotDecided);
    insta::assert_snapshot!(claim.sentence, @"1 of 2 parts hold, 1 undecided. Server tokens_per_second: not compared: rtx4090 has no Server performance.");
    // What only the other host has was not planned.
    let offline = [cell("rocm=6.4.1", &SLOW), cell("rocm=7.1.1", &FAST)];
    let more = scenarios("rtx4090", &FASTEST, Fault::None);
    let verdict = judge_batch(None, &plan, &offline, &[more]);
    assert_eq!(verdict.claims[0].outcome, ClaimOutcome::Supported);
    assert_eq!(verdict.claims[0].parts.len(), 1);
}

#[test]
fn a_scenario_that_one_cell_was_not_to_have_is_noted() {
    let plan = planned(&["rocm=6.4.1,7.1.1"], &["7.1.1 is faster than 6.4.1"], INTERLEAVED);
    let cells = [cell("rocm=6.4.1", &SLOW), scenarios("rocm=7.1.1", &FAST, Fault::None)];
    let verdict = judge_batch(None, &plan, &cells, &[]);
    assert_eq!(verdict.claims[0].outcome, ClaimOutcome::Supported);
    let note = "7.1.1 is faster than 6.4.1: Server is planned for rocm=7.1.1 only, not for rocm=6.4.1: it is not part of the claim";
    assert!(verdict.notes.iter().any(|known| known == note), "{:?}", verdict.notes);
}

#[test]
fn a_gain_needs_both_steps() {
    let claims = ["the gain from 6.4.1 to 7.1.1 is larger with w7900 than with r9700"];
    let plan = planned(&["rocm=6.4.1,7.1.1", "gpu=w7900,r9700"], &claims, INTERLEAVED);
    let half: Vec<f64> = SLOW.iter().map(|value| value * 0.5).collect();
    let third = [75.0, 75.3, 74.8, 75.1, 74.9];
    let names = [
        "rocm=6.4.1,gpu=w7900",
        "rocm=6.4.1,gpu=r9700",
        "rocm=7.1.1,gpu=w7900",
        "rocm=7.1.1,gpu=r9700",
    ];
    let judged = |broken: Option<usize>| {
        let values: [&[f64]; 4] = [&SLOW, &half, &FASTEST, &third];
        let cells = names.iter().zip(values).enumerate();
        let cells: Vec<SubjectEvidence> = cells
            .map(|(at, (name, values))| {
                let is_broken = broken == Some(at);
                let fault = if is_broken { Fault::Failed } else { Fault::None };
                scenarios(name, values, fault)
            })
            .collect();
        judge_batch(None, &plan, &cells, &[]).claims.remove(0)
    };
    assert_eq!(judged(None).outcome, ClaimOutcome::Supported);
    for (broken, name) in names.iter().enumerate() {
        let claim = judged(Some(broken));
        assert_eq!(claim.outcome, ClaimOutcome::NotDecided, "{name}");
        assert_eq!(of_server(&claim).len(), 1);
        assert!(claim.sentence.contains(name), "{}", claim.sentence);
    }
}

/// A declared figure that one side's logs lack is not replaced by the next one.
#[test]
fn a_missing_figure_of_a_recipe_is_not_replaced_by_another() {
    let plan = planned(&["rocm=6.4.1,7.1.1"], &["7.1.1 is faster than 6.4.1"], INTERLEAVED);
    let cell = |name: &str, value: f64, has_speed: bool| {
        let mut evidence = own("Offline", "zero", "tokens/s", &[value])
            .with_source("speed", source())
            .with_source("zero", source());
        if has_speed {
            evidence = evidence.with_figure("speed", 100.0, "items/s");
        } else {
            evidence.trials[0].missing.insert("speed".to_owned(), "no line matches".to_owned());
        }
        SubjectEvidence { name: name.to_owned(), runs: vec![run(1, vec![evidence])] }
    };
    for [slow, fast] in [[true, false], [false, true], [false, false]] {
        let cells = [cell("rocm=6.4.1", 100.0, slow), cell("rocm=7.1.1", 200.0, fast)];
        let claim = judge_batch(None, &plan, &cells, &[]).claims.remove(0);
        assert_eq!(claim.outcome, ClaimOutcome::NotDecided, "{}", claim.sentence);
        assert_eq!(claim.parts.len(), 1);
        assert_eq!(claim.parts[0].figure, "speed");
    }
}

#[test]
fn figures_in_different_units_have_no_ratio() {
    let plan = planned(&["rocm=6.4.1,7.1.1"], &["7.1.1 is faster than 6.4.1"], INTERLEAVED);
    let cell = |name: &str, unit: &str, values: &[f64]| SubjectEvidence {
        name: name.to_owned(),
        runs: (1..)
            .zip(values)
            .map(|(trial, value)| run(trial, vec![loadgen("Offline", "speed", unit, &[*value])]))
            .collect(),
    };
    let cells = [cell("rocm=6.4.1", "tokens/s", &SLOW), cell("rocm=7.1.1", "samples/s", &FAST)];
    let claim = judge_batch(None, &plan, &cells, &[]).claims.remove(0);
    assert_eq!(claim.outcome, ClaimOutcome::NotDecided);
    insta::assert_snapshot!(claim.sentence, @"Offline speed: not compared: rocm=6.4.1 gives it in tokens/s and rocm=7.1.1 in samples/s.");
}

/// A cell whose first run has these accuracies, each of which has to be 44 at least.
fn with_accuracies(name: &str, rouge: &[(&str, f64)], limited: &[&str]) -> SubjectEvidence {
    let mut cell = cell(name, &SLOW);
    let limit = Limit { min: Some(44.0), max: None, below: None };
    let mut evidence = own("Offline", "GEN_LEN", "", &[300.0]);
    evidence.plan.mode = Mode::Accuracy;
    evidence.plan.loadgen = true;
    for (figure, value) in rouge {
        evidence = evidence.with_figure(figure, *value, "");
    }
    for figure in limited {
        evidence = evidence.limited(figure, limit);
    }
    if let Ok((_, all)) = &mut cell.runs[0].evidence {
        all.push(evidence);
    }
    cell
}

#[test]
fn a_missing_accuracy_is_neither_within_nor_outside_its_limit() {
    let claims =
        ["7.1.1 is accurate", "7.1.1 is not always accurate", "7.1.1 is as accurate as 6.4.1"];
    let plan = planned(&["rocm=6.4.1,7.1.1"], &claims, INTERLEAVED);
    let both = ["ROUGE1", "ROUGE2"];
    let baseline = || with_accuracies("rocm=6.4.1", &[("ROUGE1", 45.0), ("ROUGE2", 45.0)], &both);
    let outcomes = |candidate: SubjectEvidence| {
        let verdict = judge_batch(None, &plan, &[baseline(), candidate], &[]);
        let outcomes: Vec<ClaimOutcome> =
            verdict.claims.iter().map(|claim| claim.outcome).collect();
        (outcomes, verdict.claims[0].sentence.clone())
    };
    let candidate = |rouge: &[(&str, f64)]| with_accuracies("rocm=7.1.1", rouge, &both);
    let (all, _) = outcomes(candidate(&[("ROUGE1", 45.0), ("ROUGE2", 45.0)]));
    assert_eq!(all, [Supported, Contradicted, Supported]);
    let (all, _) = outcomes(candidate(&[("ROUGE1", 43.0), ("ROUGE2", 45.0)]));
    assert_eq!(all, [Contradicted, Supported, Contradicted]);
    // One is missing, and whatever the other is, nothing is known of the whole.
    for rouge in [("ROUGE1", 45.0), ("ROUGE2", 45.0), ("ROUGE1", 43.0)] {
        let (all, sentence) = outcomes(candidate(&[rouge]));
        assert_eq!(all[..2], [NotDecided, NotDecided], "{rouge:?}: {sentence}");
        assert_eq!(all[2], NotDecided, "{rouge:?}");
    }
    let (_, sentence) = outcomes(candidate(&[("ROUGE1", 45.0)]));
    assert!(sentence.contains("ROUGE2 is missing"), "{sentence}");
}

#[test]
fn an_accuracy_whose_run_was_lost_is_named() {
    let claims = ["7.1.1 is accurate", "7.1.1 is as accurate as 6.4.1"];
    let plan = planned(&["rocm=6.4.1,7.1.1"], &claims, INTERLEAVED);
    let mut lost = with_accuracies("rocm=7.1.1", &[("ROUGE1", 45.0)], &["ROUGE1"]);
    lost.runs[0].evidence =
        Err(LostRun { reason: "the engine went away".to_owned(), exit: ExitCode::Host });
    let baseline = with_accuracies("rocm=6.4.1", &[("ROUGE1", 45.0)], &["ROUGE1"]);
    let verdict = judge_batch(None, &plan, &[baseline, lost], &[]);
    assert_eq!(verdict.claims.len(), claims.len());
    for claim in &verdict.claims {
        assert_eq!(claim.outcome, ClaimOutcome::NotDecided);
        let reason = "trial 1 of rocm=7.1.1 has no result: the engine went away";
        assert!(claim.sentence.contains(reason), "{}", claim.sentence);
    }
}

#[test]
fn a_batch_with_a_cell_without_a_result_is_inconclusive() {
    let plan = planned(&["rocm=6.4.1,7.0.0,7.1.1"], &["7.1.1 is faster than 6.4.1"], INTERLEAVED);
    let cells = [cell("rocm=6.4.1", &SLOW), cell("rocm=7.1.1", &FAST)];
    let verdict = judge_batch(None, &plan, &cells, &[]);
    assert_eq!(verdict.claims[0].outcome, ClaimOutcome::Supported);
    assert_eq!(verdict.outcome, Some(Outcome::Inconclusive));
    assert_eq!(verdict.exit_code, ExitCode::Inconclusive);
}
