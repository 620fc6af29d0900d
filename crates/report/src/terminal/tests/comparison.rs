//! Comparisons at the widths of terminals.

use proptest::prelude::*;
use rstest::rstest;
use unicode_width::UnicodeWidthStr;

use super::{Terminal, render_terminal};
use crate::content::{DetailLevel, comparison as content};
use retrial_recipe::model::{Mode, Submission};
use retrial_results::verdict::comparison::{
    Comparison, ComparisonOptions, ComparisonSubject, Fact, FactGroup, FailIf, compare_subjects,
};
use retrial_results::verdict::{Evidence, FigureValue, RunContext, StatedValidity, TrialEvidence};

fn comparison(comparison: &Comparison, width: u16, color: bool, all: bool) -> String {
    let detail = if all { DetailLevel::Facts } else { DetailLevel::Brief };
    let terminal = Terminal { width, color, unicode: true };
    render_terminal(&content::comparison_document(comparison, detail), terminal)
}

fn evidence(scenario: &str, mode: Mode, figures: &[(&str, &str, &[f64])]) -> Evidence {
    let mut evidence = Evidence::new(scenario, mode);
    evidence.plan.loadgen = mode == Mode::Performance;
    evidence.published_metric = figures.first().map(|(name, _, _)| (*name).to_owned());
    let trials = figures.first().map_or(0, |(_, _, values)| values.len());
    for number in 0..trials {
        let mut trial = TrialEvidence::new_finished(1 + u32::try_from(number).unwrap(), "run");
        trial.validity = StatedValidity::Valid;
        for (name, unit, values) in figures {
            let value = FigureValue::new(values[number], *unit);
            trial.figures.insert((*name).to_owned(), value);
        }
        evidence.trials.push(trial);
    }
    evidence
}

fn subject(name: &str, factor: f64, environment: Vec<Fact>) -> ComparisonSubject {
    let context = RunContext {
        submission: Submission {
            suite: "mlperf-inference".to_owned(),
            round: Some("v6.0".to_owned()),
            submitter: Some("AMD".to_owned()),
            benchmark: "llama2-70b-99".to_owned(),
            ..Submission::default()
        },
        ..RunContext::default()
    };
    let offline = [103_480.0, 103_210.0, 103_655.0].map(|value: f64| (value * factor).round());
    let server = [98_800.5, 98_912.25, 98_707.75];
    let all = vec![
        evidence("Offline", Mode::Performance, &[("tokens_per_second", "tokens/s", &offline)]),
        evidence(
            "Server",
            Mode::Performance,
            &[("completed_tokens_per_second", "tokens/s", &server)],
        ),
        evidence("Offline", Mode::Accuracy, &[("rouge1", "", &[44.5])]),
    ];
    ComparisonSubject::from_evidence(name, &[(context, all)], environment)
}

fn facts(rocm: &str, digest: char) -> Vec<Fact> {
    let digest = format!("sha256:{}", digest.to_string().repeat(64));
    let mut facts = vec![
        Fact::new(FactGroup::Image, "image", format!("rocm/amd-mlperf:llama2_{rocm}")),
        Fact::new(FactGroup::Image, "image digest", digest),
        Fact::new(FactGroup::Stack, "ROCm in the image", rocm),
        Fact::new(FactGroup::Stack, "amdgpu driver", "6.16.13"),
        Fact::new(FactGroup::Stack, "RCCL", "2.27.7"),
        Fact::new(FactGroup::Stack, "PyTorch", format!("2.9.0+rocm{rocm}")),
        Fact::new(FactGroup::Image, "label maintainer", "lab"),
        Fact::new(FactGroup::Packages, "rocfft (dpkg)", format!("1.0.36+rocm{rocm}")),
        Fact::new(FactGroup::Packages, "bash (dpkg)", "5.2.15-2+b2"),
        Fact::new(FactGroup::Parameters, "variant rocm", rocm),
        Fact::new(
            FactGroup::Variables,
            "LD_LIBRARY_PATH",
            format!("/opt/rocm-{rocm}/lib:/opt/rocm-{rocm}/lib64:/usr/local/lib"),
        ),
        Fact::new(FactGroup::Variables, "PATH", "/usr/bin:/bin"),
        Fact::new(FactGroup::Gpus, "GPUs", "8 x MI355X"),
        Fact::new(FactGroup::Gpus, "power limit", "1400 W"),
        Fact::new(FactGroup::Host, "kernel", "6.8.0-60-generic"),
        Fact::new(FactGroup::Settings, "NUMA balancing", "0"),
    ];
    facts.extend((0..300).map(|number| {
        let name = format!("library{number:03} (dpkg)");
        Fact::new(FactGroup::Packages, name, format!("1.{rocm}"))
    }));
    facts
}

fn two() -> Comparison {
    let subjects = [
        subject("20260821-120000-llama2-1a2b", 1.0, facts("6.4.1", 'a')),
        subject("20260822-120000-llama2-3c4d", 1.031, facts("7.1.1", 'b')),
    ];
    compare_subjects(&subjects, &ComparisonOptions::default())
}

fn three() -> Comparison {
    let mut other = facts("7.0.0", 'c');
    other.retain(|fact| fact.group != FactGroup::Packages);
    other.push(Fact::new(FactGroup::Host, "kernel of another", "5.15"));
    let pooled = ComparisonSubject::pool(
        "rocm=7.1.1",
        vec![subject("one", 1.031, facts("7.1.1", 'b')), subject("two", 1.03, facts("7.1.1", 'b'))],
    );
    let subjects = [
        subject("rocm=6.4.1", 1.0, facts("6.4.1", 'a')),
        subject("rocm=7.0.0", 0.9, other),
        pooled,
    ];
    let options = ComparisonOptions {
        fail_if: Some(FailIf { slower: 0.02 }),
        ..ComparisonOptions::default()
    };
    let mut comparison = compare_subjects(&subjects, &options);
    comparison.title = Some("llama2-70b-mi355x, 8 x MI355X".to_owned());
    comparison
}

#[rstest]
fn a_comparison_at_a_width(
    #[values(60, 80, 120)] width: u16,
    #[values("two", "three")] subjects: &str,
) {
    let comparison_of = if subjects == "two" { two() } else { three() };
    let text = comparison(&comparison_of, width, false, false);
    insta::assert_snapshot!(format!("{subjects}_{width}"), text);
}

#[test]
fn a_comparison_in_color_marks_its_changes() {
    insta::assert_snapshot!(comparison(&two(), 80, true, false).replace('\u{1b}', "ESC"));
}

#[test]
fn with_every_package() {
    let text = comparison(&two(), 120, false, true);
    assert!(text.contains("library299 (dpkg)"), "{text}");
    assert!(!comparison(&two(), 120, false, false).contains("library299"));
}

proptest! {
    #[test]
    fn lines_fit_the_width(width in 60_u16..140, value in "[ -~äöü\u{4e00}-\u{4e20}\u{1b}]{0,300}", name in "[a-zA-Z_]{1,40}") {
        let with = |value: &str| vec![Fact::new(FactGroup::Variables, name.clone(), value), Fact::new(FactGroup::Host, "kernel", value)];
        let subjects = [subject("a", 1.0, with(&value)), subject("b", 1.0, with("")), subject("c", 1.0, with(&format!("{value}x")))];
        let text = comparison(&compare_subjects(&subjects, &ComparisonOptions::default()), width, false, false);
        prop_assert!(!text.contains(char::from(0x1b)));
        for line in text.lines() {
            prop_assert!(line.width() <= usize::from(width), "{}: {line}", line.width());
        }
    }
}
