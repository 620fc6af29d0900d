//! The table at its widths, with and without colour.

mod brief_lines;
mod comparison;

use proptest::prelude::*;
use rstest::rstest;
use unicode_width::UnicodeWidthStr;

use super::{Terminal, render_terminal};
use crate::ReportedVerdict;
use crate::content::{brief, verdict};
use crate::document::{Block, Document, ListItem};
use retrial_recipe::model::{Claim, Expectation, ExpectationKind, Limit, Mode, Submission};
use retrial_results::verdict::{
    Evidence, FigureValue, Qualifier, QualifierKind, RunContext, StatedValidity, StepOutcome,
    TrialEvidence, Verdict, judge,
};

const RUN: &str = "/home/lab/.local/share/retrial/runs/20260821-llama2";

fn table(verdict: &Verdict, evidence: &str, width: u16, color: bool) -> String {
    let terminal = Terminal { width, color, unicode: true };
    render_terminal(&verdict::verdict_document(&ReportedVerdict::new(evidence, verdict)), terminal)
}

fn context() -> RunContext {
    RunContext {
        submission: Submission {
            suite: "mlperf-inference".to_owned(),
            round: Some("v6.0".to_owned()),
            division: Some(retrial_mlperf::Division::Closed),
            submitter: Some("AMD".to_owned()),
            system: Some("8xMI355X_2xEPYC_9575F".to_owned()),
            benchmark: "llama2-70b-99".to_owned(),
            sources: Vec::new(),
        },
        accuracy_scenarios: ["Offline", "Server", "Interactive"].map(Into::into).to_vec(),
        ..RunContext::default()
    }
}

fn performance(scenario: &str, figure: &str, values: &[f64], published: f64) -> Evidence {
    let mut evidence = Evidence::new(scenario, Mode::Performance);
    evidence.plan.loadgen = true;
    evidence.published_metric = Some(figure.to_owned());
    let expectation = Expectation {
        value: published,
        kind: ExpectationKind::Official,
        source: Some("6.0-0002".to_owned()),
        sigma: None,
        noise: None,
        margin: None,
        claim: Claim::NotWorse,
    };
    evidence.plan.expect.push((figure.to_owned(), vec![expectation]));
    for (number, value) in (1..).zip(values) {
        let mut trial = TrialEvidence::new_finished(number, format!("run_{number}"));
        trial.validity = StatedValidity::Valid;
        let unit = if figure.ends_with("_ns") { "ns" } else { "tokens/s" };
        trial.figures.insert(figure.to_owned(), FigureValue::new(*value, unit));
        evidence.trials.push(trial);
    }
    evidence
}

fn accuracy(scenario: &str, value: f64) -> Evidence {
    let mut evidence = Evidence::new(scenario, Mode::Accuracy);
    evidence.plan.loadgen = true;
    let limit = Limit { min: Some(43.986_888), ..Limit::default() };
    evidence.plan.limits.push(("rouge1".to_owned(), limit));
    let mut trial = TrialEvidence::new_finished(1, "run_1");
    trial.figures.insert("rouge1".to_owned(), FigureValue::new(value, ""));
    evidence.trials.push(trial);
    evidence
}

fn reproduced() -> Verdict {
    let mut context = context();
    context.qualifiers = vec![Qualifier::new(
        QualifierKind::UnpinnedImage,
        "rocm/amd-mlperf:mi355x_llama2_70b_inference_6.0 may move",
    )];
    context.variant.insert("rocm".to_owned(), "7.1.1".to_owned());
    let evidence = [
        performance("Offline", "tokens_per_second", &[102_961.0], 103_480.0),
        accuracy("Offline", 44.46),
        performance(
            "Server",
            "completed_tokens_per_second",
            &[99_807.4, 100_011.0, 99_905.2],
            100_282.0,
        ),
        performance("Interactive", "completed_tokens_per_second", &[78_012.9], 73_608.2),
    ];
    judge(&context, &evidence)
}

fn mixed() -> Verdict {
    let mut invalid =
        performance("Interactive", "completed_tokens_per_second", &[73_608.2], 73_608.2);
    invalid.trials[0].validity =
        StatedValidity::Invalid(vec!["Performance constraints satisfied : NO".to_owned()]);
    let evidence = [
        performance("Offline", "tokens_per_second", &[93_045.8], 103_480.0),
        performance("Server", "completed_tokens_per_second", &[95_350.0], 100_282.0),
        invalid,
        performance(
            "SingleStream",
            "early_stopping_latency_ns",
            &[28_012_345_678.0],
            27_384_519_297.0,
        ),
    ];
    judge(&context(), &evidence)
}

fn failed() -> Verdict {
    let mut evidence = performance("Offline", "tokens_per_second", &[1.0], 103_480.0);
    evidence.trials[0].figures.clear();
    evidence.trials[0].outcome = StepOutcome::Failed {
        reason: "hipErrorNoDevice\u{1b}[31m at \u{202e}main.py".to_owned(),
        code: Some(134),
    };
    judge(&context(), &[evidence])
}

fn inconclusive() -> Verdict {
    let mut context = context();
    "own".clone_into(&mut context.submission.suite);
    context.rules.noise = Some(0.003);
    let mut measured = performance("Digits", "tokens_per_second", &[12.5], 1.0);
    measured.plan.expect.clear();
    let evidence = [
        performance("Offline", "tokens_per_second", &[98_900.0], 103_480.0),
        performance("Server", "completed_tokens_per_second", &[95_268.0], 100_282.0),
        measured,
    ];
    judge(&context, &evidence)
}

/// A table of 40 figures, two of which are worse than published.
fn many() -> Verdict {
    let mut evidence = Evidence::new("gemm", Mode::Performance);
    let declared = retrial_results::verdict::tests::build::source();
    evidence.plan.figures.push(("gemm".to_owned(), declared));
    for trial in 1..4_u32 {
        evidence.trials.push(TrialEvidence::new_finished(trial, format!("run_{trial}")));
    }
    for number in 1..=40_u32 {
        let name = format!("gemm[bf16 {0}x{0}x{0}]", number * 256);
        let published = 900.0 + f64::from(number);
        let expectation = Expectation {
            value: published,
            kind: ExpectationKind::ThirdParty,
            source: None,
            sigma: None,
            noise: None,
            margin: None,
            claim: Claim::NotWorse,
        };
        evidence.plan.expect.push((name.clone(), vec![expectation]));
        let share = if number % 20 == 0 { 0.8 } else { 1.01 };
        for (trial, noise) in evidence.trials.iter_mut().zip([0.999, 1.0, 1.001]) {
            let value = published * share * noise;
            trial.figures.insert(name.clone(), FigureValue::new(value, "TFLOP/s"));
        }
    }
    let mut context = context();
    context.submission.suite = "training-benchmarks".to_owned();
    judge(&context, &[evidence])
}

fn render_brief(verdict: &Verdict, width: u16) -> String {
    let terminal = Terminal { width, color: false, unicode: true };
    let entry = ReportedVerdict::new(RUN, verdict).with_open_run(None);
    render_terminal(&brief::brief_document(&entry), terminal)
}

#[rstest]
fn verdicts_in_brief(
    #[values("reproduced", "mixed", "failed", "inconclusive", "many")] name: &str,
    #[values(80, 120)] width: u16,
) {
    let verdict = match name {
        "reproduced" => reproduced(),
        "mixed" => mixed(),
        "failed" => failed(),
        "many" => many(),
        _ => inconclusive(),
    };
    let text = render_brief(&verdict, width);
    for line in text.lines() {
        let whole_word = line.trim_start().starts_with("evidence: ");
        assert!(line.width() <= usize::from(width) || whole_word, "{line}");
    }
    insta::assert_snapshot!(format!("brief_{name}_{width}"), text);
}

#[rstest]
fn verdicts_fit_every_terminal_width(
    #[values("reproduced", "mixed", "failed", "inconclusive", "many")] name: &str,
    #[values(60, 80, 120)] width: u16,
) {
    let verdict = match name {
        "reproduced" => reproduced(),
        "mixed" => mixed(),
        "failed" => failed(),
        "many" => many(),
        _ => inconclusive(),
    };
    let text = table(&verdict, RUN, width, false);
    for line in text.lines() {
        let whole_word =
            line.trim_start().starts_with("evidence: ") || line.contains("verdict.json");
        assert!(line.width() <= usize::from(width) || whole_word, "{line}");
        assert!(line.chars().all(|letter| !letter.is_control()), "{line:?}");
    }
    insta::assert_snapshot!(format!("{name}_{width}"), text);
}

#[rstest]
fn snapshots_in_color(#[values(60, 80, 120)] width: u16) {
    let text = table(&mixed(), RUN, width, true);
    insta::assert_snapshot!(format!("color_{width}"), text.replace('\u{1b}', "␛"));
}

/// Colour adds escapes and nothing else.
#[rstest]
fn color_changes_no_text(#[values(60, 70, 80, 95, 120, 300)] width: u16) {
    for verdict in [reproduced(), mixed(), failed(), inconclusive()] {
        let plain = table(&verdict, RUN, width, false);
        let painted = table(&verdict, RUN, width, true);
        assert!(painted.contains('\u{1b}') && !plain.contains('\u{1b}'));
        assert_eq!(console::strip_ansi_codes(&painted), plain);
    }
}

#[test]
fn any_width_is_rendered() {
    for width in [0, 1, 59, 61, u16::MAX] {
        assert!(table(&mixed(), RUN, width, false).contains("not reproduced"));
    }
}

#[test]
fn a_run_without_results_is_invalid() {
    let text = table(&judge(&context(), &[]), RUN, 80, false);
    assert!(text.contains("! invalid: There is no result to judge."), "{text}");
}

proptest! {
    /// Names come from recipes and logs: whatever they hold, no escape gets out and nothing panics.
    #[test]
    fn any_name_is_shown(
        scenario in "\\PC*", figure in ".*", unit in ".*", source in ".*", value in 1.0_f64..1e6,
        width in any::<u16>(),
    ) {
        let mut evidence = performance(&scenario, &figure, &[value], 100.0);
        evidence.plan.expect[0].1[0].source = Some(source);
        for trial in &mut evidence.trials {
            trial.figures.values_mut().for_each(|figure| figure.unit.clone_from(&unit));
        }
        let text = table(&judge(&context(), &[evidence]), RUN, width, false);
        prop_assert!(text.lines().all(|line| line.chars().all(|letter| !letter.is_control())));
    }
}

#[test]
fn a_long_key_shifts_only_its_own_text() {
    let items = ["gpus", "disk for runs", "model meta-llama/Llama-3.1-405B-Instruct-FP8-KV"];
    let items =
        items.map(|key| ListItem::with_key(key, "as much as is needed of it, and a little more"));
    let document =
        Document { blocks: Block::list(items).into_iter().collect(), ..Document::default() };
    let terminal = Terminal { width: 60, color: false, unicode: true };
    let text = render_terminal(&document, terminal);
    assert!(text.contains("  gpus           as much"), "{text}");
    assert!(text.contains("  disk for runs  as much"), "{text}");
    assert!(text.lines().all(|line| line.width() <= 60), "{text}");
}
