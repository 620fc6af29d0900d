//! One row for each figure of each trial. Columns are described in docs/reports.md.

use crate::report::csv;
use crate::results::verdict::{Judgement, ResultVerdict, TrialVerdict, Verdict};
use retrial_recipe::model::ExpectationKind;

/// The columns.
pub const COLUMNS: [&str; 28] = [
    "run",
    "suite",
    "round",
    "division",
    "submitter",
    "system",
    "benchmark",
    "variant",
    "scenario",
    "mode",
    "trial",
    "path",
    "trial_valid",
    "figure",
    "unit",
    "value",
    "deciding",
    "result_valid",
    "result_value",
    "published",
    "published_kind",
    "published_source",
    "ratio",
    "lower",
    "upper",
    "confidence",
    "outcome",
    "verified",
];

/// The line of the columns' names.
#[must_use]
pub fn head() -> String {
    csv::render([COLUMNS.map(str::to_owned).to_vec()])
}

/// The rows of a verdict, which is called so.
#[must_use]
pub fn rows(name: &str, verdict: &Verdict) -> String {
    rows_of(verdict, &|_| name.to_owned())
}

/// The rows of a verdict on trials of several runs.
#[must_use]
pub fn rows_of(verdict: &Verdict, name: &dyn Fn(&TrialVerdict) -> String) -> String {
    let trials = verdict
        .results
        .iter()
        .flat_map(|result| result.trials.iter().map(move |trial| (result, trial)));
    csv::render(trials.flat_map(|(result, trial)| {
        let figures = trial.figures.keys();
        figures.map(move |figure| row(&name(trial), verdict, result, trial, figure))
    }))
}

fn row(
    name: &str,
    verdict: &Verdict,
    result: &ResultVerdict,
    trial: &TrialVerdict,
    figure: &str,
) -> Vec<String> {
    let submission = &verdict.submission;
    let or = |own: &Option<String>, common: &Option<String>| {
        own.clone().or_else(|| common.clone()).unwrap_or_default()
    };
    let value = trial.figures.get(figure);
    let mut judgements = result.judgements.iter();
    let judged = judgements.find(|one| one.figure.eq_ignore_ascii_case(figure));
    let reference = judged.and_then(|one| one.references.iter().find(|one| one.decides));
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let variant: Vec<String> = verdict
        .variant
        .iter()
        .map(|(axis, value)| format!("{axis}={value}"))
        .collect();
    vec![
        name.to_owned(),
        submission.suite.clone(),
        or(&result.round, &submission.round),
        or(&result.division, &submission.division),
        or(&result.submitter, &submission.submitter),
        or(&result.system, &submission.system),
        result.benchmark.clone(),
        variant.join(","),
        result.scenario.clone(),
        result.mode.to_string(),
        trial.trial.to_string(),
        trial.path.clone(),
        trial.valid.to_string(),
        figure.to_owned(),
        value.map_or(String::new(), |figure| figure.unit.clone()),
        number(value.map(|figure| figure.value)),
        (result.deciding.as_deref() == Some(figure)).to_string(),
        result.valid.to_string(),
        number(result.figures.get(figure).map(|figure| figure.value)),
        number(reference.map(|one| one.value)),
        reference.map_or(String::new(), |one| kind(one.kind).to_owned()),
        reference
            .and_then(|one| one.source.clone())
            .unwrap_or_default(),
        number(judged.and_then(|one| one.ratio)),
        number(judged.and_then(|one| Some(one.bounds?.lower))),
        number(judged.and_then(|one| Some(one.bounds?.upper))),
        judged.map_or(String::new(), |one| one.confidence.to_string()),
        outcome(result, judged),
        if verdict.notice.is_some() {
            "unverified"
        } else {
            ""
        }
        .to_owned(),
    ]
}

fn kind(kind: ExpectationKind) -> &'static str {
    match kind {
        ExpectationKind::Official => "official",
        ExpectationKind::Guide => "guide",
        ExpectationKind::ThirdParty => "third-party",
    }
}

/// A result that is invalid has no say on its figures.
fn outcome(result: &ResultVerdict, judged: Option<&Judgement>) -> String {
    match judged {
        Some(judged) if result.valid => judged.outcome.to_string(),
        _ => result.outcome.to_string(),
    }
}
