//! Results side by side: ratios to the first, and what differs between the places.

use super::batch::change;
use super::charts::drawn;
use super::frame::{Cell, table};
use crate::format;
use crate::report::charts::of_comparison;
use crate::report::markup::Markup;
use crate::verdict::comparison::{Comparison, EnvironmentGroup};
use crate::verdict::number;

/// Differing facts of a kind that are told.
const ROWS: usize = 1000;

pub(super) fn section(main: &mut Markup, comparison: &Comparison) {
    main.element("section", &[("aria-labelledby", "compared")], |section| {
        section.leaf("h2", &[("id", "compared")], "Side by side");
        subjects(section, comparison);
        drawn(section, &of_comparison(comparison), "p");
        figures(section, comparison);
        if !comparison.notes.is_empty() {
            section.element("ul", &[], |list| {
                for note in &comparison.notes {
                    list.leaf("li", &[], note);
                }
            });
        }
        environment(section, comparison);
    });
}

fn subjects(section: &mut Markup, comparison: &Comparison) {
    let rows = comparison.subjects.iter().enumerate().map(|(at, subject)| {
        let role = if at == 0 { "the baseline" } else { "" };
        vec![
            Cell::Head(subject.letter.clone()),
            Cell::Link(subject.name.clone(), format!("#s{at}")),
            Cell::Text(subject.title.clone()),
            Cell::Outcome(subject.outcome),
            Cell::Text(role.to_owned()),
        ]
    });
    let head = ["letter", "name", "what", "outcome", "role"];
    table(section, "What is compared", &head, rows);
}

fn figures(section: &mut Markup, comparison: &Comparison) {
    let at = format!("interval at {}", number::percent(comparison.confidence));
    let head = [
        "scenario",
        "figure",
        "against",
        "baseline",
        "measured",
        "ratio",
        &at,
        "what it shows",
    ];
    let rows = comparison.figures.iter().map(|figure| {
        let shown = |value: Option<f64>| {
            let like = figure.baseline.value.or(value).unwrap_or_default();
            let shown = value.map(|value| number::figure_like(value, &figure.unit, like));
            Cell::Number(shown.unwrap_or_else(|| "–".to_owned()))
        };
        let interval = figure.interval.map_or("–".to_owned(), |interval| {
            let (lower, upper) = (number::ratio(interval.lower), number::ratio(interval.upper));
            format!("{lower}–{upper}")
        });
        vec![
            Cell::Head(format!(
                "{} {} {}",
                figure.benchmark, figure.scenario, figure.mode
            )),
            Cell::Text(figure.figure.clone()),
            Cell::Text(format!(
                "{} : {}",
                figure.candidate.subject, figure.baseline.subject
            )),
            shown(figure.baseline.value),
            shown(figure.candidate.value),
            Cell::Number(figure.ratio.map_or("–".to_owned(), number::ratio)),
            Cell::Text(interval),
            change(figure.change),
        ]
    });
    table(section, "Every figure that both have", &head, rows);
    section.element("ul", &[], |list| {
        for figure in &comparison.figures {
            let said = format!("{} {}: {}", figure.scenario, figure.mode, figure.sentence);
            list.leaf("li", &[], &said);
        }
    });
}

fn environment(section: &mut Markup, comparison: &Comparison) {
    let letters = comparison.subjects.iter().map(|one| one.letter.as_str());
    let letters: Vec<&str> = letters.collect();
    differing(section, &letters, &comparison.environment);
}

/// What differs, a table for each kind; how much does not.
pub(super) fn differing(section: &mut Markup, letters: &[&str], groups: &[EnvironmentGroup]) {
    section.leaf("h3", &[], "What differs between the places");
    if groups.is_empty() {
        section.leaf("p", &[], "Nothing is known of them.");
        return;
    }
    for one in groups {
        let word = one.group.word();
        if !one.differs.is_empty() {
            let mut head = vec!["what"];
            head.extend(letters);
            let rows = one.differs.iter().take(ROWS).map(|fact| {
                let values = fact
                    .values
                    .iter()
                    .map(|value| value.as_deref().unwrap_or("–"));
                let values = values.map(|value| Cell::Text(value.to_owned()));
                std::iter::once(Cell::Head(fact.what.clone()))
                    .chain(values)
                    .collect()
            });
            table(section, &format!("What differs: {word}"), &head, rows);
        }
        let more = one.left_out + one.differs.len().saturating_sub(ROWS);
        let mut said = Vec::new();
        if more > 0 {
            said.push(format!("{more} more differ"));
        }
        if one.same > 0 {
            said.push(format!("{} alike in all", format::count(one.same, "fact")));
        }
        if !one.not_known.is_empty() {
            said.push(format!("nothing is known of {}", one.not_known.join(", ")));
        }
        if !said.is_empty() {
            section.leaf(
                "p",
                &[("class", "faint")],
                &format!("{word}: {}.", said.join("; ")),
            );
        }
    }
}
