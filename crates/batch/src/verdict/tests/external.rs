//! Runs of other hosts: those of cells, and systems of their own.

use super::*;
use crate::NamedValues;

/// A plan of two releases on two cards, of which another host has the second.
fn on_two_hosts(claims: &[&str]) -> BatchPlan {
    let mut plan = planned(&["gpu=w7900,r9700", "rocm=6.4.1,7.1.1"], claims, INTERLEAVED);
    let (far, near): (Vec<_>, Vec<_>) =
        plan.cells.drain(..).partition(|cell| cell.axes.get("gpu") == Some("r9700"));
    plan.cells = near;
    plan.external_cells = far;
    for cell in &mut plan.external_cells {
        cell.external = Some("far".to_owned());
    }
    plan.external_results.push(crate::ExternalResult {
        name: "far".to_owned(),
        runs: vec!["./far".to_owned()],
        cells: [("gpu".to_owned(), "r9700".to_owned())].into_iter().collect(),
    });
    plan
}

fn external_runs(recipe: &str, rocm: &str, values: &[f64]) -> Vec<ExternalRun> {
    let choices = [("gpu", "r9700"), ("rocm", rocm), ("size", "3")];
    let choices = choices.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let of_run = |run| ExternalRun {
        run,
        choices: Some(RunChoices {
            recipe: recipe.to_owned(),
            values: choices.iter().cloned().collect::<NamedValues>(),
        }),
    };
    runs(values).into_iter().map(of_run).collect()
}

#[test]
fn runs_are_of_the_cells_of_their_choices() {
    let plan = on_two_hosts(&["7.1.1 is faster than 6.4.1"]);
    let mut cells = [
        cell("gpu=w7900,rocm=6.4.1", &SLOW),
        cell("gpu=w7900,rocm=7.1.1", &FAST),
        cell("gpu=r9700,rocm=6.4.1", &[]),
        cell("gpu=r9700,rocm=7.1.1", &[]),
    ];
    let mut far = external_runs("/elsewhere/r.yaml", "7.1.1", &FASTEST);
    far.extend(external_runs("/elsewhere/r.yaml", "6.4.1", &SLOW));
    far.extend(external_runs("/elsewhere/r.yaml", "7.0.0", &[100.0]));
    far.extend(external_runs("/elsewhere/another.yaml", "6.4.1", &[100.0]));
    let entry = plan.external_results.last().unwrap();
    let rest = assign_to_cells(&plan, entry, far, &mut cells);
    assert_eq!(rest.runs.len(), 2);
    let trials = |at: usize| cells[at].runs.iter().map(|run| run.trial).collect::<Vec<_>>();
    assert_eq!((trials(2), trials(3)), (vec![1, 2, 3, 4, 5], vec![1, 2, 3, 4, 5]));

    let mut external = other(&FASTEST);
    external.push(rest);
    let verdict = judge_batch(None, &plan, &cells, &external);
    let far = &verdict.cells[3];
    assert_eq!(far.external.as_deref(), Some("far"));
    assert_eq!((far.trials, far.runs.len()), (5, 5));
    // Runs of two hosts have no rounds in common.
    let parts = &verdict.claims[0].parts;
    assert_eq!(parts.iter().map(|part| part.paired).collect::<Vec<_>>(), [true, false]);
    assert_eq!(verdict.claims[0].outcome, ClaimOutcome::Supported);
    assert_eq!(
        verdict.notes,
        ["far: run-1 is of no cell with gpu=r9700, and is not part of the batch"; 2]
    );
    let [reference] = &verdict.external_results[..] else {
        panic!("{:?}", verdict.external_results);
    };
    assert_eq!((&*reference.name, reference.runs.len()), ("rtx4090", 5));
}

#[test]
fn results_without_a_plan_are_of_the_only_cell_of_their_host() {
    let mut plan = on_two_hosts(&[]);
    let unplanned = || {
        let all = external_runs("r.yaml", "7.1.1", &SLOW).into_iter();
        all.map(|run| ExternalRun { choices: None, ..run }).collect()
    };
    let mut cells = [cell("gpu=r9700,rocm=6.4.1", &[])];
    let entry = plan.external_results.last().unwrap().clone();
    let rest = assign_to_cells(&plan, &entry, unplanned(), &mut cells);
    assert_eq!((rest.runs.len(), cells[0].runs.len()), (5, 0));
    plan.external_cells.truncate(1);
    let rest = assign_to_cells(&plan, &entry, unplanned(), &mut cells);
    assert_eq!((rest.runs.len(), cells[0].runs.len()), (0, 5));
}

/// A result that a batch names twice is one measurement.
#[test]
fn a_run_that_is_named_twice_is_refused() {
    let plan = planned(&["rocm=6.4.1,7.1.1"], &[], INTERLEAVED);
    let step = ("2026-03-02T10:00:00Z".parse().unwrap(), "2026-03-02T10:20:00Z".parse().unwrap());
    let mut named = runs(&[200.0, 201.0]);
    for run in &mut named {
        let (_, evidence) = run.evidence.as_mut().unwrap();
        evidence[0].trials[0].step = Some(step);
    }
    let judge = |named: Vec<RunEvidence>| {
        let external = [SubjectEvidence { name: "rtx4090".to_owned(), runs: named }];
        let verdict = judge_batch(None, &plan, &[], &external);
        let [reference] = &verdict.external_results[..] else { panic!() };
        let judged = reference.verdict.as_ref().unwrap();
        (judged.outcome, judged.sentence().clone())
    };
    // Of one span of time, and with figures of their own.
    assert_ne!(judge(named.clone()).0, Outcome::Invalid);
    named[1] = RunEvidence { trial: 2, ..named[0].clone() };
    let (outcome, sentence) = judge(named);
    assert_eq!(outcome, Outcome::Invalid);
    assert!(sentence.contains("is of the same step as"), "{sentence}");
}
