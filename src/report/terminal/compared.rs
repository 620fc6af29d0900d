//! Runs side by side: their figures, what the intervals show, and what differs between the places.

use unicode_width::UnicodeWidthStr;

use super::grid::{Cell, GAP, columns, fold, wrap, wrapped};
use super::style::Paint;
use super::{NARROWEST, WIDEST, line_of};
use crate::recipe::model::Mode;
use crate::report::human;
use crate::report::words::clean;
use crate::verdict::comparison::{Change, ComparedFigure, Comparison, EnvironmentFact};
use crate::verdict::number;

/// Stands where there is nothing to say.
const NOTHING: &str = "–";
/// Names of figures are folded at their underscores to no less than this.
const FOLDED: usize = 18;
/// Digits of a digest that are shown: as many as Docker shows.
const DIGEST: usize = 12;

/// The table of a comparison, with a sentence for each figure.
#[must_use]
pub fn comparison(comparison: &Comparison, width: u16, color: bool) -> String {
    let paint = Paint { color };
    let width = usize::from(width).clamp(NARROWEST, WIDEST);
    let mut text = String::from("\n");
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
        text += &environment(comparison, width, paint);
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
        let line = format!(
            "{}  {} ({}; {}{role})",
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

/// What differs as a table; what does not, in one line.
fn environment(comparison: &Comparison, width: usize, paint: Paint) -> String {
    let (differs, same): (Vec<&EnvironmentFact>, Vec<&EnvironmentFact>) =
        comparison.environment.iter().partition(|fact| fact.differs);
    let mut text = String::new();
    if !differs.is_empty() {
        let letters: Vec<&str> = comparison
            .subjects
            .iter()
            .map(|subject| subject.letter.as_str())
            .collect();
        let mut head = vec![("differs", "")];
        head.extend(letters.iter().map(|letter| (*letter, "")));
        let row = |fact: &&EnvironmentFact| -> Vec<Cell> {
            let values = fact
                .values
                .iter()
                .map(|value| Cell::of([shown(value.as_deref())]));
            std::iter::once(Cell::of([clean(&fact.what)]))
                .chain(values)
                .collect()
        };
        let rows: Vec<Vec<Cell>> = differs.iter().map(row).collect();
        text += &columns(&head, &rows, width, paint)
            .unwrap_or_else(|| listed(&differs, &letters, width, paint));
    }
    if !same.is_empty() {
        let words: Vec<String> = same
            .iter()
            .map(|fact| {
                format!(
                    "{} {}",
                    fact.what,
                    shown(fact.values.first().and_then(|value| value.as_deref()))
                )
            })
            .collect();
        let line = format!("the same: {}", clean(&words.join("; ")));
        text += &wrapped(&line, width, 2);
    }
    text
}

fn listed(facts: &[&EnvironmentFact], letters: &[&str], width: usize, paint: Paint) -> String {
    let widest = letters
        .iter()
        .map(|letter| letter.width())
        .max()
        .unwrap_or(1)
        + GAP;
    let mut text = String::new();
    line_of(
        &mut text,
        &paint.dim(&format!(
            "{} of the environment differ:",
            human::count(facts.len(), "fact")
        )),
    );
    for fact in facts {
        line_of(&mut text, &format!("  {}", clean(&fact.what)));
        for (letter, value) in letters.iter().zip(&fact.values) {
            let padding = " ".repeat(widest - letter.width());
            let line = format!("    {letter}{padding}{}", shown(value.as_deref()));
            text += &wrapped(&line, width, 4 + widest);
        }
    }
    text
}

/// A digest is cut as Docker cuts it; whole, it is in the JSON.
fn shown(value: Option<&str>) -> String {
    let Some(value) = value else {
        return NOTHING.to_owned();
    };
    let value = clean(value);
    match value.strip_prefix("sha256:") {
        Some(digits) if digits.len() > DIGEST && digits.is_ascii() => {
            format!("sha256:{}…", &digits[..DIGEST])
        }
        _ => value,
    }
}
