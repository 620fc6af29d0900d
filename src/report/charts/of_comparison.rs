//! Charts of a comparison: each figure of each subject next to the baseline's.

use super::of_verdict::usable;
use super::{Chart, Kind, Ratio, Ratios, file_name};
use crate::report::document::clean;
use crate::results::verdict::comparison::{Change, ComparedFigure, Comparison};
use crate::results::verdict::number;
use retrial_recipe::model::Mode;

/// More rows are several charts.
const ROWS: usize = 24;

/// One chart for each scenario and mode that was compared.
#[must_use]
pub fn of_comparison(comparison: &Comparison) -> Vec<Chart> {
    let of_one = |one: &&ComparedFigure, other: &&ComparedFigure| {
        (&one.benchmark, &one.scenario, one.mode) == (&other.benchmark, &other.scenario, other.mode)
    };
    let mut figures: Vec<&ComparedFigure> = comparison
        .figures
        .iter()
        .filter(|figure| figure.mode == Mode::Performance && figure.ratio.is_some())
        .collect();
    figures.sort_by(|one, other| {
        let key = |figure: &ComparedFigure| (figure.benchmark.clone(), figure.scenario.clone());
        key(one).cmp(&key(other))
    });
    let charts = figures.chunk_by(of_one).filter_map(|figures| {
        let first = figures.first()?;
        let title = clean(&format!(
            "{} {}, compared with {}",
            first.scenario,
            first.mode,
            subject(comparison, &first.baseline.subject)
        ));
        let sentences: Vec<&str> = figures.iter().map(|one| one.sentence.as_str()).collect();
        Some(Chart {
            name: file_name(&format!("{} {title}", first.benchmark)),
            title,
            description: sentences.join(" "),
            kind: Kind::Ratios(Ratios {
                of: format!("{}, the baseline", first.baseline.subject),
                rows: figures
                    .iter()
                    .take(ROWS)
                    .filter_map(|one| row(one))
                    .collect(),
                whiskers: format!("interval at {}", number::percent(comparison.confidence)),
            }),
        })
    });
    charts.collect()
}

fn subject(comparison: &Comparison, letter: &str) -> String {
    let mut subjects = comparison.subjects.iter();
    let found = subjects.find(|subject| subject.letter == letter);
    found.map_or(letter.to_owned(), |one| format!("{letter}, {}", one.name))
}

fn row(figure: &ComparedFigure) -> Option<Ratio> {
    Some(Ratio {
        label: clean(&format!("{} {}", figure.candidate.subject, figure.figure)),
        value: figure.ratio?,
        interval: figure.interval.and_then(usable),
        least: None,
        word: match figure.change {
            Change::NoDifference => "no difference shown".to_owned(),
            change => change.word().to_owned(),
        },
        bad: matches!(figure.change, Change::Slower | Change::Worse),
    })
}
