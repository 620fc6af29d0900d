//! Whole runs side by side.

use rstest::rstest;

use super::*;
use crate::verdict::tests::build::*;
use crate::verdict::{Evidence, ExitCode};
use retrial_mlperf::loadgen::{Parameters, RunSettings};

fn subject(name: &str, evidence: Vec<Evidence>) -> ComparisonSubject {
    let environment =
        vec![Fact::new(FactGroup::Host, "kernel", "6.1"), Fact::new(FactGroup::Host, "host", name)];
    ComparisonSubject::from_evidence(name, &[(context(), evidence)], environment)
}

fn of(baseline: &[f64], candidate: &[f64], options: &ComparisonOptions) -> Comparison {
    let subjects =
        [subject("before", vec![offline(baseline)]), subject("after", vec![offline(candidate)])];
    compare_subjects(&subjects, options)
}

fn fail_if(slower: f64) -> ComparisonOptions {
    ComparisonOptions { fail_if: Some(FailIf { slower }), ..ComparisonOptions::default() }
}

#[rstest]
#[case(&[100.0, 100.5, 99.5], &[103.0, 103.5, 102.5], Change::Faster)]
#[case(&[100.0, 100.5, 99.5], &[97.0, 97.5, 96.5], Change::Slower)]
#[case(&[100.0, 100.5, 99.5], &[100.4, 100.9, 99.9], Change::NoDifference)]
// One trial each: 0.31 % each, 0.44 % together, 0.87 % for a two-sided interval.
#[case(&[100.0], &[100.8], Change::NoDifference)]
#[case(&[100.0], &[101.2], Change::Faster)]
// Two that are further apart than that need a third.
#[case(&[100.0], &[109.0, 111.0], Change::NoDifference)]
fn changes(#[case] baseline: &[f64], #[case] candidate: &[f64], #[case] expected: Change) {
    let comparison = of(baseline, candidate, &ComparisonOptions::default());
    assert_eq!(comparison.figures.len(), 1);
    let figure = &comparison.figures[0];
    assert_eq!(figure.change, expected, "{}", figure.sentence);
    assert_eq!(comparison.exit_code, ExitCode::Success);
}

#[rstest]
#[case(&[100.0, 100.1, 99.9], &[99.9, 100.0, 99.8], 0, "slower by more than 2 % is ruled out")]
#[case(&[100.0, 100.1, 99.9], &[95.0, 95.1, 94.9], 1, "it is slower by more than 2 %")]
#[case(&[100.0, 102.0, 98.0], &[98.0, 100.0, 96.0], 5, "slower by more than 2 % is undecided")]
fn a_limit_fails_passes_or_is_not_decided(
    #[case] baseline: &[f64],
    #[case] candidate: &[f64],
    #[case] code: u8,
    #[case] fragment: &str,
) {
    let comparison = of(baseline, candidate, &fail_if(0.02));
    let sentence = &comparison.figures[0].sentence;
    assert_eq!(comparison.exit_code.code(), code, "{sentence}");
    assert!(sentence.contains(fragment), "{sentence}");
}

/// `42.0` is known to 0.05, and `42` to 0.5: as each was printed.
#[rstest]
#[case([0.05, 0.05], Change::Faster)]
#[case([0.5, 0.05], Change::NoDifference)]
#[case([0.05, 0.5], Change::NoDifference)]
fn trials_are_known_as_finely_as_each_was_printed(
    #[case] half_digits: [f64; 2],
    #[case] expected: Change,
) {
    let printed = |value: f64, half_digit: f64| {
        let mut evidence = offline(&[value, value, value]);
        for trial in &mut evidence.trials {
            trial.figures.get_mut(TOKENS).unwrap().half_digit = half_digit;
        }
        vec![evidence]
    };
    let [before, after] = half_digits;
    let subjects =
        [subject("before", printed(42.0, before)), subject("after", printed(42.4, after))];
    let comparison = compare_subjects(&subjects, &ComparisonOptions::default());
    assert_eq!(comparison.figures[0].change, expected, "{}", comparison.figures[0].sentence);
}

fn in_unit(values: &[f64], unit: &str) -> Evidence {
    let mut evidence = offline(values);
    for trial in &mut evidence.trials {
        for figure in trial.figures.values_mut() {
            unit.clone_into(&mut figure.unit);
        }
    }
    evidence
}

#[test]
fn figures_are_compared_in_one_unit_or_not_at_all() {
    let compared = |unit: &str, values: &[f64]| {
        let subjects = [
            subject("before", vec![offline(&[100.0, 100.1])]),
            subject("after", vec![in_unit(values, unit)]),
        ];
        compare_subjects(&subjects, &ComparisonOptions::default())
    };
    let thousands = compared("ktok/s", &[0.1, 0.1001]);
    let ratio = thousands.figures[0].ratio.unwrap();
    assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
    let samples = compared("samples/s", &[100.0, 100.1]);
    assert_eq!(samples.figures[0].change, Change::NotCompared);
    let sentence = &samples.figures[0].sentence;
    assert!(sentence.contains("A gives it in tokens/s and B in samples/s"), "{sentence}");
}

#[test]
fn invalid_results_are_not_compared_and_pass_no_limit() {
    let mut broken = offline(&[120.0, 121.0]);
    broken.trials[1].validity =
        crate::verdict::StatedValidity::Invalid(vec!["too short".to_owned()]);
    let subjects =
        [subject("before", vec![offline(&[100.0, 100.1])]), subject("after", vec![broken])];
    let comparison = compare_subjects(&subjects, &fail_if(0.02));
    let figure = &comparison.figures[0];
    assert_eq!(figure.change, Change::NotCompared);
    assert_eq!((figure.ratio, figure.interval), (None, None));
    assert_eq!(figure.sentence, "tokens_per_second: not compared: B is invalid.");
    assert_eq!(comparison.exit_code, ExitCode::NotReproduced);
}

/// The basis of an interval: the benchmark's noise, and trials that violate its assumptions.
#[rstest]
#[case(&[100.0], &[101.2], "(one trial each, assumed noise 0.3 % from 16 published pairs of llama2-70b Offline)")]
#[case(&[100.0, 100.3], &[109.0, 111.0], "of which two are further apart than the assumed noise allows")]
#[case(&[100.0, 100.3, 99.8], &[100.1, 99.9, 100.2], "(geometric means of 3 trials each)")]
#[case(&[100.0, 101.0, 102.0, 103.0], &[100.0, 101.1, 99.0, 100.5], "trials each, which depend on their order and count as one)")]
fn bases(#[case] baseline: &[f64], #[case] candidate: &[f64], #[case] fragment: &str) {
    let sentence = &of(baseline, candidate, &ComparisonOptions::default()).figures[0].sentence;
    assert!(sentence.contains(fragment), "{sentence}");
}

/// Cells of one comparison: the noise of published pairs, 0.3 %, is less than they show.
#[test]
fn one_trial_scatters_as_all_cells_do() {
    let subjects = [
        subject("1", vec![offline(&[100.0, 100.1, 99.9])]),
        subject("2", vec![offline(&[97.0])]),
        subject("3", vec![offline(&[80.0, 84.0, 82.0])]),
        subject("4", vec![offline(&[50.0, 51.0])]),
    ];
    let compare = |subjects: &[ComparisonSubject]| {
        compare_subjects(subjects, &ComparisonOptions::default()).figures[0].clone()
    };
    assert_eq!(compare(&subjects[..2]).change, Change::Slower);
    let among_others = compare(&subjects);
    assert_eq!(among_others.change, Change::NoDifference, "{}", among_others.sentence);
    let basis = "a single trial has the scatter of the others, 1.7 %";
    assert!(among_others.sentence.contains(basis), "{}", among_others.sentence);
}

/// A latency that falls is faster, and its ratio is above 1.
#[test]
fn a_latency_that_falls_is_faster() {
    let figure = "early_stopping_latency_ns";
    let at = |values| loadgen("SingleStream", figure, "ns", values);
    let subjects = [
        subject("before", vec![at(&[20e6, 20.1e6, 19.9e6])]),
        subject("after", vec![at(&[18e6, 18.1e6, 17.9e6])]),
    ];
    let comparison = compare_subjects(&subjects, &ComparisonOptions::default());
    let figure = &comparison.figures[0];
    assert_eq!(figure.change, Change::Faster);
    assert!((figure.ratio.unwrap() - 20.0 / 18.0).abs() < 1e-3);
    assert!(
        figure.sentence.contains("B is 1.111 × as fast as A (17.9998 against 19.9998 ms)"),
        "{}",
        figure.sentence
    );
}

/// Alone it would be shown; of twenty figures one in twenty is chance.
#[test]
fn many_figures_are_corrected_for_multiple_comparisons() {
    let shifted = |shift: f64| -> Vec<Evidence> {
        (0..20)
            .map(|number| {
                let factor = if number == 0 { 1.0 + shift } else { 1.0 };
                let mut evidence = offline(&[99.5, 100.0, 100.5].map(|value| value * factor));
                evidence.plan.scenario = format!("case {number}").into();
                evidence
            })
            .collect()
    };
    let with = |shift| {
        let subjects = [subject("before", shifted(0.0)), subject("after", shifted(shift))];
        compare_subjects(&subjects, &ComparisonOptions::default())
    };
    let alone = with(0.015);
    assert_eq!(alone.figures[0].change, Change::NoDifference);
    assert!(
        alone.figures[0].sentence.contains("faster before Holm's correction"),
        "{}",
        alone.figures[0].sentence
    );
    assert_eq!(with(0.05).figures[0].change, Change::Faster);
    assert!(with(0.05).figures[1..].iter().all(|figure| figure.change == Change::NoDifference));
}

#[test]
fn pairs_are_compared_pair_by_pair() {
    let options = ComparisonOptions { paired: true, ..ComparisonOptions::default() };
    let baseline = [100.0, 97.0, 94.0, 92.0, 90.0];
    let candidate = [101.9, 99.0, 95.8, 93.9, 91.7];
    assert_eq!(
        of(&baseline, &candidate, &ComparisonOptions::default()).figures[0].change,
        Change::NoDifference
    );
    let paired = of(&baseline, &candidate, &options);
    assert_eq!(paired.figures[0].change, Change::Faster);
    assert!(paired.figures[0].sentence.contains("5 pairs of trials"));
    let uneven = of(&baseline, &candidate[..3], &options);
    assert_eq!(uneven.figures[0].change, Change::NotCompared);
    assert!(uneven.figures[0].sentence.contains("cannot be paired"));
}

#[test]
fn results_only_in_one_run_are_noted() {
    let mut server = offline(&[10.0]);
    server.plan.scenario = "Server".into();
    let subjects = [
        subject("before", vec![offline(&[100.0]), server]),
        subject("after", vec![offline(&[100.0]), accuracy("Offline", "rouge1", 44.0)]),
    ];
    let comparison = compare_subjects(&subjects, &ComparisonOptions::default());
    assert_eq!(comparison.notes, ["only A has Server performance", "only B has Offline accuracy"]);
}

#[test]
fn accuracy_is_better_or_worse() {
    let subjects = [
        subject("before", vec![accuracy("Offline", "rouge1", 44.0)]),
        subject("after", vec![accuracy("Offline", "rouge1", 43.9)]),
    ];
    let comparison = compare_subjects(&subjects, &fail_if(0.02));
    let figure = &comparison.figures[0];
    assert_eq!(figure.change, Change::Worse);
    assert!(figure.sentence.ends_with("worse (compared as printed)."));
    // A limit on speed says nothing of it, and there is no speed to judge.
    assert_eq!((figure.limit, comparison.exit_code), (None, ExitCode::Inconclusive));
}

#[test]
fn other_target_rates_are_noted() {
    let at = |rate: f64| {
        let mut evidence =
            loadgen("Server", "completed_tokens_per_second", "tokens/s", &[rate * 290.0]);
        evidence.trials[0].run_settings = Some(RunSettings {
            settings: Parameters { target_qps: Some(rate), ..Parameters::default() },
            ..RunSettings::default()
        });
        vec![evidence]
    };
    let subjects = [subject("before", at(10.0)), subject("after", at(12.0))];
    let comparison = compare_subjects(&subjects, &ComparisonOptions::default());
    assert!(comparison.notes[0].contains("of A is 10 queries/s and of B 12"));
}

#[rstest]
#[case(300.5, 300.4, None)]
#[case(
    300.5,
    280.0,
    Some(
        "Offline accuracy: TOKENS_PER_SAMPLE of A is 300.5 and of B 280: the answers differ in length"
    )
)]
fn tokens_per_sample_is_not_compared_as_quality(
    #[case] ours: f64,
    #[case] theirs: f64,
    #[case] note: Option<&str>,
) {
    let accuracy_of = |length| vec![accuracy("Offline", "TOKENS_PER_SAMPLE", length)];
    let subjects = [subject("before", accuracy_of(ours)), subject("after", accuracy_of(theirs))];
    let comparison = compare_subjects(&subjects, &ComparisonOptions::default());
    assert!(comparison.figures.is_empty());
    assert_eq!(comparison.notes.first().map(String::as_str), note);
}

#[test]
fn a_single_run_has_no_comparison() {
    let comparison =
        compare_subjects(&[subject("one", vec![offline(&[1.0])])], &ComparisonOptions::default());
    assert!(comparison.figures.is_empty());
}

#[test]
fn environments_side_by_side() {
    let comparison = of(&[100.0], &[100.0], &ComparisonOptions::default());
    let [host] = comparison.environment.as_slice() else {
        panic!("{:?}", comparison.environment);
    };
    assert_eq!((host.alike[0].what.as_str(), host.same), ("kernel", 1));
    assert_eq!(host.differs[0].what, "host");
    assert_eq!(host.differs[0].values, [Some("before".to_owned()), Some("after".to_owned())]);
}

#[test]
fn runs_are_pooled_in_their_order() {
    let run = |name: &str, value: f64| subject(name, vec![offline(&[value])]);
    let pooled = |name: &str, values: &[f64]| {
        let runs = values.iter().map(|value| run(name, *value)).collect();
        ComparisonSubject::pool(name, runs)
    };
    let subjects =
        [pooled("before", &[100.0, 97.5, 94.25]), pooled("after", &[102.0, 99.5, 96.25])];
    let options = ComparisonOptions { paired: true, ..ComparisonOptions::default() };
    let comparison = compare_subjects(&subjects, &options);
    assert_eq!(comparison.figures[0].change, Change::Faster);
    assert_eq!(comparison.figures[0].baseline.trials, [100.0, 97.5, 94.25]);
    assert_eq!(comparison.subjects[1].runs, 3);
    assert!(comparison.notes.is_empty(), "{:?}", comparison.notes);
}

#[test]
fn an_invalid_run_is_excluded_from_a_pool_and_reported() {
    let mut broken = offline(&[50.0]);
    broken.trials[0].validity =
        crate::verdict::StatedValidity::Invalid(vec!["too short".to_owned()]);
    let runs = vec![
        subject("one", vec![offline(&[100.0])]),
        subject("two", vec![broken.clone()]),
        subject("three", vec![offline(&[101.0])]),
    ];
    let pool = ComparisonSubject::pool("cell", runs);
    assert_eq!(pool.measured[0].figures[0].trials, Some(vec![100.0, 101.0]));
    assert_eq!(
        pool.notes,
        [
            "the 3 runs of cell differ among themselves in host",
            "Offline performance of cell excludes 1 of its 3 runs: two (invalid)"
        ]
    );
    // Of nothing but broken ones nothing is compared.
    let alone = ComparisonSubject::pool("cell", vec![subject("two", vec![broken])]);
    assert!(!alone.measured[0].valid);
}

/// What was lost is no part of the table, and passes no limit.
#[test]
fn a_missing_scenario_or_figure_is_named_and_passes_no_limit() {
    let calm = [100.0, 100.1, 99.9];
    let whole = || {
        let server = loadgen("Server", "completed_samples_per_second", "queries/s", &calm);
        vec![offline(&calm), server]
    };
    let failed = || {
        let mut all = whole();
        for trial in &mut all[1].trials {
            trial.figures.clear();
            trial.outcome = crate::verdict::StepOutcome::Failed {
                reason: "exit code 9".to_owned(),
                code: Some(9),
            };
        }
        all
    };
    let compared = |before: Vec<Evidence>, after: Vec<Evidence>| {
        let subjects = [subject("before", before), subject("after", after)];
        let comparison = compare_subjects(&subjects, &fail_if(0.02));
        (comparison.exit_code.code(), comparison.notes.join("; "))
    };
    assert_eq!(compared(whole(), whole()), (0, String::new()));
    let (code, notes) = compared(whole(), vec![offline(&calm)]);
    assert_eq!((code, notes.as_str()), (5, "only A has Server performance"));
    let figure = "completed_samples_per_second";
    let (code, notes) = compared(whole(), failed());
    let named = format!("only A has Server performance of {figure}: B is failed");
    assert_eq!((code, notes.as_str()), (4, named.as_str()));
    let (_, notes) = compared(failed(), whole());
    assert_eq!(notes, format!("only B has Server performance of {figure}: A is failed"));
    let (_, notes) = compared(failed(), failed());
    assert_eq!(notes, "neither A nor B has a figure of Server performance");
}
