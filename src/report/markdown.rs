//! Markdown for a CI job's summary: table, sentences, what stands beside them, the notice.

use std::fmt::Write as _;

use super::Entry;
use super::rows::{self, Row};
use super::tree::Fault;
use super::words::{clean, headline, reasons, symbol, title};
use crate::batch::verdict::BatchVerdict;
use crate::verdict::comparison::{ComparedFigure, Comparison};
use crate::verdict::{Outcome, Verdict, number};

/// Stands where there is nothing to say.
const NOTHING: &str = "–";

/// Verdicts, a section each.
#[must_use]
pub fn verdicts(entries: &[Entry<'_>]) -> String {
    let sections: Vec<String> = entries.iter().map(section).collect();
    sections.join("\n")
}

/// Verdicts of a submission tree, and what is wrong with the tree itself.
#[must_use]
pub fn tree(entries: &[Entry<'_>], faults: &[Fault]) -> String {
    let mut text = verdicts(entries);
    if !faults.is_empty() {
        text += "\n## The tree\n\n";
    }
    for fault in faults {
        let said = escaped(&clean(&fault.to_string()));
        let _ = writeln!(text, "- {} {said}", symbol(Outcome::Invalid));
    }
    text
}

fn section(entry: &Entry<'_>) -> String {
    let verdict = entry.verdict;
    let (word, sentence) = headline(verdict);
    let mut text = format!("## {}\n\n", escaped(&title(verdict)));
    text += format!("**{}** {}\n\n", escaped(&word), escaped(&sentence)).trim_start();
    let rows: Vec<Row> = verdict.results.iter().flat_map(rows::of).collect();
    if !rows.is_empty() {
        text += &table(&rows, verdict);
        text.push('\n');
    }
    for (outcome, reason) in verdict.results.iter().flat_map(reasons) {
        let _ = writeln!(text, "- {} {}", symbol(outcome), escaped(&clean(&reason)));
    }
    for of_kind in verdict
        .qualifiers
        .chunk_by(|one, other| one.kind == other.kind)
    {
        let because: Vec<String> = of_kind.iter().map(|one| clean(&one.because)).collect();
        let because = escaped(&because.join("; "));
        let _ = writeln!(text, "- *{}*: {because}", of_kind[0].kind);
    }
    for warning in &verdict.warnings {
        let _ = writeln!(text, "- *warning*: {}", escaped(&clean(warning)));
    }
    for rule in entry.rules.iter().filter(|rule| !rule.passed) {
        let line = format!("{}: {}; asked {}", rule.rule, rule.found, rule.asked);
        let _ = writeln!(
            text,
            "- {} {}",
            symbol(Outcome::Invalid),
            escaped(&clean(&line))
        );
    }
    if !entry.evidence.is_empty() {
        let _ = writeln!(text, "\nEvidence: {}", code(&entry.evidence));
    }
    text + &quoted(verdict.notice.as_deref())
}

fn table(rows: &[Row], verdict: &Verdict) -> String {
    // MLCommons' guidelines ask for the word next to each score.
    let measured = if verdict.notice.is_some() {
        "measured (unverified)"
    } else {
        "measured"
    };
    let at = format!("at {}", number::percent(verdict.confidence));
    let head = [
        "scenario",
        "figure",
        measured,
        "published",
        "source",
        "ratio",
        &at,
        "outcome",
    ];
    let rows = rows.iter().map(|row| {
        vec![
            format!("{} {}", row.scenario, row.mode),
            row.figure.clone(),
            row.measured.clone(),
            row.published.clone(),
            row.source.clone(),
            row.ratio.clone(),
            row.bounds.clone(),
            format!("{} {}", symbol(row.outcome), row.outcome),
        ]
    });
    grid(&head, rows)
}

/// A batch: its sentence and its claims, then a section for each cell.
#[must_use]
pub fn batch(batch: &BatchVerdict, cells: &[Entry<'_>]) -> String {
    let mut text = format!("# {}\n\n", escaped(&clean(&batch.title)));
    let _ = writeln!(text, "{}", escaped(&clean(&batch.sentence)));
    if !batch.claims.is_empty() {
        text.push('\n');
    }
    for claim in &batch.claims {
        let said = format!("{}: {}", claim.claim, claim.sentence);
        let outcome = claim.outcome;
        let _ = writeln!(text, "- **{outcome}** {}", escaped(&clean(&said)));
    }
    text.push('\n');
    text + &verdicts(cells)
}

/// A comparison.
#[must_use]
pub fn comparison(comparison: &Comparison) -> String {
    let title = comparison.title.as_deref().unwrap_or("Comparison");
    let mut text = format!("## {}\n\n", escaped(&clean(title)));
    for (position, subject) in comparison.subjects.iter().enumerate() {
        let role = if position == 0 { ", the baseline" } else { "" };
        let runs = match subject.runs {
            0 | 1 => String::new(),
            several => format!("{several} runs; "),
        };
        let _ = writeln!(
            text,
            "- **{}** {}: {} ({runs}{}{role})",
            subject.letter,
            code(&subject.name),
            escaped(&clean(&subject.title)),
            subject.outcome,
        );
    }
    text.push('\n');
    text += &compared(comparison);
    text.push('\n');
    for figure in &comparison.figures {
        let line = format!("{} {}: {}", figure.scenario, figure.mode, figure.sentence);
        let _ = writeln!(text, "- {}", escaped(&clean(&line)));
    }
    for note in &comparison.notes {
        let _ = writeln!(text, "- {}", escaped(&clean(note)));
    }
    text += &environment(comparison);
    text + &quoted(comparison.notice.as_deref())
}

fn compared(comparison: &Comparison) -> String {
    let unverified = if comparison.notice.is_some() {
        " (unverified)"
    } else {
        ""
    };
    let baseline = format!("A{unverified}");
    let other = format!("other{unverified}");
    let at = format!("at {}", number::percent(comparison.confidence));
    let head = [
        "scenario", "figure", "against", &baseline, &other, "ratio", &at, "outcome",
    ];
    let shown = |value: Option<f64>, figure: &ComparedFigure| {
        let like = figure.baseline.value.or(value).unwrap_or_default();
        value.map_or(NOTHING.to_owned(), |value| {
            number::figure_like(value, &figure.unit, like)
        })
    };
    let rows = comparison.figures.iter().map(|figure| {
        let interval = figure.interval.map_or(NOTHING.to_owned(), |interval| {
            format!(
                "{}–{}",
                number::ratio(interval.lower),
                number::ratio(interval.upper)
            )
        });
        vec![
            format!("{} {}", figure.scenario, figure.mode),
            figure.figure.clone(),
            format!("{} : A", figure.candidate.subject),
            shown(figure.baseline.value, figure),
            shown(figure.candidate.value, figure),
            figure.ratio.map_or(NOTHING.to_owned(), number::ratio),
            interval,
            figure.change.word().to_owned(),
        ]
    });
    grid(&head, rows)
}

/// Differences of one group that a summary has room for.
const DIFFERENCES: usize = 30;

fn environment(comparison: &Comparison) -> String {
    let letters = comparison
        .subjects
        .iter()
        .map(|subject| subject.letter.as_str());
    let head: Vec<&str> = std::iter::once("differs").chain(letters).collect();
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    for group in &comparison.environment {
        let told = group.differs.len().min(DIFFERENCES);
        for fact in &group.differs[..told] {
            let values = fact.values.iter();
            let values = values.map(|value| value.clone().unwrap_or_else(|| NOTHING.to_owned()));
            let what = format!("{}: {}", group.group.word(), fact.what);
            rows.push(std::iter::once(what).chain(values).collect());
        }
        let more = group.differs.len() - told + group.left_out;
        if more > 0 {
            notes.push(format!("{}: {more} more differ", group.group.word()));
        }
        if !group.not_known.is_empty() {
            let of = group.not_known.join(", ");
            notes.push(format!("{}: not known of {of}", group.group.word()));
        }
    }
    let mut text = String::new();
    if !rows.is_empty() {
        text.push('\n');
        text += &grid(&head, rows.into_iter());
    }
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        let _ = writeln!(text, "- {}", escaped(&note));
    }
    text
}

pub(super) fn grid(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rule: Vec<&str> = head.iter().map(|_| "---").collect();
    let mut text = format!("| {} |\n| {} |\n", head.join(" | "), rule.join(" | "));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| escaped(&clean(cell))).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

pub(super) fn quoted(notice: Option<&str>) -> String {
    notice.map_or_else(String::new, |notice| {
        format!("\n> {}\n", escaped(&clean(notice)))
    })
}

/// Text as itself: nothing in it is markup, nor the end of a cell.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '#' | '!' => {
                out.push('\\');
                out.push(letter);
            }
            letter => out.push(letter),
        }
    }
    out
}

/// A code span around whatever backticks a path has.
fn code(text: &str) -> String {
    let text = clean(text);
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let gap = if longest > 0 { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

#[cfg(test)]
mod tests;
