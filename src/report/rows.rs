//! From a verdict to the rows of its table, whatever the table is written in.

use super::words::clean;
use crate::recipe::model::ExpectationKind;
use crate::verdict::{FigureValue, Judgement, Outcome, Reference, ResultVerdict, number};

/// Stands where there is nothing to say.
pub(super) const NOTHING: &str = "–";
/// A longer source stands in the sentence only.
const LONGEST_SOURCE: usize = 24;

/// One figure, in words.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub scenario: String,
    pub mode: String,
    pub figure: String,
    pub measured: String,
    pub published: String,
    /// Without its unit, which stands beside the measured figure.
    pub published_bare: String,
    pub source: String,
    pub ratio: String,
    pub bounds: String,
    pub outcome: Outcome,
}

/// The rows of a result: one for each published figure, or one for what was measured.
pub(super) fn of(result: &ResultVerdict) -> Vec<Row> {
    let of_result = matches!(result.outcome, Outcome::Invalid | Outcome::Failed);
    if result.judgements.is_empty() {
        return vec![measured(result)];
    }
    result
        .judgements
        .iter()
        .map(|judgement| {
            let outcome = if of_result {
                result.outcome
            } else {
                judgement.outcome
            };
            judged(result, judgement, outcome)
        })
        .collect()
}

fn judged(result: &ResultVerdict, judgement: &Judgement, outcome: Outcome) -> Row {
    let reference = judgement
        .references
        .iter()
        .find(|reference| reference.decides);
    let (unit, like) = match (&judgement.measured, reference) {
        (Some(measured), _) => (measured.unit.as_str(), measured.value),
        (None, Some(reference)) => ("", reference.value),
        (None, None) => ("", 1.0),
    };
    Row {
        measured: judgement
            .measured
            .as_ref()
            .map_or(NOTHING.to_owned(), shown),
        published: reference.map_or(NOTHING.to_owned(), |reference| {
            clean(&number::figure_like(reference.value, unit, like))
        }),
        published_bare: reference.map_or(NOTHING.to_owned(), |reference| {
            let shown = number::figure_like(reference.value, unit, like);
            clean(shown.split(' ').next().unwrap_or_default())
        }),
        source: reference.map(source).unwrap_or_default(),
        ratio: judgement.ratio.map_or(NOTHING.to_owned(), number::ratio),
        bounds: bounds(judgement),
        outcome,
        ..named(result, &judgement.figure)
    }
}

/// What was measured, next to the benchmark's own limit if it has one.
fn measured(result: &ResultVerdict) -> Row {
    let name = result.deciding.as_deref().unwrap_or_default();
    let limit = result.rules.iter().find(|rule| rule.rule == name);
    Row {
        measured: result.figures.get(name).map_or(NOTHING.to_owned(), shown),
        published: limit.map_or(NOTHING.to_owned(), |rule| clean(&rule.asked)),
        published_bare: limit.map_or(NOTHING.to_owned(), |rule| clean(&rule.asked)),
        source: limit.map_or_else(String::new, |_| "limit".to_owned()),
        ratio: NOTHING.to_owned(),
        bounds: String::new(),
        outcome: result.outcome,
        ..named(result, name)
    }
}

fn named(result: &ResultVerdict, figure: &str) -> Row {
    Row {
        scenario: clean(&result.scenario),
        mode: result.mode.to_string(),
        figure: clean(figure),
        measured: String::new(),
        published: String::new(),
        published_bare: String::new(),
        source: String::new(),
        ratio: String::new(),
        bounds: String::new(),
        outcome: result.outcome,
    }
}

fn shown(figure: &FigureValue) -> String {
    clean(&number::figure(figure.value, &figure.unit))
}

fn source(reference: &Reference) -> String {
    let kind = match reference.kind {
        ExpectationKind::Official => "official",
        ExpectationKind::Guide => "guide",
        ExpectationKind::ThirdParty => "third party",
    };
    match reference.source.as_deref().map(clean) {
        Some(source) if source.chars().count() <= LONGEST_SOURCE => source,
        _ => kind.to_owned(),
    }
}

/// The side of the interval that decides; both where neither does.
fn bounds(judgement: &Judgement) -> String {
    let Some(bounds) = judgement.bounds else {
        return String::new();
    };
    let (lower, upper) = (number::ratio(bounds.lower), number::ratio(bounds.upper));
    match judgement.outcome {
        _ if bounds.upper <= bounds.lower => String::new(),
        Outcome::Reproduced => format!("≥ {lower}"),
        Outcome::NotReproduced | Outcome::Invalid => format!("≤ {upper}"),
        _ => format!("{lower}–{upper}"),
    }
}
