//! Several results at a glance: a row for each figure, with a way to where it is told in full.

use super::Subject;
use super::frame::{Cell, Group, grouped};
use crate::format;
use crate::recipe::model::Mode;
use crate::report::markup::Markup;
use crate::report::rows;
use crate::report::words::title;
use crate::verdict::{Outcome, number};

/// More rows are in the parts below only.
const ROWS: usize = 2000;

/// The rows of one result below its name.
fn group(at: usize, subject: &Subject<'_>) -> Group {
    let verdict = subject.entry.verdict;
    let results = verdict.results.iter();
    // A compliance test that was passed has no figure.
    let told = results.filter(|result| {
        result.mode != Mode::Compliance || !result.valid || result.deciding.is_some()
    });
    let rows = told.flat_map(rows::of).map(|row| {
        vec![
            Cell::Head(format!("{} {}", row.scenario, row.mode)),
            Cell::Text(row.figure),
            Cell::Number(row.measured),
            Cell::Number(row.published),
            Cell::Number(row.ratio),
            Cell::Text(row.bounds),
            Cell::Outcome(row.outcome),
        ]
    });
    let name = Cell::Link(title(verdict), format!("#s{at}"));
    (Some(name), rows.collect())
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
            format::count(results().count(), "scenario and mode"),
            format::count(subjects.len(), "result"),
            counts.join(", ")
        );
        section.leaf(
            "p",
            &[],
            &said.replace("scenario and modes", "scenarios and modes"),
        );
        let confidence = subjects
            .first()
            .map_or(0.95, |one| one.entry.verdict.confidence);
        let at = format!("at {}", number::percent(confidence));
        // MLCommons' guidelines ask for the word next to each score.
        let has_notice = |one: &Subject<'_>| one.entry.verdict.notice.is_some();
        let measured = if subjects.iter().any(has_notice) {
            "measured (unverified)"
        } else {
            "measured"
        };
        let head = [
            "scenario",
            "figure",
            measured,
            "published",
            "ratio",
            &at,
            "outcome",
        ];
        let mut left = ROWS;
        let all = subjects.iter().enumerate();
        let groups: Vec<Group> = all
            .map(|(at, subject)| group(at, subject))
            .take_while(|(_, rows)| {
                let fits = rows.len() <= left;
                left = left.saturating_sub(rows.len());
                fits
            })
            .collect();
        grouped(section, "Every figure", &head, &groups);
    });
}
