//! How many lines a verdict in brief has, and what they say of runs that did not end as planned.

use rstest::rstest;

use super::{RUN, accuracy, context, mixed, performance, render_brief};
use crate::content::brief;
use crate::terminal::{Terminal, render_terminal};
use crate::{OpenRun, ReportedVerdict};
use retrial_recipe::model::{Expectation, Mode};
use retrial_results::verdict::{Evidence, FigureValue, RuleCheck, StepOutcome, Verdict, judge};

/// Three scenarios, each with its speed and three figures of accuracy.
fn twelve_figures(scale: f64) -> Verdict {
    let published = [("Offline", 103_480.0), ("Server", 100_282.0), ("Interactive", 73_608.2)];
    let evidence: Vec<Evidence> = published
        .into_iter()
        .flat_map(|(scenario, value)| {
            let speed = performance(scenario, "tokens_per_second", &[value * scale], value);
            let mut rouge = accuracy(scenario, 44.46);
            for (name, value) in [("rouge1", 44.46), ("rouge2", 22.04), ("rougeL", 28.62)] {
                let figure = FigureValue::new(value, "");
                rouge.trials[0].figures.insert(name.to_owned(), figure);
                let expectation =
                    Expectation { value, noise: Some(0.0), ..speed.plan.expect[0].1[0].clone() };
                rouge.plan.expect.push((name.to_owned(), vec![expectation]));
            }
            [speed, rouge]
        })
        .collect();
    judge(&context(), &evidence)
}

/// The notice is MLCommons' own text.
#[rstest]
#[case(1.0, 16)]
#[case(0.9, 23)]
fn twelve_figures_are_answered_in_few_lines(#[case] scale: f64, #[case] most: usize) {
    let text = render_brief(&twelve_figures(scale), 80);
    let (answer, _) = text.split_once("\nUnverified").unwrap();
    assert!(answer.lines().count() <= most, "{text}");
    assert_eq!(answer.matches("lowest of 3").count(), 0, "80 columns: {text}");
}

/// A host that fails, fails every result: its reason is printed once.
#[test]
fn results_that_failed_by_one_cause_share_a_line() {
    let mut evidence = Vec::new();
    for scenario in ["Offline", "Server", "Interactive"] {
        for mut one in
            [performance(scenario, "tokens_per_second", &[1.0], 2.0), accuracy(scenario, 1.0)]
        {
            one.trials[0].figures.clear();
            one.trials[0].outcome = StepOutcome::NotRun {
                reason: "pull failed: no such host: registry.example".to_owned(),
            };
            evidence.push(one);
        }
    }
    let text = render_brief(&judge(&context(), &evidence), 120);
    let line = "! six results were not measured: the step did not run: pull failed: no such host: registry.example.";
    assert!(text.contains(line), "{text}");
    assert_eq!(text.matches("no such host").count(), 1, "{text}");
}

/// A harness that does not keep a log omits it from every scenario.
#[test]
fn a_warning_of_several_results_is_printed_once() {
    let mut verdict = twelve_figures(1.0);
    for result in &mut verdict.results {
        let missing = RuleCheck::warning("mlperf_log_detail.txt", "missing", "the detail log");
        result.rules.extend([missing].into_iter().filter(|_| result.mode == Mode::Performance));
    }
    let text = render_brief(&verdict, 120);
    let line =
        "~ Offline, Server, Interactive: mlperf_log_detail.txt: missing; required the detail log";
    assert!(text.contains(line), "{text}");
    assert_eq!(text.matches("mlperf_log_detail.txt").count(), 1, "{text}");
}

#[rstest]
#[case(
    OpenRun::Interrupted,
    "- interrupted: 4 of 4 results measured.",
    "resume it: retrial resume 20260821-llama2"
)]
#[case(
    OpenRun::InProgress,
    "- in progress: 4 of 4 results measured.",
    "follow it: retrial attach 20260821-llama2"
)]
fn a_run_that_has_not_ended_is_not_called_failed(
    #[case] open_run: OpenRun,
    #[case] headline: &str,
    #[case] help: &str,
) {
    let verdict = mixed();
    let entry = ReportedVerdict::new(RUN, &verdict).with_open_run(Some(open_run));
    let terminal = Terminal { width: 120, color: false, unicode: true };
    let text = render_terminal(&brief::brief_document(&entry), terminal);
    assert!(text.contains(headline) && text.contains(help), "{text}");
}

/// A figure of the recipe's own that was not found violates no rule.
#[test]
fn rules_are_fixed_only_if_one_was_violated() {
    let mut evidence = performance("Offline", "gemm", &[1.0], 2.0);
    evidence.trials[0].figures.clear();
    let mut verdict = judge(&context(), &[evidence]);
    let text = render_brief(&verdict, 120);
    assert!(text.contains("gemm is missing"), "{text}");
    assert!(text.contains("help: correct the figure in the recipe"), "{text}");
    assert!(!text.contains("violated"), "{text}");
    verdict.results[0].rules.push(RuleCheck::violation("seed", "1", "2"));
    let text = render_brief(&verdict, 120);
    assert!(text.contains("help: fix the violated rules and run it again"), "{text}");
}
