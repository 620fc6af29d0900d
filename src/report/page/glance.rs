//! Several results at a glance: a row for each figure, with a way to where it is told in full.

use super::Subject;
use super::frame::{Cell, table};
use crate::report::human;
use crate::report::markup::Markup;
use crate::report::rows;
use crate::report::words::title;
use crate::verdict::{Outcome, number};

/// More rows are in the parts below only.
const ROWS: usize = 2000;

fn rows_of<'a>(subjects: &'a [Subject<'_>]) -> impl Iterator<Item = Vec<Cell>> + 'a {
    subjects.iter().enumerate().flat_map(|(at, subject)| {
        let verdict = subject.entry.verdict;
        let rows = verdict.results.iter().flat_map(rows::of);
        rows.map(move |row| {
            let measured = match (row.measured.as_str(), &verdict.notice) {
                (rows::NOTHING, _) | (_, None) => row.measured.clone(),
                (measured, Some(_)) => format!("{measured} (unverified)"),
            };
            vec![
                Cell::Link(title(verdict), format!("#s{at}")),
                Cell::Text(format!("{} {}", row.scenario, row.mode)),
                Cell::Text(row.figure),
                Cell::Number(measured),
                Cell::Number(row.published),
                Cell::Number(row.ratio),
                Cell::Text(row.bounds),
                Cell::Outcome(row.outcome),
            ]
        })
    })
}

/// Counts, then the table.
pub(super) fn section(main: &mut Markup, subjects: &[Subject<'_>]) {
    main.element("section", &[("aria-labelledby", "glance")], |section| {
        section.leaf("h2", &[("id", "glance")], "At a glance");
        let results = || subjects.iter().flat_map(|one| &one.entry.verdict.results);
        let counts = Outcome::ALL.into_iter().filter_map(|outcome| {
            let count = results().filter(|result| result.outcome == outcome).count();
            (count > 0).then(|| format!("{count} {outcome}"))
        });
        let counts: Vec<String> = counts.collect();
        let said = format!(
            "{} in {}: {}.",
            human::count(results().count(), "scenario and mode"),
            human::count(subjects.len(), "result"),
            counts.join(", ")
        );
        section.leaf("p", &[], &said.replace("scenario and modes", "scenarios and modes"));
        let confidence = subjects.first().map_or(0.95, |one| one.entry.verdict.confidence);
        let at = format!("at {}", number::percent(confidence));
        let head = [
            "result", "scenario", "figure", "measured", "published", "ratio", &at, "outcome",
        ];
        table(section, "Every figure", &head, rows_of(subjects).take(ROWS));
    });
}
