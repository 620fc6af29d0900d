//! A batch: its claims first, then its cells side by side.

use super::Subject;
use super::charts::drawn;
use super::frame::{Cell, address, class, table};
use crate::batch::verdict::{BatchVerdict, CellVerdict, ClaimOutcome, ClaimPart};
use crate::format;
use crate::report::charts::of_batch;
use crate::report::markup::Markup;
use crate::report::words::symbol;
use crate::verdict::comparison::Change;
use crate::verdict::{Outcome, number};

/// More rows are in the JSON and the CSV.
const ROWS: usize = 2000;

pub(super) fn sections(main: &mut Markup, batch: &BatchVerdict, subjects: &[Subject<'_>]) {
    main.leaf("h2", &[], "Verdict");
    word(main, batch);
    claims(main, batch);
    notes(main, batch);
    if let Some(notice) = &batch.notice {
        main.leaf("blockquote", &[], notice);
    }
    let charts = of_batch(batch);
    if !charts.is_empty() {
        main.leaf("h2", &[], "Charts");
        drawn(main, &charts, "b");
    }
    main.leaf("h2", &[], "Cells");
    cells(main, batch, subjects);
    differences(main, batch);
    left_out(main, batch);
}

fn word(main: &mut Markup, batch: &BatchVerdict) {
    let (frame, word) = batch.outcome.map_or(
        ("verdict open".to_owned(), "nothing was run".to_owned()),
        |outcome| {
            let word = format!("{} {outcome}", symbol(outcome));
            (format!("verdict {}", class(outcome)), word)
        },
    );
    let claimed = batch.claims.iter().map(|claim| claim.outcome).max();
    let cells_stand = matches!(batch.outcome, Some(Outcome::Reproduced | Outcome::Measured));
    let (frame, word) = match claimed.filter(|_| cells_stand) {
        Some(outcome) => {
            let (class, sign) = news(outcome);
            let said = match outcome {
                ClaimOutcome::Supported => "every claim is supported",
                ClaimOutcome::NotDecided => "not every claim is decided",
                ClaimOutcome::Contradicted => "a claim is contradicted",
            };
            (format!("verdict {class}"), format!("{sign} {said}"))
        }
        None => (frame, word),
    };
    main.element("div", &[("class", &frame)], |frame| {
        frame.leaf("p", &[("class", "word")], &word);
        frame.leaf("p", &[], &batch.sentence);
    });
}

fn claims(main: &mut Markup, batch: &BatchVerdict) {
    if batch.claims.is_empty() {
        return;
    }
    main.leaf("h3", &[], "Claims");
    main.element("ul", &[("class", "cards")], |list| {
        for claim in &batch.claims {
            let (class, sign) = news(claim.outcome);
            let frame = format!("card {class}");
            list.element("li", &[("class", &frame)], |card| {
                card.leaf("p", &[("class", "of")], &claim.claim);
                card.element("p", &[("class", "value")], |line| {
                    let word = format!("{sign} {}", claim.outcome);
                    line.leaf("span", &[("class", class)], &word);
                });
                card.leaf("p", &[], &claim.sentence);
                if let Some(source) = &claim.source {
                    card.leaf("p", &[("class", "faint")], &format!("claimed in {source}"));
                }
            });
        }
    });
    let parts = batch.claims.iter().flat_map(|claim| {
        let parts = claim.parts.iter();
        parts.map(move |part| row(&claim.claim, part))
    });
    let at = format!("bounds, each at {}", number::percent(batch.confidence));
    let head = ["claim", "of", "scenario", "figure", "ratio", &at, "outcome"];
    table(main, "What each claim rests on", &head, parts.take(ROWS));
}

fn row(claim: &str, part: &ClaimPart) -> Vec<Cell> {
    let (class, sign) = news(part.outcome);
    let baseline = part.baseline.as_ref();
    let against = baseline.map_or(String::new(), |side| format!(" : {}", side.subject));
    let of = format!("{} {}{against}", part.of, part.candidate.subject);
    vec![
        Cell::Head(claim.to_owned()),
        Cell::Text(of.trim().to_owned()),
        Cell::Text(format!("{} {}", part.scenario, part.mode)),
        Cell::Text(part.figure.clone()),
        Cell::Number(part.ratio.map_or("–".to_owned(), number::ratio)),
        Cell::Text(part.bounds.map_or("–".to_owned(), |bounds| {
            let (lower, upper) = (number::ratio(bounds.lower), number::ratio(bounds.upper));
            format!("{lower}–{upper}")
        })),
        Cell::News(class, format!("{sign} {}", part.outcome)),
    ]
}

fn news(outcome: ClaimOutcome) -> (&'static str, &'static str) {
    match outcome {
        ClaimOutcome::Supported => ("good", "✓"),
        ClaimOutcome::NotDecided => ("open", "?"),
        ClaimOutcome::Contradicted => ("bad", "✗"),
    }
}

/// How it was measured.
fn notes(main: &mut Markup, batch: &BatchVerdict) {
    if batch.notes.is_empty() {
        return;
    }
    main.leaf("h3", &[], "How it was measured");
    main.element("ul", &[], |list| {
        for note in &batch.notes {
            list.leaf("li", &[], note);
        }
    });
}

fn cells(main: &mut Markup, batch: &BatchVerdict, subjects: &[Subject<'_>]) {
    let counts: Vec<String> = Outcome::ALL
        .into_iter()
        .filter_map(|outcome| {
            let of = |cell: &&CellVerdict| cell.outcome == Some(outcome);
            let count = batch.cells.iter().filter(of).count();
            (count > 0).then(|| format!("{count} {outcome}"))
        })
        .collect();
    let said = format!(
        "{}: {}.",
        format::count(batch.cells.len(), "cell"),
        counts.join(", ")
    );
    main.leaf("p", &[], &said);
    let unverified = if batch.notice.is_some() {
        "measured (unverified)"
    } else {
        "measured"
    };
    let rows = batch.cells.iter().flat_map(|cell| {
        let mut subjects = subjects.iter();
        let place = subjects.position(|one| one.name == cell.name);
        let name = place.map_or_else(
            || Cell::Head(cell.name.clone()),
            |at| Cell::Link(cell.name.clone(), format!("#s{at}")),
        );
        let results = cell.verdict.iter().flat_map(|verdict| &verdict.results);
        let mut rows: Vec<Vec<Cell>> = results
            .flat_map(crate::report::rows::of)
            .map(|row| {
                vec![
                    name.clone(),
                    Cell::Text(format!("{} {}", row.scenario, row.mode)),
                    Cell::Text(row.figure),
                    Cell::Number(row.measured),
                    Cell::Number(row.published),
                    Cell::Number(row.ratio),
                    Cell::Outcome(row.outcome),
                ]
            })
            .collect();
        if rows.is_empty() {
            let nothing = || Cell::Text(String::new());
            let said = Cell::Text(cell.sentence.clone());
            rows.push(vec![
                name,
                said,
                nothing(),
                nothing(),
                nothing(),
                nothing(),
                nothing(),
            ]);
        }
        rows
    });
    let head = [
        "cell",
        "scenario",
        "figure",
        unverified,
        "published",
        "ratio",
        "outcome",
    ];
    table(
        main,
        "What each cell gave, all its trials together",
        &head,
        rows.take(ROWS),
    );
}

fn differences(main: &mut Markup, batch: &BatchVerdict) {
    let all = batch.cells.iter().flat_map(|cell| {
        let differences = cell.differences.iter();
        differences.map(move |one| (cell, one))
    });
    let all: Vec<_> = all.take(ROWS).collect();
    if all.is_empty() {
        return;
    }
    main.leaf("h2", &[], "Next to the baseline");
    let at = format!("interval at {}", number::percent(batch.confidence));
    let head = [
        "cell",
        "against",
        "scenario",
        "figure",
        "baseline",
        "measured",
        "ratio",
        &at,
        "what it shows",
    ];
    let rows = all.iter().map(|(cell, one)| {
        let shown = |value: Option<f64>| {
            let like = one.baseline.value.or(value).unwrap_or_default();
            let shown = value.map(|value| number::figure_like(value, &one.unit, like));
            Cell::Number(shown.unwrap_or_else(|| "–".to_owned()))
        };
        vec![
            Cell::Head(cell.name.clone()),
            Cell::Text(one.baseline.subject.clone()),
            Cell::Text(format!("{} {}", one.scenario, one.mode)),
            Cell::Text(one.figure.clone()),
            shown(one.baseline.value),
            shown(one.candidate.value),
            Cell::Number(one.ratio.map_or("–".to_owned(), number::ratio)),
            Cell::Text(one.interval.map_or("–".to_owned(), |interval| {
                let (lower, upper) = (number::ratio(interval.lower), number::ratio(interval.upper));
                format!("{lower}–{upper}")
            })),
            change(one.change),
        ]
    });
    table(
        main,
        "Each figure of each cell next to its baseline's",
        &head,
        rows,
    );
    main.element("ul", &[], |list| {
        for (cell, one) in all.iter().filter(|(_, one)| one.change.is_difference()) {
            let said = format!(
                "{}: {} {}: {}",
                cell.name, one.scenario, one.mode, one.sentence
            );
            list.leaf("li", &[], &said);
        }
    });
}

/// What an interval shows, with its sign.
pub(super) fn change(change: Change) -> Cell {
    let (class, sign) = match change {
        Change::Faster | Change::Better => ("good", "▲"),
        Change::Slower | Change::Worse => ("bad", "▼"),
        Change::NoDifference => ("plain", "≈"),
        Change::NotCompared => ("open", "!"),
    };
    Cell::News(class, format!("{sign} {change}"))
}

fn left_out(main: &mut Markup, batch: &BatchVerdict) {
    if batch.left_out.is_empty() {
        return;
    }
    main.leaf("h2", &[], "Left out");
    let rows = batch.left_out.iter().take(ROWS).map(|one| {
        vec![
            Cell::Head(one.name.clone()),
            Cell::Text(one.because.clone()),
        ]
    });
    table(main, "Cells that were not run", &["cell", "because"], rows);
}

/// The runs of a cell, each with a way to its directory.
pub(super) fn runs(main: &mut Markup, one: &Subject<'_>) {
    let rows = one.runs.iter().map(|run| {
        let name = run.path.as_ref().map_or_else(
            || Cell::Head(run.name.clone()),
            |path| Cell::Link(run.name.clone(), address(path)),
        );
        vec![
            name,
            Cell::Number(run.trial.to_string()),
            match &run.lost {
                None => Cell::Text("counts".to_owned()),
                Some(because) => Cell::News("bad", format!("! {because}")),
            },
        ]
    });
    let caption = format!("Runs of {}", one.name);
    table(main, &caption, &["run", "trial", "evidence"], rows);
}
