//! Runs side by side: their figures, what the intervals show, and what differs between the places.

mod environment;
#[cfg(test)]
mod tests;

use super::grid::{Cell, columns, fold, wrap, wrapped};
use super::style::Paint;
use super::{NARROWEST, WIDEST, line_of};
use crate::format;
use crate::recipe::model::Mode;
use crate::report::words::clean;
use crate::verdict::comparison::{Change, ComparedFigure, Comparison};
use crate::verdict::number;

/// Stands where there is nothing to say.
const NOTHING: &str = "–";
/// Names of figures are folded at their underscores to no less than this.
const FOLDED: usize = 18;

/// The table of a comparison, with a sentence for each figure; `all`: every fact of the environments.
#[must_use]
pub fn comparison(comparison: &Comparison, width: u16, color: bool, all: bool) -> String {
    let paint = Paint { color };
    let width = usize::from(width).clamp(NARROWEST, WIDEST);
    let mut text = String::from("\n");
    if let Some(title) = &comparison.title {
        for line in wrap(&clean(title), width, 0) {
            line_of(&mut text, &paint.bold(&line));
        }
        text.push('\n');
    }
    text += &subjects(comparison, width, paint);
    text.push('\n');
    if !comparison.figures.is_empty() {
        text += &figures(comparison, width, paint);
        text.push('\n');
    }
    // Of accuracy the table says it all.
    let told = |figure: &&ComparedFigure| {
        figure.mode == Mode::Performance || figure.change == Change::NotCompared
    };
    for figure in comparison.figures.iter().filter(told) {
        let line = format!(
            "{} {} {}: {}",
            symbol(figure.change),
            figure.scenario,
            figure.mode,
            figure.sentence
        );
        text += &wrapped(&clean(&line), width, 2);
    }
    for note in &comparison.notes {
        text += &wrapped(&format!("• {}.", clean(note)), width, 2);
    }
    if !comparison.environment.is_empty() {
        text.push('\n');
        text += &environment::environment(comparison, width, paint, all);
    }
    if let Some(notice) = &comparison.notice {
        text.push('\n');
        for line in wrap(&clean(notice), width, 0) {
            line_of(&mut text, &paint.dim(&line));
        }
    }
    text
}

fn subjects(comparison: &Comparison, width: usize, paint: Paint) -> String {
    let mut text = String::new();
    for (position, subject) in comparison.subjects.iter().enumerate() {
        let role = if position == 0 { ", the baseline" } else { "" };
        let runs = match subject.runs {
            0 | 1 => String::new(),
            several => format!("; {}", format::count(several, "run")),
        };
        let line = format!(
            "{}  {} ({}{runs}; {}{role})",
            subject.letter, subject.name, subject.title, subject.outcome
        );
        for (number, line) in wrap(&clean(&line), width, 3).into_iter().enumerate() {
            let line = if number == 0 { paint.bold(&line) } else { line };
            line_of(&mut text, &line);
        }
    }
    text
}

/// In the widest of its forms that fits.
fn figures(comparison: &Comparison, width: usize, paint: Paint) -> String {
    let at = format!("at {}", number::percent(comparison.confidence));
    let unverified = if comparison.notice.is_some() {
        "unverified"
    } else {
        ""
    };
    let two = comparison.subjects.len() <= 2;
    let other = if two { "B" } else { "other" };
    let wide = [
        ("scenario", ""),
        ("figure", ""),
        ("A", unverified),
        (other, unverified),
        ("ratio", ""),
        (&*at, ""),
        ("", ""),
    ];
    let narrow = [
        ("figure", ""),
        ("A", unverified),
        (other, unverified),
        ("ratio", &*at),
        ("", ""),
    ];
    let rows: Vec<Vec<Cell>> = comparison
        .figures
        .iter()
        .map(|figure| one_line(figure, two))
        .collect();
    columns(&wide, &rows, width, paint)
        .or_else(|| {
            let rows: Vec<Vec<Cell>> = comparison
                .figures
                .iter()
                .map(|figure| several_lines(figure, two))
                .collect();
            columns(&narrow, &rows, width, paint)
        })
        .unwrap_or_else(|| {
            let listed = comparison.figures.iter();
            listed
                .map(|figure| listed_one(figure, &at, width, paint))
                .collect()
        })
}

fn one_line(figure: &ComparedFigure, two: bool) -> Vec<Cell> {
    let one = |text: String| Cell::of([clean(&text)]);
    vec![
        one(format!("{} {}", figure.scenario, figure.mode)),
        one(figure.figure.clone()),
        one(measured(figure, true)),
        one(theirs(figure, two)),
        one(ratio(figure)),
        one(interval(figure)),
        change(figure),
    ]
}

fn several_lines(figure: &ComparedFigure, two: bool) -> Vec<Cell> {
    let names = fold(&clean(&figure.figure), FOLDED);
    let title = clean(&format!("{} {}", figure.scenario, figure.mode));
    vec![
        Cell::of(std::iter::once(title).chain(names)),
        Cell::of([clean(&measured(figure, true))]),
        Cell::of([clean(&theirs(figure, two))]),
        Cell::of([ratio(figure), interval(figure)]),
        change(figure),
    ]
}

fn listed_one(figure: &ComparedFigure, at: &str, width: usize, paint: Paint) -> String {
    let title = format!("{} {}: {}", figure.scenario, figure.mode, figure.figure);
    let word = format!("{} {}", symbol(figure.change), figure.change);
    let mut text = String::new();
    for line in wrap(&clean(&title), width, 2) {
        line_of(&mut text, &paint.bold(&line));
    }
    let lines = [
        format!("{}  {}", figure.baseline.subject, measured(figure, true)),
        format!("{}  {}", figure.candidate.subject, measured(figure, false)),
        format!("ratio {}, {at} {}", ratio(figure), interval(figure)),
    ];
    for line in lines {
        text += &wrapped(&format!("  {}", clean(&line)), width, 5);
    }
    line_of(
        &mut text,
        &format!("  {}", paint.with(color(figure.change), &word)),
    );
    text
}

fn measured(figure: &ComparedFigure, baseline: bool) -> String {
    let (own, other) = (figure.baseline.value, figure.candidate.value);
    let value = if baseline { own } else { other };
    // Side by side in the unit that fits the baseline's.
    let like = own.or(other).unwrap_or_default();
    value.map_or(NOTHING.to_owned(), |value| {
        number::figure_like(value, &figure.unit, like)
    })
}

/// The candidate's figure; of several candidates with its letter.
fn theirs(figure: &ComparedFigure, two: bool) -> String {
    let shown = measured(figure, false);
    if two {
        shown
    } else {
        format!("{} {shown}", figure.candidate.subject)
    }
}

fn ratio(figure: &ComparedFigure) -> String {
    figure.ratio.map_or(NOTHING.to_owned(), number::ratio)
}

fn interval(figure: &ComparedFigure) -> String {
    match figure.interval {
        Some(interval) if interval.upper > interval.lower => format!(
            "{}–{}",
            number::ratio(interval.lower),
            number::ratio(interval.upper)
        ),
        _ => String::new(),
    }
}

fn change(figure: &ComparedFigure) -> Cell {
    let text = format!("{} {}", symbol(figure.change), figure.change);
    Cell::painted(text, color(figure.change))
}

fn symbol(change: Change) -> &'static str {
    match change {
        Change::Faster | Change::Better => "▲",
        Change::Slower | Change::Worse => "▼",
        Change::NoDifference => "≈",
        Change::NotCompared => "!",
    }
}

fn color(change: Change) -> &'static str {
    match change {
        Change::Faster => "32",
        Change::Slower | Change::NotCompared => "31",
        // Accuracy moves a little with every change; whether it is enough the verdict says.
        Change::Better | Change::Worse | Change::NoDifference => "2",
    }
}
