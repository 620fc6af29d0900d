//! One row for each figure of each trial. docs/reports.md describes the columns.

use itertools::join;

use crate::csv;
use retrial_mlperf::Division;
use retrial_results::verdict::{
    FigureValue, Judgement, Reference, ResultVerdict, TrialVerdict, Verdict,
};

/// A figure of a trial, with its context.
struct TrialFigure<'a> {
    name: &'a str,
    verdict: &'a Verdict,
    result: &'a ResultVerdict,
    trial: &'a TrialVerdict,
    is_warmup: bool,
    figure: &'a str,
    value: &'a FigureValue,
    judgement: Option<&'a Judgement>,
    reference: Option<&'a Reference>,
}

/// A column: its name, and its value in a row.
type TrialColumn = (&'static str, fn(&TrialFigure<'_>) -> String);

const COLUMNS: [TrialColumn; 30] = [
    ("run", |row| row.name.to_owned()),
    ("suite", |row| row.verdict.submission.suite.clone()),
    ("round", |row| first_known([&row.result.round, &row.verdict.submission.round])),
    ("division", |row| {
        let division = row.result.division.or(row.verdict.submission.division);
        division.map_or("", Division::word).to_owned()
    }),
    ("submitter", |row| first_known([&row.result.submitter, &row.verdict.submission.submitter])),
    ("system", |row| first_known([&row.result.system, &row.verdict.submission.system])),
    ("benchmark", |row| row.result.benchmark.clone()),
    ("variant", |row| {
        let axes = row.verdict.variant.iter();
        let variant = axes.map(|(axis, value)| format!("{axis}={value}"));
        join(variant, ",")
    }),
    ("scenario", |row| row.result.scenario.to_string()),
    ("mode", |row| row.result.mode.to_string()),
    ("trial", |row| row.trial.trial.to_string()),
    ("warmup", |row| row.is_warmup.to_string()),
    ("path", |row| row.trial.path.clone()),
    ("trial_valid", |row| row.trial.valid.to_string()),
    ("figure", |row| row.figure.to_owned()),
    ("unit", |row| row.value.unit.clone()),
    ("value", |row| row.value.value.to_string()),
    ("deciding", |row| (row.result.deciding.as_deref() == Some(row.figure)).to_string()),
    ("result_valid", |row| row.result.valid.to_string()),
    ("result_value", |row| {
        let figure = row.result.figures.get(row.figure);
        to_text(figure.map(|figure| figure.value))
    }),
    ("published", |row| to_text(row.reference.map(|reference| reference.value))),
    ("published_kind", |row| {
        let kind = row.reference.map(|reference| reference.kind.word());
        kind.unwrap_or_default().to_owned()
    }),
    ("published_source", |row| {
        let source = row.reference.and_then(|reference| reference.source.clone());
        source.unwrap_or_default()
    }),
    ("ratio", |row| to_text(row.judgement.and_then(|judged| judged.ratio))),
    ("lower", |row| to_text(row.judgement.and_then(|judged| Some(judged.bounds?.lower)))),
    ("upper", |row| to_text(row.judgement.and_then(|judged| Some(judged.bounds?.upper)))),
    ("confidence", |row| to_text(row.judgement.map(|judged| judged.confidence))),
    // An invalid result decides for its figures.
    ("outcome", |row| match row.judgement {
        _ if row.is_warmup => String::new(),
        Some(judged) if row.result.valid => judged.outcome.to_string(),
        _ => row.result.outcome.to_string(),
    }),
    ("qualifiers", |row| {
        let qualifiers = row.result.qualifiers.iter();
        join(qualifiers.map(|one| format!("{}: {}", one.kind, one.reason)), "; ")
    }),
    ("verified", |row| {
        let notice = row.verdict.notice.as_ref();
        notice.map_or("", |_| "unverified").to_owned()
    }),
];

/// The line of the columns' names.
pub fn render_header() -> String {
    csv::render_csv([COLUMNS.map(|(name, _)| name.to_owned()).to_vec()])
}

/// The rows of a verdict; `name` names the run of a trial.
pub fn render_rows(verdict: &Verdict, name: impl Fn(&TrialVerdict) -> String) -> String {
    let results = verdict.results.iter();
    let trials = results.flat_map(|result| {
        let trials = with_warmups(result);
        trials.map(move |(is_warmup, trial)| (result, is_warmup, trial))
    });
    csv::render_csv(trials.flat_map(|(result, is_warmup, trial)| {
        let run_name = name(trial);
        trial.figures.iter().map(move |(figure, value)| {
            let mut judgements = result.judgements.iter();
            let judged =
                judgements.find(|judged| !is_warmup && judged.figure.eq_ignore_ascii_case(figure));
            let row = TrialFigure {
                name: &run_name,
                verdict,
                result,
                trial,
                is_warmup,
                figure,
                value,
                judgement: judged,
                reference: judged.and_then(|judged| Reference::find_deciding(&judged.references)),
            };
            COLUMNS.map(|(_, value)| value(&row)).to_vec()
        })
    }))
}

/// The trials of a result after its warm-ups, each with whether it is one.
pub(super) fn with_warmups(result: &ResultVerdict) -> impl Iterator<Item = (bool, &TrialVerdict)> {
    let warmups = result.warmups.iter().map(|trial| (true, trial));
    warmups.chain(result.trials.iter().map(|trial| (false, trial)))
}

/// A property of the result, or else of the whole submission.
fn first_known(own_and_whole: [&Option<String>; 2]) -> String {
    let value = own_and_whole.into_iter().flatten().next();
    value.cloned().unwrap_or_default()
}

fn to_text(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
